//! `cargo xtask ci [--strict] [STEP…]`: everything that has to hold before a change is merged.
//!
//! A failed step does not stop the later ones: one run shows all that is wrong. A step that cannot be done here says so
//! aloud, again in the summary, and does not fail, unless the run is strict: then every tool is said to be there. What a
//! step leaves out because it cannot be had everywhere, such as another target, fails no run. Nothing is installed; `.ci/run` does that on a machine of its own.

mod step;

use std::time::{Duration, Instant};

use xshell::Shell;

use crate::operators;
use step::{Outcome, STEPS, Step};

/// How the verb is used.
pub(crate) const USAGE: &str = "cargo xtask ci [--strict] [STEP…]";

/// Runs the verb; gives the exit status: 1 when a step fails, 2 for wrong arguments.
pub(crate) fn run(arguments: &[String]) -> u8 {
    let (strict, names): (Vec<_>, Vec<_>) = arguments.iter().cloned().partition(|argument| argument == "--strict");
    let strict = !strict.is_empty();
    let chosen = match choose(&names) {
        Ok(chosen) => chosen,
        Err(error) => {
            eprintln!("error: {error}\nusage: {USAGE}");
            return 2;
        }
    };
    let sh = match Shell::new() {
        Ok(sh) => sh,
        Err(error) => {
            eprintln!("error: {error}");
            return 1;
        }
    };
    sh.change_dir(operators::root());
    if strict {
        sh.set_var(STRICT, "1");
    }
    let results: Vec<Done> = chosen.into_iter().map(|step| perform(&sh, step, strict)).collect();
    println!("\n{}", summary(&results));
    u8::from(results.iter().any(|done| done.outcome.is_err()))
}

/// Set for the steps of a strict run: a test that would skip for want of a tool fails instead.
const STRICT: &str = "MODEL_GRAPH_STRICT";

/// A step that has run.
struct Done {
    name: &'static str,
    outcome: Result<Outcome, String>,
    time: Duration,
}

/// The steps of those names; all of them when none is named.
fn choose(names: &[String]) -> Result<Vec<&'static Step>, String> {
    if names.is_empty() {
        return Ok(STEPS.iter().collect());
    }
    let find = |name: &String| {
        STEPS.iter().find(|step| step.name == name).ok_or_else(|| {
            let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            format!("there is no step `{name}`, expected {}", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

fn perform(sh: &Shell, step: &'static Step, strict: bool) -> Done {
    println!("\n=== {}: {} ===", step.name, step.about);
    let start = Instant::now();
    let outcome = (step.run)(sh).map_err(|error| error.to_string()).and_then(|outcome| judge(outcome, strict));
    let done = Done { name: step.name, outcome, time: start.elapsed() };
    println!("{}", line(&done));
    done
}

/// In a strict run what was skipped has failed.
fn judge(outcome: Outcome, strict: bool) -> Result<Outcome, String> {
    match outcome {
        Outcome::Skipped(why) if strict => Err(format!("skipped: {why}")),
        other => Ok(other),
    }
}

/// One step's result.
fn line(done: &Done) -> String {
    let (word, note) = match &done.outcome {
        Ok(Outcome::Passed) => ("ok", ""),
        Ok(Outcome::Partly(note)) => ("ok", note.as_str()),
        Ok(Outcome::Skipped(why)) => ("SKIPPED", why.as_str()),
        Err(error) => ("FAILED", error.as_str()),
    };
    format!("{:10} {word:8} {:6.1} s  {note}", done.name, done.time.as_secs_f64()).trim_end().to_owned()
}

fn summary(results: &[Done]) -> String {
    let mut lines = vec![String::from("=== summary ===")];
    lines.extend(results.iter().map(line));
    let total: Duration = results.iter().map(|done| done.time).sum();
    let failed = results.iter().filter(|done| done.outcome.is_err()).count();
    let skipped = results.iter().filter(|done| matches!(done.outcome, Ok(Outcome::Skipped(_)))).count();
    lines.push(format!(
        "{} of {} steps passed, {failed} failed, {skipped} skipped, {:.1} s",
        results.len() - failed - skipped,
        results.len(),
        total.as_secs_f64()
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Done, Duration, Outcome, choose, judge, summary};

    #[test]
    fn a_strict_run_skips_nothing() {
        let skipped = || Outcome::Skipped("no tool".into());
        assert!(matches!(judge(skipped(), false), Ok(Outcome::Skipped(_))));
        assert_eq!(judge(skipped(), true).unwrap_err(), "skipped: no tool");
        assert!(matches!(judge(Outcome::Partly("host only".into()), true), Ok(Outcome::Partly(_))));
        assert!(matches!(judge(Outcome::Passed, true), Ok(Outcome::Passed)));
    }

    #[test]
    fn steps_are_chosen_by_name() {
        assert_eq!(choose(&[]).map(|steps| steps.len()), Ok(super::STEPS.len()));
        assert_eq!(choose(&["docs".into()]).map(|steps| steps.len()), Ok(1));
        assert!(choose(&["dogs".into()]).is_err_and(|error| error.starts_with("there is no step `dogs`, expected ")));
    }

    #[test]
    fn the_summary_counts() {
        let done = |outcome| Done { name: "a", outcome, time: Duration::from_millis(1500) };
        let text = summary(&[
            done(Ok(Outcome::Passed)),
            done(Ok(Outcome::Partly("host only".into()))),
            done(Ok(Outcome::Skipped("no tool".into()))),
            done(Err("broken".into())),
        ]);
        assert!(text.contains("FAILED      1.5 s  broken"), "{text}");
        assert!(text.ends_with("2 of 4 steps passed, 1 failed, 1 skipped, 6.0 s"), "{text}");
    }
}
