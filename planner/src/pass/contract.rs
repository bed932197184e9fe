//! The checker's other half: every step of a finished plan is one that its operator takes. It knows the operators'
//! rules and the plan, and nothing of how the plan was made.

use alloc::vec::Vec;

use super::bytes::overlap;
use super::check::{Fault, check, check_open, fault};
use super::{Planned, PlannedStep};
use crate::op::{self, Action, Fill, Fused, Operator, find};
use crate::{Role, Shape, Storage, Type, View};

/// Checks a plan together with its operators: all that [`check`] does, and that every step's operands have types which
/// the operator takes, lie strided only where it reads or writes strides, share bytes with the result only where it
/// works in place, and find the working space it asks for. Where dims are open, all of that has to hold for every value.
///
/// # Errors
/// The first fault that is found.
pub fn verify(planned: &Planned) -> Result<(), Fault> {
    verify_at_bounds(planned)?;
    check_open(planned)
}

/// Checks a plan as it is for the largest values of the open dims.
pub(super) fn verify_at_bounds(planned: &Planned) -> Result<(), Fault> {
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
    match step.op.action() {
        Action::Compute => {}
        Action::Write => verify_write(planned, index, step, output)?,
        _ => fault!("step {index} is a `{name}`, which has no kernel"),
    }
    if takes(&*step.op).is_some_and(|(least, most)| !(least..=most).contains(&step.inputs.len())) {
        fault!("step {index} (`{name}`) has {} operands", step.inputs.len());
    }
    let types: Vec<Type> = step.inputs.iter().map(|input| type_of(view(*input))).collect();
    let result = type_of(view(output));
    let narrow = types.iter().enumerate().any(|(input, ty)| ty.dtype.is_half() && !op.reads_halves(input));
    if op.through_f32() && narrow {
        fault!("step {index} (`{name}`) reads halves, and its kernel takes f32 alone");
    }
    match op::infer(&*op, &types) {
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
    // Kernels work in one piece.
    let given = match step.scratch[..] {
        [] => 0,
        [scratch] if view(scratch).is_packed() => view(scratch).span().len(),
        _ => fault!("step {index} (`{name}`) has its working space in pieces"),
    };
    let needed = op.scratch(&types, &result);
    if given < needed {
        fault!("step {index} (`{name}`) needs {needed} bytes to work in and has {given}");
    }
    Ok(())
}

/// A state is written over its version before.
fn verify_write(planned: &Planned, index: usize, step: &PlannedStep, output: usize) -> Result<(), Fault> {
    let tensor = &planned.tensors[output];
    let over = step.inputs.first().copied();
    if tensor.role != Role::State || over.map(Storage::InPlace) != Some(tensor.storage) {
        let name = step.op.name();
        fault!("step {index} (`{name}`) makes `{}`, which is no version of its first operand", tensor.name);
    }
    Ok(())
}

/// The least and the most operands of an operator; none of one that is not the planner's own. An operator's rules may
/// take it for granted that there are as many.
fn takes(op: &dyn Operator) -> Option<(usize, usize)> {
    if let Some(fused) = op.as_any().downcast_ref::<Fused>() {
        let (Some((least, most)), Some((_, stage))) = (takes(&*fused.base), takes(&*fused.stage)) else { return None };
        // What the stage works on is no operand of the whole.
        let fits = (least..=most).contains(&fused.operands) && (1..=2).contains(&stage) && fused.side < stage;
        let all = fused.operands.saturating_add(stage).saturating_sub(1);
        return Some(if fits { (all, all) } else { (1, 0) });
    }
    if op.as_any().is::<Fill>() {
        return Some((0, 0));
    }
    find(op.name()).map(|entry| entry.spec.takes())
}

fn type_of(view: &View) -> Type {
    Type { dtype: view.dtype, shape: Shape::new(view.dims()).unwrap_or_default() }
}
