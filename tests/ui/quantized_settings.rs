//! A zero is an `i8`, a range is not empty, and there are as many scales as filters.

use model_graph::model_graph;

#[model_graph]
struct Zero {
    #[input]
    x: Tensor<f32, 4>,
    #[output(quantize(x, 0.5, zero = 128))]
    y: _,
}

#[model_graph]
struct Range {
    #[input]
    x: Tensor<i8, 1, 8, 8, 3>,
    #[output(q_max_pool2d(x, kernel = 2, low = 10, high = -10))]
    y: _,
}

#[model_graph]
struct Scales {
    #[input]
    x: Tensor<i8, 1, 8, 8, 3>,
    #[weight]
    w: Tensor<i8, 1, 3, 3, 3>,
    #[weight]
    scales: Tensor<f32, 4>,
    #[output(q_depthwise_conv2d(x, w, 0.5, scales, 0.125))]
    y: _,
}

#[model_graph]
struct TwoScales {
    #[input]
    x: Tensor<i8, 4>,
    #[weight]
    scales: Tensor<f32, 2>,
    #[output(q_softmax(x, scales))]
    y: _,
}

#[model_graph]
struct Filters {
    #[input]
    x: Tensor<i8, 1, 8, 8, 3>,
    #[weight]
    w: Tensor<i8, 1, 3, 3, 4>,
    #[output(q_depthwise_conv2d(x, w, 0.5, 0.25, 0.125))]
    y: _,
}

fn main() {}
