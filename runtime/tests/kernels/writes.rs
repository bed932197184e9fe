//! Writes of states against a loop over bytes: every element type, strided sources, positions from numbers and operands,
//! and calls that are refused.

use model_graph::{Buffer, Call, DType, Error, ErrorKind, HostBuffer, Kernel, MAX_RANK, View, op};
use proptest::prelude::*;

use crate::harness::*;

/// A state, a source and a position in one buffer of bytes that differ.
#[derive(Clone, Debug)]
struct Bench {
    op: op::Write,
    state: View,
    src: View,
    at: Option<View>,
    size: usize,
}

fn typed(dtype: DType, offset: usize, dims: &[usize], layout: &Layout) -> View {
    View { dtype, ..view(offset, dims, layout.strides(dims)) }
}

fn filled(bench: &Bench, position: usize) -> Host {
    let mut buffer = buffer(bench.size, 0);
    for (at, byte) in buffer.bytes_mut().iter_mut().enumerate() {
        *byte = (at * 37 % 251) as u8;
    }
    if let Some(at) = bench.at {
        buffer.set(at.offset, &(position as u32).to_ne_bytes()).unwrap();
    }
    buffer
}

fn run(buffer: &mut Host, bench: &Bench) -> Result<(), Error> {
    let mut inputs = vec![bench.state, bench.src];
    inputs.extend(bench.at);
    buffer.run(&Call { op: bench.op, inputs: &inputs, outputs: &[bench.state], scratch: &[], shared: None })
}

/// Lays out a write of these rows; `order` says which of the three comes first.
fn bench(
    dtype: DType,
    dims: &[usize],
    rows: usize,
    op: op::Write,
    layout: &Layout,
    order: usize,
    operand: bool,
) -> Bench {
    let mut src_dims = dims.to_vec();
    if !op.whole {
        src_dims[op.axis] = rows;
    }
    let mut at = 8;
    let mut views = [typed(dtype, 0, &[], layout); 3];
    for index in 0..3 {
        let index = (index + order) % 3;
        views[index] = match index {
            0 => typed(dtype, at, dims, &Layout::packed()),
            1 => typed(dtype, at, &src_dims, layout),
            _ => typed(DType::U32, at, &[], &Layout::packed()),
        };
        at = (views[index].span().end + 8).next_multiple_of(8);
    }
    Bench { op, state: views[0], src: views[1], at: operand.then_some(views[2]), size: at + 8 }
}

fn expected(bench: &Bench, before: &[u8], position: usize) -> Vec<u8> {
    let mut after = before.to_vec();
    let element = bench.state.dtype.size();
    let rows = indices(bench.src.dims());
    for (index, from) in rows.iter().zip(places(&bench.src)) {
        let mut to = bench.state.offset;
        for (axis, at) in index.iter().enumerate() {
            let shift = if !bench.op.whole && axis == bench.op.axis { position } else { 0 };
            to += (at + shift) * bench.state.strides[axis] * element;
        }
        after[to..to + element].copy_from_slice(&before[from..from + element]);
    }
    after
}

fn writes() -> impl Strategy<Value = (Bench, usize)> {
    // Only weights lie in blocks.
    let plain: Vec<DType> = DType::ALL.into_iter().filter(|dtype| !dtype.is_quantised()).collect();
    let dtype = prop::sample::select(plain);
    let place = (any::<usize>(), any::<usize>(), any::<usize>(), 0..3usize, any::<[bool; 2]>());
    (dtype, extents(1..=4), layout(true), place).prop_map(
        |(dtype, dims, layout, (axis, rows, position, order, [whole, operand]))| {
            let axis = axis % dims.len();
            let rows = rows % (dims[axis] + 1);
            let position = position % (dims[axis] - rows + 1);
            let op = match (whole, operand) {
                (true, _) => op::Write { axis: 0, at: 0, whole: true },
                (_, true) => op::Write { axis, at: 0, whole: false },
                (_, false) => op::Write { axis, at: position, whole: false },
            };
            (bench(dtype, &dims, rows, op, &layout, order, operand && !whole), position)
        },
    )
}

proptest! {
    #[test]
    fn rows_are_written_and_nothing_else((bench, position) in writes()) {
        let mut buffer = filled(&bench, position);
        let expected = expected(&bench, buffer.bytes(), position);
        prop_assert!(run(&mut buffer, &bench).is_ok(), "{bench:?}");
        prop_assert_eq!(buffer.bytes(), &expected[..]);
    }

    #[test]
    fn a_position_beyond_is_refused_and_nothing_is_written((bench, _) in writes(), beyond in 1..1000usize) {
        let Some(_) = bench.at else { return Ok(()) };
        let (rows, extent) = (bench.src.dims[bench.op.axis], bench.state.dims[bench.op.axis]);
        for position in [extent - rows + beyond, u32::MAX as usize] {
            let mut buffer = filled(&bench, position);
            let before = buffer.bytes().to_vec();
            let error = run(&mut buffer, &bench).unwrap_err();
            prop_assert_eq!(error.kind(), &ErrorKind::Position { op: "write", position, rows, extent });
            prop_assert_eq!(buffer.bytes(), &before[..]);
        }
    }
}

#[test]
fn a_scalar_and_nothing_at_all() {
    let whole = op::Write { axis: 0, at: 0, whole: true };
    for dims in [&[][..], &[0], &[3, 0, 2]] {
        let bench = bench(DType::I64, dims, 0, whole, &Layout::packed(), 1, false);
        let mut buffer = filled(&bench, 0);
        let expected = expected(&bench, buffer.bytes(), 0);
        run(&mut buffer, &bench).unwrap();
        assert_eq!(buffer.bytes(), expected);
    }
}

#[test]
fn calls_that_no_checked_plan_makes_are_errors() {
    let rows = op::Write { axis: 0, at: 1, whole: false };
    let good = bench(DType::F32, &[3, 2], 2, rows, &Layout::packed(), 0, false);
    let mut buffer = filled(&good, 0);
    let before = buffer.bytes().to_vec();
    let mut refused = |bench: &Bench, outputs: &[View]| {
        let call = Call { op: bench.op, inputs: &[bench.state, bench.src], outputs, scratch: &[], shared: None };
        assert!(buffer.run(&call).is_err(), "{bench:?}");
        assert_eq!(buffer.bytes(), before);
    };
    let elsewhere = View { offset: good.src.offset, ..good.state };
    refused(&good, &[elsewhere]);
    refused(&good, &[]);
    refused(&Bench { op: op::Write { axis: MAX_RANK + 1, ..rows }, ..good.clone() }, &[good.state]);
    refused(&Bench { op: op::Write { axis: 2, ..rows }, ..good.clone() }, &[good.state]);
    refused(&Bench { op: op::Write { at: 2, ..rows }, ..good.clone() }, &[good.state]);
    refused(&Bench { op: op::Write { at: usize::MAX, ..rows }, ..good.clone() }, &[good.state]);
    refused(&Bench { op: op::Write { whole: true, ..rows }, ..good.clone() }, &[good.state]);
    // The source lies over the state.
    refused(&Bench { src: View { offset: good.state.offset + 4, ..good.src }, ..good.clone() }, &[good.state]);
    refused(&Bench { src: View { offset: usize::MAX - 3, ..good.src }, ..good.clone() }, &[good.state]);
    let far = View { offset: good.size, dtype: DType::U32, ..typed(DType::U32, 0, &[], &Layout::packed()) };
    let call =
        Call { op: rows, inputs: &[good.state, good.src, far], outputs: &[good.state], scratch: &[], shared: None };
    assert!(buffer.run(&call).is_err());
    assert_eq!(buffer.bytes(), before);
}
