//! The checker against sabotage: valid plans are changed in every way there is to get one wrong, and whatever does harm
//! when it is played through has to be refused.

mod ownership;

use std::cell::RefCell;

use model_graph_planner::offset::Budget;
use model_graph_planner::{How, Options, Planned, PlannedTensor, Role, Shape, Storage, Type, View, plan, verify};
use model_graph_tests::random::{build, cases, genes_of};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use ownership::harm;

/// A way to get a plan wrong. Numbers are picks.
type Sabotage = fn(&mut Planned, [usize; 3]);

const SABOTAGES: [(&str, Sabotage); 16] = [
    ("one tensor moved", |plan, [a, by, _]| {
        let tensor = pick_tensor(plan, a);
        let by = 4 << (by % 8);
        tensor.view.offset = if a % 2 == 0 { tensor.view.offset + by } else { tensor.view.offset.saturating_sub(by) };
    }),
    ("a storage moved", |plan, [a, to, _]| {
        let (root, align) = (root(plan, a % plan.tensors.len()), plan.align);
        let members: Vec<usize> = (0..plan.tensors.len()).filter(|index| self::root(plan, *index) == root).collect();
        let target = (to % (plan.size + 1)).next_multiple_of(align);
        let from = plan.tensors[root].view.offset;
        for member in members {
            let offset = &mut plan.tensors[member].view.offset;
            *offset = target + offset.saturating_sub(from);
        }
    }),
    ("one tensor over another", |plan, [a, b, _]| {
        let offset = pick_tensor(plan, b).view.offset;
        pick_tensor(plan, a).view.offset = offset;
    }),
    ("a result over an operand", |plan, [at, operand, declare]| {
        let Some((output, input)) = operand_of(plan, at, operand) else { return };
        plan.tensors[output].view.offset = plan.tensors[input].view.offset;
        if declare % 2 == 0 {
            plan.tensors[output].storage = Storage::InPlace(input);
        }
    }),
    ("a result over something kept", |plan, [at, b, _]| {
        let kept = |tensor: &&PlannedTensor| tensor.role.is_persistent() || tensor.role == Role::Output;
        let kept: Vec<usize> = plan.tensors.iter().filter(kept).map(|tensor| tensor.view.offset).collect();
        if let (Some(step), false) = (pick(&plan.steps, at), kept.is_empty()) {
            plan.tensors[step.outputs[0]].view.offset = kept[b % kept.len()];
        }
    }),
    ("steps swapped", |plan, [a, b, _]| {
        if let Some(last) = plan.steps.len().checked_sub(1) {
            plan.steps.swap(a % (last + 1), b % (last + 1));
        }
    }),
    ("a step dropped", |plan, [a, ..]| {
        if !plan.steps.is_empty() {
            plan.steps.remove(a % plan.steps.len());
        }
    }),
    ("a step run twice", |plan, [a, b, _]| {
        if let Some(step) = pick(&plan.steps, a).cloned() {
            plan.steps.insert(b % (plan.steps.len() + 1), step);
        }
    }),
    ("a life ends earlier", |plan, [a, by, _]| {
        let tensor = pick_tensor(plan, a);
        tensor.last = tensor.last.saturating_sub(1 + by % 4);
    }),
    ("a life begins later", |plan, [a, by, _]| pick_tensor(plan, a).first += 1 + by % 4),
    ("a tensor misaligned", |plan, [a, by, _]| pick_tensor(plan, a).view.offset += 1 + by % 3),
    ("a storage misaligned", |plan, [a, ..]| {
        let root = root(plan, a % plan.tensors.len());
        plan.tensors[root].view.offset += 4;
    }),
    ("a buffer too small", |plan, [by, ..]| plan.size -= (1 + by % 64).min(plan.size)),
    ("another operand read", |plan, [at, operand, with]| {
        // A fill reads nothing.
        let Some(at) = at.checked_rem(plan.steps.len()) else { return };
        let Some(operand) = operand.checked_rem(plan.steps[at].inputs.len()) else { return };
        let (instead, read) = (with % plan.tensors.len(), plan.steps[at].inputs[operand]);
        if plan.tensors[instead].view.dims == plan.tensors[read].view.dims {
            plan.steps[at].inputs[operand] = instead;
        }
    }),
    ("working space over something", |plan, [at, over, _]| {
        let target = plan.tensors[over % plan.tensors.len()].view.offset / plan.align * plan.align;
        if let Some(scratch) = add_scratch(plan, at) {
            plan.tensors[scratch].view.offset = target;
        }
    }),
    ("whose bytes it has changed", |plan, [a, b, how]| {
        let of = b % plan.tensors.len();
        let storage = [Storage::Own, Storage::View(of), Storage::InPlace(of), Storage::Part(of)][how % 4];
        pick_tensor(plan, a).storage = storage;
    }),
];

fn pick<T>(items: &[T], at: usize) -> Option<&T> {
    items.get(at.checked_rem(items.len())?)
}

fn pick_tensor(plan: &mut Planned, at: usize) -> &mut PlannedTensor {
    let count = plan.tensors.len();
    &mut plan.tensors[at % count]
}

fn operand_of(plan: &Planned, at: usize, operand: usize) -> Option<(usize, usize)> {
    let step = pick(&plan.steps, at)?;
    Some((step.outputs[0], *pick(&step.inputs, operand)?))
}

fn root(plan: &Planned, mut index: usize) -> usize {
    while let Storage::View(of) | Storage::InPlace(of) | Storage::Part(of) = plan.tensors[index].storage {
        index = of;
    }
    index
}

/// Gives a step working space at the end of the buffer.
fn add_scratch(plan: &mut Planned, at: usize) -> Option<usize> {
    let step = at.checked_rem(plan.steps.len())?;
    let offset = plan.size.next_multiple_of(plan.align);
    let ty = Type { dtype: model_graph::DType::U8, shape: Shape::new(&[40])? };
    let view = View::packed(ty.dtype, offset, &ty.shape);
    let (name, role) = (format!("scratch{step}"), Role::Scratch);
    plan.size = offset + 40;
    let (first, last) = (step + 1, step + 1);
    let (storage, how) = (Storage::Own, How::Scratch);
    plan.tensors.push(PlannedTensor { name, role, view, first, last, storage, ty, how });
    plan.steps[step].scratch.push(plan.tensors.len() - 1);
    Some(plan.tensors.len() - 1)
}

#[test]
fn whatever_does_harm_is_refused() {
    // By kind: how many were tried, did harm, were refused.
    let counts = RefCell::new([[0; 3]; SABOTAGES.len()]);
    let config = Config { cases: cases(100), max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
    let picks = prop::collection::vec((0..SABOTAGES.len(), any::<[usize; 3]>()), 64);
    let strategy = (genes_of(3..30), picks, any::<[bool; 2]>(), 2..8u32);
    let result = TestRunner::new(config).run(&strategy, |(genes, picks, [in_place, concat], align)| {
        let graph = build(&genes);
        let options = Options { in_place, concat, align: 1 << align, budget: Budget::GREEDY, ..Options::default() };
        let valid = plan(&graph, &options).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut with_scratch = valid.clone();
        add_scratch(&mut with_scratch, 1);
        for plan in [&valid, &with_scratch] {
            prop_assert_eq!(harm(plan), None, "{}", plan.with(|plan| plan.to_string()));
            prop_assert_eq!(verify(plan), Ok(()));
        }
        for (kind, picks) in picks {
            let mut plan = valid.clone();
            SABOTAGES[kind].1(&mut plan, picks);
            let verdict = verify(&plan);
            let harm = harm(&plan);
            let counted = [true, harm.is_some(), verdict.is_err()].map(usize::from);
            counts.borrow_mut()[kind].iter_mut().zip(counted).for_each(|(count, more)| *count += more);
            if let Some(what) = harm {
                let text = plan.with(|plan| plan.to_string());
                prop_assert!(
                    verdict.is_err(),
                    "{}: {what}, and the checker finds nothing in\n{text}",
                    SABOTAGES[kind].0
                );
            }
        }
        Ok(())
    });
    let counts = counts.into_inner();
    for ((name, _), [tried, harmful, refused]) in SABOTAGES.iter().zip(counts) {
        println!("{name:30} tried {tried:4}, harmful {harmful:4}, refused {refused:4}");
    }
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(counts.iter().all(|[_, harmful, _]| *harmful > 0), "a sabotage that never does harm tests nothing");
}
