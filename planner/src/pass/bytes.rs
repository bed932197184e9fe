//! Which bytes strided views have in common. Part of the checker: it knows views and nothing of plans.
//!
//! Both questions are first asked of the views' axes, which takes no longer for large tensors than for small ones; where
//! the axes do not tell, runs of neighbouring bytes are held against each other.

use alloc::vec::Vec;

use crate::{DType, MAX_RANK, View};

/// What is wrong with a view by itself, whatever else lies in the buffer. The other questions are asked only of views
/// that are sound and lie within a buffer, so nothing in them wraps.
pub(super) fn unsound(view: &View) -> Option<&'static str> {
    let (Some(dims), Some(strides)) = (view.dims.get(view.rank..), view.strides.get(view.rank..)) else {
        return Some("has more dimensions than a tensor can have");
    };
    if dims.iter().any(|dim| *dim != 1) || strides.iter().any(|stride| *stride != 0) {
        return Some("has extents or strides beyond its dimensions");
    }
    // Each stride goes beyond all that the smaller ones reach, so that no two elements meet. Whatever views and parts
    // are made of a row-major tensor stays like this.
    let mut all: Vec<(usize, usize)> = strides_of_many(view).collect();
    all.sort_unstable();
    let mut reach = 0usize;
    for (stride, count) in all {
        if stride <= reach && !view.dims.contains(&0) {
            return Some("has elements that lie on one another");
        }
        reach = reach.saturating_add(stride.saturating_mul(count - 1));
    }
    None
}

/// Stride and extent of the dimensions that have more than one index.
fn strides_of_many(view: &View) -> impl Iterator<Item = (usize, usize)> + '_ {
    view.strides().iter().copied().zip(view.dims().iter().copied()).filter(|(_, count)| *count > 1)
}

/// True when two tensors have a byte in common.
pub(super) fn overlap(left: &View, right: &View) -> bool {
    let (left, right) = (&in_bytes(left), &in_bytes(right));
    let (a, b) = (left.span(), right.span());
    if a.end <= b.start || b.end <= a.start || a.is_empty() || b.is_empty() {
        return false;
    }
    if left.is_packed() && right.is_packed() {
        return true;
    }
    let (low, high) = if left.offset <= right.offset { (left, right) } else { (right, left) };
    !apart(low, high) && runs_overlap(left, right)
}

/// True when every element of a tensor is one of another's.
pub(super) fn within(inner: &View, outer: &View) -> bool {
    let (inner, outer) = (&in_bytes(inner), &in_bytes(outer));
    let axes = axes(outer);
    let indices = indices(&axes, outer, inner);
    indices.is_some_and(|indices| indices.iter().zip(&axes).all(|((_, last), axis)| *last < axis.count))
        || runs_within(inner, outer)
}

/// A tensor in blocks as the bytes that it is; they lie one after the other.
fn in_bytes(view: &View) -> View {
    if !view.dtype.is_quantised() {
        return *view;
    }
    let mut dims = [1; crate::MAX_RANK];
    let mut strides = [0; crate::MAX_RANK];
    (dims[0], strides[0]) = (view.span().len(), 1);
    View { dtype: DType::U8, offset: view.offset, rank: 1, dims, strides }
}

/// Elements at equal distances.
#[derive(Clone, Copy, Debug)]
struct Axis {
    stride: usize,
    count: usize,
}

/// A view's axes from the largest stride to the smallest, neighbours that walk as one merged; the last has stride 1.
fn axes(view: &View) -> Vec<Axis> {
    let mut all: Vec<Axis> = strides_of_many(view).map(|(stride, count)| Axis { stride, count }).collect();
    all.sort_by_key(|axis| core::cmp::Reverse(axis.stride));
    let mut axes: Vec<Axis> = Vec::new();
    for axis in all.into_iter().chain([Axis { stride: 1, count: 1 }]) {
        match axes.last_mut() {
            Some(last) if last.stride == axis.stride.saturating_mul(axis.count) => {
                *last = Axis { stride: axis.stride, count: last.count * axis.count };
            }
            _ => axes.push(axis),
        }
    }
    axes
}

/// The first and last index on each axis of `of` that an element of `view` has, when its elements are written as
/// indices on them. None when `view` starts before `of` or within an element.
fn indices(axes: &[Axis], of: &View, view: &View) -> Option<Vec<(usize, usize)>> {
    let bytes = view.offset.checked_sub(of.offset)?;
    if view.dtype != of.dtype || !bytes.is_multiple_of(of.dtype.size()) || axes.iter().any(|axis| axis.stride == 0) {
        return None;
    }
    let digits = |mut distance: usize| {
        axes.iter().map(move |axis| {
            let digit = distance / axis.stride;
            distance %= axis.stride;
            digit
        })
    };
    let mut indices: Vec<(usize, usize)> = digits(bytes / of.dtype.size()).map(|first| (first, first)).collect();
    for (count, stride) in view.dims().iter().zip(view.strides()) {
        for ((_, last), digit) in indices.iter_mut().zip(digits(*stride)) {
            *last += (count - 1) * digit;
        }
    }
    Some(indices)
}

/// True when the axes of the lower view show that no element is in both. Every element then has one way of being written
/// as indices, since what the smaller strides add up to stays below the larger ones.
fn apart(low: &View, high: &View) -> bool {
    let axes = axes(low);
    let (Some(of_low), Some(of_high)) = (indices(&axes, low, low), indices(&axes, low, high)) else { return false };
    let unique = |indices: &[(usize, usize)]| {
        let mut reach = 0;
        indices.iter().zip(&axes).rev().all(|((_, last), axis)| {
            let below = reach < axis.stride;
            reach += last * axis.stride;
            below
        })
    };
    unique(&of_low)
        && unique(&of_high)
        && of_low.iter().zip(&of_high).any(|((_, low_last), (first, _))| low_last < first)
}

fn runs_overlap(left: &View, right: &View) -> bool {
    let runs = runs(left);
    let mut found = false;
    for_each_run(right, &mut |start, end| {
        let after = runs.partition_point(|run| run.1 <= start);
        found |= runs.get(after).is_some_and(|run| run.0 < end);
    });
    found
}

fn runs_within(inner: &View, outer: &View) -> bool {
    let runs = runs(outer);
    let mut found = true;
    for_each_run(inner, &mut |start, end| {
        let mut at = start;
        // Runs that touch are one.
        for run in &runs[runs.partition_point(|run| run.1 <= start)..] {
            if run.0 > at || at >= end {
                break;
            }
            at = at.max(run.1);
        }
        found &= at >= end;
    });
    found
}

/// The bytes of every innermost run, by their start.
fn runs(view: &View) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    for_each_run(view, &mut |start, end| runs.push((start, end)));
    runs.sort_unstable();
    runs
}

/// Calls `visit` with the bytes of every innermost run.
fn for_each_run(view: &View, visit: &mut dyn FnMut(usize, usize)) {
    let element = view.dtype.size();
    let mut index = [0usize; MAX_RANK];
    if view.elements() == 0 {
        return;
    }
    let (inner, count) = match view.rank {
        0 => (0, 1),
        rank if view.strides[rank - 1] == 1 => (1, view.dims[rank - 1]),
        _ => (0, 1),
    };
    let outer = view.rank - inner;
    loop {
        let start: usize = (0..outer).map(|axis| index[axis] * view.strides[axis] * element).sum();
        visit(view.offset + start, view.offset + start + count * element);
        let Some(axis) = (0..outer).rev().find(|axis| index[*axis] + 1 < view.dims[*axis]) else { return };
        index[axis] += 1;
        index[axis + 1..outer].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The axes and the runs tell the same.
    #[test]
    fn axes_tell_what_runs_tell() {
        let mut state = 7u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let (mut apart, mut inside) = (0, 0);
        for _ in 0..20_000 {
            // Slices and permutations of one row-major block, so that views meet on the same axes now and then.
            let block = [1 + draw(3), 1 + draw(4), 1 + draw(4)];
            let mut view = || {
                let mut view =
                    View { dtype: DType::F32, offset: 0, rank: 3, dims: [1; MAX_RANK], strides: [0; MAX_RANK] };
                let mut stride = 1;
                for axis in (0..3).rev() {
                    let (step, start) = (1 + draw(2), draw(block[axis]));
                    view.dims[axis] = 1 + draw((block[axis] - start).div_ceil(step));
                    view.strides[axis] = stride * step;
                    view.offset += 4 * start * stride;
                    stride *= block[axis];
                }
                let (a, b) = (draw(3), draw(3));
                view.dims.swap(a, b);
                view.strides.swap(a, b);
                view
            };
            let (left, right) = (view(), view());
            assert_eq!(overlap(&left, &right), runs_overlap(&left, &right), "{left:?} {right:?}");
            assert_eq!(within(&left, &right), runs_within(&left, &right), "{left:?} {right:?}");
            let (low, high) = if left.offset <= right.offset { (left, right) } else { (right, left) };
            apart += usize::from(super::apart(&low, &high));
            inside += usize::from(within(&left, &right));
        }
        assert!(apart > 1000 && inside > 1000, "{apart} apart, {inside} inside");
    }
}
