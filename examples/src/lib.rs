//! The models of the examples, so that the tests can run over every one of them.

pub mod digits;
pub mod snake;
