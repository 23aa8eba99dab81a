//! Failed requests: counted by kind, and told in one sentence that holds no secret.
//!
//! opendal's own sentences quote the request's URL, in which some services (Azure's SAS) carry their token; so only its
//! message and the innermost cause are used.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io;

use nix::errno::Errno;
use opendal::{Error, ErrorKind};
use schemars::JsonSchema;
use serde::Serialize;

/// A request that did not end within its time.
pub const TIMEOUT: &str = "timeout";
/// A get whose bytes are not those that were put.
pub const WRONG_CONTENT: &str = "wrong content";

const LONGEST_SENTENCE: usize = 300;

/// Why one request did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What it is counted under: the server's own code ("SlowDown"), an errno ("ENOSPC"), else opendal's kind.
    pub kind: String,
    pub sentence: String,
    /// Whether asking again could help.
    pub temporary: bool,
}

impl Failure {
    pub fn timeout(after_seconds: f64) -> Self {
        let sentence = format!("no answer within {after_seconds} s");
        Self { kind: TIMEOUT.to_owned(), sentence, temporary: true }
    }

    pub fn wrong_content(sentence: String) -> Self {
        Self { kind: WRONG_CONTENT.to_owned(), sentence, temporary: false }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { kind: kind_of(&error), sentence: sentence_of(&error), temporary: error.is_temporary() }
    }
}

fn kind_of(error: &Error) -> String {
    let errno = errno_of(error).map(|errno| format!("{errno:?}"));
    let own = || <&str>::from(error.kind()).to_owned();
    match error.kind() {
        ErrorKind::NotFound if errno.is_some() => own(), // a missing object is one on every store
        _ => server_code(error.message()).or(errno).unwrap_or_else(own),
    }
}

/// `S3Error { code: "NoSuchBucket", message: ...`, as opendal quotes a server.
fn server_code(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("code: \"")?;
    let (code, _) = rest.split_once('"')?;
    (!code.is_empty() && code.chars().all(|letter| letter.is_ascii_alphanumeric())).then(|| code.to_owned())
}

fn errno_of(error: &Error) -> Option<Errno> {
    let mut cause = error.source();
    while let Some(each) = cause {
        if let Some(number) = each.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return Some(Errno::from_raw(number));
        }
        cause = each.source();
    }
    None
}

/// Message and innermost cause, on one line.
pub fn sentence_of(error: &Error) -> String {
    let mut innermost = error.source();
    while let Some(next) = innermost.and_then(|cause| cause.source()) {
        innermost = Some(next);
    }
    let cause = innermost.map(|cause| format!(": {cause}")).unwrap_or_default();
    let whole = format!("{}{cause}", server_message(error.message()));
    let line = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    without_query(&line).chars().take(LONGEST_SENTENCE).collect()
}

/// What the server said in words, without the identifiers around it.
fn server_message(message: &str) -> String {
    let said = message.split_once("message: \"").and_then(|(_, rest)| rest.split_once('"'));
    match (server_code(message), said) {
        (Some(code), Some((said, _))) if !said.is_empty() => format!("{code}: {said}"),
        (Some(code), _) => code,
        _ => message.to_owned(),
    }
}

/// Whatever follows a question mark in an address.
fn without_query(line: &str) -> String {
    let strip = |word: &str| match word.split_once('?') {
        Some((address, _)) if address.contains("://") => format!("{address}?..."),
        _ => word.to_owned(),
    };
    line.split(' ').map(strip).collect::<Vec<_>>().join(" ")
}

/// Failures by kind, each with how often and the first of them in words.
#[derive(Clone, Debug, Default)]
pub struct FailureCounts(BTreeMap<String, (u64, String)>);

impl FailureCounts {
    pub fn record(&mut self, failure: Failure) {
        self.0.entry(failure.kind).or_insert((0, failure.sentence)).0 += 1;
    }

    pub fn total(&self) -> u64 {
        self.0.values().map(|(count, _)| count).sum()
    }

    pub fn occurred(&self) -> Vec<FailureCount> {
        let each = |(kind, (count, first)): (&String, &(u64, String))| FailureCount {
            name: kind.clone(),
            count: *count,
            first: first.clone(),
        };
        self.0.iter().map(each).collect()
    }
}

/// How often requests failed in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailureCount {
    /// "SlowDown", "ENOSPC", "timeout" ...
    pub name: String,
    pub count: u64,
    /// The first of them in words.
    pub first: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_server_is_counted_by_its_code_and_quoted_by_its_message() {
        let text = r#"S3Error { code: "SlowDown", message: "Please reduce", resource: "", request_id: "" }"#;
        let failure = Failure::from(Error::new(ErrorKind::RateLimited, text).set_temporary());
        assert_eq!(
            (failure.kind.as_str(), failure.sentence.as_str()),
            ("SlowDown", "SlowDown: Please reduce")
        );
        assert!(failure.temporary);
    }

    #[test]
    fn a_full_disk_is_counted_by_its_errno() {
        let error = Error::new(ErrorKind::Unexpected, "write").set_source(io::Error::from_raw_os_error(28));
        let failure = Failure::from(error);
        assert_eq!(failure.kind, "ENOSPC");
        assert_eq!(failure.sentence, "write: No space left on device (os error 28)");
    }

    #[test]
    fn the_token_in_an_address_is_not_told() {
        let error =
            Error::new(ErrorKind::Unexpected, "send to https://account.example/box?sig=secret failed");
        assert_eq!(sentence_of(&error), "send to https://account.example/box?... failed");
    }

    #[test]
    fn failures_are_counted_with_the_first_of_them() {
        let mut counts = FailureCounts::default();
        counts.record(Failure::timeout(1.5));
        counts.record(Failure::timeout(1.5));
        let told = FailureCount { name: "timeout".into(), count: 2, first: "no answer within 1.5 s".into() };
        assert_eq!((counts.total(), counts.occurred()), (2, vec![told]));
    }

    proptest! {
        #[test]
        fn any_message_comes_to_one_line(message in ".{0,600}") {
            let sentence = sentence_of(&Error::new(ErrorKind::Unexpected, message));
            prop_assert!(!sentence.contains('\n') && sentence.chars().count() <= LONGEST_SENTENCE);
        }
    }
}
