//! Finds speech in a recording: one probability for each 32 ms.

#[path = "../counting.rs"]
mod counting;

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lexopt::prelude::*;
use model_graph::Cpu;
use model_graph_examples::silero::{Silero, load};

const USAGE: &str = "usage: silero --weights FILE --wav FILE

  --weights  silero_vad_16k.safetensors or silero_vad_openvino_16k.onnx, as the package `silero-vad` brings them
  --wav      a recording of one channel, 16,000 samples a second, 16 bits each";

fn main() {
    let done = args().and_then(|args| match args {
        Some((weights, wav)) => run(&weights, &wav),
        None => {
            println!("{USAGE}");
            Ok(())
        }
    });
    if let Err(error) = done {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn args() -> Result<Option<(PathBuf, PathBuf)>, Box<dyn Error>> {
    let (mut weights, mut wav) = (None, None);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("weights") => weights = Some(parser.value()?.into()),
            Long("wav") => wav = Some(parser.value()?.into()),
            Long("help") | Short('h') => return Ok(None),
            other => return Err(format!("{}\n\n{USAGE}", other.unexpected()).into()),
        }
    }
    match (weights, wav) {
        (Some(weights), Some(wav)) => Ok(Some((weights, wav))),
        _ => Err(format!("--weights and --wav are needed\n\n{USAGE}").into()),
    }
}

fn run(weights: &Path, wav: &Path) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(weights).map_err(|error| format!("{}: {error}", weights.display()))?;
    let samples = read(wav).map_err(|error| format!("{}: {error}", wav.display()))?;
    eprintln!("{}", Silero::PLAN);
    let mut model = Silero::new(&Cpu)?;
    load(&mut model, &bytes).map_err(|error| format!("{}: {error}", weights.display()))?;

    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut micros = Vec::with_capacity(samples.len().div_ceil(512));
    let mut allocations = 0;
    for frame in samples.chunks(512) {
        let mut input = model.samples_mut();
        // The last frame is filled up with silence.
        input[0].fill(0.0);
        input[0][..frame.len()].copy_from_slice(frame);
        let (start, before) = (Instant::now(), counting::allocations());
        let outputs = model.forward()?;
        allocations += counting::allocations() - before;
        micros.push(start.elapsed().as_secs_f64() * 1e6);
        writeln!(out, "{}", outputs.speech()[0][0])?;
    }
    out.flush()?;
    micros.sort_by(f64::total_cmp);
    if let Some(median) = micros.get(micros.len() / 2) {
        eprintln!("microseconds a frame of 32 ms: {median:.1} (median of {})", micros.len());
    }
    eprintln!("allocations in forward: {allocations}");
    Ok(())
}

fn read(wav: &Path) -> Result<Vec<f32>, Box<dyn Error>> {
    let mut reader = hound::WavReader::open(wav)?;
    let spec = reader.spec();
    if (spec.channels, spec.sample_rate, spec.bits_per_sample) != (1, 16_000, 16) {
        return Err(format!(
            "a recording of one channel, 16000 samples a second and 16 bits is expected; this has {} channels, {} samples \
             a second and {} bits",
            spec.channels, spec.sample_rate, spec.bits_per_sample
        )
        .into());
    }
    if reader.duration() == 0 {
        return Err("the recording has no samples".into());
    }
    Ok(reader
        .samples::<i16>()
        .map(|sample| sample.map(|sample| f32::from(sample) / 32768.0))
        .collect::<Result<_, _>>()?)
}
