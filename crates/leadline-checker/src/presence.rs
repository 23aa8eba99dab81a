//! Whether a name can have existed, or not, when somebody looked: certain answers from the changes alone.

use leadline_history::NEVER;

use crate::order::{EarliestAfter, LatestUntil, Owned, LONG_AGO};
use crate::versions::NOBODY;
use crate::view::Span;

/// A change that makes a name exist, or makes it vanish.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub span: Span,
    pub index: u32,
    pub acknowledged: bool,
}

/// All changes of one name.
pub(crate) struct Presence {
    appearing: Both,
    vanishing: Both,
}

/// One sort of changes: those that certainly happened, and all that may have.
struct Both {
    certain: EarliestAfter,
    possible: LatestUntil,
}

impl Both {
    fn of(changes: &[Change]) -> Self {
        let owned = |change: &Change| (change.span, change.index);
        let certain = changes.iter().filter(|change| change.acknowledged).map(owned).collect();
        let possible: Vec<Owned> = changes.iter().map(owned).collect();
        Self { certain: EarliestAfter::of(certain), possible: LatestUntil::of(possible) }
    }
}

/// Why a look is wrong: the change that it should have seen, and since when it held at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The change; [`NOBODY`] for the beginning.
    pub by: u32,
    /// When it had been answered.
    pub since: i64,
    /// Nothing that could undo it began and ended after this and was open beside the look.
    pub undisturbed_from: i64,
}

impl Presence {
    pub fn of(appearing: &[Change], vanishing: &[Change]) -> Self {
        Self { appearing: Both::of(appearing), vanishing: Both::of(vanishing) }
    }

    /// Whether to see nothing is certainly wrong: something made the name exist, had answered before the look, and
    /// nothing that may have happened until the look's end could come after it and take the name away.
    pub fn wrongly_absent(&self, look: Span) -> Option<Wrong> {
        contradiction(&self.vanishing.possible, &self.appearing.certain, look)
    }

    /// Whether to see something is certainly wrong, by the same rule; or nothing could have appeared yet.
    pub fn wrongly_present(&self, look: Span) -> Option<Wrong> {
        if self.appearing.possible.until(look.end).is_none() {
            return Some(Wrong { by: NOBODY, since: LONG_AGO, undisturbed_from: LONG_AGO });
        }
        contradiction(&self.appearing.possible, &self.vanishing.certain, look)
    }
}

fn contradiction(against: &LatestUntil, certain: &EarliestAfter, look: Span) -> Option<Wrong> {
    let (undisturbed_from, _) = against.until(look.end).unwrap_or((LONG_AGO, NOBODY));
    if undisturbed_from == NEVER {
        return None;
    }
    let (since, by) = certain.after(undisturbed_from)?;
    (since < look.start).then_some(Wrong { by, since, undisturbed_from })
}
