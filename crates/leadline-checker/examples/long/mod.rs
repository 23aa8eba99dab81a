//! Long histories that are right: operations of a client follow each other, those of different clients overlap.

use leadline_history::{Action, History, Kind, Operation, EEXIST, ENOENT, NOTHING};

/// Time between the instants of two operations that follow each other.
const STEP: i64 = 1000;

/// Random numbers that depend on their number only.
fn word(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Adds the operations of one object.
pub fn add_object(kind: Kind, object: u64, operations: u64, clients: u64, history: &mut History) {
    let (mut value, longest) = (NOTHING, (clients as i64 * STEP - 1) / 2);
    for number in 0..operations {
        let dice = word(object << 32 | number);
        let instant = number as i64 * STEP;
        let span =
            (instant - (dice >> 8) as i64 % longest.max(1), instant + (dice >> 24) as i64 % longest.max(1));
        let client = (number % clients) as u16;
        let token = u64::from(client) << 48 | (number + 1);
        let action = kind.actions()[(dice >> 48) as usize % kind.actions().len()];
        let operation = Operation { sequence: number, ..Operation::new(kind, object, client, action, span) };
        history.push(happen(operation, token, &mut value));
    }
}

fn happen(operation: Operation, token: u64, value: &mut u64) -> Operation {
    match operation.action {
        Action::Create if *value != NOTHING => return operation.giving(token).refused(EEXIST),
        Action::Remove if *value == NOTHING => return operation.refused(ENOENT),
        Action::Read if operation.kind == Kind::Entry && *value == NOTHING => {
            return operation.refused(ENOENT)
        }
        Action::Read => return operation.getting(*value),
        Action::Exists => return operation.getting(u64::from(*value != NOTHING)),
        Action::Remove => *value = NOTHING,
        _ => {
            *value = token;
            return operation.giving(token);
        }
    }
    operation
}

/// Makes the last read that can be stale so: it returns what the first read of a value in its object did.
#[allow(dead_code, reason = "only one of the examples spoils them")]
pub fn plant(history: &mut History) {
    let last = history.operations.last().map_or(0, |each| each.object);
    let reads = |each: &&mut Operation| {
        each.object == last && each.action == Action::Read && each.value_out != NOTHING
    };
    let mut reads = history.operations.iter_mut().filter(reads);
    let old = reads.next().map_or(NOTHING, |read| read.value_out);
    if let Some(read) = reads.next_back() {
        read.value_out = old;
    }
}
