//! Two open extents cannot become one.

use model_graph::model_graph;

#[model_graph(dims(A <= 8, B <= 8))]
struct Model {
    #[input]
    x: Tensor<f32, A, B>,
    #[output(flatten(x, start = 0))]
    y: _,
    #[output(reshape(x, shape = [_, 2]))]
    z: _,
    #[output(concat(x, transpose(x), axis = 0))]
    c: _,
    #[output(concat(x[.., 0], x[0], axis = 0))]
    d: _,
}

fn main() {}
