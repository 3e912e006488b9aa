//! Mutants of second order: two faults at once, of mutants that tests notice one by one.
//!
//! Knows: the mutants of a kernel that tests killed. Promises: each is paired with the next one by place and
//! with the next one by data flow, where there are such, and a pair is judged as a mutant is. Whether tests that
//! notice simple faults notice those composed of them (the coupling effect) is counted, not assumed.
//! Does not cover: pairs in several files; data flow beyond names: what stands in the statements of a
//! text is compared, not what a compiler knows.

use super::equivalence::prove_by_ranges;
use super::mutant_run::MutantBench;
use super::plan::{KernelPlan, MutantFacts};
use super::test_order::killer;
use crate::CampaignError;
use rayon::prelude::*;
use std::collections::BTreeSet;
use vkcert_glsl::mutation::{MutantForm, SourceMutant};
use vkcert_model::evidence::{
    JudgingTests, MutantPair, MutantStatus, MutationEvidence, PairRelation,
};
use vkcert_model::id::TestId;
use vkcert_model::place::SourceFile;

/// A pair of places among the mutants of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PairedPlaces {
    first: usize,
    second: usize,
    relation: PairRelation,
}

impl PairedPlaces {
    /// As evidence names it.
    pub(super) fn name(self) -> ([u32; 2], PairRelation) {
        ([self.first, self.second].map(|place| place as u32 + 1), self.relation)
    }

    /// The two in one text.
    pub(super) fn mutant(self, plan: &KernelPlan<'_>) -> SourceMutant {
        let mutants = &plan.mutated.mutants;
        united(&mutants[self.first], &mutants[self.second])
    }

    /// With what became of it.
    pub(super) fn evidence(self, facts: MutantFacts) -> MutantPair {
        let MutantFacts { runs, difference } = facts;
        let ((parts, relation), proof) = (self.name(), difference.proof());
        let status = runs.status(proof);
        MutantPair { parts, relation, runs, proof, status }
    }
}

/// Judges the pairs of a kernel's killed mutants, on all cores.
pub(super) fn judge_pairs(
    plan: &KernelPlan<'_>,
    bench: &MutantBench<'_>,
    judged: &MutationEvidence,
) -> Result<Vec<MutantPair>, CampaignError> {
    let pairs = pairs_of_killed(plan, judged);
    let judge = |pair: &PairedPlaces| {
        let both = pair.mutant(plan);
        let killer_of = |place: usize| {
            let mutants = &judged.mutants;
            let index = mutants.binary_search_by_key(&place, |mutant| mutant.number as usize - 1);
            killer(&mutants[index.ok()?].runs)
        };
        let first: Vec<TestId> =
            [pair.first, pair.second].into_iter().filter_map(killer_of).collect();
        bench.judge_alone(&both, &first, JudgingTests::UntilKilled)
    };
    let facts = pairs.par_iter().with_max_len(1).map(judge);
    let mut facts = facts.collect::<Result<Vec<MutantFacts>, CampaignError>>()?;
    prove_by_ranges(&mut facts, || bench.compared());
    Ok(pairs.into_iter().zip(facts).map(|(pair, facts)| pair.evidence(facts)).collect())
}

/// The pairs of a kernel's mutants that tests killed, in order.
pub(super) fn pairs_of_killed(
    plan: &KernelPlan<'_>,
    judged: &MutationEvidence,
) -> Vec<PairedPlaces> {
    let killed = judged.mutants.iter().filter(|mutant| mutant.status == MutantStatus::Killed);
    let killed = killed.map(|mutant| mutant.number as usize - 1);
    // Mutants of dispatches stand behind those of the text.
    let killed: Vec<usize> = killed.filter(|place| *place < plan.mutated.mutants.len()).collect();
    pairs_of(plan, &killed)
}

fn pairs_of(plan: &KernelPlan<'_>, killed: &[usize]) -> Vec<PairedPlaces> {
    let mutants = &plan.mutated.mutants;
    let mut pairs = BTreeSet::new();
    let placed: Vec<(usize, Extent)> =
        killed.iter().filter_map(|place| Some((*place, Extent::of(&mutants[*place])?))).collect();
    for (index, (first, extent)) in placed.iter().enumerate() {
        let is_behind =
            |(_, other): &&(usize, Extent)| other.file == extent.file && other.start >= extent.end;
        let behind: Vec<&(usize, Extent)> = placed[index + 1..].iter().filter(is_behind).collect();
        let next = behind.iter().min_by_key(|(place, other)| (other.start, *place));
        pairs.extend(next.map(|(second, _)| PairedPlaces {
            first: *first,
            second: *second,
            relation: PairRelation::Place,
        }));
        let file = &plan.mutated.files[extent.file];
        let Some(name) = assigned_name(file, extent) else { continue };
        let reading = behind
            .iter()
            .filter(|(_, other)| other.start >= statement_end(file, extent.end))
            .filter(|(_, other)| has_word(statement(file, other), name))
            .min_by_key(|(place, other)| (other.start, *place));
        pairs.extend(reading.map(|(second, _)| PairedPlaces {
            first: *first,
            second: *second,
            relation: PairRelation::DataFlow,
        }));
    }
    pairs.into_iter().collect()
}

/// Where a mutant changes a file: from its first change to its last one.
struct Extent {
    file: usize,
    start: usize,
    end: usize,
}

impl Extent {
    /// None of one that changes several files.
    fn of(mutant: &SourceMutant) -> Option<Self> {
        let first = mutant.edits.first()?;
        let last = mutant.edits.last()?;
        let file = first.span.file;
        let is_in_one_file = mutant.edits.iter().all(|edit| edit.span.file == file);
        let (start, end) = (first.span.start as usize, last.span.end as usize);
        is_in_one_file.then_some(Self { file: file.0 as usize, start, end })
    }
}

/// Both changes in one text; the second one stands behind the first.
fn united(first: &SourceMutant, second: &SourceMutant) -> SourceMutant {
    let operators: BTreeSet<_> = first.operators.iter().chain(&second.operators).copied().collect();
    let edits = first.edits.iter().chain(&second.edits).cloned().collect();
    SourceMutant { operators: operators.into_iter().collect(), edits, form: MutantForm::Alone }
}

const STATEMENT_ENDS: [char; 3] = [';', '{', '}'];

fn statement_start(file: &SourceFile, place: usize) -> usize {
    file.text[..place].rfind(STATEMENT_ENDS).map_or(0, |end| end + 1)
}

fn statement_end(file: &SourceFile, place: usize) -> usize {
    let rest = &file.text[place..];
    place + rest.find(STATEMENT_ENDS).map_or(rest.len(), |end| end + 1)
}

/// The text between the semicolons and braces around a change.
fn statement<'f>(file: &'f SourceFile, extent: &Extent) -> &'f str {
    &file.text[statement_start(file, extent.start)..statement_end(file, extent.end)]
}

/// The name that a statement assigns: the last word before its first `=` that is no comparison, without
/// indices and components.
fn assigned_name<'f>(file: &'f SourceFile, extent: &Extent) -> Option<&'f str> {
    let text = statement(file, extent);
    let bytes = text.as_bytes();
    let assignment = (1..bytes.len().checked_sub(1)?).find(|place| {
        bytes[*place] == b'='
            && bytes[place + 1] != b'='
            && !matches!(bytes[place - 1], b'=' | b'!' | b'<' | b'>')
    })?;
    let target = text[..assignment].split(['[', '.']).next()?;
    words(target).last()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

fn has_word(text: &str, name: &str) -> bool {
    words(text).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> SourceFile {
        SourceFile { path: "k.comp".to_owned(), text: text.to_owned() }
    }

    fn at(text: &str, word: &str) -> Extent {
        let start = text.find(word).unwrap();
        Extent { file: 0, start, end: start + word.len() }
    }

    #[test]
    fn a_statement_assigns_the_name_before_its_first_equals_sign() {
        for (text, name) in [
            ("{ uint a = b + 1u; c = a; }", Some("a")),
            ("{ values[i].x += b + 1u; }", Some("values")),
            ("{ a <<= b + 1u; }", None),
            ("{ if (a == b + 1u) c = 2u; }", Some("c")),
            ("{ f(b + 1u); }", None),
        ] {
            assert_eq!(assigned_name(&file(text), &at(text, "b + 1u")), name, "{text}");
        }
        let text = "{ uint a = b; c = a2 + a; }";
        assert!(has_word(statement(&file(text), &at(text, "a2")), "a"));
        assert!(!has_word(statement(&file(text), &at(text, "= b")), "c"));
    }
}
