//! Bytes as buffers: whatever the solver answers, its checker agrees and the bounds hold.

use model_graph_planner::offset::{Budget, Buffer, Part, Solution, check, lower_bound, solve};

use super::Bytes;

const MOST: usize = 48;

/// Solves the buffers that the bytes say.
pub(crate) fn solve_then_check(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let budget = bytes.pick(&[Budget::steps(500), Budget::GREEDY, Budget::steps(5000)]);
    let odd = bytes.once_in(8);
    let mut buffers = Vec::new();
    while !bytes.is_empty() && buffers.len() < MOST {
        buffers.push(if odd { any_buffer(&mut bytes) } else { buffer(&mut bytes) });
    }
    let solved = solve(&buffers, budget);
    assert_eq!(solved, solve(&buffers, budget), "the same input gives the same answer");
    match solved {
        Ok(solution) => hold(&buffers, &solution),
        Err(error) => assert!(odd, "{error}: {buffers:?}"),
    }
}

fn hold(buffers: &[Buffer], solution: &Solution) {
    assert_eq!(check(buffers, &solution.offsets), Ok(()), "{buffers:?}");
    assert_eq!(solution.lower_bound, lower_bound(buffers));
    assert!(solution.peak >= solution.lower_bound, "{buffers:?}");
    let used = |buffer: &Buffer| buffer.size > 0 && buffer.lower < buffer.upper;
    let ends = buffers.iter().zip(&solution.offsets).filter(|(buffer, _)| used(buffer));
    let end = ends.map(|(buffer, offset)| offset + buffer.size).max().unwrap_or(0);
    assert!(solution.peak <= end, "{} of {end}: {buffers:?}", solution.peak);
    let greedy = solve(buffers, Budget::GREEDY).expect("it was solved with another budget");
    assert!(solution.peak <= greedy.peak, "a search is never worse: {buffers:?}");
    assert!(!greedy.optimal || greedy.peak == solution.peak, "what is proved stays the least: {buffers:?}");
    assert!(!solution.optimal || solution.peak <= greedy.peak);
}

fn buffer(bytes: &mut Bytes<'_>) -> Buffer {
    let lower = bytes.below(24);
    let upper = lower + bytes.below(12);
    let size = bytes.below(64) * bytes.pick(&[1, 1, 4, 100]);
    let align = 1 << bytes.below(7);
    let mut buffer = Buffer { lower, upper, size, align, parts: Vec::new() };
    // Stretches one after the other, in each of which some of the bytes are in use.
    if bytes.once_in(4) {
        let mut at = lower;
        for _ in 0..1 + bytes.below(4) {
            let end = bytes.below(64).min(size);
            let until = (at + bytes.below(4)).min(upper);
            buffer.parts.push(Part { lower: at, upper: until, start: bytes.below(64).min(end), end });
            at = until;
        }
    }
    buffer
}

/// A buffer that need not make sense: it may be refused, and nothing worse.
fn any_buffer(bytes: &mut Bytes<'_>) -> Buffer {
    let number = |bytes: &mut Bytes<'_>| match bytes.below(4) {
        0 => bytes.any() as usize,
        1 => usize::MAX - bytes.below(256),
        _ => bytes.below(256),
    };
    let mut buffer = Buffer::new(number(bytes), number(bytes), number(bytes));
    buffer.align = if bytes.once_in(4) { number(bytes) } else { 1 << bytes.below(64) };
    for _ in 0..bytes.below(3) {
        let [lower, upper, start, end] = [(); 4].map(|()| number(bytes));
        buffer.parts.push(Part { lower, upper, start, end });
    }
    buffer
}
