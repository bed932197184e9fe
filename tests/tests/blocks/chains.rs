//! Copies of a block, one after the other.

use model_graph::{Cpu, Poison, model_graph};

use super::{numbers, tensor};

#[model_graph(dims(N = 2))]
struct Layer {
    #[input]
    x: Tensor<f32, N>,
    #[input]
    mask: Tensor<f32, N>,
    #[weight]
    w: Tensor<f32, N>,
    #[keep]
    #[node(x * w)]
    product: _,
    #[output(relu(product + mask))]
    y: Tensor<f32, N>,
}

#[model_graph(dims(N = 4, LAYERS = 12))]
struct Twelve {
    #[input]
    x: Tensor<f32, N>,
    #[input]
    mask: Tensor<f32, N>,
    #[chain(x + 1, mask)]
    layers: [Layer<N = N>; LAYERS],
    #[output(layers * 2)]
    y: _,
}

#[test]
fn a_value_goes_through_twelve_copies() {
    let mut model = Twelve::new(&Cpu).unwrap();
    let (x, mask) = (numbers::<4>(1), numbers::<4>(2));
    *model.x_mut() = x;
    *model.mask_mut() = mask;
    for layer in 0..12 {
        *model.layers_w_mut(layer) = numbers(layer + 3);
    }
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    let mut expected = x.map(|x| x + 1.0);
    for layer in 0..12 {
        let w = numbers::<4>(layer + 3);
        assert_eq!(*outputs.layers_w(layer), w);
        let product: [f32; 4] = std::array::from_fn(|at| expected[at] * w[at]);
        assert_eq!(*outputs.layers_product(layer), product);
        expected = std::array::from_fn(|at| (product[at] + mask[at]).max(0.0));
    }
    assert_eq!(*outputs.y(), expected.map(|y| y * 2.0));
    let names: Vec<&str> =
        Twelve::PLAN.tensors.iter().map(|tensor| tensor.name).filter(|name| name.ends_with(".w")).collect();
    assert_eq!(names, (0..12).map(|layer| format!("layers.{layer}.w")).collect::<Vec<_>>());
}

#[test]
#[should_panic(expected = "no copy of that number")]
fn there_is_no_thirteenth_copy() {
    let _ = Twelve::new(&Cpu).unwrap().layers_w(12);
}

/// A chain in a block.
#[model_graph(dims(N = 2, DEPTH = 2))]
struct Stack {
    #[input]
    x: Tensor<f32, N>,
    #[chain(x, x)]
    inner: [Layer<N = N>; DEPTH],
    #[weight]
    b: Tensor<f32, N>,
    #[output(inner + b)]
    y: _,
}

#[model_graph]
struct Stacks {
    #[input]
    x: Tensor<f32, 3>,
    #[chain(x, N = 3, DEPTH = 2 + 3)]
    stacks: [Stack; 2],
    #[keep]
    #[chain(stacks, N = 3)]
    last: [Stack; 1],
    #[output(last)]
    y: _,
}

#[test]
fn chains_nest() {
    let mut model = Stacks::new(&Cpu).unwrap();
    *model.x_mut() = [1.0, 2.0, 3.0];
    for stack in 0..2 {
        *model.stacks_b_mut(stack) = numbers(stack);
        for layer in 0..5 {
            *model.stacks_inner_w_mut(stack, layer) = numbers(10 * stack + layer);
        }
    }
    *model.last_inner_w_mut(0, 1) = [1.0; 3];
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    let mut value = [1.0, 2.0, 3.0];
    for stack in 0..2 {
        let mask: [f32; 3] = value;
        for layer in 0..5 {
            let w = numbers::<3>(10 * stack + layer);
            value = std::array::from_fn(|at| (value[at] * w[at] + mask[at]).max(0.0));
        }
        let b = numbers::<3>(stack);
        value = std::array::from_fn(|at| value[at] + b[at]);
    }
    let mask = value;
    value = value.map(|x| x.max(0.0));
    value = std::array::from_fn(|at| (value[at] + mask[at]).max(0.0));
    assert_eq!((*outputs.y(), *outputs.last()), (value, value));
    assert_eq!(tensor(&Stacks::PLAN, "stacks.1.inner.4.w").view.dims(), [3]);
}
