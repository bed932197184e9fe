//! An operator with an epilogue: elementwise stages that are applied to each block of its output as soon as the block is
//! complete, so that what lies between them is never stored. The planner makes them; the language has no name for them.

#[cfg(feature = "alloc")]
pub use fused::Fused;

/// The most operands of a call, those of its stages counted. Kernels keep room for as many.
pub const MAX_OPERANDS: usize = 8;

/// `base`, followed by the elementwise operator `stage` on its result. The operands are the base's and then, where the
/// stage takes two, the stage's other one. Stages nest: `Then<Then<Conv2d, Add>, Relu>`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Then<B, S> {
    /// What is computed first.
    pub base: B,
    /// The elementwise operator that follows.
    pub stage: S,
    /// Which operand of the stage the base's result is.
    pub side: usize,
}

#[cfg(feature = "alloc")]
mod fused {
    use alloc::rc::Rc;
    use alloc::string::String;
    use core::any::Any;

    use crate::op::{Field, Fields, Operator, RuleError};
    use crate::{Type, View};

    /// What the planner knows of a `Then`.
    #[derive(Clone, Debug)]
    pub struct Fused {
        /// What is computed first.
        pub base: Rc<dyn Operator>,
        /// How many of the operands are the base's.
        pub operands: usize,
        /// The elementwise operator that follows.
        pub stage: Rc<dyn Operator>,
        /// Which operand of the stage the base's result is.
        pub side: usize,
        name: String,
    }

    impl Fused {
        /// `stage` after `base`, which takes `operands` operands.
        pub fn new(base: Rc<dyn Operator>, operands: usize, stage: Rc<dyn Operator>, side: usize) -> Fused {
            let name = alloc::format!("{} + {}", base.name(), stage.name());
            Fused { base, operands, stage, side, name }
        }
    }

    impl Fields for Fused {
        fn name(&self) -> &str {
            &self.name
        }

        fn kernel(&self) -> &'static str {
            "Then"
        }

        fn fields(&self, visit: &mut dyn FnMut(&'static str, Field<'_>)) {
            self.base.fields(visit);
            self.stage.fields(visit);
        }

        fn at(&self, values: &[usize]) -> Rc<dyn Operator> {
            let (base, stage) = (self.base.at(values), self.stage.at(values));
            Rc::new(Fused { base, stage, ..self.clone() })
        }

        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    impl Operator for Fused {
        fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
            let result = self.base.infer(&inputs[..self.operands])?;
            let after = match (&inputs[self.operands..], self.side) {
                ([], _) => self.stage.infer(&[result])?,
                ([other, ..], 0) => self.stage.infer(&[result, *other])?,
                ([other, ..], _) => self.stage.infer(&[*other, result])?,
            };
            // A stage works on the base's elements; it cannot stretch them.
            if after == result { Ok(result) } else { Err(RuleError::Overflow) }
        }

        fn strided_input(&self, input: usize) -> bool {
            input >= self.operands || self.base.strided_input(input)
        }

        fn writes(&self, output: &View) -> bool {
            self.base.writes(output)
        }

        fn scratch(&self, inputs: &[Type], output: &Type) -> usize {
            self.base.scratch(&inputs[..self.operands], output)
        }

        fn takes_stages(&self) -> bool {
            self.base.takes_stages()
        }
    }
}
