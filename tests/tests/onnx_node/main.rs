//! The single-operator conformance cases of the `onnx` package: every one that the language can express is built with
//! its operators, planned, run with and without poison, and compared with the known result.

mod attention;
mod build;
mod case;
mod elementwise;
mod lookups;
mod pictures;
mod quantised;
mod recurrent;
mod regions;
mod report;
mod scatter;
mod shapes;
mod signals;

use expect_test::expect_file;
use model_graph_planner::{Options, TensorId, plan};
use model_graph_tests::interpret::{Machine, Watch};

use build::{Builder, Left};
use case::{Case, Data, Node};
use report::Report;

/// How many cases run and pass. It only goes up.
const PASSING: usize = 706;

#[test]
fn the_cases_that_can_be_expressed_give_the_known_results() {
    let Some(files) = case::all() else { return };
    let (mut report, mut wrong) = (Report::default(), Vec::new());
    for (file, cases) in &files {
        let row = report.rows.entry(file.clone()).or_default();
        for case in cases {
            row.cases += 1;
            match build(case) {
                Err(reason) => report.left_out.entry(reason).or_default().push(format!("{file}/{}", case.name)),
                Ok((builder, outputs)) => match run(case, &builder, &outputs) {
                    Ok(()) => {
                        row.passed += 1;
                        let names = builder.graph.nodes().map(|(_, node)| node.op.name().to_string());
                        row.made_of.extend(names.filter(|name| name != "identity"));
                    }
                    Err(text) => wrong.push(format!("{file}/{}: {text}", case.name)),
                },
            }
        }
    }
    for (reason, cases) in &report.left_out {
        println!("{:5}  {reason}: {}", cases.len(), cases.join(" "));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    expect_file!["../../../docs/onnx.md"].assert_eq(&report.page());
    assert_eq!(report.passed(), PASSING, "update the number when more cases pass; it never goes down");
}

/// The case's graph and its outputs, or why there is none.
fn build(case: &Case) -> Left<(Builder, Vec<TensorId>)> {
    for data in case.outputs.iter().chain(case.inputs.first()) {
        build::dtype(&data.dtype)?;
    }
    let mut builder = Builder::new(case);
    for node in &case.nodes {
        let results = results(&mut builder, node)?;
        for (name, id) in node.outputs.iter().zip(results) {
            builder.set(name, id);
        }
    }
    let outputs = case.outputs.iter().map(|output| builder.output(&output.name)).collect::<Left<_>>()?;
    Ok((builder, outputs))
}

fn results(b: &mut Builder, node: &Node) -> Left<Vec<TensorId>> {
    if let Some(result) = elementwise::build(b, node)? {
        return Ok(vec![result]);
    }
    if let Some(results) = recurrent::build(b, node)? {
        return Ok(results);
    }
    if let Some(results) = pictures::build(b, node)? {
        return Ok(results);
    }
    if let Some(results) = shapes::build(b, node)? {
        return Ok(results);
    }
    if let Some(results) = quantised::build(b, node)? {
        return Ok(results);
    }
    if let Some(results) = scatter::build(b, node)? {
        return Ok(results);
    }
    if let Some(result) = signals::build(b, node)? {
        return Ok(vec![result]);
    }
    if let Some(result) = lookups::build(b, node)? {
        return Ok(vec![result]);
    }
    match attention::build(b, node)? {
        Some(results) => Ok(results),
        None => Err(format!("operator {} is not in the language", node.op)),
    }
}

/// Plans and runs the case twice, and compares.
fn run(case: &Case, builder: &Builder, outputs: &[TensorId]) -> Result<(), String> {
    let planned = plan(&builder.graph, &Options::default()).map_err(|error| error.to_string())?;
    let mut first: Option<Vec<Vec<u64>>> = None;
    for poison in [None, Some(0xff)] {
        let mut machine = Machine::new(&planned).map_err(|error| error.to_string())?;
        for (leaf, values) in &builder.leaves {
            machine.write_numbers(*leaf, values).map_err(|error| error.to_string())?;
        }
        machine.run(Watch { poison, writes: poison.is_none(), packed: false })?;
        let mut bits = Vec::new();
        for (id, expected) in outputs.iter().zip(&case.outputs) {
            let dims: Vec<usize> = builder.dims(*id);
            if dims != expected.dims {
                return Err(format!("{} has the shape {dims:?} instead of {:?}", expected.name, expected.dims));
            }
            let dtype = builder.graph.tensor(*id).ty.dtype;
            if build::dtype(&expected.dtype).ok() != Some(dtype) {
                return Err(format!("{} is {dtype} instead of {}", expected.name, expected.dtype));
            }
            let values = machine.read_numbers(*id).map_err(|error| error.to_string())?.ok_or("it has no place")?;
            close(case, expected, &values)?;
            bits.push(values.iter().map(|value| value.to_bits()).collect());
        }
        if first.get_or_insert_with(|| bits.clone()) != &bits {
            return Err("poison changes the result".into());
        }
    }
    Ok(())
}

fn close(case: &Case, expected: &Data, values: &[f64]) -> Result<(), String> {
    if values.len() != expected.values.len() {
        return Err(format!("{} has {} elements instead of {}", expected.name, values.len(), expected.values.len()));
    }
    // Halves may be two units of their last place apart: models round between their steps, and so does ONNX.
    let rtol = match expected.dtype.as_str() {
        "float16" => case.rtol.max(2f64.powi(-9)),
        "bfloat16" => case.rtol.max(2f64.powi(-6)),
        _ => case.rtol,
    };
    // What is left where waves cancel is as uncertain as the largest element, in the known result too.
    let largest = expected.values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let atol =
        if case.nodes[0].op == "DFT" { case.atol.max(4.0 * f64::from(f32::EPSILON) * largest) } else { case.atol };
    for (at, (&value, wanted)) in values.iter().zip(&expected.values).enumerate() {
        let near = (value - wanted).abs() <= atol + rtol * wanted.abs();
        if !(near || value == *wanted || value.is_nan() && wanted.is_nan()) {
            return Err(format!("{}[{at}] is {value} instead of {wanted}", expected.name));
        }
    }
    Ok(())
}
