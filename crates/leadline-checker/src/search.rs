//! Looks for an order of operations on a small object that explains what each of them answered.
//!
//! The search of Wing and Gong (1993) in the form that Lowe (2017) calls just-in-time: it goes through calls and
//! answers in time, and keeps all configurations (which of the open operations have happened, and the state). An
//! operation happens only when an answer forces it to. Two things keep it small. Operations that only look
//! never branch: they happen as soon as the state suits them, which takes nothing from anybody. And equal
//! configurations are one. It is linear in the number of operations, and exponential only in how many changes are
//! open at the same time; an object that would take too long is given up as undecided, by counting
//! configurations, so that the verdict does not depend on the speed of the machine.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use leadline_history::NOTHING;

use crate::token_map::Mixing;
use crate::view::Span;

/// What an operation needs to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Anything,
    Absent,
    Present,
    Exactly(u64),
}

impl Need {
    fn suits(self, state: u64) -> bool {
        match self {
            Self::Anything => true,
            Self::Absent => state == NOTHING,
            Self::Present => state != NOTHING,
            Self::Exactly(value) => state == value,
        }
    }
}

/// One operation, as the search sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub span: Span,
    pub index: u32,
    pub need: Need,
    /// The state that it leaves; None if it only looks.
    pub becomes: Option<u64>,
    /// Whether it may not have happened at all. It then has no end.
    pub optional: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// There is one.
    Exists,
    /// There is none: at the answer of this turn nothing was left.
    None { stuck: usize },
    /// It was given up.
    TooMuch,
}

/// Which of the open operations have happened, and the state after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Configuration {
    happened: u64,
    state: u64,
}

/// Operations that were called and have not answered yet, each in a slot that is a bit of `happened`.
struct Open<'a> {
    turns: &'a [Turn],
    slots: [u32; 64],
    looking: u64,
    changing: u64,
}

impl Open<'_> {
    fn free_slot(&self) -> Option<u32> {
        let free = !(self.looking | self.changing);
        (free != 0).then(|| free.trailing_zeros())
    }

    fn turn(&self, slot: u32) -> &Turn {
        &self.turns[self.slots[slot as usize] as usize]
    }

    /// Lets everything happen that only looks and suits the state.
    fn with_lookers(&self, mut at: Configuration) -> Configuration {
        for slot in bits(self.looking & !at.happened) {
            if self.turn(slot).need.suits(at.state) {
                at.happened |= 1 << slot;
            }
        }
        at
    }

    /// What can be after one more change.
    fn next<'b>(&'b self, at: Configuration) -> impl Iterator<Item = Configuration> + 'b {
        let can = move |slot: &u32| self.turn(*slot).need.suits(at.state);
        bits(self.changing & !at.happened).filter(can).map(move |slot| {
            let state = self.turn(slot).becomes.unwrap_or(at.state);
            self.with_lookers(Configuration { happened: at.happened | 1 << slot, state })
        })
    }
}

fn bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = (set != 0).then(|| set.trailing_zeros());
        set &= set.wrapping_sub(1);
        lowest
    })
}

/// Looks for an order, from this state, and gives up after so many configurations.
pub(crate) fn find_order(turns: &[Turn], initial: u64, limit: u64) -> Order {
    let mut open = Open { turns, slots: [0; 64], looking: 0, changing: 0 };
    let mut slot_of = vec![0; turns.len()];
    let mut frontier = vec![Configuration { happened: 0, state: initial }];
    let mut left = limit;
    for (is_answer, turn) in events(turns) {
        if is_answer {
            let bit = 1 << slot_of[turn];
            let Some(next) = answer(&open, frontier, bit, &mut left) else { return Order::TooMuch };
            if next.is_empty() {
                return Order::None { stuck: turn };
            }
            frontier = next;
            (open.looking, open.changing) = (open.looking & !bit, open.changing & !bit);
        } else {
            let Some(slot) = open.free_slot() else { return Order::TooMuch };
            slot_of[turn] = slot;
            call(&mut open, turn, slot, &mut frontier);
        }
    }
    Order::Exists
}

/// Calls and answers in time; of equal times the calls come first, because then the operations overlap.
fn events(turns: &[Turn]) -> impl Iterator<Item = (bool, usize)> {
    let calls = turns.iter().enumerate().map(|(place, turn)| (turn.span.start, false, place));
    let answered = turns.iter().enumerate().filter(|(_, turn)| !turn.optional);
    let answers = answered.map(|(place, turn)| (turn.span.end, true, place));
    let mut events: Vec<(i64, bool, usize)> = calls.chain(answers).collect();
    events.sort_unstable();
    events.into_iter().map(|(_, is_answer, place)| (is_answer, place))
}

fn call(open: &mut Open, turn: usize, slot: u32, frontier: &mut [Configuration]) {
    open.slots[slot as usize] = turn as u32;
    if open.turns[turn].becomes.is_some() {
        open.changing |= 1 << slot;
        return;
    }
    open.looking |= 1 << slot;
    for at in frontier.iter_mut().filter(|at| open.turns[turn].need.suits(at.state)) {
        at.happened |= 1 << slot;
    }
}

/// Keeps what can be when this one has happened, and lets others happen before it where that is needed. None when
/// it takes too much.
fn answer(open: &Open, frontier: Vec<Configuration>, bit: u64, left: &mut u64) -> Option<Vec<Configuration>> {
    *left = left.checked_sub(1)?;
    if frontier.iter().all(|at| at.happened & bit != 0) {
        let forget = |at: Configuration| Configuration { happened: at.happened & !bit, ..at };
        return Some(frontier.into_iter().map(forget).collect());
    }
    let (mut known, mut kept) = (Distinct::default(), Vec::new());
    let mut waiting: Vec<Configuration> = frontier.into_iter().filter(|at| known.is_new(*at)).collect();
    while let Some(at) = waiting.pop() {
        *left = left.checked_sub(1)?;
        if at.happened & bit != 0 {
            kept.push(Configuration { happened: at.happened & !bit, ..at });
        } else {
            waiting.extend(open.next(at).filter(|next| known.is_new(*next)));
        }
    }
    Some(kept)
}

/// Configurations that were met: a list while they are few, which they nearly always are.
#[derive(Default)]
struct Distinct {
    few: Vec<Configuration>,
    many: HashSet<Configuration, BuildHasherDefault<Mixing>>,
}

impl Distinct {
    const FEW: usize = 24;

    fn is_new(&mut self, at: Configuration) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(at);
        }
        if self.few.contains(&at) {
            return false;
        }
        self.few.push(at);
        if self.few.len() > Self::FEW {
            self.many.extend(self.few.drain(..));
        }
        true
    }
}

/// The operations that show that there is no order: those that looked and cannot be left out, and the changes about
/// them. To leave out an operation that only looks, or what began after the search was stuck, excuses nothing.
pub(crate) fn shrink(turns: &[Turn], stuck: usize, initial: u64, limit: u64) -> Vec<u32> {
    let end = turns[stuck].span.end;
    let mut kept: Vec<Turn> = turns.iter().filter_map(|turn| cut_at(turn, end)).collect();
    let mut chunk = kept.len().div_ceil(2);
    loop {
        let mut from = 0;
        while from < kept.len() {
            let outside =
                |place: usize, turn: &Turn| turn.becomes.is_some() || !(from..from + chunk).contains(&place);
            let fewer: Vec<Turn> = kept
                .iter()
                .enumerate()
                .filter(|(place, turn)| outside(*place, turn))
                .map(|(_, turn)| *turn)
                .collect();
            let without = fewer.len() < kept.len();
            if without && matches!(find_order(&fewer, initial, limit), Order::None { .. }) {
                kept = fewer;
            } else {
                from += chunk;
            }
        }
        if chunk == 1 {
            return about_lookers(&kept, &turns[stuck]);
        }
        chunk = chunk.div_ceil(2);
    }
}

/// A turn as it was known at a time: whoever had not answered may not have happened.
fn cut_at(turn: &Turn, time: i64) -> Option<Turn> {
    let (answered, changes) = (turn.span.end <= time, turn.becomes.is_some());
    let begun = turn.span.start <= time && (answered || changes);
    begun.then_some(if answered { *turn } else { Turn { optional: true, ..*turn } })
}

fn about_lookers(kept: &[Turn], stuck: &Turn) -> Vec<u32> {
    let lookers = kept.iter().filter(|turn| turn.becomes.is_none());
    let since = lookers.map(|turn| turn.span.start).min().unwrap_or(stuck.span.start);
    let ended_before = kept.iter().filter(|turn| turn.span.end < since).map(|turn| turn.span.start).max();
    let shown = kept.iter().filter(|turn| turn.span.start >= ended_before.unwrap_or(i64::MIN));
    shown.map(|turn| turn.index).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: u64 = 1_000_000;

    fn look(index: u32, start: i64, end: i64, seen: u64) -> Turn {
        Turn { span: Span { start, end }, index, need: Need::Exactly(seen), becomes: None, optional: false }
    }

    fn write(index: u32, start: i64, end: i64, value: u64) -> Turn {
        let becomes = Some(value);
        Turn { span: Span { start, end }, index, need: Need::Anything, becomes, optional: false }
    }

    fn witness(turns: &[Turn]) -> Vec<u32> {
        let Order::None { stuck } = find_order(turns, NOTHING, LIMIT) else { panic!("there is an order") };
        shrink(turns, stuck, NOTHING, LIMIT)
    }

    #[test]
    fn who_looked_and_proves_nothing_is_left_out_of_the_witness() {
        let right = (1..20).map(|place| look(place, 10 * i64::from(place), 10 * i64::from(place) + 5, 7));
        let turns: Vec<Turn> =
            [write(0, 0, 5, 7)].into_iter().chain(right).chain([look(20, 300, 305, 8)]).collect();
        assert_eq!(witness(&turns), [0, 20]);
    }

    #[test]
    fn what_began_after_the_answer_that_fits_nowhere_is_no_part_of_the_witness() {
        let turns = [write(0, 0, 5, 7), look(1, 10, 15, 8), look(2, 20, 25, 9), write(3, 30, 35, 9)];
        assert_eq!(witness(&turns), [0, 1]);
    }

    #[test]
    fn who_had_not_answered_yet_saw_nothing_that_counts() {
        let turns = [write(0, 0, 5, 7), look(1, 6, 40, 9), look(2, 10, 15, 8)];
        assert_eq!(witness(&turns), [0, 2]);
    }

    fn turns() -> impl Strategy<Value = Vec<Turn>> {
        let one = (0..60i64, 1..12i64, 1..4u64, any::<bool>());
        proptest::collection::vec(one, 1..14).prop_map(|drawn| {
            let made = drawn.into_iter().enumerate().map(|(index, (start, length, value, writes))| {
                let make = if writes { write } else { look };
                make(index as u32, start, start + length, value)
            });
            made.collect()
        })
    }

    proptest! {
        /// Changes may excuse, so all of them about the lookers stay; of those that looked none is too many.
        #[test]
        fn without_any_one_that_looked_the_witness_would_prove_nothing(turns in turns()) {
            let Order::None { stuck } = find_order(&turns, NOTHING, LIMIT) else { return Ok(()) };
            let end = turns[stuck].span.end;
            let shown = shrink(&turns, stuck, NOTHING, LIMIT);
            let known: Vec<Turn> = turns.iter().filter_map(|turn| cut_at(turn, end)).collect();
            let needed: Vec<u32> =
                known.iter().filter(|turn| turn.becomes.is_none() && shown.contains(&turn.index)).map(|turn| turn.index).collect();
            let kept = |but: Option<u32>| -> Vec<Turn> {
                let stays = |turn: &&Turn| turn.becomes.is_some() || (needed.contains(&turn.index) && Some(turn.index) != but);
                known.iter().filter(stays).copied().collect()
            };
            let proves = matches!(find_order(&kept(None), NOTHING, LIMIT), Order::None { .. });
            prop_assert!(proves);
            for each in &needed {
                prop_assert_eq!(find_order(&kept(Some(*each)), NOTHING, LIMIT), Order::Exists);
            }
        }
    }
}
