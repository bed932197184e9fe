//! Bytes as the textual form of a graph: what is read prints as what reads the same.
#![no_main]

#[path = "../../planner/tests/harness/mod.rs"]
mod harness;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| harness::text_form(data));
