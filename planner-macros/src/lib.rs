//! The `#[model_graph]` attribute. The crate `model-graph` re-exports it and documents it for users.

mod ast;
mod block;
mod compose;
mod dims;
mod error;
mod expand;
mod expr;
mod foreign;
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
    compose::model_graph(settings.into(), item.into(), &place()).into()
}

/// What a model that is composed of others expands to: the next of them hands its tokens on.
#[doc(hidden)]
#[proc_macro]
pub fn compose(tokens: TokenStream) -> TokenStream {
    compose::compose(tokens.into()).into()
}

/// Where the attribute stands, the same on every machine: what tells two models with the same tokens apart.
fn place() -> String {
    let span = proc_macro::Span::call_site();
    let file = span.file();
    let mut names = file.rsplit(['/', '\\']);
    let (file, folder) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    format!("{folder}/{file}:{}:{}", span.line(), span.column())
}
