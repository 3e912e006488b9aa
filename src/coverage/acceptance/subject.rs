//! A finding as a justification is signed for it, field by field.
//!
//! Promises: what tells two findings apart that a person would judge apart is a field; no field is
//! a sentence that the tool words, as long as `cause` has a name for it.

use super::Occasion;
use super::cause::{Cause, cause};
use super::place::places;
use crate::justification::BoundConfiguration;
use serde_json::Value;
use std::collections::BTreeMap;
use vkcert_model::canonical::{canonical_json, sha256_digits};
use vkcert_model::evidence::KernelEvidence;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_subject::{FindingSubject, SubjectEngine, SubjectTest};
use vkcert_model::id::{FindingId, KernelName};
use vkcert_model::verdict::EngineName;

/// What of a finding is the same whenever it is found.
enum Bound {
    /// To statements or instructions of the kernel's code.
    Places,
    /// To a test as it is, on an engine or a device as it is.
    Test,
    /// To what the project states of the host.
    Interface,
}

pub(super) fn subject(finding: &Finding, occasion: Occasion, id: FindingId) -> FindingSubject {
    let kernel = occasion.kernel;
    let mut subject = FindingSubject {
        id,
        kind: finding.kind,
        kernel: kernel.kernel.clone(),
        code: BTreeMap::from([(kernel.kernel.clone(), kernel.modules.code.clone())]),
        configuration: configuration(finding, occasion),
        places: Vec::new(),
        instructions: Vec::new(),
        facts: facts(finding),
        test: None,
        engine: None,
        interface: None,
    };
    match bound(finding) {
        Bound::Places => {
            subject.places = places(finding, kernel);
            subject.instructions.clone_from(&finding.numbers);
            subject.instructions.sort_unstable();
        }
        Bound::Test => {
            let test = occasion.test;
            let dispatched = test.into_iter().flat_map(|test| &test.kernels);
            subject.code.extend(dispatched.map(|name| (name.clone(), code(occasion, name))));
            subject.test =
                test.map(|test| SubjectTest { id: test.id.clone(), hash: test.hash.clone() });
            subject.engine = Some(engine(occasion));
        }
        Bound::Interface => {
            subject.interface = interface(occasion);
            let of_device =
                finding.details.get("check").is_some_and(|check| check == "device-limits");
            let identity =
                || SubjectEngine { engine: EngineName::Vulkan, identity: device(occasion) };
            subject.engine = of_device.then(identity);
        }
    }
    subject
}

fn bound(finding: &Finding) -> Bound {
    match finding.kind {
        // A device tells of no place.
        FindingKind::OutOfBounds if finding.place.is_none() => Bound::Test,
        FindingKind::DataRace
        | FindingKind::OutOfBounds
        | FindingKind::UninitializedRead
        | FindingKind::UndefinedValue
        | FindingKind::UntracedBranch
        | FindingKind::BarrierDivergence
        | FindingKind::NoTermination
        | FindingKind::Validation => Bound::Places,
        FindingKind::ScheduleDependentOutput | FindingKind::EngineDisagreement => Bound::Test,
        FindingKind::Coupling => Bound::Interface,
    }
}

/// The details that are about the code, and the cause where a kind has several.
fn facts(finding: &Finding) -> BTreeMap<String, Value> {
    let chosen = |names: &[&str]| {
        let known = names
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), finding.details.get(*name)?.clone())));
        known.collect::<BTreeMap<_, _>>()
    };
    match finding.kind {
        FindingKind::DataRace => chosen(&["memory", "object", "reach", "same_value"]),
        FindingKind::OutOfBounds if finding.place.is_none() => {
            chosen(&["access", "buffer", "side"])
        }
        FindingKind::OutOfBounds => with_cause(chosen(&["dimension", "object"]), finding),
        FindingKind::UninitializedRead
        | FindingKind::UndefinedValue
        | FindingKind::UntracedBranch => with_cause(BTreeMap::new(), finding),
        FindingKind::ScheduleDependentOutput => {
            chosen(&["kernels", "buffers", "changed", "verdicts"])
        }
        // Values too: which way the engines part is what is signed for.
        FindingKind::EngineDisagreement if finding.details.is_empty() => {
            with_cause(BTreeMap::new(), finding)
        }
        FindingKind::EngineDisagreement => finding.details.clone(),
        FindingKind::Coupling => chosen(&["check", "about", "counterexample"]),
        FindingKind::BarrierDivergence | FindingKind::NoTermination | FindingKind::Validation => {
            BTreeMap::new()
        }
    }
}

fn with_cause(mut facts: BTreeMap<String, Value>, finding: &Finding) -> BTreeMap<String, Value> {
    let Cause { name, about } = cause(&finding.message);
    facts.insert("cause".to_owned(), name.into());
    if !about.is_empty() {
        facts.insert("about".to_owned(), about.into());
    }
    facts
}

/// What the configuration fixes that it was found under.
fn configuration(finding: &Finding, occasion: Occasion) -> BTreeMap<String, Value> {
    let Some(name) = &finding.configuration else { return BTreeMap::new() };
    let same = |row: &&KernelEvidence| {
        row.kernel == occasion.kernel.kernel && row.configuration.name == *name
    };
    let fixed = occasion
        .found
        .kernels
        .iter()
        .find(same)
        .map(|row| BoundConfiguration::of(&row.configuration));
    match serde_json::to_value(fixed) {
        Ok(Value::Object(parts)) => parts.into_iter().collect(),
        Ok(_) | Err(_) => BTreeMap::from([("name".to_owned(), name.as_str().into())]),
    }
}

fn code(occasion: Occasion, name: &KernelName) -> String {
    let row = occasion.found.kernels.iter().find(|row| row.kernel == *name);
    row.map(|row| row.modules.code.clone()).unwrap_or_default()
}

fn engine(occasion: Occasion) -> SubjectEngine {
    match occasion.engine {
        Some(EngineName::Sequential) => {
            SubjectEngine { engine: EngineName::Sequential, identity: BTreeMap::new() }
        }
        Some(EngineName::Vulkan) | None => {
            SubjectEngine { engine: EngineName::Vulkan, identity: device(occasion) }
        }
    }
}

/// Which device and driver ran.
pub(super) fn device(occasion: Occasion) -> BTreeMap<String, String> {
    let engines = &occasion.found.campaign.engines;
    let row = engines.iter().find(|row| row.engine == EngineName::Vulkan && row.ran);
    let facts = row.into_iter().flat_map(|row| &row.identity);
    let named =
        facts.filter(|(name, _)| ["device", "driver", "driver version"].contains(&name.as_str()));
    named.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn interface(occasion: Occasion) -> Option<String> {
    let rows = &occasion.found.campaign.coupling;
    let definition =
        rows.iter().find(|row| row.kernel == occasion.kernel.kernel)?.definition.as_ref()?;
    Some(sha256_digits(canonical_json(definition).ok()?.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::Found;
    use super::*;
    use crate::justification::Binding;
    use vkcert_model::evidence::Campaign;
    use vkcert_model::place::Place;

    #[test]
    fn other_words_are_the_same_facts_and_other_causes_are_not() {
        let told = |kind: FindingKind, message: &str| {
            let place = Place { instruction: Some(7), ..Place::default() };
            facts(
                &Finding::new(kind, message)
                    .at(place)
                    .detail("object", "In")
                    .detail("check", "buffer-size"),
            )
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
        let found = Found { kernels, campaign, binding: Binding::Content };
        let test = Some(&campaign.tests[0]);
        let occasion =
            Occasion { found, kernel: &kernels[0], test, engine: Some(EngineName::Vulkan) };
        subject(finding, occasion, FindingId("f".to_owned()))
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
        campaign.tests[0].kernels = vec![kernel.kernel.clone(), "other".into()];
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

    fn device(evidence: &mut Evidence) -> &mut BTreeMap<String, String> {
        let mut rows = evidence.campaign.engines.iter_mut();
        &mut rows.find(|row| row.engine == EngineName::Vulkan).unwrap().identity
    }

    type Change = fn(&mut Evidence);

    #[test]
    fn a_test_a_device_an_interface_and_a_configuration_are_signed_for_as_they_are() {
        let honest = evidence();
        let of_test = Finding::new(FindingKind::EngineDisagreement, "m").detail("buffer", "r");
        let of_host = Finding::new(FindingKind::Coupling, "m").detail("check", "device-limits");
        let mut of_code = Finding::new(FindingKind::DataRace, "m");
        of_code.configuration = Some(honest.kernels[0].configuration.name.clone());
        of_code.numbers = vec![3, 5];
        let cases: &[(&Finding, Change)] = &[
            (&of_test, |evidence| evidence.kernels.last_mut().unwrap().modules.code.push('0')),
            (&of_test, |evidence| evidence.kernels[0].modules.code.push('0')),
            (&of_test, |evidence| evidence.campaign.tests[0].hash.push('0')),
            (&of_test, |evidence| {
                device(evidence).insert("driver version".to_owned(), "2".to_owned());
            }),
            (&of_host, |evidence| {
                device(evidence).insert("device".to_owned(), "another".to_owned());
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
        let values =
            |m: i64| of_host.clone().detail("counterexample", serde_json::json!({ "m": m }));
        assert_ne!(signed(&honest, &values(1)), signed(&honest, &values(2)));
    }
}
