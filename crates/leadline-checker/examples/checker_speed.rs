//! How long a check takes, for benchmarks/checker_speed.py: makes histories and prints one line of JSON for each.
//!
//! ```text
//! checker_speed register 4000000 1 16      operations, objects, clients
//! checker_speed entry 1000000 1000 8
//! ```
//!
//! Every history is right but for one
//! stale read in the last object, which must be found: a check that is fast because it looks away fails here.

mod long;

use std::process::exit;
use std::time::Instant;

use leadline_checker::{check, Guarantee, Limits};
use leadline_history::{History, Kind};
use long::{add_object, plant};

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
