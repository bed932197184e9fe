//! `docs/bug-log.md` against the tree: the tests that it names are there, and it names every test that goes by an id.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Areas of the log, with the numbers of their rows.
const AREAS: [(&str, &[u32]); 12] = [
    ("DD", &[1, 2, 4, 5, 6]),
    ("PL", &[1, 2, 4, 5, 6, 7, 8]),
    ("IP", &[1, 2, 4, 6, 7, 8, 9, 10]),
    ("VW", &[1, 2, 3, 4, 5, 7]),
    ("AL", &[1, 2, 3, 4, 6]),
    ("LO", &[1, 3, 5, 6, 7]),
    ("RB", &[1, 2, 4, 5, 6, 7]),
    ("MD", &[1, 2, 3, 5, 6]),
    ("BE", &[1, 2, 4, 5, 6, 7]),
    ("NK", &[1, 2, 3, 5, 6, 7]),
    ("WL", &[1, 3, 4, 5, 6]),
    ("ST", &[1, 2, 3, 4, 5, 6, 7]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// For each id, its row's last cell.
fn rows() -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join("docs/bug-log.md")).unwrap();
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| id ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [id, holds, source, tests] = cells[..] else { panic!("four cells, not {}: {line}", cells.len()) };
        assert!(!holds.is_empty() && source.contains('#'), "{line}");
        assert!(rows.insert(id.to_owned(), tests.to_owned()).is_none(), "{id} comes twice");
    }
    rows
}

/// What stands in backticks and is the path of a Rust file, with a function or without.
fn named(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2).filter(|code| code.contains(".rs"))
}

/// The names of a file's test functions.
fn tests_of(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut marked = false;
    for line in text.lines().map(str::trim) {
        if line == "#[test]" {
            marked = true;
        } else if let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next())
            && std::mem::take(&mut marked)
        {
            names.push(name);
        }
    }
    names
}

#[test]
fn every_row_is_there_and_has_a_test_or_a_reason() {
    let rows = rows();
    let ids: Vec<String> =
        AREAS.iter().flat_map(|(area, numbers)| numbers.iter().map(move |number| format!("{area}-{number}"))).collect();
    for id in &ids {
        let cell = rows.get(id).unwrap_or_else(|| panic!("{id} has no row"));
        let own = format!("{}_", id.to_lowercase().replace('-', "_"));
        let tested = named(cell).any(|test| test.contains(&own));
        assert!(tested != cell.starts_with("waits for "), "{id} has a test of its name or waits for something: {cell}");
    }
    assert_eq!(rows.len(), ids.len(), "a row that is not in the list of ids");
}

#[test]
fn every_test_of_the_table_exists() {
    for (id, cell) in rows() {
        for test in named(&cell) {
            let (path, function) = test.split_once("::").map_or((test, None), |(path, name)| (path, Some(name)));
            let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{id}: {path}: {error}"));
            match function {
                Some(name) => assert!(tests_of(&text).contains(&name), "{id}: there is no test `{name}` in {path}"),
                None => {
                    let expected = root().join(path).with_extension("stderr");
                    assert!(path.starts_with("tests/ui/") && expected.is_file(), "{id}: {path} is no case");
                }
            }
        }
    }
}

/// The Rust files of a folder and those below it.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && entry.file_name().is_some_and(|name| name != "target" && name != "wip") {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

/// Whether a name starts with an id of the log, as `pl_1_…` does.
fn has_id(name: &str) -> bool {
    let mut words = name.split('_');
    let area = words.next().unwrap_or_default().to_uppercase();
    let number = words.next().and_then(|number| number.parse().ok());
    AREAS.iter().any(|(known, numbers)| *known == area && number.is_some_and(|number| numbers.contains(&number)))
}

#[test]
fn every_test_that_goes_by_an_id_is_in_the_table() {
    let table: Vec<String> = rows().into_values().collect();
    let listed = |test: &str| table.iter().any(|cell| named(cell).any(|named| named == test));
    let mut found = Vec::new();
    for folder in ["planner", "planner-macros", "runtime", "tests"] {
        sources(&root().join(folder), &mut found);
    }
    let mut count = 0;
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        let short = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        let stem = path.file_stem().unwrap().to_string_lossy();
        if short.starts_with("tests/ui/") && has_id(&stem) {
            count += 1;
            assert!(listed(&short), "{short} is not in docs/bug-log.md");
        }
        for name in tests_of(&text).into_iter().filter(|name| has_id(name)) {
            count += 1;
            assert!(listed(&format!("{short}::{name}")), "{short}::{name} is not in docs/bug-log.md");
        }
    }
    assert!(count > 50, "only {count} were found");
}
