//! What several objectives ask of a campaign.

use crate::robustness::robustness_tests;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::{
    Campaign, CheckStatus, CouplingCheck, KernelEvidence, RequirementEvidence, TestEvidence,
};
use vkcert_model::finding::FindingKind;
use vkcert_model::id::{KernelName, RequirementId, TestId};
use vkcert_model::objective::Objective;
use vkcert_model::open_item::{Acceptability, OpenItemKind};
use vkcert_model::project::{ProjectFile, RequirementLevels};
use vkcert_model::requirement::{RequirementLevel, VerificationMethod};
use vkcert_model::verdict::{EngineName, Verdict};

/// The campaign whose objectives are assessed.
pub(super) struct CampaignFacts<'a> {
    pub settings: &'a ProjectFile,
    pub campaign: &'a Campaign,
    pub kernels: &'a [KernelEvidence],
    /// Requirements and tests by their names: both may be many.
    requirements_by_uid: BTreeMap<RequirementId, Vec<&'a RequirementEvidence>>,
    tests_by_id: BTreeMap<TestId, Vec<usize>>,
    /// The tests of what the software does with abnormal inputs.
    pub robustness_tests: BTreeSet<TestId>,
}

/// Requirements of a level, and how the level is called.
pub(super) struct LevelRequirements<'a> {
    pub rows: Vec<&'a RequirementEvidence>,
    /// `high-level requirements`
    pub name: &'static str,
}

impl LevelRequirements<'_> {
    /// Those that are to be verified by test.
    pub(super) fn by_test(&self) -> impl Iterator<Item = &RequirementEvidence> {
        self.rows.iter().copied().filter(|row| is_by_test(row))
    }

    /// Those that are to be verified by other means alone.
    pub(super) fn by_other_means(&self) -> Vec<String> {
        let rows = self.rows.iter().filter(|row| !is_by_test(row));
        rows.map(|row| row.requirement.uid.to_string()).collect()
    }
}

fn is_by_test(row: &RequirementEvidence) -> bool {
    row.requirement.verification.contains(&VerificationMethod::Test)
}

impl<'a> CampaignFacts<'a> {
    pub(super) fn of_campaign(
        settings: &'a ProjectFile,
        campaign: &'a Campaign,
        kernels: &'a [KernelEvidence],
    ) -> Self {
        let mut requirements_by_uid: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for row in &campaign.requirements {
            requirements_by_uid.entry(row.requirement.uid).or_default().push(row);
        }
        let mut tests_by_id: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (index, test) in campaign.tests.iter().enumerate() {
            tests_by_id.entry(test.id).or_default().push(index);
        }
        let robustness_tests = robustness_tests(campaign);
        Self { settings, campaign, kernels, requirements_by_uid, tests_by_id, robustness_tests }
    }

    /// The requirements that an objective is about: those of a level, or, in a project with a
    /// single one, all (DO-178C 5.0).
    pub(super) fn requirements_for(&self, objective: Objective) -> LevelRequirements<'a> {
        let level = match objective {
            Objective::ObjectMeetsHighLevel
            | Objective::ObjectRobustHighLevel
            | Objective::HighLevelTested => RequirementLevel::Hlr,
            _ => RequirementLevel::Llr,
        };
        let name = match (self.settings.requirement_levels, level) {
            (RequirementLevels::Single, _) => "requirements",
            (RequirementLevels::Both, level) => {
                self.settings.level.standard().requirements_noun(level)
            }
        };
        let levels = self.settings.requirement_levels;
        let is_of_level =
            |row: &&RequirementEvidence| levels.is_of_level(row.requirement.level, level);
        LevelRequirements {
            rows: self.campaign.requirements.iter().filter(is_of_level).collect(),
            name,
        }
    }

    /// The tests of a requirement and of all that is below it.
    pub(super) fn tests_of(&self, requirement: &RequirementEvidence) -> Vec<&'a TestEvidence> {
        let mut tests = BTreeSet::new();
        let mut known = BTreeSet::new();
        self.collect_tests(&requirement.requirement.uid, &mut known, &mut tests);
        let named = tests.iter().filter_map(|id| self.tests_by_id.get(id)).flatten();
        // In the order of the campaign.
        let indices: BTreeSet<usize> = named.copied().collect();
        indices.into_iter().map(|index| &self.campaign.tests[index]).collect()
    }

    fn collect_tests(
        &self,
        uid: &RequirementId,
        known: &mut BTreeSet<RequirementId>,
        tests: &mut BTreeSet<TestId>,
    ) {
        if !known.insert(*uid) {
            return;
        }
        for row in self.requirements_by_uid.get(uid).into_iter().flatten() {
            tests.extend(&row.tests);
            row.children.iter().for_each(|child| self.collect_tests(child, known, tests));
        }
    }

    /// Whether an engine ran.
    pub(super) fn ran(&self, engine: EngineName) -> bool {
        self.campaign.engines.iter().any(|row| row.engine == engine && row.ran)
    }

    /// Whether a test passed on an engine.
    pub(super) fn passed_on(test: &TestEvidence, engine: EngineName) -> bool {
        let mut results = test.results.iter().filter(|result| result.engine == engine);
        results.any(|result| result.verdict == Verdict::Pass)
    }

    /// Whether a test passed wherever it ran, and ran.
    pub(super) fn passed(test: &TestEvidence) -> bool {
        let verdicts = || test.results.iter().map(|result| result.verdict);
        verdicts().any(|verdict| verdict == Verdict::Pass)
            && verdicts().all(|verdict| match verdict {
                Verdict::Pass | Verdict::NotRun => true,
                Verdict::Fail
                | Verdict::Error
                | Verdict::Unsupported
                | Verdict::Timeout
                | Verdict::Undetermined => false,
            })
    }

    /// What this one run left out, as sentences: none of it can be accepted.
    pub(super) fn left_out_of_run(&self) -> Vec<String> {
        let items = self.campaign.open_items.iter();
        items
            .filter(|item| item.acceptable == Acceptability::Never)
            .map(|item| format!("This run left something out: {}.", item.sentence))
            .collect()
    }

    /// Open items of a kind, accepted or not, as sentences.
    pub(super) fn open_items(&self, kind: OpenItemKind) -> Vec<String> {
        let items = self.campaign.open_items.iter().filter(|item| item.kind == kind);
        items.map(|item| sentence_of(&item.sentence)).collect()
    }

    /// The findings that stand, of kinds that are asked for, as one sentence.
    pub(super) fn standing_findings(
        &self,
        is_asked: impl Fn(FindingKind) -> bool,
    ) -> Option<String> {
        let kinds: BTreeSet<String> = self
            .campaign
            .all_findings()
            .filter(|(_, _, finding)| finding.stands() && is_asked(finding.kind))
            .map(|(_, _, finding)| finding.kind.to_string())
            .collect();
        let kinds: Vec<String> = kinds.into_iter().collect();
        (!kinds.is_empty()).then(|| format!("Findings stand: {}.", kinds.join(", ")))
    }

    /// Kernels that the target of the project refuses, as sentences.
    pub(super) fn refused_kernels(&self) -> Vec<String> {
        let rows = self.campaign.project.profile.refused.iter();
        rows.map(|row| format!("The kernel {} is not for the profile of the project.", row.kernel))
            .collect()
    }
}

/// A sentence with a capital letter and a full stop.
pub(super) fn sentence_of(text: &str) -> String {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return String::new() };
    let first: String = first.to_uppercase().collect();
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", characters.as_str())
}

/// What is to be said of a check between host and kernel that does not hold; none where it does.
pub(super) fn check_not_holding(kernel: &KernelName, check: &CouplingCheck) -> Option<String> {
    match &check.status {
        CheckStatus::Holds => None,
        CheckStatus::Refuted => Some(format!("{kernel}: the check {} is refuted.", check.check)),
        CheckStatus::Undetermined => {
            Some(format!("{kernel}: the check {} could not be decided.", check.check))
        }
        CheckStatus::Unknown(word) => {
            Some(format!("{kernel}: the check {} ended with “{word}”.", check.check))
        }
    }
}

/// `3 of 8 low-level requirements have no test: A, B and C.`; none where there is none.
pub(super) fn lacking(total: usize, name: &str, lack: &str, uids: &[String]) -> Option<String> {
    match uids.len() {
        0 => None,
        count if count == total && total > 1 => Some(format!("All {total} {name} {lack}.")),
        count => Some(format!("{count} of {total} {name} {lack}: {}.", uids.join(", "))),
    }
}
