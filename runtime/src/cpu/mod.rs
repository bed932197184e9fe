//! The CPU: memory that a model owns or borrows, and a kernel for every operator.

#[cfg(feature = "std")]
extern crate std;

mod attention;
mod batch_norm;
mod binary;
mod border;
mod cast;
mod compare;
mod conv2d;
mod conv2d_nhwc;
mod conv_transpose;
mod copy;
mod fill;
mod fixed;
mod gather;
mod gemm;
mod image;
mod linear;
mod math;
mod matmul;
mod nest;
mod norm;
mod operands;
mod own;
#[cfg(feature = "alloc")]
mod owned;
mod pool;
mod quant;
mod quant_conv;
mod quant_linear;
mod quant_pool;
mod recurrent;
mod reduce;
mod resize;
mod rope;
mod scan;
mod scatter;
mod softmax;
mod strip;
mod sum;
mod then;
mod typed;
mod unary;
mod wide;
mod window;
mod write;

#[cfg(feature = "alloc")]
pub use owned::{Cpu, OwnedBytes};

pub use image::CpuImage;
pub use own::{Element, Input, Operands, Output, Positions, Scratch, operands, positions};

use crate::buffer::check_range;
use crate::{Buffer, Error, HostBuffer, Usage};

/// Host memory as a buffer. `M` says who owns the bytes: [`OwnedBytes`] or a borrowed `&mut [u8]`.
#[derive(Debug)]
pub struct CpuBuffer<M> {
    memory: M,
    usage: Usage,
}

/// A buffer in memory that the caller owns, a `static` among it.
pub type CpuSlice<'a> = CpuBuffer<&'a mut [u8]>;

/// Bytes that a [`CpuBuffer`] can be made of.
pub trait Memory {
    /// The bytes.
    fn bytes(&self) -> &[u8];
    /// The bytes.
    fn bytes_mut(&mut self) -> &mut [u8];
}

impl Memory for &mut [u8] {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self
    }
}

impl<M: Memory> CpuBuffer<M> {
    /// A buffer of these bytes.
    pub fn new(memory: M, usage: Usage) -> CpuBuffer<M> {
        CpuBuffer { memory, usage }
    }
}

impl<'a> CpuSlice<'a> {
    /// A buffer in memory that the caller owns.
    pub fn borrowed(memory: &'a mut [u8]) -> CpuSlice<'a> {
        CpuBuffer::new(memory, Usage::Any)
    }
}

impl<M: Memory> Buffer for CpuBuffer<M> {
    fn name(&self) -> &'static str {
        "CPU"
    }

    fn base(&self) -> usize {
        self.memory.bytes().as_ptr().addr()
    }

    fn size(&self) -> usize {
        self.memory.bytes().len()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn memset(&mut self, offset: usize, len: usize, value: u8) -> Result<(), Error> {
        check_range(offset, len, self.size())?;
        self.memory.bytes_mut()[offset..offset + len].fill(value);
        Ok(())
    }

    fn set(&mut self, offset: usize, data: &[u8]) -> Result<(), Error> {
        check_range(offset, data.len(), self.size())?;
        self.memory.bytes_mut()[offset..offset + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn get(&self, offset: usize, out: &mut [u8]) -> Result<(), Error> {
        check_range(offset, out.len(), self.size())?;
        out.copy_from_slice(&self.memory.bytes()[offset..offset + out.len()]);
        Ok(())
    }

    fn copy_from(&mut self, offset: usize, source: &dyn Buffer, from: usize, len: usize) -> Result<bool, Error> {
        check_range(offset, len, self.size())?;
        check_range(from, len, source.size())?;
        let target = &mut self.memory.bytes_mut()[offset..offset + len];
        match source.host_bytes() {
            Some(bytes) => target.copy_from_slice(&bytes[from..from + len]),
            None => source.get(from, target)?,
        }
        Ok(true)
    }

    fn with_host(&mut self, offset: usize, len: usize, write: &mut dyn FnMut(&mut [u8])) -> Result<(), Error> {
        check_range(offset, len, self.size())?;
        write(&mut self.memory.bytes_mut()[offset..offset + len]);
        Ok(())
    }

    fn host_bytes(&self) -> Option<&[u8]> {
        Some(self.memory.bytes())
    }
}

impl<M: Memory> HostBuffer for CpuBuffer<M> {
    fn bytes(&self) -> &[u8] {
        self.memory.bytes()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.bytes_mut()
    }
}
