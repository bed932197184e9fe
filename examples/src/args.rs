//! The arguments of the examples: `--name value` and nothing else.

use std::ffi::OsString;

/// The values of the arguments with these names, in this order.
///
/// # Errors
/// What is wrong, in words, when an argument is unknown, given twice or without a value.
pub fn parse<const N: usize>(
    given: impl IntoIterator<Item = OsString>,
    names: [&str; N],
) -> Result<[Option<OsString>; N], String> {
    let mut values = [const { None }; N];
    let mut given = given.into_iter();
    while let Some(name) = given.next() {
        let Some(index) = names.iter().position(|known| name == *known) else {
            return Err(format!("there is no argument `{}`; there are {}", name.display(), names.join(", ")));
        };
        let value = given.next().ok_or_else(|| format!("`{}` needs a value", names[index]))?;
        if values[index].replace(value).is_some() {
            return Err(format!("`{}` is given twice", names[index]));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn arguments_are_named() {
        let parsed = |given: &[&str]| parse(given.iter().map(|given| (*given).into()), ["--a", "--b"]);
        assert_eq!(parsed(&["--b", "1"]), Ok([None, Some("1".into())]));
        assert_eq!(parsed(&["--c", "1"]), Err("there is no argument `--c`; there are --a, --b".into()));
        assert_eq!(parsed(&["--a"]), Err("`--a` needs a value".into()));
        assert_eq!(parsed(&["--a", "1", "--a", "2"]), Err("`--a` is given twice".into()));
    }
}
