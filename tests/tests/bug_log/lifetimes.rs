//! LO: inputs and outputs over several runs.

use model_graph::{Cpu, ErrorKind, Poison, model_graph};

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

/// Twice its input, by way of a tensor of its own.
#[model_graph]
struct Twice {
    #[input]
    z: Tensor<f32, 2>,
    #[node(z * 3)]
    inner: _,
    #[output(inner - z)]
    y: _,
}

/// A block of two uses of another.
#[model_graph]
struct Nested {
    #[input]
    z: Tensor<f32, 2>,
    #[node(Twice(z))]
    once: _,
    #[node(Twice(once))]
    again: _,
    #[output(once + again)]
    y: _,
}

/// Both, each used twice, with the first result still to be read behind the second use.
#[model_graph]
struct Calls {
    #[input]
    x: Tensor<f32, 2>,
    #[node(Twice(x))]
    r1: _,
    #[node(Twice(r1))]
    r2: _,
    #[output(r1 + r2)]
    y: _,
    #[node(Nested(x))]
    n1: _,
    #[node(Nested(n1))]
    n2: _,
    #[output(n1 + n2)]
    z: _,
}

#[test]
fn lo_5_uses_of_a_block_keep_their_results_apart() {
    let plan = &Calls::PLAN;
    for (result, other) in
        [("r1", "r2.inner"), ("r1", "r2"), ("n1.once", "n1.again.inner"), ("n1", "n2.again.inner"), ("n1", "n2")]
    {
        assert!(!overlap(tensor(plan, result), tensor(plan, other)), "{result} {other}\n{plan}");
    }
    let mut model = Calls::new(&Cpu).unwrap();
    for x in [1.0, 5.0] {
        model.x_mut().write(&[x, x]).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        assert_eq!((*outputs.y(), *outputs.z()), ([6.0 * x; 2], [42.0 * x; 2]));
    }
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
