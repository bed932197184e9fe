//! Convolutions.

use model_graph::op;
use proptest::prelude::*;

use crate::harness::*;

/// Everything a convolution can be told.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) n: usize,
    pub(crate) channels: usize,
    pub(crate) filters: usize,
    pub(crate) image: [usize; 2],
    pub(crate) kernel: [usize; 2],
    pub(crate) op: op::Conv2d,
    pub(crate) bias: bool,
}

pub(crate) fn arrange(channels_last: bool, n: usize, c: usize, [h, w]: [usize; 2]) -> Vec<usize> {
    if channels_last { vec![n, h, w, c] } else { vec![n, c, h, w] }
}

fn cases() -> impl Strategy<Value = Case> {
    let extents = (0..3usize, 0..6usize, 0..7usize, [0..12usize, 0..40usize], [1..4usize, 1..5usize], 1..4usize);
    let kind = 0..6usize;
    let settings =
        (prop::array::uniform2(1..4usize), prop::array::uniform4(0..3usize), prop::array::uniform2(1..4usize));
    (extents, kind, settings, any::<bool>(), any::<bool>()).prop_map(
        |((n, channels, filters, image, kernel, groups), kind, (stride, padding, dilation), channels_last, bias)| {
            let (channels, filters, groups) = match kind {
                0 => (channels, filters, 1),
                // Depthwise, with channels around a vector's width.
                1 => (channels * 4 + 1, channels * 4 + 1, channels * 4 + 1),
                2 => (channels, channels * 2, channels.max(1)),
                _ => (channels * groups, filters * groups, groups),
            };
            let (kernel, stride, padding) =
                if kind == 3 { ([1, 1], [1, 1], [0; 4]) } else { (kernel, stride, padding) };
            let (stride, dilation) = if kind == 4 { ([1, 1], [1, 1]) } else { (stride, dilation) };
            // The window has to fit once.
            let fit = |side: usize| {
                let reach = (kernel[side] - 1) * dilation[side] + 1;
                image[side].max(reach.saturating_sub(padding[side] + padding[side + 2]))
            };
            let op = op::Conv2d { stride, padding, dilation, groups, channels_last };
            Case { n, channels, filters, image: [fit(0), fit(1)], kernel, op, bias }
        },
    )
}

fn windows(case: &Case) -> [usize; 2] {
    [0, 1].map(|side| {
        let reach = (case.kernel[side] - 1) * case.op.dilation[side] + 1;
        (case.image[side] + case.op.padding[side] + case.op.padding[side + 2] - reach) / case.op.stride[side] + 1
    })
}

/// The sum of the definition, element by element, in `N C H W`.
fn oracle(case: &Case, x: &[Tensor], index: &[usize]) -> f64 {
    let Case { op, kernel, image, channels, filters, .. } = case;
    let [n, o, i, j] = if op.channels_last {
        [index[0], index[3], index[1], index[2]]
    } else {
        [index[0], index[1], index[2], index[3]]
    };
    let seen = channels / op.groups;
    let group = o / (filters / op.groups);
    let mut sum = x.get(2).map_or(0.0, |bias| bias.at(&[o]));
    for c in 0..seen {
        for u in 0..kernel[0] {
            for v in 0..kernel[1] {
                let y = (i * op.stride[0] + u * op.dilation[0]) as isize - op.padding[0] as isize;
                let z = (j * op.stride[1] + v * op.dilation[1]) as isize - op.padding[1] as isize;
                if y >= 0 && z >= 0 && y < image[0] as isize && z < image[1] as isize {
                    let at = arrange(op.channels_last, n, group * seen + c, [y as usize, z as usize]);
                    sum += x[0].at(&at) * x[1].at(&arrange(op.channels_last, o, c, [u, v]));
                }
            }
        }
    }
    sum
}

fn compare(case: &Case, seed: u64, place: (usize, usize)) {
    let last = case.op.channels_last;
    let packed = |dims: &[usize], seed| given(dims, Layout::packed(), Values::Seed(seed));
    let mut inputs = vec![
        packed(&arrange(last, case.n, case.channels, case.image), seed),
        packed(&arrange(last, case.filters, case.channels / case.op.groups, case.kernel), !seed),
    ];
    if case.bias {
        inputs.push(packed(&[case.filters], seed ^ 77));
    }
    let output = packed(&arrange(last, case.n, case.filters, windows(case)), 0);
    // An extent 1 broadcasts in `Tensor::at`, and only index 0 is ever asked of it here.
    check(case.op, &inputs, &output, place, 1e-5, |x, index| oracle(case, x, index));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn convolutions(case in cases(), seed: u64, place in (0..3usize, 0..5usize)) {
        compare(&case, seed, place);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A convolution of sequences is that of images of height 1.
    #[test]
    fn sequences(case in cases(), seed: u64, place in (0..3usize, 0..5usize)) {
        let op::Conv2d { stride, padding, dilation, groups, channels_last } = case.op;
        let (image, kernel) = ([1, case.image[1]], [1, case.kernel[1]]);
        let line = op::Conv1d {
            stride: stride[1], padding: [padding[1], padding[3]], dilation: dilation[1], groups, channels_last,
        };
        // Written out, so that it is not what the kernel itself makes of the line.
        let plane = op::Conv2d {
            stride: [1, stride[1]], padding: [0, padding[1], 0, padding[3]], dilation: [1, dilation[1]], groups,
            channels_last,
        };
        let case = Case { image, kernel, op: plane, ..case };
        let drop = |dims: Vec<usize>| -> Vec<usize> {
            let height = if channels_last { 1 } else { 2 };
            dims.into_iter().enumerate().filter(|(axis, _)| *axis != height).map(|(_, dim)| dim).collect()
        };
        let dims = |n, c, plane| drop(arrange(channels_last, n, c, plane));
        let packed = |dims: &[usize], seed| given(dims, Layout::packed(), Values::Seed(seed));
        let mut inputs = vec![
            packed(&dims(case.n, case.channels, image), seed),
            packed(&dims(case.filters, case.channels / groups, kernel), !seed),
        ];
        if case.bias {
            inputs.push(packed(&[case.filters], seed ^ 77));
        }
        let gap = if channels_last { 0 } else { (seed % 3) as usize };
        let output = given(&dims(case.n, case.filters, windows(&case)), Layout { gap, ..Layout::packed() }, Values::Seed(0));
        check(line, &inputs, &output, place, 1e-5, |x, index| {
            let lift = |index: &[usize]| {
                let mut index = index.to_vec();
                index.insert(if channels_last { 1 } else { 2 }, 0);
                index
            };
            let lifted = |x: &Tensor| Tensor { dims: lift_dims(&x.dims, channels_last), values: x.values.clone() };
            let mut operands = vec![lifted(&x[0]), lifted(&x[1])];
            operands.extend(x.get(2).cloned());
            oracle(&case, &operands, &lift(index))
        });
    }

    #[test]
    fn transposed_convolutions(
        (n, channels, filters, groups) in (0..3usize, 0..4usize, 0..4usize, 1..4usize),
        (image, kernel) in ([1..6usize, 1..40usize], [1..4usize, 1..5usize]),
        (stride, dilation) in (prop::array::uniform2(1..4usize), prop::array::uniform2(1..4usize)),
        padding in prop::array::uniform4(0..4usize), more in prop::array::uniform2(0..3usize),
        bias: bool, line: bool, seed: u64, place in (0..3usize, 0..5usize),
    ) {
        let [mut image, mut kernel, mut stride, mut dilation, mut more] = [image, kernel, stride, dilation, more];
        let mut padding = padding;
        if line {
            for list in [&mut image, &mut kernel, &mut stride, &mut dilation] {
                list[0] = 1;
            }
            (padding[0], padding[2], more[0]) = (0, 0, 0);
        }
        let mut size = [0; 2];
        for side in 0..2 {
            more[side] = more[side].min(stride[side].max(dilation[side]) - 1);
            let whole = (image[side] - 1) * stride[side] + (kernel[side] - 1) * dilation[side] + 1 + more[side];
            padding[side] = padding[side].min(whole - 1);
            padding[side + 2] = padding[side + 2].min(whole - 1 - padding[side]);
            size[side] = whole - padding[side] - padding[side + 2];
        }
        let (channels, outputs) = (channels * groups, filters * groups);
        let dims = |n: usize, c: usize, plane: [usize; 2]| if line { vec![n, c, plane[1]] } else { vec![n, c, plane[0], plane[1]] };
        let packed = |dims: &[usize], seed| given(dims, Layout::packed(), Values::Seed(seed));
        let mut inputs = vec![packed(&dims(n, channels, image), seed), packed(&dims(channels, filters, kernel), !seed)];
        if bias {
            inputs.push(packed(&[outputs], seed ^ 77));
        }
        let output = packed(&dims(n, outputs, size), 0);
        let oracle = |x: &[Tensor], index: &[usize]| {
            let (o, [i, j]) = (index[1], if line { [0, index[2]] } else { [index[2], index[3]] });
            let mut sum = x.get(2).map_or(0.0, |bias| bias.at(&[o]));
            let group = o / filters;
            for c in group * (channels / groups)..(group + 1) * (channels / groups) {
                for (u, v) in (0..kernel[0]).flat_map(|u| (0..kernel[1]).map(move |v| (u, v))) {
                    // Which element lands here through this tap, if one does.
                    let from = |side: usize, at: usize, tap: usize| {
                        let reach = (at + padding[side]).checked_sub(tap * dilation[side])?;
                        let element = reach / stride[side];
                        (reach.is_multiple_of(stride[side]) && element < image[side]).then_some(element)
                    };
                    if let (Some(row), Some(column)) = (from(0, i, u), from(1, j, v)) {
                        let element = x[0].at(&dims(index[0], c, [row, column]));
                        sum += element * x[1].at(&dims(c, o % filters, [u, v]));
                    }
                }
            }
            sum
        };
        let plane = op::ConvTranspose2d { stride, padding, output_padding: more, dilation, groups };
        if line {
            let line = op::ConvTranspose1d {
                stride: stride[1],
                padding: [padding[1], padding[3]],
                output_padding: more[1],
                dilation: dilation[1],
                groups,
            };
            prop_assert_eq!(line.on_images(), plane);
            check(line, &inputs, &output, place, 1e-5, oracle);
        } else {
            check(plane, &inputs, &output, place, 1e-5, oracle);
        }
    }
}

fn lift_dims(dims: &[usize], channels_last: bool) -> Vec<usize> {
    let mut dims = dims.to_vec();
    dims.insert(if channels_last { 1 } else { 2 }, 1);
    dims
}

/// Taps far apart, and rows of few windows.
#[test]
fn far_taps() {
    for (stride, dilation, width) in [(1, 70, 200), (9, 1, 200), (2, 60, 180)] {
        let op = op::Conv2d {
            stride: [1, stride],
            padding: [0, 3, 0, 65],
            dilation: [1, dilation],
            groups: 1,
            channels_last: false,
        };
        let case = Case { n: 1, channels: 2, filters: 5, image: [2, width], kernel: [1, 3], op, bias: true };
        compare(&case, 9, (0, 0));
    }
}

/// Filters of more elements than are packed at a time, and more filters and windows than a panel has columns.
#[test]
fn deep_filters() {
    for (channels, groups, channels_last) in
        [(23, 1, false), (23, 1, true), (30, 2, false), (30, 2, true), (9, 3, false)]
    {
        let op = op::Conv2d { stride: [1, 2], padding: [1, 1, 1, 0], dilation: [1, 1], groups, channels_last };
        let case = Case { n: 2, channels, filters: 18 * groups, image: [4, 11], kernel: [3, 3], op, bias: true };
        compare(&case, 5, (0, 1));
    }
    // Few filters, many channels.
    let op = op::Conv2d { stride: [1, 1], padding: [1; 4], dilation: [1, 2], groups: 1, channels_last: false };
    compare(&Case { n: 1, channels: 40, filters: 3, image: [5, 19], kernel: [3, 2], op, bias: false }, 6, (1, 0));
}
