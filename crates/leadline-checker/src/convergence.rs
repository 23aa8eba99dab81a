//! Whether all clients see the same when nothing changes any more (G3).

use std::collections::BTreeMap;

use leadline_history::{Action, Moment, Outcome};

use crate::anomaly::Anomaly;
use crate::findings::{Evidence, Findings};
use crate::guarantee::Guarantee;
use crate::view::{Seen, View};

/// What was asked, and by whom. A name pair is asked about either name.
type Question = (Action, u64, u16);

/// Compares what clients saw last of an object, of those that looked when everything had settled.
pub(crate) fn judge(view: &View, findings: &mut Findings) {
    let mut last: BTreeMap<Question, Seen> = BTreeMap::new();
    let settled = |each: &Seen| {
        let operation = each.operation;
        operation.moment == Moment::Settled
            && !operation.action.changes()
            && operation.outcome != Outcome::Doubt
    };
    let looks = view.about.settled.then(|| view.operations().filter(settled));
    for each in looks.into_iter().flatten() {
        let question = (each.operation.action, each.operation.value_in, each.operation.client);
        let kept = last.entry(question).or_insert(each);
        if each.span.start > kept.span.start {
            *kept = each;
        }
    }
    let answers: Vec<(Question, Seen)> = last.into_iter().collect();
    let same = |one: &&[(Question, Seen)]| one.len() > 1;
    let by_question = answers.chunk_by(|(one, _), (other, _)| (one.0, one.1) == (other.0, other.1));
    let compared: Vec<_> = by_question.filter(same).collect();
    let tally = findings.tally(Guarantee::Convergence);
    tally.checked += u64::from(!compared.is_empty());
    let differing = compared.iter().find_map(|answers| {
        let (_, first) = answers[0];
        let other = answers.iter().find(|(_, other)| !saw_the_same(view, &first, other))?;
        Some([first.index, other.1.index])
    });
    if let Some(operations) = differing {
        tally.violated_by(Evidence::of(Anomaly::Diverged, operations));
    }
}

fn saw_the_same(view: &View, one: &Seen, other: &Seen) -> bool {
    let lists = [one, other].map(|each| {
        let mut list = view.history.list_of(each.operation).to_vec();
        if each.operation.action == Action::List {
            list.sort_unstable();
        }
        list
    });
    one.operation.value_out == other.operation.value_out && lists[0] == lists[1]
}
