//! Graphs with open dims: for every value from 1 to the bound the plan that was made for the bound gives the bits that a
//! graph of that very value gives, evaluated without views and shared bytes. The buffer holds NaNs before.

use model_graph_planner::{Graph, Options, Order, Planned, Role, plan, verify};
use model_graph_tests::interpret::{Machine, Watch};
use model_graph_tests::naive::evaluate;
use model_graph_tests::random::{build_open, cases, genes, leaf_values};
use proptest::prelude::*;

/// All NaNs are one.
fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() }).collect()
}

/// Every combination of values.
fn all_values(graph: &Graph) -> Vec<Vec<usize>> {
    graph.open_dims().iter().fold(vec![Vec::new()], |all, open| {
        let more = |known: &Vec<usize>| -> Vec<Vec<usize>> {
            (1..=open.bound).map(|value| [&known[..], &[value]].concat()).collect()
        };
        all.iter().flat_map(more).collect()
    })
}

fn check(graph: &Graph, planned: &Planned, values: &[usize]) -> Result<(), String> {
    let words = |error: model_graph::Error| error.to_string();
    let fixed = graph.at(values).map_err(|error| format!("{error:?}"))?;
    let at = planned.at(values).map_err(|fault| fault.to_string())?;
    verify(&at).map_err(|fault| format!("at {values:?}: {fault}"))?;
    // Nothing leaves the buffer that was planned for the bound.
    for (tensor, bound) in at.tensors.iter().zip(&planned.tensors) {
        assert!(tensor.view.span().end <= planned.size && tensor.view.elements() <= bound.view.elements().max(1));
    }
    let expected = evaluate(&fixed, |index| leaf_values(&fixed, index, 7));
    let mut machine = Machine::new(&at).map_err(words)?;
    machine.fill(0xff);
    for (id, tensor) in fixed.tensors().filter(|(_, tensor)| tensor.producer.is_none()) {
        machine.write(id, &expected[id.index()]).map_err(|error| format!("{}: {error}", tensor.name))?;
    }
    machine.run(Watch { poison: Some(0xff), writes: true, packed: true })?;
    for (id, tensor) in fixed.tensors().filter(|(_, tensor)| matches!(tensor.role, Role::Output | Role::KeptNode)) {
        let Some(found) = machine.read(id).map_err(words)? else { continue };
        if bits(&found) != bits(&expected[id.index()]) {
            return Err(format!("at {values:?} {} is {found:?} instead of {:?}", tensor.name, expected[id.index()]));
        }
    }
    Ok(())
}

fn check_all(graph: &Graph, options: &Options) -> Result<(), String> {
    let planned = plan(graph, options).map_err(|error| error.to_string())?;
    verify(&planned).map_err(|fault| fault.to_string())?;
    all_values(graph).iter().try_for_each(|values| check(graph, &planned, values))
}

fn options(number: usize) -> Options {
    let order = if number & 1 == 0 { Order::Declared } else { Order::MinPeak };
    Options { in_place: number & 2 == 0, concat: number & 4 == 0, fuse: number & 8 == 0, order, ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(120), max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn every_value_gives_the_bits_of_its_own_graph(
        genes in genes(),
        bounds in prop::sample::select(vec![vec![4], vec![6], vec![3, 4], vec![2, 3]]),
        number in 0usize..16,
    ) {
        let graph = build_open(&genes, &bounds);
        if let Err(text) = check_all(&graph, &options(number)) {
            prop_assert!(false, "{text}\n{:?}\n{graph}", options(number));
        }
    }

    /// The textual form carries open dims and formulas.
    #[test]
    fn graphs_are_read_back_as_they_were_printed(genes in genes()) {
        let graph = build_open(&genes, &[3, 4]);
        let text = graph.to_string();
        match Graph::parse(&text) {
            Ok(read) => prop_assert_eq!(read.to_string(), text),
            Err(error) => prop_assert!(false, "{}\n{}", error, text),
        }
    }
}
