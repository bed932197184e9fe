//! What moves elements and does not look at them, and what looks them up, on every element type.

use model_graph::op;
use model_graph::{DType, ErrorKind};
use proptest::prelude::*;

use crate::dtypes::stretched;
use crate::harness::{Layout, extents, layout};
use crate::typed::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn lookups(dims in extents(1..=3), axis in 0..3usize, count in extents(0..=2), x in layout(true), seed: u64) {
        let axis = axis % dims.len();
        let empty = dims[axis] == 0 && count.iter().product::<usize>() > 0;
        let shape = [&dims[..axis], &count, &dims[axis + 1..]].concat();
        for (dtype, index) in PLAIN.into_iter().zip([DType::I32, DType::U32, DType::I64].into_iter().cycle()) {
            let table = draw(dtype, &dims, x.clone(), seed);
            let index = draw_indices(index, &count, dims[axis], seed);
            let y = (dtype, &shape[..], &Layout::packed());
            if empty {
                let error = run(op::Gather { axis }, &[table, index], y, 0xff, None).unwrap_err();
                let is_range = matches!(error.kind(), ErrorKind::IndexOutOfRange { op: "gather", extent: 0, .. });
                prop_assert!(is_range);
                continue;
            }
            check(op::Gather { axis }, &[table, index], y, |x, at| {
                let given = x[1].at(&at[axis..axis + count.len()]);
                let index = if given < 0.0 { given + dims[axis] as f64 } else { given } as usize;
                x[0].at(&[&at[..axis], &[index], &at[axis + count.len()..]].concat())
            });
        }
    }

    #[test]
    fn one_hot_rows(dims in extents(0..=3), axis in 0..4usize, depth in 0..5usize, seed: u64) {
        let axis = axis % (dims.len() + 1);
        let shape = [&dims[..axis], &[depth], &dims[axis..]].concat();
        let index = draw_indices(DType::I64, &dims, 6, seed);
        check(op::OneHot { depth, axis }, &[index], (DType::F32, &shape, &Layout::packed()), |x, at| {
            let given = x[0].at(&[&at[..axis], &at[axis + 1..]].concat());
            f64::from(given == at[axis] as f64 || given + depth as f64 == at[axis] as f64)
        });
    }

    #[test]
    fn triangles(dims in extents(2..=4), upper: bool, moved in -3i64..4, seed: u64) {
        let (right, left) = (moved.max(0) as usize, (-moved).max(0) as usize);
        for dtype in PLAIN {
            let x = draw(dtype, &dims, Layout::packed(), seed);
            check(op::Trilu { upper, right, left }, &[x], (dtype, &dims, &Layout::packed()), |x, at| {
                let (row, column) = (at[at.len() - 2] as i64, at[at.len() - 1] as i64);
                let stays = if upper { column >= row + moved } else { column <= row + moved };
                if stays { x[0].at(at) } else { 0.0 }
            });
        }
    }

    /// Diagonals beyond every extent: all stays or nothing does, and no sum of them wraps.
    #[test]
    fn far_triangles(dims in extents(2..=3), upper: bool, to_the_right: bool, far in 0..3usize) {
        let far = usize::MAX - far;
        let (right, left) = if to_the_right { (far, 0) } else { (0, far) };
        let x = draw(DType::I8, &dims, Layout::packed(), 3);
        check(op::Trilu { upper, right, left }, &[x], (DType::I8, &dims, &Layout::packed()), |x, at| {
            if upper == to_the_right { 0.0 } else { x[0].at(at) }
        });
    }

    #[test]
    fn stretches(dims in extents(0..=4), mask: u8, drop in 0..3usize, x in layout(true), y in layout(false), seed: u64) {
        let (given, _) = stretched(&dims, mask);
        let given = &given[drop.min(given.len())..];
        let mut sizes = [1; 6];
        sizes[..dims.len()].copy_from_slice(&dims);
        for dtype in PLAIN {
            let x = draw(dtype, given, x.clone(), seed);
            let op = op::BroadcastTo { dims: sizes.map(Into::into), rank: dims.len() };
            check(op, &[x], (dtype, &dims, &y), |x, at| x[0].at(at));
        }
    }
}

/// An index that is not there is an error in every build, before anything is read or written.
#[test]
fn nk_7_an_index_that_is_out_of_range() {
    let (table, far) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [99.0; 4]);
    for (dtype, indices, wrong) in [
        (DType::I64, [0.0, 3.0, -1.0], 3),
        (DType::I32, [0.0, -4.0, 2.0], -4),
        (DType::U32, [2.0, 1.0, 4_294_967_295.0], 4_294_967_295),
    ] {
        let all = [typed(DType::F32, &[3, 2], &table), typed(DType::F32, &[4], &far)];
        let index = typed(dtype, &[3], &indices);
        let y = (DType::F32, &[3, 2][..], &Layout::packed());
        // `run` also sees that no byte was changed.
        let error = run(op::Gather { axis: 0 }, &[all[0].clone(), index], y, 0xff, None).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::IndexOutOfRange { op: "gather", index: wrong, extent: 3 });
        assert!(error.to_string().contains("from -3 to 2"), "{error}");
    }
    let index = typed(DType::I32, &[3], &[2.0, -1.0, -3.0]);
    let y = (DType::F32, &[3, 2][..], &Layout::packed());
    let rows = run(op::Gather { axis: 0 }, &[typed(DType::F32, &[3, 2], &table), index], y, 0xff, None).unwrap();
    assert_eq!(rows, [5.0, 6.0, 5.0, 6.0, 1.0, 2.0]);
}
