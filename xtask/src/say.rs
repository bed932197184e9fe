//! What verbs print goes through here: a reader that has seen enough, as `head` has, ends a verb without a complaint.

use std::fmt;
use std::io::{self, ErrorKind, Write as _};
use std::process;

/// Writes to standard output. Where nobody reads on, the program ends and has not failed.
pub(crate) fn write(text: fmt::Arguments<'_>) {
    if let Err(error) = io::stdout().lock().write_fmt(text) {
        if error.kind() == ErrorKind::BrokenPipe {
            process::exit(0);
        }
        eprintln!("error: standard output: {error}");
        process::exit(1);
    }
}

/// `print!` by way of [`write()`].
macro_rules! say {
    ($($text:tt)*) => { $crate::say::write(format_args!($($text)*)) };
}

/// `println!` by way of [`write()`].
macro_rules! sayln {
    () => { $crate::say::write(format_args!("\n")) };
    ($($text:tt)*) => { $crate::say::write(format_args!("{}\n", format_args!($($text)*))) };
}

pub(crate) use {say, sayln};
