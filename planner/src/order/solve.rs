//! The driver: cells one by one, the one with the highest declared peak first, each only as far as it decides the peak
//! of the whole.

use alloc::vec::Vec;

use super::cell::{Cell, cells};
use super::problem::{at_start, of_order, touch_counts, validate};
use super::walk::Meter;
use super::{Budget, Error, Problem, Solution, TaskId, beam, bound, depth, exact};

/// Widths of the beam that come before the exact search; the others come after it.
const FIRST_WIDTHS: [usize; 2] = [1, 8];

/// Looks for the order of least peak.
///
/// # Errors
/// What is wrong with the problem.
pub fn solve(problem: &Problem, budget: Budget) -> Result<Solution, Error> {
    validate(problem)?;
    let mut order: Vec<TaskId> = (0..problem.tasks.len()).map(TaskId::new).collect();
    let declared = of_order(problem, &order)?;
    let mut cells: Vec<(usize, Cell)> =
        cells(problem).into_iter().map(|cell| (cell.peak(cell.range()), cell)).collect();
    // What is there at the start is so in every order, and a cell of one task has no choice.
    let mut lower_bound = at_start(problem, &touch_counts(problem));
    cells.retain(|(peak, cell)| {
        let choice = cell.tasks.len() > 1;
        if !choice {
            lower_bound = lower_bound.max(*peak);
        }
        choice
    });
    cells.sort_by_key(|(peak, cell)| (core::cmp::Reverse(*peak), cell.first));
    for (peak, cell) in &cells {
        if *peak > lower_bound {
            lower_bound = lower_bound.max(bound::lower_bound(cell));
        }
    }
    // The peak that is certain by now; a cell below it decides nothing.
    let mut least = lower_bound;
    let mut meter = Meter::new(budget.get());
    for (index, (peak, cell)) in cells.iter().enumerate() {
        if *peak <= least {
            break;
        }
        // The highest come first and get most.
        let last = cells.get(index + 1).is_none_or(|(peak, _)| *peak <= least);
        let mut own = Meter::new(if last { meter.left() } else { meter.left() / 2 });
        let found = improve(cell, *peak, least, &mut own);
        meter.spend(own.used);
        if found.lower_bound > least {
            lower_bound = lower_bound.max(found.lower_bound);
        }
        least = least.max(found.peak);
        if let Some(tasks) = found.order {
            for (at, task) in tasks.into_iter().enumerate() {
                order[cell.first + at] = cell.task(task);
            }
        }
    }
    // The cells have said it already; this is what the definition says.
    let reached = of_order(problem, &order)?;
    debug_assert!(reached <= least && least <= declared.max(lower_bound), "{reached} {least} {declared}");
    if reached >= declared {
        order = (0..problem.tasks.len()).map(TaskId::new).collect();
    }
    let least = reached.min(declared);
    let lower_bound = lower_bound.min(least);
    Ok(Solution { order, declared, least, lower_bound, proved: least == lower_bound, search_steps: meter.used })
}

/// What was found for a cell.
struct Found {
    /// Unless it is the declared one.
    order: Option<Vec<u32>>,
    peak: usize,
    /// No order of the cell has a lower peak, if this is more than the floor.
    lower_bound: usize,
}

fn improve(cell: &Cell, declared: usize, floor: usize, meter: &mut Meter) -> Found {
    let mut found = Found { order: None, peak: declared, lower_bound: floor };
    let reach = |meter: &Meter, width: usize| (meter.left() as usize / (cell.tasks.len() * width)).clamp(4, 1 << 16);
    let accept = |found: &mut Found, order: Option<Vec<u32>>| {
        if let Some(order) = order {
            found.peak = cell.peak(order.iter().copied()).max(floor);
            found.order = Some(order);
        }
    };
    if meter.left() == 0 {
        return found;
    }
    meter.spend(cell.tasks.len() as u64);
    let order = depth::order(cell);
    if cell.peak(order.iter().copied()) < found.peak {
        accept(&mut found, Some(order));
    }
    for width in FIRST_WIDTHS {
        if found.peak <= floor {
            return found;
        }
        let mut own = Meter::new(meter.left() / 4);
        let order = beam::search(cell, floor, found.peak, width, reach(&own, width), &mut own);
        meter.spend(own.used);
        accept(&mut found, order);
    }
    if found.peak <= floor {
        return found;
    }
    let mut own = Meter::new(meter.left() / 2);
    let outcome = exact::search(cell, floor, found.peak, &mut own);
    meter.spend(own.used);
    accept(&mut found, outcome.found);
    found.lower_bound = outcome.lower_bound.min(found.peak);
    let mut width = 4 * FIRST_WIDTHS[FIRST_WIDTHS.len() - 1];
    while found.peak > found.lower_bound && meter.left() > 0 {
        meter.spend(1);
        let order = beam::search(cell, found.lower_bound, found.peak, width, reach(meter, width), meter);
        accept(&mut found, order);
        width *= 2;
    }
    found
}
