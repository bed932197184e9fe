// The first definition of a link wins: in the documentation these two go to modules, in the repository to files.
#![doc = "[guide]: crate::guide\n[operators]: crate::operators\n"]
#![doc = include_str!("../README.md")]
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

#[doc = "[operators]: crate::operators\n"]
#[doc = include_str!("../docs/guide.md")]
pub mod guide {}

#[doc = include_str!("../docs/operators.md")]
pub mod operators {}

pub mod buffer;
pub mod cpu;
mod element;
mod error;
mod hook;
mod kernel;
mod marks;
mod open;
#[doc(hidden)]
pub mod private;
mod shared;
mod state;
mod tensor;
pub mod weights;

pub use buffer::{Buffer, BufferType, HostBuffer, HostRead, Usage};
#[cfg(feature = "alloc")]
pub use cpu::Cpu;
pub use cpu::{CpuBuffer, CpuImage, CpuSlice};
pub use element::{BLOCK, Block, BlockQ4_0, BlockQ8_0, Bool, dequantise, quantise};
pub use error::{Error, ErrorKind, ImageFault, SavedFault, Text};
pub use half::{bf16, f16};
pub use hook::{Hook, Live, Moment, Observer, Poison, read_view, write_view};
pub use kernel::{Call, Kernel, run_apart};
pub use model_graph_macros::{model_graph, operator};
pub use model_graph_planner::{DType, MAX_RANK, Plan, PlanStep, PlanTensor, Role, Saving, Storage, View, op};
pub use open::{OpenMut, OpenRef};
#[doc(hidden)]
pub use private as __private;
pub use shared::Shared;
pub use tensor::{Array, TensorMut, TensorRef};
#[cfg(feature = "safetensors")]
pub use weights::SafeTensors;
#[cfg(feature = "alloc")]
pub use weights::TfLite;
pub use weights::{Converted, Renamed, Weight, WeightSource};

/// The buffer of a model whose type names none: memory that it owns, or, without `alloc`, borrowed memory.
#[cfg(feature = "alloc")]
pub type DefaultBuffer = CpuBuffer<cpu::OwnedBytes>;
/// The buffer of a model whose type names none: memory that it owns, or, without `alloc`, borrowed memory.
#[cfg(not(feature = "alloc"))]
pub type DefaultBuffer = CpuSlice<'static>;
