//! The seam between a planned program and a backend: one call of one operator on resolved operands.

use crate::{Buffer, Error, View};

/// One step: an operator's settings and where its operands lie in the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a, O> {
    /// The operator with its settings.
    pub op: O,
    /// Operands, in the order of the language; a left-out optional operand is absent.
    pub inputs: &'a [View],
    /// What the kernel writes, every element of it.
    pub outputs: &'a [View],
    /// Bytes the kernel may use as it likes during the call.
    pub scratch: &'a [View],
}

/// A buffer that can run operator `O` on its own bytes.
///
/// An implementation writes every element of the outputs, nothing else but the scratch, allocates nothing, and gives
/// the same bits whatever the scratch and the unwritten bytes hold.
#[diagnostic::on_unimplemented(
    message = "the backend `{Self}` has no kernel for the operator `{O}`",
    label = "this model uses `{O}`",
    note = "use an operator that the backend has, another backend, or implement `Kernel<{O}>` for it"
)]
pub trait Kernel<O>: Buffer {
    /// Runs the step.
    fn run(&mut self, call: &Call<'_, O>) -> Result<(), Error>;
}
