//! Tables of buffers, `id,lower,upper,size` with a header line: read with errors that name the line, and written.

use std::fmt::Write as _;
use std::path::Path;

use model_graph_planner::offset::Buffer;

/// The columns a table must start with.
const HEADER: &str = "id,lower,upper,size";

/// A table as read: the buffers and the text of each row.
pub(crate) struct Table {
    pub(crate) buffers: Vec<Buffer>,
    rows: Vec<String>,
}

/// Reads a table.
pub(crate) fn read(path: &Path) -> Result<Table, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| format!("{}: not a text file (invalid UTF-8); expected a table `{HEADER}`", path.display()))?;
    parse(&text).map_err(|error| format!("{}:{error}", path.display()))
}

/// Parses a table; an error starts with the line's number.
pub(crate) fn parse(text: &str) -> Result<Table, String> {
    let mut lines = text.lines().enumerate();
    match lines.next() {
        Some((_, header)) if header.trim_start_matches('\u{feff}').trim() == HEADER => {}
        Some((_, header)) => {
            return Err(format!("1: found `{header}`, expected the header `{HEADER}`"));
        }
        None => {
            return Err(format!("1: the file is empty, expected the header `{HEADER}`"));
        }
    }
    let mut table = Table { buffers: Vec::new(), rows: Vec::new() };
    for (index, line) in lines {
        let number = index + 1;
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        // An id is free text, commas included: the three numbers are taken from the right.
        let mut fields = line.rsplitn(4, ',');
        let (Some(size), Some(upper), Some(lower), Some(_id)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            let count = line.split(',').count();
            return Err(format!("{number}: found {count} columns in `{line}`, expected four: `{HEADER}`"));
        };
        let lower = column(number, "lower", lower)?;
        let upper = column(number, "upper", upper)?;
        let size = column(number, "size", size)?;
        if upper < lower {
            return Err(format!(
                "{number}: `upper` is {upper} and `lower` is {lower}, expected lower <= upper (half-open steps)"
            ));
        }
        table.buffers.push(Buffer::new(lower, upper, size));
        table.rows.push(line.to_owned());
    }
    Ok(table)
}

/// One number of a row.
fn column(line: usize, name: &str, text: &str) -> Result<usize, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("{line}: `{name}` is `{text}`, expected a whole number from 0 to {}", usize::MAX))
}

/// The table with an `offset` column added.
pub(crate) fn with_offsets(table: &Table, offsets: &[usize]) -> String {
    let mut text = format!("{HEADER},offset\n");
    for (row, offset) in table.rows.iter().zip(offsets) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{row},{offset}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{parse, with_offsets};

    #[test]
    fn reads_and_writes_back() {
        let table = parse("id,lower,upper,size\na,b,0,3,4\n\nx,1,1,0\r\n").unwrap();
        assert_eq!(table.buffers.len(), 2);
        assert_eq!(with_offsets(&table, &[0, 8]), "id,lower,upper,size,offset\na,b,0,3,4,0\nx,1,1,0,8\n");
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        for (text, expected) in [
            ("", "1: the file is empty, expected the header `id,lower,upper,size`"),
            ("a,b\n", "1: found `a,b`, expected the header `id,lower,upper,size`"),
            ("id,lower,upper,size\n1,2\n", "2: found 2 columns in `1,2`, expected four: `id,lower,upper,size`"),
            (
                "id,lower,upper,size\nq,0,x,4\n",
                "2: `upper` is `x`, expected a whole number from 0 to 18446744073709551615",
            ),
            (
                "id,lower,upper,size\nq,0,1,-4\n",
                "2: `size` is `-4`, expected a whole number from 0 to 18446744073709551615",
            ),
            (
                "id,lower,upper,size\nq,3,1,4\n",
                "2: `upper` is 1 and `lower` is 3, expected lower <= upper (half-open steps)",
            ),
        ] {
            assert_eq!(parse(text).err().as_deref(), Some(expected));
        }
    }
}
