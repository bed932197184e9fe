//! ONNX's Attention, LayerNormalization and RotaryEmbedding as models write them out: products, softmax, views.

use model_graph_planner::op::Value;
use model_graph_planner::{DType, TensorId};

use crate::build::{Builder, Left, axis, int, ints};
use crate::case::Node;

/// The results of a node, or none when the operator is of another family.
pub(crate) fn build(b: &mut Builder, node: &Node) -> Left<Option<Vec<TensorId>>> {
    match node.op.as_str() {
        "Attention" => attention(b, node).map(Some),
        "LayerNormalization" => layer_norm(b, node).map(Some),
        "BatchNormalization" => batch_norm(b, node).map(Some),
        "RotaryEmbedding" => rotary(b, node).map(|result| Some(vec![result])),
        _ => Ok(None),
    }
}

/// `softmax(q kᵀ scale + mask) v` per head by the language's `attention`; written out where the scores are wanted or bent.
fn attention(b: &mut Builder, node: &Node) -> Left<Vec<TensorId>> {
    let heads = |name: &str| node.int(name).map(|heads| heads as usize);
    let [mut q, mut k, mut v] = [0, 1, 2].map(|index| b.tensor(node, index));
    let flat = b.dims(q.clone()?).len() == 3;
    if flat {
        q = split_heads(b, q?, heads("q_num_heads"));
        k = split_heads(b, k?, heads("kv_num_heads"));
        v = split_heads(b, v?, heads("kv_num_heads"));
    }
    let (q, mut k, mut v) = (q?, k?, v?);
    let mut past = 0;
    if b.has(node, 4) {
        let (past_k, past_v) = (b.tensor(node, 4)?, b.tensor(node, 5)?);
        past = b.dims(past_k)[2];
        k = b.concat(&[past_k, k], 2)?;
        v = b.concat(&[past_v, v], 2)?;
    }
    let (present, columns) = ([k, v], b.dims(k)[2]);
    let wanted = node.outputs.get(3).is_some_and(|name| !name.is_empty());
    let plain = !wanted && node.float("softcap", 0.0) == 0.0;
    // The operator knows where the queries stand among keys of a cache, if they are the last of them.
    let own = past + b.dims(q)[2] == columns || past == 0;
    let causal = node.flag("is_causal") && plain && own && !b.has(node, 6);
    let mask = mask(b, node, q, [past, columns], node.flag("is_causal") && !causal)?;
    let mut seen = Vec::new();
    let mut y = if plain {
        let mut operands = vec![q, k, v];
        operands.extend(mask);
        if causal && past > 0 {
            operands.push(b.constant_of(DType::U32, &[], vec![past as f64])?);
        }
        let mut settings = vec![("causal", Value::Bool(causal))];
        settings.extend(node.attrs["scale"].as_f64().map(|scale| ("scale", Value::Float(scale))));
        b.call("attention", &settings, &operands)?
    } else {
        written_out(b, node, [q, k, v], mask, &mut seen)?
    };
    if flat {
        let dims = b.dims(y);
        let rows = b.permute(y, &[0, 2, 1, 3])?;
        y = b.reshape(rows, &[dims[0], dims[2], dims[1] * dims[3]])?;
    }
    let mode = node.int("qk_matmul_output_mode").unwrap_or(0) as usize;
    Ok([y, present[0], present[1]].into_iter().chain(seen.get(mode).copied()).collect())
}

/// The scores as they come, bent, masked, and as weights; and what the weights make of the values.
fn written_out(
    b: &mut Builder,
    node: &Node,
    [q, k, v]: [TensorId; 3],
    mask: Option<TensorId>,
    seen: &mut Vec<TensorId>,
) -> Left<TensorId> {
    let dims = b.dims(q);
    let shared = dims[1] / b.dims(k)[1];
    let (k, v) = (repeat(b, k, shared)?, repeat(b, v, shared)?);
    let k = b.map("transpose", k)?;
    let scores = b.join("matmul", q, k)?;
    let mut scores = b.with("mul", scores, node.float("scale", 1.0 / (dims[3] as f64).sqrt()))?;
    seen.push(scores);
    let cap = node.float("softcap", 0.0);
    if cap > 0.0 {
        let small = b.with("div", scores, cap)?;
        let bent = b.map("tanh", small)?;
        scores = b.with("mul", bent, cap)?;
    }
    seen.push(scores);
    if let Some(mask) = mask {
        scores = b.join("add", scores, mask)?;
    }
    seen.push(scores);
    let weights = b.map("softmax", scores)?;
    seen.push(weights);
    b.join("matmul", weights, v)
}

/// What is added to the scores: the operand, and what windows, lengths and, if it is asked for, causality hide.
fn mask(
    b: &mut Builder,
    node: &Node,
    q: TensorId,
    [past, columns]: [usize; 2],
    causal: bool,
) -> Left<Option<TensorId>> {
    let (rows, dtype) = (b.dims(q)[2], b.dtype_of(q));
    let mut masks = Vec::new();
    if b.has(node, 3) {
        let mut mask = b.tensor(node, 3)?;
        if b.dtype_of(mask) == DType::Bool {
            mask = hide(b, mask, dtype)?;
        }
        let dims = b.dims(mask);
        let last = dims.len() - 1;
        if dims[last] != 1 && dims[last] < columns {
            // Keys that a mask says nothing of are hidden.
            let mut rest = dims.clone();
            rest[last] = columns - dims[last];
            let rest = b.constant_of(dtype, &rest, vec![f64::NEG_INFINITY; rest.iter().product()])?;
            mask = b.concat(&[mask, rest], last)?;
        }
        masks.push(mask);
    }
    let window = |name: &str| node.int(name).filter(|size| *size >= 0).map(|size| size as f64);
    let (left, right) = (window("left_window_size"), window("right_window_size"));
    let right = if causal { Some(right.unwrap_or(0.0).min(0.0)) } else { right };
    // How far each key stands behind each query; with lengths the last query stands at the last key.
    let distance = (0..rows * columns).map(|at| (at % columns) as f64 - (at / columns + past) as f64).collect();
    let mut distance = b.constant_of(DType::I64, &[rows, columns], distance)?;
    if b.has(node, 6) {
        let lengths = b.tensor(node, 6)?;
        let count = b.dims(lengths)[0];
        let lengths = b.reshape(lengths, &[count, 1, 1, 1])?;
        let keys = b.constant_of(DType::I64, &[columns], (0..columns).map(|key| key as f64).collect())?;
        let there = b.join("less", keys, lengths)?;
        masks.push(hide(b, there, dtype)?);
        let before = b.with("sub", lengths, rows as f64)?;
        distance = b.join("sub", distance, before)?;
    }
    if let Some(left) = left {
        let near = b.with("greater_equal", distance, -left)?;
        masks.push(hide(b, near, dtype)?);
    }
    if let Some(right) = right {
        let near = b.with("less_equal", distance, right)?;
        masks.push(hide(b, near, dtype)?);
    }
    let mut all = None;
    for mask in masks {
        all = Some(match all {
            None => mask,
            Some(all) => b.join("add", all, mask)?,
        });
    }
    Ok(all)
}

/// Nothing where it holds, and what no score comes up against elsewhere.
fn hide(b: &mut Builder, holds: TensorId, dtype: DType) -> Left<TensorId> {
    let seen = b.constant_of(dtype, &[], vec![0.0])?;
    let hidden = b.constant_of(dtype, &[], vec![f64::NEG_INFINITY])?;
    b.call("where", &[], &[holds, seen, hidden])
}

/// `B S (H D)` as `B H S D`.
fn split_heads(b: &mut Builder, x: TensorId, heads: Option<usize>) -> Left<TensorId> {
    let (dims, heads) = (b.dims(x), heads.ok_or("no number of heads")?);
    let split = b.reshape(x, &[dims[0], dims[1], heads, dims[2] / heads])?;
    b.permute(split, &[0, 2, 1, 3])
}

/// Each head `times` times in a row.
fn repeat(b: &mut Builder, x: TensorId, times: usize) -> Left<TensorId> {
    if times == 1 {
        return Ok(x);
    }
    let dims = b.dims(x);
    let apart = b.reshape(x, &[dims[0], dims[1], 1, dims[2], dims[3]])?;
    let all = b.concat(&vec![apart; times], 2)?;
    b.reshape(all, &[dims[0], dims[1] * times, dims[2], dims[3]])
}

/// The normalised rows, their means and one over their deviations.
fn layer_norm(b: &mut Builder, node: &Node) -> Left<Vec<TensorId>> {
    let operands = b.tensors(node)?;
    let rank = b.dims(operands[0]).len();
    let from = axis(node.int("axis").unwrap_or(-1), rank)?;
    let eps = node.float("epsilon", 1e-5);
    let y = b.call("layer_norm", &[("axis", int(from)), ("eps", Value::Float(eps))], &operands)?;
    let axes = ints(&(from..rank).collect::<Vec<usize>>());
    let over = [("axes", Value::List(&axes)), ("keep_dims", Value::Bool(true))];
    let mean = b.call("mean", &over, &operands[..1])?;
    let apart = b.join("sub", operands[0], mean)?;
    let square = b.join("mul", apart, apart)?;
    let variance = b.call("mean", &over, &[square])?;
    let more = b.with("add", variance, eps)?;
    let deviation = b.map("sqrt", more)?;
    let one = b.number(1.0)?;
    let inverse = b.join("div", one, deviation)?;
    Ok(vec![y, mean, inverse])
}

/// Training: the batch's own means and variances, and those that are recorded moved towards them.
fn batch_norm(b: &mut Builder, node: &Node) -> Left<Vec<TensorId>> {
    let operands = b.tensors(node)?;
    let rank = b.dims(operands[0]).len();
    let axes = ints(&(0..rank).filter(|axis| *axis != 1).collect::<Vec<usize>>());
    let kept = [("axes", Value::List(&axes)), ("keep_dims", Value::Bool(true))];
    let mean = b.call("mean", &kept, &operands[..1])?;
    let apart = b.join("sub", operands[0], mean)?;
    let square = b.join("mul", apart, apart)?;
    let variance = b.call("mean", &kept[..1], &[square])?;
    let mean = b.reshape(mean, &b.dims(variance))?;
    let eps = [("eps", Value::Float(node.float("epsilon", 1e-5)))];
    let y = b.call("batch_norm", &eps, &[operands[0], operands[1], operands[2], mean, variance])?;
    let momentum = node.float("momentum", 0.9);
    let mut results = vec![y];
    for (recorded, own) in [(operands[3], mean), (operands[4], variance)] {
        let recorded = b.with("mul", recorded, momentum)?;
        let own = b.with("mul", own, 1.0 - momentum)?;
        results.push(b.join("add", recorded, own)?);
    }
    Ok(results)
}

/// Pairs of elements turned by angles whose cosines and sines are given for every position. The language's `rope` works
/// angles out itself, and those given here are drawn by chance.
fn rotary(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let mut x = b.tensor(node, 0)?;
    let flat = b.dims(x).len() == 3;
    if flat {
        x = split_heads(b, x, node.int("num_heads").map(|heads| heads as usize))?;
    }
    let whole = b.dims(x);
    // Elements beyond those that are turned stay.
    let turned = match node.int("rotary_embedding_dim") {
        Some(count) if count > 0 => count as usize,
        _ => whole[3],
    };
    let rest = b.slice(x, 3, [turned, whole[3], 1])?;
    let x = b.slice(x, 3, [0, turned, 1])?;
    let dims = b.dims(x);
    let (size, half) = (dims[3], dims[3] / 2);
    let cuts = if node.flag("interleaved") { [[0, size, 2], [1, size, 2]] } else { [[0, half, 1], [half, size, 1]] };
    let [even, odd] = [b.slice(x, 3, cuts[0])?, b.slice(x, 3, cuts[1])?];
    let mut angle = [b.tensor(node, 1)?, b.tensor(node, 2)?];
    for angle in &mut angle {
        if b.has(node, 3) {
            let position = b.tensor(node, 3)?;
            *angle = b.join("gather", *angle, position)?;
        }
        *angle = b.reshape(*angle, &[dims[0], 1, dims[2], half])?;
    }
    let turn = |b: &mut Builder, first: TensorId, second: TensorId, name: &str| -> Left<TensorId> {
        let left = b.join("mul", first, angle[0])?;
        let right = b.join("mul", second, angle[1])?;
        b.join(name, left, right)
    };
    let real = turn(b, even, odd, "sub")?;
    let other = turn(b, odd, even, "add")?;
    let mut result = if node.flag("interleaved") {
        let pair = [dims[0], dims[1], dims[2], half, 1];
        let (real, other) = (b.reshape(real, &pair)?, b.reshape(other, &pair)?);
        let pairs = b.concat(&[real, other], 4)?;
        b.reshape(pairs, &dims)?
    } else {
        b.concat(&[real, other], 3)?
    };
    if turned < whole[3] {
        result = b.concat(&[result, rest], 3)?;
    }
    if flat {
        let rows = b.permute(result, &[0, 2, 1, 3])?;
        result = b.reshape(rows, &[whole[0], whole[2], whole[1] * whole[3]])?;
    }
    Ok(result)
}
