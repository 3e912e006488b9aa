//! Synthetic evidence for the tests of reports: two kernels, two engines, failures, long names,
//! Unicode, many decisions.
//!
//! Consistent enough that shares follow from the lists; nothing here was measured.

mod coupling;
mod coverage;
mod decision;
mod kernel;
mod requirement;
mod test_results;

use self::coupling::sample_coupling;
use self::kernel::kernel_evidence;
use self::requirement::sample_requirements;
use self::test_results::sample_tests;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::criterion::{CriterionName, StoredCriterion};
use vkcert_model::evidence::{
    Agreement, BoundedBuffer, BoundedElement, Campaign, Conclusion, CouplingCheckName,
    EVIDENCE_SCHEMA, ElementValue, EngineIdentity, ErrorBounds, Evidence, JustificationEvidence,
    KernelEvidence, KernelFinding, KernelSummary, Manifest, ProfileEvidence, ProjectIdentity,
    RunRounding,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::CouplingDetails;
use vkcert_model::id::{KernelName, ObligationId, TestId};
use vkcert_model::objective::{OBJECTIVES, Objective, ObjectiveAssessment, ObjectiveStatus};
use vkcert_model::open_item::{
    Acceptability, CampaignNote, ItemApproval, NoteKind, OpenItem, OpenItemKind, OpenItemSubject,
    UnsoughtKind, UnsoughtReason,
};
use vkcert_model::project::{DecisionPolicy, MemoryModel, ProjectFile, SoftwareLevel};
use vkcert_model::reason::{Reason, ReasonKind};
use vkcert_model::requirement::{Justification, JustificationClass, JustificationSubject};
use vkcert_model::verdict::{EngineName, Verdict};

/// Name of the sample's second kernel, which is long on purpose.
pub const LONG_KERNEL: &str = "convolution_2d_zero_padding_with_bounds_checks_and_saturation";

const NAIVE: &str = "matmul_naive";

fn made_up_hash(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::from("sha256:");
    for _ in 0..4 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(&format!("{state:016x}"));
    }
    text
}

fn project_settings() -> ProjectFile {
    let kernel_table =
        |name: &str| serde_json::json!({"name": name, "source": format!("glsl/{name}.comp")});
    serde_json::from_value(serde_json::json!({
        "schema": 1, "name": "Matrix & image kernels <demo>", "level": "A", "kernel": [kernel_table(NAIVE), kernel_table(LONG_KERNEL)],
    }))
    .expect("a project file")
}

/// One of each state.
fn open_items() -> Vec<OpenItem> {
    let criterion_item = OpenItem::new(
        OpenItemKind::CriterionNotAsked,
        Some(OpenItemSubject::Criterion(CriterionName::AdditionalCode)),
        Acceptability::ByProject,
        "DO-178C table A-7 asks for additional-code coverage at level A, and `criteria` does not",
    );
    let interface_item = OpenItem {
        acceptance: Some(ItemApproval {
            reason: "The host of this kernel is verified by its own project, document V-17.".into(),
            author: "A. Prüfer".into(),
            approver: "B. Reviewer".into(),
        }),
        ..OpenItem::new(
            OpenItemKind::KernelWithoutInterface,
            Some(OpenItemSubject::Kernel(LONG_KERNEL.into())),
            Acceptability::ByProject,
            "the kernel has no [[interface]]: its coupling with the host is not analysed",
        )
    };
    let left_out_item = OpenItem::new(
        OpenItemKind::TestLeftOut,
        Some(OpenItemSubject::Test("TC-MM-05".into())),
        Acceptability::Never,
        "test TC-MM-05 was left out on request (--without)",
    );
    vec![criterion_item, interface_item, left_out_item]
}

/// One of each status, the others open.
fn objectives() -> Vec<ObjectiveAssessment> {
    let rows = OBJECTIVES.iter();
    rows.map(|row| {
        let demand = row.demand(SoftwareLevel::A);
        let sentence = |words: &str| vec![words.to_owned()];
        let (status, missing, applicant) = match row.objective {
            Objective::DecisionsCovered => (ObjectiveStatus::Met, Vec::new(), Vec::new()),
            Objective::CodeMeetsStandards => {
                let duty = "Show that the source code conforms to the software code standards.";
                (ObjectiveStatus::Applicant, Vec::new(), sentence(duty))
            }
            Objective::ParametersCorrect | Objective::ParametersVerified => {
                (ObjectiveStatus::NotApplicable, Vec::new(), Vec::new())
            }
            _ => (ObjectiveStatus::Open, sentence("The project names no target."), Vec::new()),
        };
        let shown = match status {
            ObjectiveStatus::NotApplicable => Vec::new(),
            _ => sentence("6 of 8 tests passed on a device."),
        };
        ObjectiveAssessment { objective: row.objective, demand, status, shown, missing, applicant }
    })
    .collect()
}

/// Both engines left and recorded the same.
pub fn identical(test: &TestId, kernel: &KernelName) -> Agreement {
    Agreement {
        test: *test,
        kernel: *kernel,
        outputs: AgreementOutcome::Identical,
        coverage: AgreementOutcome::Identical,
        differences: Vec::new(),
        bounds: None,
        left_open: Vec::new(),
    }
}

/// The whole sample.
pub fn evidence() -> Evidence {
    let engines = [EngineName::Sequential, EngineName::Vulkan];
    let kernels: Vec<KernelEvidence> = [NAIVE, LONG_KERNEL]
        .iter()
        .flat_map(|name| engines.map(|engine| kernel_evidence(name, engine)))
        .collect();
    let kernel_summaries = kernels.iter().map(|kernel| KernelSummary {
        kernel: kernel.kernel,
        configuration: kernel.configuration.name.clone(),
        engine: kernel.engine,
        criteria: kernel.coverage.summary.clone(),
    });
    let kernel_summaries = kernel_summaries.collect();
    let engine_identity = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    let justification_row = |obligation: &str, rejected: Option<&str>| {
        JustificationEvidence {
        justification: Justification {
            kernel: LONG_KERNEL.into(),
            subject: JustificationSubject::Obligation(ObligationId::from(obligation)),
            configuration: None,
            class: JustificationClass::Defensive,
            reason: "The early return guards against a dispatch that the host never makes; see the interface.".into(),
            category: None,
            means: None,
            argument: None,
            author: "A. Prüfer".into(),
            approver: "B. Reviewer".into(),
            date: rejected.is_none().then(|| "2026-01-30".to_owned()),
            hash: made_up_hash(77),
        },
        file: "requirements/justifications.toml".into(),
        rejected: rejected.map(str::to_owned),
        not_judged: None,
    }
    };
    let agreement_row =
        |test: &str, coverage: AgreementOutcome, differences: Vec<String>| Agreement {
            left_open: Vec::new(),
            test: test.into(),
            kernel: NAIVE.into(),
            outputs: AgreementOutcome::Identical,
            coverage,
            differences,
            bounds: None,
        };
    Evidence {
        campaign: Campaign {
            schema: EVIDENCE_SCHEMA,
            settings: Some(project_settings()),
            project: ProjectIdentity {
                name: "Matrix & image kernels <demo>".into(),
                level: SoftwareLevel::A,
                profile: ProfileEvidence::default(),
                decision_policy: DecisionPolicy::Literal,
                memory_model: MemoryModel::Idiom,
                criteria: [
                    CriterionName::Statement,
                    CriterionName::Branch,
                    CriterionName::Decision,
                    CriterionName::McdcMasking,
                ]
                .map(StoredCriterion::from)
                .into(),
                metrics: Vec::new(),
                tool: "vkcert".into(),
                tool_version: env!("CARGO_PKG_VERSION").into(),
                compiler: "shaderc 2024.4 with glslang 15.1 and SPIRV-Tools 2025.1".into(),
                compiler_options: "-O0 -g --target-env=vulkan1.2".into(),
                date: Some("2026-01-31T12:00:00Z".into()),
            },
            engines: vec![
                EngineIdentity {
                    engine: EngineName::Sequential,
                    ran: true,
                    reason: None,
                    identity: engine_identity(&[("tile width", "64"), ("order", "ascending")]),
                },
                EngineIdentity {
                    engine: EngineName::Vulkan,
                    ran: true,
                    reason: None,
                    identity: engine_identity(&[
                        ("device", "llvmpipe (LLVM 15.0.6, 256 bits)"),
                        ("driver", "llvmpipe Mesa 22.3.6"),
                        ("api", "1.3.230"),
                        ("device uuid", "6d657361-3232-2e33-2e36-000000000000"),
                    ]),
                },
            ],
            requirements: sample_requirements(),
            tests: sample_tests(),
            records: Vec::new(),
            test_reviews: Vec::new(),
            justifications: vec![
                justification_row("F1.X2", None),
                justification_row(
                    "S6",
                    Some("the hash is of another content: the code has changed"),
                ),
            ],
            coupling: sample_coupling(),
            findings: vec![KernelFinding {
                kernel: NAIVE.into(),
                engine: None,
                test: None,
                finding: Finding::coupling(
                    "The dispatch of 1 group in y covers 16 rows of a domain with m rows."
                        .to_owned(),
                    CouplingDetails {
                        check: CouplingCheckName::DispatchCoversDomain,
                        about: None,
                        counterexample: None,
                    },
                ),
            }],
            agreement: vec![
                agreement_row("TC-MM-01", AgreementOutcome::Identical, Vec::new()),
                agreement_row(
                    "TC-MM-02",
                    AgreementOutcome::Different,
                    vec!["D2: vector TF on sequential only".into()],
                ),
                Agreement {
                    outputs: AgreementOutcome::WithinErrorBounds,
                    bounds: Some(error_bounds()),
                    ..agreement_row("TC-MM-03", AgreementOutcome::Identical, Vec::new())
                },
            ],
            left_out: Vec::new(),
            not_looked_for: Vec::new(),
            set_aside: Vec::new(),
            open_items: open_items(),
            rejected_acceptances: Vec::new(),
            notes: Vec::new(),
            unsought: vec![UnsoughtKind {
                kind: FindingKind::ScheduleDependentOutput,
                reason: UnsoughtReason::NoOtherSchedule,
            }],
            objectives: objectives(),
            mutation: None,
            limits: vec![
                "Images and cooperative matrices are unsupported by the sequential engine.".into(),
                "Weak memory behaviour is not explored.".into(),
            ],
            conclusion: Conclusion {
                exit_code: 1,
                reasons: sample_reasons().iter().map(Reason::to_string).collect(),
                grounds: sample_reasons().iter().map(Reason::ground).collect(),
                summary: kernel_summaries,
                coupling_classes: Vec::new(),
            },
        },
        kernels,
        mutations: Vec::new(),
        inputs: None,
        manifest: Manifest {
            schema: EVIDENCE_SCHEMA,
            tool: concat!("vkcert ", env!("CARGO_PKG_VERSION")).into(),
            compiler: "shaderc 2024.4".into(),
            devices: vec!["llvmpipe (LLVM 15.0.6, 256 bits)".into()],
            inputs: ["glsl/matmul_naive.comp", "requirements/matmul.toml", "vkcert.toml"]
                .map(|path| (path.to_owned(), made_up_hash(path.len() as u64)))
                .into(),
            outputs: ["campaign.json", "kernel-matmul_naive-sequential.json"]
                .map(|path| (path.to_owned(), made_up_hash(path.len() as u64)))
                .into(),
        },
    }
}

fn error_bounds() -> ErrorBounds {
    let element_value =
        |value: f64, bits: &str| ElementValue { value: value.into(), bits: bits.into() };
    ErrorBounds {
        runs: 2,
        rounding: RunRounding::Nearest,
        buffers: vec![BoundedBuffer {
            buffer: "result".into(),
            elements: 3,
            outside: 0,
            undefined: 0,
            worst_ulp: Some(2),
            listed: vec![BoundedElement {
                element: "values[3]".into(),
                offset: 12,
                type_name: "float".into(),
                within: true,
                sequential: element_value(2.0, "0x40000000"),
                vulkan: element_value(2.0000005, "0x40000002"),
                permitted: vec![vec![
                    element_value(1.9999993, "0x3ffffffa"),
                    element_value(2.000001, "0x40000004"),
                ]],
                nan_permitted: false,
                texel: None,
                undefined: false,
                undefined_bits: None,
            }],
        }],
    }
}

/// The sample with nothing against it: every list that speaks of defects is empty.
pub fn flawless() -> Evidence {
    let mut evidence = evidence();
    evidence.kernels.retain(|kernel| {
        kernel.kernel.as_str() == NAIVE && kernel.engine == EngineName::Sequential
    });
    let campaign = &mut evidence.campaign;
    campaign.requirements.truncate(2);
    campaign.tests.truncate(2);
    for test in &mut campaign.tests {
        test.results.truncate(1);
        test.results[0].findings.clear();
    }
    campaign.engines[1].ran = false;
    campaign.engines[1].reason = Some("no Vulkan device was found".into());
    campaign.engines[1].identity.clear();
    campaign.open_items.clear();
    campaign.notes = vec![CampaignNote {
        kind: NoteKind::EngineNotRun,
        sentence:
            "Not run on the engine vulkan: no Vulkan device was found. Nothing is claimed for it."
                .into(),
    }];
    campaign.unsought.push(UnsoughtKind {
        kind: FindingKind::EngineDisagreement,
        reason: UnsoughtReason::NoDevice,
    });
    campaign.justifications.clear();
    campaign.coupling.clear();
    campaign.findings.clear();
    campaign.agreement.clear();
    let is_kept =
        |row: &KernelSummary| row.kernel.as_str() == NAIVE && row.engine == EngineName::Sequential;
    campaign.conclusion.summary.retain(is_kept);
    campaign.conclusion.exit_code = 0;
    campaign.conclusion.reasons.clear();
    campaign.conclusion.grounds.clear();
    evidence
}

/// Some of those that the sample gives.
fn sample_reasons() -> Vec<Reason> {
    let (test, engines, verdict) =
        (TestId::from("TC-MM-04"), vec![EngineName::Sequential], Verdict::Fail);
    let reason_kind = ReasonKind::TestFailed;
    let test_reasons = [
        Reason::Test { kind: reason_kind, test, engines, verdict, reason: None },
        Reason::RequirementUntested { requirement: "LLR-CONV-001".into() },
        Reason::FindingStands { kind: FindingKind::DataRace, count: 1 },
        Reason::FindingStands { kind: FindingKind::Coupling, count: 1 },
    ];
    let item_reasons = open_items().into_iter().filter(OpenItem::stands).map(|item| item.reason());
    test_reasons.into_iter().chain(item_reasons).collect()
}
