//! The coverage of a program's decisions, as llvm-cov reports it.
//!
//! Knows: the records of `llvm-cov export` (format 2.0.1: branches, MC/DC records), the executed
//! vectors that `llvm-cov show -show-mcdc` prints, and clang's warnings about decisions that it
//! cannot measure.
//! Promises: a record is taken for a decision only if it stands exactly where the decision was
//! written; clang's values of conditions with `!` before them are turned into those of the leaf.
//! What cannot be matched is not measured, with the reason.

mod reports;
#[cfg(test)]
mod tests;

use super::clang::CoverageReports;
use reports::{
    BranchCounts, McdcBlock, extent_on_one_line, folded_branches, mcdc_blocks, mcdc_warnings,
    split_record,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_glsl::cpp::{CppProgram, LineExtent, PlacedDecision};

/// Why a constant is not measured.
pub const FOLDED: &str = "a constant, which clang folds";

/// What clang measured of one decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MeasuredDecision {
    /// MC/DC: per condition, and the vectors that were executed (`T`, `F`, `-`, and `C` for a
    /// folded constant).
    Vectors {
        /// By condition, in source order.
        conditions: Vec<MeasuredCondition>,
        /// The vectors that were executed.
        vectors: BTreeSet<String>,
    },
    /// A single condition: how often its branch was taken with the leaf true and false.
    Branch {
        /// How often the leaf was true.
        true_count: u64,
        /// How often the leaf was false.
        false_count: u64,
    },
    /// Not measured, with the reason.
    NotMeasured {
        /// Why.
        reason: String,
    },
}

/// What clang says of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredCondition {
    /// An independence pair was executed.
    Covered,
    /// No independence pair was executed.
    Uncovered,
    /// A constant: not measured.
    Folded,
}

/// The coverage of a program, as read from the reports.
pub struct ProgramCoverage<'a> {
    program: &'a CppProgram,
    lines: Vec<&'a str>,
    branch_counts: BTreeMap<LineExtent, BranchCounts>,
    /// By line and column of the region's start.
    mcdc_records: BTreeMap<LineExtent, Vec<bool>>,
    mcdc_blocks: BTreeMap<LineExtent, McdcBlock>,
    /// Where branches on constants start, which clang folds.
    folded_branches: BTreeSet<(u32, u32)>,
    /// Reasons for what clang did not measure, by line and column.
    warnings: BTreeMap<(u32, u32), String>,
}

impl<'a> ProgramCoverage<'a> {
    /// Reads the reports of llvm-cov and the warnings of the compiler.
    ///
    /// # Errors
    /// A record or line that does not have the expected form.
    pub fn from_reports(
        program: &'a CppProgram,
        reports: &CoverageReports,
        compiler_messages: &str,
    ) -> Result<Self, String> {
        let document: Value =
            serde_json::from_str(&reports.json).map_err(|error| error.to_string())?;
        let file_report = &document["data"][0]["files"][0];
        let (mut branch_counts, mut mcdc_records) = (BTreeMap::new(), BTreeMap::new());
        for row in file_report["branches"].as_array().into_iter().flatten() {
            let [extent, record_values] =
                split_record(row).ok_or("a branch record that is not understood")?;
            let (Some(true_count), Some(false_count)) =
                (record_values[0].as_u64(), record_values[1].as_u64())
            else {
                return Err("a branch record that is not understood".to_owned());
            };
            if let Some(extent) = extent_on_one_line(extent) {
                branch_counts.insert(extent, BranchCounts { true_count, false_count });
            }
        }
        for row in file_report["mcdc_records"].as_array().into_iter().flatten() {
            let [extent, record_values] =
                split_record(row).ok_or("an MC/DC record that is not understood")?;
            let covered_conditions = record_values
                .last()
                .and_then(Value::as_array)
                .ok_or("an MC/DC record that is not understood")?;
            if let Some(extent) = extent_on_one_line(extent) {
                mcdc_records.insert(
                    extent,
                    covered_conditions
                        .iter()
                        .map(|covered_flag| covered_flag == &Value::Bool(true))
                        .collect(),
                );
            }
        }
        let mcdc_blocks = mcdc_blocks(&reports.text)?;
        let lines = program.text.lines().collect();
        let folded_branches = folded_branches(&reports.text);
        Ok(Self {
            program,
            lines,
            branch_counts,
            mcdc_records,
            mcdc_blocks,
            folded_branches,
            warnings: mcdc_warnings(compiler_messages),
        })
    }

    /// Warnings that are not about what MC/DC covers.
    pub fn other_warnings(compiler_messages: &str) -> Vec<String> {
        let warning_lines = compiler_messages.lines().filter(|line| line.contains(": warning: "));
        warning_lines.filter(|line| !line.contains("MC/DC")).map(str::to_owned).collect()
    }

    /// Every decision that the program holds.
    pub fn measured_decisions(&self) -> BTreeMap<vkcert_model::id::DecisionId, MeasuredDecision> {
        self.program
            .decisions
            .iter()
            .map(|placed| (placed.id, self.measure_decision(placed)))
            .collect()
    }

    fn measure_decision(&self, placed_decision: &PlacedDecision) -> MeasuredDecision {
        let measured_decision = if placed_decision.conditions.len() == 1 {
            self.measure_branch(placed_decision)
        } else {
            self.measure_vectors(placed_decision)
        };
        measured_decision.unwrap_or_else(|reason| MeasuredDecision::NotMeasured { reason })
    }

    fn measure_branch(&self, placed_decision: &PlacedDecision) -> Result<MeasuredDecision, String> {
        let leaf_extent = placed_decision.conditions[0];
        let (extent, branch_counts) = self
            .branch_counts
            .iter()
            .find(|(extent, _)| self.is_same_expression(**extent, leaf_extent))
            .ok_or("a value without a branch: clang counts branches alone")?;
        if self.folded_branches.contains(&(extent.line, extent.start)) {
            return Err(FOLDED.to_owned());
        }
        let (true_count, false_count) = match self.negation_count(*extent, leaf_extent) % 2 {
            0 => (branch_counts.true_count, branch_counts.false_count),
            _ => (branch_counts.false_count, branch_counts.true_count),
        };
        Ok(MeasuredDecision::Branch { true_count, false_count })
    }

    fn measure_vectors(
        &self,
        placed_decision: &PlacedDecision,
    ) -> Result<MeasuredDecision, String> {
        let decision_record = self
            .mcdc_records
            .iter()
            .find(|(extent, _)| self.is_same_expression(**extent, placed_decision.root));
        let (extent, covered_conditions) =
            decision_record.ok_or_else(|| self.missing_record_reason(placed_decision))?;
        let mcdc_block = self.mcdc_blocks.get(extent).ok_or("llvm-cov shows no vectors of it")?;
        let condition_count = placed_decision.conditions.len();
        if covered_conditions.len() != condition_count
            || mcdc_block.condition_starts.len() != condition_count
        {
            let count_sentence = format!("clang counts {} conditions", covered_conditions.len());
            return Err(match self.holds_exclusive_or(placed_decision) {
                true => format!("`^^` has no counterpart in C++: {count_sentence}"),
                false => count_sentence,
            });
        }
        let mut leaves = Vec::with_capacity(condition_count);
        for start in &mcdc_block.condition_starts {
            leaves.push(self.leaf_of_condition(*start, placed_decision)?);
        }
        let mut conditions = vec![MeasuredCondition::Uncovered; condition_count];
        for (condition_index, (leaf_index, _)) in leaves.iter().enumerate() {
            conditions[*leaf_index] = match (
                mcdc_block.folded_conditions.contains(&condition_index),
                covered_conditions[condition_index],
            ) {
                (true, _) => MeasuredCondition::Folded,
                (false, true) => MeasuredCondition::Covered,
                (false, false) => MeasuredCondition::Uncovered,
            };
        }
        let vectors = mcdc_block.executed_vectors.iter().map(|executed_vector| {
            let mut values = vec!['?'; condition_count];
            for (value, (leaf_index, negation_count)) in executed_vector.iter().zip(&leaves) {
                values[*leaf_index] = match (value, negation_count % 2) {
                    ('T', 1) => 'F',
                    ('F', 1) => 'T',
                    (value, _) => *value,
                };
            }
            values.into_iter().collect()
        });
        Ok(MeasuredDecision::Vectors { vectors: vectors.collect(), conditions })
    }

    /// The index of the leaf that clang's condition stands for, and the number of `!` that clang
    /// includes in it.
    fn leaf_of_condition(
        &self,
        start: (u32, u32),
        placed_decision: &PlacedDecision,
    ) -> Result<(usize, usize), String> {
        let branch_extent =
            self.branch_counts.keys().find(|extent| (extent.line, extent.start) == start);
        let branch_extent = branch_extent.ok_or("a condition of clang's without a branch")?;
        let leaf_index = placed_decision
            .conditions
            .iter()
            .position(|condition| self.is_same_expression(*branch_extent, *condition));
        let leaf_index =
            leaf_index.ok_or("a condition of clang's that is no condition of the decision")?;
        Ok((
            leaf_index,
            self.negation_count(*branch_extent, placed_decision.conditions[leaf_index]),
        ))
    }

    /// Why llvm-cov has no MC/DC record of the decision.
    fn missing_record_reason(&self, placed_decision: &PlacedDecision) -> String {
        let is_within = |(line, column): &(u32, u32)| {
            *line == placed_decision.whole.line
                && *column + 1 >= placed_decision.whole.start
                && *column <= placed_decision.whole.end
        };
        let clang_reason = self
            .warnings
            .iter()
            .find(|(warning_place, _)| is_within(warning_place))
            .map(|(_, reason)| reason.clone());
        let surrounding_reason = || {
            let starts_before = |(line, column): &(u32, u32)| {
                *line == placed_decision.whole.line && *column < placed_decision.whole.start
            };
            let outer_warning =
                self.warnings.iter().rev().find(|(warning_place, _)| starts_before(warning_place));
            outer_warning.map(|_| "nested in a decision that clang does not measure".to_owned())
        };
        let decision_text = self.text_at(placed_decision.whole);
        let exclusive_or_reason = decision_text
            .contains(") != (")
            .then(|| "`^^` has no counterpart in C++ (`!=` is one condition)".to_owned());
        clang_reason
            .or(exclusive_or_reason)
            .or_else(surrounding_reason)
            .unwrap_or_else(|| "clang has no record of it".to_owned())
    }

    /// Whether the decision holds `^^`, the only operator that the emitter writes as `!=`.
    fn holds_exclusive_or(&self, placed_decision: &PlacedDecision) -> bool {
        self.text_at(placed_decision.whole).contains(") != (")
    }

    fn text_at(&self, extent: LineExtent) -> &str {
        // Positions count from 1; a decision that was not written has none.
        let zero_based = |number: u32| (number as usize).checked_sub(1);
        let text_piece = || {
            self.lines
                .get(zero_based(extent.line)?)?
                .get(zero_based(extent.start)?..zero_based(extent.end)?)
        };
        text_piece().unwrap_or_default()
    }

    /// Whether two pieces of a line are the same expression, but for `!` and parentheses around all
    /// of it.
    fn is_same_expression(&self, outer: LineExtent, inner: LineExtent) -> bool {
        let overlaps =
            outer.line == inner.line && outer.start < inner.end && inner.start < outer.end;
        overlaps && without_negation(self.text_at(outer)) == without_negation(self.text_at(inner))
    }

    /// The `!` that stand around the leaf in what clang calls the condition.
    fn negation_count(&self, outer: LineExtent, leaf: LineExtent) -> usize {
        let bytes_before = leaf.start.saturating_sub(outer.start) as usize;
        self.text_at(outer).get(..bytes_before).map_or(0, |text| text.matches('!').count())
    }
}

/// The expression without the `!` and the parentheses that enclose all of it.
fn without_negation(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        if let Some(negated_text) = text.strip_prefix('!') {
            text = negated_text.trim_start();
        } else if is_parenthesised(text) {
            text = text[1..text.len() - 1].trim();
        } else {
            return text;
        }
    }
}

/// Whether the first character is a parenthesis that the last one closes.
fn is_parenthesised(text: &str) -> bool {
    let mut depth = 0_usize;
    if !text.starts_with('(') || !text.ends_with(')') {
        return false;
    }
    for (byte_index, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return byte_index + 1 == text.len();
        }
    }
    false
}
