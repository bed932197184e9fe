//! The expressions inside `#[node(…)]` and `#[output(…)]`: what they are and which names stand in them. `expr/` reads
//! them.

mod parse;
mod value;

use proc_macro2::Ident;

use crate::ast::BlockRef;
use crate::dims::DimExpr;
use crate::error::{At, text};

pub(crate) use parse::{arguments, stray};

/// An expression with the tokens it was written in.
pub(crate) struct Expr {
    pub(crate) at: At,
    pub(crate) kind: ExprKind,
    /// How many expressions lie within each other, this one included.
    depth: usize,
}

/// The largest [`Expr`] depth and extent depth that is read. What walks them recurses, on the compiler's own stack.
pub(crate) const MAX_DEPTH: usize = 256;

pub(crate) enum ExprKind {
    /// A tensor, or a dim as a number.
    Name(Ident),
    /// A number.
    Number(f64),
    /// An operator call. For `+` and the like, `name` is the sign's place.
    Call {
        name: At,
        op: String,
        operands: Vec<Expr>,
        /// Operands given by name: `at = position`.
        named: Vec<(Ident, Expr)>,
        settings: Vec<Setting>,
    },
    /// Another model, `path::Block<D = 4>(x, mask)`, or an operator that a user's crate declares, `path::Op(x, n = 4)`.
    Block { block: BlockRef, operands: Vec<Expr>, given: Vec<Given> },
    /// `x[1..3, ..]`.
    Index { of: Box<Expr>, ranges: Vec<Range> },
    /// `x as f32`.
    Cast { of: Box<Expr>, dtype: Ident },
}

/// `name = …` in a call of what is not known yet: an operand where it can be read as one, and a setting where it can.
pub(crate) struct Given {
    pub(crate) name: Ident,
    pub(crate) operand: syn::Result<Expr>,
    pub(crate) setting: syn::Result<Setting>,
}

/// `name = value`.
pub(crate) struct Setting {
    pub(crate) name: Ident,
    pub(crate) value: Value,
}

/// The value of a setting.
pub(crate) struct Value {
    pub(crate) at: At,
    pub(crate) kind: ValueKind,
}

pub(crate) enum ValueKind {
    Float(f64),
    Bool(bool),
    /// A number, a name or arithmetic; a lone name may be a word such as `nhwc`.
    Dim {
        negative: bool,
        dim: DimExpr,
        word: Option<Ident>,
    },
    List(Vec<Value>),
    Infer,
}

/// One dimension's range in an index.
pub(crate) enum Range {
    /// `..` and its halves.
    Span { at: At, start: Option<DimExpr>, end: Option<DimExpr> },
    /// One index, which drops the dimension.
    One(DimExpr),
}

impl Expr {
    fn new(at: At, kind: ExprKind) -> Expr {
        let inside = match &kind {
            ExprKind::Name(_) | ExprKind::Number(_) => 0,
            ExprKind::Call { operands, named, .. } => {
                let named = named.iter().map(|(_, operand)| operand);
                operands.iter().chain(named).map(|operand| operand.depth).max().unwrap_or(0)
            }
            ExprKind::Block { operands, given, .. } => {
                operands.iter().chain(by_name(given)).map(|operand| operand.depth).max().unwrap_or(0)
            }
            ExprKind::Index { of, .. } | ExprKind::Cast { of, .. } => of.depth,
        };
        Expr { at, kind, depth: inside + 1 }
    }

    /// Calls `visit` with every name that stands for a tensor or a dim.
    pub(crate) fn names<'a>(&'a self, visit: &mut dyn FnMut(&'a Ident)) {
        match &self.kind {
            ExprKind::Name(name) => visit(name),
            ExprKind::Number(_) => {}
            ExprKind::Call { operands, named, .. } => {
                operands.iter().for_each(|operand| operand.names(visit));
                named.iter().for_each(|(_, operand)| operand.names(visit));
            }
            ExprKind::Block { operands, given, .. } => {
                operands.iter().chain(by_name(given)).for_each(|operand| operand.names(visit));
            }
            ExprKind::Index { of, .. } | ExprKind::Cast { of, .. } => of.names(visit),
        }
    }

    /// Calls `visit` with every block.
    pub(crate) fn blocks<'a>(&'a self, visit: &mut dyn FnMut(&'a BlockRef)) {
        match &self.kind {
            ExprKind::Name(_) | ExprKind::Number(_) => {}
            ExprKind::Call { operands, named, .. } => {
                operands.iter().for_each(|operand| operand.blocks(visit));
                named.iter().for_each(|(_, operand)| operand.blocks(visit));
            }
            ExprKind::Block { block, operands, given } => {
                visit(block);
                operands.iter().chain(by_name(given)).for_each(|operand| operand.blocks(visit));
            }
            ExprKind::Index { of, .. } | ExprKind::Cast { of, .. } => of.blocks(visit),
        }
    }

    /// Calls `visit` with what every `write` in it writes.
    pub(crate) fn writes<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Name(_) | ExprKind::Number(_) => {}
            ExprKind::Call { operands, named, .. } => {
                operands.iter().for_each(|operand| operand.writes(visit));
                named.iter().for_each(|(_, operand)| operand.writes(visit));
                if let Some(written) = self.written() {
                    visit(written);
                }
            }
            ExprKind::Block { operands, given, .. } => {
                operands.iter().chain(by_name(given)).for_each(|operand| operand.writes(visit));
            }
            ExprKind::Index { of, .. } | ExprKind::Cast { of, .. } => of.writes(visit),
        }
    }

    /// What it writes, when it is a `write` itself.
    pub(crate) fn written(&self) -> Option<&Expr> {
        let ExprKind::Call { op, operands, named, .. } = &self.kind else { return None };
        let state = named.iter().find(|(name, _)| name == "state").map(|(_, operand)| operand);
        if op == "write" { operands.first().or(state) } else { None }
    }

    /// True for a number, with signs before it or none.
    pub(crate) fn is_number(&self) -> bool {
        match &self.kind {
            ExprKind::Number(_) => true,
            ExprKind::Call { op, operands, .. } => op == "neg" && operands.iter().all(Expr::is_number),
            _ => false,
        }
    }

    /// The expression, unless it is too deep; `at` is the token that made it so.
    fn bounded(self, at: proc_macro2::Span) -> syn::Result<Expr> {
        if self.depth > MAX_DEPTH { Err(syn::Error::new(at, text::TOO_DEEP)) } else { Ok(self) }
    }
}

/// What can be read as operands of those that are given by name.
fn by_name(given: &[Given]) -> impl Iterator<Item = &Expr> {
    given.iter().filter_map(|given| given.operand.as_ref().ok())
}
