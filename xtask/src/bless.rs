//! `cargo xtask bless [generated]`: makes the generated files anew and takes what the tests see now as what they expect,
//! or does the first alone.

use xshell::{Shell, cmd};

use crate::operators;

/// How the verb is used.
pub(crate) const USAGE: &str = "cargo xtask bless [generated]";

/// Runs the verb; gives the exit status.
pub(crate) fn run(arguments: &[String]) -> u8 {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        [] => bless(true),
        ["generated"] => bless(false),
        _ => {
            eprintln!("error: unexpected `{}`\nusage: {USAGE}", words.join(" "));
            return 2;
        }
    };
    match result {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("error: {error}");
            1
        }
    }
}

fn bless(tests: bool) -> xshell::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(operators::root());
    sh.write_file(operators::FILE, operators::page())?;
    // `expect-test` reads the first variable and `trybuild` the second.
    let test = cmd!(sh, "cargo test --workspace --no-fail-fast").env("UPDATE_EXPECT", "1").env("TRYBUILD", "overwrite");
    let blessed = if tests { test.run() } else { Ok(()) };
    println!("\nread what changed before you commit it:");
    cmd!(sh, "git status --short").run()?;
    blessed
}
