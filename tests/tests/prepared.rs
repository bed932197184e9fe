//! What a buffer is told of the tensors that it will hold: each that stays is prepared once, before anything is written,
//! in a new buffer and in a given one alike.

use std::cell::RefCell;
use std::rc::Rc;

use model_graph::buffer::check_range;
use model_graph::{Buffer, BufferType, Call, Error, Kernel, Usage, View, model_graph, op};

#[model_graph]
struct Model {
    #[input(keep)]
    x: Tensor<f32, 4>,
    #[weight]
    w: Tensor<f32, 4>,
    #[constant([1.0, 2.0])]
    pair: Tensor<f32, 2>,
    #[keep]
    #[node(relu(x))]
    kept: _,
    #[node(relu(w))]
    passing: _,
    #[output(relu(passing))]
    y: _,
    #[output(relu(pair))]
    z: _,
    #[output(relu(kept))]
    again: _,
}

/// What happened to a buffer, in order.
#[derive(Clone, Debug, PartialEq)]
enum Event {
    Prepared(View),
    Forgotten,
    Written(usize),
}

/// A kind of memory that writes down what it is asked for.
#[derive(Clone, Default)]
struct Recording(Rc<RefCell<Vec<Event>>>);

struct Recorded {
    words: Vec<u128>,
    size: usize,
    events: Rc<RefCell<Vec<Event>>>,
}

impl Recorded {
    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.size]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.size]
    }

    fn note(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }
}

impl BufferType for Recording {
    type Buffer = Recorded;

    fn name(&self) -> &'static str {
        "recording"
    }

    fn alignment(&self) -> usize {
        16
    }

    fn is_host(&self) -> bool {
        false
    }

    fn allocate(&self, size: usize, _: usize, _: Usage) -> Result<Recorded, Error> {
        Ok(Recorded { words: vec![0; size.div_ceil(16)], size, events: self.0.clone() })
    }
}

impl Buffer for Recorded {
    fn name(&self) -> &'static str {
        "recording"
    }

    fn base(&self) -> usize {
        // The memory of somewhere else: what the host's vector starts at is nobody's concern.
        0
    }

    fn size(&self) -> usize {
        self.size
    }

    fn init_tensor(&mut self, tensor: &View) -> Result<(), Error> {
        check_range(tensor.span().start, tensor.span().len(), self.size)?;
        self.note(Event::Prepared(*tensor));
        Ok(())
    }

    fn memset(&mut self, offset: usize, len: usize, value: u8) -> Result<(), Error> {
        check_range(offset, len, self.size)?;
        self.bytes_mut()[offset..offset + len].fill(value);
        Ok(())
    }

    fn set(&mut self, offset: usize, data: &[u8]) -> Result<(), Error> {
        check_range(offset, data.len(), self.size)?;
        self.bytes_mut()[offset..offset + data.len()].copy_from_slice(data);
        self.note(Event::Written(offset));
        Ok(())
    }

    fn get(&self, offset: usize, out: &mut [u8]) -> Result<(), Error> {
        check_range(offset, out.len(), self.size)?;
        out.copy_from_slice(&self.bytes()[offset..offset + out.len()]);
        Ok(())
    }

    fn copy_from(&mut self, _: usize, _: &dyn Buffer, _: usize, _: usize) -> Result<bool, Error> {
        Ok(false)
    }

    fn with_host(&mut self, offset: usize, len: usize, write: &mut dyn FnMut(&mut [u8])) -> Result<(), Error> {
        check_range(offset, len, self.size)?;
        write(&mut self.bytes_mut()[offset..offset + len]);
        self.note(Event::Written(offset));
        Ok(())
    }

    fn reset(&mut self) {
        self.note(Event::Forgotten);
    }
}

impl Kernel<op::Relu> for Recorded {
    fn run(&mut self, _: &Call<'_, op::Relu>) -> Result<(), Error> {
        Ok(())
    }
}

/// What a construction has to tell a buffer: of every tensor that stays, then the constant.
fn expected() -> Vec<Event> {
    let staying = Model::PLAN.tensors.iter().filter(|tensor| tensor.role.is_persistent());
    let mut events: Vec<Event> = staying.map(|tensor| Event::Prepared(tensor.view)).collect();
    assert_eq!(events.len(), 4, "x, w, pair and kept stay");
    let pair = Model::PLAN.tensors.iter().find(|tensor| tensor.name == "pair").unwrap();
    events.push(Event::Written(pair.view.offset));
    events
}

#[test]
fn every_tensor_that_stays_is_prepared_once() {
    let recording = Recording::default();
    let mut model = Model::new(&recording).unwrap();
    assert_eq!(recording.0.take(), expected());

    // Neither writing nor running prepares anything.
    model.x_mut().write(&[1.0; 4]).unwrap();
    model.w_mut().write(&[1.0; 4]).unwrap();
    let _ = model.forward().unwrap();
    assert!(recording.0.take().iter().all(|event| matches!(event, Event::Written(_))));
}

#[test]
fn a_given_buffer_is_prepared_as_a_new_one_is() {
    let recording = Recording::default();
    let mut model = Model::new(&recording).unwrap();
    model.w_mut().write(&[1.0; 4]).unwrap();
    let mut buffer = model.into_buffer();
    buffer.reset();
    assert_eq!(recording.0.take().last(), Some(&Event::Forgotten));

    let model = Model::from_buffer(buffer).unwrap();
    let mut events = vec![Event::Forgotten];
    events.extend(expected());
    assert_eq!(recording.0.take(), events);
    let (mut w, mut pair) = ([1.0; 4], [0.0; 2]);
    model.w().read(&mut w).unwrap();
    model.pair().read(&mut pair).unwrap();
    assert_eq!((w, pair), ([0.0; 4], [1.0, 2.0]), "nothing is left of the model before");
}

#[test]
fn what_does_not_fit_is_not_prepared() {
    let recording = Recording::default();
    let small = recording.allocate(Model::PLAN.size - 1, 64, Usage::Any).unwrap();
    assert!(Model::from_buffer(small).is_err());
    assert!(recording.0.take().is_empty());
}
