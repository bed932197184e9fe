//! Calls that stand for several: each is replaced by those, so that the passes behind this one know nothing of it.

use alloc::format;
use alloc::vec::Vec;

use crate::graph::{Graph, Node};
use crate::op::{Action, RuleError};
use crate::{Role, Type};

/// The graph without such calls, or `None` when it has none. Its tensors are those of the graph, then the ones that the
/// new calls make, which are named after the result that they help to make.
///
/// # Errors
/// What a new call's rule complains of.
pub(super) fn expand(graph: &Graph) -> Result<Option<Graph>, RuleError> {
    if !graph.nodes().any(|(_, node)| node.op.action() == Action::Expand) {
        return Ok(None);
    }
    let mut made = graph.with_calls(Vec::new());
    let mut nodes: Vec<Node> = Vec::with_capacity(graph.nodes().count());
    for (_, node) in graph.nodes() {
        if node.op.action() != Action::Expand {
            nodes.push(node.clone());
            continue;
        }
        let types: Vec<Type> = node.inputs.iter().map(|input| graph.tensor(*input).ty).collect();
        let mut new: Vec<Node> = Vec::new();
        let (op, inputs) = node.op.expand(&node.inputs, &types, &mut |name, op, inputs| {
            let types: Vec<Type> = inputs.iter().map(|input| made.tensor(*input).ty).collect();
            let ty = op.infer(&types)?;
            let output = made.leaf(format!("{}.{name}", graph.tensor(node.output).name), Role::Node, ty)?;
            new.push(Node { op, inputs: inputs.to_vec(), output });
            Ok(output)
        })?;
        nodes.extend(new);
        nodes.push(Node { op, inputs, output: node.output });
    }
    Ok(Some(made.with_calls(nodes)))
}
