//! Cells: stretches of the declared order that can be solved one by one, because whatever stands before a cell runs
//! before all of it in every order.

use alloc::vec;
use alloc::vec::Vec;

use super::mask::{self, Mask};
use super::problem::{at_start, distinct, touch_counts};
use super::{Problem, TaskId};

/// A stretch of tasks. Tasks and storages have indices of their own here.
#[derive(Debug)]
pub(super) struct Cell {
    /// Position of its first task in the declared order.
    pub(super) first: usize,
    pub(super) tasks: Vec<CellTask>,
    pub(super) storages: Vec<CellStorage>,
    /// Bytes that are live before its first task.
    pub(super) live: usize,
    /// Bytes that are live all through it.
    pub(super) base: usize,
    /// Words of a set of its tasks.
    pub(super) words: usize,
}

#[derive(Debug, Default)]
pub(super) struct CellTask {
    pub(super) after: Mask,
    /// Tasks that have to run after it.
    pub(super) next: Vec<u32>,
    pub(super) touches: Vec<u32>,
    pub(super) in_place: Vec<(u32, u32)>,
    pub(super) scratch: usize,
}

#[derive(Debug)]
pub(super) struct CellStorage {
    pub(super) size: usize,
    pub(super) touched: Mask,
    pub(super) by: Vec<u32>,
    /// It is live when the cell begins.
    pub(super) before: bool,
    /// It is live when the cell has ended.
    pub(super) beyond: bool,
}

/// Splits a valid problem at every task that all others have to run before or after.
pub(super) fn cells(problem: &Problem) -> Vec<Cell> {
    let count = problem.tasks.len();
    let mut touchers: Vec<Vec<usize>> = vec![Vec::new(); problem.storages.len()];
    for (index, task) in problem.tasks.iter().enumerate() {
        for storage in distinct(&task.touches) {
            touchers[storage.index()].push(index);
        }
    }
    let cuts = cuts(problem);
    let mut live = at_start(problem, &touch_counts(problem));
    let mut cells = Vec::new();
    let mut local = vec![u32::MAX; problem.storages.len()];
    let mut first = 0;
    while first < count {
        let mut end = first + 1;
        while !cuts[first] && end < count && !cuts[end] {
            end += 1;
        }
        let cell = cell(problem, &touchers, &mut local, first..end, live);
        for storage in &cell.storages {
            match (storage.before, storage.beyond) {
                (false, true) => live += storage.size,
                (true, false) => live -= storage.size,
                _ => {}
            }
        }
        cells.push(cell);
        first = end;
    }
    cells
}

/// Which tasks are comparable to every other: everything declared before has a path to it, and it has a path to
/// everything after.
fn cuts(problem: &Problem) -> Vec<bool> {
    let count = problem.tasks.len();
    let mut soonest = vec![usize::MAX; count];
    let mut latest = vec![None; count];
    for (index, task) in problem.tasks.iter().enumerate() {
        for after in &task.after {
            soonest[after.index()] = soonest[after.index()].min(index);
        }
        latest[index] = task.after.iter().map(|after| after.index()).max();
    }
    // A task has a path to this one if one of its successors is this one or stands before it, by induction.
    let mut cuts = vec![false; count];
    let mut reach = 0;
    for index in 0..count {
        cuts[index] = reach <= index;
        reach = reach.max(soonest[index]);
    }
    let mut need = Some(usize::MAX);
    for index in (0..count).rev() {
        cuts[index] &= need >= Some(index);
        need = need.min(latest[index]);
    }
    cuts
}

fn cell(
    problem: &Problem,
    touchers: &[Vec<usize>],
    local: &mut [u32],
    range: core::ops::Range<usize>,
    live: usize,
) -> Cell {
    let first = range.start;
    let here = |task: &usize| range.contains(task);
    let mut storages: Vec<CellStorage> = Vec::new();
    let mut tasks: Vec<CellTask> = Vec::with_capacity(range.len());
    let mut owners = Vec::new();
    for index in range.clone() {
        let task = &problem.tasks[index];
        let mut after: Vec<u32> =
            task.after.iter().map(|id| id.index()).filter(here).map(|at| (at - first) as u32).collect();
        after.sort_unstable();
        after.dedup();
        for id in &after {
            tasks[*id as usize].next.push((index - first) as u32);
        }
        let mut touches = Vec::new();
        for id in distinct(&task.touches) {
            let (by, storage) = (&touchers[id.index()], problem.storages[id.index()]);
            let before = storage.from_start || by[0] < first;
            let beyond = storage.to_end || by[by.len() - 1] >= range.end;
            // What is there all the time anyway changes nothing.
            if (before && beyond) || storage.size == 0 {
                continue;
            }
            if local[id.index()] == u32::MAX {
                local[id.index()] = storages.len() as u32;
                owners.push(id);
                let by: Vec<u32> = by.iter().copied().filter(here).map(|at| (at - first) as u32).collect();
                let touched = Mask::new(&by);
                storages.push(CellStorage { size: storage.size, touched, by, before, beyond });
            }
            touches.push(local[id.index()]);
        }
        let mut in_place = Vec::new();
        for (old, new) in &task.in_place {
            let (old, new) = (local[old.index()], local[new.index()]);
            let there = old != new && touches.contains(&old) && touches.contains(&new);
            if there && storages[new as usize].size <= storages[old as usize].size {
                in_place.push((old, new));
            }
        }
        tasks.push(CellTask { after: Mask::new(&after), next: Vec::new(), touches, in_place, scratch: task.scratch });
    }
    for id in owners {
        local[id.index()] = u32::MAX;
    }
    let changing: usize = storages.iter().filter(|storage| storage.before).map(|storage| storage.size).sum();
    let words = tasks.len().div_ceil(64);
    Cell { first, tasks, storages, live, base: live - changing, words }
}

impl Cell {
    /// Whether the task is the last in the set's complement that touches the storage.
    fn dies(&self, storage: u32, set: &[u64], task: u32) -> bool {
        let storage = &self.storages[storage as usize];
        !storage.beyond && storage.touched.within_but(set, task)
    }

    /// Whether the storage is not yet live when the tasks of the set have run.
    fn fresh(&self, storage: u32, set: &[u64]) -> bool {
        let storage = &self.storages[storage as usize];
        !storage.before && !storage.touched.meets(set)
    }

    /// Live bytes while the task runs after those of the set, and after it.
    pub(super) fn run(&self, set: &[u64], live: usize, task: u32) -> (usize, usize) {
        let step = &self.tasks[task as usize];
        let (mut during, mut after) = (live + step.scratch, live);
        for storage in &step.touches {
            let size = self.storages[*storage as usize].size;
            if self.fresh(*storage, set) {
                during += size;
                after += size;
            }
        }
        for storage in &step.touches {
            if self.dies(*storage, set, task) {
                after -= self.storages[*storage as usize].size;
            }
        }
        let mut taken: Vec<u32> = Vec::new();
        for (old, new) in &step.in_place {
            let takes = self.dies(*old, set, task) && !self.fresh(*old, set) && self.fresh(*new, set);
            if takes && !taken.contains(old) && !taken.contains(new) {
                during -= self.storages[*new as usize].size;
                if step.in_place.len() > 1 {
                    taken.extend([*old, *new]);
                }
            }
        }
        (during, after)
    }

    /// The peak of an order of its tasks.
    pub(super) fn peak(&self, order: impl Iterator<Item = u32>) -> usize {
        let mut set = vec![0; self.words];
        let (mut live, mut peak) = (self.live, self.live);
        for task in order {
            let (during, after) = self.run(&set, live, task);
            peak = peak.max(during);
            live = after;
            mask::insert(&mut set, task);
        }
        peak
    }

    /// Its tasks in the declared order.
    pub(super) fn range(&self) -> core::ops::Range<u32> {
        0..self.tasks.len() as u32
    }

    /// The task of the problem that one of the cell's is.
    pub(super) fn task(&self, task: u32) -> TaskId {
        TaskId::new(self.first + task as usize)
    }
}
