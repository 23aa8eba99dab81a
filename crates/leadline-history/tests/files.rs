//! Histories as files: what comes back, and what is said when a file is cut off or corrupted.

use leadline_history::{
    read_history, write_history, Action, Header, History, Kind, Operation, Reading, Unreadable,
};
use proptest::prelude::*;

fn log_of(records: u64) -> History {
    let mut history = History::default();
    for number in 1..=records {
        let span = (number as i64 * 10, number as i64 * 10 + 5);
        history.push(Operation::new(Kind::AppendLog, 3, 0, Action::Append, span).giving(number));
        let list: Vec<u64> = (1..=number % 7).collect();
        history.push_list(Operation::new(Kind::AppendLog, 3, 1, Action::Read, span), &list);
    }
    history
}

fn bytes_of(history: &History) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_history(&Header::of_run(7), history, &mut bytes).expect("memory takes everything");
    bytes
}

fn read(bytes: &[u8]) -> Reading {
    read_history(&mut &bytes[..]).expect("the header is whole")
}

#[test]
fn what_was_written_is_read_back() {
    let history = log_of(10_000);
    let reading = read(&bytes_of(&history));
    assert_eq!(reading.damage, None);
    assert_eq!(reading.header.run, 7);
    assert!(reading.history == history);
}

#[test]
fn a_file_without_its_end_is_used_up_to_its_last_whole_block() {
    let history = log_of(10_000);
    let bytes = bytes_of(&history);
    let reading = read(&bytes[..bytes.len() - 30]);
    assert!(!reading.history.whole);
    assert!(reading.history.operations == history.operations[..16_384]);
    let sentence = reading.damage.expect("it is cut off").to_string();
    assert!(sentence.starts_with("the history is cut off after block 4: the 16384 operations"), "{sentence}");
}

#[test]
fn a_flipped_bit_ends_what_is_used_before_its_block() {
    let mut bytes = bytes_of(&log_of(10_000));
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    let reading = read(&bytes);
    assert!(!reading.history.whole && reading.history.operations.len() % 4096 == 0);
    assert!(reading.damage.expect("it is corrupted").0.contains("is corrupted"));
}

#[test]
fn a_file_that_lost_whole_blocks_is_not_taken_for_whole() {
    let (short, long) = (bytes_of(&log_of(0)), bytes_of(&log_of(10)));
    let header_bytes = short.len() - 24;
    let spliced = [&short[..header_bytes], &long[long.len() - 24..]].concat();
    assert!(read(&spliced).damage.expect("operations are missing").0.contains("misses operations"));
}

#[test]
fn files_of_other_formats_and_versions_are_refused_in_a_sentence() {
    let foreign = |bytes: &[u8]| match read_history(&mut &bytes[..]) {
        Err(Unreadable::Foreign(sentence)) => sentence,
        other => panic!("{other:?}"),
    };
    assert!(foreign(b"").contains("not a leadline history"));
    assert!(foreign(b"PAR1\n").contains("not a leadline history"));
    let newer = serde_json::to_vec(&Header { version: 2, ..Header::of_run(0) }).expect("plain JSON");
    assert!(foreign(&newer).contains("of version 2"));
}

#[test]
fn two_files_put_together_keep_their_lists() {
    let mut both = log_of(9);
    let second = log_of(5);
    both.join(&second);
    let last = both.operations.last().expect("there are operations");
    assert_eq!(both.list_of(last), second.list_of(second.operations.last().expect("there are operations")));
}

proptest! {
    #[test]
    fn no_cut_and_no_damage_brings_operations_that_were_not_written(
        cut in 0usize..20_000, place in 0usize..20_000, change: u8
    ) {
        let history = log_of(70);
        let mut bytes = bytes_of(&history);
        let header_bytes = bytes.iter().position(|&byte| byte == b'\n').expect("a header") + 1;
        bytes.truncate(header_bytes.max(bytes.len().saturating_sub(cut)));
        let place = header_bytes + place % (bytes.len() - header_bytes).max(1);
        if let Some(byte) = bytes.get_mut(place) {
            *byte ^= change;
        }
        let reading = read(&bytes);
        let used = reading.history.operations.len();
        prop_assert!(reading.history.operations[..] == history.operations[..used]);
        prop_assert_eq!(reading.history.whole, used == history.operations.len() && reading.damage.is_none());
    }
}
