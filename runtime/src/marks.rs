//! What a model knows of its own bytes: which inputs were written, and whether states or weights may be half written. It
//! knows neither plans nor buffers.

use crate::{Error, ErrorKind};

/// Whether persistent tensors may be half written, because a transfer failed in its midst or a forward did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half(Which);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    None,
    /// The tensor at that offset, which a whole one mends.
    One(usize),
    /// Any of them, or some are of one time and some of another: writing one mends nothing.
    Any,
}

impl Half {
    /// All of them are whole.
    pub const NONE: Half = Half(Which::None);
    /// Any of them may be half written.
    pub(crate) const ANY: Half = Half(Which::Any);

    /// Before the tensor at that offset is written.
    pub(crate) fn begin(&mut self, offset: usize) {
        self.0 = match self.0 {
            Which::None => Which::One(offset),
            Which::One(other) if other == offset => Which::One(offset),
            Which::One(_) | Which::Any => Which::Any,
        };
    }

    /// After it was written as a whole.
    pub(crate) fn end(&mut self, offset: usize) {
        if self.0 == Which::One(offset) {
            self.0 = Which::None;
        }
    }
}

/// Which inputs were written since the last forward, and whether states or weights may be half written. A model's own
/// module sees the field, so what is in it is private.
#[derive(Clone, Debug)]
pub struct Inputs<const N: usize> {
    written: [bool; N],
    /// A forward has written states and did not end, or has not yet; or a transfer to one failed.
    pub(crate) states: Half,
    /// A transfer to weights failed.
    pub(crate) weights: Half,
}

impl<const N: usize> Inputs<N> {
    /// None of them.
    pub const fn none() -> Inputs<N> {
        Inputs { written: [false; N], states: Half::NONE, weights: Half::NONE }
    }

    /// The mark of one input, for whoever writes it.
    pub fn written(&mut self, input: usize) -> Mark<'_> {
        Mark::Input(&mut self.written[input])
    }

    /// The mark of the states, for whoever writes one.
    pub fn state(&mut self) -> Mark<'_> {
        Mark::Part(&mut self.states)
    }

    /// The mark of the weights, for whoever writes one.
    pub fn weight(&mut self) -> Mark<'_> {
        Mark::Part(&mut self.weights)
    }

    /// The mark of the weights, for whoever loads them all.
    pub fn weights(&mut self) -> &mut Half {
        &mut self.weights
    }

    /// Fails unless every input was written and states and weights are whole.
    pub fn check(&self, inputs: &[(&'static str, bool); N]) -> Result<(), Error> {
        self.whole()?;
        loaded(&self.weights)?;
        for (written, (input, _)) in self.written.iter().zip(inputs) {
            if !written {
                return Err(ErrorKind::InputNotSet { input }.into());
            }
        }
        Ok(())
    }

    /// Fails unless every input was written; those that are not kept then count as not written.
    pub fn take(&mut self, inputs: &[(&'static str, bool); N]) -> Result<(), Error> {
        self.check(inputs)?;
        for (written, (_, keep)) in self.written.iter_mut().zip(inputs) {
            *written = *keep;
        }
        Ok(())
    }

    /// Fails when states may be half written.
    pub(crate) fn whole(&self) -> Result<(), Error> {
        if self.states == Half::NONE { Ok(()) } else { Err(ErrorKind::Torn.into()) }
    }

    /// Before a step that writes a state. Gives what was known until then.
    pub fn tear(&mut self) -> Half {
        core::mem::replace(&mut self.states, Half::ANY)
    }

    /// After that step, which wrote nothing if it refused a position or an index.
    pub fn torn(&mut self, before: Half, result: Result<(), Error>) -> Result<(), Error> {
        if let Err(error) = &result
            && matches!(
                error.kind(),
                ErrorKind::Position { .. } | ErrorKind::IndexOutOfRange { .. } | ErrorKind::Past { .. }
            )
        {
            self.states = before;
        }
        result
    }

    /// After the last step.
    pub fn mend(&mut self) {
        self.states = Half::NONE;
    }
}

/// Fails when weights may be half written.
pub fn loaded(weights: &Half) -> Result<(), Error> {
    if *weights == Half::NONE { Ok(()) } else { Err(ErrorKind::HalfLoaded.into()) }
}

/// Of what is only borrowed to read no write ever reached a byte.
pub(crate) fn wrote_nothing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::ReadOnly)
}

/// The mark of what is written, which only accessors of the runtime set.
#[derive(Debug)]
pub enum Mark<'a> {
    /// Whether an input was written.
    Input(&'a mut bool),
    /// Whether states, or weights, are half written.
    Part(&'a mut Half),
}

impl<'a> Mark<'a> {
    /// The mark of weights that lie apart.
    pub fn apart(weights: &'a mut Half) -> Mark<'a> {
        Mark::Part(weights)
    }

    /// False for an input whose bytes may have been other tensors' since it was written.
    pub(crate) fn is_valid(&self) -> bool {
        !matches!(self, Mark::Input(false))
    }

    /// Writes the tensor at that offset. A device that fails in the midst leaves neither the old value nor the new one.
    pub(crate) fn around(&mut self, offset: usize, write: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        match self {
            Mark::Input(written) => {
                **written = false;
                write()?;
                **written = true;
            }
            Mark::Part(half) => {
                let before = **half;
                half.begin(offset);
                let result = write();
                match &result {
                    Ok(()) => {
                        **half = before;
                        half.end(offset);
                    }
                    Err(error) if wrote_nothing(error) => **half = before,
                    Err(_) => {}
                }
                result?;
            }
        }
        Ok(())
    }

    /// When it is handed out to be written in place: an input counts as written, and what was half written stays so.
    pub(crate) fn in_place(&mut self) {
        if let Mark::Input(written) = self {
            **written = true;
        }
    }
}
