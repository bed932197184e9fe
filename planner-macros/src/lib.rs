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
mod operator;
mod parse;
mod settings;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Turns a struct that declares a network into one that owns its planned memory.
///
/// ```text
/// #[model_graph(dims(BATCH = 8, SEQ <= 64, D = _), align = 64, effort = "high", order = "min_peak", fuse = false,
///               weights = "shared", crate = path)]              // all optional
/// struct Model {
///     #[input]                      x: Tensor<f32, BATCH, 4>,   // written before every forward
///     #[input(keep)]                g: Tensor<f32>,             // written when it changes
///     #[weight(name = "fc.weight")] w: Tensor<f32, 2, 4>,       // filled by `load`; `#[weight]` goes by the field's name
///     #[state]                      s: Tensor<f32, BATCH, 2>,   // from forward to forward, by `write(s, src = …)`
///     #[constant([0.5; 2])]         c: Tensor<f32, 2>,          // or `#[constant(fill = function)]`
///     #[node(linear(x, w) + c)]     h: _,                       // `#[keep]` beside it to read it after forward
///     #[chain(h)]                   layers: [Block; 4],         // copies of a block
///     #[output(softmax(layers))]    y: _,                       // read from what `forward` returns
/// }
/// ```
///
/// The module `guide` of the crate `model-graph`, which re-exports it, has the whole language, and its module `operators`
/// what an expression can call.
#[proc_macro_attribute]
pub fn model_graph(settings: TokenStream, item: TokenStream) -> TokenStream {
    let place = place(&item);
    compose::model_graph(settings.into(), item.into(), &place).into()
}

/// Declares an operator: the struct's fields are its settings, and the attribute says what it takes and gives.
///
/// ```text
/// #[operator(fn(x: f32[.., C, N], keep?: f32[C]) -> f32[.., C, N], in_place = x, strided = [x, output], scratch = 4 * N)]
/// struct Decay {
///     #[setting(default = 0)]
///     start: f32,                   // f32, usize, bool or [usize; N]
/// }
/// ```
///
/// Its kernel is an `impl Kernel<Decay>` for a backend's buffer. The module `guide` of the crate `model-graph`, which
/// re-exports it, has the whole of it.
#[proc_macro_attribute]
pub fn operator(clauses: TokenStream, item: TokenStream) -> TokenStream {
    let place = place(&item);
    operator::operator(clauses.into(), item.into(), &place).into()
}

/// What a model that is composed of others expands to: the next of them hands its tokens on.
#[doc(hidden)]
#[proc_macro]
pub fn compose(tokens: TokenStream) -> TokenStream {
    compose::compose(tokens.into()).into()
}

/// Where the attribute and its item stand, the same on every machine: what tells two models with the same tokens apart.
fn place(item: &TokenStream) -> String {
    let span = proc_macro::Span::call_site();
    let file = span.file();
    let mut names = file.rsplit(['/', '\\']);
    let (file, folder) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    let mut place = format!("{folder}/{file}:{}:{}", span.line(), span.column());
    // The attribute of a model that a macro emits stands in the macro, however often that is called.
    let mut called = String::new();
    for span in item.clone().into_iter().map(|tree| tree.span()) {
        let origin = origin(span).unwrap_or_default();
        if !origin.is_empty() && !called.ends_with(&origin) {
            called.push_str(&origin);
        }
        if origin.is_empty() {
            place.push_str(&format!(" {}:{}", span.line(), span.column()));
        }
    }
    place + &called
}

/// Which call of a macro a token came out of, as the compiler counts them; none of one that stands in the source.
fn origin(span: proc_macro::Span) -> Option<String> {
    // There is no other way to ask on stable Rust. Where the text is another one, as in an editor, nothing is added.
    let text = format!("{span:?}");
    let count = text.split(' ').next().filter(|count| count.starts_with('#') && *count != "#0")?;
    Some(String::from(count))
}
