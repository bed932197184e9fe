//! A keyword as a name, without `r#`.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    type: Tensor<f32, 4>,
    #[output(relu(r#type))]
    y: _,
}

fn main() {}
