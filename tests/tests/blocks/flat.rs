//! A block gives what its fields would give if they were written in its place, and takes as much memory.

use model_graph::{Cpu, Poison, model_graph};

use super::{numbers, rows, tensor};

/// A normalised layer with a way around it.
#[model_graph(dims(T = 2, D = 4, HIDDEN = 2 * D))]
struct Residual {
    #[input]
    x: Tensor<f32, T, D>,
    #[weight]
    scale: Tensor<f32, D>,
    #[weight]
    up: Tensor<f32, D, HIDDEN>,
    #[weight]
    down: Tensor<f32, HIDDEN, D>,
    #[node(gelu(matmul(rms_norm(x, scale), up)))]
    hidden: Tensor<f32, T, HIDDEN>,
    #[output(x + matmul(hidden, down))]
    y: Tensor<f32, T, D>,
}

#[model_graph(dims(T = 3, D = 8))]
struct Composed {
    #[input]
    x: Tensor<f32, T, D>,
    #[node(Residual<T = T, D = D>(x))]
    first: _,
    #[node(Residual<T = T, D = D, HIDDEN = 3 * D>(first * 2))]
    second: Tensor<f32, T, D>,
    #[output(softmax(second))]
    y: _,
}

#[model_graph(dims(T = 3, D = 8))]
struct Flat {
    #[input]
    x: Tensor<f32, T, D>,
    #[weight]
    scale1: Tensor<f32, D>,
    #[weight]
    up1: Tensor<f32, D, { 2 * D }>,
    #[weight]
    down1: Tensor<f32, { 2 * D }, D>,
    #[node(gelu(matmul(rms_norm(x, scale1), up1)))]
    hidden1: _,
    #[node(x + matmul(hidden1, down1))]
    first: _,
    #[weight]
    scale2: Tensor<f32, D>,
    #[weight]
    up2: Tensor<f32, D, { 3 * D }>,
    #[weight]
    down2: Tensor<f32, { 3 * D }, D>,
    #[node(first * 2)]
    doubled: _,
    #[node(gelu(matmul(rms_norm(doubled, scale2), up2)))]
    hidden2: _,
    #[node(doubled + matmul(hidden2, down2))]
    second: _,
    #[output(softmax(second))]
    y: _,
}

#[test]
fn a_block_is_what_it_would_be_if_it_were_written_out() {
    assert_eq!(Composed::PLAN.size, Flat::PLAN.size);
    assert_eq!(Composed::PLAN.lower_bound, Flat::PLAN.lower_bound);
    let ops = |plan: model_graph::Plan<'static>| plan.steps.iter().map(|step| step.op).collect::<Vec<_>>();
    assert_eq!(ops(Composed::PLAN), ops(Flat::PLAN));

    let (mut composed, mut flat) = (Composed::new(&Cpu).unwrap(), Flat::new(&Cpu).unwrap());
    (*composed.first_scale_mut(), *flat.scale1_mut()) = (numbers(1), numbers(1));
    (*composed.first_up_mut(), *flat.up1_mut()) = (rows(2), rows(2));
    (*composed.first_down_mut(), *flat.down1_mut()) = (rows(3), rows(3));
    (*composed.second_scale_mut(), *flat.scale2_mut()) = (numbers(4), numbers(4));
    (*composed.second_up_mut(), *flat.up2_mut()) = (rows(5), rows(5));
    (*composed.second_down_mut(), *flat.down2_mut()) = (rows(6), rows(6));
    for seed in 7..10 {
        *composed.x_mut() = rows(seed);
        *flat.x_mut() = rows(seed);
        let flat = flat.forward().unwrap().y().map(|row| row.map(f32::to_bits));
        let bits = composed.forward_with(&mut Poison::default()).unwrap().y().map(|row| row.map(f32::to_bits));
        assert_eq!(bits, flat);
        assert_ne!(bits[0], bits[1]);
    }
}

#[test]
fn two_uses_have_weights_of_their_own() {
    let mut model = Composed::new(&Cpu).unwrap();
    *model.first_scale_mut() = [1.0; 8];
    assert_eq!(*model.second_scale(), [0.0; 8]);
    let [first, second] = ["first.scale", "second.scale"].map(|name| tensor(&Composed::PLAN, name).view);
    assert_ne!(first.offset, second.offset);
    assert_eq!(tensor(&Composed::PLAN, "first.up").view.dims(), [8, 16]);
    assert_eq!(tensor(&Composed::PLAN, "second.up").view.dims(), [8, 24]);
}

/// The sum of two tensors, and twice it.
#[model_graph(dims(N = 2))]
struct Sum {
    #[input]
    a: Tensor<f32, N>,
    #[input(keep)]
    b: Tensor<f32, N>,
    #[keep]
    #[node(a + b)]
    sum: _,
    #[output(sum * 2)]
    y: _,
}

/// Gives what it takes, and what it keeps.
#[model_graph(dims(N = 2))]
struct Passes {
    #[input]
    x: Tensor<f32, N>,
    #[output(x)]
    y: _,
}

#[model_graph(dims(N = 2))]
struct Kept {
    #[input]
    x: Tensor<f32, N>,
    #[keep]
    #[node(x + 1)]
    more: _,
    #[output(more)]
    y: _,
}

#[model_graph(dims(N = 3))]
struct Nested {
    #[input]
    x: Tensor<f32, N>,
    #[input]
    z: Tensor<f32, N>,
    #[node(Sum<N = N>(x, z) - Sum<N = N>(x, Sum::<N = N>(x, 1 - z)))]
    h: _,
    #[node(Passes<N = N>(h))]
    same: _,
    #[keep]
    #[node(Kept<N = N>(same))]
    more: _,
    #[output(Sum<N = N>(same, more))]
    y: Tensor<f32, N>,
    #[output(Passes<N = N>(x))]
    again: _,
}

#[test]
fn blocks_stand_within_expressions() {
    let mut model = Nested::new(&Cpu).unwrap();
    *model.x_mut() = [1.0, 2.0, 3.0];
    *model.z_mut() = [4.0, 5.0, -6.0];
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    // x + z, x + 1 - z, and what is made of them.
    assert_eq!(*outputs.h_sum_sum(), [5.0, 7.0, -3.0]);
    assert_eq!(*outputs.h_sum_2_sum(), [-2.0, -2.0, 10.0]);
    let expected: [f32; 3] = std::array::from_fn(|at| {
        let (x, z) = ([1.0f32, 2.0, 3.0][at], [4.0f32, 5.0, -6.0][at]);
        let h = (x + z) * 2.0 - (x + (x + (1.0 - z)) * 2.0) * 2.0;
        (h + (h + 1.0)) * 2.0
    });
    assert_eq!(*outputs.y(), expected);
    assert_eq!(*outputs.again(), [1.0, 2.0, 3.0]);
    assert_eq!(*outputs.more(), *outputs.more_more());
}
