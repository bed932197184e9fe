//! Images of weights: borrowed from a mapped file without a copy, and refused when they are not these weights'.

use std::io::Write;

use memmap2::Mmap;
use model_graph::{Cpu, ErrorKind, ImageFault, model_graph};

use super::{Made, Net, NetWeights, bits, expected, input};

fn image() -> Vec<u8> {
    let mut weights = NetWeights::new(&Cpu).unwrap();
    weights.load(&Made::new()).unwrap();
    let image = weights.image().unwrap();
    let mut written = vec![7; NetWeights::IMAGE_SIZE];
    weights.write_image(&mut written).unwrap();
    assert_eq!(image, written, "every byte is written");
    let error = weights.write_image(&mut [0; 8]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::ImageSize { expected: NetWeights::IMAGE_SIZE, given: 8 });
    image
}

/// The bytes at a place that is aligned, and so many bytes after one.
fn at(bytes: &[u8], beyond: usize, look: impl FnOnce(&[u8])) {
    let mut memory = vec![0u8; bytes.len() + 128];
    let start = memory.as_ptr().align_offset(64) + beyond;
    memory[start..start + bytes.len()].copy_from_slice(bytes);
    look(&memory[start..start + bytes.len()]);
}

fn fault(bytes: &[u8]) -> ImageFault {
    let mut found = None;
    at(bytes, 0, |bytes| match NetWeights::from_image(bytes).expect_err("it is refused").kind() {
        ErrorKind::Image(fault) => found = Some(*fault),
        other => panic!("{other:?}"),
    });
    found.unwrap()
}

#[test]
fn a_mapped_file_is_borrowed_as_it_lies() {
    let path = std::env::temp_dir().join(format!("weights-{}.image", std::process::id()));
    std::fs::File::create(&path).unwrap().write_all(&image()).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    // SAFETY: the file was made here under a name of this process, and nobody changes it while it is mapped.
    let map = unsafe { Mmap::map(&file) }.unwrap();
    let weights = NetWeights::from_image(&map).unwrap();
    assert!(map.as_ptr_range().contains(&weights.w1().as_slice().as_ptr().cast()), "it was copied");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut model = Net::new(&Cpu, &weights).unwrap();
                assert!(map.as_ptr_range().contains(&model.layers_w(1).as_slice().as_ptr().cast()));
                for (step, expected) in expected(3).into_iter().enumerate() {
                    model.x_mut().write(&input(step)).unwrap();
                    let outputs = model.forward().unwrap();
                    assert_eq!((bits(outputs.y().as_slice()), bits(outputs.turned().as_slice())), expected);
                }
            });
        }
    });
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn an_image_begins_with_what_it_is() {
    let image = image();
    assert_eq!(image[..10], *b"MGWEIGHT\x01l");
    assert_eq!(image[10..14], 8u32.to_le_bytes());
    assert_eq!(image[14..22], 64u64.to_le_bytes());
    let data = usize::try_from(u64::from_le_bytes(image[22..30].try_into().unwrap())).unwrap();
    assert_eq!((data % 64, image.len()), (0, data + NetWeights::SIZE));
    assert_eq!(image[30..38], (NetWeights::SIZE as u64).to_le_bytes());
    assert_eq!(image[38..43], *b"\x03\x00Net");
    assert_eq!(image[43..65], *b"\x02\x00w1\x03f32\x02\x0c\x00\x00\x00\x00\x00\x00\x00\x0c\x00\x00\x00\x00");
}

#[test]
fn borrowed_weights_cannot_be_written() {
    at(&image(), 0, |bytes| {
        let mut weights = NetWeights::from_image(bytes).unwrap();
        assert_eq!(*weights.load(&Made::new()).unwrap_err().kind(), ErrorKind::ReadOnly);
        assert_eq!(*weights.w1_mut().set([[0.0; 12]; 12]).unwrap_err().kind(), ErrorKind::ReadOnly);
        assert_eq!(weights.image().unwrap(), bytes);
    });
}

#[test]
fn misaligned_images_are_refused() {
    let image = image();
    for beyond in [1, 4, 32, 63] {
        at(&image, beyond, |bytes| {
            let error = NetWeights::from_image(bytes).err().unwrap();
            assert!(matches!(error.kind(), ErrorKind::Misaligned { needed: 64, .. }), "{error}");
        });
    }
}

#[test]
fn images_that_are_cut_off_or_longer_are_refused() {
    let image = image();
    for length in 0..image.len() {
        let fault = fault(&image[..length]);
        assert_eq!(fault, ImageFault::Length { expected: image.len(), given: length });
    }
    let longer = [image.clone(), vec![0]].concat();
    assert_eq!(fault(&longer), ImageFault::Length { expected: image.len(), given: image.len() + 1 });
}

#[test]
fn no_byte_of_the_header_can_be_changed() {
    let image = image();
    for at in 0..image.len() - NetWeights::SIZE {
        for bit in [0, 3, 7] {
            let mut changed = image.clone();
            changed[at] ^= 1 << bit;
            fault(&changed);
        }
    }
}

/// Another model whose weights take as many bytes.
#[model_graph(weights = "shared")]
struct Other {
    #[input]
    x: Tensor<f32, 4>,
    #[weight]
    w: Tensor<f32, 4>,
    #[output(x * w)]
    y: _,
}

mod changed {
    use super::model_graph;

    /// As it was before a weight got another shape.
    #[model_graph(weights = "shared")]
    pub(super) struct Other {
        #[input]
        x: Tensor<f32, 2, 2>,
        #[weight]
        w: Tensor<f32, 2, 2>,
        #[output(x * w)]
        y: _,
    }
}

#[test]
fn images_of_others_are_refused_with_what_was_given() {
    let other = OtherWeights::new(&Cpu).unwrap().image().unwrap();
    let text = |fault: ImageFault| fault.to_string();
    assert_eq!(text(fault(&other)), "expected weights of `Net` and those of `Other` are given");
    at(&other, 0, |bytes| {
        let error = changed::OtherWeights::from_image(bytes).err().unwrap();
        assert_eq!(
            error.to_string(),
            "not an image of these weights: weight `w` is f32[2x2] at 0, and given is f32[4] at 0; write the image anew"
        );
        assert!(OtherWeights::from_image(bytes).is_ok());
    });
    let mut newer = image();
    newer[8] = 2;
    assert_eq!(text(fault(&newer)), "expected version 1 of the format and 2 is given; write the image anew");
    let mut foreign = image();
    foreign[0] = b'S';
    assert_eq!(fault(&foreign), ImageFault::Foreign);
    assert!(ImageFault::Foreign.to_string().contains("`image` or `write_image`"));
    let mut swapped = image();
    swapped[9] = b'b';
    assert_eq!(fault(&swapped), ImageFault::ByteOrder);
    let mut name = image();
    name[45] = b'v';
    assert_eq!(
        text(fault(&name)),
        "weight `w1` is f32[12x12] at 0, and given is `v1` f32[12x12] at 0; write the image anew"
    );
}
