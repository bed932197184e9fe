//! What every kernel test needs: operands laid out in a poisoned buffer, a run that must touch nothing but its output
//! and give the same bits whatever the unwritten bytes hold, and comparison with an oracle in `f64`.

use model_graph::op::Operator;
use model_graph::{Buffer, BufferType, Call, Cpu, CpuBuffer, DType, Error, HostBuffer, Kernel, MAX_RANK, Usage, View};
use model_graph_planner::{Shape, Type};
use proptest::prelude::*;

/// The buffer that the tests run on.
pub(crate) type Host = CpuBuffer<model_graph::cpu::OwnedBytes>;

/// How a tensor lies in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Sorts the axes from outermost to innermost; equal keys keep the axes' order.
    pub(crate) keys: [u8; MAX_RANK],
    /// Elements left out after every dimension.
    pub(crate) gap: usize,
    /// Distance between neighbours of the innermost dimension.
    pub(crate) step: usize,
    /// Axes whose stride is 0.
    pub(crate) broadcast: [bool; MAX_RANK],
}

impl Layout {
    /// Row-major, without gaps.
    pub(crate) fn packed() -> Layout {
        Layout { step: 1, ..Layout::default() }
    }

    pub(crate) fn strides(&self, dims: &[usize]) -> [usize; MAX_RANK] {
        let mut axes: Vec<usize> = (0..dims.len()).collect();
        axes.sort_by_key(|axis| self.keys[*axis]);
        let mut strides = [0; MAX_RANK];
        let mut stride = self.step;
        for axis in axes.into_iter().rev() {
            if !self.broadcast[axis] {
                strides[axis] = stride;
                stride = stride * dims[axis].max(1) + self.gap;
            }
        }
        strides
    }
}

/// Packed, sliced, transposed and (for inputs) broadcast layouts.
pub(crate) fn layout(broadcasts: bool) -> impl Strategy<Value = Layout> {
    let free = (any::<[u8; MAX_RANK]>(), 0..3usize, 1..4usize, any::<[bool; MAX_RANK]>());
    let free = free.prop_map(move |(keys, gap, step, mask)| Layout {
        keys,
        gap,
        step,
        broadcast: mask.map(|bit| bit && broadcasts),
    });
    let sliced = (0..3usize, 1..3usize).prop_map(|(gap, step)| Layout { gap, step, ..Layout::default() });
    let transposed = any::<[u8; MAX_RANK]>().prop_map(|keys| Layout { keys, ..Layout::packed() });
    prop_oneof![2 => Just(Layout::packed()), 1 => sliced, 1 => transposed, 2 => free]
}

/// Extents with zeros, ones, odd sizes and sizes around vector widths.
pub(crate) fn extent() -> impl Strategy<Value = usize> {
    prop_oneof![1 => Just(0), 3 => Just(1), 8 => 2..8usize, 2 => 8..40usize]
}

/// Up to `rank` of them, few elements together.
pub(crate) fn extents(ranks: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(extent(), ranks).prop_map(|mut dims| {
        while dims.iter().product::<usize>() > 4000 {
            let largest = dims.iter_mut().max().expect("there are dimensions");
            *largest = *largest / 2 + 1;
        }
        dims
    })
}

/// A tensor as the oracles see it: row-major values.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) dims: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

impl Tensor {
    /// The value at an index, broadcast by numpy's rule where extents are 1 or dimensions are missing.
    pub(crate) fn at(&self, index: &[usize]) -> f64 {
        let index = &index[index.len() - self.dims.len()..];
        let position = self.dims.iter().zip(index).fold(0, |at, (dim, i)| at * dim + if *dim == 1 { 0 } else { *i });
        self.values[position]
    }
}

/// Every index of these extents, in row-major order.
pub(crate) fn indices(dims: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &dim in dims {
        all = all.iter().flat_map(|index: &Vec<usize>| (0..dim).map(|i| [index.as_slice(), &[i]].concat())).collect();
    }
    all
}

/// A tensor's extents and layout, and what its elements are drawn from.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) dims: Vec<usize>,
    pub(crate) layout: Layout,
    pub(crate) values: Values,
}

#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// From -2 to 2, whole sixteenths among them.
    Seed(u64),
    /// As `Seed`, and now and then NaN, an infinity or a zero of either sign.
    Special(u64),
    /// From 0.1 to 2.
    Positive(u64),
    /// Row-major, for packed layouts.
    List(Vec<f32>),
    /// Elements of `u32`, row-major.
    Whole(Vec<u32>),
}

pub(crate) fn given(dims: &[usize], layout: Layout, values: Values) -> Given {
    Given { dims: dims.to_vec(), layout, values }
}

pub(crate) fn list(dims: &[usize], values: &[f32]) -> Given {
    assert_eq!(dims.iter().product::<usize>(), values.len());
    given(dims, Layout::packed(), Values::List(values.to_vec()))
}

fn draw(values: &Values, count: usize) -> Vec<f32> {
    let seed = match values {
        Values::List(list) => return list.clone(),
        Values::Whole(list) => return list.iter().map(|whole| f32::from_bits(*whole)).collect(),
        Values::Seed(seed) | Values::Special(seed) | Values::Positive(seed) => *seed,
    };
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as u32
    };
    let mut value = || {
        let (kind, unit) = (next() % 16, next() as f32 / (1 << 24) as f32);
        match (values, kind) {
            (Values::Positive(_), _) => 0.1 + unit * 1.9,
            (Values::Special(_), 0) => f32::NAN,
            (Values::Special(_), 1) => f32::INFINITY,
            (Values::Special(_), 2) => f32::NEG_INFINITY,
            (Values::Special(_), 3) => -0.0,
            (Values::Special(_), 4) => 0.0,
            (_, 5 | 6) => (unit * 64.0).round() / 16.0 - 2.0,
            _ => unit * 4.0 - 2.0,
        }
    };
    (0..count).map(|_| value()).collect()
}

/// Operands side by side in a buffer of their own.
pub(crate) struct Bench {
    pub(crate) buffer: Host,
    pub(crate) inputs: Vec<View>,
    pub(crate) output: View,
}

pub(crate) fn view(offset: usize, dims: &[usize], strides: [usize; MAX_RANK]) -> View {
    let mut all = [1; MAX_RANK];
    all[..dims.len()].copy_from_slice(dims);
    View { dtype: DType::F32, offset, rank: dims.len(), dims: all, strides }
}

pub(crate) fn buffer(size: usize, fill: u8) -> Host {
    let mut buffer = Cpu.allocate(size, 64, Usage::Any).unwrap();
    buffer.clear(fill).unwrap();
    buffer
}

/// Lays the inputs and the output out. `order` rotates which comes first; `odd` shifts all of them by elements.
pub(crate) fn lay(inputs: &[Given], output: &Given, order: usize, odd: usize, poison: u8) -> Bench {
    let mut at = 4 * odd;
    let mut views = vec![view(0, &[], [0; MAX_RANK]); inputs.len() + 1];
    for index in 0..views.len() {
        let index = (index + order) % views.len();
        let tensor = inputs.get(index).unwrap_or(output);
        views[index] = view(at, &tensor.dims, tensor.layout.strides(&tensor.dims));
        if matches!(tensor.values, Values::Whole(_)) {
            views[index].dtype = DType::U32;
        }
        at = views[index].span().end + 4 * (odd % 3);
    }
    let mut buffer = buffer(at + 12, poison);
    for (given, view) in inputs.iter().zip(&views) {
        // Gaps keep the poison.
        let values = draw(&given.values, view.elements());
        for (offset, value) in places(view).zip(values) {
            buffer.set(offset, &value.to_ne_bytes()).unwrap();
        }
    }
    let output = views.pop().expect("the output is there");
    Bench { buffer, inputs: views, output }
}

/// The byte of every element in row-major order.
pub(crate) fn places(view: &View) -> impl Iterator<Item = usize> {
    let view = *view;
    indices(view.dims()).into_iter().map(move |index| {
        view.offset + view.dtype.size() * index.iter().zip(view.strides()).map(|(i, s)| i * s).sum::<usize>()
    })
}

pub(crate) fn read(buffer: &Host, view: &View) -> Vec<f32> {
    places(view).map(|at| f32::from_ne_bytes(buffer.bytes()[at..at + 4].try_into().unwrap())).collect()
}

pub(crate) fn tensor(buffer: &Host, view: &View) -> Tensor {
    let value = |value: f32| if view.dtype == DType::U32 { f64::from(value.to_bits()) } else { f64::from(value) };
    Tensor { dims: view.dims().to_vec(), values: read(buffer, view).into_iter().map(value).collect() }
}

pub(crate) fn bits(values: &[f32]) -> Vec<u32> {
    // All NaNs are one.
    values.iter().map(|value| if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() }).collect()
}

/// Runs the step, in the working space that it asks for, and gives what it wrote.
pub(crate) fn run<O: Operator + Copy>(op: O, bench: &mut Bench) -> Result<Vec<f32>, Error>
where
    Host: Kernel<O>,
{
    let ty = |view: &View| Type { dtype: view.dtype, shape: Shape::new(view.dims()).unwrap() };
    let types: Vec<Type> = bench.inputs.iter().map(ty).collect();
    let scratch: Vec<View> = match op.scratch(&types, &ty(&bench.output)) {
        0 => Vec::new(),
        bytes => {
            let old = bench.buffer.bytes().to_vec();
            let start = old.len().next_multiple_of(64);
            bench.buffer = buffer(start + bytes, *old.last().unwrap());
            bench.buffer.set(0, &old).unwrap();
            vec![View::packed(DType::U8, start, &Shape::new(&[bytes]).unwrap())]
        }
    };
    let before = bench.buffer.bytes().to_vec();
    let call = Call { op, inputs: &bench.inputs, outputs: &[bench.output], scratch: &scratch, shared: None };
    let result = bench.buffer.run(&call);
    let mut written = vec![false; before.len()];
    if result.is_ok() {
        places(&bench.output).for_each(|at| written[at..at + 4].fill(true));
        scratch.iter().for_each(|view| written[view.span()].fill(true));
    }
    for (at, (before, after)) in before.iter().zip(bench.buffer.bytes()).enumerate() {
        assert!(written[at] || before == after, "byte {at} is not the output's and was changed");
    }
    result.map(|()| read(&bench.buffer, &bench.output))
}

/// Runs an operator on the given operands every way it may be run, and compares with the oracle, which gets the inputs
/// and an index of the output.
pub(crate) fn check<O: Operator + Copy>(
    op: O,
    inputs: &[Given],
    output: &Given,
    place: (usize, usize),
    tolerance: f64,
    oracle: impl Fn(&[Tensor], &[usize]) -> f64,
) where
    Host: Kernel<O>,
{
    let mut bench = lay(inputs, output, place.0, place.1, 0xff);
    let tensors: Vec<Tensor> = bench.inputs.iter().map(|view| tensor(&bench.buffer, view)).collect();
    let actual = run(op, &mut bench).unwrap();
    for (index, actual) in indices(&output.dims).iter().zip(&actual) {
        let expected = oracle(&tensors, index);
        let close = (f64::from(*actual) - expected).abs() <= tolerance * expected.abs().max(1.0);
        let same = f64::from(*actual) == expected || f64::from(*actual) == f64::from(expected as f32);
        assert!(
            close || same || actual.is_nan() && expected.is_nan(),
            "{op:?} at {index:?}: {actual} instead of {expected}"
        );
    }
    // Elsewhere, in other surroundings.
    let moved = run(op, &mut lay(inputs, output, place.0 + 1, place.1 + 1, 0x00)).unwrap();
    assert_eq!(bits(&moved), bits(&actual), "{op:?} depends on where its operands lie");
    // In place.
    for input in 0..inputs.len() {
        let mut bench = lay(inputs, output, place.0, place.1, 0xff);
        let view = bench.inputs[input];
        let addresses: Vec<usize> = places(&view).collect();
        let distinct = addresses.iter().collect::<std::collections::BTreeSet<_>>().len() == addresses.len();
        let layout = op.strided_output() || view.is_packed();
        if op.in_place(input) && view.dims() == output.dims && distinct && layout {
            bench.output = view;
            let in_place = run(op, &mut bench).unwrap();
            assert_eq!(bits(&in_place), bits(&actual), "{op:?} in place of operand {input} differs");
        }
    }
}
