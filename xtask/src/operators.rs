//! `runtime/docs/operators.md`: the table of the operators, made from the planner's registry.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use model_graph_planner::op::{OPERATORS, Setting, Spec};

/// Where the table is kept, from the root of the repository.
pub(crate) const FILE: &str = "runtime/docs/operators.md";

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// The whole file.
pub(crate) fn page() -> String {
    let mut text = String::from(
        "# Operators\n\n\
         Generated from the planner's registry by `cargo xtask bless`; do not edit.\n\n\
         Operands are positional and settings are named: `conv2d(x, w, stride = 2)`. Operands in brackets may be left \
         out. A setting without a default has to be given. Where a setting takes a whole number, a name from `dims(…)` \
         or a braced expression of them will do.\n\n\
         | operator | what it computes | settings |\n\
         |---|---|---|\n",
    );
    for entry in OPERATORS {
        let spec = &entry.spec;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| `{}` | {} | {} |", call(spec), plain(spec.doc), settings(spec.settings));
    }
    text
}

/// The call as one writes it, without settings.
fn call(spec: &Spec) -> String {
    let required = spec.operands.len() - spec.optional;
    let operands: Vec<String> = spec
        .operands
        .iter()
        .enumerate()
        .map(|(index, name)| if index < required { (*name).to_owned() } else { format!("[{name}]") })
        .collect();
    let more = if spec.variadic { ", …" } else { "" };
    format!("{}({}{more})", spec.name, operands.join(", "))
}

fn settings(settings: &[Setting]) -> String {
    let lines: Vec<String> = settings
        .iter()
        .map(|setting| {
            let default = setting.default.map(|default| format!("; default {default}")).unwrap_or_default();
            format!("`{}`: {}{}", setting.name, cell(setting.expects), cell(&default))
        })
        .collect();
    lines.join("<br>")
}

/// Text of a table's cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Text whose only markup is code in backticks, so that nothing else is taken for a link, emphasis or a tag.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut code = false;
    for character in text.chars() {
        code ^= character == '`';
        if character == '|' || (!code && matches!(character, '[' | ']' | '*' | '_' | '<' | '>' | '\\')) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{page, plain};

    #[test]
    fn every_operator_has_a_line() {
        let page = page();
        let lines = page.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(lines, model_graph_planner::op::OPERATORS.len());
        assert!(page.contains("| `conv2d(x, w, [bias])` |"), "{page}");
        assert!(page.lines().all(|line| !line.starts_with('|') || line.replace("\\|", "").matches('|').count() == 4));
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(plain("x[a..b] * 2"), "x\\[a..b\\] \\* 2");
        assert_eq!(plain("`_` or x_y"), "`_` or x\\_y");
    }
}
