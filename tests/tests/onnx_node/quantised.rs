//! ONNX's quantised operators: floats in between, in which small integers and their sums are exact, rounding and casts,
//! which saturate.

use model_graph_planner::op::Value;
use model_graph_planner::{DType, TensorId};

use crate::build::{Builder, Left, axis, dtype, ints};
use crate::case::Node;
use crate::shapes;

/// The results of a node, or none when the operator is of another family.
pub(crate) fn build(b: &mut Builder, node: &Node) -> Left<Option<Vec<TensorId>>> {
    let result = match node.op.as_str() {
        "QuantizeLinear" => {
            let x = b.tensor(node, 0)?;
            let scale = b.tensor(node, 1)?;
            let to = if b.has(node, 2) { b.tensor(node, 2).map(|zero| b.dtype_of(zero))? } else { dtype("uint8")? };
            let scale = along(b, x, scale, node)?;
            let zero = if b.has(node, 2) { Some(b.tensor(node, 2)?) } else { None };
            let zero = zero.map(|zero| along(b, x, zero, node)).transpose()?;
            quantise(b, x, scale, zero, to)?
        }
        "DequantizeLinear" => {
            let (x, scale) = (b.tensor(node, 0)?, b.tensor(node, 1)?);
            let scale = along(b, x, scale, node)?;
            let mut numbers = b.cast(x, DType::F32)?;
            if b.has(node, 2) {
                let zero = b.tensor(node, 2)?;
                let zero = along(b, x, zero, node)?;
                numbers = b.join("sub", numbers, zero)?;
            }
            b.join("mul", numbers, scale)?
        }
        "DynamicQuantizeLinear" => return dynamic(b, node).map(Some),
        "MatMulInteger" => {
            let a = less_zero(b, node, 0, 2, false)?;
            let other = less_zero(b, node, 1, 3, false)?;
            let product = b.join("matmul", a, other)?;
            b.cast(product, DType::I32)?
        }
        "ConvInteger" => {
            let x = less_zero(b, node, 0, 2, false)?;
            let w = less_zero(b, node, 1, 3, true)?;
            let sums = conv(b, x, w, node)?;
            b.cast(sums, DType::I32)?
        }
        "QLinearMatMul" => {
            let a = less_zero(b, node, 0, 2, false)?;
            let other = less_zero(b, node, 3, 5, false)?;
            let product = b.join("matmul", a, other)?;
            requantise(b, product, node, false)?
        }
        "QLinearConv" => {
            let x = less_zero(b, node, 0, 2, false)?;
            let w = less_zero(b, node, 3, 5, true)?;
            let mut sums = conv(b, x, w, node)?;
            if b.has(node, 8) {
                let bias = b.tensor(node, 8)?;
                let bias = b.cast(bias, DType::F32)?;
                let bias = channels(b, bias, 1)?;
                sums = b.join("add", sums, bias)?;
            }
            requantise(b, sums, node, true)?
        }
        _ => return Ok(None),
    };
    Ok(Some(vec![result]))
}

/// A scale or a zero as floats that line up with `x`: one, one per channel, or one per block of elements.
fn along(b: &mut Builder, x: TensorId, given: TensorId, node: &Node) -> Left<TensorId> {
    let given = b.cast(given, DType::F32)?;
    let (dims, own) = (b.dims(x), b.dims(given));
    let at = axis(node.int("axis").unwrap_or(1), dims.len().max(2))?;
    match node.int("block_size").unwrap_or(0) as usize {
        0 if own.iter().product::<usize>() == 1 => b.reshape(given, &[]),
        0 => {
            let mut shape = vec![1; dims.len()];
            shape[at] = own[0];
            b.reshape(given, &shape)
        }
        block => {
            let mut shape = own.clone();
            shape.insert(at + 1, 1);
            let apart = b.reshape(given, &shape)?;
            shape[at + 1] = block;
            let all = b.call("broadcast_to", &[("shape", Value::List(&ints(&shape)))], &[apart])?;
            let all = b.call("copy", &[], &[all])?;
            let mut shape = own;
            shape[at] *= block;
            b.reshape(all, &shape)
        }
    }
}

/// `x / scale`, rounded to the even one of two, plus zero.
fn quantise(b: &mut Builder, x: TensorId, scale: TensorId, zero: Option<TensorId>, to: DType) -> Left<TensorId> {
    let parts = b.join("div", x, scale)?;
    let mut whole = b.map("round", parts)?;
    if let Some(zero) = zero {
        whole = b.join("add", whole, zero)?;
    }
    b.cast(whole, to)
}

/// The range of what comes, widened to hold 0, becomes that of `u8`.
fn dynamic(b: &mut Builder, node: &Node) -> Left<Vec<TensorId>> {
    let x = b.tensor(node, 0)?;
    let (high, low) = (b.map("max", x)?, b.map("min", x)?);
    let (high, low) = (b.with("maximum", high, 0.0)?, b.with("minimum", low, 0.0)?);
    let range = b.join("sub", high, low)?;
    let scale = b.with("div", range, 255.0)?;
    let below = b.map("neg", low)?;
    let below = b.join("div", below, scale)?;
    let zero = b.map("round", below)?;
    let y = quantise(b, x, scale, Some(zero), DType::U8)?;
    Ok(vec![y, scale, b.cast(zero, DType::U8)?])
}

/// An operand as floats, less its zero, of which there may be one for each filter.
fn less_zero(b: &mut Builder, node: &Node, operand: usize, zero: usize, filters: bool) -> Left<TensorId> {
    let x = b.tensor(node, operand)?;
    let x = b.cast(x, DType::F32)?;
    if !b.has(node, zero) {
        return Ok(x);
    }
    let zero = b.tensor(node, zero)?;
    let mut zero = b.cast(zero, DType::F32)?;
    if filters {
        zero = channels(b, zero, 0)?;
    }
    b.join("sub", x, zero)
}

/// Numbers of channels against pictures or filters, with the channels at `at`.
fn channels(b: &mut Builder, numbers: TensorId, at: usize) -> Left<TensorId> {
    let mut shape = [1; 4];
    shape[at] = b.dims(numbers).iter().product();
    b.reshape(numbers, &shape)
}

/// What Conv makes of the two with the node's settings; its border of 0 stands for the zero.
fn conv(b: &mut Builder, x: TensorId, w: TensorId, node: &Node) -> Left<TensorId> {
    let names = ["x less its zero", "w less its zero"].map(String::from);
    b.set(&names[0], x);
    b.set(&names[1], w);
    let plain =
        Node { op: "Conv".into(), inputs: names.to_vec(), outputs: vec![String::new()], attrs: node.attrs.clone() };
    Ok(shapes::build(b, &plain)?.ok_or("no convolution")?[0])
}

/// Sums in units of both scales, in those of the result. The scales are operands 1, 4 and 6, its zero is the last.
fn requantise(b: &mut Builder, sums: TensorId, node: &Node, filters: bool) -> Left<TensorId> {
    let mut scales = Vec::new();
    for index in [1, 4, 6] {
        let scale = b.tensor(node, index)?;
        let mut scale = b.cast(scale, DType::F32)?;
        if filters && index == 4 {
            scale = channels(b, scale, 1)?;
        }
        scales.push(scale);
    }
    let both = b.join("mul", scales[0], scales[1])?;
    let ratio = b.join("div", scales[2], both)?;
    let zero = b.tensor(node, 7)?;
    let to = b.dtype_of(zero);
    let zero = b.cast(zero, DType::F32)?;
    quantise(b, sums, ratio, Some(zero), to)
}
