//! A model as it was written, before anything is known of what its names mean.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, LitStr, Path, Visibility};

use crate::dims::DimExpr;
use crate::error::At;
use crate::expr::Expr;

/// The struct and its attribute.
pub(crate) struct Model {
    pub(crate) settings: Settings,
    /// Attributes of the struct: documentation and whatever else the user put there.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) fields: Vec<Field>,
}

/// What stands in the attribute's parentheses.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) dims: Vec<DimDecl>,
    /// Some dims could not be read.
    pub(crate) dims_unknown: bool,
    pub(crate) align: Option<(usize, Span)>,
    pub(crate) high_effort: bool,
    pub(crate) no_fuse: bool,
    pub(crate) order: model_graph_planner::Order,
    pub(crate) krate: Option<Path>,
}

/// `NAME = extent`.
pub(crate) struct DimDecl {
    pub(crate) name: Ident,
    pub(crate) value: DimExpr,
}

/// A tensor.
pub(crate) struct Field {
    /// Documentation and `cfg`-free attributes that go to the accessor.
    pub(crate) docs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) role: Role,
    pub(crate) keep: Option<Span>,
    pub(crate) allow_unused: bool,
    pub(crate) ty: Type,
}

/// Where a tensor's value comes from.
pub(crate) enum Role {
    Input {
        keep: bool,
    },
    Weight {
        name: Option<LitStr>,
    },
    /// A constant expression of the tensor's array type.
    Constant(TokenStream),
    /// A function that fills the tensor when the model is constructed.
    ConstantFill(Path),
    Node(Expr),
    Output(Expr),
    /// The role could not be read; the complaint is in the report.
    Broken,
}

/// A tensor's type.
pub(crate) enum Type {
    /// `_`.
    Infer(Span),
    Tensor {
        at: At,
        dtype: Ident,
        dims: Vec<DimExpr>,
    },
    /// It could not be read; the complaint is in the report.
    Broken,
}

impl Field {
    /// The name without `r#`.
    pub(crate) fn plain_name(&self) -> String {
        plain(&self.name)
    }
}

/// An identifier without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map(String::from).unwrap_or(name)
}
