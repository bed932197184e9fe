//! A model does not outlive the weights that it borrows, and they are not written meanwhile.
use model_graph::{Cpu, model_graph};

#[model_graph(weights = "shared")]
struct Net {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    w1: Tensor<f32, 2>,
    #[output(x * w1)]
    y: _,
}

fn outlives() -> Net<'static> {
    let weights = NetWeights::new(&Cpu).unwrap();
    Net::new(&Cpu, &weights).unwrap()
}

fn dropped() {
    let weights = NetWeights::new(&Cpu).unwrap();
    let mut model = Net::new(&Cpu, &weights).unwrap();
    drop(weights);
    let _ = model.forward();
}

fn written() {
    let mut weights = NetWeights::new(&Cpu).unwrap();
    let mut model = Net::new(&Cpu, &weights).unwrap();
    weights.w1_mut().set([1.0, 2.0]).unwrap();
    let _ = model.forward();
}

fn without() {
    let _ = Net::new(&Cpu);
}

fn main() {
    outlives();
    dropped();
    written();
    without();
}
