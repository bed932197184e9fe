//! Random graphs: each gene adds a node to what is there already, so that leaving genes out shrinks a graph.
//!
//! Every tensor carries a bound of its magnitude, and what would grow beyond reason is clamped instead: infinities and
//! NaNs would hide the ones that poison makes.

use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use model_graph_planner::op::{self, Args, Operator, RuleError, Value};
use model_graph_planner::{DType, Dim, Graph, Role, Shape, TensorId, Type, samples};
use proptest::prelude::*;

/// What one node is drawn from.
#[derive(Clone)]
pub struct Gene {
    kind: u8,
    role: u8,
    operands: [u16; 3],
    settings: [u8; 6],
}

impl fmt::Debug for Gene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gene { kind, role, operands, settings } = self;
        f.write_fmt(format_args!("{kind}/{role} {operands:?} {settings:?}"))
    }
}

/// A graph that grows.
struct Random {
    graph: Graph,
    /// Extents of these sizes are open, each a dim of its own.
    open: Vec<Dim>,
    /// By tensor: the largest magnitude it can have, and whether a node reads it.
    bounds: Vec<f32>,
    read: Vec<bool>,
}

/// How many graphs: the environment says, for whoever has the time.
pub fn cases(few: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(few)
}

/// Genes of a few to two hundred nodes.
pub fn genes() -> impl Strategy<Value = Vec<Gene>> {
    prop_oneof![2 => genes_of(2..20), 3 => genes_of(20..60), 1 => genes_of(60..200)]
}

/// That many genes.
pub fn genes_of(count: Range<usize>) -> impl Strategy<Value = Vec<Gene>> {
    let gene = (any::<u8>(), any::<u8>(), any::<[u16; 3]>(), any::<[u8; 6]>());
    let gene = gene.prop_map(|(kind, role, operands, settings)| Gene { kind, role, operands, settings });
    prop::collection::vec(gene, count)
}

/// The graph of these genes.
pub fn build(genes: &[Gene]) -> Graph {
    build_open(genes, &[])
}

/// The graph of these genes, with an open dim for each of these bounds: leaves have open extents where they would have
/// as many elements.
pub fn build_open(genes: &[Gene], bounds: &[usize]) -> Graph {
    let mut random = Random { graph: Graph::new("Random"), open: Vec::new(), bounds: Vec::new(), read: Vec::new() };
    for (dim, bound) in bounds.iter().enumerate() {
        let open = random.graph.open(format!("D{dim}"), *bound);
        random.open.push(open);
    }
    random.leaf(Role::Input, &[2, 3, 4], 2.0);
    for gene in genes {
        random.grow(gene);
    }
    // Half of what nobody reads is read from outside; the rest is dead code.
    for index in (0..random.read.len()).rev() {
        let (id, tensor) = random.graph.tensors().nth(index).expect("it is there");
        if !random.read[index] && tensor.producer.is_some() && tensor.role == Role::Node && index % 2 == 0 {
            let name = tensor.name.clone();
            random.graph.rename(id, name, Role::Output);
        }
    }
    random.graph
}

/// Values for a leaf, from -2 to 2; positive ones where it was made to be divided by.
pub fn leaf_values(graph: &Graph, index: usize, seed: u64) -> Vec<f32> {
    let tensor = graph.tensors().nth(index).expect("it is there").1;
    let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (index as u64 + 1) << 20 | 1;
    let positive = tensor.name.starts_with("positive");
    (0..tensor.ty.shape.elements().expect("it is small"))
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let value = (state >> 40) as f32 / (1 << 22) as f32 - 2.0;
            if positive { value.abs() + 0.5 } else { value }
        })
        .collect()
}

/// The largest magnitude in a state.
const STATE: f32 = 8.0;

/// The largest tensor, in elements.
const LARGEST: usize = 700;

impl Random {
    fn dims(&self, id: TensorId) -> Vec<usize> {
        self.graph.tensor(id).ty.shape.dims().iter().map(|dim| dim.size).collect()
    }

    fn bound(&self, id: TensorId) -> f32 {
        self.bounds[id.index()]
    }

    fn id(&self, index: usize) -> TensorId {
        self.graph.tensors().nth(index).expect("it is there").0
    }

    fn leaf(&mut self, role: Role, dims: &[usize], bound: f32) -> TensorId {
        let name = if role == Role::State {
            format!("state{}", self.bounds.len())
        } else if bound > 2.0 {
            format!("positive{}", self.bounds.len())
        } else {
            format!("x{}", self.bounds.len())
        };
        // A state outlives the values.
        let open = if role == Role::State { &[] } else { &self.open[..] };
        let open = |size: &usize| open.iter().find(|dim| dim.size == *size).copied().unwrap_or(Dim::new(*size));
        let dims: Vec<Dim> = dims.iter().map(open).collect();
        let shape = Shape::new(&dims).expect("few dimensions");
        self.bounds.push(bound);
        self.read.push(false);
        self.graph.leaf(name, role, Type { dtype: DType::F32, shape }).expect("it is small")
    }

    /// A tensor that is there, more often than not a recent one.
    fn any(&self, pick: u16) -> TensorId {
        let count = self.bounds.len();
        let back =
            if pick.is_multiple_of(3) { usize::from(pick / 3) % count } else { usize::from(pick / 3) % count.min(6) };
        self.id(count - 1 - back)
    }

    /// The first tensor from a random one on that fits.
    fn any_that(&self, pick: u16, fits: impl Fn(TensorId) -> bool) -> Option<TensorId> {
        let start = self.any(pick).index();
        let count = self.bounds.len();
        (0..count).map(|step| self.id((start + count - step) % count)).find(|id| fits(*id))
    }

    fn try_node(
        &mut self,
        name: &str,
        settings: &[(&str, Value<'_>)],
        inputs: &[TensorId],
        bound: f32,
        role: Role,
    ) -> Result<TensorId, RuleError> {
        let types: Vec<Type> = inputs.iter().map(|input| self.graph.tensor(*input).ty).collect();
        let op: Rc<dyn Operator> = match name {
            "identity" => Rc::new(op::Identity {}),
            _ => (op::find(name).expect("an operator").build)(&Args { settings, inputs: &types })?,
        };
        let small = |ty: &Type| ty.shape.rank() <= 5 && ty.shape.elements().is_some_and(|count| count <= LARGEST);
        let ty = op.infer(&types)?;
        if !(bound <= 1e6 && small(&ty)) {
            return Err(RuleError::Overflow);
        }
        // As the macro does it: what does not hold for every value is no call.
        for values in samples(self.graph.open_dims()) {
            let types: Vec<Type> = types.iter().map(|ty| ty.at(&values)).collect();
            if op.at(&values).infer(&types)? != ty.at(&values) {
                return Err(RuleError::Overflow);
            }
        }
        let id = self.graph.node(format!("{name}{}", self.bounds.len()), role, op, inputs)?;
        // Half of the results have no name of their own, so that what follows them may become a stage.
        if self.graph.tensor(id).role == Role::Node && id.index().is_multiple_of(2) {
            self.graph.set_inner(id);
        }
        self.bounds.push(bound);
        self.read.push(false);
        inputs.iter().for_each(|input| self.read[input.index()] = true);
        Ok(id)
    }

    fn grow(&mut self, gene: &Gene) {
        let role = match gene.role {
            0..16 => Role::Output,
            16..32 => Role::KeptNode,
            _ => Role::Node,
        };
        if self.grow_as(gene, role).is_none() {
            // What does not fit is clamped, or cut where it is large.
            let x = self.any(gene.operands[0]);
            let limits = [("low", Value::Float(-1.5)), ("high", Value::Float(2.5))];
            self.try_node("clamp", &limits, &[x], 2.5, role).expect("it always fits");
        }
    }

    fn grow_as(&mut self, gene: &Gene, role: Role) -> Option<()> {
        let [first, second, third] = gene.operands;
        let [s, t, u, ..] = gene.settings.map(usize::from);
        let x = self.any(first);
        let (dims, bound) = (self.dims(x), self.bound(x));
        let rank = dims.len();
        let int = |value: usize| Value::Int(value as i64, 0);
        let axis = if rank > 0 { s % rank } else { 0 };
        match gene.kind {
            0..14 => {
                let role = [Role::Input, Role::KeptInput, Role::Weight, Role::Constant, Role::State][s % 5];
                let dims: Vec<usize> = gene.settings[2..].iter().map(|size| extent(*size)).take(t % 5).collect();
                if dims.iter().product::<usize>() > LARGEST {
                    return None;
                }
                self.leaf(role, &dims, if role == Role::State { STATE } else { 2.0 });
                return Some(());
            }
            14..60 => {
                let functions: [(&str, f32); 13] = [
                    ("relu", bound),
                    ("neg", bound),
                    ("abs", bound),
                    ("leaky_relu", bound),
                    ("tanh", 1.0),
                    ("sigmoid", 1.0),
                    ("gelu", bound),
                    ("silu", bound),
                    ("exp", if bound < 9.0 { bound.exp() } else { f32::INFINITY }),
                    ("copy", bound),
                    ("elu", bound.max(1.0)),
                    ("mish", bound),
                    ("hard_swish", bound),
                ];
                let (name, bound) = functions[s % functions.len()];
                self.try_node(name, &[], &[x], bound, role).ok()?;
            }
            60..110 => {
                let shape = self.graph.tensor(x).ty.shape;
                let y = self.any_that(second, |id| self.graph.tensor(id).ty.shape.broadcast(&shape).is_ok())?;
                let other = self.bound(y);
                let (name, bound) = [
                    ("add", bound + other),
                    ("sub", bound + other),
                    ("mul", bound * other),
                    ("maximum", bound.max(other)),
                    ("minimum", bound.max(other)),
                ][s % 5];
                let pair = if t % 2 == 0 { [x, y] } else { [y, x] };
                self.try_node(name, &[], &pair, bound, role).ok()?;
            }
            110..116 => {
                let divisor = self.leaf(Role::Weight, &dims[rank.min(1)..], 2.5);
                self.try_node("div", &[], &[x, divisor], bound * 2.0, role).ok()?;
            }
            116..130 => {
                let inner = *dims.last()?;
                let fits = |id: TensorId| {
                    let dims = self.dims(id);
                    dims.len() >= 2 && dims[dims.len() - 2] == inner || dims.len() == 1 && dims[0] == inner
                };
                let weight = match self.any_that(second, fits) {
                    Some(weight) => weight,
                    None => self.leaf(Role::Weight, &[inner, 1 + t % 5], 2.0),
                };
                let bound = bound * self.bound(weight) * inner.max(1) as f32;
                self.try_node("matmul", &[], &[x, weight], bound, role).ok()?;
            }
            130..145 => {
                let root = (dims.iter().product::<usize>() as f32).sqrt() + 1.0;
                let from = [("axis", int(axis))];
                match s / 8 % 5 {
                    0 => self.try_node("softmax", &from, &[x], 1.0, role),
                    1 => self.try_node("log_softmax", &from, &[x], 2.0 * bound + 8.0, role),
                    2 if t % 2 == 0 => self.try_node("layer_norm", &from, &[x], root, role),
                    2 => {
                        let y = self.any_that(second, |id| dims.ends_with(&self.dims(id)))?;
                        let bound = (root + 1.0) * self.bound(y);
                        self.try_node("layer_norm", &from, &[x, y, y], bound, role)
                    }
                    3 => self.try_node("rms_norm", &from, &[x], root, role),
                    _ => {
                        let channels = *dims.get(axis)?;
                        let weight = self.leaf(Role::Weight, &[channels], 2.0);
                        let var = self.leaf(Role::Constant, &[channels], 2.5);
                        let inputs = [x, weight, weight, weight, var];
                        self.try_node("batch_norm", &from, &inputs, 4.0 * bound + 10.0, role)
                    }
                }
                .ok()?;
            }
            145..160 => {
                let keep = Value::Bool(t % 2 == 0);
                let axes: Vec<Value<'_>> = (0..rank).filter(|axis| u >> axis & 1 == 1).map(int).collect();
                let count = dims.iter().product::<usize>().max(1) as f32;
                let (name, bound) = [("sum", bound * count), ("mean", bound), ("max", bound)][s % 3];
                if dims.contains(&0) && name == "mean" {
                    return None;
                }
                self.try_node(name, &[("axes", Value::List(&axes)), ("keep_dims", keep)], &[x], bound, role).ok()?;
            }
            160..178 => {
                let extents = self.graph.tensor(x).ty.shape;
                let shape = reshaped(extents.dims(), s, t, u)?;
                let shape: Vec<Value<'_>> = shape.into_iter().map(extent_value).collect();
                self.try_node("reshape", &[("shape", Value::List(&shape))], &[x], bound, role).ok()?;
            }
            178..190 => {
                let mut axes: Vec<usize> = (0..rank).collect();
                axes.sort_by_key(|axis| gene.settings[*axis]);
                let axes: Vec<Value<'_>> = axes.into_iter().map(int).collect();
                let ones: Vec<Value<'_>> = (0..rank).filter(|axis| dims[*axis] == 1).take(t % 3).map(int).collect();
                match s % 6 {
                    0 => self.try_node("transpose", &[], &[x], bound, role),
                    1 => self.try_node("permute", &[("axes", Value::List(&axes))], &[x], bound, role),
                    2 => self.try_node("squeeze", &[("axes", Value::List(&ones))], &[x], bound, role),
                    3 => self.try_node("expand_dims", &[("axis", int(t % (rank + 1)))], &[x], bound, role),
                    4 if rank > 0 => {
                        let parts = [("axis", int(axis)), ("parts", int(1 + t % 4))];
                        self.try_node("split", &parts, &[x], bound, role)
                    }
                    _ => self.try_node("identity", &[], &[x], bound, role),
                }
                .ok()?;
            }
            190..210 => {
                let extent = *dims.get(axis)?;
                let start = t % (extent + 1);
                let end = start + u % (extent - start + 1);
                let step = 1 + usize::from(gene.settings[3]) % 3;
                let whole = self.graph.tensor(x).ty.shape.dims()[axis];
                let (start, end) = match (whole.is_open(), u % 4) {
                    (false, _) => (Dim::new(start), Dim::new(end)),
                    (true, 0) => (whole.minus(1)?, whole),
                    (true, 1) => (Dim::new(0), whole.minus(1)?),
                    (true, _) => (Dim::new(t % 2), whole),
                };
                let (start, end) = (extent_value(start), extent_value(end));
                let cut = [("axis", int(axis)), ("start", start), ("end", end), ("step", int(step))];
                self.try_node("slice", &cut, &[x], bound, role).ok()?;
            }
            210..234 => {
                if rank == 0 {
                    return None;
                }
                let fits = |id: TensorId| {
                    let other = self.dims(id);
                    other.len() == rank && (0..rank).all(|at| at == axis || other[at] == dims[at])
                };
                let mut parts = vec![x];
                parts.extend([second, third].iter().take(t % 3).filter_map(|pick| self.any_that(*pick, fits)));
                if t % 5 == 0 {
                    parts.rotate_left(1);
                }
                let bound = parts.iter().map(|part| self.bound(*part)).fold(0.0, f32::max);
                self.try_node("concat", &[("axis", int(axis))], &parts, bound, role).ok()?;
            }
            234..240 => {
                let counts = |from: usize| -> Vec<Value<'_>> {
                    (0..rank).map(|axis| int(usize::from(gene.settings[(axis + from) % 6]) % 4 % 3)).collect()
                };
                let value = [0.0, -0.0, 1.5][s % 3];
                let (before, after) = (counts(t), counts(u));
                let mut border = vec![("before", Value::List(&before)), ("value", Value::Float(value))];
                if s % 4 > 1 {
                    border[1] = ("mode", Value::Word(if s % 4 == 2 { "reflect" } else { "edge" }));
                }
                if t % 4 > 0 {
                    border.push(("after", Value::List(&after)));
                }
                self.try_node("pad", &border, &[x], bound.max(1.5), role).ok()?;
            }
            240..247 => self.write(gene)?,
            _ => self.image(gene, role)?,
        }
        Some(())
    }

    /// A write of a state, all of it or some rows.
    fn write(&mut self, gene: &Gene) -> Option<()> {
        let [first, second, _] = gene.operands;
        let [s, t, u, v, ..] = gene.settings.map(usize::from);
        let x = self.any_that(first, |id| self.graph.tensor(id).role != Role::State || s % 4 == 0)?;
        let dims = self.dims(x);
        let last = |id: TensorId| self.graph.tensor(id).role == Role::State && self.graph.next_version(id).is_none();
        let axis = if dims.is_empty() { 0 } else { t % dims.len() };
        // Whether rows of this tensor fit in that state.
        let fits = |id: TensorId| {
            let of = self.dims(id);
            last(id)
                && of.len() == dims.len()
                && (0..of.len()).all(|at| if at == axis { of[at] >= dims[at] } else { of[at] == dims[at] })
        };
        let state = match self.any_that(second, fits) {
            Some(state) if s % 8 > 0 => state,
            _ => {
                let mut dims = dims.clone();
                if let Some(extent) = dims.get_mut(axis) {
                    *extent += u % 3;
                }
                if dims.iter().product::<usize>() > LARGEST {
                    return None;
                }
                self.leaf(Role::State, &dims, STATE)
            }
        };
        // What a state grows by from run to run has its limits.
        let src = match self.bound(x) > STATE || s % 3 == 0 {
            true => {
                let limits = [("low", Value::Float(-1.5)), ("high", Value::Float(2.5))];
                self.try_node("clamp", &limits, &[x], 2.5, Role::Node).ok()?
            }
            false => x,
        };
        let whole = self.dims(state) == dims && v % 2 == 0;
        let room = self.dims(state).get(axis).map_or(0, |extent| extent - dims[axis]);
        let rows = [("axis", Value::Int(axis as i64, 0)), ("at", Value::Int((v / 2 % (room + 1)) as i64, 0))];
        if dims.is_empty() && !whole {
            return None;
        }
        self.try_node("write", if whole { &[] } else { &rows }, &[state, src], STATE, Role::State).ok().map(|_| ())
    }

    /// A convolution or a pool.
    fn image(&mut self, gene: &Gene, role: Role) -> Option<()> {
        let [s, t, u, stride, padding, _] = gene.settings.map(usize::from);
        let x = self.any_that(gene.operands[0], |id| self.dims(id).len() == 4)?;
        let (dims, bound) = (self.dims(x), self.bound(x));
        let int = |value: usize| Value::Int(value as i64, 0);
        let last = t % 2 == 0;
        let layout = ("layout", Value::Word(if last { "nhwc" } else { "nchw" }));
        let (kernel, padding) = (1 + u % 3, padding % 2);
        let moves = [layout, ("stride", int(1 + stride % 2)), ("padding", int(padding))];
        if s % 4 == 3 {
            let channels = dims[if last { 3 } else { 1 }];
            let filter = if last { [2, kernel, kernel, channels] } else { [2, channels, kernel, kernel] };
            if filter.iter().product::<usize>() > LARGEST {
                return None;
            }
            let weight = self.leaf(Role::Weight, &filter, 2.0);
            let bound = bound * 2.0 * (kernel * kernel * channels).max(1) as f32;
            return self.try_node("conv2d", &moves, &[x, weight], bound, role).ok().map(|_| ());
        }
        if dims.contains(&0) {
            return None;
        }
        let pool = [moves[0], moves[1], moves[2], ("kernel", int(kernel))];
        match s % 4 {
            0 => self.try_node("max_pool2d", &pool, &[x], bound, role),
            1 => self.try_node("avg_pool2d", &pool, &[x], bound, role),
            _ => self.try_node("global_avg_pool", &[layout], &[x], bound, role),
        }
        .ok()
        .map(|_| ())
    }
}

/// Extents from 0 to 6; none at all is rare.
fn extent(size: u8) -> usize {
    if size < 6 { 0 } else { 1 + usize::from(size) % 6 }
}

fn extent_value<'a>(dim: Dim) -> Value<'a> {
    if dim.is_open() { Value::Open(dim) } else { Value::Int(dim.size as i64, 0) }
}

/// Other extents of the same product: two neighbours merged, one split, a 1 put in, ones dropped, or all in one.
fn reshaped(dims: &[Dim], kind: usize, at: usize, factor: usize) -> Option<Vec<Dim>> {
    let mut dims = dims.to_vec();
    let place = if dims.is_empty() { 0 } else { at % dims.len() };
    match kind % 5 {
        0 if place + 1 < dims.len() => {
            let pair = [dims[place], dims.remove(place + 1)];
            dims[place] = Shape::new(&pair)?.product()?;
        }
        1 if !dims.is_empty() => {
            let size = dims[place].size;
            let splits = |factor: &usize| dims[place].over_exactly(*factor).is_some();
            let factors: Vec<usize> = (1..=size).filter(splits).collect();
            if let Some(factor) = factors.get(factor % factors.len().max(1)) {
                dims[place] = dims[place].over_exactly(*factor)?;
                dims.insert(place, Dim::new(*factor));
            }
        }
        2 => dims.insert(place, Dim::new(1)),
        3 => dims.retain(|dim| !dim.is_one()),
        _ => dims = vec![Shape::new(&dims)?.product()?],
    }
    Some(dims)
}
