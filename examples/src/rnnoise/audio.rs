//! What stands around RNNoise's network: features of a frame before it, and the frame with its gains after it. The signal
//! processing is that of the crate `nnnoiseless`; what it keeps to itself, the gains between bands and the way back to
//! samples, is done here after J.-M. Valin, "A Hybrid DSP/Deep Learning Approach to Real-Time Full-Band Speech
//! Enhancement" (2018).

use easyfft::prelude::*;
use model_graph::Error;
use nnnoiseless::{DenoiseFeatures, EBAND_5MS, FRAME_SIZE, FRAME_SIZE_SHIFT, FREQ_SIZE, NB_BANDS};

use super::Rnnoise;

/// Samples of a frame, 10 ms at 48 kHz.
pub const FRAME: usize = FRAME_SIZE;

/// A stream of audio: what of the frames before it still matters.
pub struct Stream {
    features: DenoiseFeatures,
    /// The second half of the window before, to be added to the first half of the next.
    overlap: [f32; FRAME],
    window: [f32; 2 * FRAME],
    samples: [f32; 2 * FRAME],
    last: [f32; NB_BANDS],
}

impl Default for Stream {
    fn default() -> Stream {
        let half_pi = std::f64::consts::FRAC_PI_2;
        // Vorbis' window: its square and that of its mirror image sum to one.
        let window = std::array::from_fn(|at| {
            let from_edge = at.min(2 * FRAME - 1 - at) as f64;
            let slope = (half_pi * (from_edge + 0.5) / FRAME as f64).sin();
            (half_pi * slope * slope).sin() as f32
        });
        Stream {
            features: DenoiseFeatures::new(),
            overlap: [0.0; FRAME],
            window,
            samples: [0.0; 2 * FRAME],
            last: [0.0; NB_BANDS],
        }
    }
}

impl Stream {
    /// Takes the noise out of a frame. What comes out is the frame before it.
    ///
    /// # Errors
    /// What `forward` reports.
    pub fn clean(&mut self, model: &mut Rnnoise, frame: &[i16; FRAME], out: &mut [i16; FRAME]) -> Result<(), Error> {
        let mut samples = frame.map(f32::from);
        if let Some(features) = self.analyse(&samples) {
            model.features_mut().write_slice(features)?;
            let gains = model.forward()?.gain()[0];
            self.weaken(&gains);
        }
        self.synthesise(&mut samples);
        *out = samples.map(|sample| sample.round() as i16);
        Ok(())
    }

    /// Takes a frame of samples from -32768 to 32767 and gives its 42 features; none when it is silent.
    pub fn analyse(&mut self, frame: &[f32; FRAME]) -> Option<&[f32]> {
        self.features.shift_and_filter_input(frame);
        let silent = self.features.compute_frame_features();
        (!silent).then(|| self.features.features())
    }

    /// Weakens the bands of the frame that was analysed last. Gains do not fall faster than to 0.6 of the one before.
    pub fn weaken(&mut self, gains: &[f32; NB_BANDS]) {
        self.features.pitch_filter(gains);
        for (last, gain) in self.last.iter_mut().zip(gains) {
            *last = gain.max(0.6 * *last);
        }
        let mut by_frequency = [0.0; FREQ_SIZE];
        for (band, edges) in EBAND_5MS.windows(2).enumerate() {
            let (start, end) = (edges[0] << FRAME_SIZE_SHIFT, edges[1] << FRAME_SIZE_SHIFT);
            for (at, gain) in by_frequency[start..end].iter_mut().enumerate() {
                let share = at as f32 / (end - start) as f32;
                *gain = (1.0 - share) * self.last[band] + share * self.last[band + 1];
            }
        }
        self.features.x *= &by_frequency as &[f32];
    }

    /// The samples of the frame that was analysed last, one frame late.
    pub fn synthesise(&mut self, frame: &mut [f32; FRAME]) {
        self.features.x.real_ifft_using(&mut self.samples);
        for (sample, window) in self.samples.iter_mut().zip(&self.window) {
            *sample *= 0.5 * window;
        }
        let (first, second) = self.samples.split_at(FRAME);
        for ((out, first), overlap) in frame.iter_mut().zip(first).zip(&self.overlap) {
            *out = first + overlap;
        }
        self.overlap.copy_from_slice(second);
    }
}
