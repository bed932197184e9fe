//! VW: tensors that look at the bytes of others.

use model_graph::{Cpu, DType, Poison, Storage, model_graph};
use model_graph_planner::{Shape, View};

use super::{overlap, tensor};

/// An output that is a view of something else.
#[model_graph]
struct ViewOut {
    #[input]
    x: Tensor<f32, 6>,
    #[node(x + 0)]
    h: _,
    #[output(reshape(h, shape = [2, 3]))]
    v: _,
    #[node(h + 1)]
    k: _,
    #[output(k * k)]
    z: _,
}

#[test]
fn vw_2_an_output_that_is_a_view_keeps_its_bytes() {
    let mut model = ViewOut::new(&Cpu).unwrap();
    model.x_mut().write(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    assert_eq!(*outputs.v(), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(*outputs.z(), [4.0, 9.0, 16.0, 25.0, 36.0, 49.0]);
}

/// A view that is read after the last direct reader of what it views.
#[model_graph(align = 4)]
struct LateView {
    #[input]
    x: Tensor<f32, 4>,
    #[node(x + 0)]
    p: _,
    #[node(p[1..3])]
    v: _,
    #[output(sum(p))]
    s: _,
    #[node(x * 0 + 9)]
    q: _,
    #[output(v + q[0..2])]
    y: _,
}

#[test]
fn vw_3_bytes_are_not_free_while_a_view_of_them_is_read() {
    assert!(!overlap(tensor(&LateView::PLAN, "q"), tensor(&LateView::PLAN, "v")));
    let mut model = LateView::new(&Cpu).unwrap();
    model.x_mut().write(&[1.0, 2.0, 3.0, 4.0]).unwrap();
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    assert_eq!((*outputs.s(), *outputs.y()), (10.0, [11.0, 12.0]));
}

#[test]
fn vw_4_a_view_reaches_as_far_as_its_strides_say() {
    let shape = Shape::new(&[2, 3]).unwrap();
    let mut view = View::packed(DType::F32, 0, &shape);
    view.strides[0] = 0;
    assert_eq!(view.span(), 0..12);
}

/// An elementwise step on a transposed tensor.
#[model_graph]
struct Scaled {
    #[input]
    a: Tensor<f32, 2, 2>,
    #[output(transpose(a) * 2)]
    y: _,
    /// A step that takes no strides gets a packed copy.
    #[output(softmax(transpose(a)))]
    z: _,
}

#[test]
fn vw_5_strides_are_followed_or_packed() {
    assert_eq!(tensor(&Scaled::PLAN, "z.transpose.packed").storage, Storage::Own);
    let mut model = Scaled::new(&Cpu).unwrap();
    model.a_mut().write(&[[1.0, 2.0], [3.0, 4.0]]).unwrap();
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    assert_eq!(*outputs.y(), [[2.0, 6.0], [4.0, 8.0]]);
    let row = |a: f32, b: f32| [a.exp() / (a.exp() + b.exp()), b.exp() / (a.exp() + b.exp())];
    for (given, expected) in outputs.z().as_flattened().iter().zip([row(1.0, 3.0), row(2.0, 4.0)].as_flattened()) {
        assert!((given - expected).abs() < 1e-6, "{given} {expected}");
    }
}

/// A packed copy of a transposed slice.
#[model_graph]
struct PackedSlice {
    #[input]
    big: Tensor<f32, 6>,
    #[input]
    x: Tensor<f32, 1, 2>,
    #[node(transpose(reshape(big[2..6], shape = [2, 2])))]
    k: _,
    #[output(matmul(x, copy(k)))]
    y: _,
    #[output(matmul(x, k))]
    z: _,
}

#[test]
fn vw_7_a_packed_copy_has_its_own_start_and_strides() {
    let mut model = PackedSlice::new(&Cpu).unwrap();
    model.big_mut().write(&[0.0, 0.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
    model.x_mut().write(&[[1.0, 1.0]]).unwrap();
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    assert_eq!((*outputs.y(), *outputs.z()), ([[3.0, 7.0]], [[3.0, 7.0]]));
}
