//! The nearest known name to a mistyped one.

/// The candidate that a typing slip could have turned into `name`, if there is one.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // One letter for another is no slip but another name; only its case can be.
    let limit = match name.chars().count() {
        0 | 1 => 0,
        length => length.max(3) / 3,
    };
    candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(name.chars().count()) <= limit)
        .map(|candidate| (distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        assert_eq!(nearest("realu", ["relu", "gelu", "silu"]), Some("relu"));
        assert_eq!(nearest("sofmtax", ["softmax", "log_softmax"]), Some("softmax"));
        assert_eq!(nearest("W1", ["w1", "w2"]), Some("w1"));
        assert_eq!(nearest("banana", ["relu", "gelu"]), None);
        assert_eq!(nearest("x", ["y", "hidden"]), None);
        assert_eq!(nearest("X", ["y", "x"]), Some("x"));
    }
}
