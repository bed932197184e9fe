//! Host memory that is only read, such as a file that is mapped: what shared weights can lie in without a copy. It runs no
//! steps.

use crate::buffer::check_range;
use crate::{Buffer, Error, ErrorKind, HostRead, Usage};

/// Bytes that somebody else owns and nobody writes. Every request to write some is [`ErrorKind::ReadOnly`].
#[derive(Clone, Copy, Debug)]
pub struct CpuImage<'a> {
    bytes: &'a [u8],
}

impl<'a> CpuImage<'a> {
    /// A buffer of these bytes.
    pub fn new(bytes: &'a [u8]) -> CpuImage<'a> {
        CpuImage { bytes }
    }
}

impl Buffer for CpuImage<'_> {
    fn name(&self) -> &'static str {
        "CPU, read-only"
    }

    fn base(&self) -> usize {
        self.bytes.as_ptr().addr()
    }

    fn size(&self) -> usize {
        self.bytes.len()
    }

    fn usage(&self) -> Usage {
        Usage::Weights
    }

    fn memset(&mut self, _: usize, _: usize, _: u8) -> Result<(), Error> {
        Err(ErrorKind::ReadOnly.into())
    }

    fn set(&mut self, _: usize, _: &[u8]) -> Result<(), Error> {
        Err(ErrorKind::ReadOnly.into())
    }

    fn get(&self, offset: usize, out: &mut [u8]) -> Result<(), Error> {
        check_range(offset, out.len(), self.size())?;
        out.copy_from_slice(&self.bytes[offset..offset + out.len()]);
        Ok(())
    }

    fn copy_from(&mut self, _: usize, _: &dyn Buffer, _: usize, _: usize) -> Result<bool, Error> {
        Err(ErrorKind::ReadOnly.into())
    }

    fn with_host(&mut self, _: usize, _: usize, _: &mut dyn FnMut(&mut [u8])) -> Result<(), Error> {
        Err(ErrorKind::ReadOnly.into())
    }

    fn host_bytes(&self) -> Option<&[u8]> {
        Some(self.bytes)
    }
}

impl HostRead for CpuImage<'_> {
    fn readable(&self) -> &[u8] {
        self.bytes
    }
}
