//! What every history fulfils before anybody is judged by it. A flaw is a mistake of whoever wrote it.

use crate::history::History;
use crate::operation::{Operation, Outcome, NEVER, NOTHING};

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
/// Times run forwards; only a doubt has no end; the action suits the kind; lists lie inside the history; an
/// object is of one kind; a value is brought to an object once, and is never [`NOTHING`].
pub fn first_flaw(history: &History) -> Option<Flaw> {
    let alone = history.operations.iter().enumerate().find_map(|(index, each)| {
        let sentence = flaw_of(each, history.values.len() as u64)?;
        Some(Flaw(format!("operation {index} on object {} {sentence}", each.object)))
    });
    alone.or_else(|| between_operations(history))
}

fn flaw_of(operation: &Operation, values: u64) -> Option<String> {
    let doubt = operation.outcome == Outcome::Doubt;
    if doubt != (operation.end_ns == NEVER) {
        return Some("must have an end unless it is in doubt, and none when it is".to_string());
    }
    if operation.end_ns < operation.start_ns {
        return Some(format!("ends {} ns before it starts", operation.start_ns - operation.end_ns));
    }
    if !operation.kind.actions().contains(&operation.action) {
        return Some(format!("is a {:?}, which a {:?} does not know", operation.action, operation.kind));
    }
    let list_ends = operation.values_from.checked_add(u64::from(operation.values_count));
    if operation.values_count > 0 && list_ends.is_none_or(|end| end > values) {
        return Some("has a list that lies outside the history".to_string());
    }
    let brings_nothing = operation.action.brings_value() && operation.value_in == NOTHING;
    brings_nothing.then(|| "writes the value that stands for nothing".to_string())
}

fn between_operations(history: &History) -> Option<Flaw> {
    let objects = history.objects();
    objects.all().iter().find_map(|object| {
        let members = || objects.members_of(object).iter().map(|&index| &history.operations[index as usize]);
        if let Some(other) = members().find(|each| each.kind != object.kind) {
            let kinds = format!("a {:?} and a {:?}", object.kind, other.kind);
            return Some(Flaw(format!("object {} is both {kinds}", object.number)));
        }
        let bringing = members().filter(|each| each.action.brings_value());
        let mut brought: Vec<u64> = bringing.map(|each| each.value_in).collect();
        brought.sort_unstable();
        let twice = brought.windows(2).find(|pair| pair[0] == pair[1])?;
        let told = format!("object {} was given value {} twice", object.number, twice[0]);
        Some(Flaw(format!("{told}; then nobody can say which of the two was read")))
    })
}
