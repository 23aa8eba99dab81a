//! What is written into files, and how it is read back in words.
//!
//! A token stands at the beginning and at the end of what is written, so that a reader with the right bytes and the wrong size
//! is told from one that has both. Bytes that nobody wrote (a hole, a page of zeros at an old end) are words of their own.

/// The token alone, or blanks between the token and the token where there is room.
pub fn written(text: &str, size_bytes: usize) -> Vec<u8> {
    let token = text.as_bytes();
    if size_bytes < 2 * token.len() + 1 {
        return token.to_vec();
    }
    let mut content = vec![b' '; size_bytes];
    content[..token.len()].copy_from_slice(token);
    content[size_bytes - token.len()..].copy_from_slice(token);
    content
}

/// The words in a content, in their order; a run of zeros is the word `<4096 zeros>`.
pub fn words(content: &[u8]) -> String {
    let mut found: Vec<String> = Vec::new();
    for run in content.chunk_by(|one, other| kind(*one) == kind(*other)) {
        match kind(run[0]) {
            Kind::Blank => {}
            Kind::Zero => found.push(format!("<{} zeros>", run.len())),
            Kind::Letter => found.push(String::from_utf8_lossy(run).into_owned()),
        }
    }
    found.join(" ")
}

#[derive(PartialEq, Eq)]
enum Kind {
    Blank,
    Zero,
    Letter,
}

fn kind(byte: u8) -> Kind {
    match byte {
        0 => Kind::Zero,
        byte if byte.is_ascii_whitespace() => Kind::Blank,
        _ => Kind::Letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_as_its_token_at_both_ends() {
        assert_eq!(words(&written("new-7", 8192)), "new-7 new-7");
        assert_eq!(words(&written("1 ", 0)), "1");
        assert_eq!(written("new-7", 8192).len(), 8192);
    }

    #[test]
    fn a_cut_off_end_and_zeros_that_nobody_wrote_are_seen() {
        let content = written("new-7", 8192);
        assert_eq!(words(&content[..4096]), "new-7");
        assert_eq!(words(&[&written("old-7", 64)[..], &[0; 4096]].concat()), "old-7 old-7 <4096 zeros>");
        assert_eq!(words(b""), "");
    }
}
