//! Registers, attributes and session files: objects that hold one value, written and read whole.

use leadline_history::{Kind, Moment};

use crate::exercise::Exercise;
use crate::findings::{Evidence, Findings, Staleness};
use crate::guarantee::Guarantee;
use crate::staleness;
use crate::versions::Versions;
use crate::view::View;
use crate::{anomaly::Anomaly, convergence, sessions, zones};

/// Judges one of them.
pub(crate) fn judge(view: &View) -> Findings {
    let mut findings = Findings::default();
    let mut versions = Versions::of(view);
    let replaced = versions.replaced(&[]);
    let exercise = Exercise::of(view);
    versions.judge_origins(&mut findings);
    let for_good = judge_final_state(&versions, &replaced, &mut findings);
    convergence::judge(view, &mut findings);
    sessions::judge(&versions, &mut findings);
    if view.kind == Kind::SessionFile {
        let known = (for_good, &exercise);
        staleness::judge(Guarantee::CloseToOpen, &versions, &replaced, known, &mut findings);
    }
    staleness::judge(Guarantee::BoundedStaleness, &versions, &replaced, (for_good, &exercise), &mut findings);
    let conflicting = judge_order(exercise.any(view), &versions, &mut findings);
    if conflicting.is_empty() {
        findings.staleness = Staleness { least_delay_ns: 0, exact: true };
    } else {
        versions.sights.retain(|sight| Some(sight.version) != for_good);
        let left =
            if for_good.is_some() { zones::conflicting(&zones::zones_of(&versions), 0) } else { conflicting };
        findings.staleness = Staleness { least_delay_ns: zones::least_delay_ns(left), exact: true };
    }
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
    let conflicting = zones::conflicting(&zones::zones_of(versions), 0);
    let tally = findings.tally(Guarantee::Linearizable);
    tally.checked += u64::from(exercised);
    let overlap = zones::witness_of(&conflicting).map(|witness| Evidence::of(Anomaly::NoOrder, witness));
    if let Some(evidence) = versions.unexplained.first().cloned().or(overlap) {
        tally.violated_by(evidence);
    }
    conflicting
}
