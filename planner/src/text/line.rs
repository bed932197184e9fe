//! One line of the textual form, read from left to right. It knows words, numbers and quoted names, and nothing of what
//! they are for.

use alloc::format;
use alloc::string::String;

use super::ParseError;

/// What is left of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    number: usize,
    rest: &'t str,
}

/// True for what words are made of: names, operators, roles, settings.
pub(super) fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

impl<'t> Line<'t> {
    /// A line of a text; lines are counted from 1.
    pub(super) fn new(number: usize, text: &'t str) -> Line<'t> {
        Line { number, rest: text.trim_start() }
    }

    /// True when nothing is left but spaces and a comment.
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with("//")
    }

    /// Complains about what comes next.
    pub(super) fn fail<T>(&self, expected: impl Into<String>) -> Result<T, ParseError> {
        const MOST: usize = 32;
        let given = if self.is_empty() {
            String::from("the end of the line")
        } else {
            let cut = self.rest.char_indices().nth(MOST).map(|(at, _)| at);
            let mut shown = String::from("`");
            for c in self.rest[..cut.unwrap_or(self.rest.len())].trim_end().chars() {
                // Text from anywhere may hold anything.
                if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
            }
            shown.push_str(if cut.is_some() { "…`" } else { "`" });
            shown
        };
        self.error(expected, given)
    }

    /// Complains about something on this line.
    pub(super) fn error<T>(&self, expected: impl Into<String>, given: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { line: self.number, expected: expected.into(), given: given.into() })
    }

    /// Fails unless nothing is left.
    pub(super) fn end(&self) -> Result<(), ParseError> {
        if self.is_empty() { Ok(()) } else { self.fail("the end of the line") }
    }

    fn skip(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest.trim_start();
        taken
    }

    /// Takes `text`, if it comes next.
    pub(super) fn takes(&mut self, text: &str) -> bool {
        let found = self.rest.starts_with(text);
        if found {
            self.skip(text.len());
        }
        found
    }

    /// True when `text` comes next.
    pub(super) fn starts(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    /// Takes these words, if they come next and end there.
    pub(super) fn takes_words(&mut self, words: &str) -> bool {
        let mut ahead = *self;
        let found = words.split(' ').all(|word| ahead.takes_word(word));
        if found {
            *self = ahead;
        }
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        let found = rest.is_some_and(|rest| !rest.starts_with(in_word));
        if found {
            self.skip(word.len());
        }
        found
    }

    /// Takes `text`, which has to come next.
    pub(super) fn expect(&mut self, text: &str, expected: &str) -> Result<(), ParseError> {
        if self.takes(text) { Ok(()) } else { self.fail(expected) }
    }

    /// A word, if one comes next.
    pub(super) fn word(&mut self) -> Option<&'t str> {
        if !self.rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        let end = self.rest.find(|c: char| !in_word(c)).unwrap_or(self.rest.len());
        Some(self.skip(end))
    }

    /// A whole number of digits alone.
    pub(super) fn whole(&mut self, expected: &str) -> Result<usize, ParseError> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let limit = format!("{expected}, at most {}", isize::MAX);
        match self.rest[..end].parse::<usize>() {
            _ if end == 0 => self.fail(expected),
            Ok(number) if isize::try_from(number).is_ok() => {
                self.skip(end);
                Ok(number)
            }
            _ => self.fail(limit),
        }
    }

    /// The characters of a number with sign, point and exponent, if one comes next. Nothing is taken.
    pub(super) fn number(&self) -> Option<&'t str> {
        let digits = self.rest.strip_prefix('-').unwrap_or(self.rest);
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let mut before = ' ';
        let end = self.rest.find(|c: char| {
            let sign = matches!(c, '-' | '+') && matches!(before, ' ' | 'e' | 'E');
            before = c;
            !sign && !in_word(c)
        });
        Some(&self.rest[..end.unwrap_or(self.rest.len())])
    }

    /// Takes what [`Line::number`] saw.
    pub(super) fn take_number(&mut self, number: &str) {
        self.skip(number.len());
    }

    /// `%` and a tensor's number.
    pub(super) fn reference(&mut self, expected: &str) -> Result<usize, ParseError> {
        if !self.rest.starts_with('%') {
            return self.fail(expected);
        }
        let mut ahead = *self;
        ahead.rest = &ahead.rest[1..];
        let number = ahead.whole("a tensor's number after `%`")?;
        *self = ahead;
        Ok(number)
    }

    /// A name: a word, or anything in quotes.
    pub(super) fn name(&mut self, expected: &str) -> Result<String, ParseError> {
        if self.rest.starts_with('"') {
            return self.quoted();
        }
        match self.word() {
            Some(word) => Ok(word.into()),
            None => self.fail(expected),
        }
    }

    fn quoted(&mut self) -> Result<String, ParseError> {
        let mut name = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.skip(at + 1);
                    return Ok(name);
                }
                '\\' => {
                    let escaped = match chars.next().map(|(_, c)| c) {
                        Some('n') => Some('\n'),
                        Some('r') => Some('\r'),
                        Some('t') => Some('\t'),
                        Some('0') => Some('\0'),
                        Some(c @ ('"' | '\\' | '\'')) => Some(c),
                        Some('u') => unicode(&mut chars),
                        _ => None,
                    };
                    let Some(c) = escaped else {
                        let at = Line { rest: &self.rest[at..], ..*self };
                        return at.fail(r#"one of the escapes `\n`, `\r`, `\t`, `\0`, `\"`, `\\` and `\u{…}`"#);
                    };
                    name.push(c);
                }
                _ => name.push(c),
            }
        }
        self.fail("a quote at the end of the name")
    }
}

/// The `{…}` of a `\u{…}`.
fn unicode(chars: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    chars.next().filter(|(_, c)| *c == '{')?;
    let mut code = 0u32;
    for digit in 0..7 {
        match chars.next()?.1 {
            '}' if digit > 0 => return char::from_u32(code),
            c => code = code.checked_mul(16)?.checked_add(c.to_digit(16)?)?,
        }
    }
    None
}
