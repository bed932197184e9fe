//! A plan for values of the open dims other than the largest: the same storages at the same places, in which the tensors
//! lie as their extents ask for.

use alloc::vec::Vec;

use super::check::{Fault, fault};
use super::seen::{part_of, samples};
use super::{How, Planned, PlannedStep, PlannedTensor, verify};
use crate::{DType, Shape, Storage, Type, View};

impl Planned {
    /// The plan for these values of the open dims: every view as it is then, every operator with the settings that it
    /// then has.
    ///
    /// # Errors
    /// When a tensor cannot be looked at where it lies, which would be a fault of the planner.
    pub fn at(&self, values: &[usize]) -> Result<Planned, Fault> {
        let steps: Vec<PlannedStep> =
            self.steps.iter().map(|step| PlannedStep { op: step.op.at(values), ..step.clone() }).collect();
        let mut views: Vec<Option<View>> = alloc::vec![None; self.tensors.len()];
        for index in self.by_storage()? {
            views[index] = Some(self.view_at(index, values, &steps, &views)?);
        }
        let tensors = self.tensors.iter().zip(views).map(|(tensor, view)| PlannedTensor {
            view: view.unwrap_or(tensor.view),
            ty: tensor.ty.at(values),
            ..tensor.clone()
        });
        Ok(Planned { tensors: tensors.collect(), steps, open: Vec::new(), ..self.clone() })
    }

    /// The tensors, each after the one whose bytes it has.
    ///
    /// # Errors
    /// When tensors have one another's bytes in a circle.
    pub fn by_storage(&self) -> Result<Vec<usize>, Fault> {
        let mut order = Vec::with_capacity(self.tensors.len());
        let mut done = alloc::vec![false; self.tensors.len()];
        for start in 0..self.tensors.len() {
            let mut chain = Vec::new();
            let mut at = start;
            while !done[at] {
                if chain.len() > self.tensors.len() {
                    fault!("`{}` has the bytes of a tensor that has none of its own", self.tensors[start].name);
                }
                chain.push(at);
                match self.tensors[at].storage {
                    Storage::Own => break,
                    Storage::View(of) | Storage::InPlace(of) | Storage::Part(of) => at = of,
                }
            }
            for index in chain.into_iter().rev() {
                done[index] = true;
                order.push(index);
            }
        }
        Ok(order)
    }

    fn view_at(
        &self,
        index: usize,
        values: &[usize],
        steps: &[PlannedStep],
        views: &[Option<View>],
    ) -> Result<View, Fault> {
        let tensor = &self.tensors[index];
        let ty = tensor.ty.at(values);
        let of = match tensor.storage {
            Storage::Own => None,
            Storage::View(of) | Storage::InPlace(of) | Storage::Part(of) => views[of],
        };
        Ok(match (&tensor.how, of) {
            (How::Packed, _) => View::packed(ty.dtype, of.map_or(tensor.view.offset, |of| of.offset), &ty.shape),
            (How::Look(op), Some(of)) => match op.at(values).view(&of, &ty) {
                Some(view) => view,
                None => fault!("`{}` cannot be a view where the open dims are {values:?}", tensor.name),
            },
            (How::Part { axis, start }, Some(of)) => {
                part_of(&of, *axis, start.at(values), ty.shape.dims().get(*axis).map_or(1, |dim| dim.size))
            }
            (How::Scratch, _) => {
                let of_step = steps.iter().find(|step| step.scratch.contains(&index));
                let bytes = of_step.map_or(tensor.view.dims[0], |step| self.scratch_at(step, values));
                View::packed(DType::U8, tensor.view.offset, &Shape::new(&[bytes]).unwrap_or_default())
            }
            (How::Look(_) | How::Part { .. }, None) => fault!("`{}` is a view of nothing", tensor.name),
        })
    }

    fn scratch_at(&self, step: &PlannedStep, values: &[usize]) -> usize {
        let ty = |tensor: &usize| self.tensors[*tensor].ty.at(values);
        let inputs: Vec<Type> = step.inputs.iter().map(ty).collect();
        step.outputs.first().map_or(0, |output| step.op.scratch(&inputs, &ty(output)))
    }

    /// The tensors whose views or extents are not the same for all values of the open dims.
    pub fn moving(&self) -> Vec<usize> {
        let mut moving = alloc::vec![false; self.tensors.len()];
        for values in samples(&self.open) {
            let Ok(at) = self.at(&values) else { continue };
            for ((moves, here), there) in moving.iter_mut().zip(&self.tensors).zip(&at.tensors) {
                *moves |= here.view != there.view;
            }
        }
        (0..moving.len()).filter(|index| moving[*index]).collect()
    }
}

/// Checks a plan at samples of the open dims' values as [`verify`] does at the largest.
pub(super) fn check(planned: Planned) -> Result<Planned, Fault> {
    for values in samples(&planned.open) {
        verify(&planned.at(&values)?)?;
    }
    Ok(planned)
}
