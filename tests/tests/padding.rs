//! `pad`: a border is filled around an operand that is produced where it belongs in it.

use model_graph::{Cpu, Plan, Poison, Storage, model_graph};

/// A convolution of a padded image.
#[model_graph]
struct Padded {
    #[input]
    x: Tensor<f32, 2, 3, 6, 6>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[node(relu(x))]
    made: _,
    #[output(conv2d(pad(made, before = [0, 0, 1, 2], after = [0, 0, 2, 1], value = -0.5), w))]
    pub y: _,
}

/// The same with zeros, and with the padding that a convolution has of its own.
#[model_graph]
struct Zeros {
    #[input]
    x: Tensor<f32, 2, 3, 6, 6>,
    #[weight]
    w: Tensor<f32, 4, 3, 3, 3>,
    #[output(conv2d(pad(relu(x), before = [0, 0, 1, 1]), w))]
    pub outside: _,
    #[output(conv2d(relu(x), w, padding = 1))]
    pub own: _,
}

/// Nothing to pad, and only one side.
#[model_graph(dims(N = 5))]
struct Edges {
    #[input]
    x: Tensor<f32, N, 2>,
    #[output(pad(x, before = [0, 0]))]
    pub none: Tensor<f32, N, 2>,
    #[output(pad(x, before = [{ N - 5 }, 1], after = [1, 0], value = 7))]
    pub one: Tensor<f32, { N + 1 }, 3>,
}

/// A convolution that another one follows, with a border between them that neither has of its own.
#[model_graph]
struct Between {
    #[input]
    x: Tensor<f32, 1, 4, 16, 16>,
    #[weight]
    w: Tensor<f32, 4, 4, 3, 3>,
    #[output(conv2d(pad(relu(conv2d(x, w, padding = 1)), before = [0, 0, 1, 1], value = 1), w))]
    pub y: _,
}

#[test]
fn a_convolution_with_stages_writes_into_the_border() {
    let plan = &Between::PLAN;
    assert_eq!(ops(plan), ["conv2d + relu", "fill", "fill", "fill", "fill", "conv2d"]);
    let [image, border] = [4 * 16 * 16, 4 * 18 * 18].map(|elements: usize| 4 * elements);
    assert_eq!(plan.size, plan.persistent.next_multiple_of(64) + image + border, "{plan}");
    assert!(plan.saved.iter().any(|saving| saving.by == "parts produced inside concatenations"), "{plan}");
}

fn ops(plan: &Plan<'_>) -> Vec<String> {
    plan.steps.iter().map(|step| step.op.to_string()).collect()
}

fn numbers(count: usize) -> impl Iterator<Item = f32> {
    (0..count).map(|i| ((i * 7 + 3) % 23) as f32 / 7.0 - 1.5)
}

#[test]
fn the_interior_is_produced_in_place() {
    let plan = &Padded::PLAN;
    assert_eq!(ops(plan), ["relu", "fill", "fill", "fill", "fill", "conv2d"]);
    let made = plan.tensors.iter().find(|tensor| tensor.name == "made").unwrap();
    let Storage::Part(whole) = made.storage else { panic!("{made:?}") };
    assert_eq!(plan.tensors[whole].name, "y.pad.along3");
    assert_eq!(made.view.strides(), [3 * 9 * 9, 9 * 9, 9, 1]);
    // The input gives way to the result; beside them stand the border and the image in it.
    let [border, result] = [2 * 3 * 9 * 9, 2 * 4 * 7 * 7].map(|elements: usize| 4 * elements);
    let up = |bytes: usize| bytes.next_multiple_of(64);
    assert_eq!(plan.size, up(plan.persistent) + up(result) + border, "{plan}");
}

/// What is padded is made of a tensor that is still needed.
#[model_graph]
struct Residual {
    #[input]
    x: Tensor<f32, 1, 8, 16, 16>,
    #[weight]
    w: Tensor<f32, 8, 8, 3, 3>,
    #[output(x + conv2d(pad(tanh(x), before = [0, 0, 1, 1]), w))]
    pub y: _,
}

#[test]
fn no_copy_is_stored() {
    let plan = &Residual::PLAN;
    assert_eq!(ops(plan), ["tanh", "fill", "fill", "fill", "fill", "conv2d + add"]);
    // Without, the result of `tanh` would be stored beside the border that it is copied into; the output takes its
    // place later, so the peak falls by what is left of that.
    let [image, border] = [8 * 16 * 16, 8 * 18 * 18].map(|elements: usize| 4 * elements);
    assert_eq!(plan.size, plan.persistent + border + 2 * image, "{plan}");
}

#[test]
fn the_border_is_the_value() {
    let mut model = Padded::new(&Cpu).unwrap();
    for (x, number) in model.x_mut().as_mut_slice().iter_mut().zip(numbers(216)) {
        *x = number;
    }
    for (w, number) in model.w_mut().as_mut_slice().iter_mut().zip(numbers(108)) {
        *w = number;
    }
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    let x: Vec<f32> = numbers(216).map(|x| x.max(0.0)).collect();
    let w: Vec<f32> = numbers(108).collect();
    let pixel = |n: usize, c: usize, i: usize, j: usize| match (i.checked_sub(1), j.checked_sub(2)) {
        (Some(i @ 0..6), Some(j @ 0..6)) => x[((n * 3 + c) * 6 + i) * 6 + j],
        _ => -0.5,
    };
    for (at, y) in outputs.y().as_slice().iter().enumerate() {
        let [n, o, i, j] = [at / 196, at / 49 % 4, at / 7 % 7, at % 7];
        let taps = (0..27).map(|tap| [tap / 9, tap / 3 % 3, tap % 3]);
        let expected: f32 = taps.map(|[c, u, v]| w[((o * 3 + c) * 3 + u) * 3 + v] * pixel(n, c, i + u, j + v)).sum();
        assert!((y - expected).abs() < 1e-4, "{at}: {y} instead of {expected}");
    }
}

#[test]
fn zeros_outside_are_the_padding_of_a_convolution() {
    let mut model = Zeros::new(&Cpu).unwrap();
    for (x, number) in model.x_mut().as_mut_slice().iter_mut().zip(numbers(216)) {
        *x = number;
    }
    for (w, number) in model.w_mut().as_mut_slice().iter_mut().zip(numbers(108)) {
        *w = number;
    }
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    assert_eq!(outputs.outside().as_slice(), outputs.own().as_slice());
}

#[test]
fn an_empty_border_is_none() {
    let mut model = Edges::new(&Cpu).unwrap();
    model.x_mut().write(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0]]).unwrap();
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    assert_eq!(outputs.none().as_slice(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
    let one = [7.0, 1.0, 2.0, 7.0, 3.0, 4.0, 7.0, 5.0, 6.0, 7.0, 7.0, 8.0, 7.0, 9.0, 10.0, 7.0, 7.0, 7.0];
    assert_eq!(outputs.one().as_slice(), one);
}
