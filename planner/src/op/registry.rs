//! The table of the language's operators. A new operator adds its line here.

use alloc::rc::Rc;

use super::*;

/// An operator of the language and how to build a call of it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name, operands, settings, documentation.
    pub spec: Spec,
    /// Reads the settings of a call.
    pub build: fn(&Args<'_>) -> Result<Rc<dyn Operator>, RuleError>,
}

const fn entry<O: Described>() -> Entry {
    Entry {
        spec: O::SPEC,
        build: |args| {
            let op = O::build(args)?;
            skipped(&O::SPEC, &op, args)?;
            Ok(Rc::new(op))
        },
    }
}

/// Fails when an operand is left out before one that is given and the operator does not say so among its settings: it
/// would take the later one for the one that is missing.
fn skipped(spec: &Spec, op: &dyn Operator, args: &Args<'_>) -> Result<(), RuleError> {
    for name in spec.operands.iter().copied().filter(|name| args.skips(name)) {
        let mut known = false;
        op.settings(args.inputs, &mut |setting, value| known |= setting == name && value == Value::Infer);
        if !known {
            return Err(super::rule::bad(name, "given, since an operand after it is"));
        }
    }
    Ok(())
}

/// Every operator that a call can name, in the order of the documentation.
pub static OPERATORS: &[Entry] = &[
    entry::<MatMul>(),
    entry::<Conv2d>(),
    entry::<MaxPool2d>(),
    entry::<AvgPool2d>(),
    entry::<GlobalAvgPool>(),
    entry::<Relu>(),
    entry::<LeakyRelu>(),
    entry::<Sigmoid>(),
    entry::<Tanh>(),
    entry::<Gelu>(),
    entry::<Silu>(),
    entry::<Exp>(),
    entry::<Log>(),
    entry::<Sqrt>(),
    entry::<Abs>(),
    entry::<Neg>(),
    entry::<Clamp>(),
    entry::<Add>(),
    entry::<Sub>(),
    entry::<Mul>(),
    entry::<Div>(),
    entry::<Maximum>(),
    entry::<Minimum>(),
    entry::<Softmax>(),
    entry::<LogSoftmax>(),
    entry::<LayerNorm>(),
    entry::<RmsNorm>(),
    entry::<BatchNorm>(),
    entry::<Sum>(),
    entry::<Mean>(),
    entry::<Max>(),
    entry::<Reshape>(),
    entry::<Flatten>(),
    entry::<Transpose>(),
    entry::<Permute>(),
    entry::<Slice>(),
    entry::<Concat>(),
    entry::<Pad>(),
    entry::<Copy>(),
    entry::<Split>(),
    entry::<ExpandDims>(),
    entry::<Squeeze>(),
    entry::<Elu>(),
    entry::<Selu>(),
    entry::<HardSigmoid>(),
    entry::<HardSwish>(),
    entry::<Softplus>(),
    entry::<Mish>(),
    entry::<Prelu>(),
    entry::<Min>(),
    entry::<Prod>(),
    entry::<SumSquare>(),
    entry::<L1>(),
    entry::<L2>(),
    entry::<LogSum>(),
    entry::<LogSumExp>(),
    entry::<Attention>(),
    entry::<Rope>(),
    entry::<Lstm>(),
    entry::<Gru>(),
    entry::<Rnn>(),
    entry::<Conv1d>(),
    entry::<MaxPool1d>(),
    entry::<AvgPool1d>(),
    entry::<ConvTranspose2d>(),
    entry::<ConvTranspose1d>(),
    entry::<GroupNorm>(),
    entry::<InstanceNorm>(),
    entry::<LpNorm>(),
    entry::<DepthToSpace>(),
    entry::<SpaceToDepth>(),
    entry::<Resize>(),
    entry::<Write>(),
    entry::<Quantize>(),
    entry::<Dequantize>(),
    entry::<QConv2d>(),
    entry::<QDepthwiseConv2d>(),
    entry::<HybridConv2d>(),
    entry::<QLinear>(),
    entry::<QAdd>(),
    entry::<QAvgPool2d>(),
    entry::<QMaxPool2d>(),
    entry::<QSoftmax>(),
    entry::<Cast>(),
    entry::<Linear>(),
    entry::<Gather>(),
    entry::<OneHot>(),
    entry::<Where>(),
    entry::<Equal>(),
    entry::<NotEqual>(),
    entry::<Less>(),
    entry::<LessEqual>(),
    entry::<Greater>(),
    entry::<GreaterEqual>(),
    entry::<IsNan>(),
    entry::<IsInf>(),
    entry::<And>(),
    entry::<Or>(),
    entry::<Xor>(),
    entry::<Not>(),
    entry::<Pow>(),
    entry::<Rem>(),
    entry::<Modulo>(),
    entry::<Round>(),
    entry::<Floor>(),
    entry::<Ceil>(),
    entry::<Sign>(),
    entry::<Sin>(),
    entry::<Cos>(),
    entry::<Erf>(),
    entry::<Reciprocal>(),
    entry::<ArgMax>(),
    entry::<ArgMin>(),
    entry::<CumSum>(),
    entry::<Trilu>(),
    entry::<BroadcastTo>(),
    entry::<Scatter>(),
];

/// The operator of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    OPERATORS.iter().find(|entry| entry.spec.name == name)
}
