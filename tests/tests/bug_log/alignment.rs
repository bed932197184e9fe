//! AL: where tensors may start.

use model_graph::{Cpu, ErrorKind, ImageFault, Poison, model_graph};

use super::{aligned, tensor};

/// Members of three sizes, narrowest first.
#[model_graph(align = 8)]
struct Mixed {
    #[weight]
    #[allow(unused)]
    a: Tensor<i32>,
    #[weight]
    #[allow(unused)]
    b: Tensor<i64>,
    #[weight]
    c: Tensor<f32>,
    #[output(c)]
    out: _,
}

#[test]
fn al_1_every_member_starts_at_its_own_alignment() {
    let offsets = ["a", "b", "c"].map(|name| tensor(&Mixed::PLAN, name).view.offset);
    assert_eq!(offsets, [0, 8, 16]);
    assert_eq!(Mixed::PLAN.size, 20);
}

/// Weights that are used where a file has them: five bytes, then numbers.
#[model_graph(weights = "shared")]
struct Mapped {
    #[input]
    x: Tensor<f32, 3>,
    #[weight]
    marks: Tensor<u8, 5>,
    #[weight]
    w: Tensor<f32, 3>,
    #[output(x * w)]
    y: _,
    #[output(marks)]
    seen: _,
}

#[test]
fn al_2_weights_at_odd_places_of_a_mapped_file_are_refused() {
    let mut weights = MappedWeights::new(&Cpu).unwrap();
    weights.w_mut().set([1.0, 2.0, 3.0]).unwrap();
    weights.marks_mut().set([1, 2, 3, 4, 5]).unwrap();
    let image = weights.image().unwrap();
    let run = |bytes: &[u8]| {
        let weights = MappedWeights::from_image(bytes)?;
        let mut model = Mapped::new(&Cpu, &weights)?;
        model.x_mut().write(&[10.0; 3])?;
        let outputs = model.forward()?;
        Ok::<_, model_graph::Error>((*outputs.y(), *outputs.seen()))
    };
    // The whole file elsewhere: whatever the place of a weight in it, no weight would lie as its elements have to.
    let mut memory = vec![0; image.len() + 128];
    for beyond in 0..64 {
        let bytes = aligned(&mut memory, beyond, &image);
        match run(bytes) {
            Ok(results) => assert_eq!((beyond, results), (0, ([10.0, 20.0, 30.0], [1, 2, 3, 4, 5]))),
            Err(error) => assert!(
                beyond > 0
                    && matches!(error.kind(), ErrorKind::Misaligned { needed: 64, address } if address % 64 == beyond),
                "{beyond}: {error}"
            ),
        }
    }
    // One weight elsewhere in a file that is aligned. Its place stands behind its only extent.
    let name = image.windows(6).position(|bytes| bytes == b"\x01\x00w\x03f3").unwrap();
    let place = name + 3 + 4 + 1 + 8;
    assert_eq!(image[place..place + 8], 64u64.to_le_bytes());
    for odd in [20u64, 41, 65] {
        let mut changed = image.clone();
        changed[place..place + 8].copy_from_slice(&odd.to_le_bytes());
        let error = run(aligned(&mut memory, 0, &changed)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Image(ImageFault::Weight { weight: "w", .. })), "{error}");
        assert!(error.to_string().contains(&format!("`w` is f32[3] at 64, and given is f32[3] at {odd}")), "{error}");
    }
}

/// Two tensors of 100 bytes at multiples of 128.
#[model_graph(align = 128)]
struct Wide {
    #[input(keep)]
    a: Tensor<f32, 25>,
    #[input(keep)]
    b: Tensor<f32, 25>,
    #[output(a[0..1])]
    y: _,
    #[output(b[0..1])]
    z: _,
}

#[test]
fn al_3_a_start_that_is_not_aligned_is_an_error_and_never_short() {
    assert_eq!(tensor(&Wide::PLAN, "b").view.offset, 128);
    const { assert!(Wide::PLAN.size > 128 + 99 && Wide::PLAN.size <= 256) };
    let mut memory = vec![0u8; 512];
    let start = memory.as_ptr().addr().next_multiple_of(128) - memory.as_ptr().addr();
    let aligned = &mut memory[start..start + 256];
    Wide::new_in(&mut aligned[..Wide::PLAN.size]).unwrap();
    let short = Wide::new_in(&mut aligned[..Wide::PLAN.size - 1]).err().unwrap();
    assert_eq!(*short.kind(), ErrorKind::TooSmall { needed: Wide::PLAN.size, given: Wide::PLAN.size - 1 });
    let off = Wide::new_in(&mut memory[start + 64..]).err().unwrap();
    assert!(matches!(off.kind(), ErrorKind::Misaligned { needed: 128, .. }), "{off}");
}

/// Slices and rows that start off every vector's boundary.
#[model_graph(align = 4)]
struct Odd {
    #[input(keep)]
    x: Tensor<f32, 1025>,
    #[input(keep)]
    m: Tensor<f32, 3, 5>,
    #[output(relu(x[1..1025]))]
    y: _,
    #[output(relu(m))]
    z: _,
}

#[test]
fn al_4_kernels_start_at_any_element() {
    let mut model = Odd::new(&Cpu).unwrap();
    for (index, x) in model.x_mut().iter_mut().enumerate() {
        *x = index as f32 - 500.0;
    }
    model.m_mut().write(&[[-1.0, 2.0, -3.0, 4.0, -5.0]; 3]).unwrap();
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    assert!(outputs.y().iter().enumerate().all(|(index, y)| *y == (index as f32 - 499.0).max(0.0)));
    assert_eq!(*outputs.z(), [[0.0, 2.0, 0.0, 4.0, 0.0]; 3]);
}

#[test]
fn al_6_memory_at_an_odd_address_is_refused() {
    let mut memory = vec![0u8; Odd::PLAN.size + 8];
    let start = memory.as_ptr().addr().next_multiple_of(4) - memory.as_ptr().addr() + 1;
    let error = Odd::new_in(&mut memory[start..]).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Misaligned { needed: 4, .. }), "{error}");
    let size = Mixed::PLAN.size + 1;
    let start = memory.as_ptr().addr().next_multiple_of(8) - memory.as_ptr().addr() + 1;
    let error = Mixed::new_in(&mut memory[start..start + size]).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Misaligned { needed: 8, .. }), "{error}");
}
