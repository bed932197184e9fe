//! Blocks of other modules and other crates, under other names, in functions, before and after their use.

use model_graph::{Cpu, model_graph};
use model_graph_tests_exports as exports;
use model_graph_tests_exports::{Affine, Sloped as Slanted};

#[model_graph(dims(B = 2))]
struct Foreign {
    #[input]
    x: Tensor<f32, B, 2>,
    #[node(Slanted<ROWS = B>(x))]
    a: _,
    #[node(Affine<ROWS = B>(a))]
    b: Tensor<f32, B, 3>,
    #[output(exports::Gate<N = 3>(sum(b, axes = [0])))]
    y: _,
}

#[test]
fn blocks_stand_in_another_crate() {
    let mut model = Foreign::new(&Cpu).unwrap();
    *model.x_mut() = [[1.0, 2.0], [3.0, -4.0]];
    *model.a_inner_w_mut() = [[1.0, 0.0], [0.0, 1.0]];
    *model.a_inner_b_mut() = [0.25, 0.0];
    *model.b_w_mut() = [[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]];
    *model.y_gate_mut() = [1.0, 10.0, 100.0];
    // Rows [0.75, 4] and [1.75, 0].
    assert_eq!(*model.forward().unwrap().y(), [6.5, 90.0, 1150.0]);
}

/// A block of a crate that is a model there too.
#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2>,
    #[output(model_graph_tests_renamed::Model(x))]
    y: _,
}

#[test]
fn a_block_has_the_name_of_the_model_that_uses_it() {
    let mut model = Model::new(&Cpu).unwrap();
    *model.x_mut() = [1.0, 2.0];
    *model.y_w_mut() = [3.0, -4.0];
    assert_eq!(*model.forward().unwrap().y(), [4.5, 1.5]);
}

#[test]
fn blocks_stand_in_functions() {
    #[model_graph]
    struct Uses {
        #[input]
        x: Tensor<f32, 2>,
        #[output(Twice(x) + Thrice(x))]
        y: _,
    }

    #[model_graph]
    struct Twice {
        #[input]
        x: Tensor<f32, 2>,
        #[output(x * 2)]
        y: _,
    }

    #[model_graph]
    pub struct Thrice {
        #[input]
        x: Tensor<f32, 2>,
        #[output(x * 3)]
        y: _,
    }

    let mut model = Uses::new(&Cpu).unwrap();
    *model.x_mut() = [1.0, 2.0];
    assert_eq!(*model.forward().unwrap().y(), [5.0, 10.0]);
}

macro_rules! doubled {
    ($name:ident, $block:path) => {
        #[model_graph]
        struct $name {
            #[input]
            x: Tensor<f32, 2>,
            #[output($block(x) * 2)]
            y: _,
        }
    };
}

mod generated {
    use super::model_graph;

    doubled!(Once, super::Base);
    doubled!(Again, self::Once);

    #[test]
    fn blocks_come_out_of_macros() {
        let mut model = Again::new(&model_graph::Cpu).unwrap();
        *model.x_mut() = [1.0, 2.0];
        assert_eq!(*model.forward().unwrap().y(), [8.0, 12.0]);
    }
}

macro_rules! same {
    () => {
        use super::model_graph;

        #[model_graph]
        pub struct Same {
            #[input]
            x: Tensor<f32, 2>,
            #[output(x * 3)]
            y: _,
        }
    };
}

/// Every token of a model, and the name of the macro that is exported beside it, comes out of one macro, twice.
#[allow(unreachable_pub, reason = "a public block is what this is about")]
mod left {
    same!();
}

#[allow(unreachable_pub, reason = "a public block is what this is about")]
mod right {
    same!();
}

#[model_graph]
struct Both {
    #[input]
    x: Tensor<f32, 2>,
    #[output(left::Same(right::Same(x)))]
    y: _,
}

#[test]
fn one_macro_emits_a_public_block_twice() {
    let mut model = Both::new(&Cpu).unwrap();
    *model.x_mut() = [1.0, 2.0];
    assert_eq!(*model.forward().unwrap().y(), [9.0, 18.0]);
}

#[model_graph]
struct Base {
    #[input]
    x: Tensor<f32, 2>,
    #[output(x + 1)]
    y: _,
}
