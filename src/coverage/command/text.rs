//! The result of `vkcert mcdc` for a terminal.

use super::{McdcCondition, McdcForm, McdcMultiple, McdcResult, McdcVector};
use comfy_table::{CellAlignment, Table, presets};
use std::collections::BTreeMap;
use vkcert_model::coverage::MinimumVectors;
use vkcert_model::vector::Values;

impl McdcResult {
    /// Renders the result for a terminal: the truth-vector table with an independence column per condition, then what is
    /// missing. In an independence column, a number is the row that completes the pair.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.expression);
        for condition in &self.conditions {
            let coupled = match condition.coupled_with.as_slice() {
                [] => String::new(),
                others => format!("  (coupled with {})", others.join(", ")),
            };
            text.push_str(&format!("{}  {}{coupled}\n", condition.id, condition.text));
        }
        text.push('\n');
        let given: Vec<&McdcVector> = self.vectors.iter().filter(|vector| vector.given).collect();
        match given.as_slice() {
            [] => {
                text.push_str("Vectors that can occur:\n");
                text.push_str(&self.table(&self.vectors.iter().collect::<Vec<_>>()));
            }
            rows => {
                text.push_str("Vectors given:\n");
                text.push_str(&self.table(rows));
                text.push('\n');
                text.push_str(&self.verdicts());
            }
        }
        text.push_str(&self.gaps());
        text
    }

    fn table(&self, rows: &[&McdcVector]) -> String {
        let mut table = Table::new();
        table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
        let ids = || self.conditions.iter().map(|condition| condition.id.clone());
        let mut header = vec!["No.".to_owned()];
        header.extend(ids());
        header.push("result".to_owned());
        let given = rows.iter().any(|row| row.given);
        if given {
            header.extend(ids().map(|id| format!("{id} independence")));
        }
        table.set_header(header);
        let place: BTreeMap<&Values, usize> =
            rows.iter().enumerate().map(|(i, row)| (&row.values, i + 1)).collect();
        for (index, row) in rows.iter().enumerate() {
            let mut cells = vec![(index + 1).to_string()];
            cells.extend(row.values.0.iter().map(|value| value.letter().to_string()));
            cells.push(row.outcome.to_string());
            if given {
                cells.extend(
                    self.conditions
                        .iter()
                        .map(|condition| independence(condition, &row.values, &place)),
                );
            }
            table.add_row(cells);
        }
        table.column_iter_mut().for_each(|column| column.set_cell_alignment(CellAlignment::Center));
        let lines: Vec<String> =
            table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
        lines.join("\n") + "\n"
    }

    fn verdicts(&self) -> String {
        let word = |form: &McdcForm| match (&form.pair, form.attainable) {
            (Some([one, other]), _) => format!("shown by {one} and {other}"),
            (None, Some(false)) => "cannot be shown (coupled conditions)".to_owned(),
            (None, Some(true) | None) => "not shown".to_owned(),
        };
        let line = |c: &McdcCondition| {
            format!(
                "{}: unique-cause {}; masking {}\n",
                c.id,
                word(&c.unique_cause),
                word(&c.masking)
            )
        };
        self.conditions.iter().map(line).collect()
    }

    fn gaps(&self) -> String {
        let list = |vectors: &[Values]| {
            vectors.iter().map(Values::to_string).collect::<Vec<_>>().join(", ")
        };
        let mut text = String::new();
        if !self.missing.is_empty() && self.vectors.iter().any(|vector| vector.given) {
            text.push_str(&format!("\nMissing: {}\n", list(&self.missing)));
        }
        if !self.closing_set.is_empty() {
            let kind = if self.closing_set_minimal { "A smallest set" } else { "A set" };
            text.push_str(&format!(
                "\n{kind} that completes MC/DC (masking): {}\n",
                list(&self.closing_set)
            ));
        }
        let list =
            |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        if !self.explanation.is_empty() {
            text.push_str(&format!("\n{}", list(&self.explanation)));
        }
        let facts: Vec<String> = [self.coupling_line(), self.minimum_line(), self.multiple_line()]
            .into_iter()
            .flatten()
            .collect();
        text.push_str(&format!("\n{}", list(&facts)));
        text.push_str(&list(&self.notes));
        text
    }

    fn coupling_line(&self) -> Option<String> {
        let coupling = self.coupling.as_ref()?;
        let groups =
            coupling.groups.iter().map(|group| group.join(" = ")).collect::<Vec<_>>().join(", ");
        let mut text = format!("Coupled (same text): {groups}");
        if !coupling.excluded.is_empty() {
            let listed =
                coupling.excluded.iter().map(Values::to_string).collect::<Vec<_>>().join(", ");
            let all = coupling
                .excluded_count
                .is_some_and(|count| count as usize == coupling.excluded.len());
            text.push_str(&format!("; cannot occur: {listed}{}", if all { "" } else { " ..." }));
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

/// The row that completes the pair of a condition; `(m)` where only masking accepts it.
fn independence(
    condition: &McdcCondition,
    values: &Values,
    place: &BTreeMap<&Values, usize>,
) -> String {
    let partner = |form: &McdcForm| match &form.pair {
        Some([one, other]) if one == values => place.get(other).copied(),
        Some([one, other]) if other == values => place.get(one).copied(),
        Some(_) | None => None,
    };
    match (partner(&condition.unique_cause), partner(&condition.masking)) {
        (Some(row), _) => row.to_string(),
        (None, Some(row)) if condition.unique_cause.pair.is_none() => format!("{row} (m)"),
        (None, _) => String::new(),
    }
}
