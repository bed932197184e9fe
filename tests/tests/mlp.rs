//! The README's model: shapes, plan, construction, forward.

use model_graph::{Buffer, Cpu, Poison, model_graph};

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
    assert_eq!((Mlp::BATCH, Mlp::HIDDEN), (4, 8));
    assert_eq!(SIZE, Mlp::PLAN.lower_bound);
    // Whatever buffer a model has, the constants are those of the default one.
    fn size<B: Buffer>(_: &Mlp<B>) -> usize {
        <Mlp>::PLAN.size
    }
    assert_eq!(size(&Mlp::new(&Cpu).unwrap()), SIZE);
}

#[test]
fn new_reads_and_writes() {
    let mut model = Mlp::new(&Cpu).unwrap();
    model.image_mut()[3][5] = 1.0;
    model.w1_mut()[0][0] = 2.0;
    assert_eq!(model.w1()[0][0], 2.0);
}

/// Numbers without a pattern, a different one for each place.
fn number(seed: usize, row: usize, column: usize) -> f32 {
    ((seed * 31 + row * 17 + column * 7) % 23) as f32 / 11.0 - 1.0
}

/// A model with every weight and the input written.
fn written() -> Mlp {
    let mut model = Mlp::new(&Cpu).unwrap();
    for (row, pixels) in model.image_mut().iter_mut().enumerate() {
        pixels.iter_mut().enumerate().for_each(|(column, pixel)| *pixel = number(1, row, column));
    }
    for (row, weights) in model.w1_mut().iter_mut().enumerate() {
        weights.iter_mut().enumerate().for_each(|(column, weight)| *weight = number(2, row, column));
    }
    for (row, weights) in model.w2_mut().iter_mut().enumerate() {
        weights.iter_mut().enumerate().for_each(|(column, weight)| *weight = number(3, row, column));
    }
    model.b1_mut().iter_mut().enumerate().for_each(|(column, bias)| *bias = number(4, 0, column));
    model.b2_mut().iter_mut().enumerate().for_each(|(column, bias)| *bias = number(5, 0, column));
    model
}

#[test]
fn poison_changes_nothing() {
    let plain = *written().forward().unwrap().probs();
    for byte in [0x00, 0x7f, 0xff] {
        let poisoned = *written().forward_with(&mut Poison { byte }).unwrap().probs();
        assert_eq!(poisoned.map(|row| row.map(f32::to_bits)), plain.map(|row| row.map(f32::to_bits)), "{byte:#x}");
    }
    for (row, given) in plain.iter().enumerate() {
        let hidden: Vec<f32> = (0..8)
            .map(|unit| {
                let product: f32 = (0..6).map(|pixel| number(1, row, pixel) * number(2, pixel, unit)).sum();
                (product + number(4, 0, unit)).max(0.0)
            })
            .collect();
        let logits: Vec<f32> = (0..10)
            .map(|class| (0..8).map(|unit| hidden[unit] * number(3, unit, class)).sum::<f32>() + number(5, 0, class))
            .collect();
        let sum: f32 = logits.iter().map(|logit| logit.exp()).sum();
        for (class, logit) in logits.iter().enumerate() {
            let expected = logit.exp() / sum;
            assert!((given[class] - expected).abs() < 1e-5, "{row} {class}: {} and not {expected}", given[class]);
        }
    }
}
