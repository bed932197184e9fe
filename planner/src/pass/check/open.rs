//! The checker of plans with open dims: what holds where the dims are largest has to hold at every value. Part of the
//! checker: it knows finished plans and how their views are worked out, and nothing of what the passes looked at.
//!
//! The plan is checked whole at the values of `values.rs`, which tell whether views are what they are said to be and
//! whether two are the same. That two tensors never meet does not follow from values, since their ends may pass one
//! another between two of them; it is shown for each two that could, and a plan in which it cannot be shown is refused.

use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use core::iter;
use core::ops::Range;

use super::meeting::for_each_meeting;
use super::values::{Follows, Line, with};
use super::{Fault, Times, check_write, fault};
use crate::op;
use crate::pass::bytes::overlap;
use crate::pass::contract::verify_at_bounds;
use crate::pass::{How, Planned};
use crate::{Dim, Role, Storage, Type, View};

/// How many tensors are placed, over all values, while the plan is checked whole.
const WHOLE: usize = 1 << 16;

/// How many are placed to show what holds for two of them, or for one: so many, and so many more for each that there is.
const SINGLE: usize = 1 << 17;
const EACH: usize = 1 << 9;

/// Checks a plan at all values of its open dims. It was checked where they are largest.
///
/// # Errors
/// The first fault that is found, or the first thing that cannot be shown.
pub(in crate::pass) fn check_open(planned: &Planned) -> Result<(), Fault> {
    let bounds: Vec<usize> = planned.open.iter().map(|open| open.bound).collect();
    if bounds.is_empty() {
        return Ok(());
    }
    let hulls = hulls(planned, &bounds)?;
    let follows = Follows::plan(planned);
    let most = WHOLE / planned.tensors.len().max(1);
    let all = follows.values(&bounds, most);
    let complete = all.is_some();
    let values = all.unwrap_or_else(|| follows.some_values(&bounds, most));
    for values in &values {
        let there = |fault: Fault| Fault { what: alloc::format!("where the open dims are {values:?}, {fault}") };
        let at = planned.at(values)?;
        for ((tensor, hull), at) in planned.tensors.iter().zip(&hulls).zip(&at.tensors) {
            let span = at.view.span();
            if !span.is_empty() && (span.start < hull.start || span.end > hull.end) {
                fault!("`{}` lies outside of its place where the open dims are {values:?}", tensor.name);
            }
        }
        verify_at_bounds(&at).map_err(there)?;
    }
    if bounds.iter().try_fold(1usize, |count, bound| count.checked_mul(*bound)) == Some(values.len()) {
        return Ok(());
    }
    check_parts(planned)?;
    let left = Cell::new(SINGLE + EACH * planned.tensors.len());
    let places = Places { planned, starts: planned.starts()?, bounds: &bounds, left };
    if !complete {
        places.check_views(&hulls)?;
    }
    for (index, kept) in planned.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role == Role::KeptNode) {
        for (other, input) in planned.tensors.iter().enumerate() {
            let near = hulls[index].start < hulls[other].end && hulls[other].start < hulls[index].end;
            if matches!(input.role, Role::Input | Role::State) && near && places.may_meet(index, other) {
                fault!(
                    "`{}` is to be kept and `{}` is written, and they may meet for some value",
                    kept.name,
                    input.name
                );
            }
        }
    }
    planned.with(|plan| {
        let times = Times::of(plan)?;
        for_each_meeting(plan, &times, hulls, &mut |meeting| {
            let (write, other) = (meeting.write, meeting.other);
            check_write(plan, &times, meeting, &|| places.may_meet(write, other), &|| places.are_same(write, other))
        })
    })
}

/// The bytes that each tensor has for some values. No extent and no start shrinks where a dim grows, so that both ends of
/// a tensor move in one direction: the least values and the largest tell.
fn hulls(planned: &Planned, bounds: &[usize]) -> Result<Vec<Range<usize>>, Fault> {
    let (least, most) = (planned.at(&vec![1; bounds.len()])?, planned.at(bounds)?);
    let mut hulls = Vec::with_capacity(planned.tensors.len());
    for ((tensor, least), most) in planned.tensors.iter().zip(&least.tensors).zip(&most.tensors) {
        let scratch = matches!(tensor.how, How::Scratch);
        if !scratch && tensor.view != most.view {
            fault!("`{}` does not lie where its extents say", tensor.name);
        }
        let end = tensor.view.span().end;
        hulls.push(if tensor.view.elements() == 0 { end..end } else { least.view.offset.min(tensor.view.offset)..end });
    }
    Ok(hulls)
}

/// Parts of one whole follow one another along an axis and fill it, whatever the values: their extents say so.
fn check_parts(planned: &Planned) -> Result<(), Fault> {
    let mut parts: Vec<Vec<(Dim, usize)>> = vec![Vec::new(); planned.tensors.len()];
    for (index, tensor) in planned.tensors.iter().enumerate() {
        if let (Storage::Part(whole), How::Part { start, .. }) = (tensor.storage, &tensor.how) {
            parts[whole].push((*start, index));
        } else if matches!(tensor.storage, Storage::Part(_)) || matches!(tensor.how, How::Part { .. }) {
            fault!("`{}` is a part and nothing says of what or where", tensor.name);
        }
    }
    for (whole, parts) in planned.tensors.iter().zip(&mut parts) {
        let Some(axis) = parts.first().and_then(|(_, part)| axis_of(planned, *part)) else { continue };
        // What is always empty need not have all of its parts.
        if whole.view.elements() == 0 {
            continue;
        }
        let along = |tensor: usize| planned.tensors[tensor].ty.shape.dims().get(axis).copied().unwrap_or(Dim::new(1));
        parts.sort_by_key(|(start, part)| (start.size, along(*part).size));
        let mut end = Some(Dim::new(0));
        for (start, part) in parts.iter() {
            let (dims, wholes) = (planned.tensors[*part].ty.shape.dims(), whole.ty.shape.dims());
            let beside = |other: usize| other == axis || dims.get(other) == wholes.get(other);
            let fits = dims.len() == wholes.len() && (0..dims.len()).all(beside);
            if !fits || end != Some(*start) || axis_of(planned, *part) != Some(axis) {
                fault!("`{}` is no part of `{}` for every value", planned.tensors[*part].name, whole.name);
            }
            end = end.and_then(|end| end.joined(along(*part)));
        }
        if end != Some(whole.ty.shape.dims().get(axis).copied().unwrap_or(Dim::new(1))) {
            fault!("the parts of `{}` do not fill it for every value", whole.name);
        }
    }
    Ok(())
}

fn axis_of(planned: &Planned, part: usize) -> Option<usize> {
    match planned.tensors[part].how {
        How::Part { axis, .. } => Some(axis),
        _ => None,
    }
}

/// Where tensors lie for any values.
struct Places<'p> {
    planned: &'p Planned,
    /// Which tensor each starts with.
    starts: Vec<Option<usize>>,
    bounds: &'p [usize],
    /// How many more of them may be worked out.
    left: Cell<usize>,
}

impl Places<'_> {
    fn at(&self, tensor: usize, values: &[usize]) -> Option<View> {
        self.left.set(self.left.get().checked_sub(1)?);
        let chain: Vec<usize> = self.chain(tensor).collect();
        self.planned.place_at(&chain, values).ok()?
    }

    /// The tensor, the one that it starts with, and so on.
    fn chain(&self, tensor: usize) -> impl Iterator<Item = usize> {
        iter::successors(Some(tensor), |at| self.starts[*at])
    }

    fn follows(&self, tensors: &[usize]) -> Follows {
        Follows::places(self.planned, tensors.iter().flat_map(|tensor| self.chain(*tensor)))
    }

    /// What the plan as a whole was not looked at often enough to tell: that every view is one, within what it looks at,
    /// and packed where its readers or its writer need that, and that calls make what they are said to.
    fn check_views(&self, hulls: &[Range<usize>]) -> Result<(), Fault> {
        let planned = self.planned;
        let mut packed = vec![false; planned.tensors.len()];
        for (index, step) in planned.steps.iter().enumerate() {
            let ty = |tensor: &usize| planned.tensors[*tensor].ty;
            let types: Vec<Type> = step.inputs.iter().map(ty).collect();
            if op::infer(&*step.op, &types).ok() != step.outputs.first().map(ty) {
                fault!("step {index} (`{}`) does not make what it writes for every value", step.op.name());
            }
            for (operand, input) in step.inputs.iter().enumerate() {
                packed[*input] |= !step.op.strided_input(operand);
            }
            step.outputs.iter().for_each(|output| packed[*output] |= !step.op.strided_output());
        }
        for (index, tensor) in planned.tensors.iter().enumerate() {
            let (Storage::View(of) | Storage::InPlace(of) | Storage::Part(of)) = tensor.storage else { continue };
            if self.are_alike(index, of) {
                continue;
            }
            let Some(all) = self.follows(&[index, of]).values(self.bounds, self.left.get() / 2) else {
                fault!("`{}` follows from too many values to be looked at", tensor.name);
            };
            let sound = all.iter().all(|values| {
                let (Some(view), Some(of)) = (self.at(index, values), self.at(of, values)) else { return false };
                let (span, of) = (view.span(), of.span());
                let inside =
                    [&of, &hulls[index]].iter().all(|outer| outer.start <= span.start && span.end <= outer.end);
                (span.is_empty() || inside) && (!packed[index] || view.is_packed())
            });
            if !sound {
                fault!("`{}` is not where it has to be for every value", tensor.name);
            }
        }
        Ok(())
    }

    /// True when both are the same elements, whatever the values.
    fn are_same(&self, a: usize, b: usize) -> bool {
        if self.are_alike(a, b) {
            return true;
        }
        let Some(all) = self.follows(&[a, b]).values(self.bounds, self.left.get() / 2) else { return false };
        all.iter().all(|values| {
            let (Some(a), Some(b)) = (self.at(a, values), self.at(b, values)) else { return false };
            a.same_elements(&b) || (a.elements() == 0 && b.elements() == 0)
        })
    }

    /// True when both are packed, of one type, and start with one tensor: then no values need to be looked at.
    fn are_alike(&self, a: usize, b: usize) -> bool {
        let [one, other] = [a, b].map(|tensor| &self.planned.tensors[tensor]);
        let start = |tensor: usize| self.starts[tensor].unwrap_or(tensor);
        matches!((&one.how, &other.how), (How::Packed, How::Packed)) && one.ty == other.ty && start(a) == start(b)
    }

    /// True unless it can be shown that the two have no byte in common, whatever the values.
    fn may_meet(&self, a: usize, b: usize) -> bool {
        let empty = |tensor: usize| self.planned.tensors[tensor].view.elements() == 0;
        if empty(a) || empty(b) || self.are_in_parts(a, b) {
            return false;
        }
        let follows = self.follows(&[a, b]);
        !self.are_apart_in_lines(a, b, &follows) && !self.are_apart(a, b, &follows)
    }

    /// True when they lie in two parts of one whole, which were found side by side.
    fn are_in_parts(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.planned.resting(a), self.planned.resting(b));
        let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        let below = |chain: &[usize]| chain.iter().rev().nth(same).map(|tensor| self.planned.tensors[*tensor].storage);
        matches!((below(&a), below(&b)), (Some(Storage::Part(_)), Some(Storage::Part(_)))) && same > 0
    }

    /// True when they are seen to be apart line by line: see [`Law::lines`]. The distance from the end of one to the start
    /// of the other is a polynomial in the lines' places. Where it is straight along each it is nowhere less than at one of
    /// the corners.
    fn are_apart_in_lines(&self, a: usize, b: usize, follows: &Follows) -> bool {
        let fixed = |bound: usize| vec![Line { values: vec![bound], straight: 0 }];
        let lines: Option<Vec<Vec<Line>>> = follows
            .laws
            .iter()
            .zip(self.bounds)
            .map(|(law, bound)| law.map_or_else(|| Some(fixed(*bound)), |law| law.lines(*bound, self.left.get())))
            .collect();
        lines.is_some_and(|lines| self.are_apart_in(a, b, &lines, &mut Vec::new()))
    }

    /// That for each choice of a line of every dim beyond those that are chosen.
    fn are_apart_in<'l>(&self, a: usize, b: usize, lines: &'l [Vec<Line>], chosen: &mut Vec<&'l Line>) -> bool {
        let Some(of_dim) = lines.get(chosen.len()) else { return self.are_apart_on(a, b, chosen) };
        of_dim.iter().all(|line| {
            chosen.push(line);
            let apart = self.are_apart_in(a, b, lines, chosen);
            chosen.pop();
            apart
        })
    }

    fn are_apart_on(&self, a: usize, b: usize, lines: &[&Line]) -> bool {
        let mut between = Vec::new();
        let mut meet = false;
        let count: usize = lines.iter().map(|line| line.values.len()).product();
        for mut at in 0..count {
            let mut values = vec![0; lines.len()];
            for (value, line) in values.iter_mut().zip(lines).rev() {
                *value = line.values[at % line.values.len()];
                at /= line.values.len();
            }
            let (Some(a), Some(b)) = (self.at(a, &values), self.at(b, &values)) else { return false };
            meet |= overlap(&a, &b);
            let distance = |a: &View, b: &View| b.span().start as i128 - a.span().end as i128;
            between.push([distance(&a, &b), distance(&b, &a)]);
        }
        if count == 1 || meet {
            return !meet;
        }
        (0..2).any(|side| {
            let mut step = count;
            between.iter().all(|distance| distance[side] >= 0)
                && lines.iter().all(|line| {
                    step /= line.values.len();
                    (0..count)
                        .filter(|at| at / step % line.values.len() + 2 < line.straight)
                        .all(|at| between[at][side] + between[at + 2 * step][side] == 2 * between[at + step][side])
                })
        })
    }

    /// True when they are seen to be apart: among values between two, no start is before that at the least and no end
    /// after that at the largest. Where that does not tell, halves are looked at.
    fn are_apart(&self, a: usize, b: usize, follows: &Follows) -> bool {
        let least = |(law, bound): (&Option<_>, &usize)| if law.is_some() { 1 } else { *bound };
        let mut ranges = vec![(follows.laws.iter().zip(self.bounds).map(least).collect(), self.bounds.to_vec())];
        while let Some((low, high)) = ranges.pop() {
            let (low, high): (Vec<usize>, Vec<usize>) = (low, high);
            let ends = [self.at(a, &low), self.at(b, &low), self.at(a, &high), self.at(b, &high)];
            let [Some(first_a), Some(first_b), Some(last_a), Some(last_b)] = ends else { return false };
            let empty = last_a.elements() == 0 || last_b.elements() == 0;
            if empty || last_a.span().end <= first_b.offset || last_b.span().end <= first_a.offset {
                continue;
            }
            let widest = (0..low.len()).max_by_key(|dim| high[*dim] - low[*dim]).filter(|dim| high[*dim] > low[*dim]);
            let Some(dim) = widest else {
                if overlap(&last_a, &last_b) {
                    return false;
                }
                continue;
            };
            let middle = low[dim] + (high[dim] - low[dim]) / 2;
            ranges.push((with(&low, dim, middle + 1), high.clone()));
            ranges.push((low, with(&high, dim, middle)));
        }
        true
    }
}
