//! Small reference versions of other planners' placement algorithms, to stand beside ours in the bench.
//! Written from their published descriptions; each names its source. They know nothing of our solver.

use model_graph_planner::offset::Buffer;

/// A peer: the name of its column, and its peak in bytes for a table.
pub(crate) type Peer = (&'static str, fn(&[Buffer]) -> usize);

/// The peers, in the order of their columns.
pub(crate) const PEERS: [Peer; 4] =
    [("tflite", tflite_arena), ("tflm", tflite_micro), ("ggml", ggml), ("xla", xla_spatial)];

/// TensorFlow Lite's arena, greedy by size: what lives always first, then the largest first, each into the
/// tightest gap. Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020),
/// and `tensorflow/lite/arena_planner.cc`, `simple_memory_arena.cc`.
pub(crate) fn tflite_arena(buffers: &[Buffer]) -> usize {
    let first = buffers.iter().map(|b| b.lower).min().unwrap_or(0);
    let last = buffers.iter().map(|b| b.upper).max().unwrap_or(0);
    let mut order: Vec<&Buffer> = buffers.iter().collect();
    order.sort_by_key(|b| ((b.lower, b.upper) != (first, last), usize::MAX - b.size, b.lower));
    place(&order, true)
}

/// TensorFlow Lite Micro's greedy planner: the largest first, each into the first gap that holds it.
/// Source: `tensorflow/lite/micro/memory_planner/greedy_memory_planner.cc`.
pub(crate) fn tflite_micro(buffers: &[Buffer]) -> usize {
    let mut order: Vec<&Buffer> = buffers.iter().collect();
    order.sort_by_key(|b| usize::MAX - b.size);
    place(&order, false)
}

/// XLA's heap with spatial order: the largest first, among equals the longest-lived, each into the tightest
/// gap. Source: `xla/service/heap_simulator/heap_simulator.cc`, `GlobalDecreasingSizeBestFitHeap`.
pub(crate) fn xla_spatial(buffers: &[Buffer]) -> usize {
    let mut order: Vec<&Buffer> = buffers.iter().collect();
    order.sort_by_key(|b| (usize::MAX - b.size, usize::MAX - b.upper.saturating_sub(b.lower)));
    place(&order, true)
}

/// Places the buffers one after the other into the tightest or the first gap between those placed that live
/// at the same time; gives the peak.
fn place(order: &[&Buffer], tightest: bool) -> usize {
    let mut placed: Vec<(usize, usize, &Buffer)> = Vec::new();
    let mut peak = 0;
    for &buffer in order {
        if buffer.size == 0 || buffer.lower >= buffer.upper {
            continue;
        }
        let mut free_from = 0;
        let mut best: Option<(usize, usize)> = None;
        for &(offset, top, other) in &placed {
            if other.lower >= buffer.upper || buffer.lower >= other.upper {
                continue;
            }
            if offset >= free_from + buffer.size {
                let gap = offset - free_from;
                if best.is_none_or(|(smallest, _)| tightest && gap < smallest) {
                    best = Some((gap, free_from));
                }
                if !tightest {
                    break;
                }
            }
            free_from = free_from.max(top);
        }
        let offset = best.map_or(free_from, |(_, offset)| offset);
        peak = peak.max(offset + buffer.size);
        let at = placed.partition_point(|&(other, _, _)| other <= offset);
        placed.insert(at, (offset, offset + buffer.size, buffer));
    }
    peak
}

/// ggml's dynamic allocator: in the order of time, each from the smallest free block that holds it, the rest of
/// the arena only if none does; sizes are padded to 32 bytes. Source: `ggml/src/ggml-alloc.c`,
/// `ggml_dyn_tallocr`.
pub(crate) fn ggml(buffers: &[Buffer]) -> usize {
    const ALIGN: usize = 32;
    let mut events: Vec<(usize, bool, usize)> = Vec::new();
    for (index, buffer) in buffers.iter().enumerate() {
        if buffer.size > 0 && buffer.lower < buffer.upper {
            events.push((buffer.lower, true, index));
            events.push((buffer.upper, false, index));
        }
    }
    events.sort_unstable();
    // Free blocks by offset; the last one is the endless rest.
    let mut free: Vec<(usize, usize)> = vec![(0, usize::MAX / 2)];
    let mut offsets = vec![0; buffers.len()];
    let mut peak = 0;
    for (_, starts, index) in events {
        let size = buffers[index].size.next_multiple_of(ALIGN);
        if starts {
            let rest = free.len() - 1;
            let block = (0..rest).filter(|&b| free[b].1 >= size).min_by_key(|&b| free[b].1).unwrap_or(rest);
            offsets[index] = free[block].0;
            peak = peak.max(free[block].0 + size);
            free[block].0 += size;
            free[block].1 -= size;
            if free[block].1 == 0 {
                free.remove(block);
            }
            continue;
        }
        let offset = offsets[index];
        let at = free.partition_point(|block| block.0 < offset);
        free.insert(at, (offset, size));
        if free.get(at + 1).is_some_and(|next| next.0 == offset + size) {
            free[at].1 += free.remove(at + 1).1;
        }
        if at > 0 && free[at - 1].0 + free[at - 1].1 == offset {
            free[at - 1].1 += free.remove(at).1;
        }
    }
    peak
}

#[cfg(test)]
mod tests {
    use super::PEERS;
    use model_graph_planner::offset::Buffer;

    /// A chain of layers needs two neighbours at once, whoever plans it.
    #[test]
    fn a_chain() {
        let chain: Vec<Buffer> = (0..6).map(|step| Buffer::new(step, step + 2, 64)).collect();
        for (name, peak) in PEERS {
            assert_eq!(peak(&chain), 128, "{name}");
        }
    }

    /// Case PL-1 of the public bug log: the order of time splits the free space.
    #[test]
    fn a_split_arena() {
        let buffers = [(0, 3, 128), (1, 6, 32), (2, 4, 128), (3, 5, 32), (4, 6, 256)]
            .map(|(lower, upper, size)| Buffer::new(lower, upper, size));
        let peaks = PEERS.map(|(_, peak)| peak(&buffers));
        assert_eq!(peaks, [320, 320, 416, 320]);
    }
}
