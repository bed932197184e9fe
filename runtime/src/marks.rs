//! What a model knows of its own bytes: which inputs were written, and whether states may be half written. It knows neither
//! plans nor buffers.

use crate::{Error, ErrorKind};

/// Which inputs were written since the last forward, and whether states may be half written. A model's own module
/// sees the field, so what is in it is private.
#[derive(Clone, Debug)]
pub struct Inputs<const N: usize> {
    written: [bool; N],
    /// A forward has written states and did not end, or has not yet.
    pub(crate) torn: bool,
}

impl<const N: usize> Inputs<N> {
    /// None of them.
    pub const fn none() -> Inputs<N> {
        Inputs { written: [false; N], torn: false }
    }

    /// The mark of one input, for whoever writes it.
    pub fn written(&mut self, input: usize) -> Written<'_> {
        Written(&mut self.written[input])
    }

    /// Fails unless every input was written and the states are whole.
    pub fn check(&self, inputs: &[(&'static str, bool); N]) -> Result<(), Error> {
        self.whole()?;
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
        if self.torn { Err(ErrorKind::Torn.into()) } else { Ok(()) }
    }

    /// Before a step that writes a state. Says whether one had been written already.
    pub fn tear(&mut self) -> bool {
        core::mem::replace(&mut self.torn, true)
    }

    /// After that step, which wrote nothing if it refused the position.
    pub fn torn(&mut self, before: bool, result: Result<(), Error>) -> Result<(), Error> {
        if let Err(error) = &result
            && matches!(error.kind(), ErrorKind::Position { .. })
        {
            self.torn = before;
        }
        result
    }

    /// After the last step.
    pub fn mend(&mut self) {
        self.torn = false;
    }
}

/// The mark of an input, which only the accessor of the runtime sets.
#[derive(Debug)]
pub struct Written<'a>(pub(crate) &'a mut bool);
