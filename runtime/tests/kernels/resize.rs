//! Resizing, against ONNX's formulas.

use model_graph::{MAX_RANK, op};
use proptest::prelude::*;

use crate::harness::*;

/// The coordinate of an element where the scale is the quotient of the extents: a fraction of integers.
fn fraction(coordinates: usize, index: usize, from: usize, to: usize) -> (i64, i64) {
    let [i, n, m] = [index, from, to].map(|number| number as i64);
    match coordinates {
        1 => (i * n, m),
        2 | 3 if m == 1 => (0, 1),
        2 => (i * (n - 1), m - 1),
        _ => ((2 * i + 1) * n - m, 2 * m),
    }
}

/// The weight of every element of an axis in one of the result.
fn weights(op: &op::Resize, axis: usize, from: usize, to: usize, index: usize) -> Vec<f64> {
    let n = from as f64;
    let at = match op.scales[axis] > 0.0 {
        true => {
            let (scale, i) = (f64::from(op.scales[axis]), index as f64);
            let m = n * scale;
            match op.coordinates {
                0 => (i + 0.5) / scale - 0.5,
                1 => i / scale,
                2 if m == 1.0 => 0.0,
                2 => i * (n - 1.0) / (m - 1.0),
                3 if m <= 1.0 => 0.0,
                3 => (i + 0.5) / scale - 0.5,
                _ => n / 2.0 * (1.0 - to as f64 / m) + (i + 0.5) / scale - 0.5,
            }
        }
        false => {
            let (above, below) = fraction(op.coordinates, index, from, to);
            above as f64 / below as f64
        }
    };
    let mut all = vec![0.0; from];
    let clip = |at: f64| at.max(0.0).min(n - 1.0) as usize;
    if op.mode == 0 {
        let half = at - at.floor() == 0.5;
        let nearest = match op.rounding {
            0 => {
                if half {
                    at.floor()
                } else {
                    at.round()
                }
            }
            1 => {
                if half {
                    at.ceil()
                } else {
                    at.round()
                }
            }
            2 => at.floor(),
            _ => at.ceil(),
        };
        all[clip(nearest)] = 1.0;
        return all;
    }
    let a = f64::from(op.cubic);
    let kernel = |distance: f64| match (op.mode, distance.abs()) {
        (1, d) => (1.0 - d).max(0.0),
        (_, d) if d <= 1.0 => (a + 2.0) * d.powi(3) - (a + 3.0) * d.powi(2) + 1.0,
        (_, d) if d < 2.0 => a * d.powi(3) - 5.0 * a * d.powi(2) + 8.0 * a * d - 4.0 * a,
        _ => 0.0,
    };
    let mut total = 0.0;
    for place in (at.floor() as i64 - 3)..=(at.floor() as i64 + 3) {
        let outside = place < 0 || place >= from as i64;
        if !(op.exclude_outside && outside) {
            total += kernel(place as f64 - at);
            all[clip(place as f64)] += kernel(place as f64 - at);
        }
    }
    if op.exclude_outside {
        all.iter_mut().for_each(|weight| *weight /= total);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn sizes_of_every_kind(
        dims in prop::collection::vec(prop_oneof![1 => Just(1), 3 => 2..6usize], 1..=4), axes: [bool; 4],
        sizes in [0..9usize, 1..9usize, 1..9usize, 1..9usize], scaled: bool, scale in 0.3f32..2.5, mode in 0..3usize,
        coordinates in 0..5usize, rounding in 0..4usize, exclude_outside: bool, x in layout(true), seed: u64,
        place in (0..3usize, 0..5usize),
    ) {
        let mut op = op::Resize {
            axes: [false; MAX_RANK], sizes: [0.into(); MAX_RANK], scales: [0.0; MAX_RANK], mode, coordinates, rounding,
            cubic: -0.6, exclude_outside,
        };
        let mut out = dims.clone();
        for axis in 0..dims.len() {
            // Four axes at once are for the nearest element alone.
            if axes[axis] && (axis < 3 || mode == 0) {
                op.axes[axis] = true;
                let size = if scaled { (dims[axis] as f64 * f64::from(scale)) as usize } else { sizes[axis] };
                op.sizes[axis] = size.into();
                op.scales[axis] = if scaled { scale } else { 0.0 };
                out[axis] = size;
            }
        }
        let y = given(&out, Layout::packed(), Values::Seed(0));
        check(op, &[given(&dims, x, Values::Seed(seed))], &y, place, 1e-5, |x, index| {
            let weights: Vec<Vec<f64>> = (0..dims.len()).map(|axis| {
                if op.axes[axis] {
                    return weights(&op, axis, dims[axis], out[axis], index[axis]);
                }
                (0..dims[axis]).map(|i| f64::from(u8::from(i == index[axis]))).collect()
            }).collect();
            indices(&dims).iter().map(|at| {
                at.iter().zip(&weights).map(|(i, weights)| weights[*i]).product::<f64>() * x[0].at(at)
            }).sum()
        });
    }
}

/// Doubling an image by its nearest elements, and between them with its corners kept.
#[test]
fn a_small_image() {
    let x = list(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let resize = |mode, coordinates, size: usize| resized(&x, mode, coordinates, size);
    assert_eq!(resize(0, 0, 4)[..8], [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0]);
    assert_eq!(resize(1, 2, 3), [1.0, 1.5, 2.0, 2.0, 2.5, 3.0, 3.0, 3.5, 4.0]);
}

/// Where a coordinate is a whole number the nearest element is that one, and not its neighbour because of how the quotient
/// of the extents was rounded: element 18 of 14 stretched to 36 is element 7.
#[test]
fn whole_coordinates_are_exact() {
    for from in 1..=40usize {
        let x = list(&[from], &(0..from).map(|index| index as f32).collect::<Vec<f32>>());
        for to in 1..=60usize {
            for coordinates in 0..5 {
                let (axes, mut sizes) = (core::array::from_fn(|axis| axis == 0), [0.into(); MAX_RANK]);
                sizes[0] = to.into();
                let scales = [0.0; MAX_RANK];
                let y = given(&[to], Layout::packed(), Values::Seed(0));
                let nearest = |rounding| {
                    let op = op::Resize {
                        axes,
                        sizes,
                        scales,
                        mode: 0,
                        coordinates,
                        rounding,
                        cubic: 0.0,
                        exclude_outside: false,
                    };
                    run(op, &mut lay(std::slice::from_ref(&x), &y, 0, 0, 0xff)).unwrap()
                };
                let results: [Vec<f32>; 4] = std::array::from_fn(nearest);
                for i in 0..to {
                    let (above, below) = fraction(coordinates, i, from, to);
                    let floor = |above: i64, below: i64| above.div_euclid(below);
                    let ceil = |above: i64, below: i64| -(-above).div_euclid(below);
                    let expected = [
                        ceil(2 * above - below, 2 * below),
                        floor(2 * above + below, 2 * below),
                        floor(above, below),
                        ceil(above, below),
                    ];
                    for (result, expected) in results.iter().zip(expected) {
                        assert_eq!(
                            result[i],
                            expected.clamp(0, from as i64 - 1) as f32,
                            "{i} of {from} to {to}, {coordinates}"
                        );
                    }
                }
            }
        }
    }
}

/// A neighbour that does not count may be infinite: where an element falls on one of the operand's it is that one.
#[test]
fn neighbours_of_weight_zero_do_not_count() {
    let inf = f32::INFINITY;
    let x = list(&[1, 1, 2, 2], &[1.0, inf, inf, 4.0]);
    // The size it has, by both formulas for neighbours, and twice that with the corners kept.
    for mode in [1, 2] {
        for coordinates in [0, 1, 2] {
            assert_eq!(resized(&x, mode, coordinates, 2), [1.0, inf, inf, 4.0], "{mode} {coordinates}");
        }
    }
    let y = resized(&x, 1, 2, 3);
    assert_eq!([y[0], y[8]], [1.0, 4.0]);
    assert_eq!([y[1], y[2], y[3], y[4]], [inf; 4]);
}

/// An image of a size, by a mode and a formula for coordinates.
fn resized(x: &Given, mode: usize, coordinates: usize, size: usize) -> Vec<f32> {
    let mut op = op::Resize {
        axes: [false, false, true, true, false, false],
        sizes: [0.into(); MAX_RANK],
        scales: [0.0; MAX_RANK],
        mode,
        coordinates,
        rounding: 0,
        cubic: -0.75,
        exclude_outside: false,
    };
    (op.sizes[2], op.sizes[3]) = (size.into(), size.into());
    let y = given(&[1, 1, size, size], Layout::packed(), Values::Seed(0));
    run(op, &mut lay(std::slice::from_ref(x), &y, 0, 0, 0xff)).unwrap()
}
