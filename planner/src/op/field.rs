//! The fields of operators' structs: what they are, and the macro that declares the structs with them. It knows no operator.

use super::Value;
use crate::{DType, Dim, MAX_RANK};

/// A field of an operator's struct, to be written into the planned program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Field<'a> {
    /// A `usize`.
    Usize(usize),
    /// An `f32`.
    F32(f32),
    /// An `i32`.
    I32(i32),
    /// A `bool`.
    Bool(bool),
    /// An array of `usize`.
    Usizes(&'a [usize]),
    /// An array of `bool`.
    Bools(&'a [bool]),
    /// A [`Dim`].
    Dim(Dim),
    /// An array of them.
    Dims(&'a [Dim]),
    /// An element type.
    DType(DType),
    /// An array of `f32`.
    F32s(&'a [f32]),
}

impl Field<'_> {
    /// Calls `visit` with the field as a setting's value; marked axes as the list of them.
    pub fn spell(self, visit: &mut dyn FnMut(Value<'_>)) {
        let mut list = [Value::Infer; MAX_RANK];
        let mut count = 0;
        if let Field::F32s(values) = self {
            for (place, value) in list.iter_mut().zip(values) {
                *place = Value::Float(f64::from(*value));
                count += 1;
            }
        }
        let mut push = |value: Value<'static>| {
            if let Some(place) = list.get_mut(count) {
                *place = value;
                count += 1;
            }
        };
        match self {
            Field::Usize(value) => return visit(int(value)),
            Field::F32(value) => return visit(Value::Float(f64::from(value))),
            Field::I32(value) => return visit(Value::Int(i64::from(value), 0)),
            Field::Bool(value) => return visit(Value::Bool(value)),
            Field::DType(dtype) => return visit(Value::Word(dtype.name())),
            Field::Usizes(values) => values.iter().for_each(|value| push(int(*value))),
            Field::Bools(marks) => {
                marks.iter().enumerate().filter(|(_, mark)| **mark).for_each(|(at, _)| push(int(at)))
            }
            Field::F32s(_) => {}
            Field::Dim(dim) => return visit(extent(dim)),
            Field::Dims(dims) => dims.iter().for_each(|dim| push(extent(*dim))),
        }
        visit(Value::List(&list[..count]));
    }
}

fn int<'a>(value: usize) -> Value<'a> {
    Value::Int(i64::try_from(value).unwrap_or(i64::MAX), 0)
}

pub(super) fn extent<'a>(dim: Dim) -> Value<'a> {
    if dim.is_open() { Value::Open(dim) } else { int(dim.size) }
}

/// Rust types that can be fields of an operator.
pub(super) trait AsField {
    fn as_field(&self) -> Field<'_>;

    /// The field for these values of the open dims.
    #[cfg(feature = "alloc")]
    fn at(&self, values: &[usize]) -> Self;
}

impl AsField for usize {
    fn as_field(&self) -> Field<'_> {
        Field::Usize(*self)
    }

    #[cfg(feature = "alloc")]
    fn at(&self, _: &[usize]) -> Self {
        *self
    }
}

impl AsField for f32 {
    fn as_field(&self) -> Field<'_> {
        Field::F32(*self)
    }

    #[cfg(feature = "alloc")]
    fn at(&self, _: &[usize]) -> Self {
        *self
    }
}

impl AsField for i32 {
    fn as_field(&self) -> Field<'_> {
        Field::I32(*self)
    }

    #[cfg(feature = "alloc")]
    fn at(&self, _: &[usize]) -> Self {
        *self
    }
}

impl AsField for bool {
    fn as_field(&self) -> Field<'_> {
        Field::Bool(*self)
    }

    #[cfg(feature = "alloc")]
    fn at(&self, _: &[usize]) -> Self {
        *self
    }
}

impl AsField for DType {
    fn as_field(&self) -> Field<'_> {
        Field::DType(*self)
    }

    #[cfg(feature = "alloc")]
    fn at(&self, _: &[usize]) -> Self {
        *self
    }
}

impl<const N: usize> AsField for [usize; N] {
    fn as_field(&self) -> Field<'_> {
        Field::Usizes(self)
    }

    #[cfg(feature = "alloc")]
    fn at(&self, _: &[usize]) -> Self {
        *self
    }
}

impl<const N: usize> AsField for [f32; N] {
    fn as_field(&self) -> Field<'_> {
        Field::F32s(self)
    }

    #[cfg(feature = "alloc")]
    fn at(&self, _: &[usize]) -> Self {
        *self
    }
}

impl<const N: usize> AsField for [bool; N] {
    fn as_field(&self) -> Field<'_> {
        Field::Bools(self)
    }

    #[cfg(feature = "alloc")]
    fn at(&self, _: &[usize]) -> Self {
        *self
    }
}

impl AsField for Dim {
    fn as_field(&self) -> Field<'_> {
        Field::Dim(*self)
    }

    #[cfg(feature = "alloc")]
    fn at(&self, values: &[usize]) -> Self {
        Dim::new(Dim::at(self, values)).named(self.name)
    }
}

impl<const N: usize> AsField for [Dim; N] {
    fn as_field(&self) -> Field<'_> {
        Field::Dims(self)
    }

    #[cfg(feature = "alloc")]
    fn at(&self, values: &[usize]) -> Self {
        self.map(|dim| AsField::at(&dim, values))
    }
}

/// Declares operators' structs and their [`Fields`].
macro_rules! operator {
    ($( $(#[$doc:meta])* $name:ident = $text:literal { $( $(#[$field_doc:meta])* $field:ident: $ty:ty, )* } )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name { $( $(#[$field_doc])* pub $field: $ty, )* }

        impl $crate::op::Fields for $name {
            fn name(&self) -> &str {
                $text
            }

            fn kernel(&self) -> &'static str {
                stringify!($name)
            }

            fn fields(&self, _visit: &mut dyn FnMut(&'static str, $crate::op::Field<'_>)) {
                $( _visit(stringify!($field), $crate::op::AsField::as_field(&self.$field)); )*
            }

            #[cfg(feature = "alloc")]
            fn at(&self, _values: &[usize]) -> alloc::rc::Rc<dyn $crate::op::Operator> {
                alloc::rc::Rc::new($name { $( $field: $crate::op::AsField::at(&self.$field, _values), )* })
            }

            fn as_any(&self) -> &dyn core::any::Any {
                self
            }
        }
    )* };
}
pub(super) use operator;
