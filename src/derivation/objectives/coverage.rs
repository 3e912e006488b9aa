//! Coverage of requirements, of structure and of coupling (DO-178C 6.4.4, table A-7, objectives 3
//! to 9).

use super::Showing;
use super::campaign_facts::{CampaignFacts, LevelRequirements, check_not_holding, lacking};
use super::target_tests::is_exempt;
use crate::conclusion::is_told_elsewhere;
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::{CheckStatus, KernelEvidence, RequirementStatus, kernel_label};
use vkcert_model::generation::Generation;
use vkcert_model::open_item::{NoteKind, OpenItemKind};
use vkcert_model::procedure::TestKind;
use vkcert_model::requirement::RequirementLevel;
use vkcert_model::standard::Standard;
use vkcert_model::verdict::EngineName;

/// Whether test cases exist for every requirement of a level, and verify it.
pub(super) fn requirements_tested(
    facts: &CampaignFacts,
    requirements: &LevelRequirements,
) -> Showing {
    let (total, name) = (requirements.rows.len(), requirements.name);
    if total == 0 {
        return Showing::default().misses(format!("The project has no {name}."));
    }
    let uids_with = |statuses: &[RequirementStatus]| -> Vec<String> {
        let rows = requirements.rows.iter().filter(|row| statuses.contains(&row.status));
        rows.map(|row| row.requirement.uid.to_string()).collect()
    };
    let not_verified = uids_with(&[
        RequirementStatus::Failed,
        RequirementStatus::Untested,
        RequirementStatus::Open,
    ]);
    let by_tests =
        uids_with(&[RequirementStatus::Verified, RequirementStatus::VerifiedByChildren]).len();
    let by_other_means = uids_with(&[RequirementStatus::ByOtherMeans]).len();
    let showing = Showing::default()
        .shows(format!(
            "Of {total} {name}, {by_tests} are verified by tests of them or of what is below them, and {by_other_means} by \
             analysis or review alone."
        ))
        .misses_all(lacking(total, name, "are not verified", &not_verified))
        .and(normal_and_robustness_cases(facts, requirements))
        .misses_all(untested_high_level(facts, requirements))
        .misses_all(facts.left_out_of_run());
    let mut notes = facts.campaign.notes.iter();
    let showing = match notes.any(|note| note.kind == NoteKind::OutputsNotJudged) {
        true => showing.leaves(
            "Show that requirements are tested although tests do not judge all that kernels store: notes of page 1 name the \
             outputs.",
        ),
        false => showing,
    };
    let citation = facts.settings.level.standard().only_do_178c(" (DO-178C 6.4.4.1)");
    match by_other_means {
        0 => showing,
        _ => showing.leaves(format!(
            "Show that analysis or review is enough where no test is asked for{citation}."
        )),
    }
}

/// Requirements to be verified by test that lack a normal or a robustness test case which passed
/// (DO-178C 6.4.4.a, 6.4.2), of them or of what is below them: what is missing, and what is left to
/// the applicant. A requirement of abnormal inputs alone has no normal test; that it is one is not
/// seen here. Other standards have no such pair of cases.
fn normal_and_robustness_cases(facts: &CampaignFacts, requirements: &LevelRequirements) -> Showing {
    match facts.settings.level.standard() {
        Standard::Do178c => {}
        Standard::EcssE40 | Standard::Iso26262 => return Showing::default(),
    }
    let mut without_normal = Vec::new();
    let mut by_robustness_alone = Vec::new();
    let mut without_robustness = Vec::new();
    for row in requirements.by_test() {
        let uid = row.requirement.uid.to_string();
        let tests = facts.tests_of(row);
        let passed_tests = || tests.iter().filter(|test| CampaignFacts::passed(test));
        let has_normal = passed_tests().any(|test| test.definition.kind == TestKind::Normal);
        let has_robustness = passed_tests().any(|test| facts.robustness_tests.contains(&test.id));
        match (has_normal, has_robustness) {
            (true, true) => {}
            (true, false) if is_exempt(facts, row) => {}
            (true, false) => without_robustness.push(uid),
            (false, true) => by_robustness_alone.push(uid),
            (false, false) => {
                without_normal.push(uid.clone());
                if !is_exempt(facts, row) {
                    without_robustness.push(uid);
                }
            }
        }
    }
    let by_test = requirements.by_test().count();
    let name = requirements.name;
    let robustness_alone = lacking(
        by_test,
        name,
        "to be verified by test have robustness tests alone: show that they are about abnormal inputs alone",
        &by_robustness_alone,
    );
    let showing = Showing::default()
        .misses_all(lacking(
            by_test,
            name,
            "to be verified by test have no normal test that passed",
            &without_normal,
        ))
        .misses_all(lacking(
            by_test,
            name,
            "to be verified by test have no robustness test that passed, and no approved reason why none is needed",
            &without_robustness,
        ));
    match robustness_alone {
        Some(sentence) => showing.leaves(sentence),
        None => showing,
    }
}

/// High-level requirements that no test names, where the objective is about any.
fn untested_high_level(facts: &CampaignFacts, requirements: &LevelRequirements) -> Vec<String> {
    let levels = facts.settings.requirement_levels;
    let mut declared_levels = requirements.rows.iter().map(|row| row.requirement.level);
    match declared_levels.any(|level| levels.is_of_level(level, RequirementLevel::Hlr)) {
        true => facts.open_items(OpenItemKind::HlrWithoutTest),
        false => Vec::new(),
    }
}

/// The form of MC/DC that the project asks for.
pub(super) fn asked_mcdc_form(facts: &CampaignFacts) -> Option<CriterionName> {
    let forms = [CriterionName::McdcUniqueCause, CriterionName::McdcMasking];
    forms.into_iter().find(|form| is_asked_for(facts, *form))
}

pub(super) fn mcdc_covered(facts: &CampaignFacts) -> Showing {
    match asked_mcdc_form(facts) {
        Some(form) => structure_covered(facts, form),
        None => not_asked("MC/DC"),
    }
    .misses_all(facts.open_items(OpenItemKind::DecisionPolicy))
}

pub(super) fn decisions_covered(facts: &CampaignFacts) -> Showing {
    structure_covered(facts, CriterionName::Decision)
        .misses_all(facts.open_items(OpenItemKind::DecisionPolicy))
}

pub(super) fn statements_covered(facts: &CampaignFacts) -> Showing {
    structure_covered(facts, CriterionName::Statement)
}

pub(super) fn additional_code_verified(facts: &CampaignFacts) -> Showing {
    structure_covered(facts, CriterionName::AdditionalCode).misses(
        "Branches are traced to source down to SPIR-V: the instructions that the device's driver makes of it are not seen.",
    )
}

fn not_asked(name: &str) -> Showing {
    Showing::default().misses(format!("The project does not ask for {name}."))
}

pub(super) fn is_asked_for(facts: &CampaignFacts, criterion: CriterionName) -> bool {
    facts.campaign.project.criteria.contains(&criterion.into())
}

/// Whether every obligation of a criterion is covered, or justified, in every kernel.
pub(super) fn structure_covered(facts: &CampaignFacts, criterion: CriterionName) -> Showing {
    if !is_asked_for(facts, criterion) {
        return not_asked(&format!("{criterion} coverage"));
    }
    structure_measured(facts, criterion, OpenObligations::AreMissing)
}

/// What obligations that no test covers and nothing justifies mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenObligations {
    /// Each is to be closed.
    AreMissing,
    /// The shares tell of them; how many may be left is not for the tool to say.
    AreTold,
}

/// The shares of a criterion on every engine that ran.
pub(super) fn structure_measured(
    facts: &CampaignFacts,
    criterion: CriterionName,
    open_obligations: OpenObligations,
) -> Showing {
    let mut showing = Showing::default();
    for engine in [EngineName::Sequential, EngineName::Vulkan] {
        let rows = summaries(facts, engine, criterion);
        if rows.is_empty() {
            continue;
        }
        showing = showing.shows(engine_share(engine, criterion, &rows));
        if open_obligations == OpenObligations::AreTold {
            continue;
        }
        for (kernel, row) in rows.iter().filter(|(_, row)| !row.complete()) {
            let open = row.total - row.covered - row.justified;
            showing = showing.misses(format!(
                "{} on the {engine} engine: {open} of {} obligations of {criterion} are open.",
                kernel_label(facts.kernels, kernel),
                row.total
            ));
        }
    }
    let showing = showing.misses_all(unmeasured_kernels(facts));
    let showing = match showing.shown.is_empty() && showing.missing.is_empty() {
        true => showing.misses("Nothing was measured."),
        false => showing,
    };
    showing.misses_all(facts.left_out_of_run())
}

/// Kernels of the project without any coverage, as sentences.
pub(super) fn unmeasured_kernels(facts: &CampaignFacts) -> Vec<String> {
    let is_measured = |name| facts.kernels.iter().any(|row| row.kernel == name);
    let names = facts.settings.kernels.iter().map(|kernel| kernel.name);
    names
        .filter(|name| !is_measured(*name))
        .map(|name| format!("The kernel {name} was not measured."))
        .collect()
}

/// The counts of a criterion in every kernel on an engine; what another engine tells is left to it.
pub(super) fn summaries<'a>(
    facts: &CampaignFacts<'a>,
    engine: EngineName,
    criterion: CriterionName,
) -> Vec<(&'a KernelEvidence, &'a CriterionSummary)> {
    let rows = facts.kernels.iter().filter(|kernel| kernel.engine == engine);
    rows.filter(|kernel| !is_told_elsewhere(facts.kernels, kernel, &criterion.into()))
        .filter_map(|kernel| Some((kernel, summary_of(kernel, criterion)?)))
        .collect()
}

fn summary_of(kernel: &KernelEvidence, criterion: CriterionName) -> Option<&CriterionSummary> {
    kernel.coverage.summary.iter().find(|row| row.criterion == criterion)
}

fn engine_share(
    engine: EngineName,
    criterion: CriterionName,
    rows: &[(&KernelEvidence, &CriterionSummary)],
) -> String {
    let sum =
        |part: fn(&CriterionSummary) -> u32| -> u32 { rows.iter().map(|(_, row)| part(row)).sum() };
    if sum(|row| row.total) == 0 {
        return format!("On the {engine} engine there is no obligation of {criterion}.");
    }
    let justified = match sum(|row| row.justified) {
        0 => String::new(),
        count => format!(", {count} more are justified"),
    };
    format!(
        "On the {engine} engine {} of {} obligations of {criterion} are covered{justified}.",
        sum(|row| row.covered),
        sum(|row| row.total)
    )
}

/// Whether tests exercise each coupling, which version 0.3.0 did not measure.
fn couplings_exercised(facts: &CampaignFacts) -> Showing {
    match Generation::for_campaign(facts.campaign) {
        Generation::First | Generation::Second | Generation::Third | Generation::Fourth => {
            Showing::default().misses("Which couplings the tests exercise is not measured.")
        }
        Generation::Current => structure_covered(facts, CriterionName::Coupling),
    }
}

/// Whether host and kernels fit each other, and tests exercise each coupling.
pub(super) fn coupling_covered(facts: &CampaignFacts) -> Showing {
    let checks = || {
        let rows = facts.campaign.coupling.iter();
        rows.flat_map(|row| row.checks.iter().map(move |check| (row.kernel, check)))
    };
    let holding = checks().filter(|(_, check)| check.status == CheckStatus::Holds).count();
    let mut showing = Showing::default()
        .shows(format!("{holding} of {} checks between host and kernels hold.", checks().count()));
    for (kernel, check) in checks() {
        showing = showing.misses_all(check_not_holding(&kernel, check));
    }
    showing
        .misses_all(facts.open_items(OpenItemKind::KernelWithoutInterface))
        .and(couplings_exercised(facts))
        .leaves(
            "Show that the host program does what its interface states, and cover its own data and control coupling.",
        )
}
