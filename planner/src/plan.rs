//! The finished plan as plain data: what a planned program carries as a constant.

use crate::{Dim, View};

/// Where every tensor of a model lies and when, and the steps that are run.
///
/// Time is counted in moments: at moment 0 the inputs are written, step `k` runs at moment `k + 1`, and at the moment
/// after the last step the outputs are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan<'a> {
    /// The model's name.
    pub model: &'a str,
    /// Bytes of the one buffer.
    pub size: usize,
    /// What the buffer's start and every tensor of its own have to be a multiple of, in bytes.
    pub align: usize,
    /// No plan of this order and these aliases can be smaller than this many bytes.
    pub lower_bound: usize,
    /// True when it was proved that no plan of this order and these aliases is smaller.
    pub optimal: bool,
    /// Bytes at the start of the buffer that hold what always lives: weights, constants, states, kept tensors.
    pub persistent: usize,
    /// Bytes of the buffer that holds the weights, where instances share them; 0 where each has its own among what is
    /// persistent. Its tensors have offsets from [`Plan::shared_start`] on.
    pub shared: usize,
    /// Every tensor, in the order of the declaration; views, parts and scratch among them.
    pub tensors: &'a [PlanTensor<'a>],
    /// The steps in the order they are run.
    pub steps: &'a [PlanStep<'a>],
    /// What each way of saving memory brought.
    pub saved: &'a [Saving],
    /// Extents that have any value up to that of their view. The plan is that for the largest.
    pub open: OpenExtents<'a>,
}

/// Which tensors of a [`Plan`] have open extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenExtents<'a> {
    /// The open dims, each with its name and its bound.
    pub dims: &'a [(&'a str, usize)],
    /// The tensors, each with its index in [`Plan::tensors`] and its extents, in ascending order.
    pub tensors: &'a [(usize, &'a [Dim])],
}

impl OpenExtents<'_> {
    /// None has.
    pub const NONE: OpenExtents<'static> = OpenExtents { dims: &[], tensors: &[] };
}

/// What a pass of the planner saved: how much more the least plan without it would need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The pass, in words.
    pub by: &'static str,
    /// Bytes.
    pub bytes: usize,
}

/// One tensor of a [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanTensor<'a> {
    /// Its field's name, or one made of the field it was written in and the operator.
    pub name: &'a str,
    /// What it is for.
    pub role: Role,
    /// Where its elements lie.
    pub view: View,
    /// First moment at which its bytes count.
    pub first: usize,
    /// Last moment at which they do.
    pub last: usize,
    /// Whose bytes it has.
    pub storage: Storage,
}

/// What a tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Written before every forward.
    Input,
    /// Written once, and again when it changes.
    KeptInput,
    /// Filled from a weight source, lives always.
    Weight,
    /// Known when the program is built, lives always.
    Constant,
    /// Lives from the step that makes it to its last reader.
    Node,
    /// Made by a step, has storage of its own until the next forward.
    KeptNode,
    /// Readable after forward.
    Output,
    /// Working space of one step.
    Scratch,
    /// Lives always, zero at the start, read and written by steps: a state as it is when a forward begins, and each
    /// version that a step makes of it, which has its bytes.
    State,
}

impl Role {
    /// Every role, in the order of the documentation.
    pub const ALL: [Role; 9] = [
        Role::Input,
        Role::KeptInput,
        Role::Weight,
        Role::Constant,
        Role::Node,
        Role::KeptNode,
        Role::Output,
        Role::Scratch,
        Role::State,
    ];

    /// True when its values are written from outside and no step makes them.
    pub const fn is_outside(self) -> bool {
        matches!(self, Role::Input | Role::KeptInput | Role::Weight | Role::Constant)
    }

    /// True when its bytes are its own from one forward to the next.
    pub const fn is_persistent(self) -> bool {
        matches!(self, Role::KeptInput | Role::Weight | Role::Constant | Role::KeptNode | Role::State)
    }

    /// The variant's name in Rust.
    pub const fn variant(self) -> &'static str {
        match self {
            Role::Input => "Input",
            Role::KeptInput => "KeptInput",
            Role::Weight => "Weight",
            Role::Constant => "Constant",
            Role::Node => "Node",
            Role::KeptNode => "KeptNode",
            Role::Output => "Output",
            Role::Scratch => "Scratch",
            Role::State => "State",
        }
    }

    /// In words, for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Input => "input",
            Role::KeptInput => "kept input",
            Role::Weight => "weight",
            Role::Constant => "constant",
            Role::Node => "node",
            Role::KeptNode => "kept node",
            Role::Output => "output",
            Role::Scratch => "scratch",
            Role::State => "state",
        }
    }
}

/// Whose bytes a tensor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Its own.
    Own,
    /// Those of the tensor with this index, which it looks at in another way.
    View(usize),
    /// Those of the tensor with this index, which it overwrites. A state's next version has those of the one before.
    InPlace(usize),
    /// A part of those of the tensor with this index, a concatenation that it is produced into; or all of them, where
    /// what a state is set to is produced in the state.
    Part(usize),
}

/// One step of a [`Plan`]. Operands are indices into [`Plan::tensors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanStep<'a> {
    /// The operator's name in the language.
    pub op: &'a str,
    /// What it reads.
    pub inputs: &'a [usize],
    /// What it writes.
    pub outputs: &'a [usize],
    /// Its working space.
    pub scratch: &'a [usize],
}

impl Plan<'_> {
    /// The moment at which outputs are read.
    pub const fn end(&self) -> usize {
        self.steps.len() + 1
    }

    /// The offset that the first byte of the shared weights counts as: behind the model's own buffer, so that one offset
    /// says which of the two buffers a tensor lies in.
    pub const fn shared_start(&self) -> usize {
        // A plan that is wrong is drawn all the same.
        match self.size.checked_next_multiple_of(self.align) {
            Some(start) => start,
            None => usize::MAX,
        }
    }

    /// True when a tensor lies in the buffer of the shared weights.
    pub const fn is_shared(&self, view: &View) -> bool {
        self.shared > 0 && view.offset >= self.shared_start()
    }

    /// The tensors whose bytes count at that moment.
    pub fn live(&self, moment: usize) -> impl Iterator<Item = &PlanTensor<'_>> {
        self.tensors.iter().filter(move |tensor| (tensor.first..=tensor.last).contains(&moment))
    }
}
