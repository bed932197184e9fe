//! A whole number that is not one of those that numbers are read as: it would become another one.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<i64, 4>,
    #[output(x + 9007199254740993)]
    y: _,
    #[output(x + -9007199254740992)]
    below: _,
    #[output(x + 9007199254740991)]
    fits: _,
}

fn main() {}
