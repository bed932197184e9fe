//! Reads NumPy's `.npy`: one array of `f32` or `i8`. It believes nothing that the file says of itself.
//!
//! The format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

/// The elements of an array in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    /// `<f4`.
    F32(Vec<f32>),
    /// `|i1`.
    I8(Vec<i8>),
}

/// Reads an array and its extents.
///
/// # Errors
/// What is wrong with the file, in words.
pub fn read(bytes: &[u8]) -> Result<(Vec<usize>, Array), String> {
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("it does not start as a .npy file does")?;
    let cut = || String::from("the file is cut off");
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk().map(|(length, rest)| (usize::from(u16::from_le_bytes(*length)), rest)),
        _ => rest.split_first_chunk().map(|(length, rest)| (u32::from_le_bytes(*length) as usize, rest)),
    }
    .ok_or_else(cut)?;
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header = str::from_utf8(header).map_err(|_| "its header is not text")?;
    if entry(header, "fortran_order")?.starts_with("True") {
        return Err("its elements are column by column; save it with `numpy.ascontiguousarray`".into());
    }
    let shape = shape(entry(header, "shape")?)?;
    let elements = shape.iter().try_fold(1usize, |elements, dim| elements.checked_mul(*dim)).ok_or_else(cut)?;
    let kind = entry(header, "descr")?;
    let (size, array) = if kind.starts_with("'<f4'") {
        (4, Array::F32(data.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect()))
    } else if kind.starts_with("'|i1'") {
        (1, Array::I8(data.iter().map(|byte| i8::from_le_bytes([*byte])).collect()))
    } else {
        let kind = kind.split(',').next().unwrap_or(kind);
        return Err(format!("its elements are {kind}; save it as `numpy.float32` or `numpy.int8`"));
    };
    if elements.checked_mul(size) != Some(data.len()) {
        return Err(format!("its shape is {shape:?} and there are {} bytes of elements", data.len()));
    }
    Ok((shape, array))
}

/// What follows a key of the header's dictionary.
fn entry<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let after = header.split_once(&format!("'{key}':")).map(|(_, after)| after.trim_start());
    after.ok_or_else(|| format!("its header has no `{key}`"))
}

/// `(4, 49, 10, 1)` at the start of a text.
fn shape(text: &str) -> Result<Vec<usize>, String> {
    let list = text.strip_prefix('(').and_then(|text| text.split_once(')')).map(|(list, _)| list);
    let dims = list.ok_or("its shape is no tuple")?.split(',').map(str::trim).filter(|dim| !dim.is_empty());
    dims.map(|dim| dim.parse().map_err(|_| format!("`{dim}` in its shape is no extent"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
    }

    #[test]
    fn arrays_are_read() {
        let numbers = file("<f4", "(2, 1)", &[0, 0, 128, 63, 0, 0, 0, 64]);
        assert_eq!(read(&numbers), Ok((vec![2, 1], Array::F32(vec![1.0, 2.0]))));
        assert_eq!(read(&file("|i1", "(3,)", &[1, 0, 255])), Ok((vec![3], Array::I8(vec![1, 0, -1]))));
        assert_eq!(read(&file("|i1", "()", &[5])), Ok((vec![], Array::I8(vec![5]))));
    }

    #[test]
    fn damaged_files_are_refused() {
        let whole = file("<f4", "(2, 1)", &[0, 0, 128, 63, 0, 0, 0, 64]);
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_err(), "cut after {end} bytes");
        }
        for wrong in
            [file("<f8", "(1,)", &[0; 8]), file("|i1", "(-1,)", &[]), file("|i1", "(9, 9999999999999999999)", &[])]
        {
            assert!(read(&wrong).is_err());
        }
    }
}
