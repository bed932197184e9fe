//! Networks as operator graphs in JSON: `tensors` with shapes and sizes, `nodes` with operators and attributes. What
//! the planner knows of an operator (views, concatenations, in place) is taken from its name; everything else is a step
//! that makes tensors of the sizes the file says.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use model_graph_planner::op::{self, Action, Args, Field, Fields, Operator, RuleError, Value};
use model_graph_planner::{DType, Graph, Role, Shape, TensorId, Type, View};
use serde_json::Value as Json;

/// Operators that may write over an operand of their size, and whether they go element by element and take any strides
/// instead of row by row.
const IN_PLACE: &[(&str, bool)] = &[
    ("Abs", true),
    ("Add", true),
    ("BatchNormalization", false),
    ("Ceil", true),
    ("Clip", true),
    ("Cos", true),
    ("Div", true),
    ("Elu", true),
    ("Erf", true),
    ("Exp", true),
    ("Floor", true),
    ("Gelu", true),
    ("HardSigmoid", true),
    ("HardSwish", true),
    ("InstanceNormalization", false),
    ("LayerNormalization", false),
    ("LeakyRelu", true),
    ("Log", true),
    ("LogSoftmax", false),
    ("Max", true),
    ("Min", true),
    ("Mul", true),
    ("Neg", true),
    ("PRelu", true),
    ("Pow", true),
    ("Reciprocal", true),
    ("Relu", true),
    ("Round", true),
    ("Sigmoid", true),
    ("Sin", true),
    ("Softmax", false),
    ("Sqrt", true),
    ("Sub", true),
    ("Sum", true),
    ("Swish", true),
    ("Tanh", true),
    ("Where", true),
    ("ADD", true),
    ("SUB", true),
    ("MUL", true),
    ("DIV", true),
    ("MAXIMUM", true),
    ("MINIMUM", true),
    ("SOFTMAX", false),
    ("LOGISTIC", false),
    ("RELU", false),
    ("QUANTIZE", false),
];

/// An operator of which only the sizes are known.
#[derive(Clone, Debug)]
struct Opaque {
    name: String,
    output: Type,
    view: bool,
}

impl Opaque {
    fn elementwise(&self) -> bool {
        IN_PLACE.iter().any(|(name, elementwise)| *elementwise && *name == self.name)
    }
}

impl Fields for Opaque {
    fn name(&self) -> &str {
        &self.name
    }

    fn kernel(&self) -> &'static str {
        "Opaque"
    }

    fn fields(&self, _: &mut dyn FnMut(&'static str, Field<'_>)) {}

    fn at(&self, values: &[usize]) -> Rc<dyn Operator> {
        Rc::new(Opaque { output: self.output.at(values), ..self.clone() })
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

impl Operator for Opaque {
    fn infer(&self, _: &[Type]) -> Result<Type, RuleError> {
        Ok(self.output)
    }

    fn action(&self) -> Action {
        if self.view { Action::View } else { Action::Compute }
    }

    fn view(&self, input: &View, output: &Type) -> Option<View> {
        let same = input.span().len() == output.bytes().unwrap_or(0);
        (same && input.is_packed()).then(|| View::packed(output.dtype, input.offset, &output.shape))
    }

    fn in_place(&self, _: usize) -> bool {
        IN_PLACE.iter().any(|(name, _)| *name == self.name)
    }

    fn strided_input(&self, _: usize) -> bool {
        matches!(self.name.as_str(), "MatMul" | "Gemm") || self.elementwise()
    }

    fn strided_output(&self) -> bool {
        self.elementwise()
    }
}

/// Reads a network.
///
/// # Errors
/// What is wrong with the file, in a sentence that names it.
pub(crate) fn read(path: &Path) -> Result<Graph, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    // Python writes numbers that JSON does not have; none of them is read here.
    let text = text.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null");
    let json: Json = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    graph(&json).map_err(|what| format!("{}: {what}", path.display()))
}

fn graph(json: &Json) -> Result<Graph, String> {
    let tensors = json["tensors"].as_array().ok_or("there is no list `tensors`")?;
    let nodes = json["nodes"].as_array().ok_or("there is no list `nodes`")?;
    let mut graph = Graph::new(json["name"].as_str().unwrap_or("network"));
    let mut types = Vec::new();
    for (index, tensor) in tensors.iter().enumerate() {
        let wrong = || format!("tensor {index} needs a `shape`, a `dtype` and a number of `bytes` from 0 on");
        types.push(ty(tensor).ok_or_else(wrong)?);
    }
    let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
    for (index, tensor) in tensors.iter().enumerate() {
        let id = tensor["id"].as_u64().ok_or_else(|| format!("tensor {index} needs an `id`, a whole number"))?;
        if numbers.insert(id, index).is_some() {
            return Err(format!("there are two tensors with the id {id}"));
        }
    }
    let position = |value: &Json| value.as_u64().and_then(|id| numbers.get(&id).copied());
    let operands = nodes.iter().flat_map(|node| [&node["inputs"], &node["outputs"]]).chain([&json["outputs"]]);
    for value in operands.flat_map(|list| list.as_array().into_iter().flatten()) {
        // An operand that is a constant of the network is null.
        if !value.is_null() && position(value).is_none() {
            return Err(format!("{value} is the id of no tensor"));
        }
    }
    let listed =
        |key: &str| -> Vec<usize> { json[key].as_array().into_iter().flatten().filter_map(position).collect() };
    let results = listed("outputs");
    let made: Vec<usize> =
        nodes.iter().flat_map(|node| node["outputs"].as_array().into_iter().flatten()).filter_map(position).collect();
    let mut ids: Vec<Option<TensorId>> = vec![None; tensors.len()];
    for (index, tensor) in tensors.iter().enumerate() {
        if !made.contains(&index) {
            let role = if tensor["kind"] == "state" { Role::KeptInput } else { Role::Input };
            ids[index] = graph.leaf(name(tensor, index), role, types[index]).ok();
        }
    }
    for (number, node) in nodes.iter().enumerate() {
        let op = node["op"].as_str().ok_or_else(|| format!("node {number} has no `op`"))?;
        let inputs: Vec<usize> = node["inputs"].as_array().into_iter().flatten().filter_map(position).collect();
        let outputs: Vec<usize> = node["outputs"].as_array().into_iter().flatten().filter_map(position).collect();
        let mut operands = Vec::new();
        for input in &inputs {
            operands.push(
                ids[*input].ok_or_else(|| format!("node {number} ({op}) reads tensor {input} before it is made"))?,
            );
        }
        let mut start = 0;
        for output in outputs {
            let tensor = &tensors[output];
            let role = if results.contains(&output) { Role::Output } else { Role::Node };
            let call = operator(op, node, &types, &inputs, output, &mut start);
            let made = graph.node(name(tensor, output), role, call, &operands);
            ids[output] = Some(made.map_err(|error| format!("node {number} ({op}): {error:?}"))?);
        }
    }
    Ok(graph)
}

fn name(tensor: &Json, index: usize) -> String {
    tensor["name"].as_str().filter(|name| !name.is_empty()).map_or_else(|| format!("t{index}"), String::from)
}

/// Shape and an element type of the right width; one dimension when the shape does not give the bytes.
fn ty(tensor: &Json) -> Option<Type> {
    let bytes = usize::try_from(tensor["bytes"].as_u64()?).ok()?;
    let dims: Option<Vec<usize>> =
        tensor["shape"].as_array()?.iter().map(|dim| usize::try_from(dim.as_u64()?).ok()).collect();
    let dtype = match tensor["dtype"].as_str()?.to_lowercase().as_str() {
        "float32" | "int32" | "uint32" => DType::F32,
        "int64" | "uint64" => DType::I64,
        "float16" | "int16" | "uint16" => DType::F16,
        _ => DType::U8,
    };
    let shaped = dims.and_then(|dims| Shape::new(&dims)).map(|shape| Type { dtype, shape });
    Some(match shaped {
        Some(ty) if ty.bytes() == Some(bytes) => ty,
        _ => Type { dtype: DType::U8, shape: Shape::new(&[bytes])? },
    })
}

/// The operator that makes `output`. `start` is where the next part of a split begins.
fn operator(
    op: &str,
    node: &Json,
    types: &[Type],
    inputs: &[usize],
    output: usize,
    start: &mut usize,
) -> Rc<dyn Operator> {
    let opaque = Rc::new(Opaque { name: op.into(), output: types[output], view: node["view"] == true });
    let operands: Vec<Type> = inputs.iter().map(|input| types[*input]).collect();
    let constants = node["inputs"].as_array().is_some_and(|inputs| inputs.iter().any(Json::is_null));
    let built = match op {
        "Concat" | "CONCATENATION" if !constants => axis(node, 0).and_then(|axis| build("concat", &[axis], &operands)),
        "Transpose" | "TRANSPOSE" if inputs.len() == 1 => {
            permutation(node).and_then(|axes| build("permute", &[("axes", Value::List(&axes))], &operands))
        }
        "Split" => axis(node, 0).and_then(|(_, axis)| {
            let Value::Int(at, _) = axis else { return None };
            let rank = operands.first()?.shape.rank();
            let position = usize::try_from(if at < 0 { at + rank as i64 } else { at }).ok()?;
            let size = types[output].shape.dims().get(position)?.size;
            let range = [("axis", axis), ("start", int(*start)), ("end", int(*start + size))];
            *start += size;
            build("slice", &range, &operands)
        }),
        _ => None,
    };
    // A guess that does not give the file's shape is none.
    built.filter(|op| op.infer(&operands).is_ok_and(|ty| ty == types[output])).unwrap_or(opaque)
}

fn build(name: &str, settings: &[(&str, Value<'_>)], inputs: &[Type]) -> Option<Rc<dyn Operator>> {
    (op::find(name)?.build)(&Args { settings, inputs }).ok()
}

fn int<'a>(value: usize) -> Value<'a> {
    Value::Int(value as i64, 0)
}

fn axis<'a>(node: &Json, default: i64) -> Option<(&'a str, Value<'a>)> {
    Some(("axis", Value::Int(node["attrs"]["axis"].as_i64().unwrap_or(default), 0)))
}

fn permutation<'a>(node: &Json) -> Option<Vec<Value<'a>>> {
    node["attrs"]["perm"].as_array()?.iter().map(|axis| Some(Value::Int(axis.as_i64()?, 0))).collect()
}
