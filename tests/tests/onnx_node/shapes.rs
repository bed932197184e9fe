//! ONNX's operators that move elements, and its images, in terms of the language's operators.

use model_graph_planner::op::Value;
use model_graph_planner::{DType, TensorId};

use crate::build::{Builder, Left, axis, dtype, int, ints};
use crate::case::Node;
use crate::regions;

/// The results of a node, or none when the operator is of another family.
pub(crate) fn build(b: &mut Builder, node: &Node) -> Left<Option<Vec<TensorId>>> {
    let result = match node.op.as_str() {
        "Identity" => b.tensor(node, 0)?,
        "Dropout" => return dropout(b, node).map(Some),
        "Constant" => {
            let (mut dims, mut values) = (Vec::new(), Vec::new());
            literal(&node.attrs["value"]["tensor"], 0, &mut dims, &mut values);
            let dtype = node.attrs["value"]["dtype"].as_str().unwrap_or("float32");
            b.set_known(&node.outputs[0], dtype, dims, values);
            return Ok(Some(Vec::new()));
        }
        "ConstantOfShape" => {
            let dims = sizes(b.known(node, 0)?)?;
            let value = &node.attrs["value"];
            let dtype = dtype(value["dtype"].as_str().unwrap_or("float32"))?;
            b.constant_of(dtype, &dims, vec![value["tensor"][0].as_f64().unwrap_or(0.0); dims.iter().product()])?
        }
        "Flatten" => {
            let x = b.tensor(node, 0)?;
            let dims = b.dims(x);
            let at = axis(node.int("axis").unwrap_or(1), dims.len())?;
            b.reshape(x, &[dims[..at].iter().product(), dims[at..].iter().product()])?
        }
        "Reshape" => reshape(b, node)?,
        "Squeeze" | "Unsqueeze" => squeeze(b, node)?,
        "Transpose" => {
            let x = b.tensor(node, 0)?;
            let rank = b.dims(x).len();
            let axes = match node.ints("perm") {
                Some(axes) => axes.iter().map(|axis| *axis as usize).collect(),
                None => (0..rank).rev().collect::<Vec<usize>>(),
            };
            b.permute(x, &axes)?
        }
        "Slice" => slice(b, node)?,
        "Split" => return split(b, node).map(Some),
        "Concat" => {
            let parts = b.tensors(node)?;
            let along = axis(node.int("axis").unwrap_or(1), b.dims(parts[0]).len())?;
            b.concat(&parts, along)?
        }
        "Expand" => {
            let x = b.tensor(node, 0)?;
            let dims = sizes(b.known(node, 1)?)?;
            // ONNX stretches both ways.
            let given = b.dims(x);
            let rank = dims.len().max(given.len());
            let at = |list: &[usize], axis: usize| (axis + list.len()).checked_sub(rank).map_or(1, |axis| list[axis]);
            let dims: Vec<usize> = (0..rank).map(|axis| at(&dims, axis).max(at(&given, axis))).collect();
            b.call("broadcast_to", &[("shape", Value::List(&ints(&dims)))], &[x])?
        }
        "Tile" => {
            let mut x = b.tensor(node, 0)?;
            for (axis, times) in sizes(b.known(node, 1)?)?.into_iter().enumerate() {
                x = b.concat(&vec![x; times], axis)?;
            }
            x
        }
        "Pad" => pad(b, node)?,
        "DepthToSpace" | "SpaceToDepth" => depth(b, node)?,
        "Conv" => conv(b, node)?,
        "MaxPool" | "AveragePool" => return pool(b, node).map(Some),
        "GlobalAveragePool" => {
            let x = b.tensor(node, 0)?;
            b.map("global_avg_pool", x)?
        }
        "GlobalMaxPool" => {
            let x = b.tensor(node, 0)?;
            let axes = ints(&(2..b.dims(x).len()).collect::<Vec<usize>>());
            b.call("max", &[("axes", Value::List(&axes)), ("keep_dims", Value::Bool(true))], &[x])?
        }
        _ => return Ok(None),
    };
    Ok(Some(vec![result]))
}

/// Extents and elements of nested lists.
fn literal(json: &serde_json::Value, depth: usize, dims: &mut Vec<usize>, values: &mut Vec<f64>) {
    match json.as_array() {
        Some(list) => {
            if dims.len() == depth {
                dims.push(list.len());
            }
            list.iter().for_each(|item| literal(item, depth + 1, dims, values));
        }
        None => values.extend(json.as_f64()),
    }
}

fn sizes(values: Option<Vec<f64>>) -> Left<Vec<usize>> {
    Ok(values.ok_or("settings that are computed")?.into_iter().map(|value| value as usize).collect())
}

/// In inference, or with nothing to drop, the operand itself, and that nothing was dropped.
fn dropout(b: &mut Builder, node: &Node) -> Left<Vec<TensorId>> {
    let training = b.known(node, 2)?.is_some_and(|values| values.first() == Some(&1.0));
    let ratio = b.known(node, 1)?.map_or(0.5, |values| values[0]);
    if training && ratio != 0.0 {
        return Err("random numbers: a forward gives the same for the same inputs".into());
    }
    let x = b.tensor(node, 0)?;
    let dims = b.dims(x);
    let mask = b.constant_of(DType::Bool, &dims, vec![1.0; dims.iter().product()])?;
    Ok(vec![x, mask])
}

fn reshape(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let dims = b.dims(x);
    let wanted = b.known(node, 1)?.ok_or("settings that are computed")?;
    let wanted: Vec<Value<'_>> = wanted
        .iter()
        .enumerate()
        .map(|(axis, size)| match *size as i64 {
            -1 => Value::Infer,
            0 if !node.flag("allowzero") => int(dims[axis]),
            size => Value::Int(size, 0),
        })
        .collect();
    b.call("reshape", &[("shape", Value::List(&wanted))], &[x])
}

fn squeeze(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let mut dims = b.dims(x);
    let given: Vec<i64> = match b.known(node, 1)? {
        Some(axes) => axes.iter().map(|axis| *axis as i64).collect(),
        None => node.ints("axes").ok_or("Squeeze without axes")?,
    };
    let more = node.op == "Unsqueeze";
    let rank = dims.len() + if more { given.len() } else { 0 };
    let mut axes = given.iter().map(|given| axis(*given, rank)).collect::<Left<Vec<usize>>>()?;
    axes.sort_unstable();
    if more {
        axes.iter().for_each(|axis| dims.insert(*axis, 1));
    } else {
        axes.iter().rev().for_each(|axis| assert_eq!(dims.remove(*axis), 1));
    }
    b.reshape(x, &dims)
}

fn slice(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let mut x = b.tensor(node, 0)?;
    let whole = |values: Vec<f64>| values.iter().map(|value| *value as i64).collect::<Vec<i64>>();
    let setting = |index: usize, name: &str| -> Left<Option<Vec<i64>>> {
        Ok(b.known(node, index)?.map(whole).or(node.ints(name)))
    };
    let (starts, ends) = (setting(1, "starts")?.unwrap_or_default(), setting(2, "ends")?.unwrap_or_default());
    let axes = setting(3, "axes")?.unwrap_or((0..starts.len() as i64).collect());
    let steps = setting(4, "steps")?.unwrap_or(vec![1; starts.len()]);
    for index in 0..starts.len() {
        let dims = b.dims(x);
        let along = axis(axes[index], dims.len())?;
        let size = dims[along] as i64;
        let Ok(step) = usize::try_from(steps[index]) else {
            x = backwards(b, x, along, [starts[index], ends[index], steps[index]])?;
            continue;
        };
        let clip = |at: i64| (if at < 0 { at + size } else { at }).clamp(0, size) as usize;
        let (start, end) = (clip(starts[index]), clip(ends[index]));
        x = b.slice(x, along, [start, end.max(start), step])?;
    }
    Ok(x)
}

/// A slice whose step is below 0: a lookup by indices that are known.
fn backwards(b: &mut Builder, x: TensorId, along: usize, [start, end, step]: [i64; 3]) -> Left<TensorId> {
    let size = b.dims(x)[along] as i64;
    let clip = |at: i64| (if at < 0 { at + size } else { at }).clamp(-1, size - 1);
    let (mut at, end) = (clip(start), clip(end));
    let mut indices = Vec::new();
    while at > end {
        indices.push(at as f64);
        at += step;
    }
    let indices = b.constant_of(DType::I64, &[indices.len()], indices)?;
    b.call("gather", &[("axis", int(along))], &[x, indices])
}

fn split(b: &mut Builder, node: &Node) -> Left<Vec<TensorId>> {
    let x = b.tensor(node, 0)?;
    let dims = b.dims(x);
    let along = axis(node.int("axis").unwrap_or(0), dims.len())?;
    let parts = match (b.known(node, 1)?, node.ints("split")) {
        (Some(parts), _) => parts.iter().map(|part| *part as usize).collect(),
        (None, Some(parts)) => parts.iter().map(|part| *part as usize).collect(),
        (None, None) => vec![dims[along].div_ceil(node.outputs.len()); node.outputs.len()],
    };
    if parts.iter().all(|part| *part == parts[0]) && parts[0] * parts.len() == dims[along] && dims.len() < 6 {
        let all = b.call("split", &[("axis", int(along)), ("parts", int(parts.len()))], &[x])?;
        return (0..parts.len())
            .map(|index| {
                let one = b.slice(all, 0, [index, index + 1, 1])?;
                b.call("squeeze", &[("axes", int(0))], &[one])
            })
            .collect();
    }
    let mut start = 0;
    parts
        .into_iter()
        .map(|part| {
            let end = (start + part).min(dims[along]);
            let cut = b.slice(x, along, [start, end, 1]);
            start = end;
            cut
        })
        .collect()
}

/// Blocks of the value side by side with the operand.
fn pad(b: &mut Builder, node: &Node) -> Left<TensorId> {
    if !["", "constant"].contains(&node.word("mode")) {
        return Err(format!("padding by {}", node.word("mode")));
    }
    let mut x = b.tensor(node, 0)?;
    let rank = b.dims(x).len();
    let pads: Vec<i64> = match b.known(node, 1)? {
        Some(pads) => pads.iter().map(|pad| *pad as i64).collect(),
        None => node.ints("pads").ok_or("no padding")?,
    };
    let value = b.known(node, 2)?.map_or(node.float("value", 0.0), |values| values[0]);
    let axes: Vec<i64> = match b.known(node, 3)? {
        Some(axes) => axes.iter().map(|axis| *axis as i64).collect(),
        None => (0..rank as i64).collect(),
    };
    let mut counts = [vec![0; rank], vec![0; rank]];
    for (index, given) in axes.iter().enumerate() {
        let along = axis(*given, rank)?;
        let extent = b.dims(x)[along];
        // A border of less than nothing cuts.
        let ends = [pads[index], pads[index + axes.len()]];
        let [start, end] = ends.map(|count| count.min(0).unsigned_abs() as usize);
        if start + end > 0 {
            x = b.slice(x, along, [start, extent.checked_sub(end).ok_or("a cut beyond the other end")?, 1])?;
        }
        for (counts, count) in counts.iter_mut().zip(ends) {
            counts[along] = count.max(0) as usize;
        }
    }
    let [before, after] = counts.map(|counts| ints(&counts));
    let border = [("before", Value::List(&before)), ("after", Value::List(&after)), ("value", Value::Float(value))];
    b.call("pad", &border, &[x])
}

fn depth(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let block = node.int("blocksize").ok_or("no block size")? as usize;
    let mode = if node.word("mode") == "CRD" { "crd" } else { "dcr" };
    let name = if node.op == "DepthToSpace" { "depth_to_space" } else { "space_to_depth" };
    b.call(name, &[("block", int(block)), ("mode", Value::Word(mode))], &[x])
}

/// Windows over the last two dimensions; one dimension is taken as a plane of height 1.
struct Windows {
    kernel: Vec<usize>,
    stride: Vec<usize>,
    dilation: Vec<usize>,
    padding: Vec<usize>,
    line: bool,
}

fn windows(node: &Node, dims: &[usize], kernel: &[usize]) -> Left<Windows> {
    let sides = kernel.len();
    if sides > 2 {
        return Err("windows of 3 dimensions".into());
    }
    let get = |name: &str, default: usize, count: usize| -> Vec<usize> {
        node.ints(name).map_or(vec![default; count], |list| list.iter().map(|value| *value as usize).collect())
    };
    let (mut stride, mut dilation) = (get("strides", 1, sides), get("dilations", 1, sides));
    let (mut kernel, mut padding) = (kernel.to_vec(), get("pads", 0, 2 * sides));
    if node.word("auto_pad").starts_with("SAME") {
        for side in 0..sides {
            let size = dims[2 + side];
            let reach = (kernel[side] - 1) * dilation[side] + 1;
            let total = ((size.div_ceil(stride[side]) - 1) * stride[side] + reach).saturating_sub(size);
            let (less, more) = (total / 2, total - total / 2);
            let upper = node.word("auto_pad") == "SAME_UPPER";
            (padding[side], padding[side + sides]) = if upper { (less, more) } else { (more, less) };
        }
    }
    if sides == 1 {
        for list in [&mut kernel, &mut stride, &mut dilation] {
            list.insert(0, 1);
        }
        padding = vec![0, padding[0], 0, padding[1]];
    }
    Ok(Windows { kernel, stride, dilation, padding, line: sides == 1 })
}

/// `N C L` as `N C 1 L`.
fn lift(b: &mut Builder, x: TensorId, line: bool) -> Left<TensorId> {
    let mut dims = b.dims(x);
    if !line {
        return Ok(x);
    }
    dims.insert(2, 1);
    b.reshape(x, &dims)
}

fn lower(b: &mut Builder, x: TensorId, line: bool) -> Left<TensorId> {
    let mut dims = b.dims(x);
    if !line {
        return Ok(x);
    }
    dims.remove(2);
    b.reshape(x, &dims)
}

fn conv(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let mut operands = b.tensors(node)?;
    let (dims, kernel) = (b.dims(operands[0]), b.dims(operands[1])[2..].to_vec());
    let w = windows(node, &dims, &kernel)?;
    for operand in &mut operands[..2] {
        *operand = lift(b, *operand, w.line)?;
    }
    let [stride, dilation, padding] = [&w.stride, &w.dilation, &w.padding].map(|list| ints(list));
    let settings = [
        ("stride", Value::List(&stride)),
        ("dilation", Value::List(&dilation)),
        ("padding", Value::List(&padding)),
        ("groups", int(node.int("group").unwrap_or(1) as usize)),
    ];
    let result = b.call("conv2d", &settings, &operands)?;
    lower(b, result, w.line)
}

fn pool(b: &mut Builder, node: &Node) -> Left<Vec<TensorId>> {
    let given = b.tensor(node, 0)?;
    let dtype = b.dtype_of(given);
    // Pools are of floats, in which small integers are exact.
    let x = if dtype.is_float() { given } else { b.cast(given, DType::F32)? };
    let kernel = node.ints("kernel_shape").ok_or("no window")?;
    let kernel: Vec<usize> = kernel.iter().map(|size| *size as usize).collect();
    let w = windows(node, &b.dims(x), &kernel)?;
    let x = lift(b, x, w.line)?;
    let [kernel, stride, dilation, padding] = [&w.kernel, &w.stride, &w.dilation, &w.padding].map(|list| ints(list));
    let mut settings = vec![
        ("kernel", Value::List(&kernel)),
        ("stride", Value::List(&stride)),
        ("dilation", Value::List(&dilation)),
        ("padding", Value::List(&padding)),
        ("ceil", Value::Bool(node.flag("ceil_mode"))),
    ];
    let name = if node.op == "MaxPool" {
        "max_pool2d"
    } else {
        settings.push(("count_padding", Value::Bool(node.flag("count_include_pad"))));
        "avg_pool2d"
    };
    let result = b.call(name, &settings, &[x])?;
    let result = lower(b, result, w.line)?;
    let mut results = vec![b.cast(result, dtype)?];
    if node.outputs.len() > 1 {
        if w.line || node.flag("ceil_mode") {
            return Err("positions in lines, or in windows beyond the end".into());
        }
        results.push(regions::positions(b, node, x, [&w.kernel, &w.stride, &w.dilation, &w.padding])?);
    }
    Ok(results)
}
