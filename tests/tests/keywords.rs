//! The keyword spotting example's two models, against the outputs of TensorFlow Lite.

use model_graph::{Cpu, HostBuffer, Poison, TfLite};
use model_graph_examples::keywords::{Keywords, QuantizedKeywords, WORDS, names, quantize, weights};
use model_graph_tests::npz::Npz;
use model_graph_tests::shared;

const FLOAT: &str = "models/mlperf_tiny/kws_ref_model_float32.tflite";
const INTEGER: &str = "models/mlperf_tiny/kws_ref_model.tflite";
const SPEECH: [&str; 5] = ["yes_mf", "no_mf", "yes_tflm", "no_tflm", "marvin"];

/// Features of noise and of speech, each with the outputs.
struct References<T> {
    noise: (Vec<T>, Vec<T>),
    speech: (Vec<f32>, Vec<T>),
}

fn references<T: npyz::Deserialize>(input: &str, noise: &str, speech: &str) -> Option<References<T>> {
    let mut file = Npz::open(&shared("refs/mlperf_kws_random.npz")?);
    let noise = (file.array(input), file.array(noise));
    let mut file = Npz::open(&shared("refs/mlperf_kws_speech.npz")?);
    let features = SPEECH.iter().flat_map(|name| file.array::<f32>(&format!("in_{name}"))).collect();
    Some(References { noise, speech: (features, file.array(speech)) })
}

/// The model's outputs, which are the same whatever the bytes hold that should not matter.
fn float(model: &mut Keywords, features: &[f32]) -> [f32; 12] {
    let mut results = [None, Some(0xff), Some(0x00)].map(|byte| {
        model.features_mut().write_slice(features).unwrap();
        match byte {
            None => model.forward().unwrap().probabilities()[0],
            Some(byte) => model.forward_with(&mut Poison { byte }).unwrap().probabilities()[0],
        }
    });
    assert!(results.iter().all(|result| result.map(f32::to_bits) == results[0].map(f32::to_bits)));
    std::mem::take(&mut results[0])
}

fn integer(model: &mut QuantizedKeywords, features: &[i8]) -> [i8; 12] {
    let results = [None, Some(0xff), Some(0x00)].map(|byte| {
        model.features_mut().write_slice(features).unwrap();
        match byte {
            None => model.forward().unwrap().probabilities()[0],
            Some(byte) => model.forward_with(&mut Poison { byte }).unwrap().probabilities()[0],
        }
    });
    assert_eq!(results, [results[0]; 3]);
    results[0]
}

fn word<T: PartialOrd>(outputs: &[T]) -> &'static str {
    let best = (0..12).fold(0, |best, at| if outputs[at] > outputs[best] { at } else { best });
    WORDS[best]
}

#[test]
fn the_network_of_numbers_agrees_with_its_reference() {
    let (Some(path), Some(references)) = (shared(FLOAT), references("in_x_f32", "out_prob", "out_f32")) else { return };
    let (bytes, names) = (std::fs::read(path).unwrap(), names());
    let file = TfLite::new(&bytes).unwrap();
    let mut model = Keywords::new(&Cpu).unwrap();
    model.load(&weights(&file, &names)).unwrap();
    let mut differences = Vec::new();
    for (features, expected) in [references.noise, references.speech] {
        assert_eq!(features.len() / 490, expected.len() / 12);
        for (features, expected) in features.chunks_exact(490).zip(expected.chunks_exact(12)) {
            let given = float(&mut model, features);
            differences.push(given.iter().zip(expected).fold(0f32, |worst, (a, b)| worst.max((a - b).abs())));
            assert_eq!(word(&given), word(expected));
        }
    }
    println!("f32: the largest differences are {differences:?}");
    // In the fourth, a number lies so close to the middle between two integers that the reference rounds it to the other
    // one; a computation in f64 has our side.
    assert!(differences.remove(3) < 3e-5, "{differences:?}");
    assert!(differences.iter().all(|difference| *difference < 1e-6), "{differences:?}");
}

#[test]
fn the_network_of_integers_agrees_with_its_reference() {
    let (Some(path), Some(references)) = (shared(INTEGER), references("in_x_i8", "out_prob_i8", "out_i8")) else {
        return;
    };
    let (bytes, names) = (std::fs::read(path).unwrap(), names());
    let file = TfLite::new(&bytes).unwrap();
    let mut model = QuantizedKeywords::new(&Cpu).unwrap();
    model.load(&weights(&file, &names)).unwrap();
    let quantization = file.quantization(file.inputs()[0]).unwrap();
    let speech = references.speech.0.iter().map(|number| quantize(*number, quantization)).collect();
    let mut count = 0;
    for (features, expected) in [references.noise, (speech, references.speech.1)] {
        assert_eq!(features.len() / 490, expected.len() / 12);
        for (features, expected) in features.chunks_exact(490).zip(expected.chunks_exact(12)) {
            let given = integer(&mut model, features);
            for (given, expected) in given.iter().zip(expected) {
                assert_eq!(given, expected);
                count += 1;
            }
            assert_eq!(word(&given), word(expected));
        }
    }
    assert_eq!(count, 9 * 12);
}

/// The zeros stand in the struct as numbers; the file says the same.
#[test]
fn the_zeros_are_those_of_the_file() {
    let Some(path) = shared(INTEGER) else { return };
    let bytes = std::fs::read(path).unwrap();
    let file = TfLite::new(&bytes).unwrap();
    let zero = |index| file.quantization(index).map(|(_, zero)| zero);
    assert_eq!((zero(0), zero(33), file.quantization(34)), (Some(83), Some(14), Some((1.0 / 256.0, -128))));
    assert!((22..33).all(|index| zero(index) == Some(-128)));
    assert_eq!((file.inputs(), file.outputs()), (&[0][..], &[34][..]));
}

/// A model is one buffer, and this one's is small.
#[test]
fn the_integers_take_less_than_half_of_the_numbers() {
    let (float, integer) = (Keywords::PLAN, QuantizedKeywords::PLAN);
    println!("f32 {} bytes, int8 {} bytes", float.size, integer.size);
    assert!(integer.size * 2 < float.size);
    assert_eq!(QuantizedKeywords::new(&Cpu).unwrap().into_buffer().bytes().len(), integer.size);
}
