//! A plan as a page to look around in: one file without anything from outside, with the picture, the peak and the tables.
//! The page's behaviour is `page.js`, its looks `page.css`; all it knows of the plan stands in its tables and beside its picture.

use alloc::{vec, vec::Vec};
use core::fmt::{self, Display};

use super::boxes::{ROLES, shades};
use super::label::Escaped;
use super::layout::{Layout, drawn, drawn_life};
use super::scale::Scale;
use super::words::{Apart, Extents, Grouped, Life, Name, Size, Verdict, Whose, bytes, name};
use crate::Plan;

/// A plan as one self-contained HTML page, written by `Display`.
///
/// The picture zooms with the wheel (shift: only time, alt: only bytes), moves when it is dragged, and says what lies
/// under the pointer. Tensors can be searched by name and sorted by any column; a click on one shows it in the picture.
#[derive(Clone, Copy, Debug)]
pub struct Html<'a> {
    plan: &'a Plan<'a>,
}

impl Plan<'_> {
    /// The plan as a page to look around in.
    pub fn html(&self) -> Html<'_> {
        Html { plan: self }
    }
}

/// The longest name written; longer ones are cut in the middle.
const NAME: usize = 400;

impl Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.plan;
        let layout = Layout::of(plan);
        let model = Escaped(Name(plan.model, NAME));
        f.write_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")?;
        // The page needs nothing from outside; with this it cannot ask for it either.
        f.write_str(
            "<meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n",
        )?;
        writeln!(f, "<title>{model}: memory over time</title>\n<style>\n{}</style>", include_str!("page.css"))?;
        writeln!(f, "</head>\n<body>\n<h1>{model}</h1>")?;
        facts(plan, f)?;
        bar(plan, f)?;
        picture(plan, &layout, f)?;
        writeln!(f, "<h2>Why the peak is what it is</h2>\n<pre class=\"roll\">{}</pre>", Escaped(plan.peak()))?;
        tensors(plan, &layout, f)?;
        steps(plan, f)?;
        writeln!(f, "<script>\n{}</script>\n</body>\n</html>", include_str!("page.js"))
    }
}

fn facts(plan: &Plan<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "<p class=\"facts\"><b>{}</b> ({} bytes) in one buffer, aligned to {}. Lower bound <b>{}</b> bytes, {}. \
         Persistent {}, transient {}. {} tensors, {} steps{}.</p>",
        Size::of(plan.size),
        Grouped::of(plan.size),
        Grouped::of(plan.align),
        Grouped::of(plan.lower_bound),
        Verdict(plan),
        Size::of(plan.persistent),
        Size::of(plan.size.saturating_sub(plan.persistent)),
        Grouped::of(plan.tensors.len()),
        Grouped::of(plan.steps.len()),
        Apart(plan)
    )
}

fn bar(plan: &Plan<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(
        "<div class=\"bar\"><input id=\"search\" type=\"search\" placeholder=\"tensor name\" aria-label=\"Find tensors \
         by name\"><span id=\"found\"></span><button id=\"whole\">Whole plan</button><button id=\"peak\">Peak</button>\
         <button id=\"scale\" aria-pressed=\"false\">Persistent to scale</button><span class=\"legend\">",
    )?;
    for role in ROLES {
        if plan.tensors.iter().any(|tensor| tensor.role == role) {
            let shades = shades(role);
            write!(f, "<span><i style=\"background:{}\" data-role=\"{}\" data-fill=\"", shades[0], role.name())?;
            for (place, shade) in shades.iter().enumerate() {
                write!(f, "{}{shade}", if place > 0 { " " } else { "" })?;
            }
            write!(f, "\"></i>{}</span>", role.name())?;
        }
    }
    f.write_str("</span></div>\n")
}

fn picture(plan: &Plan<'_>, layout: &Layout, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let scale = Scale::new(plan, [0.0, 0.0, 1.0, 1.0]);
    write!(
        f,
        "<div id=\"picture\"><canvas id=\"memory\" tabindex=\"0\" role=\"img\" aria-label=\"Memory over time\" \
         data-scale=\"{} {} {} {} {} {}\" data-base=\"{}\" data-live=\"",
        plan.end() + 1,
        scale.bytes,
        plan.size,
        plan.lower_bound,
        plan.persistent,
        layout.peak,
        scale.base
    )?;
    for (moment, bytes) in layout.live.iter().enumerate() {
        write!(f, "{}{bytes}", if moment > 0 { " " } else { "" })?;
    }
    f.write_str("\"></canvas><div id=\"tip\" hidden></div></div>\n")?;
    f.write_str(
        "<output id=\"status\" data-help=\"Wheel: zoom (shift: only time, alt: only bytes). Drag: move. Double click or \
         0: the whole plan. Click: pick a tensor.\"></output>\n",
    )
}

fn tensors(plan: &Plan<'_>, layout: &Layout, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // Each tensor's storage, and when in the order of drawing it comes.
    let mut places: Vec<(usize, usize)> = vec![(0, 0); plan.tensors.len()];
    let mut order = 0;
    for group in &layout.groups {
        for &tensor in core::iter::once(&group.root).chain(&group.members) {
            places[tensor] = (group.root, order);
            order += 1;
        }
    }
    f.write_str(
        "<h2>Tensors</h2>\n<div class=\"roll\"><table id=\"tensors\"><thead><tr><th>tensor<th>role<th>dtype<th>shape\
         <th class=\"n\">offset<th class=\"n\">bytes<th>lifetime<th>storage</tr></thead><tbody>\n",
    )?;
    for (index, (tensor, (root, order))) in plan.tensors.iter().zip(places).enumerate() {
        let [first, last] = drawn_life(plan, root, index);
        // What lies in another buffer is listed and takes no place in the picture.
        let [start, end] = if plan.is_shared(&tensor.view) { [0; 2] } else { drawn(plan, root, index) };
        write!(
            f,
            "<tr data-box=\"{first} {last} {start} {end} {root} {order}\"><td>{}<td>{}<td>{}<td>{}",
            Escaped(Name(tensor.name, NAME)),
            tensor.role.name(),
            tensor.view.dtype,
            Escaped(Extents(plan, index))
        )?;
        writeln!(
            f,
            "<td class=\"n\">{}<td class=\"n\">{}<td>{}<td>{}</tr>",
            Grouped::of(tensor.view.offset),
            Grouped::of(bytes(&tensor.view)),
            Life(plan, tensor),
            Escaped(Whose(plan, tensor, NAME))
        )?;
    }
    f.write_str("</tbody></table></div>\n")
}

fn steps(plan: &Plan<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(
        "<h2>Steps</h2>\n<div class=\"roll\"><table id=\"steps\"><thead><tr><th class=\"n\">step<th>op<th>reads\
         <th>writes<th>scratch</tr></thead><tbody>\n",
    )?;
    for (index, step) in plan.steps.iter().enumerate() {
        write!(f, "<tr><td class=\"n\">{index}<td>{}", Escaped(Name(step.op, NAME)))?;
        for list in [step.inputs, step.outputs, step.scratch] {
            f.write_str("<td>")?;
            for (place, &tensor) in list.iter().enumerate() {
                write!(f, "{}{}", if place > 0 { ", " } else { "" }, Escaped(name(plan, tensor, NAME)))?;
            }
        }
        f.write_str("</tr>\n")?;
    }
    f.write_str("</tbody></table></div>\n")
}
