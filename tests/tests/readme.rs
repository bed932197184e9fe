//! What the README prints is what its model prints.

use model_graph::model_graph;

/// The README's model, which its own doctest compiles and runs.
#[model_graph(dims(BATCH = 100, HIDDEN = 128))]
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

const README: &str = include_str!("../../README.md");

#[test]
fn the_model_is_the_readmes() {
    // The declaration, comments and alignment of comments apart.
    let plain = |text: &str| -> String {
        text.lines().filter_map(|line| line.split("//").next()).flat_map(str::split_whitespace).collect()
    };
    let part = |text: &str| {
        let start = text.find("#[model_graph(dims").expect("the attribute");
        let end = start + text[start..].find("\n}").expect("the struct's end");
        plain(&text[start..end])
    };
    assert_eq!(part(README), part(include_str!("readme.rs")));
}

#[test]
fn the_table_is_the_plans() {
    let plan = Mlp::PLAN.to_string();
    let tensors = plan.split("\n\nstep ").next().expect("the tensors come before the steps");
    assert!(README.contains(tensors), "the README's plan is not this one:\n{tensors}");
}

#[test]
fn the_errors_are_the_compilers() {
    for (name, case) in [
        ("readme_mistakes", include_str!("../ui/readme_mistakes.stderr")),
        ("readme_transient", include_str!("../ui/readme_transient.stderr")),
    ] {
        let case = case.replace(&format!("ui/{name}.rs"), "src/main.rs");
        let first = case.lines().next().expect("an error");
        let start = README.find(first).unwrap_or_else(|| panic!("the README does not show `{first}`"));
        let shown = README[start..].split("\n```").next().expect("the end of the block");
        // The README may leave out the compiler's further notes.
        for line in shown.lines() {
            assert!(case.lines().any(|real| real == line), "the compiler does not say `{line}`");
        }
    }
}
