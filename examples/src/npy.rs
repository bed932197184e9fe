//! Reads NumPy's `.npy`: arrays of numbers that lie row by row, from the bytes of a file. Everything that is not one is an
//! error that says what is there instead.

use std::fmt;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Npy<'a> {
    /// Its elements' type as NumPy writes it: `<f4`.
    pub element: &'a str,
    /// Its extents, outermost first.
    pub shape: Vec<usize>,
    data: &'a [u8],
}

impl<'a> Npy<'a> {
    /// Reads the header and holds it against the number of bytes behind it.
    ///
    /// # Errors
    /// When the file is no `.npy`, is of elements that are not plain numbers, lies column by column, or is shorter or longer
    /// than its shape says.
    pub fn new(bytes: &'a [u8]) -> Result<Npy<'a>, Malformed> {
        let cut = || Malformed(format!("the file ends after {} bytes, within its header", bytes.len()));
        let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or_else(|| {
            Malformed(String::from("it does not begin as NumPy's `.npy` does; save it with `numpy.save`"))
        })?;
        let ([major, _], rest) = rest.split_first_chunk().ok_or_else(cut)?;
        // Version 1 has the length of the header in 2 bytes, later ones in 4.
        let (length, rest) = if *major == 1 {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        } else {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (u32::from_le_bytes(*length) as usize, rest)
        };
        let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
        let header = std::str::from_utf8(header).map_err(|_| Malformed(String::from("its header is no text")))?;
        let entry = |key: &str| {
            let (_, value) = header
                .split_once(&format!("'{key}':"))
                .ok_or_else(|| Malformed(format!("its header has no `{key}`: {}", header.trim_end())))?;
            Ok(value.trim_start())
        };
        let element = entry("descr")?;
        let element = element.strip_prefix('\'').and_then(|element| Some(element.split_once('\'')?.0));
        let element = element.ok_or_else(|| Malformed(String::from("its elements are structures, and not numbers")))?;
        let size = element
            .get(2..)
            .and_then(|size| size.parse::<usize>().ok())
            .filter(|_| matches!(element.as_bytes()[..2], [b'<' | b'>' | b'|', b'f' | b'i' | b'u' | b'b']));
        let size = size.ok_or_else(|| Malformed(format!("its elements are `{element}`, and not numbers")))?;
        if !entry("fortran_order")?.starts_with("False") {
            return Err(Malformed(String::from("it lies column by column; save `numpy.ascontiguousarray` of it")));
        }
        let shape = entry("shape")?;
        let extents = shape.strip_prefix('(').and_then(|shape| Some(shape.split_once(')')?.0));
        let extents = extents.map(|extents| extents.split(',').map(str::trim).filter(|extent| !extent.is_empty()));
        let extents =
            extents.and_then(|extents| extents.map(|extent| extent.parse().ok()).collect::<Option<Vec<usize>>>());
        let shape = extents.ok_or_else(|| Malformed(format!("its header's shape is none: {shape}")))?;
        let needed = match shape.contains(&0) {
            true => Some(0),
            false => shape.iter().try_fold(size, |bytes, extent| bytes.checked_mul(*extent)),
        };
        if needed != Some(data.len()) {
            let needed =
                needed.map_or_else(|| String::from("more bytes than there can be"), |needed| format!("{needed} bytes"));
            return Err(Malformed(format!("{shape:?} of `{element}` are {needed}, and the file has {}", data.len())));
        }
        Ok(Npy { element, shape, data })
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// When they are not `f32`.
    pub fn f32s(&self) -> Result<Vec<f32>, Malformed> {
        let numbers = || self.data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        (self.element == "<f4").then(numbers).ok_or_else(|| self.other("numpy.float32"))
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// When they are not `i8`.
    pub fn i8s(&self) -> Result<Vec<i8>, Malformed> {
        let numbers = || self.data.iter().map(|byte| byte.cast_signed()).collect();
        (self.element == "|i1").then(numbers).ok_or_else(|| self.other("numpy.int8"))
    }

    /// What is said of elements of another type.
    fn other(&self, wanted: &str) -> Malformed {
        Malformed(format!("its elements are `{}`; save it as `{wanted}`", self.element))
    }
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
        assert_eq!((npy.shape.as_slice(), npy.f32s().unwrap()), (&[2, 1][..], vec![1.0, 2.0]));
        assert!(npy.i8s().unwrap_err().0.contains("numpy.int8"));
        let bytes = array("|i1", "(3,)", &[1, 255, 2]);
        assert_eq!(Npy::new(&bytes).unwrap().i8s(), Ok(vec![1, -1, 2]));
        let bytes = array("<f4", "()", &[0; 4]);
        assert_eq!(Npy::new(&bytes).unwrap().shape, [0usize; 0]);
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
            ("<U4", "(1,)", &[0; 16]),
            ("|O", "(1,)", &[0; 8]),
            ("", "(1,)", &[0; 4]),
            ("é", "(1,)", &[0; 4]),
            ("<f", "(1,)", &[0; 4]),
        ] {
            assert!(Npy::new(&array(descr, shape, data)).is_err(), "{descr} {shape}");
        }
        assert!(Npy::new(&file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", &[0; 4])).is_err());
        assert!(Npy::new(&file("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", &[0; 4])).is_err());
        assert!(Npy::new(&file("{}", &[0; 4])).is_err());
        assert!(Npy::new(&file("((((((((", &[])).is_err());
    }
}
