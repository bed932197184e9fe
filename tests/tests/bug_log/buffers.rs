//! RB: the buffer interface.

use memmap2::MmapMut;
use model_graph::buffer::copy;
use model_graph::{
    Buffer, BufferType, Cpu, CpuBuffer, CpuSlice, DType, Error, ErrorKind, HostBuffer, Poison, Usage, View,
    model_graph, read_view, write_view,
};
use model_graph_planner::Shape;

fn bytes(size: usize) -> CpuBuffer<model_graph::cpu::OwnedBytes> {
    Cpu.allocate(size, 64, Usage::Any).unwrap()
}

#[test]
fn rb_1_ranges_end_where_the_buffer_does_and_never_wrap() {
    let mut buffer = bytes(8);
    assert!(buffer.set(8, &[]).is_ok());
    assert!(buffer.set(8, &[1]).is_err());
    assert!(buffer.get(0, &mut []).is_ok());
    let error = buffer.set(usize::MAX, &[1, 2]).err().unwrap();
    assert_eq!(*error.kind(), ErrorKind::OutOfRange { offset: usize::MAX, len: 2, size: 8 });
    assert!(buffer.memset(usize::MAX, 2, 0).is_err());
    let mut other = bytes(8);
    assert!(copy(&mut other, 4, &buffer, 0, 5).is_err() && copy(&mut other, 0, &buffer, usize::MAX, 2).is_err());
    assert!(copy(&mut other, 8, &buffer, 8, 0).is_ok());
}

#[test]
fn rb_2_a_strided_view_is_written_row_by_row() {
    let mut buffer = bytes(32);
    let mut columns = View::packed(DType::F32, 0, &Shape::new(&[2, 4]).unwrap());
    columns.dims[1] = 2;
    let data: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    write_view(&mut buffer, &columns, &data).unwrap();
    let all: Vec<f32> = buffer.bytes().chunks_exact(4).map(|x| f32::from_le_bytes(x.try_into().unwrap())).collect();
    assert_eq!(all, [1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0]);
    let mut back = vec![0; 16];
    read_view(&buffer, &columns, &mut back).unwrap();
    assert_eq!(back, data);
    assert!(write_view(&mut buffer, &columns, &data[1..]).is_err());
}

#[test]
fn rb_4_a_write_ends_where_its_data_does() {
    let mut buffer = bytes(64);
    buffer.memset(32, 32, 0xaa).unwrap();
    buffer.set(0, &[1, 2, 3, 4, 5]).unwrap();
    assert!(buffer.bytes()[32..].iter().all(|byte| *byte == 0xaa));
}

/// A model of 1,500 bytes.
#[model_graph(align = 4)]
struct Sized {
    #[input]
    x: Tensor<f32, 375>,
    #[output(relu(x))]
    y: _,
}

/// A buffer type with a limit, whose allocator may have nothing.
struct Limited {
    max: usize,
    empty: bool,
}

impl BufferType for Limited {
    type Buffer = CpuBuffer<model_graph::cpu::OwnedBytes>;

    fn name(&self) -> &'static str {
        "limited"
    }

    fn alignment(&self) -> usize {
        4
    }

    fn max_size(&self) -> usize {
        self.max
    }

    fn alloc_size(&self, tensor: &View) -> usize {
        tensor.span().len()
    }

    fn is_host(&self) -> bool {
        true
    }

    fn allocate(&self, size: usize, align: usize, usage: Usage) -> Result<Self::Buffer, Error> {
        if self.empty { Err(ErrorKind::OutOfMemory { bytes: size }.into()) } else { Cpu.allocate(size, align, usage) }
    }
}

#[test]
fn rb_5_a_plan_that_does_not_fit_the_device_is_an_error() {
    const { assert!(Sized::PLAN.size == 1500) };
    let small = Sized::new(&Limited { max: 1024, empty: false }).err().unwrap();
    assert_eq!(*small.kind(), ErrorKind::TooLarge { needed: 1500, max: 1024 });
    let none = Sized::new(&Limited { max: 4096, empty: true }).err().unwrap();
    assert_eq!(*none.kind(), ErrorKind::OutOfMemory { bytes: 1500 });
    assert!(Sized::new(&Limited { max: 1500, empty: false }).is_ok());
}

/// A buffer type that pads rows to 256 elements.
struct Padding;

impl BufferType for Padding {
    type Buffer = CpuBuffer<model_graph::cpu::OwnedBytes>;

    fn name(&self) -> &'static str {
        "padding"
    }

    fn alignment(&self) -> usize {
        4
    }

    fn alloc_size(&self, tensor: &View) -> usize {
        tensor.elements().next_multiple_of(256) * 4
    }

    fn is_host(&self) -> bool {
        true
    }

    fn allocate(&self, size: usize, align: usize, usage: Usage) -> Result<Self::Buffer, Error> {
        Cpu.allocate(size, align, usage)
    }
}

#[test]
fn rb_6_padding_that_the_plan_has_no_room_for_is_an_error() {
    let error = Sized::new(&Padding).err().unwrap();
    assert_eq!(*error.kind(), ErrorKind::SlotTooSmall { tensor: "x", needed: 2048, planned: 1500 });
}

#[test]
fn borrowed_memory_is_left_as_long_as_the_model_lives_and_comes_back() {
    let mut memory = vec![0xffu8; 4096];
    let start = memory.as_ptr().addr().next_multiple_of(64) - memory.as_ptr().addr();
    let mut model = Sized::new_in(&mut memory[start..start + 1500]).unwrap();
    model.x_mut()[0] = 3.0;
    assert_eq!(model.forward().unwrap().y()[..2], [3.0, 0.0]);
    let buffer: CpuSlice<'_> = model.into_buffer();
    assert_eq!(buffer.size(), 1500);
    assert!(memory[start + 1500..].iter().all(|byte| *byte == 0xff));
}

/// A result that would be written over its operand, were that not somebody else's.
#[model_graph(weights = "shared")]
struct Foreign {
    #[weight]
    x: Tensor<f32, 3>,
    #[output(x + 10)]
    y: _,
    #[output(relu(reshape(x, shape = [3, 1])))]
    z: _,
}

#[test]
fn rb_7_memory_that_is_only_lent_is_not_changed() {
    let mut own = ForeignWeights::new(&Cpu).unwrap();
    own.x_mut().set([1.0, -2.0, 3.0]).unwrap();
    let image = own.image().unwrap();
    // The machine itself stops whoever writes to these pages.
    let mut pages = MmapMut::map_anon(image.len()).unwrap();
    pages.copy_from_slice(&image);
    let pages = pages.make_read_only().unwrap();
    let mut lent = ForeignWeights::from_image(&pages).unwrap();
    assert!(pages.as_ptr_range().contains(&lent.x().as_slice().as_ptr().cast()), "it was copied");
    for _ in 0..2 {
        let mut model = Foreign::new(&Cpu, &lent).unwrap();
        for _ in 0..2 {
            let outputs = model.forward_with(&mut Poison::default()).unwrap();
            assert_eq!((*outputs.y(), *outputs.z()), ([11.0, 8.0, 13.0], [[1.0], [0.0], [3.0]]));
        }
    }
    assert_eq!(*lent.x_mut().set([0.0; 3]).unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(pages[..], image[..]);
}
