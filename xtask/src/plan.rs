//! `cargo xtask plan`: plans a network from its JSON or a graph from its text, says why the peak is what it is, and draws
//! it.

use std::fs;
use std::path::{Path, PathBuf};

use model_graph_planner::offset::Budget;
use model_graph_planner::{Graph, Options, Order, plan};

use crate::network;

/// How the verb is used.
pub(crate) const USAGE: &str =
    "cargo xtask plan FILE [--html FILE] [--svg FILE] [--table] [--align N] [--order min_peak] [--effort high]";

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> u8 {
    match plan_file(arguments) {
        Ok(()) => 0,
        Err(what) => {
            eprintln!("error: {what}");
            2
        }
    }
}

fn plan_file(arguments: &[String]) -> Result<(), String> {
    let (mut file, mut html, mut svg, mut table) = (None, None, None, false);
    let mut options = Options::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
        match argument.as_str() {
            "--html" => html = Some(PathBuf::from(value()?)),
            "--svg" => svg = Some(PathBuf::from(value()?)),
            "--table" => table = true,
            "--align" => {
                let given = value()?;
                let align = given.parse().ok().filter(|align: &usize| align.is_power_of_two());
                options.align = align.ok_or_else(|| format!("--align takes a power of two, not `{given}`"))?;
            }
            "--order" => {
                options.order = match value()?.as_str() {
                    "declared" => Order::Declared,
                    "min_peak" => Order::MinPeak,
                    other => return Err(format!("--order takes `declared` or `min_peak`, not `{other}`")),
                }
            }
            "--effort" => {
                options.budget = match value()?.as_str() {
                    "default" => Budget::default(),
                    "high" => Budget::HIGH,
                    other => return Err(format!("--effort takes `default` or `high`, not `{other}`")),
                }
            }
            flag if flag.starts_with('-') => return Err(format!("unknown option `{flag}`\n{USAGE}")),
            path if file.is_none() => file = Some(PathBuf::from(path)),
            more => return Err(format!("one file at a time, not `{more}` too\n{USAGE}")),
        }
    }
    let file = file.ok_or(USAGE)?;
    let graph = read(&file)?;
    let planned = plan(&graph, &options).map_err(|error| format!("{}: {error}", file.display()))?;
    planned.with(|plan| {
        if table {
            println!("{plan}");
        } else {
            println!("{plan:#}");
        }
        println!("\n{}", plan.peak());
        write(html.as_deref(), || plan.html().to_string())?;
        write(svg.as_deref(), || plan.svg().to_string())
    })
}

/// Reads a network: an object of JSON, or else the textual form of a graph.
fn read(path: &Path) -> Result<Graph, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if text.trim_start().starts_with('{') {
        return network::read(path);
    }
    text.parse().map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: Option<&Path>, text: impl FnOnce() -> String) -> Result<(), String> {
    let Some(path) = path else { return Ok(()) };
    fs::write(path, text()).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{fs, plan_file, read};

    #[test]
    fn both_forms_are_read() {
        let text = "// align = 64\nmodel M\n  %0 x: input f32[4]\n  %1 y: output f32[4] = exp(%0)\n";
        let json =
            r#"{"name": "M", "nodes": [], "tensors": [{"id": 0, "shape": [4], "dtype": "float32", "bytes": 16}]}"#;
        for (form, text, tensors) in [("graph", text, 2), ("json", json, 1)] {
            let path = std::env::temp_dir().join(format!("xtask-plan-{}.{form}", std::process::id()));
            fs::write(&path, text).unwrap();
            assert_eq!(read(&path).map(|graph| graph.tensors().count()), Ok(tensors));
            assert_eq!(plan_file(&[path.display().to_string(), "--order".into(), "min_peak".into()]), Ok(()));
            fs::write(&path, &text[1..]).unwrap();
            let error = read(&path).err().unwrap();
            assert!(
                error.ends_with("line 1: expected `model` and its name, found `/ align = 64`") || form == "json",
                "{error}"
            );
            fs::remove_file(&path).unwrap();
        }
    }
}
