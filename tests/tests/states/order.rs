//! Which version of a state a field reads: what stands before the write the old one, what stands after it the new one.

use model_graph::{Cpu, Poison, model_graph};

use super::steps;

#[model_graph]
struct Versions {
    #[input]
    x: Tensor<f32, 2>,
    #[state]
    s: Tensor<f32, 2>,
    #[output(s + 0)]
    before: _,
    #[node(write(s, src = x[0..1], at = 0))]
    first: _,
    #[output(s * 1)]
    between: _,
    #[node(write(first, src = x[1..2], at = 1))]
    second: _,
    #[output(s + first * 10)]
    after: _,
}

#[test]
fn the_order_of_fields_says_what_is_read() {
    let mut model = Versions::new(&Cpu).unwrap();
    for round in 0..3 {
        model.x_mut().write(&[1.0 + round as f32, 5.0]).unwrap();
        let old = if round == 0 { [0.0, 0.0] } else { [round as f32, 5.0] };
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        let first = [1.0 + round as f32, old[1]];
        let second = [first[0], 5.0];
        assert_eq!(*outputs.before(), old);
        assert_eq!(*outputs.between(), first);
        assert_eq!(*outputs.after(), [second[0] + 10.0 * first[0], second[1] + 10.0 * first[1]]);
        assert_eq!(*outputs.s(), second);
    }
}

/// Fields stand in any order, and what is read of the old version runs before the write all the same.
#[model_graph]
struct Backwards {
    #[output(twice + 1)]
    y: _,
    #[output(s - x)]
    old: _,
    #[node(next * 2)]
    twice: _,
    #[node(write(s, s + x))]
    next: _,
    #[state]
    s: Tensor<f32, 2>,
    #[input]
    x: Tensor<f32, 2>,
}

#[test]
fn what_stands_before_the_write_runs_before_it() {
    assert_eq!((steps(&Backwards::PLAN, "copy"), steps(&Backwards::PLAN, "write")), (0, 0), "{}", Backwards::PLAN);
    let mut model = Backwards::new(&Cpu).unwrap();
    for round in 0..3 {
        model.x_mut().write(&[1.0, 2.0]).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        let round = round as f32;
        assert_eq!(*outputs.old(), [round - 1.0, 2.0 * round - 2.0]);
        assert_eq!(*outputs.y(), [2.0 * round + 3.0, 4.0 * round + 5.0]);
    }
}

/// The old version is read together with what the new one gives: a copy of it is kept, and of a row only the row.
#[model_graph]
struct Both {
    #[input]
    x: Tensor<f32, 3>,
    #[state]
    s: Tensor<f32, 3>,
    #[node(s[0..1])]
    row: _,
    #[node(write(s, x))]
    next: _,
    #[output(sum(next) * row)]
    y: _,
    #[keep]
    #[node(s[1..2])]
    kept: _,
}

#[test]
fn what_is_read_of_the_old_version_after_the_write_is_copied_before() {
    let mut model = Both::new(&Cpu).unwrap();
    model.x_mut().write(&[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().y(), [0.0]);
    model.x_mut().write(&[4.0, 5.0, 6.0]).unwrap();
    assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().y(), [15.0]);
    assert_eq!(*model.kept(), [5.0]);
    model.s_mut().write(&[9.0; 3]).unwrap();
    assert_eq!(*model.kept(), [5.0], "what is kept is not the state");
    let copied: usize =
        Both::PLAN.tensors.iter().filter(|t| t.name.ends_with(".before")).map(|t| t.view.elements()).sum();
    assert_eq!(copied, 1);
}

/// An output that is a version is the state's bytes.
#[model_graph]
struct Old {
    #[input]
    x: Tensor<f32, 3>,
    #[state]
    s: Tensor<f32, 3>,
    #[output(s[..2])]
    before: _,
    #[output(write(s, x))]
    after: _,
}

#[test]
fn outputs_of_both_versions() {
    let mut model = Old::new(&Cpu).unwrap();
    let mut last = [0.0; 3];
    for round in 0..3 {
        let x = [round as f32, 2.0, 3.0];
        model.x_mut().write(&x).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        assert_eq!((*outputs.before(), *outputs.after()), ([last[0], last[1]], x));
        last = x;
    }
}

/// A state that nothing but the program reads is written all the same.
#[model_graph]
struct Log {
    #[input]
    x: Tensor<f32, 1>,
    #[input]
    at: Tensor<u32>,
    #[state]
    seen: Tensor<f32, 3>,
    #[node(write(seen, src = x * 2, at = at))]
    logged: _,
    #[output(x + 1)]
    y: _,
}

#[test]
fn a_write_is_never_dropped() {
    let mut model = Log::new(&Cpu).unwrap();
    for at in 0..3 {
        model.x_mut().write(&[at as f32]).unwrap();
        model.at_mut().set(at).unwrap();
        let _ = model.forward().unwrap();
    }
    assert_eq!(*model.seen(), [0.0, 2.0, 4.0]);
}

/// Two writes in one expression, one over the other.
#[model_graph]
struct Twice {
    #[input]
    x: Tensor<f32, 1>,
    #[state]
    s: Tensor<f32, 4>,
    #[output(write(write(s, src = x, at = 0), src = s[0..2], at = 2))]
    y: _,
}

#[test]
fn writes_in_one_another_follow_one_another() {
    let mut model = Twice::new(&Cpu).unwrap();
    for (x, y) in [(1.0, [1.0, 0.0, 0.0, 0.0]), (2.0, [2.0, 0.0, 1.0, 0.0]), (3.0, [3.0, 0.0, 2.0, 0.0])] {
        model.x_mut().write(&[x]).unwrap();
        // Within one field every name is what it was before the field.
        assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().y(), y);
    }
}
