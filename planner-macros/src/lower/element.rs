//! Element types in expressions: casts, and which type a number takes.

use std::rc::Rc;

use model_graph_planner::{DType, Role, Shape, TensorId, Type, op};

use super::call::operand_text;
use super::{Lowering, Value};
use crate::error::{At, text};
use crate::expr::Expr;

impl Lowering<'_, '_> {
    /// `x as f16`.
    pub(super) fn cast(&mut self, of: &Expr, dtype: &proc_macro2::Ident, field: &str) -> Option<Value> {
        let value = self.expr(of, field);
        let to = self.dtype(dtype)?;
        if to.is_quantised() {
            self.report.add(dtype, text::CAST_TO_BLOCKS);
            return None;
        }
        match value? {
            Value::Number(number) => {
                // As Rust has it: cut off, and no further than the limits.
                let number = match to.range() {
                    _ if to == DType::Bool => f64::from(u8::from(number != 0.0)),
                    Some((low, high)) => number.trunc().clamp(low as f64, high as f64),
                    None => number,
                };
                let id = self.number(number, to, None, of.at)?;
                Some(Value::Tensor { id, fresh: false })
            }
            Value::Tensor { id, fresh } => {
                let from = self.graph.tensor(id).ty;
                if from.dtype == to {
                    return Some(Value::Tensor { id, fresh });
                }
                if from.dtype.is_quantised() && !to.is_float() {
                    let (of, ty) = (operand_text(of), self.type_text(&from));
                    self.report.add(dtype, format!("{of} is {ty}, which becomes f32, f16 or bf16; write one of them"));
                    return None;
                }
                self.node(field, Rc::new(op::Cast { to }), &[id]).ok()
            }
        }
    }

    /// The element type that a number takes as operand `input` of a call: that of the first tensor it stands beside.
    /// An index is whole whatever it looks up in.
    pub(super) fn number_type(
        &self,
        operand: Option<&str>,
        values: &[Value],
        operands: &[&Expr],
    ) -> (DType, Option<String>) {
        match operand {
            Some("index") => return (DType::I32, None),
            Some("at" | "past" | "position") => return (DType::U32, None),
            // What an integer stands for is a number.
            Some(scale) if scale == "scale" || scale.ends_with("_scale") => return (DType::F32, None),
            _ => {}
        }
        let mut truth = None;
        for (value, operand) in values.iter().zip(operands) {
            let Value::Tensor { id, .. } = *value else { continue };
            match self.graph.tensor(id).ty.dtype {
                DType::Bool => truth = truth.or(Some(operand)),
                dtype if dtype.is_quantised() => {}
                dtype => return (dtype, Some(operand_text(operand))),
            }
        }
        // What a condition chooses between is of any type.
        match truth.filter(|_| operand.is_none_or(|operand| operand != "a" && operand != "b") || operands.len() == 2) {
            Some(operand) => (DType::Bool, Some(operand_text(operand))),
            None => (DType::F32, None),
        }
    }

    /// A number as a constant of the model; equal numbers of one type share one. `beside` is what it stands beside.
    pub(super) fn number(&mut self, number: f64, dtype: DType, beside: Option<&str>, at: At) -> Option<TensorId> {
        if let Err(text) = fits(number, dtype, beside) {
            self.report.add(at, text);
            return None;
        }
        // What is written is rounded once, to what is stored.
        let (number, name) = match dtype {
            DType::F32 => (f64::from(number as f32), format!("{:?}", number as f32)),
            _ if dtype.is_half() => (number, format!("{number:?}{dtype}")),
            _ => (number, format!("{number}{dtype}")),
        };
        let key = (dtype.name(), number.to_bits());
        if let Some((id, ..)) = self.numbers.get(&key) {
            return Some(*id);
        }
        let id = self.graph.leaf(name, Role::Constant, Type { dtype, shape: Shape::SCALAR }).ok()?;
        self.numbers.insert(key, (id, dtype, number));
        Some(id)
    }
}

/// What is wrong with a number of that element type.
fn fits(number: f64, dtype: DType, beside: Option<&str>) -> Result<(), String> {
    let which = beside.map_or(String::new(), |beside| format!(" of {beside}"));
    let cast = match beside.and_then(|beside| beside.strip_prefix('`')?.strip_suffix('`')) {
        Some(name) if !name.contains(' ') => format!("`{name} as f32`"),
        _ => String::from("what it stands beside, `(…) as f32`"),
    };
    if !number.is_finite() {
        return Err(format!("these numbers come to {number:?}, which is no number to compute with"));
    }
    match dtype.range() {
        Some(_) if number.fract() != 0.0 => {
            Err(format!("{number} is no whole number, and the elements{which} are {dtype}; round it, or cast {cast}"))
        }
        Some((low, high)) if number < low as f64 || number > high as f64 => Err(format!(
            "{number} does not fit the elements{which}, which are {dtype}: {low} to {high}; cast {}",
            cast.replace("f32", if number.abs() <= f64::from(i32::MAX) { "i32" } else { "i64" })
        )),
        // From here on an f64, which is what numbers are read as, stands for its neighbours too: it is not what was written.
        Some(_) if number.abs() >= (1u64 << 53) as f64 => Err(format!(
            "whole numbers from 9007199254740992 (2^53) on are not told apart here; declare a `#[constant(…)]` of {dtype}"
        )),
        Some(_) => Ok(()),
        None if dtype == DType::Bool && beside.is_some() => {
            Err(format!("{number} is a number and the elements{which} are bool; cast {}", cast.replace("f32", "i32")))
        }
        None if dtype == DType::F16 && number.abs() >= 65520.0 => {
            Err(format!("{number:?} is more than an f16 can hold"))
        }
        None if !(number as f32).is_finite() => Err(format!("{number:?} is more than an f32 can hold")),
        None => Ok(()),
    }
}
