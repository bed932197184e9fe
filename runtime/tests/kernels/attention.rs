//! Attention and rotary position embedding.

use model_graph::{DType, ErrorKind, op};
use proptest::prelude::*;

use crate::harness::*;
use crate::typed::{self, Typed, seen, typed};

/// Everything that attention can be told.
#[derive(Clone, Debug)]
struct Case {
    lead: Vec<usize>,
    heads: [usize; 2],
    queries: usize,
    keys: usize,
    sizes: [usize; 2],
    mask: Option<[bool; 5]>,
    past: Option<u32>,
    op: op::Attention,
}

fn cases() -> impl Strategy<Value = Case> {
    let lead = prop::collection::vec(1..3usize, 0..3);
    let extents = (0..4usize, 0..4usize, prop_oneof![0..4usize, 15..19usize, 30..40usize, Just(1)], 0..20usize);
    let sizes = [prop_oneof![0..4usize, 7..18usize], prop_oneof![0..4usize, 7..18usize]];
    let options = (prop::option::of(any::<[bool; 5]>()), prop::option::of(0..5u32), any::<bool>());
    (lead, extents, sizes, options).prop_map(|(lead, (shared, heads, queries, more), sizes, (mask, past, causal))| {
        let keys = match past {
            Some(past) => queries + past as usize + more,
            None => queries / 2 + more,
        };
        let op = op::Attention { causal, scale: 0.4 };
        Case { lead, heads: [shared * heads, heads], queries, keys, sizes, mask, past, op }
    })
}

impl Case {
    fn dims(&self, heads: usize, rows: usize, columns: usize) -> Vec<usize> {
        [&self.lead[..], &[heads, rows, columns]].concat()
    }

    fn mask_dims(&self, ones: [bool; 5]) -> Vec<usize> {
        let dims = self.dims(self.heads[0], self.queries, self.keys);
        dims.iter().zip(ones).map(|(dim, one)| if one { 1 } else { *dim }).collect()
    }

    /// The definition, element by element, over the keys that exist.
    fn oracle(&self, x: &[Tensor], index: &[usize]) -> f64 {
        let rank = index.len();
        let (head, query, element) = (index[rank - 3], index[rank - 2], index[rank - 1]);
        let past = self.past.unwrap_or(0) as usize;
        let exist = self.past.map_or(self.keys, |_| past + self.queries);
        let exist = if self.op.causal { exist.min(past + query + 1) } else { exist };
        let place = |head, row, column| [&index[..rank - 3], &[head, row, column]].concat();
        let shared = head / (self.heads[0] / self.heads[1]);
        let mask = self.mask.is_some().then(|| &x[3]);
        let scores: Vec<f64> = (0..exist)
            .map(|key| {
                let product = |d| x[0].at(&place(head, query, d)) * x[1].at(&place(shared, key, d));
                let product = (0..self.sizes[0]).map(product).sum::<f64>();
                product * f64::from(self.op.scale) + mask.map_or(0.0, |mask| mask.at(&place(head, query, key)))
            })
            .collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            return 0.0;
        }
        let total: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        let weighted =
            |(key, score): (usize, &f64)| (score - most).exp() / total * x[2].at(&place(shared, key, element));
        scores.iter().enumerate().map(weighted).sum()
    }
}

impl Case {
    /// Queries and a mask of `f32`, keys and values of `dtype`.
    fn typed(&self, dtype: DType, layouts: [Layout; 3], seed: u64) -> Vec<Typed> {
        let [[hq, hk], [d, e]] = [self.heads, self.sizes];
        let dims = [self.dims(hq, self.queries, d), self.dims(hk, self.keys, d), self.dims(hk, self.keys, e)];
        let types = [DType::F32, dtype, dtype];
        let mut inputs: Vec<Typed> =
            (0..3).map(|at| finite(types[at], &dims[at], &layouts[at], seed ^ at as u64)).collect();
        if let Some(ones) = self.mask {
            let dims = self.mask_dims(ones);
            let Values::List(values) = mask(&dims, seed).values else { unreachable!("a mask is a list") };
            inputs.push(typed(DType::F32, &dims, &values.into_iter().map(f64::from).collect::<Vec<f64>>()));
        }
        inputs.extend(self.past.map(|past| typed(DType::U32, &[], &[f64::from(past)])));
        inputs
    }
}

fn half() -> impl Strategy<Value = DType> {
    prop_oneof![Just(DType::F16), Just(DType::BF16)]
}

fn finite(dtype: DType, dims: &[usize], layout: &Layout, seed: u64) -> Typed {
    let drawn = typed::draw(dtype, dims, layout.clone(), seed);
    let values = drawn.values.iter().map(|value| if value.is_finite() { *value } else { 0.25 }).collect();
    Typed { values, ..drawn }
}

/// Runs attention over halves, and asserts that it gives the bits that it gives with them cast to `f32`, whatever is
/// unwritten, and in the queries' place.
fn as_with_casts(op: op::Attention, inputs: &[Typed], dims: &[usize]) -> Vec<f64> {
    let packed = Layout::packed();
    let run = |inputs: &[Typed], poison, in_place| {
        let y = typed::run(op, inputs, (DType::F32, dims, &packed), poison, in_place).unwrap();
        (y.iter().map(|y| y.to_bits()).collect::<Vec<u64>>(), y)
    };
    let (bits, y) = run(inputs, 0xff, None);
    assert_eq!(run(inputs, 0x00, None).0, bits, "unwritten bytes are read");
    let wide: Vec<Typed> = inputs
        .iter()
        .map(|input| Typed { dtype: if input.dtype.is_half() { DType::F32 } else { input.dtype }, ..input.clone() })
        .collect();
    assert_eq!(run(&wide, 0xff, None).0, bits, "other bits than with casts");
    let q = &inputs[0];
    if q.dims == dims && q.layout.strides(dims) == packed.strides(dims) {
        assert_eq!(run(inputs, 0xff, Some(0)).0, bits, "other bits in the queries' place");
    }
    y
}

/// Masks hide some keys, and sometimes all of them.
fn mask(dims: &[usize], seed: u64) -> Given {
    let mut state = seed | 1;
    let values = (0..dims.iter().product()).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state.is_multiple_of(3) { f32::NEG_INFINITY } else { (state % 64) as f32 / 32.0 - 1.0 }
    });
    list(dims, &values.collect::<Vec<f32>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn attentions(
        case in cases(), layouts in prop::array::uniform3(layout(true)), seed: u64, place in (0..3usize, 0..5usize),
    ) {
        let [q, k, v] = layouts;
        let [[hq, hk], [d, e]] = [case.heads, case.sizes];
        let mut inputs = vec![
            given(&case.dims(hq, case.queries, d), q, Values::Seed(seed)),
            given(&case.dims(hk, case.keys, d), k, Values::Seed(seed ^ 1)),
            given(&case.dims(hk, case.keys, e), v, Values::Seed(seed ^ 2)),
        ];
        if let Some(ones) = case.mask {
            inputs.push(mask(&case.mask_dims(ones), seed));
        }
        if let Some(past) = case.past {
            inputs.push(given(&[], Layout::packed(), Values::Whole(vec![past])));
        }
        let y = given(&case.dims(hq, case.queries, e), Layout::packed(), Values::Seed(0));
        check(case.op, &inputs, &y, place, 1e-5, |x, index| case.oracle(x, index));
    }

    #[test]
    fn halves(
        case in cases(), layouts in prop::array::uniform3(layout(true)), seed: u64, dtype in half(),
    ) {
        let inputs = case.typed(dtype, layouts, seed);
        let dims = case.dims(case.heads[0], case.queries, case.sizes[1]);
        let y = as_with_casts(case.op, &inputs, &dims);
        let tensors: Vec<Tensor> = inputs.iter().map(seen).collect();
        for (index, y) in indices(&dims).iter().zip(y) {
            let expected = case.oracle(&tensors, index);
            prop_assert!((y - expected).abs() <= 1e-5 * expected.abs().max(1.0), "{y} instead of {expected} at {index:?}");
        }
    }

    #[test]
    fn ropes(
        dims in extents(2..=4), axis in 0..4usize, x in layout(true), y in layout(false), seed: u64, halves: bool,
        less in 0..4usize, scalar: bool, place in (0..3usize, 0..5usize),
    ) {
        let last = dims.len() - 1;
        let axis = axis % last;
        let turned = dims[last].saturating_sub(less) / 2 * 2;
        let op = op::Rope { axis, dims: turned, base: 1000.0, halves };
        let position = |index: usize| if scalar { 900 + index as u32 } else { (index as u32 * 37 + seed as u32 % 50) % 5000 };
        let positions = match scalar {
            true => given(&[], Layout::packed(), Values::Whole(vec![position(0)])),
            false => {
                let all = (0..dims[axis]).map(position).collect();
                given(&[dims[axis]], Layout::packed(), Values::Whole(all))
            }
        };
        let inputs = [given(&dims, x, Values::Seed(seed)), positions];
        check(op, &inputs, &given(&dims, y, Values::Seed(0)), place, 1e-6, |x, index| {
            let i = index[last];
            if i >= turned {
                return x[0].at(index);
            }
            let half = turned / 2;
            let (pair, first) = if halves { (i % half, i < half) } else { (i / 2, i % 2 == 0) };
            let partner = match (halves, first) {
                (true, true) => i + half,
                (true, false) => i - half,
                (false, true) => i + 1,
                (false, false) => i - 1,
            };
            let mut other = index.to_vec();
            other[last] = partner;
            let frequency = 1000f64.powf(-2.0 * pair as f64 / turned as f64);
            let (sin, cos) = (f64::from(position(index[axis])) * frequency).sin_cos();
            if first { x[0].at(index) * cos - x[0].at(&other) * sin } else { x[0].at(&other) * sin + x[0].at(index) * cos }
        });
    }
}

fn keys(past: u32, keys: &[f32], values: &[f32], causal: bool) -> Result<Vec<f32>, model_graph::Error> {
    let inputs = [
        list(&[2, 1], &[1.0, 1.0]),
        list(&[keys.len(), 1], keys),
        list(&[values.len(), 1], values),
        given(&[], Layout::packed(), Values::Whole(vec![past])),
    ];
    let y = given(&[2, 1], Layout::packed(), Values::Seed(0));
    run(op::Attention { causal, scale: 1.0 }, &mut lay(&inputs, &y, 0, 0, 0xff))
}

/// A cache is longer than what it holds; the rest is anything.
#[test]
fn keys_that_do_not_exist_are_not_read() {
    let nan = f32::NAN;
    for causal in [false, true] {
        let y = keys(1, &[0.0, 0.0, 0.0, nan, nan], &[1.0, 2.0, 6.0, nan, nan], causal).unwrap();
        let first = if causal { 1.5 } else { 3.0 };
        assert!((y[0] - first).abs() < 1e-6 && (y[1] - 3.0).abs() < 1e-6, "{y:?}");
    }
}

/// What a later position holds may be anything: each query gives what it gives alone, bit by bit, whichever way values lie.
#[test]
fn values_of_later_keys_are_not_read() {
    for (queries, past, width) in [(1, 0, 3), (5, 0, 1), (16, 0, 8), (37, 0, 19), (1, 7, 3), (18, 5, 16), (33, 9, 2)] {
        let keys = past + queries;
        for by_column in [false, true] {
            for (depth, inf) in [(3, f32::INFINITY), (8, f32::NAN), (1, f32::NEG_INFINITY)] {
                let draw = |count: usize| (0..count).map(|i| (i * 37 % 23) as f32 / 7.0 - 1.5).collect::<Vec<f32>>();
                // In memory one value after the other, or one element of all of them after the other.
                let mut layout = Layout::packed();
                layout.keys[0] = u8::from(by_column);
                let attention = |first: usize, queries: usize, values: &[f32]| {
                    let q = draw(keys * depth)[first * depth..][..queries * depth].to_vec();
                    let inputs = [
                        list(&[queries, depth], &q),
                        list(&[keys, depth], &draw(keys * depth)),
                        given(&[keys, width], layout.clone(), Values::List(values.to_vec())),
                        given(&[], Layout::packed(), Values::Whole(vec![first as u32])),
                    ];
                    let y = given(&[queries, width], Layout::packed(), Values::Seed(0));
                    let op = op::Attention { causal: true, scale: 0.7 };
                    run(op, &mut lay(&inputs, &y, 0, 0, 0xff)).unwrap()
                };
                let finite = attention(past, queries, &draw(keys * width));
                for seen in past..keys {
                    let mut values = draw(keys * width);
                    values[(seen + 1) * width..].fill(inf);
                    let rows = (seen + 1 - past) * width;
                    let y = attention(past, queries, &values);
                    assert_eq!(bits(&y[..rows]), bits(&finite[..rows]), "{queries} {past} {width} {by_column} {seen}");
                    let alone = attention(seen, 1, &draw(keys * width));
                    assert_eq!(bits(&alone), bits(&finite[rows - width..rows]));
                }
            }
        }
    }
}

/// Strips, and runs of columns, that do not come out even; what lies beyond the keys that exist is never looked at.
#[test]
fn halves_of_a_long_cache() {
    for (queries, past, depth, width) in
        [(1, 700, 5, 3), (1, 31, 8, 8), (1, 90, 2, 40), (37, 280, 3, 9), (3, 253, 64, 1), (16, 48, 1, 64)]
    {
        for (keys_by_column, values_by_column, causal, dtype) in [
            (false, false, true, DType::F16),
            (true, false, true, DType::BF16),
            (false, true, true, DType::BF16),
            (true, true, false, DType::F16),
        ] {
            let by_column = |is| {
                let mut layout = Layout::packed();
                layout.keys[1] = u8::from(is);
                layout
            };
            let (exist, room) = (past + queries, past + queries + 40);
            let mut inputs = vec![
                finite(DType::F32, &[4, queries, depth], &Layout::packed(), 3),
                finite(dtype, &[2, room, depth], &by_column(keys_by_column), 5),
                finite(dtype, &[2, room, width], &by_column(values_by_column), 7),
                typed(DType::U32, &[], &[past as f64]),
            ];
            let op = op::Attention { causal, scale: 0.3 };
            let y = as_with_casts(op, &inputs, &[4, queries, width]);
            for (input, size) in [(1, depth), (2, width)] {
                for head in inputs[input].values.chunks_exact_mut(room * size) {
                    head[exist * size..].fill(f64::NAN);
                }
            }
            assert_eq!(as_with_casts(op, &inputs, &[4, queries, width]), y);
        }
    }
}

#[test]
fn a_past_without_room_is_an_error() {
    for past in [2, 3, u32::MAX] {
        let error = keys(past, &[0.0; 3], &[1.0; 3], true).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Past { past: past as usize, queries: 2, keys: 3 });
    }
    assert!(keys(1, &[0.0; 3], &[1.0; 3], true).is_ok());
}

/// Far positions keep their fraction: cos(1000000) and sin(1000000).
#[test]
fn late_positions() {
    let inputs = [list(&[1, 2], &[1.0, 0.0]), given(&[], Layout::packed(), Values::Whole(vec![1_000_000]))];
    let y = given(&[1, 2], Layout::packed(), Values::Seed(0));
    let op = op::Rope { axis: 0, dims: 2, base: 10000.0, halves: false };
    let y = run(op, &mut lay(&inputs, &y, 0, 0, 0xff)).unwrap();
    assert!((y[0] - 0.936_752_1).abs() < 1e-6 && (y[1] + 0.349_993_5).abs() < 1e-6, "{y:?}");
}

/// A mask for no keys has no elements, for a later head neither.
#[test]
fn a_mask_for_no_keys() {
    let inputs = [list(&[2, 1, 1], &[1.0; 2]), list(&[2, 0, 1], &[]), list(&[2, 0, 1], &[]), list(&[2, 1, 0], &[])];
    let y = given(&[2, 1, 1], Layout::packed(), Values::Seed(0));
    let op = op::Attention { causal: false, scale: 1.0 };
    assert_eq!(run(op, &mut lay(&inputs, &y, 0, 0, 0xff)).unwrap(), [0.0, 0.0]);
}
