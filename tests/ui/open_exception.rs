//! A call that is another one for other values.

use model_graph::model_graph;

#[model_graph(dims(BATCH <= 3, D <= 64))]
struct Model {
    #[input]
    x: Tensor<f32, 8, D>,
    #[input]
    z: Tensor<f32, BATCH>,
    #[output(attention(x, x, x))]
    y: _,
}

fn main() {}
