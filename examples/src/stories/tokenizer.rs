//! The byte-pair tokenizer of llama2.c: text to tokens by merging the best pair as long as there is one, and back.

use std::collections::HashMap;

use super::checkpoint::Malformed;

/// The token that every text begins with, and that a model gives when it is at a text's end.
pub const BEGIN: u32 = 1;
/// The token that would end a text.
pub const END: u32 = 2;
/// Tokens 3 to 258 stand for single bytes.
const FIRST_BYTE: u32 = 3;
/// How many tokens there are at least: three marks and the bytes.
const LEAST: usize = FIRST_BYTE as usize + 256;

/// Tokens and their scores.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    pieces: Vec<(Vec<u8>, f32)>,
    ids: HashMap<Vec<u8>, u32>,
}

impl Tokenizer {
    /// Reads a tokenizer of `vocab` tokens: the longest one's length, then each token's score, length and bytes.
    ///
    /// # Errors
    /// When the file ends before the last token or goes on after it, or when they are too few to stand for every byte.
    pub fn new(bytes: &[u8], vocab: usize) -> Result<Tokenizer, Malformed> {
        if vocab < LEAST {
            let text =
                format!("the checkpoint has {vocab} tokens; a tokenizer has at least {LEAST}, one for each byte");
            return Err(Malformed(text));
        }
        let mut rest = bytes;
        word(&mut rest, bytes.len())?;
        let mut pieces = Vec::new();
        let mut ids = HashMap::new();
        for id in 0..u32::try_from(vocab).unwrap_or(u32::MAX) {
            let score = f32::from_bits(word(&mut rest, bytes.len())?);
            let length = word(&mut rest, bytes.len())? as usize;
            let Some((piece, more)) = rest.split_at_checked(length) else { return Err(short(bytes.len())) };
            rest = more;
            // The first of two equal pieces counts.
            ids.entry(piece.to_vec()).or_insert(id);
            pieces.push((piece.to_vec(), score));
        }
        if !rest.is_empty() {
            return Err(Malformed(format!(
                "the tokenizer's file has {} bytes behind token {vocab}, the checkpoint's last; it is another one's",
                rest.len()
            )));
        }
        Ok(Tokenizer { pieces, ids })
    }

    /// The tokens of a text, [`BEGIN`] first.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let mut tokens = vec![BEGIN];
        if text.is_empty() {
            return tokens;
        }
        // Pieces begin with the space before a word, and so does a text.
        tokens.extend(self.ids.get(&b" "[..]));
        let mut encoded = [0; 4];
        for letter in text.chars() {
            let letter = letter.encode_utf8(&mut encoded).as_bytes();
            match self.ids.get(letter) {
                Some(id) => tokens.push(*id),
                None => tokens.extend(letter.iter().map(|byte| u32::from(*byte) + FIRST_BYTE)),
            }
        }
        while let Some((at, merged)) = self.best_pair(&tokens) {
            tokens[at] = merged;
            tokens.remove(at + 1);
        }
        tokens
    }

    /// The pair of neighbours whose piece has the best score; the first of equals.
    fn best_pair(&self, tokens: &[u32]) -> Option<(usize, u32)> {
        let mut best: Option<(usize, u32, f32)> = None;
        let mut piece = Vec::new();
        for (at, pair) in tokens.windows(2).enumerate() {
            piece.clear();
            piece.extend_from_slice(&self.pieces[pair[0] as usize].0);
            piece.extend_from_slice(&self.pieces[pair[1] as usize].0);
            if let Some(id) = self.ids.get(&piece) {
                let score = self.pieces[*id as usize].1;
                if best.is_none_or(|(_, _, other)| score > other) {
                    best = Some((at, *id, score));
                }
            }
        }
        best.map(|(at, id, _)| (at, id))
    }

    /// The bytes of a token that stands behind another. Several tokens may make up one letter.
    pub fn decode(&self, before: u32, token: u32) -> &[u8] {
        let Some((piece, _)) = self.pieces.get(token as usize) else { return &[] };
        // Single bytes are written like `<0x0A>`.
        if let [b'<', b'0', b'x', high, low, b'>'] = piece[..]
            && let (Some(high), Some(low)) = (digit(high), digit(low))
        {
            return &BYTES[high * 16 + low..][..1];
        }
        match piece.strip_prefix(b" ") {
            Some(rest) if before == BEGIN => rest,
            _ => piece,
        }
    }
}

static BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut value = 0;
    while value < 256 {
        bytes[value] = value as u8;
        value += 1;
    }
    bytes
};

fn digit(letter: u8) -> Option<usize> {
    char::from(letter).to_digit(16).map(|digit| digit as usize)
}

fn word(rest: &mut &[u8], size: usize) -> Result<u32, Malformed> {
    let (word, more) = rest.split_first_chunk().ok_or_else(|| short(size))?;
    *rest = more;
    Ok(u32::from_le_bytes(*word))
}

fn short(size: usize) -> Malformed {
    Malformed(format!("the tokenizer's file ends after {size} bytes, before its last token"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(pieces: &[(&[u8], f32)]) -> Vec<u8> {
        let mut file = 10u32.to_le_bytes().to_vec();
        for (piece, score) in pieces {
            file.extend(score.to_le_bytes());
            file.extend((piece.len() as u32).to_le_bytes());
            file.extend_from_slice(piece);
        }
        file
    }

    fn tokenizer() -> Tokenizer {
        let (file, count) = whole();
        Tokenizer::new(&file, count).expect("a whole file")
    }

    /// A file, and how many tokens it has.
    fn whole() -> (Vec<u8>, usize) {
        let bytes: Vec<Vec<u8>> = (0..=255u8).map(|byte| format!("<0x{byte:02X}>").into_bytes()).collect();
        let mut pieces: Vec<(&[u8], f32)> = vec![(b"<unk>", 0.0), (b"<s>", 0.0), (b"</s>", 0.0)];
        pieces.extend(bytes.iter().map(|piece| (piece.as_slice(), 0.0)));
        pieces.extend([(&b" "[..], -9.0), (b"a", -8.0), (b"b", -7.0), (b"ab", -2.0), (b" a", -3.0), (b" ab", -1.0)]);
        (file(&pieces), pieces.len())
    }

    #[test]
    fn pairs_merge_by_score() {
        let tokenizer = tokenizer();
        assert_eq!(tokenizer.encode(""), [BEGIN]);
        // `ab` before ` a`, and then ` ab`.
        assert_eq!(tokenizer.encode("ab"), [BEGIN, 264]);
        assert_eq!(tokenizer.encode("aab"), [BEGIN, 263, 262]);
    }

    #[test]
    fn what_is_no_piece_is_bytes() {
        let tokenizer = tokenizer();
        let tokens = tokenizer.encode("é");
        assert_eq!(tokens, [BEGIN, 259, 3 + 0xc3, 3 + 0xa9]);
        let text: Vec<u8> = tokens.windows(2).flat_map(|pair| tokenizer.decode(pair[0], pair[1])).copied().collect();
        assert_eq!(String::from_utf8(text).as_deref(), Ok("é"));
    }

    #[test]
    fn a_file_of_another_length_is_refused() {
        let (mut file, count) = whole();
        for end in 0..file.len() {
            assert!(Tokenizer::new(&file[..end], count).is_err(), "{end} bytes");
        }
        assert!(Tokenizer::new(&file, count).is_ok());
        assert!(Tokenizer::new(&file, count - 1).is_err());
        file.push(0);
        assert!(Tokenizer::new(&file, count).is_err());
    }

    /// Text is bytes where it is nothing else, so every byte has a token.
    #[test]
    fn a_tokenizer_without_all_bytes_is_refused() {
        let file = file(&[(b"<unk>", 0.0), (b"<s>", 0.0), (b"</s>", 0.0)]);
        assert!(Tokenizer::new(&file, 3).unwrap_err().0.contains("at least 259"));
    }
}
