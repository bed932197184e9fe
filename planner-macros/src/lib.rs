//! The `#[model_graph]` attribute. The crate `model-graph` re-exports it and documents it for users.

mod ast;
mod dims;
mod error;
mod expand;
mod expr;
mod lower;
mod names;
mod parse;
mod settings;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Turns a struct that declares a network into one that owns its planned memory.
///
/// See the documentation of the crate `model-graph`, which re-exports it.
#[proc_macro_attribute]
pub fn model_graph(settings: TokenStream, item: TokenStream) -> TokenStream {
    expand::model_graph(settings.into(), item.into()).into()
}
