//! Operations that succeeded although they could not: a name created while it existed, or removed while it did not,
//! and of those above all two creations, or two removals, of which only one can have been the one.

use leadline_history::Action;

use crate::anomaly::Anomaly;
use crate::findings::Evidence;
use crate::order::LatestUntil;
use crate::presence::{Change, Presence, Wrong};
use crate::versions::Versions;
use crate::view::View;

/// The first such operation of an entry, with what should have kept it from succeeding.
pub(crate) fn first_collision(
    appearing: &[Change],
    vanishing: &[Change],
    presence: &Presence,
    view: &View,
) -> Option<Evidence> {
    let creates = |change: &&Change| view.seen(change.index).operation.action == Action::Create;
    let creations: Vec<Change> = appearing.iter().filter(creates).copied().collect();
    let two = collision(creations.clone(), vanishing).or_else(|| collision(vanishing.to_vec(), appearing));
    let created = || first_wrong(&creations, |change| presence.wrongly_absent(change.span));
    let removed = || first_wrong(vanishing, |change| presence.wrongly_present(change.span));
    two.or_else(created).or_else(removed)
}

fn first_wrong(changes: &[Change], wrong: impl Fn(&Change) -> Option<Wrong>) -> Option<Evidence> {
    changes.iter().filter(|change| change.acknowledged).find_map(|change| {
        let wrong = wrong(change)?;
        Some(Evidence::of(Anomaly::NotExclusive, Versions::shown(&[wrong.by, change.index])))
    })
}

fn collision(mut alike: Vec<Change>, between: &[Change]) -> Option<Evidence> {
    alike.retain(|change| change.acknowledged);
    alike.sort_by_key(|change| change.span.start);
    let between = LatestUntil::of(between.iter().map(|change| (change.span, change.index)).collect());
    let collides = |pair: &&[Change]| {
        let last = between.until(pair[0].span.end.max(pair[1].span.end));
        last.is_none_or(|(end, _)| end < pair[0].span.start)
    };
    let pair = alike.windows(2).find(collides)?;
    Some(Evidence::of(Anomaly::NotExclusive, [pair[0].index, pair[1].index]))
}
