//! What the tests that cross crates share: the data beside the project, an interpreter of plans, an evaluator that knows
//! nothing of plans, random graphs.

pub mod interpret;
pub mod naive;
pub mod npz;
pub mod random;
pub mod reduce;

// Every snippet of the book is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../docs/language.md")]
mod language {}

use std::path::{Path, PathBuf};

/// A file of the data that lies beside the project, or `None`, said aloud, where it does not.
pub fn shared(path: &str) -> Option<PathBuf> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(path);
    if file.exists() {
        return Some(file);
    }
    eprintln!("SKIPPED: there is no ../shared/{path}");
    None
}
