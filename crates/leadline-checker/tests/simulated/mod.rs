//! A filesystem in virtual time, with one object at a time and at most one fault that has a name. Without a fault
//! it is linearizable: every operation happens at one instant between its call and its answer.

#![allow(dead_code, reason = "each test binary uses what it needs")]

use leadline_history::{Action, Content, History, Kind, Moment, Operation, EEXIST, ENOENT};

use crate::randomness::Dice;

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Clients believe what they have seen for so long.
    StaleCache,
    /// Clients believe for so long that a name does not exist.
    NegativeCache,
    /// Whoever knew a name does not find it for a while after something was renamed over it.
    RenameWindow,
    /// Clients append where they believe that the end is.
    AppendAtCachedSize,
    /// The last change is acknowledged and dropped.
    LostWrite,
    /// One append is dropped although it was acknowledged.
    LostAppend,
    /// What was acknowledged shortly before the end did not survive the crash at the end.
    ForgottenFsync,
    /// An append is made twice.
    DuplicateAppend,
    /// Two records change places.
    ReorderedAppends,
    /// A block holds parts of two values.
    TornBlock,
    /// Zeros instead of the value.
    ZeroTail,
    /// A value that nobody wrote.
    Garbage,
    /// A write is refused and made all the same.
    RefusedWrite,
    /// The object has neither name from the middle of a rename to its end.
    HalfRename,
    /// Every other read comes from a copy that lags.
    LaggingReplica,
    /// A client does not see its own write for a while.
    OwnWriteHidden,
    /// The lock lets two in.
    BrokenLock,
    /// A name can be created although it exists.
    SharedCreate,
    /// One client's cache never expires.
    FrozenClient,
}

const CLIENTS: u16 = 3;
const TIME_TO_LIVE: i64 = 400;
const LONGEST_OPERATION: i64 = 20;
const LONGEST_PAUSE: i64 = 60;

/// What the object is, to those who can see it as it is.
#[derive(Clone, Default)]
struct State {
    value: u64,
    list: Vec<u64>,
}

/// One object and what every client believes of it.
struct World<'a> {
    kind: Kind,
    fault: Option<Fault>,
    dice: &'a mut Dice,
    now: State,
    /// All states with the instants at which they began.
    past: Vec<(i64, State)>,
    believed: Vec<Option<(i64, State)>>,
    blind_until: Vec<i64>,
    tokens: u64,
    changes_left: usize,
    end: i64,
}

/// Adds an object with about so many operations to a history.
pub fn simulate(
    dice: &mut Dice,
    kind: Kind,
    object: u64,
    operations: usize,
    fault: Option<Fault>,
    history: &mut History,
) {
    let plan = planned(dice, kind, object, operations);
    let end = plan.iter().map(|(_, operation)| operation.end_ns).max().unwrap_or(0);
    let first = State { value: u64::from(kind == Kind::NamePair), list: Vec::new() };
    let clients = usize::from(CLIENTS);
    let mut world = World {
        kind,
        fault,
        dice,
        past: vec![(i64::MIN, first.clone())],
        now: first,
        believed: vec![None; clients],
        blind_until: vec![i64::MIN; clients],
        tokens: 0,
        changes_left: plan.iter().filter(|(_, operation)| operation.action.changes()).count(),
        end,
    };
    plan.into_iter().for_each(|(instant, operation)| world.perform(instant, operation, history));
    world.finish(object, history);
}

fn planned(dice: &mut Dice, kind: Kind, object: u64, operations: usize) -> Vec<(i64, Operation)> {
    let mut plan = Vec::new();
    for client in 0..CLIENTS {
        let mut time = dice.between(0, LONGEST_PAUSE);
        for _ in 0..operations / usize::from(CLIENTS) {
            let looks: Vec<Action> =
                kind.actions().iter().copied().filter(|action| !action.changes()).collect();
            let action = if dice.chance(600) { dice.one_of(&looks) } else { dice.one_of(kind.actions()) };
            let renames = if action == Action::Move { 10 * LONGEST_OPERATION } else { 0 };
            let end = time + dice.between(1, LONGEST_OPERATION) + renames;
            let operation = Operation::new(kind, object, client, action, (time, end));
            plan.push((dice.between(time, end), operation));
            time = end + dice.between(1, LONGEST_PAUSE);
        }
    }
    plan.sort_by_key(|(instant, _)| *instant);
    plan
}

impl World<'_> {
    fn perform(&mut self, instant: i64, operation: Operation, history: &mut History) {
        if operation.action.changes() {
            self.changes_left -= 1;
            if let Some(done) = self.change(instant, operation) {
                history.push(done);
            }
        } else {
            let state = self.looked_at(instant, &operation);
            self.report(operation, &state, history);
        }
    }

    fn change(&mut self, instant: i64, operation: Operation) -> Option<Operation> {
        let (client, before) = (usize::from(operation.client), self.now.clone());
        if self.kind == Kind::Entry {
            self.blind_until[client] = i64::MIN; // who changes a name finds it
        }
        let done = self.apply(instant, operation)?;
        if self.dropped(instant, &done) {
            self.now = before;
        } else if self.fault != Some(Fault::OwnWriteHidden) {
            self.believed[client] = Some((instant, self.now.clone()));
        }
        self.past.push((instant, self.now.clone()));
        Some(done)
    }

    fn dropped(&mut self, instant: i64, done: &Operation) -> bool {
        let last = self.changes_left == 0 && done.acknowledged();
        match self.fault {
            Some(Fault::LostWrite) => last,
            Some(Fault::LostAppend) => self.dice.chance(100),
            Some(Fault::ForgottenFsync) => instant > self.end - 6 * LONGEST_PAUSE,
            _ => false,
        }
    }

    /// Changes the object, and says how that was answered; None when there is nothing to be changed.
    fn apply(&mut self, instant: i64, operation: Operation) -> Option<Operation> {
        self.tokens += 1;
        let token = self.tokens;
        let given = operation.giving(token);
        match operation.action {
            Action::Write if self.fault == Some(Fault::RefusedWrite) && self.dice.chance(200) => {
                self.now.value = token;
                return Some(given.refused(5));
            }
            Action::Append => self.append(instant, &operation, token),
            Action::Create if self.kind == Kind::Directory => self.now.list.push(token),
            Action::Remove if self.kind == Kind::Directory => {
                let place = self.dice.below(self.now.list.len().max(1) as u64) as usize;
                return (place < self.now.list.len()).then(|| operation.giving(self.now.list.remove(place)));
            }
            Action::Create if self.now.value != 0 && self.fault != Some(Fault::SharedCreate) => {
                return Some(given.refused(EEXIST));
            }
            Action::Remove if self.now.value == 0 => return Some(operation.refused(ENOENT)),
            Action::Remove => {
                self.now.value = 0;
                return Some(operation);
            }
            Action::Move => return Some(self.rename(operation)),
            Action::Increment => {
                let lag = if self.fault == Some(Fault::BrokenLock) { LONGEST_OPERATION } else { 0 };
                let seen = self.state_at(instant - lag).value;
                self.now.value = seen + 1;
                return Some(operation.getting(seen).giving(seen + 1));
            }
            Action::Replace => {
                self.hide(instant, usize::from(operation.client));
                self.now.value = token;
            }
            _ => self.now.value = token,
        }
        Some(given)
    }

    fn append(&mut self, instant: i64, operation: &Operation, token: u64) {
        let believed = self.believed[usize::from(operation.client)].clone();
        let fresh = believed.filter(|(since, _)| instant < since + TIME_TO_LIVE);
        let list = &mut self.now.list;
        match self.fault {
            Some(Fault::AppendAtCachedSize) => {
                let end = fresh.map_or(list.len(), |(_, state)| state.list.len());
                if end < list.len() {
                    list[end] = token
                } else {
                    list.push(token)
                }
            }
            Some(Fault::DuplicateAppend) if self.dice.chance(100) => list.extend([token, token]),
            Some(Fault::ReorderedAppends) if self.dice.chance(200) => {
                let before = list.len().saturating_sub(3);
                list.insert(before, token);
            }
            _ => list.push(token),
        }
    }

    fn rename(&mut self, operation: Operation) -> Operation {
        let target = 1 + self.dice.below(2);
        let given = operation.giving(target);
        if self.now.value == target {
            return given.refused(ENOENT);
        }
        self.now.value = target;
        if self.fault == Some(Fault::HalfRename) {
            self.blind_until.fill(operation.end_ns);
        }
        given
    }

    fn hide(&mut self, instant: i64, by: usize) {
        if self.fault == Some(Fault::RenameWindow) && self.now.value != 0 {
            for (client, until) in self.blind_until.iter_mut().enumerate() {
                if client != by && self.believed[client].as_ref().is_some_and(|(_, state)| state.value != 0) {
                    *until = instant + TIME_TO_LIVE / 2;
                }
            }
        }
    }

    fn state_at(&self, instant: i64) -> State {
        let after = self.past.partition_point(|(since, _)| *since <= instant);
        self.past[after - 1].1.clone()
    }

    /// What a client sees when it looks.
    fn looked_at(&mut self, instant: i64, operation: &Operation) -> State {
        let client = usize::from(operation.client);
        if instant < self.blind_until[client] && self.now.value != 0 {
            return State::default();
        }
        let believed = self.believed[client].clone().map(|(since, state)| (instant - since, state));
        let believes = |state: &State| match self.fault {
            Some(Fault::NegativeCache) => state.value == 0,
            Some(Fault::StaleCache) => self.kind != Kind::Entry || state.value != 0,
            Some(Fault::OwnWriteHidden | Fault::AppendAtCachedSize) => true,
            Some(Fault::FrozenClient) => client == 0,
            _ => false,
        };
        if let Some((age, state)) = believed.filter(|(_, state)| believes(state)) {
            if age < TIME_TO_LIVE || self.fault == Some(Fault::FrozenClient) {
                return state;
            }
        }
        if self.fault == Some(Fault::LaggingReplica) && self.dice.chance(500) {
            return self.state_at(instant - TIME_TO_LIVE);
        }
        self.believed[client] = Some((instant, self.now.clone()));
        self.now.clone()
    }

    /// Writes down what was seen.
    fn report(&mut self, operation: Operation, state: &State, history: &mut History) {
        let broken = match self.fault {
            Some(Fault::TornBlock) => Some(Content::Torn),
            Some(Fault::ZeroTail) => Some(Content::ZeroFilled),
            _ => None,
        };
        let content = broken.filter(|_| self.dice.chance(50)).unwrap_or(Content::Whole);
        let garbage = self.fault == Some(Fault::Garbage) && self.dice.chance(50);
        let operation = Operation { content, ..operation };
        let mut list = state.list.clone();
        match (self.kind, operation.action) {
            (_, Action::Length) => history.push(operation.getting(list.len() as u64)),
            (Kind::AppendLog | Kind::Directory, _) => {
                if garbage {
                    list.push(1 << 50);
                }
                history.push_list(operation, &list);
            }
            (Kind::NamePair, _) => {
                let name = 1 + self.dice.below(2);
                history.push(operation.giving(name).getting(u64::from(state.value == name)));
            }
            (_, Action::Exists) => history.push(operation.getting(u64::from(state.value != 0))),
            (Kind::Entry, _) if state.value == 0 => history.push(operation.refused(ENOENT)),
            _ => history.push(operation.getting(if garbage { 1 << 50 } else { state.value })),
        }
    }

    /// Everything settles, every client looks once more, and at last one that has nothing cached.
    fn finish(&mut self, object: u64, history: &mut History) {
        let look = if self.kind == Kind::Directory { Action::List } else { Action::Read };
        let settled = self.end + 10 * TIME_TO_LIVE;
        for client in 0..CLIENTS {
            let operation =
                Operation::new(self.kind, object, client, look, (settled, settled + 1)).at(Moment::Settled);
            let state = self.looked_at(settled, &operation);
            self.report_both(operation, &state, history);
        }
        let operation = Operation::new(self.kind, object, CLIENTS, look, (settled + 10, settled + 11));
        let state = self.now.clone();
        self.report_both(operation.at(Moment::Final), &state, history);
    }

    /// A name pair is looked at under both names.
    fn report_both(&mut self, operation: Operation, state: &State, history: &mut History) {
        if self.kind != Kind::NamePair {
            return self.report(operation, state, history);
        }
        for name in [1, 2] {
            history.push(operation.giving(name).getting(u64::from(state.value == name)));
        }
    }
}
