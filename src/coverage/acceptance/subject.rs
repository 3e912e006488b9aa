//! A finding as a justification is signed for it, field by field.
//!
//! Promises: what tells two findings apart that a person would judge apart is a field; no field is
//! a sentence that the tool words, as long as `cause` has a name for it.

use super::FindingOccasion;
use super::cause::{FindingCause, cause_of};
use super::place::subject_places;
use crate::justification::BoundConfiguration;
use serde_json::Value;
use std::collections::BTreeMap;
use vkcert_model::canonical::{canonical_json, sha256_digits};
use vkcert_model::evidence::{CouplingCheckName, KernelEvidence};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::DetailName;
use vkcert_model::finding_subject::{FindingSubject, SubjectEngine, SubjectTest};
use vkcert_model::id::{FindingId, KernelName};
use vkcert_model::verdict::EngineName;

/// What of a finding is the same whenever it is found.
enum FindingScope {
    /// To statements or instructions of the kernel's code.
    Places,
    /// To a test as it is, on an engine or a device as it is.
    Test,
    /// To what the project states of the host.
    Interface,
}

pub(super) fn finding_subject(
    finding: &Finding,
    occasion: FindingOccasion,
    finding_id: FindingId,
) -> FindingSubject {
    let kernel = occasion.kernel;
    let mut finding_subject = FindingSubject {
        id: finding_id,
        kind: finding.kind,
        kernel: kernel.kernel,
        code: BTreeMap::from([(kernel.kernel, kernel.modules.code.clone())]),
        configuration: configuration_facts(finding, occasion),
        places: Vec::new(),
        instructions: Vec::new(),
        facts: finding_facts(finding),
        test: None,
        engine: None,
        interface: None,
    };
    match finding_scope(finding) {
        FindingScope::Places => {
            finding_subject.places = subject_places(finding, kernel);
            finding_subject.instructions.clone_from(&finding.numbers);
            finding_subject.instructions.sort_unstable();
        }
        FindingScope::Test => {
            let test = occasion.test;
            let dispatched_kernels = test.into_iter().flat_map(|test| &test.kernels);
            finding_subject
                .code
                .extend(dispatched_kernels.map(|name| (*name, module_code(occasion, name))));
            finding_subject.test =
                test.map(|test| SubjectTest { id: test.id, hash: test.hash.clone() });
            finding_subject.engine = Some(subject_engine(occasion));
        }
        FindingScope::Interface => {
            finding_subject.interface = interface_hash(occasion);
            let of_device = finding.coupling_check() == Some(CouplingCheckName::DeviceLimits);
            finding_subject.engine = of_device.then(|| device_engine(occasion));
        }
    }
    finding_subject
}

fn finding_scope(finding: &Finding) -> FindingScope {
    match finding.kind {
        // A device tells of no place.
        FindingKind::OutOfBounds if finding.place.is_none() => FindingScope::Test,
        FindingKind::DataRace
        | FindingKind::OutOfBounds
        | FindingKind::UninitializedRead
        | FindingKind::UndefinedValue
        | FindingKind::UntracedBranch
        | FindingKind::BarrierDivergence
        | FindingKind::NoTermination
        | FindingKind::Validation => FindingScope::Places,
        FindingKind::ScheduleDependentOutput | FindingKind::EngineDisagreement => {
            FindingScope::Test
        }
        FindingKind::Coupling => FindingScope::Interface,
    }
}

pub(super) const RACE_FACTS: &[DetailName] =
    &[DetailName::Memory, DetailName::Object, DetailName::Reach, DetailName::SameValue];
pub(super) const GUARD_ZONE_FACTS: &[DetailName] =
    &[DetailName::Access, DetailName::Buffer, DetailName::Side];
pub(super) const BOUNDS_FACTS: &[DetailName] = &[DetailName::Dimension, DetailName::Object];
pub(super) const SCHEDULE_FACTS: &[DetailName] =
    &[DetailName::Kernels, DetailName::Buffers, DetailName::Changed, DetailName::Verdicts];
const COUPLING_FACTS: &[DetailName] =
    &[DetailName::Check, DetailName::About, DetailName::Counterexample];

/// The details that are about the code, and the cause where a kind has several.
fn finding_facts(finding: &Finding) -> BTreeMap<String, Value> {
    match finding.kind {
        FindingKind::DataRace => chosen_details(finding, RACE_FACTS),
        FindingKind::OutOfBounds if finding.place.is_none() => {
            chosen_details(finding, GUARD_ZONE_FACTS)
        }
        FindingKind::OutOfBounds => with_cause(chosen_details(finding, BOUNDS_FACTS), finding),
        FindingKind::UninitializedRead
        | FindingKind::UndefinedValue
        | FindingKind::UntracedBranch => with_cause(BTreeMap::new(), finding),
        FindingKind::ScheduleDependentOutput => chosen_details(finding, SCHEDULE_FACTS),
        // Values too: which way the engines part is what is signed for.
        FindingKind::EngineDisagreement => match finding.stored_details() {
            details if details.is_empty() => with_cause(details, finding),
            details => details,
        },
        FindingKind::Coupling => chosen_details(finding, COUPLING_FACTS),
        FindingKind::BarrierDivergence | FindingKind::NoTermination | FindingKind::Validation => {
            BTreeMap::new()
        }
    }
}

fn chosen_details(finding: &Finding, names: &[DetailName]) -> BTreeMap<String, Value> {
    let known_details =
        names.iter().filter_map(|name| Some((name.text().to_owned(), finding.detail(*name)?)));
    known_details.collect()
}

fn with_cause(mut facts: BTreeMap<String, Value>, finding: &Finding) -> BTreeMap<String, Value> {
    let FindingCause { name, about } = cause_of(&finding.message);
    facts.insert("cause".to_owned(), name.into());
    if !about.is_empty() {
        facts.insert("about".to_owned(), about.into());
    }
    facts
}

/// What the configuration fixes that it was found under.
fn configuration_facts(finding: &Finding, occasion: FindingOccasion) -> BTreeMap<String, Value> {
    let Some(name) = &finding.configuration else { return BTreeMap::new() };
    let is_same_row = |row: &&KernelEvidence| {
        row.kernel == occasion.kernel.kernel && row.configuration.name == *name
    };
    let bound_configuration = occasion
        .context
        .kernels
        .iter()
        .find(is_same_row)
        .map(|row| BoundConfiguration::from_configuration(&row.configuration));
    match serde_json::to_value(bound_configuration) {
        Ok(Value::Object(parts)) => parts.into_iter().collect(),
        Ok(_) | Err(_) => BTreeMap::from([("name".to_owned(), name.as_str().into())]),
    }
}

fn module_code(occasion: FindingOccasion, name: &KernelName) -> String {
    let row = occasion.context.kernels.iter().find(|row| row.kernel == *name);
    row.map(|row| row.modules.code.clone()).unwrap_or_default()
}

fn subject_engine(occasion: FindingOccasion) -> SubjectEngine {
    match occasion.engine {
        Some(EngineName::Sequential) => {
            SubjectEngine { engine: EngineName::Sequential, identity: BTreeMap::new() }
        }
        Some(EngineName::Vulkan) | None => device_engine(occasion),
    }
}

fn device_engine(occasion: FindingOccasion) -> SubjectEngine {
    SubjectEngine { engine: EngineName::Vulkan, identity: device_identity(occasion) }
}

/// Which device and driver ran.
pub(super) fn device_identity(occasion: FindingOccasion) -> BTreeMap<String, String> {
    let engines = &occasion.context.campaign.engines;
    let engine_row =
        engines.iter().find(|engine_row| engine_row.engine == EngineName::Vulkan && engine_row.ran);
    let identity_facts = engine_row.into_iter().flat_map(|engine_row| &engine_row.identity);
    let named_facts = identity_facts
        .filter(|(name, _)| ["device", "driver", "driver version"].contains(&name.as_str()));
    named_facts.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn interface_hash(occasion: FindingOccasion) -> Option<String> {
    let rows = &occasion.context.campaign.coupling;
    let definition =
        rows.iter().find(|row| row.kernel == occasion.kernel.kernel)?.definition.as_ref()?;
    Some(sha256_digits(canonical_json(definition).ok()?.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::FindingContext;
    use super::*;
    use crate::justification::HashBinding;
    use vkcert_model::evidence::Campaign;
    use vkcert_model::finding_details::{
        CouplingDetails, DisagreementDetails, FindingDetails, ModuleDisagreement,
    };
    use vkcert_model::place::Place;

    #[test]
    fn other_words_are_the_same_facts_and_other_causes_are_not() {
        let told = |kind: FindingKind, message: &str| {
            let place = Place { instruction: Some(7), ..Place::default() };
            let details = BTreeMap::from([
                ("check".to_owned(), "buffer-size".into()),
                ("object".to_owned(), "In".into()),
            ]);
            finding_facts(&Finding {
                details: FindingDetails::Stored(details),
                ..Finding::new(kind, message).at(place)
            })
        };
        let undefined = FindingKind::UndefinedValue;
        assert_eq!(
            told(undefined, "a shift by 32 or more"),
            told(undefined, "a shift by the number's width or more")
        );
        assert_ne!(told(undefined, "a shift by 32 or more"), told(undefined, "division by zero"));
        let outside = FindingKind::OutOfBounds;
        let range = |at: u32, name: &str| {
            format!("the access at byte {at} of `{name}` ends behind the 12 bytes that are bound")
        };
        assert_eq!(told(outside, &range(16, "In")), told(outside, &range(20, "In")));
        assert_ne!(told(outside, &range(16, "In")), told(outside, &range(16, "Out")));
        assert_ne!(
            told(outside, &range(16, "In")),
            told(outside, "the access is 4 bytes before the start of `In`")
        );
        for kind in
            [FindingKind::DataRace, FindingKind::ScheduleDependentOutput, FindingKind::Coupling]
        {
            assert_eq!(told(kind, "in some words"), told(kind, "in others"), "{kind}");
        }
    }

    struct Evidence {
        kernels: Vec<KernelEvidence>,
        campaign: Campaign,
    }

    /// What a justification of a finding of the first test, on the device, is signed for.
    fn signed(evidence: &Evidence, finding: &Finding) -> FindingSubject {
        let Evidence { kernels, campaign } = evidence;
        let found = FindingContext { kernels, campaign, binding: HashBinding::Content };
        let test = Some(&campaign.tests[0]);
        let occasion = FindingOccasion {
            context: found,
            kernel: &kernels[0],
            test,
            engine: Some(EngineName::Vulkan),
        };
        finding_subject(finding, occasion, FindingId::from("f".to_owned()))
    }

    /// Stored evidence with two kernels, a device and an interface.
    fn evidence() -> Evidence {
        let read = |name: &str| {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../reports/sample/evidence")
                .join(name);
            std::fs::read(path).unwrap()
        };
        let mut campaign: Campaign = serde_json::from_slice(&read("campaign.json")).unwrap();
        let kernel: KernelEvidence =
            serde_json::from_slice(&read("kernel-convolution-sequential.json")).unwrap();
        let other = KernelEvidence { kernel: "other".into(), ..kernel.clone() };
        campaign.tests[0].kernels = vec![kernel.kernel, "other".into()];
        let identity =
            ["device", "driver", "driver version"].map(|name| (name.to_owned(), "1".to_owned()));
        let device =
            campaign.engines.iter_mut().find(|row| row.engine == EngineName::Vulkan).unwrap();
        (device.ran, device.identity) = (true, BTreeMap::from(identity));
        campaign.coupling.retain(|row| row.kernel == kernel.kernel);
        let interface = serde_json::json!({ "kernel": kernel.kernel, "groups": ["1", "1", "1"] });
        campaign.coupling[0].definition = Some(serde_json::from_value(interface).unwrap());
        Evidence { kernels: vec![kernel, other], campaign }
    }

    fn device_identity(evidence: &mut Evidence) -> &mut BTreeMap<String, String> {
        let mut rows = evidence.campaign.engines.iter_mut();
        &mut rows.find(|engine_row| engine_row.engine == EngineName::Vulkan).unwrap().identity
    }

    type Change = fn(&mut Evidence);

    #[test]
    fn a_test_a_device_an_interface_and_a_configuration_are_signed_for_as_they_are() {
        let honest = evidence();
        let of_test = Finding::engine_disagreement(
            "m".to_owned(),
            DisagreementDetails::Modules(ModuleDisagreement {
                comparison: "production/traced".to_owned(),
                buffer: "r".to_owned(),
                offset: 0,
            }),
        );
        let of_host_with = |counterexample| {
            let check = CouplingCheckName::DeviceLimits;
            let details = CouplingDetails { check, about: None, counterexample };
            Finding::coupling("m".to_owned(), details)
        };
        let of_host = of_host_with(None);
        let mut of_code = Finding::new(FindingKind::DataRace, "m");
        of_code.configuration = Some(honest.kernels[0].configuration.name.clone());
        of_code.numbers = vec![3, 5];
        let cases: &[(&Finding, Change)] = &[
            (&of_test, |evidence| evidence.kernels.last_mut().unwrap().modules.code.push('0')),
            (&of_test, |evidence| evidence.kernels[0].modules.code.push('0')),
            (&of_test, |evidence| evidence.campaign.tests[0].hash.push('0')),
            (&of_test, |evidence| {
                device_identity(evidence).insert("driver version".to_owned(), "2".to_owned());
            }),
            (&of_host, |evidence| {
                device_identity(evidence).insert("device".to_owned(), "another".to_owned());
            }),
            (&of_host, |evidence| {
                evidence.campaign.coupling[0].definition.as_mut().unwrap().groups[0] =
                    "2".to_owned();
            }),
            (&of_code, |evidence| evidence.kernels[0].configuration.local_size = [7, 1, 1]),
            (&of_code, |evidence| evidence.kernels[0].modules.code.push('0')),
        ];
        for (number, (finding, change)) in cases.iter().enumerate() {
            let mut changed = evidence();
            change(&mut changed);
            assert_ne!(signed(&changed, finding), signed(&honest, finding), "{number}");
        }
        let moved = Finding { numbers: vec![3, 6], ..of_code.clone() };
        assert_ne!(signed(&honest, &moved), signed(&honest, &of_code));
        let values = |m: i64| of_host_with(Some(BTreeMap::from([("m".to_owned(), m)])));
        assert_ne!(signed(&honest, &values(1)), signed(&honest, &values(2)));
    }
}
