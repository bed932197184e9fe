//! States: what a forward leaves for the next, against plain Rust that keeps the same in variables.

mod attention;
mod blocks;
mod cache;
mod cells;
mod errors;
mod order;
mod saved;

use model_graph::{Plan, PlanTensor, Role, Storage};

/// Numbers from -1 to 1 that differ by seed.
fn numbers<const N: usize>(seed: usize) -> [f32; N] {
    std::array::from_fn(|at| ((at * 31 + seed * 17 + 7) % 41) as f32 / 20.0 - 1.0)
}

/// The tensor of that name.
fn tensor<'a>(plan: &'a Plan<'static>, name: &str) -> &'a PlanTensor<'static> {
    plan.tensors.iter().find(|tensor| tensor.name == name).unwrap_or_else(|| panic!("no tensor `{name}` in {plan}"))
}

/// How many steps have that operator.
fn steps(plan: &Plan<'static>, op: &str) -> usize {
    plan.steps.iter().filter(|step| step.op == op).count()
}

/// The states themselves, without their versions.
fn states(plan: &Plan<'static>) -> Vec<&'static str> {
    let own = |tensor: &&PlanTensor<'static>| tensor.role == Role::State && tensor.storage == Storage::Own;
    plan.tensors.iter().filter(own).map(|tensor| tensor.name).collect()
}
