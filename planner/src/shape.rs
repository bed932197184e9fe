//! Shapes: extents that remember the name they were declared with.

use core::fmt;

use crate::{DType, Dim};

/// The largest number of dimensions a tensor can have.
pub const MAX_RANK: usize = 6;

/// Up to [`MAX_RANK`] extents, outermost first. A scalar has none.
#[derive(Clone, Copy, Default)]
pub struct Shape {
    rank: u8,
    dims: [Dim; MAX_RANK],
}

impl Shape {
    /// The shape of a scalar.
    pub const SCALAR: Shape = Shape { rank: 0, dims: [Dim::new(0); MAX_RANK] };

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

    /// True when an extent follows from an open dim.
    pub fn is_open(&self) -> bool {
        self.dims().iter().any(Dim::is_open)
    }

    /// The shape for these values of the open dims.
    pub fn at(&self, values: &[usize]) -> Shape {
        let mut shape = *self;
        for dim in shape.dims_mut().iter_mut().filter(|dim| dim.is_open()) {
            *dim = Dim::new(dim.at(values)).named(dim.name);
        }
        shape
    }

    /// The number of elements, when it follows from at most one open dim.
    pub fn product(&self) -> Option<Dim> {
        if self.dims().iter().any(|dim| dim.fixed() == Some(0)) {
            return Some(Dim::new(0));
        }
        let (open, fixed) = self.factors()?;
        match open.as_slice() {
            [] => Some(Dim::new(fixed)),
            [only] => only.times(fixed),
            _ => None,
        }
    }

    /// The number of elements by that of another shape whose elements are a part: what is left is an extent that follows
    /// from at most one open dim.
    pub fn product_over(&self, known: &Shape) -> Option<Dim> {
        let (mut open, fixed) = self.factors()?;
        let (theirs, over) = known.factors()?;
        for dim in theirs.as_slice() {
            open.remove(dim)?;
        }
        if over == 0 || !fixed.is_multiple_of(over) {
            return None;
        }
        match open.as_slice() {
            [] => Some(Dim::new(fixed / over)),
            [only] => only.times(fixed / over),
            _ => None,
        }
    }

    /// True when both have as many elements, whatever the open dims are.
    pub fn same_elements(&self, other: &Shape) -> bool {
        if !self.is_open() && !other.is_open() {
            return self.elements().is_some() && self.elements() == other.elements();
        }
        self.factors().zip(other.factors()).is_some_and(|((mut open, fixed), (theirs, other))| {
            let all = theirs.as_slice().iter().all(|dim| open.remove(dim).is_some());
            all && open.as_slice().is_empty() && fixed == other
        })
    }

    /// The open extents, without what can be taken out of them, and the product of all that is fixed.
    fn factors(&self) -> Option<(Factors, usize)> {
        let mut open = Factors { dims: [Dim::new(1); MAX_RANK], count: 0 };
        let mut fixed = 1usize;
        for dim in self.dims() {
            let count = match dim.fixed() {
                Some(count) => count,
                None => {
                    let (count, factor) = dim.factor();
                    open.push(factor);
                    count
                }
            };
            fixed = fixed.checked_mul(count)?;
        }
        Some((open, fixed))
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
                (Some((_, left)), Some((_, right))) if left.is_one() => right,
                (Some((_, left)), Some((_, right))) if right.is_one() => left,
                (Some((left, _)), Some((right, _))) => return Err((left, right)),
                (None, None) => Dim::new(1),
            };
        }
        Ok(shape)
    }
}

/// Extents that a number of elements is a product of.
struct Factors {
    dims: [Dim; MAX_RANK],
    count: usize,
}

impl Factors {
    fn push(&mut self, dim: Dim) {
        self.dims[self.count] = dim;
        self.count += 1;
    }

    fn remove(&mut self, dim: &Dim) -> Option<()> {
        let at = self.as_slice().iter().position(|known| known == dim)?;
        self.count -= 1;
        self.dims[at] = self.dims[self.count];
        Some(())
    }

    fn as_slice(&self) -> &[Dim] {
        &self.dims[..self.count]
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

    /// The type for these values of the open dims.
    pub fn at(&self, values: &[usize]) -> Type {
        Type { shape: self.shape.at(values), ..*self }
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
