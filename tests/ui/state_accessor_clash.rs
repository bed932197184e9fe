//! A tensor that is called like what models with states have.

use model_graph::model_graph;

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[state]
    s: Tensor<f32, 4, 3>,
    #[node(x * 2)]
    save_state: _,
    #[output(write(s, src = save_state, at = 0))]
    y: _,
}

fn main() {}
