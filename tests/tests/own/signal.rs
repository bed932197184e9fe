//! The example's operator against the formula, with everything overwritten that should not matter, and step by step.

use model_graph::{Cpu, Error, Poison};
use model_graph_examples::snake::Signal;

/// Small numbers that repeat themselves only after a while.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|index| ((index * 37 + seed * 11) % 41) as f32 / 20.0 - 1.0).collect()
}

fn snake(x: f64, a: f64, eps: f32) -> f64 {
    x + (a * x).sin().powi(2) / (a + f64::from(eps))
}

/// The network in `f64`, from the same numbers as [`filled`].
fn expected() -> Vec<f64> {
    let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<f64>>();
    let (a, mut x) = (wide(numbers(4, 9)), wide(numbers(64, 1)));
    for layer in 0..3 {
        let (mix, own) = (wide(numbers(16, layer)), wide(numbers(4, layer + 20)));
        let mixed = |c: usize, n: usize| (0..4).map(|k| mix[4 * c + k] * x[16 * k + n]).sum::<f64>();
        x = (0..64).map(|at| x[at] + snake(mixed(at / 16, at % 16), own[at / 16], 1e-9)).collect();
    }
    (0..64).map(|at| snake(x[at], a[at / 16], 1e-6)).collect()
}

fn filled() -> Result<Signal, Error> {
    let mut model = Signal::new(&Cpu)?;
    model.a_mut().write_slice(&numbers(4, 9))?;
    for layer in 0..3 {
        model.layers_mix_mut(layer).write_slice(&numbers(16, layer))?;
        model.layers_a_mut(layer).write_slice(&numbers(4, layer + 20))?;
    }
    model.x_mut().write_slice(&numbers(64, 1))?;
    Ok(model)
}

#[test]
fn it_computes_the_formula() -> Result<(), Error> {
    let mut model = filled()?;
    let outputs = model.forward()?;
    for (given, expected) in outputs.y().as_slice().iter().zip(expected()) {
        assert!((f64::from(*given) - expected).abs() < 1e-4 * expected.abs().max(1.0), "{given} and {expected}");
    }
    Ok(())
}

#[test]
fn what_other_bytes_hold_changes_nothing() -> Result<(), Error> {
    let (mut plain, mut poisoned) = (filled()?, filled()?);
    let plain: Vec<u32> = plain.forward()?.y().as_slice().iter().map(|y| y.to_bits()).collect();
    let poisoned = poisoned.forward_with(&mut Poison::default())?;
    assert!(poisoned.y().as_slice().iter().map(|y| y.to_bits()).eq(plain));
    Ok(())
}

#[test]
fn every_call_works_in_place_and_has_its_scratch() {
    let plan = Signal::PLAN;
    let steps: Vec<_> = plan.steps.iter().filter(|step| step.op == "Snake").collect();
    assert_eq!(steps.len(), 4);
    for step in steps {
        let (x, y) = (&plan.tensors[step.inputs[0]].view, &plan.tensors[step.outputs[0]].view);
        assert_eq!(x.offset, y.offset);
        assert_eq!(plan.tensors[step.scratch[0]].view.span().len(), 16);
    }
    assert!(plan.to_string().contains("Snake"));
}
