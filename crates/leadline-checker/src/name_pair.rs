//! Name pairs: one object that is renamed to and fro between two names. Whoever looks must find it under exactly
//! one of them.

use leadline_history::{Action, Moment, Operation, Outcome, ENOENT, NOTHING};

use crate::anomaly::Anomaly;
use crate::convergence;
use crate::entry::judge_search;
use crate::exercise::Exercise;
use crate::findings::{Evidence, Findings, Staleness};
use crate::guarantee::Guarantee;
use crate::order::LONG_AGO;
use crate::presence::{Change, Presence, Wrong};
use crate::search::{Need, Turn};
use crate::versions::{Versions, NOBODY};
use crate::view::{Seen, Span, View};

/// The name under which it begins, and the other one.
const NAMES: [u64; 2] = [1, 2];

/// Judges one of them, with so many configurations for the search.
pub(crate) fn judge(view: &View, limit: u64) -> Findings {
    let mut findings = Findings::default();
    let exercise = Exercise::of(view);
    let presences = NAMES.map(|name| presence_of(view, name));
    findings.tally(Guarantee::NoLostWrite);
    for each in view.operations() {
        let Some((name, present)) = look(each.operation) else { continue };
        let is_final = each.operation.moment == Moment::Final;
        let tally = findings.tally(Guarantee::NoLostWrite);
        tally.checked = tally.checked.max(u64::from(is_final));
        findings.tally(Guarantee::BoundedStaleness).checked += u64::from(exercise.provoked(&each));
        let presence = &presences[usize::from(name == NAMES[1])];
        let wrong =
            if present { presence.wrongly_present(each.span) } else { presence.wrongly_absent(each.span) };
        if let Some(wrong) = wrong {
            note_wrong(view, wrong, each, (name, present), &mut findings);
        }
    }
    convergence::judge(view, &mut findings);
    let turns: Vec<Turn> = view.operations().filter_map(turn_of).collect();
    judge_search(view, &turns, NAMES[0], limit, None, Anomaly::HalfRenamed, &mut findings);
    findings
}

/// The changes that bring a name into being or take it away. The beginning is one for the first name.
fn presence_of(view: &View, name: u64) -> Presence {
    let moves =
        view.operations().filter(|each| each.operation.action == Action::Move && each.operation.may_change());
    let change = |each: &Seen| Change {
        span: each.span,
        index: each.index,
        acknowledged: each.operation.acknowledged(),
    };
    let (mut appearing, mut vanishing) = (Vec::new(), Vec::new());
    for each in moves {
        let list = if each.operation.value_in == name { &mut appearing } else { &mut vanishing };
        list.push(change(&each));
    }
    if name == NAMES[0] {
        let beginning = Span { start: LONG_AGO + 1, end: LONG_AGO + 1 };
        appearing.push(Change { span: beginning, index: NOBODY, acknowledged: true });
    }
    Presence::of(&appearing, &vanishing)
}

/// The name that an operation tells about, and whether it was there.
fn look(operation: &Operation) -> Option<(u64, bool)> {
    match (operation.action, operation.outcome) {
        (Action::Read, Outcome::Ok) => Some((operation.value_in, operation.value_out != NOTHING)),
        (Action::Read, Outcome::Fail) if operation.errno == ENOENT => Some((operation.value_in, false)),
        (Action::Move, Outcome::Fail) if operation.errno == ENOENT => {
            Some((other(operation.value_in), false))
        }
        _ => None,
    }
}

fn other(name: u64) -> u64 {
    NAMES[0] + NAMES[1] - name
}

fn note_wrong(view: &View, wrong: Wrong, each: Seen, (name, present): (u64, bool), findings: &mut Findings) {
    let operations = Versions::shown(&[wrong.by, each.index]);
    if each.operation.moment == Moment::Final {
        let anomaly = if present { Anomaly::Resurrected } else { Anomaly::Lost };
        let tally = findings.tally(Guarantee::NoLostWrite);
        if !tally.is_violated() {
            tally.violated_by(Evidence::of(anomaly, operations));
        }
        return;
    }
    let saw_it = view.operations().any(|earlier| {
        let same_client = earlier.operation.client == each.operation.client;
        let in_time = earlier.span.start > wrong.undisturbed_from && earlier.span.end < each.span.start;
        same_client && in_time && look(earlier.operation) == Some((name, true))
    });
    let vanished = !present && (saw_it || wrong.by == NOBODY);
    let anomaly = if vanished { Anomaly::Vanished } else { Anomaly::Stale };
    findings.tally(Guarantee::BoundedStaleness).violated_by(Evidence::of(anomaly, operations));
    if !vanished && wrong.by != NOBODY {
        let least_delay_ns = findings.staleness.least_delay_ns.max(each.span.start - wrong.since);
        findings.staleness = Staleness { least_delay_ns, exact: false };
    }
}

fn turn_of(each: Seen) -> Option<Turn> {
    let Seen { index, span, operation } = each;
    if let Some((name, present)) = look(operation) {
        let at = if present { name } else { other(name) };
        return Some(Turn { span, index, need: Need::Exactly(at), becomes: None, optional: false });
    }
    let (from, to) = (other(operation.value_in), operation.value_in);
    let moved = Turn {
        span,
        index,
        need: Need::Exactly(from),
        becomes: Some(to),
        optional: !operation.acknowledged(),
    };
    operation.may_change().then_some(moved)
}
