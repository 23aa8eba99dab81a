//! Witnesses in words: who did what, when, and how long after what.

use std::collections::BTreeMap;

use leadline_history::{Action, Kind, Operation, Outcome, NOTHING};

use crate::anomaly::Anomaly;
use crate::findings::Undecided;

/// "client 1 read 5 at 41.2 ms, 12.0 ms after client 0's write of 7 was acknowledged", and what that is.
pub(crate) fn of_witness(anomaly: Anomaly, operations: &[&Operation], begin_ns: i64) -> String {
    let Some((last, before)) = operations.split_last() else { return of_anomaly(anomaly).to_string() };
    let at = milliseconds(last.start_ns - begin_ns);
    let told = format!("client {} {} at {at}", last.client, done(last));
    let answered = before.iter().filter(|operation| operation.end_ns < last.start_ns);
    let previous = answered.max_by_key(|operation| operation.end_ns).map(|operation| {
        let after = milliseconds(last.start_ns - operation.end_ns);
        format!(", {after} after client {} {} and had its answer", operation.client, done(operation))
    });
    format!("{}: {told}{}", of_anomaly(anomaly), previous.unwrap_or_default())
}

fn milliseconds(ns: i64) -> String {
    let value = ns as f64 / 1e6;
    if value < 1.0 {
        format!("{value:.3} ms")
    } else {
        format!("{value:.1} ms")
    }
}

fn done(operation: &Operation) -> String {
    let what = match operation.action {
        Action::Write => format!("wrote {}", operation.value_in),
        Action::Append => format!("appended {}", operation.value_in),
        Action::Create => format!("created {}", operation.value_in),
        Action::Replace => format!("renamed {} over the name", operation.value_in),
        Action::Remove if operation.kind == Kind::Directory => format!("removed {}", operation.value_in),
        Action::Remove => "removed the name".to_string(),
        Action::Move => format!("renamed it to name {}", operation.value_in),
        Action::Increment => format!("raised {} to {}", operation.value_out, operation.value_in),
        Action::Length => format!("found {} records", operation.value_out),
        Action::List => format!("listed {} names", operation.values_count),
        Action::Exists => {
            (if operation.value_out == NOTHING { "found no name" } else { "found the name" }).to_string()
        }
        Action::Read => seen(operation),
    };
    match operation.outcome {
        Outcome::Ok => what,
        Outcome::Fail => format!("{what} in vain (errno {})", operation.errno),
        Outcome::Doubt => format!("{what} without an answer"),
    }
}

fn seen(operation: &Operation) -> String {
    match (operation.kind, operation.value_out) {
        (Kind::AppendLog, _) => format!("read {} records", operation.values_count),
        (Kind::NamePair, NOTHING) => format!("found nothing under name {}", operation.value_in),
        (Kind::NamePair, _) => format!("found it under name {}", operation.value_in),
        (Kind::Entry, NOTHING) => "found no name".to_string(),
        (_, NOTHING) => "read what was there at the beginning".to_string(),
        (_, value) => format!("read {value}"),
    }
}

fn of_anomaly(anomaly: Anomaly) -> &'static str {
    match anomaly {
        Anomaly::Invented => "nobody wrote this",
        Anomaly::RefusedButHappened => "the write was refused and is there all the same",
        Anomaly::FromTheFuture => "read before it was written",
        Anomaly::Torn => "parts of two values in one block",
        Anomaly::ZeroFilled => "zeros where something was written",
        Anomaly::Damaged => "bytes that nobody wrote",
        Anomaly::Stale => "stale",
        Anomaly::Vanished => "a name that nobody removed did not exist",
        Anomaly::WentBack => "a client saw something older than before",
        Anomaly::OwnWriteMissing => "a client did not see what it had written itself",
        Anomaly::Lost => "acknowledged and lost for good",
        Anomaly::LostUpdate => "two increments began with the same number",
        Anomaly::Resurrected => "removed and there all the same",
        Anomaly::Duplicated => "there twice",
        Anomaly::Reordered => "not in the order in which they were appended",
        Anomaly::Forked => "what was read is not how the final log begins",
        Anomaly::NotExclusive => "two succeeded where one can",
        Anomaly::HalfRenamed => "a rename was seen half done",
        Anomaly::Diverged => "clients see different things after all has settled",
        Anomaly::NoOrder => "no order of these operations explains what they answered",
    }
}

/// Why objects could not be decided, with how many for each reason.
pub(crate) fn of_undecided(reasons: &BTreeMap<Undecided, u64>) -> String {
    let told = reasons.iter().map(|(why, count)| {
        let objects = if *count == 1 { "object" } else { "objects" };
        let because = match why {
            Undecided::Clocks => "look violated by less than the clocks may be off",
            Undecided::Effort => "would take too long: too many changes overlap",
            Undecided::Missing => "look violated, but operations are missing that may excuse it",
        };
        format!("{count} {objects} {because}")
    });
    told.collect::<Vec<_>>().join("; ")
}
