//! Two things at once. Objects are judged in parallel anyway; this is for the one that is longer than all others
//! together, which would otherwise leave every processor but one idle.

use std::thread;

/// Does both and returns what both return: beside each other if they may share, one after the other if not.
pub(crate) fn both<One, Other: Send>(
    may_share: bool,
    one: impl FnOnce() -> One,
    other: impl FnOnce() -> Other + Send,
) -> (One, Other) {
    if !may_share {
        return (one(), other());
    }
    thread::scope(|scope| {
        let other = scope.spawn(other);
        (one(), other.join().expect("a judging thread does not panic"))
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::both;

    #[test]
    fn who_may_share_works_on_two_threads_and_who_may_not_on_one() {
        let me = || thread::current().id();
        let (one, other) = both(true, me, me);
        assert!(one == me() && other != me());
        assert_eq!(both(false, me, me), (me(), me()));
    }
}
