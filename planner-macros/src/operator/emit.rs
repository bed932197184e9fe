//! What is emitted for a declared operator: its struct without what only the attribute understands, and its rule.

use model_graph_planner::op::own::{Elements, Extent, Kind, Pattern, Rule};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Data, DeriveInput, Fields, Path};

use super::Declared;

/// The struct and what makes it an operator. Of one that is wrong somewhere there is the form and nothing in it.
pub(super) fn emit(input: &DeriveInput, declared: &Declared, sound: bool) -> TokenStream {
    let mut item = input.clone();
    let Data::Struct(data) = &mut item.data else { return quote! { #item } };
    data.fields.iter_mut().for_each(|field| field.attrs.retain(|attribute| !attribute.path().is_ident("setting")));
    if let Fields::Unnamed(_) = data.fields {
        return quote! { #item };
    }
    let Declared { rule, krate, .. } = declared;
    if item.generics.params.is_empty() {
        let doc = format!("\n\nAn operator for models of `model-graph`: `{}`.", rule);
        item.attrs.push(syn::parse_quote!(#[doc = #doc]));
    } else {
        return quote! { #item };
    }
    let name = &item.ident;
    let body = if sound { own(&item, rule, krate) } else { broken(&item, krate) };
    quote! {
        #item

        #[automatically_derived]
        #[allow(clippy::all, clippy::indexing_slicing)]
        impl #krate::op::Own for #name {
            #body
        }
    }
}

fn own(item: &DeriveInput, rule: &Rule, krate: &Path) -> TokenStream {
    let Data::Struct(data) = &item.data else { return TokenStream::new() };
    let names: Vec<_> = data.fields.iter().filter_map(|field| field.ident.as_ref()).collect();
    let places = (0..names.len()).map(syn::Index::from);
    let sizes = names.iter().zip(rule.kinds).enumerate().filter(|(_, (_, kind))| **kind == Kind::Usize);
    let sizes = sizes.map(|(position, (name, _))| quote! { #position => self.#name, });
    let settings = settings(rule);
    let rule = const_rule(rule, krate);
    quote! {
        const RULE: &'static #krate::op::own::Rule = &#rule;

        type Settings = #settings;

        fn with(__settings: Self::Settings) -> Self {
            Self { #(#names: __settings.#places),* }
        }

        fn size(&self, __setting: ::core::primitive::usize) -> ::core::primitive::usize {
            match __setting {
                #(#sizes)*
                _ => 0,
            }
        }
    }
}

fn broken(item: &DeriveInput, krate: &Path) -> TokenStream {
    let name = item.ident.to_string();
    quote! {
        const RULE: &'static #krate::op::own::Rule = &#krate::__private::no_rule(#name);

        type Settings = ();

        fn with(_: ()) -> Self {
            ::core::unreachable!()
        }

        fn size(&self, _: ::core::primitive::usize) -> ::core::primitive::usize {
            0
        }
    }
}

/// The tuple of the settings' types.
pub(crate) fn settings(rule: &Rule) -> TokenStream {
    let types = rule.kinds.iter().map(|kind| match kind {
        Kind::Usize => quote! { ::core::primitive::usize },
        Kind::F32 => quote! { ::core::primitive::f32 },
        Kind::Bool => quote! { ::core::primitive::bool },
        Kind::Usizes(count) => quote! { [::core::primitive::usize; #count] },
    });
    quote! { (#(#types,)*) }
}

fn const_rule(rule: &Rule, krate: &Path) -> TokenStream {
    let Rule { spec, kinds, extents, operands, result, in_place, strided, strided_output, scratch } = rule;
    let (name, names, optional) = (spec.name, spec.operands, spec.optional);
    let settings = spec.settings.iter().map(|setting| {
        let (name, expects) = (setting.name, setting.expects);
        let default = match setting.default {
            Some(default) => quote! { ::core::option::Option::Some(#default) },
            None => quote! { ::core::option::Option::None },
        };
        quote! { #krate::op::Setting { name: #name, expects: #expects, default: #default } }
    });
    let own = quote! { #krate::op::own };
    let kinds = kinds.iter().map(|kind| match kind {
        Kind::Usize => quote! { #own::Kind::Usize },
        Kind::F32 => quote! { #own::Kind::F32 },
        Kind::Bool => quote! { #own::Kind::Bool },
        Kind::Usizes(count) => quote! { #own::Kind::Usizes(#count) },
    });
    let operands = operands.iter().map(|operand| pattern(operand, krate));
    let (result, scratch) = (pattern(result, krate), extent(scratch, &own));
    quote! {
        #own::Rule {
            spec: #krate::op::Spec {
                name: #name,
                doc: "",
                operands: &[#(#names),*],
                optional: #optional,
                variadic: false,
                settings: &[#(#settings),*],
            },
            kinds: &[#(#kinds),*],
            extents: &[#(#extents),*],
            operands: &[#(#operands),*],
            result: #result,
            in_place: &[#(#in_place),*],
            strided: &[#(#strided),*],
            strided_output: #strided_output,
            scratch: #scratch,
        }
    }
}

fn pattern(pattern: &Pattern, krate: &Path) -> TokenStream {
    let own = quote! { #krate::op::own };
    let elements = match pattern.elements {
        Elements::OneOf(dtypes) => {
            let dtypes = dtypes.iter().map(|dtype| format_ident!("{}", dtype.variant()));
            quote! { OneOf(&[#(#krate::DType::#dtypes),*]) }
        }
        Elements::Like(input) => quote! { Like(#input) },
    };
    let leading = pattern.leading;
    let dims = pattern.dims.iter().map(|dim| extent(dim, &own));
    quote! { #own::Pattern { elements: #own::Elements::#elements, leading: #leading, dims: &[#(#dims),*] } }
}

fn extent(value: &Extent, own: &impl ToTokens) -> TokenStream {
    match value {
        Extent::Number(number) => quote! { #own::Extent::Number(#number) },
        Extent::Name(name) => quote! { #own::Extent::Name(#name) },
        Extent::Setting(setting) => quote! { #own::Extent::Setting(#setting) },
        Extent::Of(of, left, right) => {
            let (of, left, right) = (format_ident!("{of:?}"), extent(left, own), extent(right, own));
            quote! { #own::Extent::Of(#own::Arithmetic::#of, &#left, &#right) }
        }
    }
}
