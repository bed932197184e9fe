//! Operators of other modules and other crates, under other names, in functions, in blocks that keep them to themselves.

use model_graph::cpu::{Memory, Operands, operands};
use model_graph::{Call, Cpu, CpuBuffer, Error, Kernel, Poison, model_graph, operator};
use model_graph_tests_exports as exports;
use model_graph_tests_exports::{Decay as Fading, Smooth};

#[model_graph]
struct Foreign {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[node(Fading(x))]
    a: _,
    #[output(exports::Decay(a, keep = 0))]
    b: _,
}

#[test]
fn operators_stand_in_another_crate() {
    let mut model = Foreign::new(&Cpu).unwrap();
    *model.x_mut() = [[1.0, 2.0, 4.0], [8.0, 0.0, 0.0]];
    assert_eq!(*model.forward().unwrap().b(), [[1.0, 2.5, 5.25], [8.0, 4.0, 2.0]]);
    // Both in place.
    assert_eq!(Foreign::PLAN.size, 24);
}

/// Blocks in a block, in a chain, of another crate: none of their operators has a name here.
#[model_graph(dims(N = _))]
struct Twice {
    #[input]
    x: Tensor<f32, N>,
    #[node(Smooth<N = N>(x))]
    once: _,
    #[output(Smooth<N = N>(once))]
    y: _,
}

#[model_graph]
struct Deep {
    #[input]
    x: Tensor<f32, 2>,
    #[chain(x, N = 2)]
    layers: [Twice; 2],
    #[node(Fading(layers))]
    own: _,
    #[output(inner::Hidden(own))]
    y: _,
}

mod inner {
    use super::*;

    #[operator(fn(x: f32[N]) -> f32[N])]
    struct Negate;

    impl<M: Memory> Kernel<Negate> for CpuBuffer<M> {
        fn run(&mut self, call: &Call<'_, Negate>) -> Result<(), Error> {
            let Operands { output, inputs: [x], .. } = operands(self, call)?;
            for (y, x) in output.of::<f32>()?.iter_mut().zip(x.of::<f32>()?) {
                *y = -x;
            }
            Ok(())
        }
    }

    #[allow(unreachable_pub, reason = "a public block with an operator that is not is what this is about")]
    #[model_graph]
    pub struct Hidden {
        #[input]
        x: Tensor<f32, 2>,
        #[output(Negate(x))]
        y: _,
    }
}

#[test]
fn blocks_bring_their_operators() {
    let mut model = Deep::new(&Cpu).unwrap();
    *model.x_mut() = [16.0, 0.0];
    // Each layer halves and decays twice: [16, 0] to [8, 2] to [4, 2] to [2, 1.5] to [1, 1].
    assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().y(), [-1.0, -1.5]);
    let mut steps = Deep::PLAN.steps.iter().map(|step| step.op).collect::<Vec<_>>();
    steps.dedup();
    assert_eq!(steps, ["Halve", "Decay", "Halve", "Decay", "Halve", "Decay", "Halve", "Decay", "Negate"]);
}

#[test]
fn operators_stand_in_functions() {
    #[model_graph]
    struct Model {
        #[input]
        x: Tensor<f32, 2>,
        #[output(Square(x) + 1)]
        y: _,
    }

    /// Declared after its use, in a function.
    #[operator(fn(x: f32[..]) -> f32[..])]
    struct Square;

    impl<M: Memory> Kernel<Square> for CpuBuffer<M> {
        fn run(&mut self, call: &Call<'_, Square>) -> Result<(), Error> {
            let Operands { output, inputs: [x], .. } = operands(self, call)?;
            for (y, x) in output.of::<f32>()?.iter_mut().zip(x.of::<f32>()?) {
                *y = x * x;
            }
            Ok(())
        }
    }

    let mut model = Model::new(&Cpu).unwrap();
    *model.x_mut() = [3.0, -2.0];
    assert_eq!(*model.forward().unwrap().y(), [10.0, 5.0]);
}

/// Two operators of one name, of which one is only a name away.
mod same {
    use super::*;

    #[operator(fn(x: f32[N]) -> f32[N])]
    pub(super) struct Decay;

    impl<M: Memory> Kernel<Decay> for CpuBuffer<M> {
        fn run(&mut self, call: &Call<'_, Decay>) -> Result<(), Error> {
            let Operands { output, .. } = operands::<_, _, 1>(self, call)?;
            output.of::<f32>()?.fill(7.0);
            Ok(())
        }
    }
}

#[model_graph]
struct Both {
    #[input]
    x: Tensor<f32, 2>,
    #[output(same::Decay(x) + exports::Decay(x))]
    y: _,
}

#[test]
fn two_operators_have_one_name() {
    let mut model = Both::new(&Cpu).unwrap();
    *model.x_mut() = [2.0, 1.0];
    assert_eq!(*model.forward().unwrap().y(), [9.0, 9.0]);
}

/// A block of shared weights that calls an operator on one, in a model of shared weights.
#[model_graph(weights = "shared")]
struct Faded {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[weight]
    w: Tensor<f32, 2, 3>,
    #[output(Fading(w) + x)]
    y: _,
}

#[model_graph(weights = "shared")]
struct Sharing {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[weight]
    v: Tensor<f32, 2, 3>,
    #[node(Faded(x))]
    once: _,
    #[output(Fading(v) + once)]
    y: _,
}

#[test]
fn operators_read_shared_weights() {
    let mut weights = SharingWeights::new(&Cpu).unwrap();
    weights.v_mut().set([[1.0, 2.0, 4.0], [8.0, 0.0, 0.0]]).unwrap();
    weights.once_w_mut().set([[2.0, 4.0, 8.0], [16.0, 0.0, 0.0]]).unwrap();
    let mut model = Sharing::new(&Cpu, &weights).unwrap();
    model.x_mut().set([[1.0; 3]; 2]).unwrap();
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    let once = Sharing::PLAN.tensors.iter().filter(|tensor| tensor.role == model_graph::Role::Weight);
    assert_eq!(once.count(), 2);
    let faded = {
        let mut weights = FadedWeights::new(&Cpu).unwrap();
        weights.w_mut().set([[1.0, 2.0, 4.0], [8.0, 0.0, 0.0]]).unwrap();
        let mut model = Faded::new(&Cpu, &weights).unwrap();
        model.x_mut().set([[0.0; 3]; 2]).unwrap();
        *model.forward().unwrap().y()
    };
    assert_eq!(*outputs.y(), faded.map(|row| row.map(|once| 3.0 * once + 1.0)));
}
