//! Rotary position embedding, strided or packed, in place or not.
//!
//! The cosines and sines of one position go into working space and serve every vector that stands there. Angles are
//! worked out in `f64`: a late position times a small frequency has to keep its fraction.

use super::nest::Nest;
use super::operands::{Input, Operands, operands};
use super::{CpuBuffer, Memory};
use crate::{Call, DType, Error, Kernel, op};

impl<M: Memory> Kernel<op::Rope> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::Rope>) -> Result<(), Error> {
        rope(operands(self.memory.bytes_mut(), call)?, call);
        Ok(())
    }
}

fn rope(operands: Operands<'_, f32, 2>, call: &Call<'_, op::Rope>) {
    let Operands { output, inputs: [x, positions], scratch } = operands;
    let Some(positions) = positions.slice() else { return };
    let (x_view, y_view, position_view) = (&call.inputs[0], &call.outputs[0], &call.inputs[1]);
    if output.is_empty() {
        return;
    }
    let op::Rope { axis, dims, base, halves } = call.op;
    let last = x_view.rank - 1;
    let mut others = x_view.dims;
    (others[axis], others[last]) = (1, 1);
    let nest = Nest::new(&others[..x_view.rank], [x_view.strides(), y_view.strides()]);
    let (x_step, y_step) = (x_view.strides[last], y_view.strides[last]);
    let half = dims / 2;
    let (cosines, sines) = scratch[..dims].split_at_mut(half);
    let ratio = libm::pow(f64::from(base), -2.0 / dims.max(1) as f64);
    for index in 0..x_view.dims[axis] {
        let at = if position_view.rank == 0 { 0 } else { index * position_view.strides[0] };
        // An element of four bytes lies as one of `f32` does.
        let element = &positions[at..=at];
        let position = match position_view.dtype {
            DType::I32 => f64::from(bytemuck::cast_slice::<f32, i32>(element)[0]),
            _ => f64::from(bytemuck::cast_slice::<f32, u32>(element)[0]),
        };
        let position = if position_view.rank == 0 { position + index as f64 } else { position };
        let mut frequency = 1.0;
        for (cosine, sine) in cosines.iter_mut().zip(sines.iter_mut()) {
            let (sin, cos) = libm::sincos(position * frequency);
            (*cosine, *sine) = (cos as f32, sin as f32);
            frequency *= ratio;
        }
        nest.each(|[from, to]| {
            let (from, to) = (from + index * x_view.strides[axis], to + index * y_view.strides[axis]);
            for (pair, (cosine, sine)) in cosines.iter().zip(sines.iter()).enumerate() {
                let (i, j) = if halves { (pair, pair + half) } else { (2 * pair, 2 * pair + 1) };
                let (a, b) = match x {
                    Input::Slice(x) => (x[from + i * x_step], x[from + j * x_step]),
                    _ => (output[to + i * y_step], output[to + j * y_step]),
                };
                output[to + i * y_step] = a * cosine - b * sine;
                output[to + j * y_step] = a * sine + b * cosine;
            }
            if let Input::Slice(x) = x {
                for i in dims..x_view.dims[last] {
                    output[to + i * y_step] = x[from + i * x_step];
                }
            }
        });
    }
}
