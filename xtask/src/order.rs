//! `cargo xtask order FILE.json|FOLDER [--effort quick|high|STEPS]`: the order of least peak of a network, or of every
//! network in a folder as a table.

use std::path::{Path, PathBuf};
use std::time::Instant;

use model_graph_planner::order::{Budget, Solution, peak, solve};
use model_graph_planner::{Options, Order, plan};

use crate::say::sayln;
use crate::{dag, network};

/// How the verb is used.
pub(crate) const USAGE: &str = "cargo xtask order FILE.json|FOLDER [--effort quick|high|STEPS]";

/// Runs the verb; gives the exit status: 1 for a file that cannot be read, 2 for wrong arguments.
pub(crate) fn run(arguments: &[String]) -> u8 {
    let (path, budget) = match parse(arguments) {
        Ok(request) => request,
        Err(error) => {
            eprintln!("error: {error}\nusage: {USAGE}");
            return 2;
        }
    };
    let answer = if path.is_dir() { table(&path, budget) } else { line(&path, budget) };
    match answer {
        Ok(text) => {
            sayln!("{text}");
            0
        }
        Err(error) => {
            eprintln!("error: {error}");
            1
        }
    }
}

fn parse(arguments: &[String]) -> Result<(PathBuf, Budget), String> {
    let (mut file, mut budget) = (None, Budget::default());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--effort" => {
                let value = rest.next().map(String::as_str);
                budget = match value.ok_or("`--effort` stands last, expected quick, high or a number of steps")? {
                    "quick" => Budget::QUICK,
                    "high" => Budget::HIGH,
                    steps => Budget::steps(
                        steps
                            .parse()
                            .map_err(|_| format!("effort `{steps}`, expected quick, high or a number of steps"))?,
                    ),
                };
            }
            flag if flag.starts_with("--") => return Err(format!("unknown option `{flag}`, expected --effort")),
            name if file.is_none() => file = Some(PathBuf::from(name)),
            name => return Err(format!("a second file `{name}`, expected one")),
        }
    }
    Ok((file.ok_or("no file given, expected a network as JSON, or a folder of them")?, budget))
}

/// What came of one file.
struct Answer {
    name: String,
    nodes: usize,
    solution: Solution,
    micros: u128,
}

fn answer(path: &Path, budget: Budget) -> Result<Answer, String> {
    let dag = dag::read(path)?;
    let at = |error| format!("{}: {error}", path.display());
    let start = Instant::now();
    let solution = solve(&dag.problem, budget).map_err(at)?;
    let micros = start.elapsed().as_micros();
    let reached = peak(&dag.problem, &solution.order).map_err(at)?;
    if reached != solution.least {
        return Err(at(model_graph_planner::order::Error::NotAnOrder));
    }
    Ok(Answer { name: dag.name, nodes: dag.problem.tasks.len(), solution, micros })
}

fn line(path: &Path, budget: Budget) -> Result<String, String> {
    let Answer { name, nodes, solution, micros } = answer(path, budget)?;
    let Solution { declared, least, proved, lower_bound, search_steps, .. } = solution;
    let name = serde_json::Value::from(name);
    Ok(format!(
        "{{\"declared\":{declared},\"least\":{least},\"proved\":{proved},\"micros\":{micros},\"nodes\":{nodes},\
         \"lower_bound\":{lower_bound},\"steps\":{search_steps},\"name\":{name}}}"
    ))
}

fn table(folder: &Path, budget: Budget) -> Result<String, String> {
    let at = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(at)? {
        let path = entry.map_err(at)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(format!("{}: no .json file in it", folder.display()));
    }
    files.sort();
    let mut text = String::from(
        "| network | nodes | declared | least | saved | proved | steps | micros | plan | plan by min_peak |\n",
    );
    text.push_str("|---|---|---|---|---|---|---|---|---|---|\n");
    let (mut gained, mut proved, mut micros, mut smaller) = (0, 0, 0, 0);
    for file in &files {
        let Answer { name, nodes, solution, micros: took } = answer(file, budget)?;
        let Solution { declared, least, .. } = solution;
        let saved = 100.0 * (declared - least) as f64 / declared.max(1) as f64;
        let steps = solution.search_steps;
        let said = if solution.proved { "yes".to_owned() } else { format!("no, at least {}", solution.lower_bound) };
        let sizes = if nodes <= PLANNED { plans(file).ok() } else { None };
        let (plan, reordered) = sizes.map_or((String::new(), String::new()), |(a, b)| (a.to_string(), b.to_string()));
        text.push_str(&format!(
            "| {name} | {nodes} | {declared} | {least} | {saved:.1} % | {said} | {steps} | {took} | {plan} | {reordered} |\n"
        ));
        smaller += usize::from(sizes.is_some_and(|(declared, reordered)| reordered < declared));
        gained += usize::from(least < declared);
        proved += usize::from(solution.proved);
        micros += took;
    }
    text.push_str(&format!(
        "\n{} networks: {gained} gain, {proved} proved, {micros} micros together; {smaller} plans are smaller",
        files.len()
    ));
    Ok(text)
}

/// How many nodes a network of the table may have to be planned too: the checker is quadratic and more. States, which
/// such a plan cannot have yet, leave the columns empty too.
const PLANNED: usize = 400;

/// Bytes of the finished plan, with offsets, alignment and parts of concatenations produced in place: in the declared
/// order and with `order = "min_peak"`.
fn plans(path: &Path) -> Result<(usize, usize), String> {
    let graph = network::read(path)?;
    let size = |order| {
        let planned = plan(&graph, &Options { order, ..Options::default() });
        planned.map(|planned| planned.size - planned.persistent).map_err(|error| format!("{}: {error}", path.display()))
    };
    Ok((size(Order::Declared)?, size(Order::MinPeak)?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use model_graph_planner::order::Budget;

    use super::{answer, parse, plans};
    use crate::table;

    #[test]
    fn arguments() {
        let parse = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            parse(&words).err()
        };
        assert_eq!(parse("a.json --effort high"), None);
        assert_eq!(parse("a.json --effort 12"), None);
        assert!(parse("").unwrap().starts_with("no file given"));
        assert!(parse("a b").unwrap().starts_with("a second file `b`"));
        assert!(parse("a --effort").unwrap().starts_with("`--effort` stands last"));
        assert!(parse("a --effort x").unwrap().starts_with("effort `x`"));
        assert!(parse("--no").unwrap().starts_with("unknown option `--no`"));
    }

    #[test]
    fn no_network_is_an_error() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        for file in ["none.json", "Cargo.toml", "src"] {
            assert!(answer(&here.join(file), Budget::default()).is_err());
        }
    }

    #[test]
    fn real_networks() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/plans");
        let Ok(entries) = std::fs::read_dir(&folder) else {
            eprintln!("SKIPPED: there is no ../shared/plans");
            return;
        };
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        assert_eq!(files.len(), 54);
        for file in files {
            let answer = answer(&file, Budget::steps(0)).unwrap();
            let table = table::read(&file.with_extension("inplace.csv")).unwrap();
            let bound = model_graph_planner::offset::lower_bound(&table.buffers);
            assert_eq!(answer.solution.declared, bound, "{}", answer.name);
            assert_eq!(answer.solution.least, bound, "{}: without a budget nothing is moved", answer.name);
        }
    }

    #[test]
    fn plans_get_smaller_with_the_order() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/plans");
        if !folder.exists() {
            eprintln!("SKIPPED: there is no ../shared/plans");
            return;
        }
        for name in ["basic_pitch", "fpn_mobilenet_v2_256", "stories260k_decode_past63", "squeezenet1_1"] {
            let (plan, reordered) = plans(&folder.join(name).with_extension("json")).unwrap();
            assert!(reordered <= plan, "{name}: {reordered} and not {plan}");
            assert_eq!(reordered < plan, name != "squeezenet1_1", "{name}: {reordered} and not {plan}");
        }
    }
}
