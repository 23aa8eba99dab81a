//! Append logs. The final read, through a client that can have nothing cached, tells the order of all records;
//! every other question is then one sweep over it (the idea of Elle: Kingsbury and Alvaro, VLDB 2020).

use leadline_history::{Action, Moment, Operation, Outcome};

use crate::anomaly::Anomaly;
use crate::exercise::Exercise;
use crate::findings::{Evidence, Findings, Staleness};
use crate::guarantee::Guarantee;
use crate::token_map::{with_room_for, TokenMap};
use crate::versions::{broken_content, NOBODY};
use crate::view::{Seen, Span, View};
use crate::{convergence, log_sessions};

/// One append that may have happened.
#[derive(Clone, Copy)]
pub(crate) struct Append {
    pub span: Span,
    pub index: u32,
    pub client: u16,
    pub acknowledged: bool,
    /// Where its record is in the final order.
    pub position: Option<u32>,
}

/// One read or question for the length that agrees with the final order: it saw this many records.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub span: Span,
    pub index: u32,
    pub client: u16,
    pub length: u32,
    pub action: Action,
    pub primed: bool,
}

/// A log, taken apart.
pub(crate) struct Log<'a> {
    view: &'a View<'a>,
    pub exercise: Exercise,
    /// The records in their final order.
    order: &'a [u64],
    /// The read that tells the order, and whether it is a final one.
    told_by: Option<(u32, bool)>,
    /// When that read began.
    told_at: i64,
    pub appends: Vec<Append>,
    pub looks: Vec<Look>,
    forked: Vec<u32>,
    broken: Vec<Evidence>,
}

/// Judges one of them.
pub(crate) fn judge(view: &View) -> Findings {
    let mut findings = Findings::default();
    let log = Log::of(view);
    log.judge_origins(&mut findings);
    log.judge_final_state(&mut findings);
    convergence::judge(view, &mut findings);
    log_sessions::judge(&log, &mut findings);
    log.judge_append_order(&mut findings);
    log.judge_order(&mut findings);
    findings
}

impl<'a> Log<'a> {
    fn of(view: &'a View) -> Self {
        let whole = |each: &Seen| each.operation.content == leadline_history::Content::Whole;
        let reads = view.operations().filter(|each| is_answer(each, Action::Read) && whole(each));
        let rank = |each: &Seen| (each.operation.moment == Moment::Final, each.operation.values_count);
        let telling = reads.max_by_key(rank);
        let order = telling.map_or(&[][..], |each| view.history.list_of(each.operation));
        let told_by = telling.map(|each| (each.index, rank(&each).0));
        let (appends, looks) = (Vec::new(), Vec::new());
        let exercise = Exercise::of(view);
        let told_at = telling.map_or(i64::MIN, |each| each.span.start);
        let (forked, broken) = (Vec::new(), Vec::new());
        let mut log = Self { view, exercise, order, told_by, told_at, appends, looks, forked, broken };
        log.note_appends();
        for each in view.operations() {
            log.note_look(each);
        }
        log
    }

    fn note_appends(&mut self) {
        let mut positions: TokenMap = with_room_for(self.order.len());
        for (position, token) in (0..).zip(self.order) {
            positions.entry(*token).or_insert(position);
        }
        let appends = self.view.operations().filter(|each| each.operation.action == Action::Append);
        let happened = appends.filter(|each| each.operation.outcome != Outcome::Fail);
        self.appends = happened
            .map(|each| Append {
                span: each.span,
                index: each.index,
                client: each.operation.client,
                acknowledged: each.operation.acknowledged(),
                position: positions.get(&each.operation.value_in).copied(),
            })
            .collect();
    }

    fn note_look(&mut self, each: Seen) {
        let length = match each.operation.action {
            Action::Read if is_answer(&each, Action::Read) => {
                if let Some(anomaly) = broken_content(each.operation.content) {
                    return self.broken.push(Evidence::of(anomaly, [each.index]));
                }
                let list = self.view.history.list_of(each.operation);
                self.order.starts_with(list).then_some(list.len() as u64)
            }
            Action::Length if is_answer(&each, Action::Length) => {
                let length = each.operation.value_out;
                let told = length <= self.order.len() as u64;
                if !told && each.span.end >= self.told_at {
                    return; // what was appended after the telling read is not known
                }
                Some(length).filter(|_| told)
            }
            _ => return,
        };
        let Some(length) = length else { return self.forked.push(each.index) };
        let Operation { client, action, primed, .. } = *each.operation;
        let (span, index, length) = (each.span, each.index, length as u32);
        self.looks.push(Look { span, index, client, length, action, primed });
    }

    /// G1: every record that anybody read was appended, and came whole.
    fn judge_origins(&self, findings: &mut Findings) {
        let mut tokens: TokenMap = with_room_for(self.appends.len());
        let brought = self.view.operations().filter(|each| each.operation.action == Action::Append);
        for each in brought {
            let refused = each.operation.outcome == Outcome::Fail;
            tokens.insert(each.operation.value_in, if refused { each.index } else { NOBODY });
        }
        let tally = findings.tally(Guarantee::NoInventedData);
        tally.checked += (self.looks.len() + self.forked.len() + self.broken.len()) as u64;
        self.broken.iter().for_each(|evidence| tally.violated_by(evidence.clone()));
        // What agrees with the telling read need not be looked at again.
        for index in self.told_by.iter().map(|(index, _)| *index).chain(self.forked.iter().copied()) {
            let list = self.view.history.list_of(self.view.seen(index).operation);
            let foreign = list.iter().find_map(|token| match tokens.get(token) {
                None => Some(Evidence::of(Anomaly::Invented, [index])),
                Some(&NOBODY) => None,
                Some(&refused) => Some(Evidence::of(Anomaly::RefusedButHappened, [refused, index])),
            });
            foreign.into_iter().for_each(|evidence| tally.violated_by(evidence));
        }
    }

    /// G2: every acknowledged record is in the final log, once.
    fn judge_final_state(&self, findings: &mut Findings) {
        let tally = findings.tally(Guarantee::NoLostWrite);
        let Some((told_by, true)) = self.told_by else { return };
        for append in self.appends.iter().filter(|append| append.acknowledged) {
            tally.checked += 1;
            if self.is_lost(append) {
                tally.violated_by(Evidence::of(Anomaly::Lost, [append.index, told_by]));
            }
        }
        self.duplicates().into_iter().for_each(|evidence| tally.violated_by(evidence));
    }

    /// Records that are in the order again.
    fn duplicates(&self) -> Vec<Evidence> {
        let Some((told_by, _)) = self.told_by else { return Vec::new() };
        let by_position = self.by_position();
        let mut first: TokenMap = with_room_for(self.order.len());
        let again = (0..).zip(self.order).filter_map(|(position, token)| {
            let earlier = *first.entry(*token).or_insert(position);
            let append = by_position[earlier as usize].filter(|_| earlier != position)?;
            Some(Evidence::of(Anomaly::Duplicated, [append.index, told_by]))
        });
        again.collect()
    }

    /// The append whose record is at each place of the final order.
    fn by_position(&self) -> Vec<Option<Append>> {
        let mut places = vec![None; self.order.len()];
        for append in &self.appends {
            if let Some(position) = append.position {
                places[position as usize] = Some(*append);
            }
        }
        places
    }

    /// G6: no record lies before another whose append had ended before its own began.
    fn judge_append_order(&self, findings: &mut Findings) {
        let tally = findings.tally(Guarantee::AppendOrder);
        let mut least_later = (i64::MAX, NOBODY);
        for append in self.by_position().into_iter().rev().flatten() {
            tally.checked += 1;
            if least_later.0 < append.span.start {
                tally.violated_by(Evidence::of(Anomaly::Reordered, [least_later.1, append.index]));
            }
            least_later = least_later.min((append.span.end, append.index));
        }
    }

    /// G9: the appends in their final order, and each look between the last append that it saw and the next.
    fn judge_order(&self, findings: &mut Findings) {
        let (inversions, least_delay_ns) = self.inversions();
        findings.staleness = Staleness { least_delay_ns, exact: true };
        let invented = findings.get(Guarantee::NoInventedData).and_then(|tally| tally.evidence.clone());
        let duplicated = self.duplicates().into_iter().next();
        let tally = findings.tally(Guarantee::Linearizable);
        tally.checked += u64::from(self.exercise.any(self.view));
        let told_by = self.told_by.map_or(NOBODY, |(index, _)| index);
        let lost = self.appends.iter().find(|append| self.is_lost(append));
        let lost = lost.map(|append| Evidence::of(Anomaly::Lost, [append.index, told_by]));
        let forked = self.forked.first().map(|&index| Evidence::of(Anomaly::Forked, [index, told_by]));
        if let Some(evidence) = lost.or(duplicated).or(invented).or(forked).or(inversions) {
            tally.violated_by(evidence);
        }
    }

    /// The first thing that comes too late in the order, and how far looks would have to look back.
    fn inversions(&self) -> (Option<Evidence>, i64) {
        let mut looks = self.looks.clone();
        looks.sort_by_key(|look| look.length);
        let by_position = self.by_position();
        let (mut least_later, mut least_delay_ns) = (self.earliest_unplaced(), 0);
        let mut found = None;
        for length in (0..=by_position.len()).rev() {
            if let Some(append) = by_position.get(length).copied().flatten() {
                if least_later.0 < append.span.start {
                    found = Some(Evidence::of(Anomaly::NoOrder, [least_later.1, append.index]));
                }
                least_later = least_later.min((append.span.end, append.index));
            }
            let from = looks.partition_point(|look| (look.length as usize) < length);
            let here = looks.split_off(from);
            for look in here.iter().filter(|look| least_later.0 < look.span.start) {
                least_delay_ns = least_delay_ns.max(look.span.start - least_later.0);
                found = Some(Evidence::of(Anomaly::Stale, [least_later.1, look.index]));
            }
            let earliest = here.iter().map(|look| (look.span.end, look.index)).min();
            least_later = least_later.min(earliest.unwrap_or((i64::MAX, NOBODY)));
        }
        (found, least_delay_ns)
    }

    /// The acknowledged append that ended first of those that the order does not hold. They come after everything in
    /// it, unless they are lost: those stand in nobody's way.
    fn earliest_unplaced(&self) -> (i64, u32) {
        let unplaced =
            |append: &&Append| append.acknowledged && append.position.is_none() && !self.is_lost(append);
        let ends = self.appends.iter().filter(unplaced).map(|append| (append.span.end, append.index));
        ends.min().unwrap_or((i64::MAX, NOBODY))
    }

    fn is_lost(&self, append: &Append) -> bool {
        let looked_for = self.told_by.is_some_and(|(_, is_final)| is_final) && append.span.end < self.told_at;
        looked_for && append.acknowledged && append.position.is_none()
    }

    /// For each length, the acknowledged append that ended first of those that a look of that length did not see.
    pub fn earliest_unseen(&self) -> Vec<(i64, u32)> {
        let mut earliest = vec![(i64::MAX, NOBODY); self.order.len() + 1];
        for (length, append) in self.by_position().into_iter().enumerate().rev() {
            let own =
                append.filter(|append| append.acknowledged).map(|append| (append.span.end, append.index));
            earliest[length] = own.map_or(earliest[length + 1], |own| own.min(earliest[length + 1]));
        }
        earliest
    }
}

fn is_answer(each: &Seen, action: Action) -> bool {
    each.operation.action == action && each.operation.acknowledged()
}
