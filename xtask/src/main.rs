//! What contributors repeat: `cargo xtask <verb>`. One line of the table and one module for each verb.

mod bench;
mod bless;
mod ci;
mod compare;
mod dag;
mod network;
mod operators;
mod order;
mod plan;
mod say;
mod solve;
mod table;

use std::process::ExitCode;

use say::sayln;

/// A verb: how it is used, what it does in a few words, and the function that runs it on the arguments after its name
/// and gives the exit status.
struct Verb {
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> u8,
}

/// The verbs. The second word of a usage is the verb's name.
#[rustfmt::skip]
const VERBS: &[Verb] = &[
    Verb { usage: ci::USAGE, about: "check everything that has to hold before a merge", run: ci::run },
    Verb { usage: bless::USAGE, about: "rewrite generated files and expected outputs", run: bless::run },
    Verb { usage: bench::USAGE, about: "the planner's figures, file by file, beside its peers' algorithms", run: bench::run },
    Verb { usage: compare::USAGE, about: "what whole networks need here and with other tools' algorithms", run: compare::run },
    Verb { usage: plan::USAGE, about: "plan a network, say why its peak is what it is, draw it", run: plan::run },
    Verb { usage: order::USAGE, about: "the order of least peak of a network, or of a folder of them", run: order::run },
    Verb { usage: solve::USAGE, about: "place the buffers of one table", run: solve::run },
];

impl Verb {
    fn name(&self) -> &'static str {
        self.usage.split_whitespace().nth(2).unwrap_or_default()
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = match arguments.split_first() {
        Some((name, rest)) => (name.as_str(), rest),
        None => ("help", &[][..]),
    };
    let status = match VERBS.iter().find(|verb| verb.name() == name) {
        Some(verb) => (verb.run)(rest),
        None if matches!(name, "help" | "--help" | "-h") => {
            sayln!("{}", help());
            0
        }
        None => {
            eprintln!("error: unknown verb `{name}`, expected one of\n{}", help());
            2
        }
    };
    ExitCode::from(status)
}

fn help() -> String {
    let width = VERBS.iter().map(|verb| verb.usage.len()).max().unwrap_or(0);
    let lines: Vec<String> = VERBS.iter().map(|verb| format!("{:width$}  {}", verb.usage, verb.about)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::VERBS;

    #[test]
    fn every_verb_has_a_name_of_its_own() {
        let mut names: Vec<&str> = VERBS.iter().map(|verb| verb.name()).collect();
        assert!(names.iter().all(|name| !name.is_empty() && !name.starts_with("cargo")));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), VERBS.len());
    }
}
