//! ONNX's operators on pictures that are more than one of the language's: windows of three dimensions, transposed
//! convolution with extents that are asked for, and resizing by scales, sizes and policies.

use model_graph_planner::TensorId;
use model_graph_planner::op::Value;

use crate::build::{Builder, Left, axis, int, ints};
use crate::case::Node;
use crate::regions;

/// The results of a node, or none when the operator is of another family.
pub(crate) fn build(b: &mut Builder, node: &Node) -> Left<Option<Vec<TensorId>>> {
    let result = match node.op.as_str() {
        "ConvTranspose" => transposed(b, node)?,
        "Resize" | "Upsample" => resize(b, node)?,
        "Conv" | "MaxPool" | "AveragePool" => {
            let x = b.tensor(node, 0)?;
            match (b.dims(x).len(), node.op.as_str()) {
                (5, "Conv") => deep_conv(b, node)?,
                (5, _) if node.outputs.len() == 1 => deep_pool(b, node)?,
                _ => return Ok(None),
            }
        }
        "Pad" if ["reflect", "edge"].contains(&node.word("mode")) => pad(b, node)?,
        _ => return Ok(None),
    };
    Ok(Some(vec![result]))
}

/// A list of numbers, one for each side.
fn list(node: &Node, name: &str, default: usize, count: usize) -> Vec<usize> {
    node.ints(name).map_or(vec![default; count], |list| list.iter().map(|value| *value as usize).collect())
}

fn transposed(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let mut operands = b.tensors(node)?;
    let (dims, kernel) = (b.dims(operands[0]), b.dims(operands[1])[2..].to_vec());
    let sides = kernel.len();
    let (stride, dilation) = (list(node, "strides", 1, sides), list(node, "dilations", 1, sides));
    let (mut more, mut pads) = (list(node, "output_padding", 0, sides), list(node, "pads", 0, 2 * sides));
    let wanted = node.ints("output_shape");
    let same = node.word("auto_pad").starts_with("SAME");
    for side in 0..sides {
        let whole = (dims[2 + side] - 1) * stride[side] + (kernel[side] - 1) * dilation[side] + 1 + more[side];
        let size = match &wanted {
            Some(wanted) => wanted[side] as usize,
            None if same => dims[2 + side] * stride[side],
            None => continue,
        };
        more[side] += size.saturating_sub(whole);
        let total = whole.saturating_sub(size);
        let upper = node.word("auto_pad") != "SAME_LOWER" && same;
        let (less, rest) = (total / 2, total - total / 2);
        (pads[side], pads[side + sides]) = if upper { (less, rest) } else { (rest, less) };
    }
    let name = match sides {
        1 => "conv_transpose1d",
        2 => "conv_transpose2d",
        _ => return deep_transposed(b, &mut operands, &stride, &pads, [&more, &dilation], node),
    };
    let one = |values: &[usize]| if sides == 1 { int(values[0]) } else { Value::Infer };
    let [stride_list, dilation_list, more_list] = [&stride, &dilation, &more].map(|values| ints(values));
    let pads = ints(&pads);
    let pick = |values: &[usize], list: &'static str| (list, one(values));
    let mut settings = vec![("padding", Value::List(&pads)), ("groups", int(node.int("group").unwrap_or(1) as usize))];
    if sides == 1 {
        settings.extend([pick(&stride, "stride"), pick(&dilation, "dilation"), pick(&more, "output_padding")]);
    } else {
        settings.extend([
            ("stride", Value::List(&stride_list)),
            ("dilation", Value::List(&dilation_list)),
            ("output_padding", Value::List(&more_list)),
        ]);
    }
    b.call(name, &settings, &operands)
}

/// Each plane of the taps spreads all planes of the image; what they give is put at its depth and added.
fn deep_transposed(
    b: &mut Builder,
    operands: &mut [TensorId],
    stride: &[usize],
    pads: &[usize],
    [more, dilation]: [&[usize]; 2],
    node: &Node,
) -> Left<TensorId> {
    let plain = |list: &[usize], value: usize| list.iter().all(|given| *given == value);
    if !(plain(stride, 1) && plain(pads, 0) && plain(more, 0) && plain(dilation, 1)) || node.flag("group") {
        return Err("transposed windows of 3 dimensions with settings".into());
    }
    let (x, w) = (b.dims(operands[0]), b.dims(operands[1]));
    let planes = b.permute(operands[0], &[0, 2, 1, 3, 4])?;
    let planes = b.reshape(planes, &[x[0] * x[2], x[1], x[3], x[4]])?;
    let mut sum = None;
    for tap in 0..w[2] {
        let filter = b.slice(operands[1], 2, [tap, tap + 1, 1])?;
        let filter = b.reshape(filter, &[w[0], w[1], w[3], w[4]])?;
        let y = b.join("conv_transpose2d", planes, filter)?;
        let dims = b.dims(y);
        let y = b.reshape(y, &[x[0], x[2], dims[1], dims[2], dims[3]])?;
        let y = b.permute(y, &[0, 2, 1, 3, 4])?;
        let (before, after) = (ints(&[0, 0, tap, 0, 0]), ints(&[0, 0, w[2] - 1 - tap, 0, 0]));
        let y = b.call("pad", &[("before", Value::List(&before)), ("after", Value::List(&after))], &[y])?;
        sum = Some(match sum {
            None => y,
            Some(sum) => b.join("add", sum, y)?,
        });
    }
    sum.ok_or("no taps".into())
}

/// The padding before and after each of three sides, and the settings of a window.
struct Deep {
    kernel: Vec<usize>,
    stride: Vec<usize>,
    dilation: Vec<usize>,
    pads: Vec<usize>,
}

fn deep(node: &Node, dims: &[usize], kernel: Vec<usize>) -> Deep {
    let (stride, dilation) = (list(node, "strides", 1, 3), list(node, "dilations", 1, 3));
    let mut pads = list(node, "pads", 0, 6);
    if node.word("auto_pad").starts_with("SAME") {
        for side in 0..3 {
            let reach = (kernel[side] - 1) * dilation[side] + 1;
            let windows = dims[2 + side].div_ceil(stride[side]);
            let total = ((windows - 1) * stride[side] + reach).saturating_sub(dims[2 + side]);
            let (less, more) = (total / 2, total - total / 2);
            let upper = node.word("auto_pad") == "SAME_UPPER";
            (pads[side], pads[side + 3]) = if upper { (less, more) } else { (more, less) };
        }
    }
    Deep { kernel, stride, dilation, pads }
}

/// Windows in a plane, then along the depth: both the largest and the mean, whose counts are products, come apart so.
fn deep_pool(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let dims = b.dims(x);
    let w = deep(node, &dims, list(node, "kernel_shape", 1, 3));
    let name = if node.op == "MaxPool" { "max_pool2d" } else { "avg_pool2d" };
    let pool = |b: &mut Builder, x: TensorId, sides: [usize; 2]| -> Left<TensorId> {
        let pick = |values: &[usize], one: usize| ints(&sides.map(|side| values.get(side).copied().unwrap_or(one)));
        let (kernel, stride, dilation) = (pick(&w.kernel, 1), pick(&w.stride, 1), pick(&w.dilation, 1));
        let before = sides.map(|side| if side < 3 { w.pads[side] } else { 0 });
        let after = sides.map(|side| if side < 3 { w.pads[side + 3] } else { 0 });
        let padding = ints(&[before, after].concat());
        let mut settings = vec![
            ("kernel", Value::List(&kernel)),
            ("stride", Value::List(&stride)),
            ("dilation", Value::List(&dilation)),
            ("padding", Value::List(&padding)),
            ("ceil", Value::Bool(node.flag("ceil_mode"))),
        ];
        if name == "avg_pool2d" {
            settings.push(("count_padding", Value::Bool(node.flag("count_include_pad"))));
        }
        b.call(name, &settings, &[x])
    };
    let planes = b.reshape(x, &[dims[0], dims[1] * dims[2], dims[3], dims[4]])?;
    let planes = pool(b, planes, [1, 2])?;
    let plane = b.dims(planes)[2..].to_vec();
    let depths = b.reshape(planes, &[dims[0], dims[1], dims[2], plane[0] * plane[1]])?;
    // There is no side 3: along the planes nothing moves.
    let depths = pool(b, depths, [0, 3])?;
    let depth = b.dims(depths)[2];
    b.reshape(depths, &[dims[0], dims[1], depth, plane[0], plane[1]])
}

/// The sum over the planes of the taps of convolutions of all planes that they see.
fn deep_conv(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let operands = b.tensors(node)?;
    let (dims, filter) = (b.dims(operands[0]), b.dims(operands[1]));
    let w = deep(node, &dims, filter[2..].to_vec());
    let (before, after) = (ints(&[0, 0, w.pads[0], 0, 0]), ints(&[0, 0, w.pads[3], 0, 0]));
    let x = b.call("pad", &[("before", Value::List(&before)), ("after", Value::List(&after))], &[operands[0]])?;
    let depth = b.dims(x)[2];
    let windows = (depth - (w.kernel[0] - 1) * w.dilation[0] - 1) / w.stride[0] + 1;
    let [stride, dilation] = [&w.stride, &w.dilation].map(|list| ints(&list[1..]));
    let padding = ints(&[w.pads[1], w.pads[2], w.pads[4], w.pads[5]]);
    let settings = [
        ("stride", Value::List(&stride)),
        ("dilation", Value::List(&dilation)),
        ("padding", Value::List(&padding)),
        ("groups", int(node.int("group").unwrap_or(1) as usize)),
    ];
    let mut sum = None;
    for tap in 0..w.kernel[0] {
        let start = tap * w.dilation[0];
        let seen = b.slice(x, 2, [start, start + (windows - 1) * w.stride[0] + 1, w.stride[0]])?;
        let seen = b.permute(seen, &[0, 2, 1, 3, 4])?;
        let seen = b.reshape(seen, &[dims[0] * windows, dims[1], dims[3], dims[4]])?;
        let taps = b.slice(operands[1], 2, [tap, tap + 1, 1])?;
        let taps = b.reshape(taps, &[filter[0], filter[1], filter[3], filter[4]])?;
        let mut inputs = vec![seen, taps];
        // The bias counts once.
        inputs.extend(operands.get(2).filter(|_| tap == 0));
        let y = b.call("conv2d", &settings, &inputs)?;
        sum = Some(match sum {
            None => y,
            Some(sum) => b.join("add", sum, y)?,
        });
    }
    let sum = sum.ok_or("no taps")?;
    let plane = b.dims(sum)[1..].to_vec();
    let y = b.reshape(sum, &[dims[0], windows, plane[0], plane[1], plane[2]])?;
    b.permute(y, &[0, 2, 1, 3, 4])
}

fn resize(b: &mut Builder, node: &Node) -> Left<TensorId> {
    if node.flag("antialias") || node.word("coordinate_transformation_mode") == "tf_crop_and_resize" {
        return regions::resize(b, node);
    }
    let x = b.tensor(node, 0)?;
    let dims = b.dims(x);
    let mut axes: Vec<usize> = match node.ints("axes") {
        Some(axes) => axes.iter().map(|given| axis(*given, dims.len())).collect::<Left<_>>()?,
        None => (0..dims.len()).collect(),
    };
    let upsample = node.op == "Upsample";
    let scales = b.known(node, if upsample { 1 } else { 2 })?.filter(|scales| !scales.is_empty());
    let mut sizes = if upsample { None } else { b.known(node, 3)?.filter(|sizes| !sizes.is_empty()) };
    let policy = node.word("keep_aspect_ratio_policy");
    if let Some(sizes) = &mut sizes
        && ["not_larger", "not_smaller"].contains(&policy)
    {
        let ratios = axes.iter().zip(&*sizes).map(|(axis, size)| size / dims[*axis] as f64);
        let scale = if policy == "not_larger" { ratios.fold(f64::MAX, f64::min) } else { ratios.fold(0.0, f64::max) };
        for (axis, size) in axes.iter().zip(sizes) {
            *size = (scale * dims[*axis] as f64 + 0.5).floor();
        }
    }
    // What stays is no axis to be resized, and the language wants them in order.
    let mut given: Vec<(usize, f64)> = axes.drain(..).zip(scales.clone().or(sizes).ok_or("no size")?).collect();
    given.retain(|(axis, value)| if scales.is_some() { *value != 1.0 } else { *value != dims[*axis] as f64 });
    given.sort_by_key(|(axis, _)| *axis);
    let axes = ints(&given.iter().map(|(axis, _)| *axis).collect::<Vec<_>>());
    let values: Vec<Value<'_>> = given
        .iter()
        .map(|(_, value)| if scales.is_some() { Value::Float(*value) } else { int(*value as usize) })
        .collect();
    let word = |name: &str, default: &'static str| -> String {
        Some(node.word(name)).filter(|word| !word.is_empty()).unwrap_or(default).to_string()
    };
    let (mode, coordinates) = (word("mode", "nearest"), word("coordinate_transformation_mode", "half_pixel"));
    let rounding = word("nearest_mode", "round_prefer_floor");
    let settings = [
        ("axes", Value::List(&axes)),
        (if scales.is_some() { "scale" } else { "size" }, Value::List(&values)),
        ("mode", Value::Word(&mode)),
        ("coordinates", Value::Word(if upsample { "asymmetric" } else { &coordinates })),
        ("rounding", Value::Word(if upsample { "floor" } else { &rounding })),
        ("cubic", Value::Float(node.float("cubic_coeff_a", -0.75))),
        ("exclude_outside", Value::Bool(node.flag("exclude_outside"))),
    ];
    b.call("resize", &settings, &[x])
}

fn pad(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let rank = b.dims(x).len();
    let pads: Vec<i64> = match b.known(node, 1)? {
        Some(pads) => pads.iter().map(|pad| *pad as i64).collect(),
        None => node.ints("pads").ok_or("no padding")?,
    };
    let axes: Vec<i64> = match b.known(node, 3)? {
        Some(axes) => axes.iter().map(|axis| *axis as i64).collect(),
        None => (0..rank as i64).collect(),
    };
    let mut counts = [vec![0; rank], vec![0; rank]];
    for (index, given) in axes.iter().enumerate() {
        let along = axis(*given, rank)?;
        for (end, counts) in counts.iter_mut().enumerate() {
            counts[along] =
                usize::try_from(pads[index + end * axes.len()]).map_err(|_| "a border of less than nothing")?;
        }
    }
    let [before, after] = counts.map(|counts| ints(&counts));
    let border =
        [("before", Value::List(&before)), ("after", Value::List(&after)), ("mode", Value::Word(node.word("mode")))];
    b.call("pad", &border, &[x])
}
