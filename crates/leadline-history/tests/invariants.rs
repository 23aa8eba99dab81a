//! What a history must fulfil, and the sentence for each thing that it may not be.

use leadline_history::{first_flaw, Action, History, Kind, Operation, NEVER};

fn write(object: u64, value: u64) -> Operation {
    Operation::new(Kind::Register, object, 0, Action::Write, (10, 20)).giving(value)
}

fn flaw(operations: &[Operation]) -> String {
    let history: History = operations.iter().copied().collect();
    first_flaw(&history).map_or(String::new(), |flaw| flaw.to_string())
}

#[test]
fn a_sound_history_has_no_flaw() {
    assert_eq!(flaw(&[write(1, 5), write(2, 5), write(1, 6).in_doubt(), write(1, 7).refused(28)]), "");
}

#[test]
fn time_may_not_run_backwards() {
    assert!(flaw(&[Operation { end_ns: 4, ..write(1, 5) }]).contains("ends 6 ns before it starts"));
}

#[test]
fn only_a_doubt_is_without_an_end() {
    assert!(flaw(&[Operation { end_ns: NEVER, ..write(1, 5) }]).contains("unless it is in doubt"));
    assert!(flaw(&[Operation { end_ns: 20, ..write(1, 5).in_doubt() }]).contains("unless it is in doubt"));
}

#[test]
fn an_action_must_suit_its_object() {
    assert!(flaw(&[Operation { action: Action::List, ..write(1, 5) }]).contains("does not know"));
    let entry = Operation::new(Kind::Entry, 1, 0, Action::Remove, (1, 2));
    assert!(flaw(&[write(1, 5), entry]).contains("object 1 is both a Register and a Entry"));
}

#[test]
fn a_value_is_brought_once() {
    assert!(flaw(&[write(1, 5), write(1, 5)]).contains("was given value 5 twice"));
    assert!(flaw(&[write(1, 0)]).contains("stands for nothing"));
}

#[test]
fn a_list_lies_inside_the_history() {
    let listing = Operation::new(Kind::Directory, 1, 0, Action::List, (1, 2));
    let outside = Operation { values_from: u64::MAX, values_count: 2, ..listing };
    assert!(flaw(&[outside]).contains("outside the history"));
}
