//! Operators that a user's crate declares.

use model_graph::{Cpu, Storage};
use model_graph_examples::snake::Signal;

#[test]
fn first() {
    println!("{}", Signal::PLAN);
    let mut m = Signal::new(&Cpu).unwrap();
    m.forward().unwrap_err();
    let _ = Storage::Own;
}
