//! Keyword spotting: the depthwise-separable network of MLPerf Tiny, once for a file whose weights alone are quantised and
//! once for one that is quantised throughout, and which tensor of the files each weight is.

use model_graph::{Renamed, TfLite, WeightSource, model_graph};

/// What the outputs stand for, in their order.
pub const WORDS: [&str; 12] =
    ["Down", "Go", "Left", "No", "Off", "On", "Right", "Stop", "Up", "Yes", "Silence", "Unknown"];

/// How many features one second of speech has: 49 frames of 10.
pub const FEATURES: usize = 490;

/// The int8 reference model of MLPerf Tiny, `kws_ref_model.tflite`; see `LICENSE-kws.md` beside it.
pub static MODEL: &[u8] = include_bytes!("../keywords/kws_ref_model.tflite");

/// A channel of its own for every filter, then all channels of a pixel.
#[model_graph(dims(C = 64))]
pub struct Separable {
    #[input]
    x: Tensor<f32, 1, 25, 5, C>,
    #[weight]
    depthwise: Tensor<f32, 1, 3, 3, C>,
    #[weight]
    depthwise_bias: Tensor<f32, C>,
    #[weight]
    pointwise: Tensor<i8, C, 1, 1, C>,
    #[weight]
    pointwise_scale: Tensor<f32>,
    #[weight]
    pointwise_bias: Tensor<f32, C>,
    // The file has one filter's taps side by side for all channels; `conv2d` has them channel by channel.
    #[node(permute(depthwise, axes = [3, 1, 2, 0]))]
    taps: Tensor<f32, C, 3, 3, 1>,
    #[node(relu(conv2d(x, taps, depthwise_bias, padding = 1, groups = C, layout = nhwc)))]
    filtered: _,
    #[output(relu(hybrid_conv2d(filtered, pointwise, pointwise_scale, pointwise_bias)))]
    y: Tensor<f32, 1, 25, 5, C>,
}

/// The network of `kws_ref_model_float32.tflite`: numbers are `f32`, the weights of its dense convolutions `i8`.
#[model_graph(dims(C = 64))]
pub struct Keywords {
    /// Ten cepstral coefficients of each of 49 frames.
    #[input]
    pub features: Tensor<f32, 1, 49, 10, 1>,
    #[weight(name = "17")]
    first: Tensor<i8, C, 10, 4, 1>,
    #[weight(name = "17.scale")]
    first_scale: Tensor<f32>,
    #[weight(name = "3")]
    first_bias: Tensor<f32, C>,
    #[node(relu(hybrid_conv2d(features, first, first_scale, first_bias, stride = 2, padding = [4, 1, 5, 1])))]
    start: _,
    #[chain(start)]
    blocks: [Separable; 4],
    #[node(reshape(avg_pool2d(blocks, kernel = [25, 5], layout = nhwc), shape = [1, C]))]
    mean: _,
    #[weight(name = "16")]
    dense: Tensor<f32, 12, C>,
    #[weight(name = "1")]
    dense_bias: Tensor<f32, 12>,
    /// How likely each of [`WORDS`] is.
    #[output(softmax(matmul(mean, transpose(dense)) + dense_bias))]
    pub probabilities: Tensor<f32, 1, 12>,
}

/// As [`Separable`], in integers. All zeros of its tensors are -128, so that cutting the range there is a relu.
#[model_graph(dims(C = 64))]
pub struct QuantizedSeparable {
    #[input]
    x: Tensor<i8, 1, 25, 5, C>,
    #[weight]
    x_scale: Tensor<f32>,
    #[weight]
    depthwise: Tensor<i8, 1, 3, 3, C>,
    #[weight]
    depthwise_scale: Tensor<f32, C>,
    #[weight]
    depthwise_bias: Tensor<i32, C>,
    #[weight]
    filtered_scale: Tensor<f32>,
    #[weight]
    pointwise: Tensor<i8, C, 1, 1, C>,
    #[weight]
    pointwise_scale: Tensor<f32, C>,
    #[weight]
    pointwise_bias: Tensor<i32, C>,
    #[weight]
    y_scale: Tensor<f32>,
    #[node(q_depthwise_conv2d(
        x, depthwise, x_scale, depthwise_scale, filtered_scale, depthwise_bias,
        padding = 1, x_zero = -128, y_zero = -128
    ))]
    filtered: _,
    #[output(q_conv2d(
        filtered, pointwise, filtered_scale, pointwise_scale, y_scale, pointwise_bias,
        x_zero = -128, y_zero = -128
    ))]
    y: Tensor<i8, 1, 25, 5, C>,
}

/// The network of `kws_ref_model.tflite`, in integers throughout.
#[model_graph(dims(C = 64))]
pub struct QuantizedKeywords {
    /// Ten cepstral coefficients of each of 49 frames, as integers whose scale and zero the file says.
    #[input]
    pub features: Tensor<i8, 1, 49, 10, 1>,
    #[weight(name = "0.scale")]
    features_scale: Tensor<f32>,
    #[weight(name = "17")]
    first: Tensor<i8, C, 10, 4, 1>,
    #[weight(name = "17.scale")]
    first_scale: Tensor<f32, C>,
    #[weight(name = "3")]
    first_bias: Tensor<i32, C>,
    #[weight(name = "22.scale")]
    start_scale: Tensor<f32>,
    #[node(q_conv2d(
        features, first, features_scale, first_scale, start_scale, first_bias,
        stride = 2, padding = [4, 1, 5, 1], x_zero = 83, y_zero = -128
    ))]
    start: _,
    #[chain(start)]
    blocks: [QuantizedSeparable; 4],
    #[node(reshape(q_avg_pool2d(blocks, kernel = [25, 5]), shape = [1, C]))]
    mean: _,
    #[weight(name = "31.scale")]
    mean_scale: Tensor<f32>,
    #[weight(name = "16")]
    dense: Tensor<i8, 12, C>,
    #[weight(name = "16.scale")]
    dense_scale: Tensor<f32>,
    #[weight(name = "1")]
    dense_bias: Tensor<i32, 12>,
    #[weight(name = "33.scale")]
    scores_scale: Tensor<f32>,
    #[node(q_linear(mean, dense, mean_scale, dense_scale, scores_scale, dense_bias, x_zero = -128, y_zero = 14))]
    scores: _,
    /// How likely each of [`WORDS`] is: `(p + 128) / 256`.
    #[output(q_softmax(scores, scores_scale))]
    pub probabilities: Tensor<i8, 1, 12>,
}

/// Which tensors of a file the weights of each copy of a block are, by their indices: depthwise and its bias, pointwise and
/// its bias. Both files count them alike.
const BLOCKS: [[usize; 4]; 4] = [[5, 4, 18, 6], [8, 7, 19, 9], [11, 10, 20, 12], [14, 13, 21, 15]];

/// The index of the tensor that goes into the first copy; those within and after the copies follow one by one.
const START: usize = 22;

/// A model's names of weights, and the file's.
pub type Names = Vec<(String, String)>;

/// The names of the copies' weights; what stands outside of them is named where it is declared.
pub fn names() -> Names {
    let mut names = Names::new();
    for (copy, [depthwise, depthwise_bias, pointwise, pointwise_bias]) in BLOCKS.into_iter().enumerate() {
        let computed = START + 2 * copy;
        let mut name = |weight: &str, file: String| names.push((format!("blocks.{copy}.{weight}"), file));
        name("x_scale", format!("{computed}.scale"));
        name("filtered_scale", format!("{}.scale", computed + 1));
        name("y_scale", format!("{}.scale", computed + 2));
        name("depthwise", depthwise.to_string());
        name("depthwise_scale", format!("{depthwise}.scale"));
        name("depthwise_bias", depthwise_bias.to_string());
        name("pointwise", pointwise.to_string());
        name("pointwise_scale", format!("{pointwise}.scale"));
        name("pointwise_bias", pointwise_bias.to_string());
    }
    names
}

/// The file under the models' names.
pub fn weights<'a>(file: &'a TfLite<'a>, names: &'a Names) -> Renamed<'a, TfLite<'a>, String> {
    Renamed::new(file, names)
}

/// The filters of both files, whose zeros are 0 in the arithmetic.
const FILTERS: [usize; 10] = [5, 8, 11, 14, 16, 17, 18, 19, 20, 21];

/// The zeros that [`QuantizedKeywords`] has for the tensors that are computed, from the features to the probabilities.
const ZEROS: [(usize, i64); 14] = {
    let mut zeros = [(0, -128); 14];
    zeros[0] = (0, 83);
    let mut computed = 1;
    while computed < zeros.len() {
        zeros[computed].0 = START + computed - 1;
        computed += 1;
    }
    zeros[12].1 = 14;
    zeros
};

/// Holds the zeros of a file against those of the networks, which have them as numbers and do not load them; `computed` says
/// that those of the computed tensors count as well.
///
/// # Errors
/// With the first tensor whose zero is another one.
pub fn check_zeros(file: &TfLite<'_>, computed: bool) -> Result<(), String> {
    for (tensor, zero) in ZEROS.into_iter().filter(|_| computed) {
        match file.quantization(tensor) {
            Some((_, given)) if given == zero => {}
            Some((_, given)) => return Err(other_zero(tensor, given, zero)),
            None => {
                return Err(format!("tensor {tensor} of the file has no scale and zero, and the network needs one"));
            }
        }
    }
    for tensor in FILTERS {
        let zeros = file.find(&format!("{tensor}.zero")).ok().flatten();
        let zeros = zeros.iter().flat_map(|zeros| zeros.bytes.as_chunks().0);
        if let Some(given) = zeros.map(|zero| i64::from_le_bytes(*zero)).find(|zero| *zero != 0) {
            return Err(other_zero(tensor, given, 0));
        }
    }
    Ok(())
}

fn other_zero(tensor: usize, given: i64, zero: i64) -> String {
    format!(
        "tensor {tensor} of the file has the zero {given}, and this network is written for {zero}; write the file's zeros in \
         `QuantizedKeywords`"
    )
}

/// A number as one of the integers of a tensor with that scale and zero, as TensorFlow Lite rounds it.
pub fn quantize(number: f32, (scale, zero): (f32, i64)) -> i8 {
    let integer = (number / scale).round() as i64;
    integer.saturating_add(zero).clamp(i64::from(i8::MIN), i64::from(i8::MAX)) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every zero of the file, written over by another one where the file has it.
    #[test]
    fn other_zeros_than_the_networks_are_refused() {
        let file = TfLite::new(MODEL).unwrap();
        assert_eq!(check_zeros(&file, true), Ok(()));
        let start = MODEL.as_ptr().addr();
        let tensors = ZEROS.iter().map(|(tensor, _)| *tensor).chain(FILTERS);
        for tensor in tensors {
            let zeros = file.find(&format!("{tensor}.zero")).unwrap().unwrap().bytes;
            let at = zeros.as_ptr().addr() - start + zeros.len() - 8;
            let mut other = MODEL.to_vec();
            other[at] ^= 1;
            let other = TfLite::new(&other).unwrap();
            let error = check_zeros(&other, true).unwrap_err();
            assert!(error.starts_with(&format!("tensor {tensor} of the file has the zero ")), "{error}");
            assert_eq!(check_zeros(&other, false).is_err(), FILTERS.contains(&tensor));
        }
    }
}
