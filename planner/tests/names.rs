//! Tensors that the planner adds are told apart by their names.

use model_graph_planner::{Graph, Options, plan};

/// A kernel that takes `f32` alone is handed casts of all its halves.
#[test]
fn casts_of_several_operands_have_names_of_their_own() {
    let text = "\
model Casts
  %0 x: input f16[2x4]
  %1 w: weight f16[4]
  %2 b: weight f16[4]
  %3 y: output f16[2x4] = layer_norm(%0, %1, %2)
";
    let planned = plan(&Graph::parse(text).unwrap(), &Options::default()).unwrap();
    let mut names: Vec<&str> = planned.tensors.iter().map(|tensor| &*tensor.name).collect();
    assert!(["y.x.as_f32", "y.w.as_f32", "y.b.as_f32"].iter().all(|name| names.contains(name)), "{names:?}");
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "{names:?}");
}
