//! A plan as a table, without allocation: what it needs, where every tensor lies and when, what every step does.

use core::fmt::{self, Display, Write};

use super::words::{Extents, Grouped, Left, Life, Name, Right, Size, Verdict, Whose, bytes, name, root, width};
use crate::{Plan, PlanStep};

/// The widest a name gets in the table of tensors.
const NAME: usize = 40;
/// The widest a name gets in the list of steps.
const OPERAND: usize = 28;
/// Where the list of steps breaks its lines.
const LINE: usize = 118;

/// The whole plan as a table; in the alternate form, `{:#}`, the summary alone.
///
/// The table has one row a tensor and one a step. Offsets and sizes are in bytes; `bytes` are those that the elements
/// hold. Lifetimes are inclusive: `load` is the moment at which inputs are written, a number is a step, `end` is the
/// moment at which outputs are read, and `always` is what stays from one forward to the next.
impl Display for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        summary(self, f)?;
        if f.alternate() {
            return Ok(());
        }
        if !self.tensors.is_empty() {
            f.write_str("\n\n")?;
            tensors(self, f)?;
        }
        if !self.steps.is_empty() {
            f.write_str("\n\n")?;
            steps(self, f)?;
        }
        Ok(())
    }
}

fn summary(plan: &Plan<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let always = |&tensor: &usize| plan.tensors[tensor].role.is_persistent() && root(plan, tensor) == tensor;
    let apart = |tensor: &usize| plan.is_shared(&plan.tensors[*tensor].view);
    let persistent = (0..plan.tensors.len()).filter(always).filter(|tensor| !apart(tensor)).count();
    let shared = (0..plan.tensors.len()).filter(always).filter(apart).count();
    let transient = plan.size.saturating_sub(plan.persistent);
    let line = |f: &mut fmt::Formatter<'_>, what: &str, number: usize| {
        write!(f, "\n{what:<12}{} bytes", Right(Grouped::of(number), width(Grouped::of(plan.size.max(plan.shared)))))?;
        if number >= 1024 { write!(f, " ({})", Size::of(number)) } else { Ok(()) }
    };
    write!(f, "model {}", Name(plan.model, LINE))?;
    line(f, "size", plan.size)?;
    write!(f, ", aligned to {}", Grouped::of(plan.align))?;
    line(f, "lower bound", plan.lower_bound)?;
    write!(f, ", {}", Verdict(plan))?;
    line(f, "persistent", plan.persistent)?;
    write!(f, " in {}", Count(persistent, "tensor"))?;
    line(f, "transient", transient)?;
    if plan.shared > 0 {
        line(f, "shared", plan.shared)?;
        write!(f, " in {}, in a buffer of their own at {}", Count(shared, "weight"), Grouped::of(plan.shared_start()))?;
    }
    for saving in plan.saved {
        line(f, "saved", saving.bytes)?;
        write!(f, " by {}", saving.by)?;
    }
    for (place, (name, bound)) in plan.open.dims.iter().enumerate() {
        let before = if place == 0 { "\nopen        " } else { ", " };
        write!(f, "{before}{} <= {}", Name(name, NAME), Grouped::of(*bound))?;
    }
    write!(f, "\n{}, {}", Count(plan.tensors.len(), "tensor"), Count(plan.steps.len(), "step"))
}

/// A number of things: `1 tensor`, `12 tensors`.
struct Count(usize, &'static str);

impl Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", Grouped::of(self.0), self.1, if self.0 == 1 { "" } else { "s" })
    }
}

fn tensors(plan: &Plan<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut columns = ["tensor", "role", "dtype", "shape", "offset", "bytes", "lifetime"].map(str::len);
    for (index, tensor) in plan.tensors.iter().enumerate() {
        let widths = [
            width(Name(tensor.name, NAME)),
            width(tensor.role.name()),
            width(tensor.view.dtype),
            width(Extents(plan, index)),
            width(Grouped::of(tensor.view.offset)),
            width(Grouped::of(bytes(&tensor.view))),
            width(Life(plan, tensor)),
        ];
        for (column, width) in columns.iter_mut().zip(widths) {
            *column = width.max(*column);
        }
    }
    let [a, b, c, d, e, g, h] = columns;
    write!(
        f,
        "{:a$}  {:b$}  {:c$}  {:d$}  {:>e$}  {:>g$}  {:h$}  storage",
        "tensor", "role", "dtype", "shape", "offset", "bytes", "lifetime"
    )?;
    for (index, tensor) in plan.tensors.iter().enumerate() {
        write!(
            f,
            "\n{}  {:b$}  {}  {}  {}  {}  {}  {}",
            Left(Name(tensor.name, NAME), a),
            tensor.role.name(),
            Left(tensor.view.dtype, c),
            Left(Extents(plan, index), d),
            Right(Grouped::of(tensor.view.offset), e),
            Right(Grouped::of(bytes(&tensor.view)), g),
            Left(Life(plan, tensor), h),
            Whose(plan, tensor, NAME),
        )?;
    }
    Ok(())
}

fn steps(plan: &Plan<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let number = width(plan.steps.len() - 1).max("step".len());
    let op = plan.steps.iter().map(|step| width(Name(step.op, OPERAND))).max().unwrap_or(0).max("op".len());
    write!(f, "{:>number$}  {:op$}  reads -> writes; scratch", "step", "op")?;
    for (index, step) in plan.steps.iter().enumerate() {
        write!(f, "\n{index:>number$}  {}  ", Left(Name(step.op, OPERAND), op))?;
        operands(plan, step, number + op + 4, f)?;
    }
    Ok(())
}

/// `a, b -> c; d`, broken before a name that would cross the end of the line.
fn operands(plan: &Plan<'_>, step: &PlanStep<'_>, indent: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut column = indent;
    for (before, list) in [("", step.inputs), ("->", step.outputs), (";", step.scratch)] {
        if before != ";" || !list.is_empty() {
            // The mark stands alone between the lists, except where it would hang in front of the first one.
            let gap = if before == "->" && column > indent { " " } else { "" };
            write!(f, "{gap}{before}")?;
            column += gap.len() + before.len();
        }
        for (place, &tensor) in list.iter().enumerate() {
            let text = name(plan, tensor, OPERAND);
            let separator = match place {
                0 if column == indent => "",
                0 => " ",
                _ => ", ",
            };
            let wide = width(&text);
            if column + separator.len() + wide > LINE && column > indent {
                f.write_str(separator.trim_end())?;
                f.write_char('\n')?;
                write!(f, "{:indent$}", "")?;
                column = indent;
            } else {
                f.write_str(separator)?;
                column += separator.len();
            }
            write!(f, "{text}")?;
            column += wide;
        }
    }
    Ok(())
}
