//! The solver on the tables of `../shared`: the targets in counts, not in times. Says aloud when they are absent.

use std::path::{Path, PathBuf};

use model_graph_planner::offset::{Budget, Buffer, check, solve};

/// The tables of a folder, or `None`, said aloud, where there is no such folder.
fn tables(folder: &str) -> Option<Vec<(String, Vec<Buffer>)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(folder);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: there is no {}", folder.display());
        return None;
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
    paths.sort();
    Some(paths.iter().map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), read(path))).collect())
}

/// Reads `id,lower,upper,size`.
fn read(path: &Path) -> Vec<Buffer> {
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let numbers: Vec<usize> = line.rsplitn(4, ',').take(3).map(|field| field.parse().unwrap()).collect();
        Buffer::new(numbers[2], numbers[1], numbers[0])
    };
    text.lines().skip(1).map(row).collect()
}

/// Solves a table and checks the placement; gives the peak, the bound, whether it is proved, and the steps.
fn solved(name: &str, buffers: &[Buffer], budget: Budget) -> (usize, usize, bool, u64) {
    let solution = solve(buffers, budget).unwrap();
    assert_eq!(check(buffers, &solution.offsets), Ok(()), "{name}");
    (solution.peak, solution.lower_bound, solution.optimal, solution.search_steps)
}

#[test]
fn every_real_network_meets_the_bound() {
    let Some(tables) = tables("plans") else {
        return;
    };
    assert_eq!(tables.len(), 162);
    for (name, buffers) in tables {
        let (peak, bound, optimal, steps) = solved(&name, &buffers, Budget::default());
        assert_eq!((peak, optimal), (bound, true), "{name}");
        assert!(steps <= 1000, "{name}: {steps} steps");
    }
}

/// The published hard set: within the capacity by the default budget, at the bound but for `D`.
#[test]
fn the_hard_set_fits() {
    let Some(tables) = tables("minimalloc") else {
        return;
    };
    for (name, buffers) in tables {
        let (peak, bound, optimal, _) = solved(&name, &buffers, Budget::default());
        if name.starts_with('D') {
            // The best known elsewhere was 1,029,120; whether the bound, 986,112, can be reached is open.
            assert!(peak <= 1_048_576, "{name}: {peak}");
        } else {
            assert_eq!((peak, optimal), (bound, true), "{name}");
        }
    }
}

/// The tables up to a size that a build without optimisation places in moments; the bench runs the others.
#[test]
fn large_tables_meet_the_bound() {
    let Some(tables) = tables("plans-large") else {
        return;
    };
    for (name, buffers) in tables.into_iter().filter(|(_, buffers)| buffers.len() < 5000) {
        let (peak, bound, optimal, _) = solved(&name, &buffers, Budget::default());
        assert_eq!((peak, optimal), (bound, true), "{name}");
    }
}

/// Steps are counts, the same on every machine: a change here is a change of the search.
#[test]
fn the_steps_are_what_they_were() {
    let Some(tables) = tables("minimalloc") else {
        return;
    };
    let steps: Vec<(String, u64)> = tables
        .into_iter()
        .filter(|(name, _)| !name.starts_with('D'))
        .map(|(name, buffers)| {
            let (_, _, _, steps) = solved(&name, &buffers, Budget::default());
            (name, steps)
        })
        .collect();
    let text: Vec<String> = steps.iter().map(|(name, steps)| format!("{name} {steps}")).collect();
    expect_test::expect![[r#"
        A.1048576.csv 2422
        C.1048576.csv 238
        E.1048576.csv 1164
        G.1048576.csv 440
        I.1048576.csv 3441
        K.1048576.csv 779
        input.12.csv 0"#]]
    .assert_eq(&text.join("\n"));
}
