//! Every mistake in a model, one a case: where the compiler points and what it says.

#[test]
fn mistakes() {
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
