//! Open items by kind: one small function for each.
//!
//! Knows: what DO-178C asks for at a level, what the project asks for, and what the run left out.
//! Promises: items of a kind are in project order, each once.
//! Does not cover: whether the project accepts an item.

use super::StoredCampaign;
use std::collections::BTreeSet;
use vkcert_model::criterion::CriterionName;
use vkcert_model::element::ElementType;
use vkcert_model::evidence::{
    CheckStatus, CodeTrace, Configuration, CouplingCheckName, CouplingEvidence, KernelEvidence,
    RequirementEvidence, RequirementStatus, SetAsideKernel, TestResult,
};
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::open_item::{Acceptability, OpenItem, OpenItemKind, OpenItemSubject};
use vkcert_model::project::{
    Contraction, DecisionPolicy, RequirementLevels, Standard, ValidationLayers,
};
use vkcert_model::requirement::{Interface, RequirementLevel, VerificationMethod};
use vkcert_model::verdict::EngineName;
use vkcert_oracle::scalar::encode_datum;
use vkcert_requirement::host::{HostConstant, specialized_values};
use vkcert_requirement::reach::{CodeFunction, reached_functions};

/// All open items of a kind.
pub(super) fn items_of_kind(kind: OpenItemKind, stored: &StoredCampaign) -> Vec<OpenItem> {
    match kind {
        OpenItemKind::CriterionNotAsked => criteria_not_asked(stored),
        OpenItemKind::DecisionPolicy => decision_policy(stored),
        OpenItemKind::ValidationOff => validation_off(stored),
        OpenItemKind::ContractionAllowed => contraction_allowed(stored),
        OpenItemKind::KernelWithoutInterface => kernels_without_interface(stored),
        OpenItemKind::InterfaceSpecializationNotRun => specializations_not_run(stored),
        OpenItemKind::IndexBoundsNotShown => bounds_not_shown(&stored.campaign.coupling),
        OpenItemKind::BarrierOrderNotShown => barrier_order_not_shown(&stored.campaign.coupling),
        OpenItemKind::HlrWithoutTest => untested_high_level(stored),
        OpenItemKind::FunctionWithoutRequirement => functions_without_requirement(stored),
        OpenItemKind::EngineLeftOut => engines_left_out(stored),
        OpenItemKind::ChecksLeftOut => checks_left_out(stored),
        OpenItemKind::TestLeftOut => tests_left_out(stored),
        OpenItemKind::SchedulesLeftOut => schedules_left_out(stored),
        OpenItemKind::RepetitionsLeftOut => repetitions_left_out(stored),
        OpenItemKind::ScheduleReplayed => replayed_schedule(stored),
        OpenItemKind::TestsNotBegun => tests_not_begun(stored),
        OpenItemKind::KernelSetAside => kernels_set_aside(stored),
    }
}

/// An item that the project file can accept.
fn project_item(
    kind: OpenItemKind,
    subject: Option<OpenItemSubject>,
    sentence: String,
) -> OpenItem {
    OpenItem::new(kind, subject, Acceptability::ByProject, sentence)
}

/// An item that comes of the command line.
fn run_item(kind: OpenItemKind, subject: Option<OpenItemSubject>, sentence: String) -> OpenItem {
    OpenItem::new(kind, subject, Acceptability::Never, sentence)
}

fn criteria_not_asked(stored: &StoredCampaign) -> Vec<OpenItem> {
    let level = stored.settings.level;
    let asked_criteria = stored.asked_criteria();
    let level_criteria = stored.generation().criteria_of(level);
    let missing_criteria = level_criteria.iter().filter(|criterion| {
        !asked_criteria.iter().any(|asked_criterion| criterion.is_met_by(*asked_criterion))
    });
    let criterion_item = |criterion: &CriterionName| {
        let name = criterion.name();
        let sentence = format!(
            "{} {name} coverage at {}, and `criteria` does not: it may be incomplete",
            level.asks_in_words(*criterion),
            level.called()
        );
        project_item(
            OpenItemKind::CriterionNotAsked,
            Some(OpenItemSubject::Criterion(*criterion)),
            sentence,
        )
    };
    missing_criteria.map(criterion_item).collect()
}

fn decision_policy(stored: &StoredCampaign) -> Vec<OpenItem> {
    let level = stored.settings.level;
    let of_decisions = [CriterionName::Decision, CriterionName::McdcMasking];
    let asks_for_decisions =
        level.criteria().iter().any(|criterion| of_decisions.contains(criterion));
    match stored.settings.decision_policy {
        DecisionPolicy::Literal => Vec::new(),
        DecisionPolicy::ControlFlow if !asks_for_decisions => Vec::new(),
        DecisionPolicy::ControlFlow => {
            let consequence = match level.standard() {
                Standard::Do178c => {
                    format!("and {} asks for all decisions (CAST-10)", level.called())
                }
                Standard::EcssE40 | Standard::Iso26262 => {
                    format!(
                        "of which the coverage that {} asks for then says nothing",
                        level.called()
                    )
                }
            };
            let sentence = format!(
                "`decision_policy = \"control-flow\"` leaves out the Boolean expressions outside of control flow, \
                 {consequence}"
            );
            vec![project_item(OpenItemKind::DecisionPolicy, None, sentence)]
        }
    }
}

fn validation_off(stored: &StoredCampaign) -> Vec<OpenItem> {
    match stored.settings.validation {
        ValidationLayers::On | ValidationLayers::Required => Vec::new(),
        ValidationLayers::Off => {
            let sentence =
                "`validation = \"off\"`: no Vulkan validation layer looks at what a device runs"
                    .to_owned();
            vec![project_item(OpenItemKind::ValidationOff, None, sentence)]
        }
    }
}

fn contraction_allowed(stored: &StoredCampaign) -> Vec<OpenItem> {
    match stored.settings.contraction {
        Contraction::Forbidden => Vec::new(),
        Contraction::Allowed => {
            let sentence = "`contraction = \"allowed\"`: what is measured may differ from the production module in floats, \
                            within the tolerance of a test";
            vec![project_item(OpenItemKind::ContractionAllowed, None, sentence.to_owned())]
        }
    }
}

fn kernels_without_interface(stored: &StoredCampaign) -> Vec<OpenItem> {
    if !stored.settings.level.traces_code() {
        return Vec::new();
    }
    let kernels_without =
        stored.settings.kernels.iter().filter(|kernel| !stored.has_interface(&kernel.name));
    let interface_item = |kernel: &vkcert_model::project::ProjectKernel| {
        let name = &kernel.name;
        let sentence = format!(
            "kernel {name} has no [[interface]]: its coupling with the host is not analysed"
        );
        project_item(
            OpenItemKind::KernelWithoutInterface,
            Some(OpenItemSubject::Kernel(*name)),
            sentence,
        )
    };
    kernels_without.map(interface_item).collect()
}

/// Interfaces that specialize their kernel to what is no configuration of the evidence: neither
/// declared nor run by a test.
fn specializations_not_run(stored: &StoredCampaign) -> Vec<OpenItem> {
    let mut items = Vec::new();
    for coupling_row in &stored.campaign.coupling {
        let Some(interface) = &coupling_row.definition else { continue };
        let configurations =
            || stored.kernels.iter().filter(|kernel| kernel.kernel == coupling_row.kernel);
        let fits_configuration =
            |kernel: &KernelEvidence| specializes_to(interface, &kernel.configuration);
        if configurations().next().is_none() || configurations().any(fits_configuration) {
            continue;
        }
        let set_constants = interface
            .specialization
            .iter()
            .map(|constant| format!("{} = {}", constant.id, constant.value));
        let set_constants: Vec<String> = set_constants.collect();
        let host_words = if set_constants.is_empty() {
            "leaves all constants at their defaults".to_owned()
        } else {
            set_constants.join(", ")
        };
        let name = &coupling_row.kernel;
        let sentence = format!(
            "the host's specialization of kernel {name} ({host_words}) is no configuration of the project, and no test runs it"
        );
        let subject = Some(OpenItemSubject::Kernel(*name));
        items.push(project_item(OpenItemKind::InterfaceSpecializationNotRun, subject, sentence));
    }
    items
}

/// Accesses of kernels that the check `index-bounds` leaves undetermined.
pub(super) fn bounds_not_shown(coupling: &[CouplingEvidence]) -> Vec<OpenItem> {
    accesses_not_shown(
        coupling,
        &CouplingCheckName::IndexBounds,
        |kernel, open_count, all_count| {
            let verb = if open_count == 1 { "is" } else { "are" };
            let sentence = format!(
                "{open_count} of {all_count} accesses of kernel {kernel} {verb} not shown to be within what they access"
            );
            let subject = Some(OpenItemSubject::Accesses { kernel, count: open_count });
            project_item(OpenItemKind::IndexBoundsNotShown, subject, sentence)
        },
    )
}

/// Pairs of accesses that the check `barrier-order` leaves undetermined.
pub(super) fn barrier_order_not_shown(coupling: &[CouplingEvidence]) -> Vec<OpenItem> {
    accesses_not_shown(
        coupling,
        &CouplingCheckName::BarrierOrder,
        |kernel, open_count, all_count| {
            let verb = if open_count == 1 { "is" } else { "are" };
            let sentence = format!(
                "{open_count} of {all_count} pairs of a write and a read by different invocations of kernel {kernel} {verb} not shown to be ordered by barriers"
            );
            let subject = Some(OpenItemSubject::Accesses { kernel, count: open_count });
            project_item(OpenItemKind::BarrierOrderNotShown, subject, sentence)
        },
    )
}

/// An item for each kernel of which a check leaves accesses undetermined, of how many of all.
fn accesses_not_shown(
    coupling: &[CouplingEvidence],
    check: &CouplingCheckName,
    item: fn(KernelName, u32, u32) -> OpenItem,
) -> Vec<OpenItem> {
    let mut items = Vec::new();
    for coupling_row in coupling {
        let (mut open_count, mut all_count) = (0, 0);
        for row in coupling_row.checks.iter().filter(|row| row.check == *check) {
            // A row without a count tells of one place.
            let row_count = row.accesses.unwrap_or(1);
            all_count += row_count;
            if row.status == CheckStatus::Undetermined {
                open_count += row_count;
            }
        }
        if open_count > 0 {
            items.push(item(coupling_row.kernel, open_count, all_count));
        }
    }
    items
}

/// Whether an interface leads to a configuration. A value that depends on parameters leads to none:
/// which ones it takes is not known.
pub fn specializes_to(interface: &Interface, configuration: &Configuration) -> bool {
    let host_values = specialized_values(interface);
    configuration.specialization.iter().all(|constant| match host_values.get(&constant.id) {
        None => constant.default,
        Some(value) => value
            .and_then(|value| constant_bits(value, &constant.type_name))
            .is_some_and(|bits| bits == constant.bits),
    })
}

/// Raw bits of a number as a constant of a type, as configurations hold them.
fn constant_bits(value: HostConstant, type_name: &str) -> Option<String> {
    let scalar = type_name.parse::<ElementType>().ok()?.scalar;
    encode_datum(scalar, &value.as_datum()).ok().map(|bits| format!("{bits:#x}"))
}

/// High-level requirements that are shown by their children at best. With a single level of
/// requirements, each is one.
/// At every level: DO-178C table A-7, objective 3, has no exception for level D.
fn untested_high_level(stored: &StoredCampaign) -> Vec<OpenItem> {
    let levels = stored.requirement_levels();
    let lacks_test = |row: &&RequirementEvidence| {
        let requirement = &row.requirement;
        levels.is_of_level(requirement.level, RequirementLevel::Hlr)
            && requirement.verification.contains(&VerificationMethod::Test)
            && row.tests.is_empty()
            && row.left_out_tests.is_empty()
    };
    let requirement_item = |row: &RequirementEvidence| {
        let uid = &row.requirement.uid;
        let noun = match levels {
            RequirementLevels::Both => {
                stored.settings.level.standard().requirement_noun(RequirementLevel::Hlr)
            }
            RequirementLevels::Single => "requirement",
        };
        let children_words = match row.status {
            RequirementStatus::VerifiedByChildren => "; it is verified by its children alone",
            RequirementStatus::Verified
            | RequirementStatus::Failed
            | RequirementStatus::Untested
            | RequirementStatus::Open
            | RequirementStatus::ByOtherMeans => "",
        };
        let sentence = format!(
            "no test case names the {noun} {uid}, which is to be verified by test{children_words}"
        );
        project_item(
            OpenItemKind::HlrWithoutTest,
            Some(OpenItemSubject::Requirement(*uid)),
            sentence,
        )
    };
    stored.campaign.requirements.iter().filter(lacks_test).map(requirement_item).collect()
}

fn functions_without_requirement(stored: &StoredCampaign) -> Vec<OpenItem> {
    if !stored.settings.level.traces_code() {
        return Vec::new();
    }
    let mut seen_functions = BTreeSet::new();
    let mut items = Vec::new();
    for kernel in stored.kernels {
        for function in reached_functions(kernel) {
            let names_function =
                |code: &CodeTrace| code.names(function.file, function.name, &kernel.kernel);
            let is_implemented =
                stored.campaign.requirements.iter().any(|row| row.code.iter().any(names_function));
            if is_implemented || !seen_functions.insert(function) {
                continue;
            }
            let CodeFunction { file, name } = function;
            let sentence = format!(
                "no requirement implements {name} in {file}, which kernel {} reaches",
                kernel.kernel
            );
            let subject =
                OpenItemSubject::Function { file: file.to_owned(), name: name.to_owned() };
            items.push(project_item(
                OpenItemKind::FunctionWithoutRequirement,
                Some(subject),
                sentence,
            ));
        }
    }
    items
}

/// Findings are looked for on the sequential engine, so that it is never left out without a word.
fn engines_left_out(stored: &StoredCampaign) -> Vec<OpenItem> {
    let mut items = Vec::new();
    let asked_engines = stored.settings.engines.as_deref();
    let engine_item = |engine: EngineName, acceptability: Acceptability, sentence: &str| {
        let subject = Some(OpenItemSubject::Engine(engine));
        OpenItem::new(OpenItemKind::EngineLeftOut, subject, acceptability, sentence)
    };
    if !stored.ran(EngineName::Sequential) {
        let acceptability =
            match asked_engines.is_some_and(|engines| !engines.contains(&EngineName::Sequential)) {
                true => Acceptability::ByProject,
                false => Acceptability::Never,
            };
        let sentence = "the sequential engine did not run: races, reads of what nobody wrote and other findings that it \
                        alone looks for are not looked for";
        items.push(engine_item(EngineName::Sequential, acceptability, sentence));
    }
    let device_is_asked_for =
        asked_engines.is_some_and(|engines| engines.contains(&EngineName::Vulkan));
    if device_is_asked_for && !stored.ran(EngineName::Vulkan) {
        let sentence = "the project asks for the engine vulkan, which did not run";
        items.push(engine_item(EngineName::Vulkan, Acceptability::Never, sentence));
    }
    items
}

fn checks_left_out(stored: &StoredCampaign) -> Vec<OpenItem> {
    let left_out_kinds = &stored.campaign.not_looked_for;
    if left_out_kinds.is_empty() {
        return Vec::new();
    }
    let kind_names: Vec<&str> = left_out_kinds.iter().map(|kind| kind.name()).collect();
    let sentence =
        format!("findings not looked for on request (--check): {}", kind_names.join(", "));
    vec![run_item(OpenItemKind::ChecksLeftOut, None, sentence)]
}

fn tests_left_out(stored: &StoredCampaign) -> Vec<OpenItem> {
    let left_out_tests = stored.campaign.left_out.iter();
    let test_item = |id: &vkcert_model::id::TestId| {
        let sentence = format!("test {id} was left out on request (--without, --only)");
        run_item(OpenItemKind::TestLeftOut, Some(OpenItemSubject::Test(*id)), sentence)
    };
    left_out_tests.map(test_item).collect()
}

fn schedules_left_out(stored: &StoredCampaign) -> Vec<OpenItem> {
    let wanted_count = stored.settings.schedules.count;
    let results = stored.campaign.tests.iter().flat_map(|test| &test.results);
    let fewest_schedules = results
        .filter(|result| result.verdict.completed())
        .map(|result| result.schedules.as_ref().map_or(0, |schedules| schedules.asked))
        .min();
    match fewest_schedules.filter(|fewest_schedules| *fewest_schedules < wanted_count) {
        None => Vec::new(),
        Some(fewest_schedules) => {
            let sentence = format!(
                "the project asks for {wanted_count} other schedules of each test, the command line for {fewest_schedules}"
            );
            vec![run_item(OpenItemKind::SchedulesLeftOut, None, sentence)]
        }
    }
}

fn repetitions_left_out(stored: &StoredCampaign) -> Vec<OpenItem> {
    let repetition_item = |engine: EngineName| {
        let wanted_count = stored.settings.repeat.unwrap_or(engine.default_repetitions()).get();
        let results = stored.campaign.tests.iter().flat_map(|test| &test.results);
        let engine_results =
            results.filter(|result| result.engine == engine && result.verdict.completed());
        let fewest_repetitions = engine_results
            .map(|result| result.repetitions)
            .min()
            .filter(|fewest_repetitions| *fewest_repetitions < wanted_count)?;
        let sentence = format!(
            "tests ran {fewest_repetitions} times on the engine {engine} in place of {wanted_count} (--repeat)"
        );
        let subject = Some(OpenItemSubject::Engine(engine));
        Some(run_item(OpenItemKind::RepetitionsLeftOut, subject, sentence))
    };
    [EngineName::Sequential, EngineName::Vulkan].into_iter().filter_map(repetition_item).collect()
}

fn replayed_schedule(stored: &StoredCampaign) -> Vec<OpenItem> {
    let mut results = stored.campaign.tests.iter().flat_map(|test| &test.results);
    match results.find_map(|result| result.schedule) {
        None => Vec::new(),
        Some(schedule) => {
            let sentence = format!(
                "tests ran in the schedule {schedule} in place of the ordinary one (--replay)"
            );
            vec![run_item(OpenItemKind::ScheduleReplayed, None, sentence)]
        }
    }
}

/// Runs of tests that did not begin on an engine that was there, with what ended the run before.
fn tests_not_begun(stored: &StoredCampaign) -> Vec<OpenItem> {
    let results = || stored.campaign.tests.iter().flat_map(|test| &test.results);
    let is_open = |result: &&TestResult| stored.campaign.has_not_begun(result);
    let not_begun = results().filter(is_open).count();
    if not_begun == 0 {
        return Vec::new();
    }
    let reasons: BTreeSet<&str> =
        results().filter(is_open).filter_map(|result| result.reason.as_deref()).collect();
    let reasons: Vec<&str> = reasons.into_iter().collect();
    let due = results().filter(|result| stored.ran(result.engine)).count();
    let sentence =
        format!("{not_begun} of {due} runs of tests were not begun: {}", reasons.join("; "));
    vec![run_item(OpenItemKind::TestsNotBegun, None, sentence)]
}

/// Tests that did not run because they dispatch a kernel that was set aside, also those of others.
fn unrun_words(tests: &[TestId]) -> String {
    const MOST_NAMED: usize = 5;
    if tests.is_empty() {
        return String::new();
    }
    let named: Vec<&str> = tests.iter().take(MOST_NAMED).map(TestId::as_str).collect();
    let more = match tests.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("; tests that name it did not run on any kernel: {}{more}", named.join(", "))
}

/// Kernels that do not compile: nothing of them was certified.
fn kernels_set_aside(stored: &StoredCampaign) -> Vec<OpenItem> {
    let item = |row: &SetAsideKernel| {
        let name = row.kernel;
        let first = row.diagnostics.first().map(ToString::to_string).unwrap_or_default();
        let more = row.diagnostics.len().saturating_sub(1);
        let more_words = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        let sentence = format!(
            "kernel {name} does not compile and was set aside (--keep-going), so that nothing of it is certified: {first}{more_words}{}",
            unrun_words(&row.tests)
        );
        run_item(OpenItemKind::KernelSetAside, Some(OpenItemSubject::Kernel(name)), sentence)
    };
    stored.campaign.set_aside.iter().map(item).collect()
}
