//! Versions of states: what is still read of one when the next is written over it is copied before. It knows graphs and
//! nothing of storage; behind it every reader of a version runs before the version's bytes change.

use alloc::collections::BTreeSet;
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
    let writes: Vec<TensorId> = nodes.iter().filter(|node| is_write(node)).map(|node| node.output).collect();
    let mut settling = Settling { tensors: graph.with_calls(Vec::new()), nodes, changed: false };
    // The last one first: what is put in before a write moves only what comes after it.
    for output in writes.into_iter().rev() {
        settling.settle(output);
    }
    settling.changed.then(|| settling.tensors.with_calls(settling.nodes))
}

/// For each call that writes over a version: the calls that read it, or a view of it, and stand before the write. They
/// have to stay before it for it not to be copied.
pub(super) fn readers_before(graph: &Graph) -> Vec<Vec<NodeId>> {
    let mut before = vec![Vec::new(); graph.nodes().count()];
    for (id, write) in graph.nodes().filter(|(_, node)| is_write(node)) {
        let of = same_bytes(graph.nodes().map(|(_, node)| node), write.inputs[0]);
        let readers = graph.nodes().take(id.index()).filter(|(_, node)| node.inputs.iter().any(|x| of.contains(x)));
        before[id.index()] = readers.map(|(id, _)| id).collect();
    }
    before
}

/// The tensor and whatever looks at its bytes in another way.
pub(super) fn same_bytes<'n>(nodes: impl Iterator<Item = &'n Node>, version: TensorId) -> BTreeSet<TensorId> {
    let mut found = BTreeSet::from([version]);
    for node in nodes.filter(|node| node.op.action() == Action::View) {
        if found.contains(&node.inputs[0]) {
            found.insert(node.output);
        }
    }
    found
}

fn is_write(node: &Node) -> bool {
    node.op.action() == Action::Write
}

struct Settling {
    /// The tensors so far; its calls are those below.
    tensors: Graph,
    nodes: Vec<Node>,
    changed: bool,
}

impl Settling {
    /// Copies what is read of the version that this one is written over once it is.
    fn settle(&mut self, output: TensorId) {
        // A view that can be read after the forward becomes a copy; then what rests on it does not rest on the version.
        while let Some((at, write, view)) = self.readable(output) {
            let inside = self.tensor(view, "view");
            self.nodes[at].output = inside;
            let copy = Node { op: Rc::new(op::Copy {}), inputs: vec![inside], output: view };
            self.nodes.insert(at.min(write) + 1, copy);
            self.changed = true;
        }
        let Some(mut write) = self.position(output) else { return };
        let of = same_bytes(self.nodes.iter(), self.nodes[write].inputs[0]);
        let is_view = |node: &Node| node.op.action() == Action::View;
        let late: Vec<TensorId> = of
            .iter()
            .copied()
            .filter(|id| self.nodes[write + 1..].iter().any(|node| !is_view(node) && node.inputs.contains(id)))
            .collect();
        if late.is_empty() {
            return;
        }
        write = self.views_before(write, &of);
        for id in late {
            let copy = self.tensor(id, "before");
            let later = self.nodes[write + 1..].iter_mut().filter(|node| !is_view(node));
            for input in later.flat_map(|node| &mut node.inputs).filter(|input| **input == id) {
                *input = copy;
            }
            self.nodes.insert(write, Node { op: Rc::new(op::Copy {}), inputs: vec![id], output: copy });
            write += 1;
        }
        self.changed = true;
    }

    /// The first view of the version before `output` that can be read after the forward: where it is made, once it stands
    /// before the write, and where the write is.
    fn readable(&mut self, output: TensorId) -> Option<(usize, usize, TensorId)> {
        let write = self.position(output)?;
        let of = same_bytes(self.nodes.iter(), self.nodes[write].inputs[0]);
        let lasts = |id: TensorId| matches!(self.tensors.tensor(id).role, Role::Output | Role::KeptNode);
        let view = self.nodes.iter().map(|node| node.output).find(|id| of.contains(id) && lasts(*id))?;
        let write = self.views_before(write, &of);
        let at = self.nodes.iter().position(|node| node.output == view)?;
        Some((at, write, view))
    }

    /// Moves the views among these tensors before the write, and gives its new position.
    fn views_before(&mut self, write: usize, of: &BTreeSet<TensorId>) -> usize {
        let (mut views, mut rest) = (Vec::new(), Vec::new());
        for node in self.nodes.drain(write..) {
            let view = node.op.action() == Action::View && of.contains(&node.output);
            if view { views.push(node) } else { rest.push(node) }
        }
        let write = write + views.len();
        self.nodes.extend(views);
        self.nodes.extend(rest);
        write
    }

    fn position(&self, output: TensorId) -> Option<usize> {
        self.nodes.iter().position(|node| node.output == output)
    }

    /// A tensor that is like another one, under a name made of its.
    fn tensor(&mut self, like: TensorId, what: &str) -> TensorId {
        let tensor = self.tensors.tensor(like);
        let (name, ty): (String, Type) = (format!("{}.{what}", tensor.name), tensor.ty);
        self.tensors.leaf(name, Role::Node, ty).expect("a tensor of this type is there already")
    }
}
