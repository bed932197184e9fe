//! Tells which of ten words was spoken, with weights and scales straight from a TensorFlow Lite file. A row of outputs for
//! each input goes to stdout, everything else to stderr.

#[path = "../counting.rs"]
mod counting;

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::process::ExitCode;
use std::time::Instant;

use lexopt::prelude::*;
use model_graph::{Cpu, DType, TfLite};
use model_graph_examples::keywords::{
    FEATURES, Keywords, MODEL, QuantizedKeywords, WORDS, check_zeros, names, quantize, weights,
};
use model_graph_examples::npy::Npy;

const USAGE: &str = "usage: keywords [--model FILE.tflite] [--input FILE.npy]

  --model  `kws_ref_model.tflite` or `kws_ref_model_float32.tflite` of MLPerf Tiny; without it, the former, which is part
           of this program
  --input  features of any number of seconds of speech, N x 49 x 10 x 1: f32, or i8 as the int8 model takes them; without
           it, one second of which every feature is 0";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let (mut model, mut input) = (None, None);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("model") => model = Some(parser.value()?),
            Long("input") => input = Some(parser.value()?),
            Long("help") | Short('h') => {
                println!("{USAGE}");
                return Ok(());
            }
            other => return Err(format!("{}\n\n{USAGE}", other.unexpected()).into()),
        }
    }
    let said = |file: &std::ffi::OsStr, error: &dyn Display| format!("{}: {error}", file.display());
    let bytes = match &model {
        Some(file) => Cow::Owned(std::fs::read(file).map_err(|error| said(file, &error))?),
        None => Cow::Borrowed(MODEL),
    };
    let of_model = |error: &dyn Display| match &model {
        Some(file) => said(file, error),
        None => error.to_string(),
    };
    let file = TfLite::new(&bytes).map_err(|error| of_model(&error))?;
    let features = match &input {
        Some(file) => {
            let bytes = std::fs::read(file).map_err(|error| said(file, &error))?;
            features(&bytes).map_err(|error| said(file, &error))?
        }
        None => Array::F32(vec![0.0; FEATURES]),
    };
    let input = file.inputs().first().copied().ok_or_else(|| of_model(&"the graph has no input"))?;
    let done = match (file.dtype(input), file.quantization(input), features) {
        (Some(DType::F32), _, Array::F32(features)) => numbers(&file, &features),
        (Some(DType::F32), ..) => Err("this model takes features of f32, and these are i8".into()),
        (_, Some(_), Array::I8(features)) => integers(&file, &features),
        (_, Some(to), Array::F32(features)) => {
            integers(&file, &features.iter().map(|number| quantize(*number, to)).collect::<Vec<i8>>())
        }
        _ => Err("this is no model for keyword spotting: its input is neither f32 nor quantised".into()),
    };
    done.map_err(|error| of_model(&error).into())
}

/// Features of as many seconds as there are, in one of the two types that the models take.
enum Array {
    F32(Vec<f32>),
    I8(Vec<i8>),
}

/// Reads features from a file of NumPy's.
fn features(bytes: &[u8]) -> Result<Array, Box<dyn Error>> {
    let array = Npy::new(bytes)?;
    if !matches!(array.shape[..], [count, 49, 10, 1] if count > 0) {
        return Err(format!("it is {:?} and has to be N x 49 x 10 x 1", array.shape).into());
    }
    Ok(match array.element.as_str() {
        "<f4" => Array::F32(array.elements()?),
        "|i1" => Array::I8(array.elements()?),
        other => return Err(format!("its elements are `{other}`; save it as `numpy.float32` or `numpy.int8`").into()),
    })
}

/// Runs the network of numbers.
fn numbers(file: &TfLite<'_>, features: &[f32]) -> Result<(), Box<dyn Error>> {
    eprintln!("{}", Keywords::PLAN);
    let mut model = Keywords::new(&Cpu)?;
    model.load(&weights(file, &names()))?;
    check_zeros(file, false)?;
    rows(features, |features| {
        model.features_mut().write_slice(features)?;
        Ok(model.forward()?.probabilities()[0])
    })
}

/// Runs the network of integers.
fn integers(file: &TfLite<'_>, features: &[i8]) -> Result<(), Box<dyn Error>> {
    eprintln!("{}", QuantizedKeywords::PLAN);
    let mut model = QuantizedKeywords::new(&Cpu)?;
    model.load(&weights(file, &names()))?;
    check_zeros(file, true)?;
    rows(features, |features| {
        model.features_mut().write_slice(features)?;
        Ok(model.forward()?.probabilities()[0])
    })
}

/// How often each input is run, so that its time is worth printing.
const RUNS: u32 = 20;

/// Runs every input and prints its outputs.
fn rows<T: Debug + PartialOrd + Default + Copy>(
    features: &[T],
    mut forward: impl FnMut(&[T]) -> Result<[T; 12], model_graph::Error>,
) -> Result<(), Box<dyn Error>> {
    let (mut allocations, mut micros) = (0, Vec::new());
    for features in features.chunks_exact(FEATURES) {
        let mut outputs = [T::default(); 12];
        for _ in 0..RUNS {
            let (start, before) = (Instant::now(), counting::allocations());
            outputs = forward(features)?;
            allocations += counting::allocations() - before;
            micros.push(start.elapsed().as_secs_f64() * 1e6);
        }
        let row: Vec<String> = outputs.iter().map(|output| format!("{output:?}")).collect();
        println!("{}", row.join(" "));
        let best = (0..12).fold(0, |best, at| if outputs[at] > outputs[best] { at } else { best });
        eprintln!("most likely: {}", WORDS[best]);
    }
    micros.sort_by(f64::total_cmp);
    if let Some(median) = micros.get(micros.len() / 2) {
        eprintln!("microseconds for a second of speech: {median:.1} (median of {})", micros.len());
    }
    eprintln!("allocations in forward: {allocations}");
    Ok(())
}
