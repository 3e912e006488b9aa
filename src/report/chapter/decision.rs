//! Every decision with its truth-vector table: test case, witness, condition values, outcome, and
//! for each condition the row that shows its independence.

use super::links::test_link;
use super::tones::status_tone;
use crate::document::{Align, Block, Column, Extent, Outline, Table, Text, Tone};
use crate::facts::{self, Unit};
use std::collections::BTreeMap;
use vkcert_model::coverage::{
    ConditionMcdc, Coupling, DecisionCoverage, Independence, MinimumVectors, SimpleObligation,
    Status, VectorCount,
};
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::id::{ConditionId, DecisionId};
use vkcert_model::structure::{Constness, DecisionContext};
use vkcert_model::vector::Values;

/// Test cases printed per vector; the evidence holds all.
const TESTS: usize = 6;
/// Above this many conditions the independence columns become one.
const SEPARATE_COLUMNS: usize = 6;
/// Above this many conditions the values become one column.
const SEPARATE_VALUES: usize = 16;

pub(super) fn section(
    evidence: &Evidence,
    unit: &Unit,
    sides: &[&KernelEvidence],
    outline: &mut Outline,
) {
    outline.heading(2, "Decisions", format!("{}/decisions", unit.anchor()));
    let first = sides[0];
    if first.coverage.decisions.is_empty() {
        outline.paragraph("None in this kernel.");
        return;
    }
    outline.paragraph(
        "One table per decision. A row is an evaluation vector that a passed test showed: T true, F false, \
         – not evaluated (short-circuit). Witness is the global invocation id. A number under \"shows\" is the row \
         that forms an independence pair with this one; with an asterisk the pair is one of masking MC/DC only, without it \
         the pair is one of unique-cause MC/DC as well. A dot: the row is in no pair.",
    );
    let known: Vec<(&&KernelEvidence, BTreeMap<DecisionId, &DecisionCoverage>)> = sides[1..]
        .iter()
        .map(|side| {
            (side, side.coverage.decisions.iter().map(|decision| (decision.id, decision)).collect())
        })
        .collect();
    for decision in &first.coverage.decisions {
        let others: Vec<_> =
            known.iter().map(|(side, by_id)| (*side, by_id.get(&decision.id).copied())).collect();
        let heading = outline.numbered(
            3,
            Text::plain(format!("{}: ", decision.id)).and(Text::code(decision.text.as_str())),
            format!("{}/{}", unit.anchor(), decision.id),
        );
        let mut blocks = vec![heading, Block::Paragraph(place(first, decision))];
        let alike = |other: &Option<&DecisionCoverage>| {
            other.is_some_and(|other| facts::same_decision(decision, other))
        };
        let same: Vec<String> = others
            .iter()
            .filter(|(_, other)| alike(other))
            .map(|(side, _)| side.engine.to_string())
            .collect();
        let engines = match same.as_slice() {
            [] => first.engine.to_string(),
            // The vectors and tests are equal; witnesses may differ and are shown once.
            same => format!(
                "{} and {} (witnesses of {})",
                first.engine,
                same.join(" and "),
                first.engine
            ),
        };
        one_side(evidence, decision, &engines, &mut blocks);
        blocks.extend(remarks(evidence, decision).map(Block::List));
        for (side, other) in others {
            match other {
                Some(other) if facts::same_decision(decision, other) => {}
                Some(other) => one_side(evidence, other, &side.engine.to_string(), &mut blocks),
                None => blocks.push(Block::Paragraph(
                    Text::plain(format!("Not measured on {}.", side.engine)).tone(Tone::Caution),
                )),
            }
        }
        outline.push(Block::Together(blocks));
    }
}

fn context(context: DecisionContext) -> &'static str {
    match context {
        DecisionContext::If => "if",
        DecisionContext::While => "while loop",
        DecisionContext::DoWhile => "do-while loop",
        DecisionContext::For => "for loop",
        DecisionContext::Ternary => "conditional operator",
        DecisionContext::Assignment => "assignment",
        DecisionContext::Initialiser => "initialiser",
        DecisionContext::Return => "return value",
        DecisionContext::Argument => "argument",
        DecisionContext::Expression => "expression",
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + characters.as_str()
    })
}

fn place(kernel: &KernelEvidence, decision: &DecisionCoverage) -> Text {
    let mut text = Text::plain(format!("{} at ", capital(context(decision.context)))).and(
        Text::code(facts::place(&kernel.source, &decision.file, decision.line, decision.column)),
    );
    if let Some(function) = &decision.function {
        text = text.then(", function ").and(Text::code(function.as_str()));
    }
    if !decision.expansion.is_empty() {
        text = text.then(", through macro ").and(Text::code(decision.expansion.join(" > ")));
    }
    let fixed = match decision.constness {
        Constness::Runtime => return text.then("."),
        Constness::Constant => "constant expression",
        Constness::Specialization => "fixed per pipeline by specialization constants",
    };
    let outcome =
        decision.constant_outcome.map(|outcome| format!(", always {outcome}")).unwrap_or_default();
    text.then(", ").and(Text::strong(format!("{fixed}{outcome}")).tone(Tone::Caution)).then(".")
}

fn one_side(
    evidence: &Evidence,
    decision: &DecisionCoverage,
    engines: &str,
    blocks: &mut Vec<Block>,
) {
    if decision.vectors.is_empty() {
        blocks.push(Block::Paragraph(
            Text::strong(format!(
                "{}, {engines}: no evaluation was recorded in a passed test.",
                decision.id
            ))
            .tone(Tone::Bad),
        ));
    } else {
        blocks.push(Block::Table(vectors(decision, engines)));
    }
    let complete = decision.mcdc.iter().all(|mcdc| {
        mcdc.unique_cause.status == Status::Covered && mcdc.masking.status == Status::Covered
    });
    if decision.conditions.len() > 1 || !complete {
        blocks.push(Block::Table(conditions(evidence, decision, engines)));
    }
    open(decision, blocks);
}

/// 1-based row of a vector in the table.
fn row_of(decision: &DecisionCoverage, values: &Values) -> Option<usize> {
    decision.vectors.iter().position(|vector| vector.values == *values).map(|index| index + 1)
}

/// The partner of `values` in the pair that shows a condition: by unique cause, else by masking
/// alone (asterisk).
fn partner(decision: &DecisionCoverage, mcdc: &ConditionMcdc, values: &Values) -> Option<String> {
    let other = |side: &Independence| {
        let [one, two] = side.pair.as_ref()?;
        match (one == values, two == values) {
            (true, _) => row_of(decision, two),
            (_, true) => row_of(decision, one),
            (false, false) => None,
        }
    };
    match mcdc.unique_cause.pair {
        Some(_) => other(&mcdc.unique_cause).map(|row| row.to_string()),
        None => other(&mcdc.masking).map(|row| format!("{row}*")),
    }
}

/// Short condition texts stand in the header, as in the paper's tables; long ones in the table of
/// conditions.
fn condition_titles(decision: &DecisionCoverage) -> Vec<Text> {
    let short = decision.conditions.len() <= 3
        && decision.conditions.iter().all(|c| c.text.chars().count() <= 22);
    let title = |(index, condition): (usize, &vkcert_model::coverage::ConditionPlace)| {
        if short {
            Text::code(condition.text.as_str())
        } else {
            Text::plain(format!("C{}", index + 1))
        }
    };
    decision.conditions.iter().enumerate().map(title).collect()
}

fn vectors(decision: &DecisionCoverage, engines: &str) -> Table {
    let count = decision.conditions.len();
    let titles = condition_titles(decision);
    let caption = Text::plain(format!("Decision {}, {engines}", decision.id));
    let centre = |title: Text| Column { title, align: Align::Centre };
    let mut table = Table::new(caption)
        .extent(Extent::Content)
        .column("Row", Align::Right)
        .column("Test case", Align::Left)
        .column("Witness", Align::Left);
    if count <= SEPARATE_VALUES {
        table.columns.extend(titles.iter().cloned().map(centre));
    } else {
        table.columns.push(Column { title: format!("C1 to C{count}").into(), align: Align::Left });
    }
    table.columns.push(centre("Outcome".into()));
    if count <= SEPARATE_COLUMNS {
        let shows = |index: usize| {
            if count == 1 { "Shows".to_owned() } else { format!("Shows C{}", index + 1) }
        };
        table.columns.extend((0..count).map(|index| centre(shows(index).into())));
    } else {
        table.columns.push(Column { title: "Shows (condition: row)".into(), align: Align::Left });
    }
    for (index, vector) in decision.vectors.iter().enumerate() {
        let mut cells = vec![
            Text::plain((index + 1).to_string()),
            tests(&vector.tests),
            Text::plain(facts::witness_of(vector)),
        ];
        let letter = |value: &vkcert_model::vector::ConditionValue| match value.letter() {
            '-' => Text::plain("–").tone(Tone::Quiet),
            letter => Text::plain(letter.to_string()),
        };
        if count <= SEPARATE_VALUES {
            cells.extend(vector.values.0.iter().map(letter));
        } else {
            cells.push(Text::code(vector.values.to_string()));
        }
        cells.push(Text::strong(vector.outcome.to_string()));
        let partners = decision.mcdc.iter().map(|mcdc| partner(decision, mcdc, &vector.values));
        if count <= SEPARATE_COLUMNS {
            cells.extend(partners.map(|row| row.map_or_else(no_pair, Text::plain)));
        } else {
            let named = partners
                .enumerate()
                .filter_map(|(index, row)| Some(format!("C{}:\u{a0}{}", index + 1, row?)));
            let named = named.collect::<Vec<_>>().join(", ");
            cells.push(if named.is_empty() { no_pair() } else { Text::plain(named) });
        }
        // Evidence read from a file may hold a vector of another length; a row is still a row.
        cells.resize(table.columns.len(), Text::empty());
        table.row(cells);
    }
    table
}

/// Of a row that forms no pair.
fn no_pair() -> Text {
    Text::quiet("·")
}

fn tests(ids: &[vkcert_model::id::TestId]) -> Text {
    let shown = Text::join(ids.iter().take(TESTS).map(test_link), ", ");
    if ids.len() > TESTS {
        shown.and(Text::quiet(format!(" and {} more", ids.len() - TESTS)))
    } else {
        shown
    }
}

fn conditions(evidence: &Evidence, decision: &DecisionCoverage, engines: &str) -> Table {
    let forms = [("Unique-cause", "mcdc-unique-cause"), ("Masking", "mcdc-masking")];
    let asked = forms.map(|(_, criterion)| facts::asked_for(evidence, criterion));
    let mut table = Table::new(format!("Conditions of {}, {engines}", decision.id));
    table = table.columns(&["Condition", "Text", "Line:column"]);
    for ((title, _), asked) in forms.iter().zip(asked) {
        table = table
            .column(format!("{title}{}", if asked { "" } else { " (not asked for)" }), Align::Left);
    }
    for condition in &decision.conditions {
        let mcdc = decision.mcdc.iter().find(|mcdc| mcdc.condition == condition.id);
        let unknown = || Text::quiet("not measured");
        let unique =
            mcdc.map_or_else(unknown, |mcdc| independence(decision, &mcdc.unique_cause, asked[0]));
        // Every pair of unique-cause MC/DC is one of masking MC/DC.
        let masking =
            mcdc.map_or_else(unknown, |mcdc| match (&mcdc.masking.pair, &mcdc.unique_cause.pair) {
                (Some(one), Some(other)) if one == other => {
                    Text::plain("✓ covered").tone(Tone::Good).then(", same pair")
                }
                (_, _) => independence(decision, &mcdc.masking, asked[1]),
            });
        let value = condition.value.map(|value| format!(", always {value}")).unwrap_or_default();
        let fixed = match condition.constness {
            Constness::Runtime => Text::empty(),
            Constness::Constant => Text::plain(format!(" (constant{value})")).tone(Tone::Caution),
            Constness::Specialization => {
                Text::plain(format!(" (specialization{value})")).tone(Tone::Caution)
            }
        };
        let coupled =
            condition.coupled_with.iter().map(|id| format!("C{}", id.number)).collect::<Vec<_>>();
        let coupled = if coupled.is_empty() {
            Text::empty()
        } else {
            Text::quiet(format!(" (same as {})", coupled.join(", ")))
        };
        table.row(vec![
            Text::code(condition.id.to_string()),
            Text::code(condition.text.as_str()).and(fixed).and(coupled),
            Text::plain(format!("{}:{}", condition.line, condition.column)),
            unique,
            masking,
        ]);
    }
    table
}

/// What nobody asked for is no defect where it is open.
fn independence(decision: &DecisionCoverage, side: &Independence, is_asked: bool) -> Text {
    let tone = match side.status {
        Status::Uncovered | Status::Undetermined if !is_asked => Tone::Quiet,
        status => status_tone(status),
    };
    let state = Text::plain(format!("{}\u{a0}{}", facts::status_symbol(side.status), side.status))
        .tone(tone);
    let reason = side.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let Some([one, two]) = &side.pair else { return state.and(Text::sentence(reason)) };
    let row = |values: &Values| {
        row_of(decision, values).map_or(values.to_string(), |row| row.to_string())
    };
    let state = state.then(format!(", rows\u{a0}{}\u{a0}and\u{a0}{}{reason}", row(one), row(two)));
    match &side.shown_by {
        None => state,
        Some([one, two]) => {
            let witness = |by: &vkcert_model::coverage::Witness| match by.invocation {
                None => test_link(&by.test),
                Some(id) => test_link(&by.test)
                    .then(format!(" {}", facts::invocation_in(Some(id), by.directed))),
            };
            state.then(" (").and(witness(one)).then("; ").and(witness(two)).then(")")
        }
    }
}

/// What holds of a decision whatever the tests show: coupled conditions, and how many vectors MC/DC
/// takes.
fn remarks(evidence: &Evidence, decision: &DecisionCoverage) -> Option<Vec<Text>> {
    let mut lines = Vec::new();
    lines.extend(decision.coupling.as_ref().map(|coupling| Text::plain(coupled(coupling))));
    if decision.conditions.len() > 1 {
        lines.extend(decision.minimum.as_ref().map(|minimum| Text::plain(minimal(minimum))));
    }
    if facts::asked_for(evidence, "multiple-condition") {
        lines.push(Text::sentence(multiple_condition(&decision.combinations)));
    }
    (!lines.is_empty()).then_some(lines)
}

/// How far multiple-condition coverage is, in words.
fn multiple_condition(combinations: &[SimpleObligation]) -> String {
    let shown = combinations.iter().filter(|item| item.status == Status::Covered).count();
    match combinations {
        [whole] if whole.id.as_str().ends_with(".V") => {
            let reason =
                whole.reason.as_deref().unwrap_or("all vectors that can occur are one obligation");
            format!("Multiple-condition coverage: {}; {reason}.", whole.status)
        }
        all => format!("Multiple-condition coverage: {shown} of {} vectors shown.", all.len()),
    }
}

/// What coupled conditions make impossible, in words.
fn coupled(coupling: &Coupling) -> String {
    let names = |ids: &[ConditionId]| {
        let names: Vec<String> = ids.iter().map(|id| format!("C{}", id.number)).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => names.join(""),
        }
    };
    let groups = coupling.groups.iter().map(|group| names(group)).collect::<Vec<_>>().join("; ");
    let mut text = format!("Coupled, as they are the same text and always agree: {groups}.");
    let listed = coupling.excluded.iter().map(Values::to_string).collect::<Vec<_>>().join(" ");
    match coupling.excluded_count {
        None => text.push_str(" Too many vectors can occur to list those that this excludes."),
        Some(0) => {}
        Some(count) if count as usize > coupling.excluded.len() => {
            text.push_str(&format!(" This excludes {count} vectors, the first of them {listed}."));
        }
        Some(1) => text.push_str(&format!(" This excludes the vector {listed}.")),
        Some(count) => text.push_str(&format!(" This excludes {count} vectors: {listed}.")),
    }
    for (ids, form) in
        [(&coupling.without_unique_cause, "unique cause"), (&coupling.without_masking, "masking")]
    {
        if !ids.is_empty() {
            text.push_str(&format!(" No two vectors can show {} by {form}.", names(ids)));
        }
    }
    text
}

/// How many vectors MC/DC takes, in words.
fn minimal(minimum: &MinimumVectors) -> String {
    let MinimumVectors { conditions_plus_one, unique_cause, masking } = minimum;
    let all = conditions_plus_one - 1;
    let count = |count: &VectorCount| match count.conditions {
        shown if shown == all => count.to_string(),
        shown => format!("{count} (showing {shown} of {all} conditions)"),
    };
    format!(
        "Fewest vectors for MC/DC: by unique cause {}, by masking {}; n + 1 is {conditions_plus_one}.",
        count(unique_cause),
        count(masking)
    )
}

/// What is uncovered, why, and which vectors would close it.
fn open(decision: &DecisionCoverage, blocks: &mut Vec<Block>) {
    let mut lines: Vec<Text> = Vec::new();
    for outcome in decision.outcomes.iter().filter(|outcome| outcome.status != Status::Covered) {
        let reason =
            outcome.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let symbol = facts::status_symbol(outcome.status);
        lines.push(
            Text::sentence(format!(
                "{symbol} Outcome {} is {}{reason}.",
                outcome.id, outcome.status
            ))
            .tone(status_tone(outcome.status)),
        );
    }
    lines.extend(
        decision
            .explanation
            .iter()
            .map(|sentence| Text::sentence(facts::of_passed_tests(sentence))),
    );
    let set = |values: &[Values]| {
        Text::code(values.iter().map(Values::to_string).collect::<Vec<_>>().join(" "))
    };
    if !decision.missing.is_empty() && !complete(decision) {
        lines.push(
            Text::plain(format!(
                "Vectors that no passed test showed ({}): ",
                decision.missing.len()
            ))
            .and(set(&decision.missing)),
        );
    }
    let is_open = |status: Status| matches!(status, Status::Uncovered | Status::Undetermined);
    if !decision.closing_set.is_empty()
        && decision.mcdc.iter().any(|mcdc| is_open(mcdc.masking.status))
    {
        let justified = facts::justified_conditions(decision);
        let vectors = set(&decision.closing_set).then(justified);
        lines.push(Text::strong("A smallest set that completes masking MC/DC: ").and(vectors));
    }
    if !lines.is_empty() {
        blocks.push(Block::List(lines));
    }
}

fn complete(decision: &DecisionCoverage) -> bool {
    decision.mcdc.iter().all(|mcdc| mcdc.masking.status == Status::Covered)
        && decision.outcomes.iter().all(|outcome| outcome.status == Status::Covered)
}
