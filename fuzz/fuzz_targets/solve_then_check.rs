//! Bytes as buffers, or as a graph: what is placed passes the checkers.
#![no_main]

#[path = "../../planner/tests/harness/mod.rs"]
mod harness;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| match data.split_first() {
    Some((kind, rest)) if kind % 2 == 1 => harness::plan_then_verify(rest),
    Some((_, rest)) => harness::solve_then_check(rest),
    None => {}
});
