//! Silero VAD, 16 kHz: how likely there is speech in 32 ms of sound. An LSTM cell remembers what came before, and the last
//! 64 samples stay for the next frame.

use model_graph::{Renamed, SafeTensors, model_graph};

use crate::onnx::Onnx;

/// One frame of 512 samples.
#[model_graph]
pub struct Silero {
    /// Samples from -1 to 1.
    #[input]
    pub samples: Tensor<f32, 1, 512>,
    /// The end of the frame before.
    #[state]
    context: Tensor<f32, 1, 64>,
    /// Output and memory of the LSTM cell.
    #[state]
    pub memory: Tensor<f32, 2, 1, 128>,
    #[weight(name = "stft_conv.weight")]
    stft: Tensor<f32, 258, 1, 256>,
    #[weight(name = "conv1.weight")]
    w1: Tensor<f32, 128, 129, 3>,
    #[weight(name = "conv1.bias")]
    b1: Tensor<f32, 128>,
    #[weight(name = "conv2.weight")]
    w2: Tensor<f32, 64, 128, 3>,
    #[weight(name = "conv2.bias")]
    b2: Tensor<f32, 64>,
    #[weight(name = "conv3.weight")]
    w3: Tensor<f32, 64, 64, 3>,
    #[weight(name = "conv3.bias")]
    b3: Tensor<f32, 64>,
    #[weight(name = "conv4.weight")]
    w4: Tensor<f32, 128, 64, 3>,
    #[weight(name = "conv4.bias")]
    b4: Tensor<f32, 128>,
    #[weight(name = "lstm_cell.weight_ih")]
    w_ih: Tensor<f32, 512, 128>,
    #[weight(name = "lstm_cell.weight_hh")]
    w_hh: Tensor<f32, 512, 128>,
    #[weight(name = "lstm_cell.bias_ih")]
    b_ih: Tensor<f32, 512>,
    #[weight(name = "lstm_cell.bias_hh")]
    b_hh: Tensor<f32, 512>,
    #[weight(name = "final_conv.weight")]
    w5: Tensor<f32, 1, 128, 1>,
    #[weight(name = "final_conv.bias")]
    b5: Tensor<f32, 1>,
    #[node(concat(context, samples, axis = 1))]
    sound: Tensor<f32, 1, 576>,
    #[node(write(context, src = samples[.., 448..]))]
    kept: _,
    /// Four windows' spectra, their real parts first.
    #[node(conv1d(reshape(pad(sound, before = [0, 0], after = [0, 64], mode = reflect), shape = [1, 1, 640]), stft, stride = 128))]
    spectrum: Tensor<f32, 1, 258, 4>,
    #[node(spectrum[.., ..129])]
    real: _,
    #[node(spectrum[.., 129..])]
    imaginary: _,
    #[node(sqrt(real * real + imaginary * imaginary))]
    strength: Tensor<f32, 1, 129, 4>,
    #[node(relu(conv1d(strength, w1, padding = 1) + expand_dims(b1, axis = 1)))]
    layer1: Tensor<f32, 1, 128, 4>,
    #[node(relu(conv1d(layer1, w2, padding = 1, stride = 2) + expand_dims(b2, axis = 1)))]
    layer2: Tensor<f32, 1, 64, 2>,
    #[node(relu(conv1d(layer2, w3, padding = 1, stride = 2) + expand_dims(b3, axis = 1)))]
    layer3: Tensor<f32, 1, 64, 1>,
    #[node(relu(conv1d(layer3, w4, padding = 1) + expand_dims(b4, axis = 1)))]
    layer4: Tensor<f32, 1, 128, 1>,
    #[node(lstm(reshape(layer4, shape = [1, 1, 128]), memory, w_ih, w_hh, b_ih, b_hh))]
    cell: Tensor<f32, 1, 2, 1, 128>,
    #[node(write(memory, src = cell[0]))]
    remembered: _,
    /// How likely there is speech.
    #[output(sigmoid(matmul(relu(cell[0, 0]), reshape(w5, shape = [128, 1])) + b5))]
    pub speech: Tensor<f32, 1, 1>,
}

/// Loads weights from a file's bytes, as safetensors or as ONNX. The package `silero-vad` has brought both, of different
/// trainings.
///
/// # Errors
/// When the file is neither, or holds other weights.
pub fn load(model: &mut Silero, file: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    // A safetensors file has the length of its header first, and then the header, which is an object.
    if file.get(8) == Some(&b'{') {
        return Ok(model.load(&SafeTensors::new(file)?)?);
    }
    let file = Onnx::new(file).map_err(|error| format!("neither a safetensors nor an ONNX file: {error}"))?;
    Ok(model.load(&Renamed::new(&file, &names()))?)
}

/// The weights' names, and those of the constants in the ONNX file without control flow.
fn names() -> Vec<(String, String)> {
    let mut names = vec![(String::from("stft_conv.weight"), String::from("stft.forward_basis_buffer"))];
    for part in ["weight", "bias"] {
        for layer in 0..4 {
            names.push((format!("conv{}.{part}", layer + 1), format!("encoder.{layer}.reparam_conv.{part}")));
        }
        for side in ["ih", "hh"] {
            names.push((format!("lstm_cell.{part}_{side}"), format!("decoder.rnn.{part}_{side}")));
        }
        names.push((format!("final_conv.{part}"), format!("decoder.decoder.2.{part}")));
    }
    names.into_iter().map(|(name, other)| (name, format!("F0::If_0_then_branch__Inline_0__{other}"))).collect()
}
