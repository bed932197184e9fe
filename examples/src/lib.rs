//! The models of the examples, so that the tests can run over every one of them.

pub mod digits;
pub mod keywords;
pub mod npy;
pub mod onnx;
pub mod rnnoise;
pub mod silero;
pub mod snake;
pub mod stories;
