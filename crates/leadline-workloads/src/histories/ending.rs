//! What an error says about a call: that it certainly did not happen, or that nobody knows.

use std::io;

use leadline_history::Outcome;
use nix::libc;

/// Errors with which a filesystem refuses, and has changed nothing. Whatever is not here is a doubt: EIO, ETIMEDOUT, EINTR, ESTALE, a mount
/// that is gone, and also a full disk, which is told late where writes are held back.
const REFUSALS: [i32; 16] = [
    libc::ENOENT,
    libc::EEXIST,
    libc::EAGAIN,
    libc::EACCES,
    libc::EPERM,
    libc::EROFS,
    libc::EINVAL,
    libc::ENOTDIR,
    libc::EISDIR,
    libc::ENAMETOOLONG,
    libc::EMFILE,
    libc::ENFILE,
    libc::ENOTTY,
    libc::EOPNOTSUPP,
    libc::ENOSYS,
    libc::ENOLCK,
];

/// Errors of a filesystem that does not have a feature at all.
const NOT_OFFERED: [i32; 4] = [libc::EOPNOTSUPP, libc::ENOSYS, libc::ENOLCK, libc::ENOTTY];

/// How an operation that was answered with this error ended.
pub fn outcome_of(error: &io::Error) -> Outcome {
    match error.raw_os_error() {
        Some(number) if REFUSALS.contains(&number) => Outcome::Fail,
        _ => Outcome::Doubt,
    }
}

/// Whether it says that the filesystem does not have the feature.
pub fn is_not_offered(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|number| NOT_OFFERED.contains(&number))
}

/// As it is written down; 0 for what has no number, such as a short write.
pub fn number_of(error: &io::Error) -> i16 {
    error.raw_os_error().and_then(|number| number.try_into().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_be_a_refusal_is_a_doubt() {
        let outcome = |number| outcome_of(&io::Error::from_raw_os_error(number));
        assert_eq!([libc::ENOENT, libc::EEXIST].map(outcome), [Outcome::Fail; 2]);
        let doubtful =
            [libc::EIO, libc::ETIMEDOUT, libc::EINTR, libc::ESTALE, libc::ENOTCONN, libc::ENOSPC, 4000];
        assert_eq!(doubtful.map(outcome), [Outcome::Doubt; 7]);
        assert_eq!(outcome_of(&io::Error::other("short write")), Outcome::Doubt);
    }
}
