//! Graphs that are deeper than a stack: no pass recurses from one tensor to what it rests on.

use std::fmt::Write;

use model_graph_planner::{Graph, Options, Order, plan};

/// Plans on a stack that is small, as that of a compiler's thread is for what it has to hold.
fn on_a_small_stack(text: String) {
    let run = move || {
        let graph = Graph::parse(&text).unwrap();
        for order in [Order::Declared, Order::MinPeak] {
            plan(&graph, &Options { order, ..Options::default() }).unwrap();
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}

/// The concatenation asks where its last part lies, which is a view of a view, and so on.
#[test]
fn views_of_views() {
    const DEPTH: usize = 3000;
    let mut text = String::from("model Deep\n%0 x: input f32[2x2]\n");
    for at in 1..=DEPTH {
        writeln!(text, "%{at} v: node f32[2x2] = transpose(%{})", at - 1).unwrap();
    }
    writeln!(text, "%{} r: node f32[2x2] = relu(%{DEPTH})", DEPTH + 1).unwrap();
    writeln!(text, "%{} y: output f32[4x2] = concat(%{}, %{DEPTH}, axis = 0)", DEPTH + 2, DEPTH + 1).unwrap();
    on_a_small_stack(text);
}

#[test]
fn concatenations_of_concatenations() {
    const DEPTH: usize = 500;
    let mut text = String::from("model Deep\n%0 x: input f32[1]\n%1 r: node f32[1] = relu(%0)\n");
    for at in 1..=DEPTH {
        writeln!(text, "%{} c: node f32[{}] = concat(%{at}, %0, axis = 0)", at + 1, at + 1).unwrap();
    }
    writeln!(text, "%{} y: output f32[{}] = relu(%{})", DEPTH + 2, DEPTH + 1, DEPTH + 1).unwrap();
    on_a_small_stack(text);
}
