//! The digits example's model: against the logits of the network that was trained, and with every dead byte poisoned.

use model_graph::{Cpu, Observer, Poison};
use model_graph_examples::digits::{Digits, LOGITS, digits, show, weights};

#[test]
fn logits_agree_with_the_trained_network() {
    let mut model = Digits::new(&Cpu).unwrap();
    model.load(&weights().unwrap()).unwrap();
    for ((pixels, _), expected) in digits().zip(LOGITS.chunks_exact(40)) {
        show(pixels, model.image_mut().as_mut_slice());
        let mut logits = [0.0; 10];
        let mut observer = Observer(|moment: &model_graph::Moment<'_>| {
            if let Some(scores) = moment.outputs().find(|tensor| tensor.info.name == "probabilities.add") {
                logits.copy_from_slice(scores.as_f32().unwrap());
            }
        });
        let _ = model.forward_with(&mut observer).unwrap();
        for (given, expected) in logits.iter().zip(expected.chunks_exact(4)) {
            let expected = f32::from_le_bytes(expected.try_into().unwrap());
            assert!((given - expected).abs() < 1e-4, "{given} and not {expected}");
        }
    }
}

#[test]
fn dead_bytes_do_not_matter() {
    let mut model = Digits::new(&Cpu).unwrap();
    model.load(&weights().unwrap()).unwrap();
    for (pixels, _) in digits().take(20) {
        show(pixels, model.image_mut().as_mut_slice());
        let plain = model.forward().unwrap().probabilities()[0];
        for byte in [0xff, 0x7f, 0x00] {
            show(pixels, model.image_mut().as_mut_slice());
            let poisoned = model.forward_with(&mut Poison { byte }).unwrap().probabilities()[0];
            assert_eq!(poisoned.map(f32::to_bits), plain.map(f32::to_bits));
        }
    }
}
