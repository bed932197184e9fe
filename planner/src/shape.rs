//! Shapes: extents that remember the name they were declared with.

use core::fmt;

use crate::DType;

/// The largest number of dimensions a tensor can have.
pub const MAX_RANK: usize = 6;

/// One extent. It remembers which declared name it came from, so that messages can speak the user's language;
/// two extents are equal when their sizes are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dim {
    /// Number of elements along this dimension.
    pub size: usize,
    /// The declared name it came from; zero when it has none.
    pub name: u16,
}

impl Dim {
    /// An extent without a name.
    pub const fn new(size: usize) -> Dim {
        Dim { size, name: 0 }
    }
}

impl From<usize> for Dim {
    fn from(size: usize) -> Dim {
        Dim::new(size)
    }
}

impl PartialEq for Dim {
    fn eq(&self, other: &Dim) -> bool {
        self.size == other.size
    }
}

impl Eq for Dim {}

/// Up to [`MAX_RANK`] extents, outermost first. A scalar has none.
#[derive(Clone, Copy, Default)]
pub struct Shape {
    rank: u8,
    dims: [Dim; MAX_RANK],
}

impl Shape {
    /// The shape of a scalar.
    pub const SCALAR: Shape = Shape { rank: 0, dims: [Dim { size: 0, name: 0 }; MAX_RANK] };

    /// The shape of these extents, or `None` when there are more than [`MAX_RANK`].
    pub fn new<D: Copy + Into<Dim>>(dims: &[D]) -> Option<Shape> {
        let mut shape = Shape::SCALAR;
        for &dim in dims {
            shape = shape.with(dim.into())?;
        }
        Some(shape)
    }

    /// This shape with one more innermost dimension, or `None` when it is full.
    pub fn with(mut self, dim: Dim) -> Option<Shape> {
        *self.dims.get_mut(usize::from(self.rank))? = dim;
        self.rank += 1;
        Some(self)
    }

    /// Number of dimensions.
    pub const fn rank(&self) -> usize {
        self.rank as usize
    }

    /// The extents, outermost first.
    pub fn dims(&self) -> &[Dim] {
        &self.dims[..self.rank()]
    }

    /// The extents, to be changed in place.
    pub fn dims_mut(&mut self) -> &mut [Dim] {
        let rank = self.rank();
        &mut self.dims[..rank]
    }

    /// The sizes alone, padded with ones on the right.
    pub fn sizes(&self) -> [usize; MAX_RANK] {
        let mut sizes = [1; MAX_RANK];
        for (size, dim) in sizes.iter_mut().zip(self.dims()) {
            *size = dim.size;
        }
        sizes
    }

    /// Number of elements, or `None` when it does not fit a `usize`.
    ///
    /// Zero extents are looked for first: a tensor of `0 x usize::MAX x 2` holds nothing and overflows nothing.
    pub fn elements(&self) -> Option<usize> {
        if self.dims().iter().any(|dim| dim.size == 0) {
            return Some(0);
        }
        self.dims().iter().try_fold(1usize, |product, dim| product.checked_mul(dim.size))
    }

    /// Row-major strides in elements, padded with zeros on the right.
    pub fn strides(&self) -> [usize; MAX_RANK] {
        let mut strides = [0; MAX_RANK];
        let mut stride = 1usize;
        for (axis, dim) in self.dims().iter().enumerate().rev() {
            strides[axis] = stride;
            stride = stride.saturating_mul(dim.size);
        }
        strides
    }

    /// The numpy rule: extents are aligned at the right, and ones stretch.
    /// On disagreement the axis is counted in each operand.
    pub fn broadcast(&self, other: &Shape) -> Result<Shape, (usize, usize)> {
        let rank = self.rank().max(other.rank());
        let mut shape = Shape { rank: rank as u8, dims: [Dim::default(); MAX_RANK] };
        for back in 1..=rank {
            let left = self.rank().checked_sub(back).map(|axis| (axis, self.dims[axis]));
            let right = other.rank().checked_sub(back).map(|axis| (axis, other.dims[axis]));
            shape.dims[rank - back] = match (left, right) {
                (Some((_, dim)), None) | (None, Some((_, dim))) => dim,
                (Some((_, left)), Some((_, right))) if left == right => {
                    if left.name != 0 {
                        left
                    } else {
                        right
                    }
                }
                (Some((_, left)), Some((_, right))) if left.size == 1 => right,
                (Some((_, left)), Some((_, right))) if right.size == 1 => left,
                (Some((left, _)), Some((right, _))) => return Err((left, right)),
                (None, None) => Dim::new(1),
            };
        }
        Ok(shape)
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Shape) -> bool {
        self.dims() == other.dims()
    }
}

impl Eq for Shape {}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rank == 0 {
            return f.write_str("scalar");
        }
        for (axis, dim) in self.dims().iter().enumerate() {
            if axis > 0 {
                f.write_str("x")?;
            }
            write!(f, "{}", dim.size)?;
        }
        Ok(())
    }
}

/// What is known of a tensor before it has a place: element type and shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// Element type.
    pub dtype: DType,
    /// Extents.
    pub shape: Shape,
}

impl Type {
    /// A tensor of `f32`.
    pub const fn f32(shape: Shape) -> Type {
        Type { dtype: DType::F32, shape }
    }

    /// Bytes of the packed tensor, or `None` when they do not fit a `usize`. Where elements lie in blocks, the last block
    /// of every row is whole.
    pub fn bytes(&self) -> Option<usize> {
        let mut stored = self.shape;
        if let Some(last) = stored.dims_mut().last_mut() {
            last.size = last.size.div_ceil(self.dtype.block());
        }
        stored.elements()?.checked_mul(self.dtype.size())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.shape.rank() == 0 { write!(f, "{}", self.dtype) } else { write!(f, "{}[{}]", self.dtype, self.shape) }
    }
}
