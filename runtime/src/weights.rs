//! Weights by name: what a source offers, what a model asks for, and every complaint at once.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Everything that is wrong with a weight source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaints {
    /// One line each.
    pub lines: Vec<String>,
}

impl fmt::Display for Complaints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}
