//! A plan for values of the open dims other than the largest: the same storages at the same places, in which the tensors
//! lie as their extents ask for.

use alloc::vec::Vec;

use super::check::{Fault, fault};
use super::{How, Planned, PlannedStep, PlannedTensor};
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
            let of = match self.tensors[index].storage {
                Storage::Own => None,
                Storage::View(of) | Storage::InPlace(of) | Storage::Part(of) => views[of],
            };
            views[index] = self.view_at(index, values, of.as_ref())?;
        }
        for step in &steps {
            for index in &step.scratch {
                let shape = Shape::new(&[self.scratch_at(step, values)]).unwrap_or_default();
                views[*index] = Some(View::packed(DType::U8, self.tensors[*index].view.offset, &shape));
            }
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

    /// Where a tensor lies for these values, given where the tensor lies whose bytes it has; none of working space, which
    /// its step tells.
    fn view_at(&self, index: usize, values: &[usize], of: Option<&View>) -> Result<Option<View>, Fault> {
        let tensor = &self.tensors[index];
        let ty = tensor.ty.at(values);
        Ok(Some(match (&tensor.how, of) {
            (How::Packed, _) => View::packed(ty.dtype, of.map_or(tensor.view.offset, |of| of.offset), &ty.shape),
            (How::Look(op), Some(of)) => {
                let (op, given) =
                    (op.at(values), Type { dtype: of.dtype, shape: Shape::new(of.dims()).unwrap_or_default() });
                let view = if op.infer(&[given]) == Ok(ty) { op.view(of, &ty) } else { None };
                let Some(view) = view else {
                    fault!("`{}` cannot be a view where the open dims are {values:?}", tensor.name)
                };
                view
            }
            (How::Part { axis, start }, Some(of)) => {
                let size = ty.shape.dims().get(*axis).map_or(1, |dim| dim.size);
                match part(of, *axis, start.at(values), size) {
                    Some(part) => part,
                    None => fault!("`{}` starts beyond any address where the open dims are {values:?}", tensor.name),
                }
            }
            (How::Scratch, _) => return Ok(None),
            (How::Look(_) | How::Part { .. }, None) => fault!("`{}` is a view of nothing", tensor.name),
        }))
    }

    /// For each tensor the one whose place says where it lies: the one whose bytes it has, or, where both are packed, the
    /// one that this starts with. So results over results over operands are as near to their start as the first of them.
    ///
    /// # Errors
    /// As [`Planned::by_storage`].
    pub(super) fn starts(&self) -> Result<Vec<Option<usize>>, Fault> {
        let packed = |index: usize| matches!(self.tensors[index].how, How::Packed);
        let mut starts = alloc::vec![None; self.tensors.len()];
        for index in self.by_storage()? {
            if let Storage::View(of) | Storage::InPlace(of) | Storage::Part(of) = self.tensors[index].storage {
                starts[index] = if packed(index) && packed(of) { starts[of].or(Some(of)) } else { Some(of) };
            }
        }
        Ok(starts)
    }

    /// Where the first of these lies for these values, which [`Planned::at`] tells of all tensors. Each of them starts
    /// with the next, and the last with nothing.
    pub(super) fn place_at(&self, chain: &[usize], values: &[usize]) -> Result<Option<View>, Fault> {
        chain.iter().rev().try_fold(None, |of: Option<View>, at| {
            let view = self.view_at(*at, values, of.as_ref())?;
            Ok(Some(view.unwrap_or(self.tensors[*at].view)))
        })
    }

    /// The tensor, the one whose bytes it has, the one whose bytes that has, and so on. Storages are in no circle.
    pub(super) fn resting(&self, index: usize) -> Vec<usize> {
        let mut chain = alloc::vec![index];
        let mut at = index;
        while let Storage::View(of) | Storage::InPlace(of) | Storage::Part(of) = self.tensors[at].storage {
            chain.push(of);
            at = of;
        }
        chain
    }

    fn scratch_at(&self, step: &PlannedStep, values: &[usize]) -> usize {
        let ty = |tensor: &usize| self.tensors[*tensor].ty.at(values);
        let inputs: Vec<Type> = step.inputs.iter().map(ty).collect();
        step.outputs.first().map_or(0, |output| step.op.scratch(&inputs, &ty(output)))
    }

    /// The tensors whose views or extents are not the same for all values of the open dims.
    ///
    /// The least values and the largest tell. No extent and no start shrinks where a dim grows, so neither does an offset
    /// or a stride, which are sums and products of them: what is the same at both ends is the same between them. Of a
    /// tensor that is empty somewhere the extents tell, which grow as well.
    pub fn moving(&self) -> Vec<usize> {
        let least = alloc::vec![1; self.open.len()];
        let Ok(least) = self.at(&least) else { return (0..self.tensors.len()).collect() };
        let moves = |index: &usize| self.tensors[*index].view != least.tensors[*index].view;
        (0..self.tensors.len()).filter(moves).collect()
    }
}

/// The part of `whole` that starts at `start` along an axis; none where it starts beyond any address. The one part of a
/// scalar is all of it.
fn part(whole: &View, axis: usize, start: usize, size: usize) -> Option<View> {
    let mut part = *whole;
    if axis < whole.rank {
        let bytes = start.checked_mul(whole.strides[axis])?.checked_mul(whole.dtype.size())?;
        part.offset = whole.offset.checked_add(bytes)?;
        part.dims[axis] = size;
    }
    Some(part)
}
