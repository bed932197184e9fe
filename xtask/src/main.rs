//! What contributors repeat: `cargo xtask <verb>`.

mod compare;
mod network;
mod plan;
mod solve;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (verb, rest) = match arguments.split_first() {
        Some((verb, rest)) => (verb.as_str(), rest),
        None => ("help", &[][..]),
    };
    let status = match verb {
        "compare" => compare::run(rest),
        "plan" => plan::run(rest),
        "solve" => solve::run(rest),
        "help" | "--help" => {
            println!("{}\n{}\n{}", compare::USAGE, plan::USAGE, solve::USAGE);
            0
        }
        other => {
            eprintln!("error: unknown verb `{other}`\n{}", solve::USAGE);
            2
        }
    };
    ExitCode::from(status)
}
