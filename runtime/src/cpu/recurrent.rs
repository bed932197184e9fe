//! Recurrent layers: lstm, gru and the plain one. Operands may lie in any way; the result is packed.
//!
//! The products of the input with its weights are taken for several steps together, into working space. Each step's state
//! starts as a copy of the one before, is multiplied with its weights there, and is then brought forward in place.
//! Sums start from the biases, add the input's products, then the state's.

use core::ops::Range;

use model_graph_planner::op::RECURRENT_STEPS;

use super::gemm::{Matrix, gemm};
use super::nest::Nest;
use super::operands::{Input, Operands, operands};
use super::wide::wide;
use super::{CpuBuffer, Memory, math};
use crate::{Call, Error, Kernel, View, op};

impl<M: Memory> Kernel<op::Lstm> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Lstm>) -> Result<(), Error> {
        let (layer, output, scratch) = layer(operands(self.memory.bytes_mut(), call)?, call.inputs, 4);
        let forget = if call.op.iofg { [2, 3, 1] } else { [1, 2, 3] };
        let (gates, _) = scratch.split_at_mut(layer.chunk() * layer.batch * 4 * layer.units);
        let both = [layer.biases[0], layer.biases[1]];
        layer.sequence(output, gates, both, call.op.reverse, |state, gates| {
            let (h, c) = state.split_at_mut(layer.batch * layer.units);
            layer.add_state(h, 0..4, gates);
            let cells = gates.chunks_exact(4 * layer.units).zip(h.chunks_exact_mut(layer.units));
            for ((gates, h), c) in cells.zip(c.chunks_exact_mut(layer.units)) {
                lstm_cell(gates, h, c, forget);
            }
        });
        Ok(())
    }
}

impl<M: Memory> Kernel<op::Gru> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Gru>) -> Result<(), Error> {
        let (layer, output, scratch) = layer(operands(self.memory.bytes_mut(), call)?, call.inputs, 3);
        let size = layer.batch * layer.units;
        let (gates, hidden) = scratch.split_at_mut(layer.chunk() * size * 3);
        let op::Gru { before, relu, zrn, reverse } = call.op;
        let [reset, update] = if zrn { [1, 0] } else { [0, 1] };
        layer.sequence(output, gates, [layer.biases[0], None], reverse, |h, gates| {
            // What the state adds to each gate, a block of the batch for each.
            for (gate, hidden) in hidden.chunks_exact_mut(size).take(3).enumerate() {
                layer.fill(hidden, [layer.biases[1], None], gate..gate + 1);
                if !(before && gate == 2) {
                    layer.add_state(h, gate..gate + 1, hidden);
                }
            }
            let (first, rest) = hidden.split_at_mut(size);
            let (second, candidate) = rest.split_at_mut(size);
            let candidate = &mut candidate[..size];
            let [r, z] = if zrn { [second, first] } else { [first, second] };
            let rows = |gate: usize| gates.chunks_exact(layer.units).skip(gate).step_by(3);
            for (at, (xr, xz)) in rows(reset).zip(rows(update)).enumerate() {
                let at = at * layer.units..(at + 1) * layer.units;
                sigmoid_of_sum(xr, &mut r[at.clone()]);
                sigmoid_of_sum(xz, &mut z[at]);
            }
            if before {
                for (r, h) in r.iter_mut().zip(h.iter()) {
                    *r *= h;
                }
                layer.add_state(r, 2..3, candidate);
            } else {
                for (n, r) in candidate.iter_mut().zip(r.iter()) {
                    *n *= r;
                }
            }
            for (at, xn) in rows(2).enumerate() {
                let at = at * layer.units..(at + 1) * layer.units;
                gru_cell(xn, &candidate[at.clone()], &z[at.clone()], &mut h[at], relu);
            }
        });
        Ok(())
    }
}

impl<M: Memory> Kernel<op::Rnn> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Rnn>) -> Result<(), Error> {
        let (layer, output, scratch) = layer(operands(self.memory.bytes_mut(), call)?, call.inputs, 1);
        let (gates, _) = scratch.split_at_mut(layer.chunk() * layer.batch * layer.units);
        let both = [layer.biases[0], layer.biases[1]];
        layer.sequence(output, gates, both, call.op.reverse, |h, gates| {
            layer.add_state(h, 0..1, gates);
            activate(gates, h, call.op.relu);
        });
        Ok(())
    }
}

/// A vector inside a slice, and the distance between its elements.
type Bias<'a> = Option<(&'a [f32], usize)>;

/// The operands of a layer.
struct Layer<'a> {
    steps: usize,
    batch: usize,
    inputs: usize,
    units: usize,
    gates: usize,
    x: (&'a [f32], View),
    initial: (&'a [f32], View),
    w_ih: (&'a [f32], View),
    w_hh: (&'a [f32], View),
    biases: [Bias<'a>; 2],
}

/// The operands, the output and the working space.
fn layer<'a>(
    operands: Operands<'a, f32, 6>,
    views: &[View],
    gates: usize,
) -> (Layer<'a>, &'a mut [f32], &'a mut [f32]) {
    let Operands { output, inputs, scratch } = operands;
    let slice = |input: usize| (inputs[input].slice().unwrap_or(&[]), views[input]);
    let bias = |input: usize| match inputs[input] {
        Input::Slice(slice) => Some((slice, views[input].strides[0])),
        _ => None,
    };
    let (x, w_hh) = (slice(0), slice(3));
    let layer = Layer {
        steps: x.1.dims[0],
        batch: x.1.dims[1],
        inputs: x.1.dims[2],
        units: w_hh.1.dims[1],
        gates,
        x,
        initial: slice(1),
        w_ih: slice(2),
        w_hh,
        biases: [bias(4), bias(5)],
    };
    (layer, output, scratch)
}

/// A matrix that is multiplied with from the right: `x wᵀ`, from row `row` on.
fn transposed<'a>((data, view): (&'a [f32], View), row: usize) -> Matrix<'a> {
    let [down, along] = [view.strides[0], view.strides[1]];
    Matrix { data: &data[row * down..], row: along, column: down }
}

impl Layer<'_> {
    /// Steps that are taken together.
    fn chunk(&self) -> usize {
        self.steps.min(RECURRENT_STEPS)
    }

    /// Goes through the steps; `bring_forward` is given the state, which is the one before, and the step's gates.
    fn sequence(
        &self,
        output: &mut [f32],
        gates: &mut [f32],
        biases: [Bias<'_>; 2],
        reverse: bool,
        mut bring_forward: impl FnMut(&mut [f32], &mut [f32]),
    ) {
        if output.is_empty() {
            return;
        }
        let (size, width) = (output.len() / self.steps, self.batch * self.gates * self.units);
        let mut done = 0;
        while done < self.steps {
            let count = (self.steps - done).min(RECURRENT_STEPS);
            let low = if reverse { self.steps - done - count } else { done };
            let gates = &mut gates[..count * width];
            self.fill(gates, biases, 0..self.gates);
            self.add_inputs(low, count, gates);
            for index in 0..count {
                let step = if reverse { low + count - 1 - index } else { low + index };
                match (done + index, reverse) {
                    (0, _) => self.start(&mut output[step * size..][..size]),
                    (_, false) => output.copy_within((step - 1) * size..step * size, step * size),
                    (_, true) => output.copy_within((step + 1) * size..(step + 2) * size, step * size),
                }
                let gates = &mut gates[(step - low) * width..][..width];
                bring_forward(&mut output[step * size..][..size], gates);
            }
            done += count;
        }
    }

    /// The state before the first step.
    fn start(&self, state: &mut [f32]) {
        let (from, view) = self.initial;
        let mut state = state.iter_mut();
        Nest::new(view.dims(), [view.strides()]).each(|[at]| {
            if let Some(element) = state.next() {
                *element = from[at];
            }
        });
    }

    /// Every row becomes the sum of the biases of these gates.
    fn fill(&self, rows: &mut [f32], biases: [Bias<'_>; 2], gates: Range<usize>) {
        let width = gates.len() * self.units;
        rows.fill(0.0);
        for (bias, step) in biases.into_iter().flatten() {
            for row in rows.chunks_exact_mut(width) {
                for (index, element) in row.iter_mut().enumerate() {
                    *element += bias[(gates.start * self.units + index) * step];
                }
            }
        }
    }

    /// Adds the products of `count` steps of the input with their weights.
    fn add_inputs(&self, low: usize, count: usize, gates: &mut [f32]) {
        let width = self.gates * self.units;
        if self.inputs == 0 {
            return;
        }
        let (x, view) = self.x;
        let [far, down, along] = [view.strides[0], view.strides[1], view.strides[2]];
        let w = transposed(self.w_ih, 0);
        // One product for all of them, where the rows of a step go on in the next.
        let (row, runs, rows) = match self.batch {
            1 => (far, 1, count),
            batch if far == batch * down => (down, 1, count * batch),
            batch => (down, count, batch),
        };
        for (run, gates) in gates.chunks_exact_mut(rows * width).take(runs).enumerate() {
            let a = Matrix { data: &x[(low + run) * far..], row, column: along };
            gemm([rows, width, self.inputs], a, w, gates);
        }
    }

    /// Adds the products of a state with its weights of these gates.
    fn add_state(&self, h: &[f32], gates: Range<usize>, rows: &mut [f32]) {
        let a = Matrix { data: h, row: self.units, column: 1 };
        let width = gates.len() * self.units;
        gemm([self.batch, width, self.units], a, transposed(self.w_hh, gates.start * self.units), rows);
    }
}

wide! {
    /// `order` says which gates are forget, cell and output; the input gate is the first.
    fn lstm_cell(gates: &[f32], h: &mut [f32], c: &mut [f32], order: [usize; 3]) {
        let units = h.len();
        let [f, g, o] = order.map(|gate| &gates[gate * units..][..units]);
        let i = &gates[..units];
        for k in 0..units {
            c[k] = math::sigmoid(f[k]) * c[k] + math::sigmoid(i[k]) * math::tanh(g[k]);
        }
        for k in 0..units {
            h[k] = math::sigmoid(o[k]) * math::tanh(c[k]);
        }
    }

    fn sigmoid_of_sum(x: &[f32], y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = math::sigmoid(x + *y);
        }
    }

    fn gru_cell(x: &[f32], n: &[f32], z: &[f32], h: &mut [f32], relu: bool) {
        for (((h, x), n), z) in h.iter_mut().zip(x).zip(n).zip(z) {
            let sum = x + n;
            let n = if relu { if sum <= 0.0 { 0.0 } else { sum } } else { math::tanh(sum) };
            *h = (1.0 - z) * n + z * *h;
        }
    }

    fn activate(x: &[f32], y: &mut [f32], relu: bool) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = if relu { if x <= 0.0 { 0.0 } else { x } } else { math::tanh(x) };
        }
    }
}
