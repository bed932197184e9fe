//! Operators that a user's crate declares: their rules as plain data, and how operands are held against one. It is the
//! same rule before the model is planned and when its kernel runs; who words a complaint is not known here.

#[cfg(feature = "alloc")]
mod call;
mod show;

#[cfg(feature = "alloc")]
pub use call::{Given, OwnCall};

use super::{MAX_OPERANDS, RuleError, Spec};
use crate::{DType, Dim, Shape, Type};

/// The most extents that a rule names.
pub const MAX_EXTENTS: usize = 16;

/// An operator that `#[operator]` declares: what the attribute emits for the struct.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not declared as an operator",
    label = "not an operator of a crate of its own",
    note = "write `#[model_graph::operator(fn(x: f32[.., N]) -> f32[.., N])]` on the struct"
)]
pub trait Own: Sized {
    /// Name, operands, extents, aliasing, scratch.
    const RULE: &'static Rule;

    /// The settings' types, in the order of the fields.
    type Settings;

    /// The operator with these settings.
    fn with(settings: Self::Settings) -> Self;

    /// A setting that is a whole number, by its position; 0 of any other.
    fn size(&self, setting: usize) -> usize;
}

/// What is declared of an operator. It prints as `fn(x: f32[.., N]) -> f32[.., N]`, with `{:#}` as all of that.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Name, operands, settings.
    pub spec: Spec,
    /// What kind of value each setting has.
    pub kinds: &'static [Kind],
    /// The names of extents.
    pub extents: &'static [&'static str],
    /// The operands' types, in order.
    pub operands: &'static [Pattern],
    /// The result's type.
    pub result: Pattern,
    /// Operands that the kernel may write its result over.
    pub in_place: &'static [usize],
    /// Operands that the kernel reads by their strides.
    pub strided: &'static [usize],
    /// The kernel writes by the result's strides.
    pub strided_output: bool,
    /// Bytes that the kernel works in.
    pub scratch: Extent,
}

/// The Rust type of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `usize`.
    Usize,
    /// `f32`.
    F32,
    /// `bool`.
    Bool,
    /// `[usize; N]`.
    Usizes(usize),
}

/// The types that an operand may have.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// Element types.
    pub elements: Elements,
    /// Any number of dimensions come first, as many and the same wherever they do.
    pub leading: bool,
    /// The extents after those.
    pub dims: &'static [Extent],
}

/// Element types.
#[derive(Clone, Copy, Debug)]
pub enum Elements {
    /// One of these.
    OneOf(&'static [DType]),
    /// That of an operand before it.
    Like(usize),
}

/// An extent of a rule.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// This many.
    Number(usize),
    /// As many as wherever else that name stands: its position in [`Rule::extents`].
    Name(usize),
    /// As many as a setting says, by its position.
    Setting(usize),
    /// Arithmetic.
    Of(Arithmetic, &'static Extent, &'static Extent),
}

/// What is done with two extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`.
    Add,
    /// `-`, which does not go below zero.
    Sub,
    /// `*`.
    Mul,
    /// `/`, which leaves no remainder.
    Div,
}

/// Why operands are not what a rule takes. Operands are named by their positions.
#[derive(Clone, Copy, Debug)]
pub enum Misfit {
    /// There are too few or too many.
    Count,
    /// An operand's element type.
    DType {
        /// Operand.
        input: usize,
    },
    /// An operand's number of dimensions.
    Rank {
        /// Operand.
        input: usize,
    },
    /// Not the leading dims that an operand before it has.
    Leading {
        /// Operand.
        input: usize,
        /// Operand.
        by: usize,
    },
    /// An extent is not what its name is elsewhere.
    Name {
        /// Position of the name.
        name: usize,
        /// Operand and axis.
        at: (usize, usize),
        /// Operand and axis.
        by: (usize, usize),
    },
    /// An extent is not what the rule comes to.
    Exact {
        /// Operand and axis.
        at: (usize, usize),
        /// What is written there.
        extent: Extent,
        /// What that comes to; the most there can be where it follows from an open dim.
        expected: usize,
    },
    /// Extents do not come to an extent.
    Arithmetic {
        /// What is done.
        of: Arithmetic,
        /// What with; the most there can be of extents that follow from an open dim.
        sizes: (usize, usize),
        /// One of them follows from an open dim.
        open: bool,
    },
    /// The result would have more dimensions than a tensor can have.
    TooManyDims,
}

impl From<Misfit> for RuleError {
    /// For who words rules' complaints alone; the macro words misfits themselves.
    fn from(misfit: Misfit) -> RuleError {
        let rule = "extents of one name are the same";
        match misfit {
            Misfit::Count => RuleError::Missing { name: "operands", expects: "as many tensors as it is declared with" },
            Misfit::DType { input } => RuleError::Rank { input, expected: "an element type that it is declared with" },
            Misfit::Rank { input } => RuleError::Rank { input, expected: "as many dimensions as it is declared with" },
            Misfit::Leading { input, .. } => {
                RuleError::Rank { input, expected: "the same leading dimensions in each operand" }
            }
            Misfit::Name { at, by, .. } => RuleError::Mismatch { left: by, right: at, rule },
            Misfit::Exact { at, expected, .. } => {
                let rule = "it is declared so";
                RuleError::Extent { at, expected, at_least: false, rule }
            }
            Misfit::Arithmetic { .. } => RuleError::Overflow,
            Misfit::TooManyDims => RuleError::TooManyDims,
        }
    }
}

/// What a rule's names stand for in one call.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    names: [Option<(Dim, (usize, usize))>; MAX_EXTENTS],
    /// The operand that says what the leading dims are, and how many there are.
    leading: Option<(usize, usize)>,
}

impl Rule {
    /// The result's type. `size` is asked for settings that are whole numbers, by their positions.
    ///
    /// # Errors
    /// The first operand that is not what the rule takes.
    pub fn infer(&self, size: &dyn Fn(usize) -> usize, inputs: &[Type]) -> Result<Type, Misfit> {
        let bound = self.bind(size, inputs)?;
        let dtype = match self.result.elements {
            Elements::OneOf(known) => known.first().copied().ok_or(Misfit::Count)?,
            Elements::Like(input) => inputs.get(input).ok_or(Misfit::Count)?.dtype,
        };
        let mut shape = Shape::SCALAR;
        if let (true, Some((input, count))) = (self.result.leading, bound.leading) {
            for dim in &inputs[input].shape.dims()[..count] {
                shape = shape.with(*dim).ok_or(Misfit::TooManyDims)?;
            }
        }
        for extent in self.result.dims {
            shape = shape.with(bound.value(extent, size)?).ok_or(Misfit::TooManyDims)?;
        }
        Ok(Type { dtype, shape })
    }

    /// Bytes that the kernel works in.
    ///
    /// # Errors
    /// As [`Rule::infer`].
    pub fn scratch(&self, size: &dyn Fn(usize) -> usize, inputs: &[Type]) -> Result<usize, Misfit> {
        Ok(self.bind(size, inputs)?.value(&self.scratch, size)?.size)
    }

    /// Holds the operands against the rule.
    fn bind(&self, size: &dyn Fn(usize) -> usize, inputs: &[Type]) -> Result<Bound, Misfit> {
        let (least, most) = self.spec.takes();
        if !(least..=most).contains(&inputs.len()) || self.operands.len() > MAX_OPERANDS {
            return Err(Misfit::Count);
        }
        let mut bound = Bound { names: [None; MAX_EXTENTS], leading: None };
        for (input, (pattern, ty)) in self.operands.iter().zip(inputs).enumerate() {
            if !pattern.takes(ty, inputs) {
                return Err(Misfit::DType { input });
            }
            let leading = bound.lead(input, pattern, inputs)?;
            for (axis, (extent, dim)) in pattern.dims.iter().zip(&ty.shape.dims()[leading..]).enumerate() {
                if let Extent::Name(name) = *extent {
                    bound.name(name, (input, leading + axis), *dim)?;
                }
            }
        }
        // What is worked out may name what stands in later operands.
        for (input, (pattern, ty)) in self.operands.iter().zip(inputs).enumerate() {
            let leading = ty.shape.rank() - pattern.dims.len();
            for (axis, (extent, dim)) in pattern.dims.iter().zip(&ty.shape.dims()[leading..]).enumerate() {
                let expected = bound.value(extent, size)?;
                if expected != *dim {
                    return Err(Misfit::Exact {
                        at: (input, leading + axis),
                        extent: *extent,
                        expected: expected.size,
                    });
                }
            }
        }
        Ok(bound)
    }
}

impl Pattern {
    fn takes(&self, ty: &Type, inputs: &[Type]) -> bool {
        match self.elements {
            Elements::OneOf(known) => known.contains(&ty.dtype),
            Elements::Like(input) => inputs.get(input).is_some_and(|other| other.dtype == ty.dtype),
        }
    }
}

impl Bound {
    /// How many leading dims the operand has, which are those of the others that have some.
    fn lead(&mut self, input: usize, pattern: &Pattern, inputs: &[Type]) -> Result<usize, Misfit> {
        let dims = inputs[input].shape.dims();
        let count = dims.len().checked_sub(pattern.dims.len()).ok_or(Misfit::Rank { input })?;
        match (pattern.leading, self.leading) {
            (false, _) if count > 0 => return Err(Misfit::Rank { input }),
            (false, _) => {}
            (true, None) => self.leading = Some((input, count)),
            (true, Some((by, known))) if inputs[by].shape.dims()[..known] != dims[..count] => {
                return Err(Misfit::Leading { input, by });
            }
            (true, Some(_)) => {}
        }
        Ok(count)
    }

    fn name(&mut self, name: usize, at: (usize, usize), dim: Dim) -> Result<(), Misfit> {
        match self.names.get_mut(name) {
            Some(Some((known, by))) if *known != dim => Err(Misfit::Name { name, at, by: *by }),
            Some(Some(_)) => Ok(()),
            Some(free) => {
                *free = Some((dim, at));
                Ok(())
            }
            None => Err(Misfit::Count),
        }
    }

    /// What an extent comes to.
    fn value(&self, extent: &Extent, size: &dyn Fn(usize) -> usize) -> Result<Dim, Misfit> {
        Ok(match *extent {
            Extent::Number(number) => Dim::new(number),
            // Rules name no extent that no operand has to bring.
            Extent::Name(name) => self.names.get(name).copied().flatten().ok_or(Misfit::Count)?.0,
            Extent::Setting(setting) => Dim::new(size(setting)),
            Extent::Of(of, left, right) => {
                let (left, right) = (self.value(left, size)?, self.value(right, size)?);
                let open = left.is_open() || right.is_open();
                let misfit = Misfit::Arithmetic { of, sizes: (left.size, right.size), open };
                of.apply(left, right).ok_or(misfit)?
            }
        })
    }
}

impl Arithmetic {
    /// What the two come to, if it is an extent.
    pub fn apply(self, left: Dim, right: Dim) -> Option<Dim> {
        match self {
            Arithmetic::Add => left.joined(right),
            Arithmetic::Sub => left.without(right),
            Arithmetic::Mul => match (left.fixed(), right.fixed()) {
                (_, Some(count)) => left.times(count),
                (Some(count), _) => right.times(count),
                _ => None,
            },
            Arithmetic::Div => left.over_exactly(right.fixed().filter(|parts| *parts > 0)?),
        }
    }

    /// As it is written.
    pub const fn sign(self) -> char {
        match self {
            Arithmetic::Add => '+',
            Arithmetic::Sub => '-',
            Arithmetic::Mul => '*',
            Arithmetic::Div => '/',
        }
    }
}
