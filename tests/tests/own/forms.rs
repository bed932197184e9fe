//! Everything a rule can say: element types, scalars, leading dims, arithmetic, settings of each kind, operands that may be
//! left out and that are given by name.

use model_graph::cpu::{Memory, Operands, operands};
use model_graph::{Block, BlockQ8_0, Bool, Call, Cpu, CpuBuffer, Error, Kernel, f16, model_graph, operator};

/// Every `step`-th element of each row from `at` on, as many as there are codes, each times `gain` and its code: an outer
/// product of the two, with a bias and a scale that may be left out.
#[operator(
    fn(x: f32[.., { step * K }], at: u32, codes: i8 | u8 [K], more: codes[2 * K], bias?: x[K], scale?: f32)
        -> x[.., K, { K + 1 - 1 }],
)]
struct Everything {
    step: usize,
    #[setting(default = 2.5)]
    gain: f32,
    #[setting(default = false)]
    minus: bool,
    #[setting(default = [3, 4])]
    pair: [usize; 2],
}

impl<M: Memory> Kernel<Everything> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, Everything>) -> Result<(), Error> {
        let Operands { output, inputs: [x, at, codes, more, bias, scale], .. } = operands(self, call)?;
        let Everything { step, gain, minus, pair } = call.op;
        let (x, at, y) = (x.of::<f32>()?, at.of::<u32>()?[0] as usize, output.of::<f32>()?);
        let wide = |input: model_graph::cpu::Input<'_>| -> Result<Vec<f32>, Error> {
            match input.of::<i8>() {
                Ok(codes) => Ok(codes.iter().map(|code| f32::from(*code)).collect()),
                Err(_) => Ok(input.of::<u8>()?.iter().map(|code| f32::from(*code)).collect()),
            }
        };
        let (codes, more) = (wide(codes)?, wide(more)?);
        let count = codes.len();
        assert_eq!(
            (more.len(), bias.is_given(), scale.is_given()),
            (2 * count, bias.get::<f32>()?.is_some(), scale.is_given())
        );
        let scale = scale.get::<f32>()?.map_or(1.0, |scale| scale[0]) * if minus { -1.0 } else { 1.0 };
        for (row, y) in x.chunks_exact(step * count).zip(y.chunks_exact_mut(count * count)) {
            for (k, code) in codes.iter().enumerate() {
                for c in 0..count {
                    let bias = bias.get::<f32>()?.map_or(0.0, |bias| bias[c]);
                    let product = row[(at + k * step) % row.len()] * gain * code + bias + (pair[0] * pair[1]) as f32;
                    y[k * count + c] = scale * product;
                }
            }
        }
        Ok(())
    }
}

#[model_graph(dims(K = 2, STEP = 3))]
struct Forms {
    #[input]
    x: Tensor<f32, 2, { STEP * K }>,
    #[input]
    at: Tensor<u32>,
    #[weight]
    signed: Tensor<i8, K>,
    #[weight]
    unsigned: Tensor<u8, K>,
    #[weight]
    signed_more: Tensor<i8, 4>,
    #[weight]
    unsigned_more: Tensor<u8, 4>,
    #[weight]
    bias: Tensor<f32, K>,
    #[output(Everything(x, at, signed, signed_more, step = STEP))]
    least: Tensor<f32, 2, K, K>,
    #[output(Everything(x, at, unsigned, unsigned_more, bias, step = 3, pair = [0, K], gain = 2))]
    some: _,
    #[output(Everything(x, more = signed_more, codes = signed, at = at, step = 3, bias = bias * 2, scale = 0.5, minus = true))]
    all: _,
    #[output(Everything(x[0], 1, signed, signed_more, step = 3))]
    without_rows: Tensor<f32, K, K>,
}

#[test]
fn everything() {
    let mut model = Forms::new(&Cpu).unwrap();
    *model.x_mut() = [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]];
    *model.at_mut() = 1;
    *model.signed_mut() = [-1, 2];
    *model.unsigned_mut() = [255, 2];
    *model.bias_mut() = [0.5, 0.25];
    let outputs = model.forward().unwrap();
    // Elements 1 and 4 of the rows: [1, 4] and [7, 10].
    assert_eq!(*outputs.least(), [[[9.5; 2], [32.0; 2]], [[-5.5; 2], [62.0; 2]]]);
    assert_eq!(*outputs.some(), [[[510.5, 510.25], [16.5, 16.25]], [[3570.5, 3570.25], [40.5, 40.25]]]);
    let half = |value: f32| [-0.5 * (value + 1.0), -0.5 * (value + 0.5)];
    assert_eq!(*outputs.all(), [[half(9.5), half(32.0)], [half(-5.5), half(62.0)]]);
    assert_eq!(*outputs.without_rows(), [[9.5; 2], [32.0; 2]]);
}

/// Halves, or weights in blocks of 32, as numbers; zeros unless they are wanted.
#[operator(fn(x: f16 | q8_0 [.., N], on: bool) -> f32[.., N])]
struct Widen;

impl<M: Memory> Kernel<Widen> for CpuBuffer<M> {
    fn run(&mut self, call: &Call<'_, Widen>) -> Result<(), Error> {
        let Operands { output, inputs: [x, on], .. } = operands(self, call)?;
        let (y, on) = (output.of::<f32>()?, on.of::<Bool>()?[0].get());
        match x.of::<BlockQ8_0>() {
            Ok(blocks) => {
                for (block, y) in blocks.iter().zip(y.chunks_mut(32)) {
                    y.copy_from_slice(&block.dequantise()[..y.len()]);
                }
            }
            Err(_) => y.iter_mut().zip(x.of::<f16>()?).for_each(|(y, x)| *y = x.to_f32()),
        }
        if !on {
            y.fill(0.0);
        }
        Ok(())
    }
}

#[model_graph]
struct Widened {
    #[input]
    x: Tensor<f16, 2>,
    #[weight]
    w: Tensor<q8_0, 2, 64>,
    #[input]
    on: Tensor<bool>,
    #[output(Widen(x, on))]
    y: Tensor<f32, 2>,
    #[output(Widen(w, on))]
    z: Tensor<f32, 2, 64>,
    #[output(Widen(x, 0))]
    zeros: _,
}

#[test]
fn halves_and_blocks() {
    let mut model = Widened::new(&Cpu).unwrap();
    *model.x_mut() = [f16::from_f32(1.5), f16::from_f32(-2.0)];
    *model.on_mut() = Bool::TRUE;
    let block = |scale: f32| BlockQ8_0 { scale: f16::from_f32(scale), values: [2; 32] };
    *model.w_mut() = [[block(1.0), block(2.0)], [block(3.0), block(4.0)]];
    let outputs = model.forward().unwrap();
    assert_eq!((*outputs.y(), *outputs.zeros()), ([1.5, -2.0], [0.0, 0.0]));
    let expected: [[f32; 64]; 2] =
        core::array::from_fn(|row| core::array::from_fn(|at| (4 * row + at / 32 * 2 + 2) as f32));
    assert_eq!(*outputs.z(), expected);
}
