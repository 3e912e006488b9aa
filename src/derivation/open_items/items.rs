//! Open items by kind: one small function for each.
//!
//! Knows: what DO-178C asks for at a level, what the project asks for, and what the run left out.
//! Promises: items of a kind are in project order, each once.
//! Does not cover: whether the project accepts an item.

use super::Stored;
use std::collections::BTreeSet;
use vkcert_model::criterion::CriterionName;
use vkcert_model::element::{Datum, ElementType, ScalarClass};
use vkcert_model::evidence::{
    CodeTrace, Configuration, KernelEvidence, RequirementEvidence, RequirementStatus,
};
use vkcert_model::open_item::{Acceptability, OpenItem, OpenItemKind, OpenItemSubject};
use vkcert_model::project::{Contraction, DecisionPolicy, ValidationLayers};
use vkcert_model::requirement::{Interface, RequirementLevel, VerificationMethod};
use vkcert_model::verdict::EngineName;
use vkcert_oracle::scalar::encode_datum;
use vkcert_requirement::host::specialized_values;
use vkcert_requirement::reach::{CodeFunction, reached_functions};

/// All open items of a kind.
pub(super) fn of_kind(kind: OpenItemKind, stored: &Stored) -> Vec<OpenItem> {
    match kind {
        OpenItemKind::CriterionNotAsked => criteria(stored),
        OpenItemKind::DecisionPolicy => decision_policy(stored),
        OpenItemKind::ValidationOff => validation(stored),
        OpenItemKind::ContractionAllowed => contraction(stored),
        OpenItemKind::KernelWithoutInterface => interfaces(stored),
        OpenItemKind::InterfaceSpecializationNotRun => specializations(stored),
        OpenItemKind::HlrWithoutTest => untested_high_level(stored),
        OpenItemKind::FunctionWithoutRequirement => functions(stored),
        OpenItemKind::EngineLeftOut => engines(stored),
        OpenItemKind::ChecksLeftOut => checks(stored),
        OpenItemKind::TestLeftOut => tests(stored),
        OpenItemKind::SchedulesLeftOut => schedules(stored),
        OpenItemKind::RepetitionsLeftOut => repetitions(stored),
        OpenItemKind::ScheduleReplayed => replay(stored),
    }
}

/// An item that the project file can accept.
fn of_project(kind: OpenItemKind, subject: Option<OpenItemSubject>, sentence: String) -> OpenItem {
    OpenItem::new(kind, subject, Acceptability::ByProject, sentence)
}

/// An item that comes of the command line.
fn of_run(kind: OpenItemKind, subject: Option<OpenItemSubject>, sentence: String) -> OpenItem {
    OpenItem::new(kind, subject, Acceptability::Never, sentence)
}

fn criteria(stored: &Stored) -> Vec<OpenItem> {
    let level = stored.settings.level;
    let asked = stored.settings.required_criteria();
    let missing = level
        .criteria()
        .iter()
        .filter(|criterion| !asked.iter().any(|one| criterion.is_met_by(*one)));
    let item = |criterion: &CriterionName| {
        let name = criterion.name();
        let sentence = format!(
            "DO-178C table A-7 asks for {name} coverage at level {level}, and `criteria` does not: it may be incomplete"
        );
        of_project(
            OpenItemKind::CriterionNotAsked,
            Some(OpenItemSubject::Criterion(*criterion)),
            sentence,
        )
    };
    missing.map(item).collect()
}

fn decision_policy(stored: &Stored) -> Vec<OpenItem> {
    let level = stored.settings.level;
    match stored.settings.decision_policy {
        DecisionPolicy::Literal => Vec::new(),
        DecisionPolicy::ControlFlow if !level.criteria().contains(&CriterionName::Decision) => {
            Vec::new()
        }
        DecisionPolicy::ControlFlow => {
            let sentence = format!(
                "`decision_policy = \"control-flow\"` leaves out the Boolean expressions outside of control flow, and level \
                 {level} asks for all decisions (CAST-10)"
            );
            vec![of_project(OpenItemKind::DecisionPolicy, None, sentence)]
        }
    }
}

fn validation(stored: &Stored) -> Vec<OpenItem> {
    match stored.settings.validation {
        ValidationLayers::On | ValidationLayers::Required => Vec::new(),
        ValidationLayers::Off => {
            let sentence =
                "`validation = \"off\"`: no Vulkan validation layer looks at what a device runs"
                    .to_owned();
            vec![of_project(OpenItemKind::ValidationOff, None, sentence)]
        }
    }
}

fn contraction(stored: &Stored) -> Vec<OpenItem> {
    match stored.settings.contraction {
        Contraction::Forbidden => Vec::new(),
        Contraction::Allowed => {
            let sentence = "`contraction = \"allowed\"`: what is measured may differ from the production module in floats, \
                            within the tolerance of a test";
            vec![of_project(OpenItemKind::ContractionAllowed, None, sentence.to_owned())]
        }
    }
}

fn interfaces(stored: &Stored) -> Vec<OpenItem> {
    if !stored.settings.level.traces_code() {
        return Vec::new();
    }
    let without =
        stored.settings.kernels.iter().filter(|kernel| !stored.has_interface(&kernel.name));
    let item = |kernel: &vkcert_model::project::ProjectKernel| {
        let name = &kernel.name;
        let sentence = format!(
            "kernel {name} has no [[interface]]: its coupling with the host is not analysed"
        );
        of_project(
            OpenItemKind::KernelWithoutInterface,
            Some(OpenItemSubject::Kernel(*name)),
            sentence,
        )
    };
    without.map(item).collect()
}

/// Interfaces that specialize their kernel to what is no configuration of the evidence: neither
/// declared nor run by a test.
fn specializations(stored: &Stored) -> Vec<OpenItem> {
    let mut items = Vec::new();
    for row in &stored.campaign.coupling {
        let Some(interface) = &row.definition else { continue };
        let configurations = || stored.kernels.iter().filter(|kernel| kernel.kernel == row.kernel);
        let fits = |kernel: &KernelEvidence| specializes_to(interface, &kernel.configuration);
        if configurations().next().is_none() || configurations().any(fits) {
            continue;
        }
        let set = interface
            .specialization
            .iter()
            .map(|constant| format!("{} = {}", constant.id, constant.value));
        let set: Vec<String> = set.collect();
        let host = if set.is_empty() {
            "leaves all constants at their defaults".to_owned()
        } else {
            set.join(", ")
        };
        let name = &row.kernel;
        let sentence = format!(
            "the host's specialization of kernel {name} ({host}) is no configuration of the project, and no test runs it"
        );
        let subject = Some(OpenItemSubject::Kernel(*name));
        items.push(of_project(OpenItemKind::InterfaceSpecializationNotRun, subject, sentence));
    }
    items
}

/// Whether an interface leads to a configuration. A value that depends on parameters leads to none:
/// which ones it takes is not known.
fn specializes_to(interface: &Interface, configuration: &Configuration) -> bool {
    let values = specialized_values(interface);
    configuration.specialization.iter().all(|constant| match values.get(&constant.id) {
        None => constant.default,
        Some(value) => value
            .and_then(|value| constant_bits(value, &constant.type_name))
            .is_some_and(|bits| bits == constant.bits),
    })
}

/// Raw bits of an integer as a constant of a type, as configurations hold them.
fn constant_bits(value: i128, type_name: &str) -> Option<String> {
    let scalar = type_name.parse::<ElementType>().ok()?.scalar;
    let number = i64::try_from(value).ok()?;
    let value = match scalar.class() {
        ScalarClass::Bool => Datum::Bool(number != 0),
        ScalarClass::Float => Datum::Float(number as f64),
        ScalarClass::Signed | ScalarClass::Unsigned => Datum::Integer(number.into()),
    };
    encode_datum(scalar, &value).ok().map(|bits| format!("{bits:#x}"))
}

/// High-level requirements that are shown by their children at best.
/// At every level: DO-178C table A-7, objective 3, has no exception for level D.
fn untested_high_level(stored: &Stored) -> Vec<OpenItem> {
    let lacks_test = |row: &&RequirementEvidence| {
        let requirement = &row.requirement;
        requirement.level == RequirementLevel::Hlr
            && requirement.verification.contains(&VerificationMethod::Test)
            && row.tests.is_empty()
            && row.left_out_tests.is_empty()
    };
    let item = |row: &RequirementEvidence| {
        let uid = &row.requirement.uid;
        let by_children = match row.status {
            RequirementStatus::VerifiedByChildren => "; it is verified by its children alone",
            RequirementStatus::Verified
            | RequirementStatus::Failed
            | RequirementStatus::Untested
            | RequirementStatus::Open
            | RequirementStatus::ByOtherMeans => "",
        };
        let sentence = format!(
            "no test case names the high-level requirement {uid}, which is to be verified by test{by_children}"
        );
        of_project(OpenItemKind::HlrWithoutTest, Some(OpenItemSubject::Requirement(*uid)), sentence)
    };
    stored.campaign.requirements.iter().filter(lacks_test).map(item).collect()
}

fn functions(stored: &Stored) -> Vec<OpenItem> {
    if !stored.settings.level.traces_code() {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let mut items = Vec::new();
    for kernel in stored.kernels {
        for function in reached_functions(kernel) {
            let names = |code: &CodeTrace| code.names(function.file, function.name, &kernel.kernel);
            let implemented =
                stored.campaign.requirements.iter().any(|row| row.code.iter().any(names));
            if implemented || !seen.insert(function) {
                continue;
            }
            let CodeFunction { file, name } = function;
            let sentence = format!(
                "no requirement implements {name} in {file}, which kernel {} reaches",
                kernel.kernel
            );
            let subject =
                OpenItemSubject::Function { file: file.to_owned(), name: name.to_owned() };
            items.push(of_project(
                OpenItemKind::FunctionWithoutRequirement,
                Some(subject),
                sentence,
            ));
        }
    }
    items
}

/// Findings are looked for on the sequential engine, so that it is never left out without a word.
fn engines(stored: &Stored) -> Vec<OpenItem> {
    let mut items = Vec::new();
    let asked = stored.settings.engines.as_deref();
    let item = |engine: EngineName, acceptable: Acceptability, sentence: &str| {
        let subject = Some(OpenItemSubject::Engine(engine));
        OpenItem::new(OpenItemKind::EngineLeftOut, subject, acceptable, sentence)
    };
    if !stored.ran(EngineName::Sequential) {
        let acceptable =
            match asked.is_some_and(|engines| !engines.contains(&EngineName::Sequential)) {
                true => Acceptability::ByProject,
                false => Acceptability::Never,
            };
        let sentence = "the sequential engine did not run: races, reads of what nobody wrote and other findings that it \
                        alone looks for are not looked for";
        items.push(item(EngineName::Sequential, acceptable, sentence));
    }
    let device_asked = asked.is_some_and(|engines| engines.contains(&EngineName::Vulkan));
    if device_asked && !stored.ran(EngineName::Vulkan) {
        let sentence = "the project asks for the engine vulkan, which did not run";
        items.push(item(EngineName::Vulkan, Acceptability::Never, sentence));
    }
    items
}

fn checks(stored: &Stored) -> Vec<OpenItem> {
    let kinds = &stored.campaign.not_looked_for;
    if kinds.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    let sentence = format!("findings not looked for on request (--check): {}", names.join(", "));
    vec![of_run(OpenItemKind::ChecksLeftOut, None, sentence)]
}

fn tests(stored: &Stored) -> Vec<OpenItem> {
    let left_out = stored.campaign.left_out.iter();
    let item = |id: &vkcert_model::id::TestId| {
        let sentence = format!("test {id} was left out on request (--without, --only)");
        of_run(OpenItemKind::TestLeftOut, Some(OpenItemSubject::Test(*id)), sentence)
    };
    left_out.map(item).collect()
}

fn schedules(stored: &Stored) -> Vec<OpenItem> {
    let wanted = stored.settings.schedules.count;
    let results = stored.campaign.tests.iter().flat_map(|test| &test.results);
    let fewest = results
        .filter(|result| result.verdict.completed())
        .map(|result| result.schedules.as_ref().map_or(0, |schedules| schedules.asked))
        .min();
    match fewest.filter(|fewest| *fewest < wanted) {
        None => Vec::new(),
        Some(fewest) => {
            let sentence = format!(
                "the project asks for {wanted} other schedules of each test, the command line for {fewest}"
            );
            vec![of_run(OpenItemKind::SchedulesLeftOut, None, sentence)]
        }
    }
}

fn repetitions(stored: &Stored) -> Vec<OpenItem> {
    let item = |engine: EngineName| {
        let wanted = stored.settings.repeat.unwrap_or(engine.default_repetitions()).get();
        let results = stored.campaign.tests.iter().flat_map(|test| &test.results);
        let of_engine =
            results.filter(|result| result.engine == engine && result.verdict.completed());
        let fewest =
            of_engine.map(|result| result.repetitions).min().filter(|fewest| *fewest < wanted)?;
        let sentence = format!(
            "tests ran {fewest} times on the engine {engine} in place of {wanted} (--repeat)"
        );
        let subject = Some(OpenItemSubject::Engine(engine));
        Some(of_run(OpenItemKind::RepetitionsLeftOut, subject, sentence))
    };
    [EngineName::Sequential, EngineName::Vulkan].into_iter().filter_map(item).collect()
}

fn replay(stored: &Stored) -> Vec<OpenItem> {
    let mut results = stored.campaign.tests.iter().flat_map(|test| &test.results);
    match results.find_map(|result| result.schedule) {
        None => Vec::new(),
        Some(schedule) => {
            let sentence = format!(
                "tests ran in the schedule {schedule} in place of the ordinary one (--replay)"
            );
            vec![of_run(OpenItemKind::ScheduleReplayed, None, sentence)]
        }
    }
}
