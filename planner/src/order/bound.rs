//! A lower bound of a cell's peak: what certainly is live while a task runs, in whatever order.

use alloc::vec;
use alloc::vec::Vec;

use super::cell::Cell;
use super::mask::{self, unite};

/// The largest requirement of any single task.
///
/// A storage is live while a task runs if the task or one that it depends on touches it, and the task or one that
/// depends on it does. Quadratic in the cell's tasks, with 64 of them to a word.
pub(super) fn lower_bound(cell: &Cell) -> usize {
    let (count, words) = (cell.tasks.len(), cell.words);
    // Rows of bits: what a task depends on and what depends on it, itself included.
    let mut before = vec![0u64; count * words];
    let mut after = vec![0u64; count * words];
    for (index, row) in after.chunks_mut(words).enumerate() {
        mask::insert(row, index as u32);
    }
    for (index, task) in cell.tasks.iter().enumerate() {
        mask::insert(&mut before[index * words..][..words], index as u32);
        for next in &task.next {
            let (done, rest) = before.split_at_mut(*next as usize * words);
            unite(&mut rest[..words], &done[index * words..][..words]);
        }
    }
    for (index, task) in cell.tasks.iter().enumerate().rev() {
        for next in &task.next {
            let (rest, done) = after.split_at_mut(*next as usize * words);
            unite(&mut rest[index * words..][..words], &done[..words]);
        }
    }
    let mut needs: Vec<usize> = cell.tasks.iter().map(|task| cell.base + task.scratch).collect();
    let (mut made, mut used) = (vec![0; words], vec![0; words]);
    for storage in &cell.storages {
        made.fill(if storage.before { u64::MAX } else { 0 });
        used.fill(if storage.beyond { u64::MAX } else { 0 });
        for task in &storage.by {
            let row = *task as usize * words;
            if !storage.before {
                unite(&mut made, &after[row..][..words]);
            }
            if !storage.beyond {
                unite(&mut used, &before[row..][..words]);
            }
        }
        for (word, used) in made.iter_mut().zip(&used) {
            *word &= used;
        }
        for task in mask::members(&made).take_while(|task| (*task as usize) < count) {
            needs[task as usize] += storage.size;
        }
    }
    for (index, task) in cell.tasks.iter().enumerate() {
        let row = |rows: &[u64], task: u32| mask::contains(&rows[index * words..][..words], task);
        let mut taken: Vec<u32> = Vec::new();
        for (old, new) in &task.in_place {
            let (from, to) = (&cell.storages[*old as usize], &cell.storages[*new as usize]);
            let me = index as u32;
            let dies = !from.beyond && !from.by.iter().any(|by| *by != me && row(&after, *by));
            let fresh = !to.before && !to.by.iter().any(|by| *by != me && row(&before, *by));
            if dies && fresh && !taken.contains(new) {
                taken.push(*new);
                needs[index] -= to.size;
            }
        }
    }
    let end =
        cell.base + cell.storages.iter().filter(|storage| storage.beyond).map(|storage| storage.size).sum::<usize>();
    needs.into_iter().max().unwrap_or(0).max(cell.live).max(end)
}
