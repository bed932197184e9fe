//! The boxes of a picture: a frame for each storage, and in it every tensor that lies there, each with its name where it
//! fits and a tooltip always.

use core::fmt;

use super::label::{At, Escaped, fit};
use super::layout::{Group, Layout, drawn, drawn_life};
use super::scale::Scale;
use super::words::{Extents, Grouped, Life, Name, Whose, bytes, stripes};
use crate::{Plan, Role, Storage};

/// The patterns that lie over views, and over what has gaps.
pub(super) const HATCH: &str = "<defs><pattern id=\"mg-view\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
    patternTransform=\"rotate(45)\"><path d=\"M0 0V6\" stroke=\"#1d2127\" stroke-opacity=\".28\"/></pattern>\
    <pattern id=\"mg-gaps\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 1H4\" stroke=\"#fff\" \
    stroke-opacity=\".55\"/></pattern></defs>";

/// The longest name in a tooltip.
const NAME: usize = 120;

/// Every role, in the order of the legend: what stays first.
pub(super) const ROLES: [Role; 9] = [
    Role::Weight,
    Role::Constant,
    Role::KeptInput,
    Role::KeptNode,
    Role::State,
    Role::Input,
    Role::Node,
    Role::Output,
    Role::Scratch,
];

/// The colours of a role. Nodes come in three shades, so that neighbours can be told apart.
pub(super) const fn shades(role: Role) -> &'static [&'static str] {
    match role {
        Role::Weight => &["#c3c9d3"],
        Role::Constant => &["#ddd6c4"],
        Role::KeptInput => &["#5f9ad6"],
        Role::KeptNode => &["#4fae8b"],
        Role::Input => &["#9cc7ef"],
        Role::Node => &["#a3d9a5", "#8fcda6", "#bfe3ae"],
        Role::Output => &["#f4bd6a"],
        Role::Scratch => &["#eb9fb0"],
        Role::State => &["#b79be0"],
    }
}

/// The colour of a tensor's box. Layers repeat, and so would the shades if they went round with every third tensor.
pub(super) fn shade(role: Role, index: usize) -> &'static str {
    let shades = shades(role);
    shades[(index + index / 9) % shades.len()]
}

/// A box in the plane: left, right, top, bottom.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    fn width(&self) -> f64 {
        self.right - self.left
    }

    fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The box from one moment through another, between two bytes. A box without bytes is a line.
    fn new(scale: &Scale, [first, last]: [usize; 2], [start, end]: [usize; 2]) -> Area {
        const LINE: f64 = 0.8;
        let (top, bottom) = (scale.ceiling(end), scale.floor(start));
        let bottom = bottom.max(top);
        let top = if bottom - top < LINE { bottom - LINE } else { top };
        Area { left: scale.x(first), right: scale.x(last + 1), top, bottom }
    }

    fn rect(&self, f: &mut fmt::Formatter<'_>, rest: fmt::Arguments<'_>) -> fmt::Result {
        write!(
            f,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {rest}/>",
            At(self.left),
            At(self.top),
            At(self.width()),
            At(self.height())
        )
    }
}

/// Every storage with what lies in it.
pub(super) fn draw(plan: &Plan<'_>, layout: &Layout, scale: &Scale, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for group in &layout.groups {
        storage(plan, group, scale, f)?;
    }
    Ok(())
}

fn storage(plan: &Plan<'_>, group: &Group, scale: &Scale, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let frame = Area::new(scale, [group.first, group.last], [group.start, group.end]);
    let place = |tensor: usize| area(plan, group, tensor, scale);
    f.write_str("<g>")?;
    // What the storage takes beyond its root's own life: parts come before it, successors after it.
    let own = place(group.root);
    if own.width() < frame.width() {
        let fill = shade(plan.tensors[group.root].role, group.root);
        frame.rect(f, format_args!("fill=\"{fill}\" fill-opacity=\".4\""))?;
    }
    for (order, &tensor) in core::iter::once(&group.root).chain(&group.members).enumerate() {
        tensor_box(plan, tensor, place(tensor), free(plan, group, order, scale), f)?;
    }
    if !group.members.is_empty() && frame.height() > 4.0 {
        frame.rect(f, format_args!("class=\"o n\""))?;
    }
    f.write_str("</g>\n")
}

/// Where the name of a tensor goes, the root being at 0 and the members after it: the stretch that no other one covers.
fn free(plan: &Plan<'_>, group: &Group, order: usize, scale: &Scale) -> Area {
    let place = |tensor: usize| area(plan, group, tensor, scale);
    let own = order.checked_sub(1).map_or(group.root, |member| group.members[member]);
    visible(place(own), group.members.iter().skip(order).map(|&member| place(member)))
}

/// Whether the box of a tensor of that storage bears its whole name, in letters that can be read.
pub(super) fn named(plan: &Plan<'_>, group: &Group, tensor: usize, scale: &Scale) -> bool {
    let order = group.members.iter().position(|&member| member == tensor).map_or(0, |member| member + 1);
    let free = free(plan, group, order, scale);
    let name = plan.tensors[tensor].name;
    fit(name, free.width(), free.height())
        .is_some_and(|label| label.size >= 9.0 && label.text.1 >= name.chars().count())
}

/// Where a tensor is drawn. Parts stand back from their storage's frame, so that they can be told from it.
fn area(plan: &Plan<'_>, group: &Group, index: usize, scale: &Scale) -> Area {
    let tensor = &plan.tensors[index];
    let mut area = Area::new(scale, drawn_life(plan, group.root, index), drawn(plan, group.root, index));
    let back = if area.height() > 16.0 && matches!(tensor.storage, Storage::Part(_)) { 2.0 } else { 0.0 };
    area.top += back;
    area.bottom -= back;
    area
}

/// The longest stretch of a box that no box drawn over it covers.
fn visible(area: Area, above: impl Iterator<Item = Area> + Clone) -> Area {
    let mut best = Area { right: area.left, ..area };
    let mut from = area.left;
    loop {
        let covers = |over: &Area| {
            over.top < area.bottom - 0.5
                && over.bottom > area.top + 0.5
                && over.right > from + 0.01
                && over.left < area.right
        };
        let next = above.clone().filter(covers).min_by(|a, b| a.left.total_cmp(&b.left));
        let until = next.map_or(area.right, |over| over.left);
        if until - from > best.width() {
            best = Area { left: from, right: until, ..area };
        }
        match next {
            Some(over) => from = over.right.max(from),
            None => return best,
        }
    }
}

fn tensor_box(plan: &Plan<'_>, index: usize, area: Area, free: Area, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let tensor = &plan.tensors[index];
    // The line around a box must not hide a box that is hardly more than a line.
    let class = if area.height() > 5.0 && area.width() > 4.0 { "b" } else { "t" };
    write!(f, "<g><title>{}\n{} ", Escaped(Name(tensor.name, NAME)), tensor.role.name())?;
    writeln!(f, "{}[{}]", tensor.view.dtype, Escaped(Extents(plan, index)))?;
    writeln!(f, "{} bytes at offset {}", Grouped::of(bytes(&tensor.view)), Grouped::of(tensor.view.offset))?;
    write!(f, "lives {}", Life(plan, tensor))?;
    if tensor.storage != Storage::Own {
        write!(f, "\n{}", Escaped(Whose(plan, tensor, NAME)))?;
    }
    f.write_str("</title>")?;
    area.rect(f, format_args!("class=\"{class}\" fill=\"{}\"", shade(tensor.role, index)))?;
    if tensor.storage != Storage::Own && stripes(&tensor.view).is_some() {
        area.rect(f, format_args!("fill=\"url(#mg-gaps)\""))?;
    }
    match tensor.storage {
        Storage::View(_) => area.rect(f, format_args!("fill=\"url(#mg-view)\""))?,
        Storage::InPlace(_) if area.height() > 5.0 => write!(
            f,
            "<path d=\"M{} {}V{}\" class=\"{}\"/>",
            At(area.left),
            At(area.top),
            At(area.bottom),
            if area.width() > 14.0 { "d" } else { "e" }
        )?,
        Storage::InPlace(_) | Storage::Part(_) | Storage::Own => {}
    }
    name(tensor.name, bytes(&tensor.view), free, f)?;
    f.write_str("</g>")
}

/// The name, and below it the size where there is room for both.
fn name(name: &str, bytes: usize, free: Area, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(label) = fit(name, free.width(), free.height()) else { return Ok(()) };
    let (x, y) = ((free.left + free.right) / 2.0, (free.top + free.bottom) / 2.0);
    let middle = label.size * 0.35;
    let style = |f: &mut fmt::Formatter<'_>| match label.size {
        11.0 => f.write_str("\""),
        9.0 => f.write_str(" s\""),
        size => write!(f, "\" style=\"font-size:{}px\"", At(size)),
    };
    if label.upright {
        write!(f, "<text transform=\"translate({} {}) rotate(-90)\" class=\"c n", At(x + middle), At(y))?;
        style(f)?;
        return write!(f, ">{}</text>", Escaped(label.text));
    }
    let both = free.height() >= 30.0 && label.size == 11.0 && free.width() >= 72.0;
    let rise = if both { 6.5 } else { 0.0 };
    write!(f, "<text x=\"{}\" y=\"{}\" class=\"c n", At(x), At(y + middle - rise))?;
    style(f)?;
    write!(f, ">{}</text>", Escaped(label.text))?;
    if both {
        write!(
            f,
            "<text x=\"{}\" y=\"{}\" class=\"c n m s\">{}</text>",
            At(x),
            At(y + 12.0),
            super::words::Size::of(bytes)
        )?;
    }
    Ok(())
}
