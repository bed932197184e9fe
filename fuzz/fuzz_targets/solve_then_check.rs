//! Bytes as buffers, as a graph, or as changes to a plan: what is placed passes the checkers, which fall over nothing.
#![no_main]

#[path = "../../planner/tests/harness/mod.rs"]
mod harness;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| match data.split_first() {
    Some((kind, rest)) => match kind % 3 {
        0 => harness::solve_then_check(rest),
        1 => harness::plan_then_verify(rest),
        _ => harness::verify_anything(rest),
    },
    None => {}
});
