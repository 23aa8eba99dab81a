//! Linearizability by trying every order, from the sequential meaning of each operation. Written apart from the
//! checker, for small histories of one object, without any cleverness that could be wrong in the same way.

#![allow(dead_code, reason = "each test binary uses what it needs")]

use leadline_history::{Action, History, Kind, Operation, Outcome, EEXIST, ENOENT, NEVER};

/// What an object is at an instant.
#[derive(Clone, PartialEq, Eq)]
pub enum State {
    Value(u64),
    Records(Vec<u64>),
}

impl State {
    pub fn at_first(kind: Kind) -> Self {
        match kind {
            Kind::AppendLog => Self::Records(Vec::new()),
            Kind::NamePair => Self::Value(1),
            _ => Self::Value(0),
        }
    }
}

/// The state after an operation that answered so, were it to happen now; None when it could not answer so.
pub fn apply(state: &State, operation: &Operation, list: &[u64]) -> Option<State> {
    match state {
        State::Value(value) => apply_to_value(*value, operation).map(State::Value),
        State::Records(records) => apply_to_records(records, operation, list).map(State::Records),
    }
}

fn apply_to_value(value: u64, operation: &Operation) -> Option<u64> {
    let Operation { action, outcome, errno, value_in, value_out, kind, .. } = *operation;
    let only_if = |holds: bool, then: u64| holds.then_some(then);
    let answered = outcome == Outcome::Ok;
    match (kind, action, outcome) {
        (Kind::NamePair, Action::Move, Outcome::Fail) => only_if(errno != ENOENT || value == value_in, value),
        (Kind::NamePair, Action::Move, _) => only_if(value == 3 - value_in, value_in),
        (Kind::NamePair, Action::Read, Outcome::Fail) => only_if(errno != ENOENT || value != value_in, value),
        (Kind::NamePair, Action::Read, _) => only_if((value_out != 0) == (value == value_in), value),
        (Kind::LockedCounter, Action::Increment, Outcome::Fail) => Some(value),
        (Kind::LockedCounter, Action::Increment, _) => only_if(!answered || value == value_out, value + 1),
        (_, Action::Create, Outcome::Fail) => only_if(errno != EEXIST || value != 0, value),
        (_, Action::Create, _) => only_if(value == 0, value_in),
        (_, Action::Remove, Outcome::Fail) => only_if(errno != ENOENT || value == 0, value),
        (_, Action::Remove, _) => only_if(value != 0, 0),
        (_, Action::Exists, Outcome::Fail) => only_if(errno != ENOENT || value == 0, value),
        (_, Action::Exists, _) => only_if((value_out != 0) == (value != 0), value),
        (_, Action::Read, Outcome::Fail) => only_if(errno != ENOENT || value == 0, value),
        (_, Action::Read, _) => only_if(value == value_out, value),
        (_, _, Outcome::Fail) => Some(value),
        _ => Some(value_in),
    }
}

fn apply_to_records(records: &[u64], operation: &Operation, list: &[u64]) -> Option<Vec<u64>> {
    let mut records = records.to_vec();
    match (operation.action, operation.outcome) {
        (_, Outcome::Fail) => Some(records),
        (Action::Append, _) => {
            records.push(operation.value_in);
            Some(records)
        }
        (Action::Length, _) => (records.len() as u64 == operation.value_out).then_some(records),
        _ => (records == list).then_some(records),
    }
}

/// Whether some order of the operations explains all of them.
pub fn is_linearizable(history: &History) -> bool {
    let asks = |operation: &&Operation| operation.outcome != Outcome::Doubt || operation.action.changes();
    let operations: Vec<Operation> = history.operations.iter().filter(asks).copied().collect();
    let kind = history.operations[0].kind;
    try_all(history, &operations, (1 << operations.len()) - 1, &State::at_first(kind))
}

fn try_all(history: &History, operations: &[Operation], left: u32, state: &State) -> bool {
    let remaining = || {
        (0..operations.len()).filter(|place| left & (1 << place) != 0).map(|place| (place, operations[place]))
    };
    if remaining().all(|(_, operation)| operation.end_ns == NEVER) {
        return true;
    }
    let first_end = remaining().map(|(_, operation)| operation.end_ns).min().unwrap_or(NEVER);
    let mut can_be_next = remaining().filter(|(_, operation)| operation.start_ns <= first_end);
    can_be_next.any(|(place, operation)| {
        let next = apply(state, &operation, history.list_of(&operation));
        next.is_some_and(|next| try_all(history, operations, left & !(1 << place), &next))
    })
}
