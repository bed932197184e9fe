//! Extents that come with the inputs: a rule's arithmetic holds for every value, and its kernel sees the value.

use model_graph::cpu::{Memory, Operands, operands};
use model_graph::{Call, Cpu, CpuBuffer, Error, Kernel, Poison, model_graph, operator};

/// Each row twice, one behind the other, plus a bias.
#[operator(fn(x: f32[.., N], bias: f32[N]) -> f32[.., 2 * N], scratch = 4 * N)]
struct Twice;

impl<M: Memory> Kernel<Twice> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, Twice>) -> Result<(), Error> {
        let Operands { output, inputs: [x, bias], scratch } = operands(self, call)?;
        let (y, x, bias, sums) = (output.of::<f32>()?, x.of::<f32>()?, bias.of::<f32>()?, scratch.of::<f32>()?);
        assert_eq!(sums.len(), bias.len());
        for (x, y) in x.chunks_exact(bias.len()).zip(y.chunks_exact_mut(2 * bias.len())) {
            for ((sum, x), bias) in sums.iter_mut().zip(x).zip(bias) {
                *sum = x + bias;
            }
            y.chunks_exact_mut(bias.len()).for_each(|y| y.copy_from_slice(sums));
        }
        Ok(())
    }
}

#[model_graph(dims(SEQ <= 5))]
struct Open {
    #[input]
    x: Tensor<f32, 2, SEQ>,
    #[input]
    bias: Tensor<f32, SEQ>,
    #[output(Twice(x, bias))]
    y: Tensor<f32, 2, { 2 * SEQ }>,
}

#[test]
fn every_value_has_its_extents() {
    let mut model = Open::new(&Cpu).unwrap();
    for seq in [5, 1, 3, 4, 2] {
        let x: Vec<f32> = (0..2 * seq).map(|at| at as f32).collect();
        model.x_mut().write(&x, [2, seq]).unwrap();
        model.bias_mut().write(&vec![0.5; seq]).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        let y: Vec<f32> = outputs.y().iter().copied().collect();
        let expected: Vec<f32> = x.chunks(seq).flat_map(|row| [row, row].concat()).map(|x| x + 0.5).collect();
        assert_eq!(y, expected);
    }
}
