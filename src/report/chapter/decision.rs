//! Every decision with its truth-vector table: test case, witness, condition values, outcome, and
//! for each condition the row that shows its independence.

mod compared;
mod remarks;

use super::links::test_link;
use super::tones::status_tone;
use crate::document::{Block, Column, ColumnAlign, Outline, Table, TableExtent, Text, Tone};
use crate::facts::{self, KernelUnit};
use compared::compared_list;
use remarks::{add_gaps, decision_remarks};
use std::collections::BTreeMap;
use vkcert_model::coverage::{ConditionMcdc, DecisionCoverage, Independence, Status, Witness};
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::id::DecisionId;
use vkcert_model::structure::{Constness, DecisionContext};
use vkcert_model::vector::{ConditionValue, Values};

/// Test cases printed per vector; the evidence holds all.
const TESTS: usize = 6;
/// Above this many conditions the independence columns become one.
const SEPARATE_COLUMNS: usize = 6;
/// Above this many conditions the values become one column.
const SEPARATE_VALUES: usize = 16;

pub(super) fn decisions_section(
    evidence: &Evidence,
    unit: &KernelUnit,
    sides: &[&KernelEvidence],
    outline: &mut Outline,
) {
    outline.add_heading(2, "Decisions", format!("{}/decisions", unit.chapter_anchor()));
    let first_side = sides[0];
    if first_side.coverage.decisions.is_empty() {
        outline.add_paragraph("None in this kernel.");
        return;
    }
    outline.add_paragraph(
        "One table per decision. A row is an evaluation vector that a passed test showed: T true, F false, \
         – not evaluated (short-circuit). Witness is the global invocation id. A number under \"shows\" is the row \
         that forms an independence pair with this one; with an asterisk the pair is one of masking MC/DC only, without it \
         the pair is one of unique-cause MC/DC as well. A dot: the row is in no pair.",
    );
    let decisions_by_side: Vec<(&&KernelEvidence, BTreeMap<DecisionId, &DecisionCoverage>)> = sides
        [1..]
        .iter()
        .map(|side| {
            (side, side.coverage.decisions.iter().map(|decision| (decision.id, decision)).collect())
        })
        .collect();
    for decision in &first_side.coverage.decisions {
        let other_decisions: Vec<_> = decisions_by_side
            .iter()
            .map(|(side, by_id)| (*side, by_id.get(&decision.id).copied()))
            .collect();
        let heading = outline.numbered_heading(
            3,
            Text::plain(format!("{}: ", decision.id))
                .followed_by(Text::code(decision.text.as_str())),
            format!("{}/{}", unit.chapter_anchor(), decision.id),
        );
        let mut decision_blocks =
            vec![heading, Block::Paragraph(decision_place(first_side, decision))];
        let is_alike = |other_decision: &Option<&DecisionCoverage>| {
            other_decision
                .is_some_and(|other_decision| facts::same_decision(decision, other_decision))
        };
        let alike_engines: Vec<String> = other_decisions
            .iter()
            .filter(|(_, other_decision)| is_alike(other_decision))
            .map(|(side, _)| side.engine.to_string())
            .collect();
        let engine_words = match alike_engines.as_slice() {
            [] => first_side.engine.to_string(),
            // The vectors and tests are equal; witnesses may differ and are shown once.
            alike_engines => format!(
                "{} and {} (witnesses of {})",
                first_side.engine,
                alike_engines.join(" and "),
                first_side.engine
            ),
        };
        add_side(evidence, decision, &engine_words, &mut decision_blocks);
        decision_blocks.extend(compared_list(first_side, decision));
        decision_blocks.extend(decision_remarks(evidence, decision).map(Block::List));
        for (side, other_decision) in other_decisions {
            match other_decision {
                Some(other_decision) if facts::same_decision(decision, other_decision) => {}
                Some(other_decision) => {
                    let engine_words = side.engine.to_string();
                    add_side(evidence, other_decision, &engine_words, &mut decision_blocks);
                    decision_blocks.extend(compared_list(side, other_decision));
                }
                None => decision_blocks.push(Block::Paragraph(
                    Text::plain(format!("Not measured on {}.", side.engine))
                        .with_tone(Tone::Caution),
                )),
            }
        }
        outline.add_block(Block::Together(decision_blocks));
    }
}

fn context_words(context: DecisionContext) -> &'static str {
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

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first_character| {
        first_character.to_uppercase().collect::<String>() + characters.as_str()
    })
}

fn decision_place(kernel: &KernelEvidence, decision: &DecisionCoverage) -> Text {
    let mut place_text =
        Text::plain(format!("{} at ", capitalised(context_words(decision.context)))).followed_by(
            Text::code(facts::source_place(
                &kernel.source,
                &decision.file,
                decision.line,
                decision.column,
            )),
        );
    if let Some(function) = &decision.function {
        place_text =
            place_text.then_plain(", function ").followed_by(Text::code(function.as_str()));
    }
    if !decision.expansion.is_empty() {
        place_text = place_text
            .then_plain(", through macro ")
            .followed_by(Text::code(decision.expansion.join(" > ")));
    }
    let fixed_words = match decision.constness {
        Constness::Runtime => return place_text.then_plain("."),
        Constness::Constant => "constant expression",
        Constness::Specialization => "fixed per pipeline by specialization constants",
    };
    let outcome_words =
        decision.constant_outcome.map(|outcome| format!(", always {outcome}")).unwrap_or_default();
    place_text
        .then_plain(", ")
        .followed_by(Text::strong(format!("{fixed_words}{outcome_words}")).with_tone(Tone::Caution))
        .then_plain(".")
}

fn add_side(
    evidence: &Evidence,
    decision: &DecisionCoverage,
    engine_words: &str,
    blocks: &mut Vec<Block>,
) {
    if decision.vectors.is_empty() {
        blocks.push(Block::Paragraph(
            Text::strong(format!(
                "{}, {engine_words}: no evaluation was recorded in a passed test.",
                decision.id
            ))
            .with_tone(Tone::Bad),
        ));
    } else {
        blocks.push(Block::Table(vector_table(decision, engine_words)));
    }
    let is_complete = decision.mcdc.iter().all(|mcdc| {
        mcdc.unique_cause.status == Status::Covered && mcdc.masking.status == Status::Covered
    });
    if decision.conditions.len() > 1 || !is_complete {
        blocks.push(Block::Table(condition_table(evidence, decision, engine_words)));
    }
    add_gaps(decision, blocks);
}

/// The partner of `values` in the pair that shows a condition: by unique cause, else by masking
/// alone (asterisk).
fn partner_row(
    decision: &DecisionCoverage,
    mcdc: &ConditionMcdc,
    values: &Values,
) -> Option<String> {
    match mcdc.unique_cause.pair {
        Some(_) => other_row(decision, &mcdc.unique_cause, values).map(|row| row.to_string()),
        None => other_row(decision, &mcdc.masking, values).map(|row| format!("{row}*")),
    }
}

/// The row of the other vector of a pair; none where `values` is in none.
fn other_row(decision: &DecisionCoverage, side: &Independence, values: &Values) -> Option<usize> {
    let [first_values, second_values] = side.pair.as_ref()?;
    match (first_values == values, second_values == values) {
        (true, _) => facts::vector_row(decision, second_values),
        (_, true) => facts::vector_row(decision, first_values),
        (false, false) => None,
    }
}

/// Short condition texts stand in the header, as in the paper's tables; long ones in the table of
/// conditions.
fn condition_titles(decision: &DecisionCoverage) -> Vec<Text> {
    let is_short = decision.conditions.len() <= 3
        && decision.conditions.iter().all(|c| c.text.chars().count() <= 22);
    let numbered_conditions = (1..).zip(&decision.conditions);
    numbered_conditions
        .map(|(condition_number, condition)| match is_short {
            true => Text::code(condition.text.as_str()),
            false => Text::plain(format!("C{condition_number}")),
        })
        .collect()
}

fn vector_table(decision: &DecisionCoverage, engine_words: &str) -> Table {
    let condition_count = decision.conditions.len();
    let titles = condition_titles(decision);
    let caption = Text::plain(format!("Decision {}, {engine_words}", decision.id));
    let centred_column = |title: Text| Column { title, align: ColumnAlign::Centre };
    let mut table = Table::new(caption)
        .extent(TableExtent::Content)
        .with_column("Row", ColumnAlign::Right)
        .with_column("Test case", ColumnAlign::Left)
        .with_column("Witness", ColumnAlign::Left);
    if condition_count <= SEPARATE_VALUES {
        table.columns.extend(titles.iter().cloned().map(centred_column));
    } else {
        table.columns.push(Column {
            title: format!("C1 to C{condition_count}").into(),
            align: ColumnAlign::Left,
        });
    }
    table.columns.push(centred_column("Outcome".into()));
    if condition_count <= SEPARATE_COLUMNS {
        table.columns.extend((1..=condition_count).map(|condition_number| {
            centred_column(match condition_count {
                1 => "Shows".into(),
                _ => format!("Shows C{condition_number}").into(),
            })
        }));
    } else {
        table
            .columns
            .push(Column { title: "Shows (condition: row)".into(), align: ColumnAlign::Left });
    }
    for (row_index, vector) in decision.vectors.iter().enumerate() {
        let mut row_cells = vec![
            Text::plain((row_index + 1).to_string()),
            test_links(&vector.tests),
            Text::plain(facts::witness_of(vector)),
        ];
        if condition_count <= SEPARATE_VALUES {
            row_cells.extend(vector.values.0.iter().map(value_letter));
        } else {
            row_cells.push(Text::code(vector.values.to_string()));
        }
        row_cells.push(Text::strong(vector.outcome.to_string()));
        let partner_rows =
            decision.mcdc.iter().map(|mcdc| partner_row(decision, mcdc, &vector.values));
        if condition_count <= SEPARATE_COLUMNS {
            row_cells.extend(partner_rows.map(|partner| partner.map_or_else(no_pair, Text::plain)));
        } else {
            let named_partners =
                partner_rows.enumerate().filter_map(|(condition_index, partner)| {
                    Some(format!("C{}:\u{a0}{}", condition_index + 1, partner?))
                });
            let named_partners = named_partners.collect::<Vec<_>>().join(", ");
            row_cells.push(if named_partners.is_empty() {
                no_pair()
            } else {
                Text::plain(named_partners)
            });
        }
        // Evidence read from a file may hold a vector of another length; a row is still a row.
        row_cells.resize(table.columns.len(), Text::empty());
        table.add_row(row_cells);
    }
    table
}

/// Of a row that forms no pair.
fn no_pair() -> Text {
    Text::quiet("·")
}

fn test_links(test_ids: &[vkcert_model::id::TestId]) -> Text {
    let shown_tests = Text::join(test_ids.iter().take(TESTS).map(test_link), ", ");
    if test_ids.len() > TESTS {
        shown_tests.followed_by(Text::quiet(format!(" and {} more", test_ids.len() - TESTS)))
    } else {
        shown_tests
    }
}

fn condition_table(evidence: &Evidence, decision: &DecisionCoverage, engine_words: &str) -> Table {
    let mcdc_forms =
        [("Unique-cause", CriterionName::McdcUniqueCause), ("Masking", CriterionName::McdcMasking)];
    let asked_forms =
        mcdc_forms.map(|(_, criterion)| facts::is_asked_for(evidence, &criterion.into()));
    let mut table = Table::new(format!("Conditions of {}, {engine_words}", decision.id));
    table = table.columns(&["Condition", "Text", "Line:column"]);
    for ((title, _), is_asked_for) in mcdc_forms.iter().zip(asked_forms) {
        table = table.with_column(
            format!("{title}{}", if is_asked_for { "" } else { " (not asked for)" }),
            ColumnAlign::Left,
        );
    }
    for condition in &decision.conditions {
        let mcdc = decision.mcdc.iter().find(|mcdc| mcdc.condition == condition.id);
        let not_measured = || Text::quiet("not measured");
        let unique_cause_cell = mcdc.map_or_else(not_measured, |mcdc| {
            independence_cell(decision, &mcdc.unique_cause, asked_forms[0])
        });
        // Every pair of unique-cause MC/DC is one of masking MC/DC.
        let masking_cell = mcdc.map_or_else(not_measured, |mcdc| {
            match (&mcdc.masking.pair, &mcdc.unique_cause.pair) {
                (Some(masking_pair), Some(unique_cause_pair))
                    if masking_pair == unique_cause_pair =>
                {
                    Text::plain("✓ covered").with_tone(Tone::Good).then_plain(", same pair")
                }
                (_, _) => independence_cell(decision, &mcdc.masking, asked_forms[1]),
            }
        });
        let value_words =
            condition.value.map(|value| format!(", always {value}")).unwrap_or_default();
        let fixed_words = match condition.constness {
            Constness::Runtime => Text::empty(),
            Constness::Constant => {
                Text::plain(format!(" (constant{value_words})")).with_tone(Tone::Caution)
            }
            Constness::Specialization => {
                Text::plain(format!(" (specialization{value_words})")).with_tone(Tone::Caution)
            }
        };
        let coupled_names =
            condition.coupled_with.iter().map(|id| format!("C{}", id.number)).collect::<Vec<_>>();
        let coupled_names = if coupled_names.is_empty() {
            Text::empty()
        } else {
            Text::quiet(format!(" (same as {})", coupled_names.join(", ")))
        };
        table.add_row(vec![
            Text::code(condition.id.to_string()),
            Text::code(condition.text.as_str()).followed_by(fixed_words).followed_by(coupled_names),
            Text::plain(format!("{}:{}", condition.line, condition.column)),
            unique_cause_cell,
            masking_cell,
        ]);
    }
    table
}

/// What nobody asked for is no defect where it is open.
fn value_letter(value: &ConditionValue) -> Text {
    match value.letter() {
        '-' => Text::plain("–").with_tone(Tone::Quiet),
        letter => Text::plain(letter.to_string()),
    }
}

fn witness_link(witness: &Witness) -> Text {
    let test_name = test_link(&witness.test);
    match witness.invocation {
        None => test_name,
        Some(id) => {
            let invocation = facts::invocation_with_schedule(Some(id), witness.directed);
            test_name.then_plain(format!(" {invocation}"))
        }
    }
}

fn independence_cell(decision: &DecisionCoverage, side: &Independence, is_asked: bool) -> Text {
    let tone = match side.status {
        Status::Uncovered | Status::Undetermined if !is_asked => Tone::Quiet,
        status => status_tone(status),
    };
    let state_text =
        Text::plain(format!("{}\u{a0}{}", facts::status_symbol(side.status), side.status))
            .with_tone(tone);
    let reason_words = side.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let Some([first_values, second_values]) = &side.pair else {
        return state_text.followed_by(Text::sentence(reason_words));
    };
    let row_words = |values: &Values| {
        facts::vector_row(decision, values).map_or(values.to_string(), |row| row.to_string())
    };
    let state_text = state_text.then_plain(format!(
        ", rows\u{a0}{}\u{a0}and\u{a0}{}{reason_words}",
        row_words(first_values),
        row_words(second_values)
    ));
    match &side.shown_by {
        None => state_text,
        Some([first_witness, second_witness]) => state_text
            .then_plain(" (")
            .followed_by(witness_link(first_witness))
            .then_plain("; ")
            .followed_by(witness_link(second_witness))
            .then_plain(")"),
    }
}
