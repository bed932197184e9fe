//! An operator of this crate's own, its kernel, and a network that calls it twice: once among its own fields, once in
//! every copy of a block.

use model_graph::cpu::{Memory, Operands, operands, positions};
use model_graph::{Call, CpuBuffer, Error, Kernel, model_graph, operator};

/// `x + sin²(a x) / (a + eps)`, with one `a` for each channel: an activation for signals that repeat themselves
/// (Ziyin et al., "Neural Networks Fail to Learn Periodic Functions and How to Fix It", 2020).
#[operator(
    fn(x: f32[.., C, N], a: f32[C]) -> f32[.., C, N],
    in_place = x,
    strided = [x, output],
    scratch = 4 * C,
)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snake {
    /// What keeps an `a` of zero from dividing by it.
    #[setting(default = 1e-9)]
    pub eps: f32,
}

impl<M: Memory> Kernel<Snake> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, Snake>) -> Result<(), Error> {
        let Operands { output, inputs: [x, a], scratch } = operands(self, call)?;
        let (y, a, inverse) = (output.of::<f32>()?, a.of::<f32>()?, scratch.of::<f32>()?);
        for (inverse, a) in inverse.iter_mut().zip(a) {
            *inverse = 1.0 / (a + call.op.eps);
        }
        let (x_view, y_view) = (&call.inputs[0], &call.outputs[0]);
        // Where elements lie side by side there is nothing to count.
        let length = y_view.dims[y_view.rank - 1];
        let channel = |element: usize| element / length % a.len();
        match x.get::<f32>()? {
            None => {
                for (element, at) in positions(y_view).enumerate() {
                    let c = channel(element);
                    y[at] = snake(y[at], a[c], inverse[c]);
                }
            }
            Some(x) => {
                for (element, (from, at)) in positions(x_view).zip(positions(y_view)).enumerate() {
                    let c = channel(element);
                    y[at] = snake(x[from], a[c], inverse[c]);
                }
            }
        }
        Ok(())
    }
}

fn snake(x: f32, a: f32, inverse: f32) -> f32 {
    let sine = (a * x).sin();
    x + sine * sine * inverse
}

/// A mixture of the channels and the activation, beside the signal itself.
#[model_graph(dims(C = 4, N = 16))]
pub struct Layer {
    /// The signal.
    #[input]
    pub x: Tensor<f32, C, N>,
    /// How much of each channel goes into each.
    #[weight]
    pub mix: Tensor<f32, C, C>,
    /// How fast each channel repeats itself.
    #[weight]
    pub a: Tensor<f32, C>,
    /// The signal, changed.
    #[output(x + Snake(matmul(mix, x), a))]
    pub y: _,
}

/// Three layers and a last activation with another `eps`.
#[model_graph(dims(C = 4, N = 16))]
pub struct Signal {
    /// The signal.
    #[input]
    pub x: Tensor<f32, C, N>,
    /// How fast each channel repeats itself.
    #[weight]
    pub a: Tensor<f32, C>,
    /// The layers, one after the other.
    #[chain(x)]
    pub layers: [Layer; 3],
    /// The signal, changed.
    #[output(Snake(layers, a, eps = 1e-6))]
    pub y: _,
}
