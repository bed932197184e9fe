//! Types, modules and functions in scope that have the names of what emitted code uses, and models called like them.

#![allow(
    non_camel_case_types,
    non_upper_case_globals,
    dead_code,
    reason = "these are the names that are to be shadowed"
)]

/// Everything here is somebody else's.
mod taken {
    use ::core::prelude::v1::test;
    use ::core::{assert, assert_eq};
    use ::model_graph::model_graph;

    struct f32;
    struct usize;
    struct bool;
    struct u8;
    struct Option;
    struct Some;
    struct None;
    struct Result;
    struct Ok;
    struct Err;
    struct Plan;
    struct Tensor;
    struct Buffer;
    struct Sized;
    mod core {}
    mod std {}
    fn unreachable() {}
    /// Fills the constant of that name.
    fn buffer(out: &mut [::core::primitive::f32; 2]) {
        *out = [1.0, 2.0];
    }
    const SEVEN: ::core::primitive::f32 = 7.0;

    #[model_graph(dims(N = 2))]
    #[derive(::core::fmt::Debug)]
    struct Model {
        #[input]
        x: Tensor<f32, N>,
        #[constant(fill = buffer)]
        ramp: Tensor<f32, N>,
        #[constant([SEVEN; Self::N])]
        seven: Tensor<f32, N>,
        #[output(x * ramp + seven + 1)]
        y: _,
    }

    #[test]
    fn nothing_is_taken_for_what_it_is_not() {
        let mut model = Model::new(&::model_graph::Cpu).unwrap();
        *model.x_mut() = [1.0, 2.0];
        assert_eq!(*model.forward().unwrap().y(), [9.0, 12.0]);
        assert!(::std::format!("{model:?}").starts_with("Model"));
    }
}

/// Items that a parameter or a variable of that name could be taken for.
mod patterns {
    use ::core::assert_eq;
    use ::core::prelude::v1::test;
    use ::model_graph::{Cpu, model_graph};

    struct buffer;
    struct buffer_type;
    struct index;
    const hook: u8 = 0;
    const source: u8 = 0;
    const inputs: u8 = 0;
    const outputs: u8 = 0;
    static memory: u8 = 0;

    #[model_graph]
    struct Model {
        #[input]
        x: Tensor<f32, 2>,
        #[weight]
        w: Tensor<f32, 2>,
        #[constant([1.0; 2])]
        c: Tensor<f32, 2>,
        #[output(relu(x * w + c + 1))]
        y: _,
    }

    #[test]
    fn no_pattern_is_taken_for_an_item() {
        let mut model = Model::new(&Cpu).unwrap();
        *model.x_mut() = [1.0, 2.0];
        assert_eq!(*model.forward().unwrap().y(), [2.0, 2.0]);
    }
}

/// A model called like each of these, one a module.
mod models {
    macro_rules! called {
        ($($module:ident $name:ident $outputs:ident),*) => { $(
            mod $module {
                use ::core::prelude::v1::test;
                use ::core::assert_eq;
                use ::model_graph::{Cpu, model_graph};

                #[model_graph]
                pub(crate) struct $name {
                    #[input]
                    pub(crate) x: Tensor<f32, 2>,
                    #[output(relu(x) + 1)]
                    pub(crate) y: _,
                }

                #[test]
                fn runs() {
                    let mut model = $name::new(&Cpu).unwrap();
                    *model.x_mut() = [-1.0, 1.0];
                    let outputs: $outputs<'_> = model.forward().unwrap();
                    assert_eq!(*outputs.y(), [1.0, 2.0]);
                }
            }
        )* };
    }
    called!(option Option OptionOutputs, result Result ResultOutputs, float f32 f32Outputs, size usize usizeOutputs,
        plan Plan PlanOutputs, vec Vec VecOutputs, tensor Tensor TensorOutputs, buffer Buffer BufferOutputs);
}
