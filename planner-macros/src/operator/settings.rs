//! The settings of a declared operator: the fields of its struct.

use model_graph_planner::MAX_RANK;
use model_graph_planner::op::own::{Given, Kind};
use model_graph_planner::op::{self, Args};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Data, DeriveInput, Fields, Token};

use super::rule::{leaked, text};
use crate::ast::plain;
use crate::error::{At, Report, parse_within};
use crate::expr::{Value, ValueKind};

/// A field as a setting.
pub(super) struct Setting {
    pub(super) name: Ident,
    pub(super) kind: Kind,
    pub(super) default: Option<Given>,
    /// As a message says what it has to be.
    pub(super) expects: &'static str,
}

/// Reads the fields; what is wrong goes to the report and the rest is kept.
pub(super) fn settings(input: &DeriveInput, report: &mut Report) -> Vec<Setting> {
    let Data::Struct(data) = &input.data else {
        report.add(&input.ident, text::NOT_A_STRUCT);
        return Vec::new();
    };
    if !input.generics.params.is_empty() || input.generics.where_clause.is_some() {
        report.add(At::tokens(&input.generics.params), text::GENERIC);
    }
    let fields = match &data.fields {
        Fields::Named(fields) => &fields.named,
        Fields::Unit => return Vec::new(),
        Fields::Unnamed(fields) => {
            report.add(At::tokens(fields), text::TUPLE);
            return Vec::new();
        }
    };
    let settings: Vec<Setting> = fields.iter().filter_map(|field| setting(field, report)).collect();
    // The compiler says so itself.
    let twice = |(at, setting): (usize, &Setting)| settings[..at].iter().any(|other| other.name == setting.name);
    if settings.iter().enumerate().any(twice) {
        report.hush();
    }
    settings
}

fn setting(field: &syn::Field, report: &mut Report) -> Option<Setting> {
    let name = field.ident.clone()?;
    if name == "_" {
        report.add(&name, "a setting needs a name, by which calls give it: `eps: f32`");
        return None;
    }
    let Some(kind) = kind(&field.ty) else {
        report.add(At::tokens(&field.ty), text::KIND);
        return None;
    };
    let expects = match kind {
        Kind::Usize => "a whole number, 0 or more",
        Kind::F32 => "a number",
        Kind::Bool => "`true` or `false`",
        Kind::Usizes(1) => "a list of 1 whole number, 0 or more",
        Kind::Usizes(count) => leaked(&format!("a list of {count} whole numbers, each 0 or more")),
    };
    let mut setting = Setting { name, kind, default: None, expects };
    let mut given = false;
    for attribute in &field.attrs {
        let path = attribute.path();
        if path.is_ident("cfg") {
            report.add(At::tokens(path), "a setting cannot depend on `cfg`: calls are read before it is decided");
        }
        if !path.is_ident("setting") || matches!(attribute.meta, syn::Meta::Path(_)) {
            continue;
        }
        let end = At::tokens(attribute).end();
        let parsed = attribute.meta.require_list().and_then(|list| {
            let end = list.tokens.clone().into_iter().last().map_or(end, |last| last.span());
            parse_within(list.tokens.clone(), end, parse_default)
        });
        match parsed {
            Ok(_) if std::mem::replace(&mut given, true) => {
                let text = format!("`{}` is given a default twice; give it one", plain(&setting.name));
                report.add(At::tokens(path), text);
            }
            Ok(value) => default(&mut setting, &value, report),
            Err(error) => report.add(At::token(error.span()), text::SETTING),
        }
    }
    Some(setting)
}

fn parse_default(input: ParseStream<'_>) -> syn::Result<Value> {
    let key: Ident = input.parse()?;
    if key != "default" {
        return Err(syn::Error::new(key.span(), text::SETTING));
    }
    input.parse::<Token![=]>()?;
    let value: Value = input.parse()?;
    if input.is_empty() { Ok(value) } else { Err(input.error(text::SETTING)) }
}

fn default(setting: &mut Setting, value: &Value, report: &mut Report) {
    let name = leaked(&plain(&setting.name));
    let list: Vec<op::Value<'_>> = match &value.kind {
        ValueKind::List(list) => list.iter().map(number).collect(),
        _ => Vec::new(),
    };
    let given = match &value.kind {
        ValueKind::List(_) => op::Value::List(&list),
        _ => number(value),
    };
    let described = op::Setting { name, expects: setting.expects, default: None };
    match setting.kind.read(&described, &Args { settings: &[(name, given)], inputs: &[] }) {
        Ok(given) => setting.default = Some(given),
        Err(_) => {
            let unknown = match &value.kind {
                ValueKind::Dim { dim, .. } if dim.has_name() => {
                    ", written out: what a name stands for is not known here"
                }
                _ => "",
            };
            report.add(value.at, format!("the default of `{name}` has to be {}{unknown}", setting.expects));
        }
    }
}

/// A value that is no list; none that a setting takes when it is no number.
fn number(value: &Value) -> op::Value<'static> {
    match &value.kind {
        ValueKind::Float(number) => op::Value::Float(*number),
        ValueKind::Bool(value) => op::Value::Bool(*value),
        ValueKind::Dim { negative, dim, .. } => match dim.number().and_then(|number| i64::try_from(number).ok()) {
            Some(number) => op::Value::Int(if *negative { -number } else { number }, 0),
            None => op::Value::Infer,
        },
        ValueKind::List(_) | ValueKind::Infer => op::Value::Infer,
    }
}

fn kind(ty: &syn::Type) -> Option<Kind> {
    match ty {
        syn::Type::Path(_) => match primitive(ty)?.as_str() {
            "usize" => Some(Kind::Usize),
            "f32" => Some(Kind::F32),
            "bool" => Some(Kind::Bool),
            _ => None,
        },
        syn::Type::Array(array) if primitive(&array.elem)? == "usize" => {
            let count: usize = array.len.to_token_stream().to_string().parse().ok()?;
            (1..=MAX_RANK).contains(&count).then_some(Kind::Usizes(count))
        }
        _ => None,
    }
}

/// `f32`, or where that name is taken `core::primitive::f32`.
fn primitive(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = ty else { return None };
    let names: Vec<String> = path.path.segments.iter().map(|segment| segment.to_token_stream().to_string()).collect();
    match &names[..] {
        [name] => Some(name.clone()),
        [krate, module, name] if matches!(krate.as_str(), "core" | "std") && module == "primitive" => {
            Some(name.clone())
        }
        _ => None,
    }
}
