//! Weights of blocks in files: by path.

use model_graph::{Cpu, ErrorKind, SafeTensors, model_graph};

#[model_graph(dims(N = 2))]
struct Layer {
    #[input]
    x: Tensor<f32, N>,
    #[weight]
    w: Tensor<f32, N>,
    #[weight(name = "norm.bias")]
    b: Tensor<f32, N>,
    #[output(x * w + b)]
    y: _,
}

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2>,
    #[weight(name = "head.weight")]
    head: Tensor<f32, 2>,
    #[node(Layer(x))]
    first: _,
    #[chain(first)]
    layers: [Layer; 2],
    #[output(layers * head)]
    y: _,
}

/// A safetensors file with vectors of two.
fn file(weights: &[(&str, [f32; 2])]) -> Vec<u8> {
    let entries: Vec<String> = weights
        .iter()
        .enumerate()
        .map(|(at, (name, _))| {
            format!(r#""{name}":{{"dtype":"F32","shape":[2],"data_offsets":[{},{}]}}"#, at * 8, at * 8 + 8)
        })
        .collect();
    let header = format!("{{{}}}", entries.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(weights.iter().flat_map(|(_, values)| values.iter().flat_map(|value| value.to_le_bytes())));
    file
}

const WEIGHTS: [(&str, [f32; 2]); 7] = [
    ("head.weight", [2.0, 3.0]),
    ("first.w", [1.0, 2.0]),
    ("first.norm.bias", [0.5, 0.0]),
    ("layers.0.w", [4.0, 5.0]),
    ("layers.0.norm.bias", [1.0, 1.0]),
    ("layers.1.w", [-1.0, -2.0]),
    ("layers.1.norm.bias", [0.0, 7.0]),
];

#[test]
fn weights_go_by_their_path() {
    let mut model = Model::new(&Cpu).unwrap();
    model.load(&SafeTensors::new(&file(&WEIGHTS)).unwrap()).unwrap();
    assert_eq!((*model.first_w(), *model.first_b()), ([1.0, 2.0], [0.5, 0.0]));
    assert_eq!((*model.layers_w(1), *model.layers_b(1)), ([-1.0, -2.0], [0.0, 7.0]));
    *model.x_mut() = [1.0, -1.0];
    let expected = [-((1.0 + 0.5) * 4.0 + 1.0) * 2.0, ((-2.0 * 5.0 + 1.0) * -2.0 + 7.0) * 3.0];
    assert_eq!(*model.forward().unwrap().y(), expected);
}

#[test]
fn every_missing_weight_is_named() {
    let mut model = Model::new(&Cpu).unwrap();
    let file = file(&WEIGHTS[..5]);
    let error = model.load(&SafeTensors::new(&file).unwrap()).unwrap_err();
    let ErrorKind::Weights(complaints) = error.kind() else { panic!("{error}") };
    assert_eq!(complaints.missing, ["layers.1.w", "layers.1.norm.bias"]);
    assert_eq!(*model.first_w(), [0.0; 2]);
}
