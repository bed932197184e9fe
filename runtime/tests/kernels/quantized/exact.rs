//! How quantised operators are run on drawn operands, and the exact arithmetic that they are held against.

use model_graph::op::Operator;
use model_graph::{Call, DType, HostBuffer, Kernel, MAX_RANK, View};

use crate::harness::{Host, buffer, indices};

/// An operand: its extents and elements in row-major order.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) dims: Vec<usize>,
    pub(super) data: Data,
    /// The innermost two dimensions lie the other way round.
    pub(super) turned: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Data {
    I8(Vec<i8>),
    I32(Vec<i32>),
    F32(Vec<f32>),
}

impl Data {
    pub(super) fn dtype(&self) -> DType {
        match self {
            Data::I8(_) => DType::I8,
            Data::I32(_) => DType::I32,
            Data::F32(_) => DType::F32,
        }
    }

    pub(super) fn bytes(&self, at: usize) -> Vec<u8> {
        match self {
            Data::I8(values) => values[at].to_ne_bytes().to_vec(),
            Data::I32(values) => values[at].to_ne_bytes().to_vec(),
            Data::F32(values) => values[at].to_ne_bytes().to_vec(),
        }
    }
}

pub(super) fn given(dims: &[usize], data: Data) -> Given {
    Given { dims: dims.to_vec(), data, turned: false }
}

pub(super) fn scalar(value: f32) -> Given {
    given(&[], Data::F32(vec![value]))
}

pub(super) fn view(offset: usize, dtype: DType, dims: &[usize], turned: bool) -> View {
    let (mut all, mut strides) = ([1; MAX_RANK], [0; MAX_RANK]);
    all[..dims.len()].copy_from_slice(dims);
    let mut order: Vec<usize> = (0..dims.len()).collect();
    if turned && dims.len() > 1 {
        order.swap(dims.len() - 1, dims.len() - 2);
    }
    let mut stride = 1;
    for axis in order.into_iter().rev() {
        strides[axis] = stride;
        stride *= dims[axis].max(1);
    }
    View { dtype, offset, rank: dims.len(), dims: all, strides }
}

pub(super) fn places(view: &View) -> Vec<usize> {
    let at = |index: &Vec<usize>| index.iter().zip(view.strides()).map(|(i, s)| i * s).sum::<usize>();
    indices(view.dims()).iter().map(|index| view.offset + view.dtype.size() * at(index)).collect()
}

/// Runs the operator with its operands `odd` bytes (where they need no alignment) behind a multiple of 64, and over operand
/// `in_place` if there is one; the result's bytes, after making sure that nothing else was written.
pub(super) fn run<O: Operator + Copy>(
    op: O,
    inputs: &[Given],
    (dtype, dims): (DType, &[usize]),
    odd: usize,
    in_place: Option<usize>,
) -> Vec<u8>
where
    Host: Kernel<O>,
{
    let mut at = 64;
    let mut place = |dtype: DType, dims: &[usize], turned: bool| {
        let view = view(at + odd / dtype.align() * dtype.align(), dtype, dims, turned);
        at = (view.span().end + 1).next_multiple_of(64);
        view
    };
    let views: Vec<View> = inputs.iter().map(|given| place(given.data.dtype(), &given.dims, given.turned)).collect();
    let output = in_place.map_or_else(|| place(dtype, dims, false), |input| views[input]);
    let size = inputs.iter().map(|given| given.dims.clone()).collect::<Vec<_>>();
    let types: Vec<_> =
        size.iter().zip(inputs).map(|(dims, given)| model_graph_type(given.data.dtype(), dims)).collect();
    let inferred = op.infer(&types).unwrap();
    assert_eq!(inferred, model_graph_type(dtype, dims), "{op:?}");
    let needed = op.scratch(&types, &inferred);
    let scratch = place(DType::I8, &[needed], false);
    let mut memory = buffer(at + 64, 0xa5);
    for (given, view) in inputs.iter().zip(&views) {
        for (index, at) in places(view).into_iter().enumerate() {
            let bytes = given.data.bytes(index);
            memory.bytes_mut()[at..at + bytes.len()].copy_from_slice(&bytes);
        }
    }
    let before = memory.bytes().to_vec();
    let scratches = if needed > 0 { &[scratch][..] } else { &[] };
    memory.run(&Call { op, inputs: &views, outputs: &[output], scratch: scratches, shared: None }).unwrap();
    let mut written = vec![false; before.len()];
    let mut result = Vec::new();
    for at in places(&output) {
        written[at..at + dtype.size()].fill(true);
        result.extend(&memory.bytes()[at..at + dtype.size()]);
    }
    written[scratch.span()].fill(true);
    for (at, (before, after)) in before.iter().zip(memory.bytes()).enumerate() {
        assert!(written[at] || before == after, "byte {at} is not the output's and was changed by {op:?}");
    }
    result
}

pub(super) fn model_graph_type(dtype: DType, dims: &[usize]) -> model_graph_planner::Type {
    let dims: Vec<model_graph_planner::Dim> = dims.iter().map(|dim| model_graph_planner::Dim::new(*dim)).collect();
    model_graph_planner::Type { dtype, shape: model_graph_planner::Shape::new(&dims).unwrap() }
}

/// Runs the operator every way it may be run; all of them give the same.
pub(super) fn result<O: Operator + Copy>(op: O, inputs: &[Given], output: (DType, &[usize])) -> Vec<u8>
where
    Host: Kernel<O>,
{
    let plain = run(op, inputs, output, 0, None);
    assert_eq!(run(op, inputs, output, 5, None), plain, "{op:?} depends on where its operands lie");
    for (input, given) in inputs.iter().enumerate() {
        if op.in_place(input) && given.dims == output.1 && (!given.turned || op.strided_output()) {
            assert_eq!(run(op, inputs, output, 3, Some(input)), plain, "{op:?} in place of operand {input}");
        }
    }
    plain
}

pub(super) fn i8s(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| *byte as i8).collect()
}

/// A mantissa of 31 bits and an exponent, found by halving and doubling.
pub(super) fn multiplier(factor: f64) -> (i128, i32) {
    if !(factor.is_finite() && factor > 0.0) {
        return (0, 0);
    }
    let (mut fraction, mut exponent) = (factor, 0);
    while fraction >= 1.0 {
        (fraction, exponent) = (fraction / 2.0, exponent + 1);
    }
    while fraction < 0.5 {
        (fraction, exponent) = (fraction * 2.0, exponent - 1);
    }
    ((fraction * 2f64.powi(31)).round() as i128, exponent)
}

/// `x` times the factor: once rounded, halves up, and once more, halves away from zero.
pub(super) fn scaled(x: i64, factor: f64) -> i128 {
    let (mantissa, exponent) = multiplier(factor);
    if exponent < -31 {
        return 0;
    }
    let product = (i128::from(x) << exponent.max(0)) * mantissa;
    let once = (product + (1 << 30)).div_euclid(1 << 31);
    let power = 1i128 << (-exponent).max(0);
    once.signum() * ((2 * once.abs() + power) / (2 * power))
}

/// `x` times the factor, rounded once, halves up.
pub(super) fn scaled_once(x: i64, factor: f64) -> i128 {
    let (mantissa, exponent) = multiplier(factor);
    if exponent < -31 {
        return 0;
    }
    let power = 1i128 << (31 - exponent);
    (2 * i128::from(x) * mantissa + power).div_euclid(2 * power)
}

pub(super) fn cut(value: i128, low: i32, high: i32) -> i8 {
    value.clamp(i128::from(low), i128::from(high)) as i8
}

/// Numbers that are the same for the same seed.
pub(super) struct Draw(pub(super) u64);

impl Draw {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    pub(super) fn i8s(&mut self, count: usize) -> Vec<i8> {
        (0..count).map(|_| self.next() as i8).collect()
    }

    pub(super) fn i32s(&mut self, count: usize) -> Vec<i32> {
        (0..count).map(|_| (self.next() % 20_000) as i32 - 10_000).collect()
    }

    /// Scales around a hundredth, small ones and large ones among them.
    pub(super) fn scale(&mut self) -> f32 {
        (1.0 + (self.next() % 1000) as f32 / 700.0) * [0.01, 0.004, 0.0001, 0.3][(self.next() % 4) as usize]
    }

    pub(super) fn scales(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.scale()).collect()
    }

    pub(super) fn zero(&mut self) -> i32 {
        [-128, 127, 0, (self.next() % 256) as i32 - 128][(self.next() % 4) as usize]
    }

    /// The ends of a range.
    pub(super) fn range(&mut self) -> [i32; 2] {
        let mut range = [self.zero(), self.zero()];
        range.sort_unstable();
        if self.next().is_multiple_of(2) { [-128, 127] } else { range }
    }
}
