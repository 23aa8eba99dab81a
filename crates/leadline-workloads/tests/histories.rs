//! Two clients on one directory of this machine, which holds everything; and what becomes of what goes wrong.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::thread;

use leadline_attempts::attempts;
use leadline_history::{
    first_flaw, read_history, Action, Content, History, Kind, Moment, Operation, Outcome,
};
use leadline_workloads::histories::{flavour::Flavour, outcome::HistoriesOutcome, Histories};
use leadline_workloads::Workload;
use serde_json::json;

/// What a whole file holds, unless another size is asked for.
const BLOCK_BYTES: u64 = 64;

fn step(place: &Path, client: u16, more: serde_json::Value) -> Histories {
    let mut fields = json!({
        "directory": place.join("objects"),
        "history": place.join(format!("{client}.history")),
        "client": client,
        "clients": 2,
        "workers": 2,
        "runtime_ns": 300_000_000,
        "slot_ns": 100_000_000,
        "rest_ns": 200_000,
    });
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(fields).unwrap()
}

fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("objects")).unwrap();
    place
}

fn read(place: &Path, client: u16) -> History {
    let file = File::open(place.join(format!("{client}.history"))).unwrap();
    let reading = read_history(&mut BufReader::new(file)).unwrap();
    assert_eq!(reading.damage, None);
    reading.history
}

/// Runs one client without barriers to the end.
fn alone(place: &Path, more: serde_json::Value) -> (HistoriesOutcome, History) {
    let outcome = step(place, 0, more).perform().unwrap();
    (outcome, read(place, 0))
}

/// Two clients at once and a witness after them: what all three recorded.
fn of_two_clients_and_a_witness() -> History {
    let place = place();
    let (first, second) = (step(place.path(), 0, json!({})), step(place.path(), 1, json!({})));
    thread::scope(|scope| {
        let running = scope.spawn(|| first.perform().unwrap());
        // Without barriers, the second comes when the last object is there.
        while fs::read_dir(place.path().join("objects")).unwrap().count() < 3 * 2 * 11 {
            thread::yield_now();
        }
        second.perform().unwrap();
        running.join().unwrap();
    });
    let witness = step(place.path(), 2, json!({"witness": true}));
    witness.perform().unwrap();
    let mut all = History::default();
    (0..3).for_each(|client| all.join(&read(place.path(), client)));
    all
}

/// Kinds that were not looked at in every moment, or that the second client did not change.
fn missing_kinds(all: &History) -> Vec<Kind> {
    let is_whole = |kind: &Kind| {
        let of_kind = || all.operations.iter().filter(|each| each.kind == *kind);
        let in_moment = |moment: &Moment| of_kind().any(|each| each.moment == *moment);
        Moment::ALL.iter().all(in_moment) && of_kind().any(|each| each.client == 1 && each.action.changes())
    };
    Kind::ALL.iter().copied().filter(|kind| !is_whole(kind)).collect()
}

#[test]
fn what_is_recorded_fulfils_what_every_history_must_and_holds_all_kinds() {
    let measure = || {
        let all = of_two_clients_and_a_witness();
        assert_eq!(first_flaw(&all), None);
        assert!(all.operations.iter().all(|each| each.outcome != Outcome::Doubt));
        all
    };
    let all = attempts(measure, |all| missing_kinds(all).is_empty());
    assert_eq!(missing_kinds(&all), []);
}

/// How often each of two objects that take turns was written, and how much later the second was first read.
fn turns() -> ([usize; 2], i64) {
    let place = place();
    let more = json!({"flavours": ["mode"], "objects_at_a_time": 1, "clients": 1, "rest_ns": 1000, "runtime_ns": 200_000_000});
    let (_, history) = alone(place.path(), more);
    let written = [0, 1].map(|object| {
        let written = |each: &&Operation| each.object == object && each.action == Action::Write;
        let values: Vec<u64> = history.operations.iter().filter(written).map(|each| each.value_in).collect();
        assert!(values.iter().all(|value| (1..=0o777).contains(value)));
        values.len()
    });
    let begin = |object| {
        let of_object = |each: &&Operation| {
            each.object == object && each.moment == Moment::During && each.action == Action::Read
        };
        history.operations.iter().filter(of_object).map(|each| each.start_ns).min()
    };
    let later_ns = begin(0).zip(begin(1)).map_or(0, |(first, second)| second - first);
    (written, later_ns)
}

#[test]
fn no_object_sees_more_changes_than_its_share_and_other_objects_take_turns() {
    let are_turns =
        |written: &[usize; 2], later_ns| written.iter().all(|&count| count > 10) && later_ns > 50_000_000;
    let (written, later_ns) = attempts(turns, |(written, later_ns)| are_turns(written, *later_ns));
    assert!(are_turns(&written, later_ns), "{written:?} writes, the second object {later_ns} ns later");
}

#[test]
fn the_same_seed_chooses_the_same_and_another_one_does_not() {
    let chosen = |seed: u64| {
        let measure = || {
            let place = place();
            let more = json!({"workers": 1, "clients": 1, "seed": seed, "slot_ns": 300_000_000});
            let (_, history) = alone(place.path(), more);
            let during = history.operations.into_iter().filter(|each| each.moment == Moment::During);
            during.map(|each| (each.object, each.action)).take(150).collect::<Vec<_>>()
        };
        attempts(measure, |chosen| chosen.len() > 20)
    };
    let (first, again, other) = (chosen(1), chosen(1), chosen(2));
    let least = first.len().min(again.len()).min(other.len()); // a busy machine gets less done
    assert!(least > 20, "{least}");
    assert_eq!(first[..least], again[..least]);
    assert_ne!(first[..least], other[..least]);
}

#[test]
fn a_place_where_nothing_can_be_made_is_refused() {
    let place = place();
    let nothing_can_be_made_here = Path::new("/proc/self");
    let step = step(place.path(), 0, json!({"directory": nothing_can_be_made_here, "clients": 1}));
    let refusal = step.perform().unwrap_err();
    assert!(refusal.0.starts_with("in /proc/self no object of the sort Register can be made"), "{refusal}");
}

/// Whether an object holds neither nothing nor one block, as only a log does, and only once everything is made and the run is on.
fn a_log_has_grown(objects: &Path) -> bool {
    let lengths = fs::read_dir(objects)
        .into_iter()
        .flatten()
        .flatten()
        .map(|each| each.metadata().map_or(0, |known| known.len()));
    lengths.into_iter().any(|length| ![0, BLOCK_BYTES].contains(&length))
}

/// What a run tells whose files all vanish in the midst of it.
fn run_without_files() -> HistoriesOutcome {
    let place = place();
    let more = json!({"clients": 1, "flavours": ["session_file", "append_log"], "runtime_ns": 1_000_000_000});
    let running = step(place.path(), 0, more);
    let objects = place.path().join("objects");
    thread::scope(|scope| {
        let running = scope.spawn(|| running.perform().unwrap());
        while !a_log_has_grown(&objects) {
            thread::yield_now();
        }
        fs::remove_dir_all(&objects).unwrap();
        running.join().unwrap()
    })
}

#[test]
fn files_that_vanish_under_a_run_are_refusals_and_no_doubts() {
    let is_refused = |outcome: &HistoriesOutcome| {
        outcome.failures.iter().any(|each| each.error == "ENOENT" && each.flavour == Flavour::AppendLog)
    };
    let measure = || {
        let outcome = run_without_files();
        assert_eq!((outcome.doubts, outcome.given_up_workers), (0, 0));
        outcome
    };
    assert!(is_refused(&attempts(measure, is_refused)));
}

/// How the settled listing of a directory is that has held one more name since the beginning of the run.
fn listing_with(name: &str) -> Content {
    let place = place();
    let more =
        json!({"clients": 1, "flavours": ["directory"], "objects_at_a_time": 1, "slot_ns": 300_000_000});
    let running = step(place.path(), 0, more);
    thread::scope(|scope| {
        let running = scope.spawn(|| running.perform().unwrap());
        let directory = place.path().join("objects/000000");
        while !directory.exists() {
            thread::yield_now();
        }
        fs::write(directory.join(name), "").unwrap();
        running.join().unwrap();
    });
    let settled = |each: &&Operation| each.moment == Moment::Settled && each.action == Action::List;
    let history = read(place.path(), 0);
    history.operations.iter().find(settled).unwrap().content
}

#[test]
fn what_a_filesystem_hides_in_a_directory_is_none_of_its_names_and_what_nobody_made_is_seen() {
    assert_eq!(listing_with(".nfs0000000000000001"), Content::Whole);
    let foreign = attempts(|| listing_with("somebody else's"), |content| *content == Content::Damaged);
    assert_eq!(foreign, Content::Damaged);
}

#[test]
fn times_are_written_down_by_the_clock_of_the_run() {
    let place = place();
    let shifted =
        json!({"clients": 1, "clock_offset_ns": 1_000_000_000_000_000_000_i64, "clock_error_ns": 77});
    let (_, history) = alone(place.path(), shifted);
    assert!(history
        .operations
        .iter()
        .all(|each| each.start_ns > 1_000_000_000_000_000_000 && each.clock_error_ns == 77));
}

#[test]
fn a_step_that_makes_no_sense_is_refused_in_a_sentence() {
    let place = place();
    for (more, said) in [
        (json!({"client": 2}), "only the witness has the number 2"),
        (json!({"witness": true}), "only the witness has the number 2"),
        (json!({"workers": 0}), "workers must be 1 to 256, and is 0"),
        (json!({"clients": 0}), "clients must be 1 to 64, and is 0"),
        (json!({"block_size_bytes": 24}), "must be a multiple of 16"),
        (json!({"directory": "relative"}), "is no directory with an absolute path"),
        (json!({"slot_ns": 0}), "must be above 0"),
    ] {
        let refusal = step(place.path(), 0, more).perform().unwrap_err();
        assert!(refusal.0.contains(said), "{refusal}");
    }
}
