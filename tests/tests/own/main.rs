//! Operators that users' crates declare: planned like any other, run by kernels of their own.

mod errors;
mod forms;
mod planned;
mod places;
mod signal;
