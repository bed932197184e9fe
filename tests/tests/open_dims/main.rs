//! Models with open dims: what inputs bring, what outputs have, what is refused, and the bits of every value from 1 to the
//! bound against a model that is built for it.
#![allow(unreachable_pub, reason = "the models are of the form that users write, and stand in modules of a test")]

mod inputs;
mod two;
mod values;
