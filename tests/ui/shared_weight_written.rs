//! Weights that instances share are not written through one of them.
use model_graph::{Cpu, SafeTensors, model_graph};

#[model_graph(dims(D = _))]
struct Layer {
    #[input]
    x: Tensor<f32, D>,
    #[weight]
    w: Tensor<f32, D>,
    #[output(x * w)]
    y: _,
}

#[model_graph(weights = "shared")]
struct Net {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    w1: Tensor<f32, 2>,
    #[chain(x * w1, D = 2)]
    layers: [Layer; 3],
    #[output(layers + 1)]
    y: _,
}

fn main() {
    let weights = NetWeights::new(&Cpu).unwrap();
    let mut model = Net::new(&Cpu, &weights).unwrap();
    model.w1_mut().set([1.0, 2.0]).unwrap();
    model.layers_w_mut(1).set([1.0, 2.0]).unwrap();
}

fn load(model: &mut Net<'_>, source: &SafeTensors<'_>) {
    model.load(source).unwrap();
}
