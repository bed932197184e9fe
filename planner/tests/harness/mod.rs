//! What the fuzz targets do with bytes, and `tests/fuzz.rs` with bytes that are drawn: each function takes any bytes at
//! all and panics where the planner is wrong. It knows the planner by what is public.
#![allow(dead_code, unused_imports, reason = "each target uses a part")]

mod bytes;
mod graphs;
mod offsets;
mod plans;
mod text;

pub(crate) use bytes::Bytes;
pub(crate) use graphs::{graph, plan_then_verify};
pub(crate) use offsets::solve_then_check;
pub(crate) use plans::verify_anything;
pub(crate) use text::text_form;
