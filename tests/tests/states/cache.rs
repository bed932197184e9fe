//! A cache of keys and values that a position is written to.

use model_graph::{Cpu, Poison, Role, model_graph};

use super::{numbers, tensor};

const LEN: usize = 6;
const D: usize = 4;

/// Attention of one query over a cache, with a mask that says how much of it is filled.
#[model_graph(dims(LEN = 6, D = 4))]
struct Attention {
    #[input]
    x: Tensor<f32, 1, D>,
    #[input]
    position: Tensor<u32>,
    /// 0 for what is there, very low for what is not.
    #[input]
    mask: Tensor<f32, LEN>,
    #[weight]
    wq: Tensor<f32, D, D>,
    #[weight]
    wk: Tensor<f32, D, D>,
    #[weight]
    wv: Tensor<f32, D, D>,
    #[state]
    keys: Tensor<f32, LEN, D>,
    #[state]
    values: Tensor<f32, LEN, D>,
    #[node(write(keys, src = matmul(x, wk), at = position))]
    all_keys: _,
    #[node(write(values, matmul(x, wv), position))]
    all_values: _,
    #[node(softmax(matmul(matmul(x, wq), transpose(all_keys)) * 0.5 + mask))]
    scores: _,
    #[output(matmul(scores, all_values))]
    y: Tensor<f32, 1, D>,
}

/// The same over everything seen so far, which is kept in vectors.
#[derive(Default)]
struct Naive {
    keys: Vec<[f64; D]>,
    values: Vec<[f64; D]>,
}

impl Naive {
    fn step(&mut self, x: &[f32; D], [wq, wk, wv]: &[[[f32; D]; D]; 3]) -> [f64; D] {
        let times = |w: &[[f32; D]; D]| -> [f64; D] {
            std::array::from_fn(|column| (0..D).map(|at| f64::from(x[at]) * f64::from(w[at][column])).sum())
        };
        self.keys.push(times(wk));
        self.values.push(times(wv));
        let query = times(wq);
        let scores: Vec<f64> =
            self.keys.iter().map(|key| (0..D).map(|at| key[at] * query[at]).sum::<f64>() * 0.5).collect();
        let total: f64 = scores.iter().map(|score| score.exp()).sum();
        std::array::from_fn(|at| {
            scores.iter().zip(&self.values).map(|(score, value)| score.exp() / total * value[at]).sum()
        })
    }
}

fn weights() -> [[[f32; D]; D]; 3] {
    [1, 2, 3].map(|seed| std::array::from_fn(|row| numbers(seed * 5 + row)))
}

#[test]
fn a_cache_gives_what_all_that_was_seen_gives() {
    let mut model = Attention::new(&Cpu).unwrap();
    let w = weights();
    model.wq_mut().write(&w[0]).unwrap();
    model.wk_mut().write(&w[1]).unwrap();
    model.wv_mut().write(&w[2]).unwrap();
    for round in 0..2 {
        let mut naive = Naive::default();
        for position in 0..LEN {
            let x = numbers::<D>(position + 9 * round);
            model.x_mut().write(&[x]).unwrap();
            model.position_mut().set(position as u32).unwrap();
            *model.mask_mut() = std::array::from_fn(|at| if at <= position { 0.0 } else { -1e9 });
            let outputs = model.forward_with(&mut Poison::default()).unwrap();
            let expected = naive.step(&x, &w);
            for (given, expected) in outputs.y()[0].iter().zip(expected) {
                assert!((f64::from(*given) - expected).abs() < 1e-5, "{given} instead of {expected} at {position}");
            }
            // The rows beyond are what they were.
            assert!(model.keys()[position + 1..].iter().all(|row| *row == [0.0; D]));
        }
        model.reset_state().unwrap();
        assert_eq!(*model.keys(), [[0.0; D]; LEN]);
        assert_eq!(*model.values(), [[0.0; D]; LEN]);
    }
}

#[test]
fn a_row_is_written_where_it_stays() {
    let (keys, all) = (tensor(&Attention::PLAN, "keys"), tensor(&Attention::PLAN, "all_keys"));
    assert_eq!((keys.role, all.role), (Role::State, Role::State));
    assert_eq!(keys.view, all.view);
    assert_eq!(keys.last, all.first, "a version begins where the one before ends");
    assert_eq!(super::steps(&Attention::PLAN, "copy"), 0);
}

/// Rows that are no neighbours in memory, of another element type, at a fixed position.
#[model_graph(dims(AT = 3))]
struct Wide {
    #[input]
    x: Tensor<u8, 1, 2>,
    #[state]
    wide: Tensor<u8, 2, 4>,
    #[output(write(wide, src = transpose(x), at = AT - 1, axis = 1))]
    columns: _,
    #[output(wide[.., 0..AT])]
    half: _,
}

#[test]
fn columns_are_written_at_a_fixed_position() {
    let mut model = Wide::new(&Cpu).unwrap();
    model.x_mut().write(&[[1, 2]]).unwrap();
    let outputs = model.forward_with(&mut Poison { byte: 7 }).unwrap();
    assert_eq!(*outputs.columns(), [[0, 0, 1, 0], [0, 0, 2, 0]]);
    assert_eq!(*outputs.half(), [[0, 0, 1], [0, 0, 2]]);
    assert_eq!(*model.wide(), [[0, 0, 1, 0], [0, 0, 2, 0]]);
}
