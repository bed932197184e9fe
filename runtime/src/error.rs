//! The one error type of the runtime.

use core::fmt;

use crate::DType;
pub use crate::shared::ImageFault;
pub use crate::state::{SavedFault, Text};

/// What went wrong at run time.
///
/// What can be asked beforehand is asked before anything is written: a request that is refused leaves models and buffers
/// as they were. An error of a kernel, a buffer or a weight source in the midst of its work cannot be taken back. After
/// one in `forward`, inputs that are not kept count as not written, and computed tensors hold anything. Nothing that is
/// left half written is run on: an input then counts as not written; once a step of a forward that did not end has written
/// a state, or a state could not be written, set to zero or restored as a whole, the next forward is [`ErrorKind::Torn`];
/// after a weight that could not, it is [`ErrorKind::HalfLoaded`].
///
/// `{:?}` prints the message as `{}` does, because that is what `main` shows of the error it returns; `{:#?}` prints the
/// kind with its fields.
///
/// ```
/// # use model_graph::{Error, ErrorKind};
/// let error = Error::from(ErrorKind::TooSmall { needed: 8, given: 4 });
/// assert_eq!(format!("{error:?}"), "the plan needs 8 bytes and the memory has 4");
/// assert_eq!(format!("{error:#?}").lines().nth(1), Some("    kind: TooSmall {"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
}

/// The kinds of [`Error`], to be matched on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Memory starts at an address that is not a multiple of what the plan or the element type needs.
    Misaligned {
        /// The alignment needed, in bytes.
        needed: usize,
        /// The address given.
        address: usize,
    },
    /// The plan's alignment is not a multiple of what the buffer type needs; the model needs `align = needed`.
    AlignmentTooSmall {
        /// What the buffer type needs, in bytes.
        needed: usize,
        /// What the plan was made for, in bytes.
        planned: usize,
    },
    /// Memory has fewer bytes than the plan needs.
    TooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The plan is larger than the largest buffer of that type.
    TooLarge {
        /// Bytes needed.
        needed: usize,
        /// The largest possible size in bytes.
        max: usize,
    },
    /// The buffer type pads a tensor beyond the room that the plan gives it.
    SlotTooSmall {
        /// The tensor's name.
        tensor: &'static str,
        /// Bytes needed.
        needed: usize,
        /// Bytes planned.
        planned: usize,
    },
    /// The allocator had no memory.
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// A read or a write reaches beyond the buffer.
    OutOfRange {
        /// First byte.
        offset: usize,
        /// Number of bytes.
        len: usize,
        /// The buffer's size in bytes.
        size: usize,
    },
    /// Data has another length than the tensor.
    Length {
        /// Elements the tensor has.
        expected: usize,
        /// Elements given.
        given: usize,
    },
    /// An extent of an input is another than it has to be.
    Extent {
        /// The input's name.
        input: &'static str,
        /// The dimension, counted from 0.
        axis: usize,
        /// The extent that it has.
        given: usize,
        /// The extent that it has to have.
        expected: usize,
        /// The input that says so: another one, or the same where the extent is fixed or given twice.
        by: &'static str,
    },
    /// An extent of an input is none that it can have.
    Extents {
        /// The input's name.
        input: &'static str,
        /// The dimension, counted from 0.
        axis: usize,
        /// The extent that was given.
        given: usize,
        /// The smallest that it can have.
        least: usize,
        /// The largest that it can have.
        most: usize,
        /// How far those that it can have are apart.
        step: usize,
    },
    /// `forward` was called although an input was not written since the last one overwrote it.
    InputNotSet {
        /// The input's name.
        input: &'static str,
    },
    /// An index that was given to an operator lies outside of what it looks up in. Nothing was read there and nothing
    /// was written.
    IndexOutOfRange {
        /// The operator's name.
        op: &'static str,
        /// The index.
        index: i64,
        /// How many there are; negative indices count from the end.
        extent: usize,
    },
    /// Operands of a step overlap in a way its kernel cannot run on. A checked plan never leads here.
    Overlap {
        /// The operator's name.
        op: &'static str,
    },
    /// A kernel of one's own asks for an operand as a slice of its own, and it lies where the output does.
    InPlace {
        /// The operator's name.
        op: &'static str,
    },
    /// A kernel asks for an operand as elements of another type than it has.
    Element {
        /// The type the operand has.
        expected: DType,
        /// The type it was asked for.
        given: DType,
    },
    /// Attention is given more past and new keys than there is room for. That step wrote nothing.
    Past {
        /// Keys before the first query.
        past: usize,
        /// Queries, whose own keys come behind those.
        queries: usize,
        /// Keys that there is room for.
        keys: usize,
    },
    /// Rows are to be written at a position of a state where they do not fit. That step wrote nothing.
    Position {
        /// The operator's name.
        op: &'static str,
        /// The first row's position.
        position: usize,
        /// How many rows there are.
        rows: usize,
        /// How many the state has.
        extent: usize,
    },
    /// A forward ended in the midst of writing the states, or setting them did: an error or a panic came between. They may
    /// be of two forwards, so the next one is refused until they are reset or restored. If a single one could not be
    /// written, writing it is enough.
    Torn,
    /// Writing weights ended in the midst: an error of the device or of the source came between. They may be of two
    /// trainings, so forward is refused until they are loaded. If a single one could not be written, writing it is enough.
    HalfLoaded,
    /// The slice that states are to be saved to has another length.
    StateSize {
        /// Bytes that saved states take.
        expected: usize,
        /// Bytes given.
        given: usize,
    },
    /// There is no state of that name.
    NoState {
        /// The name given.
        given: Text,
        /// The model's name.
        model: &'static str,
    },
    /// Bytes are not the saved states of this model.
    Saved(SavedFault),
    /// Bytes are not an image of this model's weights.
    Image(ImageFault),
    /// The slice that an image of the weights is to be written to has another length.
    ImageSize {
        /// Bytes that the image takes.
        expected: usize,
        /// Bytes given.
        given: usize,
    },
    /// The buffer is one of bytes that are only borrowed to read, such as an image of weights.
    ReadOnly,
    /// Shared weights lie where the kernels of the model's own buffer cannot read them.
    NotOnHost {
        /// Name of the weights' buffer type.
        buffer: &'static str,
    },
    /// A weight source does not hold what the model needs.
    #[cfg(feature = "alloc")]
    Weights(alloc::boxed::Box<crate::weights::Complaints>),
    /// A weight source does not hold what the model needs.
    #[cfg(not(feature = "alloc"))]
    Weights(crate::weights::Complaints),
    /// A weights file cannot be read as what it claims to be.
    #[cfg(feature = "alloc")]
    Format(alloc::string::String),
}

impl Error {
    /// The kind, to be matched on.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl From<crate::weights::Complaints> for Error {
    fn from(complaints: crate::weights::Complaints) -> Error {
        #[cfg(feature = "alloc")]
        let complaints = alloc::boxed::Box::new(complaints);
        ErrorKind::Weights(complaints).into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error { kind }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::Misaligned { needed, address } => write!(
                f,
                "memory at address {address:#x} is not a multiple of {needed} bytes; give memory aligned to {needed}"
            ),
            ErrorKind::AlignmentTooSmall { needed, planned } => write!(
                f,
                "the buffer type needs tensors aligned to {needed} bytes and the plan was made for {planned}; \
                 write `align = {needed}` in the model's attribute"
            ),
            ErrorKind::TooSmall { needed, given } => {
                write!(f, "the plan needs {needed} bytes and the memory has {given}")
            }
            ErrorKind::TooLarge { needed, max } => {
                write!(f, "the plan needs {needed} bytes and the largest buffer of this type has {max}")
            }
            ErrorKind::SlotTooSmall { tensor, needed, planned } => {
                write!(f, "the buffer type needs {needed} bytes for tensor `{tensor}` and the plan gives it {planned}")
            }
            ErrorKind::OutOfMemory { bytes } => write!(f, "no memory for a buffer of {bytes} bytes"),
            ErrorKind::OutOfRange { offset, len, size } => {
                write!(f, "{len} bytes at offset {offset} reach beyond the buffer of {size} bytes")
            }
            ErrorKind::Length { expected, given } => {
                write!(f, "the tensor has {expected} elements and the data {given}")
            }
            ErrorKind::Extent { input, axis, given, expected, by } => {
                write!(f, "dimension {axis} of input `{input}` is {given} and has to be {expected}")?;
                if by == input { Ok(()) } else { write!(f, ", as it was written in `{by}`; write `{input}` anew") }
            }
            ErrorKind::Extents { input, axis, given, least, most, step } => {
                write!(f, "dimension {axis} of input `{input}` is {given} and has to be from {least} to {most}")?;
                if *step > 1 { write!(f, " in steps of {step}") } else { Ok(()) }
            }
            ErrorKind::InputNotSet { input } => write!(
                f,
                "input `{input}` is not written; write it before every forward, which may overwrite it, or once if it is \
                 declared `#[input(keep)]`"
            ),
            ErrorKind::IndexOutOfRange { op, index, extent } => match extent {
                0 => write!(f, "`{op}` is given the index {index} and looks up in nothing"),
                _ => write!(
                    f,
                    "`{op}` is given the index {index}, which has to be from -{extent} to {}",
                    extent.saturating_sub(1)
                ),
            },
            ErrorKind::Overlap { op } => {
                write!(f, "operands of `{op}` overlap; this is a fault of the planner, please report it")
            }
            ErrorKind::InPlace { op } => write!(
                f,
                "the kernel of `{op}` asks for an operand that is declared `in_place` by `of`, and it lies where the output \
                 does; ask by `get`, and where that gives nothing the output holds the operand's elements"
            ),
            ErrorKind::Element { expected, given } => {
                write!(f, "a kernel asks for {given} elements of an operand of {expected}; ask for {expected}")
            }
            ErrorKind::Past { past, queries, keys } => write!(
                f,
                "`attention` is given {queries} queries behind {past} keys and there is room for {keys}; `past` is at most {}",
                keys.saturating_sub(*queries)
            ),
            ErrorKind::Position { op, position, rows, extent } => write!(
                f,
                "`{op}` is to write {rows} rows at position {position} of a state with {extent}; a position is at most {}",
                extent.saturating_sub(*rows)
            ),
            ErrorKind::Torn => f.write_str(
                "a forward or a transfer ended in the midst of writing the states, which may be half of it and half of what \
                 was before; call `reset_state` or `restore_state` before the next forward",
            ),
            ErrorKind::HalfLoaded => f.write_str(
                "a transfer ended in the midst of writing the weights, which may be half of it and half of what was \
                 before; call `load` again before the next forward",
            ),
            ErrorKind::StateSize { expected, given } => {
                write!(f, "saved states take {expected} bytes and room is given for {given}; give `STATE_SIZE` bytes")
            }
            ErrorKind::NoState { given, model } => write!(
                f,
                "`{model}` has no state `{given}`; give the name of a `#[state]` field, with the path of its block before \
                 it, such as `layers.0.cache`"
            ),
            ErrorKind::Saved(fault) => write!(f, "not the saved states of this model: {fault}"),
            ErrorKind::Image(fault) => write!(f, "not an image of these weights: {fault}"),
            ErrorKind::ImageSize { expected, given } => {
                write!(f, "the image takes {expected} bytes and room is given for {given}; give `IMAGE_SIZE` bytes")
            }
            ErrorKind::ReadOnly => f.write_str(
                "these bytes are only borrowed to read; make weights by `new` or `from_buffer` to load or write them",
            ),
            ErrorKind::NotOnHost { buffer } => write!(
                f,
                "the shared weights lie in a buffer of `{buffer}` and the model's kernels read host memory; give both \
                 buffers of one kind"
            ),
            ErrorKind::Weights(complaints) => complaints.fmt(f),
            #[cfg(feature = "alloc")]
            ErrorKind::Format(what) => write!(f, "not a readable weights file: {what}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            f.debug_struct("Error").field("kind", &self.kind).finish()
        } else {
            fmt::Display::fmt(self, f)
        }
    }
}

impl core::error::Error for Error {}
