//! The page that says which of ONNX's cases run, of what operators they are made, and why others are left out. It knows
//! what happened to each case and nothing of how it is built.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What happened to the cases of one operator of ONNX.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) cases: usize,
    pub(crate) passed: usize,
    /// The operators of the language that those are made of.
    pub(crate) made_of: BTreeSet<String>,
}

/// Everything that happened.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// By the operator of ONNX.
    pub(crate) rows: BTreeMap<String, Row>,
    /// The cases that are left out by why they are, as `operator/case`.
    pub(crate) left_out: BTreeMap<String, Vec<String>>,
}

impl Report {
    pub(crate) fn passed(&self) -> usize {
        self.rows.values().map(|row| row.passed).sum()
    }

    fn cases(&self) -> usize {
        self.rows.values().map(|row| row.cases).sum()
    }

    /// The page, in Markdown.
    pub(crate) fn page(&self) -> String {
        let (passed, cases) = (self.passed(), self.cases());
        let mut page = format!(
            "<!-- Written by tests/tests/onnx_node: run it with UPDATE_EXPECT=1 instead of editing this page. -->

# ONNX's conformance cases

The `onnx` package (1.23) has cases with known results for its operators. Of {cases} of them **{passed}** run and pass: each is \
             a graph of the language's operators, planned, checked, run with and without dead bytes overwritten, and \
             compared within the case's own tolerance. That is widened for halves, to two units of their last place, and \
             for Fourier transforms, whose sums cancel, to four of the largest element's.

## Left out

| cases | why | operators |
|---:|---|---|
"
        );
        let mut reasons: Vec<(&String, &Vec<String>)> = self.left_out.iter().collect();
        reasons.sort_by_key(|(reason, cases)| (std::cmp::Reverse(cases.len()), *reason));
        for (reason, cases) in reasons {
            let of: BTreeSet<&str> = cases.iter().filter_map(|case| case.split('/').next()).collect();
            let of: Vec<String> = of.into_iter().map(|name| format!("`{name}`")).collect();
            writeln!(page, "| {} | {reason} | {} |", cases.len(), of.join(", ")).expect("a string takes it");
        }
        page.push_str(
            "
## How ONNX's operators are written

The operators of the [language](../runtime/docs/operators.md) that the cases are made of. Where there are several, some \
             cases may need only one of them; the file of the family in `tests/tests/onnx_node` has the graph. The row \
             `pytorch` is layers and expressions that PyTorch exported.

| ONNX | cases | pass | made of |
|---|---:|---:|---|
",
        );
        for (name, row) in &self.rows {
            let made_of: Vec<String> = row.made_of.iter().map(|name| format!("`{name}`")).collect();
            let made_of = if made_of.is_empty() { "constants and the operand".into() } else { made_of.join(" ") };
            writeln!(page, "| `{name}` | {} | {} | {made_of} |", row.cases, row.passed).expect("a string takes it");
        }
        page
    }
}
