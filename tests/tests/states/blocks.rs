//! States in blocks: each copy has its own.

use model_graph::{Cpu, ErrorKind, Poison, model_graph};

use super::states;

#[model_graph(dims(N = 2))]
struct Smooth {
    #[input]
    x: Tensor<f32, N>,
    #[weight]
    w: Tensor<f32, N>,
    /// What came out before.
    #[state]
    last: Tensor<f32, N>,
    #[output(write(last, last * w + x))]
    y: Tensor<f32, N>,
}

#[model_graph(dims(N = 3))]
struct Chain {
    #[input]
    x: Tensor<f32, N>,
    #[chain(x)]
    layers: [Smooth<N = N>; 3],
    #[node(Smooth<N = N>(layers))]
    end: _,
    #[output(end + 1)]
    y: _,
}

#[test]
fn each_copy_has_a_state_of_its_own() {
    assert_eq!(states(&Chain::PLAN), ["layers.0.last", "layers.1.last", "layers.2.last", "end.last"]);
    let mut model = Chain::new(&Cpu).unwrap();
    for layer in 0..3 {
        *model.layers_w_mut(layer) = [0.5, 0.25, 0.125].map(|w| w * (layer + 1) as f32);
    }
    *model.end_w_mut() = [1.0; 3];
    let mut lasts = [[0f32; 3]; 4];
    for round in 0..4 {
        if round == 2 {
            model.reset_state_of("layers.1").unwrap();
            model.reset_state_of("end.last").unwrap();
            (lasts[1], lasts[3]) = ([0.0; 3], [0.0; 3]);
            *model.layers_last_mut(2) = [7.0; 3];
            lasts[2] = [7.0; 3];
        }
        let x = [1.0, round as f32, 2.0];
        model.x_mut().write(&x).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        let mut value = x;
        for (layer, last) in lasts.iter_mut().enumerate() {
            let w: [f32; 3] = match layer {
                3 => [1.0; 3],
                layer => [0.5, 0.25, 0.125].map(|w| w * (layer + 1) as f32),
            };
            value = std::array::from_fn(|at| last[at] * w[at] + value[at]);
            *last = value;
        }
        assert_eq!(*outputs.y(), value.map(|y| y + 1.0));
        for (layer, last) in lasts.iter().take(3).enumerate() {
            assert_eq!(*outputs.layers_last(layer), *last);
        }
        assert_eq!(*outputs.end_last(), lasts[3]);
    }
}

#[test]
fn a_name_that_no_state_has() {
    let mut model = Chain::new(&Cpu).unwrap();
    *model.end_last_mut() = [1.0; 3];
    for name in ["layers.3", "layer", "layers.1.las", "", "x"] {
        let error = model.reset_state_of(name).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NoState { given, model: "Chain" } if given.as_str() == name));
    }
    let error = model.reset_state_of("a name that is much longer than what an error can carry").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`Chain` has no state `a name that is much longer than what…`; give the name of a `#[state]` field, with the path \
         of its block before it, such as `layers.0.cache`"
    );
    assert_eq!(*model.end_last(), [1.0; 3]);
}
