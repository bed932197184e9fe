//! Tensors with the names that generated code likes for its own variables.

use ::core::prelude::v1::test;
use ::core::{assert_eq, iter::Iterator};
use ::model_graph::{Cpu, Plan, model_graph};

/// Each field has a name of a variable, a type or a function.
#[model_graph]
struct Odd {
    #[input]
    buffer: Tensor<f32, 2, 3>,
    #[input(keep)]
    inputs: Tensor<f32, 2, 3>,
    #[weight]
    n: Tensor<f32, 3>,
    #[weight]
    f32: Tensor<f32, 3>,
    #[weight]
    source: Tensor<f32, 3>,
    #[constant([1.0, 2.0, 3.0])]
    memory: Tensor<f32, 3>,
    #[constant(fill = self::hook)]
    hook: Tensor<f32, 3>,
    #[allow(non_snake_case, reason = "it is the name that is to be tried")]
    #[node(buffer * n + f32)]
    Vec: _,
    #[node(relu(Vec) * memory)]
    #[keep]
    index: _,
    #[node(inputs - index)]
    values: _,
    #[node(values * hook)]
    context: _,
    #[node(context + source)]
    pos: _,
    #[node(pos * pos)]
    self_: _,
    #[node(tanh(self_))]
    len: _,
    #[node(len + 1)]
    offset: _,
    #[node(offset * 0.5)]
    ptr: _,
    #[node(-ptr)]
    arena: _,
    #[output(softmax(arena))]
    out: _,
    #[output(sum(arena))]
    model: _,
}

/// The same under names that mean nothing.
#[model_graph]
struct Neutral {
    #[input]
    t0: Tensor<f32, 2, 3>,
    #[input(keep)]
    t1: Tensor<f32, 2, 3>,
    #[weight]
    t2: Tensor<f32, 3>,
    #[weight]
    t3: Tensor<f32, 3>,
    #[weight]
    t4: Tensor<f32, 3>,
    #[constant([1.0, 2.0, 3.0])]
    t5: Tensor<f32, 3>,
    #[constant(fill = hook)]
    t6: Tensor<f32, 3>,
    #[node(t0 * t2 + t3)]
    t7: _,
    #[node(relu(t7) * t5)]
    #[keep]
    t8: _,
    #[node(t1 - t8)]
    t9: _,
    #[node(t9 * t6)]
    t10: _,
    #[node(t10 + t4)]
    t11: _,
    #[node(t11 * t11)]
    t12: _,
    #[node(tanh(t12))]
    t13: _,
    #[node(t13 + 1)]
    t14: _,
    #[node(t14 * 0.5)]
    t15: _,
    #[node(-t15)]
    t16: _,
    #[output(softmax(t16))]
    t17: _,
    #[output(sum(t16))]
    t18: _,
}

fn hook(out: &mut [::core::primitive::f32; 3]) {
    *out = [0.5, 0.25, 0.125];
}

/// Everything of a plan but the names.
fn assert_same(left: &Plan<'_>, right: &Plan<'_>) {
    assert_eq!((left.size, left.align, left.lower_bound), (right.size, right.align, right.lower_bound));
    assert_eq!(left.tensors.len(), right.tensors.len());
    for (left, right) in left.tensors.iter().zip(right.tensors) {
        assert_eq!(
            (left.view, left.role, left.storage, left.first, left.last),
            (right.view, right.role, right.storage, right.first, right.last),
            "{} and {}",
            left.name,
            right.name
        );
    }
    for (left, right) in left.steps.iter().zip(right.steps) {
        assert_eq!(
            (left.op, left.inputs, left.outputs, left.scratch),
            (right.op, right.inputs, right.outputs, right.scratch)
        );
    }
}

#[test]
fn md_3_names_change_neither_plan_nor_result() {
    assert_same(&Odd::PLAN, &Neutral::PLAN);

    let mut odd = Odd::new(&Cpu).unwrap();
    let mut neutral = Neutral::new(&Cpu).unwrap();
    let (first, second) = ([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]);
    *odd.buffer_mut() = first;
    *neutral.t0_mut() = first;
    *odd.inputs_mut() = second;
    *neutral.t1_mut() = second;
    let weights = [[1.0, 2.0, 3.0], [0.3, 0.2, 0.1], [-1.0, 0.0, 1.0]];
    (*odd.n_mut(), *odd.f32_mut(), *odd.source_mut()) = (weights[0], weights[1], weights[2]);
    (*neutral.t2_mut(), *neutral.t3_mut(), *neutral.t4_mut()) = (weights[0], weights[1], weights[2]);

    let odd = odd.forward().unwrap();
    let neutral = neutral.forward().unwrap();
    assert_eq!(*odd.out(), *neutral.t17());
    assert_eq!(*odd.model(), *neutral.t18());
    assert_eq!(*odd.index(), *neutral.t8());
    assert_eq!(*odd.inputs(), second);
    assert_eq!((*odd.memory(), *odd.hook()), ([1.0, 2.0, 3.0], [0.5, 0.25, 0.125]));
    // By hand: relu(1 * 1 + 0.3) * 1 is kept.
    assert_eq!(odd.index()[0][0], 1.0 * 1.0 + 0.3);
}

/// States among names that the emitted code and the language have for what is done with them.
#[model_graph]
struct Stateful {
    #[input]
    src: Tensor<f32, 1>,
    #[input]
    at: Tensor<u32>,
    #[state]
    state: Tensor<f32, 2>,
    #[node(write(state, src = src, at = at))]
    write: _,
    #[state]
    torn: Tensor<f32, 2>,
    #[node(write(torn, src = write, axis = 0, at = 0))]
    tear: _,
    #[output(tear + state)]
    result: _,
}

#[test]
fn states_of_any_name() {
    let mut model = ::core::result::Result::unwrap(Stateful::new(&Cpu));
    ::core::result::Result::unwrap(model.src_mut().set([3.0]));
    ::core::result::Result::unwrap(model.at_mut().set(1));
    assert_eq!(*::core::result::Result::unwrap(model.forward()).result(), [0.0, 6.0]);
    ::core::result::Result::unwrap(model.reset_state_of("torn"));
    assert_eq!((*model.state(), *model.torn()), ([0.0, 3.0], [0.0, 0.0]));
}
