//! Other networks of integers, written in the language, against the outputs of TensorFlow Lite: residuals, a depthwise
//! convolution with several filters for each channel, an autoencoder, and a network that quantises by itself.

use model_graph::{Cpu, Poison, Renamed, TfLite, model_graph};
use model_graph_tests::npz::Npz;
use model_graph_tests::shared;

/// `pretrainedResnet_quant.tflite` of MLPerf Tiny: ResNet-8 on images of 32 x 32.
#[model_graph]
struct Resnet {
    #[input]
    image: Tensor<i8, 1, 32, 32, 3>,
    #[weight(name = "8")]
    w8: Tensor<i8, 16, 3, 3, 3>,
    #[weight(name = "8.scale")]
    ws8: Tensor<f32, 16>,
    #[weight(name = "3")]
    b3: Tensor<i32, 16>,
    #[weight(name = "9")]
    w9: Tensor<i8, 16, 3, 3, 16>,
    #[weight(name = "9.scale")]
    ws9: Tensor<f32, 16>,
    #[weight(name = "4")]
    b4: Tensor<i32, 16>,
    #[weight(name = "10")]
    w10: Tensor<i8, 16, 3, 3, 16>,
    #[weight(name = "10.scale")]
    ws10: Tensor<f32, 16>,
    #[weight(name = "17")]
    b17: Tensor<i32, 16>,
    #[weight(name = "11")]
    w11: Tensor<i8, 32, 3, 3, 16>,
    #[weight(name = "11.scale")]
    ws11: Tensor<f32, 32>,
    #[weight(name = "5")]
    b5: Tensor<i32, 32>,
    #[weight(name = "12")]
    w12: Tensor<i8, 32, 3, 3, 32>,
    #[weight(name = "12.scale")]
    ws12: Tensor<f32, 32>,
    #[weight(name = "18")]
    b18: Tensor<i32, 32>,
    #[weight(name = "13")]
    w13: Tensor<i8, 32, 1, 1, 16>,
    #[weight(name = "13.scale")]
    ws13: Tensor<f32, 32>,
    #[weight(name = "19")]
    b19: Tensor<i32, 32>,
    #[weight(name = "14")]
    w14: Tensor<i8, 64, 3, 3, 32>,
    #[weight(name = "14.scale")]
    ws14: Tensor<f32, 64>,
    #[weight(name = "6")]
    b6: Tensor<i32, 64>,
    #[weight(name = "15")]
    w15: Tensor<i8, 64, 3, 3, 64>,
    #[weight(name = "15.scale")]
    ws15: Tensor<f32, 64>,
    #[weight(name = "20")]
    b20: Tensor<i32, 64>,
    #[weight(name = "16")]
    w16: Tensor<i8, 64, 1, 1, 32>,
    #[weight(name = "16.scale")]
    ws16: Tensor<f32, 64>,
    #[weight(name = "21")]
    b21: Tensor<i32, 64>,
    #[weight(name = "0.scale")]
    s0: Tensor<f32>,
    #[weight(name = "22.scale")]
    s22: Tensor<f32>,
    #[weight(name = "23.scale")]
    s23: Tensor<f32>,
    #[weight(name = "24.scale")]
    s24: Tensor<f32>,
    #[weight(name = "25.scale")]
    s25: Tensor<f32>,
    #[weight(name = "26.scale")]
    s26: Tensor<f32>,
    #[weight(name = "27.scale")]
    s27: Tensor<f32>,
    #[weight(name = "28.scale")]
    s28: Tensor<f32>,
    #[weight(name = "29.scale")]
    s29: Tensor<f32>,
    #[weight(name = "30.scale")]
    s30: Tensor<f32>,
    #[weight(name = "31.scale")]
    s31: Tensor<f32>,
    #[weight(name = "32.scale")]
    s32: Tensor<f32>,
    #[weight(name = "33.scale")]
    s33: Tensor<f32>,
    #[weight(name = "34.scale")]
    s34: Tensor<f32>,
    #[weight(name = "36.scale")]
    s36: Tensor<f32>,
    #[weight(name = "7")]
    w7: Tensor<i8, 10, 64>,
    #[weight(name = "7.scale")]
    ws7: Tensor<f32>,
    #[weight(name = "1")]
    b1: Tensor<i32, 10>,
    #[node(q_conv2d(image, w8, s0, ws8, s22, b3, padding = same, x_zero = -128, y_zero = -128))]
    t22: _,
    #[node(q_conv2d(t22, w9, s22, ws9, s23, b4, padding = same, x_zero = -128, y_zero = -128))]
    t23: _,
    #[node(q_conv2d(t23, w10, s23, ws10, s24, b17, padding = same, x_zero = -128, y_zero = 4))]
    t24: _,
    #[node(q_add(t22, t24, s22, s24, s25, a_zero = -128, b_zero = 4, y_zero = -128))]
    t25: _,
    #[node(q_conv2d(t25, w11, s25, ws11, s26, b5, stride = 2, padding = same, x_zero = -128, y_zero = -128))]
    t26: _,
    #[node(q_conv2d(t26, w12, s26, ws12, s27, b18, padding = same, x_zero = -128, y_zero = 4))]
    t27: _,
    #[node(q_conv2d(t25, w13, s25, ws13, s28, b19, stride = 2, padding = same, x_zero = -128, y_zero = -17))]
    t28: _,
    #[node(q_add(t28, t27, s28, s27, s29, a_zero = -17, b_zero = 4, y_zero = -128))]
    t29: _,
    #[node(q_conv2d(t29, w14, s29, ws14, s30, b6, stride = 2, padding = same, x_zero = -128, y_zero = -128))]
    t30: _,
    #[node(q_conv2d(t30, w15, s30, ws15, s31, b20, padding = same, x_zero = -128, y_zero = -2))]
    t31: _,
    #[node(q_conv2d(t29, w16, s29, ws16, s32, b21, stride = 2, padding = same, x_zero = -128, y_zero = 38))]
    t32: _,
    #[node(q_add(t32, t31, s32, s31, s33, a_zero = 38, b_zero = -2, y_zero = -128))]
    t33: _,
    #[node(q_linear(flatten(q_avg_pool2d(t33, kernel = 8)), w7, s34, ws7, s36, b1, x_zero = -128, y_zero = 24))]
    scores: Tensor<i8, 1, 10>,
    #[output(q_softmax(scores, s36))]
    probabilities: _,
}

/// A layer of `ad01_int8.tflite`; relu is the range.
#[model_graph(dims(K = _, N = _))]
struct Layer {
    #[input]
    x: Tensor<i8, 1, K>,
    #[weight]
    w: Tensor<i8, N, K>,
    #[weight]
    b: Tensor<i32, N>,
    #[weight]
    x_scale: Tensor<f32>,
    #[weight]
    w_scale: Tensor<f32>,
    #[weight]
    y_scale: Tensor<f32>,
    #[output(q_linear(x, w, x_scale, w_scale, y_scale, b, x_zero = -128, y_zero = -128))]
    y: _,
}

/// `ad01_int8.tflite` of MLPerf Tiny: an autoencoder of spectra, quantised within the network.
#[model_graph]
struct Autoencoder {
    #[input]
    frame: Tensor<f32, 1, 640>,
    #[node(quantize(frame, 0.3910152316093445, zero = 89))]
    x: _,
    #[weight(name = "11")]
    w: Tensor<i8, 128, 640>,
    #[weight(name = "1")]
    b: Tensor<i32, 128>,
    #[weight(name = "11.scale")]
    w_scale: Tensor<f32>,
    #[weight(name = "21.scale")]
    y_scale: Tensor<f32>,
    #[node(q_linear(x, w, 0.3910152316093445, w_scale, y_scale, b, x_zero = 89, y_zero = -128))]
    first: _,
    #[chain(first, K = 128, N = 128)]
    before: [Layer; 3],
    #[node(Layer<K = 128, N = 8>(before))]
    narrow: _,
    #[node(Layer<K = 8, N = 128>(narrow))]
    wide: _,
    #[chain(wide, K = 128, N = 128)]
    after: [Layer; 3],
    #[weight(name = "20")]
    last: Tensor<i8, 640, 128>,
    #[weight(name = "10")]
    last_bias: Tensor<i32, 640>,
    #[weight(name = "20.scale")]
    last_scale: Tensor<f32>,
    #[weight(name = "29.scale")]
    x_scale: Tensor<f32>,
    #[weight(name = "30.scale")]
    recon_scale: Tensor<f32>,
    #[output(q_linear(after, last, x_scale, last_scale, recon_scale, last_bias, x_zero = -128, y_zero = 96))]
    recon: _,
}

/// `hello_world_int8.tflite` of TensorFlow Lite Micro: a sine, numbers in and out.
#[model_graph]
struct Sine {
    #[input]
    x: Tensor<f32, 1, 1>,
    #[weight(name = "0.scale")]
    s0: Tensor<f32>,
    #[weight(name = "7.scale")]
    s7: Tensor<f32>,
    #[weight(name = "8.scale")]
    s8: Tensor<f32>,
    #[weight(name = "9.scale")]
    s9: Tensor<f32>,
    #[weight(name = "6")]
    w6: Tensor<i8, 16, 1>,
    #[weight(name = "6.scale")]
    ws6: Tensor<f32>,
    #[weight(name = "5")]
    b5: Tensor<i32, 16>,
    #[weight(name = "4")]
    w4: Tensor<i8, 16, 16>,
    #[weight(name = "4.scale")]
    ws4: Tensor<f32>,
    #[weight(name = "3")]
    b3: Tensor<i32, 16>,
    #[weight(name = "2")]
    w2: Tensor<i8, 1, 16>,
    #[weight(name = "2.scale")]
    ws2: Tensor<f32>,
    #[weight(name = "1")]
    b1: Tensor<i32, 1>,
    #[node(q_linear(quantize(x, s0, zero = -128), w6, s0, ws6, s7, b5, x_zero = -128, y_zero = -128))]
    first: _,
    #[node(q_linear(first, w4, s7, ws4, s8, b3, x_zero = -128, y_zero = -128))]
    second: _,
    #[node(q_linear(second, w2, s8, ws2, s9, b1, x_zero = -128, y_zero = 5))]
    third: _,
    #[output(dequantize(third, s9, zero = 5))]
    y: _,
}

/// A block of MobileNet in `person_detect.tflite`: all scales but the last are that of relu6, whose ends are the range's.
#[model_graph(dims(SIZE = _, C = _, O = _, STRIDE = _))]
struct Mobile {
    #[input]
    x: Tensor<i8, 1, SIZE, SIZE, C>,
    #[weight]
    depthwise: Tensor<i8, 1, 3, 3, C>,
    #[weight]
    depthwise_scale: Tensor<f32, C>,
    #[weight]
    depthwise_bias: Tensor<i32, C>,
    #[weight]
    pointwise: Tensor<i8, O, 1, 1, C>,
    #[weight]
    pointwise_scale: Tensor<f32, O>,
    #[weight]
    pointwise_bias: Tensor<i32, O>,
    #[weight]
    y_scale: Tensor<f32>,
    #[node(q_depthwise_conv2d(
        x, depthwise, 0.0235294122248888, depthwise_scale, 0.0235294122248888, depthwise_bias,
        stride = STRIDE, padding = same, x_zero = -128, y_zero = -128
    ))]
    filtered: _,
    #[output(q_conv2d(
        filtered, pointwise, 0.0235294122248888, pointwise_scale, y_scale, pointwise_bias,
        x_zero = -128, y_zero = -128
    ))]
    y: _,
}

/// `person_detect.tflite` of TensorFlow Lite Micro: MobileNet of a quarter's width on grey images.
#[model_graph]
struct Person {
    #[input]
    image: Tensor<i8, 1, 96, 96, 1>,
    #[weight(name = "88.scale")]
    image_scale: Tensor<f32>,
    #[weight(name = "0")]
    first: Tensor<i8, 1, 3, 3, 8>,
    #[weight(name = "0.scale")]
    first_scale: Tensor<f32, 8>,
    #[weight(name = "33")]
    first_bias: Tensor<i32, 8>,
    #[node(q_depthwise_conv2d(
        image, first, image_scale, first_scale, 0.0235294122248888, first_bias,
        stride = 2, padding = same, x_zero = -1, y_zero = -128
    ))]
    b0: _,
    #[node(Mobile<SIZE = 48, C = 8, O = 16, STRIDE = 1>(b0))]
    b1: _,
    #[node(Mobile<SIZE = 48, C = 16, O = 32, STRIDE = 2>(b1))]
    b2: _,
    #[node(Mobile<SIZE = 24, C = 32, O = 32, STRIDE = 1>(b2))]
    b3: _,
    #[node(Mobile<SIZE = 24, C = 32, O = 64, STRIDE = 2>(b3))]
    b4: _,
    #[node(Mobile<SIZE = 12, C = 64, O = 64, STRIDE = 1>(b4))]
    b5: _,
    #[node(Mobile<SIZE = 12, C = 64, O = 128, STRIDE = 2>(b5))]
    b6: _,
    #[chain(b6, SIZE = 6, C = 128, O = 128, STRIDE = 1)]
    middle: [Mobile; 5],
    #[node(Mobile<SIZE = 6, C = 128, O = 256, STRIDE = 2>(middle))]
    b12: _,
    #[node(Mobile<SIZE = 3, C = 256, O = 256, STRIDE = 1>(b12))]
    b13: _,
    #[weight(name = "30")]
    last: Tensor<i8, 2, 1, 1, 256>,
    #[weight(name = "30.scale")]
    last_scale: Tensor<f32, 2>,
    #[weight(name = "29")]
    last_bias: Tensor<i32, 2>,
    #[weight(name = "27.scale")]
    mean_scale: Tensor<f32>,
    #[weight(name = "28.scale")]
    scores_scale: Tensor<f32>,
    #[node(q_conv2d(
        q_avg_pool2d(b13, kernel = 3, stride = 2), last, mean_scale, last_scale, scores_scale, last_bias,
        x_zero = -128, y_zero = -1
    ))]
    scores: _,
    #[output(q_softmax(flatten(scores), scores_scale))]
    probabilities: _,
}

/// Loads a model from a file under other names.
macro_rules! loaded {
    ($model:ident, $path:literal, $names:expr) => {{
        let Some(path) = shared($path) else { return };
        let bytes = std::fs::read(path).unwrap();
        let file = TfLite::new(&bytes).unwrap();
        let names: Vec<(String, String)> = $names;
        let mut model = $model::new(&Cpu).unwrap();
        model.load(&Renamed::new(&file, &names)).unwrap();
        model
    }};
}

/// An output after a plain run and after poisoned ones, which give the same bits.
macro_rules! run {
    ($model:ident, $input:ident = $value:expr, $output:ident) => {{
        $model.$input().write_slice($value).unwrap();
        let plain = *$model.forward().unwrap().$output();
        for byte in [0xff, 0x00] {
            $model.$input().write_slice($value).unwrap();
            assert_eq!(*$model.forward_with(&mut Poison { byte }).unwrap().$output(), plain);
        }
        plain
    }};
}

/// Compares integers, all of which are equal.
fn equal(what: &str, given: &[i8], expected: &[i8]) {
    assert_eq!(given.len(), expected.len());
    let steps = || given.iter().zip(expected).map(|(a, b)| (i16::from(*a) - i16::from(*b)).abs());
    let (others, most) = (steps().filter(|steps| *steps > 0).count(), steps().max());
    assert_eq!(others, 0, "{what}: of {} outputs, that many differ, by up to {most:?}", given.len());
}

#[test]
fn residuals_agree_with_the_reference() {
    let mut model = loaded!(Resnet, "models/mlperf_tiny/pretrainedResnet_quant.tflite", vec![]);
    let mut file = Npz::open(&shared("refs/mlperf_resnet8.npz").unwrap());
    let image: Vec<u8> = file.array("in_image_u8");
    let image: Vec<i8> = image.iter().map(|pixel| (i16::from(*pixel) - 128) as i8).collect();
    equal("resnet8", &run!(model, image_mut = &image, probabilities)[0], &file.array::<i8>("out_prob_i8"));
}

#[test]
fn an_autoencoder_agrees_with_the_reference() {
    let layer = |path: String, index: usize| {
        let (w, b) = (11 + index, if index == 9 { 10 } else { 1 + index });
        [
            (format!("{path}.w"), w.to_string()),
            (format!("{path}.b"), b.to_string()),
            (format!("{path}.w_scale"), format!("{w}.scale")),
            (format!("{path}.x_scale"), format!("{}.scale", 20 + index)),
            (format!("{path}.y_scale"), format!("{}.scale", 21 + index)),
        ]
    };
    let mut names = Vec::new();
    (0..3).for_each(|copy| names.extend(layer(format!("before.{copy}"), 1 + copy)));
    names.extend(layer("narrow".into(), 4));
    names.extend(layer("wide".into(), 5));
    (0..3).for_each(|copy| names.extend(layer(format!("after.{copy}"), 6 + copy)));
    let mut model = loaded!(Autoencoder, "models/mlperf_tiny/ad01_int8.tflite", names);
    let mut file = Npz::open(&shared("refs/mlperf_ad01.npz").unwrap());
    let (frames, expected): (Vec<f32>, Vec<i8>) = (file.array("in_frames"), file.array("out_recon_i8"));
    let mut given = Vec::new();
    for frame in frames.chunks_exact(640) {
        given.extend(run!(model, frame_mut = frame, recon)[0]);
    }
    equal("ad01", &given, &expected);
}

/// The reference is that of the same network in `f32`, so that this is how much is lost to integers of 1/120.
#[test]
fn a_sine_is_close_to_that_of_numbers() {
    let mut model = loaded!(Sine, "models/tflm/hello_world_int8.tflite", vec![]);
    let mut file = Npz::open(&shared("refs/hello_world.npz").unwrap());
    let (x, expected): (Vec<f32>, Vec<f32>) = (file.array("in_x"), file.array("out_y"));
    let mut worst = 0f32;
    for (x, expected) in x.iter().zip(expected) {
        worst = worst.max((run!(model, x_mut = &[*x], y)[0][0] - expected).abs());
    }
    println!("hello_world: the largest difference is {worst}");
    assert!(worst < 0.1, "{worst}");
}

#[test]
fn many_filters_for_a_channel_agree_with_the_reference() {
    let layer = |path: String, [dw, db, pw, pb, y]: [usize; 5]| {
        [
            (format!("{path}.depthwise"), dw.to_string()),
            (format!("{path}.depthwise_scale"), format!("{dw}.scale")),
            (format!("{path}.depthwise_bias"), db.to_string()),
            (format!("{path}.pointwise"), pw.to_string()),
            (format!("{path}.pointwise_scale"), format!("{pw}.scale")),
            (format!("{path}.pointwise_bias"), pb.to_string()),
            (format!("{path}.y_scale"), format!("{y}.scale")),
        ]
    };
    let before = [[9, 52, 10, 53, 54], [11, 56, 12, 57, 58], [13, 60, 14, 61, 62]];
    let before = before.into_iter().chain([[15, 64, 16, 65, 66], [17, 68, 18, 69, 70], [19, 72, 20, 73, 74]]);
    let middle =
        [[21, 76, 22, 77, 78], [23, 80, 24, 81, 82], [25, 84, 26, 85, 86], [1, 36, 2, 37, 38], [3, 40, 4, 41, 42]];
    let mut names = Vec::new();
    before.enumerate().for_each(|(at, tensors)| names.extend(layer(format!("b{}", at + 1), tensors)));
    middle.into_iter().enumerate().for_each(|(at, tensors)| names.extend(layer(format!("middle.{at}"), tensors)));
    names.extend(layer("b12".into(), [5, 44, 6, 45, 46]));
    names.extend(layer("b13".into(), [7, 48, 8, 49, 50]));
    let mut model = loaded!(Person, "models/tflm/person_detect.tflite", names);
    let mut file = Npz::open(&shared("refs/person_detect.npz").unwrap());
    let (images, expected): (Vec<i8>, Vec<i8>) = (file.array("in_image_i8"), file.array("out_i8"));
    let mut given = Vec::new();
    for image in images.chunks_exact(96 * 96) {
        given.extend(run!(model, image_mut = image, probabilities)[0]);
    }
    equal("person_detect", &given, &expected);
}
