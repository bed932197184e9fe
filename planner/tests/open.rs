//! Plans with open dims hold at every value, those that no pass looked at among them.

use model_graph_planner::{Graph, Options, plan, verify};

/// The end of a slice with steps is a rounded extent: it jumps, and between two values that the passes look at it can
/// meet what stands still there.
#[test]
fn what_jumps_between_samples_is_not_overwritten() {
    let graph = Graph::parse(
        "model Jumps
  dims S <= 512
  %0 a: input f32[{S + 49}]
  %1 x: node f32[{S + 49}] = exp(%0)
  %2 end: node f32[1] = slice(%1, axis = 0, start = {S + 48}, end = {S + 49}, step = 1)
  %3 p: node f32[1] = neg(%2)
  %4 some: node f32[{(S + 148) / 100}] = slice(%1, axis = 0, start = 0, end = {S + 49}, step = 100)
  %5 s: node f32 = sum(%4, axes = [0], keep_dims = false)
  %6 y: output f32[1] = add(%5, %3)
",
    )
    .unwrap();
    let planned = plan(&graph, &Options::default()).unwrap();
    for value in 1..=512 {
        let there = planned.at(&[value]).unwrap();
        assert_eq!(verify(&there), Ok(()), "S = {value}");
    }
}
