//! Networks as JSON: the operator DAG of `plans/NAME.json`, read with errors that say where, and turned into a problem
//! of order. Views share their operand's storage; what may be written over what is told by the operator's name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model_graph_planner::order::{Problem, Storage, StorageId, Task, TaskId};
use serde_json::Value;

/// A network.
pub(crate) struct Dag {
    pub(crate) name: String,
    pub(crate) problem: Problem,
}

/// Operators that compute each element, or each row, from the same place of their operands.
const IN_PLACE: &[&str] = &[
    "ADD",
    "Add",
    "BatchNormalization",
    "Cast",
    "Clip",
    "Cos",
    "DIV",
    "Div",
    "Erf",
    "Exp",
    "HardSigmoid",
    "HardSwish",
    "InstanceNormalization",
    "LayerNormalization",
    "Log",
    "LogSoftmax",
    "MAXIMUM",
    "MINIMUM",
    "MUL",
    "Max",
    "Mul",
    "Neg",
    "Pow",
    "Reciprocal",
    "Relu",
    "SOFTMAX",
    "Sigmoid",
    "Sin",
    "Softmax",
    "Sqrt",
    "Sub",
    "Sum",
    "Tanh",
    "Where",
];

/// Reads a network.
pub(crate) fn read(path: &Path) -> Result<Dag, String> {
    let at = |error: String| format!("{}: {error}", path.display());
    let bytes = std::fs::read(path).map_err(|error| at(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| at("not a text file (invalid UTF-8), expected JSON".to_owned()))?;
    let value = serde_json::from_str(&finite(&text)).map_err(|error| at(format!("not JSON: {error}")))?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let problem = problem(&value).map_err(at)?;
    Ok(Dag { name, problem })
}

/// JSON has no infinities and no NaN, but what wrote constants as Python does has: they
/// become null or 0. Line and column
/// stay what they were.
fn finite(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Every second piece between quotation marks is a string, but for marks that are escaped.
    let mut rest = text;
    let mut inside = false;
    while !rest.is_empty() {
        let mut escaped = false;
        let quote = rest.find(|c| {
            let found = c == '"' && !escaped;
            escaped = inside && c == '\\' && !escaped;
            found
        });
        let (piece, after) = rest.split_at(quote.map_or(rest.len(), |at| at + 1));
        if inside {
            out.push_str(piece);
        } else {
            let plain = piece.replace("-Infinity", "     null").replace("Infinity", "    null").replace("NaN", "  0");
            out.push_str(&plain);
        }
        inside = !inside;
        rest = after;
    }
    out
}

/// A tensor on the way to a storage.
struct Tensor {
    bytes: usize,
    state: bool,
    input: bool,
    output: bool,
    storage: Option<StorageId>,
    made_by: Option<TaskId>,
}

fn problem(value: &Value) -> Result<Problem, String> {
    let mut tensors = tensors(value)?;
    let mut problem = Problem::default();
    for tensor in tensors.values_mut().filter(|tensor| tensor.input) {
        tensor.storage = Some(StorageId::new(problem.storages.len()));
        let to_end = tensor.state || tensor.output;
        problem.storages.push(Storage { size: tensor.bytes, from_start: true, to_end });
    }
    for (index, node) in list(value, "nodes", "the file")?.iter().enumerate() {
        add(&mut problem, &mut tensors, index, node)?;
    }
    for (id, tensor) in tensors.iter().filter(|(_, tensor)| tensor.output) {
        if tensor.storage.is_none() {
            return Err(format!("`outputs` names tensor {id}, which no node makes"));
        }
    }
    Ok(problem)
}

fn tensors(value: &Value) -> Result<BTreeMap<u64, Tensor>, String> {
    let ids = |key: &str| -> Result<BTreeSet<u64>, String> {
        let number = |id: &Value| id.as_u64().ok_or(format!("`{key}` holds {id}, expected tensor ids"));
        list(value, key, "the file")?.iter().map(number).collect()
    };
    let (inputs, outputs) = (ids("inputs")?, ids("outputs")?);
    let mut tensors = BTreeMap::new();
    for (index, tensor) in list(value, "tensors", "the file")?.iter().enumerate() {
        let at = format!("tensor {index}");
        let id = number(tensor, "id", &at)?;
        let kind = tensor.get("kind").and_then(Value::as_str).unwrap_or("activation");
        let tensor = Tensor {
            bytes: usize::try_from(number(tensor, "bytes", &at)?).map_err(|error| format!("{at}: `bytes`: {error}"))?,
            state: kind == "state",
            input: inputs.contains(&id) || kind == "input" || kind == "state",
            output: outputs.contains(&id),
            storage: None,
            made_by: None,
        };
        if tensors.insert(id, tensor).is_some() {
            return Err(format!("{at}: the id {id} is taken, expected each once"));
        }
    }
    match inputs.union(&outputs).find(|id| !tensors.contains_key(id)) {
        Some(id) => Err(format!("`inputs` or `outputs` names tensor {id}, which is not in `tensors`")),
        None => Ok(tensors),
    }
}

/// Adds a node's task, and the storages that it makes.
fn add(problem: &mut Problem, tensors: &mut BTreeMap<u64, Tensor>, index: usize, node: &Value) -> Result<(), String> {
    let at = format!("node {index}");
    let op = node.get("op").and_then(Value::as_str).ok_or(format!("{at}: no `op`, expected the operator's name"))?;
    let at = format!("{at} ({op})");
    let view = match node.get("view") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(view)) => *view,
        Some(other) => return Err(format!("{at}: `view` is {other}, expected true or false")),
    };
    let mut task = Task::default();
    let mut operands = Vec::new();
    for id in ids(node, "inputs", &at)? {
        let tensor = tensors.get(&id).ok_or(format!("{at}: operand {id} is not in `tensors`"))?;
        let storage = tensor.storage.ok_or(format!("{at}: operand {id} is no input and no earlier node makes it"))?;
        task.after.extend(tensor.made_by);
        operands.push((storage, tensor.bytes));
    }
    task.touches.extend(operands.iter().map(|(storage, _)| *storage));
    for (position, id) in ids(node, "outputs", &at)?.into_iter().enumerate() {
        let tensor = tensors.get_mut(&id).ok_or(format!("{at}: result {id} is not in `tensors`"))?;
        if tensor.storage.is_some() {
            return Err(format!("{at}: result {id} is an input, or an earlier node makes it too"));
        }
        tensor.made_by = Some(TaskId::new(index));
        let storage = match operands.first() {
            Some((viewed, _)) if view && position == 0 => *viewed,
            _ => {
                problem.storages.push(Storage { size: tensor.bytes, ..Storage::default() });
                StorageId::new(problem.storages.len() - 1)
            }
        };
        tensor.storage = Some(storage);
        problem.storages[storage.index()].to_end |= tensor.output;
        if !view && position == 0 && IN_PLACE.contains(&op) {
            let fits = |(old, bytes): &&(StorageId, usize)| {
                let old = &problem.storages[old.index()];
                !old.from_start && old.size == tensor.bytes && *bytes == tensor.bytes
            };
            task.in_place = operands.iter().filter(fits).map(|(old, _)| (*old, storage)).collect();
        }
        task.touches.push(storage);
    }
    problem.tasks.push(task);
    Ok(())
}

/// The tensor ids of a list in which what is no tensor is null.
fn ids(node: &Value, key: &str, at: &str) -> Result<Vec<u64>, String> {
    let given = list(node, key, at)?.iter().filter(|id| !id.is_null());
    given.map(|id| id.as_u64().ok_or(format!("{at}: `{key}` holds {id}, expected tensor ids or null"))).collect()
}

fn list<'v>(value: &'v Value, key: &str, at: &str) -> Result<&'v [Value], String> {
    let list = value.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).ok_or(format!("{at}: no list `{key}`"))
}

fn number(value: &Value, key: &str, at: &str) -> Result<u64, String> {
    let given = value.get(key).unwrap_or(&Value::Null);
    given.as_u64().ok_or(format!("{at}: `{key}` is {given}, expected a whole number from 0"))
}

#[cfg(test)]
mod tests {
    use model_graph_planner::order::{Budget, solve};

    use super::{finite, problem};

    fn read(text: &str) -> Result<usize, String> {
        let value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let solution = solve(&problem(&value)?, Budget::default()).map_err(|error| error.to_string())?;
        Ok(solution.declared)
    }

    const TENSORS: &str = r#""inputs": [0], "outputs": [2], "tensors": [
        {"id": 0, "bytes": 10, "kind": "input"}, {"id": 1, "bytes": 20}, {"id": 2, "bytes": 20}]"#;

    #[test]
    fn views_and_results_written_in_place_take_no_bytes() {
        let nodes = |op: &str, view: bool| {
            format!(
                r#"{{{TENSORS}, "nodes": [{{"op": "Conv", "inputs": [0, null], "outputs": [1]}},
                {{"op": "{op}", "inputs": [1], "outputs": [2], "view": {view}}}]}}"#
            )
        };
        assert_eq!(read(&nodes("Conv", false)), Ok(40));
        assert_eq!(read(&nodes("Relu", false)), Ok(30));
        assert_eq!(read(&nodes("Reshape", true)), Ok(30));
    }

    #[test]
    fn numbers_that_json_lacks() {
        let text = r#"{"a \" NaN": [-Infinity, NaN, 1], "b": "Infinity"}"#;
        let plain = r#"{"a \" NaN": [     null,   0, 1], "b": "Infinity"}"#;
        assert_eq!(finite(text), plain);
        assert_eq!(finite(r#""no end \""#), r#""no end \""#);
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        for (nodes, expected) in [
            ("7", "the file: no list `nodes`"),
            ("[7]", "node 0: no `op`, expected the operator's name"),
            (r#"[{"op": "A", "outputs": []}]"#, "node 0 (A): no list `inputs`"),
            (r#"[{"op": "A", "inputs": [-1]}]"#, "node 0 (A): `inputs` holds -1, expected tensor ids or null"),
            (r#"[{"op": "A", "inputs": [9]}]"#, "node 0 (A): operand 9 is not in `tensors`"),
            (r#"[{"op": "A", "inputs": [1]}]"#, "node 0 (A): operand 1 is no input and no earlier node makes it"),
            (
                r#"[{"op": "A", "inputs": [], "outputs": [0]}]"#,
                "node 0 (A): result 0 is an input, or an earlier node makes it too",
            ),
            (r#"[{"op": "A", "inputs": [], "view": 1}]"#, "node 0 (A): `view` is 1, expected true or false"),
            ("[]", "`outputs` names tensor 2, which no node makes"),
        ] {
            assert_eq!(read(&format!(r#"{{{TENSORS}, "nodes": {nodes}}}"#)), Err(expected.to_owned()));
        }
        assert_eq!(read(r#"{"inputs": [], "outputs": 1}"#), Err("the file: no list `outputs`".to_owned()));
        let tensors = |tensors: &str| read(&format!(r#"{{"inputs": [3], "outputs": [], "tensors": [{tensors}]}}"#));
        let expected = "tensor 0: `bytes` is null, expected a whole number from 0";
        assert_eq!(tensors(r#"{"id": 0}"#), Err(expected.to_owned()));
        let expected = "`inputs` or `outputs` names tensor 3, which is not in `tensors`";
        assert_eq!(tensors(""), Err(expected.to_owned()));
        let twice = r#"{"id": 3, "bytes": 1}, {"id": 3, "bytes": 1}"#;
        assert_eq!(tensors(twice), Err("tensor 1: the id 3 is taken, expected each once".to_owned()));
    }
}
