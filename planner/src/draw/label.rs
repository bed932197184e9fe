//! How a name is written into a box: as large as it fits, upright where the box is narrow, cut where it is too long, and
//! not at all where it could not be read.

use super::words::Name;
use core::fmt::{self, Display};

/// How far a letter of the fixed-width face reaches, in ems. Letters outside ASCII are taken to be a whole em.
const ADVANCE: f64 = 0.61;
/// Air between a name and the edge of its box.
const AIR: f64 = 3.0;
/// A cut name tells nothing with fewer letters than this, nor with fewer than half of its own unless there are `ENOUGH`.
const LEAST: usize = 7;
const ENOUGH: usize = 14;

/// The width of a text at a font size.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| if c.is_ascii() { ADVANCE } else { 1.0 }).sum::<f64>() * size
}

/// A name that fits.
pub(super) struct Label<'a> {
    /// What is written.
    pub(super) text: Name<'a>,
    /// Font size.
    pub(super) size: f64,
    /// True when it reads from bottom to top.
    pub(super) upright: bool,
}

/// The way to write that name into a box of that width and height, if there is one.
pub(super) fn fit(name: &str, width: f64, height: f64) -> Option<Label<'_>> {
    let whole =
        |size: f64, along: f64, across: f64| text_width(name, size) + 2.0 * AIR <= along && size * 1.1 + 1.0 <= across;
    let count = name.chars().count();
    for size in [11.0, 9.0, 7.0] {
        for (upright, along, across) in [(false, width, height), (true, height, width)] {
            if whole(size, along, across) {
                return Some(Label { text: Name(name, count), size, upright });
            }
        }
    }
    let upright = height > width;
    let (along, across) = if upright { (height, width) } else { (width, height) };
    let size = if across >= 14.0 { 9.0 } else { 7.0 };
    let widest = if name.is_ascii() { ADVANCE } else { 1.0 };
    let letters = ((along - 2.0 * AIR) / (size * widest)) as usize;
    let readable = letters >= LEAST.max((count / 2).min(ENOUGH)) && size * 1.1 + 1.0 <= across;
    readable.then_some(Label { text: Name(name, letters), size, upright })
}

/// Text inside XML: what has a meaning there is escaped, what may not stand there is replaced.
pub(super) struct Escaped<T>(pub(super) T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Escape<'a, 'b>(&'a mut fmt::Formatter<'b>);
        impl fmt::Write for Escape<'_, '_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                text.chars().try_for_each(|c| match c {
                    '&' => self.0.write_str("&amp;"),
                    '<' => self.0.write_str("&lt;"),
                    '>' => self.0.write_str("&gt;"),
                    '"' => self.0.write_str("&quot;"),
                    '\'' => self.0.write_str("&#39;"),
                    '\n' => self.0.write_str("\n"),
                    '\u{fffe}' | '\u{ffff}' => self.0.write_str("\u{fffd}"),
                    c if c.is_control() => self.0.write_str("\u{fffd}"),
                    c => fmt::Write::write_char(self.0, c),
                })
            }
        }
        fmt::Write::write_fmt(&mut Escape(f), format_args!("{}", self.0))
    }
}

/// A length or a coordinate, to a hundredth and no longer than it has to be.
pub(super) struct At(pub(super) f64);

impl Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = if self.0 < 0.0 { self.0 * 100.0 - 0.5 } else { self.0 * 100.0 + 0.5 } as i64;
        let (sign, hundredths) = (if hundredths < 0 { "-" } else { "" }, hundredths.unsigned_abs());
        write!(f, "{sign}{}", hundredths / 100)?;
        match hundredths % 100 {
            0 => Ok(()),
            rest if rest % 10 == 0 => write!(f, ".{}", rest / 10),
            rest => write!(f, ".{rest:02}"),
        }
    }
}
