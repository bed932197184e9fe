//! What the book says that the compiler says is what it says. The book's snippets are doctests of this package.

use std::fs;
use std::path::Path;

const BOOK: &str = include_str!("../../docs/language.md");

#[test]
fn the_messages_are_the_compilers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let cases: Vec<String> = fs::read_dir(folder)
        .expect("the cases")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "stderr"))
        .map(|path| fs::read_to_string(path).expect("text"))
        .collect();
    let mut messages = 0;
    for block in BOOK.split("\n```text\n").skip(1) {
        let shown = block.split("\n```").next().expect("the end of the block");
        // The book leaves out where the case stands, and some of the compiler's further notes.
        let holds = |case: &String| shown.lines().all(|line| case.lines().any(|real| real == line));
        assert!(cases.iter().any(holds), "no case has this message:\n{shown}");
        messages += 1;
    }
    assert!(messages > 10, "only {messages} messages were found");
}
