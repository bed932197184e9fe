//! The textual form of a graph: what golden tests hold, what a report of a planner's fault carries, and what can be read
//! back. It knows the operators by their registry and nothing of how a graph is planned.
//!
//! ```text
//! model Mlp
//!   %0 image: input f32[100x784]
//!   %1 w: weight f32[784x10]
//!   %2 probs.matmul: inner node f32[100x10] = matmul(%0, %1)
//!   %3 probs: output f32[100x10] = softmax(%2, axis = 1)
//! ```
//!
//! Open dims, if there are any, stand in a line `dims SEQ <= 512` behind the first, and extents that follow from them in
//! braces: `f32[{SEQ}x64]`, `f32[{(SEQ + 1) / 2}]`.
//!
//! A line is a tensor: its number, name, role and type, and the call that makes it, if one does, with the settings as the
//! language spells them. The role of a nested call's result, which has no name of its own, is `inner`. Odd names stand in quotes, with Rust's escapes. Calls run from top to bottom, unless a last line
//! `order %3, %2` lists them otherwise, each by its result. `//` begins a comment, which ends with its line. What users'
//! crates declare of their operators is printed as such; calls of these cannot be read back.

mod call;
mod line;
mod parse;

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write};
use core::str::FromStr;

use crate::graph::Node;
use crate::op::{Operator, Value};
use crate::{Dim, Graph};

/// Why a text is no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// What would have been right, in words.
    pub expected: String,
    /// What is there.
    pub given: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: expected {}, found {}", self.line, self.expected, self.given)
    }
}

impl core::error::Error for ParseError {}

impl Graph {
    /// Reads the textual form, which is what a graph prints.
    ///
    /// Every tensor has to come from somewhere: a leaf is written from outside, and whatever else there is has a call.
    /// The names of extents are no part of the form.
    ///
    /// ```
    /// use model_graph_planner::{Graph, Options, plan};
    ///
    /// let text = "\
    /// model Twice
    ///   %0 x: input f32[4]
    ///   %1 y: output f32[4] = add(%0, %0)
    /// ";
    /// let graph = Graph::parse(text)?;
    /// assert_eq!(graph.to_string(), text);
    /// assert_eq!(plan(&graph, &Options::default()).unwrap().size, 16);
    ///
    /// let error = Graph::parse("model Twice\n%0 x: input f32[4, 4]").unwrap_err();
    /// assert_eq!(error.to_string(), "line 2: expected `x` or `]` after an extent, found `, 4]`");
    /// # Ok::<(), model_graph_planner::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// The first line that is not of this form, or whose call does not hold.
    pub fn parse(text: &str) -> Result<Graph, ParseError> {
        parse::graph(text)
    }
}

impl FromStr for Graph {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Graph, ParseError> {
        Graph::parse(text)
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "model {}", Name(&self.name))?;
        self.declarations(f)?;
        for (at, open) in self.open_dims().iter().enumerate() {
            write!(f, "{}{} <= {}", if at == 0 { "  dims " } else { ", " }, Name(&open.name), open.bound)?;
        }
        if !self.open_dims().is_empty() {
            writeln!(f)?;
        }
        for (id, tensor) in self.tensors() {
            let inner = if tensor.inner { "inner " } else { "" };
            let name = Name(&tensor.name);
            write!(f, "  %{} {name}: {inner}{} ", id.index(), tensor.role.name())?;
            if tensor.ty.shape.is_open() {
                write!(f, "{}[", tensor.ty.dtype)?;
                for (axis, dim) in tensor.ty.shape.dims().iter().enumerate() {
                    write!(f, "{}{}", if axis == 0 { "" } else { "x" }, Extent(self, *dim))?;
                }
                f.write_char(']')?;
            } else {
                write!(f, "{}", tensor.ty)?;
            }
            if let Some(node) = tensor.producer {
                f.write_str(" = ")?;
                write_call(f, self, self.call(node))?;
            }
            writeln!(f)?;
        }
        let results = || self.nodes().map(|(_, node)| node.output.index());
        if !results().is_sorted() {
            f.write_str("  order")?;
            for (at, result) in results().enumerate() {
                write!(f, "{} %{result}", if at == 0 { "" } else { "," })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Graph {
    /// What is declared of operators that are not the language's, each once, as comments.
    fn declarations(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = |node: &Node| Some(node.op.as_any().downcast_ref::<crate::op::OwnCall>()?.rule);
        let mut known: alloc::vec::Vec<String> = alloc::vec::Vec::new();
        for rule in self.nodes().filter_map(|(_, node)| own(node)) {
            let text = format!("  // {} is {rule:#}", rule.spec.name);
            if !known.contains(&text) {
                writeln!(f, "{text}")?;
                known.push(text);
            }
        }
        Ok(())
    }
}

fn write_call(f: &mut fmt::Formatter<'_>, graph: &Graph, node: &Node) -> fmt::Result {
    write!(f, "{}(", Name(node.op.name()))?;
    for (at, input) in node.inputs.iter().enumerate() {
        write!(f, "{}%{}", if at == 0 { "" } else { ", " }, input.index())?;
    }
    let types: alloc::vec::Vec<_> = node.inputs.iter().map(|input| graph.tensor(*input).ty).collect();
    f.write_str(&settings(graph, &*node.op, &types, node.inputs.is_empty()))?;
    f.write_char(')')
}

/// The settings of a call, each with the comma before it.
fn settings(graph: &Graph, op: &dyn Operator, types: &[crate::Type], mut first: bool) -> String {
    let mut text = String::new();
    op.settings(types, &mut |name, value| {
        let comma = if core::mem::take(&mut first) { "" } else { ", " };
        text.push_str(&format!("{comma}{name} = {}", Written(graph, value)));
    });
    text
}

/// A value as the language writes it.
struct Written<'a>(&'a Graph, Value<'a>);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Value::Open(dim) => write!(f, "{}", Extent(self.0, dim)),
            Value::Int(value, _) => write!(f, "{value}"),
            // Settings are of single precision, and so are the digits that tell them apart.
            Value::Float(value) => write!(f, "{:?}", value as f32),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Word(word) => f.write_str(word),
            Value::Infer => f.write_char('_'),
            Value::List(values) => {
                f.write_char('[')?;
                for (at, value) in values.iter().enumerate() {
                    write!(f, "{}{}", if at == 0 { "" } else { ", " }, Written(self.0, *value))?;
                }
                f.write_char(']')
            }
        }
    }
}

/// An extent, in braces where it is open.
struct Extent<'a>(&'a Graph, Dim);

impl fmt::Display for Extent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(formula) = self.1.formula else { return write!(f, "{}", self.1.size) };
        let name = self.0.open_dims().get(formula.dim).map_or("?", |open| &open.name);
        write!(f, "{{{}}}", self.1.spelled(&format!("{}", Name(name))))
    }
}

/// A name, in quotes where it could be taken for something else.
struct Name<'a>(&'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.0.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
        if first && self.0.chars().all(line::in_word) { f.write_str(self.0) } else { write!(f, "{:?}", self.0) }
    }
}
