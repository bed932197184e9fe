//! Models wherever an item can stand, and under another name of the crate.

use ::core::prelude::v1::test;
use ::core::{assert_eq, iter::Iterator};
use ::model_graph::{Cpu, model_graph};

/// Two models in one scope, one of them public.
#[model_graph(dims(N = 2))]
#[derive(::core::fmt::Debug)]
pub struct First {
    /// What goes in.
    #[input]
    pub x: Tensor<f32, N>,
    /// What it is multiplied by.
    #[weight]
    pub w: Tensor<f32, N>,
    #[doc = "What comes out."]
    #[output(x * w)]
    pub y: Tensor<f32, N>,
}

#[model_graph(dims(N = 3))]
struct Second {
    #[input]
    x: Tensor<f32, N>,
    #[allow(unused)]
    #[weight]
    spare: Tensor<f32, N>,
    #[output(x + 1)]
    y: _,
}

#[test]
fn two_models_share_a_scope() {
    let mut first = First::new(&Cpu).unwrap();
    (*first.x_mut(), *first.w_mut()) = ([1.0, 2.0], [3.0, 4.0]);
    assert_eq!(*first.forward().unwrap().y(), [3.0, 8.0]);
    let mut second = Second::new(&Cpu).unwrap();
    *second.x_mut() = [1.0, 2.0, 3.0];
    assert_eq!(*second.forward().unwrap().y(), [2.0, 3.0, 4.0]);
    assert_eq!((First::N, Second::N), (2, 3));
}

#[test]
fn a_model_stands_in_a_function() {
    const SCALE: ::core::primitive::f32 = 3.0;

    #[model_graph]
    struct Local {
        #[input]
        x: Tensor<f32>,
        #[constant(SCALE)]
        scale: Tensor<f32>,
        #[output(x * scale)]
        y: _,
    }

    let mut model = Local::new(&Cpu).unwrap();
    *model.x_mut() = 2.0;
    assert_eq!(*model.forward().unwrap().y(), 6.0);
}

mod inner {
    pub(super) mod deeper {
        use ::renamed::model_graph;

        #[model_graph(crate = ::renamed, align = 16)]
        pub(in super::super) struct Visible {
            #[input]
            pub(in super::super) x: Tensor<f32, 2>,
            #[weight(name = "layer.0.weight")]
            pub(super) w: Tensor<f32, 2>,
            #[output(x + w)]
            pub(crate) y: _,
        }
    }

    pub(super) fn weigh(model: &mut deeper::Visible) {
        *model.w_mut() = [1.0, 1.0];
    }
}

#[test]
fn visibility_and_the_name_of_the_crate_are_the_users() {
    let mut model = inner::deeper::Visible::new(&::renamed::Cpu).unwrap();
    inner::weigh(&mut model);
    *model.x_mut() = [1.0, 2.0];
    assert_eq!(*model.forward().unwrap().y(), [2.0, 3.0]);
    assert_eq!(inner::deeper::Visible::PLAN.align, 16);
}

/// The crate under a path of the user's own.
mod by_path {
    pub(crate) mod nested {
        pub(crate) use ::renamed as graph;
    }

    #[nested::graph::model_graph(crate = crate::places::by_path::nested::graph)]
    pub(crate) struct Model {
        #[input]
        pub(crate) x: Tensor<f32, 2>,
        #[output(x[1])]
        pub(crate) y: _,
    }
}

#[test]
fn the_crate_is_found_by_path() {
    let mut model = by_path::Model::new(&Cpu).unwrap();
    *model.x_mut() = [1.0, 2.0];
    assert_eq!(*model.forward().unwrap().y(), 2.0);
}

macro_rules! model {
    ($name:ident, $size:literal, $ty:ty, $x:ident => $expr:expr) => {
        #[model_graph]
        struct $name {
            #[input]
            $x: Tensor<f32, $size>,
            #[constant($expr)]
            c: $ty,
            #[output($x * c)]
            y: _,
        }
    };
}
model!(Made, 2, Tensor<f32, 2>, x => [2.0, 3.0]);

#[test]
fn a_model_comes_out_of_another_macro() {
    let mut model = Made::new(&Cpu).unwrap();
    *model.x_mut() = [1.0, 2.0];
    assert_eq!(*model.forward().unwrap().y(), [2.0, 6.0]);
}

#[cfg(any())]
#[model_graph]
struct Absent {
    #[input]
    x: Tensor<f32, 2>,
    #[output(nonsense(x))]
    y: _,
}

#[model_graph]
#[cfg(any())]
struct AbsentToo {
    #[input]
    x: Tensor<f32, 2>,
    #[output(nonsense(x))]
    y: _,
}

#[test]
fn names_in_the_plan_are_those_declared() {
    let names = First::PLAN.tensors.iter().map(|tensor| tensor.name);
    assert_eq!(names.collect::<::std::vec::Vec<_>>(), ["x", "w", "y"]);
}

/// Shared weights and an open extent under lints that ask for written lifetimes and for `Debug`.
mod shared {
    #![deny(rust_2018_idioms, single_use_lifetimes, missing_debug_implementations, clippy::indexing_slicing)]

    use ::core::prelude::v1::test;
    use ::core::{assert, assert_eq};
    use ::model_graph::{Cpu, model_graph};

    /// A layer.
    #[model_graph(dims(N <= 2), weights = "shared")]
    #[derive(::core::fmt::Debug)]
    pub struct Lent {
        /// What goes in.
        #[input]
        pub x: Tensor<f32, N>,
        /// What it is multiplied by.
        #[weight]
        pub w: Tensor<f32, 2>,
        /// What comes out.
        #[output(x * w[..N])]
        pub y: _,
    }

    #[test]
    fn a_model_that_borrows_its_weights_derives_debug() {
        let mut weights = LentWeights::new(&Cpu).unwrap();
        *weights.w_mut() = [3.0, 4.0];
        let mut lent = Lent::new(&Cpu, &weights).unwrap();
        lent.x_mut().write(&[2.0]).unwrap();
        assert_eq!(lent.forward().unwrap().y()[..], [6.0]);
        assert!(::std::format!("{lent:?}").contains("LentWeights"));
    }
}
