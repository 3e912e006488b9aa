//! The result of `vkcert mcdc` for a terminal.

use super::{McdcCondition, McdcForm, McdcMultiple, McdcResult, McdcVector};
use comfy_table::{CellAlignment, Table, presets};
use std::borrow::Cow;
use std::collections::BTreeMap;
use vkcert_model::coverage::MinimumVectors;
use vkcert_model::vector::Values;

impl McdcResult {
    /// Renders the result for a terminal: the truth-vector table with an independence column per condition, then what is
    /// missing. In an independence column, a number is the row that completes the pair.
    pub fn terminal_text(&self) -> String {
        let mut text = format!("{}\n\n", self.expression);
        for condition in &self.conditions {
            let coupled_words = match condition.coupled_with.as_slice() {
                [] => String::new(),
                others => format!("  (coupled with {})", others.join(", ")),
            };
            text.push_str(&format!("{}  {}{coupled_words}\n", condition.id, condition.text));
        }
        text.push('\n');
        let given_vectors: Vec<&McdcVector> =
            self.vectors.iter().filter(|vector| vector.given).collect();
        match given_vectors.as_slice() {
            [] => {
                text.push_str("Vectors that can occur:\n");
                text.push_str(&self.vector_table(&self.vectors.iter().collect::<Vec<_>>()));
            }
            rows => {
                text.push_str("Vectors given:\n");
                text.push_str(&self.vector_table(rows));
                text.push('\n');
                text.push_str(&self.condition_verdicts());
            }
        }
        text.push_str(&self.gap_lines());
        text
    }

    fn vector_table(&self, vector_rows: &[&McdcVector]) -> String {
        let mut table = Table::new();
        table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
        let condition_ids = || self.conditions.iter().map(|condition| condition.id.as_str());
        let mut header: Vec<Cow<str>> = vec!["No.".into()];
        header.extend(condition_ids().map(Cow::Borrowed));
        header.push("result".into());
        let has_given = vector_rows.iter().any(|row| row.given);
        if has_given {
            header.extend(condition_ids().map(|id| format!("{id} independence").into()));
        }
        table.set_header(header);
        let row_by_values: BTreeMap<&Values, usize> = vector_rows
            .iter()
            .enumerate()
            .map(|(row_index, row)| (&row.values, row_index + 1))
            .collect();
        for (index, row) in vector_rows.iter().enumerate() {
            let mut row_cells = vec![(index + 1).to_string()];
            row_cells.extend(row.values.0.iter().map(|value| value.letter().to_string()));
            row_cells.push(row.outcome.to_string());
            if has_given {
                row_cells.extend(
                    self.conditions
                        .iter()
                        .map(|condition| pair_partner_cell(condition, &row.values, &row_by_values)),
                );
            }
            table.add_row(row_cells);
        }
        table.column_iter_mut().for_each(|column| column.set_cell_alignment(CellAlignment::Center));
        let lines: Vec<String> =
            table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
        lines.join("\n") + "\n"
    }

    fn condition_verdicts(&self) -> String {
        self.conditions.iter().map(condition_line).collect()
    }

    fn gap_lines(&self) -> String {
        let mut text = String::new();
        if !self.missing.is_empty() && self.vectors.iter().any(|vector| vector.given) {
            text.push_str(&format!("\nMissing: {}\n", listed_vectors(&self.missing)));
        }
        if !self.closing_set.is_empty() {
            let set_words = if self.closing_set_minimal { "A smallest set" } else { "A set" };
            text.push_str(&format!(
                "\n{set_words} that completes MC/DC (masking): {}\n",
                listed_vectors(&self.closing_set)
            ));
        }
        if !self.explanation.is_empty() {
            text.push_str(&format!("\n{}", joined_lines(&self.explanation)));
        }
        let fact_lines: Vec<String> =
            [self.coupling_line(), self.minimum_line(), self.multiple_line()]
                .into_iter()
                .flatten()
                .collect();
        text.push_str(&format!("\n{}", joined_lines(&fact_lines)));
        text.push_str(&joined_lines(&self.notes));
        text
    }

    fn coupling_line(&self) -> Option<String> {
        let coupling = self.coupling.as_ref()?;
        let group_words =
            coupling.groups.iter().map(|group| group.join(" = ")).collect::<Vec<_>>().join(", ");
        let mut text = format!("Coupled (same text): {group_words}");
        if !coupling.excluded.is_empty() {
            let excluded_words =
                coupling.excluded.iter().map(Values::to_string).collect::<Vec<_>>().join(", ");
            let lists_all = coupling
                .excluded_count
                .is_some_and(|count| count as usize == coupling.excluded.len());
            text.push_str(&format!(
                "; cannot occur: {excluded_words}{}",
                if lists_all { "" } else { " ..." }
            ));
        }
        for (ids, form) in [
            (&coupling.without_unique_cause, "unique-cause"),
            (&coupling.without_masking, "masking"),
        ] {
            if !ids.is_empty() {
                text.push_str(&format!("; no {form} for {}", ids.join(", ")));
            }
        }
        Some(text)
    }

    fn minimum_line(&self) -> Option<String> {
        let MinimumVectors { conditions_plus_one, unique_cause, masking } =
            self.minimum.as_ref()?;
        Some(format!(
            "Fewest vectors: unique-cause {unique_cause}, masking {masking}; n + 1 is {conditions_plus_one}"
        ))
    }

    fn multiple_line(&self) -> Option<String> {
        let McdcMultiple { covered, total } = self.multiple_condition?;
        self.vectors
            .iter()
            .any(|vector| vector.given)
            .then(|| format!("Multiple-condition: {covered} of {total} vectors"))
    }
}

fn condition_line(condition: &McdcCondition) -> String {
    format!(
        "{}: unique-cause {}; masking {}\n",
        condition.id,
        form_verdict(&condition.unique_cause),
        form_verdict(&condition.masking)
    )
}

fn form_verdict(form: &McdcForm) -> String {
    match (&form.pair, form.attainable) {
        (Some([one, other]), _) => format!("shown by {one} and {other}"),
        (None, Some(false)) => "cannot be shown (coupled conditions)".to_owned(),
        (None, Some(true) | None) => "not shown".to_owned(),
    }
}

fn listed_vectors(vectors: &[Values]) -> String {
    vectors.iter().map(Values::to_string).collect::<Vec<_>>().join(", ")
}

fn joined_lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The row that completes the pair of a condition; `(m)` where only masking accepts it.
fn pair_partner_cell(
    condition: &McdcCondition,
    values: &Values,
    row_by_values: &BTreeMap<&Values, usize>,
) -> String {
    let partner_row = |form: &McdcForm| row_by_values.get(pair_partner(form, values)?).copied();
    match (partner_row(&condition.unique_cause), partner_row(&condition.masking)) {
        (Some(row), _) => row.to_string(),
        (None, Some(row)) if condition.unique_cause.pair.is_none() => format!("{row} (m)"),
        (None, _) => String::new(),
    }
}

fn pair_partner<'a>(form: &'a McdcForm, values: &Values) -> Option<&'a Values> {
    match form.pair.as_ref()? {
        [first, second] if first == values => Some(second),
        [first, second] if second == values => Some(first),
        [_, _] => None,
    }
}
