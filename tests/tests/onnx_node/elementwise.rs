//! ONNX's elementwise functions, reductions, normalisations and products in terms of the language's operators.

use model_graph_planner::op::Value;
use model_graph_planner::{DType, TensorId};

use crate::build::{Builder, Left, axis, int, ints};
use crate::case::Node;

/// The only result of a node, or none when the operator is of another family.
pub(crate) fn build(b: &mut Builder, node: &Node) -> Left<Option<TensorId>> {
    let result = match node.op.as_str() {
        "Abs" | "Exp" | "Log" | "Neg" | "Relu" | "Sigmoid" | "Sqrt" | "Tanh" | "Round" | "Floor" | "Ceil" | "Sign"
        | "Sin" | "Cos" | "Erf" | "Reciprocal" | "Softplus" | "Not" => {
            let x = b.tensor(node, 0)?;
            b.map(&node.op.to_lowercase(), x)?
        }
        "Gelu" => {
            let x = b.tensor(node, 0)?;
            let how = if node.word("approximate") == "tanh" { "tanh" } else { "none" };
            b.call("gelu", &[("approximate", Value::Word(how))], &[x])?
        }
        "LeakyRelu" => {
            let x = b.tensor(node, 0)?;
            b.call("leaky_relu", &[("slope", Value::Float(node.float("alpha", 0.01)))], &[x])?
        }
        "Elu" => {
            let x = b.tensor(node, 0)?;
            b.call("elu", &[("alpha", Value::Float(node.float("alpha", 1.0)))], &[x])?
        }
        "Selu" => selu(b, node)?,
        "HardSigmoid" => {
            let x = b.tensor(node, 0)?;
            let (slope, offset) = (node.float("alpha", 0.2), node.float("beta", 0.5));
            b.call("hard_sigmoid", &[("slope", Value::Float(slope)), ("offset", Value::Float(offset))], &[x])?
        }
        "HardSwish" | "Mish" => {
            let x = b.tensor(node, 0)?;
            let name = if node.op == "HardSwish" { "hard_swish" } else { &node.op.to_lowercase() };
            b.map(name, x)?
        }
        "Swish" if node.float("alpha", 1.0) == 1.0 => {
            let x = b.tensor(node, 0)?;
            b.map("silu", x)?
        }
        "PRelu" => {
            let (x, mut slope) = (b.tensor(node, 0)?, b.tensor(node, 1)?);
            let (dims, given) = (b.dims(x), b.dims(slope));
            if b.opset < 7 && given.len() == 1 && given[0] > 1 {
                // Before numpy's broadcasting: one slope per channel.
                slope = b.reshape(slope, &[&given[..], &vec![1; dims.len() - 2]].concat())?;
            }
            b.join("prelu", x, slope)?
        }
        "Pow" => {
            let x = b.tensor(node, 0)?;
            let power = b.tensor(node, 1)?;
            // The result has the type of the base.
            let to = b.dtype_of(x);
            let (x, power) = (b.cast(x, DType::F32)?, b.cast(power, DType::F32)?);
            let result = b.join("pow", x, power)?;
            b.cast(result, to)?
        }
        "Clip" => clip(b, node)?,
        "Add" | "Sub" | "Mul" | "Div" | "Max" | "Min" | "Sum" | "Mean" => several(b, node)?,
        "MatMul" => {
            let (left, right) = (b.tensor(node, 0)?, b.tensor(node, 1)?);
            b.join("matmul", left, right)?
        }
        "Gemm" => gemm(b, node)?,
        "Softmax" | "LogSoftmax" => softmax(b, node)?,
        "RMSNormalization" => {
            let (x, scale) = (b.tensor(node, 0)?, b.tensor(node, 1)?);
            let from = axis(node.int("axis").unwrap_or(-1), b.dims(x).len())?;
            let eps = Value::Float(node.float("epsilon", 1e-5));
            b.call("rms_norm", &[("axis", int(from)), ("eps", eps)], &[x, scale])?
        }
        "BatchNormalization" if !node.flag("training_mode") => {
            let operands = b.tensors(node)?;
            b.call("batch_norm", &[("eps", Value::Float(node.float("epsilon", 1e-5)))], &operands)?
        }
        "GroupNormalization" | "InstanceNormalization" => group_norm(b, node)?,
        name if name.starts_with("Reduce") => reduce(b, node)?,
        _ => return Ok(None),
    };
    Ok(Some(result))
}

/// The language has the network's own constants; others are written out with `elu`.
fn selu(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let (alpha, gamma) = (node.float("alpha", 1.673_263_192_176_819), node.float("gamma", 1.050_700_982_414_245_6));
    if (alpha - 1.673_263).abs() < 1e-6 && (gamma - 1.050_701).abs() < 1e-6 {
        return b.map("selu", x);
    }
    let elu = b.call("elu", &[("alpha", Value::Float(alpha))], &[x])?;
    b.with("mul", elu, gamma)
}

fn clip(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let limit = |index: usize, name: &str| -> Left<Option<f64>> {
        Ok(b.known(node, index)?.map(|values| values[0]).or(node.attrs[name].as_f64()))
    };
    let (low, high) = (limit(1, "min")?, limit(2, "max")?);
    if let (Some(low), Some(high)) = (low, high)
        && low > high
    {
        let above = b.with("maximum", x, low)?;
        return b.with("minimum", above, high);
    }
    let limits = [("low", low), ("high", high)];
    let limits: Vec<(&str, Value<'_>)> =
        limits.into_iter().filter_map(|(name, limit)| limit.map(|limit| (name, Value::Float(limit)))).collect();
    b.call("clamp", &limits, &[x])
}

/// Functions of two operands and more, folded from the left.
fn several(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let operands = b.tensors(node)?;
    let name = match node.op.as_str() {
        "Max" => "maximum",
        "Min" => "minimum",
        "Sum" | "Mean" => "add",
        other => &other.to_lowercase(),
    };
    let mut result = operands[0];
    for operand in &operands[1..] {
        result = b.join(name, result, *operand)?;
    }
    if node.op == "Mean" {
        result = b.with("div", result, operands.len() as f64)?;
    }
    Ok(result)
}

fn gemm(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let mut sides = [b.tensor(node, 0)?, b.tensor(node, 1)?];
    for (side, name) in sides.iter_mut().zip(["transA", "transB"]) {
        if node.flag(name) {
            *side = b.map("transpose", *side)?;
        }
    }
    let mut product = b.join("matmul", sides[0], sides[1])?;
    let (alpha, beta) = (node.float("alpha", 1.0), node.float("beta", 1.0));
    if alpha != 1.0 {
        product = b.with("mul", product, alpha)?;
    }
    if !b.has(node, 2) || beta == 0.0 {
        return Ok(product);
    }
    let mut bias = b.tensor(node, 2)?;
    if beta != 1.0 {
        bias = b.with("mul", bias, beta)?;
    }
    b.join("add", product, bias)
}

fn softmax(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let dims = b.dims(x);
    let name = if node.op == "Softmax" { "softmax" } else { "log_softmax" };
    if b.opset >= 13 {
        let along = axis(node.int("axis").unwrap_or(-1), dims.len())?;
        return b.call(name, &[("axis", int(along))], &[x]);
    }
    // Before opset 13 the dimensions from the axis on are one row.
    let from = axis(node.int("axis").unwrap_or(1), dims.len())?;
    let rows = b.reshape(x, &[dims[..from].iter().product(), dims[from..].iter().product()])?;
    let rows = b.map(name, rows)?;
    b.reshape(rows, &dims)
}

fn group_norm(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let operands = b.tensors(node)?;
    let eps = ("eps", Value::Float(node.float("epsilon", 1e-5)));
    match node.int("num_groups") {
        Some(groups) => b.call("group_norm", &[("groups", int(groups as usize)), eps], &operands),
        None => b.call("instance_norm", &[eps], &operands),
    }
}

fn reduce(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let mut x = b.tensor(node, 0)?;
    let rank = b.dims(x).len();
    let given = match b.known(node, 1)? {
        Some(axes) => axes.iter().map(|axis| *axis as i64).collect(),
        None => node.ints("axes").unwrap_or_default(),
    };
    let mut axes = given.iter().map(|given| axis(*given, rank)).collect::<Left<Vec<usize>>>()?;
    if axes.is_empty() && !node.flag("noop_with_empty_axes") {
        axes = (0..rank).collect();
    }
    let name = match node.op.as_str() {
        "ReduceSum" => "sum",
        "ReduceMean" => "mean",
        "ReduceMax" => "max",
        "ReduceMin" => "min",
        "ReduceProd" => "prod",
        "ReduceSumSquare" => "sum_square",
        "ReduceL1" => "l1",
        "ReduceL2" => "l2",
        "ReduceLogSum" => "log_sum",
        "ReduceLogSumExp" => "log_sum_exp",
        other => return Err(format!("operator {other} is not in the language")),
    };
    let dims = b.dims(x);
    if ["max", "min"].contains(&name) && axes.iter().any(|axis| dims[*axis] == 0) {
        x = one_more(b, x, &axes, name)?;
    }
    let keep = Value::Bool(node.int("keepdims").unwrap_or(1) != 0);
    b.call(name, &[("axes", Value::List(&ints(&axes))), ("keep_dims", keep)], &[x])
}

/// The language knows no largest element of none: with one more, which nothing is below or above, there is.
fn one_more(b: &mut Builder, x: TensorId, axes: &[usize], name: &str) -> Left<TensorId> {
    let (mut x, dtype) = (x, b.dtype_of(x));
    let (low, high) = match dtype {
        DType::Bool => (0.0, 1.0),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    for along in axes {
        let mut dims = b.dims(x);
        dims[*along] = 1;
        let end = if name == "max" { low } else { high };
        let more = b.constant_of(dtype, &dims, vec![end; dims.iter().product()])?;
        x = b.concat(&[x, more], *along)?;
    }
    Ok(x)
}
