//! Takes noise out of a recording as an audio thread would: each frame of 10 ms has its deadline, and nothing is allocated.

#[path = "../counting.rs"]
mod counting;

use std::error::Error;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lexopt::prelude::*;
use model_graph::Cpu;
use model_graph_examples::npy::Npy;
use model_graph_examples::rnnoise::{FRAME, Rnnoise, RnnoiseWeights, Stream, WEIGHTS};

const USAGE: &str = "usage: rnnoise --in FILE.raw --out FILE.raw
       rnnoise --features FILE.npy

  --in        a recording: 48,000 samples a second, 16 bits with sign each, little-endian, one channel
  --out       where it goes without its noise
  --features  42 features for each frame, as f32: prints the gains of 22 bands and the probability of a voice

Without any of these two seconds of noise alone are made and cleaned.";

enum Args {
    Help,
    Tone,
    Recording { input: PathBuf, output: PathBuf },
    Features(PathBuf),
}

/// What a frame may take: as long as it lasts.
const DEADLINE: Duration = Duration::from_millis(10);

fn main() {
    let done = args().and_then(|args| match args {
        Args::Help => {
            println!("{USAGE}");
            Ok(())
        }
        Args::Tone => {
            let cleaned = clean(&tone(), true)?;
            let loudness = |samples: &[i16]| {
                (samples.iter().map(|sample| f64::from(*sample).powi(2)).sum::<f64>() / samples.len() as f64).sqrt()
            };
            println!(
                "noise before: {:.0}, after: {:.0} (root of the mean square)",
                loudness(&tone()),
                loudness(&cleaned)
            );
            Ok(())
        }
        Args::Recording { input, output } => recording(&input, &output),
        Args::Features(path) => features(&path),
    });
    if let Err(error) = done {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn args() -> Result<Args, Box<dyn Error>> {
    let (mut input, mut output, mut features) = (None, None, None);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("in") => input = Some(parser.value()?.into()),
            Long("out") => output = Some(parser.value()?.into()),
            Long("features") => features = Some(parser.value()?.into()),
            Long("help") | Short('h') => return Ok(Args::Help),
            other => return Err(format!("{}\n\n{USAGE}", other.unexpected()).into()),
        }
    }
    match (input, output, features) {
        (None, None, None) => Ok(Args::Tone),
        (Some(input), Some(output), None) => Ok(Args::Recording { input, output }),
        (None, None, Some(features)) => Ok(Args::Features(features)),
        _ => Err(format!("either --in and --out, or --features\n\n{USAGE}").into()),
    }
}

/// Two seconds of noise alone.
fn tone() -> Vec<i16> {
    let mut random = fastrand::Rng::with_seed(1);
    (0..2 * 48_000).map(|_| random.i16(-3000..3000)).collect()
}

fn recording(input: &Path, output: &Path) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(input).map_err(|error| format!("{}: {error}", input.display()))?;
    if bytes.starts_with(b"RIFF") {
        return Err(format!("{}: a WAV file; give its samples alone", input.display()).into());
    }
    let (pairs, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(
            format!("{}: {} bytes are no whole number of samples of 16 bits", input.display(), bytes.len()).into()
        );
    }
    if pairs.len() < 2 * FRAME {
        return Err(format!(
            "{}: {} samples are less than two frames of {FRAME}, of which one comes out",
            input.display(),
            pairs.len()
        )
        .into());
    }
    let samples: Vec<i16> = pairs.iter().map(|pair| i16::from_le_bytes(*pair)).collect();
    let cleaned: Vec<u8> = clean(&samples, false)?.into_iter().flat_map(i16::to_le_bytes).collect();
    std::fs::write(output, cleaned).map_err(|error| format!("{}: {error}", output.display()))?;
    Ok(())
}

/// What is left of a recording without its noise, a frame shorter. With `paced` the frames come every 10 ms, as from a
/// microphone.
fn clean(samples: &[i16], paced: bool) -> Result<Vec<i16>, Box<dyn Error>> {
    eprintln!("{}", Rnnoise::PLAN);
    let mut model = Rnnoise::new(&Cpu)?;
    model.load(&RnnoiseWeights::new(WEIGHTS)?)?;
    let (frames, _) = samples.as_chunks::<FRAME>();
    let mut cleaned = vec![[0i16; FRAME]; frames.len()];
    let mut times = vec![Duration::ZERO; frames.len()];

    let audio = || -> Result<usize, model_graph::Error> {
        let mut stream = Stream::default();
        // The Fourier transforms make their tables when they are first used on a thread.
        stream.clean(&mut model, &[0; FRAME], &mut [0; FRAME])?;
        let mut stream = Stream::default();
        model.reset_state()?;
        let before = counting::allocations();
        counting::forbid(|| {
            let mut due = Instant::now();
            for ((frame, out), time) in frames.iter().zip(&mut cleaned).zip(&mut times) {
                if paced {
                    due += DEADLINE;
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                }
                let start = Instant::now();
                stream.clean(&mut model, frame, out)?;
                *time = start.elapsed();
            }
            Ok(counting::allocations() - before)
        })
    };
    let allocations = std::thread::scope(|scope| scope.spawn(audio).join().expect("the audio thread does not panic"))?;

    let late = times.iter().filter(|time| **time > DEADLINE).count();
    times.sort();
    if let (Some(worst), Some(median)) = (times.last(), times.get(times.len() / 2)) {
        eprintln!("a frame of 10 ms takes {median:?} (median of {}), at the worst {worst:?}", times.len());
    }
    eprintln!("frames beyond their deadline: {late}");
    eprintln!("allocations on the audio thread: {allocations}");
    // The first frame comes out before any was put in.
    Ok(cleaned.into_iter().skip(1).flatten().collect())
}

fn features(path: &Path) -> Result<(), Box<dyn Error>> {
    let said = |error: &dyn Display| format!("{}: {error}", path.display());
    let bytes = std::fs::read(path).map_err(|error| said(&error))?;
    let array = Npy::new(&bytes).map_err(|error| said(&error))?;
    if !matches!(array.shape[..], [frames, 42] if frames > 0) {
        return Err(said(&format!("it is {:?} and has to be N x 42", array.shape)).into());
    }
    let numbers: Vec<f32> = array.elements().map_err(|error| said(&error))?;
    let mut model = Rnnoise::new(&Cpu)?;
    model.load(&RnnoiseWeights::new(WEIGHTS)?)?;
    for frame in numbers.as_chunks::<42>().0 {
        model.features_mut().write(&[*frame])?;
        let outputs = model.forward()?;
        let numbers = outputs.gain().as_slice().iter().chain(outputs.voice().as_slice());
        println!("{}", numbers.map(f32::to_string).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
