//! Mistakes in the attribute, in an attribute of a field, in a type and in an expression, shown together.

use model_graph::model_graph;

#[model_graph(dims(N = 4), aling = 64)]
struct Model {
    #[inptu]
    x: Tensor<f32, N>,
    #[weight]
    w: Tensor<g32, N>,
    #[node(relu(x) + relu(missing) + realu(x))]
    h: _,
    #[output(h * w)]
    y: _,
}

fn main() {}
