//! Plans as emitted data, and where tensors lie for the values of a forward. It knows views and operators' rules, and no
//! buffer.

use model_graph_planner::op::Operator;
use model_graph_planner::{Dim, Formula, Shape, Type};

use crate::{DType, Error, ErrorKind, PlanStep, PlanTensor, Role, Storage, View};

/// A plan's size on this target.
pub const fn fits<const SIZE: u64>() -> usize {
    assert!(SIZE <= isize::MAX as u64, "the model's plan is larger than what this target can address");
    SIZE as usize
}

/// A tensor of a plan.
pub const fn tensor(
    name: &'static str,
    role: Role,
    view: View,
    first: usize,
    last: usize,
    storage: Storage,
) -> PlanTensor<'static> {
    PlanTensor { name, role, view, first, last, storage }
}

/// A step of a plan.
pub const fn step(
    op: &'static str,
    inputs: &'static [usize],
    outputs: &'static [usize],
    scratch: &'static [usize],
) -> PlanStep<'static> {
    PlanStep { op, inputs, outputs, scratch }
}

/// A view with these strides.
pub const fn strided(dtype: DType, offset: usize, dims: &[usize], strides: &[usize]) -> View {
    let mut view = View { dtype, offset, rank: dims.len(), dims: [1; crate::MAX_RANK], strides: [0; crate::MAX_RANK] };
    let mut axis = 0;
    while axis < dims.len() {
        view.dims[axis] = dims[axis];
        view.strides[axis] = strides[axis];
        axis += 1;
    }
    view
}

/// A view of packed elements.
pub const fn packed(dtype: DType, offset: usize, dims: &[usize]) -> View {
    let mut view = View { dtype, offset, rank: dims.len(), dims: [1; crate::MAX_RANK], strides: [0; crate::MAX_RANK] };
    let mut stride = 1;
    let mut axis = dims.len();
    while axis > 0 {
        axis -= 1;
        view.dims[axis] = dims[axis];
        view.strides[axis] = stride;
        stride *= dims[axis];
    }
    view
}

/// An extent that follows from an open dim: `(times * v + plus) / over`.
pub const fn open_dim(dim: usize, bound: usize, times: usize, plus: isize, over: usize) -> Dim {
    let formula = Formula { dim, bound, times, plus, over };
    let size = extent(bound, times, plus, over);
    Dim { size, name: 0, formula: Some(formula) }
}

/// The extent that follows from a value of an open dim.
pub const fn extent(value: usize, times: usize, plus: isize, over: usize) -> usize {
    let formula = Formula { dim: 0, bound: value, times, plus, over };
    match formula.at(value) {
        Some(extent) => extent,
        None => usize::MAX,
    }
}

/// A view as an operator looks at another. A checked plan has none that cannot be.
pub fn look<O: Operator>(op: &O, of: &View, dims: &[usize]) -> Result<View, Error> {
    let ty = type_of(of.dtype, dims);
    op.view(of, &ty).ok_or_else(|| ErrorKind::Overlap { op: op.kernel() }.into())
}

/// The part of a concatenation that starts at `start` along `axis`.
pub fn part(of: &View, axis: usize, start: usize, size: usize) -> View {
    let mut view = *of;
    view.offset += start * of.strides[axis] * of.dtype.size();
    view.dims[axis] = size;
    view
}

/// The scratch of a step, of which there is room for `most` bytes.
pub fn scratch<O: Operator>(
    op: &O,
    inputs: &[(DType, &[usize])],
    output: (DType, &[usize]),
    offset: usize,
    most: usize,
) -> View {
    let mut types = [Type::f32(Shape::SCALAR); crate::op::MAX_OPERANDS];
    for (ty, (dtype, dims)) in types.iter_mut().zip(inputs) {
        *ty = type_of(*dtype, dims);
    }
    let count = inputs.len().min(types.len());
    packed(DType::U8, offset, &[op.scratch(&types[..count], &type_of(output.0, output.1)).min(most)])
}

fn type_of(dtype: DType, dims: &[usize]) -> Type {
    Type { dtype, shape: Shape::new(dims).unwrap_or_default() }
}
