//! The net under the shape rules: a call on open extents is built again for samples of their values, with plain numbers,
//! and has to come to what its formulas say.

use std::collections::BTreeSet;

use model_graph_planner::op::{Args, Entry, Field, Operator, Value};
use model_graph_planner::{Dim, Graph, OpenDim, Type, samples};

/// Values of open dims, in words, for which a call does not hold or is another than the one that was built for all of
/// them; none where it is the same for every sample. Other open dims than those that the call follows from are left alone:
/// a model may have many, and most calls follow from one.
pub(super) fn exception(
    graph: &Graph,
    entry: &Entry,
    op: &dyn Operator,
    settings: &[(&str, Value<'_>)],
    types: &[Type],
) -> Option<String> {
    let mut follows: BTreeSet<usize> = BTreeSet::new();
    let mut see = |dim: &Dim| follows.extend(dim.formula.map(|formula| formula.dim));
    types.iter().flat_map(|ty| ty.shape.dims()).for_each(&mut see);
    for (_, value) in settings {
        match value {
            Value::List(values) => values.iter().for_each(|value| see_open(value, &mut see)),
            value => see_open(value, &mut see),
        }
    }
    if follows.is_empty() {
        return None;
    }
    // What the rule complains of is worded where the node is made.
    let ty = op.infer(types).ok()?;
    let open = graph.open_dims();
    let of: Vec<OpenDim> = follows.iter().map(|dim| open[*dim].clone()).collect();
    let few = samples(&of).into_iter().find(|few| {
        let mut values: Vec<usize> = open.iter().map(|open| open.bound).collect();
        follows.iter().zip(few).for_each(|(dim, value)| values[*dim] = *value);
        let values = &values[..];
        let types: Vec<Type> = types.iter().map(|ty| ty.at(values)).collect();
        let settings: Vec<(&str, Owned)> = settings.iter().map(|(name, value)| (*name, at(value, values))).collect();
        let settings: Vec<(&str, Value<'_>)> = settings.iter().map(|(name, value)| (*name, value.lend())).collect();
        let Ok(built) = (entry.build)(&Args { settings: &settings, inputs: &types }) else { return true };
        built.infer(&types) != Ok(ty.at(values)) || fields(&*built) != fields(&*op.at(values))
    })?;
    let values = of.iter().zip(few).map(|(open, value)| format!("{} is {value}", open.name));
    Some(values.collect::<Vec<String>>().join(" and "))
}

fn see_open(value: &Value<'_>, see: &mut impl FnMut(&Dim)) {
    if let Value::Open(dim) = value {
        see(dim);
    }
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
