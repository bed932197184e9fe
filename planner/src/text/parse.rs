//! The grammar of the textual form.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::ParseError;
use super::call::call;
use super::line::Line;
use crate::op::{Action, RuleError};
use crate::{DType, Dim, Graph, MAX_RANK, NodeId, Role, Shape, TensorId, Type};

/// The tensors that are there already, by their numbers.
pub(super) type Tensors = BTreeMap<usize, TensorId>;

/// Reads a whole text.
pub(super) fn graph(text: &str) -> Result<Graph, ParseError> {
    let mut graph: Option<Graph> = None;
    let mut ordered = false;
    let mut tensors = Tensors::new();
    let mut last = 0;
    for (index, line) in text.lines().enumerate() {
        last = index + 1;
        let mut line = Line::new(last, line);
        if line.is_empty() {
            continue;
        }
        match &mut graph {
            None => {
                if !line.takes_words("model") {
                    return line.fail("`model` and its name");
                }
                graph = Some(Graph::new(line.name("the model's name")?));
            }
            Some(graph) if tensors.is_empty() && graph.open_dims().is_empty() && line.takes_words("dims") => {
                dims(graph, &mut line)?;
            }
            Some(_) if ordered => return line.fail("nothing after the order"),
            Some(graph) if line.takes_words("order") => {
                *graph = order(graph, &tensors, &mut line)?;
                ordered = true;
            }
            Some(graph) => tensor(graph, &mut tensors, &mut line)?,
        }
        line.end()?;
    }
    match graph {
        Some(graph) => Ok(graph),
        None => Line::new(last.max(1), "").error("`model` and its name", "the end of the text"),
    }
}

/// The open dims and their bounds.
fn dims(graph: &mut Graph, line: &mut Line<'_>) -> Result<(), ParseError> {
    loop {
        let at = *line;
        let name = line.name("an open dim such as `SEQ <= 512`")?;
        if graph.open_dims().iter().any(|open| open.name == name) {
            return at.fail("each open dim once");
        }
        line.expect("<=", "`<=` after the open dim")?;
        let at = *line;
        match line.whole("the largest value of the open dim")? {
            0 => return at.fail("a bound above 0"),
            bound => graph.open(name, bound),
        };
        if !line.takes(",") {
            return Ok(());
        }
    }
}

/// An extent: a number, or in braces how it follows from an open dim.
pub(super) fn extent(graph: &Graph, line: &mut Line<'_>) -> Result<Dim, ParseError> {
    let start = *line;
    if !line.takes("{") {
        return Ok(Dim::new(line.whole("an extent")?));
    }
    let within = line.takes("(");
    let times = match line.number() {
        Some(_) => {
            let times = line.whole("a number")?;
            line.expect("*", "`*` between the number and the open dim")?;
            times
        }
        None => 1,
    };
    let at = *line;
    let name = line.name("an open dim")?;
    let Some(dim) = graph.open_dims().iter().position(|open| open.name == name) else {
        return at.fail("an open dim of the line `dims`");
    };
    let mut extent = Dim::open(dim, graph.open_dims()[dim].bound).times(times);
    if line.takes("+") {
        let more = line.whole("a number")?;
        extent = extent.and_then(|extent| extent.plus(more));
    } else if line.takes("-") {
        let less = line.whole("a number")?;
        extent = extent.and_then(|extent| extent.minus(less));
    }
    if within {
        line.expect(")", "`)` after the sum")?;
    }
    if line.takes("/") {
        let parts = line.whole("a number")?;
        extent = extent.and_then(|extent| extent.over(parts));
    }
    line.expect("}", "`}` after the extent")?;
    match extent {
        Some(extent) => Ok(extent),
        None => start.fail("an extent of at least 0 elements that fits an address"),
    }
}

fn tensor(graph: &mut Graph, tensors: &mut Tensors, line: &mut Line<'_>) -> Result<(), ParseError> {
    let start = *line;
    let number = line.reference("a tensor such as `%0 x: input f32[2x3]`, or `order`")?;
    if tensors.contains_key(&number) {
        return start.error("a number that no tensor has yet", format!("`%{number}` for the second time"));
    }
    let name = line.name("the tensor's name, in quotes unless it is a word")?;
    line.expect(":", "`:` after the name")?;
    let at_role = *line;
    let inner = line.takes_words("inner");
    let role = role(line)?;
    let at_type = *line;
    let ty = ty(graph, line)?;
    let at_call = *line;
    let made = line.takes("=");
    // A state has none, and each version of it has one.
    if made == role.is_outside() && role != Role::State {
        let expected = if made { "no call" } else { "`=` and the call that makes it" };
        return at_call.fail(format!("{expected}, for a tensor that is {}", with_article(role)));
    }
    let id = if made {
        let (op, inputs) = call(graph, tensors, line)?;
        if role == Role::State && op.action() != Action::Write {
            return at_role
                .error("a call of `write`, which alone makes versions of a state", format!("`{}`", op.name()));
        }
        let id = match graph.node(name, role, op, &inputs) {
            Ok(id) => id,
            Err(RuleError::NoState { .. }) => return at_call.error("a state to write", "another tensor"),
            Err(RuleError::Written { .. }) => {
                return at_call.error("the last version of the state to write", "one that was written already");
            }
            Err(_) => return at_call.error("a result whose size fits an address", "a larger one"),
        };
        let is = graph.tensor(id).role;
        if is != role {
            return at_role
                .error(format!("`{}`, for what a call writes over a state", is.name()), format!("`{}`", role.name()));
        }
        let inferred = graph.tensor(id).ty;
        if inferred != ty {
            return at_type.error(format!("{inferred}, which is what the call makes"), format!("{ty}"));
        }
        id
    } else {
        match graph.leaf(name, role, ty) {
            Ok(id) => id,
            Err(_) => return at_role.error("a tensor whose size fits an address", format!("{ty}")),
        }
    };
    if inner {
        graph.set_inner(id);
    }
    tensors.insert(number, id);
    Ok(())
}

fn with_article(role: Role) -> String {
    let article = if role.name().starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {}", role.name())
}

fn role(line: &mut Line<'_>) -> Result<Role, ParseError> {
    // Scratch is the planner's own.
    let mut roles = Role::ALL.into_iter().filter(|role| *role != Role::Scratch);
    match roles.find(|role| line.takes_words(role.name())) {
        Some(role) => Ok(role),
        None => line.fail("a role: input, kept input, weight, constant, node, inner node, kept node, output or state"),
    }
}

fn ty(graph: &Graph, line: &mut Line<'_>) -> Result<Type, ParseError> {
    let Some(dtype) = DType::ALL.into_iter().find(|dtype| line.takes_words(dtype.name())) else {
        let names: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
        return line.fail(format!("an element type: {}", names.join(", ")));
    };
    let mut shape = Shape::SCALAR;
    if line.takes("[") {
        loop {
            let at = *line;
            shape = match shape.with(extent(graph, line)?) {
                Some(shape) => shape,
                None => return at.fail(format!("at most {MAX_RANK} extents")),
            };
            if line.takes("]") {
                break;
            }
            line.expect("x", "`x` or `]` after an extent")?;
        }
    }
    Ok(Type { dtype, shape })
}

/// The graph with its calls in the order that the line gives.
fn order(graph: &Graph, tensors: &Tensors, line: &mut Line<'_>) -> Result<Graph, ParseError> {
    let start = *line;
    let mut order: Vec<NodeId> = Vec::new();
    let named = |id: NodeId| {
        let result = graph.call(id).output;
        tensors.iter().find(|(_, id)| **id == result).map_or(0, |(number, _)| *number)
    };
    while !line.is_empty() {
        if !order.is_empty() {
            line.expect(",", "`,` between the calls")?;
        }
        let at = *line;
        let number = line.reference("a call by its result, such as `%2`")?;
        match tensors.get(&number).and_then(|id| graph.tensor(*id).producer) {
            Some(call) => order.push(call),
            None => return at.fail("a tensor that a call makes"),
        }
    }
    match graph.reordered(&order) {
        Ok(graph) => Ok(graph),
        Err(call) => start.error(
            "every call once, after those whose results it reads",
            format!("`%{}` missing, twice or too early", named(call)),
        ),
    }
}
