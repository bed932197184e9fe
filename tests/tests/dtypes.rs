//! Element types in the language: what accessors hand out, casts, numbers beside tensors, comparisons, and weights in
//! blocks.

use model_graph::{
    BlockQ4_0, BlockQ8_0, Bool, Cpu, DType, ErrorKind, SafeTensors, Weight, WeightSource, bf16, dequantise, f16,
    model_graph, quantise,
};

/// Every element type from outside to outside.
#[model_graph]
struct Types {
    #[input]
    half: Tensor<f16, 2, 3>,
    #[input]
    brain: Tensor<bf16, 3>,
    #[input]
    whole: Tensor<i32, 2, 3>,
    #[input]
    small: Tensor<i8, 3>,
    #[input]
    flag: Tensor<bool, 2, 1>,
    #[output(half * 2 + half)]
    tripled: Tensor<f16, 2, 3>,
    #[output(brain as f32 + 0.5)]
    wide: Tensor<f32, 3>,
    #[output(where(flag & (whole > 1), whole % 4, -1))]
    chosen: Tensor<i32, 2, 3>,
    #[output(small + 127)]
    wrapped: Tensor<i8, 3>,
    #[output(!flag)]
    not: Tensor<bool, 2, 1>,
    #[output(half as i8)]
    cut: Tensor<i8, 2, 3>,
    #[output(whole as bf16)]
    rounded: Tensor<bf16, 2, 3>,
    #[output(arg_max(half))]
    best: Tensor<i64, 2>,
}

#[test]
fn every_element_type_goes_in_and_out() {
    let mut model = Types::new(&Cpu).unwrap();
    let half = [[1.0, -2.5, 3.0], [f32::NAN, 65504.0, 0.1]].map(|row| row.map(f16::from_f32));
    model.half_mut().write(&half).unwrap();
    model.brain_mut().write(&[1.0, 2.0, -3.0].map(bf16::from_f32)).unwrap();
    model.whole_mut().write(&[[1, 2, 3], [257, -7, 65537]]).unwrap();
    model.small_mut().write(&[1, -1, 0]).unwrap();
    model.flag_mut().write(&[[Bool::TRUE], [Bool::FALSE]]).unwrap();
    let out = model.forward().unwrap();
    let tripled = out.tripled();
    assert_eq!(tripled[0], [3.0, -7.5, 9.0].map(f16::from_f32));
    assert!(tripled[1][0].is_nan());
    assert_eq!(tripled[1][1], f16::INFINITY);
    assert_eq!(*out.wide(), [1.5, 2.5, -2.5]);
    assert_eq!(*out.chosen(), [[-1, 2, 3], [-1, -1, -1]]);
    assert_eq!(*out.wrapped(), [-128, 126, 127]);
    assert_eq!(*out.not(), [[Bool::FALSE], [Bool::TRUE]]);
    assert_eq!(*out.cut(), [[1, -2, 3], [0, 127, 0]]);
    assert_eq!(out.rounded()[1][2].to_f32(), 65536.0);
    assert_eq!(*out.best(), [2, 0]);
    let flag = Types::PLAN.tensors.iter().find(|tensor| tensor.name == "flag").unwrap();
    assert_eq!((flag.view.dtype, flag.view.span().len()), (DType::Bool, 2));
}
