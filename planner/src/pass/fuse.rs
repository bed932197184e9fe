//! Epilogues: elementwise calls that follow a product or a convolution become stages of it, so that nothing between them
//! is stored or swept over again.

use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use crate::graph::{Graph, Node, NodeId};
use crate::op::{Action, Fused, MAX_OPERANDS};
use crate::{Role, TensorId};

/// The graph with its epilogues fused, or `None` when there are none.
///
/// A call becomes a stage when its operator can be one, what it works on has no name and no other reader, it does not
/// stretch that, and its other operand is there when the call before it runs: fusing moves no call and makes nothing live longer.
pub(super) fn fuse(graph: &Graph) -> Option<Graph> {
    let needed = graph.needed();
    let mut readers: Vec<Vec<(NodeId, usize)>> = vec![Vec::new(); graph.tensors().count()];
    for (id, node) in graph.nodes().filter(|(id, _)| needed[id.index()]) {
        for (operand, input) in node.inputs.iter().enumerate() {
            readers[input.index()].push((id, operand));
        }
    }
    let mut absorbed = vec![false; needed.len()];
    let mut nodes: Vec<Node> = Vec::with_capacity(needed.len());
    for (id, node) in graph.nodes() {
        if absorbed[id.index()] {
            continue;
        }
        let mut node = node.clone();
        while let Some((next, operand)) = stage_after(graph, &node, &readers, id) {
            let stage = graph.call(next);
            for input in &stage.inputs {
                hoist(graph, *input, id, &mut absorbed, &mut nodes);
            }
            let operands = node.inputs.len();
            node.inputs
                .extend(stage.inputs.iter().enumerate().filter(|(at, _)| *at != operand).map(|(_, input)| *input));
            node.op = Rc::new(Fused::new(node.op, operands, stage.op.clone(), operand));
            node.output = stage.output;
            absorbed[next.index()] = true;
        }
        nodes.push(node);
    }
    absorbed.contains(&true).then(|| graph.with_calls(nodes))
}

/// The call that can become the next stage of `node`, and the operand of it that `node` makes.
fn stage_after(graph: &Graph, node: &Node, readers: &[Vec<(NodeId, usize)>], base: NodeId) -> Option<(NodeId, usize)> {
    let result = graph.tensor(node.output);
    let [(next, operand)] = readers[node.output.index()][..] else { return None };
    let stage = graph.call(next);
    let fits = node.op.takes_stages()
        && result.role == Role::Node
        && result.inner
        && stage.op.is_stage()
        && graph.tensor(stage.output).ty == result.ty
        && node.inputs.len() + stage.inputs.len() - 1 <= MAX_OPERANDS
        && stage.inputs.iter().enumerate().all(|(at, input)| at == operand || is_there(graph, *input, base));
    fits.then_some((next, operand))
}

/// True when a tensor can be had before that call: it is there, or a view of what is.
fn is_there(graph: &Graph, tensor: TensorId, base: NodeId) -> bool {
    let mut at = tensor;
    while let Some(producer) = graph.tensor(at).producer.filter(|producer| *producer >= base) {
        let call = graph.call(producer);
        if call.op.action() != Action::View {
            return false;
        }
        at = call.inputs[0];
    }
    true
}

/// Moves the views that a stage reads before the call that it becomes part of.
fn hoist(graph: &Graph, tensor: TensorId, base: NodeId, moved: &mut [bool], nodes: &mut Vec<Node>) {
    let mut views = Vec::new();
    let mut at = tensor;
    while let Some(producer) = graph.tensor(at).producer.filter(|producer| *producer > base) {
        let call = graph.call(producer);
        if call.op.action() != Action::View || core::mem::replace(&mut moved[producer.index()], true) {
            break;
        }
        views.push(call.clone());
        at = call.inputs[0];
    }
    nodes.extend(views.into_iter().rev());
}
