//! Weights by name: what a source offers, what a model asks for, and every complaint at once.

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

pub use self::renamed::Renamed;
#[cfg(feature = "safetensors")]
pub use self::safetensors::SafeTensors;
#[cfg(feature = "alloc")]
pub use self::tflite::TfLite;
use crate::{DType, Error, Plan};

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
    for (tensor, name) in weights {
        let view = &plan.tensors[*tensor].view;
        let found = source.find(name)?;
        if found.is_some_and(|weight| fits(view, &weight)) {
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
            Some(weight) => complaints.wrong.push(wrong(name, view, &weight)),
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

/// True when a weight is what a tensor needs.
pub(crate) fn fits(view: &crate::View, weight: &Weight<'_>) -> bool {
    weight.dtype == Some(view.dtype) && weight.shape == view.dims() && weight.bytes.len() == view.span().len()
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
            found.is_some_and(|weight| weight.dtype == Some(view.dtype) && weight.shape == view.dims())
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
fn wrong(name: &str, view: &crate::View, weight: &Weight<'_>) -> String {
    match weight.dtype {
        Some(dtype) if dtype != view.dtype => format!("`{name}` is {dtype} and has to be {}", view.dtype),
        None => format!("`{name}` has an element type that no model has, and has to be {}", view.dtype),
        Some(_) if weight.shape != view.dims() => {
            format!("`{name}` is {:?} and has to be {:?}", weight.shape, view.dims())
        }
        Some(_) => format!("`{name}` needs {} bytes and the source has {}", view.span().len(), weight.bytes.len()),
    }
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
        Ok(())
    }

    #[cfg(not(feature = "alloc"))]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} weights are missing or wrong, `{}` first; nothing was loaded", self.count, self.first)
    }
}
