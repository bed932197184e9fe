//! A rule as one would write it.

use core::fmt::{self, Display, Formatter};

use super::{Elements, Extent, Pattern, Rule};

/// `fn(x: f32[.., N], w?: f32[N]) -> f32[.., N]`; with `{:#}` also the clauses after it.
impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let required = self.operands.len() - self.spec.optional;
        f.write_str("fn(")?;
        for (input, (name, pattern)) in self.spec.operands.iter().zip(self.operands).enumerate() {
            let comma = if input == 0 { "" } else { ", " };
            let optional = if input < required { "" } else { "?" };
            write!(f, "{comma}{name}{optional}: {}", self.pattern(pattern))?;
        }
        write!(f, ") -> {}", self.pattern(&self.result))?;
        if !f.alternate() {
            return Ok(());
        }
        let list = |f: &mut Formatter<'_>, inputs: &[usize], output: bool| {
            for (at, input) in inputs.iter().enumerate() {
                write!(f, "{}{}", if at == 0 { "" } else { ", " }, self.spec.operands[*input])?;
            }
            if output { write!(f, "{}output", if inputs.is_empty() { "" } else { ", " }) } else { Ok(()) }
        };
        if !self.in_place.is_empty() {
            f.write_str(", in_place = [")?;
            list(f, self.in_place, false)?;
            f.write_str("]")?;
        }
        if !self.strided.is_empty() || self.strided_output {
            f.write_str(", strided = [")?;
            list(f, self.strided, self.strided_output)?;
            f.write_str("]")?;
        }
        match self.scratch {
            Extent::Number(0) => Ok(()),
            scratch => write!(f, ", scratch = {}", self.extent(&scratch)),
        }
    }
}

impl Rule {
    /// A pattern as it is declared.
    pub fn pattern<'r>(&'r self, pattern: &'r Pattern) -> impl Display + 'r {
        Shown { rule: self, what: What::Pattern(pattern) }
    }

    /// An extent as it is declared.
    pub fn extent<'r>(&'r self, extent: &'r Extent) -> impl Display + 'r {
        Shown { rule: self, what: What::Extent(extent) }
    }
}

enum What<'r> {
    Pattern(&'r Pattern),
    Extent(&'r Extent),
}

struct Shown<'r> {
    rule: &'r Rule,
    what: What<'r>,
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.what {
            What::Pattern(pattern) => self.pattern(f, pattern),
            What::Extent(extent) => self.extent(f, extent),
        }
    }
}

impl Shown<'_> {
    fn pattern(&self, f: &mut Formatter<'_>, pattern: &Pattern) -> fmt::Result {
        let several = match pattern.elements {
            Elements::OneOf(known) => {
                for (at, dtype) in known.iter().enumerate() {
                    write!(f, "{}{dtype}", if at == 0 { "" } else { " | " })?;
                }
                known.len() > 1
            }
            Elements::Like(input) => {
                f.write_str(self.rule.spec.operands[input])?;
                false
            }
        };
        if pattern.dims.is_empty() && !pattern.leading {
            return Ok(());
        }
        write!(f, "{}[{}", if several { " " } else { "" }, if pattern.leading { ".." } else { "" })?;
        for (axis, dim) in pattern.dims.iter().enumerate() {
            write!(f, "{}", if axis == 0 && !pattern.leading { "" } else { ", " })?;
            self.extent(f, dim)?;
        }
        f.write_str("]")
    }

    fn extent(&self, f: &mut Formatter<'_>, extent: &Extent) -> fmt::Result {
        match *extent {
            Extent::Number(number) => write!(f, "{number}"),
            Extent::Name(name) => f.write_str(self.rule.extents[name]),
            Extent::Setting(setting) => f.write_str(self.rule.spec.settings[setting].name),
            Extent::Of(of, left, right) => {
                self.side(f, left)?;
                write!(f, " {} ", of.sign())?;
                self.side(f, right)
            }
        }
    }

    fn side(&self, f: &mut Formatter<'_>, side: &Extent) -> fmt::Result {
        if !matches!(side, Extent::Of(..)) {
            return self.extent(f, side);
        }
        f.write_str("(")?;
        self.extent(f, side)?;
        f.write_str(")")
    }
}
