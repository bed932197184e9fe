//! `cargo xtask compare`: what whole networks need here, in the declared order and in that of least peak, and with the
//! algorithms of other tools, whose figures count in-place and views too but no concatenation in place.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model_graph_planner::{Options, Order, plan};

use crate::network;
use crate::say::sayln;

/// How the verb is used.
pub(crate) const USAGE: &str = "cargo xtask compare";

/// Runs the verb.
pub(crate) fn run(_: &[String]) -> u8 {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    match compare(&root) {
        Ok(()) => 0,
        Err(what) => {
            eprintln!("error: {what}");
            1
        }
    }
}

fn compare(root: &Path) -> Result<(), String> {
    let Ok(peers) = fs::read_to_string(root.join("peers-peaks.csv")) else {
        sayln!("SKIPPED: there is no ../shared/peers-peaks.csv");
        return Ok(());
    };
    let mut lines = peers.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name);
    let (Some(ggml), Some(tflm)) = (column("ggml_dyn_a32"), column("tflm_greedy")) else {
        return Err(String::from("peers-peaks.csv has no column ggml_dyn_a32 or tflm_greedy"));
    };
    sayln!(
        "{:<34}{:>12}{:>12}{:>12}{:>8}{:>12}{:>8}{:>12}{:>8}  proved",
        "network",
        "bound",
        "declared",
        "min_peak",
        "/bound",
        "ggml",
        "/ours",
        "TFLM",
        "/ours"
    );
    let mut logs: BTreeMap<&str, f64> = BTreeMap::new();
    let mut count = 0.0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |column: usize| cells.get(column).and_then(|cell| cell.parse::<f64>().ok());
        let (Some(bound), Some(ggml), Some(tflm)) = (number(1), number(ggml), number(tflm)) else { continue };
        let graph = network::read(&root.join("plans").join(format!("{}.json", cells[0])))?;
        // The tables know no alignment; eight bytes is what the widest element needs.
        let options = Options { align: 8, ..Options::default() };
        let fail = |error| format!("{}: {error}", cells[0]);
        let declared = plan(&graph, &options).map_err(fail)?;
        let least = plan(&graph, &Options { order: Order::MinPeak, ..options }).map_err(fail)?;
        let ours = least.size as f64;
        sayln!(
            "{:<34}{bound:>12}{:>12}{ours:>12}{:>8.3}{ggml:>12}{:>8.3}{tflm:>12}{:>8.3}  {}",
            cells[0],
            declared.size,
            ours / bound,
            ggml / ours,
            tflm / ours,
            if least.optimal { "yes" } else { "no" }
        );
        *logs.entry("ours / bound").or_default() += (ours / bound).ln();
        *logs.entry("ggml / ours").or_default() += (ggml / ours).ln();
        *logs.entry("TFLM / ours").or_default() += (tflm / ours).ln();
        count += 1.0;
    }
    for (what, log) in logs {
        sayln!("geometric mean of {what}: {:.3}", (log / count).exp());
    }
    Ok(())
}
