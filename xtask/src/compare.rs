//! `cargo xtask compare`: what whole networks need here and with the algorithms of other tools.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model_graph_planner::{Options, plan};

use crate::network;

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
        println!("SKIPPED: there is no ../shared/peers-peaks.csv");
        return Ok(());
    };
    let mut lines = peers.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name);
    let (Some(ggml), Some(tflm)) = (column("ggml_dyn_a32"), column("tflm_greedy")) else {
        return Err(String::from("peers-peaks.csv has no column ggml_dyn_a32 or tflm_greedy"));
    };
    println!(
        "{:<34}{:>12}{:>12}{:>8}{:>12}{:>8}{:>12}{:>8}  proved",
        "network", "bound", "here", "/bound", "ggml", "/here", "TFLM", "/here"
    );
    let mut logs: BTreeMap<&str, f64> = BTreeMap::new();
    let mut count = 0.0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |column: usize| cells.get(column).and_then(|cell| cell.parse::<f64>().ok());
        let (Some(bound), Some(ggml), Some(tflm)) = (number(1), number(ggml), number(tflm)) else { continue };
        let graph = network::read(&root.join("plans").join(format!("{}.json", cells[0])))?;
        let options = Options { align: 1, ..Options::default() };
        let planned =
            plan(&graph, &Options { align: 8, ..options }).map_err(|error| format!("{}: {error}", cells[0]))?;
        let here = planned.size as f64;
        println!(
            "{:<34}{bound:>12}{here:>12}{:>8.3}{ggml:>12}{:>8.3}{tflm:>12}{:>8.3}  {}",
            cells[0],
            here / bound,
            ggml / here,
            tflm / here,
            if planned.optimal { "yes" } else { "no" }
        );
        *logs.entry("here / bound").or_default() += (here / bound).ln();
        *logs.entry("ggml / here").or_default() += (ggml / here).ln();
        *logs.entry("TFLM / here").or_default() += (tflm / here).ln();
        count += 1.0;
    }
    for (what, log) in logs {
        println!("geometric mean of {what}: {:.3}", (log / count).exp());
    }
    Ok(())
}
