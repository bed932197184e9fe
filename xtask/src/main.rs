//! What contributors repeat: `cargo xtask <verb>`.

mod bench;
mod compare;
mod network;
mod plan;
mod solve;
mod table;

use std::process::ExitCode;

/// How each verb is used.
const USAGES: [&str; 4] = [bench::USAGE, compare::USAGE, plan::USAGE, solve::USAGE];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (verb, rest) = match arguments.split_first() {
        Some((verb, rest)) => (verb.as_str(), rest),
        None => ("help", &[][..]),
    };
    let status = match verb {
        "bench" => bench::run(rest),
        "compare" => compare::run(rest),
        "plan" => plan::run(rest),
        "solve" => solve::run(rest),
        "help" | "--help" => {
            println!("{}", USAGES.join("\n"));
            0
        }
        other => {
            eprintln!("error: unknown verb `{other}`\n{}", USAGES.join("\n"));
            2
        }
    };
    ExitCode::from(status)
}
