//! The comparison with an earlier run, for a terminal.

use crate::terminal::wrap;
use vkcert_model::baseline::{BaselineChange, BaselineComparison, ChangeEffect};
use vkcert_model::wording::{in_one_line, plural};

/// Changes of one effect that are printed; all are counted, and `baseline.json` has all.
const MOST_PRINTED: usize = 50;

/// What differs in one sentence.
pub fn baseline_sentence(comparison: &BaselineComparison) -> String {
    let worse = comparison.count(ChangeEffect::Worse);
    let (other, better) =
        (comparison.count(ChangeEffect::Other), comparison.count(ChangeEffect::Better));
    match (worse, other + better) {
        (0, 0) if comparison.root == comparison.baseline => {
            "nothing has changed since the baseline: the evidence is the same".to_owned()
        }
        (0, 0) => "nothing that is compared has changed since the baseline".to_owned(),
        (0, _) => format!("nothing is worse than in the baseline, {better} better, {other} other"),
        (worse, _) => format!(
            "{} since the baseline, {better} better, {other} other",
            plural(worse, "regression", "regressions")
        ),
    }
}

/// All that differs, what is worse first.
pub fn baseline_in_words(comparison: &BaselineComparison, width: u16) -> String {
    let mut text = format!(
        "\n  Baseline         {}\n                   {}\n",
        comparison.baseline,
        baseline_sentence(comparison)
    );
    for effect in [ChangeEffect::Worse, ChangeEffect::Other, ChangeEffect::Better] {
        let of_effect = comparison.changes.iter().filter(|change| change.effect == effect);
        let count = comparison.count(effect);
        for change in of_effect.take(MOST_PRINTED) {
            let sentence = in_one_line(&change_sentence(change));
            let lines = wrap(&sentence, usize::from(width.max(60)) - 13);
            for (position, line) in lines.iter().enumerate() {
                let mark = if position == 0 { effect.to_string() } else { String::new() };
                text.push_str(&format!("    {mark:<7} {line}\n"));
            }
        }
        if count > MOST_PRINTED {
            let more = count - MOST_PRINTED;
            text.push_str(&format!("            and {more} more, in baseline.json\n"));
        }
    }
    text
}

/// `test TC-01 on vulkan: pass, now fail`.
fn change_sentence(change: &BaselineChange) -> String {
    let BaselineChange { area, subject, before, now, .. } = change;
    match (before, now) {
        (Some(before), Some(now)) => format!("{area} {subject}: {before}, now {now}"),
        (Some(before), None) => format!("{area} {subject}: {before}, now no longer"),
        (None, Some(now)) => format!("{area} {subject}: new, {now}"),
        (None, None) => format!("{area} {subject}"),
    }
}
