//! How long a check takes, for benchmarks/checker_speed.py: makes histories and prints one line of JSON for each.
//!
//! ```text
//! checker_speed register 4000000 1 16      operations, objects, clients
//! checker_speed entry 1000000 1000 8
//! ```
//!
//! Operations of a client follow each other; those of different clients overlap. Every history is right but for one
//! stale read in the last object, which must be found: a check that is fast because it looks away fails here.

use std::process::exit;
use std::time::Instant;

use leadline_checker::{check, Guarantee, Limits};
use leadline_history::{Action, History, Kind, Operation, EEXIST, ENOENT, NOTHING};

/// Time between the instants of two operations that follow each other.
const STEP: i64 = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| {
        arguments.get(place).and_then(|text| text.parse::<u64>().ok()).filter(|count| *count > 0)
    };
    let kind = match arguments.first().map(String::as_str) {
        Some("register") => Kind::Register,
        Some("entry") => Kind::Entry,
        _ => refuse(),
    };
    let (Some(operations), Some(objects), Some(clients)) = (number(1), number(2), number(3)) else {
        refuse()
    };
    let mut history = History::default();
    for object in 0..objects {
        add_object(kind, object, operations / objects, clients, &mut history);
    }
    plant(&mut history);
    let begin = Instant::now();
    let report = check(&history, &Limits::default()).unwrap_or_else(|flaw| panic!("{flaw}"));
    let seconds = begin.elapsed().as_secs_f64();
    let line = report.line(kind, Guarantee::Linearizable).expect("it concerns both kinds");
    let (violating, undecided) = (line.objects_violating, line.objects_undecided);
    println!(
        "{{\"operations\": {}, \"objects\": {}, \"clients\": {clients}, \"seconds\": {seconds}, \
         \"violating\": {violating}, \"undecided\": {undecided}}}",
        report.operations, report.objects
    );
}

fn refuse() -> ! {
    eprintln!("checker_speed wants a kind (register or entry), operations, objects and clients, all above 0");
    exit(2)
}

/// Random numbers that depend on their number only.
fn word(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

fn add_object(kind: Kind, object: u64, operations: u64, clients: u64, history: &mut History) {
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
fn plant(history: &mut History) {
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
