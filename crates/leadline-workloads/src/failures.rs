//! Failed operations, counted by what the kernel answered.

use std::io;

use nix::errno::Errno;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// MAX_ERRNO of the kernel's include/linux/err.h; a FUSE daemon may answer any number up to it.
const HIGHEST_ERRNO: usize = 4095;

/// Why one operation did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure(u16);

impl Failure {
    /// The call succeeded but moved fewer bytes than asked, which a regular file of sufficient size must not
    /// do (end of file, or a full disk). Errno 0 is free to stand for it.
    pub const SHORT_TRANSFER: Self = Self(0);

    pub fn from_errno(errno: i32) -> Self {
        Self(errno.clamp(0, HIGHEST_ERRNO as i32) as u16)
    }

    /// What this thread's last system call answered.
    pub fn last() -> Self {
        Self::from_errno(Errno::last_raw())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::from_errno(error.raw_os_error().unwrap_or(Errno::EIO as i32))
    }
}

/// A counter for every errno there is, so that counting never allocates.
pub struct FailureCounts(Box<[u64]>);

impl FailureCounts {
    pub fn new() -> Self {
        Self(vec![0; HIGHEST_ERRNO + 1].into_boxed_slice())
    }

    #[inline]
    pub fn record(&mut self, failure: Failure) {
        self.0[usize::from(failure.0)] += 1;
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The kinds that occurred, by ascending errno.
    pub fn occurred(&self) -> Vec<FailureCount> {
        let counted = self.0.iter().enumerate().filter(|(_, &count)| count > 0);
        counted
            .map(|(errno, &count)| FailureCount { errno: errno as u16, name: name(errno), count })
            .collect()
    }
}

impl Default for FailureCounts {
    fn default() -> Self {
        Self::new()
    }
}

fn name(errno: usize) -> String {
    match (errno, Errno::from_raw(errno as i32)) {
        (0, _) => "short_transfer".to_owned(),
        (_, Errno::UnknownErrno) => format!("E{errno}"),
        (_, known) => format!("{known:?}"),
    }
}

/// How often operations failed in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureCount {
    /// Number of the error on this host; 0 stands for a transfer that was shorter than asked.
    pub errno: u16,
    /// Its name, such as ENOSPC, or `short_transfer`.
    pub name: String,
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_name_and_number() {
        let mut counts = FailureCounts::new();
        counts.record(Failure::from(io::Error::from_raw_os_error(28)));
        counts.record(Failure::from_errno(28));
        counts.record(Failure::SHORT_TRANSFER);
        counts.record(Failure::from_errno(511));
        let told: Vec<_> =
            counts.occurred().into_iter().map(|kind| (kind.errno, kind.name, kind.count)).collect();
        let expected = [(0, "short_transfer", 1), (28, "ENOSPC", 2), (511, "E511", 1)];
        assert_eq!(told, expected.map(|(errno, name, count)| (errno, name.to_owned(), count)));
        assert_eq!(counts.total(), 4);
    }
}
