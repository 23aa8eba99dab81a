//! "Did you mean": the nearest word that exists.

/// Below this likeness (0 to 1) a suggestion confuses more than it helps.
const LEAST_LIKENESS: f64 = 0.7;

/// The known word most like the given one, if any is like it.
pub fn nearest<'known>(given: &str, known: &[&'known str]) -> Option<&'known str> {
    let likeness = |word: &str| strsim::jaro_winkler(given, word);
    let best = known.iter().copied().max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(best) >= LEAST_LIKENESS).then_some(best)
}

/// One sentence for a word that does not exist: `what` it was meant to be, and what exists instead.
pub fn unknown(what: &str, given: &str, known: &[&str]) -> String {
    match nearest(given, known) {
        Some(word) => format!("unknown {what} {given:?}: did you mean {word:?}?"),
        None => format!("unknown {what} {given:?}: known are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_word_that_was_meant() {
        let known = ["threads", "block_size_bytes", "runtime_ns"];
        assert_eq!(nearest("thread", &known), Some("threads"));
        assert_eq!(nearest("block_size", &known), Some("block_size_bytes"));
        assert_eq!(nearest("runtime", &known), Some("runtime_ns"));
        assert_eq!(nearest("colour", &known), None);
    }
}
