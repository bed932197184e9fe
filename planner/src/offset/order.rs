//! Static orders of buffers, written as strings of key letters; greedy placement and the search share them.

use alloc::vec::Vec;

use super::problem::Problem;

/// The most keys that one order has.
const KEYS: usize = 3;

/// The value of one key for one item, such that a smaller value comes first.
///
/// Upper case is largest first, lower case smallest first: `T` largest section total, `C` sections spanned,
/// `Z` size, `W` lifetime, `A` size times lifetime, `O` overlapping items, `r` bytes lost to alignment, `U`/`u` end, `L`/`l` start.
fn key(problem: &Problem, letter: u8, item: usize) -> usize {
    let it = &problem.items[item];
    let life = it.upper - it.lower;
    let value = match letter.to_ascii_uppercase() {
        b'T' => problem.largest_total(item),
        b'C' => (it.hi - it.lo) as usize,
        b'Z' => it.size,
        b'W' => life,
        b'A' => it.size.saturating_mul(life),
        b'O' => problem.degree[item] as usize,
        b'R' => it.size.wrapping_neg() & (it.align - 1),
        b'U' => it.upper,
        _ => it.lower,
    };
    if letter.is_ascii_lowercase() { value } else { usize::MAX - value }
}

/// Item numbers sorted by `keys`, ties by number.
pub(super) fn sorted(problem: &Problem, keys: &str) -> Vec<u32> {
    let count = problem.items.len();
    let mut keyed = Vec::with_capacity(count);
    for item in 0..count {
        let mut values = [0; KEYS];
        for (value, &letter) in values.iter_mut().zip(keys.as_bytes()) {
            *value = key(problem, letter, item);
        }
        keyed.push((values, item as u32));
    }
    keyed.sort_unstable();
    let mut order = Vec::with_capacity(count);
    for (_, item) in keyed {
        order.push(item);
    }
    order
}
