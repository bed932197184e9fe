//! How a plan is shown: a table, a picture of memory over time, a page to look around in, and why the peak is what it
//! is. Everything here only reads a [`Plan`](crate::Plan) and writes text; nothing here opens a file.

mod table;
mod words;

#[cfg(feature = "alloc")]
mod boxes;
#[cfg(feature = "alloc")]
mod label;
#[cfg(feature = "alloc")]
mod layout;
#[cfg(feature = "alloc")]
mod peak;
#[cfg(feature = "alloc")]
mod scale;
#[cfg(feature = "alloc")]
mod svg;

#[cfg(feature = "alloc")]
pub use peak::Peak;
#[cfg(feature = "alloc")]
pub use svg::Svg;
