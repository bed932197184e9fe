//! The operands that `in_place` and `strided` name, and which of them a result can be written over.

use model_graph_planner::op::own::{Elements, Pattern};
use proc_macro2::Ident;

use super::clauses::{self, Clauses};
use super::rule::Names;
use crate::ast::plain;
use crate::dims::DimExpr;
use crate::error::{Report, suggestion};
use crate::names::nearest;

impl Names<'_> {
    /// The operands of a list, each with where it is named, and whether the output is among them.
    pub(super) fn listed<'n>(
        &self,
        names: &'n [Ident],
        output: bool,
        report: &mut Report,
    ) -> (Vec<(usize, &'n Ident)>, bool) {
        let (mut found, mut with_output) = (Vec::new(), false);
        for (at, ident) in names.iter().enumerate() {
            let name = plain(ident);
            if names[..at].iter().any(|other| plain(other) == name) {
                report.add(ident, format!("`{name}` is named twice; name it once"));
                continue;
            }
            if output && name == "output" {
                with_output = true;
                continue;
            }
            match self.operands.iter().position(|operand| *operand == name) {
                Some(index) => found.push((index, ident)),
                None if name == "output" => {
                    report.add(ident, "the result is what is written; name the operand that it can be written over");
                }
                None if self.incomplete => {}
                None => {
                    let mut known: Vec<&str> = self.operands.iter().map(String::as_str).collect();
                    known.extend(output.then_some("output"));
                    let advice = suggestion(nearest(&name, known.iter().copied()), &known);
                    report.add(ident, format!("`{}` has no operand `{name}`; {advice}", self.operator));
                }
            }
        }
        (found, with_output)
    }

    /// Complains of an operand that never has the result's type.
    pub(super) fn fits_in_place(
        &self,
        index: usize,
        at: &Ident,
        clauses: &Clauses,
        operands: &[Pattern],
        result: &Pattern,
        report: &mut Report,
    ) {
        let Some(pattern) = &clauses.result else { return };
        let operand = &clauses.operands[index].pattern;
        let root = |mut elements: Elements| {
            while let Elements::Like(other) = elements {
                match operands[other].elements {
                    Elements::OneOf([dtype]) => return (None, Some(*dtype)),
                    Elements::OneOf(_) => return (Some(other), None),
                    like => elements = like,
                }
            }
            match elements {
                Elements::OneOf([dtype]) => (None, Some(*dtype)),
                _ => (None, None),
            }
        };
        let own = match operands[index].elements {
            Elements::OneOf(known) if known.len() > 1 => (Some(index), None),
            elements => root(elements),
        };
        let same = own == root(result.elements) && extents(operand) == extents(pattern);
        if !same {
            let name = plain(at);
            let text = format!(
                "`{name}` is {} and the result {}, and a result can be written over an operand of its own type alone; \
                 leave `{name}` out",
                show(operand),
                show(pattern)
            );
            report.add(at, text);
        }
    }
}

fn show(pattern: &clauses::Pattern) -> String {
    let elements: Vec<String> = pattern.elements.iter().map(ToString::to_string).collect();
    let extents = extents(pattern);
    let space = if elements.len() > 1 && !extents.is_empty() { " " } else { "" };
    format!("{}{space}{extents}", elements.join(" | "))
}

fn extents(pattern: &clauses::Pattern) -> String {
    let dots = pattern.leading.map(|_| String::from(".."));
    let extents: Vec<String> = dots.into_iter().chain(pattern.dims.iter().map(DimExpr::text)).collect();
    if extents.is_empty() { String::new() } else { format!("[{}]", extents.join(", ")) }
}
