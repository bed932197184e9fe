//! `cargo xtask solve FILE.csv [--out FILE] [--effort quick|high|STEPS]`: places the buffers of one table.

use std::path::PathBuf;
use std::time::Instant;

use model_graph_planner::offset::{Budget, check, solve};

use crate::say::sayln;
use crate::table;

/// How the verb is used.
pub(crate) const USAGE: &str = "cargo xtask solve FILE.csv [--out FILE] [--effort quick|high|STEPS]";

/// What was asked for.
struct Request {
    file: PathBuf,
    out: Option<PathBuf>,
    budget: Budget,
}

/// Runs the verb; gives the exit status: 1 for a file that cannot be planned, 2 for wrong arguments.
pub(crate) fn run(arguments: &[String]) -> u8 {
    let request = match parse(arguments) {
        Ok(request) => request,
        Err(error) => {
            eprintln!("error: {error}\nusage: {USAGE}");
            return 2;
        }
    };
    match answer(&request) {
        Ok(line) => {
            sayln!("{line}");
            0
        }
        Err(error) => {
            eprintln!("error: {error}");
            1
        }
    }
}

fn parse(arguments: &[String]) -> Result<Request, String> {
    let mut file = None;
    let mut out = None;
    let mut budget = Budget::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--out" => {
                let value = rest.next().ok_or("`--out` stands last, expected a file name after it")?;
                out = Some(PathBuf::from(value));
            }
            "--effort" => {
                let value = rest.next().ok_or("`--effort` stands last, expected quick, high or a number of steps")?;
                budget = effort(value)?;
            }
            flag if flag.starts_with("--") => {
                return Err(format!("unknown option `{flag}`, expected --out or --effort"));
            }
            name if file.is_none() => file = Some(PathBuf::from(name)),
            name => return Err(format!("a second file `{name}`, expected one")),
        }
    }
    let file = file.ok_or("no file given, expected a table `id,lower,upper,size`")?;
    Ok(Request { file, out, budget })
}

/// A budget as it is asked for.
pub(crate) fn effort(value: &str) -> Result<Budget, String> {
    match value {
        "quick" => Ok(Budget::QUICK),
        "high" => Ok(Budget::HIGH),
        steps => steps
            .parse()
            .map(Budget::steps)
            .map_err(|_| format!("effort `{steps}`, expected quick, high or a number of steps")),
    }
}

fn answer(request: &Request) -> Result<String, String> {
    let table = table::read(&request.file)?;
    let start = Instant::now();
    let solution =
        solve(&table.buffers, request.budget).map_err(|error| format!("{}: {error}", request.file.display()))?;
    let micros = start.elapsed().as_micros();
    check(&table.buffers, &solution.offsets)
        .map_err(|fault| format!("{}: a fault of the planner, please report it: {fault}", request.file.display()))?;
    if let Some(out) = &request.out {
        std::fs::write(out, table::with_offsets(&table, &solution.offsets))
            .map_err(|error| format!("{}: {error}", out.display()))?;
    }
    Ok(format!(
        "{{\"buffers\":{},\"lower_bound\":{},\"peak\":{},\"optimal\":{},\"micros\":{micros},\"steps\":{},\"method\":\"{}\"}}",
        table.buffers.len(),
        solution.lower_bound,
        solution.peak,
        solution.optimal,
        solution.search_steps,
        solution.method,
    ))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn arguments() {
        let parse = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            parse(&words).err()
        };
        assert_eq!(parse("a.csv --out b --effort high"), None);
        assert_eq!(parse("a.csv --effort 12"), None);
        assert!(parse("").unwrap().starts_with("no file given"));
        assert!(parse("a b").unwrap().starts_with("a second file `b`"));
        assert!(parse("a --out").unwrap().starts_with("`--out` stands last"));
        assert!(parse("a --effort x").unwrap().starts_with("effort `x`"));
        assert!(parse("--no").unwrap().starts_with("unknown option `--no`"));
    }
}
