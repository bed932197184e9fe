//! ONNX's operators that take and put elements by tensors of indices: positions are worked out as sums, and rows of what
//! is flat are looked up or put there. And its TopK: the largest element again and again.

use model_graph_planner::op::Value;
use model_graph_planner::{DType, TensorId};

use crate::build::{Builder, Left, axis, int};
use crate::case::Node;

/// The results of a node, or none when the operator is of another family.
pub(crate) fn build(b: &mut Builder, node: &Node) -> Left<Option<Vec<TensorId>>> {
    let result = match node.op.as_str() {
        "GatherElements" => {
            let (x, index) = (b.tensor(node, 0)?, b.tensor(node, 1)?);
            let at = elements(b, x, index, node)?;
            let count = b.dims(x).iter().product();
            let table = b.reshape(x, &[count])?;
            b.join("gather", table, at)?
        }
        "GatherND" => gather(b, node)?,
        "ScatterElements" => {
            let (x, index, updates) = (b.tensor(node, 0)?, b.tensor(node, 1)?, b.tensor(node, 2)?);
            let at = elements(b, x, index, node)?;
            scatter(b, x, at, updates, node.word("reduction"))?
        }
        "ScatterND" => {
            let (x, index, updates) = (b.tensor(node, 0)?, b.tensor(node, 1)?, b.tensor(node, 2)?);
            let dims = b.dims(x);
            let depth = *b.dims(index).last().ok_or("no indices")?;
            let at = rows(b, index, &dims[..depth])?;
            scatter(b, x, at, updates, node.word("reduction"))?
        }
        "TensorScatter" => cache(b, node)?,
        "TopK" => return largest(b, node).map(Some),
        _ => return Ok(None),
    };
    Ok(Some(vec![result]))
}

/// How many elements apart neighbours along each dimension are.
fn strides(dims: &[usize]) -> Vec<usize> {
    (0..dims.len()).map(|axis| dims[axis + 1..].iter().product()).collect()
}

/// Indices of which the negative ones count from the end, all from the start and as `i64`.
fn counted(b: &mut Builder, index: TensorId, extent: usize) -> Left<TensorId> {
    let index = b.cast(index, DType::I64)?;
    let negative = b.with("less", index, 0.0)?;
    let wrapped = b.with("add", index, extent as f64)?;
    b.call("where", &[], &[negative, wrapped, index])
}

/// A constant of `dims` whose elements are worked out from their coordinates.
fn numbers(b: &mut Builder, dims: &[usize], value: impl Fn(&[usize]) -> usize) -> Left<TensorId> {
    let strides = strides(dims);
    let values = (0..dims.iter().product()).map(|at: usize| {
        let coordinates: Vec<usize> = dims.iter().zip(&strides).map(|(dim, stride)| at / stride % dim).collect();
        value(&coordinates) as f64
    });
    let values = values.collect();
    b.constant_of(DType::I64, dims, values)
}

/// The place in `x`, counted in elements, of each element that `index` means along the node's axis.
fn elements(b: &mut Builder, x: TensorId, index: TensorId, node: &Node) -> Left<TensorId> {
    let (dims, given) = (b.dims(x), b.dims(index));
    let along = axis(node.int("axis").unwrap_or(0), dims.len())?;
    let apart = strides(&dims);
    let index = counted(b, index, dims[along])?;
    let index = b.with("mul", index, apart[along] as f64)?;
    let other = numbers(b, &given, |coordinates| {
        (0..dims.len()).filter(|axis| *axis != along).map(|axis| coordinates[axis] * apart[axis]).sum()
    })?;
    b.join("add", index, other)
}

/// The number of each row that a tuple along the last dimension of `index` means; `dims` are what its parts count.
fn rows(b: &mut Builder, index: TensorId, dims: &[usize]) -> Left<TensorId> {
    let mut outer = b.dims(index);
    let last = outer.pop().ok_or("no indices")?;
    let apart = strides(dims);
    let mut sum = None;
    for part in 0..last {
        let one = b.slice(index, outer.len(), [part, part + 1, 1])?;
        let one = b.reshape(one, &outer)?;
        let one = counted(b, one, dims[part])?;
        let one = b.with("mul", one, apart[part] as f64)?;
        sum = Some(match sum {
            None => one,
            Some(sum) => b.join("add", sum, one)?,
        });
    }
    sum.ok_or("no indices".into())
}

fn gather(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let (x, index) = (b.tensor(node, 0)?, b.tensor(node, 1)?);
    let (dims, given) = (b.dims(x), b.dims(index));
    let batch = node.int("batch_dims").unwrap_or(0) as usize;
    let end = batch + given.last().ok_or("no indices")?;
    let within: usize = dims[batch..end].iter().product();
    let mut at = rows(b, index, &dims[batch..end])?;
    if batch > 0 {
        let outer = strides(&dims[..batch]);
        let start = numbers(b, &given[..given.len() - 1], |coordinates| {
            outer.iter().zip(coordinates).map(|(stride, at)| stride * at * within).sum()
        })?;
        at = b.join("add", at, start)?;
    }
    let table = [&[dims[..end].iter().product()], &dims[end..]].concat();
    let table = b.reshape(x, &table)?;
    b.join("gather", table, at)
}

/// `x` with `updates` in the rows that `at` counts, or joined with them: rows are what is left of `x` per index.
fn scatter(b: &mut Builder, x: TensorId, at: TensorId, updates: TensorId, reduction: &str) -> Left<TensorId> {
    let dims = b.dims(x);
    let count: usize = b.dims(at).iter().product();
    let width = b.dims(updates).iter().product::<usize>() / count;
    let at = b.reshape(at, &[count])?;
    let updates = b.reshape(updates, &[count, width])?;
    let rows = b.reshape(x, &[dims.iter().product::<usize>() / width, width])?;
    let reduce = Value::Word(if reduction.is_empty() { "none" } else { reduction });
    let y = b.call("scatter", &[("reduce", reduce)], &[rows, at, updates])?;
    b.reshape(y, &dims)
}

/// Rows written into a cache, at a position of its own for each element of a batch.
fn cache(b: &mut Builder, node: &Node) -> Left<TensorId> {
    let (x, updates) = (b.tensor(node, 0)?, b.tensor(node, 1)?);
    let (dims, given) = (b.dims(x), b.dims(updates));
    let along = axis(node.int("axis").unwrap_or(-2), dims.len())?;
    let (places, steps) = (dims[along], given[along]);
    let between: usize = dims[1..along].iter().product();
    let start = match b.has(node, 2) {
        true => b.tensor(node, 2)?,
        false => numbers(b, &dims[..1], |_| 0)?,
    };
    let start = b.reshape(start, &[dims[0], 1, 1])?;
    let step = numbers(b, &[steps], |coordinates| coordinates[0])?;
    let mut at = b.join("add", start, step)?;
    if node.word("mode") == "circular" {
        at = b.with("modulo", at, places as f64)?;
    }
    let first = numbers(b, &[dims[0], between, 1], |at| (at[0] * between + at[1]) * places)?;
    let at = b.join("add", first, at)?;
    scatter(b, x, at, updates, "none")
}

/// The largest element again and again, each time without those before.
fn largest(b: &mut Builder, node: &Node) -> Left<Vec<TensorId>> {
    let mut x = b.tensor(node, 0)?;
    let dims = b.dims(x);
    let along = axis(node.int("axis").unwrap_or(-1), dims.len())?;
    let count = b.known(node, 1)?.ok_or("no number")?[0] as usize;
    let smallest = node.int("largest") == Some(0);
    let (value, index, last) = match smallest {
        true => ("min", "arg_min", f64::INFINITY),
        false => ("max", "arg_max", f64::NEG_INFINITY),
    };
    let last = b.constant_of(b.dtype_of(x), &[], vec![last])?;
    let (mut values, mut indices) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let keep = ("keep_dims", Value::Bool(true));
        values.push(b.call(value, &[("axes", int(along)), keep], &[x])?);
        let at = b.call(index, &[("axis", int(along))], &[x])?;
        let taken = b.call("one_hot", &[("depth", int(dims[along])), ("axis", int(along))], &[at])?;
        let taken = b.cast(taken, DType::Bool)?;
        x = b.call("where", &[], &[taken, last, x])?;
        indices.push(b.call("expand_dims", &[("axis", int(along))], &[at])?);
    }
    Ok(vec![b.concat(&values, along)?, b.concat(&indices, along)?])
}
