//! Recurrent layers against their equations, step by step in `f64`.

use model_graph::Kernel;
use model_graph::op::{self, Operator};
use proptest::prelude::*;

use crate::harness::*;

/// Steps, batch, elements and units.
#[derive(Clone, Copy, Debug)]
struct Extents {
    steps: usize,
    batch: usize,
    inputs: usize,
    units: usize,
}

fn draws() -> impl Strategy<Value = (Extents, [Layout; 4], usize, u64)> {
    let extents = (prop_oneof![0..4usize, 7..19usize], 0..4usize, 0..6usize, prop_oneof![0..4usize, 7..18usize]);
    let extents = extents.prop_map(|(steps, batch, inputs, units)| Extents { steps, batch, inputs, units });
    (extents, prop::array::uniform4(layout(true)), 0..3usize, any::<u64>())
}

/// The operands: with `states`, h and c; with that many gates and biases.
fn operands(e: Extents, layouts: &[Layout; 4], states: bool, gates: usize, biases: usize, seed: u64) -> Vec<Given> {
    let state: &[usize] = if states { &[2, e.batch, e.units] } else { &[e.batch, e.units] };
    let rows = gates * e.units;
    let shapes: [&[usize]; 4] = [&[e.steps, e.batch, e.inputs], state, &[rows, e.inputs], &[rows, e.units]];
    let mut all: Vec<Given> = shapes
        .iter()
        .zip(layouts)
        .enumerate()
        .map(|(index, (dims, layout))| given(dims, layout.clone(), Values::Seed(seed ^ index as u64)))
        .collect();
    let sliced = Layout { gap: 1, step: 2, ..Layout::packed() };
    all.extend((0..biases).map(|index| given(&[rows], sliced.clone(), Values::Seed(!seed ^ index as u64))));
    all
}

/// `Σ_k w[row, k] v[k]`.
fn product(w: &Tensor, row: usize, v: &[f64]) -> f64 {
    v.iter().enumerate().map(|(k, v)| w.at(&[row, k]) * v).sum()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn act(x: f64, relu: bool) -> f64 {
    if relu { x.max(0.0) } else { x.tanh() }
}

/// The state of one of the batch before step 0, then after each one in the order they are taken.
fn states(
    e: Extents,
    x: &[Tensor],
    b: usize,
    parts: usize,
    reverse: bool,
    step: impl Fn(&[f64], &[Vec<f64>]) -> Vec<Vec<f64>>,
) -> Vec<Vec<Vec<f64>>> {
    let element = |part: usize, unit: usize| if parts == 2 { x[1].at(&[part, b, unit]) } else { x[1].at(&[b, unit]) };
    let mut state: Vec<Vec<f64>> =
        (0..parts).map(|part| (0..e.units).map(|unit| element(part, unit)).collect()).collect();
    let mut all = vec![Vec::new(); e.steps];
    for index in 0..e.steps {
        let s = if reverse { e.steps - 1 - index } else { index };
        let input: Vec<f64> = (0..e.inputs).map(|i| x[0].at(&[s, b, i])).collect();
        state = step(&input, &state);
        all[s] = state.clone();
    }
    all
}

fn bias(x: &[Tensor], operand: usize, row: usize) -> f64 {
    x.get(operand).map_or(0.0, |bias| bias.at(&[row]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn lstms((e, layouts, biases, seed) in draws(), iofg: bool, reverse: bool, place in (0..3usize, 0..5usize)) {
        let inputs = operands(e, &layouts, true, 4, biases, seed);
        let y = given(&[e.steps, 2, e.batch, e.units], Layout::packed(), Values::Seed(0));
        let known = std::cell::RefCell::new(Vec::new());
        check(op::Lstm { iofg, reverse }, &inputs, &y, place, 1e-4, |x, index| {
            let mut known = known.borrow_mut();
            if known.is_empty() {
                *known = (0..e.batch).map(|b| states(e, x, b, 2, reverse, |input, state| {
                    let gate = |name: char, unit: usize| {
                        let order = if iofg { "iofg" } else { "ifgo" };
                        let row = order.find(name).unwrap() * e.units + unit;
                        product(&x[2], row, input) + product(&x[3], row, &state[0]) + bias(x, 4, row) + bias(x, 5, row)
                    };
                    let c: Vec<f64> = (0..e.units)
                        .map(|u| sigmoid(gate('f', u)) * state[1][u] + sigmoid(gate('i', u)) * gate('g', u).tanh())
                        .collect();
                    let h = (0..e.units).map(|u| sigmoid(gate('o', u)) * c[u].tanh()).collect();
                    vec![h, c]
                })).collect();
            }
            known[index[2]][index[0]][index[1]][index[3]]
        });
    }

    #[test]
    fn grus(
        (e, layouts, biases, seed) in draws(), before: bool, relu: bool, zrn: bool, reverse: bool,
        place in (0..3usize, 0..5usize),
    ) {
        // Without a limit a state that is multiplied by weights of up to 2 grows beyond reason; with one, what is lost to
        // rounding still does, to more than is allowed here after 18 steps. 11 are more than the kernel takes at a time.
        let e = Extents { steps: e.steps.min(if relu { 3 } else { 11 }), ..e };
        let inputs = operands(e, &layouts, false, 3, biases, seed);
        let y = given(&[e.steps, e.batch, e.units], Layout::packed(), Values::Seed(0));
        let known = std::cell::RefCell::new(Vec::new());
        check(op::Gru { before, relu, zrn, reverse }, &inputs, &y, place, 1e-4, |x, index| {
            let mut known = known.borrow_mut();
            if known.is_empty() {
                *known = (0..e.batch).map(|b| states(e, x, b, 1, reverse, |input, state| {
                    let h = &state[0];
                    let order = if zrn { "zrn" } else { "rzn" };
                    let row = |name: char, unit: usize| order.find(name).unwrap() * e.units + unit;
                    let of_x = |row: usize| product(&x[2], row, input) + bias(x, 4, row);
                    let of_h = |row: usize, h: &[f64]| product(&x[3], row, h) + bias(x, 5, row);
                    let gate = |name: char, unit: usize| sigmoid(of_x(row(name, unit)) + of_h(row(name, unit), h));
                    let reset: Vec<f64> = (0..e.units).map(|unit| gate('r', unit) * h[unit]).collect();
                    vec![(0..e.units).map(|unit| {
                        let n = row('n', unit);
                        let state = if before { of_h(n, &reset) } else { gate('r', unit) * of_h(n, h) };
                        let z = gate('z', unit);
                        (1.0 - z) * act(of_x(n) + state, relu) + z * h[unit]
                    }).collect()]
                })).collect();
            }
            known[index[1]][index[0]][0][index[2]]
        });
    }

    #[test]
    fn plain_layers((e, layouts, biases, seed) in draws(), relu: bool, reverse: bool, place in (0..3usize, 0..5usize)) {
        // A plain layer is chaotic: what is lost to rounding grows with every step.
        let e = Extents { steps: e.steps.min(3), ..e };
        let inputs = operands(e, &layouts, false, 1, biases, seed);
        let y = given(&[e.steps, e.batch, e.units], Layout::packed(), Values::Seed(0));
        let known = std::cell::RefCell::new(Vec::new());
        check(op::Rnn { relu, reverse }, &inputs, &y, place, 1e-4, |x, index| {
            let mut known = known.borrow_mut();
            if known.is_empty() {
                *known = (0..e.batch).map(|b| states(e, x, b, 1, reverse, |input, state| {
                    vec![(0..e.units).map(|u| {
                        let sum = product(&x[2], u, input) + product(&x[3], u, &state[0]);
                        act(sum + bias(x, 4, u) + bias(x, 5, u), relu)
                    }).collect()]
                })).collect();
            }
            known[index[1]][index[0]][0][index[2]]
        });
    }
}

/// A network that is run step by step goes the way that it goes over the whole sequence.
fn one_step_at_a_time<O: Operator + Copy>(op: O, states: bool, gates: usize)
where
    Host: Kernel<O>,
{
    let e = Extents { steps: 11, batch: 2, inputs: 3, units: 5 };
    let layouts = [Layout::packed(), Layout::packed(), Layout::packed(), Layout::packed()];
    let inputs = operands(e, &layouts, states, gates, 1, 9);
    let dims = |steps: usize| if states { vec![steps, 2, 2, 5] } else { vec![steps, 2, 5] };
    let output = |steps: usize| given(&dims(steps), Layout::packed(), Values::Seed(0));
    let mut bench = lay(&inputs, &output(11), 0, 0, 0xff);
    let x = read(&bench.buffer, &bench.inputs[0]);
    let mut state = read(&bench.buffer, &bench.inputs[1]);
    let whole = run(op, &mut bench).unwrap();
    let size = state.len();
    for (step, x) in x.chunks_exact(6).enumerate() {
        let mut inputs = inputs.clone();
        (inputs[0], inputs[1]) = (list(&[1, 2, 3], x), list(&dims(1)[1..], &state));
        state = run(op, &mut lay(&inputs, &output(1), 0, 0, 0xff)).unwrap();
        assert_eq!(bits(&state), bits(&whole[step * size..][..size]), "{op:?}, step {step}");
    }
}

#[test]
fn steps_are_those_of_the_sequence() {
    one_step_at_a_time(op::Lstm { iofg: false, reverse: false }, true, 4);
    one_step_at_a_time(op::Gru { before: true, relu: false, zrn: false, reverse: false }, false, 3);
    one_step_at_a_time(op::Rnn { relu: false, reverse: false }, false, 1);
}
