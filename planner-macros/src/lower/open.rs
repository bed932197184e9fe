//! The net under the shape rules: a call on open extents is built again for samples of their values, with plain numbers,
//! and has to come to what its formulas say.

use model_graph_planner::op::{Args, Entry, Field, Operator, Value};
use model_graph_planner::{Graph, Type, samples};

/// Values of the open dims, in words, for which a call does not hold or is another than the one that was built for all of
/// them; none where it is the same for every sample.
pub(super) fn exception(
    graph: &Graph,
    entry: &Entry,
    op: &dyn Operator,
    settings: &[(&str, Value<'_>)],
    types: &[Type],
) -> Option<String> {
    let open = |value: &Value<'_>| match value {
        Value::Open(_) => true,
        Value::List(values) => values.iter().any(|value| matches!(value, Value::Open(_))),
        _ => false,
    };
    if !types.iter().any(|ty| ty.shape.is_open()) && !settings.iter().any(|(_, value)| open(value)) {
        return None;
    }
    // What the rule complains of is worded where the node is made.
    let ty = op.infer(types).ok()?;
    let values = samples(graph.open_dims()).into_iter().find(|values| {
        let types: Vec<Type> = types.iter().map(|ty| ty.at(values)).collect();
        let settings: Vec<(&str, Owned)> = settings.iter().map(|(name, value)| (*name, at(value, values))).collect();
        let settings: Vec<(&str, Value<'_>)> = settings.iter().map(|(name, value)| (*name, value.lend())).collect();
        let Ok(built) = (entry.build)(&Args { settings: &settings, inputs: &types }) else { return true };
        built.infer(&types) != Ok(ty.at(values)) || fields(&*built) != fields(&*op.at(values))
    })?;
    let values = graph.open_dims().iter().zip(values).map(|(open, value)| format!("{} is {value}", open.name));
    Some(values.collect::<Vec<String>>().join(" and "))
}

/// A value without open extents.
enum Owned<'a> {
    Plain(Value<'a>),
    List(Vec<Value<'a>>),
}

impl Owned<'_> {
    fn lend(&self) -> Value<'_> {
        match self {
            Owned::Plain(value) => *value,
            Owned::List(values) => Value::List(values),
        }
    }
}

fn at<'a>(value: &Value<'a>, values: &[usize]) -> Owned<'a> {
    let plain = |value: &Value<'a>| match *value {
        Value::Open(dim) => Value::Int(dim.at(values) as i64, dim.name),
        value => value,
    };
    match value {
        Value::List(list) => Owned::List(list.iter().map(plain).collect()),
        value => Owned::Plain(plain(value)),
    }
}

/// The fields in words: they are compared and forgotten.
fn fields(op: &dyn Operator) -> Vec<String> {
    let mut fields = Vec::new();
    op.fields(&mut |name, field| {
        let text = match field {
            Field::Dim(dim) => dim.size.to_string(),
            Field::Dims(dims) => format!("{:?}", dims.iter().map(|dim| dim.size).collect::<Vec<usize>>()),
            field => format!("{field:?}"),
        };
        fields.push(format!("{name}: {text}"));
    });
    fields
}
