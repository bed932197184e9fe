//! Planning takes time in proportion to the graph, or little more: graphs of one kind each, and ones of ten thousand calls,
//! eight times as large.

use std::fmt::Write;
use std::time::{Duration, Instant};

use model_graph_planner::offset::Budget;
use model_graph_planner::{Graph, Options, plan};

/// How long the plan of a graph of about so many calls takes, at best.
fn time(text: fn(usize) -> String, count: usize) -> Duration {
    let graph = Graph::parse(&text(count)).unwrap_or_else(|error| panic!("{error}"));
    let options = Options { budget: Budget::GREEDY, ..Options::default() };
    let timed = |_| {
        let start = Instant::now();
        plan(&graph, &options).unwrap();
        start.elapsed()
    };
    (0..2).map(timed).min().unwrap()
}

fn scales(text: fn(usize) -> String) {
    let count = 1250;
    let (small, large) = (time(text, count), time(text, 8 * count));
    println!("{small:?} and {large:?}: {:.1} times", large.as_secs_f64() / small.as_secs_f64());
    // What is quadratic takes sixty-four times as long.
    assert!(large < 32 * small, "{small:?} for {count} calls and {large:?} for eight times as many");
}

/// Lines of a graph, and the number of the next tensor.
struct Lines(String, usize);

impl Lines {
    fn new(first: &str) -> Lines {
        Lines(format!("model Large\n{first}\n"), first.matches('%').count())
    }

    fn add(&mut self, line: &str) -> usize {
        writeln!(self.0, "%{} {line}", self.1).unwrap();
        self.1 += 1;
        self.1 - 1
    }
}

#[test]
fn chains() {
    scales(|count| {
        let mut lines = Lines::new("%0 x: input f32[64]\n%1 w: weight f32[64]");
        let mut x = 0;
        for _ in 0..count / 2 {
            x = lines.add(&format!("a: node f32[64] = softmax(%{x}, axis = 0)"));
            x = lines.add(&format!("b: node f32[64] = add(%{x}, %1)"));
        }
        lines.add(&format!("y: output f32[64] = relu(%{x})"));
        lines.0
    });
}

/// Every version is looked at and read before and after the next is written.
#[test]
fn chains_of_states() {
    scales(|count| {
        let mut lines = Lines::new("%0 x: input f32[64]\n%1 s: state f32[64]");
        let (mut x, mut state) = (0, 1);
        for _ in 0..count / 5 {
            let row =
                lines.add(&format!("row: node f32[64] = slice(%{state}, axis = 0, start = 0, end = 64, step = 1)"));
            let early = lines.add(&format!("early: node f32[64] = add(%{x}, %{row})"));
            state = lines.add(&format!("s: state f32[64] = write(%{state}, %{early})"));
            let late = lines.add(&format!("late: node f32[64] = mul(%{row}, %{early})"));
            x = lines.add(&format!("x: node f32[64] = tanh(%{late})"));
        }
        lines.add(&format!("y: output f32[64] = relu(%{x})"));
        lines.0
    });
}

/// Working space, views and casts at every call, at any length.
#[test]
fn open_chains() {
    scales(|count| {
        let mut lines = Lines::new("dims S <= 100\n%0 x: input f16[{S}x8]\n%1 w: weight f16[8x8]");
        let mut x = 0;
        for _ in 0..count / 3 {
            let t = lines.add(&format!("t: node f16[8x{{S}}] = transpose(%{x})"));
            let u = lines.add(&format!("u: node f16[{{S}}x8] = transpose(%{t})"));
            x = lines.add(&format!("x: node f16[{{S}}x8] = matmul(%{u}, %1)"));
        }
        lines.add(&format!("y: output f16[{{S}}x8] = relu(%{x})"));
        lines.0
    });
}

#[test]
fn views_of_views() {
    scales(|count| {
        let mut lines = Lines::new("%0 x: input f32[4x4]");
        let mut x = 0;
        for _ in 0..count {
            x = lines.add(&format!("v: node f32[4x4] = transpose(%{x})"));
        }
        lines.add(&format!("y: output f32[4x4] = relu(%{x})"));
        lines.0
    });
}

#[test]
fn long_concatenations() {
    scales(|count| {
        let mut lines = Lines::new("%0 x: input f32[4]");
        let parts: Vec<String> = (0..count).map(|_| format!("%{}", lines.add("p: node f32[4] = exp(%0)"))).collect();
        let all = lines.add(&format!("c: node f32[{}] = concat({}, axis = 0)", 4 * count, parts.join(", ")));
        lines.add(&format!("y: output f32[{}] = relu(%{all})", 4 * count));
        lines.0
    });
}
