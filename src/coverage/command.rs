//! `vkcert mcdc EXPR [--vectors TT,TF,F-]`: the calculus by itself, as JSON and as text.
//!
//! Promises: `conditions`, `vectors`, `missing` and `closing_set` as the contract names them; more fields say what the
//! lists leave out. Every problem of the two texts is a diagnostic with a span.
//! Does not cover: printing (`cli`).

mod text;

use super::closing::Minimality;
use super::combination::DemandedVectors;
use super::decision::EnumerationExtent;
use super::explanation::{ConditionGap, UNATTAINABLE, gap_sentences};
use super::expression::{self, ParsedExpression};
use super::independence::IndependenceForm;
use super::limits::{MAX_EXCLUDED, MAX_VECTORS};
use super::mcdc::{Attainability, ConditionAnalysis, FormAnalysis, Mcdc, McdcAnalysis, McdcError};
use super::vector_fault::ValuesFault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use vkcert_model::coverage::MinimumVectors;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::vector::{Outcome, Values, Vector};

/// Possible vectors are listed up to this number.
pub const MAX_LISTED: usize = 4_096;
const VECTORS_ARGUMENT: &str = "--vectors";

/// What `vkcert mcdc --format json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McdcResult {
    /// The expression, white space collapsed.
    pub expression: String,
    /// In source order.
    pub conditions: Vec<McdcCondition>,
    /// Every vector that can occur, in canonical order (true before false before `-`, first condition first); only the
    /// given ones where `vectors_complete` is false.
    pub vectors: Vec<McdcVector>,
    /// Whether `vectors` and `missing` list every possible vector (there are at most 4,096).
    pub vectors_complete: bool,
    /// Possible vectors that were not given.
    pub missing: Vec<Values>,
    /// Vectors to add so that every attainable condition is shown by masking.
    pub closing_set: Vec<Values>,
    /// Whether it is proved that no smaller set does.
    pub closing_set_minimal: bool,
    /// One sentence per condition that the given vectors do not show: what is missing, and which vectors would show it.
    pub explanation: Vec<String>,
    /// How many vectors MC/DC of the decision takes; null where too many can occur to tell.
    pub minimum: Option<MinimumVectors>,
    /// What coupled conditions make impossible; null where there are none.
    pub coupling: Option<McdcCoupling>,
    /// Multiple-condition coverage: given vectors of all that can occur; null for more than 65,536.
    pub multiple_condition: Option<McdcMultiple>,
    /// What the lists leave out, as sentences.
    pub notes: Vec<String>,
}

/// One condition of the expression, with both forms of MC/DC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McdcCondition {
    /// `C1`, `C2` ... in source order.
    pub id: String,
    /// The condition's text, white space collapsed.
    pub text: String,
    /// By pairs in which the condition alone differs.
    pub unique_cause: McdcForm,
    /// By pairs in which other conditions may differ where they are masked.
    pub masking: McdcForm,
    /// Other conditions with the same text.
    pub coupled_with: Vec<String>,
}

/// What coupled conditions make impossible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McdcCoupling {
    /// Conditions of each text that occurs more than once.
    pub groups: Vec<Vec<String>>,
    /// Vectors that short-circuit evaluation alone would allow; the first 64.
    pub excluded: Vec<Values>,
    /// How many there are; null where too many can occur to tell.
    pub excluded_count: Option<u32>,
    /// Conditions that no two vectors which can occur show, by form.
    pub without_unique_cause: Vec<String>,
    /// The same by masking.
    pub without_masking: Vec<String>,
}

/// Multiple-condition coverage of the expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McdcMultiple {
    /// Vectors given.
    pub covered: u32,
    /// Vectors that can occur.
    pub total: u32,
}

/// One condition under one form of MC/DC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McdcForm {
    /// Whether two of the given vectors show the condition.
    pub covered: bool,
    /// The vector in which the condition is true, then the one in which it is false.
    pub pair: Option<[Values; 2]>,
    /// Whether any two possible vectors show the condition; null where there are too many to tell.
    pub attainable: Option<bool>,
    /// Why it is not attainable, or why that is not known.
    pub reason: Option<String>,
}

/// A vector that can occur.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McdcVector {
    /// One value per condition, in source order.
    pub values: Values,
    /// The outcome of the expression for these values.
    pub outcome: Outcome,
    /// Whether it is one of the vectors given.
    pub given: bool,
}

/// Runs the calculus on two texts of the command line; `vectors` are separated by commas.
pub fn mcdc_command(
    expression_text: &str,
    vector_text: Option<&str>,
) -> Result<McdcResult, Diagnostic> {
    let parsed = expression::parse(expression_text)?;
    let mcdc = Mcdc::new(&parsed.expression, &parsed.coupling_numbers()).map_err(usage_error)?;
    let vectors_given = given_vectors(vector_text.unwrap_or(""), &mcdc, &parsed)?;
    let analysis = mcdc.analyse_vectors(vectors_given).map_err(|error| match error {
        McdcError::Limit(error) => usage_error(error),
        McdcError::Vector(error) => usage_error(error),
    })?;
    Ok(mcdc_result(expression_text, &parsed, &mcdc, analysis))
}

fn usage_error(error: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::new("usage", error.to_string())
}

/// Reads the vectors, each checked against the decision.
fn given_vectors(
    vector_text: &str,
    mcdc: &Mcdc,
    parsed: &ParsedExpression,
) -> Result<Vec<Values>, Diagnostic> {
    if vector_text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut parsed_vectors = Vec::new();
    let mut start = 0;
    for piece in vector_text.split(',') {
        let leading_spaces = piece.len() - piece.trim_start().len();
        let vector_word = piece.trim();
        let vector_start = start + leading_spaces;
        let vector_error = |span: std::ops::Range<usize>, message: String| {
            Diagnostic::new("usage", message).at_span(VECTORS_ARGUMENT, vector_text, span)
        };
        if vector_word.is_empty() {
            let comma_start = if start < vector_text.len() { start } else { start - 1 };
            return Err(vector_error(
                comma_start..comma_start + 1,
                "a vector is missing beside this comma".to_owned(),
            ));
        }
        let values: Values = vector_word.parse().map_err(|error: vkcert_model::vector::ValuesError| {
            let character_start = vector_start + error.offset;
            vector_error(character_start..character_start + error.character.len_utf8(), error.to_string())
                .hint("write T, F or - for each condition, in the order of the text, and commas between vectors")
        })?;
        mcdc.decision().vector_outcome(&values).map_err(|error| {
            let span = error
                .fault
                .value_index()
                .map_or(vector_start..vector_start + vector_word.len(), |value_index| {
                    vector_start + value_index..vector_start + value_index + 1
                });
            vector_error(span, error.to_string()).hint(vector_hint(error.fault, parsed))
        })?;
        parsed_vectors.push(values);
        start += piece.len() + 1;
    }
    Ok(parsed_vectors)
}

fn vector_hint(values_fault: ValuesFault, parsed: &ParsedExpression) -> String {
    let condition_text = |condition: usize| &parsed.conditions[condition - 1].text;
    match values_fault {
        ValuesFault::Length { .. } => {
            let listed_conditions = parsed.conditions.iter().enumerate();
            let listed_conditions: Vec<String> = listed_conditions
                .map(|(index, c)| format!("C{} `{}`", index + 1, c.text))
                .collect();
            format!("the conditions are {}", listed_conditions.join(", "))
        }
        ValuesFault::Missing { condition } => {
            format!("give T or F for `{}`", condition_text(condition))
        }
        ValuesFault::NotEvaluated { condition } => {
            format!("`&&` and `||` do not evaluate `{}` here; write -", condition_text(condition))
        }
        ValuesFault::Coupled { first, .. } => {
            format!("both stand for `{}`", condition_text(first))
        }
    }
}

fn mcdc_result(
    expression_text: &str,
    parsed: &ParsedExpression,
    mcdc: &Mcdc,
    analysis: McdcAnalysis,
) -> McdcResult {
    let is_complete = analysis.extent == EnumerationExtent::Complete
        && analysis.given.len() + analysis.missing.len() <= MAX_LISTED;
    let explanation = if analysis.given.is_empty() {
        Vec::new()
    } else {
        condition_explanations(parsed, &analysis)
    };
    let coupling = mcdc_coupling(parsed, mcdc, &analysis);
    let multiple_condition = multiple_condition(mcdc, &analysis);
    let notes = listing_notes(&analysis, is_complete);
    let listed_missing = if is_complete { analysis.missing } else { Vec::new() };
    let missing_values = listed_missing.iter().map(|vector| vector.values.clone()).collect();
    let given_rows = analysis.given.into_iter().map(|vector| McdcVector::of_vector(vector, true));
    let missing_rows =
        listed_missing.into_iter().map(|vector| McdcVector::of_vector(vector, false));
    let mut vectors: Vec<McdcVector> = given_rows.chain(missing_rows).collect();
    if is_complete {
        vectors.sort_by(|a, b| a.values.cmp(&b.values));
    }
    McdcResult {
        expression: expression_text.split_whitespace().collect::<Vec<_>>().join(" "),
        conditions: mcdc_conditions(parsed, analysis.conditions),
        vectors,
        vectors_complete: is_complete,
        missing: missing_values,
        closing_set: analysis.closing_set,
        closing_set_minimal: analysis.minimality == Minimality::Proved,
        explanation,
        minimum: mcdc.minimum_vectors(),
        coupling,
        multiple_condition,
        notes,
    }
}

impl McdcVector {
    fn of_vector(vector: Vector, given: bool) -> Self {
        Self { values: vector.values, outcome: vector.outcome, given }
    }
}

fn mcdc_conditions(
    parsed: &ParsedExpression,
    analysed_conditions: Vec<ConditionAnalysis>,
) -> Vec<McdcCondition> {
    let condition_rows = parsed.conditions.iter().zip(analysed_conditions).enumerate();
    condition_rows
        .map(|(condition_index, (condition, analysis))| McdcCondition {
            id: format!("C{}", condition_index + 1),
            text: condition.text.clone(),
            unique_cause: mcdc_form(analysis.unique_cause),
            masking: mcdc_form(analysis.masking),
            coupled_with: coupled_conditions(parsed, condition_index),
        })
        .collect()
}

/// Other conditions with the same text, as the result names them.
fn coupled_conditions(parsed: &ParsedExpression, condition_index: usize) -> Vec<String> {
    let coupling_number = parsed.conditions[condition_index].coupling;
    let numbered_conditions = parsed.conditions.iter().enumerate();
    numbered_conditions
        .filter(|(other_index, other)| {
            *other_index != condition_index && other.coupling == coupling_number
        })
        .map(|(other_index, _)| format!("C{}", other_index + 1))
        .collect()
}

/// Why it is not known that a form can be shown.
fn unattained_reason(attainability: Attainability) -> Option<Cow<'static, str>> {
    match attainability {
        Attainability::Attainable => None,
        Attainability::Unattainable => Some(UNATTAINABLE.into()),
        Attainability::Unknown => Some(format!("more than {MAX_VECTORS} vectors can occur").into()),
    }
}

fn mcdc_form(form_analysis: FormAnalysis) -> McdcForm {
    let FormAnalysis { pair, attainability, addition: _ } = form_analysis;
    McdcForm {
        covered: pair.is_some(),
        pair,
        attainable: match attainability {
            Attainability::Attainable => Some(true),
            Attainability::Unattainable => Some(false),
            Attainability::Unknown => None,
        },
        reason: unattained_reason(attainability).map(Cow::into_owned),
    }
}

fn condition_explanations(parsed: &ParsedExpression, analysis: &McdcAnalysis) -> Vec<String> {
    let analysed_conditions = parsed.conditions.iter().zip(&analysis.conditions).enumerate();
    let condition_gaps: Vec<ConditionGap> = analysed_conditions
        .map(|(condition_index, (condition, condition_analysis))| ConditionGap {
            id: format!("C{}", condition_index + 1),
            text: &condition.text,
            condition_analysis,
            reasons: [
                unattained_reason(condition_analysis.unique_cause.attainability),
                unattained_reason(condition_analysis.masking.attainability),
            ],
        })
        .collect();
    gap_sentences(&condition_gaps, &|_| None)
}

fn mcdc_coupling(
    parsed: &ParsedExpression,
    mcdc: &Mcdc,
    analysis: &McdcAnalysis,
) -> Option<McdcCoupling> {
    let mut coupled_groups: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (condition_index, condition) in parsed.conditions.iter().enumerate() {
        coupled_groups
            .entry(condition.coupling)
            .or_default()
            .push(format!("C{}", condition_index + 1));
    }
    let coupled_groups: Vec<Vec<String>> =
        coupled_groups.into_values().filter(|coupled_ids| coupled_ids.len() > 1).collect();
    if coupled_groups.is_empty() {
        return None;
    }
    let conditions_without = |form: IndependenceForm| {
        analysis.unattainable_conditions(form).map(|index| format!("C{}", index + 1)).collect()
    };
    let excluded_vectors = mcdc.excluded_by_coupling();
    Some(McdcCoupling {
        groups: coupled_groups,
        excluded_count: excluded_vectors
            .as_ref()
            .map(|excluded_vectors| excluded_vectors.len() as u32),
        excluded: excluded_vectors.unwrap_or_default().into_iter().take(MAX_EXCLUDED).collect(),
        without_unique_cause: conditions_without(IndependenceForm::UniqueCause),
        without_masking: conditions_without(IndependenceForm::Masking),
    })
}

fn multiple_condition(mcdc: &Mcdc, analysis: &McdcAnalysis) -> Option<McdcMultiple> {
    let demanded_vectors = DemandedVectors::of_decision(mcdc.decision());
    let asked_vectors = demanded_vectors.listed_vectors()?;
    let is_given =
        |vector: &&Vector| analysis.given.iter().any(|given| given.values == vector.values);
    let covered_count = asked_vectors.iter().filter(is_given).count() as u32;
    Some(McdcMultiple { covered: covered_count, total: asked_vectors.len() as u32 })
}

fn listing_notes(analysis: &McdcAnalysis, is_complete: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !is_complete {
        let listing_limit =
            if analysis.extent == EnumerationExtent::CutOff { MAX_VECTORS } else { MAX_LISTED };
        notes.push(format!(
            "More than {listing_limit} vectors can occur; only the given ones are listed."
        ));
    }
    if analysis.minimality == Minimality::NotProved {
        notes.push("The closing set may not be the smallest one.".to_owned());
    }
    if analysis
        .conditions
        .iter()
        .any(|condition| condition.masking.attainability == Attainability::Unknown)
    {
        notes.push(
            "The closing set covers only conditions that are known to be attainable.".to_owned(),
        );
    }
    notes
}

#[cfg(test)]
mod tests;
