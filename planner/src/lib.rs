//! The pure planner behind `model-graph`: shapes, lifetimes, aliases, offsets.
//!
//! It knows nothing of Rust syntax, files, clocks or devices. Without the feature `alloc` only the plain data is left
//! that a planned program carries with it.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod draw;
mod dtype;
pub mod op;
mod plan;
mod shape;
mod view;

pub use dtype::DType;
pub use plan::{Plan, PlanStep, PlanTensor, Role, Storage};
pub use shape::{Dim, MAX_RANK, Shape, Type};
pub use view::View;
