//! Batch normalisation of a packed tensor with recorded statistics, in place or not:
//! `(x - mean) * (scale / sqrt(var + eps)) + bias` per channel.

use super::operands::{Operands, length, operands};
use super::wide::wide;
use super::{CpuBuffer, Memory, math};
use crate::{Call, Error, Kernel, View, op};

impl<M: Memory> Kernel<op::BatchNorm> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::BatchNorm>) -> Result<(), Error> {
        let operands = operands(self.memory.bytes_mut(), call)?;
        batch_norm(operands, &call.outputs[0], call.op)
    }
}

/// Channels whose factors are computed at once.
const CHANNELS: usize = 32;

wide! {
    fn batch_norm(operands: Operands<'_, f32, 5>, view: &View, op: op::BatchNorm) -> Result<(), Error> {
        let Operands { output, inputs: [input, scale, bias, mean, var], .. } = operands;
        let [Some(scale), Some(bias), Some(mean), Some(var)] = [scale, bias, mean, var].map(|input| input.slice()) else {
            return Err(length(5, 1));
        };
        let channels = view.dims[op.axis];
        let inner: usize = view.dims[op.axis + 1..].iter().product();
        if output.is_empty() {
            return Ok(());
        }
        if let Some(x) = input.slice() {
            output.copy_from_slice(x);
        }
        for start in (0..channels).step_by(CHANNELS) {
            let width = (channels - start).min(CHANNELS);
            let [scale, bias, mean, var] = [scale, bias, mean, var].map(|slice| &slice[start..start + width]);
            let mut factors = [0.0; CHANNELS];
            for ((factor, &scale), &var) in factors.iter_mut().zip(scale).zip(var) {
                *factor = scale / math::sqrt(var + op.eps);
            }
            for plane in output.chunks_exact_mut(channels * inner) {
                let plane = &mut plane[start * inner..(start + width) * inner];
                if inner == 1 {
                    for (((y, &factor), &bias), &mean) in plane.iter_mut().zip(&factors).zip(bias).zip(mean) {
                        *y = (*y - mean) * factor + bias;
                    }
                } else {
                    for (channel, row) in plane.chunks_exact_mut(inner).enumerate() {
                        let (factor, bias, mean) = (factors[channel], bias[channel], mean[channel]);
                        for y in row {
                            *y = (*y - mean) * factor + bias;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
