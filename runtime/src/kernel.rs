//! The seam between a planned program and a backend: one call of one operator on resolved operands.

use crate::{Buffer, Error, Shared, View, op};

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
    /// Where inputs lie whose offsets are beyond the model's own buffer; none unless the model shares its weights.
    pub shared: Option<Shared<'a>>,
}

/// A buffer that can run operator `O` on its own bytes.
///
/// An implementation writes every element of the outputs, nothing else but the scratch, allocates nothing, and gives
/// the same bits whatever the scratch and the unwritten bytes hold.
///
/// One that fails may have written anything to its outputs, so that a model whose state it was to write is
/// [`ErrorKind::Torn`](crate::ErrorKind::Torn) until that is set. The exceptions are
/// [`ErrorKind::Position`](crate::ErrorKind::Position), [`ErrorKind::IndexOutOfRange`](crate::ErrorKind::IndexOutOfRange) and
/// [`ErrorKind::Past`](crate::ErrorKind::Past), by which a kernel of the language's own operators, such as [`op::Write`],
/// [`op::Gather`] and [`op::Attention`], says that it has written nothing: the model goes on with other inputs. Such a kernel
/// gives them before it writes, and in no other case.
#[diagnostic::on_unimplemented(
    message = "the backend `{Self}` has no kernel for the operator `{O}`",
    label = "this model uses `{O}`",
    note = "use an operator that the backend has, another backend, or implement `Kernel<{O}>` for it; for `Then<…>`, \
            `run_apart` does it with the kernels of its parts, and `fuse = false` in the model's attribute avoids it"
)]
pub trait Kernel<O>: Buffer {
    /// Runs the step.
    fn run(&mut self, call: &Call<'_, O>) -> Result<(), Error>;
}

/// Runs an operator with a stage as its two parts, one after the other, the second in place. This makes every fused step
/// run on a backend that has the parts' kernels:
///
/// ```
/// # use model_graph::{Buffer, Call, Error, Kernel, op, run_apart};
/// # fn backend<MyBuffer>() where MyBuffer: Kernel<op::MatMul> + Kernel<op::Relu> {}
/// # struct MyBuffer;
/// # impl Buffer for MyBuffer {
/// #     fn name(&self) -> &'static str { "mine" }
/// #     fn base(&self) -> usize { 0 }
/// #     fn size(&self) -> usize { 0 }
/// #     fn memset(&mut self, _: usize, _: usize, _: u8) -> Result<(), Error> { Ok(()) }
/// #     fn set(&mut self, _: usize, _: &[u8]) -> Result<(), Error> { Ok(()) }
/// #     fn get(&self, _: usize, _: &mut [u8]) -> Result<(), Error> { Ok(()) }
/// #     fn copy_from(&mut self, _: usize, _: &dyn Buffer, _: usize, _: usize) -> Result<bool, Error> { Ok(false) }
/// #     fn with_host(&mut self, _: usize, _: usize, _: &mut dyn FnMut(&mut [u8])) -> Result<(), Error> { Ok(()) }
/// # }
/// impl<B: Copy, S: op::Described + Copy> Kernel<op::Then<B, S>> for MyBuffer
/// where
///     MyBuffer: Kernel<B> + Kernel<S>,
/// {
///     fn run(&mut self, call: &Call<'_, op::Then<B, S>>) -> Result<(), Error> {
///         run_apart(self, call)
///     }
/// }
/// ```
///
/// # Errors
/// What the parts' kernels complain of.
pub fn run_apart<K, B, S>(buffer: &mut K, call: &Call<'_, op::Then<B, S>>) -> Result<(), Error>
where
    K: Kernel<B> + Kernel<S>,
    B: Copy,
    S: op::Described + Copy,
{
    let others = S::SPEC.operands.len() - 1;
    let own = call.inputs.len().saturating_sub(others);
    let (inputs, other) = call.inputs.split_at(own);
    let Call { outputs, scratch, shared, .. } = *call;
    Kernel::<B>::run(buffer, &Call { op: call.op.base, inputs, outputs, scratch, shared })?;
    let Some(result) = outputs.first().copied() else { return Ok(()) };
    let both = match other.first() {
        None => [result; 2],
        Some(other) if call.op.side == 0 => [result, *other],
        Some(other) => [*other, result],
    };
    Kernel::<S>::run(buffer, &Call { op: call.op.stage, inputs: &both[..=others], outputs, scratch: &[], shared })
}
