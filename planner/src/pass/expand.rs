//! Calls that stand for several: each is replaced by those, so that the passes behind this one know nothing of it. Where a
//! kernel takes `f32` alone, halves are cast before it and its result after it.

use alloc::format;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use crate::graph::{Graph, Node};
use crate::op::{self, Action, RuleError};
use crate::{DType, Role, TensorId, Type};

/// The graph without such calls, or `None` when it has none. Its tensors are those of the graph, then the ones that the
/// new calls make, which are named after the result that they help to make.
///
/// # Errors
/// What a new call's rule complains of.
pub(super) fn expand(graph: &Graph) -> Result<Option<Graph>, RuleError> {
    if !graph.nodes().any(|(_, node)| node.op.action() == Action::Expand || is_wider(graph, node)) {
        return Ok(None);
    }
    let mut made = graph.with_calls(Vec::new());
    let mut calls: Vec<Node> = Vec::with_capacity(graph.nodes().count());
    for (_, node) in graph.nodes() {
        if node.op.action() != Action::Expand {
            calls.push(node.clone());
            continue;
        }
        let types: Vec<Type> = node.inputs.iter().map(|input| graph.tensor(*input).ty).collect();
        let mut new: Vec<Node> = Vec::new();
        let (op, inputs) = node.op.expand(&node.inputs, &types, &mut |name, op, inputs| {
            let types: Vec<Type> = inputs.iter().map(|input| made.tensor(*input).ty).collect();
            let ty = op::infer(&*op, &types)?;
            let output = made.leaf(format!("{}.{name}", graph.tensor(node.output).name), Role::Node, ty)?;
            if op.action() == Action::View || op.takes_stages() {
                made.set_inner(output);
            }
            new.push(Node { op, inputs: inputs.to_vec(), output });
            Ok(output)
        })?;
        calls.extend(new);
        calls.push(Node { op, inputs, output: node.output });
    }
    let mut nodes: Vec<Node> = Vec::with_capacity(calls.len());
    for node in calls {
        if is_wider(&made, &node) { through_f32(&mut made, node, &mut nodes)? } else { nodes.push(node) }
    }
    Ok(Some(made.with_calls(nodes)))
}

/// True for a call with halves where its kernel takes `f32` alone.
fn is_wider(graph: &Graph, node: &Node) -> bool {
    let mut inputs = node.inputs.iter().enumerate();
    node.op.through_f32()
        && inputs.any(|(at, input)| graph.tensor(*input).ty.dtype.is_half() && !node.op.reads_halves(at))
}

/// The call in `f32`, with casts around it.
fn through_f32(made: &mut Graph, node: Node, nodes: &mut Vec<Node>) -> Result<(), RuleError> {
    let name = made.tensor(node.output).name.clone();
    let mut cast: Vec<(TensorId, TensorId)> = Vec::new();
    let mut inputs = node.inputs.clone();
    for (at, input) in inputs.iter_mut().enumerate() {
        let ty = made.tensor(*input).ty;
        if !ty.dtype.is_half() || node.op.reads_halves(at) {
            continue;
        }
        if let Some((_, wide)) = cast.iter().find(|(half, _)| half == input) {
            *input = *wide;
            continue;
        }
        // A call may have several operands of halves, each with a name of its own.
        let of = made.tensor(*input).name.clone();
        let wide = made.leaf(format!("{name}.{of}.as_f32"), Role::Node, Type { dtype: DType::F32, ..ty })?;
        nodes.push(Node { op: Rc::new(op::Cast { to: DType::F32 }), inputs: vec![*input], output: wide });
        cast.push((*input, wide));
        *input = wide;
    }
    let types: Vec<Type> = inputs.iter().map(|input| made.tensor(*input).ty).collect();
    let ty = op::infer(&*node.op, &types)?;
    let to = made.tensor(node.output).ty.dtype;
    if ty.dtype == to {
        nodes.push(Node { inputs, ..node });
        return Ok(());
    }
    let wide = made.leaf(format!("{name}.f32"), Role::Node, ty)?;
    nodes.push(Node { op: node.op, inputs, output: wide });
    nodes.push(Node { op: Rc::new(op::Cast { to }), inputs: vec![wide], output: node.output });
    Ok(())
}
