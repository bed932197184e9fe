//! A model as it was written, before anything is known of what its names mean.

use std::collections::BTreeMap;

use model_graph_planner::op::own::Rule;
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::{Attribute, LitStr, Path, Visibility};

use crate::dims::DimExpr;
use crate::error::At;
use crate::expr::Expr;
use crate::operator::Declared;

/// The struct and its attribute.
pub(crate) struct Model {
    pub(crate) settings: Settings,
    /// Attributes of the struct: documentation and whatever else the user put there.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) fields: Vec<Field>,
    /// The models that it is composed of, by [`BlockRef::key`].
    pub(crate) blocks: BTreeMap<String, Block>,
    /// The operators of crates of their own that it calls, by [`BlockRef::key`].
    pub(crate) operators: BTreeMap<String, Declared>,
}

/// Where the type of an operator can be named from, of one that a user's crate declares.
pub(crate) enum Origin<'m> {
    /// Where the model stands.
    Here { path: &'m Path, rule: &'static Rule },
    /// Where a block stands, and which it is of those that the block calls. A block of shared weights has a lifetime.
    Through { block: &'m Path, shares: bool, number: usize, rule: &'static Rule },
}

impl Origin<'_> {
    /// What is declared of it.
    pub(crate) fn rule(&self) -> &'static Rule {
        match self {
            Origin::Here { rule, .. } | Origin::Through { rule, .. } => rule,
        }
    }

    /// Its path or that of the block, as text.
    pub(crate) fn key(&self) -> String {
        match self {
            Origin::Here { path, .. } | Origin::Through { block: path, .. } => key(path.to_token_stream()),
        }
    }
}

/// A model as a part of another one.
pub(crate) struct Block {
    /// None when its struct could not be read, which was complained of where it stands.
    pub(crate) model: Option<Model>,
    /// Nothing was wrong with it where it stands.
    pub(crate) sound: bool,
}

/// A block as it is named where it is used: `path::Name<D = 4>`.
pub(crate) struct BlockRef {
    pub(crate) at: At,
    pub(crate) path: Path,
    pub(crate) binds: Vec<(Ident, DimExpr)>,
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
    pub(crate) shared_weights: bool,
    pub(crate) order: model_graph_planner::Order,
    pub(crate) krate: Option<Path>,
}

/// `NAME = extent`, `NAME <= extent` for one whose value comes with the inputs, or `NAME = _` for one that is bound where
/// the model is used as a block.
pub(crate) struct DimDecl {
    pub(crate) name: Ident,
    /// Its value or its bound.
    pub(crate) value: Option<DimExpr>,
    /// The value is its bound.
    pub(crate) at_most: bool,
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
    /// Kept from forward to forward and written by them.
    State,
    /// A constant expression of the tensor's array type.
    Constant(TokenStream),
    /// A function that fills the tensor when the model is constructed.
    ConstantFill(Path),
    Node(Expr),
    Output(Expr),
    /// Copies of the type's block, one after the other: the first operand goes through them, the others to each.
    Chain {
        operands: Vec<Expr>,
        binds: Vec<(Ident, DimExpr)>,
    },
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
    /// `[Block; n]`.
    Chain {
        block: BlockRef,
        count: DimExpr,
    },
    /// It could not be read; the complaint is in the report.
    Broken,
}

impl Role {
    /// The expressions that it is made of.
    pub(crate) fn exprs(&self) -> &[Expr] {
        match self {
            Role::Node(expr) | Role::Output(expr) => std::slice::from_ref(expr),
            Role::Chain { operands, .. } => operands,
            _ => &[],
        }
    }
}

impl Field {
    /// The name without `r#`.
    pub(crate) fn plain_name(&self) -> String {
        plain(&self.name)
    }
}

impl Model {
    /// True when a dim is bound only where the model is used as a block.
    pub(crate) fn is_open(&self) -> bool {
        self.settings.dims.iter().any(|dim| dim.value.is_none())
    }

    /// The operators of users' crates that it and its blocks call.
    pub(crate) fn origins(&self) -> Vec<Origin<'_>> {
        let mut origins: Vec<Origin<'_>> = Vec::new();
        for used in self.uses() {
            let key = used.key();
            if origins.iter().any(|known| known.key() == key) {
                continue;
            }
            if let Some(operator) = self.operators.get(&key) {
                origins.push(Origin::Here { path: &used.path, rule: operator.rule });
            }
            let Some(inner) = self.blocks.get(&key).and_then(|block| block.model.as_ref()) else { continue };
            for (number, origin) in inner.origins().iter().enumerate() {
                let shares = inner.shares();
                origins.push(Origin::Through { block: &used.path, shares, number, rule: origin.rule() });
            }
        }
        origins
    }

    /// The dims whose values come with the inputs, where the model stands alone.
    pub(crate) fn varying(&self) -> impl Iterator<Item = &DimDecl> {
        self.settings.dims.iter().filter(|dim| dim.at_most)
    }

    /// True when its weights lie in a buffer of their own. A block that cannot stand alone has none.
    pub(crate) fn shares(&self) -> bool {
        self.settings.shared_weights && !self.is_open()
    }

    /// The blocks that its fields name, in the order of their first use.
    pub(crate) fn uses(&self) -> Vec<&BlockRef> {
        let mut uses: Vec<&BlockRef> = Vec::new();
        let mut add = |block| uses.push(block);
        for field in &self.fields {
            if let Type::Chain { block, .. } = &field.ty {
                add(block);
            }
            match &field.role {
                Role::Node(expr) | Role::Output(expr) => expr.blocks(&mut add),
                Role::Chain { operands, .. } => operands.iter().for_each(|operand| operand.blocks(&mut add)),
                _ => {}
            }
        }
        uses
    }
}

impl BlockRef {
    /// The path as text: what a model's [`blocks`](Model::blocks) go by.
    pub(crate) fn key(&self) -> String {
        key(self.path.to_token_stream())
    }

    /// The block's own name.
    pub(crate) fn name(&self) -> String {
        self.path.segments.last().map(|segment| plain(&segment.ident)).unwrap_or_default()
    }
}

/// An identifier without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map(String::from).unwrap_or(name)
}

/// A path as text, whatever its tokens went through.
pub(crate) fn key(path: TokenStream) -> String {
    path.into_iter().map(|tree| tree.to_string()).collect()
}
