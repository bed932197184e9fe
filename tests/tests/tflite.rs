//! The reader of TensorFlow Lite files, on the embedded file and on every way to damage it that is one cut or one byte.

use model_graph::{Cpu, DType, ErrorKind, Poison, TfLite, WeightSource};
use model_graph_examples::keywords::{FEATURES, MODEL, QuantizedKeywords, names, weights};

fn told(bytes: &[u8]) -> String {
    let error = TfLite::new(bytes).expect_err("the file is damaged");
    assert!(matches!(error.kind(), ErrorKind::Format(_)));
    error.to_string()
}

#[test]
fn tensors_are_found_by_index_and_by_name() {
    let file = TfLite::new(MODEL).unwrap();
    let find = |name: &str| file.find(name).unwrap();
    let dense = find("16").unwrap();
    assert_eq!((dense.dtype, dense.shape, dense.bytes.len()), (Some(DType::I8), &[12, 64][..], 768));
    assert_eq!(find("functional_1/dense/MatMul"), Some(dense));
    let scale = find("16.scale").unwrap();
    assert_eq!((scale.dtype, scale.shape), (Some(DType::F32), &[][..]));
    assert_eq!(f32::from_le_bytes(scale.bytes.try_into().unwrap()), 0.008_385_755);
    assert_eq!(find("functional_1/dense/MatMul.scale"), Some(scale));
    assert_eq!(find("17.scale").unwrap().shape, [64]);
    let zero = find("33.zero").unwrap();
    assert_eq!((zero.dtype, zero.shape, zero.bytes), (Some(DType::I64), &[][..], &[14, 0, 0, 0, 0, 0, 0, 0][..]));
    // A computed tensor has a scale and no elements; the shape of a reshape is not quantised.
    assert!(find("33").is_none() && find("33.scale").is_some() && find("2").is_some() && find("2.scale").is_none());
    assert!(find("35").is_none() && find("x").is_none() && find("").is_none());
    let mut count = 0;
    file.names(&mut |_| count += 1);
    assert_eq!(count, 21);
    assert_eq!((file.inputs(), file.dtype(0), file.shape(0)), (&[0][..], Some(DType::I8), Some(&[1, 49, 10, 1][..])));
    assert_eq!((file.quantization(0), file.quantization(17)), (Some((0.584_702_9, 83)), None));
}

#[test]
fn other_files_are_refused() {
    assert!(told(b"").contains("TFL3"));
    assert!(told(b"\x93NUMPY..").contains("TFL3"));
    assert!(told(b"\x00\x00\x00\x00TFL3").contains("no graph"));
    assert!(told(b"\xff\xff\xff\xffTFL3").contains("cut off"));
}

/// What a file that was read gives out has as many bytes as its shape says.
fn holds_what_it_says(file: &TfLite<'_>) {
    let mut names = Vec::new();
    file.names(&mut |name| names.push(name.to_owned()));
    for name in names {
        let Some(weight) = file.find(&name).unwrap() else { continue };
        if let Some(dtype) = weight.dtype {
            assert_eq!(weight.shape.iter().product::<usize>() * dtype.size(), weight.bytes.len(), "{name}");
        }
    }
}

#[test]
fn a_file_that_is_cut_off_is_an_error() {
    // The last bytes are the table of the operators, which nobody reads.
    let needed = (0..MODEL.len()).rev().find(|end| TfLite::new(&MODEL[..*end]).is_err()).expect("it needs bytes");
    assert!(MODEL.len() - needed < 512, "{needed}");
    for end in (0..=needed).rev().step_by(7) {
        told(&MODEL[..end]);
    }
}

#[test]
fn a_file_that_lies_is_an_error_or_holds_what_it_says() {
    let mut bytes = MODEL.to_vec();
    for at in 0..bytes.len() {
        for value in [0x00, 0x7f, 0xff, bytes[at] ^ 1] {
            let before = std::mem::replace(&mut bytes[at], value);
            if let Ok(file) = TfLite::new(&bytes) {
                holds_what_it_says(&file);
            }
            bytes[at] = before;
        }
    }
}

#[test]
fn a_shape_that_the_bytes_do_not_hold_names_its_tensor() {
    // The extents of the dense layer's weights, 12 x 64, after their number.
    let pattern = [2u32, 12, 64].map(u32::to_le_bytes).concat();
    let at = MODEL.windows(12).position(|window| window == pattern).expect("they are there");
    let mut bytes = MODEL.to_vec();
    bytes[at + 4] = 13;
    let error = told(&bytes);
    assert!(
        error.contains("functional_1/dense/MatMul") && error.contains("832 bytes") && error.contains("768"),
        "{error}"
    );
    bytes[at + 7] = 0x80;
    assert!(told(&bytes).contains("negative"));
}

/// Runs on what is embedded, wherever the tests are. The outputs were written down when the network agreed with its
/// reference on every input that there is one for.
#[test]
fn the_embedded_file_gives_the_same_everywhere() {
    let (file, names) = (TfLite::new(MODEL).unwrap(), names());
    let mut model = QuantizedKeywords::new(&Cpu).unwrap();
    model.load(&weights(&file, &names)).unwrap();
    let features: Vec<i8> = (0..FEATURES).map(|at| (at * at / 7 % 251) as u8 as i8).collect();
    let outputs = [None, Some(0xff), Some(0x00)].map(|byte| {
        model.features_mut().write_slice(&features).unwrap();
        match byte {
            None => model.forward().unwrap().probabilities()[0],
            Some(byte) => model.forward_with(&mut Poison { byte }).unwrap().probabilities()[0],
        }
    });
    assert_eq!(outputs, [[-128, -128, -128, -128, -128, -128, -128, -128, -128, 126, -128, -126]; 3]);
}
