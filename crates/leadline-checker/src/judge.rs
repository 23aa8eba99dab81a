//! Judges one object by the rules of its kind, once by the clocks as they are and once by what they may be.

use leadline_history::Kind;

use crate::check::Limits;
use crate::findings::{Findings, Undecided};
use crate::view::{Clocks, View};
use crate::{counter, directory, entry, log, name_pair, valued};

/// Everything that is found on an object.
///
/// What is violated even when every time is moved by its error, in the direction that excuses it, is violated.
/// What is violated only by times as they were written down is undecided. The view that is given doubts the clocks.
pub(crate) fn judge(view: &View, limits: &Limits) -> Findings {
    let mut findings = by_kind(view, limits);
    if view.about.largest_clock_error_ns > 0 {
        let trusting = by_kind(&View { clocks: Clocks::Trusted, ..*view }, limits);
        findings.excuse(&trusting, Undecided::Clocks, limits.staleness_bound_ns());
    }
    if !view.history.whole {
        findings.suspend(Undecided::Missing, limits.staleness_bound_ns());
    }
    findings
}

fn by_kind(view: &View, limits: &Limits) -> Findings {
    match view.kind {
        Kind::Register | Kind::Attribute | Kind::SessionFile => valued::judge(view),
        Kind::AppendLog => log::judge(view),
        Kind::Entry => entry::judge(view, limits.configurations),
        Kind::NamePair => name_pair::judge(view, limits.configurations),
        Kind::Directory => directory::judge(view),
        Kind::LockedCounter => counter::judge(view),
    }
}
