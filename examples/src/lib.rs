//! The models of the examples, so that the tests can run over every one of them.

pub mod args;
pub mod digits;
pub mod keywords;
pub mod npy;
pub mod snake;
