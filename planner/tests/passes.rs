//! How long the passes take on graphs of two thousand tensors, without optimisation as in a user's build. Prints; run it
//! with `cargo test -p model-graph-planner --test passes -- --ignored --nocapture`.

use std::rc::Rc;
use std::time::Instant;

use model_graph_planner::offset::Budget;
use model_graph_planner::op::{self, Args, Value};
use model_graph_planner::{Graph, Options, Role, Shape, TensorId, Type, check, plan, verify};

fn call(graph: &mut Graph, name: &str, settings: &[(&str, Value<'_>)], inputs: &[TensorId]) -> TensorId {
    let types: Vec<Type> = inputs.iter().map(|input| graph.tensor(*input).ty).collect();
    let op = (op::find(name).unwrap().build)(&Args { settings, inputs: &types }).unwrap();
    graph.node(name, Role::Node, op, inputs).unwrap()
}

fn leaf(graph: &mut Graph, role: Role, dims: &[usize]) -> TensorId {
    graph.leaf("x", role, Type::f32(Shape::new(dims).unwrap())).unwrap()
}

fn output(graph: &mut Graph, id: TensorId) {
    graph.node("y", Role::Output, Rc::new(op::Identity {}), &[id]).unwrap();
}

/// Blocks whose every layer reads all that came before in the block, side by side.
fn dense() -> Graph {
    let mut graph = Graph::new("Dense");
    let mut x = leaf(&mut graph, Role::Input, &[1, 16, 16, 16]);
    while graph.tensors().count() < 2000 {
        let mut all = vec![x];
        for _ in 0..12 {
            let joined = call(&mut graph, "concat", &[("axis", Value::Int(1, 0))], &all);
            let channels = graph.tensor(joined).ty.shape.dims()[1].size;
            let weight = leaf(&mut graph, Role::Weight, &[8, channels, 1, 1]);
            let new = call(&mut graph, "conv2d", &[], &[joined, weight]);
            all.push(call(&mut graph, "relu", &[], &[new]));
        }
        let joined = call(&mut graph, "concat", &[("axis", Value::Int(1, 0))], &all);
        let channels = graph.tensor(joined).ty.shape.dims()[1].size;
        let weight = leaf(&mut graph, Role::Weight, &[16, channels, 1, 1]);
        x = call(&mut graph, "conv2d", &[], &[joined, weight]);
    }
    output(&mut graph, x);
    graph
}

/// Transformer layers with split heads.
fn transformer() -> Graph {
    let mut graph = Graph::new("Transformer");
    let mut x = leaf(&mut graph, Role::Input, &[64, 32]);
    let int = |value| Value::Int(value, 0);
    while graph.tensors().count() < 2000 {
        let norm = call(&mut graph, "layer_norm", &[], &[x]);
        let [q, k, v] = [(); 3].map(|()| {
            let weight = leaf(&mut graph, Role::Weight, &[32, 32]);
            let flat = call(&mut graph, "matmul", &[], &[norm, weight]);
            let shape = [int(64), int(4), int(8)];
            let split = call(&mut graph, "reshape", &[("shape", Value::List(&shape))], &[flat]);
            call(&mut graph, "permute", &[("axes", Value::List(&[int(1), int(0), int(2)]))], &[split])
        });
        let k = call(&mut graph, "transpose", &[], &[k]);
        let scores = call(&mut graph, "matmul", &[], &[q, k]);
        let weights = call(&mut graph, "softmax", &[], &[scores]);
        let heads = call(&mut graph, "matmul", &[], &[weights, v]);
        let rows = call(&mut graph, "permute", &[("axes", Value::List(&[int(1), int(0), int(2)]))], &[heads]);
        let flat = call(&mut graph, "reshape", &[("shape", Value::List(&[int(64), int(32)]))], &[rows]);
        let weight = leaf(&mut graph, Role::Weight, &[32, 128]);
        let sum = call(&mut graph, "add", &[], &[x, flat]);
        let wide = call(&mut graph, "matmul", &[], &[sum, weight]);
        let bent = call(&mut graph, "gelu", &[], &[wide]);
        let weight = leaf(&mut graph, Role::Weight, &[128, 32]);
        let narrow = call(&mut graph, "matmul", &[], &[bent, weight]);
        x = call(&mut graph, "add", &[], &[sum, narrow]);
    }
    output(&mut graph, x);
    graph
}

/// Small pieces of a long row, worked on one by one and put together again.
fn pieces() -> Graph {
    let mut graph = Graph::new("Pieces");
    let x = leaf(&mut graph, Role::Input, &[4, 990]);
    let mut parts = Vec::new();
    for at in 0..990 {
        let int = |value: usize| Value::Int(value as i64, 0);
        let cut = [("axis", int(1)), ("start", int(at)), ("end", int(at + 1))];
        let piece = call(&mut graph, "slice", &cut, &[x]);
        parts.push(call(&mut graph, "tanh", &[], &[piece]));
    }
    let joined = call(&mut graph, "concat", &[("axis", Value::Int(1, 0))], &parts);
    output(&mut graph, joined);
    graph
}

#[test]
#[ignore = "prints times, which say nothing on a busy machine"]
fn two_thousand_tensors() {
    for graph in [dense(), transformer(), pieces()] {
        let options = Options { budget: Budget::GREEDY, ..Options::default() };
        let start = Instant::now();
        let planned = plan(&graph, &options).unwrap();
        let whole = start.elapsed();
        let start = Instant::now();
        planned.with(check).unwrap();
        let checked = start.elapsed();
        let start = Instant::now();
        verify(&planned).unwrap();
        println!(
            "{:12} {} tensors, {} steps: plan {whole:?}, of it check {checked:?}, verify {:?}",
            graph.name,
            planned.tensors.len(),
            planned.steps.len(),
            start.elapsed()
        );
    }
}
