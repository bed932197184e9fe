//! Kernels on every element type they take.

use model_graph::op::{self, Operator};
use model_graph::{Buffer, Call, DType, HostBuffer, Kernel, View};
use proptest::prelude::*;

use crate::harness::{Host, Layout, Tensor, buffer, extents, indices, layout};
use crate::typed::*;

fn is_float(dtype: DType) -> bool {
    dtype.is_float()
}

/// Extents of two operands that broadcast, and of the result.
pub(crate) fn stretched(dims: &[usize], mask: u8) -> (Vec<usize>, Vec<usize>) {
    let ones = |mask: u8| {
        dims.iter().enumerate().map(|(axis, dim)| if mask >> axis & 1 == 1 && *dim > 0 { 1 } else { *dim }).collect()
    };
    (ones(mask), ones(mask >> 4 & !mask))
}

fn whole(value: f64) -> i128 {
    value as i128
}

/// A function of two numbers: of floats in `f64`, of integers exactly, then wrapped.
fn numbers<O: Operator + Copy>(
    op: O,
    ab: [&Typed; 2],
    y: (&[usize], &Layout),
    floats: impl Fn(f64, f64) -> f64,
    integers: impl Fn(i128, i128) -> i128,
) where
    Host: Kernel<O>,
{
    let dtype = ab[0].dtype;
    check(op, &[ab[0].clone(), ab[1].clone()], (dtype, y.0, y.1), |x, index| {
        let (a, b) = (x[0].at(index), x[1].at(index));
        if is_float(dtype) { floats(a, b) } else { wrap(dtype, integers(whole(a), whole(b))) }
    });
}

fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

fn floor_mod(a: i128, b: i128) -> i128 {
    if b == 0 { 0 } else { (a % b + b) % b }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn arithmetic(dims in extents(0..=4), mask: u8, a in layout(true), b in layout(true), y in layout(false), seed: u64) {
        let (a_dims, b_dims) = stretched(&dims, mask);
        for dtype in PLAIN.into_iter().filter(|dtype| *dtype != DType::Bool) {
            let a = draw(dtype, &a_dims, a.clone(), seed);
            let b = draw(dtype, &b_dims, b.clone(), seed ^ 77);
            let (ab, y) = ([&a, &b], (&dims[..], &y));
            numbers(op::Add {}, ab, y, |a, b| a + b, |a, b| a + b);
            numbers(op::Sub {}, ab, y, |a, b| a - b, |a, b| a - b);
            numbers(op::Mul {}, ab, y, |a, b| a * b, |a, b| a * b);
            numbers(op::Div {}, ab, y, |a, b| a / b, |a, b| if b == 0 { 0 } else { a / b });
            numbers(op::Maximum {}, ab, y, maximum, |a, b| a.max(b));
            numbers(op::Minimum {}, ab, y, |a, b| -maximum(-a, -b), |a, b| a.min(b));
            numbers(op::Rem {}, ab, y, |a, b| a % b, |a, b| if b == 0 { 0 } else { a % b });
            numbers(op::Modulo {}, ab, y, |a, b| {
                let left = a % b;
                if left != 0.0 && (left < 0.0) != (b < 0.0) { left + b } else { left }
            }, floor_mod);
            if is_float(dtype) {
                let positive = Typed { values: a.values.iter().map(|a| a.abs()).collect(), ..a.clone() };
                numbers(op::Pow {}, [&positive, &b], y, f64::powf, |_, _| unreachable!());
            }
        }
    }

    #[test]
    fn functions_of_one(dims in extents(0..=4), x in layout(true), y in layout(false), seed: u64) {
        for dtype in PLAIN.into_iter().filter(|dtype| *dtype != DType::Bool) {
            let x = draw(dtype, &dims, x.clone(), seed);
            fn one<O: Operator + Copy>(
                op: O, x: &Typed, y: &Layout, floats: impl Fn(f64) -> f64, integers: impl Fn(i128) -> i128,
            ) where Host: Kernel<O> {
                check(op, std::slice::from_ref(x), (x.dtype, &x.dims, y), |all, index| {
                    let value = all[0].at(index);
                    if is_float(x.dtype) { floats(value) } else { wrap(x.dtype, integers(whole(value))) }
                });
            }
            one(op::Abs {}, &x, &y, f64::abs, i128::abs);
            one(op::Sign {}, &x, &y, |x| if x.is_nan() || x == 0.0 { x } else { x.signum() }, i128::signum);
            one(op::Relu {}, &x, &y, |x| if x <= 0.0 { 0.0 } else { x }, |x| x.max(0));
            one(op::Clamp { low: -2.0, high: 3.0 }, &x, &y, |x| if x.is_nan() { x } else { x.clamp(-2.0, 3.0) },
                |x| x.clamp(if matches!(dtype, DType::U8 | DType::U32) { 0 } else { -2 }, 3));
            if !matches!(dtype, DType::U8 | DType::U32) {
                one(op::Neg {}, &x, &y, |x| -x, |x| -x);
            }
            if is_float(dtype) {
                let none = |_| unreachable!();
                one(op::Round {}, &x, &y, f64::round_ties_even, none);
                one(op::Floor {}, &x, &y, f64::floor, none);
                one(op::Ceil {}, &x, &y, f64::ceil, none);
                one(op::Sin {}, &x, &y, f64::sin, none);
                one(op::Cos {}, &x, &y, f64::cos, none);
                one(op::Erf {}, &x, &y, libm::erf, none);
                one(op::Reciprocal {}, &x, &y, |x| 1.0 / x, none);
                one(op::Softplus {}, &x, &y, |x| x.max(0.0) + (-x.abs()).exp().ln_1p() + if x.is_nan() { x } else { 0.0 }, none);
                one(op::Exp {}, &x, &y, f64::exp, none);
                one(op::Sigmoid {}, &x, &y, |x| 1.0 / (1.0 + (-x).exp()), none);
            }
        }
    }

    #[test]
    fn comparisons(dims in extents(0..=4), mask: u8, a in layout(true), b in layout(true), y in layout(false), seed: u64) {
        let (a_dims, b_dims) = stretched(&dims, mask);
        for dtype in PLAIN {
            let ab = [draw(dtype, &a_dims, a.clone(), seed), draw(dtype, &b_dims, b.clone(), seed ^ 9)];
            let y = (DType::Bool, &dims[..], &y);
            let truth = |f: fn(f64, f64) -> bool| move |x: &[Tensor], index: &[usize]| {
                f64::from(f(x[0].at(index), x[1].at(index)))
            };
            check(op::Equal {}, &ab, y, truth(|a, b| a == b));
            check(op::NotEqual {}, &ab, y, truth(|a, b| a != b));
            if dtype != DType::Bool {
                check(op::Less {}, &ab, y, truth(|a, b| a < b));
                check(op::LessEqual {}, &ab, y, truth(|a, b| a <= b));
                check(op::Greater {}, &ab, y, truth(|a, b| a > b));
                check(op::GreaterEqual {}, &ab, y, truth(|a, b| a >= b));
            }
            if is_float(dtype) {
                let x = &[draw(dtype, &dims, a.clone(), seed)];
                check(op::IsNan {}, x, y, |x, index| f64::from(x[0].at(index).is_nan()));
                check(op::IsInf {}, x, y, |x, index| f64::from(x[0].at(index).is_infinite()));
            }
        }
    }

    #[test]
    fn logic(dims in extents(0..=4), mask: u8, a in layout(true), b in layout(true), y in layout(false), seed: u64) {
        let (a_dims, b_dims) = stretched(&dims, mask);
        for dtype in PLAIN.into_iter().filter(|dtype| !is_float(*dtype)) {
            let ab = [draw(dtype, &a_dims, a.clone(), seed), draw(dtype, &b_dims, b.clone(), seed ^ 3)];
            let bits = |f: fn(i128, i128) -> i128| move |x: &[Tensor], index: &[usize]| {
                wrap(dtype, f(whole(x[0].at(index)), whole(x[1].at(index))))
            };
            let y = (dtype, &dims[..], &y);
            check(op::And {}, &ab, y, bits(|a, b| a & b));
            check(op::Or {}, &ab, y, bits(|a, b| a | b));
            check(op::Xor {}, &ab, y, bits(|a, b| a ^ b));
            let x = &[draw(dtype, &dims, a.clone(), seed)];
            check(op::Not {}, x, y, |x, index| match dtype {
                DType::Bool => 1.0 - x[0].at(index),
                _ => wrap(dtype, !whole(x[0].at(index))),
            });
        }
    }

    #[test]
    fn choices(
        dims in extents(0..=4), mask: u8, c in layout(true), a in layout(true), b in layout(true), y in layout(false),
        seed: u64,
    ) {
        let (a_dims, b_dims) = stretched(&dims, mask);
        for dtype in PLAIN {
            let condition = draw(DType::Bool, &dims, c.clone(), seed ^ 4);
            let all = [condition, draw(dtype, &a_dims, a.clone(), seed), draw(dtype, &b_dims, b.clone(), seed ^ 3)];
            check(op::Where {}, &all, (dtype, &dims, &y), |x, index| {
                if x[0].at(index) != 0.0 { x[1].at(index) } else { x[2].at(index) }
            });
        }
    }

    #[test]
    fn casts(dims in extents(0..=4), x in layout(true), y in layout(false), seed: u64) {
        for from in PLAIN {
            for to in PLAIN {
                let x = draw(from, &dims, x.clone(), seed);
                check(op::Cast { to }, &[x], (to, &dims, &y), |x, index| {
                    let value = x[0].at(index);
                    match to.range() {
                        _ if to == DType::Bool => f64::from(value != 0.0),
                        Some((low, high)) if is_float(from) => {
                            if value.is_nan() { 0.0 } else { value.trunc().clamp(low as f64, high as f64) }
                        }
                        Some(_) => wrap(to, whole(value)),
                        None => value,
                    }
                });
            }
        }
    }

    #[test]
    fn reductions(dims in extents(0..=4), mask: u8, x in layout(true), seed: u64, keep_dims: bool) {
        let axes = [0, 1, 2, 3, 4, 5].map(|axis| axis < dims.len() && mask >> axis & 1 == 1);
        let kept: Vec<usize> = (0..dims.len()).filter(|axis| keep_dims || !axes[*axis])
            .map(|axis| if axes[axis] { 1 } else { dims[axis] }).collect();
        for dtype in PLAIN.into_iter().filter(|dtype| !dtype.is_half()) {
            let x = draw(dtype, &dims, x.clone(), seed);
            let y = (dtype, &kept[..], &Layout::packed());
            // The elements that go into one of the result.
            let group = |x: &Tensor, index: &[usize]| -> Vec<f64> {
                let mut rest = index.iter();
                let place: Vec<Option<usize>> = (0..dims.len()).map(|axis| match axes[axis] {
                    true => { if keep_dims { rest.next(); } None }
                    false => rest.next().copied(),
                }).collect();
                indices(&dims).iter().zip(&x.values)
                    .filter(|(at, _)| at.iter().zip(&place).all(|(at, place)| place.is_none_or(|place| place == *at)))
                    .map(|(_, value)| *value).collect()
            };
            let integer = dtype.range().is_some();
            if integer {
                check(op::Sum { axes, keep_dims }, std::slice::from_ref(&x), y, |x, index| {
                    wrap(dtype, group(&x[0], index).into_iter().map(whole).sum())
                });
                check(op::Prod { axes, keep_dims }, std::slice::from_ref(&x), y, |x, index| {
                    let all = group(&x[0], index).into_iter().map(whole);
                    wrap(dtype, all.fold(1i128, |product, x| product.wrapping_mul(x) as i64 as i128))
                });
            } else if dtype == DType::F32 {
                let x = Typed { values: x.values.iter().map(|x| if x.is_finite() { x / 2.0 } else { 1.0 }).collect(), ..x.clone() };
                check(op::Prod { axes, keep_dims }, &[x], y, |x, index| group(&x[0], index).into_iter().product());
            }
            if (op::Max { axes, keep_dims }).infer(&[type_of(dtype, &dims)]).is_ok() {
                let extreme = |sign: f64| move |all: Vec<f64>| {
                    sign * all.into_iter().map(|x| sign * x).reduce(maximum).unwrap_or(f64::NEG_INFINITY)
                };
                check(op::Max { axes, keep_dims }, std::slice::from_ref(&x), y, |x, index| extreme(1.0)(group(&x[0], index)));
                check(op::Min { axes, keep_dims }, std::slice::from_ref(&x), y, |x, index| extreme(-1.0)(group(&x[0], index)));
            }
        }
    }

    #[test]
    fn along_an_axis(dims in extents(1..=4), axis in 0..4usize, x in layout(true), seed: u64, flags: [bool; 3]) {
        let axis = axis % dims.len();
        let [keep_dims, last, exclusive] = flags;
        for dtype in PLAIN.into_iter().filter(|dtype| !dtype.is_half() && *dtype != DType::Bool) {
            let x = draw(dtype, &dims, x.clone(), seed);
            let line = |x: &Tensor, index: &[usize]| -> Vec<f64> {
                (0..dims[axis]).map(|at| { let mut index = index.to_vec(); index[axis] = at; x.at(&index) }).collect()
            };
            if dims[axis] > 0 {
                let mut kept = dims.clone();
                if keep_dims { kept[axis] = 1 } else { kept.remove(axis); }
                let y = (DType::I64, &kept[..], &Layout::packed());
                let place = |sign: f64| { let line = &line; move |x: &[Tensor], index: &[usize]| {
                    let mut index = index.to_vec();
                    if keep_dims { index[axis] = 0 } else { index.insert(axis, 0) }
                    let all: Vec<f64> = line(&x[0], &index).iter().map(|x| sign * x).collect();
                    let best = all.iter().copied().reduce(maximum).unwrap();
                    let same = |x: &f64| *x == best || x.is_nan() && best.is_nan();
                    let found = if last { all.iter().rposition(same) } else { all.iter().position(same) };
                    found.unwrap() as f64
                } };
                check(op::ArgMax { axis, keep_dims, last }, std::slice::from_ref(&x), y, place(1.0));
                check(op::ArgMin { axis, keep_dims, last }, std::slice::from_ref(&x), y, place(-1.0));
            }
            for reverse in [false, true] {
                let y = (dtype, &dims[..], &Layout::packed());
                check(op::CumSum { axis, exclusive, reverse }, std::slice::from_ref(&x), y, |x, index| {
                    let mut line = line(&x[0], index);
                    let mut at = index[axis];
                    if reverse { line.reverse(); at = line.len() - 1 - at; }
                    let terms = &line[..if exclusive { at } else { at + 1 }];
                    match dtype {
                        DType::F32 => terms.iter().sum(),
                        _ => wrap(dtype, terms.iter().map(|x| whole(*x)).sum()),
                    }
                });
            }
        }
    }

    #[test]
    fn fills(dims in extents(0..=4), y in layout(false)) {
        let mut sizes = [1; 6];
        sizes[..dims.len()].copy_from_slice(&dims);
        for dtype in PLAIN {
            check(op::Fill { dims: sizes.map(Into::into), rank: dims.len(), value: 1.0, dtype }, &[], (dtype, &dims, &y), |_, _| 1.0);
        }
    }
}

fn type_of(dtype: DType, dims: &[usize]) -> model_graph_planner::Type {
    model_graph_planner::Type { dtype, shape: model_graph_planner::Shape::new(dims).unwrap() }
}

/// Integers of 64 bits are not taken by way of floats.
#[test]
fn limits_of_integers() {
    let call = |op: &dyn Fn(&mut Host, [View; 2], View), a: i64, b: i64| {
        let mut host = buffer(24, 0);
        host.set(0, bytemuck::cast_slice(&[a, b])).unwrap();
        let view = |offset| View { dtype: DType::I64, offset, rank: 0, dims: [1; 6], strides: [0; 6] };
        op(&mut host, [view(0), view(8)], view(16));
        i64::from_ne_bytes(host.bytes()[16..].try_into().unwrap())
    };
    fn two<O: Copy>(op: O) -> impl Fn(&mut Host, [View; 2], View)
    where
        Host: Kernel<O>,
    {
        move |host, inputs, output| {
            host.run(&Call { op, inputs: &inputs, outputs: &[output], scratch: &[], shared: None }).unwrap()
        }
    }
    assert_eq!(call(&two(op::Add {}), i64::MAX, 1), i64::MIN);
    assert_eq!(call(&two(op::Add {}), (1 << 53) + 1, 0), (1 << 53) + 1);
    assert_eq!(call(&two(op::Div {}), i64::MIN, -1), i64::MIN);
    assert_eq!(call(&two(op::Div {}), 7, 0), 0);
    assert_eq!(call(&two(op::Rem {}), i64::MIN, -1), 0);
    assert_eq!(call(&two(op::Modulo {}), -7, 3), 2);
    assert_eq!(call(&two(op::Modulo {}), 7, -3), -2);
    assert_eq!(call(&two(op::Mul {}), 3, i64::MAX), i64::MAX.wrapping_mul(3));
}

/// Halves are rounded to the nearest, the even one of two, once.
#[test]
fn casts_to_halves_round_to_even() {
    let cast = |from: DType, value: f64, to: DType| {
        run(op::Cast { to }, &[typed(from, &[1], &[value])], (to, &[1], &Layout::packed()), 0xff, None).unwrap()[0]
    };
    assert_eq!(cast(DType::F32, 2049.0, DType::F16), 2048.0);
    assert_eq!(cast(DType::F32, 2051.0, DType::F16), 2052.0);
    assert_eq!(cast(DType::F32, 65519.0, DType::F16), 65504.0);
    assert_eq!(cast(DType::F32, 65520.0, DType::F16), f64::INFINITY);
    assert_eq!(cast(DType::F32, 257.0, DType::BF16), 256.0);
    assert_eq!(cast(DType::F32, 259.0, DType::BF16), 260.0);
    // By way of f32 this would be rounded down to a tie, and that to the even one.
    assert_eq!(cast(DType::I32, f64::from((1 << 30) + (1 << 22) + 1), DType::BF16), f64::from((1 << 30) + (1 << 23)));
}
