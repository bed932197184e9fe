//! ONNX's Fourier transforms and Einsum: products with constant waves, and sums over labelled dimensions.

use std::f64::consts::TAU;

use model_graph_planner::op::Value;
use model_graph_planner::{DType, TensorId};

use crate::build::{Builder, Left, axis, int, ints};
use crate::case::Node;

/// The only result of a node, or none when the operator is of another family.
pub(crate) fn build(b: &mut Builder, node: &Node) -> Left<Option<TensorId>> {
    match node.op.as_str() {
        "DFT" => transform(b, node).map(Some),
        "STFT" => frames(b, node).map(Some),
        "Einsum" => einsum(b, node).map(Some),
        _ => Ok(None),
    }
}

/// `cos` and `sin` of `2π n k / length` for each input `n` and result `k`, times a weight of the input.
fn waves(inputs: usize, results: usize, length: usize, weight: impl Fn(usize) -> f64) -> [Vec<f32>; 2] {
    [f64::cos, f64::sin].map(|wave| {
        let at = |at: usize| {
            let (n, k) = (at / results, at % results);
            (weight(n) * wave(TAU * (n * k % length) as f64 / length as f64)) as f32
        };
        (0..inputs * results).map(at).collect()
    })
}

/// The discrete Fourier transform along an axis, as products with two matrices; the last dimension holds real and
/// imaginary parts.
fn transform(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let dims = b.dims(x);
    let rank = dims.len() - 1;
    let given = match b.opset < 20 {
        true => node.int("axis").unwrap_or(1),
        false => b.known(node, 2)?.map_or(-2, |axis| axis[0] as i64),
    };
    let along = axis(given, rank + 1)?;
    if b.has(node, 1) {
        return Err("transforms of a length of their own".into());
    }
    let (inverse, onesided) = (node.flag("inverse"), node.flag("onesided"));
    let count = dims[along];
    let length = if inverse && onesided { 2 * (count - 1) } else { count };
    let results = if onesided && !inverse { length / 2 + 1 } else { length };
    let weight = |n: usize| match (inverse, onesided) {
        (false, _) => 1.0,
        (true, false) => 1.0 / length as f64,
        // Of the half that is not given only the ends have no counterpart.
        (true, true) => (if n == 0 || 2 * n == length { 1.0 } else { 2.0 }) / length as f64,
    };
    let mut order: Vec<usize> = (0..rank).filter(|dim| *dim != along).collect();
    order.push(along);
    let back: Vec<usize> = (0..rank).map(|dim| order.iter().position(|at| *at == dim).unwrap_or(dim)).collect();
    let mut parts = Vec::new();
    for part in 0..dims[rank] {
        let one = b.slice(x, rank, [part, part + 1, 1])?;
        let one = b.reshape(one, &dims[..rank])?;
        parts.push(b.permute(one, &order)?);
    }
    let [cos, sin] = waves(count, results, length, weight);
    let sin = if inverse { sin.into_iter().map(|value| -value).collect() } else { sin };
    let [cos, sin] = [cos, sin].map(|values| b.constant(&[count, results], values));
    let (cos, sin) = (cos?, sin?);
    let mut real = b.join("matmul", parts[0], cos)?;
    let mut other = b.join("matmul", parts[0], sin)?;
    other = b.map("neg", other)?;
    if let Some(imaginary) = parts.get(1) {
        let more = b.join("matmul", *imaginary, sin)?;
        real = b.join("add", real, more)?;
        let more = b.join("matmul", *imaginary, cos)?;
        other = b.join("add", other, more)?;
    }
    let mut sides = Vec::new();
    for side in if inverse && onesided { vec![real] } else { vec![real, other] } {
        let side = b.permute(side, &back)?;
        sides.push(b.call("expand_dims", &[("axis", int(rank))], &[side])?);
    }
    b.concat(&sides, rank)
}

/// Windows of a signal, each transformed: a convolution whose filters are waves.
fn frames(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let signal = b.tensor(node, 0)?;
    let dims = b.dims(signal);
    if dims.get(2) == Some(&2) {
        return Err("windows of complex signals".into());
    }
    let known = |index: usize| -> Left<Option<usize>> { Ok(b.known(node, index)?.map(|values| values[0] as usize)) };
    let (step, window) = (known(1)?.ok_or("no step")?, b.has(node, 2));
    let length = match window {
        false => known(3)?.ok_or("no length")?,
        true => b.tensor(node, 2).map(|window| b.dims(window)[0])?,
    };
    let bins = if node.int("onesided") == Some(0) { length } else { length / 2 + 1 };
    let [cos, sin] = waves(bins, length, length, |_| 1.0);
    let filters = [cos, sin.into_iter().map(|value| -value).collect()].concat();
    let mut filters = b.constant(&[2 * bins, 1, length], filters)?;
    if window {
        let window = b.tensor(node, 2)?;
        filters = b.join("mul", filters, window)?;
    }
    let line = b.reshape(signal, &[dims[0], 1, dims[1]])?;
    let y = b.call("conv1d", &[("stride", int(step))], &[line, filters])?;
    let count = b.dims(y)[2];
    let y = b.reshape(y, &[dims[0], 2, bins, count])?;
    b.permute(y, &[0, 3, 2, 1])
}

/// Every operand under all labels, those of the result first; their product summed over the others.
fn einsum(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let equation: String = node.word("equation").chars().filter(|sign| !sign.is_whitespace()).collect();
    let (operands, result) = equation.split_once("->").ok_or("Einsum without a result")?;
    let once = |labels: &str| labels.chars().all(|label| labels.matches(label).count() == 1);
    if equation.contains('.') || !operands.split(',').chain([result]).all(once) {
        return Err("Einsum of diagonals or of dimensions without a label".into());
    }
    let mut labels: Vec<char> = result.chars().collect();
    for label in operands.chars().filter(|label| *label != ',') {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let mut product: Option<TensorId> = None;
    let mut dtype = DType::F32;
    for (index, own) in operands.split(',').enumerate() {
        let x = b.tensor(node, index)?;
        dtype = b.dtype_of(x);
        let x = b.cast(x, DType::F32)?;
        let own: Vec<char> = own.chars().collect();
        let order: Vec<usize> = labels.iter().filter_map(|label| own.iter().position(|other| other == label)).collect();
        let dims = b.dims(x);
        let x = b.permute(x, &order)?;
        let shape: Vec<usize> =
            labels.iter().map(|label| own.iter().position(|other| other == label).map_or(1, |at| dims[at])).collect();
        let x = b.reshape(x, &shape)?;
        product = Some(match product {
            None => x,
            Some(product) => b.join("mul", product, x)?,
        });
    }
    let axes = ints(&(result.len()..labels.len()).collect::<Vec<usize>>());
    let sum = b.call("sum", &[("axes", Value::List(&axes))], &[product.ok_or("no operands")?])?;
    b.cast(sum, dtype)
}
