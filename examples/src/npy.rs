//! NumPy's `.npy` from the bytes of a file, which `npyz` reads: arrays of numbers that lie row by row. Everything that is not
//! one is an error that says what is there instead.

use std::fmt;

use npyz::{Deserialize, NpyFile, NpyHeader, Order};

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

/// An array in memory.
pub struct Npy<'a> {
    /// Its elements' type as NumPy writes it: `<f4`.
    pub element: String,
    /// Its extents, outermost first.
    pub shape: Vec<u64>,
    file: NpyFile<&'a [u8]>,
}

impl<'a> Npy<'a> {
    /// Reads the header and holds it against the number of bytes behind it.
    ///
    /// # Errors
    /// When the file is no `.npy`, lies column by column, or is shorter or longer than its shape says.
    pub fn new(bytes: &'a [u8]) -> Result<Npy<'a>, Malformed> {
        if !bytes.starts_with(b"\x93NUMPY") {
            let text = "it does not begin as NumPy's `.npy` does; save it with `numpy.save`";
            return Err(Malformed(String::from(text)));
        }
        if !has_a_size(bytes) {
            return Err(Malformed(String::from("its shape is of more elements than there can be")));
        }
        let mut data = bytes;
        let header = NpyHeader::from_reader(&mut data).map_err(|error| Malformed(error.to_string()))?;
        let file = NpyFile::with_header(header, data);
        let (element, shape) = (file.dtype().descr(), file.shape().to_vec());
        let element = element.trim_matches('\'').to_owned();
        if file.order() != Order::C {
            return Err(Malformed(String::from("it lies column by column; save `numpy.ascontiguousarray` of it")));
        }
        let size = file.dtype().num_bytes().and_then(|size| file.len().checked_mul(size as u64));
        if size != Some(data.len() as u64) {
            let size =
                size.map_or_else(|| String::from("more bytes than there can be"), |size| format!("{size} bytes"));
            return Err(Malformed(format!("{shape:?} of `{element}` are {size}, and the file has {}", data.len())));
        }
        Ok(Npy { element, shape, file })
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// When they are of another type.
    pub fn elements<T: Deserialize>(self) -> Result<Vec<T>, Malformed> {
        self.file.into_vec().map_err(|error| Malformed(format!("its elements are `{}`: {error}", self.element)))
    }
}

/// False for a header whose extents have no product, which `npyz` takes without looking.
fn has_a_size(bytes: &[u8]) -> bool {
    // A header is text up to its end, and a shape is near its beginning.
    let header = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 12)]);
    let shape = header.split_once("'shape'").and_then(|(_, rest)| Some(rest.split_once(')')?.0)).unwrap_or_default();
    let extents = shape.split(|c: char| !c.is_ascii_digit()).filter(|extent| !extent.is_empty());
    let product = |product: u64, extent: &str| product.checked_mul(extent.parse::<u64>().ok()?.max(1));
    extents.into_iter().try_fold(1, product).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(data);
        file
    }

    fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        file(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}  \n"), data)
    }

    #[test]
    fn arrays_of_both_types() {
        let bytes = array("<f4", "(2, 1)", &[0, 0, 128, 63, 0, 0, 0, 64]);
        let npy = Npy::new(&bytes).unwrap();
        assert_eq!((npy.element.as_str(), npy.shape.as_slice()), ("<f4", &[2, 1][..]));
        assert_eq!(npy.elements(), Ok(vec![1f32, 2.0]));
        assert!(Npy::new(&bytes).unwrap().elements::<i8>().is_err());
        let bytes = array("|i1", "(3,)", &[1, 255, 2]);
        assert_eq!(Npy::new(&bytes).unwrap().elements(), Ok(vec![1i8, -1, 2]));
        let bytes = array("<f4", "()", &[0; 4]);
        assert_eq!(Npy::new(&bytes).unwrap().shape, [0u64; 0]);
        assert!(Npy::new(&array("<f4", "(0, 18446744073709551615)", &[])).is_ok());
    }

    #[test]
    fn every_other_file_is_refused() {
        let whole = array("<f4", "(2, 1)", &[0; 8]);
        for end in 0..whole.len() {
            assert!(Npy::new(&whole[..end]).is_err(), "{end} bytes");
        }
        for (descr, shape, data) in [
            ("<f4", "(2, 1)", &[0; 12][..]),
            ("<f4", "(4294967296, 4294967296)", &[]),
            ("<f4", "(4611686018427387904, 4)", &[]),
            ("<f4", "(99999999999999999999,)", &[]),
            ("<f4", "(-1,)", &[]),
            ("<f4", "7", &[]),
            ("|O", "(1,)", &[0; 8]),
            ("", "(1,)", &[0; 4]),
            ("é", "(1,)", &[0; 4]),
            ("<f", "(1,)", &[0; 4]),
        ] {
            assert!(Npy::new(&array(descr, shape, data)).is_err(), "{descr} {shape}");
        }
        assert!(Npy::new(&file("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", &[0; 4])).is_err());
        assert!(Npy::new(&file("{}", &[0; 4])).is_err());
        assert!(Npy::new(&file("((((((((", &[])).is_err());
    }
}
