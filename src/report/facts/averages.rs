//! Average statement coverage in words.
//!
//! Promises: a percentage stands with the numbers that it is of, rounded down.

use super::shares::percent_in_words;
use vkcert_model::metric::{AverageStatementCoverage, InvocationShare};

/// `62.5 %`; with `at least` where the records do not tell of every statement.
pub(crate) fn invocation_share_percent(share: &InvocationShare) -> String {
    let percent_words = percent_in_words(share.numerator, share.denominator).unwrap_or_default();
    match share.unknown {
        0 => percent_words,
        _ => format!("at least\u{a0}{percent_words}"),
    }
}

/// `62.5 % (480/768: 6 statements × 128 invocations)`, or that it is not measured and why.
pub(crate) fn average_in_words(average: &AverageStatementCoverage) -> String {
    let Some(share) = &average.average else {
        let reason = average.not_measured.as_deref().unwrap_or("no reason recorded");
        return format!("not measured, because {reason}");
    };
    let unknown_words = match share.unknown {
        0 => String::new(),
        1 => ", 1 statement not told by the records".to_owned(),
        count => format!(", {count} statements not told by the records"),
    };
    format!(
        "{} ({}/{}: {} statements × {} invocations{unknown_words})",
        invocation_share_percent(share),
        share.numerator,
        share.denominator,
        share.statements,
        share.dispatched
    )
}
