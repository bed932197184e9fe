//! Which tensors share storage, how long each storage lives, and how many bytes live at each moment.

use alloc::{vec, vec::Vec};

use super::words::{root, span, stripes};
use crate::{Plan, PlanTensor, Role, Storage};

/// One storage: a tensor of its own and all that lie in it.
pub(super) struct Group {
    /// The tensor whose storage it is.
    pub(super) root: usize,
    /// The views, successors and parts in it, parents before children; the root is not among them.
    pub(super) members: Vec<usize>,
    /// First byte.
    pub(super) start: usize,
    /// One past its last byte.
    pub(super) end: usize,
    /// First moment at which one of its tensors lives.
    pub(super) first: usize,
    /// Last moment at which one does.
    pub(super) last: usize,
}

/// A plan seen as storages over time.
pub(super) struct Layout {
    /// The storages, in the order of their roots.
    pub(super) groups: Vec<Group>,
    /// The bytes that live at each moment, holes not counted.
    pub(super) live: Vec<u128>,
    /// The first moment of the most live bytes.
    pub(super) peak: usize,
}

impl Layout {
    /// The storages of a plan's own buffer.
    pub(super) fn of(plan: &Plan<'_>) -> Layout {
        const NONE: usize = usize::MAX;
        let (count, end) = (plan.tensors.len(), plan.end());
        let mut groups: Vec<Group> = Vec::new();
        let mut place = vec![NONE; count];
        let roots: Vec<usize> = (0..count).map(|tensor| root(plan, tensor)).collect();
        for index in 0..count {
            let tensor = &plan.tensors[index];
            // They lie in another buffer.
            if plan.is_shared(&plan.tensors[roots[index]].view) {
                continue;
            }
            let [first, last] = life(plan, tensor);
            let slot = &mut place[roots[index]];
            if *slot == NONE {
                *slot = groups.len();
                let view = &plan.tensors[roots[index]].view;
                let group = Group {
                    root: roots[index],
                    members: Vec::new(),
                    start: view.offset,
                    end: view.offset.saturating_add(span(view)),
                    first,
                    last,
                };
                groups.push(group);
            }
            let group = &mut groups[*slot];
            group.first = group.first.min(first);
            group.last = group.last.max(last);
            if index != group.root {
                group.members.push(index);
            }
        }
        for group in &mut groups {
            group.members.sort_by_key(|&member| (depth(plan, member, group.root), plan.tensors[member].first, member));
        }
        groups.sort_by_key(|group| group.root);

        let mut live = vec![0u128; end + 1];
        let mut leaves = vec![0u128; end + 2];
        for group in &groups {
            for (from, until, bytes) in held(plan, group) {
                live[from] += bytes as u128;
                leaves[until] += bytes as u128;
            }
        }
        let mut sum = 0;
        for (moment, bytes) in live.iter_mut().enumerate() {
            sum = sum + *bytes - leaves[moment];
            *bytes = sum;
        }
        let peak = (0..=end).rev().max_by_key(|&moment| live[moment]).unwrap_or(0);
        Layout { groups, live, peak }
    }

    /// Bytes that live at the peak.
    pub(super) fn peak_bytes(&self) -> u128 {
        self.live.get(self.peak).copied().unwrap_or(0)
    }
}

/// How many bytes of a storage are in use when: from a moment until before another, the bytes from the first to the last
/// live tensor's in it. A storage that is filled part by part, or whose successor is smaller, leaves the rest to others.
pub(super) fn held(plan: &Plan<'_>, group: &Group) -> Vec<(usize, usize, usize)> {
    let tensors = || core::iter::once(&group.root).chain(&group.members).map(|tensor| &plan.tensors[*tensor]);
    let mut moments: Vec<usize> =
        tensors().map(|tensor| life(plan, tensor)).flat_map(|[first, last]| [first, last + 1]).collect();
    moments.sort_unstable();
    moments.dedup();
    let mut held: Vec<(usize, usize, usize)> = Vec::new();
    for pair in moments.windows(2) {
        let live = |tensor: &&PlanTensor<'_>| {
            let [first, last] = life(plan, tensor);
            first <= pair[0] && pair[0] <= last && span(&tensor.view) > 0
        };
        let start = tensors().filter(live).map(|tensor| tensor.view.offset).min();
        let end = tensors().filter(live).map(|tensor| tensor.view.offset.saturating_add(span(&tensor.view))).max();
        let bytes = start.zip(end).map_or(0, |(start, end)| end - start);
        match held.last_mut() {
            Some(last) if last.2 == bytes => last.1 = pair[1],
            _ => held.push((pair[0], pair[1], bytes)),
        }
    }
    held
}

/// The bytes between which a tensor is drawn, within those of its root.
///
/// A view with gaps would be drawn over all that lies in them. It takes its share of its root's height instead, at the
/// place that it has in every row: what lies side by side in the buffer is then side by side in the picture.
pub(super) fn drawn(plan: &Plan<'_>, root: usize, tensor: usize) -> [usize; 2] {
    let (root, view) = (&plan.tensors[root].view, &plan.tensors[tensor].view);
    let start = view.offset;
    match stripes(view) {
        Some((run, row)) if start >= root.offset => {
            let whole = span(root) as u128;
            let first = ((start - root.offset) % row) as u128;
            let share =
                |bytes: u128| root.offset.saturating_add((whole * bytes.min(row as u128) / row as u128) as usize);
            [share(first), share(first + run as u128)]
        }
        _ => [start, start.saturating_add(span(view))],
    }
}

/// The first and the last moment of a tensor's own life, within the plan and in this order.
fn life(plan: &Plan<'_>, tensor: &PlanTensor<'_>) -> [usize; 2] {
    let end = plan.end();
    // A state's versions follow one another.
    if tensor.role.is_persistent() && tensor.role != Role::State {
        return [0, end];
    }
    let first = tensor.first.min(end);
    [first, tensor.last.clamp(first, end)]
}

/// The moments through which a tensor is drawn: its life, but for a view that covers the tensor it looks at.
///
/// Such a view begins where that tensor ends, or a moment after it where it ends no later: both names can be read then.
pub(super) fn drawn_life(plan: &Plan<'_>, root: usize, index: usize) -> [usize; 2] {
    let tensor = &plan.tensors[index];
    let [first, last] = life(plan, tensor);
    match tensor.storage {
        Storage::View(parent) if parent < plan.tensors.len() && index != root => {
            let [parent_first, parent_last] = life(plan, &plan.tensors[parent]);
            if drawn(plan, root, parent) != drawn(plan, root, index) {
                [first, last]
            } else if parent_last < last {
                [first.max(parent_last + 1), last]
            } else {
                [first.max(parent_first + 1).min(last), last]
            }
        }
        _ => [first, last],
    }
}

/// How many steps of aliasing lie between a tensor and its root.
fn depth(plan: &Plan<'_>, tensor: usize, root: usize) -> usize {
    use crate::Storage::{InPlace, Own, Part, View};
    let mut at = tensor;
    for depth in 0..plan.tensors.len() {
        if at == root {
            return depth;
        }
        match plan.tensors[at].storage {
            View(parent) | InPlace(parent) | Part(parent) if parent < plan.tensors.len() => at = parent,
            View(_) | InPlace(_) | Part(_) | Own => return depth,
        }
    }
    plan.tensors.len()
}
