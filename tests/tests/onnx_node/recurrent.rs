//! ONNX's LSTM, GRU and RNN: one or two directions, each a layer of the language from a state that is zero or given.

use model_graph_planner::TensorId;
use model_graph_planner::op::Value;

use crate::build::{Builder, Left};
use crate::case::Node;

/// The results of a node, or none when the operator is of another family.
pub(crate) fn build(b: &mut Builder, node: &Node) -> Left<Option<Vec<TensorId>>> {
    let (name, gates) = match node.op.as_str() {
        "LSTM" => ("lstm", 4),
        "GRU" => ("gru", 3),
        "RNN" => ("rnn", 1),
        _ => return Ok(None),
    };
    if b.has(node, 7) {
        return Err("peepholes".into());
    }
    if node.ints("activations").is_some() || node.attrs["clip"].is_number() || node.flag("layout") {
        return Err("recurrent layers with activations of their own, limits or another layout".into());
    }
    let x = b.tensor(node, 0)?;
    let [steps, batch, _] = b.dims(x)[..] else { return Err("another layout".into()) };
    if b.known(node, 4)?.is_some_and(|lengths| lengths.iter().any(|length| *length != steps as f64)) {
        return Err("sequences of different lengths".into());
    }
    let units = node.int("hidden_size").ok_or("no number of units")? as usize;
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
