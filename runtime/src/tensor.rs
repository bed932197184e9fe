//! What accessors return: one tensor of a model, with its shape and element type in its type.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use bytemuck::Pod;

use crate::marks::Mark;
use crate::{BlockQ4_0, BlockQ8_0, Bool, Buffer, Error, ErrorKind, HostBuffer, HostRead, bf16, f16};

/// A tensor's type in Rust: an element, or nested arrays of one, outermost dimension first. Of a weight in blocks the
/// innermost array is one of blocks.
pub trait Array: Pod {
    /// The element.
    type Element: Pod;
}

macro_rules! elements {
    ($($element:ty),*) => { $(
        impl Array for $element {
            type Element = $element;
        }
    )* };
}
elements!(f32, f16, bf16, i8, u8, i32, u32, i64, Bool, BlockQ8_0, BlockQ4_0);

impl<T: Array, const N: usize> Array for [T; N] {
    type Element = T::Element;
}

/// A tensor that can be read. On host memory it derefs to its array, in place.
pub struct TensorRef<'a, T, B> {
    buffer: &'a B,
    offset: usize,
    array: PhantomData<T>,
}

/// A tensor that can be written. On host memory it derefs to its array, in place.
pub struct TensorMut<'a, T, B> {
    buffer: &'a mut B,
    offset: usize,
    mark: Mark<'a>,
    array: PhantomData<T>,
}

impl<'a, T: Array, B: Buffer> TensorRef<'a, T, B> {
    pub(crate) fn new(buffer: &'a B, offset: usize) -> TensorRef<'a, T, B> {
        TensorRef { buffer, offset, array: PhantomData }
    }

    /// Copies the tensor out.
    ///
    /// # Errors
    /// What the device reports; none on host memory.
    pub fn read(&self, out: &mut T) -> Result<(), Error> {
        self.buffer.get(self.offset, bytemuck::bytes_of_mut(out))
    }

    /// Copies the tensor's elements out in row-major order.
    ///
    /// # Errors
    /// [`ErrorKind::Length`] when `out` has another number of elements.
    pub fn read_slice(&self, out: &mut [T::Element]) -> Result<(), Error> {
        check_length::<T>(out.len())?;
        self.buffer.get(self.offset, bytemuck::cast_slice_mut(out))
    }
}

impl<'a, T: Array, B: HostRead> TensorRef<'a, T, B> {
    /// The array, in place, for as long as the model is borrowed.
    pub fn as_array(&self) -> &'a T {
        bytemuck::from_bytes(&self.buffer.readable()[self.offset..self.offset + size_of::<T>()])
    }

    /// The elements in row-major order, in place.
    pub fn as_slice(&self) -> &'a [T::Element] {
        bytemuck::cast_slice(&self.buffer.readable()[self.offset..self.offset + size_of::<T>()])
    }
}

impl<'a, T: Array, B: Buffer> TensorMut<'a, T, B> {
    pub(crate) fn new(buffer: &'a mut B, offset: usize, mark: Mark<'a>) -> TensorMut<'a, T, B> {
        let tensor = TensorMut { buffer, offset, mark, array: PhantomData };
        // Its bytes may have been other tensors' since. What can be read in place has to be its own. A device that
        // fails here fails at the write too, and until then the input does not count as written.
        if !tensor.mark.is_valid() {
            let _ = tensor.buffer.memset(offset, size_of::<T>(), 0);
        }
        tensor
    }

    /// Copies a whole array in.
    ///
    /// # Errors
    /// What the device reports; none on host memory. The tensor is then half written, and no forward runs until it is
    /// written again.
    pub fn write(&mut self, value: &T) -> Result<(), Error> {
        self.mark.around(self.offset, || self.buffer.set(self.offset, bytemuck::bytes_of(value)))
    }

    /// Copies a value in: `model.position_mut().set(3)?` for a scalar.
    ///
    /// # Errors
    /// What the device reports; none on host memory.
    pub fn set(&mut self, value: T) -> Result<(), Error> {
        self.write(&value)
    }

    /// Copies elements in, in row-major order.
    ///
    /// # Errors
    /// [`ErrorKind::Length`] when there are more or fewer than the tensor has; nothing is then written.
    pub fn write_slice(&mut self, elements: &[T::Element]) -> Result<(), Error> {
        check_length::<T>(elements.len())?;
        self.mark.around(self.offset, || self.buffer.set(self.offset, bytemuck::cast_slice(elements)))
    }
}

impl<'a, T: Array, B: HostBuffer> TensorMut<'a, T, B> {
    /// The elements in row-major order, in place.
    pub fn as_mut_slice(&mut self) -> &mut [T::Element] {
        self.mark.in_place();
        bytemuck::cast_slice_mut(&mut self.buffer.bytes_mut()[self.offset..self.offset + size_of::<T>()])
    }

    /// The array, in place, for as long as the model is borrowed.
    pub fn into_array(mut self) -> &'a mut T {
        self.mark.in_place();
        bytemuck::from_bytes_mut(&mut self.buffer.bytes_mut()[self.offset..self.offset + size_of::<T>()])
    }
}

fn check_length<T: Array>(given: usize) -> Result<(), Error> {
    // An array of no elements has elements of size one or more all the same, so this never divides by zero.
    let expected = size_of::<T>() / size_of::<T::Element>();
    if given == expected { Ok(()) } else { Err(ErrorKind::Length { expected, given }.into()) }
}

impl<T: Array, B: HostRead> Deref for TensorRef<'_, T, B> {
    type Target = T;

    fn deref(&self) -> &T {
        self.as_array()
    }
}

impl<T: Array, B: HostBuffer> Deref for TensorMut<'_, T, B> {
    type Target = T;

    fn deref(&self) -> &T {
        bytemuck::from_bytes(&self.buffer.bytes()[self.offset..self.offset + size_of::<T>()])
    }
}

impl<T: Array, B: HostBuffer> DerefMut for TensorMut<'_, T, B> {
    fn deref_mut(&mut self) -> &mut T {
        self.mark.in_place();
        bytemuck::from_bytes_mut(&mut self.buffer.bytes_mut()[self.offset..self.offset + size_of::<T>()])
    }
}

impl<T: Array + fmt::Debug, B: HostRead> fmt::Debug for TensorRef<'_, T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_array().fmt(f)
    }
}

impl<T: Array + fmt::Debug, B: HostBuffer> fmt::Debug for TensorMut<'_, T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
