//! The steps of `cargo xtask ci`, in the order they run: the quick ones first.

use std::error::Error;

use xshell::{Shell, cmd};

use crate::operators;

/// One step.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn(&Shell) -> Result<Outcome, Box<dyn Error>>,
}

/// How a step that did not fail ended.
#[derive(Debug)]
pub(super) enum Outcome {
    Passed,
    /// Passed, but not everything could be checked here; what was left out.
    Partly(String),
    /// Nothing could be checked here; why.
    Skipped(String),
}

/// Every step.
#[rustfmt::skip]
pub(super) const STEPS: &[Step] = &[
    Step { name: "format", about: "the code is formatted", run: format },
    Step { name: "generated", about: "generated files are up to date", run: generated },
    Step { name: "lints", about: "clippy has nothing to say", run: lints },
    Step { name: "features", about: "every combination of features builds, without std too", run: features },
    Step { name: "test", about: "the tests pass", run: test },
    Step { name: "docs", about: "the documentation builds", run: docs },
    Step { name: "bare", about: "a program without std and without an allocator links and runs", run: bare },
    Step { name: "examples", about: "the examples run and allocate nothing", run: examples },
    Step { name: "memcheck", about: "valgrind finds nothing in the runtime's tests", run: memcheck },
];

/// A package outside the workspace: inside it, features that other members ask for would be on.
const BARE: &str = "tests/bare/Cargo.toml";

/// The fuzz targets, which only their format is looked at of: what they do runs among the tests.
const FUZZ: &str = "fuzz/Cargo.toml";

/// A target that has no operating system, to be built for where it is installed.
const BARE_METAL: &str = "thumbv7em-none-eabihf";

fn format(sh: &Shell) -> Result<Outcome, Box<dyn Error>> {
    cmd!(sh, "cargo fmt --all --check").run()?;
    cmd!(sh, "cargo fmt --manifest-path {BARE} --check").run()?;
    cmd!(sh, "cargo fmt --manifest-path {FUZZ} --check").run()?;
    Ok(Outcome::Passed)
}

fn generated(sh: &Shell) -> Result<Outcome, Box<dyn Error>> {
    let file = operators::FILE;
    // A checkout may have changed the line ends.
    let found = sh.read_file(file)?.replace("\r\n", "\n");
    if found != operators::page() {
        return Err(format!("{file} is not what the planner's registry says; run `cargo xtask bless`").into());
    }
    Ok(Outcome::Passed)
}

fn lints(sh: &Shell) -> Result<Outcome, Box<dyn Error>> {
    cmd!(sh, "cargo clippy --workspace --all-targets -- -D warnings").run()?;
    Ok(Outcome::Passed)
}

/// Packages that build without std, and the combinations of their features.
const FEATURES: &[(&str, &[&str])] = &[
    ("model-graph-planner", &["", "alloc"]),
    ("model-graph", &["", "alloc", "std", "safetensors", "std,safetensors"]),
];

fn features(sh: &Shell) -> Result<Outcome, Box<dyn Error>> {
    let mut targets = vec![None];
    if cmd!(sh, "rustc --print target-libdir --target {BARE_METAL}").quiet().read().is_ok_and(|dir| sh.path_exists(dir))
    {
        targets.push(Some(BARE_METAL));
    }
    for target in &targets {
        for (package, combinations) in FEATURES {
            for features in *combinations {
                if target.is_some() && features.contains("std") {
                    continue;
                }
                let target = target.map(|target| ["--target", target]);
                let target = target.iter().flatten();
                cmd!(sh, "cargo clippy --package {package} --lib --no-default-features --features {features} {target...} -- -D warnings").run()?;
            }
        }
    }
    Ok(match targets.len() {
        1 => Outcome::Partly(format!("for the host only: the target {BARE_METAL} is not installed")),
        _ => Outcome::Passed,
    })
}

fn test(sh: &Shell) -> Result<Outcome, Box<dyn Error>> {
    cmd!(sh, "cargo test --workspace").run()?;
    Ok(Outcome::Passed)
}

fn docs(sh: &Shell) -> Result<Outcome, Box<dyn Error>> {
    cmd!(sh, "cargo doc --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings").run()?;
    Ok(Outcome::Passed)
}

fn bare(sh: &Shell) -> Result<Outcome, Box<dyn Error>> {
    if !cfg!(target_os = "linux") {
        return Ok(Outcome::Skipped("it is linked against the C start-up code of Linux".into()));
    }
    cmd!(sh, "cargo clippy --manifest-path {BARE} -- -D warnings").run()?;
    cmd!(sh, "cargo run --manifest-path {BARE}").run()?;
    Ok(Outcome::Passed)
}

fn examples(sh: &Shell) -> Result<Outcome, Box<dyn Error>> {
    let output = cmd!(sh, "cargo run --release --example digits").read()?;
    println!("{output}");
    check_digits(&output)?;
    // Those that bring their weights along. The others take files; the tests run their networks.
    for example in ["keywords", "rnnoise", "snake"] {
        let output = cmd!(sh, "cargo run --release --quiet --example {example}").output()?;
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        println!("{text}");
        check_allocations(&text).map_err(|error| format!("{example}: {error}"))?;
    }
    Ok(Outcome::Passed)
}

/// Checks that an example counted its allocations and that there were none.
fn check_allocations(output: &str) -> Result<(), String> {
    let line =
        output.lines().find(|line| line.starts_with("allocations")).ok_or("it printed no line `allocations …`")?;
    if line.ends_with(": 0") { Ok(()) } else { Err(format!("`{line}`, expected 0")) }
}

/// Checks what the example printed.
fn check_digits(output: &str) -> Result<(), String> {
    let value = |name: &str| {
        output
            .lines()
            .find_map(|line| line.trim().strip_prefix(name))
            .map(|value| value.trim().trim_end_matches('%').trim_end())
            .ok_or_else(|| format!("the example printed no line `{name} …`"))
    };
    let accuracy = value("accuracy:")?;
    if !accuracy.parse::<f64>().is_ok_and(|accuracy| accuracy >= 98.0) {
        return Err(format!("the accuracy is {accuracy} %, expected 98 or more"));
    }
    let allocations = value("allocations in forward:")?;
    if allocations != "0" {
        return Err(format!("forward allocated {allocations} times, expected 0"));
    }
    Ok(())
}

fn memcheck(sh: &Shell) -> Result<Outcome, Box<dyn Error>> {
    if cmd!(sh, "valgrind --version").quiet().ignore_stderr().read().is_err() {
        return Ok(Outcome::Skipped("valgrind is not installed".into()));
    }
    let version = cmd!(sh, "rustc --version --verbose").quiet().read()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let runner = format!("CARGO_TARGET_{}_RUNNER", host.to_uppercase().replace('-', "_"));
    let memcheck = "valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite \
                    --errors-for-leak-kinds=definite";
    // Valgrind runs one thread at a time and slowly, so property tests get few cases; their shapes are covered above.
    // Unoptimised, too: valgrind's imitation of the vector comparisons that optimised kernels use takes NaN for a number,
    // where the processor does not and the same tests pass. What memory is touched is the same either way.
    let plain = "profile.dev.package.model-graph.opt-level=0";
    // Two look at a great many numbers in memory that others go through as well, and would take half of the time.
    let numbers = ["--skip", "accuracy_over_the_range", "--skip", "whole_coordinates_are_exact"];
    cmd!(sh, "cargo test --config {plain} --package model-graph --lib --tests -- {numbers...}")
        .env(runner, memcheck)
        .env("PROPTEST_CASES", "4")
        .run()?;
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::{check_allocations, check_digits};

    #[test]
    fn the_example_is_read() {
        let check = |accuracy: &str, allocations: &str| {
            check_digits(&format!("plan\naccuracy: {accuracy} %\n  allocations in forward: {allocations}\n"))
        };
        assert_eq!(check("98.5", "0"), Ok(()));
        assert!(check("97.9", "0").is_err());
        assert!(check("NaN", "0").is_err());
        assert!(check("98.5", "1").is_err());
        assert!(check_digits("accuracy: 99.0 %").is_err());
        assert_eq!(check_allocations("plan\nallocations in forward: 0\n"), Ok(()));
        assert!(check_allocations("allocations in forward: 10\n").is_err() && check_allocations("").is_err());
    }
}
