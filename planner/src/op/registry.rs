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
    Entry { spec: O::SPEC, build: |args| Ok(Rc::new(O::build(args)?)) }
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
    entry::<Softplus>(),
    entry::<Min>(),
    entry::<Prod>(),
    entry::<ArgMax>(),
    entry::<ArgMin>(),
    entry::<CumSum>(),
    entry::<Trilu>(),
    entry::<BroadcastTo>(),
];

/// The operator of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    OPERATORS.iter().find(|entry| entry.spec.name == name)
}
