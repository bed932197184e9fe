//! Pooling.

use model_graph::op;
use proptest::prelude::*;

use crate::convolution::arrange;
use crate::harness::*;

#[derive(Clone, Debug)]
struct Case {
    n: usize,
    channels: usize,
    image: [usize; 2],
    window: op::Window,
}

fn cases() -> impl Strategy<Value = Case> {
    let two = prop::array::uniform2::<std::ops::Range<usize>>;
    let window = (two(1..5), two(1..4), prop::array::uniform4(0..12usize), two(1..4), any::<[bool; 2]>());
    (0..3usize, 0..6usize, 0..9usize, 0..24usize, window).prop_map(
        |(n, channels, height, width, (kernel, stride, padding, dilation, [ceil, channels_last]))| {
            let reach = [0, 1].map(|side| (kernel[side] - 1) * dilation[side] + 1);
            // The planner's rule: padding is less than the window, and the window fits once.
            let padding = [0, 1, 2, 3].map(|edge| padding[edge] % reach[edge % 2]);
            let image = [0, 1]
                .map(|side| [height, width][side].max(reach[side].saturating_sub(padding[side] + padding[side + 2])));
            let window = op::Window { kernel, stride, padding, dilation, ceil, channels_last };
            Case { n, channels, image, window }
        },
    )
}

fn windows(case: &Case) -> [usize; 2] {
    let w = &case.window;
    [0, 1].map(|side| {
        let reach = (w.kernel[side] - 1) * w.dilation[side] + 1;
        let room = case.image[side] + w.padding[side] + w.padding[side + 2] - reach;
        let mut count = room / w.stride[side] + 1;
        if w.ceil && !room.is_multiple_of(w.stride[side]) {
            count += 1;
        }
        // A window that would start behind the image is none.
        while w.ceil && count > 1 && (count - 1) * w.stride[side] >= case.image[side] + w.padding[side] {
            count -= 1;
        }
        count
    })
}

/// The elements under a window, and how many taps lie in the image or its padding.
fn under(case: &Case, x: &Tensor, index: &[usize]) -> (Vec<f64>, usize) {
    let w = &case.window;
    let [n, c, i, j] = if w.channels_last {
        [index[0], index[3], index[1], index[2]]
    } else {
        [index[0], index[1], index[2], index[3]]
    };
    let (mut elements, mut taps) = (vec![], 0);
    for u in 0..w.kernel[0] {
        for v in 0..w.kernel[1] {
            let at = [i * w.stride[0] + u * w.dilation[0], j * w.stride[1] + v * w.dilation[1]];
            let counted = [0, 1].iter().all(|s| at[*s] < w.padding[*s] + case.image[*s] + w.padding[*s + 2]);
            let inside = [0, 1].iter().all(|s| at[*s] >= w.padding[*s] && at[*s] < w.padding[*s] + case.image[*s]);
            taps += usize::from(counted);
            if inside {
                let pixel = [at[0] - w.padding[0], at[1] - w.padding[1]];
                elements.push(x.at(&arrange(w.channels_last, n, c, pixel)));
            }
        }
    }
    (elements, taps)
}

fn largest(elements: &[f64]) -> f64 {
    elements.iter().fold(f64::NEG_INFINITY, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(*b) })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn windows_of_every_kind(case in cases(), seed: u64, place in (0..3usize, 0..5usize)) {
        let op::Window { kernel, stride, padding, dilation, ceil, channels_last } = case.window;
        let x = |values| [given(&arrange(channels_last, case.n, case.channels, case.image), Layout::packed(), values)];
        let y = given(&arrange(channels_last, case.n, case.channels, windows(&case)), Layout::packed(), Values::Seed(0));
        let max = op::MaxPool2d { kernel, stride, padding, dilation, ceil, channels_last };
        check(max, &x(Values::Special(seed)), &y, place, 0.0, |x, index| largest(&under(&case, &x[0], index).0));
        for count_padding in [false, true] {
            let mean = op::AvgPool2d { kernel, stride, padding, dilation, ceil, count_padding, channels_last };
            check(mean, &x(Values::Seed(seed)), &y, place, 1e-6, |x, index| {
                let (elements, taps) = under(&case, &x[0], index);
                elements.iter().sum::<f64>() / (if count_padding { taps } else { elements.len() }) as f64
            });
        }
    }

    /// Pooling of sequences is that of images of height 1.
    #[test]
    fn sequences(case in cases(), seed: u64, place in (0..3usize, 0..5usize)) {
        let op::Window { kernel, stride, padding, dilation, ceil, channels_last } = case.window;
        let (kernel, stride, dilation) = (kernel[1], stride[1], dilation[1]);
        let padding = [padding[1], padding[3]];
        let max = op::MaxPool1d { kernel, stride, padding, dilation, ceil, channels_last };
        let mean = op::AvgPool1d { kernel, stride, padding, dilation, ceil, count_padding: seed % 2 == 0, channels_last };
        // Written out, so that it is not what the kernel itself makes of the line.
        let window = op::Window {
            kernel: [1, kernel], stride: [1, stride], padding: [0, padding[0], 0, padding[1]], dilation: [1, dilation],
            ceil, channels_last,
        };
        let case = Case { image: [1, case.image[1]], window, ..case };
        let dims = |length: usize| match channels_last {
            true => vec![case.n, length, case.channels],
            false => vec![case.n, case.channels, length],
        };
        let x = [given(&dims(case.image[1]), Layout::packed(), Values::Seed(seed))];
        let y = given(&dims(windows(&case)[1]), Layout::packed(), Values::Seed(0));
        let under = |x: &Tensor, index: &[usize]| {
            let mut lifted = (x.clone(), index.to_vec());
            lifted.0.dims.insert(if channels_last { 1 } else { 2 }, 1);
            lifted.1.insert(if channels_last { 1 } else { 2 }, 0);
            under(&case, &lifted.0, &lifted.1)
        };
        check(max, &x, &y, place, 0.0, |x, index| largest(&under(&x[0], index).0));
        check(mean, &x, &y, place, 1e-6, |x, index| {
            let (elements, taps) = under(&x[0], index);
            elements.iter().sum::<f64>() / (if mean.count_padding { taps } else { elements.len() }) as f64
        });
    }

    #[test]
    fn whole_planes(
        n in 0..3usize, c in 0..40usize, image in [0..9usize, 0..70usize], last: bool, seed: u64,
        place in (0..3usize, 0..5usize),
    ) {
        let x = [given(&arrange(last, n, c, image), Layout::packed(), Values::Seed(seed))];
        let y = given(&arrange(last, n, c, [1, 1]), Layout::packed(), Values::Seed(0));
        check(op::GlobalAvgPool { channels_last: last }, &x, &y, place, 1e-6, |x, index| {
            let c = if last { index[3] } else { index[1] };
            let pixels = indices(&image);
            let sum: f64 = pixels.iter().map(|pixel| x[0].at(&arrange(last, index[0], c, [pixel[0], pixel[1]]))).sum();
            sum / pixels.len() as f64
        });
    }
}

/// Nearly all taps lie in the padding. They are no work, and there are more of them than a number counts.
#[test]
fn windows_larger_than_any_image() {
    const HUGE: usize = 1 << 62;
    for channels_last in [false, true] {
        let dims = |image| arrange(channels_last, 1, 1, image);
        let (x, y) = ([list(&dims([1, 4]), &[1.0, 4.0, 2.0, 3.0])], list(&dims([2, 5]), &[0.0; 10]));
        let (kernel, stride, dilation, ceil) = ([HUGE; 2], [1; 2], [1; 2], false);
        let padding = [HUGE / 2; 4];
        let max = op::MaxPool2d { kernel, stride, padding, dilation, ceil, channels_last };
        assert_eq!(run(max, &mut lay(&x, &y, 0, 0, 0)).unwrap(), [4.0; 10]);
        let mean =
            |count_padding| op::AvgPool2d { kernel, stride, padding, dilation, ceil, count_padding, channels_last };
        assert_eq!(run(mean(false), &mut lay(&x, &y, 0, 0, 0)).unwrap(), [2.5; 10]);
        let taps = (HUGE as f32).powi(2);
        assert_eq!(run(mean(true), &mut lay(&x, &y, 0, 0, 0)).unwrap(), [10.0 / taps; 10]);
    }
}
