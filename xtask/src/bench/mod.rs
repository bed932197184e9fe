//! `cargo xtask bench planner [--both] [--high]`: every table under `../shared`, what our solver makes of it, and what
//! its peers' algorithms would.

mod peers;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use model_graph_planner::offset::{Budget, Buffer, check, solve};

use self::peers::PEERS;
use crate::say::{say, sayln};
use crate::table;

/// How the verb is used.
pub(crate) const USAGE: &str = "cargo xtask bench planner [--both] [--micros] [--high]";

/// The folders of tables, in the order they are shown.
const FOLDERS: [&str; 3] = ["plans", "plans-large", "minimalloc"];

/// The peers' algorithms, which are quadratic, run on tables up to this many buffers; a build without optimisation
/// measures tables up to a quarter of it.
const LARGE: usize = 20_000;

/// Runs the verb; gives the exit status.
pub(crate) fn run(arguments: &[String]) -> u8 {
    let mut both = false;
    let mut only_micros = false;
    let mut budget = Budget::QUICK;
    let planner = arguments.first().is_some_and(|subject| subject == "planner");
    for argument in arguments.iter().skip(1) {
        match argument.as_str() {
            "--both" => both = true,
            "--micros" => only_micros = true,
            "--high" => budget = Budget::HIGH,
            other => {
                eprintln!("error: unknown option `{other}`\nusage: {USAGE}");
                return 2;
            }
        }
    }
    if !planner {
        eprintln!("error: expected what to bench: `planner`\nusage: {USAGE}");
        return 2;
    }
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let files = tables(&shared);
    if files.is_empty() {
        sayln!("skipped: there are no tables under {}", shared.display());
        return 0;
    }
    let result = if only_micros { micros(&files, budget) } else { table_of(&files, budget, both) };
    match result {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("error: {error}");
            1
        }
    }
}

/// All tables, by folder and name.
fn tables(shared: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        let Ok(entries) = std::fs::read_dir(shared.join(folder)) else {
            continue;
        };
        let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        found.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
        found.sort();
        files.extend(found);
    }
    files
}

/// The name that a table is shown under.
fn name(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// The best of a few times, in microseconds.
fn best_micros(buffers: &[Buffer], budget: Budget) -> Result<f64, String> {
    let mut best = f64::INFINITY;
    let mut spent = 0.0;
    for _ in 0..5 {
        let start = Instant::now();
        solve(buffers, budget).map_err(|error| error.to_string())?;
        let micros = start.elapsed().as_secs_f64() * 1e6;
        best = best.min(micros);
        spent += micros;
        if spent > 500_000.0 {
            break;
        }
    }
    Ok(best)
}

/// Prints `name,micros` for every table that this build is fit to measure.
fn micros(files: &[PathBuf], budget: Budget) -> Result<(), String> {
    for path in files {
        let table = table::read(path)?;
        if cfg!(debug_assertions) && table.buffers.len() > LARGE / 4 {
            continue;
        }
        sayln!("{},{:.0}", name(path), best_micros(&table.buffers, budget)?);
    }
    Ok(())
}

/// The times of another profile's build of this program.
fn micros_of(profile: &str, budget: Budget) -> Result<std::collections::BTreeMap<String, String>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--profile", profile, "--package", "xtask", "--"])
        .args(["bench", "planner", "--micros"])
        .args((budget == Budget::HIGH).then_some("--high"))
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("the {profile} build: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pairs = text.lines().filter_map(|line| line.rsplit_once(','));
    Ok(pairs.map(|(name, micros)| (name.to_owned(), micros.to_owned())).collect())
}

/// Prints the table, and a summary under it.
fn table_of(files: &[PathBuf], budget: Budget, both: bool) -> Result<(), String> {
    let columns = if both {
        vec![("us opt3", micros_of("release", budget)?), ("us opt0", micros_of("dev", budget)?)]
    } else {
        Vec::new()
    };
    say!("{:42} {:>7} {:>14} {:>14} {:>7} {:>8} {:>8}", "table", "buffers", "bound", "peak", "optimal", "us", "steps");
    for (title, _) in &columns {
        say!(" {title:>9}");
    }
    for (peer, _) in PEERS {
        say!(" {peer:>7}");
    }
    sayln!("   (peers: peak / bound)");
    let mut ratios = vec![Vec::new(); PEERS.len()];
    let mut optimal = 0;
    for path in files {
        let table = table::read(path)?;
        let solution = solve(&table.buffers, budget).map_err(|error| format!("{}: {error}", path.display()))?;
        check(&table.buffers, &solution.offsets).map_err(|fault| format!("{}: {fault}", path.display()))?;
        optimal += usize::from(solution.optimal);
        say!(
            "{:42} {:>7} {:>14} {:>14} {:>7} {:>8.0} {:>8}",
            name(path),
            table.buffers.len(),
            solution.lower_bound,
            solution.peak,
            if solution.optimal { "yes" } else { "no" },
            best_micros(&table.buffers, budget)?,
            solution.search_steps,
        );
        for (_, times) in &columns {
            say!(" {:>9}", times.get(&name(path)).map_or("-", String::as_str));
        }
        for ((_, peer), ratios) in PEERS.iter().zip(&mut ratios) {
            if table.buffers.len() > LARGE || solution.lower_bound == 0 {
                say!(" {:>7}", "-");
                continue;
            }
            let ratio = peer(&table.buffers) as f64 / solution.lower_bound as f64;
            ratios.push(ratio);
            say!(" {ratio:>7.3}");
        }
        sayln!();
    }
    sayln!("{optimal} of {} tables proved optimal", files.len());
    for ((peer, _), ratios) in PEERS.iter().zip(&ratios) {
        let at_bound = ratios.iter().filter(|&&ratio| ratio <= 1.0).count();
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let worst = ratios.iter().copied().fold(1.0, f64::max);
        sayln!("{peer}: at the bound on {at_bound} of {}, geometric mean {mean:.3}, worst {worst:.3}", ratios.len());
    }
    Ok(())
}
