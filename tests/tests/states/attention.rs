//! Attention over a cache, with as many keys as there are so far: rows beyond are never read.

use model_graph::{Cpu, Poison, f16, model_graph};

use super::numbers;

const D: usize = 4;

#[model_graph(dims(LEN = 6, D = 4))]
struct Cached {
    #[input]
    q: Tensor<f32, 1, D>,
    #[input]
    k: Tensor<f32, 1, D>,
    #[input]
    v: Tensor<f32, 1, D>,
    #[input]
    position: Tensor<u32>,
    #[state]
    keys: Tensor<f32, LEN, D>,
    #[state]
    values: Tensor<f32, LEN, D>,
    #[node(write(keys, src = k, at = position))]
    all_keys: _,
    #[node(write(values, src = v, at = position))]
    all_values: _,
    #[output(attention(q, all_keys, all_values, past = position))]
    y: Tensor<f32, 1, D>,
}

#[test]
fn keys_beyond_the_position_are_not_read() {
    let mut model = Cached::new(&Cpu).unwrap();
    *model.keys_mut() = [[f32::NAN; D]; 6];
    *model.values_mut() = [[f32::NAN; D]; 6];
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for position in 0..6 {
        let [q, k, v] = [1, 2, 3].map(|seed| numbers::<D>(seed + 7 * position));
        model.q_mut().write(&[q]).unwrap();
        model.k_mut().write(&[k]).unwrap();
        model.v_mut().write(&[v]).unwrap();
        model.position_mut().set(position as u32).unwrap();
        keys.push(k);
        values.push(v);
        let scores: Vec<f64> = keys
            .iter()
            .map(|key| (0..D).map(|at| f64::from(key[at]) * f64::from(q[at])).sum::<f64>() / 2.0)
            .map(f64::exp)
            .collect();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        for at in 0..D {
            let mixed: f64 = scores.iter().zip(&values).map(|(score, value)| score * f64::from(value[at])).sum();
            let expected = mixed / scores.iter().sum::<f64>();
            assert!((f64::from(outputs.y()[0][at]) - expected).abs() < 1e-5, "position {position}");
        }
    }
}

/// Up to three tokens at a time, with a cache of halves, whose heads several queries share.
#[model_graph(dims(SEQ <= 3, LEN = 40, HEADS = 4, KV = 2, HEAD = 4))]
struct Halves {
    #[input]
    q: Tensor<f32, SEQ, HEADS, HEAD>,
    #[input]
    row: Tensor<f32, SEQ, KV, HEAD>,
    #[input]
    position: Tensor<u32>,
    #[state]
    keys: Tensor<f16, LEN, KV, HEAD>,
    #[state]
    values: Tensor<f16, LEN, KV, HEAD>,
    #[node(write(keys, src = row as f16, at = position))]
    all_keys: _,
    #[node(write(values, src = (row * 0.5) as f16, at = position))]
    all_values: _,
    #[node(permute(q, axes = [1, 0, 2]))]
    heads: _,
    #[output(attention(heads, permute(all_keys, axes = [1, 0, 2]), permute(all_values, axes = [1, 0, 2]), past = position, causal = true))]
    y: Tensor<f32, HEADS, SEQ, HEAD>,
    #[keep]
    #[node(all_keys as f32)]
    wide_keys: _,
    #[keep]
    #[node(all_values as f32)]
    wide_values: _,
    #[output(attention(heads, permute(wide_keys, axes = [1, 0, 2]), permute(wide_values, axes = [1, 0, 2]), past = position, causal = true))]
    expected: Tensor<f32, HEADS, SEQ, HEAD>,
    #[output(attention(heads as f16, permute(all_keys, axes = [1, 0, 2]), permute(all_values, axes = [1, 0, 2]), past = position, causal = true))]
    narrow: Tensor<f16, HEADS, SEQ, HEAD>,
    #[output(attention((heads as f16) as f32, permute(wide_keys, axes = [1, 0, 2]), permute(wide_values, axes = [1, 0, 2]), past = position, causal = true) as f16)]
    narrow_expected: Tensor<f16, HEADS, SEQ, HEAD>,
}

#[test]
fn a_cache_of_halves_gives_the_bits_of_one_that_is_cast() {
    let mut model = Halves::new(&Cpu).unwrap();
    *model.keys_mut() = [[[f16::NAN; 4]; 2]; 40];
    *model.values_mut() = [[[f16::NAN; 4]; 2]; 40];
    let mut position = 0;
    for seq in [3, 1, 2, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3] {
        model.q_mut().write(&numbers::<48>(position)[..16 * seq], [seq, 4, 4]).unwrap();
        model.row_mut().write(&numbers::<24>(position + 5)[..8 * seq], [seq, 2, 4]).unwrap();
        model.position_mut().set(position as u32).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        assert!(outputs.y().iter().all(|y| y.is_finite()));
        let bits = |y: &[f32]| y.iter().map(|y| y.to_bits()).collect::<Vec<u32>>();
        assert_eq!(bits(&outputs.y()), bits(&outputs.expected()), "position {position}");
        assert_eq!(*outputs.narrow(), *outputs.narrow_expected(), "position {position}");
        position += seq;
    }
    assert_eq!(position, 40);
}

/// The casts are the ones that are written down, and two around the attention of halves.
#[test]
fn a_cache_of_halves_is_read_as_it_lies() {
    assert_eq!(super::steps(&Halves::PLAN, "cast"), 2 + 2 + 1 + 2 + 3);
}
