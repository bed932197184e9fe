//! Models that are composed of other models.

mod chains;
mod constants;
mod flat;
mod places;
mod weights;

use model_graph::PlanTensor;

/// The tensor of that name.
fn tensor(plan: &'static model_graph::Plan<'static>, name: &str) -> &'static PlanTensor<'static> {
    plan.tensors.iter().find(|tensor| tensor.name == name).unwrap_or_else(|| panic!("no `{name}` in\n{plan}"))
}

/// Numbers that are no two alike.
fn numbers<const N: usize>(seed: usize) -> [f32; N] {
    std::array::from_fn(|index| ((index * 37 + seed * 101) % 64) as f32 / 16.0 - 2.0)
}

/// The same in rows.
fn rows<const N: usize, const M: usize>(seed: usize) -> [[f32; N]; M] {
    std::array::from_fn(|row| numbers(seed * 13 + row))
}
