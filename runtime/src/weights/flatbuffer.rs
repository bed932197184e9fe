//! Reads FlatBuffers without believing them: every position is looked up in the bytes, and what lies outside of them is
//! an error. It knows nothing of what the tables mean.
//!
//! The format: <https://flatbuffers.dev/internals/>. A table starts with the distance back to its vtable, which has two
//! bytes for each field: where in the table the field is, 0 when it is left out. What is not inline is reached over a
//! distance forward.

/// What is wrong: a position that the bytes do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outside {
    /// The position.
    pub(super) at: usize,
}

/// A table of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The vtable's entries.
    fields: &'a [u8],
}

/// The `N` bytes at a position.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Outside> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(Outside { at })
}

/// Where the distance at `at` leads.
fn follow(bytes: &[u8], at: usize) -> Result<usize, Outside> {
    let distance = u32::from_le_bytes(array(bytes, at)?) as usize;
    at.checked_add(distance).ok_or(Outside { at })
}

impl<'a> Table<'a> {
    /// The table that a whole buffer is.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Table<'a>, Outside> {
        Table::at(bytes, follow(bytes, 0)?)
    }

    fn at(bytes: &'a [u8], at: usize) -> Result<Table<'a>, Outside> {
        let back = i32::from_le_bytes(array(bytes, at)?);
        let outside = Outside { at };
        let vtable = isize::try_from(at).ok().and_then(|at| at.checked_sub(isize::try_from(back).ok()?));
        let vtable = vtable.and_then(|at| usize::try_from(at).ok()).ok_or(outside)?;
        let size = usize::from(u16::from_le_bytes(array(bytes, vtable)?));
        // Its own two sizes come first.
        let end = vtable.checked_add(size.max(4)).ok_or(outside)?;
        let fields = bytes.get(vtable + 4..end).ok_or(Outside { at: vtable })?;
        Ok(Table { bytes, at, fields })
    }

    /// Where a field is, if it is there.
    fn field(&self, field: usize) -> Result<Option<usize>, Outside> {
        let Ok(entry) = array(self.fields, 2 * field) else { return Ok(None) };
        match usize::from(u16::from_le_bytes(entry)) {
            0 => Ok(None),
            offset => self.at.checked_add(offset).map(Some).ok_or(Outside { at: self.at }),
        }
    }

    /// A field of `N` bytes; zeros when it is left out.
    pub(super) fn scalar<const N: usize>(&self, field: usize) -> Result<[u8; N], Outside> {
        self.field(field)?.map_or(Ok([0; N]), |at| array(self.bytes, at))
    }

    /// A table that a field leads to.
    pub(super) fn table(&self, field: usize) -> Result<Option<Table<'a>>, Outside> {
        let Some(at) = self.field(field)? else { return Ok(None) };
        Table::at(self.bytes, follow(self.bytes, at)?).map(Some)
    }

    /// The bytes of a vector whose elements have `size` of them; none when the field is left out.
    pub(super) fn vector(&self, field: usize, size: usize) -> Result<&'a [u8], Outside> {
        Ok(self.located(field, size)?.1)
    }

    /// As [`Table::vector`], after the position of its first byte.
    fn located(&self, field: usize, size: usize) -> Result<(usize, &'a [u8]), Outside> {
        let Some(at) = self.field(field)? else { return Ok((0, &[])) };
        let at = follow(self.bytes, at)?;
        let count = u32::from_le_bytes(array(self.bytes, at)?) as usize;
        let start = at + 4;
        let end = count.checked_mul(size).and_then(|len| start.checked_add(len));
        let vector = end.and_then(|end| self.bytes.get(start..end)).ok_or(Outside { at })?;
        Ok((start, vector))
    }

    /// The tables of a vector of them.
    pub(super) fn tables(
        &self,
        field: usize,
    ) -> Result<impl ExactSizeIterator<Item = Result<Table<'a>, Outside>> + use<'a>, Outside> {
        let (bytes, (start, vector)) = (self.bytes, self.located(field, 4)?);
        Ok((0..vector.len() / 4).map(move |index| Table::at(bytes, follow(bytes, start + 4 * index)?)))
    }
}
