//! The values that one object went through, and which of them every read saw. Because each value is written once,
//! a read says by itself which write it saw.

use leadline_history::{Content, Kind, Moment, Outcome, NOTHING};

use crate::anomaly::Anomaly;
use crate::findings::{Evidence, Findings};
use crate::guarantee::Guarantee;
use crate::order::{EarliestAfter, LONG_AGO};
use crate::token_map::{with_room_for, TokenMap};
use crate::view::{Seen, Span, View};

/// Stands for the operation that nobody made: the beginning.
pub(crate) const NOBODY: u32 = u32::MAX;

/// One value. Number 0 is what was there before anything was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    pub span: Span,
    pub index: u32,
    pub client: u16,
    pub acknowledged: bool,
}

/// One read that saw a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight {
    pub span: Span,
    pub version: u32,
    pub index: u32,
    pub client: u16,
    pub moment: Moment,
    pub primed: bool,
}

/// All versions of an object and all sights of them.
pub(crate) struct Versions {
    pub versions: Vec<Version>,
    pub sights: Vec<Sight>,
    /// Reads of which no write can be the origin.
    pub unexplained: Vec<Evidence>,
}

/// Where each value came from.
struct Origins {
    written: TokenMap,
    refused: TokenMap,
}

impl Versions {
    /// Takes an object apart. In an [entry](Kind::Entry), to see nothing is not to see the first version.
    pub fn of(view: &View) -> Self {
        let beginning = Span { start: LONG_AGO, end: LONG_AGO };
        let first = Version { span: beginning, index: NOBODY, client: u16::MAX, acknowledged: true };
        let mut versions = Vec::with_capacity(view.about.bringing + 1);
        versions.push(first);
        let sights = Vec::with_capacity(view.members.len() - view.about.bringing);
        let mut all = Self { versions, sights, unexplained: Vec::new() };
        let origins = all.note_writes(view);
        for each in view.operations().filter(is_sight) {
            all.note_sight(each, &origins);
        }
        all
    }

    fn note_writes(&mut self, view: &View) -> Origins {
        let mut origins = Origins { written: with_room_for(view.about.bringing), refused: with_room_for(0) };
        for each in view.operations().filter(|each| each.operation.action.brings_value()) {
            if each.operation.outcome == Outcome::Fail {
                origins.refused.insert(each.operation.value_in, each.index);
                continue;
            }
            origins.written.insert(each.operation.value_in, self.versions.len() as u32);
            self.versions.push(Version {
                span: each.span,
                index: each.index,
                client: each.operation.client,
                acknowledged: each.operation.acknowledged(),
            });
        }
        origins
    }

    fn note_sight(&mut self, read: Seen, origins: &Origins) {
        let value = read.operation.value_out;
        let version = if value == NOTHING { Some(0) } else { origins.written.get(&value).copied() };
        let broken = broken_content(read.operation.content);
        let origin = version.map(|version| self.versions[version as usize]);
        let evidence = match (broken, origin) {
            (Some(anomaly), _) => Evidence::of(anomaly, [read.index]),
            (None, None) => match origins.refused.get(&value) {
                Some(&refused) => Evidence::of(Anomaly::RefusedButHappened, [refused, read.index]),
                None => Evidence::of(Anomaly::Invented, [read.index]),
            },
            (None, Some(origin)) if read.span.end < origin.span.start => {
                Evidence::of(Anomaly::FromTheFuture, [read.index, origin.index])
            }
            (None, Some(_)) => return self.sights.push(sight_of(read, version.unwrap_or(0))),
        };
        self.unexplained.push(evidence);
    }

    /// Judges whether anything was invented (G1).
    pub fn judge_origins(&self, findings: &mut Findings) {
        let tally = findings.tally(Guarantee::NoInventedData);
        tally.checked += (self.sights.len() + self.unexplained.len()) as u64;
        self.unexplained.iter().for_each(|evidence| tally.violated_by(evidence.clone()));
    }

    /// For each version, when it was certainly replaced, and by whom: the earliest end of an acknowledged change
    /// that began after its own write had ended. Further changes that take values away may be given.
    pub fn replaced(&self, also: &[(Span, u32)]) -> Vec<(i64, u32)> {
        let acknowledged = self.versions[1..].iter().filter(|version| version.acknowledged);
        let mut changes: Vec<(Span, u32)> =
            acknowledged.map(|version| (version.span, version.index)).collect();
        changes.extend_from_slice(also);
        let changes = EarliestAfter::of(changes);
        let mut near = 0;
        let mut after = |version: &Version| changes.after_near(&mut near, version.span.end);
        self.versions.iter().map(|version| after(version).unwrap_or((i64::MAX, NOBODY))).collect()
    }

    /// Places of the operations that can be shown: the beginning is none.
    pub fn shown(operations: &[u32]) -> Vec<u32> {
        operations.iter().copied().filter(|&index| index != NOBODY).collect()
    }
}

/// Whether an operation read a value. The name of an entry that leads nowhere is another matter.
fn is_sight(each: &Seen) -> bool {
    let operation = each.operation;
    let leads_nowhere = operation.kind == Kind::Entry && operation.value_out == NOTHING;
    operation.action == leadline_history::Action::Read && operation.acknowledged() && !leads_nowhere
}

fn sight_of(read: Seen, version: u32) -> Sight {
    let Seen { index, operation, span } = read;
    Sight {
        span,
        version,
        index,
        client: operation.client,
        moment: operation.moment,
        primed: operation.primed,
    }
}

/// The anomaly that the state of the bytes is by itself.
pub(crate) fn broken_content(content: Content) -> Option<Anomaly> {
    match content {
        Content::Whole => None,
        Content::Torn => Some(Anomaly::Torn),
        Content::ZeroFilled => Some(Anomaly::ZeroFilled),
        Content::Damaged => Some(Anomaly::Damaged),
    }
}
