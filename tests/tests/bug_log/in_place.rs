//! IP: results over operands.

use model_graph::{Cpu, Poison, Storage, model_graph};

use super::{in_place_steps, overlap, tensor, transient};

/// A sum with its own transpose.
#[model_graph]
struct WithTranspose {
    #[input]
    x: Tensor<f32, 2, 2>,
    #[node(x + 0)]
    a: _,
    #[output(a + transpose(a))]
    y: _,
    #[node(x + 1)]
    b: _,
    #[output(b + b)]
    z: _,
}

#[test]
fn ip_2_only_operands_that_are_walked_alike_are_overwritten() {
    let plan = &WithTranspose::PLAN;
    assert!(!overlap(tensor(plan, "y"), tensor(plan, "a")));
    assert!(matches!(tensor(plan, "z").storage, Storage::InPlace(_)), "b + b may overwrite b");
    let mut model = WithTranspose::new(&Cpu).unwrap();
    model.x_mut().write(&[[1.0, 2.0], [3.0, 4.0]]).unwrap();
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    assert_eq!(*outputs.y(), [[2.0, 5.0], [5.0, 8.0]]);
    assert_eq!(*outputs.z(), [[4.0, 6.0], [8.0, 10.0]]);
}

/// Two readers of one tensor.
#[model_graph]
struct TwoReaders {
    #[input]
    a: Tensor<f32, 2>,
    #[input]
    b: Tensor<f32, 2>,
    #[input]
    c: Tensor<f32, 2>,
    #[output(b * c)]
    e: _,
    #[output(a + b)]
    d: _,
}

#[test]
fn ip_4_only_the_last_reader_may_overwrite() {
    assert!(!overlap(tensor(&TwoReaders::PLAN, "e"), tensor(&TwoReaders::PLAN, "b")));
    let mut model = TwoReaders::new(&Cpu).unwrap();
    model.a_mut().write(&[1.0, 1.0]).unwrap();
    model.b_mut().write(&[1.0, 2.0]).unwrap();
    model.c_mut().write(&[10.0, 10.0]).unwrap();
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    assert_eq!((*outputs.e(), *outputs.d()), ([10.0, 20.0], [2.0, 3.0]));
}

/// Two operands of one shape, one of which is read again.
#[model_graph]
struct ByShape {
    #[input]
    x: Tensor<f32, 2>,
    #[node(x * 1)]
    a: _,
    #[node(x + 1)]
    b: _,
    #[node(a + b)]
    z: _,
    #[output(z + a)]
    w: _,
}

#[test]
fn ip_6_the_operand_is_chosen_by_identity_and_not_by_shape() {
    let plan = &ByShape::PLAN;
    assert!(overlap(tensor(plan, "z"), tensor(plan, "b")) && !overlap(tensor(plan, "z"), tensor(plan, "a")));
    let mut model = ByShape::new(&Cpu).unwrap();
    model.x_mut().write(&[1.0, 1.0]).unwrap();
    assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().w(), [4.0, 4.0]);
}

/// Five elementwise steps after a kept input.
#[model_graph]
struct Chain {
    #[input(keep)]
    x: Tensor<f32, 256>,
    #[output(relu(tanh(sigmoid(exp(abs(x))))))]
    y: _,
}

#[test]
fn ip_7_in_place_happens() {
    assert_eq!(Chain::PLAN.size, 2048);
    assert_eq!(in_place_steps(&Chain::PLAN), 4);
    let saved: Vec<(&str, usize)> = Chain::PLAN.saved.iter().map(|saving| (saving.by, saving.bytes)).collect();
    assert_eq!(saved, [("results in place of operands", 1024)]);
}

/// An operand that is stretched over the result.
#[model_graph]
struct Stretched {
    #[input]
    x: Tensor<f32, 1, 1>,
    #[input(keep)]
    m: Tensor<f32, 2, 2>,
    #[node(x * 1)]
    small: _,
    #[output(small * m)]
    y: _,
}

#[test]
fn ip_8_an_operand_that_is_stretched_is_not_overwritten() {
    assert!(!overlap(tensor(&Stretched::PLAN, "small"), tensor(&Stretched::PLAN, "y")));
    let mut model = Stretched::new(&Cpu).unwrap();
    model.x_mut()[0][0] = 5.0;
    model.m_mut().write(&[[-1.0, 1.0], [1.0, -1.0]]).unwrap();
    assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().y(), [[-5.0, 5.0], [5.0, -5.0]]);
}

/// A result over the front of a larger operand leaves the rest to others.
#[model_graph(align = 32)]
struct Shrinking {
    #[input]
    parent: Tensor<f32, 25>,
    #[node(relu(parent[0..9]))]
    child: _,
    #[node(matmul(child[0..1], w))]
    t: Tensor<f32, 15>,
    #[weight]
    w: Tensor<f32, 1, 15>,
    #[output(matmul(child, u) + matmul(t, v))]
    y: Tensor<f32, 1>,
    #[weight]
    u: Tensor<f32, 9, 1>,
    #[weight]
    v: Tensor<f32, 15, 1>,
}

#[test]
fn ip_9_what_a_smaller_successor_leaves_is_free() {
    let plan = &Shrinking::PLAN;
    let base = tensor(plan, "parent").view.offset;
    assert_eq!(tensor(plan, "child").view.offset, base);
    assert_eq!(tensor(plan, "t").view.offset, base + 64);
    assert!(plan.tensors.iter().filter(|tensor| tensor.storage == Storage::Own).all(|t| t.view.offset % 32 == 0));
    assert!(transient(plan) <= 128 + 32, "{}", transient(plan));
}

/// A view of a weight.
#[model_graph]
struct ViewOfWeight {
    #[weight]
    w: Tensor<f32, 2>,
    #[node(reshape(w, shape = [2, 1]))]
    v: _,
    #[output(v * 3)]
    y: _,
}

#[test]
fn ip_10_a_weight_is_not_overwritten_through_a_view() {
    let mut model = ViewOfWeight::new(&Cpu).unwrap();
    model.w_mut().write(&[1.0, 2.0]).unwrap();
    for _ in 0..2 {
        assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().y(), [[3.0], [6.0]]);
        assert_eq!(*model.w(), [1.0, 2.0]);
    }
}
