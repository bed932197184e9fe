//! Emitted code among names that could be taken for its own, and under lints that a careful user turns on. Nothing is in
//! scope here but what each module brings in itself.

#![no_implicit_prelude]
#![deny(warnings, missing_docs, unreachable_pub, missing_debug_implementations, unused, clippy::all, clippy::pedantic)]
#![allow(clippy::float_cmp, reason = "every sum in the tests is exact")]

extern crate model_graph as renamed;

mod blocks;
mod names;
mod operators;
mod places;
mod raw;
mod shadows;
