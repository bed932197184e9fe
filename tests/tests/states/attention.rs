//! Attention over a cache, with as many keys as there are so far: rows beyond are never read.

use model_graph::{Cpu, Poison, model_graph};

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
