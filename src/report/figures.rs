//! Figures that stand for a whole chapter on page 1 and in the terminal's summary: agreement,
//! coupling, object code.
//!
//! Promises: every figure says of how many it is, and what is not known is counted by name.
//! Does not cover: the rows behind the figures (the chapters have them).

use super::document::Tone;
use super::facts;
use super::statement::counted;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::{Agreement, CheckStatus, Evidence};
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::object::{ObjectOrigin, ObjectStructure};
use vkcert_model::wording::plural;

/// A part of a figure, with what it says of the matter.
pub(crate) type FigurePart = (String, Tone);

fn outcome_words(outcome: AgreementOutcome) -> (&'static str, Tone) {
    match outcome {
        AgreementOutcome::Identical => ("same outputs and coverage on both engines", Tone::Good),
        AgreementOutcome::WithinTolerance => {
            ("with outputs that differ within the test's tolerance", Tone::Good)
        }
        AgreementOutcome::WithinErrorBounds => {
            ("with outputs that differ within the error bounds of Vulkan", Tone::Good)
        }
        AgreementOutcome::LeftOpen => {
            ("with outputs that differ where the test leaves it open", Tone::Good)
        }
        AgreementOutcome::ScheduleDependent => {
            ("with coverage that depends on the schedule", Tone::Good)
        }
        // The finding of the value stands by itself.
        AgreementOutcome::UndefinedValue => {
            ("with coverage that follows an undefined value", Tone::Caution)
        }
        AgreementOutcome::NotCompared => ("not compared", Tone::Caution),
        AgreementOutcome::Different => ("different", Tone::Bad),
    }
}

/// What the comparisons of one test come to.
#[derive(Debug, Clone, Copy)]
struct ComparedTest {
    worst: AgreementOutcome,
    /// An element that differs comes from an undefined value.
    has_undefined_outputs: bool,
}

impl ComparedTest {
    const SAME: Self = Self { worst: AgreementOutcome::Identical, has_undefined_outputs: false };

    fn add_row(&mut self, row: &Agreement) {
        self.worst = row.outputs.max(row.coverage).max(self.worst);
        self.has_undefined_outputs |= has_undefined_outputs(row);
    }

    /// Whether undefined outputs are the worst of it, though the stored outcome permits them.
    fn rests_on_undefined_outputs(&self) -> bool {
        self.has_undefined_outputs && self.worst < AgreementOutcome::UndefinedValue
    }

    fn counts_as(&self, outcome: AgreementOutcome) -> bool {
        self.worst == outcome && !self.rests_on_undefined_outputs()
    }
}

/// Whether an element that differs depends on an undefined value, so that it was not compared.
pub(crate) fn has_undefined_outputs(row: &Agreement) -> bool {
    row.bounds.iter().flat_map(|bounds| &bounds.buffers).any(|buffer| buffer.undefined > 0)
}

/// `15 of 15 tests: same outputs and coverage on both engines`; none where no test was compared.
pub(crate) fn agreement_figure(evidence: &Evidence) -> Option<Vec<FigurePart>> {
    let rows = &evidence.campaign.agreement;
    if rows.is_empty() {
        return None;
    }
    let mut by_test: BTreeMap<&TestId, ComparedTest> = BTreeMap::new();
    for row in rows {
        by_test.entry(&row.test).or_insert(ComparedTest::SAME).add_row(row);
    }
    let all_tests = &evidence.campaign.tests;
    let absent_count = all_tests.iter().filter(|test| !by_test.contains_key(&test.id)).count();
    let outcome_count = |wanted_outcome: AgreementOutcome| {
        let compared_count = by_test.values().filter(|test| test.counts_as(wanted_outcome)).count();
        if wanted_outcome == AgreementOutcome::NotCompared {
            compared_count + absent_count
        } else {
            compared_count
        }
    };
    let outcome_part = |outcome: AgreementOutcome| {
        let (words, tone) = outcome_words(outcome);
        let is_first = outcome == AgreementOutcome::Identical;
        let of_tests = if is_first {
            format!(" of {}:", counted(all_tests.len(), "test"))
        } else {
            String::new()
        };
        let worst_distance =
            worst_ulp(rows).filter(|_| outcome == AgreementOutcome::WithinErrorBounds);
        let worst_distance =
            worst_distance.map(|ulp| format!(" (by {ulp} ULP at most)")).unwrap_or_default();
        let outcome_count = outcome_count(outcome);
        // That no test is the same is no good news.
        let tone = if outcome_count == 0 { Tone::Caution } else { tone };
        (format!("{outcome_count}{of_tests} {words}{worst_distance}"), tone)
    };
    let shown_outcomes = AgreementOutcome::ALL.iter().map(|(outcome, _)| *outcome);
    let shown_outcomes = shown_outcomes
        .filter(|outcome| *outcome == AgreementOutcome::Identical || outcome_count(*outcome) > 0);
    let (permitted_outcomes, worse_outcomes): (Vec<_>, Vec<_>) =
        shown_outcomes.partition(|outcome| *outcome < AgreementOutcome::UndefinedValue);
    let undefined_part = by_test.values().filter(|test| test.rests_on_undefined_outputs()).count();
    let undefined_part = (undefined_part > 0).then(|| {
        (
            format!(
                "{undefined_part} with outputs that differ where they depend on an undefined value"
            ),
            Tone::Caution,
        )
    });
    Some(
        permitted_outcomes
            .into_iter()
            .map(&outcome_part)
            .chain(undefined_part)
            .chain(worse_outcomes.into_iter().map(&outcome_part))
            .collect(),
    )
}

/// Largest distance of two finite values that both lie within the error bounds, where none comes
/// from an undefined value.
fn worst_ulp(rows: &[Agreement]) -> Option<u64> {
    let defined = rows.iter().filter(|row| !has_undefined_outputs(row));
    let buffers = defined.filter_map(|row| row.bounds.as_ref()).flat_map(|bounds| &bounds.buffers);
    buffers.filter(|buffer| buffer.outside == 0).filter_map(|buffer| buffer.worst_ulp).max()
}

/// `4 interfaces: 31 checks hold, 0 refuted, 2 undetermined`, and the kernels that have no
/// interface.
pub(crate) fn coupling_figure(evidence: &Evidence) -> Vec<FigurePart> {
    let rows = &evidence.campaign.coupling;
    let kernels: BTreeSet<&KernelName> =
        evidence.campaign.conclusion.summary.iter().map(|row| &row.kernel).collect();
    let without_interface =
        kernels.iter().filter(|name| !rows.iter().any(|row| row.kernel == ***name)).count();
    let without_interface = (without_interface > 0).then(|| {
        let words = format!(
            "{without_interface} of {}: no interface, not checked",
            counted(kernels.len(), "kernel")
        );
        (words, Tone::Caution)
    });
    let set_aside = evidence.campaign.set_aside.len();
    let set_aside = (set_aside > 0)
        .then(|| (format!("{}: set aside, not checked", counted(set_aside, "kernel")), Tone::Bad));
    let without_interface = without_interface.into_iter().chain(set_aside);
    if rows.is_empty() {
        return without_interface.collect();
    }
    let status_count = |wanted_status: CheckStatus| {
        let checks = rows.iter().flat_map(|row| &row.checks);
        checks.filter(|check| check.status == wanted_status).count()
    };
    let (holding_checks, refuted_checks) =
        (status_count(CheckStatus::Holds), status_count(CheckStatus::Refuted));
    let undetermined_checks =
        rows.iter().map(|row| row.checks.len()).sum::<usize>() - holding_checks - refuted_checks;
    let count_tone = |count: usize, tone: Tone| if count == 0 { Tone::Neutral } else { tone };
    let verb_words = if holding_checks == 1 { "check holds" } else { "checks hold" };
    let interface_count = counted(rows.len(), "interface");
    let parts = [
        (
            format!("{interface_count}: {holding_checks} {verb_words}"),
            count_tone(holding_checks, Tone::Good),
        ),
        (format!("{refuted_checks} refuted"), count_tone(refuted_checks, Tone::Bad)),
        (format!("{undetermined_checks} undetermined"), count_tone(undetermined_checks, Tone::Bad)),
    ];
    parts.into_iter().chain(without_interface).collect()
}

/// How much of the object code there is, and how much of it traces to no source statement (DO-178C
/// 6.4.4.2.b).
#[derive(Debug, Default)]
struct ObjectCode {
    branches: usize,
    additional_branches: usize,
    loops: usize,
    additional_loops: usize,
    /// Modules without source: there is nothing to trace to.
    sourceless: usize,
    /// Modules of which not even the number of branches is known.
    unknown: usize,
    modules: usize,
}

impl ObjectCode {
    fn add_module(&mut self, structure: &ObjectStructure) {
        let is_additional = |origin: &ObjectOrigin| origin.is_additional();
        let origins = || structure.branches.iter().map(|branch| &branch.origin);
        self.modules += 1;
        if structure.branches.is_empty() && structure.unrecorded.is_some() {
            self.unknown += 1;
        } else if origins().any(|origin| *origin == ObjectOrigin::NoSource) {
            self.sourceless += 1;
        } else {
            self.branches += structure.branches.len();
            self.additional_branches += origins().filter(|origin| is_additional(origin)).count();
            self.loops += structure.loops.len();
            self.additional_loops += structure
                .loops
                .iter()
                .filter(|object_loop| is_additional(&object_loop.origin))
                .count();
        }
    }
}

/// `0 of 43 branches, switches and selects and 0 of 12 loops trace to no source statement`; none
/// where the project does not ask for additional code.
pub(crate) fn additional_code_figure(evidence: &Evidence) -> Option<Vec<FigurePart>> {
    if !facts::is_asked_for(evidence, &CriterionName::AdditionalCode.into())
        || evidence.kernels.is_empty()
    {
        return None;
    }
    let mut object_code = ObjectCode::default();
    for unit in facts::kernel_units(evidence) {
        let engine_sides = facts::on_engines(evidence, &unit);
        engine_sides
            .first()
            .into_iter()
            .for_each(|(_, side)| object_code.add_module(&side.objects.structure));
    }
    let branch_words =
        plural(object_code.branches, "branch, switch or select", "branches, switches and selects");
    let additional_count = object_code.additional_branches + object_code.additional_loops;
    let trace_verb = if additional_count == 1 { "traces" } else { "trace" };
    let count_words = match object_code.branches + object_code.loops {
        0 => "no branch and no loop in the object code".to_owned(),
        _ => format!(
            "{} of {branch_words} and {} of {} in the object code {trace_verb} to no source statement",
            object_code.additional_branches,
            object_code.additional_loops,
            counted(object_code.loops, "loop"),
        ),
    };
    let trace_words = object_code.modules - object_code.unknown - object_code.sourceless;
    let count_words = (trace_words > 0)
        .then_some((count_words, if additional_count == 0 { Tone::Good } else { Tone::Caution }));
    let modules = counted(object_code.modules, "module");
    let sourceless = (object_code.sourceless > 0).then(|| {
        (format!("{} of {modules}: no source to trace to", object_code.sourceless), Tone::Caution)
    });
    let unknown = (object_code.unknown > 0)
        .then(|| (format!("{} of {modules}: not known", object_code.unknown), Tone::Bad));
    Some(count_words.into_iter().chain(sourceless).chain(unknown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::id::ObjectBranchId;
    use vkcert_model::object::{ObjectBranch, ObjectBranchKind, ObjectLoop};
    use vkcert_model::place::Place;
    use vkcert_sample as sample;

    fn joined(parts: Vec<FigurePart>) -> String {
        parts.into_iter().map(|(words, _)| words).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn agreement_is_counted_per_test_and_says_of_how_many() {
        let mut evidence = sample::evidence();
        let expected = "1 of 7 tests: same outputs and coverage on both engines; 1 with outputs that differ within the \
                        error bounds of Vulkan (by 2 ULP at most); 4 not compared; 1 different";
        assert_eq!(joined(agreement_figure(&evidence).unwrap()), expected);
        // A test of two kernels is as good as the worse one.
        let mut other = evidence.campaign.agreement[0].clone();
        other.outputs = AgreementOutcome::LeftOpen;
        evidence.campaign.agreement.push(other);
        assert!(joined(agreement_figure(&evidence).unwrap()).starts_with("0 of 7 tests: same"));
        evidence.campaign.agreement.clear();
        assert!(agreement_figure(&evidence).is_none());
    }

    #[test]
    fn coverage_that_follows_an_undefined_value_is_called_so_and_not_different() {
        let mut evidence = sample::evidence();
        evidence.campaign.agreement[1].coverage = AgreementOutcome::UndefinedValue;
        let parts = agreement_figure(&evidence).unwrap();
        let found = parts.iter().find(|(words, _)| words.contains("undefined"));
        let words = "1 with coverage that follows an undefined value".to_owned();
        assert_eq!(found, Some(&(words, Tone::Caution)), "{parts:?}");
        assert!(parts.iter().all(|(words, _)| !words.contains("different")), "{parts:?}");
        // What differs without a reason is worse, and said instead.
        evidence.campaign.agreement[1].outputs = AgreementOutcome::Different;
        let parts = agreement_figure(&evidence).unwrap();
        assert!(parts.contains(&("1 different".to_owned(), Tone::Bad)), "{parts:?}");
    }

    #[test]
    fn outputs_that_depend_on_an_undefined_value_are_not_within_error_bounds() {
        let mut evidence = sample::evidence();
        let is_bounded = |row: &&mut Agreement| row.outputs == AgreementOutcome::WithinErrorBounds;
        let row = evidence.campaign.agreement.iter_mut().find(is_bounded).unwrap();
        // Some elements within the bounds, one undefined: the test counts as the undefined one.
        row.bounds.as_mut().unwrap().buffers[0].undefined = 1;
        let parts = agreement_figure(&evidence).unwrap();
        let words = "1 with outputs that differ where they depend on an undefined value".to_owned();
        assert!(parts.contains(&(words, Tone::Caution)), "{parts:?}");
        assert!(
            parts
                .iter()
                .all(|(words, _)| !words.contains("error bounds") && !words.contains("ULP")),
            "{parts:?}"
        );
        // What differs without a reason is worse, and said instead.
        evidence
            .campaign
            .agreement
            .iter_mut()
            .for_each(|row| row.coverage = AgreementOutcome::Different);
        let parts = agreement_figure(&evidence).unwrap();
        assert!(parts.iter().all(|(words, _)| !words.contains("undefined")), "{parts:?}");
    }

    #[test]
    fn coupling_counts_checks_and_kernels_that_have_none() {
        let mut evidence = sample::evidence();
        let expected = "1 interface: 1 check holds; 1 refuted; 0 undetermined; 1 of 2 kernels: no interface, not checked";
        assert_eq!(joined(coupling_figure(&evidence)), expected);
        evidence.campaign.coupling.clear();
        assert_eq!(joined(coupling_figure(&evidence)), "2 of 2 kernels: no interface, not checked");
    }

    fn branch(origin: ObjectOrigin) -> ObjectBranch {
        let (id, kind, place) =
            (ObjectBranchId(1), ObjectBranchKind::Conditional, Place::default());
        ObjectBranch { id, kind, place, outcomes: Vec::new(), origin }
    }

    #[test]
    fn additional_code_is_claimed_of_a_number_of_branches_and_loops() {
        let mut evidence = sample::evidence();
        assert!(additional_code_figure(&evidence).is_none());
        evidence.campaign.project.criteria.push(CriterionName::AdditionalCode.into());
        let text = joined(additional_code_figure(&evidence).unwrap());
        assert_eq!(text, "no branch and no loop in the object code");
        let structure = &mut evidence.kernels[0].objects.structure;
        structure.branches = vec![
            branch(ObjectOrigin::Loop("for".into())),
            branch(ObjectOrigin::Untraced("why".into())),
            branch(ObjectOrigin::CompilerMade("a switch".into())),
        ];
        structure.loops =
            vec![ObjectLoop { place: Place::default(), origin: ObjectOrigin::Loop("for".into()) }];
        let text = joined(additional_code_figure(&evidence).unwrap());
        let expected = "2 of 3 branches, switches and selects and 0 of 1 loop in the object code trace to no source statement";
        assert_eq!(text, expected);
        let structure = &mut evidence.kernels[0].objects.structure;
        structure.branches.clear();
        structure.unrecorded = Some("why".to_owned());
        let text = joined(additional_code_figure(&evidence).unwrap());
        assert!(text.ends_with("; 1 of 2 modules: not known"), "{text}");
    }
}
