//! Operators of users' crates where no name of the prelude is in scope and those of the emitted code mean other things.

use ::core::assert_eq;
use ::core::prelude::v1::test;
use ::core::result::Result::{self, Ok};
use ::model_graph::{Cpu, model_graph, operator};

mod shadowed {
    use super::*;

    /// What emitted code could take for something else.
    #[allow(dead_code, non_camel_case_types, reason = "nothing uses them, which is what this is about")]
    mod others {
        pub(super) struct usize;
        pub(super) struct f32;
        pub(super) struct Self_;
        pub(super) struct Option;
        pub(super) struct Rule;
    }
    #[allow(unused_imports, reason = "nothing uses them, which is what this is about")]
    use others::{Option, Rule, f32, usize};

    #[operator(fn(self_: f32[.., N], pos: u32) -> f32[.., N], in_place = self_, scratch = N * size)]
    #[derive(::core::fmt::Debug)]
    pub(super) struct Sum {
        #[setting(default = 4)]
        pub(super) size: ::core::primitive::usize,
        #[setting(default = 0.5)]
        pub(super) rule: ::core::primitive::f32,
    }
}

impl<M: ::model_graph::cpu::Memory> ::model_graph::Kernel<shadowed::Sum> for ::model_graph::CpuBuffer<M> {
    fn run(&mut self, call: &::model_graph::Call<'_, shadowed::Sum>) -> Result<(), ::model_graph::Error> {
        let operands: ::model_graph::cpu::Operands<'_, 2> = ::model_graph::cpu::operands(self, call)?;
        assert_eq!(operands.scratch.of::<u8>()?.len(), 2 * call.op.size);
        let y = operands.output.of::<f32>()?;
        if let ::core::option::Option::Some(x) = operands.inputs[0].get::<f32>()? {
            y.copy_from_slice(x);
        }
        for y in y {
            *y += call.op.rule;
        }
        Ok(())
    }
}

#[model_graph]
struct Sums {
    #[input]
    x: Tensor<f32, 2>,
    #[input]
    pos: Tensor<u32>,
    #[output(shadowed::Sum(x, pos, size = 3))]
    y: _,
}

#[test]
fn an_operator_stands_among_other_names() {
    let mut model = Sums::new(&Cpu).unwrap();
    (*model.x_mut(), *model.pos_mut()) = ([1.0, 2.0], 1);
    assert_eq!(*model.forward().unwrap().y(), [1.5, 2.5]);
}
