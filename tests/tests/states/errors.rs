//! Forwards that do not end: what was written is either nothing or known to be half of it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use model_graph::{Cpu, ErrorKind, Observer, model_graph};

#[model_graph]
struct Two {
    #[input]
    x: Tensor<f32, 2, 2>,
    #[input]
    at: Tensor<u32>,
    #[input]
    other: Tensor<u32>,
    #[state]
    a: Tensor<f32, 4, 2>,
    #[node(write(a, src = x, at = at))]
    next_a: _,
    #[state]
    b: Tensor<f32, 3, 2>,
    #[node(write(b, src = x, at = other))]
    next_b: _,
    #[output(sum(next_a) + sum(next_b))]
    y: _,
}

fn run(model: &mut Two, x: f32, at: u32, other: u32) -> Result<f32, model_graph::Error> {
    model.x_mut().write(&[[x; 2]; 2])?;
    model.at_mut().set(at)?;
    model.other_mut().set(other)?;
    Ok(*model.forward()?.y())
}

#[test]
fn a_position_that_does_not_fit_changes_nothing() {
    let mut model = Two::new(&Cpu).unwrap();
    assert_eq!(run(&mut model, 1.0, 0, 0).unwrap(), 8.0);
    for at in [3, 4, 1 << 20, u32::MAX] {
        let error = run(&mut model, 2.0, at, 0).unwrap_err();
        let position = at as usize;
        assert_eq!(*error.kind(), ErrorKind::Position { op: "write", position, rows: 2, extent: 4 });
        assert_eq!(
            error.to_string(),
            format!("`write` is to write 2 rows at position {at} of a state with 4; a position is at most 2")
        );
        assert_eq!(*model.a(), [[1.0; 2], [1.0; 2], [0.0; 2], [0.0; 2]]);
    }
    assert_eq!(run(&mut model, 1.0, 2, 1).unwrap(), 8.0 + 6.0);
}

#[test]
fn half_written_states_are_not_run_on() {
    let mut model = Two::new(&Cpu).unwrap();
    run(&mut model, 1.0, 0, 0).unwrap();
    let mut saved = [0; Two::STATE_SIZE];
    model.save_state(&mut saved).unwrap();
    // The first state is written, the second refuses.
    let error = run(&mut model, 2.0, 0, 2).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Position { op: "write", position: 2, rows: 2, extent: 3 });
    for _ in 0..2 {
        assert_eq!(*run(&mut model, 2.0, 0, 0).unwrap_err().kind(), ErrorKind::Torn);
    }
    assert_eq!(*model.save_state(&mut [0; Two::STATE_SIZE]).unwrap_err().kind(), ErrorKind::Torn);
    model.reset_state_of("a").unwrap();
    assert_eq!(*run(&mut model, 2.0, 0, 0).unwrap_err().kind(), ErrorKind::Torn, "one of them is not all");
    model.restore_state(&saved).unwrap();
    assert_eq!(run(&mut model, 1.0, 2, 1).unwrap(), 8.0 + 6.0);
    run(&mut model, 2.0, 0, 2).unwrap_err();
    model.reset_state().unwrap();
    assert_eq!(run(&mut model, 1.0, 0, 0).unwrap(), 8.0);
}

#[test]
fn a_panic_between_the_writes_tears_and_one_before_them_does_not() {
    let mut model = Two::new(&Cpu).unwrap();
    for (after, torn) in [(None, false), (Some(0), true)] {
        model.x_mut().write(&[[1.0; 2]; 2]).unwrap();
        model.at_mut().set(0).unwrap();
        model.other_mut().set(0).unwrap();
        let mut panics = Observer(|moment: &model_graph::Moment<'_>| assert!(moment.index() != after, "on purpose"));
        let result = catch_unwind(AssertUnwindSafe(|| model.forward_with(&mut panics).is_ok()));
        assert!(result.is_err());
        let next = run(&mut model, 1.0, 0, 0);
        assert_eq!(next.err().map(|error| error.kind().clone()), torn.then_some(ErrorKind::Torn));
        model.reset_state().unwrap();
    }
}

#[test]
fn an_input_that_is_missing_is_asked_for_before_anything_is_written() {
    let mut model = Two::new(&Cpu).unwrap();
    run(&mut model, 1.0, 0, 0).unwrap();
    assert_eq!(*model.forward().err().unwrap().kind(), ErrorKind::InputNotSet { input: "x" });
    assert_eq!(run(&mut model, 1.0, 0, 0).unwrap(), 8.0);
}

/// What the step that writes a state says decides whether the state may be half written.
mod of_one_step {
    use model_graph::cpu::{Memory, Operands, operands};
    use model_graph::{Call, Cpu, CpuBuffer, Error, ErrorKind, Kernel, model_graph, operator};

    /// Writes half of its result and then says what a refused write says.
    #[operator(fn(x: f32[N]) -> f32[N])]
    struct Half;

    impl<M: Memory> Kernel<Half> for CpuBuffer<M> {
        fn run(&mut self, call: &Call<'_, Half>) -> Result<(), Error> {
            let Operands { output, inputs: [_], .. } = operands(self, call)?;
            output.of::<f32>()?[0] = 9.0;
            Err(ErrorKind::Position { op: "Half", position: 0, rows: 1, extent: 0 }.into())
        }
    }

    #[model_graph]
    struct ByHalf {
        #[input]
        x: Tensor<f32, 2>,
        #[state]
        s: Tensor<f32, 2>,
        #[output(write(s, Half(x)))]
        y: _,
    }

    #[model_graph]
    struct ByIndex {
        #[input]
        index: Tensor<u32>,
        #[constant([[1.0, 2.0], [3.0, 4.0]])]
        table: Tensor<f32, 2, 2>,
        #[state]
        s: Tensor<f32, 2>,
        #[output(write(s, gather(table, index)))]
        y: _,
    }

    #[test]
    fn a_kernel_of_ones_own_is_not_believed_to_have_written_nothing() {
        let mut model = ByHalf::new(&Cpu).unwrap();
        for torn in [false, true] {
            model.x_mut().set([1.0; 2]).unwrap();
            let error = model.forward().err().unwrap();
            assert_eq!(*error.kind() == ErrorKind::Torn, torn, "{error}");
        }
        assert_eq!(*model.s(), [9.0, 0.0]);
    }

    #[test]
    fn an_index_that_is_not_there_leaves_the_state_as_it_was() {
        let mut model = ByIndex::new(&Cpu).unwrap();
        for (index, row) in [(1, Some([3.0, 4.0])), (2, None), (0, Some([1.0, 2.0]))] {
            model.index_mut().set(index).unwrap();
            let given = model.forward().map(|outputs| *outputs.y());
            match row {
                Some(row) => assert_eq!(given.unwrap(), row),
                None => {
                    let refused = ErrorKind::IndexOutOfRange { op: "gather", index: 2, extent: 2 };
                    assert_eq!(*given.unwrap_err().kind(), refused);
                    assert_eq!(*model.s(), [3.0, 4.0]);
                    model.save_state(&mut [0; ByIndex::STATE_SIZE]).unwrap();
                }
            }
        }
    }
}
