//! The names for which the boxes at the peak have no room: a list under the picture, largest first, with the colour of
//! each box.

use alloc::vec::Vec;
use core::fmt;

use super::boxes::{self, shade};
use super::label::{At, Escaped, text_width};
use super::layout::Layout;
use super::scale::Scale;
use super::words::{Grouped, Name, Size};
use crate::Plan;
use crate::draw::peak::Live;

/// The longest name written.
const NAME: usize = 40;
/// How far the rows are apart, how wide a column is, and how many rows one has at most.
const ROW: f64 = 15.0;
const COLUMN: f64 = 350.0;
const ROWS: usize = 8;

/// What is listed, and how it is laid out.
pub(super) struct Unnamed {
    rows: Vec<Live>,
    /// How many more there are than have a row, and their bytes.
    more: (usize, u128),
    height: usize,
}

impl Unnamed {
    /// The storages that live at the peak and whose box does not say whose it is. Persistent ones live always, so that
    /// it is not they that make the peak.
    pub(super) fn of(plan: &Plan<'_>, layout: &Layout, scale: &Scale, width: f64) -> Unnamed {
        let lacks = |live: &Live| {
            let group = layout.groups.binary_search_by_key(&live.tensor, |group| group.root);
            !plan.tensors[live.tensor].role.is_persistent()
                && !group.is_ok_and(|group| boxes::named(plan, &layout.groups[group], live.holder, scale))
        };
        let mut rows: Vec<Live> = plan.peak().live.into_iter().filter(lacks).collect();
        let columns = ((width / COLUMN) as usize).max(1);
        let more = rows.split_off(rows.len().min(columns * ROWS));
        let more = (more.len(), more.iter().map(|live| live.bytes as u128).sum());
        let height = rows.len().div_ceil(columns);
        Unnamed { rows, more, height }
    }

    /// How much room it takes.
    pub(super) fn height(&self) -> f64 {
        if self.rows.is_empty() { 0.0 } else { (self.height + 1) as f64 * ROW + 12.0 }
    }

    /// Writes it from that place down.
    pub(super) fn draw(&self, plan: &Plan<'_>, left: f64, top: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        write!(f, "<text x=\"{}\" y=\"{}\" class=\"p\">in use at the peak, not named above", At(left), At(top + 10.0))?;
        if self.more.0 > 0 {
            write!(f, ", and {} more with {}", Grouped::of(self.more.0), Size(self.more.1))?;
        }
        f.write_str("</text>\n")?;
        for (index, live) in self.rows.iter().enumerate() {
            let x = left + (index / self.height) as f64 * COLUMN;
            let y = top + 10.0 + (index % self.height + 1) as f64 * ROW;
            let tensor = &plan.tensors[live.holder];
            writeln!(
                f,
                "<rect x=\"{}\" y=\"{}\" width=\"10\" height=\"9\" class=\"b\" fill=\"{}\"/>\
                 <text x=\"{}\" y=\"{y}\" class=\"s\">{}</text>\
                 <text x=\"{}\" y=\"{y}\" class=\"r m s\">{}</text>",
                At(x),
                At(y - 8.0),
                shade(tensor.role, live.holder),
                At(x + 15.0),
                Escaped(Name(tensor.name, NAME)),
                At(x + 15.0 + text_width("m", 9.0) * (NAME + 11) as f64),
                Size::of(live.bytes),
                y = At(y),
            )?;
        }
        Ok(())
    }
}
