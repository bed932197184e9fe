//! A source under other names: which weight of a file each weight of a model is.

use super::{Weight, WeightSource};
use crate::Error;

/// A source whose weights a model knows by other names.
///
/// A name without an entry is asked for as it is. In blocks and chains a weight's name is its path: `layers.0.w`.
///
/// ```
/// # use model_graph::{Cpu, DType, Error, Renamed, Weight, WeightSource, model_graph};
/// # #[model_graph]
/// # struct Model {
/// #     #[input]
/// #     x: Tensor<f32, 1>,
/// #     #[weight]
/// #     w: Tensor<f32, 1>,
/// #     #[output(x + w)]
/// #     y: _,
/// # }
/// # struct File;
/// # impl WeightSource for File {
/// #     fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
/// #         let weight = Weight { dtype: Some(DType::F32), shape: &[1], bytes: &[0, 0, 128, 63] };
/// #         Ok((name == "encoder/0/kernel").then_some(weight))
/// #     }
/// #     fn names(&self, visit: &mut dyn FnMut(&str)) {
/// #         visit("encoder/0/kernel");
/// #     }
/// # }
/// # let file = File;
/// let mut model = Model::new(&Cpu)?;
/// model.load(&Renamed::new(&file, &[("w", "encoder/0/kernel")]))?;
/// assert_eq!(*model.w(), [1.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Renamed<'a, S: ?Sized, N> {
    source: &'a S,
    names: &'a [(N, N)],
}

impl<'a, S: WeightSource + ?Sized, N: AsRef<str>> Renamed<'a, S, N> {
    /// `names` are pairs: the model's name, and the source's.
    pub fn new(source: &'a S, names: &'a [(N, N)]) -> Renamed<'a, S, N> {
        Renamed { source, names }
    }
}

impl<S: WeightSource + ?Sized, N: AsRef<str>> WeightSource for Renamed<'_, S, N> {
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
        let entry = self.names.iter().find(|(known, _)| known.as_ref() == name);
        self.source.find(entry.map_or(name, |(_, other)| other.as_ref()))
    }

    /// The source's names, except that a renamed weight has the model's.
    fn names(&self, visit: &mut dyn FnMut(&str)) {
        self.source.names(&mut |name| {
            let entry = self.names.iter().find(|(_, other)| other.as_ref() == name);
            visit(entry.map_or(name, |(known, _)| known.as_ref()));
        });
    }

    fn converts(&self) -> bool {
        self.source.converts()
    }
}
