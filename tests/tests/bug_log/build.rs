//! BE: what building a program with a model in it takes. Two more of these need much memory and stand in `../large.rs`.

use std::fs;
use std::path::Path;

/// Lines of code below a folder that have one of these words in them; comments and documentation may. Also how many files
/// there are.
fn lines_with(folder: &str, words: &[&str]) -> (Vec<String>, usize) {
    let (mut folders, mut lines, mut files) =
        (vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)], vec![], 0);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files += 1;
                let text = fs::read_to_string(&path).unwrap();
                let code = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
                let found = code.filter(|line| words.iter().any(|word| line.contains(word)));
                lines.extend(found.map(|line| format!("{}: {line}", path.display())));
            }
        }
    }
    (lines, files)
}

/// What is read while a program is compiled has to be read again when it changes. Nothing is: a model is its tokens, and
/// what the compiler says of their place.
#[test]
fn be_1_nothing_is_read_while_a_model_is_compiled() {
    let words = ["std::fs", "fs::", "File::", "std::env", "env::", "std::net", "SystemTime", "Instant"];
    for (folder, least) in [("planner-macros/src", 25), ("planner/src", 50)] {
        let (lines, files) = lines_with(folder, &words);
        assert!(files >= least, "only {files} files were found in {folder}");
        assert!(lines.is_empty(), "{lines:#?}");
    }
}

/// A file's name that emitted code looks up is one in somebody's folder. None is emitted: programs open their files.
#[test]
fn be_2_no_file_is_named_in_emitted_code() {
    let (lines, _) = lines_with("planner-macros/src", &["include!", "include_str", "include_bytes", "env!", "CARGO_"]);
    assert!(lines.is_empty(), "{lines:#?}");
    let (lines, files) = lines_with("planner-macros/tests/golden", &["include", "env!", "std::fs", "CARGO_"]);
    assert!(files > 0 && lines.is_empty(), "{lines:#?}");
}
