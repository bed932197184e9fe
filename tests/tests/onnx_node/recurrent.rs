//! ONNX's LSTM, GRU and RNN: one or two directions, each a layer of the language from a state that is zero or given.

use model_graph_planner::TensorId;
use model_graph_planner::op::Value;

use crate::build::{Builder, Left, int};
use crate::case::Node;

/// The results of a node, or none when the operator is of another family.
pub(crate) fn build(b: &mut Builder, node: &Node) -> Left<Option<Vec<TensorId>>> {
    let (name, gates) = match node.op.as_str() {
        "LSTM" => ("lstm", 4),
        "GRU" => ("gru", 3),
        "RNN" => ("rnn", 1),
        _ => return Ok(None),
    };
    if node.ints("activations").is_some() || node.attrs["clip"].is_number() || node.flag("layout") {
        return Err("recurrent layers with activations of their own, limits or another layout".into());
    }
    let x = b.tensor(node, 0)?;
    let [steps, batch, _] = b.dims(x)[..] else { return Err("another layout".into()) };
    if b.known(node, 4)?.is_some_and(|lengths| lengths.iter().any(|length| *length != steps as f64)) {
        return Err("sequences of different lengths".into());
    }
    let units = node.int("hidden_size").ok_or("no number of units")? as usize;
    if b.has(node, 7) {
        return peepholes(b, node, units).map(Some);
    }
    let directions: &[bool] = match node.word("direction") {
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        _ => &[false],
    };
    let (mut all, mut last) = (Vec::new(), [Vec::new(), Vec::new()]);
    for (direction, reverse) in directions.iter().enumerate() {
        let part = |b: &mut Builder, index: usize, dims: &[usize]| -> Left<TensorId> {
            let whole = b.tensor(node, index)?;
            let one = b.slice(whole, 0, [direction, direction + 1, 1])?;
            b.reshape(one, dims)
        };
        let input = b.dims(x)[2];
        let w = part(b, 1, &[gates * units, input])?;
        let r = part(b, 2, &[gates * units, units])?;
        let mut state = Vec::new();
        for index in [5, 6].into_iter().take(if name == "lstm" { 2 } else { 1 }) {
            state.push(match b.has(node, index) {
                true => part(b, index, &[1, batch, units])?,
                false => b.constant(&[1, batch, units], vec![0.0; batch * units])?,
            });
        }
        let state = match state[..] {
            [h, c] => b.concat(&[h, c], 0)?,
            _ => b.reshape(state[0], &[batch, units])?,
        };
        let mut operands = vec![x, state, w, r];
        if b.has(node, 3) {
            let both = part(b, 3, &[2 * gates * units])?;
            for start in [0, gates * units] {
                operands.push(b.slice(both, 0, [start, start + gates * units, 1])?);
            }
        }
        let mut settings = vec![("reverse", Value::Bool(*reverse))];
        match name {
            "lstm" => settings.push(("order", Value::Word("iofg"))),
            "gru" => {
                let reset = if node.flag("linear_before_reset") { "after" } else { "before" };
                settings.extend([("order", Value::Word("zrn")), ("reset", Value::Word(reset))]);
            }
            _ => {}
        }
        let y = b.call(name, &settings, &operands)?;
        let parts = if name == "lstm" { 2 } else { 1 };
        let y = b.reshape(y, &[steps, parts, batch, units])?;
        all.push(b.slice(y, 1, [0, 1, 1])?);
        let end = if *reverse { 0 } else { steps - 1 };
        let end = b.slice(y, 0, [end, end + 1, 1])?;
        for (part, last) in last.iter_mut().enumerate().take(parts) {
            let of_part = b.slice(end, 1, [part, part + 1, 1])?;
            last.push(b.reshape(of_part, &[1, batch, units])?);
        }
    }
    let mut results = vec![b.concat(&all, 1)?];
    for last in last.iter().filter(|last| !last.is_empty()) {
        results.push(b.concat(last, 0)?);
    }
    Ok(Some(results))
}

/// An LSTM whose gates see the cell (Gers and Schmidhuber, 2000), step by step.
fn peepholes(b: &mut Builder, node: &Node, units: usize) -> Left<Vec<TensorId>> {
    if !["", "forward"].contains(&node.word("direction")) {
        return Err("peepholes in another direction".into());
    }
    let x = b.tensor(node, 0)?;
    let [steps, batch, inputs] = b.dims(x)[..] else { return Err("another layout".into()) };
    let part = |b: &mut Builder, index: usize, dims: &[usize]| -> Left<TensorId> {
        match b.has(node, index) {
            true => {
                let whole = b.tensor(node, index)?;
                b.reshape(whole, dims)
            }
            false => b.constant(dims, vec![0.0; dims.iter().product()]),
        }
    };
    let (w, r) = (part(b, 1, &[4 * units, inputs])?, part(b, 2, &[4 * units, units])?);
    let (biases, holes) = (part(b, 3, &[2, 4 * units])?, part(b, 7, &[3, units])?);
    let (mut h, mut c) = (part(b, 5, &[batch, units])?, part(b, 6, &[batch, units])?);
    let bias = b.call("sum", &[("axes", int(0))], &[biases])?;
    // A gate sees the cell through a number for each unit.
    let see = |b: &mut Builder, gate: TensorId, cell: TensorId, hole: usize| -> Left<TensorId> {
        let hole = b.slice(holes, 0, [hole, hole + 1, 1])?;
        let seen = b.join("mul", cell, hole)?;
        let gate = b.join("add", gate, seen)?;
        b.map("sigmoid", gate)
    };
    let mut all = Vec::new();
    for step in 0..steps {
        let now = b.slice(x, 0, [step, step + 1, 1])?;
        let now = b.reshape(now, &[batch, inputs])?;
        let now = b.call("linear", &[], &[now, w, bias])?;
        let before = b.join("linear", h, r)?;
        let gates = b.join("add", now, before)?;
        let gate = |b: &mut Builder, index: usize| b.slice(gates, 1, [index * units, (index + 1) * units, 1]);
        let [input, output, forget, cell] = [gate(b, 0)?, gate(b, 1)?, gate(b, 2)?, gate(b, 3)?];
        let (input, forget, cell) = (see(b, input, c, 0)?, see(b, forget, c, 2)?, b.map("tanh", cell)?);
        let (new, old) = (b.join("mul", input, cell)?, b.join("mul", forget, c)?);
        c = b.join("add", new, old)?;
        let output = see(b, output, c, 1)?;
        let shown = b.map("tanh", c)?;
        h = b.join("mul", output, shown)?;
        all.push(b.reshape(h, &[1, 1, batch, units])?);
    }
    let (last_h, last_c) = (b.reshape(h, &[1, batch, units])?, b.reshape(c, &[1, batch, units])?);
    Ok(vec![b.concat(&all, 0)?, last_h, last_c])
}
