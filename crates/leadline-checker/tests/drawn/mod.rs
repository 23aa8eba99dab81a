//! Small random histories of one object: an execution that is right, half of them spoilt in one to three places.

#![allow(dead_code, reason = "each test binary uses what it needs")]

use leadline_history::{Action, Content, History, Kind, Moment, Operation, Outcome, EEXIST, ENOENT};

use crate::brute_force::State;
use crate::randomness::Dice;

/// The kinds for which an order of all operations is asked.
pub const ORDERED: [Kind; 7] = [
    Kind::Register,
    Kind::Attribute,
    Kind::SessionFile,
    Kind::AppendLog,
    Kind::Entry,
    Kind::NamePair,
    Kind::LockedCounter,
];

/// When the last operation has ended at the latest.
pub const LONGEST: i64 = 30;

/// A history of one object of this kind.
pub fn history(dice: &mut Dice, kind: Kind, object: u64) -> History {
    let mut operations = planned(dice, kind, object);
    operations.sort_by_key(|(instant, _)| *instant);
    let mut state = State::at_first(kind);
    let mut history = History::default();
    let mut plan: Vec<Operation> = operations.into_iter().map(|(_, operation)| operation).collect();
    for operation in &mut plan {
        let list = answer(dice, &mut state, operation);
        history.push_list(*operation, &list);
    }
    // After everything, wherever it was moved to: a final read that is not the last tells nothing.
    let last = (2 * LONGEST + 1, 2 * LONGEST + 2);
    let last = Operation::new(kind, object, 9, Action::Read, last).at(Moment::Final);
    if kind == Kind::AppendLog {
        push_last(dice, &mut history, last, &state);
    }
    if dice.chance(500) {
        (0..=dice.below(3)).for_each(|_| spoil(dice, &mut history));
    }
    history
}

fn push_last(dice: &mut Dice, history: &mut History, mut last: Operation, state: &State) {
    let lengths = history.operations.iter().any(|operation| operation.action == Action::Length);
    if lengths || dice.chance(800) {
        let list = answer(dice, &mut state.clone(), &mut last);
        history.push_list(last, &list);
    }
}

/// Operations with the instants at which they shall happen.
fn planned(dice: &mut Dice, kind: Kind, object: u64) -> Vec<(i64, Operation)> {
    let count = 2 + dice.below(6);
    let widest = dice.one_of(&[2, 6, 15]);
    let mut plan = Vec::new();
    for number in 1..=count {
        let start = dice.between(0, LONGEST - widest);
        let end = start + dice.between(0, widest);
        let action = dice.one_of(kind.actions());
        let client = dice.below(3) as u16;
        let mut operation = Operation::new(kind, object, client, action, (start, end));
        operation.primed = dice.chance(200);
        operation.value_in = match (kind, action) {
            (Kind::NamePair, _) => 1 + dice.below(2),
            (Kind::LockedCounter, _) => 0,
            _ if action.brings_value() => number,
            _ => 0,
        };
        plan.push((dice.between(start, end), operation));
        if action.changes() && dice.chance(100) {
            let doubt = plan.last_mut().expect("it was just put there");
            doubt.1 = doubt.1.in_doubt();
            doubt.0 = dice.between(start, 2 * LONGEST);
        }
    }
    plan
}

/// Lets an operation happen and writes down what it answers.
fn answer(dice: &mut Dice, state: &mut State, operation: &mut Operation) -> Vec<u64> {
    match state {
        State::Value(value) => {
            answer_value(dice, value, operation);
            Vec::new()
        }
        State::Records(records) => {
            if operation.action == Action::Append {
                records.push(operation.value_in);
            }
            operation.value_out = if operation.action == Action::Length { records.len() as u64 } else { 0 };
            if operation.action == Action::Read {
                records.clone()
            } else {
                Vec::new()
            }
        }
    }
}

fn answer_value(dice: &mut Dice, value: &mut u64, operation: &mut Operation) {
    let doubt = operation.outcome == Outcome::Doubt;
    let refuse = |operation: &mut Operation, errno| {
        if !doubt {
            *operation = operation.refused(errno);
        }
    };
    match (operation.kind, operation.action) {
        (Kind::NamePair, Action::Read) => operation.value_out = u64::from(*value == operation.value_in),
        (Kind::NamePair, _) if *value == operation.value_in => refuse(operation, ENOENT),
        (Kind::LockedCounter, Action::Increment) => {
            (operation.value_out, operation.value_in) = (*value, *value + 1);
            *value += 1;
        }
        (_, Action::Create) if *value != 0 => refuse(operation, EEXIST),
        (_, Action::Remove) if *value == 0 => refuse(operation, ENOENT),
        (_, Action::Remove) => *value = 0,
        (_, Action::Exists) => operation.value_out = u64::from(*value != 0),
        (_, Action::Read) => operation.value_out = *value,
        _ => *value = operation.value_in,
    }
    let leads_nowhere =
        operation.kind == Kind::Entry && !operation.action.changes() && operation.value_out == 0;
    if leads_nowhere && dice.chance(300) {
        *operation = operation.refused(ENOENT);
    }
}

/// Makes one thing wrong, or only different.
fn spoil(dice: &mut Dice, history: &mut History) {
    let place = dice.below(history.operations.len() as u64) as usize;
    let operation = &mut history.operations[place];
    let answered = operation.outcome != Outcome::Doubt;
    match dice.below(6) {
        0 if answered && operation.moment == Moment::During => {
            let shift = dice.between(-LONGEST / 2, LONGEST / 2);
            (operation.start_ns, operation.end_ns) = (operation.start_ns + shift, operation.end_ns + shift);
        }
        1 if operation.outcome == Outcome::Fail && !operation.action.brings_value() => {
            operation.outcome = Outcome::Ok
        }
        2 if operation.kind == Kind::AppendLog => spoil_list(dice, history, place),
        3 if operation.action == Action::Read && operation.kind == Kind::Register && dice.chance(50) => {
            operation.content = Content::Torn;
        }
        _ if !operation.action.changes() || operation.action == Action::Increment => {
            operation.value_out = dice.below(5);
        }
        _ => {}
    }
}

fn spoil_list(dice: &mut Dice, history: &mut History, place: usize) {
    let operation = history.operations[place];
    let mut list = history.list_of(&operation).to_vec();
    if list.is_empty() {
        return;
    }
    let at = dice.below(list.len() as u64) as usize;
    match dice.below(4) {
        0 => list.truncate(at),
        1 => {
            list.remove(at);
        }
        2 => list.push(list[at]),
        _ => list.swap(0, at),
    }
    history.operations.remove(place);
    history.push_list(operation, &list);
}
