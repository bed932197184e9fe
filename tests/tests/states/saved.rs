//! States as bytes, and bytes that are none.
#![expect(
    deprecated,
    reason = "what is saved here is what the test writes, and no forward writes some of these states"
)]

use model_graph::{Cpu, ErrorKind, SavedFault, model_graph};

#[model_graph]
struct Model {
    #[input]
    x: Tensor<f32, 2>,
    #[state]
    sum: Tensor<f32, 2>,
    #[state]
    count: Tensor<u8>,
    #[state]
    rows: Tensor<i64, 3, 1>,
    #[output(write(sum, sum + x))]
    y: _,
    #[output(count)]
    counted: _,
    #[output(rows)]
    all: _,
}

/// The same states under other names and types.
mod others {
    use model_graph::model_graph;

    #[model_graph]
    pub(super) struct Renamed {
        #[state]
        pub(super) total: Tensor<f32, 2>,
        #[state]
        pub(super) count: Tensor<u8>,
        #[state]
        pub(super) rows: Tensor<i64, 3, 1>,
        #[output(total + 1)]
        pub(super) y: _,
        #[output(count)]
        pub(super) counted: _,
        #[output(rows)]
        pub(super) all: _,
    }

    #[model_graph]
    pub(super) struct Reshaped {
        #[state]
        pub(super) sum: Tensor<f32, 2>,
        #[state]
        pub(super) rows: Tensor<i64, 1, 3>,
        #[state]
        pub(super) count: Tensor<u8>,
        #[output(sum + 1)]
        pub(super) y: _,
        #[output(count)]
        pub(super) counted: _,
        #[output(rows)]
        pub(super) all: _,
    }

    #[model_graph]
    pub(super) struct Reordered {
        #[state]
        pub(super) rows: Tensor<i64, 3, 1>,
        #[state]
        pub(super) count: Tensor<u8>,
        #[state]
        pub(super) sum: Tensor<f32, 2>,
        #[output(sum + 1)]
        pub(super) y: _,
        #[output(count)]
        pub(super) counted: _,
        #[output(rows)]
        pub(super) all: _,
    }

    #[model_graph]
    pub(super) struct One {
        #[state]
        pub(super) sum: Tensor<f32, 2>,
        #[output(sum + 1)]
        pub(super) y: _,
    }
}

fn filled() -> Model {
    let mut model = Model::new(&Cpu).unwrap();
    model.sum_mut().write(&[1.5, -2.0]).unwrap();
    *model.count_mut() = 7;
    model.rows_mut().write(&[[1], [-2], [1 << 40]]).unwrap();
    model
}

fn bytes(model: &Model) -> Vec<u8> {
    let mut saved = vec![0; Model::STATE_SIZE];
    model.save_state(&mut saved).unwrap();
    saved
}

fn fault(result: Result<(), model_graph::Error>) -> SavedFault {
    match result.unwrap_err().kind() {
        ErrorKind::Saved(fault) => *fault,
        kind => panic!("{kind:?}"),
    }
}

#[test]
fn what_is_saved_is_restored() {
    let model = filled();
    let saved = bytes(&model);
    // Magic, order, count; name, type, rank, extents, elements.
    assert_eq!(Model::STATE_SIZE, 13 + (2 + 3 + 4 + 1 + 8 + 8) + (2 + 5 + 3 + 1 + 1) + (2 + 4 + 4 + 1 + 16 + 24));
    let mut other = Model::new(&Cpu).unwrap();
    other.restore_state(&saved).unwrap();
    assert_eq!((*other.sum(), *other.count(), *other.rows()), ([1.5, -2.0], 7, [[1], [-2], [1 << 40]]));
    assert_eq!(bytes(&other), saved);
    other.x_mut().write(&[1.0, 1.0]).unwrap();
    assert_eq!(*other.forward().unwrap().y(), [2.5, -1.0]);
    let mut reordered = others::Reordered::new(&Cpu).unwrap();
    reordered.restore_state(&saved).unwrap();
    assert_eq!((*reordered.sum(), *reordered.count()), ([1.5, -2.0], 7), "states go by their names");
}

#[test]
fn bytes_that_are_cut_off_change_nothing() {
    let saved = bytes(&filled());
    let mut model = Model::new(&Cpu).unwrap();
    let before = bytes(&model);
    for length in 1..saved.len() {
        let expected = SavedFault::Length { expected: saved.len(), given: length };
        assert_eq!(fault(model.restore_state(&saved[..length])), expected, "{length} bytes");
        assert_eq!(bytes(&model), before);
    }
    assert_eq!(fault(model.restore_state(&[])), SavedFault::Foreign);
    let longer = [&saved[..], &[0]].concat();
    let expected = SavedFault::Length { expected: saved.len(), given: saved.len() + 1 };
    assert_eq!(fault(model.restore_state(&longer)), expected);
    assert_eq!(bytes(&model), before);
}

#[test]
fn whatever_is_changed_in_the_heads_is_an_error_or_changes_nothing_beside() {
    let saved = bytes(&filled());
    let mut model = Model::new(&Cpu).unwrap();
    let before = bytes(&model);
    for at in 0..saved.len() {
        for flip in [1, 0x80, 0xff] {
            let mut changed = saved.clone();
            changed[at] ^= flip;
            match model.restore_state(&changed) {
                // Elements can be anything.
                Ok(()) => {
                    assert_eq!(bytes(&model), changed);
                    model.restore_state(&before).unwrap();
                }
                Err(_) => assert_eq!(bytes(&model), before, "byte {at}"),
            }
        }
    }
}

#[test]
fn the_states_of_another_model_are_refused_with_what_differs() {
    let saved = bytes(&filled());
    let mut renamed = others::Renamed::new(&Cpu).unwrap();
    assert_eq!(fault(renamed.restore_state(&saved)), SavedFault::Missing { state: "total" });
    let mut reshaped = others::Reshaped::new(&Cpu).unwrap();
    let error = reshaped.restore_state(&saved).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not the saved states of this model: state `rows` is i64[1x3], and given is i64[3x1]"
    );
    let mut one = others::One::new(&Cpu).unwrap();
    assert_eq!(fault(one.restore_state(&saved)), SavedFault::Count { expected: 1, given: 3 });
    assert_eq!(fault(one.restore_state(b"GGUF\x03\0\0\0\0\0\0\0\0\0")), SavedFault::Foreign);
    let mut other = saved.clone();
    other[8] ^= b'l' ^ b'b';
    assert_eq!(fault(filled().restore_state(&other)), SavedFault::ByteOrder);
    let error = filled().save_state(&mut [0; 5]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::StateSize { expected: Model::STATE_SIZE, given: 5 });
}
