//! Host memory from the global allocator: one aligned, zeroed allocation.

use alloc::alloc::{Layout, alloc_zeroed, dealloc};
use core::ptr::NonNull;
use core::slice;

use super::{CpuBuffer, Memory};
use crate::{BufferType, Error, ErrorKind, Usage};

/// The CPU's memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl BufferType for Cpu {
    type Buffer = CpuBuffer<OwnedBytes>;

    fn name(&self) -> &'static str {
        "CPU"
    }

    /// Kernels read elements at their own alignment, which every plan keeps.
    fn alignment(&self) -> usize {
        1
    }

    fn is_host(&self) -> bool {
        true
    }

    fn allocate(&self, size: usize, align: usize, usage: Usage) -> Result<Self::Buffer, Error> {
        if size > self.max_size() {
            return Err(ErrorKind::TooLarge { needed: size, max: self.max_size() }.into());
        }
        Ok(CpuBuffer::new(OwnedBytes::zeroed(size, align)?, usage))
    }
}

/// Bytes from the global allocator, zeroed, with an alignment of one's choice.
#[derive(Debug)]
pub struct OwnedBytes {
    start: NonNull<u8>,
    layout: Layout,
}

impl OwnedBytes {
    /// `size` zero bytes at a multiple of `align`, which has to be a power of two. Nothing is allocated for none.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`], also when size and alignment cannot be asked for at all.
    pub fn zeroed(size: usize, align: usize) -> Result<OwnedBytes, Error> {
        let out_of_memory = || Error::from(ErrorKind::OutOfMemory { bytes: size });
        let layout = Layout::from_size_align(size, align).map_err(|_| out_of_memory())?;
        let start = if size == 0 {
            // An address that is aligned and never read.
            NonNull::without_provenance(core::num::NonZeroUsize::new(align).ok_or_else(out_of_memory)?)
        } else {
            // SAFETY: the layout's size is not zero, which is all that `GlobalAlloc::alloc_zeroed` asks for.
            let start = unsafe { alloc_zeroed(layout) };
            NonNull::new(start).ok_or_else(out_of_memory)?
        };
        Ok(OwnedBytes { start, layout })
    }
}

impl Memory for OwnedBytes {
    fn bytes(&self) -> &[u8] {
        // SAFETY: `start` is aligned and not null; for a size above zero it comes from an allocation of exactly
        // `layout.size()` initialised (zeroed) bytes that lives until `self` is dropped; `&self` keeps writers away.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `&mut self` makes this the only access.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for OwnedBytes {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: `start` was returned by `alloc_zeroed` for exactly this layout and is freed once, here.
            unsafe { dealloc(self.start.as_ptr(), self.layout) }
        }
    }
}

// SAFETY: the bytes are owned by this value alone and `u8` may be sent between threads, as in `Box<[u8]>`.
unsafe impl Send for OwnedBytes {}
// SAFETY: through `&OwnedBytes` the bytes can only be read, as in `Box<[u8]>`.
unsafe impl Sync for OwnedBytes {}
