//! A block calls an operator with what it does not take, for some of its dims.

use model_graph::{model_graph, operator};

#[operator(fn(x: f32[.., N], a: f32[4]) -> f32[.., N / 2])]
struct Halves;

#[model_graph(dims(D = _))]
struct Block {
    #[input]
    x: Tensor<f32, 2, D>,
    #[weight]
    a: Tensor<f32, 4>,
    #[output(Halves(x, a))]
    y: _,
}

#[model_graph(dims(D = _))]
struct Other {
    #[input]
    x: Tensor<f32, 2, D>,
    #[weight]
    a: Tensor<f32, D>,
    #[output(Halves(x, a))]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 7>,
    #[node(Block<D = 7>(x))]
    h: _,
    #[output(Other<D = 7>(x))]
    y: _,
}

fn main() {}
