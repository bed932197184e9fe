//! The checker's other half: every step of a finished plan is one that its operator takes. It knows the operators'
//! rules and the plan, and nothing of how the plan was made.

use alloc::vec::Vec;

use super::bytes::overlap;
use super::check::{Fault, check, fault};
use super::{Planned, PlannedStep};
use crate::op::Action;
use crate::{Shape, Type, View};

/// Checks a plan together with its operators: all that [`check`] does, and that every step's operands have types which
/// the operator takes, lie strided only where it reads or writes strides, share bytes with the result only where it
/// works in place, and find the working space it asks for.
///
/// # Errors
/// The first fault that is found.
pub fn verify(planned: &Planned) -> Result<(), Fault> {
    planned.with(check)?;
    for (index, step) in planned.steps.iter().enumerate() {
        verify_step(planned, index, step)?;
    }
    Ok(())
}

fn verify_step(planned: &Planned, index: usize, step: &PlannedStep) -> Result<(), Fault> {
    let view = |tensor: usize| &planned.tensors[tensor].view;
    // A plan is for the largest values of the open dims, and its views have the extents for those.
    let op = step.op.at(&[]);
    let name = step.op.name();
    let [output] = step.outputs[..] else { fault!("step {index} (`{name}`) has {} results", step.outputs.len()) };
    if step.op.action() != Action::Compute {
        fault!("step {index} is a `{name}`, which has no kernel");
    }
    let types: Vec<Type> = step.inputs.iter().map(|input| type_of(view(*input))).collect();
    let result = type_of(view(output));
    match op.infer(&types) {
        Ok(inferred) if inferred == result => {}
        Ok(inferred) => fault!("step {index} (`{name}`) makes {inferred} and writes {result}"),
        Err(error) => fault!("step {index} (`{name}`) does not take its operands: {error:?}"),
    }
    if !step.op.writes(view(output)) {
        fault!("step {index} (`{name}`) cannot write `{}`, which is strided", planned.tensors[output].name);
    }
    for (operand, input) in step.inputs.iter().enumerate() {
        if !step.op.strided_input(operand) && !view(*input).is_packed() {
            fault!("step {index} (`{name}`) cannot read `{}`, which is strided", planned.tensors[*input].name);
        }
        if !step.op.in_place(operand) && overlap(view(*input), view(output)) {
            fault!("step {index} (`{name}`) cannot write over `{}`", planned.tensors[*input].name);
        }
    }
    let given: usize = step.scratch.iter().map(|scratch| view(*scratch).span().len()).sum();
    let needed = op.scratch(&types, &result);
    if given < needed {
        fault!("step {index} (`{name}`) needs {needed} bytes to work in and has {given}");
    }
    Ok(())
}

fn type_of(view: &View) -> Type {
    Type { dtype: view.dtype, shape: Shape::new(view.dims()).unwrap_or_default() }
}
