//! A call of an operator that a user's crate declares, as a graph holds it: the rule and the settings' values.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::{Elements, Kind, Rule};
use crate::Type;
use crate::op::rule::bad;
use crate::op::{Args, Field, Fields, Operator, RuleError, Setting, Value};

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A `usize`.
    Usize(usize),
    /// An `f32`.
    F32(f32),
    /// A `bool`.
    Bool(bool),
    /// A `[usize; N]`.
    Usizes(Vec<usize>),
}

impl Kind {
    /// The value of setting `setting` in a call.
    ///
    /// # Errors
    /// It is not given, or of another kind.
    pub fn read(self, setting: &Setting, args: &Args<'_>) -> Result<Given, RuleError> {
        let &Setting { name, expects, .. } = setting;
        if args.get(name).is_none() {
            return Err(RuleError::Missing { name, expects });
        }
        Ok(match (self, args.get(name)) {
            (Kind::Usize, _) => Given::Usize(args.size(name, 0, None)?),
            (Kind::F32, _) => Given::F32(args.float(name, 0.0)?),
            (Kind::Bool, _) => Given::Bool(args.bool(name, false)?),
            (Kind::Usizes(count), Some(Value::List(list))) if list.len() == count => {
                let whole = |value: &Value<'_>| match value {
                    Value::Int(number, _) => usize::try_from(*number).ok(),
                    _ => None,
                };
                let values: Option<Vec<usize>> = list.iter().map(whole).collect();
                Given::Usizes(values.ok_or(bad(name, expects))?)
            }
            (Kind::Usizes(_), _) => return Err(bad(name, expects)),
        })
    }
}

/// A call of an operator that a user's crate declares.
#[derive(Clone, Debug)]
pub struct OwnCall {
    /// What is declared of it.
    pub rule: &'static Rule,
    /// Which operator it is to whoever made the graph: two may have one name.
    pub key: usize,
    /// The settings' values, in the order of the declaration.
    pub given: Vec<Given>,
}

impl OwnCall {
    /// A setting that is a whole number, by its position; 0 of any other.
    pub fn size(&self, setting: usize) -> usize {
        match self.given.get(setting) {
            Some(Given::Usize(size)) => *size,
            _ => 0,
        }
    }
}

impl Fields for OwnCall {
    fn name(&self) -> &str {
        self.rule.spec.name
    }

    fn kernel(&self) -> &'static str {
        self.rule.spec.name
    }

    fn fields(&self, visit: &mut dyn FnMut(&'static str, Field<'_>)) {
        for (setting, given) in self.rule.spec.settings.iter().zip(&self.given) {
            let field = match given {
                Given::Usize(value) => Field::Usize(*value),
                Given::F32(value) => Field::F32(*value),
                Given::Bool(value) => Field::Bool(*value),
                Given::Usizes(values) => Field::Usizes(values),
            };
            visit(setting.name, field);
        }
    }

    fn at(&self, _: &[usize]) -> Rc<dyn Operator> {
        // Settings follow from no open dim.
        Rc::new(self.clone())
    }

    fn as_any(&self) -> &dyn core::any::Any {
        self
    }
}

impl Operator for OwnCall {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Ok(self.rule.infer(&|setting| self.size(setting), inputs)?)
    }

    fn takes_blocks(&self, input: usize) -> bool {
        self.rule.operands.get(input).is_some_and(|pattern| match pattern.elements {
            Elements::OneOf(known) => known.iter().any(|dtype| dtype.is_quantised()),
            Elements::Like(other) => other < input && self.takes_blocks(other),
        })
    }

    fn in_place(&self, input: usize) -> bool {
        self.rule.in_place.contains(&input)
    }

    fn strided_input(&self, input: usize) -> bool {
        self.rule.strided.contains(&input)
    }

    fn strided_output(&self) -> bool {
        self.rule.strided_output
    }

    fn scratch(&self, inputs: &[Type], _: &Type) -> usize {
        self.rule.scratch(&|setting| self.size(setting), inputs).unwrap_or(0)
    }
}
