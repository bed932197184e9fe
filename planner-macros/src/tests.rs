//! The whole attribute on tokens: what it emits, how much of it, and that nothing makes it panic.

mod blocks;
mod operator;
mod soup;

use expect_test::{expect, expect_file};
use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};

use crate::error::Report;

fn model_graph(settings: TokenStream, item: TokenStream) -> TokenStream {
    crate::compose::model_graph(settings, item, "")
}

/// The attribute's settings and the struct of the README's model.
fn mlp() -> (TokenStream, TokenStream) {
    let item = quote! {
        /// Two layers, one hundred images at a time.
        pub struct Mlp {
            #[input]
            pub image: Tensor<f32, BATCH, 784>,
            #[weight]
            w1: Tensor<f32, 784, HIDDEN>,
            #[weight]
            b1: Tensor<f32, HIDDEN>,
            #[weight]
            w2: Tensor<f32, HIDDEN, 10>,
            #[weight]
            b2: Tensor<f32, 10>,
            #[node(relu(matmul(image, w1) + b1))]
            hidden: _,
            #[output(softmax(matmul(hidden, w2) + b2))]
            pub probs: Tensor<f32, BATCH, 10>,
        }
    };
    (quote! { dims(BATCH = 100, HIDDEN = 128) }, item)
}

/// A network of that many layers, declared first to last or last to first.
fn layers(count: usize, reversed: bool) -> TokenStream {
    let mut fields: Vec<TokenStream> = (0..count)
        .map(|layer| {
            let (weight, bias, this) =
                (format_ident!("w{layer}"), format_ident!("b{layer}"), format_ident!("h{layer}"));
            let input = if layer == 0 { format_ident!("x") } else { format_ident!("h{}", layer - 1) };
            quote! {
                #[weight]
                #weight: Tensor<f32, 16, 16>,
                #[weight]
                #bias: Tensor<f32, 16>,
                #[node(relu(matmul(#input, #weight) + #bias))]
                #this: _
            }
        })
        .collect();
    if reversed {
        fields.reverse();
    }
    let last = format_ident!("h{}", count - 1);
    quote! {
        struct Deep {
            #[input]
            x: Tensor<f32, 4, 16>,
            #[output(relu(#last))]
            y: _,
            #(#fields),*
        }
    }
}

fn count(tokens: TokenStream) -> usize {
    let inside = |tree| match tree {
        TokenTree::Group(group) => 2 + count(group.stream()),
        _ => 1,
    };
    tokens.into_iter().map(inside).sum()
}

fn complaints(tokens: &TokenStream) -> usize {
    tokens.to_string().matches("compile_error !").count()
}

#[test]
fn expansion_of_the_readme_model() {
    let (settings, item) = mlp();
    let file = syn::parse2(model_graph(settings, item)).expect("items");
    expect_file!["../tests/golden/mlp.rs"].assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn an_expansion_made_twice_is_the_same() {
    let (settings, item) = mlp();
    let once = model_graph(settings.clone(), item.clone()).to_string();
    assert_eq!(once, model_graph(settings, item).to_string());
    let broken = quote! { struct M { #[inptu] a: Tensor<f31, X>, #[output(realu(b))] y: _, } };
    let once = model_graph(quote! { algin = 3 }, broken.clone()).to_string();
    assert_eq!(once, model_graph(quote! { algin = 3 }, broken).to_string());
}

/// Were there one, the names of the test would be found through the user's own dependency all the same, so that nothing
/// but its absence shows that the path is the user's.
#[test]
fn the_crate_goes_by_the_users_path_alone() {
    let (_, item) = mlp();
    let settings = quote! { dims(BATCH = 100, HIDDEN = 128), crate = some::path };
    assert!(!model_graph(settings, item).to_string().contains("model_graph"));
}

/// A layer here is two weights, three tensors and three steps.
#[test]
fn expansion_grows_with_the_model_and_not_faster() {
    let [few, many] = [20, 60].map(|layers_| count(model_graph(TokenStream::new(), layers(layers_, false))));
    let per_layer = (many - few) / 40;
    assert!(per_layer <= 1200, "{per_layer} tokens a layer");
    let head = few - 20 * per_layer;
    assert!(head <= 2050, "{head} tokens apart from the layers");
}

#[test]
fn be_4_expansion_does_not_grow_with_the_data() {
    let model = |size: usize| {
        let size = proc_macro2::Literal::usize_unsuffixed(size);
        let item = quote! {
            struct M {
                #[input]
                x: Tensor<f32, #size>,
                #[constant(TABLE)]
                table: Tensor<f32, #size>,
                #[output(x * table)]
                y: _,
            }
        };
        count(model_graph(TokenStream::new(), item))
    };
    assert_eq!(model(4), model(4 << 20));
}

#[test]
fn the_order_of_declaration_does_not_matter_to_depth() {
    let tokens = model_graph(TokenStream::new(), layers(1000, true));
    assert_eq!(complaints(&tokens), 0);
}

#[test]
fn long_and_deep_expressions_are_read() {
    let sum = (0..200).fold(quote! { x }, |sum, _| quote! { #sum + x });
    let nested = (0..40).fold(quote! { x }, |inner, _| quote! { relu((#inner)) });
    let item = quote! {
        struct M {
            #[input]
            x: Tensor<f32, 4>,
            #[output(#sum)]
            y: _,
            #[output(#nested)]
            z: _,
        }
    };
    assert_eq!(complaints(&model_graph(TokenStream::new(), item)), 0);
}

#[test]
fn too_long_and_too_deep_expressions_are_refused() {
    for item in [
        (0..5000).fold(quote! { x }, |sum, _| quote! { #sum + x }),
        (0..5000).fold(quote! { x }, |inner, _| quote! { - #inner }),
        (0..5000).fold(quote! { x }, |inner, _| quote! { #inner as f32 }),
        (0..5000).fold(quote! { x }, |inner, _| quote! { #inner[..] }),
        (0..1000).fold(quote! { x }, |inner, _| quote! { relu(#inner) }),
        (0..1000).fold(quote! { x }, |inner, _| quote! { (#inner) }),
    ] {
        let item = quote! { struct M { #[input] x: Tensor<f32, 4>, #[output(#item)] y: _, } };
        assert_eq!(complaints(&model_graph(TokenStream::new(), item)), 1);
    }
    let extent = (0..5000).fold(quote! { 1 }, |sum, _| quote! { #sum + 1 });
    let item = quote! { struct M { #[input] x: Tensor<f32, { #extent }>, #[output(relu(x))] y: _, } };
    assert_eq!(complaints(&model_graph(TokenStream::new(), item)), 1);
}

/// Every complaint about a model that can be read leaves the struct, its constants and its methods in place.
#[test]
fn md_2_the_model_is_there_when_something_is_wrong() {
    let (settings, _) = mlp();
    let item = quote! {
        struct M {
            #[input]
            x: Tensor<f32, BATCH>,
            #[weight]
            w: Tensor<f32, HIDDEN>,
            #[output(x * w + z)]
            y: Tensor<f32, BATCH>,
        }
    };
    let text = model_graph(settings, item).to_string();
    assert_eq!(text.matches("compile_error !").count(), 2, "{text}");
    for part in
        ["struct M <", "const PLAN", "const BATCH", "fn new <", "fn forward (", "fn x_mut (", "fn w (", "fn y ("]
    {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn md_5_raw_names_lose_their_prefix_where_it_is_no_name() {
    let item = quote! {
        struct M {
            #[input]
            r#type: Tensor<f32, 4>,
            #[weight]
            r#in: Tensor<f32, 4>,
            #[output(r#type * r#in)]
            r#move: _,
        }
    };
    let text = model_graph(TokenStream::new(), item).to_string();
    assert_eq!(text.matches("compile_error !").count(), 0, "{text}");
    for part in ["fn r#type (", "fn type_mut (", "fn in_mut (", "fn r#move (", "\"in\"", "\"type\""] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("\"r#"), "{text}");
}

/// What a report of a planner's fault would carry: the graph as text that is read back.
#[test]
fn the_graph_of_a_report_can_be_read() {
    let item = quote! {
        struct Report {
            #[input]
            x: Tensor<f32, 1, N, 8, 8>,
            #[input(keep)]
            r#in: Tensor<f32>,
            #[weight]
            w: Tensor<f32, 4, N, 3, 3>,
            #[node(relu(conv2d(x, w, stride = 2, padding = same)) * 0.5 - r#in)]
            y: _,
            #[keep]
            #[node(clamp(y[.., 1..3], low = -1))]
            cut: _,
            #[output(reshape(cut, shape = [2, _]))]
            rows: _,
        }
    };
    let mut report = Report::default();
    let settings = crate::settings::settings(quote! { dims(N = 2) }, &mut report);
    let model = crate::parse::model(settings, item, &mut report).unwrap();
    let graph = crate::lower::lower(&model, &mut report).graph;
    assert!(report.is_empty());
    let text = graph.to_string();
    expect![[r#"
        model Report
          %0 x: input f32[1x2x8x8]
          %1 in: kept input f32
          %2 w: weight f32[4x2x3x3]
          %3 y.conv2d: inner node f32[1x4x4x4] = conv2d(%0, %2, stride = [2, 2], padding = [0, 0, 1, 1], dilation = [1, 1], groups = 1, layout = nchw)
          %4 y.relu: inner node f32[1x4x4x4] = relu(%3)
          %5 "0.5": constant f32
          %6 y.mul: inner node f32[1x4x4x4] = mul(%4, %5)
          %7 y: node f32[1x4x4x4] = sub(%6, %1)
          %8 cut.slice: inner node f32[1x2x4x4] = slice(%7, axis = 1, start = 1, end = 3, step = 1)
          %9 cut: kept node f32[1x2x4x4] = clamp(%8, low = -1.0)
          %10 rows: output f32[2x16] = reshape(%9, shape = [2, 16])
    "#]]
    .assert_eq(&text);
    assert_eq!(model_graph_planner::Graph::parse(&text).unwrap().to_string(), text);
}
