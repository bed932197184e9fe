//! The `#[model_graph]` attribute.
