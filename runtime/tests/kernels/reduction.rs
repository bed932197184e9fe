//! Sums, means and maxima.

use model_graph::{MAX_RANK, op};
use proptest::prelude::*;

use crate::harness::*;

/// The elements that one output is made of.
fn elements(x: &Tensor, axes: &[bool], keep_dims: bool, index: &[usize]) -> Vec<f64> {
    let mut rest = index.iter();
    let mut fixed = vec![];
    for marked in &axes[..x.dims.len()] {
        fixed.push(match (*marked, keep_dims) {
            (false, _) => rest.next().copied(),
            (true, keep) => {
                if keep {
                    rest.next();
                }
                None
            }
        });
    }
    let matches = |at: &Vec<usize>| at.iter().zip(&fixed).all(|(i, fixed)| fixed.is_none_or(|fixed| *i == fixed));
    indices(&x.dims).into_iter().filter(matches).map(|at| x.at(&at)).collect()
}

fn largest(elements: &[f64]) -> f64 {
    elements.iter().fold(f64::NEG_INFINITY, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(*b) })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn reductions(
        dims in extents(0..=4), axes: [bool; MAX_RANK], keep_dims: bool, x in layout(true), seed: u64,
        place in (0..3usize, 0..5usize),
    ) {
        let axes = std::array::from_fn(|axis| axes[axis] && axis < dims.len());
        let mut dims = dims;
        // The oracle is quadratic.
        while dims.iter().product::<usize>() > 500 {
            let largest = dims.iter_mut().max().unwrap();
            *largest = *largest / 2 + 1;
        }
        let kept: Vec<usize> = dims
            .iter()
            .enumerate()
            .filter_map(|(axis, dim)| if !axes[axis] { Some(*dim) } else { keep_dims.then_some(1) })
            .collect();
        let y = given(&kept, Layout::packed(), Values::Seed(0));
        let of = |values| [given(&dims, x.clone(), values)];
        check(op::Sum { axes, keep_dims }, &of(Values::Seed(seed)), &y, place, 1e-5, |x, index| {
            elements(&x[0], &axes, keep_dims, index).iter().sum()
        });
        check(op::Mean { axes, keep_dims }, &of(Values::Seed(seed)), &y, place, 1e-5, |x, index| {
            let elements = elements(&x[0], &axes, keep_dims, index);
            elements.iter().sum::<f64>() / elements.len() as f64
        });
        let fold = |x: &[Tensor], index: &[usize], f: &dyn Fn(f64) -> f64| -> f64 {
            elements(&x[0], &axes, keep_dims, index).into_iter().map(f).sum()
        };
        check(op::SumSquare { axes, keep_dims }, &of(Values::Seed(seed)), &y, place, 1e-5, |x, at| fold(x, at, &|x| x * x));
        check(op::L1 { axes, keep_dims }, &of(Values::Seed(seed)), &y, place, 1e-5, |x, at| fold(x, at, &f64::abs));
        check(op::L2 { axes, keep_dims }, &of(Values::Seed(seed)), &y, place, 1e-5, |x, at| {
            fold(x, at, &|x| x * x).sqrt()
        });
        check(op::LogSum { axes, keep_dims }, &of(Values::Positive(seed)), &y, place, 1e-5, |x, at| {
            fold(x, at, &|x| x).ln()
        });
        check(op::LogSumExp { axes, keep_dims }, &of(Values::Special(seed)), &y, place, 1e-6, |x, at| {
            let most = largest(&elements(&x[0], &axes, keep_dims, at));
            if most.is_finite() { most + fold(x, at, &|x| (x - most).exp()).ln() } else { most }
        });
        check(op::Prod { axes, keep_dims }, &of(Values::Seed(seed)), &y, place, 1e-5, |x, index| {
            elements(&x[0], &axes, keep_dims, index).iter().product()
        });
        let nothing = dims.iter().zip(axes).any(|(dim, marked)| marked && *dim == 0);
        if !nothing {
            check(op::Max { axes, keep_dims }, &of(Values::Special(seed)), &y, place, 0.0, |x, index| {
                largest(&elements(&x[0], &axes, keep_dims, index))
            });
            check(op::Min { axes, keep_dims }, &of(Values::Special(seed)), &y, place, 0.0, |x, index| {
                let minus: Vec<f64> = elements(&x[0], &axes, keep_dims, index).iter().map(|x| -x).collect();
                -largest(&minus)
            });
        }
    }

    /// The order of additions does not depend on strides: the same values give the same bits however they lie.
    #[test]
    fn layouts_give_the_same_bits(
        dims in [1..60usize, 1..40usize, 1..3usize], axes: [bool; 3], gap in 0..3usize, order: [u8; 3], seed: u64,
    ) {
        let axes = std::array::from_fn(|axis| axis < 3 && axes[axis]);
        let kept: Vec<usize> = dims.iter().zip(axes).filter_map(|(dim, marked)| (!marked).then_some(*dim)).collect();
        let y = given(&kept, Layout::packed(), Values::Seed(0));
        let keys = std::array::from_fn(|axis| order.get(axis).copied().unwrap_or(0));
        let sum = |layout| {
            let mut bench = lay(&[given(&dims, layout, Values::Seed(seed))], &y, 0, 0, 0xff);
            bits(&run(op::Sum { axes, keep_dims: false }, &mut bench).unwrap())
        };
        prop_assert_eq!(sum(Layout::packed()), sum(Layout { keys, gap, ..Layout::packed() }));
        let log_sum_exp = |layout| {
            let mut bench = lay(&[given(&dims, layout, Values::Seed(seed))], &y, 0, 0, 0xff);
            bits(&run(op::LogSumExp { axes, keep_dims: false }, &mut bench).unwrap())
        };
        prop_assert_eq!(log_sum_exp(Layout::packed()), log_sum_exp(Layout { keys, gap, ..Layout::packed() }));
    }
}

/// A million equal elements: the error does not grow with their number.
#[test]
fn long_sums_keep_their_digits() {
    let x = list(&[1 << 20], &vec![0.1; 1 << 20]);
    let y = given(&[], Layout::packed(), Values::Seed(0));
    let axes = std::array::from_fn(|axis| axis == 0);
    let mean = run(op::Mean { axes, keep_dims: false }, &mut lay(&[x], &y, 0, 0, 0xff)).unwrap()[0];
    assert!((mean - 0.1).abs() < 1e-7, "{mean}");
}

/// Where the exponentials alone would overflow or vanish.
#[test]
fn logarithms_of_large_exponentials() {
    let of = |values: &[f32]| {
        let y = given(&[], Layout::packed(), Values::Seed(0));
        let op = op::LogSumExp { axes: std::array::from_fn(|axis| axis == 0), keep_dims: false };
        run(op, &mut lay(&[list(&[values.len()], values)], &y, 0, 0, 0xff)).unwrap()[0]
    };
    assert!((of(&[1000.0, 1000.0]) - 1_000.693_1).abs() < 1e-3);
    assert!((of(&[-1000.0, -1000.0]) + 999.306_9).abs() < 1e-3);
    assert_eq!(of(&[f32::NEG_INFINITY; 2]), f32::NEG_INFINITY);
    assert_eq!(of(&[]), f32::NEG_INFINITY);
}
