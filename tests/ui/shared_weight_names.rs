//! What holds shared weights has methods of its own, whose names weights cannot have.
use model_graph::model_graph;

#[model_graph(weights = "shared")]
struct Net {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    image: Tensor<f32, 2>,
    #[weight]
    weights: Tensor<f32, 2>,
    #[output(x * image + weights)]
    y: _,
}

/// Here they can.
#[model_graph]
struct Own {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    image: Tensor<f32, 2>,
    #[weight]
    weights: Tensor<f32, 2>,
    #[output(x * image + weights)]
    y: _,
}

fn main() {}
