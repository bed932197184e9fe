//! States between forwards: set back to zero, saved as bytes, restored from them. It knows plans and buffers and nothing
//! of how steps write states.
//!
//! The format, numbers little-endian: `MGSTATE1`, a byte that says in which order the elements' bytes are (`l` or `b`, as
//! the machine that saved them has them), the number of states in 4 bytes; then for each state its name (length in 2
//! bytes, UTF-8), the name of its element type (length in 1 byte), its rank in 1 byte, its extents in 8 bytes each, and
//! its elements in row-major order. Nothing is padded.

use core::fmt::{self, Write};

use crate::marks::Half;
use crate::{Buffer, DType, Error, ErrorKind, Plan, PlanTensor, Role, Storage};

const MAGIC: &[u8; 8] = b"MGSTATE1";
pub(crate) const ORDER: u8 = if cfg!(target_endian = "little") { b'l' } else { b'b' };

/// A short text that an error carries without an allocator; longer ones are cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text {
    bytes: [u8; Text::MOST],
    len: u8,
}

impl Text {
    const MOST: usize = 39;

    /// The text, or as much of it as fits.
    pub fn new(text: &str) -> Text {
        let mut new = Text { bytes: [0; Text::MOST], len: 0 };
        // Writing here cannot fail: what is too long is cut.
        let _ = new.write_str(text);
        new
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let at = usize::from(self.len);
            // Room is kept for the sign that something is missing.
            if at + c.len_utf8() + '…'.len_utf8() > Text::MOST {
                if !self.as_str().ends_with('…') {
                    '…'.encode_utf8(&mut self.bytes[at..]);
                    self.len += '…'.len_utf8() as u8;
                }
                return Ok(());
            }
            c.encode_utf8(&mut self.bytes[at..]);
            self.len += c.len_utf8() as u8;
        }
        Ok(())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// Why bytes are not the saved states of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SavedFault {
    /// They do not begin as saved states do.
    Foreign,
    /// They were saved on a machine with the other order of bytes.
    ByteOrder,
    /// They end before the last state does, or after it.
    Length {
        /// Bytes expected.
        expected: usize,
        /// Bytes given.
        given: usize,
    },
    /// There are more or fewer states than the model has.
    Count {
        /// States of the model.
        expected: usize,
        /// States among the bytes.
        given: u32,
    },
    /// A state of the model is not among them.
    Missing {
        /// Its name.
        state: &'static str,
    },
    /// A state has another element type or another shape.
    Type {
        /// Its name.
        state: &'static str,
        /// Element type and extents of the model's.
        expected: Text,
        /// Those given.
        given: Text,
    },
}

impl fmt::Display for SavedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SavedFault::Foreign => f.write_str("they do not begin with `MGSTATE1`; give what `save_state` wrote"),
            SavedFault::ByteOrder => f.write_str("they were saved on a machine with another order of bytes"),
            SavedFault::Length { expected, given } => {
                write!(f, "expected {expected} bytes and {given} are given: they are cut off or belong to others")
            }
            SavedFault::Count { expected, given } => write!(f, "the model has {expected} states and they are {given}"),
            SavedFault::Missing { state } => write!(f, "state `{state}` is not among them"),
            SavedFault::Type { state, expected, given } => {
                write!(f, "state `{state}` is {expected}, and given is {given}")
            }
        }
    }
}

/// True for a state itself, of which the plan's other states are versions.
const fn is_state(tensor: &PlanTensor<'_>) -> bool {
    matches!(tensor.role, Role::State) && matches!(tensor.storage, Storage::Own)
}

fn states<'p>(plan: &Plan<'p>) -> impl Iterator<Item = &'p PlanTensor<'p>> + use<'p> {
    plan.tensors.iter().filter(|tensor| is_state(tensor))
}

/// How many bytes [`save`] writes.
pub(crate) const fn size(plan: &Plan<'_>) -> usize {
    let mut size = MAGIC.len() + 1 + 4;
    let mut at = 0;
    while at < plan.tensors.len() {
        let tensor = &plan.tensors[at];
        if is_state(tensor) {
            let mut bytes = tensor.view.dtype.size();
            let mut axis = 0;
            while axis < tensor.view.rank {
                bytes *= tensor.view.dims[axis];
                axis += 1;
            }
            size += 2 + tensor.name.len() + 1 + tensor.view.dtype.name().len() + 1 + 8 * tensor.view.rank + bytes;
        }
        at += 1;
    }
    size
}

/// Sets the states to zero whose name or whose block's path is `name`; all of them when there is none. Until that is done
/// `half` says that they may be half of before.
pub(crate) fn reset<B: Buffer>(
    buffer: &mut B,
    plan: &Plan<'static>,
    half: &mut Half,
    name: Option<&str>,
) -> Result<(), Error> {
    let wanted = |tensor: &&PlanTensor<'_>| match name {
        None => true,
        Some(name) => tensor.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
    };
    if let Some(name) = name
        && !states(plan).any(|tensor| wanted(&tensor))
    {
        return Err(ErrorKind::NoState { given: Text::new(name), model: plan.model }.into());
    }
    // What was half written before stays so unless it is set to zero here.
    let before = core::mem::replace(half, Half::ANY);
    let mut after = if name.is_none() { Half::NONE } else { before };
    for tensor in states(plan).filter(wanted) {
        let span = tensor.view.span();
        buffer.memset(span.start, span.len(), 0)?;
        after.end(span.start);
    }
    *half = after;
    Ok(())
}

/// Writes every state to `out`.
pub(crate) fn save<B: Buffer>(buffer: &B, plan: &Plan<'static>, out: &mut [u8]) -> Result<(), Error> {
    let expected = size(plan);
    if out.len() != expected {
        return Err(ErrorKind::StateSize { expected, given: out.len() }.into());
    }
    let mut out = Writer { out, at: 0 };
    out.put(MAGIC);
    out.put(&[ORDER]);
    out.put(&(states(plan).count() as u32).to_le_bytes());
    for tensor in states(plan) {
        let (name, dtype) = (tensor.name, tensor.view.dtype.name());
        out.put(&(name.len() as u16).to_le_bytes());
        out.put(name.as_bytes());
        out.put(&[dtype.len() as u8]);
        out.put(dtype.as_bytes());
        out.put(&[tensor.view.rank as u8]);
        tensor.view.dims().iter().for_each(|dim| out.put(&(*dim as u64).to_le_bytes()));
        buffer.get(tensor.view.offset, out.room(tensor.view.span().len()))?;
    }
    Ok(())
}

/// Looks through all of `saved`; nothing is written.
pub(crate) fn check(plan: &Plan<'static>, saved: &[u8]) -> Result<(), Error> {
    let fault = |fault: SavedFault| Err(ErrorKind::Saved(fault).into());
    let length = || Error::from(ErrorKind::Saved(SavedFault::Length { expected: size(plan), given: saved.len() }));
    let expected = states(plan).count();
    let mut head = Reader { rest: saved };
    match head.take(MAGIC.len()) {
        Some(magic) if magic == MAGIC => {}
        // What is cut off within these letters is cut off.
        None if MAGIC.starts_with(saved) && !saved.is_empty() => return Err(length()),
        _ => return fault(SavedFault::Foreign),
    }
    if head.number::<1>().ok_or_else(length)? != u64::from(ORDER) {
        return fault(SavedFault::ByteOrder);
    }
    let given = head.number::<4>().ok_or_else(length)? as u32;
    if given as usize != expected {
        return fault(SavedFault::Count { expected, given });
    }
    for state in states(plan) {
        let found = entries(head, given).flatten().find(|entry| entry.name == state.name.as_bytes());
        let Some(found) = found else {
            // Either it is not there, or what is there cannot be read so far.
            return if entries(head, given).any(|entry| entry.is_none()) {
                Err(length())
            } else {
                fault(SavedFault::Missing { state: state.name })
            };
        };
        if !found.is_like(state) {
            let mut expected = Text::new("");
            let _ = write!(
                expected,
                "{}",
                Like(state.view.dtype.name().as_bytes(), state.view.dims().iter().map(|dim| *dim as u64))
            );
            let mut given = Text::new("");
            let _ = write!(given, "{}", Like(found.dtype, found.dims()));
            return fault(SavedFault::Type { state: state.name, expected, given });
        }
    }
    // As many as there have to be, each of them found: none is there twice.
    let end = entries(head, given).last().map_or(Some(head.rest), |entry| entry.map(|entry| entry.after));
    if end.is_some_and(<[u8]>::is_empty) { Ok(()) } else { Err(length()) }
}

/// Writes what was looked through to the states. Until that is done `half` says that they may be half of before.
pub(crate) fn restore<B: Buffer>(
    buffer: &mut B,
    plan: &Plan<'static>,
    half: &mut Half,
    saved: &[u8],
) -> Result<(), Error> {
    *half = Half::ANY;
    let head = Reader { rest: saved.get(MAGIC.len() + 1 + 4..).unwrap_or_default() };
    let count = states(plan).count() as u32;
    for state in states(plan) {
        let found = entries(head, count).flatten().find(|entry| entry.name == state.name.as_bytes());
        if let Some(found) = found {
            buffer.set(state.view.offset, found.data)?;
        }
    }
    *half = Half::NONE;
    Ok(())
}

/// What is written so far to a slice that has room for all of it.
pub(crate) struct Writer<'a> {
    pub(crate) out: &'a mut [u8],
    pub(crate) at: usize,
}

impl Writer<'_> {
    pub(crate) fn room(&mut self, count: usize) -> &mut [u8] {
        self.at += count;
        &mut self.out[self.at - count..self.at]
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(head)
    }

    pub(crate) fn number<const N: usize>(&mut self) -> Option<u64> {
        let bytes = self.take(N)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

/// A saved state.
#[derive(Clone, Copy)]
struct Entry<'a> {
    name: &'a [u8],
    dtype: &'a [u8],
    dims: &'a [u8],
    data: &'a [u8],
    after: &'a [u8],
}

impl<'a> Entry<'a> {
    fn read(mut reader: Reader<'a>) -> Option<Entry<'a>> {
        let length = reader.number::<2>()?;
        let name = reader.take(usize::try_from(length).ok()?)?;
        let length = reader.number::<1>()?;
        let dtype = reader.take(usize::try_from(length).ok()?)?;
        let rank = usize::try_from(reader.number::<1>()?).ok()?;
        let dims = reader.take(8 * rank)?;
        let mut entry = Entry { name, dtype, dims, data: &[], after: &[] };
        // Elements of a type that is not known here take no bytes, and the type is complained of.
        let element = DType::ALL.into_iter().find(|known| known.name().as_bytes() == dtype).map_or(0, DType::size);
        let bytes = entry.dims().try_fold(element as u64, u64::checked_mul)?;
        entry.data = reader.take(usize::try_from(bytes).ok()?)?;
        entry.after = reader.rest;
        Some(entry)
    }

    fn dims(self) -> impl Iterator<Item = u64> + Clone {
        self.dims.chunks_exact(8).map(|dim| dim.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn is_like(&self, state: &PlanTensor<'_>) -> bool {
        self.dtype == state.view.dtype.name().as_bytes()
            && self.dims().eq(state.view.dims().iter().map(|dim| *dim as u64))
    }
}

/// The entries one after the other; `None` for the first that cannot be read, and none after it.
fn entries(head: Reader<'_>, count: u32) -> impl Iterator<Item = Option<Entry<'_>>> {
    let mut rest = Some(head.rest);
    (0..count).map_while(move |_| {
        let entry = Entry::read(Reader { rest: rest? });
        rest = entry.map(|entry| entry.after);
        Some(entry)
    })
}

/// `f32[2x3]`.
pub(crate) struct Like<'a, I>(pub(crate) &'a [u8], pub(crate) I);

impl<I: Iterator<Item = u64> + Clone> fmt::Display for Like<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(core::str::from_utf8(self.0).unwrap_or("of no known type"))?;
        for (axis, dim) in self.1.clone().enumerate() {
            write!(f, "{}{dim}", if axis == 0 { "[" } else { "x" })?;
        }
        if self.1.clone().next().is_some() { f.write_char(']') } else { Ok(()) }
    }
}
