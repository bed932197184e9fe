//! The examples on files that are not what they ask for: each says which file and what is wrong, and fails without a panic.

use std::path::{Path, PathBuf};
use std::process::Command;

use model_graph_examples::{keywords, rnnoise};

/// A folder of files, gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("model-graph-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What an example, which is built beside this test, says: its code and what goes to stderr.
fn run(example: &str, args: &[(&str, &Path)]) -> (Option<i32>, String) {
    let mut folder = std::env::current_exe().unwrap();
    folder.pop();
    let program = folder.with_file_name("examples").join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
    let mut command = Command::new(&program);
    for (option, value) in args {
        command.arg(option).arg(value);
    }
    let output = command.output().unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo test -p model-graph-examples` builds it", program.display())
    });
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Fails unless the example complains of the option's file.
fn refused(example: &str, args: &[(&str, &Path)], option: &str) {
    let (code, said) = run(example, args);
    let file = args.iter().find(|(given, _)| *given == option).unwrap().1;
    let last = said.trim_end().lines().last().unwrap_or_default();
    assert!(code == Some(1) && !said.contains("panicked"), "{example} {args:?}: {code:?}, {said}");
    // What is not right about several weights takes several lines.
    assert!(said.contains(&file.display().to_string()), "{example} {args:?} does not name its file: {last}");
}

/// Files that are nothing, parts of `whole`, and other formats.
fn wrong(folder: &Folder, whole: &[u8]) -> Vec<PathBuf> {
    let mut files = vec![folder.0.join("absent"), folder.0.clone(), folder.file("empty", b"")];
    for (index, end) in [1, 3, 7, 8, 11, 29, 45, whole.len() / 2, whole.len() - 1].into_iter().enumerate() {
        files.push(folder.file(&format!("cut{index}"), &whole[..end.min(whole.len() - 1)]));
    }
    let noise: Vec<u8> = (0..4999u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    files.push(folder.file("noise", &noise));
    files.push(folder.file("ones", &[0xff; 4099]));
    files.push(folder.file("zeros", &[0; 4099]));
    files.push(folder.file("text", b"{\"a\": [1, 2, 3]}\n"));
    files.push(folder.file("object", b"\xff\xff\xff\xff\xff\xff\xff\x7f{\"a\":"));
    files.push(folder.file("deep", &[b'['; 5001]));
    files.push(folder.file("huge.npy", &npy("<f4", "(4294967296, 4294967296, 10, 1)", b"")));
    files.push(folder.file("long.npy", &npy("<f4", "(1152921504606846976, 49, 10, 1)", &[0; 9])));
    files
}

fn npy(element: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': {shape}}}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn wav(channels: u16, samples: usize) -> Vec<u8> {
    let data = 2 * samples as u32;
    let mut wav = b"RIFF".to_vec();
    wav.extend((36 + data).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16u32.to_le_bytes());
    wav.extend([1, channels].map(u16::to_le_bytes).as_flattened());
    wav.extend([16_000, 32_000 * u32::from(channels)].map(u32::to_le_bytes).as_flattened());
    wav.extend([2 * channels, 16].map(u16::to_le_bytes).as_flattened());
    wav.extend(b"data");
    wav.extend(data.to_le_bytes());
    wav.resize(44 + data as usize, 0);
    wav
}

#[test]
fn keywords_refuses() {
    let folder = Folder::new("keywords");
    // What the file ends with is nothing that the network asks for.
    for file in wrong(&folder, &keywords::MODEL[..keywords::MODEL.len() - 4096]) {
        refused("keywords", &[("--model", &file)], "--model");
    }
    let whole = npy("<f4", "(2, 49, 10, 1)", &[0; 2 * 490 * 4]);
    let mut files = wrong(&folder, &whole);
    for (name, bytes) in [
        ("shape", npy("<f4", "(2, 490)", &[0; 2 * 490 * 4])),
        ("none", npy("<f4", "(0, 49, 10, 1)", b"")),
        ("double", npy("<f8", "(1, 49, 10, 1)", &[0; 490 * 8])),
        ("cut_front", whole[1..].to_vec()),
    ] {
        files.push(folder.file(name, &bytes));
    }
    for file in files {
        refused("keywords", &[("--input", &file)], "--input");
    }
    let file = folder.file("whole", &whole);
    assert_eq!(run("keywords", &[("--input", &file)]).0, Some(0));
    // A zero that the network does not have.
    let mut other = keywords::MODEL.to_vec();
    let source = model_graph::TfLite::new(keywords::MODEL).unwrap();
    let zero = model_graph::WeightSource::find(&source, "33.zero").unwrap().unwrap().bytes;
    other[zero.as_ptr().addr() - keywords::MODEL.as_ptr().addr()] = 15;
    let file = folder.file("zero", &other);
    let (code, said) = run("keywords", &[("--model", &file)]);
    assert!(code == Some(1) && said.contains("tensor 33 of the file has the zero 15"), "{said}");
}

#[test]
fn rnnoise_refuses() {
    let folder = Folder::new("rnnoise");
    for file in wrong(&folder, &npy("<f4", "(2, 42)", &[0; 2 * 42 * 4])) {
        refused("rnnoise", &[("--features", &file)], "--features");
    }
    let out = folder.0.join("out");
    let fine = folder.file("fine", &[0; 4 * rnnoise::FRAME]);
    for (name, bytes) in
        [("short", &[0; 4 * rnnoise::FRAME - 2][..]), ("odd", &[0; 4 * rnnoise::FRAME + 1]), ("none", b"")]
    {
        let file = folder.file(name, bytes);
        refused("rnnoise", &[("--in", &file), ("--out", &out)], "--in");
    }
    let file = folder.file("wav", &wav(1, 2 * rnnoise::FRAME));
    refused("rnnoise", &[("--in", &file), ("--out", &out)], "--in");
    refused("rnnoise", &[("--in", &folder.0), ("--out", &out)], "--in");
    refused("rnnoise", &[("--in", &fine), ("--out", &folder.0)], "--out");
    assert_eq!(run("rnnoise", &[("--in", &fine), ("--out", &out)]).0, Some(0));
    assert_eq!(std::fs::read(&out).unwrap().len(), 2 * rnnoise::FRAME);
}

#[test]
fn silero_refuses() {
    let folder = Folder::new("silero");
    let fine = folder.file("fine.wav", &wav(1, 600));
    // A whole file of this form has other weights.
    let header = br#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let weights = [&(header.len() as u64).to_le_bytes()[..], header, &[0; 8]].concat();
    for file in wrong(&folder, &weights).into_iter().chain([folder.file("other", &weights)]) {
        refused("silero", &[("--weights", &file), ("--wav", &fine)], "--weights");
    }
    let weights = folder.file("weights", &weights);
    let mut files = wrong(&folder, &wav(1, 600));
    files.push(folder.file("none.wav", &wav(1, 0)));
    files.push(folder.file("two.wav", &wav(2, 600)));
    let mut odd = wav(1, 600);
    odd[34] = 0;
    files.push(folder.file("bits.wav", &odd));
    for file in files {
        refused("silero", &[("--weights", &weights), ("--wav", &file)], "--wav");
    }
}

/// A checkpoint of the form that `stories` is for, of zeros, and a tokenizer.
fn story() -> [Vec<u8>; 2] {
    let [dim, hidden, layers, heads, kv, vocab, context] = [64usize, 172, 5, 8, 4, 512, 512];
    let mut checkpoint: Vec<u8> = [dim, hidden, layers, heads, kv, vocab, context]
        .iter()
        .flat_map(|number| (*number as u32).to_le_bytes())
        .collect();
    let layer = 2 * dim + 2 * dim * dim + 2 * dim * (dim / heads * kv) + 3 * dim * hidden;
    checkpoint.resize(28 + 4 * (vocab * dim + layers * layer + dim), 0);
    let mut tokenizer = 8u32.to_le_bytes().to_vec();
    for token in 0..vocab {
        let piece = format!("t{token}");
        tokenizer.extend(0f32.to_le_bytes());
        tokenizer.extend((piece.len() as u32).to_le_bytes());
        tokenizer.extend(piece.bytes());
    }
    [checkpoint, tokenizer]
}

#[test]
fn stories_refuses() {
    let folder = Folder::new("stories");
    let [checkpoint, tokenizer] = story();
    let [model, pieces] = [folder.file("model", &checkpoint), folder.file("pieces", &tokenizer)];
    let mut files = wrong(&folder, &checkpoint);
    files.push(folder.file("longer", &[&checkpoint[..], &[0; 4]].concat()));
    // Other numbers in the header: no heads, other heads, more layers, fewer tokens, a classifier apart.
    for (at, number) in
        [(3, 0), (3, 4), (4, 8), (4, 3), (2, 6), (2, 4), (5, 511), (5, 100), (5, -512i32), (0, i32::MAX)]
    {
        let mut other = checkpoint.clone();
        other[4 * at..][..4].copy_from_slice(&number.to_le_bytes());
        files.push(folder.file(&format!("header{at}={number}"), &other));
    }
    for file in files {
        // With fewer tokens it is the tokenizer that does not fit, or the file that goes on.
        refused("stories", &[("--model", &file), ("--tokenizer", &pieces)], "--model");
    }
    let mut files = wrong(&folder, &tokenizer);
    files.push(folder.file("more", &[&tokenizer[..], &[0; 12]].concat()));
    for file in files {
        refused("stories", &[("--model", &model), ("--tokenizer", &file)], "--tokenizer");
    }
    let args = [("--model", model.as_path()), ("--tokenizer", pieces.as_path())];
    for (option, value) in [("--temperature", "-1"), ("--temperature", "NaN"), ("--tokens", "-1"), ("--seed", "x")] {
        let (code, said) = run("stories", &[args[0], args[1], (option, Path::new(value))]);
        assert!(code == Some(1) && !said.contains("panicked"), "{option} {value}: {said}");
    }
    let long = "é".repeat(600);
    for (prompt, fine) in [("Once", true), ("é\u{10ffff}", true), ("", true), (long.as_str(), false)] {
        let (code, said) =
            run("stories", &[args[0], args[1], ("--prompt", Path::new(prompt)), ("--tokens", Path::new("2"))]);
        assert_eq!(code, Some(i32::from(!fine)), "{said}");
    }
}
