//! Operators that users' crates declare: planned like any other, run by kernels of their own.

mod errors;
mod forms;
mod open;
mod places;
mod planned;
mod signal;
