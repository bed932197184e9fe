//! `cargo xtask bless`: makes the generated files anew and takes what the tests see now as what they expect.

use xshell::{Shell, cmd};

use crate::operators;

/// How the verb is used.
pub(crate) const USAGE: &str = "cargo xtask bless";

/// Runs the verb; gives the exit status.
pub(crate) fn run(arguments: &[String]) -> u8 {
    if let Some(argument) = arguments.first() {
        eprintln!("error: unexpected `{argument}`\nusage: {USAGE}");
        return 2;
    }
    match bless() {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("error: {error}");
            1
        }
    }
}

fn bless() -> xshell::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(operators::root());
    sh.write_file(operators::FILE, operators::page())?;
    // `expect-test` reads the first variable and `trybuild` the second.
    let blessed =
        cmd!(sh, "cargo test --workspace --no-fail-fast").env("UPDATE_EXPECT", "1").env("TRYBUILD", "overwrite").run();
    println!("\nread what changed before you commit it:");
    cmd!(sh, "git status --short").run()?;
    blessed
}
