//! Recurrent layers over a sequence: lstm, gru and the plain one. Each gives its state after every step.

use super::rule::Kind;
use super::{Args, Described, Field, Fields, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{Dim, Shape, Type};

operator! {
    /// Long short-term memory (Hochreiter and Schmidhuber, 1997) with PyTorch's equations: of `g = W_ih x + W_hh h + b`,
    /// `c' = σ(f) c + σ(i) tanh(g)` and `h' = σ(o) tanh(c')`. Operands: x `[S, B, I]`, state `[2, B, H]` (h, then c),
    /// w_ih `[4H, I]`, w_hh `[4H, H]`, optional biases `[4H]`, which are added. The result, `[S, 2, B, H]`, holds h and c
    /// after each step: `y[.., 0]` is the sequence and `y[S - 1]` the last state.
    Lstm = "lstm" {
        /// The gates stand in the order i o f g (ONNX) instead of i f g o (PyTorch, Keras).
        iofg: bool,
        /// From the last step to the first; then `y[0]` is the last state.
        reverse: bool,
    }
    /// Gated recurrent unit (Cho et al., 2014): `r = σ(W_r x + U_r h)`, `z = σ(W_z x + U_z h)`, `h' = (1 - z) n + z h`
    /// with `n = tanh(W_n x + r (U_n h))`, or `tanh(W_n x + U_n (r h))` when the reset comes before the product. Operands:
    /// x `[S, B, I]`, h `[B, H]`, w_ih `[3H, I]`, w_hh `[3H, H]`, optional biases of either `[3H]`. The result, `[S, B, H]`,
    /// holds h after each step.
    Gru = "gru" {
        /// The reset gate is applied before the product with the state (the paper, RNNoise, ONNX) instead of after it
        /// (PyTorch).
        before: bool,
        /// `max(x, 0)` in place of tanh (RNNoise).
        relu: bool,
        /// The gates stand in the order z r n (ONNX, Keras, RNNoise) instead of r z n (PyTorch).
        zrn: bool,
        /// From the last step to the first; then `y[0]` is the last state.
        reverse: bool,
    }
    /// `h' = tanh(W_ih x + W_hh h + b)` (Elman, 1990). Operands: x `[S, B, I]`, h `[B, H]`, w_ih `[H, I]`, w_hh `[H, H]`,
    /// optional biases `[H]`, which are added. The result, `[S, B, H]`, holds h after each step.
    Rnn = "rnn" {
        /// `max(x, 0)` in place of tanh.
        relu: bool,
        /// From the last step to the first; then `y[0]` is the last state.
        reverse: bool,
    }
}

/// Steps whose products with the input are taken together.
pub const RECURRENT_STEPS: usize = 8;

const REVERSE: Setting = Setting { name: "reverse", expects: "`true` or `false`", default: Some("false") };
const ACTIVATION: Setting = Setting { name: "activation", expects: "`tanh` or `relu`", default: Some("tanh") };

fn relu(args: &Args<'_>) -> Result<bool, RuleError> {
    Ok(args.word("activation", &["tanh", "relu"], "`tanh` or `relu`")? == 1)
}

impl Described for Lstm {
    const SPEC: Spec = Spec {
        name: "lstm",
        doc: "long short-term memory over x `[S, B, I]` from state `[2, B, H]` with w_ih `[4H, I]`, w_hh `[4H, H]` and biases \
              `[4H]`: h and c after each step, `[S, 2, B, H]` (PyTorch's equations)",
        operands: &["x", "state", "w_ih", "w_hh", "bias", "bias_hh"],
        optional: 2,
        variadic: false,
        settings: &[Setting { name: "order", expects: "`ifgo` or `iofg`", default: Some("ifgo") }, REVERSE],
    };

    fn build(args: &Args<'_>) -> Result<Lstm, RuleError> {
        let iofg = args.word("order", &["ifgo", "iofg"], "`ifgo` or `iofg`")? == 1;
        Ok(Lstm { iofg, reverse: args.bool("reverse", false)? })
    }
}

impl Described for Gru {
    const SPEC: Spec = Spec {
        name: "gru",
        doc: "gated recurrent unit over x `[S, B, I]` from h `[B, H]` with w_ih `[3H, I]`, w_hh `[3H, H]` and biases `[3H]`: h \
              after each step, `[S, B, H]` (arXiv 1406.1078, PyTorch's equations)",
        operands: &["x", "h", "w_ih", "w_hh", "b_ih", "b_hh"],
        optional: 2,
        variadic: false,
        settings: &[
            Setting {
                name: "reset",
                expects: "`after` or `before` the product with the state",
                default: Some("after"),
            },
            ACTIVATION,
            Setting { name: "order", expects: "`rzn` or `zrn`", default: Some("rzn") },
            REVERSE,
        ],
    };

    fn build(args: &Args<'_>) -> Result<Gru, RuleError> {
        Ok(Gru {
            before: args.word("reset", &["after", "before"], "`after` or `before`")? == 1,
            relu: relu(args)?,
            zrn: args.word("order", &["rzn", "zrn"], "`rzn` or `zrn`")? == 1,
            reverse: args.bool("reverse", false)?,
        })
    }
}

impl Described for Rnn {
    const SPEC: Spec = Spec {
        name: "rnn",
        doc: "tanh(W_ih x + W_hh h + b) over x `[S, B, I]` from h `[B, H]` with w_ih `[H, I]`, w_hh `[H, H]` and biases `[H]`: h \
              after each step, `[S, B, H]`",
        operands: &["x", "h", "w_ih", "w_hh", "bias", "bias_hh"],
        optional: 2,
        variadic: false,
        settings: &[ACTIVATION, REVERSE],
    };

    fn build(args: &Args<'_>) -> Result<Rnn, RuleError> {
        Ok(Rnn { relu: relu(args)?, reverse: args.bool("reverse", false)? })
    }
}

/// Checks the operands of a layer with that many gates, and gives steps, batch and units.
fn layer(inputs: &[Type], gates: usize, states: bool) -> Result<[Dim; 3], RuleError> {
    Kind::Floats.of_all(inputs)?;
    let ranks = [
        (3, "3 dimensions: steps, batch, elements"),
        if states { (3, "3 dimensions: h and c, batch, units") } else { (2, "2 dimensions: batch, units") },
        (2, "2 dimensions: the units of each gate, elements"),
        (2, "2 dimensions: the units of each gate, units"),
        (1, "1 dimension: the units of each gate"),
        (1, "1 dimension: the units of each gate"),
    ];
    for (input, (operand, (rank, expected))) in inputs.iter().zip(ranks).enumerate() {
        if operand.shape.rank() != rank {
            return Err(RuleError::Rank { input, expected });
        }
    }
    let dims = |input: usize| inputs[input].shape.dims();
    let first = usize::from(states);
    let (batch, units) = (dims(1)[first], dims(1)[first + 1]);
    if states && dims(1)[0] != Dim::new(2) {
        let rule = "the state is h and c, one after the other";
        return Err(RuleError::Extent { at: (1, 0), expected: 2, at_least: false, rule });
    }
    let agree = [
        (dims(0)[1], batch, (0, 1), (1, first), "the state has to have a row for each of the batch"),
        (
            dims(0)[2],
            dims(2)[1],
            (0, 2),
            (2, 1),
            "the input's weights have to have as many columns as a step has elements",
        ),
        (
            units,
            dims(3)[1],
            (1, first + 1),
            (3, 1),
            "the state's weights have to have as many columns as there are units",
        ),
    ];
    for (a, b, left, right, rule) in agree {
        if a != b {
            return Err(RuleError::Mismatch { left, right, rule });
        }
    }
    let expected = units.times(gates).ok_or(RuleError::Overflow)?;
    for input in 2..inputs.len() {
        if dims(input)[0] != expected {
            let rule = "there has to be a row for each unit of each gate";
            let expected = expected.size;
            return Err(RuleError::Extent { at: (input, 0), expected, at_least: false, rule });
        }
    }
    Ok([dims(0)[0], batch, units])
}

/// Bytes of that many numbers for each unit of the batch in each of the steps that are taken together, and `more` for
/// each unit of the batch.
fn room(inputs: &[Type], gates: usize, more: usize) -> usize {
    let x = inputs[0].shape.dims();
    let (steps, batch) = (x[0].size.min(RECURRENT_STEPS), x[1].size);
    let units = inputs[3].shape.dims()[1].size;
    let each = steps.saturating_mul(gates).saturating_add(more);
    batch.saturating_mul(units).saturating_mul(each).saturating_mul(4)
}

/// The fields as settings in words.
fn spell(op: &dyn Fields, visit: &mut dyn FnMut(&'static str, Value<'_>)) {
    op.fields(&mut |name, field| {
        let Field::Bool(on) = field else { return };
        let (name, words) = match name {
            "iofg" => ("order", ["ifgo", "iofg"]),
            "zrn" => ("order", ["rzn", "zrn"]),
            "before" => ("reset", ["after", "before"]),
            "relu" => ("activation", ["tanh", "relu"]),
            _ => return visit(name, Value::Bool(on)),
        };
        visit(name, Value::Word(words[usize::from(on)]));
    });
}

macro_rules! recurrent {
    ($( $name:ident, $gates:expr, $more:expr, $states:expr; )*) => { $(
        impl Operator for $name {
            fn through_f32(&self) -> bool {
                true
            }

            fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
                spell(self, visit);
            }

            fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
                let [steps, batch, units] = layer(inputs, $gates, $states)?;
                let dims = [steps, Dim::new(2), batch, units];
                let shape = if $states { Shape::new(&dims) } else { Shape::new(&[steps, batch, units]) };
                Ok(Type { dtype: inputs[0].dtype, shape: shape.ok_or(RuleError::TooManyDims)? })
            }

            fn strided_input(&self, _: usize) -> bool {
                true
            }

            fn scratch(&self, inputs: &[Type], _: &Type) -> usize {
                room(inputs, $gates, $more)
            }
        }
    )* };
}

recurrent! {
    Lstm, 4, 0, true;
    Gru, 3, 3, false;
    Rnn, 1, 0, false;
}
