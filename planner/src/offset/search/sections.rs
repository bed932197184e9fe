//! Which sections the search watches, and which entries are live in them.

use alloc::vec;
use alloc::vec::Vec;

use super::state::Entry;

/// Sections watched at most. In large problems only those with the fewest bytes to spare are; to watch fewer
/// prunes less and is never wrong.
const WATCHED: usize = 512;

/// Chooses the sections to watch; gives for each section, and for the end, how many are watched before it.
pub(super) fn watch(totals: &[usize]) -> Vec<u32> {
    let mut by_total = totals.to_vec();
    by_total.sort_unstable_by(|a, b| b.cmp(a));
    let least = by_total.get(WATCHED - 1).copied().unwrap_or(0);
    let mut room = WATCHED as u32;
    let mut watched = Vec::with_capacity(totals.len() + 1);
    for &total in totals {
        watched.push(WATCHED as u32 - room);
        if total >= least && room > 0 {
            room -= 1;
        }
    }
    watched.push(WATCHED as u32 - room);
    watched
}

/// The entries live in each watched section.
pub(super) fn list_live(entries: &[Entry], sections: usize) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0u32; sections + 1];
    for e in entries {
        for count in &mut first[e.first as usize + 1..=e.last as usize] {
            *count += 1;
        }
    }
    for s in 0..sections {
        first[s + 1] += first[s];
    }
    let mut at = first.clone();
    let mut live = vec![0; first[sections] as usize];
    for (index, e) in entries.iter().enumerate() {
        for next in &mut at[e.first as usize..e.last as usize] {
            live[*next as usize] = index as u32;
            *next += 1;
        }
    }
    (first, live)
}
