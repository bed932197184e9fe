//! Operands of any element type in a poisoned buffer, and their comparison with an oracle in `f64`, which holds every value
//! that is drawn.

use model_graph::op::Operator;
use model_graph::{
    Block, BlockQ4_0, BlockQ8_0, Buffer, Call, DType, Error, HostBuffer, Kernel, MAX_RANK, View, bf16, f16, quantise,
};

use model_graph_planner::{Shape, Type};

use crate::harness::{Host, Layout, Tensor, buffer, indices, places};

/// All types whose elements lie by themselves.
pub(crate) const PLAIN: [DType; 9] =
    [DType::F32, DType::F16, DType::BF16, DType::I8, DType::U8, DType::I32, DType::U32, DType::I64, DType::Bool];

/// An operand of some element type.
#[derive(Clone, Debug)]
pub(crate) struct Typed {
    pub(crate) dtype: DType,
    pub(crate) dims: Vec<usize>,
    pub(crate) layout: Layout,
    pub(crate) values: Vec<f64>,
}

/// Drawn values: small ones, limits of integers, special ones of floats.
pub(crate) fn draw(dtype: DType, dims: &[usize], layout: Layout, seed: u64) -> Typed {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as i64
    };
    let values = (0..dims.iter().product()).map(|_| {
        let (kind, small) = (next() % 12, next() % 11 - 5);
        match (dtype.range(), kind) {
            (Some((low, _)), 0) => low.max(-(1 << 52)) as f64 + if small > 0 { 1.0 } else { 0.0 },
            (Some((_, high)), 1) => high.min(1 << 52) as f64,
            (Some((low, _)), _) => (small as f64).max(low as f64),
            (None, _) if dtype == DType::Bool => (small.rem_euclid(2)) as f64,
            (None, 0) => f64::NAN,
            (None, 1) => f64::INFINITY,
            (None, 2) => f64::NEG_INFINITY,
            (None, 3) => 0.0,
            (None, _) => decode(dtype, &encode(dtype, (next() % 1000) as f64 / 200.0 - 2.5)),
        }
    });
    Typed { dtype, dims: dims.to_vec(), layout, values: values.collect() }
}

/// Indices below `extent`, negative ones among them where the type has some.
pub(crate) fn draw_indices(dtype: DType, dims: &[usize], extent: usize, seed: u64) -> Typed {
    let mut state = seed | 1;
    let values = (0..dims.iter().product()).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let index = (state >> 33) as usize % extent.max(1);
        if dtype != DType::U32 && state & 1 << 20 != 0 { index as f64 - extent as f64 } else { index as f64 }
    });
    Typed { dtype, dims: dims.to_vec(), layout: Layout::packed(), values: values.collect() }
}

pub(crate) fn typed(dtype: DType, dims: &[usize], values: &[f64]) -> Typed {
    assert_eq!(dims.iter().product::<usize>(), values.len());
    Typed { dtype, dims: dims.to_vec(), layout: Layout::packed(), values: values.to_vec() }
}

/// The bytes of one element.
pub(crate) fn encode(dtype: DType, value: f64) -> Vec<u8> {
    match dtype {
        DType::F32 => (value as f32).to_ne_bytes().to_vec(),
        DType::F16 => f16::from_f64(value).to_ne_bytes().to_vec(),
        DType::BF16 => bf16::from_f64(value).to_ne_bytes().to_vec(),
        DType::I8 => (value as i8).to_ne_bytes().to_vec(),
        DType::U8 => (value as u8).to_ne_bytes().to_vec(),
        DType::I32 => (value as i32).to_ne_bytes().to_vec(),
        DType::U32 => (value as u32).to_ne_bytes().to_vec(),
        DType::I64 => (value as i64).to_ne_bytes().to_vec(),
        _ => vec![u8::from(value != 0.0)],
    }
}

pub(crate) fn decode(dtype: DType, bytes: &[u8]) -> f64 {
    let word = || bytes.try_into().unwrap();
    match dtype {
        DType::F32 => f32::from_ne_bytes(word()).into(),
        DType::F16 => f16::from_ne_bytes(bytes.try_into().unwrap()).into(),
        DType::BF16 => bf16::from_ne_bytes(bytes.try_into().unwrap()).into(),
        DType::I8 => (bytes[0] as i8).into(),
        DType::I32 => i32::from_ne_bytes(word()).into(),
        DType::U32 => u32::from_ne_bytes(word()).into(),
        DType::I64 => i64::from_ne_bytes(bytes.try_into().unwrap()) as f64,
        DType::U8 => bytes[0].into(),
        _ => {
            assert!(bytes[0] < 2, "a truth value is 0 or 1");
            bytes[0].into()
        }
    }
}

/// What an integer type makes of a result that it may not hold.
pub(crate) fn wrap(dtype: DType, value: i128) -> f64 {
    match dtype {
        DType::I8 => value as i8 as f64,
        DType::U8 => value as u8 as f64,
        DType::I32 => value as i32 as f64,
        DType::U32 => value as u32 as f64,
        _ => value as i64 as f64,
    }
}

/// How far a result may be from the oracle's, relative to it.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => 1e-5,
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        _ => 0.0,
    }
}

/// A view at the next place where its elements may lie.
fn place(at: &mut usize, dtype: DType, dims: &[usize], layout: &Layout) -> View {
    let mut all = [1; MAX_RANK];
    all[..dims.len()].copy_from_slice(dims);
    let offset = at.next_multiple_of(8);
    let view = View { dtype, offset, rank: dims.len(), dims: all, strides: layout.strides(dims) };
    *at = view.span().end;
    view
}

/// Runs an operator and gives what it wrote; panics when it wrote anything else.
pub(crate) fn run<O: Operator + Copy>(
    op: O,
    inputs: &[Typed],
    output: (DType, &[usize], &Layout),
    poison: u8,
    in_place: Option<usize>,
) -> Result<Vec<f64>, Error>
where
    Host: Kernel<O>,
{
    let mut at = usize::from(poison & 8);
    let views: Vec<View> = inputs.iter().map(|x| place(&mut at, x.dtype, &x.dims, &x.layout)).collect();
    let output = match in_place {
        Some(input) => views[input],
        None => place(&mut at, output.0, output.1, output.2),
    };
    let ty = |view: &View| Type { dtype: view.dtype, shape: Shape::new(view.dims()).unwrap() };
    let types: Vec<Type> = views.iter().map(ty).collect();
    let start = (at + 16).next_multiple_of(64);
    let bytes = op.scratch(&types, &ty(&output));
    let scratch = [View::packed(DType::U8, start, &Shape::new(&[bytes]).unwrap())];
    let scratch = if bytes == 0 { &[] } else { &scratch[..] };
    let mut buffer = buffer(start + bytes, poison);
    for (view, input) in views.iter().zip(inputs) {
        for (at, value) in places(view).zip(&input.values) {
            buffer.set(at, &encode(input.dtype, *value)).unwrap();
        }
    }
    let before = buffer.bytes().to_vec();
    let result = buffer.run(&Call { op, inputs: &views, outputs: &[output], scratch, shared: None });
    let mut own = vec![false; before.len()];
    if result.is_ok() {
        places(&output).for_each(|at| own[at..at + output.dtype.size()].fill(true));
        own[start..].fill(true);
    }
    for (at, (before, after)) in before.iter().zip(buffer.bytes()).enumerate() {
        assert!(own[at] || before == after, "byte {at} is not the output's and was changed by {op:?}");
    }
    let size = output.dtype.size();
    result.map(|()| places(&output).map(|at| decode(output.dtype, &buffer.bytes()[at..at + size])).collect())
}

/// Runs an operator every way it may be run, and compares with the oracle.
pub(crate) fn check<O: Operator + Copy>(
    op: O,
    inputs: &[Typed],
    output: (DType, &[usize], &Layout),
    oracle: impl Fn(&[Tensor], &[usize]) -> f64,
) where
    Host: Kernel<O>,
{
    // What lies over one another has the value that was written last.
    let tensors: Vec<Tensor> = inputs.iter().map(seen).collect();
    let actual = run(op, inputs, output, 0xff, None).unwrap();
    for (index, actual) in indices(output.1).iter().zip(&actual) {
        let exact = oracle(&tensors, index);
        let expected = if output.0.range().is_some() { exact } else { decode(output.0, &encode(output.0, exact)) };
        let close = (actual - expected).abs() <= tolerance(output.0) * expected.abs().max(1e-2);
        assert!(
            close || *actual == expected || actual.is_nan() && expected.is_nan(),
            "{op:?} of {:?} at {index:?}: {actual} instead of {expected}",
            inputs.first().map(|input| input.dtype)
        );
    }
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(
        bits(&run(op, inputs, output, 0x00, None).unwrap()),
        bits(&actual),
        "{op:?} depends on what is unwritten"
    );
    for (index, input) in inputs.iter().enumerate() {
        let strides = input.layout.strides(&input.dims);
        let distinct = (0..input.dims.len()).all(|axis| strides[axis] > 0 || input.dims[axis] < 2);
        let packed = input.layout.keys == [0; MAX_RANK] && input.layout.gap == 0 && input.layout.step == 1;
        if op.in_place(index)
            && input.dtype == output.0
            && input.dims == output.1
            && distinct
            && (packed || op.strided_output())
        {
            let there = run(op, inputs, output, 0xff, Some(index)).unwrap();
            assert_eq!(bits(&there), bits(&actual), "{op:?} in place of operand {index} differs");
        }
    }
}

/// The values that a kernel finds.
pub(crate) fn seen(input: &Typed) -> Tensor {
    let strides = input.layout.strides(&input.dims);
    let at = |index: &Vec<usize>| index.iter().zip(strides).map(|(i, stride)| i * stride).sum::<usize>();
    let all = indices(&input.dims);
    let mut last = std::collections::BTreeMap::new();
    for (index, value) in all.iter().zip(&input.values) {
        last.insert(at(index), *value);
    }
    Tensor { dims: input.dims.clone(), values: all.iter().map(|index| last[&at(index)]).collect() }
}

/// A matrix in blocks: its bytes, and the weights that they stand for.
pub(crate) fn blocks(dtype: DType, rows: usize, columns: usize, seed: u64) -> (Vec<u8>, Vec<f64>) {
    let drawn = draw(DType::F32, &[rows, columns], Layout::packed(), seed);
    let weights: Vec<f32> =
        drawn.values.iter().map(|value| if value.is_finite() { *value as f32 } else { 0.25 }).collect();
    fn both<B: Block + Default + Clone>(weights: &[f32], rows: usize, columns: usize) -> (Vec<u8>, Vec<f64>) {
        let mut blocks = vec![B::default(); rows * columns.div_ceil(32)];
        quantise(weights, columns, &mut blocks).unwrap();
        // By the layout that ggml documents, not by what the runtime makes of it.
        let bytes: Vec<u8> = blocks.iter().flat_map(|block| bytemuck::bytes_of(block).to_vec()).collect();
        let size = size_of::<B>();
        let element = |row: usize, column: usize| {
            let block = &bytes[(row * columns.div_ceil(32) + column / 32) * size..][..size];
            let scale = f64::from(f16::from_le_bytes([block[0], block[1]]));
            let at = column % 32;
            match size {
                34 => scale * f64::from(block[2 + at] as i8),
                _ if at < 16 => scale * (f64::from(block[2 + at] & 15) - 8.0),
                _ => scale * (f64::from(block[2 + at - 16] >> 4) - 8.0),
            }
        };
        let values = (0..rows * columns).map(|at| element(at / columns, at % columns)).collect();
        (bytes, values)
    }
    match dtype {
        DType::Q8_0 => both::<BlockQ8_0>(&weights, rows, columns),
        _ => both::<BlockQ4_0>(&weights, rows, columns),
    }
}
