//! The setting `weights` in other forms, and twice.

use model_graph::model_graph;

#[model_graph(weights)]
struct Flag {
    #[input]
    x: Tensor<f32, 2>,
    #[output(x)]
    y: _,
}

#[model_graph(weights = true)]
struct Truth {
    #[input]
    x: Tensor<f32, 2>,
    #[output(x)]
    y: _,
}

#[model_graph(weights("shared"))]
struct Called {
    #[input]
    x: Tensor<f32, 2>,
    #[output(x)]
    y: _,
}

#[model_graph(weights = "shared", weights = "owned")]
struct Twice {
    #[input]
    x: Tensor<f32, 2>,
    #[output(x)]
    y: _,
}

#[model_graph(weigths = "shared")]
struct Misspelt {
    #[input]
    x: Tensor<f32, 2>,
    #[output(x)]
    y: _,
}

#[model_graph(weight = "shared")]
struct Other {
    #[input]
    x: Tensor<f32, 2>,
    #[output(x)]
    y: _,
}

fn main() {}
