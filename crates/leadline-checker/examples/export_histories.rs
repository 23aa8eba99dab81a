//! Writes histories down as text, each with what this checker says of it, for tools/porcupine.
//!
//! ```text
//! export_histories small register 20000 1       random histories of 2 to 8 operations, half of them spoilt; a seed
//! export_histories long register 10000 16       one history of one object; clients
//! ```
//!
//! A history is one line that says what follows, and one line for each operation:
//!
//! ```text
//! history <kind> <operations> <held|violated> <nanoseconds that the check took>
//! <action> <outcome> <errno> <value in> <value out> <start> <end> <values of its list, with commas, or ->
//! ```

#[path = "../tests/brute_force/mod.rs"]
mod brute_force;
#[path = "../tests/drawn/mod.rs"]
mod drawn;
mod long;
#[path = "../tests/randomness/mod.rs"]
mod randomness;

use std::io::{self, BufWriter, Write};
use std::process::exit;
use std::time::Instant;

use drawn::ORDERED;
use leadline_checker::{check, Guarantee, Limits};
use leadline_history::{first_flaw, Content, History, Kind, Operation};
use randomness::Dice;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| arguments.get(place).and_then(|text| text.parse::<u64>().ok());
    let named = |name: &String| ORDERED.into_iter().find(|kind| name_of(*kind) == *name);
    let kind = arguments.get(1).and_then(named);
    let mut out = BufWriter::new(io::stdout().lock());
    match (arguments.first().map(String::as_str), kind, number(2), number(3)) {
        (Some("small"), Some(kind), Some(count), Some(seed)) => export_small(kind, count, seed, &mut out)?,
        (Some("long"), Some(kind), Some(operations), Some(clients)) => {
            let mut history = History::default();
            long::add_object(kind, 1, operations, clients, &mut history);
            export(kind, &history, &mut out)?;
        }
        _ => {
            eprintln!("export_histories wants small, a kind, a count and a seed; or long, a kind, operations and clients");
            exit(2)
        }
    }
    out.flush()
}

/// The word in JSON, and so in every file of the project.
fn name_of(kind: Kind) -> String {
    serde_json::to_value(kind).ok().and_then(|name| name.as_str().map(str::to_string)).unwrap_or_default()
}

/// What is torn or written twice has no meaning to an order of values, so that it is left out.
fn export_small(kind: Kind, count: u64, seed: u64, out: &mut impl Write) -> io::Result<()> {
    let whole = |history: &History| history.operations.iter().all(|each| each.content == Content::Whole);
    let numbers = seed << 32..;
    let drawn = numbers.map(|number| drawn::history(&mut Dice::new(number), kind, 1));
    let sound = drawn.filter(|history| whole(history) && first_flaw(history).is_none());
    sound.take(count as usize).try_for_each(|history| export(kind, &history, out))
}

fn export(kind: Kind, history: &History, out: &mut impl Write) -> io::Result<()> {
    let begin = Instant::now();
    let report = check(history, &Limits { threads: Some(1), ..Limits::default() }).expect("it is sound");
    let took_ns = begin.elapsed().as_nanos();
    let line = report.line(kind, Guarantee::Linearizable).expect("it concerns every kind with an order");
    let verdict = match (line.objects_undecided, line.objects_violating) {
        (0, 0) => "held",
        (0, _) => "violated",
        _ => "undecided",
    };
    writeln!(out, "history {} {} {verdict} {took_ns}", name_of(kind), history.operations.len())?;
    history.operations.iter().try_for_each(|each| export_operation(history, each, out))
}

fn export_operation(history: &History, each: &Operation, out: &mut impl Write) -> io::Result<()> {
    let Operation { action, outcome, errno, value_in, value_out, start_ns, end_ns, .. } = *each;
    let list: Vec<String> = history.list_of(each).iter().map(u64::to_string).collect();
    let list = if list.is_empty() { "-".to_string() } else { list.join(",") };
    writeln!(out, "{action:?} {outcome:?} {errno} {value_in} {value_out} {start_ns} {end_ns} {list}")
}
