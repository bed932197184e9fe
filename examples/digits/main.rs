//! Classifies 200 handwritten digits out of one buffer whose size was known when this program was compiled.

mod counting;

use std::error::Error;
use std::time::Instant;

use model_graph::{Cpu, SafeTensors, model_graph};

/// A small convolutional classifier of 28 x 28 digits, trained by `train.py`.
#[model_graph(dims(BATCH = 1, C1 = 12, C2 = 24, HIDDEN = 48))]
pub struct Digits {
    /// Pixels from 0 to 1.
    #[input]
    pub image: Tensor<f32, BATCH, 1, 28, 28>,
    #[weight(name = "conv1.weight")]
    w1: Tensor<f32, C1, 1, 3, 3>,
    #[weight(name = "conv1.bias")]
    b1: Tensor<f32, C1, 1, 1>,
    #[weight(name = "conv2.weight")]
    w2: Tensor<f32, C2, C1, 3, 3>,
    #[weight(name = "conv2.bias")]
    b2: Tensor<f32, C2, 1, 1>,
    #[weight(name = "fc1.weight")]
    w3: Tensor<f32, { C2 * 7 * 7 }, HIDDEN>,
    #[weight(name = "fc1.bias")]
    b3: Tensor<f32, HIDDEN>,
    #[weight(name = "fc2.weight")]
    w4: Tensor<f32, HIDDEN, 10>,
    #[weight(name = "fc2.bias")]
    b4: Tensor<f32, 10>,
    #[node(max_pool2d(relu(conv2d(image, w1, padding = 1) + b1), kernel = 2))]
    layer1: Tensor<f32, BATCH, C1, 14, 14>,
    #[node(max_pool2d(relu(conv2d(layer1, w2, padding = 1) + b2), kernel = 2))]
    layer2: Tensor<f32, BATCH, C2, 7, 7>,
    #[node(relu(matmul(flatten(layer2), w3) + b3))]
    hidden: _,
    /// How likely each digit is.
    #[output(softmax(matmul(hidden, w4) + b4))]
    pub probabilities: Tensor<f32, BATCH, 10>,
}

/// 200 digits that the training never saw: their pixels, then their labels.
static DIGITS: &[u8; 200 * 785] = include_bytes!("digits.bin");
static WEIGHTS: &[u8] = include_bytes!("digits.safetensors");

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", Digits::PLAN);

    let mut model = Digits::new(&Cpu)?;
    model.load(&SafeTensors::new(WEIGHTS)?)?;

    let (pixels, labels) = DIGITS.split_at(200 * 784);
    let mut right = 0;
    let mut allocations = 0;
    let mut micros = Vec::with_capacity(200);
    for (image, label) in pixels.chunks_exact(784).zip(labels) {
        for (pixel, byte) in model.image_mut().as_mut_slice().iter_mut().zip(image) {
            *pixel = f32::from(*byte) / 255.0;
        }
        let start = Instant::now();
        let before = counting::allocations();
        let outputs = model.forward()?;
        allocations += counting::allocations() - before;
        micros.push(start.elapsed().as_secs_f64() * 1e6);
        let scores = outputs.probabilities()[0];
        let best = (0..10).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
        right += usize::from(best == Some(usize::from(*label)));
    }
    micros.sort_by(f64::total_cmp);

    let svg = std::env::temp_dir().join("model-graph-digits.svg");
    std::fs::write(&svg, Digits::PLAN.svg().to_string())?;

    println!("accuracy: {:.1} %", right as f64 / labels.len() as f64 * 100.0);
    println!("microseconds per image: {:.1} (median of {})", micros[micros.len() / 2], micros.len());
    println!("allocations in forward: {allocations}");
    println!("plan drawn in: {}", svg.display());
    Ok(())
}
