//! DD: extents that are known only where the program runs.

use model_graph::{Cpu, CpuBuffer, ErrorKind, HostBuffer, Poison, cpu::OwnedBytes, model_graph};

/// Attention-like, for as many rows as there are.
#[model_graph(dims(N <= 512))]
struct Batch {
    #[input]
    x: Tensor<f32, N, 3>,
    #[node(exp(x))]
    e: _,
    #[node(e - x)]
    d: _,
    #[output(concat(d * e, softmax(e, axis = 0), axis = 0))]
    y: Tensor<f32, { 2 * N }, 3>,
}

/// What a model for that many rows gives.
fn rows(n: usize, value: impl Fn(usize) -> f32) -> Vec<f32> {
    let x: Vec<f32> = (0..3 * n).map(value).collect();
    let mut y: Vec<f32> = x.iter().map(|x| (x.exp() - x) * x.exp()).collect();
    let column = |column: usize| (0..n).map(move |row| 3 * row + column);
    let largest: Vec<f32> = (0..3).map(|at| column(at).map(|at| x[at].exp()).fold(f32::MIN, f32::max)).collect();
    let weight = |at: usize| (x[at].exp() - largest[at % 3]).exp();
    let sums: Vec<f32> = (0..3).map(|at| column(at).map(weight).sum()).collect();
    y.extend((0..3 * n).map(|at| weight(at) / sums[at % 3]));
    y
}

#[test]
fn dd_1_smaller_values_run_in_the_same_places() {
    let mut model = Batch::new(&Cpu).unwrap();
    let value = |at: usize| (at % 7) as f32 * 0.25 - 1.0;
    for n in [512, 129, 128, 127, 1, 512] {
        let x: Vec<f32> = (0..3 * n).map(value).collect();
        model.x_mut().write(&x, [n, 3]).unwrap();
        let mut places = Vec::new();
        let look = |moment: &model_graph::Moment<'_>| {
            places.extend(moment.live().map(|live| (live.info.name, live.info.view.offset, live.view.offset)));
        };
        let outputs = model.forward_with(&mut model_graph::Observer(look)).unwrap();
        assert_eq!(outputs.y().shape(), [2 * n, 3]);
        let close = outputs.y().iter().zip(rows(n, value)).all(|(a, b)| (a - b).abs() <= 1e-5 * b.abs().max(1e-3));
        assert!(close, "N = {n}");
        // Storages stay where they are; what moves is a part, which follows the one before it.
        assert!(places.iter().all(|(name, bound, now)| bound == now || name.starts_with("y.")), "{places:?}");
    }
}

#[model_graph(dims(R <= 3, HALF <= 2))]
struct Bounded {
    #[input]
    x: Tensor<f32, R, { 2 * HALF }>,
    #[output(x + 1)]
    y: _,
}

#[test]
fn dd_2_each_extent_is_held_against_its_own_bound() {
    let mut model = Bounded::new(&Cpu).unwrap();
    // Twelve elements do fit, and are refused all the same.
    let error = model.x_mut().write(&[0.0; 12], [2, 6]).unwrap_err();
    let kind = ErrorKind::Extents { input: "x", axis: 1, given: 6, least: 2, most: 4, step: 2 };
    assert_eq!((error.kind(), model.forward().is_err()), (&kind, true));
    assert_eq!(error.to_string(), "dimension 1 of input `x` is 6 and has to be from 2 to 4 in steps of 2");
    let error = model.x_mut().write(&[0.0; 9], [3, 3]).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Extents { input: "x", axis: 1, given: 3, least: 2, most: 4, step: 2 });
    for dims in [[0, 2], [4, 2], [usize::MAX, 2], [1, 0], [1, usize::MAX - 1]] {
        assert!(matches!(model.x_mut().write(&[], dims).unwrap_err().kind(), ErrorKind::Extents { .. }), "{dims:?}");
    }
    let error = model.x_mut().write(&[0.0; 5], [3, 2]).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Length { expected: 6, given: 5 });
    model.x_mut().write(&[1.0; 6], [3, 2]).unwrap();
    assert_eq!(model.forward().unwrap().y()[..], [2.0; 6]);
}

#[model_graph(dims(N <= 4))]
struct Mean {
    #[input]
    x: Tensor<f32, N>,
    #[output(mean(x))]
    m: Tensor<f32>,
    #[output(relu(x))]
    y: _,
}

#[test]
fn dd_4_nothing_beyond_the_value_is_read() {
    let mut model = Mean::new(&Cpu).unwrap();
    model.x_mut().write(&[f32::NAN; 4]).unwrap();
    assert!(model.forward().unwrap().m().is_nan());
    for hook in [Some(Poison::default()), None] {
        model.x_mut().write(&[2.0, 4.0]).unwrap();
        let outputs = match hook {
            Some(mut hook) => model.forward_with(&mut hook).unwrap(),
            None => model.forward().unwrap(),
        };
        assert_eq!((*outputs.m(), &outputs.y()[..], outputs.y().shape()), (3.0, &[2.0, 4.0][..], [2]));
    }
    // Bytes behind the value are overwritten before the first step.
    model.x_mut().write(&[1.0; 4]).unwrap();
    let _ = model.forward().unwrap();
    model.x_mut().write(&[5.0]).unwrap();
    let _ = model.forward_with(&mut Poison { byte: 0x7f }).unwrap();
    let offset = Mean::PLAN.tensors.iter().find(|tensor| tensor.name == "x").unwrap().view.offset;
    let buffer: CpuBuffer<OwnedBytes> = model.into_buffer();
    assert_eq!(buffer.bytes()[offset + 4..offset + 16], [0x7f; 12]);
}

#[model_graph(dims(N <= 32))]
struct Prefill {
    #[input]
    x: Tensor<f32, N, 3>,
    #[output(copy(x))]
    y: _,
}

#[test]
fn dd_5_outputs_have_the_extents_of_their_own_run() {
    let mut model = Prefill::new(&Cpu).unwrap();
    for n in [32, 1, 32] {
        let x: Vec<f32> = (0..3 * n).map(|at| (at + n) as f32).collect();
        model.x_mut().write(&x, [n, 3]).unwrap();
        let outputs = model.forward().unwrap();
        assert_eq!((outputs.y().shape(), &outputs.y()[..]), ([n, 3], &x[..]));
    }
}

/// The values of an open dim start at 1, and what follows from it may be empty.
#[model_graph(dims(N <= 4))]
struct Empty {
    #[input]
    x: Tensor<f32, N>,
    #[input]
    scalar: Tensor<f32>,
    #[output(x[1..] * x[..{ N - 1 }])]
    rest: _,
    #[output(sum(x[1..]) + scalar)]
    s: Tensor<f32>,
}

#[test]
fn dd_6_extents_of_0_run_and_have_an_aligned_place() {
    let mut model = Empty::new(&Cpu).unwrap();
    model.scalar_mut().write(&2.0).unwrap();
    model.x_mut().write(&[7.0]).unwrap();
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    assert_eq!((outputs.rest().shape(), outputs.rest().as_slice(), *outputs.s()), ([0], &[][..], 2.0));
    assert!(outputs.rest().as_slice().as_ptr().is_aligned());
    let error = model.x_mut().write(&[]).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Extents { input: "x", axis: 0, given: 0, least: 1, most: 4, step: 1 });
}

/// A cache that each forward appends as many rows to as it is given, and attends to.
#[model_graph(dims(N <= 16))]
struct Cached {
    #[input]
    x: Tensor<f32, N, 4>,
    #[input]
    past: Tensor<u32>,
    #[state]
    cache: Tensor<f32, 32, 4>,
    #[node(write(cache, src = x, at = past))]
    known: _,
    #[output(attention(x, known, known, past = past, causal = true))]
    y: Tensor<f32, N, 4>,
}

#[test]
fn st_6_a_result_does_not_depend_on_how_long_the_runs_before_it_were() {
    let rows: Vec<f32> = (0..4 * 20).map(|at| ((at * 37) % 23) as f32 / 8.0 - 1.0).collect();
    let mut outcomes = Vec::new();
    for lengths in [&[16, 3, 1][..], &[1, 16, 3], &[7, 7, 5, 1], &[1; 20]] {
        let mut model = Cached::new(&Cpu).unwrap();
        let (mut past, mut y) = (0, Vec::new());
        for length in lengths {
            model.x_mut().write(&rows[4 * past..4 * (past + length)], [*length, 4]).unwrap();
            model.past_mut().set(past as u32).unwrap();
            y.extend(model.forward_with(&mut Poison::default()).unwrap().y().iter().map(|value| value.to_bits()));
            past += length;
        }
        outcomes.push(y);
    }
    let close = |a: &[u32], b: &[u32]| {
        let pairs = a.iter().zip(b).map(|(a, b)| (f32::from_bits(*a), f32::from_bits(*b)));
        a.len() == b.len() && pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-5)
    };
    assert!(outcomes.iter().all(|outcome| close(outcome, &outcomes[0])), "{outcomes:?}");
}
