//! Every CPU kernel against a naive oracle in `f64`.

mod attention;
mod bits;
mod blocks;
mod convolution;
mod dtypes;
mod elementwise;
mod harness;
mod lookups;
mod matmul;
mod normalisation;
mod operands;
mod pooling;
mod quantized;
mod recurrent;
mod reduction;
mod resize;
mod scatter;
mod shared;
mod stages;
mod typed;
mod writes;
