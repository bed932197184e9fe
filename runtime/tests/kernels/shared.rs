//! Operands that lie among shared weights: read from there at their place, never written, whatever the own buffer holds.

use model_graph::{Buffer, Call, CpuImage, CpuSlice, DType, Error, ErrorKind, Kernel, Shared, View, op};

use crate::harness::{Layout, view};

/// Both buffers, aligned.
#[repr(align(64))]
struct Memory([u8; 256]);

fn memory(values: &[f32]) -> Memory {
    let mut memory = Memory([0xff; 256]);
    memory.0[..4 * values.len()].copy_from_slice(bytemuck::cast_slice(values));
    memory
}

fn packed(offset: usize, dims: &[usize]) -> View {
    view(offset, dims, Layout::packed().strides(dims))
}

/// Multiplies, with the first weight at offset 64 though the own buffer goes on behind that.
fn matmul(own: &mut [u8], weights: &[u8], [a, b, y]: [View; 3]) -> Result<(), Error> {
    let (image, mut buffer) = (CpuImage::new(weights), CpuSlice::borrowed(own));
    let shared = Some(Shared { start: 64, buffer: &image });
    buffer.run(&Call { op: op::MatMul {}, inputs: &[a, b], outputs: &[y], scratch: &[], shared })
}

#[test]
fn inputs_beyond_the_start_are_read_from_there() {
    let mut own = memory(&[1.0, 2.0]);
    let weights = memory(&[0.0, 3.0, 4.0]);
    let places = [packed(0, &[1, 2]), packed(64 + 4, &[2, 1]), packed(8, &[1, 1])];
    matmul(&mut own.0, &weights.0, places).unwrap();
    assert_eq!(own.0[8..12], 11.0f32.to_le_bytes());
    assert_eq!(own.0[12..], [0xff; 244]);
    // Both operands, and nothing of the own buffer.
    let places = [packed(64 + 4, &[1, 2]), packed(64 + 4, &[2, 1]), packed(0, &[1, 1])];
    matmul(&mut own.0, &weights.0, places).unwrap();
    assert_eq!(own.0[..4], 25.0f32.to_le_bytes());
    // Nothing at all, where nothing lies.
    let places = [packed(0, &[1, 0]), packed(64 + 4096, &[0, 1]), packed(0, &[1, 1])];
    matmul(&mut own.0, &weights.0, places).unwrap();
    assert_eq!(own.0[..4], 0.0f32.to_le_bytes());
}

#[test]
fn what_is_written_lies_before_the_start() {
    let (mut own, weights) = (memory(&[1.0; 16]), memory(&[2.0; 4]));
    for y in [64, 60, 4096] {
        let places = [packed(0, &[1, 2]), packed(64, &[2, 2]), packed(y, &[1, 2])];
        let error = matmul(&mut own.0, &weights.0, places).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutOfRange { size: 64, .. }), "{error}");
    }
    assert_eq!(own.0[..64], *bytemuck::cast_slice::<f32, u8>(&[1.0; 16]));
    assert_eq!(own.0[64..], [0xff; 192]);
}

#[test]
fn what_lies_beyond_the_weights_is_refused() {
    let (mut own, weights) = (memory(&[1.0; 16]), memory(&[2.0; 4]));
    for b in [64 + 252, 1 << 40, usize::MAX - 7] {
        let places = [packed(0, &[1, 2]), packed(b, &[2, 2]), packed(8, &[1, 2])];
        let error = matmul(&mut own.0, &weights.0, places).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutOfRange { .. }), "{error}");
    }
    let places = [packed(0, &[1, 2]), packed(64, &[2, 2]), packed(8, &[1, 2])];
    let error = matmul(&mut own.0, &weights.0[2..], places).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Misaligned { needed: 4, .. }), "{error}");
}

/// Weights on a device.
struct Elsewhere;

impl Buffer for Elsewhere {
    fn name(&self) -> &'static str {
        "a device"
    }

    fn base(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        256
    }

    fn memset(&mut self, _: usize, _: usize, _: u8) -> Result<(), Error> {
        Ok(())
    }

    fn set(&mut self, _: usize, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn get(&self, _: usize, _: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }

    fn copy_from(&mut self, _: usize, _: &dyn Buffer, _: usize, _: usize) -> Result<bool, Error> {
        Ok(false)
    }

    fn with_host(&mut self, _: usize, _: usize, _: &mut dyn FnMut(&mut [u8])) -> Result<(), Error> {
        Ok(())
    }
}

#[test]
fn weights_that_the_host_cannot_read_are_refused() {
    let mut own = memory(&[1.0; 16]);
    let mut buffer = CpuSlice::borrowed(&mut own.0);
    let shared = Some(Shared { start: 64, buffer: &Elsewhere });
    let (inputs, outputs) = ([packed(64, &[4])], [packed(0, &[4])]);
    let call = Call { op: op::Relu {}, inputs: &inputs, outputs: &outputs, scratch: &[], shared };
    let error = buffer.run(&call).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::NotOnHost { buffer: "a device" });
    assert!(error.to_string().ends_with("host memory; give both buffers of one kind"), "{error}");
}

#[test]
fn a_position_and_stages_are_read_from_there_too() {
    let mut own = memory(&[0.0; 6]);
    own.0[24..32].copy_from_slice(bytemuck::cast_slice(&[-1.0f32, 2.0]));
    let mut weights = memory(&[10.0, 20.0]);
    weights.0[8..12].copy_from_slice(&2u32.to_le_bytes());
    let image = CpuImage::new(&weights.0);
    let shared = Some(Shared { start: 64, buffer: &image });
    let mut buffer = CpuSlice::borrowed(&mut own.0);
    let (state, row) = (packed(0, &[3, 2]), packed(24, &[1, 2]));
    let add = op::Then { base: op::MatMul {}, stage: op::Add {}, side: 0 };
    // The identity, so that only the bias changes the row.
    let (inputs, outputs) = ([row, packed(32, &[2, 2]), packed(64, &[2])], [packed(48, &[1, 2])]);
    buffer.set(32, bytemuck::cast_slice(&[1.0f32, 0.0, 0.0, 1.0])).unwrap();
    buffer.run(&Call { op: add, inputs: &inputs, outputs: &outputs, scratch: &[], shared }).unwrap();
    let position = View { dtype: DType::U32, ..packed(64 + 8, &[]) };
    let write = op::Write { axis: 0, at: 0, whole: false };
    let inputs = [state, outputs[0], position];
    buffer.run(&Call { op: write, inputs: &inputs, outputs: &[state], scratch: &[], shared }).unwrap();
    assert_eq!(own.0[..24], *bytemuck::cast_slice::<f32, u8>(&[0.0, 0.0, 0.0, 0.0, 9.0, 22.0]));
}
