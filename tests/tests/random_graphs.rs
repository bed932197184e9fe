//! Random graphs: whatever the planner decides, a planned run gives the bits that an evaluation gives which knows of no
//! views, no successors in place and no shared bytes.

use model_graph_planner::{Graph, Options, Order, Planned, Role, TensorId, plan, verify};
use model_graph_tests::interpret::{Machine, Watch};
use model_graph_tests::naive::evaluate;
use model_graph_tests::random::{build, cases, genes, leaf_values};
use model_graph_tests::reduce::reduce;
use proptest::prelude::*;

/// All NaNs are one.
fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() }).collect()
}

/// The values of every tensor in two runs: the second has new inputs, and its states are what the first left.
fn expected(graph: &Graph) -> [Vec<Vec<f32>>; 2] {
    let first = evaluate(graph, |index| leaf_values(graph, index, 0));
    let second = evaluate(graph, |index| {
        let (id, tensor) = graph.tensors().nth(index).expect("it is there");
        match tensor.role {
            Role::State => first[last_version(graph, id).index()].clone(),
            role => leaf_values(graph, index, u64::from(role == Role::Input)),
        }
    });
    [first, second]
}

fn last_version(graph: &Graph, mut id: TensorId) -> TensorId {
    while let Some(next) = graph.next_version(id) {
        id = next;
    }
    id
}

/// Two runs in the same buffer.
fn runs(graph: &Graph, planned: &Planned, expected: &[Vec<Vec<f32>>; 2], watch: Watch) -> Result<(), String> {
    let mut machine = Machine::new(planned).map_err(|error| error.to_string())?;
    for run in 0..expected.len() {
        for (id, tensor) in graph.tensors() {
            if tensor.producer.is_none() && (run == 0 || tensor.role == Role::Input) {
                machine.write(id, &expected[run][id.index()]).map_err(|error| error.to_string())?;
            }
        }
        if let Some(before) = run.checked_sub(1) {
            compare(graph, &machine, &[Role::KeptNode, Role::State], &expected[before])
                .map_err(|text| format!("after the inputs were written again, {text}"))?;
        }
        let readable = [Role::Output, Role::KeptNode, Role::KeptInput, Role::Weight, Role::Constant, Role::State];
        machine
            .run(watch)
            .and_then(|()| compare(graph, &machine, &readable, &expected[run]))
            .map_err(|text| format!("run {run} with {watch:?}: {text}"))?;
    }
    Ok(())
}

fn compare(graph: &Graph, machine: &Machine<'_>, roles: &[Role], expected: &[Vec<f32>]) -> Result<(), String> {
    for (id, tensor) in graph.tensors().filter(|(_, tensor)| roles.contains(&tensor.role)) {
        let Some(values) = machine.read(id).map_err(|error| error.to_string())? else { continue };
        // A state is what its last version is.
        let expected = &expected[last_version(graph, id).index()];
        if bits(&values) != bits(expected) {
            return Err(format!("{} is {values:?} instead of {expected:?}", tensor.name));
        }
    }
    Ok(())
}

fn planned(graph: &Graph, options: &Options) -> Result<Planned, String> {
    let planned = plan(graph, options).map_err(|error| error.to_string())?;
    verify(&planned).map_err(|fault| fault.to_string())?;
    Ok(planned)
}

fn options(in_place: bool, concat: bool, align: usize) -> Options {
    Options { in_place, concat, align, ..Options::default() }
}

/// Every combination of options gives the bits of the naive evaluation.
fn bits_are_right(graph: &Graph, align: usize) -> Result<(), String> {
    let expected = expected(graph);
    for (in_place, concat, fuse, order) in [
        (true, true, true, Order::Declared),
        (true, false, false, Order::Declared),
        (false, true, false, Order::Declared),
        (false, false, true, Order::Declared),
        (true, true, true, Order::MinPeak),
        (false, false, false, Order::MinPeak),
    ] {
        // Views are left out together with results in place.
        let options = Options { order, fuse, views: in_place, ..options(in_place, concat, align) };
        let planned = planned(graph, &options)?;
        for watch in [None, Some(0xff)].map(|poison| Watch { poison, writes: poison.is_none(), packed: true }) {
            runs(graph, &planned, &expected, watch)
                .map_err(|text| format!("{text}\n{options:?}\n{}", planned.with(|plan| plan.to_string())))?;
        }
    }
    Ok(())
}

/// Planning again gives the same, and no option costs memory.
fn options_are_right(graph: &Graph) -> Result<(), String> {
    let full = planned(graph, &options(true, true, 64))?;
    let again = planned(graph, &options(true, true, 64))?;
    if format!("{full:?}") != format!("{again:?}") {
        return Err("a plan made twice differs".into());
    }
    let reordered = planned(graph, &Options { order: Order::MinPeak, ..options(true, true, 64) })?;
    if reordered.size > full.size {
        return Err(format!("{} bytes in the order of least peak, {} as declared", reordered.size, full.size));
    }
    for (in_place, concat) in [(true, false), (false, true), (false, false)] {
        let less = planned(graph, &options(in_place, concat, 64))?;
        if full.size > less.size {
            let plans = [full, less].map(|planned| planned.with(|plan| plan.to_string()));
            return Err(format!("in place {in_place}, concat {concat} needs less:\n{}\n{}", plans[0], plans[1]));
        }
    }
    Ok(())
}

/// Fails with the smallest graph that a check complains of.
fn report(graph: Graph, check: impl Fn(&Graph) -> Result<(), String>) {
    if check(&graph).is_err() {
        let graph = reduce(graph, |graph| check(graph).is_err());
        panic!("{}\n{graph}", check(&graph).expect_err("it still fails"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(24),
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_plan_gives_the_bits_of_the_naive_evaluation(genes in genes(), align in 2..8u32) {
        report(build(&genes), |graph| bits_are_right(graph, 1 << align));
    }

    #[test]
    fn a_plan_made_twice_is_the_same_and_options_never_cost_memory(genes in genes()) {
        report(build(&genes), options_are_right);
    }
}

/// Written by hand to be hard: borders in borders and in concatenations, of what may not be moved, of nothing, twice.
#[test]
fn borders_and_concatenations_in_one_another() {
    const LEAVES: &str = "model Hard
  %0 x: input f32[1x2x4x4]
  %1 w: weight f32[4x4]
  %2 k: kept input f32[4x4]
  %3 c: constant f32[4x4]
  %4 z: input f32[0x3]
  %5 i: input f32[4x4]
";
    for lines in [
        // Views of borders of concatenations, twice in a concatenation.
        "%10 r: node f32[4x4] = relu(%5)
         %11 j: node f32[4x8] = concat(%10, %1, axis = 1)
         %12 p: node f32[6x10] = pad(%11, before = [1, 1])
         %13 t: node f32[10x6] = transpose(%12)
         %14 q: node f32[13x6] = pad(%13, before = [1, 0], after = [2, 0], value = 2)
         %15 y: output f32[26x6] = concat(%14, %14, axis = 0)
         %16 v: output f32[13x12] = concat(%14, %14, axis = 1)",
        // A part that is an output itself, and one that is kept.
        "%10 a: output f32[4x4] = relu(%5)
         %11 b: kept node f32[4x4] = neg(%5)
         %12 d: node f32[4x4] = abs(%5)
         %13 y: output f32[4x16] = concat(%10, %11, %12, %5, axis = 1)
         %14 u: output f32[16x4] = concat(%12, %12, %10, %11, axis = 0)",
        // Borders of what is not to be moved.
        "%10 a: output f32[6x6] = pad(%1, before = [1, 1])
         %11 b: kept node f32[6x6] = pad(%2, before = [1, 1], value = -1)
         %12 d: node f32[6x6] = pad(%3, before = [1, 1], value = 3)
         %13 e: output f32[6x6] = pad(%5, before = [2, 0], after = [0, 2])
         %15 l: node f32[6x12] = concat(%10, %12, axis = 1)
         %16 m: node f32[6x12] = concat(%11, %13, axis = 1)
         %17 y: output f32[12x12] = concat(%15, %16, axis = 0)",
        // Borders of nothing.
        "%10 a: output f32[0x5] = pad(%4, before = [0, 1])
         %11 b: output f32[2x3] = pad(%4, before = [1, 0])
         %12 d: node f32[2x5] = pad(%4, before = [1, 1], value = 7)
         %13 y: output f32[4x5] = concat(%12, %10, %12, axis = 0)
         %14 s: node f32[0x4] = slice(%5, start = 4)
         %15 u: output f32[4x4] = concat(%14, %5, %14, axis = 0)",
        // In place through a border, which is read before and after.
        "%10 r: node f32[1x2x4x4] = relu(%0)
         %11 p: node f32[1x2x6x6] = pad(%10, before = [0, 0, 1, 1], value = 1)
         %12 n: node f32[1x2x4x4] = neg(%10)
         %13 m: node f32[1x2x6x6] = exp(%11)
         %14 o: node f32[1x2x4x4] = add(%12, %10)
         %15 q: node f32[1x2x6x6] = pad(%14, before = [0, 0, 1, 1])
         %16 g: node f32[1x4x6x6] = concat(%13, %15, axis = 1)
         %17 h: node f32[1x6x6x6] = concat(%13, %15, %11, axis = 1)
         %18 y: output f32[1x4x6x6] = tanh(%16)
         %19 u: output f32[1x6x6x6] = sigmoid(%17)",
        // A reshape of a part, a slice that begins in one part and ends in the next, and both side by side again.
        "%10 a: node f32[4x4] = relu(%5)
         %11 b: node f32[4x4] = neg(%5)
         %12 j: node f32[8x4] = concat(%10, %11, axis = 0)
         %13 s: node f32[4x4] = slice(%12, axis = 0, start = 2, end = 6)
         %14 f: node f32[2x8] = reshape(%10, shape = [2, 8])
         %15 g: node f32[2x8] = reshape(%13, shape = [2, 8])
         %16 h: node f32[4x8] = concat(%14, %15, axis = 0)
         %17 l: node f32[4x8] = relu(%16)
         %18 y: output f32[6x10] = pad(%17, before = [1, 1])
         %19 u: output f32[8x8] = concat(%17, %16, axis = 0)",
    ] {
        let graph = Graph::parse(&format!("{LEAVES}{lines}")).unwrap_or_else(|error| panic!("{error}\n{lines}"));
        for align in [4, 64] {
            bits_are_right(&graph, align).unwrap_or_else(|text| panic!("{text}\n{graph}"));
        }
    }
}
