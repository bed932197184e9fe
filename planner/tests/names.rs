//! Tensors that the planner adds are told apart by their names.

use model_graph_planner::{Graph, Options, Role, plan};

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

/// Attention reads keys and values of halves as they lie: its queries and its result are cast alone.
#[test]
fn keys_of_halves_are_not_cast() {
    let steps = |queries: &str| {
        let text = format!(
            "\
model Keys
  %0 q: input {queries}[4x1x8]
  %1 k: state f16[2x64x8]
  %2 v: state f16[2x64x8]
  %3 y: output {queries}[4x1x8] = attention(%0, %1, %2, causal = true)
"
        );
        let planned = plan(&Graph::parse(&text).unwrap(), &Options::default()).unwrap();
        let steps: Vec<&str> = planned.steps.iter().map(|step| step.op.name()).collect();
        // A row of scores for each of the two heads that share keys, and a strip of 32 keys, however many there are.
        let scratch = planned.tensors.iter().find(|tensor| tensor.role == Role::Scratch).unwrap();
        assert_eq!(scratch.view.span().len(), 4 * (2 * 64 + 32 * 8));
        steps.join(" ")
    };
    assert_eq!(steps("f32"), "attention");
    assert_eq!(steps("f16"), "cast attention cast");
}
