//! Entries: names that lead to a value or to nothing. Most of what can be wrong is certain from two or three
//! operations; whether all of them have an order is decided by the search.

use leadline_history::{Action, Moment, Operation, Outcome, EEXIST, ENOENT, NOTHING};

use crate::anomaly::Anomaly;
use crate::exercise::Exercise;
use crate::findings::{Evidence, Findings, Staleness, Undecided};
use crate::guarantee::Guarantee;
use crate::presence::{Change, Presence, Wrong};
use crate::search::{find_order, shrink, Need, Order, Turn};
use crate::versions::{Versions, NOBODY};
use crate::view::{Seen, View};
use crate::{convergence, exclusion, sessions, staleness};

/// Judges one of them, with so many configurations for the search.
pub(crate) fn judge(view: &View, limit: u64) -> Findings {
    let mut findings = Findings::default();
    let versions = Versions::of(view);
    let vanishing = changes(view, |action| action == Action::Remove);
    let appearing = changes(view, |action| action.brings_value());
    let removals: Vec<_> = vanishing
        .iter()
        .filter(|change| change.acknowledged)
        .map(|change| (change.span, change.index))
        .collect();
    let replaced = versions.replaced(&removals);
    let presence = Presence::of(&appearing, &vanishing);
    versions.judge_origins(&mut findings);
    sessions::judge(&versions, &mut findings);
    let lost = staleness::lost_for_good(&versions, &replaced);
    let for_good = lost.as_ref().map(|(version, _)| *version);
    let exercise = Exercise::of(view);
    let judge_staleness = |guarantee, findings: &mut Findings| {
        staleness::judge(guarantee, &versions, &replaced, (for_good, &exercise), findings)
    };
    let oldest_ns = judge_staleness(Guarantee::BoundedStaleness, &mut findings);
    findings.staleness = Staleness { least_delay_ns: oldest_ns, exact: false };
    judge_final_state(view, lost.map(|(_, evidence)| evidence), &mut findings);
    for each in view.operations() {
        judge_existence(view, &presence, &exercise, each, &mut findings);
    }
    convergence::judge(view, &mut findings);
    judge_order(view, &[appearing, vanishing], &presence, limit, &mut findings);
    findings
}

fn changes(view: &View, wanted: impl Fn(Action) -> bool) -> Vec<Change> {
    let changes =
        view.operations().filter(|each| each.operation.may_change() && wanted(each.operation.action));
    let change = |each: Seen| Change {
        span: each.span,
        index: each.index,
        acknowledged: each.operation.acknowledged(),
    };
    changes.map(change).collect()
}

/// What an operation says about whether the name existed: refusals say it as well as looks.
pub(crate) fn existence(operation: &Operation) -> Option<bool> {
    match (operation.action, operation.outcome) {
        (_, Outcome::Fail) => match (operation.action, operation.errno) {
            (Action::Create, EEXIST) => Some(true),
            (Action::Remove | Action::Read | Action::Exists, ENOENT) => Some(false),
            _ => None,
        },
        (Action::Read | Action::Exists, Outcome::Ok) => Some(operation.value_out != NOTHING),
        _ => None,
    }
}

fn judge_final_state(view: &View, lost: Option<Evidence>, findings: &mut Findings) {
    let asked = |each: &Seen| each.operation.moment == Moment::Final && existence(each.operation).is_some();
    let tally = findings.tally(Guarantee::NoLostWrite);
    tally.checked += u64::from(view.operations().any(|each| asked(&each)));
    lost.into_iter().for_each(|evidence| tally.violated_by(evidence));
}

/// Judges what an operation says about existence. A value that was read is judged as a version.
fn judge_existence(
    view: &View,
    presence: &Presence,
    exercise: &Exercise,
    each: Seen,
    findings: &mut Findings,
) {
    let Some(existed) = existence(each.operation) else { return };
    let is_version = existed && each.operation.action == Action::Read;
    if is_version {
        return;
    }
    let provoked = u64::from(exercise.provoked(&each));
    findings.tally(Guarantee::BoundedStaleness).checked += provoked;
    let wrong =
        if existed { presence.wrongly_present(each.span) } else { presence.wrongly_absent(each.span) };
    let Some(wrong) = wrong else { return };
    let operations = Versions::shown(&[wrong.by, each.index]);
    if wrong.by == NOBODY {
        return findings
            .tally(Guarantee::NoInventedData)
            .violated_by(Evidence::of(Anomaly::Invented, operations));
    }
    if each.operation.moment == Moment::Final {
        let anomaly = if existed { Anomaly::Resurrected } else { Anomaly::Lost };
        return note_lost(findings, Evidence::of(anomaly, operations));
    }
    if wrong_for_itself(view, wrong, each) {
        let evidence = Evidence::of(Anomaly::OwnWriteMissing, operations.clone());
        findings.tally(Guarantee::ReadYourWrites).violated_by(evidence);
    }
    let anomaly = if existed { Anomaly::Stale } else { absence(view, wrong, each) };
    findings.tally(Guarantee::BoundedStaleness).violated_by(Evidence::of(anomaly, operations));
    if anomaly == Anomaly::Vanished {
        return;
    }
    let least_delay_ns = findings.staleness.least_delay_ns.max(each.span.start - wrong.since);
    findings.staleness = Staleness { least_delay_ns, exact: false };
}

/// An entry is one object: it is lost once, however many last looks say so.
fn note_lost(findings: &mut Findings, evidence: Evidence) {
    let tally = findings.tally(Guarantee::NoLostWrite);
    if !tally.is_violated() {
        tally.violated_by(evidence);
    }
}

fn wrong_for_itself(view: &View, wrong: Wrong, each: Seen) -> bool {
    view.seen(wrong.by).operation.client == each.operation.client
}

/// To see nothing may be old news, from before the name existed. But if this client had seen that it exists since,
/// then nothing old explains it: the name vanished.
fn absence(view: &View, wrong: Wrong, each: Seen) -> Anomaly {
    let saw_it = |earlier: &Seen| {
        let same_client = earlier.operation.client == each.operation.client;
        let in_time = earlier.span.start > wrong.undisturbed_from && earlier.span.end < each.span.start;
        let made_it = earlier.operation.acknowledged() && earlier.operation.action.brings_value();
        same_client && in_time && (made_it || existence(earlier.operation) == Some(true))
    };
    if view.operations().any(|earlier| saw_it(&earlier)) {
        Anomaly::Vanished
    } else {
        Anomaly::Stale
    }
}

fn judge_order(
    view: &View,
    changes: &[Vec<Change>; 2],
    presence: &Presence,
    limit: u64,
    findings: &mut Findings,
) {
    let turns: Vec<Turn> = view.operations().filter_map(turn_of).collect();
    let invented = findings.get(Guarantee::NoInventedData).and_then(|tally| tally.evidence.clone());
    let twice = exclusion::first_collision(&changes[0], &changes[1], presence, view);
    judge_search(view, &turns, NOTHING, limit, invented.or(twice), Anomaly::NoOrder, findings);
}

/// Judges linearizability by search, unless something is known to be wrong already: then there is no order.
pub(crate) fn judge_search(
    view: &View,
    turns: &[Turn],
    initial: u64,
    limit: u64,
    known: Option<Evidence>,
    otherwise: Anomaly,
    findings: &mut Findings,
) {
    let certain = [Guarantee::NoLostWrite, Guarantee::BoundedStaleness, Guarantee::MonotonicReads];
    let certain = certain.iter().find_map(|&guarantee| findings.get(guarantee)?.evidence.clone());
    let tally = findings.tally(Guarantee::Linearizable);
    tally.checked += u64::from(Exercise::of(view).any(view));
    if let Some(evidence) = known.or(certain) {
        return tally.violated_by(evidence);
    }
    match find_order(turns, initial, limit) {
        Order::None { stuck } => {
            tally.violated_by(Evidence::of(otherwise, shrink(turns, stuck, initial, limit)));
        }
        Order::TooMuch => tally.undecided = Some(Undecided::Effort),
        Order::Exists => {}
    }
}

fn turn_of(each: Seen) -> Option<Turn> {
    let operation = each.operation;
    let Seen { index, span, .. } = each;
    let looks = |need| Some(Turn { span, index, need, becomes: None, optional: false });
    if let Some(existed) = existence(operation) {
        return looks(match (existed, operation.action) {
            (true, Action::Read) => Need::Exactly(operation.value_out),
            (true, _) => Need::Present,
            (false, _) => Need::Absent,
        });
    }
    if !operation.may_change() {
        return None;
    }
    let (need, becomes) = match operation.action {
        Action::Create => (Need::Absent, operation.value_in),
        Action::Remove => (Need::Present, NOTHING),
        _ => (Need::Anything, operation.value_in),
    };
    Some(Turn { span, index, need, becomes: Some(becomes), optional: !operation.acknowledged() })
}
