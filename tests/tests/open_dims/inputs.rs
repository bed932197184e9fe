//! What inputs bring is checked dimension by dimension, when it is written and again when all of it is there.

use model_graph::{Cpu, ErrorKind, Observer, model_graph};

#[model_graph(dims(SEQ <= 8, WIDE <= 5))]
struct Several {
    #[input]
    tokens: Tensor<f32, SEQ>,
    #[input(keep)]
    mask: Tensor<f32, SEQ, SEQ, 2>,
    #[input(keep)]
    table: Tensor<f32, { 2 * SEQ + 1 }, WIDE>,
    #[output(sum(mask, axes = 2) * tokens)]
    pub a: Tensor<f32, SEQ, SEQ>,
    #[output(table[1..{ SEQ + 1 }] + reshape(tokens, shape = [SEQ, 1]))]
    pub b: Tensor<f32, SEQ, WIDE>,
}

fn extent(input: &'static str, axis: usize, given: usize, expected: usize, by: &'static str) -> ErrorKind {
    ErrorKind::Extent { input, axis, given, expected, by }
}

#[test]
fn inputs_have_to_agree() {
    let mut model = Several::new(&Cpu).unwrap();
    assert_eq!((model.mask().shape(), model.table().shape()), ([0, 0, 2], [0, 0]));
    model.tokens_mut().write(&[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(model.forward().err().unwrap().kind(), &ErrorKind::InputNotSet { input: "mask" });
    let error = model.mask_mut().write(&[0.0; 18], [3, 3, 3]).unwrap_err();
    assert_eq!(error.kind(), &extent("mask", 2, 3, 2, "mask"), "a fixed extent is given too");
    assert_eq!(error.to_string(), "dimension 2 of input `mask` is 3 and has to be 2");
    let error = model.mask_mut().write(&[0.0; 12], [3, 2, 2]).unwrap_err();
    assert_eq!(error.kind(), &extent("mask", 1, 2, 3, "mask"), "both are SEQ");
    assert_eq!(model.mask_mut().most(), [8, 8, 2]);
    model.mask_mut().write(&[1.0; 32], [4, 4, 2]).unwrap();
    model.table_mut().resize([7, 2]).unwrap().fill(0.5);
    // Nothing that was refused is used up.
    let error = model.forward().err().unwrap();
    assert_eq!(error.kind(), &extent("mask", 0, 4, 3, "tokens"));
    assert_eq!(
        error.to_string(),
        "dimension 0 of input `mask` is 4 and has to be 3, as it was written in `tokens`; write `mask` anew"
    );
    model.mask_mut().write(&[1.0; 18], [3, 3, 2]).unwrap();
    let outputs = model.forward().unwrap();
    assert_eq!((outputs.a().shape(), outputs.b().shape()), ([3, 3], [3, 2]));
    assert_eq!(outputs.a()[..], [2.0, 4.0, 6.0].repeat(3));
    assert_eq!(outputs.b()[..], [1.5, 1.5, 2.5, 2.5, 3.5, 3.5]);
    assert_eq!((outputs.mask().shape(), &outputs.table()[..]), ([3, 3, 2], &[0.5; 14][..]), "kept ones can be read");
}

#[test]
fn an_input_that_was_kept_has_to_fit_what_is_written() {
    let mut model = Several::new(&Cpu).unwrap();
    model.tokens_mut().write(&[1.0; 3]).unwrap();
    model.mask_mut().write(&[1.0; 18], [3, 3, 2]).unwrap();
    model.table_mut().write(&[1.0; 35], [7, 5]).unwrap();
    let _ = model.forward().unwrap();
    assert_eq!(model.forward().err().unwrap().kind(), &ErrorKind::InputNotSet { input: "tokens" });
    model.tokens_mut().write(&[1.0; 2]).unwrap();
    let error = model.forward().err().unwrap();
    assert_eq!(error.kind(), &extent("mask", 0, 3, 2, "tokens"));
    model.mask_mut().write(&[1.0; 8], [2, 2, 2]).unwrap();
    assert_eq!(model.forward().err().unwrap().kind(), &extent("table", 0, 7, 5, "tokens"));
    model.table_mut().write(&[1.0; 5], [5, 1]).unwrap();
    assert_eq!(model.forward().unwrap().b()[..], [2.0; 2]);
    // And back, without writing what is kept.
    model.tokens_mut().write(&[2.0; 2]).unwrap();
    assert_eq!(model.forward().unwrap().b()[..], [3.0; 2]);
}

#[test]
fn what_is_resized_is_zero_unless_it_stays() {
    let mut model = Several::new(&Cpu).unwrap();
    model.tokens_mut().resize([4]).unwrap().copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(model.tokens_mut().resize([4]).unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(model.tokens_mut().resize([2]).unwrap(), [0.0; 2]);
    assert!(model.tokens_mut().resize([9]).is_err());
    assert_eq!(model.tokens_mut().resize([2]).unwrap(), [0.0; 2], "what was refused changed nothing");
    model.mask_mut().write(&[1.0; 8], [2, 2, 2]).unwrap();
    model.table_mut().write(&[1.0; 5], [5, 1]).unwrap();
    let _ = model.forward().unwrap();
    // Its bytes may be those of others since.
    assert_eq!(model.tokens_mut().resize([2]).unwrap(), [0.0; 2]);
}

#[model_graph(dims(SEQ <= 4))]
struct Rows {
    #[input]
    x: Tensor<f32, { 2 * SEQ }, 2, 3>,
    #[input(keep)]
    pub ids: Tensor<i64, SEQ, 1>,
    #[input(keep)]
    none: Tensor<f32, SEQ, 0>,
    #[output(sum(x, axes = 1))]
    y: Tensor<f32, { 2 * SEQ }, 3>,
    #[output(concat(none, ids as f32, axis = 1))]
    z: Tensor<f32, SEQ, 1>,
}

#[test]
fn rows_bring_the_outermost_extent() {
    let mut model = Rows::new(&Cpu).unwrap();
    let row = |number: usize| [[number as f32, 1.0, 2.0], [10.0, 20.0, 30.0]];
    for rows in [6, 2, 8] {
        let elements: Vec<[[f32; 3]; 2]> = (0..rows).map(row).collect();
        model.x_mut().write_rows(&elements).unwrap();
        model.ids_mut().write_rows(&vec![[5]; rows / 2]).unwrap();
        model.none_mut().write_rows(&vec![[]; rows / 2]).unwrap();
        let outputs = model.forward().unwrap();
        assert_eq!((outputs.y().shape(), outputs.ids().shape()), ([rows, 3], [rows / 2, 1]));
        let expected: Vec<f32> = (0..rows).flat_map(|number| [number as f32 + 10.0, 21.0, 32.0]).collect();
        assert_eq!((&outputs.y()[..], &outputs.z()[..]), (&expected[..], &vec![5.0; rows / 2][..]));
    }
    for given in [0, 5, 10] {
        let error = model.x_mut().write_rows(&vec![row(0); given]).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Extents { input: "x", axis: 0, given, least: 2, most: 8, step: 2 });
    }
    assert_eq!(model.forward().err().unwrap().kind(), &ErrorKind::InputNotSet { input: "x" }, "nothing was written");
}

#[test]
fn what_is_resized_outlives_its_accessor() {
    let mut model = Rows::new(&Cpu).unwrap();
    let elements = model.x_mut().resize([4, 2, 3]).unwrap();
    elements[0] = 1.0;
    elements[3] = 2.0;
    model.ids_mut().resize([2, 1]).unwrap().fill(0);
    assert!(model.none_mut().resize([2, 0]).unwrap().is_empty());
    assert_eq!(model.forward().unwrap().y()[..3], [3.0, 0.0, 0.0]);
}

#[test]
fn an_observer_sees_what_there_is() {
    let mut model = Several::new(&Cpu).unwrap();
    model.tokens_mut().write(&[3.0, 4.0]).unwrap();
    model.mask_mut().write(&[1.0; 8], [2, 2, 2]).unwrap();
    model.table_mut().write(&[1.0; 5], [5, 1]).unwrap();
    let mut seen = Vec::new();
    let outputs = model.forward_with(&mut Observer(|moment: &model_graph::Moment<'_>| {
        if let Some(tokens) = moment.tensor("tokens") {
            assert_eq!((tokens.view.dims(), tokens.as_f32()), (&[2][..], Some(&[3.0, 4.0][..])));
            assert_eq!(tokens.info.view.dims(), [8], "its line in the plan is for the bound");
        }
        seen.extend(moment.outputs().map(|tensor| (tensor.info.name, tensor.view.dims().to_vec())));
    }));
    assert_eq!(outputs.unwrap().b().shape(), [2, 1]);
    assert!(seen.contains(&("a", vec![2, 2])) && seen.contains(&("b", vec![2, 1])), "{seen:?}");
}

#[test]
fn bounds_are_constants_and_nothing_else_changes() {
    assert_eq!((Several::SEQ, Several::WIDE), (8, 5));
    let offsets = |model: &Several| model.mask().as_slice().as_ptr();
    let mut model = Several::new(&Cpu).unwrap();
    let before = offsets(&model);
    model.mask_mut().write(&[1.0; 2], [1, 1, 2]).unwrap();
    assert_eq!(offsets(&model), before);
}
