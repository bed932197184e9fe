//! The calls of a graph as a problem of order: what each needs, and whose bytes it touches.

use alloc::vec;
use alloc::vec::Vec;

use super::Options;
use super::lower::{Lowered, lower};
use super::version::readers_before;
use crate::Role;
use crate::graph::{Graph, Node, NodeId};
use crate::order::{Problem, Storage, StorageId, Task, TaskId, solve};

/// The order of least peak that was found, of every call of the graph; `None` where it is the declared one. Calls that
/// nothing needs come last.
///
/// Storages are looked at whole: that a storage shrinks when only a part of it is still read, or that packing copies
/// come and go, is left to the plan that is made of the order.
pub(super) fn min_peak(graph: &Graph, options: &Options) -> Option<Vec<NodeId>> {
    let needed = graph.needed();
    let calls: Vec<(NodeId, &Node)> = graph.nodes().filter(|(id, _)| needed[id.index()]).collect();
    let problem = problem(graph, &calls, options);
    let solution = solve(&problem, options.budget).ok()?;
    if solution.least >= solution.declared {
        return None;
    }
    let mut order: Vec<NodeId> = solution.order.iter().map(|task| calls[task.index()].0).collect();
    order.extend(graph.nodes().map(|(id, _)| id).filter(|id| !needed[id.index()]));
    Some(order)
}

fn problem(graph: &Graph, calls: &[(NodeId, &Node)], options: &Options) -> Problem {
    let lowered = lower(graph, options);
    let storages = storages(&lowered, options.align);
    let at = |tensor: usize| StorageId::new(lowered.tensors[tensor].root);
    let mut step_of = vec![None; lowered.tensors.len()];
    for (index, step) in lowered.steps.iter().enumerate() {
        step_of[step.output] = Some(index);
    }
    let mut task_of = vec![None; graph.nodes().count()];
    let mut tasks = Vec::with_capacity(calls.len());
    let before = readers_before(graph);
    for (id, node) in calls {
        task_of[id.index()] = Some(TaskId::new(tasks.len()));
        let producers = node.inputs.iter().filter_map(|input| graph.tensor(*input).producer);
        let mut task = Task { after: producers.filter_map(|id| task_of[id.index()]).collect(), ..Task::default() };
        // What is read of a state before it is written is read before in every order.
        task.after.extend(before[id.index()].iter().filter_map(|id| task_of[id.index()]));
        let tensors = node.inputs.iter().chain([&node.output]).filter_map(|id| lowered.index[id.index()]);
        task.touches.extend(tensors.map(at));
        if let Some(output) = lowered.index[node.output.index()]
            && let Some(step) = step_of[output]
        {
            let step = &lowered.steps[step];
            task.touches.extend(step.inputs.iter().copied().map(at));
            let scratch = step.scratch.map_or(0, |scratch| lowered.tensors[scratch].view.span().len());
            task.scratch = scratch.checked_next_multiple_of(options.align).unwrap_or(scratch);
            // A part lies where its concatenation wants it.
            let own = options.in_place && lowered.tensors[output].root == output;
            for (operand, input) in step.inputs.iter().enumerate().filter(|_| own) {
                let target = lowered.tensors[output].view.clone().laid_at(&lowered.tensors[*input].view);
                if step.op.in_place(operand) && lowered.tensors[*input].view.same_elements(&target) {
                    task.in_place.push((at(*input), at(output)));
                }
            }
        }
        tasks.push(task);
    }
    Problem { tasks, storages }
}

/// A storage for every tensor, of no size unless it is the root of others and of itself.
fn storages(lowered: &Lowered, align: usize) -> Vec<Storage> {
    let mut storages = vec![Storage::default(); lowered.tensors.len()];
    let mut persistent = vec![false; lowered.tensors.len()];
    for tensor in &lowered.tensors {
        let storage = &mut storages[tensor.root];
        storage.size = storage.size.max(tensor.view.span().end);
        storage.from_start |= tensor.role == Role::Input;
        storage.to_end |= tensor.role == Role::Output;
        persistent[tensor.root] |= tensor.role.is_persistent();
    }
    for (storage, persistent) in storages.iter_mut().zip(persistent) {
        // What always lives is there whatever the order; nothing takes its bytes.
        let size = if persistent { 0 } else { storage.size.checked_next_multiple_of(align).unwrap_or(storage.size) };
        *storage = Storage { size, ..*storage };
    }
    storages
}
