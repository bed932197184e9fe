//! What an operator declares of itself, in the plan: the same operator with a clause and without.

use model_graph::cpu::{Memory, Operands, operands, positions};
use model_graph::{Call, Cpu, CpuBuffer, Error, Kernel, Poison, Role, model_graph, operator};

/// `x + 1`, each element by itself.
macro_rules! increment {
    ($($name:ident, $strided:literal, ($($clause:tt)*);)*) => { $(
        #[operator(fn(x: f32[.., N]) -> f32[.., N] $($clause)*)]
        struct $name;

        impl<M: Memory> Kernel<$name> for CpuBuffer<M> {
            fn run(&mut self, call: &Call<'_, $name>) -> Result<(), Error> {
                let Operands { output, inputs: [x], .. } = operands(self, call)?;
                let y = output.of::<f32>()?;
                let (from, to) = (&call.inputs[0], &call.outputs[0]);
                assert!($strided || from.is_packed() && to.is_packed());
                let x = x.get::<f32>()?;
                for (from, to) in positions(from).zip(positions(to)) {
                    y[to] = x.map_or(y[to], |x| x[from]) + 1.0;
                }
                Ok(())
            }
        }
    )* };
}

increment! {
    Plain, false, ();
    InPlace, false, (, in_place = x);
    StridedInput, true, (, strided = x);
    StridedOutput, true, (, strided = [output]);
    Strided, true, (, strided = [x, output], in_place = [x]);
    Scratch, false, (, scratch = 8 * N + 4);
}

macro_rules! models {
    ($($op:ident, $module:ident;)*) => { $(
        mod $module {
            use super::*;

            #[model_graph]
            pub(super) struct Line {
                #[input]
                x: Tensor<f32, 64>,
                #[output($op($op($op(x))))]
                y: _,
            }

            #[model_graph]
            pub(super) struct Turned {
                #[input]
                x: Tensor<f32, 3, 5>,
                #[node($op(transpose(x)))]
                y: _,
                #[output(concat($op(y), $op(y), axis = 1))]
                z: _,
            }

            #[test]
            fn results() {
                let mut line = Line::new(&Cpu).unwrap();
                *line.x_mut() = [1.0; 64];
                assert_eq!(*line.forward_with(&mut Poison::default()).unwrap().y(), [4.0; 64]);
                let mut turned = Turned::new(&Cpu).unwrap();
                let x = core::array::from_fn(|row| core::array::from_fn(|column| (5 * row + column) as f32));
                *turned.x_mut() = x;
                let z: [[f32; 6]; 5] = core::array::from_fn(|row| core::array::from_fn(|column| x[column % 3][row] + 2.0));
                assert_eq!(*turned.forward_with(&mut Poison::default()).unwrap().z(), z);
            }
        }
    )* };
}

models! {
    Plain, plain;
    InPlace, in_place;
    StridedInput, strided_input;
    StridedOutput, strided_output;
    Strided, strided;
    Scratch, scratch;
}

#[test]
fn in_place_takes_no_bytes_more() {
    assert_eq!(in_place::Line::PLAN.size, 256);
    assert_eq!(plain::Line::PLAN.size, 512);
}

#[test]
fn strides_take_no_copies() {
    let copies = |plan: model_graph::Plan<'_>| plan.steps.iter().filter(|step| step.op == "copy").count();
    // The turned input, and both parts of the concatenation.
    assert_eq!(copies(plain::Turned::PLAN), 3);
    assert_eq!(copies(strided_input::Turned::PLAN), 2);
    assert_eq!(copies(strided_output::Turned::PLAN), 1);
    assert_eq!(copies(strided::Turned::PLAN), 0);
}

#[test]
fn scratch_is_planned() {
    let sizes = scratch::Line::PLAN.tensors.iter().filter(|tensor| tensor.role == Role::Scratch);
    assert!(sizes.map(|tensor| tensor.view.span().len()).eq([516; 3]));
    const { assert!(scratch::Line::PLAN.size >= 512 + 516) };
}
