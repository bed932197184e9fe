//! Evaluates graphs as they are declared: every tensor has storage of its own and views are made by copying. It shares
//! nothing with the planner but the declaration, and nothing with planned runs but the kernels on packed operands.

use model_graph::{Buffer, BufferType, Cpu, DType, Error, HostBuffer, MAX_RANK, Usage, View, op};
use model_graph_planner::graph::Node;
use model_graph_planner::op::Operator;
use model_graph_planner::{Graph, Shape, Type};

use crate::interpret::{Host, call};

/// Every index of these extents, in row-major order.
pub fn indices(dims: &[usize]) -> impl Iterator<Item = [usize; MAX_RANK]> + use<> {
    let mut all = [1; MAX_RANK];
    all[..dims.len()].copy_from_slice(dims);
    let count: usize = all.iter().product();
    (0..count).map(move |mut position| {
        let mut index = [0; MAX_RANK];
        for axis in (0..MAX_RANK).rev() {
            index[axis] = position % all[axis];
            position /= all[axis];
        }
        index
    })
}

/// The byte at which each element starts, in row-major order.
pub fn places(view: &View) -> impl Iterator<Item = usize> + use<> {
    let view = *view;
    indices(view.dims()).map(move |index| {
        view.offset + view.dtype.size() * index.iter().zip(view.strides).map(|(i, stride)| i * stride).sum::<usize>()
    })
}

/// The values of every tensor of the graph. `leaves` gives those of inputs, weights and constants by their position.
///
/// # Panics
/// When a leaf has another number of values than its shape asks for, or a kernel complains.
pub fn evaluate(graph: &Graph, leaves: impl Fn(usize) -> Vec<f32>) -> Vec<Vec<f32>> {
    let mut values: Vec<Vec<f32>> = Vec::new();
    for (id, tensor) in graph.tensors() {
        let value = match tensor.producer {
            None => leaves(id.index()),
            Some(node) => node_value(graph, graph.call(node), &values),
        };
        assert_eq!(Some(value.len()), tensor.ty.shape.elements(), "{}", tensor.name);
        values.push(value);
    }
    values
}

fn node_value(graph: &Graph, node: &Node, values: &[Vec<f32>]) -> Vec<f32> {
    let dims = |index: usize| graph.tensor(node.inputs[index]).ty.shape.sizes();
    let x = &values[node.inputs[0].index()];
    let out = graph.tensor(node.output).ty.shape;
    let sizes: Vec<usize> = out.dims().iter().map(|dim| dim.size).collect();
    // Reads the operand at an index worked out from the result's.
    let gather = |from: &dyn Fn(&[usize; MAX_RANK]) -> [usize; MAX_RANK]| -> Vec<f32> {
        indices(&sizes).map(|index| x[position(&dims(0), &from(&index))]).collect()
    };
    let rank = out.rank();
    let any = node.op.as_any();
    let same = any.is::<op::Identity>() || any.is::<op::Reshape>() || any.is::<op::Flatten>() || any.is::<op::Copy>();
    if same || any.is::<op::ExpandDims>() || any.is::<op::Squeeze>() {
        x.clone()
    } else if let Some(op) = any.downcast_ref::<op::Split>() {
        gather(&|index| {
            let mut from = [0; MAX_RANK];
            from[..MAX_RANK - 1].copy_from_slice(&index[1..]);
            from[op.axis] += index[0] * dims(0)[op.axis] / op.parts;
            from
        })
    } else if any.is::<op::Transpose>() {
        gather(&|index| {
            let mut from = *index;
            from.swap(rank - 2, rank - 1);
            from
        })
    } else if let Some(op) = any.downcast_ref::<op::Permute>() {
        gather(&|index| {
            let mut from = [0; MAX_RANK];
            (0..rank).for_each(|axis| from[op.axes[axis]] = index[axis]);
            from
        })
    } else if let Some(op) = any.downcast_ref::<op::Slice>() {
        gather(&|index| {
            let mut from = *index;
            from[op.axis] = op.start.size + index[op.axis] * op.step;
            from
        })
    } else if let Some(op) = any.downcast_ref::<op::Pad>() {
        let inside = |index: &[usize; MAX_RANK], axis: usize| {
            (op.before[axis]..op.before[axis] + dims(0)[axis]).contains(&index[axis])
        };
        let element = |mut index: [usize; MAX_RANK]| {
            if op.mode != 0 {
                for (axis, index) in index.iter_mut().enumerate().take(rank) {
                    let (at, last) = (*index as isize - op.before[axis] as isize, dims(0)[axis] as isize - 1);
                    let at = if op.mode == 1 { last - (last - at.abs()).abs() } else { at.clamp(0, last) };
                    *index = at as usize;
                }
                return x[position(&dims(0), &index)];
            }
            if !(0..rank).all(|axis| inside(&index, axis)) {
                return op.value;
            }
            (0..rank).for_each(|axis| index[axis] -= op.before[axis]);
            x[position(&dims(0), &index)]
        };
        indices(&sizes).map(element).collect()
    } else if let Some(op) = any.downcast_ref::<op::Write>() {
        let (src, rows) = (&values[node.inputs[1].index()], dims(1));
        let element = |mut index: [usize; MAX_RANK]| {
            let old = x[position(&dims(0), &index)];
            match op.whole {
                true => src[position(&rows, &index)],
                false if (op.at..op.at + rows[op.axis]).contains(&index[op.axis]) => {
                    index[op.axis] -= op.at;
                    src[position(&rows, &index)]
                }
                false => old,
            }
        };
        indices(&sizes).map(element).collect()
    } else if let Some(op) = any.downcast_ref::<op::Concat>() {
        let mut value = Vec::new();
        for mut index in indices(&sizes) {
            let mut part = 0;
            while index[op.axis] >= dims(part)[op.axis] {
                index[op.axis] -= dims(part)[op.axis];
                part += 1;
            }
            value.push(values[node.inputs[part].index()][position(&dims(part), &index)]);
        }
        value
    } else {
        compute(graph, node, values)
    }
}

fn position(dims: &[usize; MAX_RANK], index: &[usize; MAX_RANK]) -> usize {
    dims.iter().zip(index).fold(0, |at, (dim, i)| at * dim + i)
}

fn compute(graph: &Graph, node: &Node, values: &[Vec<f32>]) -> Vec<f32> {
    let types: Vec<Type> = node.inputs.iter().map(|input| graph.tensor(*input).ty).collect();
    let inputs: Vec<&[f32]> = node.inputs.iter().map(|input| values[input.index()].as_slice()).collect();
    packed(&*node.op, &types, &inputs, graph.tensor(node.output).ty).expect("the kernel runs")
}

/// Runs a kernel on packed operands, each at a place of its own, with every other byte set.
///
/// # Errors
/// What the kernel complains of.
pub fn packed(op: &dyn Operator, types: &[Type], inputs: &[&[f32]], output: Type) -> Result<Vec<f32>, Error> {
    let mut at = 0;
    let mut lay = |ty: &Type| {
        let view = View::packed(ty.dtype, at, &ty.shape);
        at = (view.span().end + 20).next_multiple_of(64);
        view
    };
    let views: Vec<View> = types.iter().map(&mut lay).collect();
    let result = lay(&output);
    let scratch: Vec<View> = match op.scratch(types, &output) {
        0 => Vec::new(),
        bytes => vec![lay(&Type { dtype: DType::U8, shape: Shape::new(&[bytes]).expect("one dimension") })],
    };
    let mut buffer: Host = Cpu.allocate(at, 64, Usage::Any)?;
    buffer.clear(0xff)?;
    for (view, input) in views.iter().zip(inputs) {
        buffer.set(view.offset, bytemuck::cast_slice(input))?;
    }
    call(&mut buffer, op, &views, &[result], &scratch)?;
    Ok(bytemuck::pod_collect_to_vec(&buffer.bytes()[result.span()]))
}
