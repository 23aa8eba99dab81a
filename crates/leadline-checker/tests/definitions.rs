//! What is asked beside linearizability, against its definition written down plainly, pair by pair.

mod brute_force;
mod drawn;
mod randomness;

use brute_force::is_linearizable;
use drawn::{history, LONGEST};
use leadline_checker::{check, Guarantee, Limits, Line};
use leadline_history::{first_flaw, Action, History, Kind, Operation, Outcome};
use randomness::Dice;

fn line_of(history: &History, guarantee: Guarantee) -> Line {
    let limits = Limits { threads: Some(1), ..Limits::default() };
    let report = check(history, &limits).expect("the history is sound");
    report.line(history.operations[0].kind, guarantee).expect("it concerns this kind").clone()
}

/// Sound histories of registers whose reads all come from somewhere.
fn explained_histories(count: u64, seed: u64) -> impl Iterator<Item = History> {
    (0..count).filter_map(move |number| {
        let history = history(&mut Dice::new(seed + number), Kind::Register, 1);
        let sound =
            first_flaw(&history).is_none() && line_of(&history, Guarantee::NoInventedData).violating == 0;
        sound.then_some(history)
    })
}

fn before(one: &Operation, other: &Operation) -> bool {
    one.end_ns < other.start_ns
}

fn reads(history: &History) -> impl Iterator<Item = &Operation> {
    history.operations.iter().filter(|each| each.action == Action::Read && each.outcome == Outcome::Ok)
}

fn writes(history: &History) -> impl Iterator<Item = &Operation> {
    history.operations.iter().filter(|each| each.action == Action::Write && each.outcome == Outcome::Ok)
}

/// The write of the value that was read; None for the beginning.
fn origin<'a>(history: &'a History, read: &Operation) -> Option<&'a Operation> {
    let value = read.value_out;
    history
        .operations
        .iter()
        .find(|each| each.action == Action::Write && each.value_in == value && value != 0)
}

/// Whether what one read saw had ended before a write began. The beginning has ended before everything.
fn seen_is_older(history: &History, read: &Operation, write: &Operation) -> bool {
    origin(history, read).is_none_or(|origin| before(origin, write))
}

#[test]
fn a_read_is_stale_exactly_if_another_write_lies_between_its_own_and_it() {
    for history in explained_histories(2000, 100) {
        let stale = |read: &&Operation| {
            writes(&history).any(|write| seen_is_older(&history, read, write) && before(write, read))
        };
        let expected = reads(&history).filter(stale).count() as u64;
        let line = line_of(&history, Guarantee::BoundedStaleness);
        assert_eq!(line.anomalies.values().sum::<u64>(), expected, "{history:#?}");
    }
}

#[test]
fn a_client_goes_back_exactly_if_what_it_sees_is_certainly_older_than_what_it_saw() {
    for history in explained_histories(2000, 200) {
        let goes_back = |last: &&Operation| {
            let own = || reads(&history).filter(|read| read.client == last.client);
            own().filter(|earlier| before(earlier, last)).any(|earlier| {
                let older =
                    origin(&history, earlier).is_some_and(|newer| seen_is_older(&history, last, newer));
                let seen_first =
                    own().any(|first| first.value_out == last.value_out && before(first, earlier));
                older || (earlier.value_out != last.value_out && seen_first)
            })
        };
        let expected = reads(&history).filter(goes_back).count() as u64;
        assert_eq!(line_of(&history, Guarantee::MonotonicReads).violating, expected, "{history:#?}");
    }
}

#[test]
fn a_client_misses_its_own_write_exactly_if_what_it_sees_is_certainly_older() {
    for history in explained_histories(2000, 300) {
        let misses = |read: &&Operation| {
            let own = writes(&history).filter(|write| write.client == read.client && before(write, read));
            own.filter(|write| write.value_in != read.value_out).any(|write| {
                let own_reads = reads(&history).filter(|first| first.client == read.client);
                let mut same = own_reads.filter(|first| first.value_out == read.value_out);
                seen_is_older(&history, read, write) || same.any(|first| before(first, write))
            })
        };
        let expected = reads(&history).filter(misses).count() as u64;
        assert_eq!(line_of(&history, Guarantee::ReadYourWrites).violating, expected, "{history:#?}");
    }
}

fn looking_back(history: &History, delay: i64) -> History {
    let mut moved = history.clone();
    for each in moved.operations.iter_mut().filter(|each| !each.action.changes()) {
        each.start_ns -= delay;
    }
    moved
}

#[test]
fn the_least_delay_is_the_smallest_with_which_there_is_an_order() {
    let mut positive = 0;
    for history in explained_histories(1200, 400) {
        let smallest = (0..=3 * LONGEST).find(|delay| is_linearizable(&looking_back(&history, *delay)));
        let line = line_of(&history, Guarantee::BoundedStaleness);
        assert_eq!(line.least_delay_ns, smallest, "{history:#?}");
        assert!(line.least_delay_exact);
        positive += u64::from(smallest > Some(0));
    }
    assert!(positive > 30, "only {positive} histories need a delay");
}

#[test]
fn a_listing_is_wrong_exactly_if_it_contradicts_what_was_there_or_not_there_throughout() {
    let mut wrong = 0;
    for number in 0..2000 {
        let history = listings(&mut Dice::new(number));
        let expected = contradictions(&history);
        let line = line_of(&history, Guarantee::CloseToOpen);
        assert_eq!(line.violating, expected, "{history:#?}");
        wrong += expected;
    }
    assert!(wrong > 200, "only {wrong} listings are wrong");
}

fn listings(dice: &mut Dice) -> History {
    let mut history = History::default();
    let directory = |action, span| Operation::new(Kind::Directory, 1, 0, action, span);
    let span = |dice: &mut Dice| {
        let start = dice.between(0, LONGEST);
        (start, start + dice.between(0, 8))
    };
    for name in 1..=4 {
        let (added, removed) = (span(dice), span(dice));
        history.push(directory(Action::Create, added).giving(name));
        if dice.chance(500) && removed.1 >= added.0 {
            let removal = directory(Action::Remove, removed).giving(name);
            history.push(if dice.chance(200) { removal.in_doubt() } else { removal });
        }
    }
    for _ in 0..3 {
        let taken = span(dice);
        let list: Vec<u64> = (1..=4).filter(|_| dice.chance(500)).collect();
        let from_nowhere = |name: &u64| created(&history, *name).start_ns > taken.1;
        let list: Vec<u64> = list.into_iter().filter(|name| !from_nowhere(name)).collect();
        history.push_list(directory(Action::List, taken), &list);
    }
    history
}

fn created(history: &History, name: u64) -> Operation {
    let is_it = |each: &&Operation| each.action == Action::Create && each.value_in == name;
    *history.operations.iter().find(is_it).expect("every name is created")
}

fn contradictions(history: &History) -> u64 {
    let removed = |name: u64| {
        history.operations.iter().find(|each| each.action == Action::Remove && each.value_in == name)
    };
    let listings = history.operations.iter().filter(|each| each.action == Action::List);
    let wrong = |listing: &Operation, name: u64| {
        let listed = history.list_of(listing).contains(&name);
        let removal = removed(name);
        let there =
            before(&created(history, name), listing) && removal.is_none_or(|each| before(listing, each));
        let gone = removal.is_some_and(|each| each.outcome == Outcome::Ok && before(each, listing));
        (there && !listed) || (gone && listed)
    };
    listings.map(|listing| (1..=4).filter(|&name| wrong(listing, name)).count() as u64).sum()
}
