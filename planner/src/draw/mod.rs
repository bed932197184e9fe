//! How a plan is shown: a table, a picture of memory over time, a page to look around in, and why the peak is what it
//! is. Everything here only reads a [`Plan`](crate::Plan) and writes text; nothing here opens a file.
//!
//! ```
//! use model_graph_planner::Plan;
//!
//! fn report(plan: &Plan<'_>) -> [String; 4] {
//!     [plan.to_string(), plan.peak().to_string(), plan.svg().to_string(), plan.html().to_string()]
//! }
//! ```

mod table;
mod words;

#[cfg(feature = "alloc")]
mod boxes;
#[cfg(feature = "alloc")]
mod html;
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
mod unnamed;

#[cfg(feature = "alloc")]
pub use html::Html;
#[cfg(feature = "alloc")]
pub use peak::{Live, Peak};
#[cfg(feature = "alloc")]
pub use svg::Svg;
