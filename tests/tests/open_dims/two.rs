//! Two open dims, and blocks: every pair of values gives the bits of a model that is built for it.

use model_graph::{Cpu, Poison, model_graph};

/// A step of attention from some rows to others, whose dims are bound where it is used.
#[model_graph(dims(FROM = _, TO <= 64, D = 4))]
pub struct Attend {
    #[input]
    q: Tensor<f32, FROM, D>,
    #[input]
    kv: Tensor<f32, TO, D>,
    #[weight]
    pub w: Tensor<f32, D, D>,
    #[output(matmul(softmax(matmul(q, transpose(matmul(kv, w)))), kv) + q)]
    y: Tensor<f32, FROM, D>,
}

macro_rules! models {
    ($($module:ident: [$($dims:tt)*]),*) => { $(
        mod $module {
            use super::*;

            #[model_graph(dims($($dims)*))]
            pub struct Net {
                #[input]
                pub x: Tensor<f32, A, 4>,
                #[input]
                pub z: Tensor<f32, B, 4>,
                #[chain(x, z, TO = B, FROM = A)]
                pub layers: [Attend; 2],
                #[node(relu(layers) * layers)]
                h: _,
                #[output(matmul(h, transpose(z)))]
                pub scores: Tensor<f32, A, B>,
                #[output(permute(reshape(concat(h, h, axis = 1), shape = [A, 2, 2, 2]), axes = [1, 0, 3, 2]))]
                pub heads: Tensor<f32, 2, A, 2, 2>,
                #[output(concat(sum(scores, axes = 0), z[.., 0], axis = 0))]
                pub sums: Tensor<f32, { 2 * B }>,
            }
        }
    )* };
}

models!(
    open: [A <= 3, B <= 4], a1b1: [A = 1, B = 1], a1b2: [A = 1, B = 2], a1b3: [A = 1, B = 3], a1b4: [A = 1, B = 4],
    a2b1: [A = 2, B = 1], a2b2: [A = 2, B = 2], a2b3: [A = 2, B = 3], a2b4: [A = 2, B = 4], a3b1: [A = 3, B = 1],
    a3b2: [A = 3, B = 2], a3b3: [A = 3, B = 3], a3b4: [A = 3, B = 4]
);

fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|at| ((at * 7 + seed * 13) % 19) as f32 / 8.0 - 1.0).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn every_pair_of_values_gives_the_bits_of_its_own_model() {
    let mut net = open::Net::new(&Cpu).unwrap();
    for copy in 0..2 {
        net.layers_w_mut(copy).write_slice(&numbers(16, copy)).unwrap();
    }
    macro_rules! compare {
        ($($module:ident)*) => { $(
            let mut fixed = $module::Net::new(&Cpu).unwrap();
            let (a, b) = ($module::Net::A, $module::Net::B);
            for copy in 0..2 {
                fixed.layers_w_mut(copy).write_slice(&numbers(16, copy)).unwrap();
            }
            fixed.x_mut().write_slice(&numbers(4 * a, a)).unwrap();
            fixed.z_mut().write_slice(&numbers(4 * b, b)).unwrap();
            net.x_mut().write(&numbers(4 * a, a), [a, 4]).unwrap();
            net.z_mut().write(&numbers(4 * b, b), [b, 4]).unwrap();
            let expected = fixed.forward().unwrap();
            let found = net.forward_with(&mut Poison::default()).unwrap();
            assert_eq!((found.scores().shape(), found.heads().shape(), found.sums().shape()), ([a, b], [2, a, 2, 2], [2 * b]));
            assert_eq!(bits(&found.scores()), bits(expected.scores().as_slice()), "A = {a}, B = {b}");
            assert_eq!(bits(&found.heads()), bits(expected.heads().as_slice()), "A = {a}, B = {b}");
            assert_eq!(bits(&found.sums()), bits(expected.sums().as_slice()), "A = {a}, B = {b}");
        )* };
    }
    compare!(a3b4 a1b1 a2b3 a3b1 a1b4 a2b1 a3b2 a3b4 a1b2 a2b2 a3b3 a1b3 a2b4 a1b1);
}
