//! The MNIST network of burn's examples, written in the language: its own weights, its own reference outputs.

use model_graph::{Cpu, Poison, SafeTensors, model_graph};
use model_graph_examples::onnx::Onnx;
use model_graph_tests::npz::Npz;
use model_graph_tests::shared;

/// Three convolutions, two dense layers, two batch norms; the normalised digit in, logarithms of probabilities out.
#[model_graph(dims(N = 1))]
struct Mnist {
    #[input]
    image: Tensor<f32, N, 1, 28, 28>,
    #[weight(name = "conv1.weight")]
    w1: Tensor<f32, 8, 1, 3, 3>,
    #[weight(name = "conv1.bias")]
    b1: Tensor<f32, 8>,
    #[weight(name = "conv2.weight")]
    w2: Tensor<f32, 16, 8, 3, 3>,
    #[weight(name = "conv2.bias")]
    b2: Tensor<f32, 16>,
    #[weight(name = "conv3.weight")]
    w3: Tensor<f32, 24, 16, 3, 3>,
    #[weight(name = "conv3.bias")]
    b3: Tensor<f32, 24>,
    #[weight(name = "norm1.weight")]
    scale1: Tensor<f32, 24>,
    #[weight(name = "norm1.bias")]
    shift1: Tensor<f32, 24>,
    #[weight(name = "norm1.running_mean")]
    mean1: Tensor<f32, 24>,
    #[weight(name = "norm1.running_var")]
    var1: Tensor<f32, 24>,
    #[weight(name = "fc1.weight")]
    w4: Tensor<f32, 32, 11616>,
    #[weight(name = "fc1.bias")]
    b4: Tensor<f32, 32>,
    #[weight(name = "fc2.weight")]
    w5: Tensor<f32, 10, 32>,
    #[weight(name = "fc2.bias")]
    b5: Tensor<f32, 10>,
    #[weight(name = "norm2.weight")]
    scale2: Tensor<f32, 10>,
    #[weight(name = "norm2.bias")]
    shift2: Tensor<f32, 10>,
    #[weight(name = "norm2.running_mean")]
    mean2: Tensor<f32, 10>,
    #[weight(name = "norm2.running_var")]
    var2: Tensor<f32, 10>,
    #[node(relu(conv2d(image, w1, b1)))]
    conv1: _,
    #[node(relu(conv2d(conv1, w2, b2)))]
    conv2: _,
    #[node(batch_norm(relu(conv2d(conv2, w3, b3)), scale1, shift1, mean1, var1))]
    conv3: Tensor<f32, N, 24, 22, 22>,
    #[node(relu(matmul(flatten(conv3), transpose(w4)) + b4))]
    hidden: _,
    #[node(batch_norm(matmul(hidden, transpose(w5)) + b5, scale2, shift2, mean2, var2))]
    scores: _,
    #[output(log_softmax(scores))]
    logits: Tensor<f32, N, 10>,
}

/// Digits, normalised as the network was trained, their labels and the logits.
type Reference = (Vec<Vec<f32>>, Vec<u8>, Vec<f32>);

fn reference() -> Option<Reference> {
    let mut file = Npz::open(&shared("refs/mnist_burn.npz")?);
    let digits: Vec<u8> = file.array("in_digits");
    let labels = file.array("in_labels");
    let logits = file.array("out_logits");
    let normal = |x: &u8| (f32::from(*x) / 255.0 - 0.1307) / 0.3081;
    let images = digits.chunks_exact(784).map(|digit| digit.iter().map(normal).collect()).collect();
    Some((images, labels, logits))
}

/// Runs every digit, the first ones with poison as well.
fn run(model: &mut Mnist, images: &[Vec<f32>]) -> Vec<[f32; 10]> {
    let logits = |(index, image): (usize, &Vec<f32>)| {
        model.image_mut().write_slice(image).unwrap();
        let given = model.forward().unwrap().logits()[0];
        if index < 3 {
            model.image_mut().write_slice(image).unwrap();
            let poisoned = model.forward_with(&mut Poison::default()).unwrap().logits()[0];
            assert_eq!(poisoned.map(f32::to_bits), given.map(f32::to_bits));
        }
        given
    };
    images.iter().enumerate().map(logits).collect()
}

fn right(logits: &[[f32; 10]], labels: &[u8]) -> usize {
    let best = |logits: &[f32; 10]| (0..10).max_by(|a, b| logits[*a].total_cmp(&logits[*b]));
    logits.iter().zip(labels).filter(|(logits, label)| best(logits) == Some(usize::from(**label))).count()
}

/// The reference logits were computed with the weights of the ONNX file, which are not those of the safetensors file:
/// the two hold different trainings of the network.
#[test]
fn burns_mnist_network_agrees_with_its_reference() {
    let (Some(file), Some((images, labels, expected))) = (shared("models/mnist/burn_mnist.onnx"), reference()) else {
        return;
    };
    let weights = Onnx::new(&std::fs::read(file).unwrap()).unwrap();
    let mut model = Mnist::new(&Cpu).unwrap();
    model.load(&weights).unwrap();
    let given = run(&mut model, &images);
    for (index, (given, expected)) in given.as_flattened().iter().zip(&expected).enumerate() {
        assert!((given - expected).abs() < 1e-4, "digit {}: {given} and not {expected}", index / 10);
    }
    assert_eq!((right(&given, &labels), labels.len()), (109, 110));
}

#[test]
fn burns_mnist_safetensors_load_and_classify() {
    let (Some(file), Some((images, labels, _))) = (shared("models/mnist/burn_mnist.safetensors"), reference()) else {
        return;
    };
    let file = std::fs::read(file).unwrap();
    let mut model = Mnist::new(&Cpu).unwrap();
    model.load(&SafeTensors::new(&file).unwrap()).unwrap();
    let given = run(&mut model, &images);
    println!("{} of {} right", right(&given, &labels), labels.len());
    assert_eq!((right(&given, &labels), labels.len()), (109, 110));
}
