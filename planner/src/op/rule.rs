//! What operators' rules are asked with and how they answer: settings in, a type or a structured complaint out.
//! Nothing here knows how a message is worded.

use core::fmt;

use crate::{DType, Dim, MAX_RANK, Shape, Type};

/// The value of a setting as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// An integer, or a name from `dims(…)`, or a braced expression of them.
    Int(i64, u16),
    /// An extent that follows from an open dim.
    Open(Dim),
    /// A number with a fraction.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A bare word such as `nhwc`.
    Word(&'a str),
    /// `[…]`.
    List(&'a [Value<'a>]),
    /// `_`: to be inferred.
    Infer,
}

/// The settings of one operator call, and the types of its operands.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    /// `name = value`, in the order written.
    pub settings: &'a [(&'a str, Value<'a>)],
    /// Operands' types.
    pub inputs: &'a [Type],
}

/// One setting that an operator takes.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// As written in the language.
    pub name: &'static str,
    /// What it may be, as one reads it in a message: `a number`, `an axis`.
    pub expects: &'static str,
    /// The default in words, or `None` when it must be given.
    pub default: Option<&'static str>,
}

/// What an operator needs to know of itself before a call is built.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The name in the language.
    pub name: &'static str,
    /// One line: what it computes, with its source where the formula has one.
    pub doc: &'static str,
    /// Operands' names in order.
    pub operands: &'static [&'static str],
    /// How many of the operands may be left out, counted from the end.
    pub optional: usize,
    /// True when the last operand may be repeated.
    pub variadic: bool,
    /// Settings it takes.
    pub settings: &'static [Setting],
}

impl Spec {
    /// The least and the most operands of a call.
    pub const fn takes(&self) -> (usize, usize) {
        if self.variadic { (1, usize::MAX) } else { (self.operands.len() - self.optional, self.operands.len()) }
    }
}

/// Why a call does not hold. Operands and settings are named by index or name, so that whoever words the message can
/// point at the user's own token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RuleError {
    /// An operand's element type is not one the operator takes.
    DType {
        /// Operand.
        input: usize,
        /// What it takes.
        expected: DType,
    },
    /// An operand's element type is not among those the operator takes.
    Elements {
        /// Operand.
        input: usize,
        /// What it takes, in words: `f32, f16 or bf16`.
        expected: &'static str,
    },
    /// Two operands have to have one element type and do not.
    Mixed {
        /// Operand.
        left: usize,
        /// Operand.
        right: usize,
    },
    /// An operand is a weight in blocks, and the operator takes single elements.
    Blocks {
        /// Operand.
        input: usize,
    },
    /// An operand has the wrong number of dimensions.
    Rank {
        /// Operand.
        input: usize,
        /// What it takes, in words: `at least 2 dimensions`.
        expected: &'static str,
    },
    /// Two extents have to agree and do not.
    Mismatch {
        /// Operand and axis.
        left: (usize, usize),
        /// Operand and axis.
        right: (usize, usize),
        /// What has to hold, in words.
        rule: &'static str,
    },
    /// An extent is not what settings and other operands ask for.
    Extent {
        /// Operand and axis.
        at: (usize, usize),
        /// The extent it has to have.
        expected: usize,
        /// True when a larger one would do as well.
        at_least: bool,
        /// Why, in words.
        rule: &'static str,
    },
    /// A setting's value is not of the right form or out of its range.
    Setting {
        /// Its name.
        name: &'static str,
        /// What it has to be, in words.
        expected: Expected,
    },
    /// A setting that must be given is not.
    Missing {
        /// Its name.
        name: &'static str,
        /// What it has to be, in words.
        expects: &'static str,
    },
    /// A setting's value follows from an open dim and has to be a number that is fixed.
    OpenSetting {
        /// Its name.
        name: &'static str,
    },
    /// An extent follows from an open dim and has to be fixed.
    OpenExtent {
        /// Operand and axis.
        at: (usize, usize),
        /// Why, in words.
        rule: &'static str,
    },
    /// An extent of the result does not follow from one open dim by a formula.
    NoFormula {
        /// Which extents cannot be, in words: `the product of two open extents`.
        rule: &'static str,
    },
    /// The operand is to be written and is no state.
    NoState {
        /// Operand.
        input: usize,
    },
    /// The version of a state is to be written that was written already: there would be two that follow it.
    Written {
        /// Operand.
        input: usize,
    },
    /// The result would have more dimensions than a tensor can have.
    TooManyDims,
    /// The size of the result does not fit an address.
    Overflow,
}

/// What a setting has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// In words.
    Words(&'static str),
    /// An axis of a tensor of that rank.
    Axis(usize),
    /// A whole number between two limits.
    Between(i64, i64),
    /// A list with a whole number for each of that many dimensions.
    PerDim(usize),
    /// Extents whose product is the number of elements.
    Elements(usize),
    /// Extents whose product is the number of elements, which follows from open dims.
    OpenElements,
    /// A number that divides that extent.
    Divisor(usize),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Expected::Words(words) => f.write_str(words),
            Expected::Axis(0) => f.write_str("nothing: a scalar has no axis"),
            Expected::Axis(rank) => write!(f, "an axis from {} to {}", -(rank as i64), rank as i64 - 1),
            Expected::Between(low, high) => write!(f, "a whole number from {low} to {high}"),
            Expected::PerDim(1) => f.write_str("a list of 1 whole number"),
            Expected::PerDim(rank) => write!(f, "a list of {rank} whole numbers, one per dimension"),
            Expected::OpenElements => {
                f.write_str("extents whose product is the number of elements, whatever the open extents are")
            }
            Expected::Elements(count) => write!(f, "extents whose product is {count}"),
            Expected::Divisor(extent) => write!(f, "a divisor of the extent, which is {extent}"),
        }
    }
}

/// A complaint about the form of setting `name`.
pub(super) const fn bad(name: &'static str, expected: &'static str) -> RuleError {
    RuleError::Setting { name, expected: Expected::Words(expected) }
}

impl<'a> Args<'a> {
    /// The value given for `name`.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.settings.iter().find(|(given, _)| *given == name).map(|(_, value)| *value)
    }

    /// The value given for `name`, when no part of it follows from an open dim.
    pub fn fixed(&self, name: &'static str) -> Result<Option<Value<'a>>, RuleError> {
        let value = self.get(name);
        let open = match value {
            Some(Value::Open(_)) => true,
            Some(Value::List(values)) => values.iter().any(|value| matches!(value, Value::Open(_))),
            _ => false,
        };
        if open { Err(RuleError::OpenSetting { name }) } else { Ok(value) }
    }

    /// True when that optional operand is left out although later ones are given. Then it stands among the settings as
    /// `name = _`, which is also how the textual form says it. An operator that can do without it says so too, in
    /// [`Operator::settings`](super::Operator::settings); for one that does not the call is refused.
    pub fn skips(&self, operand: &str) -> bool {
        self.get(operand) == Some(Value::Infer)
    }

    /// A number, or `default`.
    pub fn float(&self, name: &'static str, default: f32) -> Result<f32, RuleError> {
        let value = match self.fixed(name)? {
            None => return Ok(default),
            Some(Value::Int(value, _)) => value as f64,
            Some(Value::Float(value)) => value,
            Some(_) => return Err(bad(name, "a number")),
        };
        let single = value as f32;
        if single.is_finite() { Ok(single) } else { Err(bad(name, "a number that an f32 can hold")) }
    }

    /// As [`Args::float`], for what stands beside elements of that type: among integers no rounded one. `inexact` says what
    /// has to be given instead.
    pub fn float_beside(
        &self,
        name: &'static str,
        default: f32,
        dtype: DType,
        inexact: &'static str,
    ) -> Result<f32, RuleError> {
        let value = self.float(name, default)?;
        let exact = match self.get(name) {
            Some(Value::Int(given, _)) => value as i128 == i128::from(given),
            Some(Value::Float(given)) => f64::from(value) == given,
            _ => true,
        };
        if dtype.is_integer() && !exact { Err(bad(name, inexact)) } else { Ok(value) }
    }

    /// `true` or `false`, or `default`.
    pub fn bool(&self, name: &'static str, default: bool) -> Result<bool, RuleError> {
        match self.fixed(name)? {
            None => Ok(default),
            Some(Value::Bool(value)) => Ok(value),
            Some(_) => Err(bad(name, "`true` or `false`")),
        }
    }

    /// The index of the word given among `words`, or 0.
    pub fn word(&self, name: &'static str, words: &[&str], expected: &'static str) -> Result<usize, RuleError> {
        match self.fixed(name)? {
            None => Ok(0),
            Some(Value::Word(word)) => words.iter().position(|known| *known == word).ok_or(bad(name, expected)),
            Some(_) => Err(bad(name, expected)),
        }
    }

    /// A whole number of at least `low`, or `default`.
    pub fn size(&self, name: &'static str, low: usize, default: Option<usize>) -> Result<usize, RuleError> {
        match self.fixed(name)? {
            None => default.ok_or(RuleError::Missing { name, expects: "a whole number" }),
            Some(value) => whole(value, low).ok_or(RuleError::Setting { name, expected: at_least(low) }),
        }
    }

    /// One number for both directions or `[vertical, horizontal]`, each at least `low`.
    pub fn pair(&self, name: &'static str, low: usize, default: Option<[usize; 2]>) -> Result<[usize; 2], RuleError> {
        let wrong = if low == 0 {
            bad(name, "one whole number or `[vertical, horizontal]`")
        } else {
            bad(name, "one number above 0 or `[vertical, horizontal]`")
        };
        match self.fixed(name)? {
            None => default.ok_or(RuleError::Missing { name, expects: "one number or `[vertical, horizontal]`" }),
            Some(Value::List(&[y, x])) => Ok([whole(y, low).ok_or(wrong)?, whole(x, low).ok_or(wrong)?]),
            Some(value) => whole(value, low).map(|both| [both; 2]).ok_or(wrong),
        }
    }

    /// An axis of operand `input`, negative counted from the end, or `default`.
    pub fn axis(&self, name: &'static str, input: usize, default: Option<i64>) -> Result<usize, RuleError> {
        let rank = self.inputs[input].shape.rank();
        let given = match (self.fixed(name)?, default) {
            (Some(Value::Int(axis, _)), _) => axis,
            (None, Some(axis)) => axis,
            (None, None) => return Err(RuleError::Missing { name, expects: "an axis" }),
            (Some(_), _) => return Err(RuleError::Setting { name, expected: Expected::Axis(rank) }),
        };
        axis_of(given, rank).ok_or(RuleError::Setting { name, expected: Expected::Axis(rank) })
    }

    /// One axis or a list of different axes of operand 0; all of them when left out. Marked in the result.
    pub fn axes(&self, name: &'static str) -> Result<[bool; MAX_RANK], RuleError> {
        let rank = self.inputs[0].shape.rank();
        let mut marks = [false; MAX_RANK];
        let mut mark = |value| match value {
            Value::Int(axis, _) => {
                let axis = axis_of(axis, rank).ok_or(RuleError::Setting { name, expected: Expected::Axis(rank) })?;
                if core::mem::replace(&mut marks[axis], true) {
                    return Err(bad(name, "different axes, each named once"));
                }
                Ok(())
            }
            _ => Err(bad(name, "an axis or a list of axes")),
        };
        match self.fixed(name)? {
            None => marks[..rank].fill(true),
            Some(Value::List(list)) => list.iter().try_for_each(|value| mark(*value))?,
            Some(value) => mark(value)?,
        }
        Ok(marks)
    }

    /// The extents listed for `name`, with at most one `_`.
    pub fn dims(&self, name: &'static str) -> Result<(Shape, Option<usize>), RuleError> {
        let Some(value) = self.get(name) else {
            return Err(RuleError::Missing { name, expects: "a list of extents" });
        };
        let Value::List(list) = value else { return Err(bad(name, "a list of extents such as `[2, 3]`")) };
        let mut shape = Shape::SCALAR;
        let mut open = None;
        for (axis, value) in list.iter().enumerate() {
            let dim = match *value {
                Value::Int(size, name) if size >= 0 => Dim::new(size as usize).named(name),
                Value::Open(dim) => dim,
                Value::Infer if open.is_none() => {
                    open = Some(axis);
                    Dim::new(1)
                }
                Value::Infer => return Err(bad(name, "extents with at most one `_`")),
                Value::Int(..) => return Err(bad(name, "extents of 0 or more, with `_` for one that is worked out")),
                _ => return Err(bad(name, "a list of extents such as `[2, 3]`")),
            };
            shape = shape.with(dim).ok_or(RuleError::TooManyDims)?;
        }
        Ok((shape, open))
    }
}

fn at_least(low: usize) -> Expected {
    if low == 0 { Expected::Words("a whole number, 0 or more") } else { Expected::Words("a whole number above 0") }
}

fn whole(value: Value<'_>, low: usize) -> Option<usize> {
    match value {
        Value::Int(number, _) => usize::try_from(number).ok().filter(|number| *number >= low),
        _ => None,
    }
}

pub(super) fn axis_of(given: i64, rank: usize) -> Option<usize> {
    let axis = if given < 0 { given.checked_add(rank as i64)? } else { given };
    usize::try_from(axis).ok().filter(|axis| *axis < rank)
}

/// Element types that an operator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `f32`, `f16`, `bf16`.
    Floats,
    /// Floats and integers.
    Numbers,
    /// Floats and integers with a sign.
    Signed,
    /// Integers that an index can be given as.
    Indices,
    /// `bool` and integers.
    Bits,
    /// `bool`.
    Bool,
    /// All but weights in blocks.
    Any,
}

impl Kind {
    fn holds(self, dtype: DType) -> bool {
        match self {
            Kind::Floats => dtype.is_float(),
            Kind::Numbers => dtype.is_float() || dtype.is_integer(),
            Kind::Signed => dtype.is_float() || matches!(dtype, DType::I8 | DType::I32 | DType::I64),
            Kind::Indices => matches!(dtype, DType::I32 | DType::U32 | DType::I64),
            Kind::Bits => dtype.is_integer() || dtype == DType::Bool,
            Kind::Bool => dtype == DType::Bool,
            Kind::Any => !dtype.is_quantised(),
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Kind::Floats => "f32, f16 or bf16",
            Kind::Numbers => "floats or integers",
            Kind::Signed => "f32, f16, bf16, i8, i32 or i64",
            Kind::Indices => "i32, u32 or i64",
            Kind::Bits => "bool or integers",
            Kind::Bool => "bool",
            Kind::Any => "single elements",
        }
    }

    /// Fails unless operand `input` is of this kind.
    pub(super) fn check(self, inputs: &[Type], input: usize) -> Result<DType, RuleError> {
        let dtype = inputs[input].dtype;
        if self.holds(dtype) { Ok(dtype) } else { Err(RuleError::Elements { input, expected: self.text() }) }
    }

    /// The element type of all operands, which are of this kind.
    pub(super) fn of_all(self, inputs: &[Type]) -> Result<DType, RuleError> {
        self.of_those_from(inputs, 0)
    }

    /// The element type of operand `first` and all behind it, which are of this kind.
    pub(super) fn of_those_from(self, inputs: &[Type], first: usize) -> Result<DType, RuleError> {
        let dtype = self.check(inputs, first)?;
        match (first..inputs.len()).find(|input| inputs[*input].dtype != dtype) {
            None => Ok(dtype),
            Some(right) => Err(RuleError::Mixed { left: first, right }),
        }
    }
}

/// Fails unless all operands are `f32`.
#[allow(dead_code, reason = "for operators whose rule knows of no other element type")]
pub(super) fn f32_only(inputs: &[Type]) -> Result<(), RuleError> {
    match inputs.iter().position(|input| input.dtype != DType::F32) {
        None => Ok(()),
        Some(input) => Err(RuleError::DType { input, expected: DType::F32 }),
    }
}
