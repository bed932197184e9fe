//! Weights by name: what a source offers, what a model asks for, and every complaint at once.

mod converted;
#[cfg(feature = "alloc")]
mod flatbuffer;
mod renamed;
#[cfg(feature = "safetensors")]
mod safetensors;
#[cfg(feature = "alloc")]
mod tflite;

#[cfg(feature = "alloc")]
use alloc::{borrow::ToOwned, format, string::String, vec::Vec};
use core::fmt;

pub use self::converted::Converted;
pub use self::renamed::Renamed;
#[cfg(feature = "safetensors")]
pub use self::safetensors::SafeTensors;
#[cfg(feature = "alloc")]
pub use self::tflite::TfLite;
use crate::{Buffer, DType, Error, Plan, View};

/// Where weights come from. Implement it for a format of one's own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no source of weights",
    label = "not a `WeightSource`",
    note = "a safetensors file is read by `let bytes = std::fs::read(path)?` and loaded by \
            `model.load(&SafeTensors::new(&bytes)?)`"
)]
pub trait WeightSource {
    /// The weight of that name, if there is one.
    ///
    /// # Errors
    /// What reading it meets.
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error>;

    /// Calls `visit` with every name there is.
    fn names(&self, visit: &mut dyn FnMut(&str));

    /// True for a source whose floats and blocks become what the model's weights are, as they are loaded. A source around
    /// another one, as [`Renamed`] is, hands on what that says; [`Converted`] says so of any.
    fn converts(&self) -> bool {
        false
    }
}

/// One tensor of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight<'a> {
    /// Element type, or `None` for one that no model has.
    pub dtype: Option<DType>,
    /// Extents, outermost first. Those of a weight in blocks count its elements.
    pub shape: &'a [usize],
    /// The elements in row-major order, little-endian, at any address.
    pub bytes: &'a [u8],
}

/// Everything that is wrong with a weight source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Complaints {
    /// How many weights are missing or wrong.
    pub count: usize,
    /// Name of the first of them.
    pub first: &'static str,
    /// Names of weights that the source does not have.
    #[cfg(feature = "alloc")]
    pub missing: Vec<&'static str>,
    /// What is wrong with weights that it has, one sentence each.
    #[cfg(feature = "alloc")]
    pub wrong: Vec<String>,
    /// Names of those among the wrong ones that [`Converted`] would give the right element type.
    #[cfg(feature = "alloc")]
    pub convertible: Vec<&'static str>,
    /// For missing weights: names in the source that nobody asks for and that have their shape.
    #[cfg(feature = "alloc")]
    pub renamed: Vec<(&'static str, String)>,
    /// For missing weights without such a name: the weight of the model that is there and has their shape, if it is
    /// the only one.
    #[cfg(feature = "alloc")]
    pub tied: Vec<(&'static str, &'static str)>,
    /// Names in the source that the model does not ask for; filled only when some are missing.
    #[cfg(feature = "alloc")]
    pub unused: Vec<String>,
}

/// Looks at every weight that a model asks for. `weights` are positions in the plan's tensors and names in the source.
pub(crate) fn check<S: WeightSource + ?Sized>(
    plan: &Plan<'static>,
    weights: &[(usize, &'static str)],
    source: &S,
) -> Result<(), Error> {
    let mut complaints = Complaints::default();
    let converts = source.converts();
    for (tensor, name) in weights {
        let view = &plan.tensors[*tensor].view;
        let found = source.find(name)?;
        if found.is_some_and(|weight| fits(view, &weight, converts) && beyond(view, &weight).is_none()) {
            continue;
        }
        if complaints.count == 0 {
            complaints.first = name;
        }
        complaints.count += 1;
        #[cfg(feature = "alloc")]
        match found {
            None => {
                complaints.missing.push(name);
                complaints.suggest(name, view, plan, weights, source);
            }
            Some(weight) => {
                complaints.wrong.push(wrong(name, view, &weight, converts));
                if !converts && fits(view, &weight, true) {
                    complaints.convertible.push(name);
                }
            }
        }
    }
    if complaints.count == 0 {
        return Ok(());
    }
    #[cfg(feature = "alloc")]
    if !complaints.missing.is_empty() {
        source.names(&mut |name| {
            if !weights.iter().any(|(_, wanted)| *wanted == name) {
                complaints.unused.push(name.to_owned());
            }
        });
    }
    Err(complaints.into())
}

/// True when a weight is what a tensor needs, or, where floats are converted, can become that.
pub(crate) fn fits(view: &View, weight: &Weight<'_>, converts: bool) -> bool {
    weight.shape == view.dims()
        && taken(view, weight, converts).is_some_and(|dtype| weight.bytes.len() == bytes(dtype, view))
}

/// The weight's element type, if a tensor takes it.
fn taken(view: &View, weight: &Weight<'_>, converts: bool) -> Option<DType> {
    let fits = |dtype| dtype == view.dtype || (converts && converted::convertible(dtype, view.dtype));
    weight.dtype.filter(|dtype| fits(*dtype))
}

/// How many bytes a tensor's elements have in a type.
fn bytes(dtype: DType, view: &View) -> usize {
    crate::private::packed(dtype, 0, view.dims()).span().len()
}

/// The first element of a weight that fits which the tensor's type does not hold, and where it is.
fn beyond(view: &View, weight: &Weight<'_>) -> Option<(usize, f32)> {
    let from = weight.dtype.filter(|dtype| *dtype != view.dtype)?;
    converted::beyond(weight, from, view.dtype)
}

/// Puts a weight that fits into its place.
pub(crate) fn set<B: Buffer>(buffer: &mut B, offset: usize, view: &View, weight: &Weight<'_>) -> Result<(), Error> {
    match weight.dtype {
        Some(from) if from != view.dtype => converted::write(buffer, offset, view, weight, from),
        _ => buffer.set(offset, weight.bytes),
    }
}

#[cfg(feature = "alloc")]
impl Complaints {
    /// Where a missing weight could be: under a name that nobody asks for, or tied to another one.
    fn suggest<S: WeightSource + ?Sized>(
        &mut self,
        name: &'static str,
        view: &crate::View,
        plan: &Plan<'static>,
        weights: &[(usize, &'static str)],
        source: &S,
    ) {
        let fits = |key: &str| {
            let found = source.find(key).ok().flatten();
            let converts = source.converts();
            found.is_some_and(|weight| taken(view, &weight, converts).is_some() && weight.shape == view.dims())
        };
        let asked = |key: &str| weights.iter().any(|(_, wanted)| *wanted == key);
        let mut others: Vec<String> = Vec::new();
        source.names(&mut |key| {
            if !asked(key) && fits(key) {
                others.push(key.to_owned());
            }
        });
        match others.as_slice() {
            [] => {
                let same = |other: &crate::View| (other.dtype, other.dims()) == (view.dtype, view.dims());
                let mut twins = weights.iter().filter(|(other, key)| same(&plan.tensors[*other].view) && fits(key));
                // As above: the layers of a network are alike, and one of them is no twin of another.
                if let (Some((_, twin)), None) = (twins.next(), twins.next()) {
                    self.tied.push((name, *twin));
                }
            }
            [only] => self.renamed.push((name, only.clone())),
            // Several of one shape: any of them would be a guess.
            _ => {}
        }
    }
}

#[cfg(feature = "alloc")]
fn wrong(name: &str, view: &View, weight: &Weight<'_>, converts: bool) -> String {
    let Some(dtype) = weight.dtype else {
        return format!("`{name}` has an element type that no model has, and has to be {}", view.dtype);
    };
    if taken(view, weight, converts).is_none() {
        let why = if converts { "; floats and blocks alone are converted into one another" } else { "" };
        return format!("`{name}` is {dtype} and has to be {}{why}", view.dtype);
    }
    if weight.shape != view.dims() {
        return format!("`{name}` is {:?} and has to be {:?}", weight.shape, view.dims());
    }
    let needed = bytes(dtype, view);
    if weight.bytes.len() == needed
        && let Some((at, element)) = beyond(view, weight)
    {
        return format!(
            "element {at} of `{name}`, counted row by row, is {element:?}, which {} does not hold; declare it as f32",
            view.dtype
        );
    }
    format!("`{name}` needs {needed} bytes and the source has {}", weight.bytes.len())
}

impl fmt::Display for Complaints {
    #[cfg(feature = "alloc")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the weights do not fit the model; nothing was loaded")?;
        if !self.missing.is_empty() {
            write!(f, "\n  missing: {}", self.missing.join(", "))?;
        }
        for line in &self.wrong {
            write!(f, "\n  {line}")?;
        }
        for (name, other) in &self.renamed {
            write!(
                f,
                "\n  `{other}` has the shape of `{name}`: if it is meant, write `#[weight(name = \"{other}\")]`"
            )?;
        }
        for (name, twin) in &self.tied {
            write!(f, "\n  `{name}` has the shape of `{twin}`: if they are tied, use `{twin}` in both places")?;
        }
        if !self.unused.is_empty() {
            write!(f, "\n  not asked for: {}", self.unused.join(", "))?;
        }
        if !self.convertible.is_empty() {
            write!(f, "\n  `load(&Converted::new(&source))` converts {}", self.convertible.join(", "))?;
        }
        Ok(())
    }

    #[cfg(not(feature = "alloc"))]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} weights are missing or wrong, `{}` first; nothing was loaded", self.count, self.first)
    }
}
