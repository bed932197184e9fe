//! The networks of the examples against what they give elsewhere: a language model, voice activity, noise suppression.
//! Each runs with poison between its steps.

use model_graph::{Cpu, Poison};
use model_graph_examples::rnnoise::{FRAME, Rnnoise, RnnoiseWeights, Stream, WEIGHTS};
use model_graph_examples::silero::{self, Silero};
use model_graph_examples::stories::{BEGIN, Checkpoint, Config, Sampler, Stories, Teller, Tokenizer, VOCAB};
use model_graph_tests::npz::Npz;
use model_graph_tests::shared;

/// A file of the shared data, or none, said aloud, where it is absent.
fn file(name: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(shared(name)?).unwrap())
}

fn largest(left: &[f32], right: &[f32]) -> f32 {
    assert_eq!(left.len(), right.len());
    left.iter().zip(right).map(|(left, right)| (left - right).abs()).fold(0.0, f32::max)
}

fn stories(bytes: &[u8]) -> Stories {
    let mut model = Stories::new(&Cpu).unwrap();
    model.load(&Checkpoint::new(bytes).unwrap()).unwrap();
    model
}

#[test]
fn a_story_is_told_as_elsewhere() {
    let (Some(bytes), Some(tokenizer), Some(text)) = (
        file("models/stories260K/stories260K.bin"),
        file("models/stories260K/tok512.bin"),
        file("refs/stories260K.txt"),
    ) else {
        return;
    };
    let tokenizer = Tokenizer::new(&tokenizer, VOCAB).unwrap();
    let mut model = stories(&bytes);
    let tell = |model: &mut Stories, prompt: &str, count: usize| {
        let mut given = tokenizer.encode(prompt);
        let mut told: Vec<u8> = given.windows(2).flat_map(|pair| tokenizer.decode(pair[0], pair[1])).copied().collect();
        let mut teller = Teller::new(model).unwrap();
        for _ in 0..count {
            let before = *given.last().unwrap();
            let token = teller.next(&given, &mut Sampler::Greedy).unwrap().unwrap();
            told.extend_from_slice(tokenizer.decode(before, token));
            given = vec![token];
        }
        String::from_utf8(told).unwrap()
    };
    let expected = String::from_utf8(text).unwrap();
    assert_eq!(tell(&mut model, "", 200), expected.trim_end());
    // A prompt is taken in at once, and the story goes on as it did token by token.
    let prompt = "Once upon a time, there was a little girl named Lily. She loved";
    let told = tell(&mut model, prompt, 40);
    assert!(told.len() > prompt.len() + 40 && expected.starts_with(&told), "{told}");
}

#[test]
fn a_storys_logits_are_those_of_elsewhere() {
    let (Some(bytes), Some(file)) = (file("models/stories260K/stories260K.bin"), shared("refs/stories260K.npz")) else {
        return;
    };
    let mut file = Npz::open(&file);
    let tokens: Vec<i32> = file.array("out_tokens");
    let expected: Vec<f32> = file.array("out_logits16");
    let tokens: Vec<u32> = tokens.iter().take(16).map(|token| *token as u32).collect();
    assert_eq!(tokens[0], BEGIN);
    // One token after the other.
    let mut model = stories(&bytes);
    let mut one_by_one = Vec::new();
    for (position, token) in (0..).zip(&tokens) {
        model.tokens_mut().write(&[*token]).unwrap();
        model.position_mut().write(&position).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        one_by_one.extend_from_slice(outputs.logits().as_slice());
    }
    let off = largest(&one_by_one, &expected);
    assert!(off < 1e-4, "off by {off}");
    // All at once.
    model.reset_state().unwrap();
    model.tokens_mut().write(&tokens).unwrap();
    model.position_mut().write(&0).unwrap();
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    let off = largest(outputs.logits().as_slice(), &expected);
    assert!(off < 1e-4, "off by {off}");
}

#[test]
fn checkpoints_that_are_none_are_refused() {
    let header = [64i32, 172, 5, 8, 4, 512, 512].map(i32::to_le_bytes).concat();
    let text = |bytes: &[u8]| Checkpoint::new(bytes).unwrap_err().to_string();
    assert!(text(&[]).contains("28 bytes"), "{}", text(&[]));
    assert!(text(&header).contains("within `embedding`"), "{}", text(&header));
    let mut other = header.clone();
    other[20..24].copy_from_slice(&(-512i32).to_le_bytes());
    assert!(text(&other).contains("classifier"), "{}", text(&other));
    other.copy_from_slice(&header);
    other[0..4].copy_from_slice(&i32::MAX.to_le_bytes());
    assert!(text(&other).contains("is this a checkpoint"), "{}", text(&other));
    // With and without the tables of rotations, and nothing else behind the weights.
    let config = Config { dim: 64, hidden: 172, layers: 5, heads: 8, kv_heads: 4, vocab: 512, context: 512 };
    let whole = |numbers: usize| [&header[..], &vec![0; 4 * numbers]].concat();
    for numbers in [260_032, 264_128] {
        assert_eq!(Checkpoint::new(&whole(numbers)).unwrap().config, config);
    }
    assert!(text(&whole(260_031)).contains("within `final_norm`"));
    assert!(text(&whole(263_104)).contains("12288 bytes behind its last weight"));
}

#[test]
fn speech_is_found_as_elsewhere() {
    let (Some(weights), Some(reference)) =
        (file("models/silero/silero_vad_openvino_16k.onnx"), shared("refs/silero_vad_jfk.npz"))
    else {
        return;
    };
    let mut reference = Npz::open(&reference);
    let samples: Vec<i16> = reference.array("in_pcm16");
    let expected: Vec<f32> = reference.array("out_prob");
    let state: Vec<f32> = reference.array("out_state");
    let mut model = Silero::new(&Cpu).unwrap();
    silero::load(&mut model, &weights).unwrap();
    let mut found = Vec::new();
    for frame in samples.chunks_exact(512) {
        let frame: [f32; 512] = std::array::from_fn(|at| f32::from(frame[at]) / 32768.0);
        model.samples_mut().write(&[frame]).unwrap();
        found.push(model.forward_with(&mut Poison::default()).unwrap().speech()[0][0]);
    }
    let off = largest(&found, &expected).max(largest(model.memory().as_slice(), &state));
    assert!(found.len() == 343 && off < 1e-4, "off by {off}");
}

#[test]
fn both_files_of_weights_for_speech_load() {
    let (Some(safetensors), Some(onnx)) =
        (file("models/silero/silero_vad_16k.safetensors"), file("models/silero/silero_vad_openvino_16k.onnx"))
    else {
        return;
    };
    let mut model = Silero::new(&Cpu).unwrap();
    silero::load(&mut model, &safetensors).unwrap();
    silero::load(&mut model, &onnx).unwrap();
    for file in [&safetensors[..1000], &onnx[..onnx.len() / 2], b"neither"] {
        assert!(silero::load(&mut model, file).is_err());
    }
}

fn rnnoise() -> Rnnoise {
    let mut model = Rnnoise::new(&Cpu).unwrap();
    model.load(&RnnoiseWeights::new(WEIGHTS).unwrap()).unwrap();
    model
}

#[test]
fn gains_against_noise_are_those_of_elsewhere() {
    let Some(reference) = shared("refs/rnnoise_nn.npz") else { return };
    let mut reference = Npz::open(&reference);
    let features: Vec<f32> = reference.array("in_features");
    let (gains, voice): (Vec<f32>, Vec<f32>) = (reference.array("out_gains"), reference.array("out_vad"));
    let mut model = rnnoise();
    let (mut found_gains, mut found_voice) = (Vec::new(), Vec::new());
    for frame in features.as_chunks::<42>().0 {
        model.features_mut().write(&[*frame]).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        found_gains.extend_from_slice(outputs.gain().as_slice());
        found_voice.extend_from_slice(outputs.voice().as_slice());
    }
    let off = largest(&found_gains, &gains).max(largest(&found_voice, &voice));
    assert!(off < 1e-4, "off by {off}");
}

#[test]
fn noise_is_taken_out_as_elsewhere() {
    let Some(reference) = shared("refs/rnnoise_testing.npz") else { return };
    let mut reference = Npz::open(&reference);
    let (samples, expected): (Vec<i16>, Vec<i16>) = (reference.array("in_pcm16"), reference.array("out_pcm16"));
    let (mut model, mut stream) = (rnnoise(), Stream::default());
    let mut cleaned = Vec::new();
    for frame in samples.as_chunks::<FRAME>().0 {
        let mut out = [0; FRAME];
        stream.clean(&mut model, frame, &mut out).unwrap();
        cleaned.extend_from_slice(&out);
    }
    // The first frame comes out before any was put in.
    let off = cleaned[FRAME..].iter().zip(&expected).map(|(left, right)| left.abs_diff(*right)).max();
    assert_eq!(cleaned.len() - FRAME, expected.len());
    assert!(off.is_some_and(|off| off <= 1), "off by {off:?}");
}
