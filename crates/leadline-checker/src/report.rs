//! What is reported: one line for each kind of object and each guarantee that concerns it.

use std::collections::BTreeMap;

use leadline_history::{Action, History, Kind, Operation, Outcome, NEVER};
use serde::{Deserialize, Serialize};

use crate::anomaly::Anomaly;
use crate::bound::upper_bound;
use crate::findings::{Evidence, Findings, Tally, Undecided};
use crate::guarantee::Guarantee;
use crate::sentence;

/// How a guarantee fared on all objects of a kind. Never "is consistent".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing that was checked violates it, and everything could be decided.
    Held,
    /// Something violates it, and the witness shows it.
    Violated,
    /// Nothing happened that could have violated it.
    NotExercised,
    /// Nothing violates it for certain, but some objects could not be decided.
    Undecided,
}

/// An operation as a witness shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub client: u16,
    pub worker: u16,
    pub action: Action,
    pub outcome: Outcome,
    pub errno: i16,
    pub start_ns: i64,
    /// None for an operation in doubt.
    pub end_ns: Option<i64>,
    pub value_in: u64,
    pub value_out: u64,
    /// The list that it read, if it is one that reads lists.
    pub list: Vec<u64>,
}

/// The smallest set of operations that shows a violation, or what looks like one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    pub anomaly: Anomaly,
    pub object: u64,
    /// In the order of their starts.
    pub operations: Vec<Shown>,
    /// The same in words.
    pub sentence: String,
}

/// One guarantee on one kind of object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub kind: Kind,
    pub guarantee: Guarantee,
    pub verdict: Verdict,
    /// What `checked` and `violating` count.
    pub unit: String,
    /// n: how much could have violated it.
    pub checked: u64,
    /// k: how much did.
    pub violating: u64,
    /// With 95 % confidence the rate of violations is at most this; None when nothing was checked.
    pub upper_bound: Option<f64>,
    pub objects: u64,
    pub objects_violating: u64,
    pub objects_undecided: u64,
    /// Why objects were not decided, when some were not.
    pub undecided_because: Option<String>,
    /// How often each anomaly was met; for bounded staleness also those that the bound allows.
    pub anomalies: BTreeMap<Anomaly, u64>,
    /// Bounded staleness only: the least delay with which every object is explained by reads that look back.
    pub least_delay_ns: Option<i64>,
    /// Whether no smaller delay does; otherwise it is at least this.
    pub least_delay_exact: bool,
    pub witness: Option<Witness>,
}

/// Everything that a check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub operations: u64,
    pub objects: u64,
    /// Whether the history was whole.
    pub whole: bool,
    /// By kind, and within a kind from weak to strong.
    pub lines: Vec<Line>,
}

impl Report {
    /// The line of a kind and a guarantee; None when the history has no such object or it does not concern it.
    pub fn line(&self, kind: Kind, guarantee: Guarantee) -> Option<&Line> {
        self.lines.iter().find(|line| (line.kind, line.guarantee) == (kind, guarantee))
    }
}

/// Findings of many objects, put together.
pub(crate) struct Gathered {
    staleness_bound_ns: i64,
    objects: u64,
    sums: BTreeMap<(Kind, Guarantee), Sum>,
}

#[derive(Default)]
struct Sum {
    tally: Tally,
    objects: u64,
    objects_violating: u64,
    undecided: BTreeMap<Undecided, u64>,
    least_delay_ns: i64,
    inexact: bool,
}

impl Gathered {
    pub fn new(staleness_bound_ns: i64) -> Self {
        Self { staleness_bound_ns, objects: 0, sums: BTreeMap::new() }
    }

    /// Adds what was found on one object.
    pub fn add(&mut self, kind: Kind, findings: &Findings) {
        self.objects += 1;
        let nothing = Tally::default();
        for guarantee in Guarantee::ALL.into_iter().filter(|guarantee| guarantee.concerns(kind)) {
            let sum = self.sums.entry((kind, guarantee)).or_default();
            let tally = findings.get(guarantee).unwrap_or(&nothing);
            sum.add(tally, findings.violating(guarantee, self.staleness_bound_ns));
            sum.least_delay_ns = sum.least_delay_ns.max(findings.staleness.least_delay_ns);
            sum.inexact |= !findings.staleness.exact;
        }
    }

    /// Adds what another thread gathered.
    pub fn join(&mut self, other: Self) {
        self.objects += other.objects;
        for (place, sum) in other.sums {
            self.sums.entry(place).or_default().join(sum);
        }
    }

    /// The report, with witnesses from the history.
    pub fn report(self, history: &History) -> Report {
        let begin_ns = history.operations.iter().map(|each| each.start_ns).min().unwrap_or(0);
        let line = |((kind, guarantee), sum): ((Kind, Guarantee), Sum)| {
            let witness = sum.tally.evidence.as_ref().map(|evidence| show(evidence, history, begin_ns));
            sum.line(kind, guarantee, witness)
        };
        let lines = self.sums.into_iter().map(line).collect();
        let operations = history.operations.len() as u64;
        Report { operations, objects: self.objects, whole: history.whole, lines }
    }
}

impl Sum {
    fn add(&mut self, tally: &Tally, violating: u64) {
        self.objects += 1;
        self.take_evidence(tally.evidence.clone(), violating > 0);
        self.tally.checked += tally.checked;
        self.tally.violating += violating;
        self.objects_violating += u64::from(violating > 0);
        self.tally.anomalies.iter_mut().zip(tally.anomalies).for_each(|(sum, count)| *sum += count);
        if let Some(why) = tally.undecided.filter(|_| violating == 0) {
            *self.undecided.entry(why).or_default() += 1;
        }
    }

    fn join(&mut self, other: Self) {
        self.objects += other.objects;
        self.objects_violating += other.objects_violating;
        let was_violated = other.tally.violating > 0;
        self.take_evidence(other.tally.evidence, was_violated);
        self.tally.checked += other.tally.checked;
        self.tally.violating += other.tally.violating;
        self.tally.anomalies.iter_mut().zip(other.tally.anomalies).for_each(|(sum, count)| *sum += count);
        other.undecided.into_iter().for_each(|(why, count)| *self.undecided.entry(why).or_default() += count);
        self.least_delay_ns = self.least_delay_ns.max(other.least_delay_ns);
        self.inexact |= other.inexact;
    }

    /// Keeps the smaller evidence, and of equal ones that of the earlier operations; certain before uncertain.
    fn take_evidence(&mut self, evidence: Option<Evidence>, certain: bool) {
        let Some(new) = evidence else { return };
        let rank =
            |evidence: &Evidence| (evidence.operations.len(), evidence.operations.iter().min().copied());
        let better = match &self.tally.evidence {
            None => true,
            Some(kept) => match (certain, self.tally.violating > 0) {
                (new_is_certain, kept_is_certain) if new_is_certain != kept_is_certain => new_is_certain,
                _ => rank(&new) < rank(kept), // whichever thread came first
            },
        };
        if better {
            self.tally.evidence = Some(new);
        }
    }

    fn line(self, kind: Kind, guarantee: Guarantee, witness: Option<Witness>) -> Line {
        let undecided: u64 = self.undecided.values().sum();
        let tally = self.tally;
        let verdict = match (tally.violating, undecided, tally.checked) {
            (1.., _, _) => Verdict::Violated,
            (0, 1.., _) => Verdict::Undecided,
            (0, 0, 0) => Verdict::NotExercised,
            (0, 0, 1..) => Verdict::Held,
        };
        let met = Anomaly::ALL.into_iter().map(|anomaly| (anomaly, tally.anomalies[anomaly as usize]));
        let is_amount = guarantee == Guarantee::BoundedStaleness;
        Line {
            kind,
            guarantee,
            verdict,
            unit: guarantee.unit(kind).to_string(),
            checked: tally.checked,
            violating: tally.violating,
            upper_bound: upper_bound(tally.violating.min(tally.checked), tally.checked),
            objects: self.objects,
            objects_violating: self.objects_violating,
            objects_undecided: undecided,
            undecided_because: (undecided > 0).then(|| sentence::of_undecided(&self.undecided)),
            anomalies: met.filter(|(_, count)| *count > 0).collect(),
            least_delay_ns: is_amount.then_some(self.least_delay_ns),
            least_delay_exact: is_amount && !self.inexact,
            witness,
        }
    }
}

fn show(evidence: &Evidence, history: &History, begin_ns: i64) -> Witness {
    let mut operations: Vec<&Operation> =
        evidence.operations.iter().map(|&index| &history.operations[index as usize]).collect();
    operations.sort_by_key(|operation| (operation.start_ns, operation.end_ns));
    operations.dedup();
    let shown = |operation: &&Operation| Shown {
        client: operation.client,
        worker: operation.worker,
        action: operation.action,
        outcome: operation.outcome,
        errno: operation.errno,
        start_ns: operation.start_ns,
        end_ns: (operation.end_ns != NEVER).then_some(operation.end_ns),
        value_in: operation.value_in,
        value_out: operation.value_out,
        list: history.list_of(operation).to_vec(),
    };
    Witness {
        anomaly: evidence.anomaly,
        object: operations.first().map_or(0, |operation| operation.object),
        operations: operations.iter().map(shown).collect(),
        sentence: sentence::of_witness(evidence.anomaly, &operations, begin_ns),
    }
}
