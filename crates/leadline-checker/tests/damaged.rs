//! Histories that were cut off, corrupted or nonsense from the start: a sentence or a history that is not whole, never a
//! panic, and never a violation that is not there.

mod randomness;
mod simulated;

use leadline_checker::{check, Limits, Report, Verdict};
use leadline_history::{
    read_history, write_history, Content, Flaw, Header, History, Kind, Moment, Operation, Outcome, NEVER,
};
use proptest::prelude::*;
use proptest::sample::select;
use randomness::Dice;
use simulated::simulate;

/// The farthest time that is no flaw.
const FARTHEST_NS: i64 = (1 << 62) - (1 << 34);

fn judged(history: &History) -> Result<Report, Flaw> {
    check(history, &Limits { configurations: 10_000, threads: Some(1), ..Limits::default() })
}

/// What one client of a run in which nothing went wrong wrote down, and all others did.
fn clean_files(kind: Kind, seed: u64) -> Vec<Vec<u8>> {
    let mut history = History::default();
    (0..5).for_each(|object| simulate(&mut Dice::new(seed + object), kind, object, 45, None, &mut history));
    let clients = 0..=history.operations.iter().map(|each| each.client).max().unwrap_or(0);
    clients
        .map(|client| {
            let mut own = History::default();
            for each in history.operations.iter().filter(|each| each.client == client) {
                own.push_list(*each, history.list_of(each));
            }
            let mut bytes = Vec::new();
            write_history(&Header::of_run(1), &own, &mut bytes).expect("memory takes everything");
            bytes
        })
        .collect()
}

fn any_operation(kind: Kind) -> impl Strategy<Value = Operation> {
    let time = select(vec![i64::MIN, -FARTHEST_NS, -1, 0, 3, 5, 9, 20, FARTHEST_NS, NEVER - 1, NEVER]);
    let end = select(vec![i64::MIN, 0, 3, 6, 9, 20, 30, FARTHEST_NS, NEVER]);
    let actions = select(kind.actions().to_vec());
    let which =
        (actions, select(Outcome::ALL.to_vec()), select(Content::ALL.to_vec()), select(Moment::ALL.to_vec()));
    let numbers =
        (0u64..3, 0u64..12, select(vec![0, 1, 2, 3, 5, 7, u64::MAX]), 0u16..4, select(vec![0, 2, 17]));
    let doubtful = (select(vec![0, 1, u32::MAX]), any::<bool>(), prop::bool::weighted(0.7));
    (time, end, which, numbers, doubtful).prop_map(move |(start, end, which, numbers, doubtful)| {
        let ((action, outcome, content, moment), (object, value_in, value_out, client, errno)) =
            (which, numbers);
        let (clock_error_ns, primed, proper) = doubtful;
        let end = if proper && outcome == Outcome::Doubt { NEVER } else { end };
        let span = if proper { (start.min(end), start.max(end)) } else { (start, end) };
        let plain = Operation::new(kind, object, client, action, span).giving(value_in).getting(value_out);
        Operation { outcome, content, moment, errno, clock_error_ns, primed, ..plain }
    })
}

fn any_history() -> impl Strategy<Value = History> {
    select(Kind::ALL.to_vec()).prop_flat_map(|kind| {
        let lists = prop::collection::vec(0u64..6, 0..4);
        let operations = prop::collection::vec((any_operation(kind), lists), 1..12);
        operations.prop_map(|operations| {
            let mut history = History::default();
            operations.iter().for_each(|(operation, list)| history.push_list(*operation, list));
            history
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_to_a_clean_history_is_never_called_a_violation(
        kind in select(Kind::ALL.to_vec()),
        seed: u64,
        which in 0usize..4,
        cut in prop::option::of(0usize..60_000),
        flips in prop::collection::vec((0usize..60_000, 1u8..), 0..4),
    ) {
        let mut files = clean_files(kind, seed >> 8);
        let damaged = which % files.len();
        let file = &mut files[damaged];
        file.truncate(cut.map_or(file.len(), |cut| cut % file.len()));
        for (place, change) in flips {
            let length = file.len().max(1);
            file.iter_mut().skip(place % length).take(1).for_each(|byte| *byte ^= change);
        }
        let mut all = History::default();
        for bytes in &files {
            // A file of which not even the header is whole is refused by name, and nothing is judged.
            let Ok(reading) = read_history(&mut &bytes[..]) else { return Ok(()) };
            all.join(&reading.history);
        }
        for line in judged(&all).expect("what could be read is sound").lines {
            prop_assert_ne!(line.verdict, Verdict::Violated, "{:?}", line);
        }
    }

    #[test]
    fn nonsense_is_refused_or_judged_and_nobody_panics(history in any_history()) {
        let mut bytes = Vec::new();
        write_history(&Header::of_run(1), &history, &mut bytes).expect("memory takes everything");
        let read = read_history(&mut &bytes[..]).expect("the header is whole").history;
        prop_assert!(read == history);
        if let Ok(report) = judged(&read) {
            prop_assert_eq!(report.operations, history.operations.len() as u64);
        }
    }

    #[test]
    fn bytes_that_are_no_history_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(read_history(&mut &bytes[..]).is_err());
    }
}

#[test]
fn nonsense_is_often_enough_sound_to_be_judged() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let drawn = (0..600).map(|_| any_history().new_tree(&mut runner).expect("it can be drawn").current());
    let sound = drawn.filter(|history| judged(history).is_ok()).count();
    assert!(sound > 30, "only {sound} of 600");
}
