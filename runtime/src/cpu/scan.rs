//! What walks along one axis of a strided tensor: the place of an extremum, and running sums.

use super::nest::Nest;
use super::operands::{Operands, elements_mut, operands};
use super::typed::{self, Element, Integer, with_integer};
use super::{CpuBuffer, Memory};
use crate::{Call, Error, Kernel, View, op};

macro_rules! arg {
    ($( $name:ident, |$x:ident, $best:ident| $better:expr; )*) => { $(
        impl<M: Memory> Kernel<op::$name> for CpuBuffer<M> {
            fn run(&mut self, call: &Call<'_, op::$name>) -> Result<(), Error> {
                let Operands { output, inputs: [x], .. } = operands::<_, u8, 1>(self.memory.bytes_mut(), call)?;
                let output: &mut [i64] = elements_mut(output)?;
                let (view, op::$name { axis, last, .. }) = (&call.inputs[0], call.op);
                with_integer!(view.dtype, T => {
                    arg(typed::slice::<T>(x)?, view, axis, last, output, |$x, $best| $better);
                }, {
                    // A NaN is beyond everything, and as good as another one.
                    arg(typed::slice::<f32>(x)?, view, axis, last, output, |$x, $best| {
                        !$best.is_nan() && ($x.is_nan() || $better)
                    });
                });
                Ok(())
            }
        }
    )* };
}

arg! {
    ArgMax, |x, best| x > best;
    ArgMin, |x, best| x < best;
}

fn arg<E: Element<Wide = E>>(
    x: &[E],
    view: &View,
    axis: usize,
    last: bool,
    output: &mut [i64],
    better: impl Fn(E, E) -> bool,
) {
    let mut dims = view.dims;
    let (extent, step) = (core::mem::replace(&mut dims[axis], 1), view.strides[axis]);
    let mut outputs = output.iter_mut();
    Nest::new(&dims[..view.rank], [view.strides()]).each(|[at]| {
        let mut best = 0;
        for index in 1..extent {
            let (new, old) = (x[at + index * step], x[at + best * step]);
            if better(new, old) || last && !better(old, new) {
                best = index;
            }
        }
        if let Some(y) = outputs.next() {
            *y = best as i64;
        }
    });
}

impl<M: Memory> Kernel<op::CumSum> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, op::CumSum>) -> Result<(), Error> {
        let Operands { output, inputs: [x], .. } = operands::<_, u8, 1>(self.memory.bytes_mut(), call)?;
        let (view, op) = (&call.inputs[0], &call.op);
        with_integer!(view.dtype, T => {
            let (x, output) = (typed::slice::<T>(x)?, elements_mut(output)?);
            running(x, output, view, op, T::ZERO, <T as Integer>::add, |total| total);
        }, {
            // In f64, so that what is small is not lost beside the sum of many.
            let (x, output) = (typed::slice::<f32>(x)?, elements_mut(output)?);
            running(x, output, view, op, 0.0, |total: f64, x: f32| total + f64::from(x), |total| total as f32);
        });
        Ok(())
    }
}

fn running<E: Element, S: Copy>(
    x: &[E],
    output: &mut [E],
    view: &View,
    op: &op::CumSum,
    start: S,
    join: impl Fn(S, E) -> S,
    finish: impl Fn(S) -> E,
) {
    let mut dims = view.dims;
    let extent = core::mem::replace(&mut dims[op.axis], 1);
    let step = view.strides[op.axis];
    let mut packed = [0; crate::MAX_RANK];
    let mut stride = 1;
    for axis in (0..view.rank).rev() {
        packed[axis] = stride;
        stride *= view.dims[axis];
    }
    let along = packed[op.axis];
    Nest::new(&dims[..view.rank], [view.strides(), &packed[..view.rank]]).each(|[from, to]| {
        let mut total = start;
        for index in 0..extent {
            let index = if op.reverse { extent - 1 - index } else { index };
            let before = total;
            total = join(total, x[from + index * step]);
            output[to + index * along] = finish(if op.exclusive { before } else { total });
        }
    });
}
