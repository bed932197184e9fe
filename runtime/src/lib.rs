//! A neural network's memory, planned while it compiles.
#![no_std]
