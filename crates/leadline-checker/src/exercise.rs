//! Whether an object was put to the test at all: a guarantee holds easily where nobody looked.

use leadline_history::Moment;

use crate::view::{Seen, Span, View};

/// When each client first knew the object, and when the others began and completed a first change of it.
pub(crate) struct Exercise {
    by_client: Vec<Known>,
}

/// What bears on one client.
#[derive(Clone, Copy)]
struct Known {
    first_end: i64,
    own_change: Span,
    change_by_other: Span,
}

const NOT_YET: Span = Span { start: i64::MAX, end: i64::MAX };

impl Exercise {
    pub fn of(view: &View) -> Self {
        let nothing = Known { first_end: i64::MAX, own_change: NOT_YET, change_by_other: NOT_YET };
        let mut by_client = vec![nothing; view.about.clients];
        for each in view.operations() {
            let known = &mut by_client[usize::from(each.operation.client)];
            known.first_end = known.first_end.min(each.span.end);
            if each.operation.may_change() {
                known.own_change = earliest(known.own_change, each.span);
            }
        }
        let own: Vec<Span> = by_client.iter().map(|known| known.own_change).collect();
        let without = without_each(&own);
        by_client.iter_mut().zip(without).for_each(|(known, others)| known.change_by_other = others);
        Self { by_client }
    }

    /// Whether a look could return something old: its client knew the object, and another had changed it since.
    /// A first look proves nothing.
    pub fn provoked(&self, look: &Seen) -> bool {
        let operation = look.operation;
        self.provokes(operation.client, operation.primed, look.span)
    }

    /// The same, for a look by this client.
    pub fn provokes(&self, client: u16, primed: bool, look: Span) -> bool {
        let known = &self.by_client[usize::from(client)];
        (primed || known.first_end < look.start) && known.change_by_other.end < look.start
    }

    /// Whether anybody who knew the object did something when another client had begun to change it.
    pub fn any(&self, view: &View) -> bool {
        view.operations().any(|each| {
            let known = &self.by_client[usize::from(each.operation.client)];
            let knew_it = each.operation.primed || known.first_end < each.span.start;
            each.operation.moment == Moment::During && knew_it && known.change_by_other.start <= each.span.end
        })
    }
}

fn earliest(one: Span, other: Span) -> Span {
    Span { start: one.start.min(other.start), end: one.end.min(other.end) }
}

/// For each client the earliest of all others, from both sides.
fn without_each(own: &[Span]) -> Vec<Span> {
    let mut without = vec![NOT_YET; own.len()];
    let mut before = NOT_YET;
    for (place, span) in own.iter().enumerate() {
        without[place] = before;
        before = earliest(before, *span);
    }
    let mut behind = NOT_YET;
    for (place, span) in own.iter().enumerate().rev() {
        without[place] = earliest(without[place], behind);
        behind = earliest(behind, *span);
    }
    without
}
