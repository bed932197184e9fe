//! What graphs of cases are built with: operands by name, calls by the language's operator names and settings.

use std::collections::HashMap;
use std::rc::Rc;

use model_graph_planner::op::{self, Args, Operator, Value};
use model_graph_planner::{DType, Graph, Role, Shape, TensorId, Type};

use crate::case::{Case, Data, Node};

/// Why a case is left out.
pub(crate) type Left<T> = Result<T, String>;

/// An operand of a case.
#[derive(Clone, Debug)]
enum Operand {
    /// Comes from outside; used as a tensor or, where a setting is wanted, by its values.
    Given(Data, Role),
    /// In the graph.
    Tensor(TensorId),
}

/// A graph under construction.
pub(crate) struct Builder {
    pub(crate) graph: Graph,
    /// The leaves' values.
    pub(crate) leaves: Vec<(TensorId, Vec<f64>)>,
    pub(crate) opset: u64,
    names: HashMap<String, Operand>,
    made: HashMap<String, TensorId>,
}

/// The language's name for an element type.
pub(crate) fn dtype(name: &str) -> Left<DType> {
    Ok(match name {
        "float32" => DType::F32,
        "float16" => DType::F16,
        "bfloat16" => DType::BF16,
        "int8" => DType::I8,
        "uint8" => DType::U8,
        "int32" => DType::I32,
        "uint32" => DType::U32,
        "int64" => DType::I64,
        "bool" => DType::Bool,
        "float64" => return Err("`float64`: numbers are computed in `f32`; there is no wider float".into()),
        "int16" | "uint16" | "uint64" => {
            return Err("`int16`, `uint16`, `uint64`: integers are `i8`, `u8`, `i32`, `u32` and `i64`".into());
        }
        float if float.starts_with("float8") => {
            return Err("floats of 8 bits: the narrowest are `f16` and `bf16`".into());
        }
        _ => return Err("elements of 4 and 2 bits: only weights are that narrow, in blocks of `q4_0`".into()),
    })
}

/// A whole number as a setting.
pub(crate) fn int(value: usize) -> Value<'static> {
    Value::Int(value as i64, 0)
}

/// Whole numbers as settings.
pub(crate) fn ints(values: &[usize]) -> Vec<Value<'static>> {
    values.iter().map(|value| int(*value)).collect()
}

impl Builder {
    pub(crate) fn new(case: &Case) -> Builder {
        let mut names = HashMap::new();
        for (list, role) in [(&case.initializers, Role::Weight), (&case.inputs, Role::Input)] {
            for data in list {
                names.insert(data.name.clone(), Operand::Given(data.clone(), role));
            }
        }
        let graph = Graph::new(case.name.clone());
        Builder { graph, leaves: Vec::new(), opset: case.opset, names, made: HashMap::new() }
    }

    /// Gives a result its name in the case.
    pub(crate) fn set(&mut self, name: &str, id: TensorId) {
        self.names.insert(name.to_string(), Operand::Tensor(id));
    }

    /// Gives known values a name.
    pub(crate) fn set_known(&mut self, name: &str, dtype: &str, dims: Vec<usize>, values: Vec<f64>) {
        let data = Data { name: name.to_string(), dtype: dtype.into(), dims, values };
        self.names.insert(name.to_string(), Operand::Given(data, Role::Constant));
    }

    /// True when the node has that operand.
    pub(crate) fn has(&self, node: &Node, index: usize) -> bool {
        node.inputs.get(index).is_some_and(|name| !name.is_empty())
    }

    /// The operand as a tensor.
    pub(crate) fn tensor(&mut self, node: &Node, index: usize) -> Left<TensorId> {
        let name = node.inputs.get(index).ok_or("an operand that is not there")?;
        self.by_name(name)
    }

    pub(crate) fn by_name(&mut self, name: &str) -> Left<TensorId> {
        match self.names.get(name).cloned() {
            Some(Operand::Tensor(id)) => Ok(id),
            Some(Operand::Given(data, role)) => {
                let dtype = dtype(&data.dtype)?;
                if let Some(made) = self.made.get(name) {
                    return Ok(*made);
                }
                let id = self.leaf(name, role, dtype, &data.dims, data.values)?;
                self.made.insert(name.to_string(), id);
                Ok(id)
            }
            None => Err(format!("no tensor `{name}`")),
        }
    }

    /// Every operand as a tensor.
    pub(crate) fn tensors(&mut self, node: &Node) -> Left<Vec<TensorId>> {
        (0..node.inputs.len()).map(|index| self.tensor(node, index)).collect()
    }

    /// The operand's values where a setting is wanted.
    pub(crate) fn known(&self, node: &Node, index: usize) -> Left<Option<Vec<f64>>> {
        if !self.has(node, index) {
            return Ok(None);
        }
        match self.names.get(&node.inputs[index]) {
            Some(Operand::Given(data, _)) => Ok(Some(data.values.clone())),
            _ => Err("settings that are computed".into()),
        }
    }

    fn leaf(&mut self, name: &str, role: Role, dtype: DType, dims: &[usize], values: Vec<f64>) -> Left<TensorId> {
        let shape = Shape::new(dims).ok_or("more than 6 dimensions")?;
        let ty = Type { dtype, shape };
        let id = self.graph.leaf(name, role, ty).map_err(|error| format!("{error:?}"))?;
        self.leaves.push((id, values));
        Ok(id)
    }

    /// A constant.
    pub(crate) fn constant(&mut self, dims: &[usize], values: Vec<f32>) -> Left<TensorId> {
        self.constant_of(DType::F32, dims, values.into_iter().map(f64::from).collect())
    }

    /// A constant of that element type.
    pub(crate) fn constant_of(&mut self, dtype: DType, dims: &[usize], values: Vec<f64>) -> Left<TensorId> {
        self.leaf("constant", Role::Constant, dtype, dims, values)
    }

    /// The tensor in another element type.
    pub(crate) fn cast(&mut self, x: TensorId, to: DType) -> Left<TensorId> {
        if self.dtype_of(x) == to { Ok(x) } else { self.call("cast", &[("to", Value::Word(to.name()))], &[x]) }
    }

    /// The element type of a tensor.
    pub(crate) fn dtype_of(&self, x: TensorId) -> DType {
        self.graph.tensor(x).ty.dtype
    }

    /// A number as a scalar.
    pub(crate) fn number(&mut self, value: f64) -> Left<TensorId> {
        self.constant(&[], vec![value as f32])
    }

    /// The extents of a tensor.
    pub(crate) fn dims(&self, id: TensorId) -> Vec<usize> {
        self.graph.tensor(id).ty.shape.dims().iter().map(|dim| dim.size).collect()
    }

    /// A call with settings.
    pub(crate) fn call(&mut self, name: &str, settings: &[(&str, Value<'_>)], inputs: &[TensorId]) -> Left<TensorId> {
        let types: Vec<Type> = inputs.iter().map(|input| self.graph.tensor(*input).ty).collect();
        let entry = op::find(name).ok_or("an operator that is not in the language")?;
        let op = (entry.build)(&Args { settings, inputs: &types }).map_err(|error| format!("refused: {error:?}"))?;
        self.add(name, op, inputs)
    }

    fn add(&mut self, name: &str, op: Rc<dyn Operator>, inputs: &[TensorId]) -> Left<TensorId> {
        self.graph.node(name, Role::Node, op, inputs).map_err(|error| format!("refused: {error:?}"))
    }

    /// A call of one operand without settings.
    pub(crate) fn map(&mut self, name: &str, x: TensorId) -> Left<TensorId> {
        self.call(name, &[], &[x])
    }

    /// A call of two operands without settings.
    pub(crate) fn join(&mut self, name: &str, a: TensorId, b: TensorId) -> Left<TensorId> {
        self.call(name, &[], &[a, b])
    }

    /// A call with a number on the right.
    pub(crate) fn with(&mut self, name: &str, a: TensorId, number: f64) -> Left<TensorId> {
        let number = self.constant_of(self.dtype_of(a), &[], vec![number])?;
        self.join(name, a, number)
    }

    pub(crate) fn reshape(&mut self, x: TensorId, dims: &[usize]) -> Left<TensorId> {
        self.call("reshape", &[("shape", Value::List(&ints(dims)))], &[x])
    }

    pub(crate) fn permute(&mut self, x: TensorId, axes: &[usize]) -> Left<TensorId> {
        self.call("permute", &[("axes", Value::List(&ints(axes)))], &[x])
    }

    pub(crate) fn concat(&mut self, parts: &[TensorId], axis: usize) -> Left<TensorId> {
        self.call("concat", &[("axis", int(axis))], parts)
    }

    pub(crate) fn slice(&mut self, x: TensorId, axis: usize, [start, end, step]: [usize; 3]) -> Left<TensorId> {
        let cut = [("axis", int(axis)), ("start", int(start)), ("end", int(end)), ("step", int(step))];
        self.call("slice", &cut, &[x])
    }

    /// Makes a result readable after forward.
    pub(crate) fn output(&mut self, name: &str) -> Left<TensorId> {
        let id = self.by_name(name)?;
        let id = match self.graph.tensor(id) {
            tensor if tensor.producer.is_some() && tensor.role == Role::Node => id,
            _ => self.add(name, Rc::new(op::Identity {}), &[id])?,
        };
        self.graph.rename(id, name, Role::Output);
        Ok(id)
    }
}

impl Node {
    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        self.attrs[name].as_i64()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.int(name).unwrap_or(0) != 0
    }

    pub(crate) fn float(&self, name: &str, default: f64) -> f64 {
        self.attrs[name].as_f64().unwrap_or(default)
    }

    pub(crate) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.attrs[name].as_array().map(|list| list.iter().filter_map(serde_json::Value::as_i64).collect())
    }

    pub(crate) fn word(&self, name: &str) -> &str {
        self.attrs[name].as_str().unwrap_or_default()
    }
}

/// An axis, negative counted from the end.
pub(crate) fn axis(given: i64, rank: usize) -> Left<usize> {
    let axis = if given < 0 { given + rank as i64 } else { given };
    usize::try_from(axis).ok().filter(|axis| *axis <= rank).ok_or("an axis that is not there".into())
}
