//! The digits classifier: the model, its weights and the digits it is shown.

use model_graph::{Error, SafeTensors, model_graph};

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
pub static DIGITS: &[u8; 200 * 785] = include_bytes!("../digits/digits.bin");
/// The trained weights, as a safetensors file.
pub static WEIGHTS: &[u8] = include_bytes!("../digits/digits.safetensors");

/// What the network that was trained makes of each digit before the softmax: 200 x 10 `f32`.
pub static LOGITS: &[u8; 200 * 40] = include_bytes!("../digits/digits.logits.f32");

/// The weights, ready to be loaded.
///
/// # Errors
/// None, as the file is part of the program.
pub fn weights() -> Result<SafeTensors<'static>, Error> {
    SafeTensors::new(WEIGHTS)
}

/// The digits: 784 pixels and the label of each.
pub fn digits() -> impl ExactSizeIterator<Item = (&'static [u8], u8)> {
    let (pixels, labels) = DIGITS.split_at(200 * 784);
    pixels.chunks_exact(784).zip(labels.iter().copied())
}

/// Writes a digit's pixels as numbers from 0 to 1.
pub fn show(pixels: &[u8], image: &mut [f32]) {
    for (number, pixel) in image.iter_mut().zip(pixels) {
        *number = f32::from(*pixel) / 255.0;
    }
}
