//! Softmax and the norms.

use model_graph::op;
use proptest::prelude::*;

use crate::harness::*;

/// The index with another value along one axis.
fn with(index: &[usize], axis: usize, value: usize) -> Vec<usize> {
    let mut index = index.to_vec();
    index[axis] = value;
    index
}

fn log_softmax(x: &Tensor, axis: usize, index: &[usize]) -> f64 {
    let row: Vec<f64> = (0..x.dims[axis]).map(|i| x.at(&with(index, axis, i))).collect();
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY && row.iter().all(|x| !x.is_nan()) {
        return max;
    }
    x.at(index) - max - row.iter().map(|x| (x - max).exp()).sum::<f64>().ln()
}

/// The row that an index is normalised with: the same outer index, all inner ones.
fn row(x: &Tensor, axis: usize, index: &[usize]) -> Vec<f64> {
    indices(&x.dims[axis..]).into_iter().map(|inner| x.at(&[&index[..axis], &inner].concat())).collect()
}

/// Broadcasts of these extents: some leading dimensions dropped, some extents 1.
fn part(dims: &[usize], drop: usize, ones: [bool; 4]) -> Vec<usize> {
    let dims = &dims[drop.min(dims.len())..];
    dims.iter().zip(ones).map(|(dim, one)| if one { 1 } else { *dim }).collect()
}

fn packed(dims: &[usize], values: Values) -> Given {
    given(dims, Layout::packed(), values)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn softmaxes(dims in extents(1..=4), axis in 0..4usize, seed: u64, place in (0..3usize, 0..5usize)) {
        let axis = axis % dims.len();
        let y = packed(&dims, Values::Seed(0));
        for values in [Values::Seed(seed), Values::Special(seed)] {
            let x = [packed(&dims, values)];
            check(op::Softmax { axis }, &x, &y, place, 1e-6, |x, index| log_softmax(&x[0], axis, index).exp());
            check(op::LogSoftmax { axis }, &x, &y, place, 1e-6, |x, index| log_softmax(&x[0], axis, index));
        }
    }

    #[test]
    fn norms_of_rows(
        dims in extents(1..=4), axis in 0..4usize, operands in 1..4usize, drop in [0..5usize, 0..5usize],
        ones: [[bool; 4]; 2], seed: u64, place in (0..3usize, 0..5usize),
    ) {
        let axis = axis % dims.len();
        let y = packed(&dims, Values::Seed(0));
        let mut inputs = vec![packed(&dims, Values::Seed(seed))];
        for operand in 1..operands {
            inputs.push(packed(&part(&dims, drop[operand - 1], ones[operand - 1]), Values::Seed(seed ^ operand as u64)));
        }
        let eps = 1e-3;
        check(op::LayerNorm { axis, eps }, &inputs, &y, place, 1e-5, |x, index| {
            let row = row(&x[0], axis, index);
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
            let value = (x[0].at(index) - mean) / (variance + f64::from(eps)).sqrt();
            value * x.get(1).map_or(1.0, |x| x.at(index)) + x.get(2).map_or(0.0, |x| x.at(index))
        });
        inputs.truncate(2);
        check(op::RmsNorm { axis, eps }, &inputs, &y, place, 1e-5, |x, index| {
            let row = row(&x[0], axis, index);
            let square = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
            x[0].at(index) / (square + f64::from(eps)).sqrt() * x.get(1).map_or(1.0, |x| x.at(index))
        });
    }

    #[test]
    fn norms_of_groups(
        dims in extents(2..=5), groups in 1..5usize, operands in 1..4usize, seed: u64, place in (0..3usize, 0..5usize),
    ) {
        let mut dims = dims;
        dims[1] *= groups;
        let channels = |values| packed(&[dims[1]], values);
        let all = [packed(&dims, Values::Seed(seed)), channels(Values::Seed(seed ^ 1)), channels(Values::Seed(seed ^ 2))];
        let y = packed(&dims, Values::Seed(0));
        let eps = 1e-3;
        for (size, instances) in [(dims[1] / groups, false), (1, true)] {
            // Mean and one over the deviation of each group.
            let known = std::cell::RefCell::new(std::collections::HashMap::new());
            let oracle = |x: &[Tensor], index: &[usize]| {
                let (n, group) = (index[0], index[1] / size);
                let mut known = known.borrow_mut();
                if known.is_empty() {
                    let mut elements: std::collections::HashMap<_, Vec<f64>> = std::collections::HashMap::new();
                    for at in indices(&dims) {
                        elements.entry((at[0], at[1] / size)).or_default().push(x[0].at(&at));
                    }
                    *known = elements
                        .into_iter()
                        .map(|(key, own)| {
                            let mean = own.iter().sum::<f64>() / own.len() as f64;
                            let variance = own.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / own.len() as f64;
                            (key, (mean, 1.0 / (variance + f64::from(eps)).sqrt()))
                        })
                        .collect();
                }
                let (mean, factor) = known[&(n, group)];
                let per_channel = |operand: usize, default: f64| x.get(operand).map_or(default, |x| x.at(&[index[1]]));
                (x[0].at(index) - mean) * factor * per_channel(1, 1.0) + per_channel(2, 0.0)
            };
            match instances {
                false => check(op::GroupNorm { groups, eps }, &all[..operands], &y, place, 1e-5, oracle),
                true => check(op::InstanceNorm { eps }, &all[..operands], &y, place, 1e-5, oracle),
            }
        }
    }

    #[test]
    fn norms_of_batches(dims in extents(1..=4), axis in 0..4usize, seed: u64, place in (0..3usize, 0..5usize)) {
        let axis = axis % dims.len();
        let channels = |values| packed(&[dims[axis]], values);
        let inputs = [
            packed(&dims, Values::Seed(seed)),
            channels(Values::Seed(seed ^ 1)),
            channels(Values::Seed(seed ^ 2)),
            channels(Values::Seed(seed ^ 3)),
            channels(Values::Positive(seed ^ 4)),
        ];
        let op = op::BatchNorm { axis, eps: 1e-3 };
        check(op, &inputs, &packed(&dims, Values::Seed(0)), place, 1e-5, |x, index| {
            let c = [index[axis]];
            let [scale, bias, mean, var] = [1, 2, 3, 4].map(|operand| x[operand].at(&c));
            (x[0].at(index) - mean) / (var + f64::from(op.eps)).sqrt() * scale + bias
        });
    }
}

fn softmax(dims: &[usize], axis: usize, values: &[f32]) -> Vec<f32> {
    let x = list(dims, values);
    run(op::Softmax { axis }, &mut lay(std::slice::from_ref(&x), &x, 0, 0, 0xff)).unwrap()
}

#[test]
fn nk_1_a_masked_row_gives_zeros() {
    const NOTHING: f32 = f32::NEG_INFINITY;
    assert_eq!(softmax(&[2], 0, &[NOTHING; 2]), [0.0, 0.0]);
    assert_eq!(softmax(&[2, 2], 1, &[NOTHING, NOTHING, 1.0, 1.0]), [0.0, 0.0, 0.5, 0.5]);
    assert_eq!(softmax(&[2, 2], 0, &[NOTHING, 1.0, NOTHING, 1.0]), [0.0, 0.5, 0.0, 0.5]);
    let x = list(&[2], &[NOTHING; 2]);
    let log = run(op::LogSoftmax { axis: 0 }, &mut lay(std::slice::from_ref(&x), &x, 0, 0, 0xff)).unwrap();
    assert_eq!(log, [NOTHING; 2]);
    // A NaN is no mask.
    assert!(softmax(&[2], 0, &[NOTHING, f32::NAN]).iter().all(|x| x.is_nan()));
    assert!(softmax(&[2, 2], 0, &[NOTHING, NOTHING, f32::NAN, f32::NAN]).iter().all(|x| x.is_nan()));
}

#[test]
fn nk_2_very_negative_rows_count() {
    for (dims, axis) in [(vec![2], 0), (vec![2, 1], 0), (vec![1, 2], 1)] {
        let y = softmax(&dims, axis, &[-60000.0, -60001.0]);
        assert!((y[0] - 0.731_058_6).abs() < 1e-6 && (y[1] - 0.268_941_4).abs() < 1e-6, "{y:?}");
    }
}

#[test]
fn nk_5_a_scale_may_vary_over_rows() {
    let inputs = [list(&[2, 2, 2], &[1.0; 8]), list(&[2, 2], &[1.0, 2.0, 3.0, 4.0])];
    let y = given(&[2, 2, 2], Layout::packed(), Values::Seed(0));
    let y = run(op::RmsNorm { axis: 2, eps: 0.0 }, &mut lay(&inputs, &y, 0, 0, 0xff)).unwrap();
    assert_eq!(y, [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
}
