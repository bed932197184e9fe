//! ST: what stays from one forward to the next.

use model_graph::{Cpu, ErrorKind, Poison, SavedFault, model_graph};

use super::{overlap, tensor, transient};

#[model_graph]
struct Counter {
    #[input(keep)]
    x: Tensor<f32>,
    #[weight]
    w: Tensor<f32>,
    #[state]
    s1: Tensor<f32>,
    #[state]
    s2: Tensor<f32>,
    #[output(write(s1, s1 + x * w))]
    y1: _,
    #[output(write(s2, s2 + x * w))]
    y2: _,
}

fn counter() -> Counter {
    let mut model = Counter::new(&Cpu).unwrap();
    *model.x_mut() = 1.0;
    *model.w_mut() = 1.0;
    model
}

fn step(model: &mut Counter) -> (f32, f32) {
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    (*outputs.y1(), *outputs.y2())
}

#[test]
fn st_1_a_state_is_what_the_forward_before_left() {
    let mut model = counter();
    assert_eq!([(); 3].map(|()| step(&mut model).0), [1.0, 2.0, 3.0]);
}

#[test]
fn st_2_all_states_are_reset_or_one() {
    let mut model = counter();
    assert_eq!([step(&mut model), step(&mut model)], [(1.0, 1.0), (2.0, 2.0)]);
    model.reset_state().unwrap();
    assert_eq!(step(&mut model), (1.0, 1.0));
    model.reset_state_of("s1").unwrap();
    // Weights and inputs are what they were.
    assert_eq!(step(&mut model), (1.0, 2.0));
}

#[model_graph]
struct Ring {
    #[input]
    x: Tensor<f32, 1>,
    #[input]
    slot: Tensor<u32>,
    #[state]
    s: Tensor<f32, 3>,
    #[output(write(s, src = x, at = slot))]
    y: _,
}

fn put(model: &mut Ring, slot: u32, x: f32) -> [f32; 3] {
    model.x_mut().set([x]).unwrap();
    model.slot_mut().set(slot).unwrap();
    *model.forward_with(&mut Poison::default()).unwrap().y()
}

#[test]
fn st_3_an_output_that_is_a_state_has_its_bytes() {
    let mut model = Ring::new(&Cpu).unwrap();
    put(&mut model, 0, 5.0);
    assert_eq!(put(&mut model, 1, 6.0), [5.0, 6.0, 0.0]);
    let (s, y) = (tensor(&Ring::PLAN, "s"), tensor(&Ring::PLAN, "y"));
    assert_eq!(s.view, y.view);
    let others = Ring::PLAN.tensors.iter().filter(|tensor| ["x", "slot"].contains(&tensor.name));
    others.for_each(|other| assert!(!overlap(s, other)));
    assert_eq!(transient(&Ring::PLAN), 64 + 64 + 4 - 12, "the inputs and what aligns them");
}

#[test]
fn st_4_a_position_is_no_part_of_the_plan() {
    let mut model = Ring::new(&Cpu).unwrap();
    put(&mut model, 0, 1.0);
    put(&mut model, 1, 10.0);
    assert_eq!(put(&mut model, 0, 2.0), [2.0, 10.0, 0.0]);
}

#[test]
fn st_5_what_was_never_written_is_zero() {
    let memory = &mut [0xff; 4096][..];
    let start = memory.as_ptr().align_offset(Ring::PLAN.align);
    let mut model = Ring::new_in(&mut memory[start..]).unwrap();
    model.x_mut().set([1.0]).unwrap();
    model.slot_mut().set(1).unwrap();
    assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().y(), [0.0, 1.0, 0.0]);
}

#[test]
fn st_7_a_saved_state_that_lies_changes_nothing() {
    let mut model = Ring::new(&Cpu).unwrap();
    put(&mut model, 0, 1.0);
    put(&mut model, 1, 2.0);
    let mut saved = [0; Ring::STATE_SIZE];
    model.save_state(&mut saved).unwrap();
    let error = model.restore_state(&saved[..Ring::STATE_SIZE - 8]).unwrap_err();
    let fault = SavedFault::Length { expected: Ring::STATE_SIZE, given: Ring::STATE_SIZE - 8 };
    assert_eq!(*error.kind(), ErrorKind::Saved(fault));
    assert_eq!(*model.s(), [1.0, 2.0, 0.0]);
    assert_eq!(put(&mut model, 2, 3.0), [1.0, 2.0, 3.0]);
}

#[model_graph]
struct Shifted {
    #[input]
    x: Tensor<f32, 4>,
    #[state]
    b: Tensor<f32, 4>,
    #[node(write(b, x + 1))]
    filled: _,
    #[output(write(filled, src = b[0..3], at = 1))]
    y: _,
    #[state]
    c: Tensor<f32, 4>,
    #[node(write(c, x + 1))]
    made: _,
    #[output(write(made, src = made[0..3], at = 1))]
    shifted: _,
}

#[test]
fn ip_1_a_shifted_slice_of_a_state_is_written_as_a_copy_would_be() {
    let mut model = Shifted::new(&Cpu).unwrap();
    for round in 0..2 {
        model.x_mut().write(&[0.0, 1.0, 2.0, 3.0]).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        assert_eq!(*outputs.shifted(), [1.0, 1.0, 2.0, 3.0]);
        // The other is shifted by what stood before its field.
        assert_eq!(*outputs.y(), [1.0, 1.0, 2.0, 3.0], "round {round}");
    }
}

#[model_graph]
struct Rows {
    #[input]
    x: Tensor<f32, 1, 3>,
    #[state]
    h: Tensor<f32, 2, 3>,
    /// Nobody reads what it gives by its name.
    #[node(write(h, src = x, at = 0))]
    written: _,
    #[output(sum(h))]
    y: Tensor<f32>,
}

#[test]
fn vw_1_who_reads_a_state_after_a_row_was_written_sees_it() {
    let mut model = Rows::new(&Cpu).unwrap();
    model.x_mut().write(&[[1.0, 2.0, 3.0]]).unwrap();
    assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().y(), 6.0);
}

/// What one model leaves for another: the second has it as a state, which its forwards read and do not touch.
#[model_graph]
struct Encoder {
    #[input]
    x: Tensor<f32, 4>,
    #[output(x + 1)]
    e: _,
}

#[model_graph]
struct Decoder {
    #[input]
    y: Tensor<f32, 4>,
    #[state]
    #[allow(unused)]
    e: Tensor<f32, 4>,
    #[node(reshape(e, shape = [2, 2]))]
    first: _,
    #[node(y * 100)]
    t: _,
    #[output(flatten(first, start = 0) + t)]
    z: _,
}

#[test]
fn lo_3_what_one_forward_leaves_for_another_is_there() {
    let mut encoder = Encoder::new(&Cpu).unwrap();
    encoder.x_mut().write(&[1.0; 4]).unwrap();
    let mut decoder = Decoder::new(&Cpu).unwrap();
    *decoder.e_mut() = *encoder.forward().unwrap().e();
    for (y, z) in [(1.0, 102.0), (2.0, 202.0)] {
        decoder.y_mut().write(&[y; 4]).unwrap();
        assert_eq!(*decoder.forward_with(&mut Poison::default()).unwrap().z(), [z; 4]);
    }
    let e = tensor(&Decoder::PLAN, "e");
    for other in ["y", "t", "z"] {
        assert!(!overlap(e, tensor(&Decoder::PLAN, other)), "{other}");
    }
}
