//! What every history fulfils before anybody is judged by it. A flaw is a mistake of whoever wrote it.

use crate::grouping::{Object, Objects};
use crate::history::History;
use crate::operation::{Kind, Operation, Outcome, NEVER, NOTHING};

/// Times within it have differences that are numbers of the same width, also when both are moved by their clocks' errors.
const FARTHEST_NS: u64 = (1 << 62) - (1 << 34);

/// Why a history cannot be used: one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw(pub String);

impl std::fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Flaw {}

/// The first thing that is wrong with a history; None when it fulfils everything.
///
/// Times run forwards and lie within the life of a clock; only a doubt has no end; the action suits the kind; a pair
/// has the names 1 and 2; lists lie inside the history; an object is of one kind; a value is brought to an object once, and is never [`NOTHING`].
pub fn first_flaw(history: &History) -> Option<Flaw> {
    first_flaw_of_one(history).or_else(|| first_flaw_between(history, &history.objects()))
}

/// The first operation that is wrong by itself.
pub fn first_flaw_of_one(history: &History) -> Option<Flaw> {
    history.operations.iter().enumerate().find_map(|(index, each)| {
        let sentence = flaw_of(each, history.values.len() as u64)?;
        Some(Flaw(format!("operation {index} on object {} {sentence}", each.object)))
    })
}

/// The first object whose operations do not go together, for who has grouped them already.
pub fn first_flaw_between(history: &History, objects: &Objects) -> Option<Flaw> {
    let mut brought = Vec::new();
    objects.all().iter().find_map(|object| flaw_within(history, objects, object, &mut brought))
}

fn flaw_of(operation: &Operation, values: u64) -> Option<String> {
    let doubt = operation.outcome == Outcome::Doubt;
    if doubt != (operation.end_ns == NEVER) {
        return Some("must have an end unless it is in doubt, and none when it is".to_string());
    }
    if operation.end_ns < operation.start_ns {
        return Some(format!("ends {} ns before it starts", operation.start_ns.abs_diff(operation.end_ns)));
    }
    let times = [operation.start_ns, if doubt { 0 } else { operation.end_ns }];
    if times.iter().any(|time_ns| time_ns.unsigned_abs() > FARTHEST_NS) {
        return Some("is more than 146 years from the beginning of its clock".to_string());
    }
    if !operation.kind.actions().contains(&operation.action) {
        return Some(format!("is a {:?}, which a {:?} does not know", operation.action, operation.kind));
    }
    let list_ends = operation.values_from.checked_add(u64::from(operation.values_count));
    if operation.values_count > 0 && list_ends.is_none_or(|end| end > values) {
        return Some("has a list that lies outside the history".to_string());
    }
    if operation.kind == Kind::NamePair && !matches!(operation.value_in, 1 | 2) {
        return Some(format!("is about name {} of a pair, whose names are 1 and 2", operation.value_in));
    }
    let brings_nothing = operation.action.brings_value() && operation.value_in == NOTHING;
    brings_nothing.then(|| "writes the value that stands for nothing".to_string())
}

/// What is wrong within an object. The values that it was given are put into `brought`, which saves making it anew.
fn flaw_within(
    history: &History,
    objects: &Objects,
    object: &Object,
    brought: &mut Vec<u64>,
) -> Option<Flaw> {
    brought.clear();
    for &index in objects.members_of(object) {
        let each = &history.operations[index as usize];
        if each.kind != object.kind {
            let kinds = format!("a {:?} and a {:?}", object.kind, each.kind);
            return Some(Flaw(format!("object {} is both {kinds}", object.number)));
        }
        if each.action.brings_value() {
            brought.push(each.value_in);
        }
    }
    brought.sort_unstable();
    let twice = brought.windows(2).find(|pair| pair[0] == pair[1])?;
    let told = format!("object {} was given value {} twice", object.number, twice[0]);
    Some(Flaw(format!("{told}; then nobody can say which of the two was read")))
}
