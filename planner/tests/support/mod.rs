//! Plans to look at: one written by hand, and ones made of the graphs in `../shared`, placed greedily. They need to be
//! plausible, not good: the planner itself is tested elsewhere.
#![allow(dead_code, reason = "each test uses a part")]

use std::fmt;
use std::path::PathBuf;

use model_graph_planner::{DType, Plan, PlanStep, PlanTensor, Role, Shape, Storage, View};
use serde_json::Value;

/// A plan under construction. What it hands out lives until the process ends, as a constant would.
#[derive(Default)]
pub(crate) struct Draft {
    tensors: Vec<PlanTensor<'static>>,
    steps: Vec<PlanStep<'static>>,
    inside: std::collections::BTreeMap<usize, usize>,
}

pub(crate) fn leak<T: Clone>(items: &[T]) -> &'static [T] {
    Box::leak(items.to_vec().into_boxed_slice())
}

pub(crate) fn text(text: impl Into<String>) -> &'static str {
    Box::leak(text.into().into_boxed_str())
}

impl Draft {
    /// A tensor of `f32`; its life is made of the steps that use it.
    pub(crate) fn tensor(&mut self, name: impl Into<String>, role: Role, dims: &[usize], storage: Storage) -> usize {
        self.typed(name, role, DType::F32, dims, storage)
    }

    pub(crate) fn typed(
        &mut self,
        name: impl Into<String>,
        role: Role,
        dtype: DType,
        dims: &[usize],
        storage: Storage,
    ) -> usize {
        let shape = Shape::new(dims).expect("at most six dimensions");
        let view = View::packed(dtype, 0, &shape);
        self.tensors.push(PlanTensor { name: text(name), role, view, first: usize::MAX, last: 0, storage });
        self.tensors.len() - 1
    }

    /// Lays a view or a part at that byte of its parent, with these strides.
    pub(crate) fn inside(&mut self, tensor: usize, offset: usize, strides: &[usize]) {
        self.tensors[tensor].view.strides[..strides.len()].copy_from_slice(strides);
        self.inside.insert(tensor, offset);
    }

    pub(crate) fn step(&mut self, op: impl Into<String>, inputs: &[usize], outputs: &[usize], scratch: &[usize]) {
        self.steps.push(PlanStep {
            op: text(op),
            inputs: leak(inputs),
            outputs: leak(outputs),
            scratch: leak(scratch),
        });
    }

    fn root(&self, tensor: usize) -> usize {
        match self.tensors[tensor].storage {
            Storage::Own => tensor,
            Storage::View(parent) | Storage::InPlace(parent) | Storage::Part(parent) => self.root(parent),
        }
    }

    /// Lifetimes from the steps, offsets largest first, each as low as it can lie.
    pub(crate) fn plan(mut self, model: &str, align: usize) -> Plan<'static> {
        let end = self.steps.len() + 1;
        for (index, step) in self.steps.iter().enumerate() {
            for &tensor in step.inputs.iter().chain(step.outputs).chain(step.scratch) {
                let tensor = &mut self.tensors[tensor];
                tensor.first = tensor.first.min(index + 1);
                tensor.last = tensor.last.max(index + 1);
            }
        }
        for tensor in &mut self.tensors {
            match tensor.role {
                role if role.is_persistent() => (tensor.first, tensor.last) = (0, end),
                Role::Input => tensor.first = 0,
                Role::Output => tensor.last = end,
                _ => {}
            }
            tensor.first = tensor.first.min(tensor.last);
        }
        let count = self.tensors.len();
        let roots: Vec<usize> = (0..count).map(|tensor| self.root(tensor)).collect();
        let mut life = vec![(usize::MAX, 0); count];
        for (tensor, &root) in self.tensors.iter().zip(&roots) {
            life[root] = (tensor.first.min(life[root].0), tensor.last.max(life[root].1));
        }
        let sizes: Vec<usize> = self.tensors.iter().map(|tensor| tensor.view.span().len()).collect();
        let size = |tensor: usize| sizes[tensor];
        let round = |bytes: usize| bytes.next_multiple_of(align);
        let mut own: Vec<usize> = (0..count).filter(|&tensor| roots[tensor] == tensor).collect();
        own.sort_by_key(|&tensor| (!self.tensors[tensor].role.is_persistent(), std::cmp::Reverse(size(tensor))));
        let mut offsets = vec![0; count];
        let mut persistent = 0;
        for place in 0..own.len() {
            let tensor = own[place];
            let mut busy: Vec<(usize, usize)> = own[..place]
                .iter()
                .filter(|&&other| life[other].0 <= life[tensor].1 && life[tensor].0 <= life[other].1)
                .map(|&other| (offsets[other], offsets[other] + round(size(other))))
                .collect();
            busy.sort_unstable();
            let transient = !self.tensors[tensor].role.is_persistent();
            let mut at = if transient { persistent } else { 0 };
            for (start, stop) in busy {
                if at + size(tensor) <= start {
                    break;
                }
                at = at.max(stop);
            }
            offsets[tensor] = at;
            if !transient {
                persistent = persistent.max(at + round(size(tensor)));
            }
        }
        // Parts lie one after the other; views and successors start where their parent does.
        let mut filled = vec![0; count];
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&tensor| self.depth(tensor));
        for tensor in order {
            let within = size(tensor);
            self.tensors[tensor].view.offset = match self.tensors[tensor].storage {
                Storage::Own => offsets[tensor],
                Storage::View(parent) | Storage::Part(parent) if self.inside.contains_key(&tensor) => {
                    self.tensors[parent].view.offset + self.inside[&tensor]
                }
                Storage::View(parent) | Storage::InPlace(parent) => self.tensors[parent].view.offset,
                Storage::Part(parent) => {
                    filled[parent] += within;
                    self.tensors[parent].view.offset + filled[parent] - within
                }
            };
        }
        let live = |moment: usize| {
            own.iter()
                .filter(|&&tensor| (life[tensor].0..=life[tensor].1).contains(&moment))
                .map(|&t| round(size(t)))
                .sum()
        };
        let lower_bound: usize = (0..=end).map(live).max().unwrap_or(0);
        let size = own.iter().map(|&tensor| offsets[tensor] + round(size(tensor))).max().unwrap_or(0);
        Plan {
            model: text(model),
            size,
            align,
            lower_bound,
            optimal: size == lower_bound,
            persistent,
            shared: 0,
            tensors: leak(&self.tensors),
            steps: leak(&self.steps),
            saved: &[],
            open: model_graph_planner::OpenExtents::NONE,
        }
    }

    fn depth(&self, tensor: usize) -> usize {
        match self.tensors[tensor].storage {
            Storage::Own => 0,
            Storage::View(parent) | Storage::InPlace(parent) | Storage::Part(parent) => 1 + self.depth(parent),
        }
    }
}

/// A small network of thirteen tensors in which every role but two and every kind of storage occurs.
pub(crate) fn small() -> Plan<'static> {
    let mut draft = Draft::default();
    let image = draft.tensor("image", Role::Input, &[1, 1, 28, 28], Storage::Own);
    let kernel = draft.tensor("conv.weight", Role::Weight, &[6, 1, 3, 3], Storage::Own);
    let dense = draft.tensor("dense.weight", Role::Weight, &[10, 2028], Storage::Own);
    let bias = draft.tensor("dense.bias", Role::Constant, &[10], Storage::Own);
    let joined = draft.tensor("joined", Role::Node, &[1, 12, 13, 13], Storage::Own);
    let conv = draft.tensor("conv", Role::Node, &[1, 6, 26, 26], Storage::Own);
    let patches = draft.tensor("conv.patches", Role::Scratch, &[9, 26, 26], Storage::Own);
    let relu = draft.tensor("relu", Role::Node, &[1, 6, 26, 26], Storage::InPlace(conv));
    let most = draft.tensor("most", Role::Node, &[1, 6, 13, 13], Storage::Part(joined));
    let mean = draft.tensor("mean", Role::Node, &[1, 6, 13, 13], Storage::Part(joined));
    let flat = draft.tensor("flat", Role::Node, &[1, 2028], Storage::View(joined));
    let logits = draft.tensor("logits", Role::KeptNode, &[1, 10], Storage::Own);
    let probs = draft.tensor("probs", Role::Output, &[1, 10], Storage::Own);
    draft.step("conv2d", &[image, kernel], &[conv], &[patches]);
    draft.step("relu", &[conv], &[relu], &[]);
    draft.step("max_pool2d", &[relu], &[most], &[]);
    draft.step("avg_pool2d", &[relu], &[mean], &[]);
    draft.step("concat", &[most, mean], &[joined], &[]);
    draft.step("matmul", &[flat, dense, bias], &[logits], &[]);
    draft.step("softmax", &[logits], &[probs], &[]);
    draft.plan("Small", 64)
}

/// Parts joined along the last axis and views that split it again: none of them lies in one piece.
pub(crate) fn interleaved() -> Plan<'static> {
    let mut draft = Draft::default();
    let x = draft.tensor("x", Role::Input, &[16, 32], Storage::Own);
    let weight = draft.tensor("attention.qkv.weight", Role::Weight, &[32, 96], Storage::Own);
    let qkv = draft.tensor("qkv", Role::Node, &[16, 96], Storage::Own);
    let [q, k, v] = ["q", "k", "v"].map(|name| draft.tensor(name, Role::Node, &[16, 32], Storage::View(qkv)));
    let scores = draft.tensor("scores", Role::Scratch, &[16, 16], Storage::Own);
    let joined = draft.tensor("joined", Role::Output, &[16, 64], Storage::Own);
    let mixed = draft.tensor("mixed", Role::Node, &[16, 32], Storage::Part(joined));
    let kept = draft.tensor("kept", Role::Node, &[16, 32], Storage::Part(joined));
    for (place, view) in [q, k, v].into_iter().enumerate() {
        draft.inside(view, 128 * place, &[96, 1]);
    }
    draft.inside(mixed, 0, &[64, 1]);
    draft.inside(kept, 128, &[64, 1]);
    draft.step("matmul", &[x, weight], &[qkv], &[]);
    draft.step("copy", &[x], &[kept], &[]);
    draft.step("attention", &[q, k, v], &[mixed], &[scores]);
    draft.step("concat", &[mixed, kept], &[joined], &[]);
    draft.plan("Interleaved", 64)
}

/// As many tensors as wanted, of many sizes, each read by a few of the steps after it.
pub(crate) fn many(count: usize) -> Plan<'static> {
    let mut draft = Draft::default();
    let mut state = 1u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let mut last: Vec<usize> = vec![draft.tensor("x", Role::Input, &[4096], Storage::Own)];
    for index in 1..count {
        let parent = last[last.len() - 1 - random(last.len().min(4))];
        let size = 1 << (4 + random(12));
        let next = draft.tensor(format!("block.{}.node_{index}", index / 12), Role::Node, &[size], Storage::Own);
        draft.step("op", &[parent], &[next], &[]);
        last.push(next);
    }
    draft.plan("Many", 16)
}

/// Says something that is seen even where a test passes, as `eprintln!` is not.
pub(crate) fn aloud(text: &str) {
    let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{text}\n"));
}

/// The folder of shared graphs, or nothing and a word about it.
pub(crate) fn shared() -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/plans"));
    if path.is_dir() {
        return Some(path);
    }
    aloud("skipped: ../shared/plans is not here, so the plans of real networks are not drawn");
    None
}

/// A plan of a real network; with its weights, where the graph says how large they are.
pub(crate) fn load(name: &str, weights: bool) -> Option<Plan<'static>> {
    let text = std::fs::read_to_string(shared()?.join(name).with_extension("json")).expect("the graph can be read");
    // Some of the constants are infinite, which JSON has no word for; their values do not matter here.
    let text = text.replace("Infinity", "9").replace("NaN", "0");
    let graph: Value = serde_json::from_str(&text).expect("the graph is JSON");
    Some(plan_of(name, &graph, weights))
}

fn plan_of(name: &str, graph: &Value, weights: bool) -> Plan<'static> {
    let mut draft = Draft::default();
    let numbers = |value: &Value| -> Vec<usize> {
        value.as_array().into_iter().flatten().filter_map(|n| Some(n.as_u64()? as usize)).collect()
    };
    let outputs = numbers(&graph["outputs"]);
    let nodes: Vec<&Value> = graph["nodes"].as_array().into_iter().flatten().collect();
    let mut last_use = std::collections::BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        for tensor in numbers(&node["inputs"]) {
            last_use.insert(tensor, index);
        }
    }
    let mut ids = std::collections::BTreeMap::new();
    for tensor in graph["tensors"].as_array().into_iter().flatten() {
        let id = tensor["id"].as_u64().expect("an id") as usize;
        let role = match tensor["kind"].as_str() {
            Some("input") => Role::Input,
            _ if outputs.contains(&id) => Role::Output,
            _ => Role::Node,
        };
        let dtype = dtype(&tensor["dtype"]);
        let bytes = tensor["bytes"].as_u64().expect("bytes") as usize;
        let mut dims = numbers(&tensor["shape"]);
        dims.truncate(6);
        if dims.iter().product::<usize>() * dtype.size() != bytes {
            dims = vec![bytes / dtype.size()];
        }
        ids.insert(id, draft.typed(tensor["name"].as_str().unwrap_or("?"), role, dtype, &dims, Storage::Own));
    }
    for (index, node) in nodes.iter().enumerate() {
        let op = node["op"].as_str().unwrap_or("?");
        let raw = numbers(&node["inputs"]);
        let mut inputs: Vec<usize> = raw.iter().map(|id| ids[id]).collect();
        let results: Vec<usize> = numbers(&node["outputs"]).iter().map(|id| ids[id]).collect();
        if let (Some(&from), [to]) = (raw.first(), &results[..]) {
            let (parent, child) = (&draft.tensors[ids[&from]], &draft.tensors[*to]);
            let agree = parent.view.span().len() == child.view.span().len();
            let node = parent.role == Role::Node && child.role == Role::Node;
            let dies = last_use.get(&from) == Some(&index);
            let rowwise = ["Relu", "Add", "Clip", "Mul", "Softmax", "Sigmoid", "BatchNormalization", "Gelu", "Sub"];
            let storage = match node && agree {
                true if op_is_view(&nodes[index]["view"]) => Storage::View(ids[&from]),
                true if dies && rowwise.contains(&op) => Storage::InPlace(ids[&from]),
                _ => Storage::Own,
            };
            draft.tensors[*to].storage = storage;
        }
        if weights {
            for (place, constant) in node["consts"].as_object().into_iter().flatten() {
                let dims = numbers(&constant["shape"]);
                if constant["value"].is_null() && dims.len() <= 6 && !dims.is_empty() {
                    let name = format!("{}.{place}", draft.tensors[results[0]].name);
                    inputs.push(draft.typed(name, Role::Weight, dtype(&constant["dtype"]), &dims, Storage::Own));
                }
            }
        }
        draft.step(op.to_lowercase(), &inputs, &results, &[]);
    }
    draft.plan(name, 64)
}

fn op_is_view(value: &Value) -> bool {
    value.as_bool() == Some(true)
}

fn dtype(value: &Value) -> DType {
    match value.as_str().unwrap_or("") {
        "float16" | "f16" => DType::F16,
        "int8" | "i8" => DType::I8,
        "uint8" | "u8" => DType::U8,
        "int32" | "i32" => DType::I32,
        "int64" | "i64" => DType::I64,
        "bool" => DType::Bool,
        _ => DType::F32,
    }
}

/// Written twice, it is the same text.
pub(crate) fn twice(value: impl fmt::Display) -> String {
    let text = value.to_string();
    assert_eq!(text, value.to_string());
    text
}
