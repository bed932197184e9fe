//! Weights in a buffer of their own: instances borrow them, on threads and from mapped files, and compute what models with
//! weights of their own do.

mod edges;
mod image;
mod instances;

use model_graph::{Error, Weight, WeightSource, model_graph};

/// A layer with a residual.
#[model_graph(dims(D = _))]
pub struct Layer {
    #[input]
    x: Tensor<f32, 2, D>,
    #[weight]
    pub w: Tensor<f32, D, D>,
    #[weight]
    bias: Tensor<f32, D>,
    #[output(relu(matmul(x, w) + bias) + x)]
    y: _,
}

/// Weights read by products, stages, views and outputs; a state; a chain of blocks.
#[model_graph(dims(D = 12))]
pub struct Owning {
    #[input]
    pub x: Tensor<f32, 2, D>,
    #[weight]
    pub w1: Tensor<f32, D, D>,
    #[weight(name = "scale.weight")]
    scale: Tensor<f32, D>,
    #[constant(1.5)]
    half: Tensor<f32>,
    #[state]
    pub mean: Tensor<f32, 2, D>,
    #[chain(x)]
    layers: [Layer<D = D>; 3],
    #[node(write(mean, mean * 0.5 + matmul(layers, transpose(w1)) * scale * half))]
    next: _,
    #[keep]
    #[node(reshape(w1, shape = [D * D]))]
    flat: _,
    #[output(softmax(next[.., 1..5]))]
    pub y: _,
    #[output(transpose(w1))]
    pub turned: _,
}

/// The same, of shared weights.
#[model_graph(dims(D = 12), weights = "shared")]
pub struct Net {
    #[input]
    pub x: Tensor<f32, 2, D>,
    #[weight]
    pub w1: Tensor<f32, D, D>,
    #[weight(name = "scale.weight")]
    scale: Tensor<f32, D>,
    #[constant(1.5)]
    half: Tensor<f32>,
    #[state]
    pub mean: Tensor<f32, 2, D>,
    #[chain(x)]
    layers: [Layer<D = D>; 3],
    #[node(write(mean, mean * 0.5 + matmul(layers, transpose(w1)) * scale * half))]
    next: _,
    #[keep]
    #[node(reshape(w1, shape = [D * D]))]
    flat: _,
    #[output(softmax(next[.., 1..5]))]
    pub y: _,
    #[output(transpose(w1))]
    pub turned: _,
}

/// Weights of any name, made of their names.
struct Made(Vec<(String, Vec<usize>, Vec<u8>)>);

impl Made {
    fn new() -> Made {
        let mut all = vec![(String::from("w1"), vec![12, 12]), (String::from("scale.weight"), vec![12])];
        for layer in 0..3 {
            all.push((format!("layers.{layer}.w"), vec![12, 12]));
            all.push((format!("layers.{layer}.bias"), vec![12]));
        }
        let with_bytes = all.into_iter().enumerate().map(|(number, (name, shape))| {
            let count = shape.iter().product::<usize>();
            let element = |index: usize| ((index * 37 + number * 11) % 101) as f32 / 150.0 - 0.3;
            (name, shape, (0..count).flat_map(|index| element(index).to_le_bytes()).collect())
        });
        Made(with_bytes.collect())
    }
}

impl WeightSource for Made {
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
        let found = self.0.iter().find(|(own, ..)| own == name);
        Ok(found.map(|(_, shape, bytes)| Weight { dtype: Some(model_graph::DType::F32), shape, bytes }))
    }

    fn names(&self, visit: &mut dyn FnMut(&str)) {
        self.0.iter().for_each(|(name, ..)| visit(name));
    }
}

fn input(step: usize) -> [[f32; 12]; 2] {
    std::array::from_fn(|row| std::array::from_fn(|column| ((row * 12 + column + 5 * step) % 7) as f32 - 3.0))
}

type Bits = (Vec<u32>, Vec<u32>);

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// What the model with weights of its own gives for some inputs, one after the other.
fn expected(steps: usize) -> Vec<Bits> {
    let mut model = Owning::new(&model_graph::Cpu).unwrap();
    model.load(&Made::new()).unwrap();
    let run = |step| {
        model.x_mut().write(&input(step)).unwrap();
        let outputs = model.forward().unwrap();
        (bits(outputs.y().as_slice()), bits(outputs.turned().as_slice()))
    };
    (0..steps).map(run).collect()
}
