//! The attribute's own settings: `dims(…)`, `align`, `effort`, `order`, `fuse`, `weights`, `crate`. Each is read by itself, so that a mistake in one
//! hides none in another.

use model_graph_planner::Order;
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{LitBool, LitFloat, LitInt, LitStr, Path, Token, parenthesized};

use crate::ast::{DimDecl, Settings, plain};
use crate::error::{At, Report, parse_within, suggestion, text};
use crate::names::nearest;

const SETTINGS: [&str; 7] = ["dims", "align", "effort", "order", "fuse", "weights", "crate"];

/// Reads the settings; what is wrong goes to the report and the rest is kept.
pub(crate) fn settings(tokens: TokenStream, report: &mut Report) -> Settings {
    let mut settings = Settings::default();
    let mut seen: Vec<String> = Vec::new();
    for piece in pieces(tokens) {
        let end = At::tokens(piece.clone()).end();
        let mut complaints = Report::default();
        let read = parse_within(piece, end, |input| {
            let key = input.call(Ident::parse_any).map_err(|_| input.error(text::SETTINGS))?;
            if seen.contains(&key.to_string()) {
                complaints.add(&key, format!("`{key}` is given twice; write it once"));
            }
            seen.push(key.to_string());
            setting(&key, input, &mut settings, &mut complaints)?;
            if input.is_empty() { Ok(()) } else { Err(input.error("expected `,` between settings")) }
        });
        report.append(complaints);
        if let Err(error) = read {
            report.syntax(&error);
            // Dims may have been meant, so names that are not known are not complained of as well.
            settings.dims_unknown = true;
        }
    }
    settings
}

/// Splits at the commas.
pub(crate) fn pieces(tokens: TokenStream) -> Vec<TokenStream> {
    let mut pieces = vec![TokenStream::new()];
    for tree in tokens {
        match (&tree, pieces.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => pieces.push(TokenStream::new()),
            (_, Some(piece)) => piece.extend([tree]),
            (_, None) => {}
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn setting(key: &Ident, input: ParseStream<'_>, settings: &mut Settings, report: &mut Report) -> syn::Result<()> {
    let equals = |form: &str| {
        let wrong = || syn::Error::new(key.span(), format!("write `{form}`"));
        input.parse::<Token![=]>().map(|_| ()).map_err(|_| wrong())
    };
    match key.to_string().as_str() {
        "dims" => {
            if !input.peek(syn::token::Paren) {
                return Err(syn::Error::new(key.span(), "write `dims(NAME = n, …)`"));
            }
            let content;
            parenthesized!(content in input);
            while !content.is_empty() {
                let name: Ident = content.parse().map_err(|_| content.error(text::DIM))?;
                let at_most = content.peek(Token![<=]);
                if at_most {
                    content.parse::<Token![<=]>()?;
                } else if content.peek(Token![<]) || content.peek(Token![>]) || content.peek(Token![>=]) {
                    return Err(content.error(text::DIM_BOUND));
                } else {
                    content.parse::<Token![=]>().map_err(|_| syn::Error::new(name.span(), text::DIM))?;
                }
                if at_most && (content.is_empty() || content.peek(Token![_]) || content.peek(LitFloat)) {
                    return Err(content.error(text::DIM_BOUND));
                }
                let open: Option<Token![_]> = content.parse()?;
                let value = if open.is_some() { None } else { Some(content.parse()?) };
                settings.dims.push(DimDecl { name, value, at_most });
                if !content.is_empty() {
                    content.parse::<Token![,]>().map_err(|_| content.error("expected `,` between dims"))?;
                }
            }
        }
        "align" => {
            equals("align = 64")?;
            if !input.peek(LitInt) {
                return Err(input.error("`align` is a number of bytes: `align = 64`"));
            }
            let number: LitInt = input.parse()?;
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
            equals("effort = \"high\"")?;
            if !input.peek(LitStr) {
                return Err(input.error("write `effort = \"high\"`"));
            }
            let word: LitStr = input.parse()?;
            match word.value().as_str() {
                "high" => settings.high_effort = true,
                "default" => settings.high_effort = false,
                other => {
                    report.add(At::token(word.span()), format!("`effort` is \"default\" or \"high\", not \"{other}\""))
                }
            }
        }
        "order" => {
            equals("order = \"min_peak\"")?;
            if !input.peek(LitStr) {
                return Err(input.error("write `order = \"min_peak\"`"));
            }
            let word: LitStr = input.parse()?;
            match word.value().as_str() {
                "min_peak" => settings.order = Order::MinPeak,
                "declared" => settings.order = Order::Declared,
                other => report
                    .add(At::token(word.span()), format!("`order` is \"declared\" or \"min_peak\", not \"{other}\"")),
            }
        }
        "fuse" => {
            equals("fuse = false")?;
            if !input.peek(LitBool) {
                return Err(input.error("write `fuse = false`"));
            }
            settings.no_fuse = !input.parse::<LitBool>()?.value;
        }
        "weights" => {
            equals("weights = \"shared\"")?;
            if !input.peek(LitStr) {
                return Err(input.error("write `weights = \"shared\"`"));
            }
            let word: LitStr = input.parse()?;
            match word.value().as_str() {
                "shared" => settings.shared_weights = true,
                "owned" => settings.shared_weights = false,
                other => {
                    report.add(At::token(word.span()), format!("`weights` is \"owned\" or \"shared\", not \"{other}\""))
                }
            }
        }
        "crate" => {
            equals("crate = ::model_graph")?;
            let path = Path::parse_mod_style(input);
            settings.krate = Some(path.map_err(|_| {
                input.error("`crate` is the path of the crate `model-graph`, not in quotes: `crate = ::model_graph`")
            })?);
        }
        _ => {
            let name = plain(key);
            let near = nearest(&name, SETTINGS);
            let advice = near.map(|_| format!("{} ", suggestion(near, &SETTINGS))).unwrap_or_default();
            return Err(syn::Error::new(
                key.span(),
                format!("there is no setting `{name}`; {advice}{}", text::SETTINGS),
            ));
        }
    }
    Ok(())
}
