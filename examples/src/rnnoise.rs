//! RNNoise (J.-M. Valin, 2018): how much of each of 22 frequency bands of a frame is speech. Three recurrent layers
//! remember what came before.

mod audio;
mod weights;

use model_graph::model_graph;

pub use audio::{FRAME, Stream};
pub use weights::{Malformed, RnnoiseWeights};

/// A recurrent layer that keeps its own state.
#[model_graph(dims(IN = _, UNITS = _))]
pub struct Unit {
    #[input]
    x: Tensor<f32, 1, IN>,
    #[weight]
    w_ih: Tensor<f32, { 3 * UNITS }, IN>,
    #[weight]
    w_hh: Tensor<f32, { 3 * UNITS }, UNITS>,
    #[weight]
    b: Tensor<f32, { 3 * UNITS }>,
    #[state]
    h: Tensor<f32, 1, UNITS>,
    #[node(gru(reshape(x, shape = [1, 1, IN]), h, w_ih, w_hh, b, reset = before, activation = relu))]
    next: _,
    #[output(write(h, src = next[0]))]
    y: _,
}

/// A dense layer.
#[model_graph(dims(IN = _, UNITS = _))]
pub struct Dense {
    #[input]
    x: Tensor<f32, 1, IN>,
    #[weight]
    w: Tensor<f32, UNITS, IN>,
    #[weight]
    b: Tensor<f32, UNITS>,
    #[output(linear(x, w, b))]
    y: Tensor<f32, 1, UNITS>,
}

/// One frame of 10 ms.
#[model_graph]
pub struct Rnnoise {
    /// 22 cepstral coefficients, how the first six change, the pitch and how it correlates.
    #[input]
    pub features: Tensor<f32, 1, 42>,
    #[node(Dense<IN = 42, UNITS = 24>(features))]
    input: _,
    #[node(tanh(input))]
    seen: _,
    #[node(Unit<IN = 24, UNITS = 24>(seen))]
    voice_unit: _,
    #[node(Unit<IN = 90, UNITS = 48>(concat(seen, voice_unit, features, axis = 1)))]
    noise_unit: _,
    #[node(Unit<IN = 114, UNITS = 96>(concat(voice_unit, noise_unit, features, axis = 1)))]
    gain_unit: _,
    #[node(Dense<IN = 96, UNITS = 22>(gain_unit))]
    gain_layer: _,
    #[node(Dense<IN = 24, UNITS = 1>(voice_unit))]
    voice_layer: _,
    /// What each band is to be multiplied with, from 0 to 1.
    #[output(sigmoid(gain_layer))]
    pub gain: Tensor<f32, 1, 22>,
    /// How likely there is a voice.
    #[output(sigmoid(voice_layer))]
    pub voice: Tensor<f32, 1, 1>,
}

/// The weights that Mozilla trained (BSD-3-Clause, see `LICENSE-rnnoise`), as `nnnoiseless` publishes them.
pub static WEIGHTS: &[u8] = include_bytes!("../rnnoise/weights.rnn");
