//! From calls to steps: drops what nothing needs, turns views and concatenations into places inside other tensors, and
//! adds the copies that are left.

mod emit;
mod source;

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::seen::{Samples, Seen, samples};
use super::{How, Options};
use crate::graph::{Graph, Node, TensorId};
use crate::op::{Action, Operator};
use crate::{Dim, Role, Storage, Type};

/// Steps and tensors after lowering. Indices are positions in `tensors`.
pub(super) struct Lowered {
    pub(super) tensors: Vec<Tensor>,
    pub(super) steps: Vec<Step>,
    /// For each tensor of the graph, its position here.
    pub(super) index: Vec<Option<usize>>,
}

/// A tensor after lowering.
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) role: Role,
    pub(super) storage: Storage,
    /// The tensor whose storage this one lies in; itself when it has its own.
    pub(super) root: usize,
    /// Where it lies, relative to the start of the root.
    pub(super) view: Seen,
    /// How that is worked out.
    pub(super) how: How,
}

/// A kernel call after lowering.
pub(super) struct Step {
    pub(super) op: Rc<dyn Operator>,
    pub(super) inputs: Vec<usize>,
    pub(super) output: usize,
    pub(super) scratch: Option<usize>,
}

/// Where a tensor of the graph gets its bytes from.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Its own storage, written by its step.
    Own,
    /// A view of that tensor.
    View(TensorId),
    /// Its own storage, holding a packed copy of that tensor, which a view operator then looks at.
    CopiedView(TensorId),
    /// Its own storage, holding a packed copy of a strided view of that tensor.
    CopiedOut(TensorId),
    /// The part of that concatenation which starts there along its axis.
    Part(TensorId, Dim),
    /// Those of that version of a state, which it is written over.
    Version(TensorId),
    /// Those of that version of a state, which is set to it.
    Source(TensorId),
    /// No bytes: nothing needs it.
    Dead,
}

struct Lowering<'g> {
    graph: &'g Graph,
    needed: Vec<bool>,
    /// For each tensor, the needed calls that read it and the operand's position.
    readers: Vec<Vec<(&'g Node, usize)>>,
    places: Vec<Place>,
    /// Relative to the root; filled on demand once the places it rests on are final.
    views: Vec<Option<(TensorId, Seen)>>,
    samples: Samples,
}

/// Lowers the graph. Whether parts of concatenations may be produced in place is an option.
pub(super) fn lower(graph: &Graph, options: &Options) -> Lowered {
    let mut lowering = Lowering::new(graph);
    if options.concat {
        lowering.place_parts();
    }
    if options.in_place {
        lowering.place_sources();
    }
    lowering.place_views(options.views);
    lowering.emit()
}

impl<'g> Lowering<'g> {
    fn new(graph: &'g Graph) -> Lowering<'g> {
        let needed = graph.needed();
        let count = graph.tensors().count();
        let mut readers = vec![Vec::new(); count];
        let mut places = vec![Place::Own; count];
        for (id, node) in graph.nodes() {
            if !needed[id.index()] {
                places[node.output.index()] = Place::Dead;
                continue;
            }
            match node.op.action() {
                Action::View => places[node.output.index()] = Place::View(node.inputs[0]),
                Action::Write => places[node.output.index()] = Place::Version(node.inputs[0]),
                _ => {}
            }
            for (operand, input) in node.inputs.iter().enumerate() {
                readers[input.index()].push((node, operand));
            }
        }
        for (id, tensor) in graph.tensors() {
            // Between a call and what became a stage of it there is nothing.
            if tensor.role == Role::Node && tensor.producer.is_none() && readers[id.index()].is_empty() {
                places[id.index()] = Place::Dead;
            }
        }
        Lowering { graph, needed, readers, places, views: vec![None; count], samples: samples(graph.open_dims()) }
    }

    /// The root of a tensor and where it lies in it.
    ///
    /// Views and versions rest on earlier tensors, parts and sources on later ones. What a part rests on is no view, and what
    /// a source rests on is a version, which rests on versions alone, so the walk ends. It keeps a list of its own, because
    /// views can rest on one another deeper than a stack is.
    fn view(&mut self, id: TensorId) -> (TensorId, Seen) {
        let mut resting = Vec::new();
        let mut at = id;
        let mut found = loop {
            if let Some(known) = &self.views[at.index()] {
                break known.clone();
            }
            let (Place::View(on) | Place::Part(on, _) | Place::Version(on) | Place::Source(on)) =
                self.places[at.index()]
            else {
                let own = self.own_view(at);
                self.views[at.index()] = Some(own.clone());
                break own;
            };
            resting.push(at);
            at = on;
        };
        while let Some(id) = resting.pop() {
            found = self.view_on(id, found);
            self.views[id.index()] = Some(found.clone());
        }
        found
    }

    fn own_view(&self, id: TensorId) -> (TensorId, Seen) {
        (id, Seen::packed(&self.graph.tensor(id).ty, &self.samples))
    }

    /// Where a view or a part lies, given where what it rests on does.
    fn view_on(&self, id: TensorId, (root, base): (TensorId, Seen)) -> (TensorId, Seen) {
        let ty = self.graph.tensor(id).ty;
        match self.places[id.index()] {
            Place::View(_) => {
                let view = base.through(&*self.producer(id).op, &ty, &self.samples);
                view.map_or_else(|| self.own_view(id), |view| (root, view))
            }
            Place::Part(concat, start) => {
                let Action::Concat(axis) = self.producer(concat).op.action() else {
                    unreachable!("a part of a concat")
                };
                (root, self.part(&base, axis, start, id))
            }
            Place::Version(_) | Place::Source(_) => (root, base),
            _ => self.own_view(id),
        }
    }

    /// Where a part lies in the concatenation that lies there.
    fn part(&self, whole: &Seen, axis: usize, start: Dim, part: TensorId) -> Seen {
        whole.part(axis, start, self.graph.tensor(part).ty.shape.dims()[axis], &self.samples)
    }

    /// The parts of a concatenation, each with where it starts along the axis.
    fn parts(&self, concat: &'g Node, axis: usize) -> Vec<(TensorId, Dim)> {
        let mut start = Dim::new(0);
        let part = |part: &TensorId| {
            let before = start;
            let size = self.graph.tensor(*part).ty.shape.dims()[axis];
            // The whole has a formula, and so has every run of its parts: at most one of them is rounded.
            start = start.joined(size).expect("the whole has an extent");
            (*part, before)
        };
        concat.inputs.iter().map(part).collect()
    }

    fn producer(&self, id: TensorId) -> &'g Node {
        let node = self.graph.tensor(id).producer.expect("only results are views and parts");
        self.graph.call(node)
    }

    /// Decides which operands of concatenations are produced inside them. The last concatenation comes first, so that
    /// one that is itself a part knows where it lies when its own parts are looked at.
    fn place_parts(&mut self) {
        let nodes: Vec<&Node> =
            self.graph.nodes().filter(|(id, _)| self.needed[id.index()]).map(|(_, node)| node).collect();
        for node in nodes.into_iter().rev() {
            let Action::Concat(axis) = node.op.action() else { continue };
            let (root, base) = self.view(node.output);
            let mut sorted = node.inputs.clone();
            sorted.sort_unstable();
            for (part, start) in self.parts(node, axis) {
                let place = self.part(&base, axis, start, part);
                let first = sorted.partition_point(|input| *input < part);
                let once = sorted.get(first + 1) != Some(&part);
                if once && self.can_be_part(part, node, root, &place) {
                    self.places[part.index()] = Place::Part(node.output, start);
                    self.forget(part);
                }
            }
        }
    }

    /// Forgets where a tensor and the views that rest on it lie. Nothing is a part of it yet: its own parts are placed
    /// after it.
    fn forget(&mut self, id: TensorId) {
        let mut moved = vec![id];
        while let Some(id) = moved.pop() {
            self.views[id.index()] = None;
            let outputs = self.readers[id.index()].iter().map(|(reader, _)| reader.output);
            moved.extend(outputs.filter(|output| {
                self.places[output.index()] == Place::View(id) && self.views[output.index()].is_some()
            }));
        }
    }

    /// Whether an operand that occurs once in a concatenation can be produced there.
    fn can_be_part(&mut self, part: TensorId, concat: &Node, root: TensorId, place: &Seen) -> bool {
        let tensor = self.graph.tensor(part);
        let Some(producer) = tensor.producer else { return false };
        let producer = self.graph.call(producer);
        if tensor.role != Role::Node || self.places[part.index()] != Place::Own || producer.op.action() == Action::View
        {
            return false;
        }
        if place.is_packed() {
            // Whoever makes or reads it may have another operand in the same root, laid along another axis, whose span
            // goes over this place.
            let near = |found: (TensorId, Seen)| found.0 == root && !found.1.apart(place);
            let makes = producer.op.action() == Action::Compute;
            let mut others: Vec<TensorId> = if makes { producer.inputs.clone() } else { Vec::new() };
            let readers = self.readers[part.index()].iter().filter(|(reader, _)| reader.op.action() == Action::Compute);
            others.extend(readers.map(|(reader, _)| reader.output));
            return others.into_iter().all(|other| !near(self.view(other)));
        }
        // A strided part: whoever writes and reads it has to take strides, and no kernel may be handed two operands
        // whose spans interleave.
        if producer.op.action() == Action::Compute
            && (!place.all().all(|place| producer.op.writes(place))
                || producer.inputs.iter().any(|input| self.view(*input).0 == root))
        {
            return false;
        }
        let readers = self.readers[part.index()].clone();
        readers.into_iter().all(|(reader, operand)| {
            core::ptr::eq(reader, concat)
                || (reader.op.action() == Action::Compute
                    && reader.op.strided_input(operand)
                    && self.view(reader.output).0 != root)
        })
    }

    /// Turns views that cannot stay views into copies.
    fn place_views(&mut self, allowed: bool) {
        let outputs: Vec<TensorId> = self.graph.nodes().map(|(_, node)| node.output).collect();
        for output in outputs {
            let Place::View(of) = self.places[output.index()] else { continue };
            let ty = self.graph.tensor(output).ty;
            let (root, base) = self.view(of);
            let role = self.graph.tensor(output).role;
            let node = self.producer(output);
            self.places[output.index()] = match base.through(&*node.op, &ty, &self.samples) {
                None => Place::CopiedView(of),
                Some(_) if !allowed => Place::CopiedOut(of),
                // Accessors hand out packed elements.
                Some(view) if role != Role::Node && !view.is_packed() => Place::CopiedOut(of),
                // A kept tensor is read between forwards too, when no value says where it would be.
                Some(view) if role == Role::KeptNode && view.moves() => Place::CopiedOut(of),
                // A kept tensor outlives the next writing of the input, and of the state from outside.
                Some(_)
                    if role == Role::KeptNode && matches!(self.graph.tensor(root).role, Role::Input | Role::State) =>
                {
                    Place::CopiedOut(of)
                }
                Some(_) => Place::View(of),
            };
            self.views[output.index()] = None;
        }
    }
}
