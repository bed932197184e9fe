//! A quick order to start from: for each task that nothing waits for, whatever it needs and then the task itself.

use alloc::vec;
use alloc::vec::Vec;

use super::cell::Cell;

/// The tasks depth first from the last ones, so that what was begun is finished before something else begins. Linear.
pub(super) fn order(cell: &Cell) -> Vec<u32> {
    let count = cell.tasks.len();
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (index, task) in cell.tasks.iter().enumerate() {
        for next in &task.next {
            before[*next as usize].push(index as u32);
        }
    }
    let mut order = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    for (last, _) in cell.tasks.iter().enumerate().filter(|(_, task)| task.next.is_empty()) {
        let mut stack = vec![(last as u32, 0)];
        while let Some((task, at)) = stack.pop() {
            seen[task as usize] = true;
            match before[task as usize][at..].iter().position(|before| !seen[*before as usize]) {
                Some(more) => {
                    stack.push((task, at + more + 1));
                    stack.push((before[task as usize][at + more], 0));
                }
                None => order.push(task),
            }
        }
    }
    order
}
