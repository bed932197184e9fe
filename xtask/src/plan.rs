//! `cargo xtask plan`: plans a network from its JSON or its textual form, says why the peak is what it is, and draws it.

use std::fs;
use std::path::{Path, PathBuf};

use model_graph_planner::{Graph, Options, Order, plan};

use crate::network;
use crate::say::sayln;
use crate::solve::effort;

/// How the verb is used.
pub(crate) const USAGE: &str = "cargo xtask plan FILE [OPTION…]";

/// What it takes.
const OPTIONS: &str = "--table, --html FILE, --svg FILE, --align N, --order declared|min_peak, \
                       --effort quick|high|STEPS, --no-in-place, --no-views, --no-concat, --no-fuse, --shared-weights";

/// Runs the verb; gives the exit status: 1 for a file that cannot be planned, 2 for wrong arguments.
pub(crate) fn run(arguments: &[String]) -> u8 {
    let request = match parse(arguments) {
        Ok(request) => request,
        Err(error) => {
            eprintln!("error: {error}\nusage: {USAGE}\noptions: {OPTIONS}");
            return 2;
        }
    };
    match answer(&request) {
        Ok(()) => 0,
        Err(what) => {
            eprintln!("error: {what}");
            1
        }
    }
}

/// What was asked for.
#[derive(Debug)]
struct Request {
    file: PathBuf,
    html: Option<PathBuf>,
    svg: Option<PathBuf>,
    table: bool,
    options: Options,
}

fn parse(arguments: &[String]) -> Result<Request, String> {
    let (mut file, mut html, mut svg, mut table) = (None, None, None, false);
    let mut options = Options::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("`{argument}` stands last, expected a value after it"));
        match argument.as_str() {
            "--html" => html = Some(PathBuf::from(value()?)),
            "--svg" => svg = Some(PathBuf::from(value()?)),
            "--table" => table = true,
            "--no-in-place" => options.in_place = false,
            "--no-views" => options.views = false,
            "--no-concat" => options.concat = false,
            "--no-fuse" => options.fuse = false,
            "--shared-weights" => options.shared_weights = true,
            "--effort" => options.budget = effort(value()?)?,
            "--order" => {
                options.order = match value()?.as_str() {
                    "declared" => Order::Declared,
                    "min_peak" => Order::MinPeak,
                    other => return Err(format!("order `{other}`, expected declared or min_peak")),
                }
            }
            "--align" => {
                let given = value()?;
                let align = given.parse().ok().filter(|align: &usize| align.is_power_of_two());
                options.align = align.ok_or_else(|| format!("--align takes a power of two, not `{given}`"))?;
            }
            flag if flag.starts_with('-') => return Err(format!("unknown option `{flag}`")),
            path if file.is_none() => file = Some(PathBuf::from(path)),
            more => return Err(format!("a second file `{more}`, expected one")),
        }
    }
    let file = file.ok_or("no file given, expected a network as JSON or as text")?;
    Ok(Request { file, html, svg, table, options })
}

fn answer(request: &Request) -> Result<(), String> {
    let graph = read(&request.file)?;
    let fail = |error| format!("{}: {error}", request.file.display());
    let planned = plan(&graph, &request.options).map_err(fail)?;
    planned.with(|plan| {
        // Files first: a reader of what is printed may have seen enough before its end.
        let files = [
            write(request.html.as_deref(), || plan.html().to_string())?,
            write(request.svg.as_deref(), || plan.svg().to_string())?,
        ];
        // Both forms name what each way of saving memory brought.
        if request.table {
            sayln!("{plan}");
        } else {
            sayln!("{plan:#}");
        }
        sayln!("\n{}", plan.peak());
        files.into_iter().flatten().for_each(|path| sayln!("wrote {}", path.display()));
        Ok(())
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

/// Writes a file that was asked for, and gives its name back.
fn write(path: Option<&Path>, text: impl FnOnce() -> String) -> Result<Option<&Path>, String> {
    let Some(path) = path else { return Ok(None) };
    fs::write(path, text()).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Some(path))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Graph, Order, Request, answer, fs, parse, read};

    fn request(text: &str) -> Result<Request, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn arguments() {
        let options =
            request("a --order min_peak --effort high --no-in-place --no-views --no-concat --no-fuse").unwrap().options;
        assert_eq!(options.order, Order::MinPeak);
        assert_eq!(options.budget, super::effort("high").unwrap());
        assert_eq!([options.in_place, options.views, options.concat, options.fuse], [false; 4]);
        let error = |text| request(text).unwrap_err();
        assert!(error("").starts_with("no file given"));
        assert!(error("a b").starts_with("a second file `b`"));
        assert!(error("a --order").starts_with("`--order` stands last"));
        assert!(error("a --order x").starts_with("order `x`, expected declared or min_peak"));
        assert!(error("a --align 3").starts_with("--align takes a power of two"));
        assert!(error("a --no").starts_with("unknown option `--no`"));
    }

    #[test]
    fn both_forms_are_read() {
        let text = "// align = 64\nmodel M\n  %0 x: input f32[4]\n  %1 y: output f32[4] = exp(%0)\n";
        let json =
            r#"{"name": "M", "nodes": [], "tensors": [{"id": 0, "shape": [4], "dtype": "float32", "bytes": 16}]}"#;
        for (form, text, tensors) in [("graph", text, 2), ("json", json, 1)] {
            let path = std::env::temp_dir().join(format!("xtask-plan-{}.{form}", std::process::id()));
            fs::write(&path, text).unwrap();
            assert_eq!(read(&path).map(|graph| graph.tensors().count()), Ok(tensors));
            assert_eq!(answer(&request(&format!("{} --order min_peak", path.display())).unwrap()), Ok(()));
            fs::write(&path, &text[1..]).unwrap();
            let error = read(&path).err().unwrap();
            assert!(
                error.ends_with("line 1: expected `model` and its name, found `/ align = 64`") || form == "json",
                "{error}"
            );
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn the_samples_of_the_guide_are_read() {
        let guide = include_str!("../../runtime/docs/guide.md");
        let (_, section) = guide.split_once("## Networks and tables in files").unwrap();
        let sample = |form: &str| {
            let (_, rest) = section.split_once(&format!("```{form}\n")).unwrap();
            rest.split_once("```").unwrap().0
        };
        for (form, tensors) in [("text", 4), ("json", 3)] {
            let path = std::env::temp_dir().join(format!("xtask-guide-{}.{form}", std::process::id()));
            fs::write(&path, sample(form)).unwrap();
            assert_eq!(read(&path).map(|graph| graph.tensors().count()), Ok(tensors));
            if form == "json" {
                assert_eq!(crate::order::run(&[path.display().to_string()]), 0);
            }
            fs::remove_file(&path).unwrap();
        }
        assert_eq!(sample("text").parse::<Graph>().unwrap().to_string(), sample("text"));
        assert_eq!(crate::table::parse(sample("csv")).map(|table| table.buffers.len()), Ok(3));
    }

    #[test]
    fn no_network_is_an_error() {
        let request = request("none.json").unwrap();
        assert!(!Path::new("none.json").exists());
        assert!(answer(&request).is_err_and(|error| error.starts_with("none.json: ")));
    }
}
