//! What emitted code asks of its plan's size on the target: one byte more than half of all addresses.

const SIZE: usize = model_graph::__private::fits::<{ 1 << (usize::BITS - 1) }>();

fn main() {
    assert_eq!(SIZE, 0);
}
