//! Quantised operators against exact integer arithmetic, written down a second time: products in `i128`, rounded by the
//! definition. Softmax is compared with `f64`; the networks in `tests/` hold it to the reference's own outputs.

mod exact;

use model_graph::DType;
use model_graph::op;
use proptest::prelude::*;

use self::exact::*;
use crate::harness::indices;

#[derive(Clone, Debug)]
struct Case {
    n: usize,
    channels: usize,
    /// Filters, or for a depthwise convolution filters for each channel.
    filters: usize,
    image: [usize; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 4],
    dilation: [usize; 2],
    each_scale: bool,
    bias: bool,
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let extents = (0..3usize, prop_oneof![0..6usize, 30..40usize], prop_oneof![0..4usize, 33..36usize]);
    let windows = ([0..8usize, 0..8usize], [1..4usize, 1..4usize], [1..4usize, 1..4usize]);
    let edges = (prop::array::uniform4(0..3usize), [1..3usize, 1..3usize], any::<[bool; 2]>(), 1..u64::MAX);
    (extents, windows, edges).prop_map(
        |((n, channels, filters), (image, kernel, stride), (padding, dilation, [each_scale, bias], seed))| {
            let reach = [0, 1].map(|side| (kernel[side] - 1) * dilation[side] + 1);
            let image =
                [0, 1].map(|side| image[side].max(reach[side].saturating_sub(padding[side] + padding[side + 2])));
            Case { n, channels, filters, image, kernel, stride, padding, dilation, each_scale, bias, seed }
        },
    )
}

impl Case {
    fn windows(&self) -> [usize; 2] {
        [0, 1].map(|side| {
            let reach = (self.kernel[side] - 1) * self.dilation[side] + 1;
            (self.image[side] + self.padding[side] + self.padding[side + 2] - reach) / self.stride[side] + 1
        })
    }

    /// Taps of a window that lie in the image, each with its pixel.
    fn taps(&self, window: [usize; 2]) -> Vec<([usize; 2], [usize; 2])> {
        let mut taps = Vec::new();
        for tap in indices(&self.kernel) {
            let at = [0, 1].map(|side| {
                let at = window[side] * self.stride[side] + tap[side] * self.dilation[side];
                at.checked_sub(self.padding[side]).filter(|at| *at < self.image[side])
            });
            if let [Some(y), Some(x)] = at {
                taps.push(([tap[0], tap[1]], [y, x]));
            }
        }
        taps
    }

    /// The sum of one filter in one window.
    fn sum(
        &self,
        x: &[i8],
        zero: i32,
        window: &[usize],
        weight: impl Fn([usize; 2], usize) -> i8,
        channels: std::ops::Range<usize>,
    ) -> i64 {
        let [n, i, j] = [window[0], window[1], window[2]];
        let mut sum = 0;
        for (tap, [y, z]) in self.taps([i, j]) {
            for channel in channels.clone() {
                let x = x[((n * self.image[0] + y) * self.image[1] + z) * self.channels + channel];
                sum += (i64::from(x) - i64::from(zero)) * i64::from(weight(tap, channel));
            }
        }
        sum
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn quantised_convolutions(case in cases()) {
        let Case { n, channels, filters, image, kernel, stride, padding, dilation, .. } = case;
        let mut draw = Draw(case.seed);
        let x = draw.i8s(n * image[0] * image[1] * channels);
        let w = draw.i8s(filters * kernel[0] * kernel[1] * channels);
        let w_scale = draw.scales(if case.each_scale { filters } else { 1 });
        let (x_scale, y_scale, bias) = (draw.scale(), draw.scale(), draw.i32s(filters));
        let (x_zero, y_zero, [low, high]) = (draw.zero(), draw.zero(), draw.range());
        let mut inputs = vec![
            given(&[n, image[0], image[1], channels], Data::I8(x.clone())),
            given(&[filters, kernel[0], kernel[1], channels], Data::I8(w.clone())),
            scalar(x_scale),
            given(&[w_scale.len()], Data::F32(w_scale.clone())),
            scalar(y_scale),
        ];
        if case.bias {
            inputs.push(given(&[filters], Data::I32(bias.clone())));
        }
        let windows = case.windows();
        let dims = [n, windows[0], windows[1], filters];
        let op = op::QConv2d { stride, padding, dilation, x_zero, y_zero, low, high };
        let actual = i8s(&result(op, &inputs, (DType::I8, &dims)));
        for (index, actual) in indices(&dims).iter().zip(actual) {
            let o = index[3];
            let weight = |[u, v]: [usize; 2], c: usize| w[((o * kernel[0] + u) * kernel[1] + v) * channels + c];
            let sum = case.sum(&x, x_zero, index, weight, 0..channels) + if case.bias { i64::from(bias[o]) } else { 0 };
            let scale = w_scale[if case.each_scale { o } else { 0 }];
            let factor = f64::from(x_scale) * f64::from(scale) / f64::from(y_scale);
            prop_assert_eq!(actual, cut(scaled(sum, factor) + i128::from(y_zero), low, high), "at {:?}", index);
        }
    }

    #[test]
    fn quantised_depthwise_convolutions(case in cases()) {
        let Case { n, channels, image, kernel, stride, padding, dilation, .. } = case;
        let each = case.filters.min(3);
        let filters = channels * each;
        let mut draw = Draw(case.seed);
        let x = draw.i8s(n * image[0] * image[1] * channels);
        let w = draw.i8s(kernel[0] * kernel[1] * filters);
        let w_scale = draw.scales(if case.each_scale { filters } else { 1 });
        let (x_scale, y_scale, bias) = (draw.scale(), draw.scale(), draw.i32s(filters));
        let (x_zero, y_zero, [low, high]) = (draw.zero(), draw.zero(), draw.range());
        let mut inputs = vec![
            given(&[n, image[0], image[1], channels], Data::I8(x.clone())),
            given(&[1, kernel[0], kernel[1], filters], Data::I8(w.clone())),
            scalar(x_scale),
            given(&[w_scale.len()], Data::F32(w_scale.clone())),
            scalar(y_scale),
        ];
        if case.bias {
            inputs.push(given(&[filters], Data::I32(bias.clone())));
        }
        let windows = case.windows();
        let dims = [n, windows[0], windows[1], filters];
        let op = op::QDepthwiseConv2d { stride, padding, dilation, x_zero, y_zero, low, high };
        let actual = i8s(&result(op, &inputs, (DType::I8, &dims)));
        for (index, actual) in indices(&dims).iter().zip(actual) {
            let o = index[3];
            let weight = |[u, v]: [usize; 2], _: usize| w[(u * kernel[1] + v) * filters + o];
            let sum = case.sum(&x, x_zero, index, weight, o / each..o / each + 1);
            let sum = sum + if case.bias { i64::from(bias[o]) } else { 0 };
            let scale = w_scale[if case.each_scale { o } else { 0 }];
            let factor = f64::from(x_scale) * f64::from(scale) / f64::from(y_scale);
            prop_assert_eq!(actual, cut(scaled(sum, factor) + i128::from(y_zero), low, high), "at {:?}", index);
        }
    }

    #[test]
    fn hybrid_convolutions(case in cases()) {
        let Case { n, channels, filters, image, kernel, stride, padding, dilation, .. } = case;
        let mut draw = Draw(case.seed);
        let size = image[0] * image[1] * channels;
        let x: Vec<f32> = draw.i8s(n * size).into_iter().map(|x| f32::from(x) * 0.37 + 0.01).collect();
        let w = draw.i8s(filters * kernel[0] * kernel[1] * channels);
        let w_scale = draw.scales(if case.each_scale { filters } else { 1 });
        let bias: Vec<f32> = draw.i8s(filters).into_iter().map(f32::from).collect();
        let mut inputs = vec![
            given(&[n, image[0], image[1], channels], Data::F32(x.clone())),
            given(&[filters, kernel[0], kernel[1], channels], Data::I8(w.clone())),
            given(&[w_scale.len()], Data::F32(w_scale.clone())),
        ];
        if case.bias {
            inputs.push(given(&[filters], Data::F32(bias.clone())));
        }
        let windows = case.windows();
        let dims = [n, windows[0], windows[1], filters];
        let actual = result(op::HybridConv2d { stride, padding, dilation }, &inputs, (DType::F32, &dims));
        let mut quantised = Vec::new();
        let mut x_scales = Vec::new();
        for image in 0..n {
            let x = &x[image * size..(image + 1) * size];
            let largest = x.iter().fold(0f32, |largest, x| largest.max(x.abs()));
            let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            quantised.extend(x.iter().map(|x| (x * inverse).round() as i8));
            x_scales.push(if largest > 0.0 { f64::from(largest / 127.0) } else { 1.0 });
        }
        for (index, actual) in indices(&dims).iter().zip(actual.chunks_exact(4)) {
            let o = index[3];
            let weight = |[u, v]: [usize; 2], c: usize| w[((o * kernel[0] + u) * kernel[1] + v) * channels + c];
            let sum = case.sum(&quantised, 0, index, weight, 0..channels) as f64;
            let scale = f64::from(w_scale[if case.each_scale { o } else { 0 }]) * x_scales[index[0]];
            let expected = sum * scale + if case.bias { f64::from(bias[o]) } else { 0.0 };
            let actual = f64::from(f32::from_ne_bytes(actual.try_into().unwrap()));
            prop_assert!((actual - expected).abs() <= 1e-6 * expected.abs().max(1.0) + 1e-6 * (sum * scale).abs(),
                "{} and not {} at {:?}", actual, expected, index);
        }
    }

    #[test]
    fn quantised_linear_layers(
        rows in 0..4usize, depth in prop_oneof![0..5usize, 60..70usize], outputs in prop_oneof![0..4usize, 33..40usize],
        each_scale: bool, with_bias: bool, flat: bool, seed in 1..u64::MAX,
    ) {
        let mut draw = Draw(seed);
        let rows = if flat { 1 } else { rows };
        let (x, w) = (draw.i8s(rows * depth), draw.i8s(outputs * depth));
        let w_scale = draw.scales(if each_scale { outputs } else { 1 });
        let (x_scale, y_scale, bias) = (draw.scale(), draw.scale(), draw.i32s(outputs));
        let (x_zero, y_zero, [low, high]) = (draw.zero(), draw.zero(), draw.range());
        let x_dims = if flat { vec![depth] } else { vec![rows, 1, depth] };
        let mut inputs = vec![
            given(&x_dims, Data::I8(x.clone())),
            given(&[outputs, depth], Data::I8(w.clone())),
            scalar(x_scale),
            given(&[w_scale.len()], Data::F32(w_scale.clone())),
            scalar(y_scale),
        ];
        if with_bias {
            inputs.push(given(&[outputs], Data::I32(bias.clone())));
        }
        let dims = if flat { vec![outputs] } else { vec![rows, 1, outputs] };
        let actual = i8s(&result(op::QLinear { x_zero, y_zero, low, high }, &inputs, (DType::I8, &dims)));
        for (index, actual) in actual.into_iter().enumerate() {
            let (row, o) = (index / outputs, index % outputs);
            let term = |k: usize| (i64::from(x[row * depth + k]) - i64::from(x_zero)) * i64::from(w[o * depth + k]);
            let sum = (0..depth).map(term).sum::<i64>() + if with_bias { i64::from(bias[o]) } else { 0 };
            // A scale that all rows share is multiplied in single precision.
            let product = if w_scale.len() > 1 {
                f64::from(x_scale) * f64::from(w_scale[o])
            } else {
                f64::from(x_scale * w_scale[0])
            };
            let factor = product / f64::from(y_scale);
            prop_assert_eq!(actual, cut(scaled_once(sum, factor) + i128::from(y_zero), low, high), "row {} of {}", row, o);
        }
    }

    #[test]
    fn quantised_sums(
        dims in prop::collection::vec(0..5usize, 0..4), stretch: [bool; 2], shorter: bool, turned: [bool; 2],
        seed in 1..u64::MAX,
    ) {
        let mut draw = Draw(seed);
        let mut b_dims: Vec<usize> = dims.clone();
        if shorter && !b_dims.is_empty() {
            b_dims.remove(0);
        }
        for (dim, one) in b_dims.iter_mut().zip(stretch) {
            *dim = if one { 1 } else { *dim };
        }
        let (a, b) = (draw.i8s(dims.iter().product()), draw.i8s(b_dims.iter().product()));
        let [a_scale, b_scale, y_scale] = [draw.scale(), draw.scale(), draw.scale()];
        let [a_zero, b_zero, y_zero] = [draw.zero(), draw.zero(), draw.zero()];
        let [low, high] = draw.range();
        let inputs = [
            Given { dims: dims.clone(), data: Data::I8(a.clone()), turned: turned[0] },
            Given { dims: b_dims.clone(), data: Data::I8(b.clone()), turned: turned[1] },
            scalar(a_scale), scalar(b_scale), scalar(y_scale),
        ];
        let op = op::QAdd { a_zero, b_zero, y_zero, low, high };
        let actual = i8s(&result(op, &inputs, (DType::I8, &dims)));
        let twice = 2.0 * f64::from(a_scale.max(b_scale));
        for ((index, actual), a) in indices(&dims).iter().zip(actual).zip(a) {
            let index = &index[index.len() - b_dims.len()..];
            let at = b_dims.iter().zip(index).fold(0, |at, (dim, i)| at * dim + if *dim == 1 { 0 } else { *i });
            let a = scaled((i64::from(a) - i64::from(a_zero)) << 20, f64::from(a_scale) / twice);
            let b = scaled((i64::from(b[at]) - i64::from(b_zero)) << 20, f64::from(b_scale) / twice);
            let sum = scaled((a + b) as i64, twice / (f64::from(1 << 20) * f64::from(y_scale)));
            prop_assert_eq!(actual, cut(sum + i128::from(y_zero), low, high));
        }
    }

    #[test]
    fn quantised_pools(case in cases()) {
        let Case { n, channels, image, kernel, stride, .. } = case;
        let padding = [0, 1, 2, 3].map(|edge| case.padding[edge] % kernel[edge % 2]);
        let image = [0, 1].map(|side| image[side].max(kernel[side].saturating_sub(padding[side] + padding[side + 2])));
        let case = Case { padding, image, dilation: [1, 1], ..case };
        let mut draw = Draw(case.seed);
        let x = draw.i8s(n * image[0] * image[1] * channels);
        let [low, high] = draw.range();
        let inputs = [given(&[n, image[0], image[1], channels], Data::I8(x.clone()))];
        let windows = case.windows();
        let dims = [n, windows[0], windows[1], channels];
        let mean = i8s(&result(op::QAvgPool2d { kernel, stride, padding, low, high }, &inputs, (DType::I8, &dims)));
        let most = i8s(&result(op::QMaxPool2d { kernel, stride, padding, low, high }, &inputs, (DType::I8, &dims)));
        for (at, index) in indices(&dims).iter().enumerate() {
            let value = |(_, [y, z]): ([usize; 2], [usize; 2])| {
                f64::from(x[((index[0] * image[0] + y) * image[1] + z) * channels + index[3]])
            };
            let seen: Vec<f64> = case.taps([index[1], index[2]]).into_iter().map(value).collect();
            let sum: f64 = seen.iter().sum();
            let expected = if seen.is_empty() { 0.0 } else { (sum / seen.len() as f64).round() };
            prop_assert_eq!(mean[at], cut(expected as i128, low, high));
            let largest = seen.iter().fold(-128.0, |a: f64, b| a.max(*b));
            prop_assert_eq!(most[at], cut(largest as i128, low, high));
        }
    }

    #[test]
    fn quantised_softmax(rows in 0..4usize, row in prop_oneof![0..6usize, 100..200usize], seed in 1..u64::MAX) {
        let mut draw = Draw(seed);
        let (x, scale) = (draw.i8s(rows * row), draw.scale());
        let beta = [1.0, 0.5, 3.0][(draw.next() % 3) as usize];
        let dims = [rows, row];
        let inputs = [given(&dims, Data::I8(x.clone())), scalar(scale)];
        let actual = i8s(&result(op::QSoftmax { beta }, &inputs, (DType::I8, &dims)));
        for (x, actual) in x.chunks_exact(row.max(1)).zip(actual.chunks_exact(row.max(1))) {
            let largest = f64::from(*x.iter().max().unwrap());
            let exp = |x: i8| ((f64::from(x) - largest) * f64::from(scale) * f64::from(beta)).exp();
            let sum: f64 = x.iter().map(|x| exp(*x)).sum();
            for (x, actual) in x.iter().zip(actual) {
                let expected = (exp(*x) / sum * 256.0 - 128.0).clamp(-128.0, 127.0);
                prop_assert!((f64::from(*actual) - expected).abs() <= 0.51, "{} and not {}", actual, expected);
            }
        }
    }

    #[test]
    fn to_integers_and_back(dims in prop::collection::vec(0..5usize, 0..4), along: bool, axis: usize, seed in 1..u64::MAX) {
        let mut draw = Draw(seed);
        let count = dims.iter().product();
        let axis = if dims.is_empty() { 0 } else { axis % dims.len() };
        let scales = draw.scales(if along && !dims.is_empty() { dims[axis] } else { 1 });
        let zero = draw.zero();
        // Halves among them.
        let x: Vec<f32> = draw.i32s(count).into_iter().map(|x| x as f32 / 64.0 * scales.first().unwrap_or(&1.0)).collect();
        let scale = given(&[scales.len()], Data::F32(scales.clone()));
        let op = op::Quantize { zero, axis };
        let inputs = [given(&dims, Data::F32(x.clone())), scale.clone()];
        let integers = i8s(&result(op, &inputs, (DType::I8, &dims)));
        let inputs = [given(&dims, Data::I8(integers.clone())), scale];
        let back = result(op::Dequantize { zero, axis }, &inputs, (DType::F32, &dims));
        for (at, index) in indices(&dims).iter().enumerate() {
            let scale = if scales.len() == 1 { scales[0] } else { scales[index[axis]] };
            let expected = cut((x[at] / scale).round() as i128 + i128::from(zero), -128, 127);
            prop_assert_eq!(integers[at], expected);
            let number = f32::from_ne_bytes(back[4 * at..][..4].try_into().unwrap());
            prop_assert_eq!(number, scale * (i32::from(expected) - zero) as f32);
        }
    }
}

/// Scales that nobody has written, and numbers that are none, still give what is said of them, and no panic.
#[test]
fn what_is_no_scale_gives_the_zero() {
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let inputs = [
            given(&[1, 3], Data::I8(vec![1, 2, 3])),
            given(&[2, 3], Data::I8(vec![9; 6])),
            scalar(scale),
            scalar(0.5),
            scalar(0.25),
        ];
        let op = op::QLinear { x_zero: 0, y_zero: 7, low: -128, high: 127 };
        assert_eq!(i8s(&result(op, &inputs, (DType::I8, &[1, 2]))), [7, 7]);
        let inputs = [given(&[3], Data::I8(vec![1, -2, 3])), scalar(scale)];
        result(op::QSoftmax { beta: 1.0 }, &inputs, (DType::I8, &[3]));
    }
    let numbers = vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30];
    let inputs = [given(&[4], Data::F32(numbers)), scalar(0.5)];
    assert_eq!(i8s(&result(op::Quantize { zero: 3, axis: 0 }, &inputs, (DType::I8, &[4]))), [3, 127, -128, 127]);
}
