use model_graph::model_graph;

/// Two layers, one hundred images at a time.
#[model_graph(dims(BATCH = 100, HIDDEN = 128))]
pub struct Mlp {
    #[input]
    pub image: Tensor<f32, BATCH, 784>,
    #[weight]
    w1: Tensor<f32, 748, HIDDEN>,
    #[weight]
    b1: Tensor<f32, HIDDEN>,
    #[weight]
    w2: Tensor<f32, HIDDEN, 10>,
    #[weight]
    b2: Tensor<f32, 10>,
    #[node(relu(matmul(image, w1) + b1))]
    hidden: _,
    #[output(sofmax(matmul(hidden, w2) + b2))]
    pub probs: Tensor<f32, BATCH, 10>,
}

fn main() {}
