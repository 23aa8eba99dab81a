//! Registers, attributes and session files: objects that hold one value, written and read whole.

use leadline_history::{Kind, Moment};

use crate::beside::both;
use crate::exercise::Exercise;
use crate::findings::{Evidence, Findings, Staleness};
use crate::guarantee::Guarantee;
use crate::staleness;
use crate::versions::Versions;
use crate::view::View;
use crate::{anomaly::Anomaly, convergence, sessions, zones};

/// Judges one of them.
pub(crate) fn judge(view: &View) -> Findings {
    let exercise_and_convergence = || {
        let mut findings = Findings::default();
        convergence::judge(view, &mut findings);
        (Exercise::of(view), findings)
    };
    let (versions, (exercise, converged)) =
        both(view.may_share, || Versions::of(view), exercise_and_convergence);
    let sessions = || {
        let mut findings = Findings::default();
        sessions::judge(&versions, &mut findings);
        findings
    };
    let (mut findings, seen_by_clients) =
        both(view.may_share, || judge_versions(view, &versions, &exercise), sessions);
    findings.take(converged);
    findings.take(seen_by_clients);
    findings
}

/// All that is asked of the object whoever looked: everything but what each client saw one after the other.
fn judge_versions(view: &View, versions: &Versions, exercise: &Exercise) -> Findings {
    let mut findings = Findings::default();
    let replaced = versions.replaced(&[]);
    versions.judge_origins(&mut findings);
    let for_good = judge_final_state(versions, &replaced, &mut findings);
    let known = (for_good, exercise);
    if view.kind == Kind::SessionFile {
        staleness::judge(Guarantee::CloseToOpen, versions, &replaced, known, &mut findings);
    }
    staleness::judge(Guarantee::BoundedStaleness, versions, &replaced, known, &mut findings);
    let conflicting = judge_order(exercise.any(view), versions, &mut findings);
    let left = match for_good {
        Some(_) => zones::conflicting(&zones::zones_of(versions, for_good), 0),
        None => conflicting,
    };
    findings.staleness = Staleness { least_delay_ns: zones::least_delay_ns(left), exact: true };
    findings
}

fn judge_final_state(
    versions: &Versions,
    replaced: &staleness::Replaced,
    findings: &mut Findings,
) -> Option<u32> {
    let tally = findings.tally(Guarantee::NoLostWrite);
    tally.checked += u64::from(versions.sights.iter().any(|sight| sight.moment == Moment::Final));
    let (version, evidence) = staleness::lost_for_good(versions, replaced)?;
    tally.violated_by(evidence);
    Some(version)
}

fn judge_order(exercised: bool, versions: &Versions, findings: &mut Findings) -> Vec<zones::Zone> {
    let conflicting = zones::conflicting(&zones::zones_of(versions, None), 0);
    let tally = findings.tally(Guarantee::Linearizable);
    tally.checked += u64::from(exercised);
    let overlap = zones::witness_of(&conflicting).map(|witness| Evidence::of(Anomaly::NoOrder, witness));
    if let Some(evidence) = versions.unexplained.first().cloned().or(overlap) {
        tally.violated_by(evidence);
    }
    conflicting
}
