//! Settings by the names that other frameworks give them.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 1, 3, 8, 8>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[node(max_pool2d(conv2d(x, w), kernel_size = 2, ceil_mode = true))]
    pooled: _,
    #[node(clamp(pooled, min = 0, max = 1))]
    clamped: _,
    #[output(sum(clamped, dim = 1, keepdim = true))]
    y: _,
}

fn main() {}
