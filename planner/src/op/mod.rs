//! The operators. One file per family holds everything the planner knows of it: settings, shape rule, aliasing,
//! scratch, documentation. The kernels are elsewhere and know the same structs.

mod attention;
mod axes;
mod batch_norm;
mod binary;
mod border;
mod cast;
mod compare;
mod concat;
mod conv2d;
mod conv_transpose;
mod copy;
mod field;
mod fill;
mod gather;
mod group_norm;
mod line;
mod linear;
mod matmul;
mod norm;
pub mod own;
mod pad;
mod pool;
mod quant;
mod quant_conv;
mod quant_pool;
mod recurrent;
mod reduce;
#[cfg(feature = "alloc")]
mod registry;
mod resize;
mod rule;
mod scatter;
mod softmax;
mod space;
mod then;
mod unary;
mod view;
mod window;
mod write;

use core::fmt;

pub use attention::{Attention, Rope, mask_and_past};
pub use axes::{ExpandDims, Split, Squeeze};
pub use batch_norm::BatchNorm;
pub use binary::{Add, Div, Maximum, Minimum, Modulo, Mul, Pow, Prelu, Rem, Sub};
pub use border::Border;
pub use cast::Cast;
pub use compare::{And, Equal, Greater, GreaterEqual, IsInf, IsNan, Less, LessEqual, Not, NotEqual, Or, Where, Xor};
pub use concat::Concat;
pub use conv_transpose::{ConvTranspose1d, ConvTranspose2d, transposed_rows};
pub use conv2d::Conv2d;
pub use copy::Copy;
pub use field::Field;
use field::{AsField, extent, operator};
pub use fill::Fill;
pub use gather::{ArgMax, ArgMin, BroadcastTo, CumSum, Gather, OneHot, Trilu};
pub use group_norm::{GroupNorm, InstanceNorm, LpNorm};
pub use line::{AvgPool1d, Conv1d, MaxPool1d, lifted_view};
pub use linear::Linear;
pub use matmul::MatMul;
pub use norm::{LayerNorm, RmsNorm};
pub use own::Own;
#[cfg(feature = "alloc")]
pub use own::OwnCall;
pub use pad::Pad;
pub use pool::{AvgPool2d, GlobalAvgPool, MaxPool2d, Window};
pub use quant::{Dequantize, QAdd, QSoftmax, Quantize};
pub use quant_conv::{HybridConv2d, QConv2d, QDepthwiseConv2d, QLinear};
pub use quant_pool::{QAvgPool2d, QMaxPool2d};
pub use recurrent::{Gru, Lstm, RECURRENT_STEPS, Rnn};
pub use reduce::{L1, L2, LogSum, LogSumExp, Max, Mean, Min, Prod, Sum, SumSquare};

#[cfg(feature = "alloc")]
pub use registry::{Entry, OPERATORS, find};
pub use resize::Resize;
pub use rule::{Args, Expected, RuleError, Setting, Spec, Value};
pub use scatter::Scatter;
pub use softmax::{LogSoftmax, Softmax};
pub use space::{DepthToSpace, SpaceToDepth};
#[cfg(feature = "alloc")]
pub use then::Fused;
pub use then::{MAX_OPERANDS, Then};
pub use unary::{
    Abs, Ceil, Clamp, Cos, Elu, Erf, Exp, Floor, Gelu, HardSigmoid, HardSwish, LeakyRelu, Log, Mish, Neg, Reciprocal,
    Relu, Round, Selu, Sigmoid, Sign, Silu, Sin, Softplus, Sqrt, Tanh,
};
pub use view::{Flatten, Identity, Permute, Reshape, Slice, Transpose};
pub use write::Write;

#[cfg(feature = "alloc")]
use crate::TensorId;
use crate::{Type, View};

/// Adds a call to those that an operator stands for, and gives its result. The text is put behind the name of what the
/// operator makes.
#[cfg(feature = "alloc")]
pub type AddCall<'a> = dyn FnMut(&str, alloc::rc::Rc<dyn Operator>, &[TensorId]) -> Result<TensorId, RuleError> + 'a;

/// The last of the calls that an operator stands for.
#[cfg(feature = "alloc")]
pub type Last = (alloc::rc::Rc<dyn Operator>, alloc::vec::Vec<TensorId>);

/// What an operator is to the planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A step with a kernel that writes the output.
    Compute,
    /// No step: the output is another [`View`] of its only operand.
    View,
    /// No step: the output is where its operands lie side by side along this axis.
    Concat(usize),
    /// Other calls in its place, which [`Operator::expand`] lists.
    Expand,
    /// A step with a kernel that writes over its first operand, a state: the output is the state's next version.
    Write,
}

/// The names and settings of an operator; written by the `operator!` macro together with the struct.
pub trait Fields {
    /// The name in the language.
    fn name(&self) -> &str;
    /// The name of the struct in this module, which is what kernels are implemented for.
    fn kernel(&self) -> &'static str;
    /// Calls `visit` with each field of the struct.
    fn fields(&self, visit: &mut dyn FnMut(&'static str, Field<'_>));
    /// The operator for these values of the open dims, none of which its fields then follow from.
    #[cfg(feature = "alloc")]
    fn at(&self, values: &[usize]) -> alloc::rc::Rc<dyn Operator>;
    /// The struct itself, for whoever runs a plan that is not written into a program.
    fn as_any(&self) -> &dyn core::any::Any;
}

/// The rules of an operator whose settings are fixed. Adding an operator is an implementation of this, a line in the
/// registry, and a kernel for each backend that is to have it.
pub trait Operator: Fields + fmt::Debug {
    /// The output's type.
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError>;

    /// Calls `visit` with the settings of the call that makes this operator of operands of these types, as the language
    /// spells them. Where nothing else is said, the fields are the settings.
    fn settings(&self, _inputs: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        self.fields(&mut |name, field| field.spell(&mut |value| visit(name, value)));
    }

    /// Whether there is a kernel to run.
    fn action(&self) -> Action {
        Action::Compute
    }

    /// The output as a view of the operand's bytes, or `None` when it has to be copied to become one.
    /// Asked only of operators whose action is [`Action::View`].
    fn view(&self, _input: &View, _output: &Type) -> Option<View> {
        None
    }

    /// The calls that this one stands for: all but the last are handed to `add`, the last, which makes the output, is
    /// returned. Asked only of operators whose action is [`Action::Expand`].
    ///
    /// # Errors
    /// What `add` complains of.
    #[cfg(feature = "alloc")]
    fn expand(&self, _inputs: &[TensorId], _types: &[Type], _add: &mut AddCall<'_>) -> Result<Last, RuleError> {
        unreachable!("`{}` stands for itself", self.name())
    }

    /// True when the kernel may write its output over that operand, given that both address the same elements.
    fn in_place(&self, _input: usize) -> bool {
        false
    }

    /// True when the kernel reads that operand by its strides; otherwise it is packed before the kernel sees it.
    fn strided_input(&self, _input: usize) -> bool {
        false
    }

    /// True when the kernel writes by the output's strides.
    fn strided_output(&self) -> bool {
        false
    }

    /// True when the kernel writes an output that lies like this: packed, or by its strides if it writes by any.
    fn writes(&self, output: &View) -> bool {
        output.is_packed() || self.strided_output()
    }

    /// True when the kernel can apply elementwise stages to its output while it makes it.
    fn takes_stages(&self) -> bool {
        false
    }

    /// True when this is an elementwise operator that can be such a stage.
    fn is_stage(&self) -> bool {
        false
    }

    /// True when the kernel takes operands of `f32` alone: where the rule takes `f16` or `bf16` as well, those are cast,
    /// and so is the result.
    fn through_f32(&self) -> bool {
        false
    }

    /// True when such a kernel takes halves as that operand all the same, and reads them as they lie.
    fn reads_halves(&self, _input: usize) -> bool {
        false
    }

    /// True when that operand may be a weight in blocks.
    fn takes_blocks(&self, _input: usize) -> bool {
        false
    }

    /// Bytes of scratch that the kernel needs during its step. Smaller extents must not need more.
    fn scratch(&self, _inputs: &[Type], _output: &Type) -> usize {
        0
    }
}

/// What an operator makes of operands of these types: its own rule, and that no weight in blocks goes where only single
/// elements do.
///
/// # Errors
/// What the rule complains of.
pub fn infer(op: &dyn Operator, inputs: &[Type]) -> Result<Type, RuleError> {
    let blocks = |(input, ty): (usize, &Type)| ty.dtype.is_quantised() && !op.takes_blocks(input);
    match inputs.iter().enumerate().position(blocks) {
        Some(input) => Err(RuleError::Blocks { input }),
        None => op.infer(inputs),
    }
}

/// An operator of the language: its description and how a call becomes the struct.
pub trait Described: Operator + Sized + 'static {
    /// Name, operands, settings, documentation.
    const SPEC: Spec;

    /// Reads the settings. Rules that need only the operands' types are left to [`Operator::infer`].
    fn build(args: &Args<'_>) -> Result<Self, RuleError>;
}
