//! ONNX's comparisons, casts and lookups in terms of the language's operators.

use model_graph_planner::op::Value;
use model_graph_planner::{DType, TensorId};

use crate::build::{Builder, Left, axis, dtype, int};
use crate::case::Node;

/// The only result of a node, or none when the operator is of another family.
pub(crate) fn build(b: &mut Builder, node: &Node) -> Left<Option<TensorId>> {
    let name = match node.op.as_str() {
        "Equal" => "equal",
        "Less" => "less",
        "LessOrEqual" => "less_equal",
        "Greater" => "greater",
        "GreaterOrEqual" => "greater_equal",
        "And" => "and",
        "Or" => "or",
        "Xor" => "xor",
        "Where" => "where",
        "Cast" => return cast(b, node).map(Some),
        "ArgMax" | "ArgMin" => return arg(b, node).map(Some),
        "CumSum" => return running(b, node).map(Some),
        "Gather" => return gather(b, node).map(Some),
        "OneHot" => return one_hot(b, node).map(Some),
        "Trilu" => return triangle(b, node).map(Some),
        "Range" => return range(b, node).map(Some),
        "Shape" => return shape(b, node).map(Some),
        _ => return Ok(None),
    };
    let operands = b.tensors(node)?;
    b.call(name, &[], &operands).map(Some)
}

fn cast(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let to = match node.int("to") {
        Some(1) => DType::F32,
        Some(2) => DType::U8,
        Some(3) => DType::I8,
        Some(6) => DType::I32,
        Some(7) => DType::I64,
        Some(9) => DType::Bool,
        Some(10) => DType::F16,
        Some(12) => DType::U32,
        Some(16) => DType::BF16,
        other => return Err(format!("a cast to element type {}", other.unwrap_or_default())),
    };
    let x = b.tensor(node, 0)?;
    b.cast(x, to)
}

fn arg(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let along = axis(node.int("axis").unwrap_or(0), b.dims(x).len())?;
    let settings = [
        ("axis", int(along)),
        ("keep_dims", Value::Bool(node.int("keepdims").unwrap_or(1) != 0)),
        ("last", Value::Bool(node.flag("select_last_index"))),
    ];
    b.call(if node.op == "ArgMax" { "arg_max" } else { "arg_min" }, &settings, &[x])
}

fn running(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let given = b.known(node, 1)?.ok_or("no axis")?[0];
    let settings = [
        ("axis", Value::Int(given as i64, 0)),
        ("exclusive", Value::Bool(node.flag("exclusive"))),
        ("reverse", Value::Bool(node.flag("reverse"))),
    ];
    b.call("cum_sum", &settings, &[x])
}

fn gather(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let (x, index) = (b.tensor(node, 0)?, b.tensor(node, 1)?);
    b.call("gather", &[("axis", Value::Int(node.int("axis").unwrap_or(0), 0))], &[x, index])
}

/// `off + one_hot * (on - off)`, in the type of the two values.
fn one_hot(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let index = b.tensor(node, 0)?;
    let index = b.cast(index, DType::I64)?;
    let depth = b.known(node, 1)?.ok_or("no depth")?[0] as i64;
    let values = b.tensor(node, 2)?;
    let to = b.dtype_of(values);
    let rows = b.call(
        "one_hot",
        &[("depth", Value::Int(depth, 0)), ("axis", Value::Int(node.int("axis").unwrap_or(-1), 0))],
        &[index],
    )?;
    let rows = b.cast(rows, to)?;
    let (off, on) = (b.slice(values, 0, [0, 1, 1])?, b.slice(values, 0, [1, 2, 1])?);
    let more = b.join("sub", on, off)?;
    let rows = b.join("mul", rows, more)?;
    b.join("add", rows, off)
}

fn triangle(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let diagonal = b.known(node, 1)?.map_or(0.0, |values| values[0]) as i64;
    let part = if node.int("upper").unwrap_or(1) != 0 { "upper" } else { "lower" };
    b.call("trilu", &[("part", Value::Word(part)), ("diagonal", Value::Int(diagonal, 0))], &[x])
}

/// `start + step * i`, with the numbers `i` as the running sum of ones.
fn range(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let known = |index| -> Left<f64> { Ok(b.known(node, index)?.ok_or("no limit")?[0]) };
    let (start, limit, step) = (known(0)?, known(1)?, known(2)?);
    let start_tensor = b.tensor(node, 0)?;
    let to = b.dtype_of(start_tensor);
    let count = ((limit - start) / step).ceil().max(0.0) as usize;
    let ones = b.constant_of(to, &[count], vec![1.0; count])?;
    let numbers = b.call("cum_sum", &[("exclusive", Value::Bool(true))], &[ones])?;
    let step = b.tensor(node, 2)?;
    let steps = b.join("mul", numbers, step)?;
    b.join("add", steps, start_tensor)
}

/// Extents are known beforehand.
fn shape(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let x = b.tensor(node, 0)?;
    let dims = b.dims(x);
    let bound = |name: &str, default: usize| {
        let given = node.int(name).unwrap_or(default as i64);
        (if given < 0 { given + dims.len() as i64 } else { given }).clamp(0, dims.len() as i64) as usize
    };
    let (start, end) = (bound("start", 0), bound("end", dims.len()));
    let dims: Vec<f64> = dims[start..end.max(start)].iter().map(|dim| *dim as f64).collect();
    b.constant_of(dtype("int64")?, &[dims.len()], dims)
}
