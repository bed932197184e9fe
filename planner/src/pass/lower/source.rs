//! Which results are produced in the bytes of a state that is set to them, so that the write is no step.

use alloc::vec::Vec;

use super::{Lowering, Place};
use crate::Role;
use crate::graph::Node;
use crate::op::Action;

impl<'g> Lowering<'g> {
    /// Decides which sources of states are produced in the states' bytes: all of a state is set to a result, whose call
    /// runs when nothing of the version before is read any more, or reads that in place.
    pub(super) fn place_sources(&mut self) {
        let writes: Vec<&'g Node> = self.graph.nodes().map(|(_, node)| node).collect();
        for write in writes.into_iter().filter(|node| node.op.action() == Action::Write) {
            if self.can_be_source(write) {
                let src = write.inputs[1];
                self.places[src.index()] = Place::Source(write.output);
                self.forget(src);
            }
        }
    }

    fn can_be_source(&mut self, write: &Node) -> bool {
        let graph = self.graph;
        let ([before, src], output) = (&write.inputs[..], write.output) else { return false };
        let (tensor, state) = (graph.tensor(*src), graph.tensor(output));
        let Some(at) = tensor.producer else { return false };
        let producer = graph.call(at);
        let is_last = graph.next_version(output).is_none();
        if tensor.role != Role::Node
            || tensor.ty != state.ty
            || self.places[src.index()] != Place::Own
            || producer.op.action() != Action::Compute
            || !(is_last || self.readers[src.index()].len() == 1)
        {
            return false;
        }
        // When the version before is written, which may itself be where its source is produced.
        if let Some(written) = graph.tensor(*before).producer {
            let source = graph.call(written).inputs[1];
            let moment = match self.places[source.index()] == Place::Source(*before) {
                true => graph.tensor(source).producer,
                false => Some(written),
            };
            if moment >= Some(at) {
                return false;
            }
        }
        let (root, target) = self.view(output);
        // Whoever reads it, or what looks at its bytes in another way.
        let mut looks = alloc::vec![*before];
        while let Some(id) = looks.pop() {
            let reads = self.readers[id.index()].clone();
            for (reader, operand) in reads {
                if reader.op.action() == Action::View {
                    looks.push(reader.output);
                    continue;
                }
                if core::ptr::eq(reader, write) {
                    continue;
                }
                let moment = graph.tensor(reader.output).producer;
                let (found, view) = self.view(id);
                let in_place = found == root && view.same_elements(&target) && reader.op.in_place(operand);
                if moment > Some(at) || (moment == Some(at) && !in_place) {
                    return false;
                }
            }
        }
        true
    }
}
