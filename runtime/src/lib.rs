//! A neural network's memory, planned while it compiles.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod buffer;
pub mod cpu;
mod error;
mod kernel;
#[cfg(feature = "alloc")]
pub mod weights;

pub use buffer::{Buffer, BufferType, HostBuffer, Usage};
#[cfg(feature = "alloc")]
pub use cpu::Cpu;
pub use cpu::{CpuBuffer, CpuSlice};
pub use error::{Error, ErrorKind};
pub use kernel::{Call, Kernel};
pub use model_graph_planner::{DType, MAX_RANK, View, op};
