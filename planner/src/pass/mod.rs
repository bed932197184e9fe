//! The passes between a declared graph and a finished plan, and the driver that lists them.

mod alias;
mod bytes;
mod check;
mod contract;
mod expand;
mod fuse;
mod lifetime;
mod lower;
mod nest;
mod open;
mod order;
mod place;
mod seen;
mod version;

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use check::check_open;
pub use check::{Fault, check};
pub use contract::verify;
use contract::verify_at_bounds;
pub use seen::samples;

use crate::graph::{Graph, OpenDim, TensorId};
use crate::op::Operator;
use crate::{Dim, OpenExtents, Plan, PlanStep, PlanTensor, Role, Saving, Storage, Type, View};

/// What a plan is made with.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What every tensor of its own starts at a multiple of, in bytes; a power of two.
    pub align: usize,
    /// Let operators write over an operand that dies there.
    pub in_place: bool,
    /// Let reshapes, slices and permutations look at their operand's bytes instead of copying them.
    pub views: bool,
    /// Let parts of a concatenation be produced inside it.
    pub concat: bool,
    /// Let elementwise operators become stages of the product or convolution before them.
    pub fuse: bool,
    /// Give the weights a buffer of their own, which instances share: see [`Plan::shared`].
    pub shared_weights: bool,
    /// In which order the calls are run.
    pub order: Order,
    /// How long to search for the least memory.
    pub budget: crate::offset::Budget,
}

/// In which order the calls of a graph are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they were declared.
    #[default]
    Declared,
    /// In the order of least peak that is found within the budget, where that makes the plan smaller.
    MinPeak,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            align: 64,
            in_place: true,
            views: true,
            concat: true,
            fuse: true,
            shared_weights: false,
            order: Order::Declared,
            budget: crate::offset::Budget::default(),
        }
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// The tensors together do not fit an address.
    TooLarge,
    /// The finished plan did not pass the checker: a fault of the planner.
    Fault(Fault),
}

/// A plan that owns its parts. [`Planned::with`] lends it as a [`Plan`].
#[derive(Clone, Debug)]
pub struct Planned {
    /// The model's name.
    pub model: String,
    /// Bytes of the buffer.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// See [`Plan::lower_bound`].
    pub lower_bound: usize,
    /// See [`Plan::optimal`].
    pub optimal: bool,
    /// See [`Plan::persistent`].
    pub persistent: usize,
    /// See [`Plan::shared`].
    pub shared: usize,
    /// Every tensor.
    pub tensors: Vec<PlannedTensor>,
    /// The steps.
    pub steps: Vec<PlannedStep>,
    /// See [`Plan::saved`].
    pub saved: Vec<Saving>,
    /// For each tensor of the graph, its index in `tensors`, unless nothing needs it.
    pub index: Vec<Option<usize>>,
    /// The graph's open dims. The plan is for their largest values; [`Planned::at`] is the plan for others.
    pub open: Vec<OpenDim>,
}

/// A tensor of a [`Planned`].
#[derive(Clone, Debug)]
pub struct PlannedTensor {
    /// See [`PlanTensor::name`].
    pub name: String,
    /// See [`PlanTensor::role`].
    pub role: Role,
    /// See [`PlanTensor::view`].
    pub view: View,
    /// See [`PlanTensor::first`].
    pub first: usize,
    /// See [`PlanTensor::last`].
    pub last: usize,
    /// See [`PlanTensor::storage`].
    pub storage: Storage,
    /// Its type, whose extents may follow from open dims; the view is that for their largest values.
    pub ty: Type,
    /// How the view is worked out for other values.
    pub how: How,
}

/// How a tensor's view follows from its extents and from the views of the tensor whose bytes it has.
#[derive(Clone, Debug)]
pub enum How {
    /// Packed from the place on that it has, or that the operand has which it overwrites.
    Packed,
    /// As this operator looks at the tensor that it is a view of.
    Look(Rc<dyn Operator>),
    /// The part of the whole that starts there along an axis.
    Part {
        /// The axis.
        axis: usize,
        /// Where it starts.
        start: Dim,
    },
    /// As many bytes as its step needs.
    Scratch,
}

/// A step of a [`Planned`].
#[derive(Clone, Debug)]
pub struct PlannedStep {
    /// The operator with its settings.
    pub op: Rc<dyn Operator>,
    /// Operands, as indices of tensors.
    pub inputs: Vec<usize>,
    /// Results.
    pub outputs: Vec<usize>,
    /// Working space.
    pub scratch: Vec<usize>,
}

impl Planned {
    /// Calls `f` with this plan in borrowed form.
    pub fn with<R>(&self, f: impl FnOnce(&Plan<'_>) -> R) -> R {
        let tensors: Vec<PlanTensor<'_>> = self
            .tensors
            .iter()
            .map(|tensor| PlanTensor {
                name: &tensor.name,
                role: tensor.role,
                view: tensor.view,
                first: tensor.first,
                last: tensor.last,
                storage: tensor.storage,
            })
            .collect();
        let steps: Vec<PlanStep<'_>> = self
            .steps
            .iter()
            .map(|step| PlanStep {
                op: step.op.name(),
                inputs: &step.inputs,
                outputs: &step.outputs,
                scratch: &step.scratch,
            })
            .collect();
        let dims: Vec<(&str, usize)> = self.open.iter().map(|open| (open.name.as_str(), open.bound)).collect();
        let open = self.tensors.iter().enumerate().filter(|(_, tensor)| tensor.ty.shape.is_open());
        let extents: Vec<(usize, &[Dim])> = open.map(|(index, tensor)| (index, tensor.ty.shape.dims())).collect();
        f(&Plan {
            model: &self.model,
            size: self.size,
            align: self.align,
            lower_bound: self.lower_bound,
            optimal: self.optimal,
            persistent: self.persistent,
            shared: self.shared,
            tensors: &tensors,
            steps: &steps,
            saved: &self.saved,
            open: OpenExtents { dims: &dims, tensors: &extents },
        })
    }

    /// Where a tensor of the graph is in this plan.
    pub fn position(&self, id: TensorId) -> Option<usize> {
        self.index[id.index()]
    }
}

/// Plans the memory of a graph.
///
/// # Errors
/// [`PlanError::TooLarge`] for a graph that no address space holds. [`PlanError::Fault`] would be a fault of the
/// planner; the plan is then not given out.
pub fn plan(graph: &Graph, options: &Options) -> Result<Planned, PlanError> {
    let planned = planned(graph, options)?;
    // The passes decide by samples of the open dims' values, the checker by values and proofs of its own. Should a plan not
    // pass, one that decides less does: in it nothing is written over an operand, then nothing into a concatenation, and
    // at last every tensor has bytes of its own.
    let fewer = [
        Options { in_place: false, ..*options },
        Options { in_place: false, concat: false, ..*options },
        Options { in_place: false, concat: false, views: false, fuse: false, ..*options },
    ];
    let mut checked = check_open(&planned).map(|()| planned);
    for options in &fewer {
        if checked.is_ok() {
            break;
        }
        let planned = self::planned(graph, options)?;
        checked = match check_open(&planned) {
            Ok(()) => Ok(planned),
            // What is reported is what was wrong with the plan that was asked for.
            Err(_) => checked,
        };
    }
    checked.map_err(PlanError::Fault)
}

fn planned(graph: &Graph, options: &Options) -> Result<Planned, PlanError> {
    let expanded = expand::expand(graph).map_err(|_| PlanError::TooLarge)?;
    let plain = expanded.as_ref().unwrap_or(graph);
    let fused = if options.fuse { fuse::fuse(plain) } else { None };
    let mut graph = fused.as_ref().unwrap_or(plain);
    let mut best = ordered(graph, options, None)?.ok_or(PlanError::TooLarge)?;
    if fused.is_some()
        // A call with stages cannot overwrite what a stage reads, which could cost more than it saves.
        && let Some(better) = ordered(plain, options, Some(best.size))?
    {
        (best, graph) = (better, plain);
    }
    let declared = best.size;
    if options.order == Order::MinPeak {
        // The order is searched for with every storage whole; what counts is the finished plan.
        for concat in [true, false].into_iter().filter(|concat| options.concat || !concat) {
            let options = Options { concat, ..*options };
            let order = order::min_peak(graph, &options);
            if let Some(Ok(graph)) = order.map(|order| graph.reordered(&order))
                && let Some(better) = ordered(&graph, &options, Some(best.size))?
            {
                best = better;
            }
        }
    }
    verify_at_bounds(&best).map_err(PlanError::Fault)?;
    best.saved = saved(graph, plain, options, declared)?;
    best.saved.push(Saving { by: "the order of least peak", bytes: declared - best.size });
    best.saved.retain(|saving| saving.bytes > 0);
    Ok(best)
}

/// How much more the declared order would need at the least without one or the other way of saving.
fn saved(graph: &Graph, plain: &Graph, options: &Options, size: usize) -> Result<Vec<Saving>, PlanError> {
    let mut savings = Vec::new();
    for (by, on, graph, without) in [
        ("views", options.views, graph, Options { views: false, ..*options }),
        ("results in place of operands", options.in_place, graph, Options { in_place: false, ..*options }),
        ("parts produced inside concatenations", options.concat, graph, Options { concat: false, ..*options }),
        ("stages of products and convolutions", options.fuse, plain, *options),
    ] {
        if on {
            savings.push(Saving { by, bytes: least(graph, &without)?.saturating_sub(size) });
        }
    }
    Ok(savings)
}

/// The least that a plan with these options could need.
fn least(graph: &Graph, options: &Options) -> Result<usize, PlanError> {
    let settled = version::settle(graph);
    let graph = settled.as_ref().unwrap_or(graph);
    let nested = if options.concat { nest::nest(graph) } else { None };
    let mut least = usize::MAX;
    for concat in [true, false].into_iter().filter(|concat| options.concat || !concat) {
        for graph in nested.iter().filter(|_| concat).chain([graph]) {
            let mut lowered = lower::lower(graph, &Options { concat, ..*options });
            let lifetimes = lifetime::lifetimes(&lowered);
            if options.in_place {
                alias::in_place(&mut lowered, &lifetimes);
            }
            least = least.min(place::bound(&lowered, &lifetimes, options)?);
        }
    }
    Ok(least)
}

/// The best plan of the calls as they stand, if it is smaller than `below`.
fn ordered(graph: &Graph, options: &Options, below: Option<usize>) -> Result<Option<Planned>, PlanError> {
    let settled = version::settle(graph);
    let graph = settled.as_ref().unwrap_or(graph);
    // What an option saves it can cost elsewhere: producing a part early holds the whole concatenation's storage from
    // then on, and an operand that is overwritten pins the result to its place. So each is also left out, where the
    // bound says that this could need less.
    let nested = if options.concat { nest::nest(graph) } else { None };
    let mut best = None;
    for (in_place, concat) in [(true, true), (true, false), (false, true), (false, false)] {
        if in_place <= options.in_place && concat <= options.concat {
            for graph in nested.iter().filter(|_| concat).chain([graph]) {
                let below = best.as_ref().map(|best: &Planned| best.size).or(below);
                best = attempt(graph, &Options { in_place, concat, ..*options }, below)?.or(best);
            }
        }
    }
    Ok(best)
}

/// The plan with exactly these options, if it is smaller than `below`.
fn attempt(graph: &Graph, options: &Options, below: Option<usize>) -> Result<Option<Planned>, PlanError> {
    let mut lowered = lower::lower(graph, options);
    let lifetimes = lifetime::lifetimes(&lowered);
    if options.in_place {
        alias::in_place(&mut lowered, &lifetimes);
    }
    place::place(graph, lowered, lifetimes, options, below)
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::TooLarge => f.write_str("the tensors together do not fit an address"),
            PlanError::Fault(fault) => write!(f, "the planner made a faulty plan: {fault}"),
        }
    }
}

impl core::error::Error for PlanError {}
