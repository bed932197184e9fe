//! Open extents where the program runs: inputs that bring them, outputs that have them, and where tensors lie for them.
//! Knows plans and buffers, and nothing of operators.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

use bytemuck::Pod;
use model_graph_planner::Dim;

use crate::marks::Mark;
use crate::{Array, Buffer, Error, ErrorKind, HostBuffer, Plan, Shared, View};

/// An input's extents as they were declared.
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    /// The input's name.
    pub name: &'static str,
    /// It may be from an earlier forward.
    pub keep: bool,
    /// Its extents, as they follow from the open dims.
    pub dims: &'static [Dim],
}

impl Extents {
    /// The values of the open dims for these extents; 0 for those that the input does not have.
    fn values(&self, dims: &[usize], values: &mut [usize]) -> Result<(), Error> {
        let mut found = [0; MAX_OPEN];
        for (axis, (dim, given)) in self.dims.iter().zip(dims.iter().copied()).enumerate() {
            let Some(formula) = dim.formula else {
                self.agree(axis, given, dim.size, self.name)?;
                continue;
            };
            let value = dim.solve(given).filter(|value| (1..=formula.bound).contains(value));
            let (Some(value), Some(found)) = (value, found.get_mut(formula.dim)) else {
                let (least, step) = (formula.at(1).unwrap_or(0), formula.times);
                return Err(ErrorKind::Extents { input: self.name, axis, given, least, most: dim.size, step }.into());
            };
            if *found == 0 {
                *found = value;
            }
            self.agree(axis, given, formula.at(*found).unwrap_or(dim.size), self.name)?;
        }
        for (value, found) in values.iter_mut().zip(found) {
            *value = found;
        }
        Ok(())
    }

    fn agree(&self, axis: usize, given: usize, expected: usize, by: &'static str) -> Result<(), Error> {
        if given == expected {
            return Ok(());
        }
        Err(ErrorKind::Extent { input: self.name, axis, given, expected, by }.into())
    }

    /// The extents for these values; none where a value is not known yet.
    fn at<const R: usize>(&self, values: &[usize]) -> [usize; R] {
        let mut dims = [0; R];
        for (at, dim) in dims.iter_mut().zip(self.dims) {
            *at = match dim.formula {
                Some(formula) if values.get(formula.dim).is_none_or(|value| *value == 0) => 0,
                _ => dim.at(values),
            };
        }
        dims
    }
}

/// How many open dims a model can have.
const MAX_OPEN: usize = 8;

/// What a model with `D` open dims, `I` inputs and `N` tensors that lie otherwise for other values knows of them. A model's
/// own module sees the field, so what is in it is private.
#[derive(Clone, Debug)]
pub struct Open<const D: usize, const I: usize, const N: usize> {
    /// The values that each input was last written with; 0 where it has none.
    given: [[usize; D]; I],
    /// The values of the last forward; 0 before the first.
    values: [usize; D],
    views: [View; N],
}

/// Stands in for the number of a model whose code is not emitted, because the macro of one of its blocks is not found:
/// what the compiler says is then that alone. A constant of the model's own takes precedence.
pub trait Moving {
    /// How many tensors lie otherwise for other values.
    const __MOVING: usize = 0;
}

impl<T: ?Sized> Moving for T {}

/// The values that an input was written with, which only the accessor of the runtime sets.
#[derive(Debug)]
pub struct Given<'a>(&'a mut [usize]);

impl<const D: usize, const I: usize, const N: usize> Open<D, I, N> {
    /// Nothing is known yet.
    pub const fn new() -> Self {
        const { assert!(D <= MAX_OPEN, "a model has at most 8 open dims") };
        let view = crate::private::packed(crate::DType::U8, 0, &[0]);
        Open { given: [[0; D]; I], values: [0; D], views: [view; N] }
    }

    /// The values that an input has, for whoever writes it.
    pub fn given(&mut self, input: usize) -> Given<'_> {
        Given(&mut self.given[input])
    }

    /// The values that an input was written with.
    pub fn of(&self, input: usize) -> &[usize] {
        &self.given[input]
    }

    /// The values of this forward.
    pub fn values(&self) -> [usize; D] {
        self.values
    }

    /// The views for the values of this forward.
    pub fn views(&self) -> &[View; N] {
        &self.views
    }

    /// Takes the values that the inputs agree on, and works out the views anew where they are others than before.
    pub fn settle(
        &mut self,
        inputs: &[Extents; I],
        work_out: impl FnOnce(&[usize; D], &mut [View; N]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut values = [0; D];
        let mut by = [""; D];
        // What was written for this forward counts more than what was kept.
        for keep in [false, true] {
            for (input, given) in inputs.iter().zip(&self.given).filter(|(input, _)| input.keep == keep) {
                for (dim, value) in given.iter().enumerate().filter(|(_, value)| **value > 0) {
                    if values[dim] == 0 {
                        (values[dim], by[dim]) = (*value, input.name);
                    }
                    if values[dim] == *value {
                        continue;
                    }
                    for (axis, extent) in input.dims.iter().enumerate() {
                        if extent.formula.is_some_and(|formula| formula.dim == dim) {
                            input.agree(axis, extent.at(given), extent.at(&values), by[dim])?;
                        }
                    }
                }
            }
        }
        if values != self.values {
            // Until all of them are there, none of them counts.
            self.values = [0; D];
            work_out(&values, &mut self.views)?;
            self.values = values;
        }
        Ok(())
    }
}

impl<const D: usize, const I: usize, const N: usize> Default for Open<D, I, N> {
    fn default() -> Self {
        Open::new()
    }
}

/// Where the tensors of a plan lie for the values of this forward, and in which buffer.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The tensors that lie otherwise than at the bound, in ascending order.
    pub moving: &'a [usize],
    /// Their views.
    pub views: &'a [View],
    /// The weights' buffer, where they have one of their own.
    pub shared: Option<Shared<'a>>,
}

impl<'a> Places<'a> {
    /// Everything lies where the plan says.
    pub const FIXED: Places<'static> = Places { moving: &[], views: &[], shared: None };

    /// The view of a tensor.
    pub(crate) fn view(&self, plan: &'a Plan<'_>, tensor: usize) -> &'a View {
        match self.moving.binary_search(&tensor) {
            Ok(at) => &self.views[at],
            Err(_) => &plan.tensors[tensor].view,
        }
    }
}

/// An input whose extents come with what is written. `R` is its rank. `Row` is the nested array that one index of the
/// outermost dimension has where that extent alone is open, else the element.
pub struct OpenMut<'a, T, const R: usize, B, Row = T> {
    buffer: &'a mut B,
    offset: usize,
    extents: &'static Extents,
    given: Given<'a>,
    mark: Mark<'a>,
    element: PhantomData<(T, Row)>,
}

impl<'a, T: Pod, const R: usize, B: Buffer, Row> OpenMut<'a, T, R, B, Row> {
    pub(crate) fn new(
        buffer: &'a mut B,
        offset: usize,
        extents: &'static Extents,
        given: Given<'a>,
        mark: Mark<'a>,
    ) -> Self {
        OpenMut { buffer, offset, extents, given, mark, element: PhantomData }
    }

    fn write_as(&mut self, elements: &[T], dims: [usize; R]) -> Result<(), Error> {
        let mut values = [0; MAX_OPEN];
        self.extents.values(&dims, &mut values)?;
        // The extents are at most those that were planned, so their product does not wrap.
        let expected = dims.iter().product();
        if elements.len() != expected {
            return Err(ErrorKind::Length { expected, given: elements.len() }.into());
        }
        self.mark.around(self.offset, || self.buffer.set(self.offset, bytemuck::cast_slice(elements)))?;
        self.take(&values);
        Ok(())
    }

    fn take(&mut self, values: &[usize]) {
        self.given.0.copy_from_slice(&values[..self.given.0.len()]);
        self.mark.in_place();
    }

    /// The largest extents that there can be.
    pub fn most(&self) -> [usize; R] {
        let mut dims = [0; R];
        dims.iter_mut().zip(self.extents.dims).for_each(|(at, dim)| *at = dim.size);
        dims
    }
}

impl<T: Pod, B: Buffer, Row> OpenMut<'_, T, 1, B, Row> {
    /// Copies elements in. Their number is the extent.
    ///
    /// # Errors
    /// [`ErrorKind::Extents`] when that is not one that the input can have; nothing is then written.
    pub fn write(&mut self, elements: &[T]) -> Result<(), Error> {
        self.write_as(elements, [elements.len()])
    }
}

macro_rules! ranks {
    ($($rank:literal)*) => { $(
        impl<T: Pod, B: Buffer, Row> OpenMut<'_, T, $rank, B, Row> {
            /// Copies elements in, in row-major order, as a tensor of these extents. Those that are fixed are given too.
            /// Where the outermost extent alone is open, [`OpenMut::write_rows`] takes nested arrays.
            ///
            /// # Errors
            /// [`ErrorKind::Extent`], [`ErrorKind::Extents`] when an extent is not one that the input can have,
            /// [`ErrorKind::Length`] when there are more or fewer elements; nothing is then written.
            pub fn write(&mut self, elements: &[T], dims: [usize; $rank]) -> Result<(), Error> {
                self.write_as(elements, dims)
            }
        }
    )* };
}
ranks!(2 3 4 5 6);

impl<T: Pod, const R: usize, B: Buffer, Row, const N: usize> OpenMut<'_, T, R, B, [Row; N]>
where
    [Row; N]: Array<Element = T>,
{
    /// Copies rows in, where the outermost extent alone is open: a `Tensor<f32, SEQ, D>` takes a `&[[f32; D]]`. Their
    /// number is the extent.
    ///
    /// # Errors
    /// [`ErrorKind::Extents`] when that is not one that the input can have; nothing is then written.
    pub fn write_rows(&mut self, rows: &[[Row; N]]) -> Result<(), Error> {
        let mut dims = self.most();
        dims[0] = rows.len();
        self.write_as(bytemuck::cast_slice(rows), dims)
    }
}

impl<'a, T: Pod, const R: usize, B: HostBuffer, Row> OpenMut<'a, T, R, B, Row> {
    /// The elements of a tensor of these extents in row-major order, in place, for as long as the model is borrowed.
    /// Where the extents are others than before, or the input was not written since the last forward, they are zero.
    ///
    /// # Errors
    /// [`ErrorKind::Extent`], [`ErrorKind::Extents`] when an extent is not one that the input can have.
    pub fn resize(mut self, dims: [usize; R]) -> Result<&'a mut [T], Error> {
        let mut values = [0; MAX_OPEN];
        self.extents.values(&dims, &mut values)?;
        let same = self.mark.is_valid() && *self.given.0 == values[..self.given.0.len()];
        self.take(&values);
        let bytes = dims.iter().product::<usize>() * size_of::<T>();
        let bytes = &mut self.buffer.bytes_mut()[self.offset..self.offset + bytes];
        // Other tensors' bytes since, or those of other extents.
        if !same {
            bytes.fill(0);
        }
        Ok(bytemuck::cast_slice_mut(bytes))
    }
}

/// A tensor whose extents are those of the last forward. `R` is its rank. On host memory it derefs to its elements in
/// row-major order, in place.
pub struct OpenRef<'a, T, const R: usize, B> {
    buffer: &'a B,
    offset: usize,
    dims: [usize; R],
    element: PhantomData<T>,
}

impl<'a, T: Pod, const R: usize, B: Buffer> OpenRef<'a, T, R, B> {
    pub(crate) fn new(buffer: &'a B, view: &View) -> Self {
        let mut dims = [0; R];
        dims.iter_mut().zip(view.dims()).for_each(|(at, dim)| *at = *dim);
        OpenRef { buffer, offset: view.offset, dims, element: PhantomData }
    }

    pub(crate) fn kept(buffer: &'a B, offset: usize, extents: &Extents, values: &[usize]) -> Self {
        OpenRef { buffer, offset, dims: extents.at(values), element: PhantomData }
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> [usize; R] {
        self.dims
    }

    /// Copies the elements out in row-major order.
    ///
    /// # Errors
    /// [`ErrorKind::Length`] when `out` has another number of elements.
    pub fn read_slice(&self, out: &mut [T]) -> Result<(), Error> {
        let expected = self.dims.iter().product();
        if out.len() != expected {
            return Err(ErrorKind::Length { expected, given: out.len() }.into());
        }
        self.buffer.get(self.offset, bytemuck::cast_slice_mut(out))
    }
}

impl<'a, T: Pod, const R: usize, B: HostBuffer> OpenRef<'a, T, R, B> {
    /// The elements in row-major order, in place, for as long as the model is borrowed.
    pub fn as_slice(&self) -> &'a [T] {
        let bytes = self.dims.iter().product::<usize>() * size_of::<T>();
        bytemuck::cast_slice(&self.buffer.bytes()[self.offset..self.offset + bytes])
    }
}

impl<T: Pod, const R: usize, B: HostBuffer> Deref for OpenRef<'_, T, R, B> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: Pod + fmt::Debug, const R: usize, B: HostBuffer> fmt::Debug for OpenRef<'_, T, R, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenRef").field("shape", &self.dims).field("elements", &self.as_slice()).finish()
    }
}
