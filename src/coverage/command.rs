//! `vkcert mcdc EXPR [--vectors TT,TF,F-]`: the calculus by itself, as JSON and as text.
//!
//! Promises: `conditions`, `vectors`, `missing` and `closing_set` as the contract names them; more fields say what the
//! lists leave out. Every problem of the two texts is a diagnostic with a span.
//! Does not cover: printing (`cli`).

mod text;

use super::closing::Minimality;
use super::combination::Demand;
use super::decision::{Extent, VectorFault};
use super::explanation::{Told, UNATTAINABLE, explanation};
use super::expression::{self, ParsedExpression};
use super::independence::Form;
use super::limits::{MAX_EXCLUDED, MAX_VECTORS};
use super::mcdc::{Analysis, Attainability, FormAnalysis, Mcdc, McdcError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McdcCondition {
    /// `C1`, `C2` ... in source order.
    pub id: String,
    pub text: String,
    pub unique_cause: McdcForm,
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
    pub without_masking: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McdcMultiple {
    pub covered: u32,
    pub total: u32,
}

/// One condition under one form of MC/DC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McdcForm {
    pub covered: bool,
    /// The vector in which the condition is true, then the one in which it is false.
    pub pair: Option<[Values; 2]>,
    /// Whether any two possible vectors show the condition; null where there are too many to tell.
    pub attainable: Option<bool>,
    /// Why it is not attainable, or why that is not known.
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McdcVector {
    pub values: Values,
    pub outcome: Outcome,
    pub given: bool,
}

/// Runs the calculus on two texts of the command line; `vectors` are separated by commas.
pub fn mcdc_command(expr: &str, vectors: Option<&str>) -> Result<McdcResult, Diagnostic> {
    let parsed = expression::parse(expr)?;
    let limit = |error: &dyn std::fmt::Display| Diagnostic::new("usage", error.to_string());
    let mcdc = Mcdc::new(&parsed.expression, &parsed.coupling()).map_err(|error| limit(&error))?;
    let given = given_vectors(vectors.unwrap_or(""), &mcdc, &parsed)?;
    let analysis = mcdc.analyse(&given).map_err(|error| match error {
        McdcError::Limit(error) => limit(&error),
        McdcError::Vector(error) => limit(&error),
    })?;
    Ok(result(expr, &parsed, &mcdc, &analysis))
}

/// Reads the vectors, each checked against the decision.
fn given_vectors(
    text: &str,
    mcdc: &Mcdc,
    parsed: &ParsedExpression,
) -> Result<Vec<Values>, Diagnostic> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut given = Vec::new();
    let mut start = 0;
    for piece in text.split(',') {
        let lead = piece.len() - piece.trim_start().len();
        let vector = piece.trim();
        let at = start + lead;
        let fault = |span: std::ops::Range<usize>, message: String| {
            Diagnostic::new("usage", message).at_span(VECTORS_ARGUMENT, text, span)
        };
        if vector.is_empty() {
            let comma = if start < text.len() { start } else { start - 1 };
            return Err(fault(
                comma..comma + 1,
                "a vector is missing beside this comma".to_owned(),
            ));
        }
        let values: Values = vector.parse().map_err(|error: vkcert_model::vector::ValuesError| {
            let from = at + error.offset;
            fault(from..from + error.character.len_utf8(), error.to_string())
                .hint("write T, F or - for each condition, in the order of the text, and commas between vectors")
        })?;
        mcdc.decision().outcome(&values).map_err(|error| {
            let span =
                error.index().map_or(at..at + vector.len(), |index| at + index..at + index + 1);
            fault(span, error.to_string()).hint(vector_hint(&error, parsed))
        })?;
        given.push(values);
        start += piece.len() + 1;
    }
    Ok(given)
}

fn vector_hint(fault: &VectorFault, parsed: &ParsedExpression) -> String {
    let text = |condition: usize| &parsed.conditions[condition - 1].text;
    match fault {
        VectorFault::Length { .. } => {
            let listed = parsed.conditions.iter().enumerate();
            let listed: Vec<String> =
                listed.map(|(index, c)| format!("C{} `{}`", index + 1, c.text)).collect();
            format!("the conditions are {}", listed.join(", "))
        }
        VectorFault::Missing { condition, .. } => format!("give T or F for `{}`", text(*condition)),
        VectorFault::NotEvaluated { condition, .. } => {
            format!("`&&` and `||` do not evaluate `{}` here; write -", text(*condition))
        }
        VectorFault::Coupled { first, .. } => format!("both stand for `{}`", text(*first)),
    }
}

fn result(expr: &str, parsed: &ParsedExpression, mcdc: &Mcdc, analysis: &Analysis) -> McdcResult {
    let complete = analysis.extent == Extent::Complete
        && analysis.given.len() + analysis.missing.len() <= MAX_LISTED;
    let row = |given: bool| {
        move |vector: &Vector| McdcVector {
            values: vector.values.clone(),
            outcome: vector.outcome,
            given,
        }
    };
    let mut vectors: Vec<McdcVector> = analysis.given.iter().map(row(true)).collect();
    if complete {
        vectors.extend(analysis.missing.iter().map(row(false)));
        vectors.sort_by(|a, b| a.values.cmp(&b.values));
    }
    let missing =
        analysis.missing.iter().filter(|_| complete).map(|vector| vector.values.clone()).collect();
    McdcResult {
        expression: expr.split_whitespace().collect::<Vec<_>>().join(" "),
        conditions: conditions(parsed, analysis),
        vectors,
        vectors_complete: complete,
        missing,
        closing_set: analysis.closing_set.clone(),
        closing_set_minimal: analysis.minimality == Minimality::Proved,
        explanation: if analysis.given.is_empty() {
            Vec::new()
        } else {
            explained(parsed, analysis)
        },
        minimum: mcdc.minimum_vectors(),
        coupling: coupling(parsed, mcdc, analysis),
        multiple_condition: multiple_condition(mcdc, analysis),
        notes: notes(analysis, complete),
    }
}

fn conditions(parsed: &ParsedExpression, analysis: &Analysis) -> Vec<McdcCondition> {
    let coupled_with = |index: usize| -> Vec<String> {
        let number = parsed.conditions[index].coupling;
        let others = parsed.conditions.iter().enumerate().filter(|(other, _)| *other != index);
        others
            .filter(|(_, c)| c.coupling == number)
            .map(|(other, _)| format!("C{}", other + 1))
            .collect()
    };
    let condition = |(index, (parsed, found)): (
        usize,
        (&expression::ParsedCondition, &super::mcdc::ConditionAnalysis),
    )| {
        McdcCondition {
            id: format!("C{}", index + 1),
            text: parsed.text.clone(),
            unique_cause: form(&found.unique_cause),
            masking: form(&found.masking),
            coupled_with: coupled_with(index),
        }
    };
    parsed.conditions.iter().zip(&analysis.conditions).enumerate().map(condition).collect()
}

fn form(form: &FormAnalysis) -> McdcForm {
    let (attainable, reason) = match form.attainability {
        Attainability::Attainable => (Some(true), None),
        Attainability::Unattainable => (Some(false), Some(UNATTAINABLE.to_owned())),
        Attainability::Unknown => {
            (None, Some(format!("more than {MAX_VECTORS} vectors can occur")))
        }
    };
    McdcForm { covered: form.pair.is_some(), pair: form.pair.clone(), attainable, reason }
}

fn explained(parsed: &ParsedExpression, analysis: &Analysis) -> Vec<String> {
    let rows = parsed.conditions.iter().zip(&analysis.conditions).enumerate();
    let told: Vec<Told> = rows
        .map(|(index, (condition, found))| Told {
            id: format!("C{}", index + 1),
            text: &condition.text,
            found,
            reasons: [form(&found.unique_cause).reason, form(&found.masking).reason],
        })
        .collect();
    explanation(&told, &|_| None)
}

fn coupling(parsed: &ParsedExpression, mcdc: &Mcdc, analysis: &Analysis) -> Option<McdcCoupling> {
    let mut groups: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (index, condition) in parsed.conditions.iter().enumerate() {
        groups.entry(condition.coupling).or_default().push(format!("C{}", index + 1));
    }
    let groups: Vec<Vec<String>> = groups.into_values().filter(|group| group.len() > 1).collect();
    if groups.is_empty() {
        return None;
    }
    let without = |form: Form| {
        let rows = analysis.conditions.iter().enumerate();
        let rows =
            rows.filter(|(_, found)| found.form(form).attainability == Attainability::Unattainable);
        rows.map(|(index, _)| format!("C{}", index + 1)).collect()
    };
    let excluded = mcdc.excluded_by_coupling();
    Some(McdcCoupling {
        groups,
        excluded_count: excluded.as_ref().map(|excluded| excluded.len() as u32),
        excluded: excluded.unwrap_or_default().into_iter().take(MAX_EXCLUDED).collect(),
        without_unique_cause: without(Form::UniqueCause),
        without_masking: without(Form::Masking),
    })
}

fn multiple_condition(mcdc: &Mcdc, analysis: &Analysis) -> Option<McdcMultiple> {
    let demand = Demand::of(mcdc.decision());
    let asked = demand.vectors()?;
    let given = |vector: &&Vector| analysis.given.iter().any(|given| given.values == vector.values);
    let covered = asked.iter().filter(given).count() as u32;
    Some(McdcMultiple { covered, total: asked.len() as u32 })
}

fn notes(analysis: &Analysis, complete: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !complete {
        let limit = if analysis.extent == Extent::CutOff { MAX_VECTORS } else { MAX_LISTED };
        notes.push(format!("More than {limit} vectors can occur; only the given ones are listed."));
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
mod tests {
    use super::*;

    #[test]
    fn the_papers_guard_needs_three_vectors() {
        let result = mcdc_command("x < k && y < m", Some("TT,TF,F-")).unwrap();
        assert!(result.conditions.iter().all(|c| c.unique_cause.covered && c.masking.covered));
        assert_eq!(result.missing, []);
        assert_eq!(result.closing_set, []);
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["conditions"][1]["unique_cause"]["pair"], serde_json::json!(["TT", "TF"]));
        assert_eq!(
            json["vectors"][2],
            serde_json::json!({"values": "F-", "outcome": "F", "given": true})
        );
    }

    #[test]
    fn without_vectors_the_closing_set_is_a_whole_test_set() {
        let result = mcdc_command("a && b", None).unwrap();
        assert_eq!(
            result.closing_set.iter().map(Values::to_string).collect::<Vec<_>>(),
            ["TT", "TF", "F-"]
        );
        assert!(result.closing_set_minimal && result.vectors_complete);
        assert_eq!(result.missing.len(), 3);
    }

    #[test]
    fn coupling_can_make_a_condition_unattainable() {
        let result = mcdc_command("a && a", None).unwrap();
        assert_eq!(result.conditions[0].masking.attainable, Some(true));
        assert_eq!(result.conditions[1].masking.attainable, Some(false));
        assert_eq!(result.conditions[1].coupled_with, ["C1"]);
    }

    #[test]
    fn wrong_vectors_are_diagnostics_with_a_span() {
        for (vectors, span) in [
            ("TT,T", 3..4),
            ("TT, FT", 5..6),
            ("T-", 1..2),
            ("TT,TX", 4..5),
            ("TT,,F-", 3..4),
            ("TT,", 2..3),
            ("TT,t-", 3..4),
        ] {
            let diagnostic = mcdc_command("a && b", Some(vectors)).expect_err(vectors);
            assert_eq!(
                diagnostic.location.unwrap().span,
                Some(span),
                "{vectors}: {}",
                diagnostic.message
            );
        }
        assert!(mcdc_command("a && a", Some("TF")).unwrap_err().message.contains("contradicts"));
    }

    #[test]
    fn long_chains_list_only_given_vectors() {
        let chain = (0..20).map(|i| format!("c{i}")).collect::<Vec<_>>().join(" ^^ ");
        let result = mcdc_command(&chain, Some(&"T".repeat(20))).unwrap();
        assert!(!result.vectors_complete);
        assert_eq!((result.vectors.len(), result.closing_set.len()), (1, 20));
        assert!(result.closing_set_minimal);
    }

    #[test]
    fn the_table_names_the_row_that_completes_a_pair() {
        insta::assert_snapshot!(mcdc_command("(A && B) || C", Some("TFT,F-F,TT-")).unwrap().text());
    }
}
