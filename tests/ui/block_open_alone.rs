//! A block with an open dim cannot stand alone.

use model_graph::model_graph;

#[model_graph(dims(D = _))]
struct Model {
    #[input]
    x: Tensor<f32, D>,
    #[weight]
    w: Tensor<f32, D>,
    #[output(x * w)]
    y: _,
}

fn main() {
    let _ = Model::new(&model_graph::Cpu);
}
