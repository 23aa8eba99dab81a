//! Directories, whose names are used once. POSIX leaves open what a listing says of a name that is added or removed
//! beside it, so only this is asked: what was there throughout is listed exactly once, what was not there
//! throughout is not listed.

use std::collections::BTreeMap;

use leadline_history::{Action, Moment, Outcome};

use crate::anomaly::Anomaly;
use crate::convergence;
use crate::exercise::Exercise;
use crate::findings::{Evidence, Findings, Staleness};
use crate::guarantee::Guarantee;
use crate::token_map::{with_room_for, TokenMap};
use crate::view::{Seen, Span, View};

/// One name and the two changes that it can meet with.
#[derive(Clone, Copy)]
struct Name<'a> {
    added: Seen<'a>,
    removed: Option<Seen<'a>>,
}

impl<'a> Name<'a> {
    fn there_throughout(&self, listing: Span) -> bool {
        let added = self.added.operation.acknowledged() && self.added.span.end < listing.start;
        added && self.removed.is_none_or(|removed| removed.span.start > listing.end)
    }

    /// When it was gone for certain, if that was before the listing.
    fn gone_before(&self, listing: Span) -> Option<Seen<'a>> {
        self.removed.filter(|removed| removed.operation.acknowledged() && removed.span.end < listing.start)
    }

    /// Of several removals only one can have happened: an acknowledged one, if there is one. It is taken to have
    /// begun when the first of them did, which excuses whatever could be excused.
    fn note_removal(&mut self, removed: Seen<'a>) {
        let Some(known) = self.removed else {
            self.removed = Some(removed);
            return;
        };
        let start = known.span.start.min(removed.span.start);
        let mut kept = if removed.operation.acknowledged() { removed } else { known };
        kept.span.start = start;
        self.removed = Some(kept);
    }
}

/// All names by value.
struct Names<'a> {
    names: Vec<Name<'a>>,
    by_value: TokenMap,
}

impl<'a> Names<'a> {
    fn of(view: &View<'a>) -> Self {
        let mut all = Self { names: Vec::new(), by_value: with_room_for(view.members.len()) };
        let possible = |each: &Seen| each.operation.outcome != Outcome::Fail;
        for added in
            view.operations().filter(|each| each.operation.action == Action::Create && possible(each))
        {
            all.by_value.insert(added.operation.value_in, all.names.len() as u32);
            all.names.push(Name { added, removed: None });
        }
        for removed in
            view.operations().filter(|each| each.operation.action == Action::Remove && possible(each))
        {
            if let Some(&place) = all.by_value.get(&removed.operation.value_in) {
                all.names[place as usize].note_removal(removed);
            }
        }
        all
    }

    fn get(&self, value: u64) -> Option<&Name<'a>> {
        self.by_value.get(&value).map(|&place| &self.names[place as usize])
    }
}

/// Judges one of them.
pub(crate) fn judge(view: &View) -> Findings {
    let mut findings = Findings::default();
    let names = Names::of(view);
    let is_listing = |each: &Seen| each.operation.action == Action::List && each.operation.acknowledged();
    let mut listings: Vec<Seen> = view.operations().filter(is_listing).collect();
    listings.sort_by_key(|each| each.span.start);
    for guarantee in [Guarantee::NoInventedData, Guarantee::NoLostWrite, Guarantee::ReadYourWrites] {
        findings.tally(guarantee);
    }
    convergence::judge(view, &mut findings);
    let exercise = Exercise::of(view);
    let mut there = Present::new(&names);
    for listing in listings {
        let list = view.history.list_of(listing.operation);
        let is_final = listing.operation.moment == Moment::Final;
        let mut judged = Judged { listing, is_final, findings: &mut findings };
        judged.begin(&exercise, &names);
        judged.judge_listed(list, &names);
        judged.judge_missing(list, there.throughout(listing.span));
    }
    findings
}

/// Follows listings through time and knows which names may have been there throughout each of them.
struct Present<'a> {
    by_added: Vec<Name<'a>>,
    next: usize,
    present: BTreeMap<u64, Name<'a>>,
}

impl<'a> Present<'a> {
    fn new(names: &Names<'a>) -> Self {
        let mut by_added = names.names.clone();
        by_added.sort_by_key(|name| name.added.span.end);
        Self { by_added, next: 0, present: BTreeMap::new() }
    }

    /// Listings come in the order of their starts, so that a name that is gone at one stays gone.
    fn throughout(&mut self, listing: Span) -> Vec<Name<'a>> {
        while let Some(name) = self.by_added.get(self.next).filter(|name| name.added.span.end < listing.start)
        {
            self.present.insert(name.added.operation.value_in, *name);
            self.next += 1;
        }
        self.present.retain(|_, name| name.removed.is_none_or(|removed| removed.span.start > listing.start));
        self.present.values().filter(|name| name.there_throughout(listing)).copied().collect()
    }
}

/// One listing that is being judged.
struct Judged<'a, 'b> {
    listing: Seen<'a>,
    is_final: bool,
    findings: &'b mut Findings,
}

impl Judged<'_, '_> {
    fn begin(&mut self, exercise: &Exercise, names: &Names) {
        self.findings.tally(Guarantee::NoInventedData).checked += 1;
        let after_change = u64::from(exercise.provoked(&self.listing));
        for guarantee in [Guarantee::CloseToOpen, Guarantee::BoundedStaleness] {
            self.findings.tally(guarantee).checked += after_change;
        }
        let own = |name: &&Name| name.added.operation.client == self.listing.operation.client;
        let after_own =
            names.names.iter().filter(own).any(|name| name.added.span.end < self.listing.span.start);
        self.findings.tally(Guarantee::ReadYourWrites).checked += u64::from(after_own);
        let acknowledged =
            names.names.iter().filter(|name| name.added.operation.acknowledged()).count() as u64;
        let lost = self.findings.tally(Guarantee::NoLostWrite);
        lost.checked = if self.is_final { acknowledged } else { lost.checked };
    }

    fn judge_listed(&mut self, list: &[u64], names: &Names) {
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        for same in sorted.chunk_by(|one, other| one == other) {
            let origin = names.get(same[0]).filter(|name| name.added.span.start <= self.listing.span.end);
            let Some(name) = origin else {
                let evidence = Evidence::of(Anomaly::Invented, [self.listing.index]);
                self.findings.tally(Guarantee::NoInventedData).violated_by(evidence);
                continue;
            };
            if same.len() > 1 {
                let evidence = Evidence::of(Anomaly::Duplicated, [name.added.index, self.listing.index]);
                self.findings.tally(Guarantee::CloseToOpen).violated_by(evidence);
            }
            if let Some(removed) = name.gone_before(self.listing.span) {
                self.note_wrong(removed, Anomaly::Resurrected);
            }
        }
    }

    fn judge_missing(&mut self, list: &[u64], expected: Vec<Name>) {
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        let missing =
            expected.iter().filter(|name| sorted.binary_search(&name.added.operation.value_in).is_err());
        for name in missing {
            self.note_wrong(name.added, Anomaly::Lost);
            if name.added.operation.client == self.listing.operation.client {
                let evidence = Evidence::of(Anomaly::OwnWriteMissing, [name.added.index, self.listing.index]);
                self.findings.tally(Guarantee::ReadYourWrites).violated_by(evidence);
            }
        }
    }

    /// A listing that does not show a change is stale; a final one shows that the change is undone for good.
    fn note_wrong(&mut self, change: Seen, in_the_end: Anomaly) {
        let operations = [change.index, self.listing.index];
        if self.is_final {
            return self
                .findings
                .tally(Guarantee::NoLostWrite)
                .violated_by(Evidence::of(in_the_end, operations));
        }
        for guarantee in [Guarantee::CloseToOpen, Guarantee::BoundedStaleness] {
            self.findings.tally(guarantee).violated_by(Evidence::of(Anomaly::Stale, operations));
        }
        let age_ns = self.listing.span.start - change.span.end;
        let least_delay_ns = self.findings.staleness.least_delay_ns.max(age_ns);
        self.findings.staleness = Staleness { least_delay_ns, exact: false };
    }
}
