//! Planning takes time in proportion to the graph, or little more: graphs of one kind each, and ones of ten thousand calls,
//! eight times as large.

use std::fmt::Write;
use std::time::{Duration, Instant};

use model_graph_planner::offset::Budget;
use model_graph_planner::{Graph, Options, plan};

/// How long the plan takes.
fn time(graph: &Graph) -> Duration {
    let options = Options { budget: Budget::GREEDY, ..Options::default() };
    let start = Instant::now();
    plan(graph, &options).unwrap();
    start.elapsed()
}

/// One after the other, so that they do not take one another's time.
#[test]
fn time_grows_with_the_graph() {
    scales("chains", chains, 1250);
    scales("chains of states", chains_of_states, 1250);
    scales("open chains", open_chains, 300);
    scales("views of views", views_of_views, 1250);
    scales("long concatenations", long_concatenations, 1250);
}

fn scales(name: &str, text: fn(usize) -> String, count: usize) {
    let graph = |count| Graph::parse(&text(count)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let graphs = [graph(count), graph(8 * count)];
    // The machine may do other things now and then; the best of some rounds is what counts.
    let mut best = [Duration::MAX; 2];
    for _ in 0..5 {
        for (best, graph) in best.iter_mut().zip(&graphs) {
            *best = time(graph).min(*best);
        }
        let [small, large] = best;
        println!("{name}: {small:?} and {large:?}, {:.1} times", large.as_secs_f64() / small.as_secs_f64());
        // What is quadratic takes sixty-four times as long.
        if large < 32 * small {
            return;
        }
    }
    panic!("{name}: {best:?} for {count} calls and for eight times as many");
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

fn chains(count: usize) -> String {
    let mut lines = Lines::new("%0 x: input f32[64]\n%1 w: weight f32[64]");
    let mut x = 0;
    for _ in 0..count / 2 {
        x = lines.add(&format!("a: node f32[64] = softmax(%{x}, axis = 0)"));
        x = lines.add(&format!("b: node f32[64] = add(%{x}, %1)"));
    }
    lines.add(&format!("y: output f32[64] = relu(%{x})"));
    lines.0
}

/// Every version is looked at and read before and after the next is written.
fn chains_of_states(count: usize) -> String {
    let mut lines = Lines::new("%0 x: input f32[64]\n%1 s: state f32[64]");
    let (mut x, mut state) = (0, 1);
    for _ in 0..count / 5 {
        let row = lines.add(&format!("row: node f32[64] = slice(%{state}, axis = 0, start = 0, end = 64, step = 1)"));
        let early = lines.add(&format!("early: node f32[64] = add(%{x}, %{row})"));
        state = lines.add(&format!("s: state f32[64] = write(%{state}, %{early})"));
        let late = lines.add(&format!("late: node f32[64] = mul(%{row}, %{early})"));
        x = lines.add(&format!("x: node f32[64] = tanh(%{late})"));
    }
    lines.add(&format!("y: output f32[64] = relu(%{x})"));
    lines.0
}

/// Working space, views and casts at every call, at any length.
fn open_chains(count: usize) -> String {
    let mut lines = Lines::new("dims S <= 100\n%0 x: input f16[{S}x8]\n%1 w: weight f16[8x8]");
    let mut x = 0;
    for _ in 0..count / 3 {
        let t = lines.add(&format!("t: node f16[8x{{S}}] = transpose(%{x})"));
        let u = lines.add(&format!("u: node f16[{{S}}x8] = transpose(%{t})"));
        x = lines.add(&format!("x: node f16[{{S}}x8] = matmul(%{u}, %1)"));
    }
    lines.add(&format!("y: output f16[{{S}}x8] = relu(%{x})"));
    lines.0
}

fn views_of_views(count: usize) -> String {
    let mut lines = Lines::new("%0 x: input f32[4x4]");
    let mut x = 0;
    for _ in 0..count {
        x = lines.add(&format!("v: node f32[4x4] = transpose(%{x})"));
    }
    lines.add(&format!("y: output f32[4x4] = relu(%{x})"));
    lines.0
}

fn long_concatenations(count: usize) -> String {
    let mut lines = Lines::new("%0 x: input f32[4]");
    let parts: Vec<String> = (0..count).map(|_| format!("%{}", lines.add("p: node f32[4] = exp(%0)"))).collect();
    let all = lines.add(&format!("c: node f32[{}] = concat({}, axis = 0)", 4 * count, parts.join(", ")));
    lines.add(&format!("y: output f32[{}] = relu(%{all})", 4 * count));
    lines.0
}
