//! Which records count, and the statuses of requirements.
//!
//! Knows: verdicts, what each test judges, which kernels have the same code.
//! Promises: records count only of passed requirement-based tests that judge what the kernel
//! stores.
//! Does not cover: the coverage that the counted records amount to.

use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use vkcert_coverage::ApproverRule;
use vkcert_coverage::justification::{Signature, signature_fault};
use vkcert_model::altered::{AlteredStores, failed_alterations};
use vkcert_model::element::ElementType;
use vkcert_model::evidence::{Campaign, Configuration, FIRST_SCHEMA, KernelEvidence, TestEvidence};
use vkcert_model::generation::Generation;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::{SpecializationValue, Test};
use vkcert_model::project::SoftwareLevel;
use vkcert_model::requirement::{Requirement, VerificationMethod, VerificationRecord};
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_oracle::judged::{KernelCodes, TestObservation};
use vkcert_oracle::scalar::specialization_bits;
use vkcert_requirement::hash::requirement_hash;
use vkcert_requirement::reach::TestedCode;
use vkcert_requirement::{status, trace};

/// Whether a test's records of a kernel under a configuration count: coverage comes only from
/// requirement-based tests that passed (DO-178C 6.4.4.2) and that judge what the kernel stores, in
/// each of its dispatches under that configuration.
pub fn records_count(
    verdict: Verdict,
    test: &Test,
    observation: &TestObservation,
    of: (&KernelName, &Configuration),
) -> bool {
    let (kernel, configuration) = of;
    let numbered_dispatches =
        test.dispatches.iter().enumerate().filter(|(_, dispatch)| dispatch.kernel == *kernel);
    let mut dispatch_numbers = numbered_dispatches
        .filter(|(_, dispatch)| leads_to_configuration(configuration, &dispatch.specialization))
        .map(|(number, _)| number)
        .peekable();
    verdict == Verdict::Pass
        && !test.requirements.is_empty()
        && dispatch_numbers.peek().is_some()
        && dispatch_numbers.all(|number| observation.judges_dispatch(number))
}

/// Whether the values that a dispatch gives lead to a configuration.
pub fn leads_to_configuration(
    configuration: &Configuration,
    given_values: &BTreeMap<String, SpecializationValue>,
) -> bool {
    configuration.specialization.iter().all(|constant| {
        match given_values.get(&constant.id.to_string()) {
            None => constant.default,
            Some(value) => {
                let scalar = constant.type_name.parse::<ElementType>().map(|ty| ty.scalar);
                let bits = scalar.ok().and_then(|scalar| specialization_bits(scalar, value).ok());
                bits.is_some_and(|bits| format!("{bits:#x}") == constant.bits)
            }
        }
    })
}

/// What tells the code of a kernel from that of another.
pub struct CodeIdentity<'a> {
    /// The kernel.
    pub kernel: KernelName,
    /// SHA-256 of its production module without debug information.
    pub code: Cow<'a, str>,
    /// SHA-256 of its preprocessed text.
    pub text: Option<&'a str>,
    /// Name of its entry point.
    pub entry: &'a str,
}

/// The same identity for kernels whose modules, or whose preprocessed texts, are the same from the
/// same entry on: a text that is compiled in another way, for another target or with definitions
/// that it does not use is the same code.
pub fn code_classes<'a>(kernels: impl IntoIterator<Item = CodeIdentity<'a>>) -> KernelCodes {
    let mut classes = CodeClasses::default();
    let mut class_of_kernel: BTreeMap<KernelName, usize> = BTreeMap::new();
    for CodeIdentity { kernel, code, text, entry } in kernels {
        let class = classes.class_of(format!("code {code} {entry}"));
        if let Some(text) = text {
            let class_of_text = classes.class_of(format!("text {text} {entry}"));
            classes.unite(class, class_of_text);
        }
        class_of_kernel.insert(kernel, class);
    }
    class_of_kernel.iter().map(|(kernel, class)| (*kernel, classes.label(*class))).collect()
}

/// Keys that are joined to classes, each of which is named by its first key.
#[derive(Default)]
struct CodeClasses {
    class_of_key: HashMap<String, usize>,
    /// By class: one that it was united with, or itself.
    leaders: Vec<usize>,
    /// By class: the first key of those that it leads.
    first_keys: Vec<String>,
}

impl CodeClasses {
    fn class_of(&mut self, key: String) -> usize {
        if let Some(class) = self.class_of_key.get(&key) {
            return *class;
        }
        let class = self.leaders.len();
        self.leaders.push(class);
        self.first_keys.push(key.clone());
        self.class_of_key.insert(key, class);
        class
    }

    /// The class that leads a class.
    fn leader(&self, mut class: usize) -> usize {
        while self.leaders[class] != class {
            class = self.leaders[class];
        }
        class
    }

    /// The class with the first key leads both, so that the way to a leader goes down among keys.
    fn unite(&mut self, one: usize, other: usize) {
        let (one, other) = (self.leader(one), self.leader(other));
        if self.first_keys[one] <= self.first_keys[other] {
            self.leaders[other] = one;
        } else {
            self.leaders[one] = other;
        }
    }

    fn label(&self, class: usize) -> String {
        self.first_keys[self.leader(class)].clone()
    }
}

/// Identities of the kernels' code from stored evidence.
pub fn kernel_codes(kernels: &[KernelEvidence]) -> KernelCodes {
    code_classes(kernels.iter().map(|kernel_row| CodeIdentity {
        kernel: kernel_row.kernel,
        code: kernel_row.modules.code.as_str().into(),
        text: kernel_row.modules.text.as_deref(),
        entry: &kernel_row.configuration.entry,
    }))
}

/// What altered contents of a test showed; none where it has not passed on the sequential engine,
/// which alone alters them.
pub fn altered_stores(test: &TestEvidence) -> Option<&[AlteredStores]> {
    let result = test.results.iter().find(|result| result.engine == EngineName::Sequential)?;
    failed_alterations(result.verdict, &result.altered)
}

/// What a stored test judges. Format 1 does not hold what that follows from: there every dispatch
/// counts as judged.
pub fn test_observation(schema: u32, test: &TestEvidence, codes: &KernelCodes) -> TestObservation {
    match schema {
        FIRST_SCHEMA => TestObservation::judging_everything(test.definition.dispatches.len()),
        _ => {
            let by_code = TestObservation::from_expectations(&test.expected, &test.flows, codes);
            match altered_stores(test) {
                Some(altered_stores_of_test) => {
                    by_code.confirmed_by_alterations(altered_stores_of_test, &test.flows)
                }
                None => by_code,
            }
        }
    }
}

/// The code of the kernels, and which of them each test judges. One that did not pass shows nothing
/// either way: it counts for all kernels that it dispatches, so that the requirement is open for
/// the test alone.
pub fn tested_code<'e>(campaign: &Campaign, kernels: &'e [KernelEvidence]) -> TestedCode<'e> {
    let kernel_codes = kernel_codes(kernels);
    let judged_kernels = |test: &TestEvidence| {
        let observation = test_observation(campaign.schema, test, &kernel_codes);
        let any_passed = test.results.iter().any(|result| result.verdict == Verdict::Pass);
        let numbered_dispatches = test.definition.dispatches.iter().enumerate();
        let judged_dispatches = numbered_dispatches
            .filter(|(number, _)| !any_passed || observation.judges_dispatch(*number));
        (test.id, judged_dispatches.map(|(_, dispatch)| dispatch.kernel).collect())
    };
    TestedCode::new(kernels, campaign.tests.par_iter().map(judged_kernels).collect())
        .beside(&campaign.set_aside)
}

/// Statuses of requirements, which follow from tests, records and the kernels' code.
pub fn settle_requirements(campaign: &mut Campaign, kernels: &[KernelEvidence]) {
    let (verdicts, code) = (trace::stored_verdicts(campaign), tested_code(campaign, kernels));
    let shown_results = status::VerificationResults {
        verdicts: &verdicts,
        records: &campaign.records,
        code: &code,
    };
    let rules = Generation::for_campaign(campaign);
    status::assign_statuses(&mut campaign.requirements, shown_results, rules);
}

/// Why a record of an analysis or a review is not accepted at a level (`A` to `D`).
pub fn record_fault(
    method: VerificationMethod,
    record: &VerificationRecord,
    requirement: Option<&Requirement>,
    level: SoftwareLevel,
) -> Option<String> {
    let VerificationRecord { requirement: uid, document, section: _, author, reviewer, hash } =
        record;
    let Some(requirement) = requirement else {
        return Some(format!("there is no requirement {uid}"));
    };
    if !requirement.verification.contains(&method) {
        return Some(format!("{uid} is not to be verified by {method}"));
    }
    let current_hash = requirement_hash(requirement);
    if current_hash != *hash {
        return Some(format!("stale: {uid} has changed; its hash is now {current_hash}"));
    }
    let signature = Signature { reason: document, author, approver: reviewer };
    signature_fault(signature, ApproverRule::for_level(level)).map(|_| {
        format!("author and reviewer are the same ({author}); this level demands independence")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the definition: two kernels are the same code if a chain of kernels leads from one
        /// to the other, of which neighbours share module or text from the same entry on.
        #[test]
        fn kernels_are_the_same_code_where_a_chain_joins_them(
            identities in prop::collection::vec((0..6u8, prop::option::of(0..6u8), 0..2u8), 0..12),
        ) {
            let entries = ["main", "other"];
            let names: Vec<String> = (0..identities.len()).map(|place| format!("k{place}")).collect();
            let texts: Vec<Option<String>> =
                identities.iter().map(|(_, text, _)| text.map(|text| text.to_string())).collect();
            let rows = identities.iter().zip(&texts).zip(&names);
            let classes = code_classes(rows.map(|(((code, _, entry), text), name)| CodeIdentity {
                kernel: KernelName::from(name),
                code: code.to_string().into(),
                text: text.as_deref(),
                entry: entries[usize::from(*entry)],
            }));
            let share = |(code, text, entry): &(u8, Option<u8>, u8), other: &(u8, Option<u8>, u8)| {
                *entry == other.2 && (*code == other.0 || (text.is_some() && *text == other.1))
            };
            for (start, name) in names.iter().enumerate() {
                let mut reached = vec![start];
                let mut place = 0;
                while let Some(from) = reached.get(place).copied() {
                    place += 1;
                    for (to, identity) in identities.iter().enumerate() {
                        if !reached.contains(&to) && share(&identities[from], identity) {
                            reached.push(to);
                        }
                    }
                }
                for (other, other_name) in names.iter().enumerate() {
                    let is_same = classes[&KernelName::from(name)]
                        == classes[&KernelName::from(other_name)];
                    prop_assert_eq!(is_same, reached.contains(&other));
                }
            }
        }
    }
}
