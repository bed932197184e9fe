//! Buffers: where a model's bytes live. A backend is an implementation of these traits and of the kernels it has.

use crate::{Error, ErrorKind, View};

/// What a buffer is for. Backends may place the kinds differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Usage {
    /// Everything a model needs, in one.
    #[default]
    Any,
    /// Weights alone, written once.
    Weights,
    /// Transient tensors alone.
    Compute,
}

/// A kind of memory that buffers can be made of.
pub trait BufferType {
    /// Its buffers.
    type Buffer: Buffer;

    /// A name for messages, such as `CPU`.
    fn name(&self) -> &'static str;

    /// What every tensor's offset has to be a multiple of, in bytes; a power of two.
    fn alignment(&self) -> usize;

    /// The largest buffer, in bytes.
    fn max_size(&self) -> usize {
        isize::MAX as usize
    }

    /// The bytes a tensor occupies, padding included; at least its own.
    fn alloc_size(&self, tensor: &View) -> usize {
        tensor.span().len()
    }

    /// True when the host can read and write its buffers' bytes in place.
    fn is_host(&self) -> bool;

    /// A buffer of `size` bytes whose start is a multiple of `align`, filled with zeros.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`], [`ErrorKind::OutOfMemory`].
    fn allocate(&self, size: usize, align: usize, usage: Usage) -> Result<Self::Buffer, Error>;
}

/// A run of bytes somewhere. It is freed when it is dropped.
///
/// Offsets and lengths are in bytes. Whatever would reach beyond the buffer is [`ErrorKind::OutOfRange`] and changes
/// nothing; a length of zero is fine at every offset up to the size.
pub trait Buffer {
    /// The name of its type, for messages.
    fn name(&self) -> &'static str;

    /// The address of the first byte, in the memory it lives in.
    fn base(&self) -> usize;

    /// Number of bytes.
    fn size(&self) -> usize;

    /// What it is for.
    fn usage(&self) -> Usage {
        Usage::Any
    }

    /// Prepares a tensor's place before it is first used, for backends that keep something beside the bytes or need
    /// padding to hold zeros.
    fn init_tensor(&mut self, tensor: &View) -> Result<(), Error> {
        check_range(tensor.span().start, tensor.span().len(), self.size())
    }

    /// Fills a range with one value.
    fn memset(&mut self, offset: usize, len: usize, value: u8) -> Result<(), Error>;

    /// Copies bytes in.
    fn set(&mut self, offset: usize, data: &[u8]) -> Result<(), Error>;

    /// Copies bytes out.
    fn get(&self, offset: usize, out: &mut [u8]) -> Result<(), Error>;

    /// Copies bytes of another buffer in by a way of its own. `Ok(false)` says that it has none between these two and
    /// nothing was changed; [`copy`] then goes through the host.
    fn copy_from(&mut self, offset: usize, source: &dyn Buffer, from: usize, len: usize) -> Result<bool, Error>;

    /// Has `write` write a range, whose start is aligned as the buffer allows: in place on host memory, through a copy
    /// elsewhere.
    fn with_host(&mut self, offset: usize, len: usize, write: &mut dyn FnMut(&mut [u8])) -> Result<(), Error>;

    /// Fills the whole buffer with one value.
    fn clear(&mut self, value: u8) -> Result<(), Error> {
        self.memset(0, self.size(), value)
    }

    /// Forgets what [`Buffer::init_tensor`] prepared. The bytes stay.
    fn reset(&mut self) {}

    /// The bytes, when the host can read them in place.
    fn host_bytes(&self) -> Option<&[u8]> {
        None
    }
}

/// A buffer whose bytes the host reads and writes in place.
pub trait HostBuffer: Buffer {
    /// The bytes.
    fn bytes(&self) -> &[u8];

    /// The bytes.
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// A buffer whose bytes the host reads in place: every [`HostBuffer`], and borrowed bytes that nobody writes.
pub trait HostRead: Buffer {
    /// The bytes.
    fn readable(&self) -> &[u8];
}

impl<B: HostBuffer> HostRead for B {
    fn readable(&self) -> &[u8] {
        self.bytes()
    }
}

/// Fails unless `len` bytes at `offset` lie within `size`. The sum never wraps.
pub fn check_range(offset: usize, len: usize, size: usize) -> Result<(), Error> {
    match offset.checked_add(len) {
        Some(end) if end <= size => Ok(()),
        _ => Err(ErrorKind::OutOfRange { offset, len, size }.into()),
    }
}

/// Copies `len` bytes between any two buffers: by the target's own way if it has one, else through the host, a piece at
/// a time on the stack.
pub fn copy(target: &mut dyn Buffer, offset: usize, source: &dyn Buffer, from: usize, len: usize) -> Result<(), Error> {
    check_range(offset, len, target.size())?;
    check_range(from, len, source.size())?;
    if len == 0 || target.copy_from(offset, source, from, len)? {
        return Ok(());
    }
    let mut piece = [0; 1024];
    let mut done = 0;
    while done < len {
        let piece = &mut piece[..(len - done).min(1024)];
        source.get(from + done, piece)?;
        target.set(offset + done, piece)?;
        done += piece.len();
    }
    Ok(())
}
