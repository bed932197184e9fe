//! Operators that a user's crate declares.

use model_graph::{Cpu, Storage};
use model_graph_examples::snake::Signal;

#[test]
fn first() {
    println!("{}", Signal::PLAN);
    let mut m = Signal::new(&Cpu).unwrap();
    assert!(m.forward().is_err());
    let _ = Storage::Own;
}
