//! The bits of the results, written down: no machine, vector width or feature may change them.

use model_graph::op::{self, Operator};
use model_graph::{Kernel, MAX_RANK};

use crate::harness::*;

/// FNV-1a over the result's bits, on operands that are the same everywhere.
fn hash<O: Operator + Copy>(op: O, inputs: &[&[usize]], output: &[usize]) -> u64
where
    Host: Kernel<O>,
{
    let operand = |(seed, dims): (usize, &&[usize])| given(dims, Layout::packed(), Values::Positive(seed as u64 + 1));
    let inputs: Vec<Given> = inputs.iter().enumerate().map(operand).collect();
    let output = given(output, Layout::packed(), Values::Seed(0));
    let result = run(op, &mut lay(&inputs, &output, 0, 0, 0xff)).unwrap();
    bits(&result)
        .iter()
        .flat_map(|bits| bits.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn results_are_the_same_everywhere() {
    let rows: &[usize] = &[7, 83];
    let axes: [bool; MAX_RANK] = [false, true, false, false, false, false];
    let across: [bool; MAX_RANK] = [true, false, false, false, false, false];
    let conv = |channels_last, groups| op::Conv2d {
        stride: [1, 2],
        padding: [1, 1, 0, 2],
        dilation: [1, 1],
        groups,
        channels_last,
    };
    let eps = 1e-5;
    let window = |channels_last| op::AvgPool2d {
        kernel: [3, 2],
        stride: [2, 2],
        padding: [1, 0, 1, 0],
        dilation: [1, 1],
        ceil: false,
        count_padding: true,
        channels_last,
    };
    let hashes = [
        ("exp", hash(op::Exp {}, &[rows], rows)),
        ("log", hash(op::Log {}, &[rows], rows)),
        ("sqrt", hash(op::Sqrt {}, &[rows], rows)),
        ("tanh", hash(op::Tanh {}, &[rows], rows)),
        ("sigmoid", hash(op::Sigmoid {}, &[rows], rows)),
        ("silu", hash(op::Silu {}, &[rows], rows)),
        ("gelu", hash(op::Gelu { tanh: false }, &[rows], rows)),
        ("gelu tanh", hash(op::Gelu { tanh: true }, &[rows], rows)),
        ("div", hash(op::Div {}, &[rows, &[83]], rows)),
        ("softmax", hash(op::Softmax { axis: 1 }, &[rows], rows)),
        ("softmax 0", hash(op::Softmax { axis: 0 }, &[rows], rows)),
        ("log_softmax", hash(op::LogSoftmax { axis: 1 }, &[rows], rows)),
        ("layer_norm", hash(op::LayerNorm { axis: 1, eps }, &[rows, &[83], &[83]], rows)),
        ("rms_norm", hash(op::RmsNorm { axis: 1, eps }, &[rows, &[83]], rows)),
        ("batch_norm", hash(op::BatchNorm { axis: 1, eps }, &[rows, &[83], &[83], &[83], &[83]], rows)),
        ("sum", hash(op::Sum { axes, keep_dims: false }, &[rows], &[7])),
        ("mean", hash(op::Mean { axes: across, keep_dims: false }, &[rows], &[83])),
        ("matmul", hash(op::MatMul {}, &[&[13, 300], &[300, 37]], &[13, 37])),
        ("matmul row", hash(op::MatMul {}, &[&[300], &[300, 37]], &[37])),
        ("matmul column", hash(op::MatMul {}, &[&[13, 300], &[300]], &[13])),
        ("conv2d", hash(conv(false, 1), &[&[2, 5, 9, 11], &[6, 5, 3, 3], &[6]], &[2, 6, 8, 6])),
        ("conv2d nhwc", hash(conv(true, 1), &[&[2, 9, 11, 5], &[6, 3, 3, 5], &[6]], &[2, 8, 6, 6])),
        ("depthwise", hash(conv(false, 5), &[&[2, 5, 9, 11], &[5, 1, 3, 3], &[5]], &[2, 5, 8, 6])),
        ("depthwise nhwc", hash(conv(true, 5), &[&[2, 9, 11, 5], &[5, 3, 3, 1], &[5]], &[2, 8, 6, 5])),
        ("avg_pool2d", hash(window(false), &[&[2, 5, 9, 10]], &[2, 5, 5, 5])),
        ("avg_pool2d nhwc", hash(window(true), &[&[2, 9, 10, 5]], &[2, 5, 5, 5])),
    ];
    for ((name, hash), (expected, wanted)) in hashes.iter().zip(HASHES) {
        assert_eq!(name, expected);
        assert_eq!(hash, wanted, "{name}; all of them: {hashes:#x?}");
    }
    assert_eq!(hashes.len(), HASHES.len());
}

/// A change of these is a change of every user's results: say so in the change log.
const HASHES: &[(&str, u64)] = &[
    ("exp", 0xeef3_f526_2b86_2f88),
    ("log", 0x65c8_3ec4_aa84_5829),
    ("sqrt", 0x442d_86bb_58cf_367e),
    ("tanh", 0x9d3f_fb79_0b29_807b),
    ("sigmoid", 0xee19_f3e1_c9e9_4021),
    ("silu", 0x3456_b1ee_4601_f001),
    ("gelu", 0x5be2_3d56_83ff_b720),
    ("gelu tanh", 0x0862_047c_2c3d_8d0c),
    ("div", 0xc056_3e04_acc6_f6d9),
    ("softmax", 0x7e93_9c98_65e0_e502),
    ("softmax 0", 0x2fc1_eaed_eb5c_2fe1),
    ("log_softmax", 0x104d_413e_d7c4_6a97),
    ("layer_norm", 0x8dd5_ca97_f282_ee04),
    ("rms_norm", 0x7c7f_d2b1_7ed6_8fd3),
    ("batch_norm", 0x472b_360e_a106_18ec),
    ("sum", 0x2d4c_2ac9_1307_af6e),
    ("mean", 0xbda0_221a_e5f2_53c3),
    ("matmul", 0x6bb0_5038_b704_0c86),
    ("matmul row", 0x932b_4a35_5d24_b39a),
    ("matmul column", 0xecce_45e7_11ec_6e36),
    ("conv2d", 0xb0bb_1187_37a5_852b),
    ("conv2d nhwc", 0xe2dc_c4b4_b162_62b3),
    ("depthwise", 0x6f35_0164_6630_b029),
    ("depthwise nhwc", 0xbdb0_05b3_bb0c_2155),
    ("avg_pool2d", 0x8be9_e7a8_75d7_0c18),
    ("avg_pool2d nhwc", 0x38f8_b720_9f6c_4e68),
];
