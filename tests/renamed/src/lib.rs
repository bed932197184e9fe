//! A model in a crate that knows `model-graph` by another name.

#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub, clippy::all, clippy::pedantic)]

use memory_planner::model_graph;

/// One layer.
#[model_graph(dims(N = 2), crate = ::memory_planner)]
#[derive(Debug)]
pub struct Model {
    /// What goes in.
    #[input]
    pub x: Tensor<f32, N>,
    #[weight]
    w: Tensor<f32, N>,
    #[constant([1.0; 2])]
    ones: Tensor<f32, N>,
    #[node(x * w)]
    h: _,
    /// What comes out.
    #[output(relu(h) + ones + 0.5)]
    pub y: _,
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "every sum is exact")]
mod tests {
    use memory_planner::Cpu;

    use super::Model;

    #[test]
    fn a_renamed_crate_is_enough() {
        let mut model = Model::new(&Cpu).unwrap();
        *model.x_mut() = [1.0, 2.0];
        *model.w_mut() = [3.0, -4.0];
        assert_eq!(model.forward().unwrap().y().map(f32::to_bits), [4.5, 1.5].map(f32::to_bits));
    }
}
