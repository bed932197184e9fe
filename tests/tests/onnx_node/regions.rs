//! ONNX's Resize of regions and without aliases, as products with matrices of weights, and the positions of MaxPool.

use model_graph_planner::op::Value;
use model_graph_planner::{DType, TensorId};

use crate::build::{Builder, Left, axis, int, ints};
use crate::case::Node;

/// What the result's elements along one axis are made of.
struct Line {
    axis: usize,
    results: usize,
    /// A row of weights for each input, one for each result.
    weights: Vec<f32>,
    /// Which results lie within the input.
    inside: Vec<bool>,
}

/// Resize by weights that are known beforehand: along each axis a product with a matrix.
pub(crate) fn resize(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let mut x = b.tensor(node, 0)?;
    let rank = b.dims(x).len();
    let lines = lines(b, node, &b.dims(x))?;
    for line in &lines {
        let inputs = b.dims(x)[line.axis];
        let weights = b.constant(&[inputs, line.results], line.weights.clone())?;
        let order: Vec<usize> = (0..rank).filter(|at| *at != line.axis).chain([line.axis]).collect();
        let back: Vec<usize> = (0..rank).map(|at| order.iter().position(|to| *to == at).unwrap_or(at)).collect();
        let last = b.permute(x, &order)?;
        let last = b.join("matmul", last, weights)?;
        x = b.permute(last, &back)?;
    }
    for line in lines.iter().filter(|line| line.inside.contains(&false)) {
        let mut shape = vec![1; rank];
        shape[line.axis] = line.results;
        let inside = line.inside.iter().map(|inside| f64::from(u8::from(*inside))).collect();
        let inside = b.constant_of(DType::Bool, &shape, inside)?;
        let other = b.number(node.float("extrapolation_value", 0.0))?;
        x = b.call("where", &[], &[inside, x, other])?;
    }
    Ok(x)
}

fn lines(b: &Builder, node: &Node, dims: &[usize]) -> Left<Vec<Line>> {
    let rank = dims.len();
    let axes = node.ints("axes").unwrap_or((0..rank as i64).collect());
    let [roi, scales, sizes] = [1, 2, 3].map(|index| b.known(node, index));
    let roi = roi?.unwrap_or_default();
    let (scales, sizes) = (scales?.unwrap_or_default(), sizes?.unwrap_or_default());
    let mut lines = Vec::new();
    for (index, given) in axes.iter().enumerate() {
        let along = axis(*given, rank)?;
        let inputs = dims[along];
        let scale = match sizes.get(index) {
            Some(size) => size / inputs as f64,
            None => *scales.get(index).ok_or("no size")?,
        };
        let results = (scale * inputs as f64 + 1e-9).floor() as usize;
        let region = match node.word("coordinate_transformation_mode") {
            "tf_crop_and_resize" => Some([roi[index], roi[index + axes.len()]]),
            "" | "half_pixel" => None,
            other => return Err(format!("resizing without aliases by {other}")),
        };
        if scale == 1.0 && region.is_none_or(|region| region == [0.0, 1.0]) {
            continue;
        }
        let mut weights = vec![0.0; inputs * results];
        let mut inside = vec![true; results];
        for result in 0..results {
            let at = match region {
                None => (result as f64 + 0.5) / scale - 0.5,
                Some([start, end]) => {
                    let last = (inputs - 1) as f64;
                    let way = if results == 1 { 0.5 } else { result as f64 / (results - 1) as f64 };
                    (start + way * (end - start)) * last
                }
            };
            inside[result] = region.is_none() || (0.0..=(inputs - 1) as f64).contains(&at);
            // The neighbour to the left is never the place itself.
            let left = at.ceil() - 1.0;
            let (first, taps) = taps(node, at - left, scale);
            for (tap, weight) in taps.iter().enumerate() {
                let input = (left as i64 + first + tap as i64).clamp(0, inputs as i64 - 1) as usize;
                weights[input * results + result] += *weight as f32;
            }
        }
        lines.push(Line { axis: along, results, weights, inside });
    }
    Ok(lines)
}

/// The weights of the neighbours of a place that lies `ratio` behind the one to its left, from the first of them on.
/// Without aliases a filter becomes wider as the picture becomes smaller.
fn taps(node: &Node, ratio: f64, scale: f64) -> (i64, Vec<f64>) {
    let stretch = if node.flag("antialias") { scale.min(1.0) } else { 1.0 };
    let (reach, a) = (if node.word("mode") == "cubic" { 2.0 } else { 1.0 }, node.float("cubic_coeff_a", -0.75));
    let filter = |x: f64| match x.abs() {
        x if reach == 1.0 => (1.0 - x).max(0.0),
        x if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
        x if x < 2.0 => ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
        _ => 0.0,
    };
    let first = (-reach / stretch).floor() as i64 + 1;
    let taps: Vec<f64> = (first..2 - first).map(|tap| filter(stretch * (tap as f64 - ratio))).collect();
    let sum: f64 = taps.iter().sum();
    (first, taps.into_iter().map(|tap| tap / sum).collect())
}

/// Where the largest element of each window lies among all of `x`: its place in the window by `arg_max` over the
/// window's elements side by side, then looked up.
pub(crate) fn positions(
    b: &mut Builder,
    node: &Node,
    x: TensorId,
    [kernel, stride, dilation, padding]: [&[usize]; 4],
) -> Left<TensorId> {
    let dims = b.dims(x);
    let [before, after] = [&padding[..2], &padding[2..]].map(|pads| ints(&[0, 0, pads[0], pads[1]]));
    let border = [
        ("before", Value::List(&before)),
        ("after", Value::List(&after)),
        ("value", Value::Float(f64::from(f32::MIN))),
    ];
    let wide = b.call("pad", &border, &[x])?;
    let sides = [0, 1].map(|side| {
        let whole = dims[2 + side] + padding[side] + padding[side + 2];
        (whole - (kernel[side] - 1) * dilation[side] - 1) / stride[side] + 1
    });
    // Elements that are neighbours in the order in which positions are counted.
    let apart = if node.flag("storage_order") { [1, dims[2]] } else { [dims[3], 1] };
    let (mut taps, mut places) = (Vec::new(), Vec::new());
    for tap in 0..kernel[0] * kernel[1] {
        let start = [tap / kernel[1] * dilation[0], tap % kernel[1] * dilation[1]];
        let mut seen = wide;
        for side in 0..2 {
            let end = start[side] + (sides[side] - 1) * stride[side] + 1;
            seen = b.slice(seen, 2 + side, [start[side], end, stride[side]])?;
        }
        taps.push(b.call("expand_dims", &[("axis", int(2))], &[seen])?);
        places.push((start[0] * apart[0] + start[1] * apart[1]) as f64);
    }
    let taps = b.concat(&taps, 2)?;
    let tap = b.call("arg_max", &[("axis", int(2))], &[taps])?;
    let places = b.constant_of(DType::I64, &[places.len()], places)?;
    let within = b.join("gather", places, tap)?;
    let shape = [dims[0], dims[1], sides[0], sides[1]];
    let plane = sides[0] * sides[1];
    let first = (0..dims[0] * dims[1] * plane).map(|at| {
        let (row, column) = (at % plane / sides[1] * stride[0], at % sides[1] * stride[1]);
        let corner = (row * apart[0] + column * apart[1]) as f64;
        (at / plane * dims[2] * dims[3]) as f64 + corner - (padding[0] * apart[0] + padding[1] * apart[1]) as f64
    });
    let first = first.collect();
    let first = b.constant_of(DType::I64, &shape, first)?;
    b.join("add", within, first)
}
