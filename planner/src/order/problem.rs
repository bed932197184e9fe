//! What a problem has to keep to, and the peak of a given order, straight from the definition.

use alloc::vec;
use alloc::vec::Vec;

use super::{Error, Problem, StorageId, TaskId};

/// Says what is wrong with a problem.
pub(super) fn validate(problem: &Problem) -> Result<(), Error> {
    let mut total = 0usize;
    for (index, task) in problem.tasks.iter().enumerate() {
        let id = TaskId::new(index);
        if let Some(after) = task.after.iter().find(|after| **after >= id) {
            return Err(Error::After { task: id, after: *after });
        }
        let pairs = task.in_place.iter().flat_map(|(old, new)| [old, new]);
        if let Some(storage) =
            task.touches.iter().chain(pairs).find(|storage| storage.index() >= problem.storages.len())
        {
            return Err(Error::NoStorage { task: id, storage: *storage });
        }
        total = total.checked_add(task.scratch).ok_or(Error::TooLarge)?;
    }
    for storage in &problem.storages {
        total = total.checked_add(storage.size).ok_or(Error::TooLarge)?;
    }
    Ok(())
}

/// The peak of live bytes when the tasks run in that order.
///
/// # Errors
/// What is wrong with the problem, or [`Error::NotAnOrder`].
pub fn peak(problem: &Problem, order: &[TaskId]) -> Result<usize, Error> {
    validate(problem)?;
    of_order(problem, order)
}

/// The peak in an order of a problem that is valid.
pub(super) fn of_order(problem: &Problem, order: &[TaskId]) -> Result<usize, Error> {
    let mut done = vec![false; problem.tasks.len()];
    let mut touched = vec![false; problem.storages.len()];
    let mut left = touch_counts(problem);
    let mut live = at_start(problem, &left);
    let mut peak = live;
    for id in order {
        let Some(task) = problem.tasks.get(id.index()) else { return Err(Error::NotAnOrder) };
        if done[id.index()] || task.after.iter().any(|after| !done[after.index()]) {
            return Err(Error::NotAnOrder);
        }
        done[id.index()] = true;
        let storages = distinct(&task.touches);
        let fresh = |storage: StorageId| !touched[storage.index()] && !problem.storages[storage.index()].from_start;
        let dying = |storage: StorageId| left[storage.index()] == 1 && !problem.storages[storage.index()].to_end;
        let mut taken: Vec<StorageId> = Vec::new();
        let mut saved = 0;
        for (old, new) in &task.in_place {
            let here = storages.contains(old) && storages.contains(new) && old != new;
            let bytes = problem.storages[new.index()].size;
            if bytes > 0
                && bytes <= problem.storages[old.index()].size
                && here
                && dying(*old)
                && !fresh(*old)
                && fresh(*new)
                && !taken.contains(old)
                && !taken.contains(new)
            {
                saved += bytes;
                taken.extend([*old, *new]);
            }
        }
        live += storages.iter().filter(|id| fresh(**id)).map(|id| problem.storages[id.index()].size).sum::<usize>();
        peak = peak.max(live - saved + task.scratch);
        live -= storages.iter().filter(|id| dying(**id)).map(|id| problem.storages[id.index()].size).sum::<usize>();
        for storage in storages {
            touched[storage.index()] = true;
            left[storage.index()] -= 1;
        }
    }
    if done.contains(&false) { Err(Error::NotAnOrder) } else { Ok(peak) }
}

/// How many tasks touch each storage.
pub(super) fn touch_counts(problem: &Problem) -> Vec<usize> {
    let mut counts = vec![0; problem.storages.len()];
    for task in &problem.tasks {
        for storage in distinct(&task.touches) {
            counts[storage.index()] += 1;
        }
    }
    counts
}

/// Bytes that count before the first task: what comes from outside and is used at all.
pub(super) fn at_start(problem: &Problem, counts: &[usize]) -> usize {
    let used = problem.storages.iter().zip(counts).filter(|(storage, count)| **count > 0 || storage.to_end);
    used.filter(|(storage, _)| storage.from_start).map(|(storage, _)| storage.size).sum()
}

/// The storages without repetition, in their order.
pub(super) fn distinct(storages: &[StorageId]) -> Vec<StorageId> {
    let mut found: Vec<StorageId> = Vec::with_capacity(storages.len());
    for storage in storages {
        // A task touches few.
        if !found.contains(storage) {
            found.push(*storage);
        }
    }
    found
}
