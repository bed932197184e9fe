//! Versions of states: what is still read of one when the next is written over it is copied before. It knows graphs and
//! nothing of storage; behind it every reader of a version runs before the version's bytes change.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::graph::{Graph, Node, NodeId, TensorId};
use crate::op::{self, Action};
use crate::{Role, Type};

/// The graph with the copies that its order of calls asks for, or `None` when it asks for none. Its tensors are those of
/// the graph, then the copies.
pub(super) fn settle(graph: &Graph) -> Option<Graph> {
    let needed = graph.needed();
    let nodes: Vec<Node> = graph.nodes().filter(|(id, _)| needed[id.index()]).map(|(_, node)| node.clone()).collect();
    let writes: Vec<usize> = (0..nodes.len()).filter(|at| is_write(&nodes[*at])).collect();
    if writes.is_empty() {
        return None;
    }
    let lasts = |id: TensorId| matches!(graph.tensor(id).role, Role::Output | Role::KeptNode);
    // A view that can be read after the forward becomes a copy; then what rests on it does not rest on the version.
    let of = looks(graph, nodes.iter(), lasts);
    let mut copies: Vec<Copies> = writes.iter().map(|_| Copies::default()).collect();
    let mut write_over = vec![None; graph.tensors().count()];
    for (number, write) in writes.iter().enumerate() {
        write_over[nodes[*write].inputs[0].index()] = Some(number);
    }
    let over = |tensor: TensorId| of[tensor.index()].and_then(|version: TensorId| write_over[version.index()]);
    for (at, node) in nodes.iter().enumerate() {
        if let Some(number) = viewed(node).and_then(over) {
            if lasts(node.output) {
                copies[number].lasting.push(node.output);
            }
            if at > writes[number] {
                copies[number].views.push(at);
            }
            continue;
        }
        for input in &node.inputs {
            if let Some(number) = over(*input).filter(|number| at > writes[*number]) {
                copies[number].late.push(*input);
            }
        }
    }
    if copies.iter().all(|copies| copies.lasting.is_empty() && copies.late.is_empty()) {
        return None;
    }
    let mut settled = graph.with_calls(Vec::new());
    let mut copy_of = vec![None; graph.tensors().count()];
    for copies in copies.iter_mut().rev() {
        copies.late.sort_unstable();
        copies.late.dedup();
        for (tensors, what) in [(&copies.lasting, "view"), (&copies.late, "before")] {
            tensors.iter().for_each(|id| copy_of[id.index()] = Some(like(&mut settled, *id, what)));
        }
    }
    let copy = |input: TensorId, output: TensorId| Node { op: Rc::new(op::Copy {}), inputs: vec![input], output };
    let mut moved = vec![false; nodes.len()];
    copies.iter().flat_map(|copies| &copies.views).for_each(|view| moved[*view] = true);
    let mut calls: Vec<Node> = Vec::with_capacity(nodes.len());
    let push_view =
        |calls: &mut Vec<Node>, view: &Node| match copy_of[view.output.index()].filter(|_| lasts(view.output)) {
            Some(inside) => calls.extend([Node { output: inside, ..view.clone() }, copy(inside, view.output)]),
            None => calls.push(view.clone()),
        };
    let mut number = 0;
    for (at, node) in nodes.iter().enumerate().filter(|(at, _)| !moved[*at]) {
        if viewed(node).and_then(over).is_some() {
            push_view(&mut calls, node);
            continue;
        }
        if is_write(node) {
            let Copies { views, late, .. } = &copies[number];
            views.iter().for_each(|view| push_view(&mut calls, &nodes[*view]));
            calls.extend(late.iter().filter_map(|id| Some(copy(*id, copy_of[id.index()]?))));
            number += 1;
        }
        let mut call = node.clone();
        for input in &mut call.inputs {
            if let Some(copied) = copy_of[input.index()].filter(|_| over(*input).is_some_and(|over| at > writes[over]))
            {
                *input = copied;
            }
        }
        calls.push(call);
    }
    Some(settled.with_calls(calls))
}

/// What is to be copied before one write.
#[derive(Clone, Debug, Default)]
struct Copies {
    /// Views of the version before that can be read after the forward.
    lasting: Vec<TensorId>,
    /// Views of it that stand after the write, as positions among the calls.
    views: Vec<usize>,
    /// What is read of it after the write.
    late: Vec<TensorId>,
}

/// For each call that writes over a version: the calls that read it, or a view of it, and stand before the write. They
/// have to stay before it for it not to be copied.
pub(super) fn readers_before(graph: &Graph) -> Vec<Vec<NodeId>> {
    let of = looks(graph, graph.nodes().map(|(_, node)| node), |_| false);
    let mut readers: Vec<Vec<NodeId>> = vec![Vec::new(); graph.tensors().count()];
    let mut before = vec![Vec::new(); graph.nodes().count()];
    for (id, node) in graph.nodes() {
        if is_write(node) {
            before[id.index()] = core::mem::take(&mut readers[node.inputs[0].index()]);
        }
        for version in node.inputs.iter().filter_map(|input| of[input.index()]) {
            let readers = &mut readers[version.index()];
            if readers.last() != Some(&id) {
                readers.push(id);
            }
        }
    }
    before
}

/// For each tensor the version of a state that it is or looks at. What is in storage of its own, `apart`, looks at none.
fn looks<'n>(
    graph: &Graph,
    nodes: impl Iterator<Item = &'n Node>,
    apart: impl Fn(TensorId) -> bool,
) -> Vec<Option<TensorId>> {
    let state = |(id, tensor): (TensorId, &crate::graph::Tensor)| (tensor.role == Role::State).then_some(id);
    let mut of: Vec<Option<TensorId>> = graph.tensors().map(state).collect();
    for node in nodes {
        if let Some(viewed) = viewed(node)
            && !apart(node.output)
        {
            of[node.output.index()] = of[viewed.index()];
        }
    }
    of
}

/// What a call looks at in another way.
fn viewed(node: &Node) -> Option<TensorId> {
    (node.op.action() == Action::View).then(|| node.inputs[0])
}

fn is_write(node: &Node) -> bool {
    node.op.action() == Action::Write
}

/// A tensor that is like another one, under a name made of its.
fn like(graph: &mut Graph, like: TensorId, what: &str) -> TensorId {
    let tensor = graph.tensor(like);
    let (name, ty): (String, Type) = (format!("{}.{what}", tensor.name), tensor.ty);
    graph.leaf(name, Role::Node, ty).expect("a tensor of this type is there already")
}
