//! Element types that there are elsewhere.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    a: Tensor<usize, 4>,
    #[input]
    b: Tensor<u64, 4>,
    #[input]
    c: Tensor<i16, 4>,
    #[input]
    d: Tensor<float16, 4>,
    #[weight]
    e: Tensor<q4_1, 2, 32>,
    #[weight]
    f: Tensor<q5_0, 2, 32>,
    #[input]
    x: Tensor<f32, 4>,
    #[node(x as u16)]
    g: _,
    #[output(x as f64)]
    y: _,
}

fn main() {}
