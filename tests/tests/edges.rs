//! The edges of what is promised: nothing to hold, writes that fail, sources that change their mind, observers that look
//! early.

use std::cell::Cell;

use model_graph::{
    Buffer, Cpu, CpuSlice, DType, Error, ErrorKind, HostBuffer, Moment, Observer, Weight, WeightSource, model_graph,
};

/// Nothing but tensors without elements, beside a scalar constant that leaves the end unaligned.
#[model_graph]
struct Nothing {
    #[input]
    x: Tensor<f32, 0>,
    #[output(x + 1)]
    y: _,
    #[output(sum(x))]
    z: _,
}

#[test]
fn tensors_without_elements_need_no_room() {
    let mut model = Nothing::new(&Cpu).unwrap();
    model.x_mut().write(&[]).unwrap();
    let outputs = model.forward().unwrap();
    assert_eq!((*outputs.y(), *outputs.z()), ([], 0.0));
}

/// One input and its square.
#[model_graph]
struct Square {
    #[input]
    x: Tensor<f32, 2>,
    #[output(exp(x) + x * x)]
    y: _,
}

#[test]
fn only_a_write_counts_as_one() {
    let mut model = Square::new(&Cpu).unwrap();
    let missing = ErrorKind::InputNotSet { input: "x" };
    let _ = model.x_mut();
    assert_eq!(*model.forward().err().unwrap().kind(), missing);
    assert!(model.x_mut().write_slice(&[1.0]).is_err());
    assert_eq!(*model.forward().err().unwrap().kind(), missing);
    for write in [
        |model: &mut Square| model.x_mut()[0] = 1.0,
        |model: &mut Square| model.x_mut().as_mut_slice()[0] = 1.0,
        |model: &mut Square| model.x_mut().into_array()[0] = 1.0,
        |model: &mut Square| model.x_mut().write(&[1.0, 0.0]).unwrap(),
    ] {
        write(&mut model);
        assert_eq!(*model.forward().unwrap().y(), [1.0f32.exp() + 1.0, 1.0]);
    }
}

/// A host buffer that does not say that it is one.
struct Shy<'a>(CpuSlice<'a>);

impl Buffer for Shy<'_> {
    fn name(&self) -> &'static str {
        "shy"
    }

    fn base(&self) -> usize {
        self.0.base()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn memset(&mut self, offset: usize, len: usize, value: u8) -> Result<(), Error> {
        self.0.memset(offset, len, value)
    }

    fn set(&mut self, offset: usize, data: &[u8]) -> Result<(), Error> {
        self.0.set(offset, data)
    }

    fn get(&self, offset: usize, out: &mut [u8]) -> Result<(), Error> {
        self.0.get(offset, out)
    }

    fn copy_from(&mut self, _: usize, _: &dyn Buffer, _: usize, _: usize) -> Result<bool, Error> {
        Ok(false)
    }

    fn with_host(&mut self, offset: usize, len: usize, write: &mut dyn FnMut(&mut [u8])) -> Result<(), Error> {
        self.0.with_host(offset, len, write)
    }
}

impl HostBuffer for Shy<'_> {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}

impl<O> model_graph::Kernel<O> for Shy<'_>
where
    for<'a> CpuSlice<'a>: model_graph::Kernel<O>,
{
    fn run(&mut self, call: &model_graph::Call<'_, O>) -> Result<(), Error> {
        self.0.run(call)
    }
}

#[test]
fn an_input_is_zero_until_it_is_written_in_any_host_memory() {
    let mut memory = [0; Square::PLAN.size + 64];
    let start = memory.as_ptr().addr().next_multiple_of(64) - memory.as_ptr().addr();
    let memory = &mut memory[start..start + Square::PLAN.size];
    let mut model = Square::from_buffer(Shy(CpuSlice::borrowed(memory))).unwrap();
    *model.x_mut() = [1.0, 2.0];
    let _ = model.forward().unwrap();
    assert_eq!(*model.x_mut(), [0.0, 0.0]);
}

/// Kept results that are views of one another.
#[model_graph]
struct Kept {
    #[input]
    x: Tensor<f32, 4>,
    #[node(exp(x))]
    a: _,
    #[node(a + 1)]
    b: _,
    #[keep]
    #[node(b * 2)]
    k: _,
    #[keep]
    #[node(reshape(k, shape = [2, 2]))]
    view: _,
    #[keep]
    #[node(concat(a, b, axis = 0))]
    whole: _,
    #[output(sum(k))]
    y: _,
}

#[test]
fn an_observer_sees_nothing_before_it_is_made() {
    let mut model = Kept::new(&Cpu).unwrap();
    for _ in 0..2 {
        model.x_mut().write(&[0.0; 4]).unwrap();
        let mut seen = 0;
        let mut observer = Observer(|moment: &Moment<'_>| {
            for (name, value) in [("k", 4.0), ("view", 4.0)] {
                if let Some(tensor) = moment.tensor(name) {
                    assert!(tensor.as_f32().unwrap().iter().all(|x| *x == value), "{name}");
                    seen += 1;
                }
            }
            if let Some(whole) = moment.tensor("whole") {
                assert_eq!(whole.as_f32().unwrap(), [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]);
                seen += 1;
            }
        });
        assert_eq!(*model.forward_with(&mut observer).unwrap().y(), 16.0);
        assert!(seen >= 3, "they are seen once they are there");
        assert_eq!(*model.view(), [[4.0; 2]; 2]);
    }
}

/// A model of two weights that are neighbours.
#[model_graph(align = 4)]
struct Neighbours {
    #[input]
    x: Tensor<f32, 4>,
    #[weight]
    w: Tensor<f32, 4>,
    #[weight]
    v: Tensor<f32, 4>,
    #[output(x * w + v)]
    y: _,
}

/// A source whose second answer is longer than its first.
struct Fickle(Cell<usize>, [u8; 128]);

impl WeightSource for Fickle {
    fn find(&self, _: &str) -> Result<Option<Weight<'_>>, Error> {
        self.0.set(self.0.get() + 1);
        let bytes = if self.0.get() > 2 { &self.1[..] } else { &self.1[..16] };
        Ok(Some(Weight { dtype: Some(DType::F32), shape: &[4], bytes }))
    }

    fn names(&self, _: &mut dyn FnMut(&str)) {}
}

#[test]
fn a_source_that_changes_its_mind_writes_nothing_where_it_should_not() {
    let mut model = Neighbours::new(&Cpu).unwrap();
    model.v_mut().write(&[7.0; 4]).unwrap();
    let error = model.load(&Fickle(Cell::new(0), [1; 128])).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Weights(_)), "{error}");
    assert_eq!(*model.v(), [7.0; 4]);
}
