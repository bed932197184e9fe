//! Calls that no checked plan makes: they are errors, and nothing is written.

use model_graph::op;
use model_graph::{Buffer, Call, CpuSlice, DType, Error, ErrorKind, HostBuffer, Kernel, Usage, View};
use proptest::prelude::*;

use crate::harness::*;

fn floats(values: &[f32]) -> Host {
    let mut buffer = buffer(values.len() * 4, 0);
    for (index, value) in values.iter().enumerate() {
        buffer.set(index * 4, &value.to_ne_bytes()).unwrap();
    }
    buffer
}

fn packed(offset: usize, dims: &[usize]) -> View {
    view(offset, dims, Layout::packed().strides(dims))
}

fn transposed(view: &View) -> View {
    let mut view = *view;
    view.dims.swap(0, 1);
    view.strides.swap(0, 1);
    view
}

fn add(buffer: &mut Host, inputs: [View; 2], output: View) -> Result<(), Error> {
    buffer.run(&Call { op: op::Add {}, inputs: &inputs, outputs: &[output], scratch: &[], shared: None })
}

fn kind(result: Result<(), Error>) -> ErrorKind {
    result.unwrap_err().kind().clone()
}

#[test]
fn ip_2_a_tensor_plus_its_transpose_is_not_in_place() {
    let mut buffer = floats(&[1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0]);
    let a = packed(0, &[2, 2]);
    let before = buffer.bytes().to_vec();
    assert_eq!(kind(add(&mut buffer, [a, transposed(&a)], a)), ErrorKind::Overlap { op: "add" });
    assert_eq!(before, buffer.bytes());
    let y = packed(16, &[2, 2]);
    add(&mut buffer, [a, transposed(&a)], y).unwrap();
    assert_eq!(read(&buffer, &y), [2.0, 5.0, 5.0, 8.0]);
    add(&mut buffer, [a, a], a).unwrap();
    assert_eq!(read(&buffer, &a), [2.0, 4.0, 6.0, 8.0]);
}

#[test]
fn al_4_odd_offsets_and_odd_rows() {
    let x: Vec<f32> = (0..1025).map(|i| (i % 7) as f32 - 3.0).collect();
    let mut buffer = floats(&[x.clone(), vec![9.0; 1024]].concat());
    let (x_view, y) = (packed(4, &[1024]), packed(4100, &[1024]));
    buffer.run(&Call { op: op::Relu {}, inputs: &[x_view], outputs: &[y], scratch: &[], shared: None }).unwrap();
    assert_eq!(read(&buffer, &y), x[1..].iter().map(|x| x.max(0.0)).collect::<Vec<_>>());
    let mut buffer = floats(&[&x[..15], &[0.0; 15]].concat());
    let (m, y) = (packed(0, &[3, 5]), packed(60, &[3, 5]));
    buffer.run(&Call { op: op::Relu {}, inputs: &[m], outputs: &[y], scratch: &[], shared: None }).unwrap();
    assert_eq!(read(&buffer, &y), x[..15].iter().map(|x| x.max(0.0)).collect::<Vec<_>>());
}

#[test]
fn overlaps_are_errors() {
    let mut buffer = floats(&[1.0; 16]);
    let overlap = ErrorKind::Overlap { op: "add" };
    let (a, b) = (packed(0, &[4]), packed(32, &[4]));
    for output in [4, 12, 20, 28, 44] {
        assert_eq!(kind(add(&mut buffer, [a, b], packed(output, &[4]))), overlap, "output at {output}");
    }
    // Interleaved: no element is shared, but the spans meet.
    let (even, odd) = (view(0, &[4], [2, 0, 0, 0, 0, 0]), view(4, &[4], [2, 0, 0, 0, 0, 0]));
    assert_eq!(kind(add(&mut buffer, [even, b], odd)), overlap);
    // Inputs may overlap one another.
    add(&mut buffer, [a, packed(8, &[4])], b).unwrap();
    // An operator that cannot work in place.
    let square = packed(0, &[2, 2]);
    let call = Call {
        op: op::MatMul {},
        inputs: &[square, packed(16, &[2, 2])],
        outputs: &[square],
        scratch: &[],
        shared: None,
    };
    assert_eq!(kind(buffer.run(&call)), ErrorKind::Overlap { op: "matmul" });
    // Scratch is written as well.
    let call = Call { op: op::Relu {}, inputs: &[a], outputs: &[b], scratch: &[packed(8, &[4])], shared: None };
    assert_eq!(kind(buffer.run(&call)), ErrorKind::Overlap { op: "relu" });
    let call = Call { op: op::Relu {}, inputs: &[a], outputs: &[b], scratch: &[packed(40, &[4])], shared: None };
    assert_eq!(kind(buffer.run(&call)), ErrorKind::Overlap { op: "relu" });
    let call = Call { op: op::Relu {}, inputs: &[a], outputs: &[b], scratch: &[packed(16, &[4])], shared: None };
    buffer.run(&call).unwrap();
}

#[test]
fn views_beyond_the_buffer_are_errors() {
    let mut buffer = floats(&[1.0; 16]);
    let (a, y) = (packed(0, &[4]), packed(32, &[4]));
    let mut huge = packed(0, &[4]);
    huge.strides[0] = usize::MAX / 2;
    let mut far = packed(usize::MAX - 3, &[4]);
    far.strides[0] = 1;
    for wrong in [packed(52, &[4]), packed(64, &[4]), huge, far] {
        assert!(matches!(kind(add(&mut buffer, [a, wrong], y)), ErrorKind::OutOfRange { size: 64, .. }), "{wrong:?}");
        assert!(matches!(kind(add(&mut buffer, [a, a], wrong)), ErrorKind::OutOfRange { size: 64, .. }), "{wrong:?}");
    }
    assert!(buffer.bytes().chunks(4).all(|bytes| bytes == 1f32.to_ne_bytes()));
}

#[test]
fn operands_of_the_wrong_form_are_errors() {
    let mut buffer = floats(&[1.0; 32]);
    let y = packed(64, &[4]);
    let length = |result| assert!(matches!(kind(result), ErrorKind::Length { .. }));
    length(add(&mut buffer, [packed(0, &[4]), packed(16, &[3])], y));
    length(add(&mut buffer, [packed(0, &[3]), packed(16, &[3])], y));
    let mut bytes = packed(16, &[4]);
    bytes.dtype = DType::U8;
    length(add(&mut buffer, [packed(0, &[4]), bytes], y));
    let call = Call { op: op::Add {}, inputs: &[packed(0, &[4])], outputs: &[y], scratch: &[], shared: None };
    length(buffer.run(&call));
    let call = Call { op: op::Relu {}, inputs: &[packed(0, &[4])], outputs: &[], scratch: &[], shared: None };
    length(buffer.run(&call));
    // Softmax takes packed rows only.
    let x = transposed(&packed(0, &[2, 3]));
    let call =
        Call { op: op::Softmax { axis: 1 }, inputs: &[x], outputs: &[packed(64, &[3, 2])], scratch: &[], shared: None };
    length(buffer.run(&call));
    let mut deep = packed(0, &[4]);
    deep.rank = 9;
    length(add(&mut buffer, [deep, packed(0, &[4])], y));
    assert!(buffer.bytes().chunks(4).all(|bytes| bytes == 1f32.to_ne_bytes()));
}

#[test]
fn misaligned_elements_are_errors() {
    let mut buffer = floats(&[1.0; 32]);
    let y = packed(64, &[4]);
    assert!(matches!(
        kind(add(&mut buffer, [packed(0, &[4]), packed(18, &[4])], y)),
        ErrorKind::Misaligned { needed: 4, .. }
    ));
    assert!(matches!(kind(add(&mut buffer, [packed(0, &[4]); 2], packed(65, &[4]))), ErrorKind::Misaligned { .. }));
    // Memory of the caller's that starts at an odd address.
    let mut bytes = [0u8; 68];
    let start = (0..4).find(|start| (bytes.as_ptr().addr() + start) % 4 == 1).unwrap();
    let mut odd = CpuSlice::new(&mut bytes[start..], Usage::Any);
    let call =
        Call { op: op::Relu {}, inputs: &[packed(0, &[4])], outputs: &[packed(16, &[4])], scratch: &[], shared: None };
    assert!(matches!(kind(odd.run(&call)), ErrorKind::Misaligned { needed: 4, .. }));
}

/// Empty tensors may lie anywhere; nothing is read or written.
#[test]
fn empty_tensors_are_nowhere() {
    let mut buffer = floats(&[1.0; 4]);
    for offset in [0, 4, 16, 20, 999] {
        let empty = packed(offset, &[0, 3]);
        add(&mut buffer, [empty, packed(0, &[3])], packed(4, &[0, 3])).unwrap();
        add(&mut buffer, [packed(4, &[0, 3]), packed(0, &[3])], empty).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the views say, a call gives a result or an error; it does not panic, and an error changes nothing.
    #[test]
    fn any_views_at_all(
        offsets: [u8; 3], dims in prop::array::uniform3(prop::collection::vec(0..4usize, 0..=3)),
        strides in prop::array::uniform3(prop::array::uniform6(0..4usize)), far in 0..30usize,
    ) {
        let mut views: [View; 3] = std::array::from_fn(|i| view(usize::from(offsets[i]) % 72, &dims[i], strides[i]));
        if let Some(view) = views.get_mut(far) {
            view.strides[0] = usize::MAX / 3;
        }
        let [a, b, y] = views;
        let mut buffer = buffer(72, 0x3f);
        let before = buffer.bytes().to_vec();
        if add(&mut buffer, [a, b], y).is_err() {
            prop_assert_eq!(&before, buffer.bytes());
        }
        let call = Call { op: op::MatMul {}, inputs: &[a, b], outputs: &[y], scratch: &[], shared: None };
        let before = buffer.bytes().to_vec();
        if buffer.run(&call).is_err() {
            prop_assert_eq!(&before, buffer.bytes());
        }
    }
}
