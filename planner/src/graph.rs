//! The graph as it was declared: tensors, and the operator calls between them in the order they are to run.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use crate::op::{self, Action, Operator, RuleError};
use crate::{Dim, Role, Type};

/// A tensor of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId(u32);

/// An operator call of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

macro_rules! index {
    ($id:ident) => {
        impl $id {
            pub(crate) fn new(index: usize) -> $id {
                $id(u32::try_from(index).expect("fewer than 2^32 of them"))
            }

            /// Position in the order of declaration.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
index!(TensorId);
index!(NodeId);

/// A tensor as declared.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name in plans and messages.
    pub name: String,
    /// Element type and shape.
    pub ty: Type,
    /// What it is for.
    pub role: Role,
    /// The call that makes it; none for inputs, weights, constants and states as they are when a forward begins.
    pub producer: Option<NodeId>,
    /// It has no name of its own: it stands between two calls of one expression, and nobody can ask for it.
    pub inner: bool,
}

/// An operator call.
#[derive(Clone, Debug)]
pub struct Node {
    /// The operator with its settings.
    pub op: Rc<dyn Operator>,
    /// Operands.
    pub inputs: Vec<TensorId>,
    /// Result.
    pub output: TensorId,
}

/// A network as declared. Nodes can only refer to tensors that are there already, so the order of declaration is an
/// order they can run in and there are no cycles.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The model's name.
    pub name: String,
    open: Vec<OpenDim>,
    tensors: Vec<Tensor>,
    nodes: Vec<Node>,
    /// For each version of a state that is written over, the version after it.
    next: BTreeMap<TensorId, TensorId>,
}

/// An extent that is known only where the program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDim {
    /// Its name.
    pub name: String,
    /// The largest value it can have; the least is 1.
    pub bound: usize,
}

impl Graph {
    /// An empty graph.
    pub fn new(name: impl Into<String>) -> Graph {
        Graph { name: name.into(), ..Graph::default() }
    }

    /// Adds an open dim: extents that follow from it take part in plans with its largest value, `bound`, and have any
    /// value from 1 on where the program runs.
    pub fn open(&mut self, name: impl Into<String>, bound: usize) -> Dim {
        self.open.push(OpenDim { name: name.into(), bound });
        Dim::open(self.open.len() - 1, bound)
    }

    /// The open dims, in the order in which [formulas](crate::Formula::dim) count them.
    pub fn open_dims(&self) -> &[OpenDim] {
        &self.open
    }

    /// The graph for these values of the open dims, which has none.
    ///
    /// # Errors
    /// What a rule complains of, when the graph does not hold for them.
    pub fn at(&self, values: &[usize]) -> Result<Graph, RuleError> {
        let mut graph = Graph { open: Vec::new(), ..self.clone() };
        for tensor in &mut graph.tensors {
            tensor.ty = tensor.ty.at(values);
        }
        for index in 0..graph.nodes.len() {
            let op = graph.nodes[index].op.at(values);
            let node = &graph.nodes[index];
            let types: Vec<Type> = node.inputs.iter().map(|input| graph.tensor(*input).ty).collect();
            let inferred = op.infer(&types)?;
            if inferred != graph.tensor(node.output).ty {
                return Err(RuleError::NoFormula { rule: "an extent that the operator works out by itself" });
            }
            graph.nodes[index].op = op;
        }
        Ok(graph)
    }

    /// Adds a tensor that no node makes.
    ///
    /// # Errors
    /// [`RuleError::Overflow`] when its size in bytes does not fit an address.
    pub fn leaf(&mut self, name: impl Into<String>, role: Role, ty: Type) -> Result<TensorId, RuleError> {
        self.add(name.into(), role, ty, None)
    }

    /// Adds an operator call; the operator's rule gives the type of its result.
    ///
    /// A call that writes a state makes its next version, which is a [`Role::State`] whatever `role` says. Versions are
    /// values like others: a call that reads one reads what it was, wherever it stands.
    ///
    /// # Errors
    /// What the rule complains of; [`RuleError::NoState`] and [`RuleError::Written`] when what is to be written is no
    /// state or a version that has one after it. The graph is then as it was.
    pub fn node(
        &mut self,
        name: impl Into<String>,
        role: Role,
        op: Rc<dyn Operator>,
        inputs: &[TensorId],
    ) -> Result<TensorId, RuleError> {
        let types: Vec<Type> = inputs.iter().map(|input| self.tensor(*input).ty).collect();
        let ty = op::infer(&*op, &types)?;
        let mut role = role;
        if op.action() == Action::Write {
            if self.tensor(inputs[0]).role != Role::State {
                return Err(RuleError::NoState { input: 0 });
            }
            if self.next_version(inputs[0]).is_some() {
                return Err(RuleError::Written { input: 0 });
            }
            role = Role::State;
        }
        let node = NodeId::new(self.nodes.len());
        let output = self.add(name.into(), role, ty, Some(node))?;
        if op.action() == Action::Write {
            self.next.insert(inputs[0], output);
        }
        self.nodes.push(Node { op, inputs: inputs.to_vec(), output });
        Ok(output)
    }

    fn add(&mut self, name: String, role: Role, ty: Type, producer: Option<NodeId>) -> Result<TensorId, RuleError> {
        // The buffer is addressed with `isize`, so that is what a tensor has to fit. One without elements has strides too,
        // and views count with them: its other extents have to fit as well.
        let mut extents = ty.shape.dims().iter().map(|dim| dim.size).filter(|size| *size > 0);
        let reach = extents.try_fold(ty.dtype.size(), usize::checked_mul).ok_or(RuleError::Overflow)?;
        isize::try_from(reach).map_err(|_| RuleError::Overflow)?;
        self.tensors.push(Tensor { name, ty, role, producer, inner: false });
        Ok(TensorId::new(self.tensors.len() - 1))
    }

    /// The tensor of that id.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }

    /// The version of a state that is written over this one, if there is one.
    pub fn next_version(&self, id: TensorId) -> Option<TensorId> {
        self.next.get(&id).copied()
    }

    /// Gives a tensor another name and role: a nested call's result becomes a field. A version of a state stays one.
    pub fn rename(&mut self, id: TensorId, name: impl Into<String>, role: Role) {
        let tensor = &mut self.tensors[id.index()];
        tensor.name = name.into();
        if tensor.role != Role::State {
            tensor.role = role;
        }
        tensor.inner = false;
    }

    /// Says that a result has no name of its own, so that it need not be stored.
    pub fn set_inner(&mut self, id: TensorId) {
        self.tensors[id.index()].inner = true;
    }

    /// Lets a tensor's extents go by the names they were declared with. The type has to be the same.
    pub fn redeclare(&mut self, id: TensorId, ty: Type) {
        debug_assert_eq!(self.tensor(id).ty, ty);
        self.tensors[id.index()].ty = ty;
    }

    /// The call of that id.
    pub fn call(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Every tensor, in the order of declaration.
    pub fn tensors(&self) -> impl Iterator<Item = (TensorId, &Tensor)> {
        self.tensors.iter().enumerate().map(|(index, tensor)| (TensorId::new(index), tensor))
    }

    /// Every call, in the order of declaration.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(index, node)| (NodeId::new(index), node))
    }

    /// The same graph with its calls in another order, given as every call once, each after those whose results it reads.
    /// Tensors stay what they are; calls are numbered anew.
    ///
    /// # Errors
    /// The first call of the order that is no call of the graph, comes twice or comes too early; the first that is
    /// missing.
    pub fn reordered(&self, order: &[NodeId]) -> Result<Graph, NodeId> {
        let mut graph = Graph { nodes: Vec::new(), ..self.clone() };
        let mut done = alloc::vec![false; self.nodes.len()];
        for id in order {
            let Some(node) = self.nodes.get(id.index()) else { return Err(*id) };
            let waits = |input: &TensorId| self.tensor(*input).producer.is_some_and(|producer| !done[producer.index()]);
            if done[id.index()] || node.inputs.iter().any(waits) {
                return Err(*id);
            }
            done[id.index()] = true;
            graph.tensors[node.output.index()].producer = Some(NodeId::new(graph.nodes.len()));
            graph.nodes.push(node.clone());
        }
        match done.iter().position(|done| !done) {
            Some(missing) => Err(NodeId::new(missing)),
            None => Ok(graph),
        }
    }

    /// The same tensors with other calls, which have to be in an order they can run in. A tensor that no call makes any
    /// more has no producer.
    pub(crate) fn with_calls(&self, nodes: Vec<Node>) -> Graph {
        let mut graph = Graph { nodes, ..self.clone() };
        let writes = graph.nodes.iter().filter(|node| node.op.action() == Action::Write);
        graph.next = writes.map(|node| (node.inputs[0], node.output)).collect();
        graph.tensors.iter_mut().for_each(|tensor| tensor.producer = None);
        for (index, node) in graph.nodes.iter().enumerate() {
            graph.tensors[node.output.index()].producer = Some(NodeId::new(index));
        }
        graph
    }

    /// Which calls something readable depends on: outputs, kept tensors and states, which the next forward reads. The
    /// others need not run.
    pub fn needed(&self) -> Vec<bool> {
        let mut needed = alloc::vec![false; self.nodes.len()];
        let mut wanted: Vec<bool> =
            self.tensors.iter().map(|tensor| matches!(tensor.role, Role::Output | Role::KeptNode)).collect();
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if wanted[node.output.index()] || node.op.action() == Action::Write {
                needed[index] = true;
                for input in &node.inputs {
                    wanted[input.index()] = true;
                }
            }
        }
        needed
    }

    /// Tensors that nothing readable depends on, outputs, kept ones and written versions of states apart.
    pub fn unused(&self) -> Vec<TensorId> {
        let needed = self.needed();
        let mut used: Vec<bool> =
            self.tensors.iter().map(|tensor| matches!(tensor.role, Role::Output | Role::KeptNode)).collect();
        for (node, needed) in self.nodes.iter().zip(needed) {
            if needed {
                used[node.output.index()] |= node.op.action() == Action::Write;
                for input in &node.inputs {
                    used[input.index()] = true;
                }
            }
        }
        (0..used.len()).filter(|index| !used[*index]).map(TensorId::new).collect()
    }
}
