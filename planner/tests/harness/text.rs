//! Bytes as text: what is read prints as what reads the same and plans the same, and whatever is not read is an error.

use model_graph_planner::offset::Budget;
use model_graph_planner::{Graph, Options, PlanError, plan};

use super::{Bytes, graph};

/// Elements beyond which a graph is read and printed and not planned: planning draws no tensor, but it may walk the
/// rows of one.
const LARGEST: usize = 1 << 16;

/// Reads the bytes as a text; or the text of the graph that they say, with some of its characters changed.
pub(crate) fn text_form(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let text = match bytes.below(3) {
        0 => String::from_utf8_lossy(data.get(1..).unwrap_or_default()).into_owned(),
        1 => {
            let graph = graph(&mut bytes);
            let text = graph.to_string();
            let read = Graph::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(read.to_string(), text);
            same_plan(&graph, &read);
            text
        }
        _ => {
            let cut = data.len() / 2;
            let text = graph(&mut Bytes::new(&data[cut..])).to_string();
            changed(&text, &mut Bytes::new(&data[1.min(cut)..cut]))
        }
    };
    let Ok(read) = Graph::parse(&text) else { return };
    let printed = read.to_string();
    let again = Graph::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(again.to_string(), printed);
    let elements = |graph: &Graph| graph.tensors().map(|(_, tensor)| tensor.ty.shape.elements().unwrap_or(0)).max();
    if elements(&read).is_some_and(|elements| elements <= LARGEST) {
        same_plan(&read, &again);
    }
}

/// The text with pieces of it taken out, put in or replaced.
fn changed(text: &str, bytes: &mut Bytes<'_>) -> String {
    const PIECES: [&str; 24] = [
        "%",
        "1",
        "0",
        "x",
        "[",
        "]",
        "(",
        ")",
        ",",
        "=",
        ":",
        "\"",
        "\\",
        "\n",
        " ",
        "-1",
        "_",
        "//",
        "2.5",
        "nhwc",
        "order ",
        "kept ",
        "9999999999999999999",
        "ö",
    ];
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + bytes.below(8) {
        let at = (bytes.any() as usize) % (chars.len() + 1);
        let until = (at + bytes.below(4)).min(chars.len());
        let piece = if bytes.once_in(2) { "" } else { bytes.pick(&PIECES) };
        chars.splice(at..until, piece.chars());
    }
    chars.into_iter().collect()
}

fn same_plan(left: &Graph, right: &Graph) {
    let options = Options { budget: Budget::steps(200), ..Options::default() };
    match (plan(left, &options), plan(right, &options)) {
        (Ok(left), Ok(right)) => left.with(|left| right.with(|right| assert_eq!(left, right))),
        (Err(PlanError::TooLarge), Err(PlanError::TooLarge)) => {}
        (left, right) => panic!("{:?} {:?}", left.err(), right.err()),
    }
}
