//! What is emitted for states beside their accessors: setting them back, saving and restoring them.

use model_graph_planner::{Planned, PlannedStep, Role, Storage};
use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

use super::Expansion;
use crate::lower::Lowered;

/// True when the model, or a block in it, has states.
pub(super) fn there_are(lowered: &Lowered<'_>) -> bool {
    lowered.graph.tensors().any(|(_, tensor)| tensor.role == Role::State)
}

/// True for a step that writes a state: a version of it, or all that one is made of.
pub(super) fn writes(planned: &Planned, step: &PlannedStep) -> bool {
    step.outputs.iter().any(|output| {
        let mut at = *output;
        while let Storage::Part(whole) = planned.tensors[at].storage {
            at = whole;
        }
        planned.tensors[at].role == Role::State
    })
}

/// How many bytes saved states take.
pub(super) fn size(expansion: &Expansion<'_>, krate: &Path) -> TokenStream {
    if !there_are(expansion.lowered) {
        return TokenStream::new();
    }
    quote! {
        /// How many bytes `save_state` writes and `restore_state` takes.
        pub const STATE_SIZE: ::core::primitive::usize = #krate::__private::state_size(&Self::PLAN);
    }
}

/// Methods that only models with states have.
pub(super) fn methods(expansion: &Expansion<'_>, krate: &Path) -> TokenStream {
    if !there_are(expansion.lowered) {
        return TokenStream::new();
    }
    let name = &expansion.model.name;
    quote! {
        /// Sets every state to zero, as it was at the start. Weights, inputs and everything else stay.
        ///
        /// # Errors
        /// What the device reports; none on host memory. The next forward is then `Torn`, until they are set.
        pub fn reset_state(&mut self) -> ::core::result::Result<(), #krate::Error> {
            #krate::__private::reset_state(&mut self.buffer, &<#name>::PLAN, &mut self.inputs)
        }

        /// Sets one state to zero: `cache`, or in a block `layers.0.cache`. The path of a block, `layers.0`, sets all
        /// that are in it to zero.
        ///
        /// # Errors
        /// `NoState` when there is none of that name; nothing is then changed. After what the device reports the next
        /// forward is `Torn`.
        pub fn reset_state_of(&mut self, __name: &::core::primitive::str) -> ::core::result::Result<(), #krate::Error> {
            #krate::__private::reset_state_of(&mut self.buffer, &<#name>::PLAN, &mut self.inputs, __name)
        }

        /// Writes all states, with their names, element types and shapes, to `STATE_SIZE` bytes.
        ///
        /// # Errors
        /// `StateSize` when the slice has another length, `Torn` when the last forward ended in the midst of writing the
        /// states, or setting them did.
        pub fn save_state(&self, __out: &mut [::core::primitive::u8]) -> ::core::result::Result<(), #krate::Error> {
            #krate::__private::save_state(&self.buffer, &<#name>::PLAN, &self.inputs, __out)
        }

        /// Sets all states to what `save_state` wrote.
        ///
        /// # Errors
        /// `Saved`, with what is wrong, when the bytes are not the saved states of this model; nothing is then changed.
        /// After what the device reports the next forward is `Torn`.
        pub fn restore_state(&mut self, __saved: &[::core::primitive::u8]) -> ::core::result::Result<(), #krate::Error> {
            #krate::__private::restore_state(&mut self.buffer, &<#name>::PLAN, &mut self.inputs, __saved)
        }
    }
}
