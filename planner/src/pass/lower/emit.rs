//! What is lowered becomes tensors and steps: the places that were decided, and the copies that are left. It decides nothing.

use alloc::format;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use super::super::How;
use super::super::seen::{Samples, Seen};
use super::{Lowered, Lowering, Place, Step, Tensor};
use crate::graph::{Node, TensorId};
use crate::op::{self, Action, Operator};
use crate::{Dim, Role, Storage, Type};

impl<'g> Lowering<'g> {
    pub(super) fn emit(mut self) -> Lowered {
        let mut out = Lowered { tensors: Vec::new(), steps: Vec::new(), index: Vec::new() };
        // Tensors of the graph first, so that parts can name a concatenation that comes after them.
        for (id, tensor) in self.graph.tensors() {
            let place = self.places[id.index()];
            out.index.push((place != Place::Dead).then_some(out.tensors.len()));
            if place != Place::Dead {
                out.tensors.push(Tensor {
                    name: tensor.name.clone(),
                    ty: tensor.ty,
                    role: tensor.role,
                    storage: Storage::Own,
                    root: out.tensors.len(),
                    view: Seen::packed(&tensor.ty, &self.samples),
                    how: How::Packed,
                });
            }
        }
        for index in 0..self.places.len() {
            let id = TensorId::new(index);
            let (storage, how) = match self.places[index] {
                Place::View(of) => (Storage::View(out.at(of)), How::Look(self.producer(id).op.clone())),
                Place::Part(concat, start) => {
                    let Action::Concat(axis) = self.producer(concat).op.action() else {
                        unreachable!("a part of a concat")
                    };
                    (Storage::Part(out.at(concat)), How::Part { axis, start })
                }
                // All of it is one.
                Place::Source(whole) => (Storage::Part(out.at(whole)), How::Part { axis: 0, start: Dim::new(0) }),
                Place::Version(of) => (Storage::InPlace(out.at(of)), How::Packed),
                _ => continue,
            };
            let (root, view) = self.view(id);
            let root = out.at(root);
            let tensor = out.at(id);
            out.tensors[tensor].storage = storage;
            out.tensors[tensor].root = root;
            out.tensors[tensor].view = view;
            out.tensors[tensor].how = how;
        }
        let mut packed = vec![None; self.places.len()];
        for (id, node) in self.graph.nodes() {
            if self.needed[id.index()] {
                self.emit_node(&mut out, node, &mut packed);
            }
        }
        out.settle_roots();
        out
    }

    fn emit_node(&mut self, out: &mut Lowered, node: &'g Node, packed: &mut [Option<usize>]) {
        let output = out.at(node.output);
        match (node.op.action(), self.places[node.output.index()]) {
            (Action::View, Place::CopiedView(of)) => {
                let copy = out.packed_copy(of, packed, &self.samples);
                out.tensors[output].how = How::Look(node.op.clone());
                out.tensors[output].storage = Storage::View(copy);
                out.tensors[output].root = copy;
            }
            (Action::View, Place::CopiedOut(of)) => {
                let (_, base) = self.view(of);
                let source = out.at(of);
                let ty = out.tensors[output].ty;
                let view = base.through(&*node.op, &ty, &self.samples);
                let view = view.expect("it was one when its place was decided");
                let strided = out.tensors.len();
                out.tensors.push(Tensor {
                    name: format!("{}.{}", out.tensors[output].name, node.op.name()),
                    ty,
                    role: Role::Node,
                    storage: Storage::View(source),
                    root: out.tensors[source].root,
                    view,
                    how: How::Look(node.op.clone()),
                });
                out.step(Rc::new(op::Copy {}), vec![strided], output, &self.samples);
            }
            (Action::View, _) => {}
            (Action::Expand, _) => unreachable!("what stands for other calls was replaced by them"),
            (Action::Concat(axis), _) => {
                for (part, start) in self.parts(node, axis) {
                    let source = out.at(part);
                    let there = self.places[part.index()] == Place::Part(node.output, start);
                    if !there && out.tensors[source].view.view.elements() > 0 {
                        let view = self.part(&out.tensors[output].view, axis, start, part);
                        let copy = out.tensors.len();
                        out.tensors.push(Tensor {
                            name: format!("{}.{}", out.tensors[output].name, out.tensors[source].name),
                            ty: out.tensors[source].ty,
                            role: Role::Node,
                            storage: Storage::Part(output),
                            root: out.tensors[output].root,
                            view,
                            how: How::Part { axis, start },
                        });
                        out.step(Rc::new(op::Copy {}), vec![source], copy, &self.samples);
                    }
                }
            }
            (Action::Write, _) if self.places[node.inputs[1].index()] == Place::Source(node.output) => {}
            (Action::Compute | Action::Write, _) => {
                let state = (node.op.action() == Action::Write).then(|| self.view(node.output).0);
                let mut inputs = Vec::with_capacity(node.inputs.len());
                for (operand, input) in node.inputs.iter().enumerate() {
                    let tensor = out.at(*input);
                    let readable = node.op.strided_input(operand) || out.tensors[tensor].view.is_packed();
                    // What a state is set to is copied out of the state's own bytes before they change.
                    let apart = operand == 0 || state.is_none_or(|root| self.view(*input).0 != root);
                    inputs.push(if readable && apart {
                        tensor
                    } else {
                        out.packed_copy(*input, packed, &self.samples)
                    });
                }
                out.step(node.op.clone(), inputs, output, &self.samples);
            }
        }
    }
}

impl Lowered {
    /// A view that became a view of a packed copy hands its root on to whatever rests on it.
    fn settle_roots(&mut self) {
        for index in 0..self.tensors.len() {
            let mut root = self.tensors[index].root;
            while self.tensors[root].root != root {
                root = self.tensors[root].root;
            }
            self.tensors[index].root = root;
        }
    }

    fn at(&self, id: TensorId) -> usize {
        self.index[id.index()].expect("a needed call reads only needed tensors")
    }

    /// The packed copy of a tensor, made at its first use and shared by later ones.
    fn packed_copy(&mut self, id: TensorId, packed: &mut [Option<usize>], samples: &Samples) -> usize {
        if let Some(copy) = packed[id.index()] {
            return copy;
        }
        let source = self.at(id);
        let copy = self.tensors.len();
        let ty = self.tensors[source].ty;
        self.tensors.push(Tensor {
            name: format!("{}.packed", self.tensors[source].name),
            ty,
            role: Role::Node,
            storage: Storage::Own,
            root: copy,
            view: Seen::packed(&ty, samples),
            how: How::Packed,
        });
        self.step(Rc::new(op::Copy {}), vec![source], copy, samples);
        packed[id.index()] = Some(copy);
        copy
    }

    fn step(&mut self, op: Rc<dyn Operator>, inputs: Vec<usize>, output: usize, samples: &Samples) {
        let types: Vec<Type> = inputs.iter().map(|input| self.tensors[*input].ty).collect();
        let bytes = most_scratch(&*op, &types, &self.tensors[output].ty, samples);
        let scratch = (bytes > 0).then_some(self.tensors.len());
        if let Some(scratch) = scratch {
            let ty = Type { dtype: crate::DType::U8, shape: crate::Shape::new(&[bytes]).unwrap_or_default() };
            self.tensors.push(Tensor {
                name: format!("{}.scratch", self.tensors[output].name),
                ty,
                role: Role::Scratch,
                storage: Storage::Own,
                root: scratch,
                view: Seen::packed(&ty, samples),
                how: How::Scratch,
            });
        }
        self.steps.push(Step { op, inputs, output, scratch });
    }
}

/// The most scratch that a step needs for any values of the open dims that are looked at.
fn most_scratch(op: &dyn Operator, inputs: &[Type], output: &Type, samples: &Samples) -> usize {
    samples.iter().fold(op.scratch(inputs, output), |most, values| {
        let inputs: Vec<Type> = inputs.iter().map(|ty| ty.at(values)).collect();
        most.max(op.at(values).scratch(&inputs, &output.at(values)))
    })
}
