//! Settings beside integers are kept as `f32`, which does not hold every integer.

use model_graph::model_graph;

#[model_graph]
struct Limits {
    #[input]
    x: Tensor<i32, 4>,
    #[input]
    ids: Tensor<i64, 4>,
    #[node(clamp(x, low = -16777217, high = 16777216))]
    low: _,
    #[node(clamp(ids, low = 0, high = 9223372036854775807))]
    high: _,
    #[node(pad(x, before = [1], value = 16777217))]
    padded: _,
    #[node(pad(ids, before = [1], value = 9223372036854775807))]
    far: _,
    #[output(ids + 1)]
    sum: _,
}

fn main() {}
