//! Element types in the language: what accessors hand out, casts, numbers beside tensors, comparisons, and weights in
//! blocks.

use model_graph::{
    BlockQ4_0, BlockQ8_0, Bool, Cpu, DType, ErrorKind, SafeTensors, Weight, WeightSource, bf16, dequantise, f16,
    model_graph, quantise,
};

/// Every element type from outside to outside.
#[model_graph]
struct Types {
    #[input]
    half: Tensor<f16, 2, 3>,
    #[input]
    brain: Tensor<bf16, 3>,
    #[input]
    whole: Tensor<i32, 2, 3>,
    #[input]
    small: Tensor<i8, 3>,
    #[input]
    flag: Tensor<bool, 2, 1>,
    #[output(half * 2 + half)]
    tripled: Tensor<f16, 2, 3>,
    #[output(brain as f32 + 0.5)]
    wide: Tensor<f32, 3>,
    #[output(where(flag & (whole > 1), whole % 4, -1))]
    chosen: Tensor<i32, 2, 3>,
    #[output(small + 127)]
    wrapped: Tensor<i8, 3>,
    #[output(!flag)]
    not: Tensor<bool, 2, 1>,
    #[output(half as i8)]
    cut: Tensor<i8, 2, 3>,
    #[output(whole as bf16)]
    rounded: Tensor<bf16, 2, 3>,
    #[output(arg_max(half))]
    best: Tensor<i64, 2>,
}

#[test]
fn every_element_type_goes_in_and_out() {
    let mut model = Types::new(&Cpu).unwrap();
    let half = [[1.0, -2.5, 3.0], [f32::NAN, 65504.0, 0.1]].map(|row| row.map(f16::from_f32));
    model.half_mut().write(&half).unwrap();
    model.brain_mut().write(&[1.0, 2.0, -3.0].map(bf16::from_f32)).unwrap();
    model.whole_mut().write(&[[1, 2, 3], [257, -7, 65537]]).unwrap();
    model.small_mut().write(&[1, -1, 0]).unwrap();
    model.flag_mut().write(&[[Bool::TRUE], [Bool::FALSE]]).unwrap();
    let out = model.forward().unwrap();
    let tripled = out.tripled();
    assert_eq!(tripled[0], [3.0, -7.5, 9.0].map(f16::from_f32));
    assert!(tripled[1][0].is_nan());
    assert_eq!(tripled[1][1], f16::INFINITY);
    assert_eq!(*out.wide(), [1.5, 2.5, -2.5]);
    assert_eq!(*out.chosen(), [[-1, 2, 3], [-1, -1, -1]]);
    assert_eq!(*out.wrapped(), [-128, 126, 127]);
    assert_eq!(*out.not(), [[Bool::FALSE], [Bool::TRUE]]);
    assert_eq!(*out.cut(), [[1, -2, 3], [0, 127, 0]]);
    assert_eq!(out.rounded()[1][2].to_f32(), 65536.0);
    assert_eq!(*out.best(), [2, 0]);
    let flag = Types::PLAN.tensors.iter().find(|tensor| tensor.name == "flag").unwrap();
    assert_eq!((flag.view.dtype, flag.view.span().len()), (DType::Bool, 2));
}

/// A quantised layer and table beside halves.
#[model_graph(dims(VOCAB = 5, D = 40, H = 3))]
struct Quantised {
    #[input]
    token: Tensor<u32, 2>,
    #[weight]
    table: Tensor<q8_0, VOCAB, D>,
    #[weight]
    up: Tensor<q4_0, H, D>,
    #[weight]
    bias: Tensor<f32, H>,
    #[weight]
    half: Tensor<bf16, D, H>,
    #[node(gather(table, token))]
    x: Tensor<f32, 2, D>,
    #[keep]
    #[node(relu(linear(x, up, bias)))]
    hidden: Tensor<f32, 2, H>,
    #[output(linear(hidden, half))]
    y: Tensor<f32, 2, D>,
    #[output(up as f16)]
    seen: Tensor<f16, H, D>,
}

#[test]
fn weights_in_blocks_take_the_bytes_that_ggml_gives_them() {
    let bytes = |name: &str| {
        let tensor = Quantised::PLAN.tensors.iter().find(|tensor| tensor.name == name).unwrap();
        (tensor.view.span().len(), tensor.view.offset)
    };
    // Two blocks a row: 40 elements, filled up to 64.
    assert_eq!((bytes("table").0, bytes("up").0), (5 * 2 * 34, 3 * 2 * 18));
    assert!(Quantised::PLAN.tensors.iter().all(|tensor| tensor.view.offset.is_multiple_of(2)));
    let (mut table, mut up) = ([[BlockQ8_0::default(); 2]; 5], [[BlockQ4_0::default(); 2]; 3]);
    let table_f32: Vec<f32> = (0..200).map(|at| (at % 17) as f32 / 4.0 - 2.0).collect();
    let up_f32: Vec<f32> = (0..120).map(|at| (at % 15) as f32 - 8.0).collect();
    quantise(&table_f32, 40, table.as_flattened_mut()).unwrap();
    quantise(&up_f32, 40, up.as_flattened_mut()).unwrap();
    let mut model = Quantised::new(&Cpu).unwrap();
    model.table_mut().write(&table).unwrap();
    model.up_mut().write(&up).unwrap();
    model.bias_mut().write(&[0.5, -0.5, 0.0]).unwrap();
    model.half_mut().write(&std::array::from_fn(|d| std::array::from_fn(|h| bf16::from_f32((d + h) as f32)))).unwrap();
    model.token_mut().write(&[4, 0]).unwrap();
    let (mut rows, mut columns) = ([0.0; 200], [0.0; 120]);
    dequantise(table.as_flattened(), 40, &mut rows).unwrap();
    dequantise(up.as_flattened(), 40, &mut columns).unwrap();
    let hidden = [4, 0].map(|token| {
        std::array::from_fn::<f32, 3, _>(|h| {
            let sum: f64 = (0..40).map(|d| f64::from(rows[token * 40 + d]) * f64::from(columns[h * 40 + d])).sum();
            ((sum + [0.5, -0.5, 0.0][h]) as f32).max(0.0)
        })
    });
    let out = model.forward().unwrap();
    for (line, expected) in out.y().iter().zip(hidden) {
        for (d, y) in line.iter().enumerate() {
            let exact: f32 = (0..3).map(|h| expected[h] * (d + h) as f32).sum();
            assert!((y - exact).abs() <= 1e-3 * exact.abs().max(1.0), "{y} instead of {exact}");
        }
    }
    assert_eq!(out.seen()[2][39].to_f32(), columns[119]);
    assert!(!format!("{:#}", Quantised::PLAN).is_empty());
}

#[test]
fn an_index_that_is_out_of_range_leaves_the_model_usable() {
    let filled = || {
        let mut model = Quantised::new(&Cpu).unwrap();
        let numbers = |count: i32| (0..count).map(|at| (at * 7 % 23) as f32 - 9.0).collect::<Vec<_>>();
        quantise(&numbers(200), 40, model.table_mut().as_flattened_mut()).unwrap();
        quantise(&numbers(120), 40, model.up_mut().as_flattened_mut()).unwrap();
        model.bias_mut().fill(5000.0);
        model.half_mut().as_flattened_mut().fill(bf16::from_f32(1.0));
        model
    };
    let mut model = filled();
    model.token_mut().write(&[1, 5]).unwrap();
    let error = model.forward().err().unwrap();
    assert_eq!(*error.kind(), ErrorKind::IndexOutOfRange { op: "gather", index: 5, extent: 5 });
    let mut fresh = filled();
    for model in [&mut model, &mut fresh] {
        model.token_mut().write(&[1, 4]).unwrap();
    }
    let (outputs, expected) = (model.forward().unwrap(), fresh.forward().unwrap());
    assert_eq!((outputs.y().as_slice(), *outputs.seen()), (expected.y().as_slice(), *expected.seen()));
    assert!(outputs.y().iter().all(|row| row[0] != 0.0), "{:?}", outputs.y());
}

/// Weights of every element type that a safetensors file has.
#[model_graph]
struct Loaded {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    half: Tensor<f16, 2>,
    #[weight]
    brain: Tensor<bf16, 2>,
    #[weight]
    flag: Tensor<bool, 2>,
    #[weight]
    whole: Tensor<i64, 2>,
    #[output(where(flag, half as f32, brain as f32) * x + (whole as f32))]
    y: Tensor<f32, 2>,
}

fn file(entries: &str, data: &[u8]) -> Vec<u8> {
    [&(entries.len() as u64).to_le_bytes(), entries.as_bytes(), data].concat()
}

#[test]
fn weights_are_read_in_their_element_types() {
    let entries = r#"{"brain":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},
        "flag":{"dtype":"BOOL","shape":[2],"data_offsets":[4,6]},"half":{"dtype":"F16","shape":[2],"data_offsets":[6,10]},
        "whole":{"dtype":"I64","shape":[2],"data_offsets":[10,26]}}"#;
    let mut data: Vec<u8> = [3.0, -4.0].iter().flat_map(|x| bf16::from_f32(*x).to_le_bytes()).collect();
    data.extend([1, 0]);
    data.extend([0.5, 7.0].iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()));
    data.extend([-1i64, 100].iter().flat_map(|x| x.to_le_bytes()));
    let good = file(entries, &data);
    let mut model = Loaded::new(&Cpu).unwrap();
    model.load(&SafeTensors::new(&good).unwrap()).unwrap();
    model.x_mut().write(&[2.0, 3.0]).unwrap();
    assert_eq!(*model.forward().unwrap().y(), [0.0, 88.0]);
    // Of the same size, and another type all the same.
    let other = file(&entries.replace("\"BF16\"", "\"F16\"").replace("\"BOOL\"", "\"U8\""), &data);
    let error = model.load(&SafeTensors::new(&other).unwrap()).unwrap_err().to_string();
    assert!(error.contains("`brain` is f16 and has to be bf16"), "{error}");
    assert!(error.contains("`flag` is u8 and has to be bool"), "{error}");
}

/// A source of one weight in blocks.
struct Blocks(&'static [usize], Vec<u8>);

impl WeightSource for Blocks {
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, model_graph::Error> {
        let weight = Weight { dtype: Some(DType::Q8_0), shape: self.0, bytes: &self.1 };
        Ok((name == "w").then_some(weight))
    }

    fn names(&self, visit: &mut dyn FnMut(&str)) {
        visit("w");
    }
}

#[model_graph]
struct OneRow {
    #[input]
    x: Tensor<f16, 33>,
    #[weight]
    w: Tensor<q8_0, 1, 33>,
    #[output(linear(x, w))]
    y: Tensor<f16, 1>,
}

#[test]
fn blocks_come_from_a_source_as_they_are() {
    let block = BlockQ8_0 { scale: f16::from_f32(0.5), values: std::array::from_fn(|at| at as i8) };
    let mut bytes = bytemuck::bytes_of(&[block; 2]).to_vec();
    let mut model = OneRow::new(&Cpu).unwrap();
    model.load(&Blocks(&[1, 33], bytes.clone())).unwrap();
    model.x_mut().write(&[f16::from_f32(1.0); 33]).unwrap();
    // 0.5 * (0 + 1 + … + 31), and the first of the next block, which is 0; what fills it up counts for nothing.
    assert_eq!(model.forward().unwrap().y()[0].to_f32(), 248.0);
    bytes.truncate(67);
    let error = model.load(&Blocks(&[1, 33], bytes)).unwrap_err().to_string();
    assert!(error.contains("`w` needs 68 bytes and the source has 67"), "{error}");
}

/// Operators whose kernels take f32 alone, on halves.
#[model_graph]
struct Halves {
    #[input]
    x: Tensor<f16, 2, 8>,
    #[weight]
    w: Tensor<f16, 8, 4>,
    #[output(softmax(matmul(x, w) + 1) * 0.5)]
    y: Tensor<f16, 2, 4>,
    #[output(mean(x, axes = 1))]
    mean: Tensor<f16, 2>,
}

#[test]
fn halves_are_computed_with_in_f32() {
    let mut model = Halves::new(&Cpu).unwrap();
    let x: [[f16; 8]; 2] = std::array::from_fn(|i| std::array::from_fn(|k| f16::from_f32((i * 8 + k) as f32 / 8.0)));
    let w: [[f16; 4]; 8] =
        std::array::from_fn(|k| std::array::from_fn(|j| f16::from_f32((k as f32 - j as f32) / 16.0)));
    model.x_mut().write(&x).unwrap();
    model.w_mut().write(&w).unwrap();
    let out = model.forward().unwrap();
    for (i, row) in out.y().iter().enumerate() {
        let logit = |j: usize| (0..8).map(|k| x[i][k].to_f64() * w[k][j].to_f64()).sum::<f64>().exp();
        let total: f64 = (0..4).map(logit).sum();
        for (j, y) in row.iter().enumerate() {
            assert!((y.to_f64() - 0.5 * logit(j) / total).abs() < 2e-3, "{y}");
        }
    }
    assert_eq!(out.mean().map(f16::to_f32), [0.4375, 1.4375]);
    // Sums are made in f32, as the steps show.
    let steps: Vec<&str> = Halves::PLAN.steps.iter().map(|step| step.op).collect();
    assert_eq!(steps.iter().filter(|op| **op == "matmul").count(), 1);
    assert!(steps.contains(&"cast"));
}

/// What only moves elements, and the signs of the language.
#[model_graph(dims(N = 3))]
struct Moved {
    #[input]
    small: Tensor<i8, N>,
    #[input]
    long: Tensor<i64, N>,
    #[input]
    flag: Tensor<bool, N>,
    #[input]
    half: Tensor<f16, 2, N>,
    #[output(concat(small, small[1..], axis = 0))]
    joined: Tensor<i8, 5>,
    #[output(pad(long, before = [1], value = -7))]
    padded: Tensor<i64, 5>,
    #[output(pad(flag, before = [0], after = [1], value = 1))]
    flags: Tensor<bool, 4>,
    #[output(transpose(half))]
    turned: Tensor<f16, N, 2>,
    #[output(broadcast_to(flag, shape = [2, N]) ^ (half == half[1]))]
    same: Tensor<bool, 2, N>,
    #[output(modulo(long, N) | (long & 4))]
    bits: Tensor<i64, N>,
    #[output(long / 0 + (5 as i64) - sum(long))]
    zero: Tensor<i64, N>,
    #[output(where(flag, 1, 0) + gather(half, 0) as f32)]
    chosen: Tensor<f32, N>,
    #[output(maximum(cum_sum(small), -1))]
    running: Tensor<i8, N>,
}

#[test]
fn every_element_type_is_moved_and_joined() {
    let mut model = Moved::new(&Cpu).unwrap();
    model.small_mut().write(&[100, 50, -3]).unwrap();
    model.long_mut().write(&[-1, 1 << 40, 5]).unwrap();
    model.flag_mut().write(&[true, false, true].map(Bool::from)).unwrap();
    let half = [[1.0, 2.0, 3.0], [1.0, 0.0, f32::NAN]].map(|row| row.map(f16::from_f32));
    model.half_mut().write(&half).unwrap();
    let out = model.forward().unwrap();
    assert_eq!(*out.joined(), [100, 50, -3, 50, -3]);
    assert_eq!(*out.padded(), [-7, -1, 1 << 40, 5, -7]);
    assert_eq!(out.flags().map(Bool::get), [true, false, true, true]);
    assert_eq!(out.turned().map(|row| row.map(f16::to_f32))[0..2], [[1.0, 1.0], [2.0, 0.0]]);
    assert_eq!(out.same().map(|row| row.map(Bool::get)), [[false, false, true], [false, true, true]]);
    assert_eq!(*out.bits(), [2 | 4, (1i64 << 40).rem_euclid(3), 2 | 4]);
    assert_eq!(*out.zero(), [1 - (1i64 << 40); 3]);
    assert_eq!(*out.chosen(), [2.0, 2.0, 4.0]);
    assert_eq!(*out.running(), [100, -1, -1]);
}

/// Messages along the edges of a graph, summed where they arrive; and rows put at an index.
#[model_graph(dims(NODES = 3, EDGES = 4))]
struct Messages {
    #[input]
    x: Tensor<f32, NODES, 2>,
    #[input]
    from: Tensor<u32, EDGES>,
    #[input]
    to: Tensor<i64, EDGES>,
    #[input]
    last: Tensor<i32>,
    #[node(x * 2)]
    own: _,
    #[output(scatter(own, to, gather(x, from), reduce = add))]
    heard: Tensor<f32, NODES, 2>,
    #[output(scatter(heard as f16, last, heard[.., 0] as f16, axis = 1))]
    copied: Tensor<f16, NODES, 2>,
    #[output(scatter(heard as f16, to, gather(x, from) as f16, reduce = max))]
    loudest: Tensor<f16, NODES, 2>,
}

#[test]
fn rows_are_put_by_indices() {
    let mut model = Messages::new(&Cpu).unwrap();
    model.x_mut().write(&[[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]).unwrap();
    model.from_mut().write(&[0, 1, 2, 0]).unwrap();
    model.to_mut().write(&[1, 0, 0, -3]).unwrap();
    model.last_mut().set(-1).unwrap();
    let out = model.forward().unwrap();
    assert_eq!(*out.heard(), [[2.0 + 2.0 + 3.0 + 1.0, 80.0], [4.0 + 1.0, 50.0], [6.0, 60.0]]);
    assert_eq!(out.copied().map(|row| row.map(f16::to_f32)), [[8.0, 8.0], [5.0, 5.0], [6.0, 6.0]]);
    assert_eq!(out.loudest().map(|row| row.map(f16::to_f32)), [[8.0, 80.0], [5.0, 50.0], [6.0, 60.0]]);
    // What is summed into is not needed any more, and takes the sums.
    let place = |name: &str| Messages::PLAN.tensors.iter().find(|tensor| tensor.name == name).unwrap().view.offset;
    assert_eq!(place("own"), place("heard"));
    model.x_mut().write(&[[0.0; 2]; 3]).unwrap();
    model.from_mut().write(&[0; 4]).unwrap();
    model.to_mut().write(&[0, 0, 3, 0]).unwrap();
    model.last_mut().set(0).unwrap();
    let error = model.forward().map(drop).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::IndexOutOfRange { op: "scatter", index: 3, extent: 3 });
}

/// A layer as PyTorch stores it.
#[model_graph]
struct Layer {
    #[input]
    x: Tensor<f32, 2, 3>,
    #[weight]
    w: Tensor<f32, 4, 3>,
    #[weight]
    b: Tensor<f32, 4>,
    #[output(relu(linear(x, w, b)))]
    y: Tensor<f32, 2, 4>,
}

#[test]
fn a_layer_of_f32_is_one_step() {
    let steps: Vec<&str> = Layer::PLAN.steps.iter().map(|step| step.op).collect();
    assert_eq!(steps, ["matmul + add + relu"]);
    let mut model = Layer::new(&Cpu).unwrap();
    model.x_mut().write(&[[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]]).unwrap();
    model.w_mut().write(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]).unwrap();
    model.b_mut().write(&[0.5, -3.0, 0.0, 1.0]).unwrap();
    assert_eq!(*model.forward().unwrap().y(), [[1.5, 0.0, 3.0, 7.0], [0.0, 0.0, 1.0, 1.0]]);
}

/// Numbers among themselves are worked out before the model is planned, and only then take an element type.
#[model_graph(dims(D = 5))]
struct Folded {
    #[input]
    n: Tensor<i32, 2>,
    #[input]
    half: Tensor<f16, 2>,
    #[output(n - 7 % 4 + D % 3)]
    rests: _,
    #[output(half * floor(D / 2) + abs(-2) - ceil(0.5) + round(2.5))]
    rounded: _,
}

#[test]
fn numbers_are_worked_out_with_one_another() {
    let mut model = Folded::new(&Cpu).unwrap();
    model.n_mut().set([2, 4]).unwrap();
    model.half_mut().set([f16::ONE, f16::from_f32(3.0)]).unwrap();
    let outputs = model.forward().unwrap();
    assert_eq!(*outputs.rests(), [1, 3]);
    assert_eq!(outputs.rounded().map(f32::from), [5.0, 9.0]);
}
