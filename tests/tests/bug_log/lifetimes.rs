//! LO: inputs and outputs over several runs.

use model_graph::{Cpu, ErrorKind, model_graph};

use super::{overlap, tensor};

/// An input that stays.
#[model_graph]
struct Kept {
    #[input(keep)]
    x: Tensor<f32, 3>,
    #[node(relu(x))]
    t: _,
    #[node(t * 2)]
    u: _,
    #[output(sum(u))]
    y: _,
}

/// The same with an input that does not.
#[model_graph]
struct Taken {
    #[input]
    x: Tensor<f32, 3>,
    #[output(sum(relu(x) * 2))]
    y: _,
}

#[test]
fn lo_1_a_kept_input_stays_and_another_has_to_be_written_again() {
    let mut model = Kept::new(&Cpu).unwrap();
    assert_eq!(*model.forward().err().unwrap().kind(), ErrorKind::InputNotSet { input: "x" });
    model.x_mut().write(&[1.0, 2.0, 3.0]).unwrap();
    for _ in 0..3 {
        assert_eq!(*model.forward().unwrap().y(), 12.0);
        assert_eq!(*model.x(), [1.0, 2.0, 3.0]);
    }

    let mut model = Taken::new(&Cpu).unwrap();
    model.x_mut().write(&[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(*model.forward().unwrap().y(), 12.0);
    assert_eq!(*model.forward().err().unwrap().kind(), ErrorKind::InputNotSet { input: "x" });
    // What is handed out to be written is zero and none of the bytes that others left there.
    assert_eq!(*model.x_mut(), [0.0; 3]);
    model.x_mut().write(&[1.0, 1.0, 1.0]).unwrap();
    assert_eq!(*model.forward().unwrap().y(), 6.0);
}

/// A chain in which one link is to be looked at.
#[model_graph]
struct Inspected {
    #[input]
    a: Tensor<f32, 2>,
    #[keep]
    #[node(a + 1)]
    b: _,
    #[node(b * 10)]
    c: _,
    #[output(c + 1)]
    d: _,
}

#[test]
fn lo_6_a_kept_node_has_bytes_of_its_own() {
    let plan = &Inspected::PLAN;
    assert!(["a", "c", "d"].iter().all(|other| !overlap(tensor(plan, "b"), tensor(plan, other))));
    let mut model = Inspected::new(&Cpu).unwrap();
    model.a_mut().write(&[1.0, 2.0]).unwrap();
    assert_eq!(*model.forward().unwrap().d(), [21.0, 31.0]);
    model.a_mut().write(&[7.0, 7.0]).unwrap();
    assert_eq!(*model.b(), [2.0, 3.0], "writing the next input leaves it alone");
}

/// An input that nothing reads.
#[model_graph]
struct Unread {
    #[input]
    x: Tensor<f32, 2>,
    #[allow(unused)]
    #[input]
    unused: Tensor<f32, 2>,
    #[output(x + 1)]
    y: _,
}

#[test]
fn lo_7_an_input_that_nothing_reads_can_be_written() {
    let mut model = Unread::new(&Cpu).unwrap();
    model.x_mut().write(&[1.0, 2.0]).unwrap();
    model.unused_mut().write(&[8.0, 9.0]).unwrap();
    assert_eq!(*model.forward().unwrap().y(), [2.0, 3.0]);
}
