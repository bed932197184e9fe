//! Keywords and letters of other alphabets as names.

use ::core::iter::Iterator;
use ::core::ops::FnMut;
use ::core::option::Option::{self, Some};
use ::core::prelude::v1::test;
use ::core::result::Result::{self, Ok};
use ::core::{assert, assert_eq};
use ::model_graph::{Cpu, DType, Error, Weight, WeightSource, model_graph};

#[model_graph(dims(N = 2))]
struct Words {
    #[input]
    r#type: Tensor<f32, N>,
    #[weight]
    r#in: Tensor<f32, N>,
    #[weight(name = "größe")]
    größe: Tensor<f32, N>,
    #[node(r#type * r#in)]
    #[keep]
    r#fn: _,
    #[output(r#fn + größe)]
    r#move: _,
}

/// Every weight is `[2, 2]`; a name that it does not know is not there.
struct Twos;

impl WeightSource for Twos {
    fn find(&self, name: &::core::primitive::str) -> Result<Option<Weight<'_>>, Error> {
        const TWOS: [::core::primitive::u8; 8] = [0, 0, 0, 64, 0, 0, 0, 64];
        assert!(name == "in" || name == "größe", "asked for {name}");
        Ok(Some(Weight { dtype: Some(DType::F32), shape: &[2], bytes: &TWOS }))
    }

    fn names(&self, visit: &mut dyn FnMut(&::core::primitive::str)) {
        visit("in");
        visit("größe");
    }
}

#[test]
fn md_5_keywords_are_names_and_keys_without_the_prefix() {
    let mut model = Words::new(&Cpu).unwrap();
    model.load(&Twos).unwrap();
    *model.type_mut() = [1.0, 3.0];
    let outputs = model.forward().unwrap();
    assert_eq!(*outputs.r#fn(), [2.0, 6.0]);
    assert_eq!(*outputs.r#move(), [4.0, 8.0]);
    assert!(Words::PLAN.tensors.iter().any(|tensor| tensor.name == "type"));
}

/// A keyword as the model's own name.
#[model_graph]
#[allow(non_camel_case_types, reason = "keywords are written small")]
struct r#struct {
    #[input]
    x: Tensor<f32, 2>,
    #[output(x * 2)]
    y: _,
}

#[test]
fn md_5_a_keyword_is_a_model() {
    let mut model = r#struct::new(&Cpu).unwrap();
    *model.x_mut() = [1.0, 2.0];
    assert_eq!(*model.forward().unwrap().y(), [2.0, 4.0]);
    assert_eq!(r#struct::PLAN.model, "struct");
}

mod operators {
    use ::core::assert_eq;
    use ::core::prelude::v1::test;
    use ::core::result::Result::{self, Ok};
    use ::model_graph::cpu::{Memory, Operands, operands};
    use ::model_graph::{Call, Cpu, CpuBuffer, Error, Kernel, model_graph, operator};

    #[operator(fn(r#in: f32[N], r#fn: f32[N]) -> f32[N])]
    struct Keyed {
        r#type: ::core::primitive::f32,
    }

    impl<M: Memory> Kernel<Keyed> for CpuBuffer<M> {
        fn run(&mut self, call: &Call<'_, Keyed>) -> Result<(), Error> {
            let Operands { output, inputs: [first, second], .. } = operands(self, call)?;
            let output = output.of::<::core::primitive::f32>()?;
            output.copy_from_slice(first.of::<::core::primitive::f32>()?);
            for element in output {
                *element *= call.op.r#type;
            }
            let _ = second.of::<::core::primitive::f32>()?;
            Ok(())
        }
    }

    #[model_graph]
    struct Calls {
        #[input]
        x: Tensor<f32, 2>,
        #[output(Keyed(x, r#fn = x, r#type = 3))]
        y: _,
    }

    #[test]
    fn settings_and_operands_go_by_raw_names() {
        let mut model = Calls::new(&Cpu).unwrap();
        *model.x_mut() = [1.0, 2.0];
        assert_eq!(*model.forward().unwrap().y(), [3.0, 6.0]);
    }
}
