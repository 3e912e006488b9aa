//! What comes out of an assessment, a line each.

use super::*;

/// `S3 3:5 [r += 1;] covered by T1, T2`, `D1.C1.masking uncovered, deactivated: ...`
pub(super) fn obligation_lines(coverage: &KernelCoverage) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let branches = coverage.branches.iter().filter(|item| item.id.as_str().starts_with('W'));
    for item in coverage.statements.iter().chain(&coverage.points).chain(branches) {
        lines.push(simple_line(item));
    }
    for decision in &coverage.decisions {
        let outcome =
            decision.constant_outcome.map(|it| format!(" always {it}")).unwrap_or_default();
        let function = decision.function.as_deref().unwrap_or("-");
        let vectors = decision.vectors.iter().map(|vector| {
            let tests: Vec<&str> = vector.tests.iter().map(TestId::as_str).collect();
            format!("{}={} by {}", vector.values, vector.outcome, tests.join(", "))
        });
        lines.push(format!(
            "{} in {function}, {:?}{outcome}: {}",
            decision.id,
            decision.constness,
            vectors.collect::<Vec<_>>().join("; ")
        ));
        lines.extend(decision.outcomes.iter().chain(&decision.combinations).map(simple_line));
        for (place, mcdc) in decision.conditions.iter().zip(&decision.mcdc) {
            let value = place.value.map(|value| format!(" = {value}")).unwrap_or_default();
            let (line, column) = (place.line, place.column);
            lines.push(format!(
                "{} {line}:{column} [{}] {:?}{value}",
                place.id, place.text, place.constness
            ));
            for (form, effect) in [("unique-cause", &mcdc.unique_cause), ("masking", &mcdc.masking)]
            {
                let witnesses = effect.shown_by.iter().flatten();
                let tests: Vec<&str> = witnesses.map(|witness| witness.test.as_str()).collect();
                let pair = effect.pair.iter().flatten().map(|values| format!(" {values}"));
                let class = effect.proposal.as_ref().map(|proposal| proposal.class);
                lines.push(format!(
                    "  {form}{} {}",
                    pair.collect::<String>(),
                    status_words(effect.status, &tests, class, effect.reason.as_deref())
                ));
            }
        }
        let texts = |vectors: &[Values]| {
            vectors.iter().map(Values::to_string).collect::<Vec<_>>().join(" ")
        };
        if !decision.missing.is_empty() {
            lines.push(format!(
                "  missing {}; closing {}",
                texts(&decision.missing),
                texts(&decision.closing_set)
            ));
        }
        if let Some(minimum) = &decision.minimum {
            lines.push(format!("  minimum {} and {}", minimum.unique_cause, minimum.masking));
        }
        if let Some(coupling) = &decision.coupling {
            lines.push(format!("  {}", serde_json::to_string(coupling).unwrap()));
        }
        lines.extend(decision.explanation.iter().map(|sentence| format!("  {sentence}")));
    }
    if !coverage.not_reached.is_empty() {
        lines.push(format!("not reached: {}", coverage.not_reached.join(", ")));
    }
    lines
}

fn simple_line(item: &vkcert_model::coverage::SimpleObligation) -> String {
    let tests: Vec<&str> = item.tests.iter().map(TestId::as_str).collect();
    let class = item.proposal.as_ref().map(|proposal| proposal.class);
    let status = status_words(item.status, &tests, class, item.reason.as_deref());
    format!("{} {}:{} [{}] {status}", item.id, item.line, item.column, item.text)
}

fn status_words(
    status: Status,
    tests: &[&str],
    class: Option<JustificationClass>,
    reason: Option<&str>,
) -> String {
    let tests = if tests.is_empty() { String::new() } else { format!(" by {}", tests.join(", ")) };
    let class = class.map(|class| format!(", {class}")).unwrap_or_default();
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{status}{tests}{class}{reason}")
}
