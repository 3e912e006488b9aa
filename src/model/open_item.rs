//! What makes a result say less than the software level asks for: open items, what the project accepts of them, and what
//! stands beside them on page 1.
//!
//! Knows: the kinds of open items, how each is named in `vkcert.toml`, notes, and kinds of findings that were not looked for.
//! Promises: an open item counts against the result unless it can be accepted and the project file accepts it by name.
//! Does not cover: how any of them is derived (`derivation::open_items`); uncovered obligations and findings, which have lists of their own.

use super::criterion::CriterionName;
use super::finding::FindingKind;
use super::id::{KernelName, RequirementId, TestId};
use super::reason::Reason;
use super::verdict::EngineName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is less than the level asks for. The order is the order of reports.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum OpenItemKind {
    /// A criterion of DO-178C table A-7 that the project does not ask for.
    CriterionNotAsked,
    /// Decisions outside of control flow are left out where table A-7 asks for decisions.
    DecisionPolicy,
    /// The Vulkan validation layers are off.
    ValidationOff,
    /// Production may differ from what is measured within a test's tolerance.
    ContractionAllowed,
    /// Nothing is known of the host of a kernel.
    KernelWithoutInterface,
    /// What an interface specializes a kernel to is no configuration, and no test runs it.
    InterfaceSpecializationNotRun,
    /// Accesses that are not shown to be within what they access.
    IndexBoundsNotShown,
    /// Values that one invocation writes and another one reads, not shown to be ordered by barriers.
    BarrierOrderNotShown,
    /// An HLR to be verified by test that no test case names.
    HlrWithoutTest,
    /// Code that the entry point reaches and no requirement implements.
    FunctionWithoutRequirement,
    /// An engine that the project, or the search for findings, asks for did not run.
    EngineLeftOut,
    /// Kinds of findings were left out on the command line.
    ChecksLeftOut,
    /// A test was left out on the command line.
    TestLeftOut,
    /// Fewer other orders of workgroups than the project asks for.
    SchedulesLeftOut,
    /// Fewer repetitions than the project or the engine asks for.
    RepetitionsLeftOut,
    /// Every test ran in another schedule than the ordinary one.
    ScheduleReplayed,
    /// The run ended before all tests had begun.
    TestsNotBegun,
    /// A kernel does not compile, and the run went on without it.
    KernelSetAside,
}

impl OpenItemKind {
    /// Every kind, in report order, with its stored name.
    pub const ALL: &'static [(OpenItemKind, &'static str)] = &[
        (OpenItemKind::CriterionNotAsked, "criterion-not-asked"),
        (OpenItemKind::DecisionPolicy, "decision-policy"),
        (OpenItemKind::ValidationOff, "validation-off"),
        (OpenItemKind::ContractionAllowed, "contraction-allowed"),
        (OpenItemKind::KernelWithoutInterface, "kernel-without-interface"),
        (OpenItemKind::InterfaceSpecializationNotRun, "interface-specialization-not-run"),
        (OpenItemKind::IndexBoundsNotShown, "index-bounds-not-shown"),
        (OpenItemKind::BarrierOrderNotShown, "barrier-order-not-shown"),
        (OpenItemKind::HlrWithoutTest, "hlr-without-test"),
        (OpenItemKind::FunctionWithoutRequirement, "function-without-requirement"),
        (OpenItemKind::EngineLeftOut, "engine-left-out"),
        (OpenItemKind::ChecksLeftOut, "checks-left-out"),
        (OpenItemKind::TestLeftOut, "test-left-out"),
        (OpenItemKind::SchedulesLeftOut, "schedules-left-out"),
        (OpenItemKind::RepetitionsLeftOut, "repetitions-left-out"),
        (OpenItemKind::ScheduleReplayed, "schedule-replayed"),
        (OpenItemKind::TestsNotBegun, "tests-not-begun"),
        (OpenItemKind::KernelSetAside, "kernel-set-aside"),
    ];

    /// The stored name.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(kind, _)| *kind == self)
            .map(|(_, name)| *name)
            .expect("ALL lists every kind")
    }
}

impl fmt::Display for OpenItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What an open item is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OpenItemSubject {
    /// A coverage criterion.
    Criterion(CriterionName),
    /// A kernel of the project.
    Kernel(KernelName),
    /// `file` is relative to the project.
    Function {
        /// Path of the source file.
        file: String,
        /// Name of the function.
        name: String,
    },
    /// Access places of a kernel, or pairs of them.
    Accesses {
        /// The kernel.
        kernel: KernelName,
        /// How many, so that an acceptance is of no more.
        count: u32,
    },
    /// A requirement.
    Requirement(RequirementId),
    /// A test.
    Test(TestId),
    /// An engine.
    Engine(EngineName),
}

impl fmt::Display for OpenItemSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenItemSubject::Criterion(criterion) => f.write_str(criterion.name()),
            OpenItemSubject::Kernel(kernel) => kernel.fmt(f),
            OpenItemSubject::Function { file, name } => write!(f, "{file}:{name}"),
            OpenItemSubject::Accesses { kernel, count } => write!(f, "{kernel}:{count}"),
            OpenItemSubject::Requirement(uid) => uid.fmt(f),
            OpenItemSubject::Test(id) => id.fmt(f),
            OpenItemSubject::Engine(engine) => engine.fmt(f),
        }
    }
}

/// Whether the project file can accept an open item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Acceptability {
    /// By its name, with reason, author and approver.
    ByProject,
    /// Not at all: it comes of how this one run was started.
    Never,
}

/// Something that makes the result say less than the level asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenItem {
    /// What is missing or left out.
    pub kind: OpenItemKind,
    /// None where the kind is of the project or the run as a whole.
    #[serde(default)]
    pub subject: Option<OpenItemSubject>,
    /// The kind and the subject behind it, as `[[accept]]` names it: `kernel-without-interface histogram`.
    pub name: String,
    /// What is missing, in one sentence for people.
    pub sentence: String,
    /// Whether the project file can accept it.
    pub acceptable: Acceptability,
    /// What the project file says of it; none: it counts against the result.
    #[serde(default)]
    pub acceptance: Option<ItemApproval>,
}

impl OpenItem {
    /// An open item that nobody has accepted.
    pub fn new(
        kind: OpenItemKind,
        subject: Option<OpenItemSubject>,
        acceptable: Acceptability,
        sentence: impl Into<String>,
    ) -> Self {
        let item_name = match &subject {
            Some(subject) => format!("{kind} {subject}"),
            None => kind.to_string(),
        };
        Self {
            kind,
            subject,
            name: item_name,
            sentence: sentence.into(),
            acceptable,
            acceptance: None,
        }
    }

    /// Whether it counts against the result.
    pub fn stands(&self) -> bool {
        self.acceptance.is_none()
    }

    /// What the conclusion says while it stands.
    pub fn reason(&self) -> Reason {
        Reason::OpenItemStands { item: self.name.clone(), sentence: self.sentence.clone() }
    }
}

/// Who accepts an open item, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemApproval {
    /// Why the project accepts it.
    pub reason: String,
    /// Who wrote the reason.
    pub author: String,
    /// Who approved it; at levels A and B another person than the author.
    pub approver: String,
}

/// `[[accept]]` of `vkcert.toml`: the project accepts an open item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemAcceptance {
    /// Name of the open item, as reports print it.
    pub item: String,
    /// Why the project accepts it; not empty.
    pub reason: String,
    /// Who wrote the reason; not empty.
    pub author: String,
    /// At levels A and B another person than the author.
    pub approver: String,
}

impl ItemAcceptance {
    /// What it says, without the name of the item.
    pub fn approval(&self) -> ItemApproval {
        let Self { item: _, reason, author, approver } = self;
        ItemApproval { reason: reason.clone(), author: author.clone(), approver: approver.clone() }
    }
}

/// An acceptance of the project file that accepts nothing; it counts against the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedAcceptance {
    /// As the project file names it.
    pub item: String,
    /// Why it accepts nothing.
    pub reason: String,
}

/// What a note is about.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    /// Nothing is claimed for an engine, because it was not there or was not asked for.
    EngineNotRun,
    /// Links between requirements that hold no hash of the parent.
    LinksNotPinned,
    /// A device ran without validation layers, because they are not installed.
    LayersNotInstalled,
    /// Coverage that no test shows in the ordinary schedule.
    DirectedSchedules,
    /// Obligations that tests cover only through what may follow an undefined value; tests that pass by one.
    UndefinedValues,
    /// Requirements to be verified by test that no robustness test names.
    RobustnessTests,
    /// Low-level requirements to be verified by test that name no code.
    CodeNotNamed,
    /// Kernels that code which a requirement names is part of, with the same text, and in which no test of it judges it.
    CodeTestedInPart,
    /// What kernels store and no expectation of a test looks at.
    OutputsNotJudged,
    /// Expectations that none of the alterations tried on what kernels stored makes fail.
    ExpectationJudgesNothing,
    /// Functions in the source that no kernel reaches: obligations of no criterion.
    FunctionsNotReached,
    /// Tests whose expected values a reference kernel computes, and that have them nowhere written down.
    ValuesNotWrittenDown,
    /// Tests that run a kernel with specialization values that are no configuration of it.
    ConfigurationNotDeclared,
    /// The project states a threshold of the mutation score, and mutants were not asked for, or not all of them.
    MutantsNotAsked,
}

/// Something that a reader of page 1 must know and that does not count against the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CampaignNote {
    /// What the note is about.
    pub kind: NoteKind,
    /// The note, in one sentence for people.
    pub sentence: String,
}

/// Why findings of a kind were not looked for, or not everywhere.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum UnsoughtReason {
    /// The command line left the kind out.
    LeftOut,
    /// The sequential engine, which alone looks for the kind, did not run.
    NoSequentialEngine,
    /// No device ran.
    NoDevice,
    /// No validation layer looked at a run; modules were validated all the same.
    NoValidationLayers,
    /// Not every test ran in another schedule.
    NoOtherSchedule,
    /// Not every kernel has an interface.
    NoInterface,
    /// No device gave the limits that some checks need.
    NoDeviceLimits,
    /// Not every test could be compared between the engines.
    NotCompared,
    /// The run ended before all tests had begun.
    TestsNotBegun,
    /// Kernels that do not compile were set aside.
    KernelsSetAside,
}

impl fmt::Display for UnsoughtReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            UnsoughtReason::LeftOut => "left out on request",
            UnsoughtReason::NoSequentialEngine => "the sequential engine did not run",
            UnsoughtReason::NoDevice => "no device ran",
            UnsoughtReason::NoValidationLayers => {
                "of modules alone, no validation layer looked at a run"
            }
            UnsoughtReason::NoOtherSchedule => "not every test ran in another schedule",
            UnsoughtReason::NoInterface => "not every kernel has an interface",
            UnsoughtReason::NoDeviceLimits => "no device gave its limits",
            UnsoughtReason::NotCompared => "not every test could be compared",
            UnsoughtReason::TestsNotBegun => "not every test was begun",
            UnsoughtReason::KernelsSetAside => "not every kernel compiles",
        })
    }
}

/// A kind of findings that was not looked for, or not everywhere: that none stands says nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnsoughtKind {
    /// The kind of findings.
    pub kind: FindingKind,
    /// Why it was not looked for, or not everywhere.
    pub reason: UnsoughtReason,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_stored_under_its_name() {
        for (kind, name) in OpenItemKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), *name);
            assert_eq!(kind.to_string(), *name);
        }
    }

    #[test]
    fn the_name_holds_kind_and_subject() {
        let subject = OpenItemSubject::Function { file: "a.comp".into(), name: "main".into() };
        let kind = OpenItemKind::FunctionWithoutRequirement;
        let item = OpenItem::new(kind, Some(subject), Acceptability::ByProject, "s");
        assert_eq!(item.name, "function-without-requirement a.comp:main");
        let item = OpenItem::new(OpenItemKind::ValidationOff, None, Acceptability::ByProject, "s");
        assert_eq!(item.name, "validation-off");
    }
}
