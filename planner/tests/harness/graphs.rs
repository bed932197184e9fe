//! Bytes as graphs: every plan passes the checker, is as large as it says, and is made the same way twice.

use model_graph_planner::offset::Budget;
use model_graph_planner::op::{self, Args, Entry, OPERATORS, Value};
use model_graph_planner::{
    DType, Graph, NodeId, Options, Order, PlanTensor, Role, Shape, TensorId, Type, plan, verify,
};

use super::Bytes;

/// The most tensors of a graph, and the most elements of a tensor.
const MOST: usize = 60;
const LARGEST: usize = 4096;

/// Plans the graph that the bytes say, with options that they say.
pub(crate) fn plan_then_verify(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let options = options(&mut bytes);
    let graph = graph(&mut bytes);
    let planned = plan(&graph, &options).unwrap_or_else(|error| panic!("{error}\n{options:?}\n{graph}"));
    verify(&planned).unwrap_or_else(|fault| panic!("{fault}\n{options:?}\n{graph}"));
    let twice = plan(&graph, &options).expect("it was planned before");
    planned.with(|plan| twice.with(|twice| assert_eq!(plan, twice, "{graph}")));
    planned.with(|plan| {
        assert!(plan.lower_bound <= plan.size, "{options:?}\n{graph}");
        let own = |tensor: &&PlanTensor<'_>| !options.shared_weights || tensor.view.offset < plan.shared_start();
        let end = plan.tensors.iter().filter(own).map(|tensor| tensor.view.span().end).max().unwrap_or(0);
        assert!(end <= plan.size && plan.size <= end.next_multiple_of(plan.align), "{end} {}\n{graph}", plan.size);
    });
    let plain = Options { in_place: false, concat: false, fuse: false, order: Order::Declared, ..options };
    let plain = plan(&graph, &plain).expect("what plans with options plans without");
    assert!(planned.size <= plain.size, "an option costs memory: {options:?}\n{graph}");
}

fn options(bytes: &mut Bytes<'_>) -> Options {
    let switches = bytes.byte();
    Options {
        align: 8 << bytes.below(6),
        in_place: switches & 1 == 0,
        concat: switches & 2 == 0,
        views: switches & 16 == 0,
        fuse: switches & 4 == 0,
        shared_weights: switches & 32 != 0,
        order: if switches & 8 == 0 { Order::Declared } else { Order::MinPeak },
        budget: Budget::steps(500),
    }
}

/// A graph of up to [`MOST`] tensors.
pub(crate) fn graph(bytes: &mut Bytes<'_>) -> Graph {
    let mut graph = Graph::new(bytes.pick(&["Net", "", "a b", "Netz_ö", "\"\\\n"]));
    leaf(&mut graph, Role::Input, &[2, 4, 3]);
    leaf(&mut graph, Role::Input, &[1, 2, 4, 4]);
    while !bytes.is_empty() && graph.tensors().count() < MOST {
        grow(&mut graph, bytes);
    }
    let unread: Vec<TensorId> = graph.unused();
    for id in unread {
        let tensor = graph.tensor(id);
        if tensor.producer.is_some() && !bytes.once_in(4) {
            let name = tensor.name.clone();
            graph.rename(id, name, Role::Output);
        }
    }
    if bytes.once_in(4) { shuffled(&graph, bytes) } else { graph }
}

/// The graph with its calls in another order that they can run in.
fn shuffled(graph: &Graph, bytes: &mut Bytes<'_>) -> Graph {
    let mut order: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
    for at in 1..order.len() {
        if bytes.once_in(2) {
            order.swap(at - 1, at);
            if graph.reordered(&order).is_err() {
                order.swap(at - 1, at);
            }
        }
    }
    graph.reordered(&order).expect("every swap was tried")
}

fn dims(graph: &Graph, id: TensorId) -> Vec<usize> {
    graph.tensor(id).ty.shape.dims().iter().map(|dim| dim.size).collect()
}

fn leaf(graph: &mut Graph, role: Role, dims: &[usize]) -> TensorId {
    let shape = Shape::new(dims).expect("few dimensions");
    graph.leaf(format!("x{}", graph.tensors().count()), role, Type::f32(shape)).expect("it is small")
}

/// A whole number that comes from outside.
fn whole(graph: &mut Graph) -> TensorId {
    let ty = Type { dtype: DType::U32, shape: Shape::SCALAR };
    graph.leaf(format!("x{}", graph.tensors().count()), Role::Input, ty).expect("it is small")
}

/// Adds a leaf, or a call of an operator where one fits.
fn grow(graph: &mut Graph, bytes: &mut Bytes<'_>) {
    let kind = bytes.below(OPERATORS.len() + 6);
    let Some(entry) = OPERATORS.get(kind) else {
        let x = any(graph, bytes);
        if kind == OPERATORS.len() {
            let role = role(bytes);
            let name = name(graph, "identity", bytes);
            let added = graph.node(name, role, std::rc::Rc::new(op::Identity {}), &[x]);
            assert!(added.is_ok() || graph.tensor(x).ty.dtype.is_quantised(), "it takes anything but blocks");
        } else {
            let role = bytes.pick(&[Role::Input, Role::KeptInput, Role::Weight, Role::Constant, Role::State]);
            let dims: Vec<usize> = (0..bytes.below(5)).map(|_| extent(bytes)).collect();
            let shape = Shape::new(&dims).expect("few dimensions");
            let dtype = if bytes.once_in(8) { bytes.pick(&DType::ALL) } else { DType::F32 };
            let name = name(graph, "leaf", bytes);
            graph.leaf(name, role, Type { dtype, shape }).expect("it is small");
        }
        return;
    };
    let inputs = operands(graph, entry, bytes);
    if entry.spec.name == "write" && graph.next_version(inputs[0]).is_some() {
        return;
    }
    let rank = graph.tensor(inputs[0]).ty.shape.rank();
    let mut lists: Vec<Vec<Value<'static>>> = Vec::new();
    for setting in entry.spec.settings {
        let list = match setting.name {
            "shape" => reshaped(&dims(graph, inputs[0]), bytes),
            "axes" => {
                let mut axes: Vec<usize> = (0..rank).collect();
                if rank > 1 {
                    axes.swap(bytes.below(rank), bytes.below(rank));
                }
                axes
            }
            "before" | "after" => (0..rank).map(|_| bytes.below(3)).collect(),
            "padding" => (0..4).map(|_| bytes.below(3)).collect(),
            _ => vec![1 + bytes.below(3), 1 + bytes.below(2)],
        };
        lists.push(list.into_iter().map(int).collect());
    }
    let mut settings: Vec<(&str, Value<'_>)> = Vec::new();
    for (setting, list) in entry.spec.settings.iter().zip(&lists) {
        let value = match setting.name {
            "axis" | "at" if entry.spec.name == "write" && inputs.len() < 3 && !bytes.once_in(3) => continue,
            "at" => int(0),
            "shape" | "axes" | "kernel" | "before" | "after" => Value::List(list),
            "axis" => int(bytes.below(rank.max(1))),
            _ if !bytes.once_in(2) => continue,
            "padding" if bytes.once_in(4) => Value::Word("same"),
            "padding" | "stride" | "dilation" => Value::List(list),
            "layout" => Value::Word(bytes.pick(&["nchw", "nhwc", "ncl", "nlc"])),
            "mode" => {
                Value::Word(bytes.pick(&["reflect", "edge", "constant", "dcr", "crd", "nearest", "linear", "cubic"]))
            }
            "order" => Value::Word(bytes.pick(&["ifgo", "iofg", "rzn", "zrn"])),
            "reset" => Value::Word(bytes.pick(&["before", "after"])),
            "activation" => Value::Word(bytes.pick(&["tanh", "relu"])),
            "pairs" => Value::Word(bytes.pick(&["adjacent", "halves"])),
            "size" | "scale" => Value::List(list),
            "block" | "parts" | "groups" | "p" => int(1 + bytes.below(3)),
            "approximate" => Value::Word(bytes.pick(&["none", "tanh"])),
            "to" => Value::Word(bytes.pick(&DType::ALL).name()),
            "part" => Value::Word(bytes.pick(&["upper", "lower"])),
            "ceil" | "count_padding" | "keep_dims" | "causal" | "last" | "exclusive" | "reverse"
            | "exclude_outside" => Value::Bool(bytes.once_in(2)),
            "slope" | "eps" | "value" | "low" | "high" | "alpha" | "offset" | "base" => {
                Value::Float(f64::from(bytes.below(100) as f32 / 70.0))
            }
            _ => Value::Int(bytes.below(8) as i64 - 2, 0),
        };
        settings.push((setting.name, value));
    }
    let types: Vec<Type> = inputs.iter().map(|input| graph.tensor(*input).ty).collect();
    let Ok(op) = (entry.build)(&Args { settings: &settings, inputs: &types }) else { return };
    let small = |ty: Type| ty.shape.elements().is_some_and(|elements| elements <= LARGEST);
    if op::infer(&*op, &types).is_ok_and(small) {
        let role = role(bytes);
        let name = name(graph, entry.spec.name, bytes);
        let id = graph.node(name, role, op, &inputs).expect("its rule has nothing to say");
        // What has no name can be fused away.
        if role == Role::Node && !bytes.once_in(3) {
            graph.set_inner(id);
        }
    }
}

fn int<'a>(value: usize) -> Value<'a> {
    Value::Int(value as i64, 0)
}

fn role(bytes: &mut Bytes<'_>) -> Role {
    match bytes.below(16) {
        0 => Role::Output,
        1 => Role::KeptNode,
        _ => Role::Node,
    }
}

fn name(graph: &Graph, of: &str, bytes: &mut Bytes<'_>) -> String {
    let count = graph.tensors().count();
    match bytes.below(16) {
        0 => String::from("0.5"),
        1 => format!("a \"{count}\"\n\\\u{200b}"),
        _ => format!("{of}{count}.y"),
    }
}

fn extent(bytes: &mut Bytes<'_>) -> usize {
    bytes.pick(&[1, 2, 3, 4, 4, 6, 8, 0])
}

/// A tensor that is there, more often than not a recent one.
fn any(graph: &Graph, bytes: &mut Bytes<'_>) -> TensorId {
    let count = graph.tensors().count();
    let back = if bytes.once_in(3) { bytes.below(count) } else { bytes.below(count.min(5)) };
    graph.tensors().nth(count - 1 - back).expect("it is there").0
}

/// Operands, some of them made to fit.
fn operands(graph: &mut Graph, entry: &Entry, bytes: &mut Bytes<'_>) -> Vec<TensorId> {
    let x = any(graph, bytes);
    let dims = dims(graph, x);
    let mut inputs = vec![x];
    let role = bytes.pick(&[Role::Weight, Role::Constant]);
    match (entry.spec.name, dims.as_slice()) {
        ("matmul", [.., inner]) if bytes.once_in(2) => inputs.push(leaf(graph, role, &[*inner, 4])),
        ("write", _) => {
            // All of a state, rows of it, or rows at a position that comes with the inputs.
            let at = bytes.below(3);
            let last: Vec<TensorId> =
                graph.tensors().filter(|(_, tensor)| tensor.role == Role::State).map(|(id, _)| id).collect();
            let last: Vec<TensorId> = last.into_iter().filter(|id| graph.next_version(*id).is_none()).collect();
            let fits = last.iter().rev().find(|id| self::dims(graph, **id) == dims).copied();
            let state = fits.unwrap_or_else(|| leaf(graph, Role::State, &dims));
            inputs = vec![state, x];
            if at == 0 {
                let ty = Type { dtype: DType::U32, shape: Shape::SCALAR };
                let name = format!("at{}", graph.tensors().count());
                inputs.push(graph.leaf(name, Role::Input, ty).expect("it is small"));
            }
        }
        ("conv2d", [_, channels, _, _]) => inputs.push(leaf(graph, role, &[4, *channels, 3, 3])),
        ("conv1d", [_, channels, _]) => inputs.push(leaf(graph, role, &[4, *channels, 2])),
        ("conv_transpose2d", [_, channels, _, _]) => inputs.push(leaf(graph, role, &[*channels, 2, 2, 3])),
        ("conv_transpose1d", [_, channels, _]) => inputs.push(leaf(graph, role, &[*channels, 2, 3])),
        ("attention", [lead @ .., _, depth]) => {
            let keys: Vec<usize> = [lead, &[5, *depth]].concat();
            let keys = leaf(graph, role, &keys);
            inputs.extend([keys; 2]);
            if bytes.once_in(2) {
                inputs.push(whole(graph));
            }
        }
        ("rope", _) => inputs.push(whole(graph)),
        ("lstm", [_, batch, elements]) => {
            let shapes: [&[usize]; 4] = [&[2, *batch, 3], &[12, *elements], &[12, 3], &[12]];
            inputs.extend(shapes.map(|dims| leaf(graph, role, dims)));
        }
        ("gru", [_, batch, elements]) => {
            let shapes: [&[usize]; 4] = [&[*batch, 2], &[6, *elements], &[6, 2], &[6]];
            inputs.extend(shapes.map(|dims| leaf(graph, role, dims)));
        }
        ("rnn", [_, batch, elements]) => {
            let shapes: [&[usize]; 3] = [&[*batch, 4], &[4, *elements], &[4, 4]];
            inputs.extend(shapes.map(|dims| leaf(graph, role, dims)));
        }
        ("batch_norm", [_, channels, ..]) => {
            let weight = leaf(graph, role, &[*channels]);
            inputs.extend([weight; 4]);
        }
        _ => {
            let spec = &entry.spec;
            let more = if spec.variadic { bytes.below(4) } else { spec.operands.len() - 1 };
            inputs.extend((0..more).map(|_| any(graph, bytes)));
        }
    }
    inputs
}

/// Other extents of the same product.
fn reshaped(dims: &[usize], bytes: &mut Bytes<'_>) -> Vec<usize> {
    let mut dims = dims.to_vec();
    match bytes.below(4) {
        0 if dims.len() > 1 => {
            let at = bytes.below(dims.len() - 1);
            dims[at] *= dims.remove(at + 1);
        }
        1 if dims.iter().any(|dim| dim.is_multiple_of(2)) => {
            let at = dims.iter().position(|dim| dim.is_multiple_of(2)).unwrap_or(0);
            dims[at] /= 2;
            dims.insert(at + 1, 2);
        }
        2 => dims.insert(0, 1),
        _ => dims = vec![dims.iter().product()],
    }
    dims
}
