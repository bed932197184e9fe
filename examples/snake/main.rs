//! Runs a network with an operator of this crate's own and shows that it is planned like any other: in place, with its
//! scratch in the one buffer, with nothing allocated in between.

#[path = "../counting.rs"]
mod counting;

use model_graph::{Cpu, Error};
use model_graph_examples::snake::Signal;

fn main() -> Result<(), Error> {
    println!("{}", Signal::PLAN);
    let mut model = Signal::new(&Cpu)?;
    *model.a_mut() = [0.5, 1.0, 2.0, 4.0];
    for layer in 0..3 {
        *model.layers_a_mut(layer) = [1.0; 4];
        // Each channel gets a little of the one before it.
        *model.layers_mix_mut(layer) =
            core::array::from_fn(|to| core::array::from_fn(|from| if (from + 1) % 4 == to { 0.25 } else { 0.0 }));
    }
    *model.x_mut() = core::array::from_fn(|c| core::array::from_fn(|n| (n as f32 * 0.4 + c as f32).sin()));
    let before = counting::allocations();
    let outputs = model.forward()?;
    let allocations = counting::allocations() - before;
    for channel in outputs.y().iter() {
        println!("{channel:6.2?}");
    }
    println!("allocations in forward: {allocations}");
    Ok(())
}
