//! Updates that `gather` would not have made, of another type, and a way to join that there is not.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    at: Tensor<i32, 2>,
    #[input]
    x: Tensor<f32, 8, 3>,
    #[input]
    rows: Tensor<f32, 4, 3>,
    #[input]
    row: Tensor<f32, 3>,
    #[input]
    whole: Tensor<i32, 2, 3>,
    #[input]
    narrow: Tensor<f32, 2, 2>,
    #[input]
    seen: Tensor<bool, 8>,
    #[input]
    found: Tensor<bool, 2>,
    #[input]
    two: Tensor<f32, 2, 3>,
    #[output(scatter(x, at, rows))]
    count: _,
    #[output(scatter(x, at, row))]
    rank: _,
    #[output(scatter(x, at, whole))]
    dtype: _,
    #[output(scatter(x, at, narrow))]
    width: _,
    #[output(scatter(seen, at, found, reduce = add))]
    truth: _,
    #[output(scatter(x, x, two))]
    index: _,
    #[output(scatter(x, at, two, reduce = mean))]
    word: _,
    #[output(scatter(x, at, two, reduction = max))]
    setting: _,
    #[output(scatter_add(x, at, two))]
    foreign: _,
}

fn main() {}
