//! Linear layers on every type of floats, and weights in blocks.

use model_graph::op;
use model_graph::{BlockQ4_0, BlockQ8_0, Buffer, Call, DType, HostBuffer, Kernel, View, dequantise, quantise};
use proptest::prelude::*;

use crate::harness::{Host, Layout, buffer, extents, places};
use crate::typed::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn linear_of_floats(
        dims in extents(0..=2), outputs in 0..9usize, columns in prop_oneof![0..9usize, 250..270usize], with_bias: bool,
        seed: u64,
    ) {
        let finite = |dtype, dims: &[usize], seed| {
            let drawn = draw(dtype, dims, Layout::packed(), seed);
            // Quarters, whose products every sum holds.
            let quarter = |x: &f64| if x.is_finite() { (x * 4.0).round() / 4.0 } else { 0.5 };
            let values = drawn.values.iter().map(quarter).collect();
            Typed { values, ..drawn }
        };
        let floats = [DType::F32, DType::F16, DType::BF16];
        for (x_type, w_type) in floats.iter().flat_map(|x| floats.iter().map(move |w| (*x, *w))) {
            let x = finite(x_type, &[&dims[..], &[columns]].concat(), seed);
            let w = finite(w_type, &[outputs, columns], seed ^ 5);
            let mut all = vec![x, w];
            if with_bias {
                all.push(finite(x_type, &[outputs], seed ^ 6));
            }
            let shape = [&dims[..], &[outputs]].concat();
            check(op::Linear { plain: false }, &all, (x_type, &shape, &Layout::packed()), |x, at| {
                let (row, n) = at.split_at(dims.len());
                let bias = x.get(2).map_or(0.0, |bias| bias.at(n));
                let product = |k: usize| x[0].at(&[row, &[k]].concat()) * x[1].at(&[n[0], k]);
                bias + (0..columns).map(product).sum::<f64>()
            });
        }
    }

    #[test]
    fn weights_in_blocks(rows in 0..5usize, columns in prop_oneof![1..9usize, 30..70usize, 250..300usize], m in 0..6usize, seed: u64) {
        for dtype in [DType::Q8_0, DType::Q4_0] {
            let (bytes, weights) = blocks(dtype, rows, columns, seed);
            let x = draw(DType::F32, &[m, columns], Layout::packed(), seed ^ 8);
            let x: Vec<f32> = x.values.iter().map(|x| if x.is_finite() { *x as f32 } else { 0.5 }).collect();
            // x, then the weights, then what is made of them.
            let w_at = (4 * x.len()).next_multiple_of(8);
            let y_at = (w_at + bytes.len()).next_multiple_of(8);
            let mut host = buffer(y_at + 4 * (m * rows).max(rows * columns) + 16, 0xff);
            host.set(0, bytemuck::cast_slice(&x)).unwrap();
            host.set(w_at, &bytes).unwrap();
            let view = |dtype, offset, dims: [usize; 2]| View {
                dtype, offset, rank: 2, dims: [dims[0], dims[1], 1, 1, 1, 1], strides: [dims[1], 1, 0, 0, 0, 0],
            };
            let (x_view, w_view) = (view(DType::F32, 0, [m, columns]), view(dtype, w_at, [rows, columns]));
            prop_assert_eq!(w_view.span().len(), bytes.len());
            let y_view = view(DType::F32, y_at, [m, rows]);
            let call = Call { op: op::Linear { plain: false }, inputs: &[x_view, w_view], outputs: &[y_view], scratch: &[], shared: None };
            host.run(&call).unwrap();
            let read = |host: &Host, view: &View| -> Vec<f32> {
                places(view).map(|at| f32::from_ne_bytes(host.bytes()[at..at + 4].try_into().unwrap())).collect()
            };
            for (at, y) in read(&host, &y_view).iter().enumerate() {
                let (i, n) = (at / rows, at % rows);
                let exact: f64 = (0..columns).map(|k| f64::from(x[i * columns + k]) * weights[n * columns + k]).sum();
                prop_assert!((f64::from(*y) - exact).abs() < 1e-4 * exact.abs().max(1.0), "{} instead of {}", y, exact);
            }
            // As f32.
            let all = view(DType::F32, y_at, [rows, columns]);
            host.run(&Call { op: op::Cast { to: DType::F32 }, inputs: &[w_view], outputs: &[all], scratch: &[], shared: None }).unwrap();
            prop_assert_eq!(read(&host, &all), weights.iter().map(|x| *x as f32).collect::<Vec<_>>());
            // The last row and the first.
            if rows > 0 {
                let mut host = buffer(y_at + 8 * columns + 32, 0xff);
                host.set(w_at, &bytes).unwrap();
                let index_at = y_at + 8 * columns;
                host.set(index_at, bytemuck::cast_slice(&[-1i32, 0])).unwrap();
                let mut index = view(DType::I32, index_at, [2, 1]);
                index.rank = 1;
                let y = view(DType::F32, y_at, [2, columns]);
                host.run(&Call { op: op::Gather { axis: 0 }, inputs: &[w_view, index], outputs: &[y], scratch: &[], shared: None }).unwrap();
                let expected = weights[(rows - 1) * columns..].iter().chain(&weights[..columns]);
                prop_assert_eq!(read(&host, &y), expected.map(|x| *x as f32).collect::<Vec<_>>());
            }
        }
    }
}

/// The reference formulas of ggml, worked out by hand.
#[test]
fn blocks_are_those_of_ggml() {
    let mut weights = [0.0f32; 40];
    (weights[0], weights[1], weights[17], weights[31], weights[35]) = (-12.7, 6.35, 1.04, 0.05, 3.0);
    let mut blocks = [BlockQ8_0::default(); 2];
    quantise(&weights, 40, &mut blocks).unwrap();
    assert_eq!(blocks[0].scale.to_f32(), model_graph::f16::from_f32(0.1).to_f32());
    assert_eq!([0, 1, 17, 31].map(|at| blocks[0].values[at]), [-127, 64, 10, 1]);
    assert_eq!((blocks[1].values[3], blocks[1].values[8..].iter().all(|x| *x == 0)), (127, true));
    let mut blocks = [BlockQ4_0::default(); 2];
    (weights[0], weights[1]) = (-8.0, 7.0);
    quantise(&weights, 40, &mut blocks).unwrap();
    assert_eq!(blocks[0].scale.to_f32(), 1.0);
    // Low halves are the first sixteen, high ones the others: 17 lies beside 1.
    assert_eq!((blocks[0].values[0], blocks[0].values[1]), (0x80, 0x9f));
    let mut back = [9.0; 40];
    dequantise(&blocks, 40, &mut back).unwrap();
    assert_eq!((back[0], back[1], back[17], back[2]), (-8.0, 7.0, 1.0, 0.0));
    assert!(quantise(&weights, 32, &mut blocks).is_err());
    assert!(dequantise(&blocks, 40, &mut back[..39]).is_err());
    assert!(dequantise(&blocks[..1], 40, &mut back).is_err());
}
