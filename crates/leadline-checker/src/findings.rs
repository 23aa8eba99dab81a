//! What was found on one object, and how that of many objects is put together.

use crate::anomaly::Anomaly;
use crate::guarantee::Guarantee;

/// The operations that show an anomaly, by their places in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Evidence {
    pub anomaly: Anomaly,
    pub operations: Vec<u32>,
}

impl Evidence {
    pub fn of(anomaly: Anomaly, operations: impl Into<Vec<u32>>) -> Self {
        Self { anomaly, operations: operations.into() }
    }
}

/// Why it was not decided whether an object holds a guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Undecided {
    /// It looks violated by less than the clocks may be off.
    Clocks,
    /// The search would have taken too long, or too much overlapped.
    Effort,
    /// It looks violated, but operations are missing that may excuse it.
    Missing,
}

/// How one guarantee fared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub checked: u64,
    pub violating: u64,
    pub anomalies: [u64; Anomaly::ALL.len()],
    pub evidence: Option<Evidence>,
    pub undecided: Option<Undecided>,
}

impl Tally {
    /// Notes a violation; the evidence with the fewest operations is kept.
    pub fn violated_by(&mut self, evidence: Evidence) {
        self.violating += 1;
        self.anomalies[evidence.anomaly as usize] += 1;
        let fewer = |kept: &Evidence| kept.operations.len() <= evidence.operations.len();
        if !self.evidence.as_ref().is_some_and(fewer) {
            self.evidence = Some(evidence);
        }
    }

    pub fn is_violated(&self) -> bool {
        self.violating > 0
    }
}

/// Everything that was found on one object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    tallies: [Option<Tally>; Guarantee::ALL.len()],
    /// How far back reads of this object looked at most, in ns.
    pub staleness: Staleness,
}

/// How far back reads looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Staleness {
    /// The least delay that explains everything by reads that look back so far.
    pub least_delay_ns: i64,
    /// Whether no smaller delay explains it; otherwise it is at least this.
    pub exact: bool,
}

impl Findings {
    /// The tally of a guarantee, begun when it is asked for.
    pub fn tally(&mut self, guarantee: Guarantee) -> &mut Tally {
        self.tallies[guarantee as usize].get_or_insert_with(Tally::default)
    }

    /// The tally of a guarantee, when the object was asked about it.
    pub fn get(&self, guarantee: Guarantee) -> Option<&Tally> {
        self.tallies[guarantee as usize].as_ref()
    }

    /// Adds what was found on the same object about other guarantees.
    pub fn take(&mut self, other: Self) {
        for (ours, theirs) in self.tallies.iter_mut().zip(other.tallies) {
            *ours = ours.take().or(theirs);
        }
    }

    /// How many violations there are of a guarantee, where reads may look back so far.
    pub fn violating(&self, guarantee: Guarantee, staleness_bound_ns: i64) -> u64 {
        let Some(tally) = self.get(guarantee) else { return 0 };
        let bounded = guarantee == Guarantee::BoundedStaleness;
        let allowed = bounded && self.staleness.least_delay_ns <= staleness_bound_ns;
        tally.violating - if allowed { tally.anomalies[Anomaly::Stale as usize] } else { 0 }
    }

    /// Turns what only these other findings call violated into undecided.
    pub fn excuse(&mut self, other: &Self, why: Undecided, staleness_bound_ns: i64) {
        for guarantee in Guarantee::ALL {
            let [ours, theirs] =
                [&*self, other].map(|findings| findings.violating(guarantee, staleness_bound_ns));
            if ours == 0 && theirs > 0 {
                let evidence = other.get(guarantee).and_then(|tally| tally.evidence.clone());
                let tally = self.tally(guarantee);
                (tally.undecided, tally.evidence) = (Some(why), evidence);
            }
        }
    }

    /// Takes back every violation: operations are missing, and any of them may be the reason.
    pub fn suspend(&mut self, why: Undecided, staleness_bound_ns: i64) {
        for guarantee in Guarantee::ALL {
            if self.violating(guarantee, staleness_bound_ns) > 0 {
                let tally = self.tally(guarantee);
                (tally.violating, tally.anomalies, tally.undecided) = (0, Default::default(), Some(why));
            }
        }
    }
}
