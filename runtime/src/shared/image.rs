//! An image of a model's weights: bytes as they lie in their buffer, behind a header that says which they are. A mapped
//! file of them is borrowed without a copy. It knows plans and buffers and nothing else.
//!
//! The format, numbers little-endian: `MGWEIGHT`; the version of the format in 1 byte; a byte that says in which order the
//! elements' bytes are (`l` or `b`, as the machine that wrote them has them); the number of weights in 4 bytes; in 8 bytes
//! each the alignment, where the weights' bytes begin, and how many there are; the model's name (length in 2 bytes, UTF-8).
//! Then for each weight its name (the same), the name of its element type (length in 1 byte), its rank in 1 byte, its
//! extents in 8 bytes each, and in 8 bytes its place, counted from where the weights' bytes begin. Zeros follow up to a
//! multiple of the alignment, and there the weights' bytes.
//!
//! What the weights' bytes say is not looked at: reading them all is what mapping a file is to avoid.

use core::fmt::{self, Write};

use super::{is_weight, weights};
use crate::marks::{Half, loaded};
use crate::state::{Like, ORDER, Reader, Text, Writer};
use crate::{Buffer, Error, ErrorKind, Plan};

const MAGIC: &[u8; 8] = b"MGWEIGHT";
const VERSION: u8 = 1;

/// Why bytes are not an image of a model's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageFault {
    /// They do not begin as an image does.
    Foreign,
    /// The format is of another version.
    Version {
        /// The version that this one reads.
        expected: u8,
        /// The version given.
        given: u8,
    },
    /// They were written on a machine with the other order of bytes.
    ByteOrder,
    /// They are the weights of a model of another name.
    Model {
        /// The model's name.
        expected: &'static str,
        /// The name given.
        given: Text,
    },
    /// There are more or fewer weights than the model has.
    Count {
        /// Weights of the model.
        expected: usize,
        /// Weights among the bytes.
        given: u32,
    },
    /// A weight has another name, element type, shape or place.
    Weight {
        /// Its name.
        weight: &'static str,
        /// Element type, extents and place of the model's.
        expected: Text,
        /// Those given, with the name where it is another.
        given: Text,
    },
    /// The weights have another alignment, or begin or end elsewhere.
    Layout {
        /// What differs.
        what: &'static str,
        /// What the model has, in bytes.
        expected: usize,
        /// What is given.
        given: u64,
    },
    /// They end too early or too late.
    Length {
        /// Bytes expected.
        expected: usize,
        /// Bytes given.
        given: usize,
    },
}

impl fmt::Display for ImageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageFault::Foreign => {
                f.write_str("they do not begin with `MGWEIGHT`; give what `image` or `write_image` gave")
            }
            ImageFault::Version { expected, given } => {
                write!(f, "expected version {expected} of the format and {given} is given; write the image anew")
            }
            ImageFault::ByteOrder => f.write_str("they were written on a machine with another order of bytes"),
            ImageFault::Model { expected, given } => {
                write!(f, "expected weights of `{expected}` and those of `{given}` are given")
            }
            ImageFault::Count { expected, given } => {
                write!(f, "the model has {expected} weights and they are {given}; write the image anew")
            }
            ImageFault::Weight { weight, expected, given } => {
                write!(f, "weight `{weight}` is {expected}, and given is {given}; write the image anew")
            }
            ImageFault::Layout { what, expected, given } => {
                write!(f, "{what} is {expected} bytes, and given is {given}; write the image anew")
            }
            ImageFault::Length { expected, given } => {
                write!(f, "expected {expected} bytes and {given} are given: they are cut off or belong to others")
            }
        }
    }
}

/// Where the weights' bytes begin.
const fn data(plan: &Plan<'_>) -> usize {
    let mut size = MAGIC.len() + 1 + 1 + 4 + 3 * 8 + 2 + plan.model.len();
    let mut at = 0;
    while at < plan.tensors.len() {
        let tensor = &plan.tensors[at];
        if is_weight(tensor) {
            size += 2 + tensor.name.len() + 1 + tensor.view.dtype.name().len() + 1 + 8 * tensor.view.rank + 8;
        }
        at += 1;
    }
    size.next_multiple_of(plan.align)
}

/// How many bytes [`write_image`] writes.
pub const fn image_size(plan: &Plan<'static>) -> usize {
    data(plan) + plan.shared
}

/// Writes the weights with their header, unless they are half written.
pub fn write_image<B: Buffer>(buffer: &B, half: &Half, plan: &Plan<'static>, out: &mut [u8]) -> Result<(), Error> {
    loaded(half)?;
    let (data, expected) = (data(plan), image_size(plan));
    if out.len() != expected {
        return Err(ErrorKind::ImageSize { expected, given: out.len() }.into());
    }
    let (head, bytes) = out.split_at_mut(data);
    buffer.get(0, bytes)?;
    head.fill(0);
    let mut head = Writer { out: head, at: 0 };
    head.put(MAGIC);
    head.put(&[VERSION, ORDER]);
    head.put(&(weights(plan).count() as u32).to_le_bytes());
    for number in [plan.align, data, plan.shared] {
        head.put(&(number as u64).to_le_bytes());
    }
    head.put(&(plan.model.len() as u16).to_le_bytes());
    head.put(plan.model.as_bytes());
    for (tensor, view) in weights(plan) {
        let dtype = view.dtype.name();
        head.put(&(tensor.name.len() as u16).to_le_bytes());
        head.put(tensor.name.as_bytes());
        head.put(&[dtype.len() as u8]);
        head.put(dtype.as_bytes());
        head.put(&[view.rank as u8]);
        view.dims().iter().for_each(|dim| head.put(&(*dim as u64).to_le_bytes()));
        head.put(&(view.offset as u64).to_le_bytes());
    }
    Ok(())
}

/// The weights with their header.
#[cfg(feature = "alloc")]
pub fn image<B: Buffer>(buffer: &B, half: &Half, plan: &Plan<'static>) -> Result<alloc::vec::Vec<u8>, Error> {
    let mut image = alloc::vec![0; image_size(plan)];
    write_image(buffer, half, plan, &mut image)?;
    Ok(image)
}

/// The weights' bytes in an image, if it is one of this plan's and they are aligned as it asks for.
pub fn check_image<'a>(image: &'a [u8], plan: &Plan<'static>) -> Result<&'a [u8], Error> {
    let (data, expected) = (data(plan), image_size(plan));
    let cut = ImageFault::Length { expected, given: image.len() };
    header(plan, image, data, cut).map_err(|fault| Error::from(ErrorKind::Image(fault)))?;
    if image.len() != expected {
        return Err(ErrorKind::Image(cut).into());
    }
    let bytes = &image[data..];
    let address = bytes.as_ptr().addr();
    if !address.is_multiple_of(plan.align) {
        return Err(ErrorKind::Misaligned { needed: plan.align, address }.into());
    }
    Ok(bytes)
}

fn header(plan: &Plan<'static>, image: &[u8], data: usize, cut: ImageFault) -> Result<(), ImageFault> {
    let mut head = Reader { rest: image };
    match head.take(MAGIC.len()) {
        Some(magic) if magic == MAGIC => {}
        None if MAGIC.starts_with(image) => return Err(cut),
        _ => return Err(ImageFault::Foreign),
    }
    let version = head.number::<1>().ok_or(cut)?;
    if version != u64::from(VERSION) {
        return Err(ImageFault::Version { expected: VERSION, given: version as u8 });
    }
    if head.number::<1>().ok_or(cut)? != u64::from(ORDER) {
        return Err(ImageFault::ByteOrder);
    }
    let count = head.number::<4>().ok_or(cut)? as u32;
    let mut numbers = [0; 3];
    for number in &mut numbers {
        *number = head.number::<8>().ok_or(cut)?;
    }
    let model = text(&mut head, 2).ok_or(cut)?;
    if model != plan.model.as_bytes() {
        return Err(ImageFault::Model { expected: plan.model, given: Text::new(as_str(model)) });
    }
    let expected = weights(plan).count();
    if count as usize != expected {
        return Err(ImageFault::Count { expected, given: count });
    }
    for (tensor, view) in weights(plan) {
        let name = text(&mut head, 2).ok_or(cut)?;
        let dtype = text(&mut head, 1).ok_or(cut)?;
        let rank = head.number::<1>().ok_or(cut)?;
        let dims = head.take(8 * rank as usize).ok_or(cut)?;
        let dims =
            dims.chunks_exact(8).map(|dim| dim.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        let place = head.number::<8>().ok_or(cut)?;
        let own = view.dims().iter().map(|dim| *dim as u64);
        if name != tensor.name.as_bytes()
            || dtype != view.dtype.name().as_bytes()
            || !dims.clone().eq(own.clone())
            || place != view.offset as u64
        {
            let mut given = Text::new("");
            if name != tensor.name.as_bytes() {
                // What is too long is cut.
                let _ = write!(given, "`{}` ", as_str(name));
            }
            let _ = write!(given, "{} at {place}", Like(dtype, dims));
            let mut expected = Text::new("");
            let _ = write!(expected, "{} at {}", Like(view.dtype.name().as_bytes(), own), view.offset);
            return Err(ImageFault::Weight { weight: tensor.name, expected, given });
        }
    }
    let layout = [("the alignment", plan.align), ("the header", data), ("the size of the weights", plan.shared)];
    for ((what, expected), given) in layout.into_iter().zip(numbers) {
        if given != expected as u64 {
            return Err(ImageFault::Layout { what, expected, given });
        }
    }
    let used = image.len() - head.rest.len();
    match image.get(used..data) {
        Some(padding) if padding.iter().all(|byte| *byte == 0) => Ok(()),
        Some(_) => Err(ImageFault::Foreign),
        None => Err(cut),
    }
}

/// A text behind its length, which takes so many bytes.
fn text<'a>(head: &mut Reader<'a>, width: usize) -> Option<&'a [u8]> {
    let length = if width == 1 { head.number::<1>() } else { head.number::<2>() }?;
    head.take(usize::try_from(length).ok()?)
}

fn as_str(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap_or("?")
}
