//! Rows put by indices, against a loop over all updates in `f64` or exact integers.

use model_graph::op;
use model_graph::{DType, ErrorKind};
use proptest::prelude::*;

use crate::harness::{Layout, Tensor, extents, indices};
use crate::typed::*;

/// What is left of an element after all its updates: floats in `f64`, integers modulo 2⁶⁴.
fn join(dtype: DType, reduce: usize, old: f64, updates: &[f64]) -> f64 {
    if dtype.range().is_some() {
        let step = |old: i128, new: &f64| match (reduce, *new as i128) {
            (0, new) => new,
            (1, new) => (old + new) as i64 as i128,
            (2, new) => (old * new) as i64 as i128,
            (3, new) => old.max(new),
            (_, new) => old.min(new),
        };
        return wrap(dtype, updates.iter().fold(old as i128, step));
    }
    updates.iter().fold(old, |old, new| match reduce {
        0 => *new,
        1 => old + new,
        2 => old * new,
        _ if old.is_nan() || new.is_nan() => f64::NAN,
        3 => old.max(*new),
        _ => old.min(*new),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rows_by_indices(dims in extents(1..=3), axis in 0..3usize, count in extents(0..=2), seed: u64) {
        let axis = axis % dims.len();
        let empty = dims[axis] == 0 && count.iter().product::<usize>() > 0;
        let shape = [&dims[..axis], &count, &dims[axis + 1..]].concat();
        for (dtype, index) in PLAIN.into_iter().zip([DType::I32, DType::U32, DType::I64].into_iter().cycle()) {
            let index = draw_indices(index, &count, dims[axis], seed);
            for reduce in 0..5 {
                if reduce > 0 && (dtype == DType::Bool || dtype.is_half()) {
                    continue;
                }
                let mut sides = [
                    draw(dtype, &dims, Layout::packed(), seed),
                    draw(dtype, &shape, Layout::packed(), seed ^ 5),
                ];
                if reduce == 1 {
                    // Sums of whole numbers have no error that the largest of them would decide.
                    sides.iter_mut().for_each(|side| side.values.iter_mut().for_each(|value| *value = value.round()));
                }
                let [x, updates] = sides;
                let op = op::Scatter { axis, reduce };
                let y = (dtype, &dims[..], &Layout::packed());
                if empty {
                    let error = run(op, &[x, index.clone(), updates], y, 0xff, None).unwrap_err();
                    let is_range = matches!(error.kind(), ErrorKind::IndexOutOfRange { op: "scatter", extent: 0, .. });
                    prop_assert!(is_range);
                    continue;
                }
                check(op, &[x, index.clone(), updates], y, |x: &[Tensor], at| {
                    let row = |given: f64| if given < 0.0 { given + dims[axis] as f64 } else { given };
                    let here = indices(&count).into_iter().filter(|update| row(x[1].at(update)) == at[axis] as f64);
                    let of = |update: Vec<usize>| x[2].at(&[&at[..axis], &update[..], &at[axis + 1..]].concat());
                    join(dtype, reduce, x[0].at(at), &here.map(of).collect::<Vec<f64>>())
                });
            }
        }
    }
}

/// An index that is not there is an error before anything is written, in place too.
#[test]
fn an_index_that_is_out_of_range() {
    let x = typed(DType::F32, &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let updates = typed(DType::F32, &[2, 2], &[7.0, 8.0, 9.0, 10.0]);
    for (dtype, at, wrong) in [(DType::I64, [0.0, 3.0], 3), (DType::I32, [-1.0, -4.0], -4), (DType::U32, [2.0, 9.0], 9)]
    {
        let all = [x.clone(), typed(dtype, &[2], &at), updates.clone()];
        for in_place in [None, Some(0)] {
            let y = (DType::F32, &[3, 2][..], &Layout::packed());
            // `run` also sees that no byte was changed.
            let error = run(op::Scatter { axis: 0, reduce: 0 }, &all, y, 0xff, in_place).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::IndexOutOfRange { op: "scatter", index: wrong, extent: 3 });
        }
    }
}

/// Of several updates of one row the last stays, and sums have all of them.
#[test]
fn rows_that_are_updated_twice() {
    let all = [
        typed(DType::I32, &[3], &[1.0, 2.0, 3.0]),
        typed(DType::I32, &[3], &[1.0, -2.0, 0.0]),
        typed(DType::I32, &[3], &[10.0, 20.0, 30.0]),
    ];
    for (reduce, wanted) in [(0, [30.0, 20.0, 3.0]), (1, [31.0, 32.0, 3.0]), (2, [30.0, 400.0, 3.0])] {
        let y = (DType::I32, &[3][..], &Layout::packed());
        assert_eq!(run(op::Scatter { axis: 0, reduce }, &all, y, 0xff, None).unwrap(), wanted);
    }
}
