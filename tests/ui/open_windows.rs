//! Windows that do not fit for some values, or whose padding depends on them.

use model_graph::model_graph;

#[model_graph(dims(SEQ <= 512))]
struct Model {
    #[input]
    x: Tensor<f32, 1, 1, SEQ, 8>,
    #[weight]
    w: Tensor<f32, 1, 1, 3, 3>,
    #[output(conv2d(x, w))]
    a: _,
    #[output(conv2d(x, w, stride = 2, padding = same))]
    b: _,
    #[output(max_pool2d(x, kernel = [1, 2], stride = [2, 2], ceil = true))]
    c: _,
}

fn main() {}
