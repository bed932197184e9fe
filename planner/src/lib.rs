//! The pure planner behind `model-graph`: shapes, lifetimes, aliases, orders, offsets.
//!
//! It knows nothing of Rust syntax, files, clocks or devices. Without the feature `alloc` only the plain data is left
//! that a planned program carries with it.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod draw;
mod dtype;
mod extent;
#[cfg(feature = "alloc")]
pub mod graph;
#[cfg(feature = "alloc")]
pub mod offset;
pub mod op;
#[cfg(feature = "alloc")]
pub mod order;
#[cfg(feature = "alloc")]
mod pass;
mod plan;
mod shape;
#[cfg(feature = "alloc")]
mod text;
mod view;

pub use dtype::DType;
pub use extent::{Dim, Formula, Spelled};
#[cfg(feature = "alloc")]
pub use graph::{Graph, NodeId, OpenDim, TensorId};
#[cfg(feature = "alloc")]
pub use pass::{
    Fault, How, Options, Order, PlanError, Planned, PlannedStep, PlannedTensor, check, plan, samples, verify,
};
pub use plan::{OpenExtents, Plan, PlanStep, PlanTensor, Role, Saving, Storage};
pub use shape::{MAX_RANK, Shape, Type};
#[cfg(feature = "alloc")]
pub use text::ParseError;
pub use view::View;
