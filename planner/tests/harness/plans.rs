//! Bytes as plans that nobody planned: whatever one says, the checker answers, and of what it lets pass every tensor has
//! as many bytes to itself as it has elements.

use std::rc::Rc;

use model_graph_planner::offset::Budget;
use model_graph_planner::op::{self, Operator};
use model_graph_planner::{DType, Options, Planned, Role, Storage, View, plan, verify};

use super::{Bytes, graph};

/// Plans the graph that the bytes say, changes the plan, and has it checked.
pub(crate) fn verify_anything(data: &[u8]) {
    let (changes, rest) = data.split_at(data.len().min(40));
    let graph = graph(&mut Bytes::new(rest));
    let options = Options { budget: Budget::GREEDY, ..Options::default() };
    let Ok(mut planned) = plan(&graph, &options) else { return };
    let mut bytes = Bytes::new(changes);
    while !bytes.is_empty() {
        change(&mut planned, &mut bytes);
        if verify(&planned).is_err() {
            return;
        }
        for tensor in &planned.tensors {
            let view = &tensor.view;
            assert!(view.span().end <= planned.size && view.blocks() * view.dtype.size() <= view.span().len());
            let (Storage::View(of) | Storage::Part(of)) = tensor.storage else { continue };
            assert_eq!(view.dtype, planned.tensors[of].view.dtype, "{}", tensor.name);
        }
    }
}

/// A number that somebody could have meant, or one that nobody did.
fn number(bytes: &mut Bytes<'_>) -> usize {
    match bytes.below(8) {
        0 => usize::MAX - bytes.below(8),
        1 => 1 << bytes.below(64),
        2 => (isize::MAX as usize) - bytes.below(8) + 4,
        3 => bytes.any() as usize,
        _ => bytes.below(9),
    }
}

fn change(planned: &mut Planned, bytes: &mut Bytes<'_>) {
    let count = planned.tensors.len();
    let at = bytes.below(count);
    let kind = bytes.below(14);
    let view: &mut View = &mut planned.tensors[at].view;
    match kind {
        0 => view.rank = number(bytes),
        1 => view.dims[bytes.below(6)] = number(bytes),
        2 => view.strides[bytes.below(6)] = number(bytes),
        3 => view.offset = number(bytes),
        4 => view.dtype = bytes.pick(&DType::ALL),
        5 => planned.size = number(bytes),
        6 => planned.align = number(bytes),
        7 => planned.tensors[at].role = bytes.pick(&Role::ALL),
        8 => {
            let of = if bytes.once_in(8) { number(bytes) } else { bytes.below(count) };
            let storages = [Storage::Own, Storage::View(of), Storage::InPlace(of), Storage::Part(of)];
            planned.tensors[at].storage = bytes.pick(&storages);
        }
        9 => (planned.tensors[at].first, planned.tensors[at].last) = (number(bytes), number(bytes)),
        _ => change_step(planned, at, bytes),
    }
}

fn change_step(planned: &mut Planned, tensor: usize, bytes: &mut Bytes<'_>) {
    let count = planned.steps.len();
    if count == 0 {
        return;
    }
    let other = planned.steps[bytes.below(count)].clone();
    let step = &mut planned.steps[bytes.below(count)];
    let list = match bytes.below(8) {
        0..4 => &mut step.inputs,
        4 => &mut step.outputs,
        5 => &mut step.scratch,
        _ => {
            step.op = operator(&other.op, &step.op, bytes);
            return;
        }
    };
    match bytes.below(3) {
        0 => drop(list.pop()),
        1 => list.push(tensor),
        _ => list.iter_mut().for_each(|operand| *operand = tensor),
    }
}

/// An operator with settings that no call gives it.
fn operator(other: &Rc<dyn Operator>, own: &Rc<dyn Operator>, bytes: &mut Bytes<'_>) -> Rc<dyn Operator> {
    let n = number(bytes);
    let pair = [number(bytes), number(bytes)];
    let padding = [number(bytes), n, 1, 1];
    let switch = bytes.once_in(2);
    match bytes.below(9) {
        0 => Rc::new(op::Fused::new(own.clone(), n, other.clone(), bytes.below(3))),
        1 => Rc::new(op::Conv2d { stride: pair, padding, dilation: [1, n], groups: n, channels_last: switch }),
        2 => Rc::new(op::MaxPool2d {
            kernel: [1 + bytes.below(2); 2],
            stride: pair,
            padding,
            dilation: [1, n],
            ceil: switch,
            channels_last: !switch,
        }),
        3 => Rc::new(op::BatchNorm { axis: n, eps: 0.0 }),
        4 => Rc::new(op::Softmax { axis: n }),
        5 => Rc::new(op::Fill {
            dims: [pair[0], pair[1], n, 1, 1, 1].map(model_graph_planner::Dim::new),
            rank: n,
            value: 0.0,
            dtype: model_graph_planner::DType::F32,
        }),
        6 => Rc::new(op::Sum { axes: [switch, true, false, true, switch, false], keep_dims: !switch }),
        7 => Rc::new(op::LayerNorm { axis: n, eps: 0.0 }),
        _ => other.clone(),
    }
}
