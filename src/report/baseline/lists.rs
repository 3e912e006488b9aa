//! Two lists of the same things, one of each run.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use vkcert_model::baseline::{BaselineChange, ChangeArea, ChangeEffect};

/// Each thing with its status in words, and whether that status is what a run is to show.
pub(super) type Statuses = BTreeMap<String, (String, bool)>;

/// Things that stand against a result, or would without being accepted, with how many there are of
/// each.
pub(super) type Counted = BTreeMap<String, u32>;

/// What such things do to the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// They stand against it.
    Open,
    /// They are justified or accepted.
    Accepted,
}

/// Notes what has another status, what is gone and what is new.
pub(super) fn compare_statuses(
    area: ChangeArea,
    [before, now]: &[Statuses; 2],
    changes: &mut Vec<BaselineChange>,
) {
    let subjects = before.keys().chain(now.keys().filter(|subject| !before.contains_key(*subject)));
    for subject in subjects {
        let effect = match (before.get(subject), now.get(subject)) {
            (Some(before), Some(now)) if before == now => continue,
            (Some((_, true)), Some((_, false)) | None) | (None, Some((_, false))) => {
                ChangeEffect::Worse
            }
            (Some((_, false)), Some((_, true))) | (None, Some((_, true))) => ChangeEffect::Better,
            // What failed and is gone is not shown to be mended.
            (Some(_), Some(_)) | (Some((_, false)), None) | (None, None) => ChangeEffect::Other,
        };
        let status = |list: &Statuses| list.get(subject).map(|(status, _)| status.clone());
        let (before, now) = (status(before), status(now));
        changes.push(BaselineChange { effect, area, subject: subject.clone(), before, now });
    }
}

/// Notes what there is more of and what there is less of.
pub(super) fn compare_counted(
    area: ChangeArea,
    standing: Standing,
    [before, now]: &[Counted; 2],
    changes: &mut Vec<BaselineChange>,
) {
    let subjects = before.keys().chain(now.keys().filter(|subject| !before.contains_key(*subject)));
    for subject in subjects {
        let count = |list: &Counted| list.get(subject).copied().unwrap_or(0);
        let (before, now) = (count(before), count(now));
        let effect = match (standing, now.cmp(&before)) {
            (_, Ordering::Equal) => continue,
            (Standing::Open, Ordering::Greater) => ChangeEffect::Worse,
            (Standing::Open, Ordering::Less) => ChangeEffect::Better,
            (Standing::Accepted, Ordering::Greater | Ordering::Less) => ChangeEffect::Other,
        };
        let words = |count: u32| (count > 0).then(|| count_words(standing, count));
        changes.push(BaselineChange {
            effect,
            area,
            subject: subject.clone(),
            before: words(before),
            now: words(now),
        });
    }
}

fn count_words(standing: Standing, count: u32) -> String {
    let word = match standing {
        Standing::Open => "open",
        Standing::Accepted => "accepted",
    };
    if count == 1 { word.to_owned() } else { format!("{count} {word}") }
}
