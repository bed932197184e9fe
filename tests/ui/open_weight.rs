//! What lives from one forward to the next has fixed extents.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 512))]
struct Model {
    #[input]
    x: Tensor<f32, SEQ, 4>,
    #[weight]
    w: Tensor<f32, 4, SEQ>,
    #[constant([[0.0; 4]; 512])]
    table: Tensor<f32, SEQ, 4>,
    #[state]
    cache: Tensor<f32, { 2 * SEQ }, 4>,
    #[keep]
    #[node(x + table)]
    h: _,
    #[output(matmul(h, w))]
    y: _,
}

fn main() {}
