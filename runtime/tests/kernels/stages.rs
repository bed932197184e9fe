//! Stages of products and convolutions: the bits of a kernel with an epilogue are those of its parts, one after the other.

use model_graph::{Buffer, BufferType, Call, Cpu, DType, ErrorKind, HostBuffer, Kernel, Usage, View, op};
use model_graph_planner::Shape;
use proptest::prelude::*;

type Host = model_graph::CpuBuffer<model_graph::cpu::OwnedBytes>;

/// A buffer of numbers that look random, and the views of packed tensors in it, one after the other.
fn buffer(shapes: &[&[usize]]) -> (Host, Vec<View>) {
    let mut at = 0;
    let views: Vec<View> = shapes
        .iter()
        .map(|dims| {
            let view = View::packed(DType::F32, at, &Shape::new(dims).unwrap());
            at = view.span().end.next_multiple_of(64);
            view
        })
        .collect();
    let mut buffer = Cpu.allocate(at + 64, 64, Usage::Any).unwrap();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for bytes in buffer.bytes_mut().chunks_exact_mut(4) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = (state >> 40) as f32 / 8_388_608.0 - 1.0;
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    (buffer, views)
}

fn read(buffer: &Host, view: &View) -> Vec<u8> {
    let mut bytes = vec![0; view.elements() * 4];
    model_graph::read_view(buffer, view, &mut bytes).unwrap();
    bytes
}

/// Runs a call.
fn run<O>(buffer: &mut Host, op: O, inputs: &[View], output: View) -> Result<(), model_graph::Error>
where
    Host: Kernel<O>,
{
    buffer.run(&Call { op, inputs, outputs: &[output], scratch: &[], shared: None })
}

fn then<B, S>(base: B, stage: S, side: usize) -> op::Then<B, S> {
    op::Then { base, stage, side }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_product_with_bias_activation_and_residual(
        // Now and then so many products that rows are taken in several blocks, each finished by itself.
        batch in 0usize..3, m in 0usize..140, k in prop_oneof![9 => 0usize..40, 1 => Just(2048)], n in 0usize..20,
        transposed: bool, swapped: bool,
    ) {
        let residual: [usize; 3] = if transposed { [batch, n, m] } else { [batch, m, n] };
        let (mut apart, views) =
            buffer(&[&[batch, m, k], &[k, n], &[n], &residual, &[], &[batch, m, n], &[batch, m, n]]);
        let [a, b, bias, mut residual, one, first, second] = views[..] else { unreachable!() };
        if transposed {
            residual.dims.swap(1, 2);
            residual.strides.swap(1, 2);
        }
        run(&mut apart, op::MatMul {}, &[a, b], first).unwrap();
        run(&mut apart, op::Add {}, &[first, bias], first).unwrap();
        run(&mut apart, op::Gelu { tanh: false }, &[first], first).unwrap();
        let sides = if swapped { [residual, first] } else { [first, residual] };
        run(&mut apart, op::Sub {}, &sides, first).unwrap();
        run(&mut apart, op::Div {}, &[one, first], first).unwrap();
        let gelu = then(then(op::MatMul {}, op::Add {}, 0), op::Gelu { tanh: false }, 0);
        let staged = then(then(gelu, op::Sub {}, usize::from(swapped)), op::Div {}, 1);
        run(&mut apart, staged, &[a, b, bias, residual, one], second).unwrap();
        prop_assert_eq!(read(&apart, &first), read(&apart, &second));
    }

    #[test]
    fn a_convolution_with_bias_activation_and_residual(
        batch in 0usize..3, channels in 1usize..4, filters in 1usize..7, side in 3usize..9, channels_last: bool,
        pointwise: bool,
    ) {
        let kernel = if pointwise { 1 } else { 3 };
        let conv = op::Conv2d {
            stride: [1, 1], padding: if pointwise { [0; 4] } else { [1; 4] }, dilation: [1, 1], groups: 1, channels_last,
        };
        let (x, w, bias, y): (&[usize], &[usize], &[usize], &[usize]) = if channels_last {
            (&[batch, side, side, channels], &[filters, kernel, kernel, channels], &[filters], &[batch, side, side, filters])
        } else {
            (&[batch, channels, side, side], &[filters, channels, kernel, kernel], &[filters, 1, 1], &[batch, filters, side, side])
        };
        let (mut apart, views) = buffer(&[x, w, bias, y, y, y]);
        let [x, w, bias, residual, first, second] = views[..] else { unreachable!() };
        run(&mut apart, conv, &[x, w], first).unwrap();
        run(&mut apart, op::Add {}, &[first, bias], first).unwrap();
        run(&mut apart, op::Relu {}, &[first], first).unwrap();
        run(&mut apart, op::Add {}, &[residual, first], first).unwrap();
        let staged = then(then(then(conv, op::Add {}, 0), op::Relu {}, 0), op::Add {}, 1);
        run(&mut apart, staged, &[x, w, bias, residual], second).unwrap();
        prop_assert_eq!(read(&apart, &first), read(&apart, &second));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn sequences_and_transposed_convolutions(
        batch in 0usize..3, channels in 1usize..4, filters in 1usize..7, length in 3usize..9, channels_last: bool,
        wide: bool,
    ) {
        let stages = |host: &mut Host, bias: View, y: View| {
            run(host, op::Add {}, &[y, bias], y).unwrap();
            run(host, op::Elu { alpha: 1.0 }, &[y], y).unwrap();
        };
        let conv = op::Conv1d { stride: 1, padding: [1, 1], dilation: 1, groups: 1, channels_last };
        let (x, w, bias, y): (&[usize], &[usize], &[usize], &[usize]) = if channels_last {
            (&[batch, length, channels], &[filters, 3, channels], &[filters], &[batch, length, filters])
        } else {
            (&[batch, channels, length], &[filters, channels, 3], &[filters, 1], &[batch, filters, length])
        };
        let (mut host, views) = buffer(&[x, w, bias, y, y]);
        let [x, w, bias, first, second] = views[..] else { unreachable!() };
        run(&mut host, conv, &[x, w], first).unwrap();
        stages(&mut host, bias, first);
        run(&mut host, then(then(conv, op::Add {}, 0), op::Elu { alpha: 1.0 }, 0), &[x, w, bias], second).unwrap();
        prop_assert_eq!(read(&host, &first), read(&host, &second));

        let larger = 2 * length + 1;
        let spread = op::ConvTranspose1d { stride: 2, padding: [0, 0], output_padding: 0, dilation: 1, groups: 1 };
        let plane = spread.on_images();
        let y: &[usize] = if wide { &[batch, filters, 1, larger] } else { &[batch, filters, larger] };
        let x: &[usize] = if wide { &[batch, channels, 1, length] } else { &[batch, channels, length] };
        let w: &[usize] = if wide { &[channels, filters, 1, 3] } else { &[channels, filters, 3] };
        let bias: &[usize] = if wide { &[filters, 1, 1] } else { &[filters, 1] };
        let (mut host, views) = buffer(&[x, w, bias, y, y, &[filters * 3 * 64]]);
        let [x, w, bias, first, second, mut room] = views[..] else { unreachable!() };
        (room.dtype, room.dims[0]) = (DType::U8, 4 * room.dims[0]);
        let scratch = &[room];
        let (own, all) = (&[x, w][..], &[x, w, bias][..]);
        if wide {
            host.run(&Call { op: plane, inputs: own, outputs: &[first], scratch, shared: None }).unwrap();
            stages(&mut host, bias, first);
            let staged = then(then(plane, op::Add {}, 0), op::Elu { alpha: 1.0 }, 0);
            host.run(&Call { op: staged, inputs: all, outputs: &[second], scratch, shared: None }).unwrap();
            prop_assert!(run(&mut host, staged, all, second).is_err(), "without room to work in");
        } else {
            host.run(&Call { op: spread, inputs: own, outputs: &[first], scratch, shared: None }).unwrap();
            stages(&mut host, bias, first);
            let staged = then(then(spread, op::Add {}, 0), op::Elu { alpha: 1.0 }, 0);
            host.run(&Call { op: staged, inputs: all, outputs: &[second], scratch, shared: None }).unwrap();
            prop_assert!(run(&mut host, spread, own, second).is_err(), "without room to work in");
        }
        prop_assert_eq!(read(&host, &first), read(&host, &second));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_convolution_into_a_border(
        batch in 0usize..3, groups in 1usize..3, channels in 1usize..4, filters in 1usize..7, height in 1usize..9,
        width in 1usize..40, border in prop::array::uniform4(0usize..3), pointwise: bool,
    ) {
        let kernel = if pointwise { 1 } else { 3 };
        let conv = op::Conv2d {
            stride: [1, 1], padding: if pointwise { [0; 4] } else { [1; 4] }, dilation: [1, 1], groups,
            channels_last: false,
        };
        let [top, left, bottom, right] = border;
        let whole = [batch, groups * filters + 1, top + height + bottom, left + width + right];
        let y = [batch, groups * filters, height, width];
        let x = [batch, groups * channels, height, width];
        let shapes: [&[usize]; 6] =
            [&x, &[groups * filters, channels, kernel, kernel], &[groups * filters, 1, 1], &y, &y, &whole];
        let (mut host, views) = buffer(&shapes);
        let [x, w, bias, residual, packed, whole] = views[..] else { unreachable!() };
        let mut inside = whole;
        inside.dims = packed.dims;
        inside.offset += 4 * (top * whole.strides[2] + left);
        let staged = then(then(then(conv, op::Add {}, 0), op::Relu {}, 0), op::Sub {}, 1);
        run(&mut host, conv, &[x, w], packed).unwrap();
        run(&mut host, conv, &[x, w], inside).unwrap();
        prop_assert_eq!(read(&host, &packed), read(&host, &inside));
        let inputs = [x, w, bias, residual];
        run(&mut host, staged, &inputs, packed).unwrap();
        let before = host.bytes().to_vec();
        run(&mut host, staged, &inputs, inside).unwrap();
        prop_assert_eq!(read(&host, &packed), read(&host, &inside));
        let mut own = vec![false; before.len()];
        super::harness::places(&inside).for_each(|at| own[at..at + 4].fill(true));
        prop_assert!(before.iter().zip(host.bytes()).zip(own).all(|((before, after), own)| own || before == after));
    }
}

#[test]
fn a_stage_that_reads_what_is_written_is_an_error() {
    let (mut host, views) = buffer(&[&[4, 4], &[4, 4], &[4, 4]]);
    let [a, b, y] = views[..] else { unreachable!() };
    let before = host.bytes().to_vec();
    let staged = then(op::MatMul {}, op::Add {}, 0);
    let error = run(&mut host, staged, &[a, b, y], y).err().unwrap();
    assert_eq!(*error.kind(), ErrorKind::Overlap { op: "matmul" });
    assert!(run(&mut host, staged, &[a, b], y).is_err(), "an operand is missing");
    let mut tall = b;
    tall.dims[0] = 5;
    assert!(run(&mut host, staged, &[a, b, tall], y).is_err(), "an operand does not broadcast");
    assert!(host.bytes() == before && host.size() == before.len(), "nothing was written");
}
