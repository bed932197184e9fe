//! Concatenations in one another: where the parts of one are parts of a later one, next to each other, the later one takes
//! the whole instead. So each layer of a dense block, which reads all that came before, reads what lies there already.

use alloc::vec::Vec;

use crate::graph::{Graph, Node, TensorId};
use crate::{Role, op::Action};

/// The graph with concatenations in one another, or `None` when there are none.
pub(super) fn nest(graph: &Graph) -> Option<Graph> {
    let needed = graph.needed();
    let mut nodes: Vec<Node> = graph.nodes().map(|(_, node)| node.clone()).collect();
    // Axis, parts as declared, result.
    let mut before: Vec<(usize, Vec<TensorId>, TensorId)> = Vec::new();
    let mut changed = false;
    for (node, needed) in nodes.iter_mut().zip(needed) {
        let Action::Concat(axis) = node.op.action() else { continue };
        if !needed {
            continue;
        }
        let declared = node.inputs.clone();
        // The one with most parts first: it takes the smaller ones along.
        while let Some((at, count, whole)) = before
            .iter()
            .filter(|(along, parts, _)| *along == axis && parts.len() < node.inputs.len())
            .filter_map(|(_, parts, whole)| Some((run(&node.inputs, parts)?, parts.len(), *whole)))
            .max_by_key(|(_, count, whole)| (*count, *whole))
        {
            node.inputs.splice(at..at + count, [whole]);
            changed = true;
        }
        if declared.len() > 1 && graph.tensor(node.output).role == Role::Node {
            before.push((axis, declared, node.output));
        }
    }
    changed.then(|| graph.with_calls(nodes))
}

/// Where those parts follow one another among these.
fn run(all: &[TensorId], parts: &[TensorId]) -> Option<usize> {
    let first = all.iter().position(|part| *part == parts[0])?;
    all[first..].starts_with(parts).then_some(first)
}
