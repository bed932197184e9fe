//! The tensors of an ONNX file by name: its initializers, and the constants among its nodes. The graph is not read.

use model_graph::{DType, Error, Weight, WeightSource};
use prost::Message;

/// The parts of a file that hold tensors, by their field numbers in `onnx.proto`.
#[derive(Clone, PartialEq, Message)]
struct Model {
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
}

#[derive(Clone, PartialEq, Message)]
struct Graph {
    #[prost(message, repeated, tag = "1")]
    node: Vec<Node>,
    #[prost(message, repeated, tag = "5")]
    initializer: Vec<Tensor>,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(string, repeated, tag = "2")]
    output: Vec<String>,
    #[prost(string, tag = "4")]
    op_type: String,
    #[prost(message, repeated, tag = "5")]
    attribute: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(message, optional, tag = "5")]
    tensor: Option<Tensor>,
}

#[derive(Clone, PartialEq, Message)]
struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(string, tag = "8")]
    name: String,
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
}

/// The tensors of a file. Only `f32` ones have an element type here.
#[derive(Clone, Debug)]
pub struct Onnx(Vec<(Tensor, Vec<usize>)>);

impl Onnx {
    /// Reads a whole file.
    ///
    /// # Errors
    /// When it is no protobuf message of this form.
    pub fn new(bytes: &[u8]) -> Result<Onnx, prost::DecodeError> {
        let graph = Model::decode(bytes)?.graph.unwrap_or_default();
        let constants = graph.node.into_iter().filter(|node| node.op_type == "Constant").filter_map(|node| {
            let tensor = node.attribute.into_iter().find_map(|attribute| attribute.tensor)?;
            Some(Tensor { name: node.output.into_iter().next()?, ..tensor })
        });
        let tensors = graph.initializer.into_iter().chain(constants);
        Ok(Onnx(
            tensors
                .map(|tensor| {
                    // An extent below zero fits no weight, and neither does this.
                    let shape = tensor.dims.iter().map(|dim| usize::try_from(*dim).unwrap_or(usize::MAX)).collect();
                    (tensor, shape)
                })
                .collect(),
        ))
    }
}

impl WeightSource for Onnx {
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
        let found = self.0.iter().find(|(tensor, _)| tensor.name == name);
        Ok(found.map(|(tensor, shape)| Weight {
            dtype: (tensor.data_type == 1).then_some(DType::F32),
            shape,
            bytes: &tensor.raw_data,
        }))
    }

    fn names(&self, visit: &mut dyn FnMut(&str)) {
        self.0.iter().for_each(|(tensor, _)| visit(&tensor.name));
    }
}
