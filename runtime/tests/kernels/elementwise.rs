//! Unary and binary functions and copies.

use model_graph::op::{self, Operator};
use model_graph::{Buffer, Call, HostBuffer, Kernel};
use proptest::prelude::*;

use crate::harness::*;

fn special(seed: u64) -> Values {
    if seed.is_multiple_of(2) { Values::Seed(seed) } else { Values::Special(seed) }
}

fn unary<O: Operator + Copy>(op: O, x: Given, y: Layout, place: (usize, usize), f: impl Fn(f64) -> f64)
where
    Host: Kernel<O>,
{
    let output = given(&x.dims, y, Values::Seed(0));
    check(op, &[x], &output, place, 1e-6, |x, index| f(x[0].at(index)));
}

fn binary<O: Operator + Copy>(op: O, ab: &[Given; 2], y: &Given, place: (usize, usize), f: impl Fn(f64, f64) -> f64)
where
    Host: Kernel<O>,
{
    check(op, ab, y, place, 1e-6, |x, index| f(x[0].at(index), x[1].at(index)));
}

/// The error function by its series and, for the tail, its continued fraction (Abramowitz and Stegun 7.1.6, 7.1.14).
fn erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() < 3.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= 2.0 * x * x / f64::from(2 * n + 1);
            sum += term;
        }
        return 2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp() * sum;
    }
    let z = x.abs();
    let fraction = (1..=200).rev().fold(z, |below, n| z + f64::from(n) / 2.0 / below);
    (1.0 - (-z * z).exp() / (fraction * std::f64::consts::PI.sqrt())).copysign(x)
}

/// A product with 0 wins over the infinity at -∞.
fn limit(x: f64, factor: f64) -> f64 {
    if x == f64::NEG_INFINITY { -0.0 } else { x * factor }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn gelu_tanh(x: f64) -> f64 {
    limit(x, sigmoid(2.0 * (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))))
}

fn clamp(x: f64, low: f64, high: f64) -> f64 {
    if x.is_nan() { x } else { x.max(low).min(high) }
}

fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

fn elu(x: f64, alpha: f64) -> f64 {
    if x > 0.0 { x } else { alpha * x.exp_m1() }
}

fn selu(x: f64) -> f64 {
    1.050_700_987_355_480_5 * elu(x, 1.673_263_242_354_377_2)
}

fn hard_swish(x: f64) -> f64 {
    limit(x, clamp(x / 6.0 + 0.5, 0.0, 1.0))
}

fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// Pairs of extents that broadcast, and what they broadcast to.
fn broadcasting() -> impl Strategy<Value = [Vec<usize>; 3]> {
    (extents(0..=5), any::<[bool; 12]>(), 0..6usize, 0..6usize, any::<bool>()).prop_map(
        |(dims, ones, drop, keep, swap)| {
            let mut a = dims.clone();
            let mut b = dims[drop.min(dims.len())..].to_vec();
            for (dim, one) in a.iter_mut().zip(ones) {
                *dim = if one && keep > 2 { 1 } else { *dim };
            }
            for (dim, one) in b.iter_mut().zip(&ones[6..]) {
                *dim = if *one { 1 } else { *dim };
            }
            let missing = a.len() - b.len();
            let mut y = a.clone();
            for (axis, &dim) in b.iter().enumerate() {
                if y[missing + axis] == 1 {
                    y[missing + axis] = dim;
                }
            }
            if swap { [b, a, y] } else { [a, b, y] }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn unary_kernels(
        dims in extents(0..=6), x in layout(true), y in layout(false), seed: u64, place in (0..3usize, 0..5usize),
    ) {
        let x = given(&dims, x, special(seed));
        let run = |f: &dyn Fn(Given, Layout)| f(x.clone(), y.clone());
        run(&|x, y| unary(op::Neg {}, x, y, place, |x| -x));
        run(&|x, y| unary(op::Relu {}, x, y, place, |x| maximum(x, 0.0)));
        run(&|x, y| unary(op::LeakyRelu { slope: 0.1 }, x, y, place, |x| if x > 0.0 { x } else { f64::from(0.1f32) * x }));
        run(&|x, y| unary(op::Sigmoid {}, x, y, place, sigmoid));
        run(&|x, y| unary(op::Tanh {}, x, y, place, f64::tanh));
        run(&|x, y| unary(op::Gelu { tanh: false }, x, y, place, |x| limit(x, 0.5 * (1.0 + erf(x / 2f64.sqrt())))));
        run(&|x, y| unary(op::Gelu { tanh: true }, x, y, place, gelu_tanh));
        run(&|x, y| unary(op::Silu {}, x, y, place, |x| limit(x, sigmoid(x))));
        run(&|x, y| unary(op::Exp {}, x, y, place, f64::exp));
        run(&|x, y| unary(op::Log {}, x, y, place, f64::ln));
        run(&|x, y| unary(op::Sqrt {}, x, y, place, f64::sqrt));
        run(&|x, y| unary(op::Abs {}, x, y, place, f64::abs));
        run(&|x, y| unary(op::Clamp { low: -0.5, high: 1.0 }, x, y, place, |x| clamp(x, -0.5, 1.0)));
        run(&|x, y| unary(op::Elu { alpha: 0.5 }, x, y, place, |x| elu(x, 0.5)));
        run(&|x, y| unary(op::Selu {}, x, y, place, selu));
        run(&|x, y| unary(op::HardSigmoid { slope: 0.25, offset: 0.5 }, x, y, place, |x| clamp(0.25 * x + 0.5, 0.0, 1.0)));
        run(&|x, y| unary(op::HardSwish {}, x, y, place, hard_swish));
        run(&|x, y| unary(op::Softplus {}, x, y, place, softplus));
        run(&|x, y| unary(op::Mish {}, x, y, place, |x| limit(x, softplus(x).tanh())));
    }

    #[test]
    fn binary_kernels(
        dims in broadcasting(), a in layout(true), b in layout(true), y in layout(false), seed: u64,
        place in (0..3usize, 0..5usize),
    ) {
        let ab = [given(&dims[0], a, special(seed)), given(&dims[1], b, special(seed ^ 5))];
        let y = given(&dims[2], y, Values::Seed(0));
        binary(op::Add {}, &ab, &y, place, |a, b| a + b);
        binary(op::Sub {}, &ab, &y, place, |a, b| a - b);
        binary(op::Mul {}, &ab, &y, place, |a, b| a * b);
        binary(op::Div {}, &ab, &y, place, |a, b| a / b);
        binary(op::Maximum {}, &ab, &y, place, maximum);
        binary(op::Minimum {}, &ab, &y, place, |a, b| -maximum(-a, -b));
        binary(op::Prelu {}, &ab, &y, place, |a, b| if a > 0.0 { a } else { a * b });
    }

    #[test]
    fn copies_of_f32(
        dims in extents(0..=6), x in layout(true), y in layout(false), seed: u64, place in (0..3usize, 0..5usize),
    ) {
        check(op::Copy {}, &[given(&dims, x, Values::Special(seed))], &given(&dims, y, Values::Seed(0)), place, 0.0,
            |x, index| x[0].at(index));
    }

    #[test]
    fn borders(
        dims in extents(1..=5), axis in 0..5usize, first in 0..9usize, count in 0..9usize, back: bool, x in layout(true),
        y in layout(false), seed: u64, place in (0..3usize, 0..5usize),
    ) {
        let (mut dims, axis) = (dims.clone(), axis % dims.len());
        dims[axis] += 1;
        let first = first % dims[axis];
        let count = if back { count.min(first + 1) } else { count };
        let mut out = dims.clone();
        out[axis] = count;
        check(op::Border { axis, count, first: first.into(), back }, &[given(&dims, x, Values::Special(seed))],
            &given(&out, y, Values::Seed(0)), place, 0.0, |x, index| {
                let mut index = index.to_vec();
                index[axis] = if back { first - index[axis] } else { first };
                x[0].at(&index)
            });
    }

    #[test]
    fn copies_of_every_dtype(dims in extents(0..=4), x in layout(true), y in layout(false)) {
        for dtype in crate::typed::PLAIN {
            let (mut from, mut to) = (view(8, &dims, x.strides(&dims)), view(0, &dims, y.strides(&dims)));
            (from.dtype, to.dtype) = (dtype, dtype);
            to.offset = from.span().end.next_multiple_of(8);
            let mut buffer = buffer(to.span().end, 0xff);
            for (index, at) in (8..from.span().end).enumerate() {
                buffer.set(at, &[(index * 37 % 251) as u8]).unwrap();
            }
            buffer.run(&Call { op: op::Copy {}, inputs: &[from], outputs: &[to], scratch: &[], shared: None }).unwrap();
            for (from, to) in places(&from).zip(places(&to)) {
                let size = dtype.size();
                prop_assert_eq!(&buffer.bytes()[from..from + size], &buffer.bytes()[to..to + size]);
            }
        }
    }

    #[test]
    fn in_place_of_both(dims in extents(0..=4), layout in layout(false), seed: u64) {
        let x = given(&dims, layout.clone(), Values::Special(seed));
        let mut bench = lay(std::slice::from_ref(&x), &x, 0, 1, 0xff);
        let expected: Vec<f32> = read(&bench.buffer, &bench.inputs[0]).iter().map(|x| x * x).collect();
        bench.output = bench.inputs[0];
        bench.inputs.push(bench.output);
        prop_assert_eq!(bits(&run(op::Mul {}, &mut bench).unwrap()), bits(&expected));
    }
}

/// Values across the whole range, against `f64`.
#[test]
fn accuracy_over_the_range() {
    let mut values = vec![0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, 1.0, f32::MAX];
    for step in 0..40_000 {
        let near = (step as f32 - 20_000.0) / 200.0;
        let wide = f32::from_bits((step as u32).wrapping_mul(107_374) ^ 0x5555);
        values.extend([near, near / 50.0, wide]);
    }
    let x = list(&[values.len()], &values);
    fn compare<O: Operator + Copy>(op: O, x: &Given, floor: f64, f: impl Fn(f64) -> f64)
    where
        Host: Kernel<O>,
    {
        let mut bench = lay(std::slice::from_ref(x), x, 0, 0, 0xff);
        let xs = read(&bench.buffer, &bench.inputs[0]);
        let mut worst = (0.0, 0.0);
        for (x, y) in xs.iter().zip(run(op, &mut bench).unwrap()) {
            let expected = f(f64::from(*x));
            if expected.is_nan() || expected.abs() > f64::from(f32::MAX) {
                assert!(y.is_nan() == expected.is_nan(), "{op:?} of {x}: {y}, not {expected}");
                assert!(
                    y.is_nan() || y.is_infinite() && (f64::from(y) > 0.0) == (expected > 0.0),
                    "{op:?} of {x}: {y}"
                );
                continue;
            }
            let error = (f64::from(y) - expected).abs() / expected.abs().max(floor);
            if error > worst.0 {
                worst = (error, f64::from(*x));
            }
        }
        println!("{op:?}: {:.2e} at {}", worst.0, worst.1);
        assert!(worst.0 < 1e-6, "{op:?} of {} is {} off", worst.1, worst.0);
    }
    // Relative errors down to `floor`, absolute ones of 1e-6 * floor below.
    compare(op::Exp {}, &x, 1e-38, f64::exp);
    compare(op::Log {}, &x, 0.0, f64::ln);
    compare(op::Sqrt {}, &x, 0.0, f64::sqrt);
    compare(op::Tanh {}, &x, 0.0, f64::tanh);
    compare(op::Sigmoid {}, &x, 1e-38, sigmoid);
    compare(op::Silu {}, &x, 1e-36, |x| limit(x, sigmoid(x)));
    compare(op::Elu { alpha: 1.0 }, &x, 1e-36, |x| elu(x, 1.0));
    compare(op::Selu {}, &x, 1e-36, selu);
    compare(op::Softplus {}, &x, 1e-38, softplus);
    compare(op::Mish {}, &x, 1e-36, |x| limit(x, softplus(x).tanh()));
    compare(op::HardSwish {}, &x, 1e-1, hard_swish);
    compare(op::Gelu { tanh: true }, &x, 1e-1, gelu_tanh);
    compare(op::Gelu { tanh: false }, &x, 1e-1, |x| limit(x, 0.5 * (1.0 + erf(x / 2f64.sqrt()))));
}

#[test]
fn exact_where_it_has_to_be() {
    fn one<O: Operator + Copy>(op: O, x: f32) -> f32
    where
        Host: Kernel<O>,
    {
        let x = list(&[1], &[x]);
        run(op, &mut lay(std::slice::from_ref(&x), &x, 0, 0, 0xff)).unwrap()[0]
    }
    assert_eq!(one(op::Exp {}, 0.0), 1.0);
    assert_eq!(one(op::Log {}, 1.0), 0.0);
    assert_eq!(one(op::Tanh {}, -0.0).to_bits(), (-0.0f32).to_bits());
    assert_eq!(one(op::Sigmoid {}, 0.0), 0.5);
    for tanh in [false, true] {
        assert_eq!(one(op::Gelu { tanh }, 0.0), 0.0);
        assert_eq!(one(op::Gelu { tanh }, f32::NEG_INFINITY), 0.0);
        assert_eq!(one(op::Gelu { tanh }, f32::INFINITY), f32::INFINITY);
    }
    assert!(one(op::Relu {}, f32::NAN).is_nan());
    assert!(one(op::Clamp { low: 0.0, high: 1.0 }, f32::NAN).is_nan());
}
