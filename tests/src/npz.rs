//! Reads NumPy's `.npz`: a zip file of arrays.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use model_graph_examples::npy::Npy;

/// An open `.npz`.
pub struct Npz(zip::ZipArchive<File>);

impl Npz {
    /// Opens a file.
    ///
    /// # Panics
    /// When there is none, or it is no zip file.
    pub fn open(path: &Path) -> Npz {
        let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Npz(zip::ZipArchive::new(file).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    /// The elements of an array in the order they are stored.
    ///
    /// # Panics
    /// When there is no array of that name, it has another element type, or other bytes than its shape says.
    pub fn array<T: npyz::Deserialize>(&mut self, name: &str) -> Vec<T> {
        let mut bytes = Vec::new();
        let mut entry = self.0.by_name(&format!("{name}.npy")).unwrap_or_else(|error| panic!("{name}: {error}"));
        entry.read_to_end(&mut bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let array = Npy::new(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        array.elements().unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}
