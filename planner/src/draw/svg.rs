//! A plan as a picture: time across, bytes up, one box for each tensor. Title, legend, axes, the lower bound and the peak
//! are drawn here; the boxes are drawn in `boxes`.

use core::fmt::{self, Display};

use super::boxes::{self, ROLES, shades};
use super::label::{At, Escaped, text_width};
use super::layout::Layout;
use super::scale::Scale;
use super::unnamed::Unnamed;
use super::words::{Apart, Grouped, Moment, Name, Size, Tick, Verdict, stripes};
use crate::{Plan, PlanTensor, Role, Storage};

/// A plan as an SVG picture. It is written by `Display`, so that `to_string` and `write!` do all that is needed.
///
/// Time goes across, one column a moment: `load`, the steps, `end`. Bytes go up. Each tensor is a box as wide as it
/// lives and as high as it is large; what lies in another tensor's storage is drawn inside that one's box. Names stand
/// where they fit, and every box has a tooltip; what lives at the peak and has no room for its name is listed below. The dashed line is the lower bound, the marked column the peak. Where
/// persistent tensors would press the others flat, they get a band with a scale of its own.
#[derive(Clone, Copy, Debug)]
pub struct Svg<'a> {
    plan: &'a Plan<'a>,
}

impl Plan<'_> {
    /// The plan as a picture of memory over time.
    pub fn svg(&self) -> Svg<'_> {
        Svg { plan: self }
    }
}

/// Every rule is bound to this picture, so that it can stand inside a page.
const STYLE: &str = "\
.mg text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:11px;fill:#1d2127}
.mg .h{font-size:16px;font-weight:bold}
.mg .s{font-size:9px}
.mg .m{fill:#5a626e}
.mg .p{fill:#b3124f;font-weight:bold}
.mg .r{text-anchor:end}
.mg .c{text-anchor:middle}
.mg .n{pointer-events:none}
.mg .g{stroke:#e3e6ea}
.mg .a{stroke:#1d2127;fill:none}
.mg .b{stroke:#1d2127;stroke-opacity:.55;stroke-width:.6}
.mg .t{stroke:#fff;stroke-width:.25}
.mg .o{stroke:#1d2127;stroke-width:.8;fill:none}
.mg .d{stroke:#1d2127;stroke-width:.8;stroke-dasharray:3 2}
.mg .e{stroke:#1d2127;stroke-opacity:.5;stroke-width:.6}
.mg .l{stroke:#b3124f;stroke-width:1.6;stroke-dasharray:7 4;fill:none}";

const LEFT: f64 = 92.0;
const RIGHT: f64 = 138.0;
const TOP: f64 = 104.0;

impl Display for Svg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.plan;
        let layout = Layout::of(plan);
        let moments = plan.end() + 1;
        let plot_width = (moments as f64 * 64.0).clamp(900.0, 1560.0);
        let plot_height = (380.0 + layout.groups.len() as f64 * 4.0).clamp(420.0, 860.0);
        let scale = Scale::new(plan, [LEFT, TOP, plot_width, plot_height]);
        let ops = Ops::of(plan, &scale);
        let unnamed = Unnamed::of(plan, &layout, &scale, plot_width);
        let bottom = TOP + plot_height + 30.0 + ops.height();
        let (width, height) = (LEFT + plot_width + RIGHT, bottom + unnamed.height());
        writeln!(
            f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" class=\"mg\" role=\"img\">",
            w = At(width),
            h = At(height)
        )?;
        writeln!(f, "<title>{}: memory over time</title>\n<style>{STYLE}</style>", Escaped(Name(plan.model, 80)))?;
        writeln!(f, "{}", boxes::HATCH)?;
        writeln!(f, "<rect width=\"{}\" height=\"{}\" fill=\"#fcfcfb\"/>", At(width), At(height))?;
        head(plan, f)?;
        legend(plan, f)?;
        grid(&scale, f)?;
        boxes::draw(plan, &layout, &scale, f)?;
        time(plan, &scale, &ops, f)?;
        gap(&scale, f)?;
        peak(plan, &layout, &scale, f)?;
        bounds(plan, &scale, f)?;
        unnamed.draw(plan, LEFT, bottom, f)?;
        f.write_str("</svg>\n")
    }
}

fn head(plan: &Plan<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "<text x=\"16\" y=\"28\" class=\"h\">{}: {} in one buffer</text>",
        Escaped(Name(plan.model, 60)),
        Size::of(plan.size)
    )?;
    writeln!(
        f,
        "<text x=\"16\" y=\"47\" class=\"m\">{} bytes; lower bound {}, {}; persistent {}; {} tensors, {} steps{}</text>",
        Grouped::of(plan.size),
        Grouped::of(plan.lower_bound),
        Verdict(plan),
        Size::of(plan.persistent),
        Grouped::of(plan.tensors.len()),
        Grouped::of(plan.steps.len()),
        Apart(plan)
    )
}

/// One sample of each role and each kind of sharing that occurs.
fn legend(plan: &Plan<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut x = 16.0;
    let mut entry = |f: &mut fmt::Formatter<'_>, text: &str, sample: fmt::Arguments<'_>| {
        writeln!(f, "<g transform=\"translate({} 60)\">{sample}<text x=\"24\" y=\"11\">{text}</text></g>", At(x))?;
        x += 24.0 + text_width(text, 11.0) + 18.0;
        Ok(())
    };
    let sample = "width=\"18\" height=\"13\" class=\"b\"";
    for role in ROLES {
        if plan.tensors.iter().any(|tensor| tensor.role == role) {
            entry(f, role.name(), format_args!("<rect {sample} fill=\"{}\"/>", shades(role)[0]))?;
        }
    }
    let occurs = |kind: fn(Storage) -> bool| plan.tensors.iter().any(|tensor| kind(tensor.storage));
    let node = shades(Role::Node)[0];
    if occurs(|storage| matches!(storage, Storage::InPlace(_))) {
        entry(f, "in place", format_args!("<rect {sample} fill=\"{node}\"/><path d=\"M9 1V12\" class=\"d\"/>"))?;
    }
    if occurs(|storage| matches!(storage, Storage::View(_))) {
        entry(f, "view", format_args!("<rect {sample} fill=\"{node}\"/><rect {sample} fill=\"url(#mg-view)\"/>"))?;
    }
    let gaps = |tensor: &PlanTensor<'_>| tensor.storage != Storage::Own && stripes(&tensor.view).is_some();
    if plan.tensors.iter().any(gaps) {
        entry(
            f,
            "interleaved",
            format_args!("<rect {sample} fill=\"{node}\"/><rect {sample} fill=\"url(#mg-gaps)\"/>"),
        )?;
    }
    if occurs(|storage| matches!(storage, Storage::Part(_))) {
        entry(
            f,
            "part",
            format_args!(
                "<rect {sample} fill=\"{node}\" fill-opacity=\".35\"/>\
                 <rect x=\"2\" y=\"2\" width=\"9\" height=\"9\" class=\"b\" fill=\"{node}\"/>"
            ),
        )?;
    }
    Ok(())
}

/// The axis of bytes with its lines across.
fn grid(scale: &Scale, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let right = scale.left + scale.width;
    let line = |f: &mut fmt::Formatter<'_>, y: f64, plus: &str, text: &dyn Display| {
        writeln!(
            f,
            "<path d=\"M{} {y}H{}\" class=\"g\"/><text x=\"{}\" y=\"{}\" class=\"r m\">{plus}{text}</text>",
            At(scale.left - 4.0),
            At(right),
            At(scale.left - 8.0),
            At(y + 4.0),
            y = At(y),
        )
    };
    for tick in scale.lower_ticks(26.0) {
        let y = scale.floor(tick);
        if scale.gap().is_none_or(|(below, _)| y - below > 13.0) {
            line(f, y, "", &Tick(tick))?;
        }
    }
    if let Some((below, _)) = scale.gap() {
        line(f, below, "", &Size::of(scale.base))?;
    }
    for tick in scale.upper_ticks(34.0) {
        if scale.base == 0 || tick > 0 {
            let plus = if scale.base > 0 { "+" } else { "" };
            line(f, scale.floor(scale.base.saturating_add(tick)), plus, &Tick(tick))?;
        }
    }
    Ok(())
}

/// How much room the operators' names take below the axis of time.
enum Ops {
    /// Each fits under its step.
    Across,
    /// Each fits upright; the longest is so long.
    Upright(f64),
    /// There is no room for them.
    Nowhere,
}

impl Ops {
    fn of(plan: &Plan<'_>, scale: &Scale) -> Ops {
        let longest = plan.steps.iter().map(|step| text_width(step.op, 9.0)).fold(0.0, f64::max);
        match scale.slot() {
            _ if plan.steps.is_empty() => Ops::Nowhere,
            slot if slot >= longest + 6.0 => Ops::Across,
            slot if slot >= 11.0 => Ops::Upright(longest.min(14.0 * text_width("m", 9.0))),
            _ => Ops::Nowhere,
        }
    }

    fn height(&self) -> f64 {
        match self {
            Ops::Across => 14.0,
            Ops::Upright(longest) => longest + 6.0,
            Ops::Nowhere => 0.0,
        }
    }
}

/// The axis of time: the numbers of the steps and, where there is room, their operators.
fn time(plan: &Plan<'_>, scale: &Scale, ops: &Ops, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let bottom = scale.top + scale.height;
    let middle = |moment: usize| scale.x(moment) + scale.slot() / 2.0;
    writeln!(
        f,
        "<path d=\"M{l} {t}V{b}H{r}\" class=\"a\"/>",
        l = At(scale.left),
        t = At(scale.top),
        b = At(bottom),
        r = At(scale.left + scale.width)
    )?;
    let mut number = |x: f64, text: &dyn Display| {
        writeln!(
            f,
            "<path d=\"M{x} {}v4\" class=\"a\"/><text x=\"{x}\" y=\"{}\" class=\"c m\">{text}</text>",
            At(bottom),
            At(bottom + 16.0),
            x = At(x),
        )
    };
    let (load, end) = (middle(0), middle(plan.end()));
    number(load, &"load")?;
    number(end, &"end")?;
    for step in scale.steps(32.0) {
        let x = middle(step + 1);
        if x - load >= 34.0 && end - x >= 34.0 {
            number(x, &step)?;
        }
    }
    for (index, step) in plan.steps.iter().enumerate() {
        let (x, y) = (middle(index + 1), bottom + 29.0);
        let op = Escaped(Name(step.op, 14));
        match ops {
            Ops::Nowhere => break,
            Ops::Across => writeln!(f, "<text x=\"{}\" y=\"{}\" class=\"c m s\">{op}</text>", At(x), At(y))?,
            Ops::Upright(_) => writeln!(
                f,
                "<text transform=\"translate({} {}) rotate(-90)\" class=\"r m s\">{op}</text>",
                At(x + 3.0),
                At(y - 6.0)
            )?,
        }
    }
    writeln!(f, "<text x=\"{}\" y=\"{}\" class=\"r m\">step</text>", At(scale.left - 30.0), At(bottom + 16.0))
}

/// The break between the persistent bytes and the others, where they have scales of their own.
fn gap(scale: &Scale, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some((below, above)) = scale.gap() else { return Ok(()) };
    let (left, right, middle) = (scale.left - 4.0, scale.left + scale.width + 4.0, (below + above) / 2.0);
    write!(
        f,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#fcfcfb\"/><path class=\"n\" d=\"M{} {}",
        At(left),
        At(above + 1.0),
        At(right - left),
        At(below - above - 2.0),
        At(left),
        At(middle),
    )?;
    let teeth = (scale.width / 8.0) as usize + 1;
    for tooth in 0..teeth {
        write!(f, "l4 {}l4 {}", if tooth == 0 { -2 } else { -4 }, if tooth + 1 == teeth { 2 } else { 4 })?;
    }
    writeln!(f, "\" fill=\"none\" stroke=\"#8a919c\"/>")?;
    let x = right + 6.0;
    writeln!(f, "<text x=\"{}\" y=\"{}\" class=\"m\">not to scale:</text>", At(x), At(below + 14.0))?;
    writeln!(f, "<text x=\"{}\" y=\"{}\" class=\"m\">persistent</text>", At(x), At(below + 28.0))?;
    writeln!(f, "<text x=\"{}\" y=\"{}\" class=\"m\">{}</text>", At(x), At(below + 42.0), Size::of(scale.base))
}

/// The column of the peak, with its step above it.
fn peak(plan: &Plan<'_>, layout: &Layout, scale: &Scale, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if layout.peak_bytes() == 0 {
        return Ok(());
    }
    let (x, slot) = (scale.x(layout.peak), scale.slot());
    let middle = x + slot / 2.0;
    let wide = slot.max(3.0);
    writeln!(
        f,
        "<g class=\"n\"><rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"#b3124f\" fill-opacity=\".06\" \
         stroke=\"#b3124f\" stroke-opacity=\".8\" stroke-width=\".8\"/><path d=\"M{m} {y}l-5 -8h10z\" class=\"p\"/>",
        At(middle - wide / 2.0),
        At(wide),
        At(scale.height),
        y = At(scale.top),
        m = At(middle),
    )?;
    // The text stands beside the mark, on the side with more room.
    let (text_x, class) =
        if middle < scale.left + scale.width / 2.0 { (middle + 10.0, "p") } else { (middle - 10.0, "p r") };
    write!(f, "<text x=\"{}\" y=\"{}\" class=\"{class}\">peak ", At(text_x), At(scale.top - 5.0))?;
    let moment = Moment(plan, layout.peak);
    match moment.step() {
        Some((number, step)) => write!(f, "at step {number}, {}", Escaped(Name(step.op, 24)))?,
        None => write!(f, "at {moment}")?,
    }
    writeln!(f, ": {}</text></g>", Size(layout.peak_bytes()))
}

/// The lines of the lower bound and of the size, named at the right.
fn bounds(plan: &Plan<'_>, scale: &Scale, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (left, right) = (scale.left, scale.left + scale.width);
    let (size, bound) = (scale.ceiling(plan.size), scale.ceiling(plan.lower_bound));
    let text = |f: &mut fmt::Formatter<'_>, y: f64, class: &str, what: &str, bytes: usize| {
        let x = right + 10.0;
        writeln!(f, "<text x=\"{}\" y=\"{}\" class=\"{class}\">{what}</text>", At(x), At(y))?;
        writeln!(f, "<text x=\"{}\" y=\"{}\" class=\"{class}\">{}</text>", At(x), At(y + 14.0), Size::of(bytes))
    };
    let y = size + 4.0;
    text(f, y, "", "size", plan.size)?;
    if plan.size == plan.lower_bound {
        writeln!(f, "<text x=\"{}\" y=\"{}\" class=\"p\">= lower bound</text>", At(right + 10.0), At(y + 28.0))?;
    } else {
        writeln!(f, "<path d=\"M{} {}H{}\" class=\"a n\"/>", At(left), At(size), At(right + 6.0))?;
        text(f, (bound + 4.0).max(y + 32.0), "p", "lower bound", plan.lower_bound)?;
    }
    writeln!(f, "<path d=\"M{} {}H{}\" class=\"l n\"/>", At(left), At(bound), At(right + 6.0))
}
