//! Logic as it is written of single values.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<bool, 4>,
    #[output(x && !x)]
    y: _,
}

fn main() {}
