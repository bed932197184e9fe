//! Weights of other element types than a file's: what `Converted` makes of them, held against conversions one by one, and
//! what it refuses.

use model_graph::{
    BlockQ4_0, BlockQ8_0, Converted, Cpu, DType, Error, ErrorKind, Renamed, Weight, WeightSource, bf16, dequantise,
    f16, model_graph, quantise,
};

/// A source of some weights: name, element type, extents, bytes.
struct Made(Vec<(&'static str, DType, Vec<usize>, Vec<u8>)>);

impl WeightSource for Made {
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
        let found = self.0.iter().find(|(own, ..)| *own == name);
        Ok(found.map(|(_, dtype, shape, bytes)| Weight { dtype: Some(*dtype), shape, bytes }))
    }

    fn names(&self, visit: &mut dyn FnMut(&str)) {
        self.0.iter().for_each(|(name, ..)| visit(name));
    }
}

/// Enough for several pieces of 4 KiB, in rows whose last block is not full.
const ROWS: usize = 70;
const COLUMNS: usize = 70;
type Matrix<T> = [[T; COLUMNS]; ROWS];

/// Numbers of every magnitude that halves have, those below the normal ones and rounding ties among them.
fn numbers() -> Vec<f32> {
    let ties = [1.0 + 2f32.powi(-11), 1.0 + 3.0 * 2f32.powi(-11), 1.0 + 2f32.powi(-8), 1.0 + 3.0 * 2f32.powi(-8)];
    let edges = [0.0, -0.0, 40000.0, 2f32.powi(-24), 2f32.powi(-25), 3.0 * 2f32.powi(-26), 1e-30, -1e-40];
    let drawn = (0..ROWS * COLUMNS).map(|index| {
        let mantissa = 1.0 + ((index * 7919) % 100_003) as f32 / 100_003.0;
        let sign = if index % 3 == 0 { -1.0 } else { 1.0 };
        sign * mantissa * 2f32.powi((index * 31 % 38) as i32 - 24)
    });
    ties.into_iter().chain(edges).chain(drawn).take(ROWS * COLUMNS).collect()
}

fn little(elements: &[f32], dtype: DType) -> Vec<u8> {
    match dtype {
        DType::F32 => elements.iter().flat_map(|x| x.to_le_bytes()).collect(),
        DType::F16 => elements.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect(),
        DType::BF16 => elements.iter().flat_map(|x| bf16::from_f32(*x).to_le_bytes()).collect(),
        DType::Q8_0 => blocks::<BlockQ8_0>(elements),
        DType::Q4_0 => blocks::<BlockQ4_0>(elements),
        other => panic!("{other}"),
    }
}

fn blocks<B: model_graph::Block + Default>(elements: &[f32]) -> Vec<u8> {
    let mut blocks = vec![B::default(); ROWS * COLUMNS.div_ceil(32)];
    quantise(elements, COLUMNS, &mut blocks).unwrap();
    bytemuck::cast_slice(&blocks).to_vec()
}

/// What a file's elements are, after they were rounded to its type.
fn held(elements: &[f32], dtype: DType) -> Vec<f32> {
    let mut held = elements.to_vec();
    let bytes = little(elements, dtype);
    match dtype {
        DType::F32 => {}
        DType::F16 => held.iter_mut().for_each(|x| *x = f16::from_f32(*x).to_f32()),
        DType::BF16 => held.iter_mut().for_each(|x| *x = bf16::from_f32(*x).to_f32()),
        DType::Q8_0 => {
            dequantise::<BlockQ8_0>(&bytemuck::pod_collect_to_vec(&bytes), COLUMNS, &mut held).unwrap();
        }
        _ => dequantise::<BlockQ4_0>(&bytemuck::pod_collect_to_vec(&bytes), COLUMNS, &mut held).unwrap(),
    }
    held
}

#[model_graph(dims(ROWS = 70, COLUMNS = 70))]
struct Every {
    #[input]
    x: Tensor<f32, COLUMNS>,
    #[weight]
    single: Tensor<f32, ROWS, COLUMNS>,
    #[weight]
    half: Tensor<f16, ROWS, COLUMNS>,
    #[weight]
    brain: Tensor<bf16, ROWS, COLUMNS>,
    #[weight]
    eight: Tensor<q8_0, ROWS, COLUMNS>,
    #[weight]
    four: Tensor<q4_0, ROWS, COLUMNS>,
    #[output(linear(x, single) + linear(x, half) + linear(x, brain) + linear(x, eight) + linear(x, four))]
    y: Tensor<f32, ROWS>,
}

const NAMES: [&str; 5] = ["single", "half", "brain", "eight", "four"];
const TYPES: [DType; 5] = [DType::F32, DType::F16, DType::BF16, DType::Q8_0, DType::Q4_0];

#[test]
fn every_float_becomes_every_other() {
    for dtype in TYPES {
        let bytes = little(&numbers(), dtype);
        let file = Made(NAMES.map(|name| (name, dtype, vec![ROWS, COLUMNS], bytes.clone())).into());
        let mut model = Every::new(&Cpu).unwrap();
        model.load(&Converted::new(&file)).unwrap();
        let held = held(&numbers(), dtype);
        let loaded: [&[u8]; 5] = [
            bytemuck::bytes_of::<Matrix<f32>>(model.single().as_array()),
            bytemuck::cast_slice::<f16, u8>(model.half().as_slice()),
            bytemuck::cast_slice::<bf16, u8>(model.brain().as_slice()),
            bytemuck::cast_slice(model.eight().as_slice()),
            bytemuck::cast_slice(model.four().as_slice()),
        ];
        for (to, loaded) in TYPES.into_iter().zip(loaded) {
            // What is of the type already stays, bit for bit.
            let expected = if to == dtype { bytes.clone() } else { little(&held, to) };
            assert!(loaded == expected, "{dtype} as {to}");
        }
    }
}

#[test]
fn ties_go_to_the_even_neighbour() {
    let file = Made(NAMES.map(|name| (name, DType::F32, vec![ROWS, COLUMNS], little(&numbers(), DType::F32))).into());
    let mut model = Every::new(&Cpu).unwrap();
    model.load(&Converted::new(&file)).unwrap();
    let half = model.half().as_slice();
    assert_eq!([half[0].to_f32(), half[1].to_f32()], [1.0, 1.0 + 2f32.powi(-9)]);
    let brain = model.brain().as_slice();
    assert_eq!([brain[2].to_f32(), brain[3].to_f32()], [1.0, 1.0 + 2f32.powi(-6)]);
}

#[model_graph]
struct Layer {
    #[input]
    x: Tensor<f32, 1, 33>,
    #[weight]
    w: Tensor<q8_0, 33, 33>,
    #[weight]
    bias: Tensor<bf16, 33>,
    #[output(linear(x, w) + (bias as f32))]
    y: Tensor<f32, 1, 33>,
}

#[model_graph(weights = "shared")]
struct Stack {
    #[input]
    x: Tensor<f32, 1, 33>,
    /// A scalar has no rows.
    #[weight(name = "gain")]
    scale: Tensor<f16>,
    #[chain(x * (scale as f32))]
    layers: [Layer; 2],
    #[output(layers)]
    y: Tensor<f32, 1, 33>,
}

fn stack() -> Made {
    let row = |number: usize| -> Vec<f32> { (0..33).map(|at| (at * number % 7) as f32 * 0.25 - 0.5).collect() };
    let matrix = |number: usize| -> Vec<f32> { (0..33).flat_map(|at| row(at + number)).collect() };
    Made(vec![
        ("layers.0.w", DType::F32, vec![33, 33], little(&matrix(1), DType::F32)),
        ("layers.0.bias", DType::F32, vec![33], little(&row(2), DType::F32)),
        ("layers.1.w", DType::F16, vec![33, 33], little(&matrix(3), DType::F16)),
        ("layers.1.bias", DType::F16, vec![33], little(&row(4), DType::F16)),
        ("g", DType::F32, vec![], little(&[0.5], DType::F32)),
    ])
}

#[test]
fn shared_weights_of_blocks_under_other_names() {
    let file = stack();
    let names = [("gain", "g")];
    let renamed = Renamed::new(&file, &names);
    let mut weights = StackWeights::new(&Cpu).unwrap();
    weights.load(&Converted::new(&renamed)).unwrap();
    assert_eq!(weights.scale().to_f32(), 0.5);
    for (at, number) in [2usize, 4].into_iter().enumerate() {
        let expected: [f32; 33] = std::array::from_fn(|column| (column * number % 7) as f32 * 0.25 - 0.5);
        assert_eq!(weights.layers_bias(at).map(bf16::to_f32), expected);
    }
    let block = weights.layers_w(1)[5][0];
    let row: [f32; 32] = std::array::from_fn(|column| (column * 8 % 7) as f32 * 0.25 - 0.5);
    assert_eq!(block, model_graph::Block::quantise(&row));

    // The other way round, too.
    let mut again = StackWeights::new(&Cpu).unwrap();
    again.load(&Renamed::new(&Converted::new(&file), &names)).unwrap();
    assert_eq!(again.image().unwrap(), weights.image().unwrap());

    let mut model = Stack::new(&Cpu, &weights).unwrap();
    model.x_mut().set([[1.0; 33]]).unwrap();
    assert!(model.forward().unwrap().y().iter().flatten().any(|y| *y != 0.0));
}

#[model_graph]
struct Strict {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    half: Tensor<f16, 2>,
    #[weight]
    brain: Tensor<bf16, 2>,
    #[weight]
    whole: Tensor<i32, 2>,
    #[weight]
    short: Tensor<f16, 2>,
    #[weight]
    gone: Tensor<f16, 2>,
    #[weight]
    packed: Tensor<q8_0, 1, 2>,
    #[output(linear(x * (half as f32) + (brain as f32) + (whole as f32) + (short as f32) + (gone as f32), packed))]
    y: Tensor<f32, 1>,
}

#[test]
fn every_complaint_at_once_and_nothing_is_written() {
    let two = || little(&[1.0, 2.0], DType::F32);
    let mut file = Made(vec![
        ("half", DType::F32, vec![2], two()),
        ("brain", DType::I32, vec![2], two()),
        ("whole", DType::F32, vec![2], two()),
        ("short", DType::F32, vec![3], [two(), vec![0; 4]].concat()),
        ("gone.weight", DType::F32, vec![2], two()),
        ("packed", DType::F32, vec![1, 2], vec![0; 7]),
    ]);
    let mut model = Strict::new(&Cpu).unwrap();
    let error = model.load(&Converted::new(&file)).unwrap_err();
    let ErrorKind::Weights(complaints) = error.kind() else { panic!("{error}") };
    assert_eq!((complaints.count, complaints.first), (5, "brain"));
    assert_eq!(complaints.missing, ["gone"]);
    assert_eq!(complaints.renamed, [("gone", "gone.weight".to_string())]);
    assert_eq!(
        complaints.wrong,
        [
            "`brain` is i32 and has to be bf16; floats and blocks alone are converted into one another",
            "`whole` is f32 and has to be i32; floats and blocks alone are converted into one another",
            "`short` is [3] and has to be [2]",
            "`packed` needs 8 bytes and the source has 7",
        ]
    );
    assert!(complaints.convertible.is_empty(), "it is converted already");
    assert_eq!(model.half().map(f16::to_f32), [0.0; 2]);

    // What the type cannot hold.
    file.0[1] = ("brain", DType::F32, vec![2], little(&[0.0, f32::MAX], DType::F32));
    file.0[2] = ("whole", DType::I32, vec![2], vec![0; 8]);
    file.0[3] = ("short", DType::F32, vec![2], little(&[65504.0, -65520.0], DType::F32));
    file.0[4].0 = "gone";
    file.0[5] = ("packed", DType::F32, vec![1, 2], little(&[f32::NAN, 0.0], DType::F32));
    let error = model.load(&Converted::new(&file)).unwrap_err();
    let ErrorKind::Weights(complaints) = error.kind() else { panic!("{error}") };
    assert_eq!(
        complaints.wrong,
        [
            "element 1 of `brain`, counted row by row, is 3.4028235e38, which bf16 does not hold; declare it as f32",
            "element 1 of `short`, counted row by row, is -65520.0, which f16 does not hold; declare it as f32",
            "element 0 of `packed`, counted row by row, is NaN, which q8_0 does not hold; declare it as f32",
        ]
    );
    assert_eq!(model.half().map(f16::to_f32), [0.0; 2]);

    // Infinities are floats. With blocks they are none.
    let both = || little(&[f32::INFINITY, f32::NAN], DType::F32);
    file.0[1].3 = both();
    file.0[3].3 = both();
    file.0[5].3 = little(&[0.0, 1e30], DType::F32);
    let error = model.load(&Converted::new(&file)).unwrap_err().to_string();
    assert!(
        error.contains(
            "element 1 of `packed`, counted row by row, is 1e30, which q8_0 does not hold; declare it as f32"
        ),
        "{error}"
    );
    file.0[5].3 = two();
    model.load(&Converted::new(&file)).unwrap();
    assert_eq!((model.short()[0], model.brain()[0]), (f16::INFINITY, bf16::INFINITY));
    assert!(model.short()[1].is_nan() && model.brain()[1].is_nan());
}

#[test]
fn without_it_the_error_names_it() {
    let two = || little(&[1.0, 2.0], DType::F32);
    let names = ["half", "brain", "whole", "short", "gone"];
    let mut file = Made(names.map(|name| (name, DType::F32, vec![2], two())).into());
    file.0.push(("packed", DType::F32, vec![1, 2], two()));
    let error = Strict::new(&Cpu).unwrap().load(&file).unwrap_err();
    let ErrorKind::Weights(complaints) = error.kind() else { panic!("{error}") };
    assert_eq!(complaints.convertible, ["half", "brain", "short", "gone", "packed"]);
    assert_eq!(complaints.wrong[0], "`half` is f32 and has to be f16");
    let error = error.to_string();
    let advice = "\n  `load(&Converted::new(&source))` converts half, brain, short, gone, packed";
    assert!(error.ends_with(advice), "{error}");
}

#[model_graph]
struct Empty {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    none: Tensor<f16, 0, 2>,
    #[weight]
    narrow: Tensor<q4_0, 3, 0>,
    #[output(sum(none as f32, axes = 0) + x)]
    y: Tensor<f32, 2>,
    #[output(sum(narrow as f32))]
    z: Tensor<f32>,
}

#[test]
fn no_elements_are_none_afterwards() {
    let file = Made(vec![("none", DType::F32, vec![0, 2], Vec::new()), ("narrow", DType::F32, vec![3, 0], Vec::new())]);
    Empty::new(&Cpu).unwrap().load(&Converted::new(&file)).unwrap();
}
