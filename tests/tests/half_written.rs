//! A device that fails in the midst of a transfer: what is half written counts as not written, or no forward runs on it.

use model_graph::{Buffer, Call, CpuBuffer, DType, Error, ErrorKind, Kernel, Weight, WeightSource, model_graph};

/// Memory whose transfers, from one of them on, reach half their bytes and fail. It is not the host's.
struct Flaky {
    memory: CpuBuffer<model_graph::cpu::OwnedBytes>,
    /// How many transfers still succeed.
    left: std::rc::Rc<std::cell::Cell<usize>>,
}

const FAULT: ErrorKind = ErrorKind::OutOfMemory { bytes: 7 };

impl Flaky {
    /// How many of so many bytes arrive.
    fn arrive(&self, len: usize) -> (usize, Result<(), Error>) {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                (len, Ok(()))
            }
            None => (len / 2, Err(FAULT.into())),
        }
    }
}

impl Buffer for Flaky {
    fn name(&self) -> &'static str {
        "flaky"
    }

    fn base(&self) -> usize {
        self.memory.base()
    }

    fn size(&self) -> usize {
        self.memory.size()
    }

    fn memset(&mut self, offset: usize, len: usize, value: u8) -> Result<(), Error> {
        let (len, result) = self.arrive(len);
        self.memory.memset(offset, len, value).and(result)
    }

    fn set(&mut self, offset: usize, data: &[u8]) -> Result<(), Error> {
        let (len, result) = self.arrive(data.len());
        self.memory.set(offset, &data[..len]).and(result)
    }

    fn get(&self, offset: usize, out: &mut [u8]) -> Result<(), Error> {
        self.memory.get(offset, out)
    }

    fn copy_from(&mut self, _: usize, _: &dyn Buffer, _: usize, _: usize) -> Result<bool, Error> {
        Ok(false)
    }

    fn with_host(&mut self, offset: usize, len: usize, write: &mut dyn FnMut(&mut [u8])) -> Result<(), Error> {
        self.memory.with_host(offset, len, write)
    }

    fn host_bytes(&self) -> Option<&[u8]> {
        self.memory.host_bytes()
    }
}

impl<O> Kernel<O> for Flaky
where
    CpuBuffer<model_graph::cpu::OwnedBytes>: Kernel<O>,
{
    fn run(&mut self, call: &Call<'_, O>) -> Result<(), Error> {
        self.memory.run(call)
    }
}

/// A buffer that works so far, and what says how long it does.
fn flaky(size: usize) -> (Flaky, std::rc::Rc<std::cell::Cell<usize>>) {
    use model_graph::BufferType;
    let memory = model_graph::Cpu.allocate(size, 64, model_graph::Usage::Any).unwrap();
    let left = std::rc::Rc::new(std::cell::Cell::new(usize::MAX));
    (Flaky { memory, left: left.clone() }, left)
}

fn kind<T>(result: Result<T, Error>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind().clone())
}

/// Numbers by any name.
struct All(f32);

impl WeightSource for All {
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
        static BYTES: [[u8; 8]; 2] = [[0, 0, 128, 63, 0, 0, 128, 63], [0, 0, 0, 64, 0, 0, 0, 64]];
        let bytes = &BYTES[usize::from(self.0 == 2.0)];
        Ok((name != "none").then_some(Weight { dtype: Some(DType::F32), shape: &[2], bytes }))
    }

    fn names(&self, _: &mut dyn FnMut(&str)) {}
}

#[model_graph(dims(N <= 4))]
struct Inputs {
    #[input(keep)]
    fixed: Tensor<f32, 2>,
    #[input(keep)]
    open: Tensor<f32, N>,
    #[output(sum(fixed) + sum(open))]
    y: Tensor<f32>,
}

#[test]
fn an_input_that_was_not_written_as_a_whole_is_not_written() {
    let (buffer, left) = flaky(Inputs::PLAN.size);
    let mut model = Inputs::from_buffer(buffer).unwrap();
    model.fixed_mut().write(&[1.0; 2]).unwrap();
    model.open_mut().write(&[1.0; 4]).unwrap();
    assert!(model.forward().is_ok());
    left.set(0);
    assert_eq!(kind(model.fixed_mut().write(&[2.0; 2])), Some(FAULT));
    assert_eq!(kind(model.forward()), Some(ErrorKind::InputNotSet { input: "fixed" }));
    left.set(usize::MAX);
    model.fixed_mut().write_slice(&[2.0; 2]).unwrap();
    assert!(model.forward().is_ok());
    left.set(0);
    assert_eq!(kind(model.fixed_mut().write_slice(&[3.0; 2])), Some(FAULT));
    assert_eq!(kind(model.forward()), Some(ErrorKind::InputNotSet { input: "fixed" }));
    left.set(usize::MAX);
    model.fixed_mut().set([2.0; 2]).unwrap();
    left.set(0);
    assert_eq!(kind(model.open_mut().write(&[2.0; 4])), Some(FAULT));
    assert_eq!(kind(model.forward()), Some(ErrorKind::InputNotSet { input: "open" }));
    // What is refused before it is written leaves what was there.
    left.set(usize::MAX);
    model.open_mut().write(&[2.0; 3]).unwrap();
    assert!(matches!(kind(model.open_mut().write(&[2.0; 5])), Some(ErrorKind::Extents { .. })));
    assert!(matches!(kind(model.fixed_mut().write_slice(&[2.0; 5])), Some(ErrorKind::Length { .. })));
    let mut y = 0.0;
    model.forward().unwrap().y().read(&mut y).unwrap();
    assert_eq!(y, 10.0);
}

#[model_graph(dims(N = 2))]
struct Cell {
    #[input]
    x: Tensor<f32, N>,
    #[state]
    a: Tensor<f32, N>,
    #[output(write(a, a + x))]
    y: Tensor<f32, N>,
}

#[model_graph]
struct Cells {
    #[input(keep)]
    x: Tensor<f32, 2>,
    #[state]
    own: Tensor<f32, 2>,
    #[node(write(own, own + x))]
    next: _,
    #[chain(next, N = 2)]
    cells: [Cell; 2],
    #[output(cells + 0.0)]
    y: Tensor<f32, 2>,
}

#[test]
fn states_that_were_not_set_as_a_whole_are_torn() {
    let (buffer, left) = flaky(Cells::PLAN.size);
    let mut model = Cells::from_buffer(buffer).unwrap();
    model.x_mut().write(&[1.0; 2]).unwrap();
    assert!(model.forward().is_ok());
    let mut saved = [0; Cells::STATE_SIZE];
    model.save_state(&mut saved).unwrap();
    let torn = |model: &mut Cells<Flaky>| {
        left.set(usize::MAX);
        let mut other = [0; Cells::STATE_SIZE];
        assert_eq!(kind(model.forward()), Some(ErrorKind::Torn));
        assert_eq!(kind(model.save_state(&mut other)), Some(ErrorKind::Torn));
    };
    let whole = |model: &mut Cells<Flaky>| {
        left.set(usize::MAX);
        assert!(model.forward().is_ok());
    };

    // None of three, one of three, two of three.
    for some in 0..3 {
        left.set(some);
        assert_eq!(kind(model.reset_state()), Some(FAULT));
        torn(&mut model);
        model.reset_state().unwrap();
        whole(&mut model);
        left.set(some);
        assert_eq!(kind(model.restore_state(&saved)), Some(FAULT));
        torn(&mut model);
        model.restore_state(&saved).unwrap();
        whole(&mut model);
    }
    // What is refused before it is written leaves what was there.
    left.set(0);
    assert!(matches!(kind(model.restore_state(&saved[1..])), Some(ErrorKind::Saved(_))));
    assert!(matches!(kind(model.reset_state_of("none")), Some(ErrorKind::NoState { .. })));
    whole(&mut model);

    left.set(1);
    assert_eq!(kind(model.reset_state_of("cells")), Some(FAULT));
    torn(&mut model);
    model.reset_state_of("cells").unwrap();
    torn(&mut model);
    model.reset_state().unwrap();
    left.set(0);
    assert_eq!(kind(model.reset_state_of("cells.0")), Some(FAULT));
    torn(&mut model);
    // One that is set back is no other one.
    model.reset_state_of("own").unwrap();
    torn(&mut model);
    model.reset_state().unwrap();
    whole(&mut model);

    // A single one is mended by being written, or set to zero.
    left.set(0);
    assert_eq!(kind(model.own_mut().write(&[5.0; 2])), Some(FAULT));
    torn(&mut model);
    model.cells_a_mut(0).write(&[0.0; 2]).unwrap();
    torn(&mut model);
    model.own_mut().write(&[5.0; 2]).unwrap();
    whole(&mut model);
    left.set(0);
    assert_eq!(kind(model.cells_a_mut(1).set([5.0; 2])), Some(FAULT));
    torn(&mut model);
    model.reset_state_of("cells.1.a").unwrap();
    whole(&mut model);
    // Two are not.
    left.set(0);
    assert_eq!(kind(model.own_mut().write(&[5.0; 2])), Some(FAULT));
    assert_eq!(kind(model.cells_a_mut(1).set([5.0; 2])), Some(FAULT));
    left.set(usize::MAX);
    model.own_mut().write(&[5.0; 2]).unwrap();
    torn(&mut model);
    model.restore_state(&saved).unwrap();
    whole(&mut model);
}

#[model_graph]
struct Loaded {
    #[weight]
    one: Tensor<f32, 2>,
    #[weight]
    two: Tensor<f32, 2>,
    #[output(one + two)]
    y: Tensor<f32, 2>,
}

#[test]
fn weights_that_were_not_loaded_as_a_whole_are_not_run_on() {
    let (buffer, left) = flaky(Loaded::PLAN.size);
    let mut model = Loaded::from_buffer(buffer).unwrap();
    model.load(&All(1.0)).unwrap();
    assert!(model.forward().is_ok());
    for some in 0..2 {
        left.set(some);
        assert_eq!(kind(model.load(&All(2.0))), Some(FAULT));
        left.set(usize::MAX);
        assert_eq!(kind(model.forward()), Some(ErrorKind::HalfLoaded));
        // The one that stands there now may be of another training.
        model.one_mut().write(&[1.0; 2]).unwrap();
        model.two_mut().write(&[1.0; 2]).unwrap();
        assert_eq!(kind(model.forward()), Some(ErrorKind::HalfLoaded));
        model.load(&All(1.0)).unwrap();
        assert!(model.forward().is_ok());
    }
    left.set(0);
    assert_eq!(kind(model.two_mut().write(&[2.0; 2])), Some(FAULT));
    left.set(usize::MAX);
    assert_eq!(kind(model.forward()), Some(ErrorKind::HalfLoaded));
    model.two_mut().write(&[2.0; 2]).unwrap();
    let mut y = [0.0; 2];
    model.forward().unwrap().y().read(&mut y).unwrap();
    assert_eq!(y, [3.0; 2]);
}

#[model_graph(weights = "shared")]
struct Borrowed {
    #[input(keep)]
    x: Tensor<f32, 2>,
    #[weight]
    one: Tensor<f32, 2>,
    #[weight]
    two: Tensor<f32, 2>,
    #[output(one + two + x)]
    y: Tensor<f32, 2>,
}

#[test]
fn shared_weights_that_were_not_loaded_as_a_whole_are_not_borrowed() {
    let (buffer, left) = flaky(BorrowedWeights::SIZE);
    let mut weights = BorrowedWeights::from_buffer(buffer).unwrap();
    for some in 0..2 {
        left.set(some);
        assert_eq!(kind(weights.load(&All(2.0))), Some(FAULT));
        assert_eq!(kind(Borrowed::new(&model_graph::Cpu, &weights)), Some(ErrorKind::HalfLoaded));
        assert_eq!(kind(weights.image()), Some(ErrorKind::HalfLoaded));
        left.set(usize::MAX);
        weights.load(&All(1.0)).unwrap();
        assert!(Borrowed::new(&model_graph::Cpu, &weights).is_ok());
    }
    left.set(0);
    assert_eq!(kind(weights.one_mut().write(&[2.0; 2])), Some(FAULT));
    assert_eq!(kind(Borrowed::new(&model_graph::Cpu, &weights)), Some(ErrorKind::HalfLoaded));
    left.set(usize::MAX);
    weights.one_mut().write(&[2.0; 2]).unwrap();
    let image = weights.image().unwrap();
    // Of what is only borrowed nothing is ever half written.
    let mut room = vec![0; image.len() + 64];
    let start = room.as_ptr().align_offset(64);
    room[start..start + image.len()].copy_from_slice(&image);
    let mut borrowed = BorrowedWeights::from_image(&room[start..start + image.len()]).unwrap();
    assert_eq!(kind(borrowed.load(&All(1.0))), Some(ErrorKind::ReadOnly));
    assert_eq!(kind(borrowed.one_mut().write(&[2.0; 2])), Some(ErrorKind::ReadOnly));
    let mut model = Borrowed::new(&model_graph::Cpu, &borrowed).unwrap();
    model.x_mut().write(&[0.0; 2]).unwrap();
    assert_eq!(*model.forward().unwrap().y(), [3.0; 2]);
}
