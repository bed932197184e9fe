//! Every CPU kernel against a naive oracle in `f64`.

mod bits;
mod convolution;
mod dtypes;
mod elementwise;
mod harness;
mod matmul;
mod normalisation;
mod operands;
mod pooling;
mod reduction;
mod stages;
mod typed;
