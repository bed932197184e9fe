//! `order = "min_peak"`: the plan gets smaller, the results stay the same bits.

use model_graph::{Cpu, Poison, model_graph};

macro_rules! branches {
    ($name:ident $(, $setting:ident = $value:literal)?) => {
        /// Four branches that widen and narrow again, declared layer by layer, so that all are wide at once.
        #[model_graph(dims(N = 3, D = 16, WIDE = 256) $(, $setting = $value)?)]
        struct $name {
            #[input]
            x: Tensor<f32, N, D>,
            #[weight]
            up: Tensor<f32, D, WIDE>,
            #[weight]
            down: Tensor<f32, WIDE, D>,
            #[node(matmul(x, up))]
            a: _,
            #[node(matmul(tanh(x), up))]
            b: _,
            #[node(matmul(sigmoid(x), up))]
            c: _,
            #[node(matmul(silu(x), up))]
            d: _,
            #[node(relu(a))]
            wide_a: _,
            #[node(relu(b))]
            wide_b: _,
            #[node(relu(c))]
            wide_c: _,
            #[node(relu(d))]
            wide_d: _,
            #[node(matmul(wide_a, down))]
            narrow_a: _,
            #[node(matmul(wide_b, down))]
            narrow_b: _,
            #[node(matmul(wide_c, down))]
            narrow_c: _,
            #[output(narrow_a - narrow_b)]
            first: _,
            #[output(concat(narrow_c, matmul(wide_d, down), first, axis = 1))]
            second: _,
        }
    };
}

branches!(Declared);
branches!(Said, order = "declared");
branches!(MinPeak, order = "min_peak");

/// Runs a model on numbers of both signs; with every byte poisoned that is free.
macro_rules! run {
    ($name:ident) => {{
        let mut model = $name::new(&Cpu).unwrap();
        let numbers = |count: usize| (0..count).map(|i| ((i * 7 + 3) % 23) as f32 / 7.0 - 1.5);
        for (weight, number) in model.up_mut().as_mut_slice().iter_mut().zip(numbers(16 * 256)) {
            *weight = number;
        }
        for (weight, number) in model.down_mut().as_mut_slice().iter_mut().zip(numbers(256 * 16)) {
            *weight = -number;
        }
        for (pixel, number) in model.x_mut().as_mut_slice().iter_mut().zip(numbers(3 * 16)) {
            *pixel = number;
        }
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        let bits: Vec<u32> =
            outputs.first().as_slice().iter().chain(outputs.second().as_slice()).map(|value| value.to_bits()).collect();
        bits
    }};
}

#[test]
fn the_plan_is_smaller_and_the_results_are_the_same() {
    let transient = |plan: &model_graph::Plan<'_>| plan.size - plan.persistent;
    assert_eq!(Said::PLAN.size, Declared::PLAN.size);
    // Four wide tensors against one, beside the narrow ones.
    let wide = 3 * 256 * 4;
    assert!(transient(&Declared::PLAN) >= 4 * wide);
    assert!(transient(&MinPeak::PLAN) < 2 * wide, "{:?}", MinPeak::PLAN);
    assert_eq!(MinPeak::PLAN.steps.len(), Declared::PLAN.steps.len());
    assert_eq!(run!(MinPeak), run!(Declared));
}

/// A chain: there is nothing to choose, and the plan is the declared one.
#[model_graph(order = "min_peak")]
struct Chain {
    #[input]
    x: Tensor<f32, 4>,
    #[node(exp(x) * x)]
    y: _,
    #[output(sum(y))]
    z: _,
}

#[test]
fn a_chain_stays_as_it_is() {
    let mut model = Chain::new(&Cpu).unwrap();
    model.x_mut().write(&[0.0; 4]).unwrap();
    assert_eq!(model.forward().unwrap().z().as_slice(), [0.0]);
    assert_eq!(Chain::PLAN.steps.iter().map(|step| step.op).collect::<Vec<_>>(), ["exp", "mul", "sum"]);
}
