//! The offset solver against brute force, an occupancy grid and its own checker, on random buffers.

use model_graph_planner::offset::{Budget, Buffer, Error, Fault, Part, check, lower_bound, solve};
use proptest::prelude::*;

/// The least peak there is: every order of buffers, each at the lowest offset that its predecessors allow.
///
/// Orders in which the offsets go down again are left out: they give nothing that another order does not.
fn least_peak(buffers: &[Buffer]) -> usize {
    fn place(buffers: &[Buffer], offsets: &mut Vec<Option<usize>>, last: usize, peak: usize, best: &mut usize) {
        if peak >= *best {
            return;
        }
        let Some(_) = offsets.iter().position(Option::is_none) else {
            *best = peak;
            return;
        };
        for index in 0..buffers.len() {
            if offsets[index].is_some() {
                continue;
            }
            // The lowest offset above everything that was placed before and overlaps in time.
            let mut offset = 0;
            for (other, placed) in offsets.iter().enumerate() {
                let (a, b) = (&buffers[index], &buffers[other]);
                if let Some(bottom) = placed
                    && a.lower.max(b.lower) < a.upper.min(b.upper)
                {
                    offset = offset.max(bottom + b.size);
                }
            }
            let offset = offset.next_multiple_of(buffers[index].align);
            if offset < last {
                continue;
            }
            offsets[index] = Some(offset);
            place(buffers, offsets, offset, peak.max(offset + buffers[index].size), best);
            offsets[index] = None;
        }
    }
    let used: Vec<Buffer> = buffers.iter().filter(|b| b.lower < b.upper && b.size > 0).cloned().collect();
    let mut best = usize::MAX;
    place(&used, &mut vec![None; used.len()], 0, 0, &mut best);
    best
}

fn buffer(steps: usize, sizes: usize, align_bits: u32) -> impl Strategy<Value = Buffer> {
    (0..steps, 0..steps, 0..sizes, 0..=align_bits).prop_map(|(lower, length, size, bits)| Buffer {
        lower,
        upper: lower + length,
        size,
        align: 1 << bits,
        parts: Vec::new(),
    })
}

/// A buffer in two or three stretches of time, each using some of its bytes.
fn parted(steps: usize, sizes: usize) -> impl Strategy<Value = Buffer> {
    (buffer(steps, sizes, 2), prop::collection::vec((0..steps, 0..sizes, 0..sizes), 0..3)).prop_map(
        |(mut buffer, cuts)| {
            let mut at = buffer.lower;
            for (length, start, end) in cuts {
                let upper = (at + length).min(buffer.upper);
                let end = end.min(buffer.size);
                buffer.parts.push(Part { lower: at, upper, start: start.min(end), end });
                at = upper;
            }
            buffer
        },
    )
}

/// Whether no cell of the grid of steps and bytes is used twice.
fn grid_is_clean(buffers: &[Buffer], offsets: &[usize]) -> bool {
    let mut used = std::collections::HashSet::new();
    for (buffer, &offset) in buffers.iter().zip(offsets) {
        for step in buffer.lower..buffer.upper {
            for byte in 0..buffer.size {
                let inside = |p: &Part| (p.lower..p.upper).contains(&step) && (p.start..p.end).contains(&byte);
                let in_use = buffer.parts.is_empty() || buffer.parts.iter().any(inside);
                if in_use && !used.insert((step, offset + byte)) {
                    return false;
                }
            }
        }
    }
    true
}

/// The largest number of bytes in use at one step.
fn live_bytes(buffers: &[Buffer]) -> usize {
    let steps = buffers.iter().map(|b| b.upper).max().unwrap_or(0);
    let at =
        |step: usize| -> usize { buffers.iter().filter(|b| (b.lower..b.upper).contains(&step)).map(|b| b.size).sum() };
    (0..steps).map(at).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig {
        // Failures are written into the source as cases of their own, not into a file beside it.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn small_ones_against_brute_force(buffers in prop::collection::vec(buffer(6, 12, 0), 0..10)) {
        let solution = solve(&buffers, Budget::QUICK).unwrap();
        prop_assert_eq!(check(&buffers, &solution.offsets), Ok(()));
        prop_assert_eq!(solution.lower_bound, live_bytes(&buffers));
        prop_assert!(solution.optimal);
        prop_assert_eq!(solution.peak, least_peak(&buffers));
    }

    #[test]
    fn small_aligned_ones_against_brute_force(buffers in prop::collection::vec(buffer(6, 12, 2), 1..9)) {
        let solution = solve(&buffers, Budget::QUICK).unwrap();
        prop_assert_eq!(check(&buffers, &solution.offsets), Ok(()));
        let least = least_peak(&buffers);
        prop_assert!(solution.lower_bound <= least);
        prop_assert!(solution.optimal);
        prop_assert_eq!(solution.peak, least);
    }

    #[test]
    fn bigger_ones_are_valid(buffers in prop::collection::vec(buffer(60, 1000, 6), 0..80)) {
        let solution = solve(&buffers, Budget::steps(2000)).unwrap();
        prop_assert_eq!(check(&buffers, &solution.offsets), Ok(()));
        prop_assert!(solution.peak >= solution.lower_bound);
        prop_assert_eq!(lower_bound(&buffers), solution.lower_bound);
        prop_assert!(solution.peak <= solve(&buffers, Budget::GREEDY).unwrap().peak);
        prop_assert_eq!(&solve(&buffers, Budget::steps(2000)).unwrap(), &solution);
        let peak = buffers.iter().zip(&solution.offsets).filter(|(b, _)| b.size > 0 && b.lower < b.upper)
            .map(|(b, o)| b.size + o).max().unwrap_or(0);
        prop_assert_eq!(peak, solution.peak);
    }

    #[test]
    fn parts_against_a_grid(buffers in prop::collection::vec(parted(8, 9), 0..10)) {
        let solution = solve(&buffers, Budget::QUICK).unwrap();
        prop_assert!(grid_is_clean(&buffers, &solution.offsets));
        prop_assert_eq!(check(&buffers, &solution.offsets), Ok(()));
        let whole: Vec<Buffer> =
            buffers.iter().map(|b| Buffer { parts: Vec::new(), ..b.clone() }).collect();
        let whole = solve(&whole, Budget::QUICK).unwrap();
        prop_assert!(solution.lower_bound <= whole.peak);
        prop_assert!(solution.peak <= whole.peak);
    }

    #[test]
    fn the_checker_agrees_with_a_grid(
        buffers in prop::collection::vec(parted(6, 6), 0..5),
        offsets in prop::collection::vec(0usize..10, 5),
    ) {
        let buffers: Vec<Buffer> = buffers.into_iter().map(|b| Buffer { align: 1, ..b }).collect();
        let offsets = &offsets[..buffers.len()];
        prop_assert_eq!(check(&buffers, offsets).is_ok(), grid_is_clean(&buffers, offsets));
    }
}

#[test]
fn nothing_to_place() {
    let solution = solve(&[], Budget::default()).unwrap();
    assert_eq!((solution.peak, solution.lower_bound, solution.optimal), (0, 0, true));
    let empty = [Buffer::new(3, 3, 100), Buffer::new(0, 9, 0), Buffer::new(5, 2, 7)];
    let solution = solve(&empty, Budget::default()).unwrap();
    assert_eq!((solution.offsets, solution.peak, solution.optimal), (vec![0, 0, 0], 0, true));
}

/// Case PL-1 of the public bug log: the total suffices, but a hole has to be kept.
#[test]
fn a_small_live_block_does_not_split_the_free_space() {
    let buffers = [
        Buffer::new(0, 3, 100),
        Buffer::new(1, 6, 20),
        Buffer::new(2, 4, 100),
        Buffer::new(3, 5, 4),
        Buffer::new(4, 6, 200),
    ];
    let solution = solve(&buffers, Budget::default()).unwrap();
    assert_eq!((solution.peak, solution.lower_bound, solution.optimal), (224, 224, true));
}

#[test]
fn what_a_smaller_successor_leaves_is_used() {
    // A storage of 100 bytes of which only the first 10 are in use from step 5 on.
    let parts = vec![Part { lower: 0, upper: 5, start: 0, end: 100 }, Part { lower: 5, upper: 10, start: 0, end: 10 }];
    let buffers =
        [Buffer { lower: 0, upper: 10, size: 100, align: 4, parts }, Buffer { align: 2, ..Buffer::new(5, 9, 90) }];
    let solution = solve(&buffers, Budget::default()).unwrap();
    assert_eq!((solution.peak, solution.optimal), (100, true));
    assert_eq!(check(&buffers, &solution.offsets), Ok(()));
}

#[test]
fn the_bound_counts_rounding_for_all_but_the_topmost() {
    let buffers: Vec<Buffer> = [5, 9, 3].iter().map(|&size| Buffer { align: 8, ..Buffer::new(0, 1, size) }).collect();
    // 8 + 16 + 8, less the largest rounding, 9 -> 16.
    assert_eq!(lower_bound(&buffers), 25);
    let solution = solve(&buffers, Budget::default()).unwrap();
    assert_eq!((solution.peak, solution.optimal), (25, true));
}

/// A mixture of alignments in which the bound of 16 cannot be reached, and which takes a whole search to know.
#[test]
fn what_cannot_be_reached_is_proved() {
    let buffers: Vec<Buffer> = [(3, 4, 3, 2), (1, 4, 1, 2), (2, 4, 4, 1), (0, 4, 1, 4), (0, 4, 7, 2)]
        .iter()
        .map(|&(lower, upper, size, align)| Buffer { align, ..Buffer::new(lower, upper, size) })
        .collect();
    let solution = solve(&buffers, Budget::default()).unwrap();
    assert_eq!((solution.lower_bound, solution.peak, solution.optimal), (16, least_peak(&buffers), true));
    assert!(solution.search_steps < 2000, "{} steps", solution.search_steps);
}

#[test]
fn what_cannot_be_counted_is_an_error() {
    let half = usize::MAX / 2 + 1;
    let two = [Buffer::new(0, 1, half), Buffer::new(0, 1, half)];
    assert!(matches!(solve(&two, Budget::default()), Err(Error::TooLarge { .. })));
    assert_eq!(lower_bound(&two), usize::MAX);
    let many = vec![Buffer::new(0, 1, usize::MAX); 20];
    assert!(matches!(solve(&many, Budget::default()), Err(Error::TooLarge { .. })));
    let crossed = [Buffer::new(0, 3, half), Buffer::new(1, 4, half - 1), Buffer::new(2, 5, 7)];
    assert!(matches!(solve(&crossed, Budget::default()), Err(Error::TooLarge { .. })));
    let aligned = [
        Buffer { align: half, ..Buffer::new(0, 2, 5) },
        Buffer { align: half, ..Buffer::new(1, 3, 5) },
        Buffer { align: half, ..Buffer::new(1, 3, 5) },
    ];
    assert!(matches!(solve(&aligned, Budget::default()), Err(Error::TooLarge { .. })));
    // At different times they are fine.
    let apart = [Buffer::new(0, 1, usize::MAX), Buffer::new(1, 2, usize::MAX)];
    assert_eq!(solve(&apart, Budget::default()).unwrap().peak, usize::MAX);
    let late = [Buffer::new(usize::MAX - 1, usize::MAX, 3), Buffer::new(0, usize::MAX, 4)];
    assert_eq!(solve(&late, Budget::default()).unwrap().peak, 7);
}

#[test]
fn what_makes_no_sense_is_an_error() {
    let unaligned = Buffer { align: 3, ..Buffer::new(0, 1, 1) };
    assert_eq!(solve(&[unaligned], Budget::default()), Err(Error::Align { buffer: 0, align: 3 }));
    let outside = |part| Buffer { parts: vec![part], ..Buffer::new(2, 4, 8) };
    for part in [
        Part { lower: 1, upper: 3, start: 0, end: 8 },
        Part { lower: 2, upper: 5, start: 0, end: 8 },
        Part { lower: 2, upper: 4, start: 0, end: 9 },
    ] {
        assert_eq!(solve(&[outside(part)], Budget::default()), Err(Error::Part { buffer: 0, part: 0 }));
    }
    let part = Part { lower: 2, upper: 4, start: 0, end: 4 };
    let twice = Buffer { parts: vec![part, part], ..Buffer::new(2, 4, 8) };
    assert_eq!(solve(&[twice], Budget::default()), Err(Error::Part { buffer: 0, part: 1 }));
}

#[test]
fn the_checker_names_what_is_wrong() {
    let buffers = [Buffer::new(0, 4, 8), Buffer { align: 4, ..Buffer::new(3, 6, 8) }];
    assert_eq!(check(&buffers, &[0]), Err(Fault::Count { buffers: 2, offsets: 1 }));
    assert_eq!(check(&buffers, &[0, 6]), Err(Fault::Misaligned { buffer: 1 }));
    assert_eq!(check(&buffers, &[usize::MAX, 0]), Err(Fault::PastEnd { buffer: 0 }));
    assert_eq!(check(&buffers, &[0, 4]), Err(Fault::Overlap { a: 0, b: 1, step: 3, byte: 4 }));
    assert_eq!(check(&buffers, &[0, 8]), Ok(()));
}
