//! What the tests that cross crates share: an interpreter of plans, an evaluator that knows nothing of plans, random
//! graphs.

pub mod interpret;
pub mod naive;
pub mod random;
