//! Blocks among names that could be taken for those of the emitted code.

use ::core::assert_eq;
use ::core::prelude::v1::test;
use ::renamed::{Cpu, model_graph};

/// The block's own names mean something else where it is used.
#[allow(dead_code, reason = "nothing may find it")]
const HALF: ::core::primitive::f32 = 0.25;

/// Blocks, one of them public.
mod parts {
    use ::renamed::model_graph;

    const HALF: ::core::primitive::f32 = 0.5;

    fn ramp(out: &mut [::core::primitive::f32; 2]) {
        *out = [1.0, 2.0];
    }

    /// A block.
    #[model_graph(dims(N = 2), crate = ::renamed)]
    #[derive(::core::fmt::Debug)]
    pub struct Some {
        /// What goes in.
        #[input]
        pub buffer: Tensor<f32, N>,
        /// A weight.
        #[weight]
        pub inputs: Tensor<f32, N>,
        #[constant(HALF)]
        half: Tensor<f32>,
        #[constant(fill = ramp)]
        copy: Tensor<f32, 2>,
        /// What is kept.
        #[keep]
        #[node(buffer * inputs + copy)]
        pub hook: _,
        /// What comes out.
        #[output(hook * half)]
        pub source: Tensor<f32, N>,
    }

    #[model_graph(dims(N = _))]
    pub(super) struct Vec {
        #[input]
        r#type: Tensor<f32, N>,
        #[weight]
        r#in: Tensor<f32, N>,
        #[output(r#type + r#in)]
        r#move: _,
    }
}

/// Composed, with docs and all.
#[model_graph(dims(N = 2))]
#[derive(::core::fmt::Debug)]
pub struct Ok {
    /// What goes in.
    #[input]
    pub x: Tensor<f32, N>,
    #[node(parts::Some(x))]
    self_: _,
    #[chain(self_)]
    r#type: [parts::Some; 2],
    #[chain(r#type, N = 2)]
    copy: [self::parts::Vec; 1],
    /// What comes out.
    #[output(copy + 1)]
    pub y: _,
}

#[test]
fn blocks_are_hygienic() {
    let mut model = Ok::new(&Cpu).unwrap();
    *model.x_mut() = [4.0, 6.0];
    *model.self__inputs_mut() = [1.0, 2.0];
    *model.type_inputs_mut(0) = [2.0, 0.0];
    *model.type_inputs_mut(1) = [4.0, 0.0];
    *model.copy_in_mut(0) = [0.5, 0.25];
    let outputs = model.forward().unwrap();
    // (4 + 1) / 2, (5 + 1) / 2, (12 + 1) / 2; (12 + 2) / 2, 1, 1.
    assert_eq!(*outputs.self__hook(), [5.0, 14.0]);
    assert_eq!(*outputs.type_hook(1), [13.0, 2.0]);
    assert_eq!(*outputs.y(), [8.0, 2.25]);
}

#[test]
fn blocks_stand_in_functions() {
    #[model_graph]
    struct None {
        #[input]
        x: Tensor<f32, 2>,
        #[output(parts::Vec<N = 2>(parts::Some(x)))]
        y: _,
    }

    let mut model = None::new(&Cpu).unwrap();
    *model.x_mut() = [4.0, 6.0];
    assert_eq!(*model.forward().unwrap().y(), [0.5, 1.0]);
}
