//! Mistakes that only the bound dims make point into the block and say where it is used.

use model_graph::model_graph;

#[model_graph(dims(D = 4, HEADS = 2))]
struct Block {
    #[input]
    x: Tensor<f32, D>,
    #[weight]
    w: Tensor<f32, { D / HEADS }, 2>,
    #[output(matmul(reshape(x, shape = [2, 2]), w))]
    y: _,
}

#[model_graph]
struct Between {
    #[input]
    x: Tensor<f32, 4>,
    #[node(Block(x))]
    fine: _,
    #[output(fine + Block<HEADS = 1>(x))]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Block<HEADS = 3>(x))]
    y: _,
}

fn main() {}
