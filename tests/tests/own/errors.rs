//! Calls that no planned program makes: a kernel of an operator of its own refuses them before it writes anything.

use model_graph::cpu::{Memory, Operands, operands};
use model_graph::op::Own;
use model_graph::{Call, CpuBuffer, CpuSlice, DType, Error, ErrorKind, Kernel, MAX_RANK, View, operator};

#[operator(fn(x: f32[.., N], w: f32[N], more?: i8) -> f32[.., N], in_place = x, scratch = 4 * N)]
struct Scale;

impl<M: Memory> Kernel<Scale> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, Scale>) -> Result<(), Error> {
        let Operands { output, inputs: [x, w, more], scratch } = operands(self, call)?;
        more.get::<i8>()?;
        assert_eq!(scratch.of::<f32>()?.len(), w.of::<f32>()?.len());
        let y = output.of::<f32>()?;
        if let Some(x) = x.get::<f32>()? {
            y.copy_from_slice(x);
        }
        for row in y.chunks_exact_mut(w.of::<f32>()?.len()) {
            row.iter_mut().zip(w.of::<f32>()?).for_each(|(y, w)| *y *= w);
        }
        Ok(())
    }
}

#[repr(align(64))]
struct Bytes([u8; 256]);

fn view(dtype: DType, offset: usize, dims: &[usize]) -> View {
    let mut view = View { dtype, offset, rank: dims.len(), dims: [1; MAX_RANK], strides: [0; MAX_RANK] };
    let mut stride = 1;
    for axis in (0..dims.len()).rev() {
        (view.dims[axis], view.strides[axis]) = (dims[axis], stride);
        stride *= dims[axis];
    }
    view
}

fn f32s(offset: usize, dims: &[usize]) -> View {
    view(DType::F32, offset, dims)
}

/// Runs it on bytes that are all ones and tells whether it changed any.
fn run(inputs: &[View], outputs: &[View], scratch: &[View]) -> (Result<(), Error>, bool) {
    let mut bytes = Bytes([1; 256]);
    let result = CpuSlice::borrowed(&mut bytes.0).run(&Call { op: Scale, inputs, outputs, scratch, shared: None });
    (result, bytes.0 != [1; 256])
}

#[test]
fn what_holds_is_run() {
    let scratch = [f32s(128, &[4])];
    assert_eq!(run(&[f32s(0, &[2, 4]), f32s(32, &[4])], &[f32s(64, &[2, 4])], &scratch), (Ok(()), true));
    assert_eq!(run(&[f32s(64, &[2, 4]), f32s(32, &[4])], &[f32s(64, &[2, 4])], &scratch), (Ok(()), true));
    assert_eq!(run(&[f32s(0, &[4]), f32s(32, &[4]), view(DType::I8, 48, &[])], &[f32s(64, &[4])], &scratch).0, Ok(()));
    assert_eq!(run(&[f32s(0, &[0, 4]), f32s(32, &[4])], &[f32s(64, &[0, 4])], &scratch), (Ok(()), false));
}

#[test]
fn what_does_not_is_refused() {
    let (x, w, y, s) = (f32s(0, &[2, 4]), f32s(32, &[4]), f32s(64, &[2, 4]), f32s(128, &[4]));
    let refused = |inputs: &[View], outputs: &[View], scratch: &[View]| {
        let (result, changed) = run(inputs, outputs, scratch);
        assert!(!changed, "{result:?}");
        result.unwrap_err().kind().clone()
    };
    let length = |kind| matches!(kind, ErrorKind::Length { .. });
    assert!(length(refused(&[x], &[y], &[s])), "too few operands");
    assert!(length(refused(&[x, w, w], &[y], &[s])), "another element type");
    assert!(length(refused(&[x, f32s(32, &[3])], &[y], &[s])), "N is two things");
    assert!(length(refused(&[x, w], &[f32s(64, &[8])], &[s])), "another result");
    assert!(length(refused(&[x, w], &[y, y], &[s])), "two results");
    assert!(length(refused(&[x, w], &[y], &[])), "no scratch");
    assert!(length(refused(&[x, w], &[y], &[f32s(128, &[3])])), "too little scratch");
    let mut turned = x;
    turned.strides = [1, 2, 0, 0, 0, 0];
    assert!(length(refused(&[turned, w], &[y], &[s])), "strides");
    assert_eq!(refused(&[x, f32s(80, &[4])], &[y], &[s]), ErrorKind::Overlap { op: "Scale" });
    assert_eq!(refused(&[f32s(60, &[2, 4]), w], &[y], &[s]), ErrorKind::Overlap { op: "Scale" });
    assert_eq!(refused(&[x, w], &[y], &[f32s(64, &[4])]), ErrorKind::Overlap { op: "Scale" });
    assert!(matches!(refused(&[f32s(248, &[2, 4]), w], &[y], &[s]), ErrorKind::OutOfRange { .. }));
    assert!(matches!(refused(&[f32s(1, &[2, 4]), w], &[y], &[s]), ErrorKind::Misaligned { .. }));
}

/// A kernel that asks for the wrong things.
#[operator(fn(x: f32[N], y: f32[N], z?: f32) -> f32[N], in_place = x)]
struct Wrong;

#[test]
fn a_kernel_cannot_ask_for_what_is_not_there() {
    let mut bytes = Bytes([0; 256]);
    let mut buffer = CpuSlice::borrowed(&mut bytes.0);
    let (x, y) = (f32s(0, &[4]), f32s(16, &[4]));
    let call = Call { op: Wrong, inputs: &[x, y], outputs: &[x], scratch: &[], shared: None };
    let Operands { output, inputs: [x, y, z], scratch } = operands(&mut buffer, &call).unwrap();
    let element = ErrorKind::Element { expected: DType::F32, given: DType::I32 };
    let in_place = x.of::<f32>().unwrap_err();
    assert_eq!(in_place.kind(), &ErrorKind::InPlace { op: "Wrong" });
    assert!(in_place.to_string().contains("ask by `get`"), "{in_place}");
    assert_eq!(x.get::<i32>().unwrap_err().kind(), &element);
    assert_eq!(y.of::<i32>().unwrap_err().kind(), &element);
    assert_eq!(z.of::<f32>().unwrap_err().kind(), &ErrorKind::Length { expected: 1, given: 0 });
    assert!(x.is_output() && x.is_given() && !z.is_given() && !y.is_output());
    assert!(matches!(scratch.split::<f32>(1).unwrap_err().kind(), ErrorKind::Length { .. }));
    let error = output.of::<i32>().unwrap_err();
    assert_eq!(error.to_string(), "a kernel asks for i32 elements of an operand of f32; ask for f32");
}

#[test]
fn the_rule_is_there_to_be_read() {
    assert_eq!(Scale::RULE.to_string(), "fn(x: f32[.., N], w: f32[N], more?: i8) -> f32[.., N]");
    let all = "fn(x: f32[.., N], w: f32[N], more?: i8) -> f32[.., N], in_place = [x], scratch = 4 * N";
    assert_eq!(format!("{:#}", Scale::RULE), all);
    assert_eq!(Scale::RULE.spec.takes(), (2, 3));
}
