//! WL: weights from files.

use model_graph::{Cpu, ErrorKind, SafeTensors, model_graph};

/// A model of three weights.
#[model_graph]
struct Three {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    a: Tensor<f32, 2>,
    #[weight(name = "ffn.b")]
    b: Tensor<f32, 2>,
    #[weight]
    c: Tensor<f32, 2>,
    #[output(x * a + b * c)]
    y: _,
}

/// A safetensors file of these entries: name, dtype, shape, offsets; then the data.
fn file(entries: &[(&str, &str, &[usize], [usize; 2])], data: &[u8]) -> Vec<u8> {
    let entries: Vec<String> = entries
        .iter()
        .map(|(name, dtype, shape, offsets)| {
            format!("\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":{offsets:?}}}")
        })
        .collect();
    let header = format!("{{{}}}", entries.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes());
    file.extend(data);
    file
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn good() -> Vec<u8> {
    let entries: [(&str, &str, &[usize], [usize; 2]); 3] =
        [("a", "F32", &[2], [0, 8]), ("ffn.b", "F32", &[2], [8, 16]), ("c", "F32", &[2], [16, 24])];
    file(&entries, &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
}

#[test]
fn wl_1_a_shape_that_its_bytes_do_not_hold_is_an_error() {
    let lying = file(&[("t", "F32", &[1000, 1000], [0, 4])], &[0; 4]);
    let error = SafeTensors::new(&lying).err().unwrap().to_string();
    assert!(error.contains("`t`") && error.contains("4000000") && error.contains("gives it 4"), "{error}");
}

#[test]
fn wl_3_a_file_that_was_cut_off_is_an_error_and_loads_nothing() {
    let whole = good();
    let cut = &whole[..whole.len() - 12];
    let error = SafeTensors::new(cut).err().unwrap().to_string();
    assert!(error.contains("`ffn.b`") && error.contains("4 bytes"), "{error}");
    for length in 0..whole.len() {
        assert!(SafeTensors::new(&whole[..length]).is_err(), "cut at {length}");
    }
}

#[test]
fn wl_4_every_missing_and_unused_name_is_told_at_once_and_nothing_changes() {
    let mut model = Three::new(&Cpu).unwrap();
    model.a_mut().write(&[7.0, 7.0]).unwrap();
    let entries: [(&str, &str, &[usize], [usize; 2]); 3] =
        [("a", "F32", &[2], [0, 8]), ("ffn.b_exps", "F32", &[2], [8, 16]), ("c", "F32", &[1, 2], [16, 24])];
    let other = file(&entries, &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let error = model.load(&SafeTensors::new(&other).unwrap()).err().unwrap();
    let ErrorKind::Weights(complaints) = error.kind() else { panic!("{error}") };
    assert_eq!(complaints.missing, ["ffn.b"]);
    assert_eq!(complaints.unused, ["ffn.b_exps"]);
    assert_eq!(complaints.renamed, [("ffn.b", String::from("ffn.b_exps"))]);
    assert!(complaints.tied.is_empty(), "a weight under another name is not tied");
    assert!(complaints.wrong.len() == 1 && complaints.wrong[0].contains("[1, 2]"), "{error}");
    assert_eq!(*model.a(), [7.0, 7.0], "a failed load changes nothing");
}

/// An output layer that is tied to the embedding by using it twice.
#[model_graph]
struct Tied {
    #[input]
    x: Tensor<f32, 1, 2>,
    #[weight]
    e: Tensor<f32, 3, 2>,
    #[output(matmul(x, transpose(e)))]
    y: _,
}

/// The same without the tie.
#[model_graph]
struct Untied {
    #[input]
    x: Tensor<f32, 1, 2>,
    #[weight(name = "embed.weight")]
    e: Tensor<f32, 3, 2>,
    #[weight(name = "head.weight")]
    h: Tensor<f32, 3, 2>,
    #[output(matmul(x, transpose(h)) + sum(e))]
    y: _,
}

#[test]
fn wl_5_tied_weights_are_one_tensor_and_a_missing_twin_is_suggested() {
    let only = file(&[("e", "F32", &[3, 2], [0, 24])], &floats(&[1.0; 6]));
    Tied::new(&Cpu).unwrap().load(&SafeTensors::new(&only).unwrap()).unwrap();
    let only = file(&[("embed.weight", "F32", &[3, 2], [0, 24])], &floats(&[1.0; 6]));
    let only = SafeTensors::new(&only).unwrap();
    let error = Untied::new(&Cpu).unwrap().load(&only).err().unwrap().to_string();
    assert!(error.contains("missing: head.weight") && error.contains("use `embed.weight` in both places"), "{error}");
}

#[test]
fn weights_that_are_alike_are_no_twins() {
    let entries: [(&str, &str, &[usize], [usize; 2]); 2] = [("a", "F32", &[2], [0, 8]), ("c", "F32", &[2], [8, 16])];
    let two = file(&entries, &floats(&[1.0; 4]));
    let error = Three::new(&Cpu).unwrap().load(&SafeTensors::new(&two).unwrap()).err().unwrap();
    let ErrorKind::Weights(complaints) = error.kind() else { panic!("{error}") };
    assert_eq!((&complaints.missing[..], &complaints.tied[..]), (&["ffn.b"][..], &[][..]));
}

#[test]
fn wl_6_data_may_start_at_any_address() {
    let whole = good();
    for shift in 0..4 {
        let mut moved = vec![0; shift];
        moved.extend(&whole);
        let mut model = Three::new(&Cpu).unwrap();
        model.load(&SafeTensors::new(&moved[shift..]).unwrap()).unwrap();
        assert_eq!((*model.a(), *model.b(), *model.c()), ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0]));
        model.x_mut().write(&[1.0, 1.0]).unwrap();
        assert_eq!(*model.forward().unwrap().y(), [16.0, 26.0]);
    }
}
