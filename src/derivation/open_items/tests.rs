//! Each kind of open item, by evidence that gives it; what the project accepts; what was not looked
//! for.

use super::derive_open_items;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::*;
use vkcert_model::finding::FindingKind;
use vkcert_model::open_item::*;
use vkcert_model::procedure::TestKind;
use vkcert_model::project::*;
use vkcert_model::schedule::{ScheduleResult, ScheduleStatus};
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_sample as sample;

/// Evidence of one kernel without any open item, on the sequential engine alone.
fn complete() -> Evidence {
    let mut evidence = sample::flawless();
    let kernel = evidence.kernels[0].kernel;
    settings(&mut evidence).kernels.retain(|one| one.name == kernel);
    let row = CouplingEvidence {
        headers: Vec::new(),
        captures: Vec::new(),
        kernel,
        definition: None,
        nodes: Vec::new(),
        edges: Vec::new(),
        checks: Vec::new(),
    };
    evidence.campaign.coupling.push(row);
    evidence.campaign.requirements[0].tests.push("TC-MM-01".into());
    evidence.campaign.tests.iter_mut().for_each(|test| test.definition.kind = TestKind::Robustness);
    evidence.kernels.iter_mut().for_each(|kernel| kernel.coverage.not_reached.clear());
    evidence
}

fn settings(evidence: &mut Evidence) -> &mut ProjectFile {
    evidence.campaign.settings.as_mut().expect("the sample has settings")
}

fn result(evidence: &mut Evidence) -> &mut TestResult {
    &mut evidence.campaign.tests[0].results[0]
}

fn derived(change: impl FnOnce(&mut Evidence)) -> Campaign {
    let mut evidence = complete();
    change(&mut evidence);
    derive_open_items(&mut evidence.campaign, &evidence.kernels);
    evidence.campaign
}

fn names(campaign: &Campaign) -> Vec<&str> {
    campaign.open_items.iter().map(|item| item.name.as_str()).collect()
}

/// Lets the host set these constants.
fn specialize(evidence: &mut Evidence, set: &[(u32, &str)]) {
    let set: Vec<_> =
        set.iter().map(|(id, value)| serde_json::json!({ "id": id, "value": value })).collect();
    let groups = ["1", "1", "1"];
    let interface =
        serde_json::json!({ "kernel": "matmul_naive", "groups": groups, "specialization": set });
    evidence.campaign.coupling[0].definition = Some(serde_json::from_value(interface).unwrap());
}

/// Adds a row of the check of index bounds that tells of so many accesses.
fn add_bounds(evidence: &mut Evidence, status: CheckStatus, accesses: Option<u32>) {
    add_row(evidence, CouplingCheckName::IndexBounds, status, accesses);
}

/// Adds a row of a check that tells of so many accesses, or pairs of them.
fn add_row(
    evidence: &mut Evidence,
    check: CouplingCheckName,
    status: CheckStatus,
    accesses: Option<u32>,
) {
    evidence.campaign.coupling[0].checks.push(CouplingCheck {
        check,
        status,
        message: "m".to_owned(),
        counterexample: None,
        accesses,
        subjects: Vec::new(),
    });
}

type Change = fn(&mut Evidence);

/// A change of evidence, and the items that it leads to.
const CASES: &[(Change, &[&str])] = &[
    (|_| {}, &[]),
    (
        |evidence| settings(evidence).criteria = Some(Vec::new()),
        &[
            "criterion-not-asked statement",
            "criterion-not-asked decision",
            "criterion-not-asked mcdc-masking",
            "criterion-not-asked additional-code",
            "criterion-not-asked coupling",
        ],
    ),
    // Unique-cause MC/DC is stricter than masking MC/DC; branch coverage is neither statement nor
    // decision coverage.
    (
        |evidence| {
            let asked = [
                CriterionName::McdcUniqueCause,
                CriterionName::Branch,
                CriterionName::AdditionalCode,
            ];
            settings(evidence).criteria = Some(asked.to_vec());
        },
        &[
            "criterion-not-asked statement",
            "criterion-not-asked decision",
            "criterion-not-asked coupling",
        ],
    ),
    (
        |evidence| {
            let settings = settings(evidence);
            (settings.level, settings.criteria) =
                (SoftwareLevel::C, Some(vec![CriterionName::Branch]));
        },
        &["criterion-not-asked statement", "criterion-not-asked coupling"],
    ),
    (
        |evidence| settings(evidence).decision_policy = DecisionPolicy::ControlFlow,
        &["decision-policy"],
    ),
    (
        |evidence| {
            let settings = settings(evidence);
            (settings.level, settings.decision_policy) =
                (SoftwareLevel::C, DecisionPolicy::ControlFlow);
        },
        &[],
    ),
    (|evidence| settings(evidence).validation = ValidationLayers::Off, &["validation-off"]),
    (|evidence| settings(evidence).contraction = Contraction::Allowed, &["contraction-allowed"]),
    (|evidence| evidence.campaign.coupling.clear(), &["kernel-without-interface matmul_naive"]),
    (
        |evidence| evidence.campaign.requirements.iter_mut().for_each(|row| row.code.clear()),
        &[
            "function-without-requirement glsl/matmul_naive.comp:dot_row_column",
            "function-without-requirement glsl/matmul_naive.comp:main",
        ],
    ),
    // A link to what is not there implements nothing; one to the file implements all of it.
    (
        |evidence| evidence.campaign.requirements[1].code[1].found = false,
        &["function-without-requirement glsl/matmul_naive.comp:dot_row_column"],
    ),
    (
        |evidence| {
            let code = &mut evidence.campaign.requirements[1].code;
            code.truncate(1);
            code[0].symbol = None;
        },
        &[],
    ),
    // The entry point counts even if nothing is known of what is reached.
    (
        |evidence| {
            evidence.campaign.requirements.iter_mut().for_each(|row| row.code.clear());
            evidence.kernels[0].coverage.points.clear();
        },
        &["function-without-requirement glsl/matmul_naive.comp:main"],
    ),
    // A module without source has at least its entry point.
    (
        |evidence| {
            evidence.campaign.requirements.iter_mut().for_each(|row| row.code.clear());
            evidence.kernels[0].structure.functions.clear();
        },
        &["function-without-requirement glsl/matmul_naive.comp:main"],
    ),
    // Level D asks for no structure.
    (
        |evidence| {
            settings(evidence).level = SoftwareLevel::D;
            settings(evidence).criteria = Some(Vec::new());
            evidence.campaign.coupling.clear();
            evidence.campaign.requirements.iter_mut().for_each(|row| row.code.clear());
        },
        &[],
    ),
    // The kernel's only configuration has TILE at its default, 16.
    (|evidence| specialize(evidence, &[]), &[]),
    (|evidence| specialize(evidence, &[(0, "16")]), &[]),
    (
        |evidence| specialize(evidence, &[(0, "8")]),
        &["interface-specialization-not-run matmul_naive"],
    ),
    (
        |evidence| specialize(evidence, &[(0, "m")]),
        &["interface-specialization-not-run matmul_naive"],
    ),
    (
        |evidence| {
            specialize(evidence, &[]);
            evidence.kernels[0].configuration.specialization[0].default = false;
        },
        &["interface-specialization-not-run matmul_naive"],
    ),
    // Refuted accesses are findings.
    (
        |evidence| {
            add_bounds(evidence, CheckStatus::Holds, Some(7));
            add_bounds(evidence, CheckStatus::Refuted, Some(1));
        },
        &[],
    ),
    (
        |evidence| {
            add_bounds(evidence, CheckStatus::Undetermined, Some(2));
            add_bounds(evidence, CheckStatus::Undetermined, None);
            add_bounds(evidence, CheckStatus::Holds, Some(7));
        },
        &["index-bounds-not-shown matmul_naive:3"],
    ),
    (
        |evidence| {
            add_row(evidence, CouplingCheckName::BarrierOrder, CheckStatus::Undetermined, Some(2));
            add_row(evidence, CouplingCheckName::BarrierOrder, CheckStatus::Undetermined, Some(1));
            add_row(evidence, CouplingCheckName::BarrierOrder, CheckStatus::Holds, Some(4));
        },
        &["barrier-order-not-shown matmul_naive:3"],
    ),
    (|evidence| evidence.campaign.requirements[0].tests.clear(), &["hlr-without-test HLR-MM-001"]),
    (|evidence| evidence.campaign.engines.remove(0).ran = false, &["engine-left-out sequential"]),
    (
        |evidence| {
            settings(evidence).engines = Some(vec![EngineName::Sequential, EngineName::Vulkan])
        },
        &["engine-left-out vulkan"],
    ),
    (|evidence| evidence.campaign.not_looked_for.push(FindingKind::DataRace), &["checks-left-out"]),
    (|evidence| evidence.campaign.left_out.push("TC-9".into()), &["test-left-out TC-9"]),
    (|evidence| settings(evidence).schedules.count = 2, &["schedules-left-out"]),
    (
        |evidence| settings(evidence).repeat = NonZeroU32::new(2),
        &["repetitions-left-out sequential"],
    ),
    (
        |evidence| result(evidence).schedule = Some("reversed".parse().expect("a schedule")),
        &["schedule-replayed"],
    ),
    (
        |evidence| {
            let result = result(evidence);
            (result.verdict, result.reason) = (Verdict::NotRun, Some("ended".to_owned()));
        },
        &["tests-not-begun"],
    ),
    (|evidence| evidence.campaign.set_aside.push(broken_kernel()), &["kernel-set-aside broken"]),
    // An engine that was not there is no early end.
    (
        |evidence| {
            let result = result(evidence);
            (result.engine, result.verdict) = (EngineName::Vulkan, Verdict::NotRun);
        },
        &[],
    ),
];

fn broken_kernel() -> SetAsideKernel {
    let error = |line: u32| StoredDiagnostic {
        kind: "glsl-syntax".to_owned(),
        message: "'x' : undeclared identifier".to_owned(),
        file: Some("glsl/broken.comp".to_owned()),
        line: Some(line),
        column: Some(3),
    };
    SetAsideKernel {
        kernel: "broken".into(),
        source: "glsl/broken.comp".to_owned(),
        included: vec!["glsl/part.glsl".to_owned()],
        tests: vec!["TC-9".into()],
        diagnostics: vec![error(5), error(6)],
    }
}

#[test]
fn each_kind_is_derived_from_what_shows_it_and_alone() {
    let mut kinds = BTreeSet::new();
    for (change, due) in CASES {
        let campaign = derived(change);
        assert_eq!(names(&campaign), *due);
        assert!(campaign.open_items.iter().all(OpenItem::stands));
        kinds.extend(campaign.open_items.iter().map(|item| item.kind));
    }
    let all: BTreeSet<_> = OpenItemKind::ALL.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, all, "every kind has a case");
}

/// A device repeats three times by default, so that fewer are less.
#[test]
fn fewer_repetitions_than_an_engine_has_by_default_are_open() {
    let campaign = derived(|evidence| {
        let mut on_device = result(evidence).clone();
        (on_device.engine, on_device.repetitions) = (EngineName::Vulkan, 2);
        evidence.campaign.tests[0].results.push(on_device);
        evidence.campaign.engines[1].ran = true;
    });
    assert_eq!(names(&campaign), ["repetitions-left-out vulkan"]);
}

fn acceptance(item: &str, author: &str, approver: &str) -> ItemAcceptance {
    let [item, author, approver] = [item, author, approver].map(str::to_owned);
    ItemAcceptance { item, reason: "The host is verified elsewhere.".to_owned(), author, approver }
}

fn with_acceptances(level: SoftwareLevel, acceptances: Vec<ItemAcceptance>) -> Campaign {
    derived(|evidence| {
        evidence.campaign.coupling.clear();
        evidence.campaign.left_out.push("TC-9".into());
        let settings = settings(evidence);
        (settings.level, settings.acceptances) = (level, acceptances);
    })
}

const INTERFACE: &str = "kernel-without-interface matmul_naive";

#[test]
fn the_project_accepts_an_item_by_its_name() {
    let campaign = with_acceptances(SoftwareLevel::A, vec![acceptance(INTERFACE, "Ann", "Bob")]);
    let standing: Vec<_> =
        campaign.open_items.iter().filter(|item| item.stands()).map(|item| &item.name).collect();
    assert_eq!(standing, ["test-left-out TC-9"]);
    let approval = campaign.open_items[0].acceptance.as_ref().unwrap();
    assert_eq!((approval.author.as_str(), approval.approver.as_str()), ("Ann", "Bob"));
    assert_eq!(campaign.rejected_acceptances, []);
}

#[test]
fn an_acceptance_that_accepts_nothing_is_rejected_with_its_reason() {
    let level = SoftwareLevel::A;
    for (acceptances, due) in [
        (vec![acceptance("kernel-without-interface other", "Ann", "Bob")], "not needed"),
        (vec![acceptance("kernel-without-interface", "Ann", "Bob")], "not needed"),
        (
            vec![acceptance("no-such-kind", "Ann", "Bob")],
            "no kind of open item is named `no-such-kind`",
        ),
        (vec![acceptance("test-left-out TC-9", "Ann", "Bob")], "cannot be accepted"),
        (vec![acceptance(INTERFACE, "Ann", " ")], "must be given"),
        (vec![acceptance(INTERFACE, "Ann", "ANN ")], "demands independence"),
        (
            vec![acceptance(INTERFACE, "Ann", "Bob"), acceptance(INTERFACE, "Cy", "Dee")],
            "accepted twice",
        ),
    ] {
        let rejected = with_acceptances(level, acceptances).rejected_acceptances;
        assert!(rejected.len() == 1 && rejected[0].reason.contains(due), "{due}: {rejected:?}");
    }
    let free = with_acceptances(SoftwareLevel::C, vec![acceptance(INTERFACE, "Ann", "Ann")]);
    assert_eq!(free.rejected_acceptances, []);
}

/// What the project itself asks for can be accepted; what one run leaves out cannot.
#[test]
fn the_sequential_engine_is_left_out_by_the_project_or_by_the_command_line() {
    for (engines, due) in [
        (None, Acceptability::Never),
        (Some(vec![EngineName::Sequential]), Acceptability::Never),
        (Some(vec![EngineName::Vulkan]), Acceptability::ByProject),
    ] {
        let campaign = derived(|evidence| {
            evidence.campaign.engines[0].ran = false;
            evidence.campaign.engines[1].ran = true;
            settings(evidence).engines = engines;
        });
        assert_eq!(campaign.open_items[0].acceptable, due);
    }
}

fn unsought(campaign: &Campaign) -> Vec<(FindingKind, UnsoughtReason)> {
    campaign.unsought.iter().map(|row| (row.kind, row.reason)).collect()
}

/// Both engines with validation layers, in other schedules, compared.
fn everything(evidence: &mut Evidence) {
    let device = &mut evidence.campaign.engines[1];
    device.ran = true;
    device
        .identity
        .insert("validation layer".to_owned(), "VK_LAYER_KHRONOS_validation 1.3".to_owned());
    let kernel = evidence.kernels[0].kernel;
    for test in &mut evidence.campaign.tests {
        test.results[0].schedules = Some(ScheduleResult {
            asked: 2,
            seed: 0,
            status: ScheduleStatus::Equal,
            ran: Vec::new(),
            different: Vec::new(),
            reason: None,
        });
        evidence.campaign.agreement.push(sample::identical(&test.id, &kernel));
    }
}

#[test]
fn a_kind_of_findings_is_looked_for_where_what_finds_it_ran() {
    use FindingKind::{
        Coupling, DataRace, EngineDisagreement, ScheduleDependentOutput, Validation,
    };
    use UnsoughtReason::*;
    assert_eq!(unsought(&derived(everything)), []);
    let cases: &[(Change, &[(FindingKind, UnsoughtReason)])] = &[
        (|evidence| evidence.campaign.not_looked_for.push(DataRace), &[(DataRace, LeftOut)]),
        (
            |evidence| evidence.campaign.engines[1].ran = false,
            &[
                (EngineDisagreement, NoDevice),
                (Validation, NoValidationLayers),
                (Coupling, NoDeviceLimits),
            ],
        ),
        (
            |evidence| evidence.campaign.engines[1].identity.clear(),
            &[(Validation, NoValidationLayers)],
        ),
        (
            |evidence| {
                let layer = "VK_LAYER_KHRONOS_validation is not installed".to_owned();
                evidence.campaign.engines[1].identity.insert("validation layer".to_owned(), layer);
            },
            &[(Validation, NoValidationLayers)],
        ),
        (
            |evidence| settings(evidence).validation = ValidationLayers::Off,
            &[(Validation, NoValidationLayers)],
        ),
        (
            |evidence| result(evidence).schedules = None,
            &[(ScheduleDependentOutput, NoOtherSchedule)],
        ),
        (
            |evidence| evidence.campaign.agreement[0].coverage = AgreementOutcome::NotCompared,
            &[(EngineDisagreement, NotCompared)],
        ),
        (|evidence| drop(evidence.campaign.agreement.pop()), &[(EngineDisagreement, NotCompared)]),
        (|evidence| evidence.campaign.coupling.clear(), &[(Coupling, NoInterface)]),
    ];
    for (change, due) in cases {
        let campaign = derived(|evidence| {
            everything(evidence);
            change(evidence);
        });
        assert_eq!(unsought(&campaign), *due);
    }
    let device_alone = derived(|evidence| {
        everything(evidence);
        evidence.campaign.engines[0].ran = false;
    });
    let of_sequential =
        unsought(&device_alone).into_iter().filter(|(_, reason)| *reason == NoSequentialEngine);
    assert_eq!(of_sequential.count(), 7, "six kinds that it alone looks for, and the comparison");
}

fn note(campaign: &Campaign, kind: NoteKind) -> Option<&str> {
    campaign.notes.iter().find(|note| note.kind == kind).map(|note| note.sentence.as_str())
}

#[test]
fn a_function_that_no_kernel_reaches_is_a_note() {
    let kind = NoteKind::FunctionsNotReached;
    assert_eq!(note(&derived(|_| {}), kind), None);
    let unreached = derived(|evidence| {
        for kernel in &mut evidence.kernels {
            kernel.coverage.not_reached = vec!["unused".to_owned(), "main".to_owned()];
        }
    });
    let sentence = note(&unreached, kind).unwrap();
    assert!(sentence.contains("1 (unused in glsl/matmul_naive.comp)"), "{sentence}");
    // Of function coverage it is an obligation.
    let measured = derived(|evidence| {
        for kernel in &mut evidence.kernels {
            kernel.coverage.not_reached = vec!["unused".to_owned()];
            kernel.coverage.functions = Some(Vec::new());
        }
    });
    assert_eq!(note(&measured, kind), None);
}

#[test]
fn expected_values_that_nobody_wrote_down_are_a_note() {
    let kind = NoteKind::ValuesNotWrittenDown;
    let expecting = |rows: &str| {
        derived(|evidence| {
            let test = &mut evidence.campaign.tests[0].definition;
            test.expect = serde_json::from_str(rows).unwrap();
        })
    };
    let reference = r#"{ "buffer": "r", "type": "float",
        "reference": { "kernel": "k", "groups": [1, 1, 1], "bindings": [] } }"#;
    let campaign = expecting(&format!("[{reference}]"));
    let sentence = note(&campaign, kind).unwrap();
    assert!(sentence.contains("and nobody wrote down: 1 of"), "{sentence}");
    let written =
        format!(r#"[{reference}, {{ "buffer": "r", "type": "float", "values": [1.0] }}]"#);
    assert_eq!(note(&expecting(&written), kind), None);
    assert_eq!(note(&derived(|_| {}), kind), None);
}

#[test]
fn a_test_of_no_configuration_is_a_note() {
    let kind = NoteKind::ConfigurationNotDeclared;
    assert_eq!(note(&derived(|_| {}), kind), None);
    let strange = derived(|evidence| {
        let dispatch =
            serde_json::json!([{ "kernel": evidence.kernels[0].kernel, "groups": [1, 1, 1] }]);
        let test = &mut evidence.campaign.tests[0].definition;
        test.dispatches = serde_json::from_value(dispatch).unwrap();
        for kernel in &mut evidence.kernels {
            kernel.configuration.specialization = vec![SpecializedConstant {
                id: 0,
                name: None,
                type_name: "uint".to_owned(),
                value: "1".to_owned(),
                bits: "0x1".to_owned(),
                default: false,
            }];
        }
    });
    let sentence = note(&strange, kind).unwrap();
    assert!(sentence.contains("no configuration of it"), "{sentence}");
}

#[test]
fn an_engine_that_did_not_run_is_a_note() {
    let told = |campaign: &Campaign| {
        campaign.notes.iter().map(|note| note.sentence.clone()).collect::<Vec<_>>()
    };
    let absent = told(&derived(|_| {}));
    assert!(absent.len() == 1 && absent[0].contains("no Vulkan device was found"), "{absent:?}");
    let unasked = told(&derived(|evidence| evidence.campaign.engines.truncate(1)));
    assert!(unasked.len() == 1 && unasked[0].contains("not asked for"), "{unasked:?}");
    let bare = derived(|evidence| evidence.campaign.engines[1].ran = true);
    assert_eq!(bare.notes[0].kind, NoteKind::LayersNotInstalled);
    assert_eq!(told(&derived(everything)), Vec::<String>::new());
}

#[test]
fn a_threshold_whose_score_nobody_asked_for_is_a_note() {
    let campaign = derived(|evidence| {
        settings(evidence).mutation = Some(MutationDemand { threshold: 90.0 });
    });
    assert!(note(&campaign, NoteKind::MutantsNotAsked).unwrap().contains("90 %"));
    assert_eq!(note(&derived(|_| {}), NoteKind::MutantsNotAsked), None);
}

/// A test that did not come to its end says nothing of what was asked of it.
#[test]
fn a_test_that_did_not_complete_leaves_nothing_out() {
    let campaign = derived(|evidence| {
        settings(evidence).schedules.count = 2;
        for test in &mut evidence.campaign.tests {
            test.results[0].verdict = Verdict::Timeout;
        }
    });
    assert_eq!(names(&campaign), [""; 0]);
}

#[test]
fn evidence_without_settings_is_left_as_it_is() {
    let campaign = derived(|evidence| {
        evidence.campaign.settings = None;
        evidence.campaign.coupling.clear();
    });
    assert_eq!(campaign.open_items, []);
}

/// What would be open of a kernel that was set aside is not known: an acceptance of it is not idle.
#[test]
fn acceptances_of_a_kernel_that_was_set_aside_are_not_rejected() {
    let names = [
        "kernel-without-interface broken",
        "index-bounds-not-shown broken:3",
        "function-without-requirement glsl/part.glsl:f",
        "kernel-without-interface other",
        "kernel-set-aside broken",
    ];
    let campaign = derived(|evidence| {
        evidence.campaign.set_aside.push(broken_kernel());
        settings(evidence).acceptances =
            names.iter().map(|name| acceptance(name, "A", "B")).collect();
    });
    let rejected: Vec<(&str, &str)> = campaign
        .rejected_acceptances
        .iter()
        .map(|row| (row.item.as_str(), row.reason.as_str()))
        .collect();
    let expected = [
        ("kernel-without-interface other", "not needed: there is no such open item"),
        ("kernel-set-aside broken", "what is left out of one run cannot be accepted"),
    ];
    assert_eq!(rejected, expected);
    let reasons: BTreeSet<UnsoughtReason> =
        campaign.unsought.iter().map(|row| row.reason).collect();
    assert!(reasons.contains(&UnsoughtReason::KernelsSetAside), "{reasons:?}");
}
