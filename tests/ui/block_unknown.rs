//! A block that does not exist. The model that names it is there all the same.

use model_graph::model_graph;

#[model_graph(dims(D = 4))]
struct Block {
    #[input]
    x: Tensor<f32, D>,
    #[weight]
    w: Tensor<f32, D>,
    #[output(x * w)]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 4>,
    #[output(Blok(x))]
    y: _,
}

fn main() {
    let _: Option<Model> = None;
}
