//! The textual form: what a graph prints, and what is said of a text that is none.

use std::rc::Rc;

use expect_test::{expect, expect_file};
use model_graph_planner::op::{self, OPERATORS};
use model_graph_planner::{DType, Graph, NodeId, Options, Role, Shape, Type, plan};

fn round(text: &str) -> Graph {
    let graph = Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(graph.to_string(), text);
    graph
}

#[test]
fn convolutions_and_pools() {
    round(
        "model Grouped
  %0 x: input f32[1x3x8x8]
  %1 w: weight f32[6x1x3x3]
  %2 y: output f32[1x6x4x4] = conv2d(%0, %1, stride = [2, 2], padding = [1, 0, 1, 2], dilation = [1, 1], groups = 3, layout = nchw)
",
    );
    round(
        "model Images
  %0 x: input f32[1x8x8x2]
  %1 w: weight f32[4x3x3x2]
  %2 b: weight f32[4]
  %3 y: node f32[1x6x4x4] = conv2d(%0, %1, %2, stride = [1, 1], padding = [0, 0, 0, 0], dilation = [1, 2], groups = 1, layout = nhwc)
  %4 max: node f32[1x3x2x4] = max_pool2d(%3, kernel = [2, 3], stride = [2, 1], padding = [0, 0, 0, 0], dilation = [1, 1], ceil = true, layout = nhwc)
  %5 avg: node f32[1x6x4x4] = avg_pool2d(%3, kernel = [3, 3], stride = [1, 1], padding = [1, 1, 1, 1], dilation = [1, 1], ceil = false, count_padding = false, layout = nchw)
  %6 all: output f32[1x1x1x4] = global_avg_pool(%4, layout = nhwc)
  %7 \"the rest\": kept node f32[1x6x1x1] = global_avg_pool(%5, layout = nchw)
",
    );
}

#[test]
fn settings_in_the_languages_spelling() {
    round(
        "model Settings
  %0 x: input f32[2x3x4]
  %1 scale: weight f32[4]
  %2 a: node f32[2x3x4] = gelu(%0, approximate = tanh)
  %3 b: node f32[2x3x4] = clamp(%2, low = -0.5)
  %4 c: node f32[2x3x4] = clamp(%3, high = 1e-7)
  %5 d: node f32[2x3x4] = clamp(%4)
  %6 e: node f32[2x3x4] = leaky_relu(%5, slope = 0.01)
  %7 f: node f32[2x3x4] = layer_norm(%6, %1, axis = 2, eps = 1e-5)
  %8 g: node f32[4x3x2] = permute(%7, axes = [2, 1, 0])
  %9 h: node f32[4x6] = flatten(%8, start = 1)
  %10 i: node f32[2x12] = reshape(%9, shape = [2, 12])
  %11 j: node f32[2x4] = slice(%10, axis = 1, start = 2, end = 10, step = 2)
  %12 k: node f32[2x8] = concat(%11, %11, axis = 1)
  %13 l: node f32[2] = sum(%12, axes = [1], keep_dims = false)
  %14 m: node f32[1x1x1] = mean(%0, axes = [0, 1, 2], keep_dims = true)
  %15 n: node f32[2x3x4] = max(%0, axes = [], keep_dims = false)
  %16 o: node f32 = reshape(%14, shape = [])
  %17 p: node f32[2] = identity(%13)
  %18 q: node f32[2] = softmax(%17, axis = 0)
  %19 r: node f32[2] = log_softmax(%18, axis = 0)
  %20 s: node f32[2] = rms_norm(%19, axis = 0, eps = 0.5)
  %21 t: node f32[2x3x4] = batch_norm(%0, %1, %1, %1, %1, axis = 2, eps = 0.001)
  %22 y: output f32[2] = add(%20, %16)
  %23 u: output f32[3x4x4] = pad(%0, before = [0, 1, 0], after = [1, 0, 0], value = -0.5)
  %24 z: output f32[2x3x4] = mul(%21, %15)
",
    );
}

#[test]
fn more_settings_in_the_languages_spelling() {
    round(
        "model More
  %0 x: input f32[2x4x1]
  %1 a: node f32[2x4x1] = elu(%0, alpha = 0.5)
  %2 b: node f32[2x4x1] = hard_sigmoid(%1, slope = 0.2, offset = 0.5)
  %3 c: node f32[2x2x2x1] = split(%2, axis = 1, parts = 2)
  %4 d: node f32[2x2x2] = squeeze(%3, axes = [3])
  %5 e: node f32[2x2x2x1] = expand_dims(%4, axis = 3)
  %6 f: node f32[2x1x1] = min(%4, axes = [1, 2], keep_dims = true)
  %7 g: node f32[2x2] = prod(%4, axes = [1], keep_dims = false)
  %8 h: node f32[2x2] = sum_square(%4, axes = [1], keep_dims = false)
  %9 i: node f32[2x2] = l1(%4, axes = [1], keep_dims = false)
  %10 j: node f32[2x2] = l2(%4, axes = [1], keep_dims = false)
  %11 k: node f32[2x2] = log_sum(%4, axes = [1], keep_dims = false)
  %12 y: output f32[2x2] = log_sum_exp(%4, axes = [1], keep_dims = false)
",
    );
}

#[test]
fn attention_and_positions() {
    round(
        "model Layer
  %0 q: input f32[2x4x8]
  %1 k: input f32[6x2x8]
  %2 at: input u32
  %3 mask: weight f32[2x6]
  %4 r: node f32[2x4x8] = rope(%0, %2, axis = 0, dims = 8, base = 10000.0, pairs = adjacent)
  %5 s: node f32[6x2x8] = rope(%1, %2, axis = 0, dims = 6, base = 500000.0, pairs = halves)
  %6 a: node f32[4x2x8] = permute(%4, axes = [1, 0, 2])
  %7 b: node f32[2x6x8] = permute(%5, axes = [1, 0, 2])
  %8 all: node f32[4x2x8] = attention(%6, %7, %7, causal = false, scale = 0.35355338)
  %9 masked: node f32[4x2x8] = attention(%8, %7, %7, %3, causal = true, scale = 0.5)
  %10 y: output f32[4x2x8] = attention(%9, %7, %7, %2, mask = _, causal = true, scale = 0.5)
  %11 z: output f32[4x2x8] = attention(%9, %7, %7, %3, %2, causal = true, scale = 0.5)
",
    );
}

#[test]
fn recurrent_layers() {
    round(
        "model Steps
  %0 x: input f32[5x2x3]
  %1 s: input f32[2x2x4]
  %2 h: input f32[2x4]
  %3 wi: weight f32[16x3]
  %4 wh: weight f32[16x4]
  %5 b: weight f32[16]
  %6 gi: weight f32[12x3]
  %7 gh: weight f32[12x4]
  %8 ri: weight f32[4x3]
  %9 rh: weight f32[4x4]
  %10 a: output f32[5x2x2x4] = lstm(%0, %1, %3, %4, %5, %5, order = ifgo, reverse = false)
  %11 c: output f32[5x2x2x4] = lstm(%0, %1, %3, %4, order = iofg, reverse = true)
  %12 d: output f32[5x2x4] = gru(%0, %2, %6, %7, reset = after, activation = tanh, order = rzn, reverse = false)
  %13 e: output f32[5x2x4] = gru(%0, %2, %6, %7, reset = before, activation = relu, order = zrn, reverse = true)
  %14 f: output f32[5x2x4] = rnn(%0, %2, %8, %9, activation = relu, reverse = false)
",
    );
}

#[test]
fn sequences_and_transposed_convolutions() {
    round(
        "model Lines
  %0 x: input f32[1x4x16]
  %1 w: weight f32[6x2x3]
  %2 t: weight f32[6x2x3]
  %3 p: weight f32[1x3x2x2]
  %4 a: node f32[1x6x7] = conv1d(%0, %1, stride = 2, padding = [0, 1], dilation = 2, groups = 2, layout = ncl)
  %5 b: node f32[1x6x4] = max_pool1d(%4, kernel = 2, stride = 2, padding = [0, 1], dilation = 1, ceil = true, layout = ncl)
  %6 c: node f32[1x3x4] = avg_pool1d(%5, kernel = 4, stride = 1, padding = [0, 0], dilation = 1, ceil = false, count_padding = true, layout = nlc)
  %7 d: output f32[1x4x14] = conv_transpose1d(%4, %2, stride = 2, padding = [1, 1], output_padding = 1, dilation = 1, groups = 2)
  %8 e: node f32[1x1x3x4] = reshape(%6, shape = [1, 1, 3, 4])
  %9 y: output f32[1x3x5x8] = conv_transpose2d(%8, %3, stride = [2, 2], padding = [1, 0, 0, 0], output_padding = [0, 0], dilation = [1, 1], groups = 1)
",
    );
}

#[test]
fn images_and_groups() {
    round(
        "model Images
  %0 x: input f32[1x8x4x4]
  %1 s: weight f32[8]
  %2 a: node f32[1x8x4x4] = group_norm(%0, %1, %1, groups = 2, eps = 1e-5)
  %3 b: node f32[1x8x4x4] = instance_norm(%2, eps = 0.5)
  %4 c: node f32[1x8x4x4] = lp_norm(%3, axis = 1, p = 1, eps = 1e-12)
  %5 d: node f32[1x2x8x8] = depth_to_space(%4, block = 2, mode = crd, layout = nchw)
  %6 e: node f32[1x1x4x32] = space_to_depth(%5, block = 2, mode = dcr, layout = nhwc)
  %7 f: node f32[1x1x7x33] = pad(%6, before = [0, 0, 1, 1], after = [0, 0, 2, 0], mode = reflect)
  %8 g: node f32[1x1x8x33] = pad(%7, before = [0, 0, 1, 0], after = [0, 0, 0, 0], mode = edge)
  %9 h: node f32[1x1x4x16] = resize(%8, axes = [2, 3], scale = [0.5, 0.5], mode = nearest, coordinates = asymmetric, rounding = floor)
  %10 i: node f32[1x1x4x20] = resize(%9, axes = [3], size = [20], mode = linear, coordinates = half_pixel, exclude_outside = false)
  %11 y: output f32[1x1x8x20] = resize(%10, axes = [2], size = [8], mode = cubic, coordinates = align_corners, cubic = -0.5, exclude_outside = true)
",
    );
}

#[test]
fn element_types_and_lookups() {
    round(
        "model Types
  %0 token: input u32[3]
  %1 table: weight q8_0[5x40]
  %2 up: weight q4_0[4x40]
  %3 x: node f32[3x40] = gather(%1, %0, axis = 0)
  %4 h: node f32[3x4] = linear(%3, %2)
  %5 a: node bf16[3x4] = cast(%4, to = bf16)
  %6 b: output i64[3x1] = arg_max(%5, axis = 1, keep_dims = true, last = false)
  %7 c: output i64[4] = arg_min(%5, axis = 0, keep_dims = false, last = true)
  %8 d: node bf16[3x4] = cum_sum(%5, axis = 0, exclusive = true, reverse = false)
  %9 e: node bf16[3x4] = trilu(%8, part = lower, diagonal = -1)
  %10 f: node bf16[3x4] = trilu(%9, part = upper, diagonal = 2)
  %11 g: output bf16[2x3x4] = broadcast_to(%10, shape = [2, 3, 4])
  %12 i: node i32[3] = cast(%0, to = i32)
  %13 y: output f32[3x6] = one_hot(%12, depth = 6, axis = 1)
  %14 z: output bool[3x4] = greater_equal(%5, %9)
  %15 j: output bf16[3x4] = scatter(%9, %12, %10, axis = 0, reduce = none)
  %16 k: output f32[3x6] = scatter(%13, %12, %13, axis = 0, reduce = max)
",
    );
}

#[test]
fn states_and_their_versions() {
    round(
        "model Cache
  %0 x: input f32[2x4]
  %1 at: input u32
  %2 s: state f32[8x4]
  %3 t: state f32[2x8]
  %4 first: state f32[8x4] = write(%2, %0, at = 3)
  %5 s.write: inner state f32[8x4] = write(%4, %0, %1)
  %6 u: node f32[2x4] = slice(%5, axis = 0, start = 0, end = 2, step = 1)
  %7 v: state f32[2x8] = write(%3, %6, axis = 1, at = 4)
  %8 w: state f32[2x8] = write(%7, %7)
  %9 y: output f32[2x8] = identity(%8)
",
    );
}

#[test]
fn integers_that_stand_for_numbers() {
    round(
        "model Integers
  %0 x: input f32[1x8x8x2]
  %1 w: weight i8[4x3x3x2]
  %2 d: weight i8[1x3x3x4]
  %3 m: weight i8[5x4]
  %4 bias: weight i32[4]
  %5 s: weight f32
  %6 scales: weight f32[4]
  %7 half: input f32
  %8 a: node i8[1x8x8x2] = quantize(%0, %5, zero = -128, axis = 3)
  %9 b: node i8[1x6x6x4] = q_conv2d(%8, %1, %5, %6, %5, %4, stride = [1, 1], padding = [0, 0, 0, 0], dilation = [1, 1], x_zero = -128, y_zero = 3, low = -5, high = 127)
  %10 c: node i8[1x6x6x4] = q_depthwise_conv2d(%9, %2, %5, %5, %5, stride = [1, 1], padding = [1, 1, 1, 1], dilation = [1, 1], x_zero = 3, y_zero = 0, low = -128, high = 127)
  %11 e: node i8[1x6x6x4] = q_add(%9, %10, %5, %5, %5, a_zero = 3, b_zero = 0, y_zero = 127, low = -128, high = 127)
  %12 f: node i8[1x3x3x4] = q_max_pool2d(%11, kernel = [2, 2], stride = [2, 2], padding = [0, 0, 0, 0], low = -128, high = 127)
  %13 g: node i8[1x1x1x4] = q_avg_pool2d(%12, kernel = [3, 3], stride = [1, 1], padding = [0, 0, 0, 0], low = -128, high = 127)
  %14 h: node i8[1x1x1x5] = q_linear(%13, %3, %5, %5, %5, x_zero = 127, y_zero = -1, low = -128, high = 127)
  %15 i: node i8[1x1x1x5] = q_softmax(%14, %5, beta = 0.5)
  %16 y: output f32[1x1x1x5] = dequantize(%15, %5, zero = -128, axis = 3)
  %17 z: output f32[1x6x6x4] = hybrid_conv2d(%0, %1, %5, %6, stride = [1, 1], padding = [0, 0, 0, 0], dilation = [1, 1])
  %18 n: node i8 = quantize(%7, %5, zero = 1)
  %19 o: output f32 = dequantize(%18, %5, zero = 1)
",
    );
}

#[test]
fn no_operator_is_forgotten() {
    // Here and in `fuzz.rs` what an operator prints is read back; a new one has to be written into the tests above.
    let text = include_str!("text.rs");
    for entry in OPERATORS.iter().filter(|entry| !entry.spec.settings.is_empty()) {
        assert!(text.contains(&format!("= {}(%", entry.spec.name)), "`{}` is not in these tests", entry.spec.name);
    }
}

#[test]
fn names_of_any_kind() {
    for name in ["", "0.5", "a b", "\"", "\\", "a\nb\t\r\0", "//", "ö.x", "_", "x-1", "%0", "\u{200b}\u{1f600}é"] {
        let mut graph = Graph::new(name);
        let x = graph.leaf(name, Role::Input, Type { dtype: DType::BF16, shape: Shape::SCALAR }).unwrap();
        graph.node(name, Role::Output, Rc::new(op::Identity {}), &[x]).unwrap();
        let text = graph.to_string();
        assert_eq!(text.lines().count(), 3, "{text}");
        let read = round(&text);
        assert_eq!(read.name, name);
        assert!(read.tensors().all(|(_, tensor)| tensor.name == name));
    }
}

#[test]
fn numbers_keep_their_bits() {
    let mut bits = 1u32;
    for _ in 0..4_000 {
        bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let slope = f32::from_bits(bits);
        if !slope.is_finite() {
            continue;
        }
        let mut graph = Graph::new("Bits");
        let x = graph.leaf("x", Role::Input, Type::f32(Shape::SCALAR)).unwrap();
        graph.node("y", Role::Output, Rc::new(op::LeakyRelu { slope }), &[x]).unwrap();
        let read = round(&graph.to_string());
        let (_, call) = read.nodes().next().unwrap();
        let read = call.op.as_any().downcast_ref::<op::LeakyRelu>().unwrap();
        assert_eq!(read.slope.to_bits(), bits);
    }
}

#[test]
fn the_order_is_part_of_the_form() {
    let graph = round(
        "model Two
  %0 x: input f32[64]
  %1 a: node f32[64] = exp(%0)
  %2 b: node f32 = sum(%0, axes = [0], keep_dims = false)
  %3 y: output f32[64] = mul(%1, %2)
",
    );
    let ids: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
    let other = graph.reordered(&[ids[1], ids[0], ids[2]]).unwrap();
    let text = other.to_string();
    assert!(text.ends_with("mul(%1, %2)\n  order %2, %1, %3\n"), "{text}");
    let read = round(&text);
    let of = |graph: &Graph| plan(graph, &Options::default()).unwrap().with(|plan| plan.to_string());
    assert_eq!(of(&read), of(&other));
    assert_ne!(of(&read), of(&graph));
}

#[test]
fn what_has_no_name_is_part_of_the_form() {
    let named = "model Named
  %0 x: input f32[64x64]
  %1 w: weight f32[64x64]
  %2 y.matmul: node f32[64x64] = matmul(%0, %1)
  %3 y: output f32[64x64] = relu(%2)
";
    let inner = named.replace(": node", ": inner node");
    let [named, inner] = [named, &inner].map(|text| plan(&round(text), &Options::default()).unwrap().steps.len());
    assert_eq!((named, inner), (2, 1), "only what has no name is fused away");
}

#[test]
fn whoever_writes_by_hand_may_leave_things_out() {
    let graph = Graph::parse(
        "// Written by hand.
model Short

%10 x : input f32 [ 4x 3 ]   // four rows
    %7 y: output f32[4x2]=conv(%10)"
            .replace("conv(%10)", "matmul( %10 , %3 )")
            .replace("    %7", "%3 w: weight f32[3x2]\r\n %7")
            .as_str(),
    );
    expect![[r#"
        model Short
          %0 x: input f32[4x3]
          %1 w: weight f32[3x2]
          %2 y: output f32[4x2] = matmul(%0, %1)
    "#]]
    .assert_eq(&graph.unwrap().to_string());
}

/// Texts that are no graph.
const WRONG: &[&str] = &["", "\n// nothing\n", "modell M", "model", "model M N", "model \"M", r#"model "\x""#];

/// Lines that are wrong after those of two leaves, `x` of 2 x 3 and `w` of 4 x 5.
const WRONG_LINES: &[&str] = &[
    "x",
    "%",
    "%0 y: input f32",
    "%2: input f32",
    "%2 y input f32",
    "%2 y: scratch f32",
    "%2 y: kept weight f32",
    "%2 y: input f31",
    "%2 y: input f32[",
    "%2 y: input f32[]",
    "%2 y: input f32[2 3]",
    "%2 y: input f32[1x1x1x1x1x1x1]",
    "%2 y: input f32[99999999999999999999]",
    "%2 y: input f32[9999999999x9999999999]",
    "%2 y: input f32[0x9999999999x9999999999]",
    "%2 y: node f32",
    "%2 y: input f32 = relu(%0)",
    "order %0",
    "%2 y: node f32 = ",
    "%2 y: node f32 = rellu(%0)",
    "%2 y: node f32 = relu %0",
    "%2 y: node f32 = relu(%0",
    "%2 y: node f32 = relu()",
    "%2 y: node f32 = relu(%0, %1)",
    "%2 y: node f32 = relu(%2)",
    "%2 y: node f32 = relu(0.5)",
    "%2 y: node f32 = relu(%0, slope = 1)",
    "%2 y: node f32 = leaky_relu(%0, slop = 1)",
    "%2 y: node f32 = leaky_relu(%0, slope = 1, slope = 2)",
    "%2 y: node f32 = leaky_relu(slope = 1, %0)",
    "%2 y: node f32 = leaky_relu(%0, slope = steep)",
    "%2 y: node f32 = leaky_relu(%0, slope = 1e99)",
    "%2 y: node f32 = leaky_relu(%0, slope = 99999999999999999999)",
    "%2 y: node f32 = leaky_relu(%0, slope = [[1]])",
    "%2 y: node f32 = softmax(%0, axis = 2)",
    "%2 y: node f32 = concat(%0)",
    "%2 y: node f32 = matmul(%0, %1)",
    "%2 y: node f32 = conv2d(%0, %1)",
    "%2 y: node f32[2x4] = relu(%0)",
    "%2 i: input i32[2x3]\n%3 y: node f32[2x3] = sigmoid(%2)",
    "%2 y: node f32[2x3] = relu(%0) // and\n  %3 z: output f32[2x3] = exp(%2)\norder %3, %2",
    "%2 y: node f32[2x3] = relu(%0)\norder %2, %2",
    "%2 y: node f32[2x3] = relu(%0)\norder %2\n%3 b: input f32",
];

#[test]
fn what_is_said_of_a_text_that_is_no_graph() {
    let mut said = String::new();
    let leaves = "model M\n%0 x: input f32[2x3]\n%1 w: weight f32[4x5]\n";
    let lines = WRONG_LINES.iter().map(|lines| (*lines, format!("{leaves}{lines}")));
    for (shown, text) in WRONG.iter().map(|text| (*text, text.to_string())).chain(lines) {
        let error = Graph::parse(&text).unwrap_err();
        said.push_str(&format!("{}\n    {error}\n", shown.trim_end()));
    }
    expect_file!["golden/text_errors.txt"].assert_eq(&said);
}

/// Every text that starts like a good one and stops anywhere, or has one character changed, is read or is an error.
#[test]
fn no_text_makes_it_panic() {
    let text =
        "model \"a\\u{e4}\"\n%0 x: kept input f32[2x3]\n%1 y: output f32[2x3] = clamp(%0, low = -1.5e1)\norder %1\n";
    Graph::parse(text).unwrap();
    for (at, _) in text.char_indices() {
        let _ = Graph::parse(&text[..at]);
        for other in ["", "\"", "\\", "\u{fc}", "[", "9", "-", "x", "\n", "//"] {
            let _ = Graph::parse(&format!("{}{other}{}", &text[..at], &text[at + 1..]));
        }
    }
    // Lists are flat and lines are not nested, so that depth is no concern and length costs only time.
    let long = format!("model M\n%0 x: input f32\n%1 y: node f32 = sum(%0, axes = [{}])", "0, ".repeat(100_000));
    assert!(Graph::parse(&long).is_err());
    assert!(
        Graph::parse(&format!("model M\n%0 x: input f32\n%1 y: node f32 = sum(%0, axes = {}", "[".repeat(100_000)))
            .is_err()
    );
}
