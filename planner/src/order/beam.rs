//! The beam search: for each number of tasks that have run, only the states with the lowest peaks are followed.

use alloc::vec;
use alloc::vec::Vec;

use super::cell::Cell;
use super::exact::replay;
use super::mask;
use super::walk::{Meter, State};

/// A state that is followed, and how it was reached.
struct Held {
    state: State,
    link: u32,
}

/// The states with the same number of tasks run.
#[derive(Default)]
struct Bucket {
    held: Vec<Held>,
    /// Peak and live bytes of the worst that was kept when there were too many.
    worst: Option<(usize, usize)>,
}

impl Bucket {
    /// Leaves the best, each set once.
    fn prune(&mut self, width: usize) {
        let key = |held: &Held| (held.state.peak, held.state.live);
        self.held.sort_by(|a, b| (&a.state.set, a.state.peak).cmp(&(&b.state.set, b.state.peak)));
        self.held.dedup_by(|later, kept| later.state.set == kept.state.set);
        self.held.sort_by_key(key);
        if self.held.len() >= width {
            self.held.truncate(width);
            self.worst = self.held.last().map(key);
        }
    }
}

/// Looks for an order with a peak below `beat`; peaks up to the floor are as good as one another. Of the tasks that are
/// ready in a state the first `reach` are tried.
pub(super) fn search(
    cell: &Cell,
    floor: usize,
    beat: usize,
    width: usize,
    reach: usize,
    meter: &mut Meter,
) -> Option<Vec<u32>> {
    let count = cell.tasks.len();
    let mut buckets: Vec<Bucket> = Vec::new();
    buckets.resize_with(count + 1, Bucket::default);
    let mut links: Vec<(u32, u32)> = vec![(0, 0)];
    let start = State::start(cell, floor);
    if start.peak >= beat {
        return None;
    }
    buckets[0].held.push(Held { state: start, link: 0 });
    let mut beat = beat;
    let mut best = None;
    let mut ran = Vec::new();
    'search: for at in 0..=count {
        let mut bucket = core::mem::take(&mut buckets[at]);
        bucket.prune(width);
        for Held { mut state, link } in bucket.held {
            if meter.left() == 0 {
                break 'search;
            }
            if state.peak >= beat {
                continue;
            }
            ran.clear();
            state.close(cell, meter, &mut ran);
            if state.count == count {
                beat = state.peak;
                best = Some(link);
                continue;
            }
            for task in mask::members(&state.ready).take(reach) {
                meter.spend(1);
                let (during, live) = cell.run(&state.set, state.live, task);
                let peak = state.peak.max(during);
                let bucket = &mut buckets[state.count + 1];
                if peak >= beat || bucket.worst.is_some_and(|worst| (peak, live) >= worst) {
                    continue;
                }
                meter.spend(cell.words as u64 / 4);
                let mut child = state.clone();
                child.run(cell, task);
                links.push((link, task));
                bucket.held.push(Held { state: child, link: links.len() as u32 - 1 });
                if bucket.held.len() >= 2 * width + 16 {
                    bucket.prune(width);
                }
            }
        }
    }
    let mut link = best?;
    let mut chosen = Vec::new();
    while link != 0 {
        let (parent, task) = links[link as usize];
        chosen.push(task);
        link = parent;
    }
    chosen.reverse();
    Some(replay(cell, floor, chosen))
}
