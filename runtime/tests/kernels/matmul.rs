//! Matrix products.

use model_graph::op;
use proptest::prelude::*;

use crate::harness::*;

/// `Σ_k a[.., i, k] b[.., k, j]` by numpy's rules.
fn oracle(x: &[Tensor], index: &[usize]) -> f64 {
    let [a, b] = x else { panic!("two operands") };
    let (a_vector, b_vector) = (a.dims.len() == 1, b.dims.len() == 1);
    let k = a.dims[a.dims.len() - 1];
    let batch = &index[..index.len() + usize::from(a_vector) + usize::from(b_vector) - 2];
    let mut rest = index[batch.len()..].iter();
    let i = if a_vector { None } else { rest.next() };
    let j = if b_vector { None } else { rest.next() };
    (0..k)
        .map(|k| {
            let left = if let Some(i) = i { a.at(&[batch, &[*i, k]].concat()) } else { a.at(&[k]) };
            let right = if let Some(j) = j { b.at(&[batch, &[k, *j]].concat()) } else { b.at(&[k]) };
            left * right
        })
        .sum()
}

/// Extents of a, b and the result.
fn products() -> impl Strategy<Value = [Vec<usize>; 3]> {
    let batch = prop::collection::vec((0..4usize, any::<[bool; 2]>()), 0..=3);
    (batch, extent(), extent(), extent(), 0..10usize, 0..4usize, 0..4usize).prop_map(
        |(batch, m, n, k, kind, drop_a, drop_b)| {
            let (mut a, mut b, mut y) = (vec![], vec![], vec![]);
            for (axis, (dim, ones)) in batch.into_iter().enumerate() {
                let (of_a, of_b) = (if ones[0] { 1 } else { dim }, if ones[1] { 1 } else { dim });
                let (in_a, in_b) = (axis >= drop_a && kind != 0, axis >= drop_b && kind != 1);
                a.extend(in_a.then_some(of_a));
                b.extend(in_b.then_some(of_b));
                match (in_a, in_b) {
                    (false, false) => {}
                    (true, true) => y.push(if of_a == 1 { of_b } else { of_a }),
                    (true, false) => y.push(of_a),
                    (false, true) => y.push(of_b),
                }
            }
            if kind != 0 {
                a.push(m);
                y.push(m);
            }
            a.push(k);
            b.push(k);
            if kind != 1 {
                b.push(n);
                y.push(n);
            }
            [a, b, y]
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn products_of_any_shape(
        dims in products(), a in layout(true), b in layout(true), seed: u64, place in (0..3usize, 0..5usize),
    ) {
        let inputs = [given(&dims[0], a, Values::Seed(seed)), given(&dims[1], b, Values::Seed(!seed))];
        check(op::MatMul {}, &inputs, &given(&dims[2], Layout::packed(), Values::Seed(0)), place, 4e-6, oracle);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// Deeper and wider than the tiles and the blocks of `k`.
    #[test]
    fn large_products(
        m in 1..10usize, k in 200..600usize, n in 1..40usize, a in layout(false), b in layout(false), seed: u64,
    ) {
        let inputs = [given(&[m, k], a, Values::Seed(seed)), given(&[k, n], b, Values::Seed(!seed))];
        check(op::MatMul {}, &inputs, &given(&[m, n], Layout::packed(), Values::Seed(0)), (0, 1), 1e-4, oracle);
    }
}

#[test]
fn nk_3_small_products_are_whole() {
    let product = |m: usize, k: usize, n: usize, values: Values| {
        let inputs = [given(&[m, k], Layout::packed(), values.clone()), given(&[k, n], Layout::packed(), values)];
        let output = given(&[m, n], Layout::packed(), Values::Seed(0));
        check(op::MatMul {}, &inputs, &output, (0, 0), 1e-5, oracle);
        run(op::MatMul {}, &mut lay(&inputs, &output, 0, 0, 0xff)).unwrap()
    };
    let ones = |m: usize, k: usize, n: usize| {
        let inputs = [list(&[m, k], &vec![1.0; m * k]), list(&[k, n], &vec![1.0; k * n])];
        let output = given(&[m, n], Layout::packed(), Values::Seed(0));
        run(op::MatMul {}, &mut lay(&inputs, &output, 0, 0, 0xff)).unwrap()
    };
    assert_eq!(ones(4, 64, 8), vec![64.0; 32]);
    product(1, 1, 1, Values::Seed(1));
    product(33, 7, 5, Values::Seed(2));
}

#[test]
fn no_products_give_zeros() {
    let inputs = [list(&[3, 0], &[]), list(&[0, 2], &[])];
    let output = given(&[3, 2], Layout::packed(), Values::Seed(0));
    assert_eq!(run(op::MatMul {}, &mut lay(&inputs, &output, 0, 0, 0xff)).unwrap(), vec![0.0; 6]);
}

/// NK-6: what lies behind a matrix's rows is never multiplied in.
#[test]
fn nk_6_padding_of_rows_is_not_read() {
    let sliced = Layout { gap: 1, ..Layout::packed() };
    let inputs = [given(&[3, 3], sliced.clone(), Values::Seed(3)), given(&[3, 5], sliced, Values::Seed(4))];
    let output = given(&[3, 5], Layout::packed(), Values::Seed(0));
    // The poison of the gaps is NaN.
    let values = run(op::MatMul {}, &mut lay(&inputs, &output, 0, 0, 0xff)).unwrap();
    assert!(values.iter().all(|value| value.is_finite()));
}
