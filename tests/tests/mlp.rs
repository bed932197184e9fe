//! The README's model: shapes, plan, construction, forward.

use model_graph::{Cpu, model_graph};

/// Two layers, four images at a time.
#[model_graph(dims(BATCH = 4, HIDDEN = 8))]
pub struct Mlp {
    /// Pixels.
    #[input]
    pub image: Tensor<f32, BATCH, 6>,
    #[weight]
    w1: Tensor<f32, 6, HIDDEN>,
    #[weight]
    b1: Tensor<f32, HIDDEN>,
    #[weight]
    w2: Tensor<f32, HIDDEN, 10>,
    #[weight]
    b2: Tensor<f32, 10>,
    #[node(relu(matmul(image, w1) + b1))]
    hidden: _,
    #[output(softmax(matmul(hidden, w2) + b2))]
    pub probs: Tensor<f32, BATCH, 10>,
}

#[test]
fn plan_is_a_constant() {
    const SIZE: usize = Mlp::PLAN.size;
    assert_eq!(Mlp::BATCH, 4);
    for tensor in Mlp::PLAN.tensors {
        println!("{tensor:?}");
    }
    println!("{SIZE}");
}

#[test]
fn new_reads_and_writes() {
    let mut model = Mlp::new(&Cpu).unwrap();
    model.image_mut()[3][5] = 1.0;
    model.w1_mut()[0][0] = 2.0;
    assert_eq!(model.w1()[0][0], 2.0);
}
