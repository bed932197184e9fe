//! Models that run; each one is a target under `examples/`.
