//! Reading the cases: `OP.json` lists them, `OP.bin` holds the tensors at byte offsets.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// A tensor of a case with its elements, if there is a Rust type for them.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) dims: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

/// One operator of a case.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) op: String,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) attrs: Value,
}

/// One case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) opset: u64,
    pub(crate) nodes: Vec<Node>,
    pub(crate) initializers: Vec<Data>,
    pub(crate) inputs: Vec<Data>,
    pub(crate) outputs: Vec<Data>,
    pub(crate) rtol: f64,
    pub(crate) atol: f64,
}

/// Every case by its file's name, or none when the folder is not there.
pub(crate) fn all() -> Option<BTreeMap<String, Vec<Case>>> {
    let folder = model_graph_tests::shared("onnx-node")?;
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).ok()? {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let cases = read(&path, &stem);
            all.insert(stem, cases);
        }
    }
    Some(all)
}

fn read(path: &Path, op: &str) -> Vec<Case> {
    let json: Value = serde_json::from_slice(&std::fs::read(path).expect("it can be read")).expect("it is JSON");
    let bytes = std::fs::read(path.with_extension("bin")).unwrap_or_default();
    let cases = json.as_array().expect("a list of cases");
    cases.iter().map(|case| one(case, op, &bytes)).collect()
}

fn one(case: &Value, op: &str, bytes: &[u8]) -> Case {
    let tensors = |key: &str| -> Vec<Data> {
        case[key].as_array().map(|list| list.iter().map(|tensor| data(tensor, bytes)).collect()).unwrap_or_default()
    };
    let nodes = match case["nodes"].as_array() {
        Some(nodes) => nodes.iter().map(|node| self::node(node, &text(&node["op"]), "inputs", "outputs")).collect(),
        None => vec![node(case, op, "node_inputs", "node_outputs")],
    };
    Case {
        name: text(&case["name"]).trim_start_matches("test_").to_string(),
        opset: case["opset"].as_u64().or(case["opset"]["ai.onnx"].as_u64()).unwrap_or(0),
        nodes,
        initializers: tensors("initializers"),
        inputs: tensors("inputs"),
        outputs: tensors("outputs"),
        rtol: case["rtol"].as_f64().expect("a tolerance"),
        atol: case["atol"].as_f64().expect("a tolerance"),
    }
}

fn node(json: &Value, op: &str, inputs: &str, outputs: &str) -> Node {
    let names = |key: &str| json[key].as_array().map(|list| list.iter().map(text).collect()).unwrap_or_default();
    Node { op: op.to_string(), inputs: names(inputs), outputs: names(outputs), attrs: json["attrs"].clone() }
}

fn text(json: &Value) -> String {
    json.as_str().unwrap_or_default().to_string()
}

fn data(json: &Value, bytes: &[u8]) -> Data {
    let number = |key: &str| json[key].as_u64().unwrap_or(0) as usize;
    let (offset, len) = (number("offset"), number("nbytes"));
    let raw = bytes.get(offset..offset + len).unwrap_or_default();
    let dtype = text(&json["dtype"]);
    let values = match dtype.as_str() {
        "float32" => each(raw, |bytes| f64::from(f32::from_le_bytes(bytes))),
        "int64" => each(raw, |bytes| i64::from_le_bytes(bytes) as f64),
        "int32" => each(raw, |bytes| f64::from(i32::from_le_bytes(bytes))),
        "bool" | "uint8" => each(raw, |[byte]: [u8; 1]| f64::from(byte)),
        "int8" => each(raw, |[byte]: [u8; 1]| f64::from(byte as i8)),
        "uint32" => each(raw, |bytes| f64::from(u32::from_le_bytes(bytes))),
        "float16" => each(raw, |bytes| f64::from(model_graph::f16::from_le_bytes(bytes))),
        "bfloat16" => each(raw, |bytes| f64::from(model_graph::bf16::from_le_bytes(bytes))),
        _ => Vec::new(),
    };
    let dims = json["shape"].as_array().expect("a shape").iter();
    let dims = dims.map(|dim| dim.as_u64().expect("an extent") as usize).collect();
    Data { name: text(&json["name"]), dtype, dims, values }
}

fn each<const N: usize>(raw: &[u8], value: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    raw.chunks_exact(N).map(|chunk| value(chunk.try_into().expect("a chunk of that size"))).collect()
}
