//! Plans that nobody planned, each with one thing wrong that the checker once let pass or fell over. More of them are
//! drawn in `fuzz.rs`.

use std::rc::Rc;

use model_graph_planner::op::{Add, BatchNorm, Conv2d, Fill, Fused, MatMul, Relu};
use model_graph_planner::{
    DType, Dim, Graph, How, Options, Planned, PlannedTensor, Role, Shape, Storage, Type, View, plan, verify,
};

/// An input, a view of it, a step and an output.
fn valid() -> Planned {
    let text = "\
model Hostile
  %0 x: input f32[4x4]
  %1 t: node f32[4x4] = transpose(%0)
  %2 a: kept node f32[4x4] = relu(%0)
  %3 y: output f32[4x4] = add(%1, %2)
";
    let planned = plan(&Graph::parse(text).unwrap(), &Options::default()).unwrap();
    assert_eq!(verify(&planned), Ok(()));
    planned
}

fn refused(planned: &Planned) -> String {
    verify(planned).expect_err("a faulty plan").to_string()
}

fn position(planned: &Planned, name: &str) -> usize {
    planned.tensors.iter().position(|tensor| tensor.name == name).unwrap()
}

fn view<'p>(planned: &'p mut Planned, name: &str) -> &'p mut View {
    let at = position(planned, name);
    &mut planned.tensors[at].view
}

/// Gives a step working space that lies behind everything else.
fn add_scratch(planned: &mut Planned, step: usize) -> usize {
    let offset = planned.size.next_multiple_of(planned.align);
    planned.size = offset + 64;
    planned.tensors.push(PlannedTensor {
        name: format!("scratch{offset}"),
        role: Role::Scratch,
        view: View::packed(DType::F32, offset, &Shape::new(&[4, 4]).unwrap()),
        first: step + 1,
        last: step + 1,
        storage: Storage::Own,
        ty: Type::f32(Shape::new(&[4, 4]).unwrap()),
        how: How::Scratch,
    });
    planned.steps[step].scratch.push(planned.tensors.len() - 1);
    planned.tensors.len() - 1
}

#[test]
fn elements_on_one_another() {
    for strides in [[0, 1], [1, 1], [3, 1], [0, 0]] {
        let mut planned = valid();
        view(&mut planned, "y").strides[..2].copy_from_slice(&strides);
        assert_eq!(refused(&planned), "`y` has elements that lie on one another");
    }
}

#[test]
fn views_that_take_elements_for_others() {
    let mut planned = valid();
    view(&mut planned, "t").dtype = DType::I32;
    assert_eq!(refused(&planned), "`t` takes the f32 elements of `x` for i32");
}

#[test]
fn more_dimensions_than_there_are() {
    let mut planned = valid();
    view(&mut planned, "y").rank = 7;
    assert_eq!(refused(&planned), "`y` has more dimensions than a tensor can have");
    view(&mut planned, "y").rank = 1;
    assert_eq!(refused(&planned), "`y` has extents or strides beyond its dimensions");
}

#[test]
fn a_buffer_that_no_address_reaches() {
    let mut planned = valid();
    planned.size = usize::MAX;
    view(&mut planned, "x").strides[0] = usize::MAX;
    assert!(refused(&planned).starts_with("no buffer is of"));
}

/// What a kernel leaves in its working space is no value.
#[test]
fn values_in_working_space() {
    let mut planned = valid();
    let scratch = add_scratch(&mut planned, 0);
    assert_eq!(verify(&planned), Ok(()));
    planned.tensors[scratch].last = 2;
    planned.steps[1].inputs[0] = scratch;
    assert_eq!(refused(&planned), "step 1 takes working space for a value or a value for working space");
    // An output that is nothing but working space.
    let mut planned = valid();
    let y = position(&planned, "y");
    planned.steps[1].outputs = vec![add_scratch(&mut planned, 1)];
    planned.steps[1].scratch = vec![y];
    assert_eq!(refused(&planned), "step 1 takes working space for a value or a value for working space");
}

#[test]
fn values_that_look_at_working_space() {
    let mut planned = valid();
    let scratch = add_scratch(&mut planned, 0);
    let place = planned.tensors[scratch].view;
    let (t, y) = (position(&planned, "t"), position(&planned, "y"));
    planned.tensors[t].view.offset = place.offset;
    planned.tensors[t].storage = Storage::View(scratch);
    planned.tensors[t].first = 0;
    planned.tensors[y].first = 0;
    assert!(refused(&planned).contains("working space"));
}

/// Kernels are handed the first piece alone.
#[test]
fn working_space_in_pieces() {
    let mut planned = valid();
    add_scratch(&mut planned, 0);
    add_scratch(&mut planned, 0);
    assert_eq!(refused(&planned), "step 0 (`relu`) has its working space in pieces");
}

#[test]
fn operands_that_the_operator_does_not_have() {
    for given in [0, 1, 3] {
        let mut planned = valid();
        planned.steps[1].inputs = vec![position(&planned, "a"); given];
        assert_eq!(refused(&planned), format!("step 1 (`add`) has {given} operands"));
    }
    let mut planned = valid();
    planned.steps[0].op =
        Rc::new(Fill { dims: [4, 4, 1, 1, 1, 1].map(Dim::new), rank: 2, value: 0.0, dtype: DType::F32 });
    assert_eq!(refused(&planned), "step 0 (`fill`) has 1 operands");
}

/// The stages' operands come after the base's, of which there are as many as the base takes.
#[test]
fn stages_that_do_not_add_up() {
    for (operands, inputs) in [(0, 2), (1, 2), (3, 3), (usize::MAX, 3), (2, 2), (2, 4)] {
        let mut planned = valid();
        planned.steps[1].op = Rc::new(Fused::new(Rc::new(MatMul {}), operands, Rc::new(Add {}), 0));
        planned.steps[1].inputs = vec![position(&planned, "a"); inputs];
        assert_eq!(refused(&planned), format!("step 1 (`matmul + add`) has {inputs} operands"));
    }
    let mut planned = valid();
    planned.steps[1].op = Rc::new(Fused::new(Rc::new(MatMul {}), 2, Rc::new(Relu {}), 1));
    assert!(refused(&planned).ends_with("operands"), "there is no second operand of `relu`");
}

/// No call has these settings, and whoever builds an operator by hand can.
#[test]
fn settings_of_no_call() {
    let text = "\
model Hostile
  %0 x: input f32[1x0x4x4]
  %1 w: weight f32[0x0x1x1]
  %2 c: weight f32[4]
  %3 y: output f32[1x0x4x4] = conv2d(%0, %1)
  %4 z: output f32[1x0x4x4] = batch_norm(%0, %2, %2, %2, %2, axis = 3)
";
    let planned = plan(&Graph::parse(text).unwrap(), &Options::default()).unwrap();
    let conv = Conv2d { stride: [1; 2], padding: [0; 4], dilation: [1; 2], groups: 1, channels_last: false };
    for op in [Conv2d { groups: 0, ..conv }, Conv2d { stride: [0; 2], ..conv }] {
        let mut planned = planned.clone();
        planned.steps[0].op = Rc::new(op);
        assert!(refused(&planned).starts_with("step 0 (`conv2d`) does not take its operands"));
    }
    let mut planned = planned;
    planned.steps[1].op = Rc::new(BatchNorm { axis: 4, eps: 0.0 });
    assert!(refused(&planned).starts_with("step 1 (`batch_norm`) does not take its operands"));
}
