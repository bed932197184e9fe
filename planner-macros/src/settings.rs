//! The attribute's own settings: `dims(…)`, `align`, `effort`, `crate`.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{LitInt, LitStr, Path, Token, parenthesized};

use crate::ast::{DimDecl, Settings};
use crate::error::{At, Report, suggestion, text};
use crate::names::nearest;

/// Reads the settings; what is wrong goes to the report and the rest is kept.
pub(crate) fn settings(tokens: TokenStream, report: &mut Report) -> Settings {
    let mut settings = Settings::default();
    let mut complaints = Report::default();
    let mut seen: Vec<String> = Vec::new();
    let parse = |input: ParseStream<'_>| -> syn::Result<()> {
        while !input.is_empty() {
            let key = input.call(Ident::parse_any).map_err(|_| input.error(text::SETTINGS))?;
            if seen.contains(&key.to_string()) {
                complaints.add(&key, format!("`{key}` is given twice; write it once"));
            }
            seen.push(key.to_string());
            setting(&key, input, &mut settings, &mut complaints)?;
            if !input.is_empty() {
                input.parse::<Token![,]>().map_err(|_| input.error("expected `,`"))?;
            }
        }
        Ok(())
    };
    if let Err(error) = parse.parse2(tokens) {
        complaints.syntax(&error);
    }
    report.append(complaints);
    settings
}

fn setting(key: &Ident, input: ParseStream<'_>, settings: &mut Settings, report: &mut Report) -> syn::Result<()> {
    match key.to_string().as_str() {
        "dims" => {
            if !input.peek(syn::token::Paren) {
                return Err(syn::Error::new(key.span(), "write `dims(NAME = n, …)`"));
            }
            let content;
            parenthesized!(content in input);
            while !content.is_empty() {
                let name: Ident = content.parse().map_err(|_| content.error("expected `NAME = n`"))?;
                if content.peek(Token![<=]) || content.peek(Token![<]) {
                    return Err(content.error("open extents are not in the language yet; write `NAME = n`"));
                }
                content.parse::<Token![=]>().map_err(|_| content.error("expected `NAME = n`"))?;
                settings.dims.push(DimDecl { name, value: content.parse()? });
                if !content.is_empty() {
                    content.parse::<Token![,]>().map_err(|_| content.error("expected `,`"))?;
                }
            }
        }
        "align" => {
            input.parse::<Token![=]>()?;
            let number: LitInt =
                input.parse().map_err(|_| input.error("`align` is a number of bytes: `align = 64`"))?;
            let value: usize = number.base10_parse().unwrap_or(0);
            if !value.is_power_of_two() || value > 1 << 28 {
                report.add(
                    At::token(number.span()),
                    format!("`align` has to be a power of two up to 268435456, not {number}"),
                );
            } else {
                settings.align = Some((value, number.span()));
            }
        }
        "effort" => {
            input.parse::<Token![=]>()?;
            let word: LitStr = input.parse().map_err(|_| input.error("write `effort = \"high\"`"))?;
            match word.value().as_str() {
                "high" => settings.high_effort = true,
                "default" => settings.high_effort = false,
                other => {
                    report.add(At::token(word.span()), format!("`effort` is \"default\" or \"high\", not \"{other}\""))
                }
            }
        }
        "crate" => {
            input.parse::<Token![=]>()?;
            settings.krate = Some(Path::parse_mod_style(input)?);
        }
        other => {
            let known = ["dims", "align", "effort", "crate"];
            let advice = suggestion(nearest(other, known), &known);
            return Err(syn::Error::new(
                key.span(),
                format!("there is no setting `{other}`; {advice}; {}", text::SETTINGS),
            ));
        }
    }
    Ok(())
}
