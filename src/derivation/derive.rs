//! Which records count, coverage, justifications and statuses of requirements, from what evidence
//! stores.

use super::acceptance;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_coverage::barrier::{self, BarrierRecords};
use vkcert_coverage::justification::{
    BoundConfiguration, BoundContents, BoundKernel, GivenJustification, Rejection,
    ShownObligations, Signature, signature_fault,
};
use vkcert_coverage::object::{self, ObjectCoverage};
use vkcert_coverage::{
    self as coverage, ApproverRule, CoverageSubject, Criterion, CriterionSubject, HashBinding,
    JustificationStandard, ProposalRules, criteria, justification,
};
use vkcert_model::altered::{AlteredStores, failed_alterations};
use vkcert_model::coverage::{CriterionSummary, KernelCoverage};
use vkcert_model::element::ElementType;
use vkcert_model::evidence::{
    Campaign, Configuration, FIRST_SCHEMA, KernelEvidence, KernelFinding, TestEvidence, TestRecords,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::generation::Generation;
use vkcert_model::id::{KernelName, ObligationId, TestId};
use vkcert_model::procedure::{SpecializationValue, Test};
use vkcert_model::project::SoftwareLevel;
use vkcert_model::records::{Presence, PresentMarker, RecordLayout, Records};
use vkcert_model::requirement::{
    Justification, JustificationClass, JustificationSubject, Requirement, VerificationMethod,
    VerificationRecord,
};
use vkcert_model::structure::KernelStructure;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_oracle::judged::{KernelCodes, TestObservation};
use vkcert_oracle::scalar::specialization_bits;
use vkcert_requirement::hash::requirement_hash;
use vkcert_requirement::reach::TestedCode;
use vkcert_requirement::{status, trace};

/// Whether a test's records of a kernel under a configuration count: coverage comes only from
/// requirement-based tests that passed (DO-178C 6.4.4.2) and that judge what the kernel stores, in
/// each of its dispatches under that configuration.
pub fn counts(
    verdict: Verdict,
    test: &Test,
    observation: &TestObservation,
    of: (&KernelName, &Configuration),
) -> bool {
    let (kernel, configuration) = of;
    let numbered =
        test.dispatches.iter().enumerate().filter(|(_, dispatch)| dispatch.kernel == *kernel);
    let mut dispatches = numbered
        .filter(|(_, dispatch)| is_of(configuration, &dispatch.specialization))
        .map(|(number, _)| number);
    verdict == Verdict::Pass
        && !test.requirements.is_empty()
        && dispatches.clone().next().is_some()
        && dispatches.all(|number| observation.judges_dispatch(number))
}

/// Whether the values that a dispatch gives lead to a configuration.
pub fn is_of(configuration: &Configuration, given: &BTreeMap<String, SpecializationValue>) -> bool {
    configuration.specialization.iter().all(|constant| match given.get(&constant.id.to_string()) {
        None => constant.default,
        Some(value) => {
            let scalar = constant.type_name.parse::<ElementType>().map(|ty| ty.scalar);
            let bits = scalar.ok().and_then(|scalar| specialization_bits(scalar, value).ok());
            bits.is_some_and(|bits| format!("{bits:#x}") == constant.bits)
        }
    })
}

/// What tells the code of a kernel from that of another.
pub struct CodeIdentity {
    pub kernel: KernelName,
    /// SHA-256 of its production module without debug information.
    pub code: String,
    /// SHA-256 of its preprocessed text.
    pub text: Option<String>,
    pub entry: String,
}

/// The same identity for kernels whose modules, or whose preprocessed texts, are the same from the
/// same entry on: a text that is compiled in another way, for another target or with definitions
/// that it does not use is the same code.
pub fn code_classes(kernels: impl IntoIterator<Item = CodeIdentity>) -> KernelCodes {
    let mut classes: Vec<(BTreeSet<String>, Vec<KernelName>)> = Vec::new();
    for CodeIdentity { kernel, code, text, entry } in kernels {
        let code = format!("code {code} {entry}");
        let text = text.map(|text| format!("text {text} {entry}"));
        let (mut keys, mut names): (BTreeSet<String>, Vec<KernelName>) =
            ([code].into_iter().chain(text).collect(), vec![kernel]);
        for (other_keys, other_names) in
            classes.extract_if(.., |(known, _)| !known.is_disjoint(&keys)).collect::<Vec<_>>()
        {
            keys.extend(other_keys);
            names.extend(other_names);
        }
        classes.push((keys, names));
    }
    let label = |keys: &BTreeSet<String>| keys.first().cloned().unwrap_or_default();
    classes.iter().flat_map(|(keys, names)| names.iter().map(|name| (*name, label(keys)))).collect()
}

/// Identities of the kernels' code from stored evidence.
pub fn codes(kernels: &[KernelEvidence]) -> KernelCodes {
    let identity = |row: &KernelEvidence| CodeIdentity {
        kernel: row.kernel,
        code: row.modules.code.clone(),
        text: row.modules.text.clone(),
        entry: row.configuration.entry.clone(),
    };
    code_classes(kernels.iter().map(identity))
}

/// What altered contents of a test showed; none where it has not passed on the sequential engine,
/// which alone alters them.
pub fn altered_stores(test: &TestEvidence) -> Option<&[AlteredStores]> {
    let result = test.results.iter().find(|result| result.engine == EngineName::Sequential)?;
    failed_alterations(result.verdict, &result.altered)
}

/// What a stored test judges. Format 1 does not hold what that follows from: there every dispatch
/// counts as judged.
pub fn observation(schema: u32, test: &TestEvidence, codes: &KernelCodes) -> TestObservation {
    match schema {
        FIRST_SCHEMA => TestObservation::judging_everything(test.definition.dispatches.len()),
        _ => {
            let by_code = TestObservation::from_expectations(&test.expected, &test.flows, codes);
            match altered_stores(test) {
                Some(altered) => by_code.confirmed_by_alterations(altered, &test.flows),
                None => by_code,
            }
        }
    }
}

/// The code of the kernels, and which of them each test judges. One that did not pass shows nothing
/// either way: it counts for all kernels that it dispatches, so that the requirement is open for
/// the test alone.
pub fn tested_code(campaign: &Campaign, kernels: &[KernelEvidence]) -> TestedCode {
    let codes = codes(kernels);
    let judged = |test: &TestEvidence| {
        let observation = observation(campaign.schema, test, &codes);
        let passed = test.results.iter().any(|result| result.verdict == Verdict::Pass);
        let numbered = test.definition.dispatches.iter().enumerate();
        let counted =
            numbered.filter(|(number, _)| !passed || observation.judges_dispatch(*number));
        (test.id, counted.map(|(_, dispatch)| dispatch.kernel).collect())
    };
    TestedCode::new(kernels, campaign.tests.iter().map(judged).collect())
}

/// Statuses of requirements, which follow from tests, records and the kernels' code.
pub fn settle_requirements(campaign: &mut Campaign, kernels: &[KernelEvidence]) {
    let (verdicts, code) =
        (trace::stored_verdicts(&campaign.tests), tested_code(campaign, kernels));
    let shown = status::VerificationResults {
        verdicts: &verdicts,
        records: &campaign.records,
        code: &code,
    };
    let rules = Generation::for_campaign(campaign);
    status::assign_statuses(&mut campaign.requirements, shown, rules);
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
    let now = requirement_hash(requirement);
    if now != *hash {
        return Some(format!("stale: {uid} has changed; its hash is now {now}"));
    }
    let signature = Signature { reason: document, author, approver: reviewer };
    signature_fault(signature, ApproverRule::for_level(level)).map(|_| {
        format!("author and reviewer are the same ({author}); this level demands independence")
    })
}

/// Which of the stored records coverage is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    /// Those that count.
    Counted,
    /// Those of every test, whatever became of it.
    All,
}

/// Coverage of one kernel on one engine from its stored structure and counted records, before
/// justifications.
pub fn coverage(row: &KernelEvidence) -> KernelCoverage {
    let mut coverage = coverage_by(row, Chosen::Counted);
    if row.schema != FIRST_SCHEMA && follows_undefined(row) {
        let defined = coverage_by(&by_defined_records(row), Chosen::Counted);
        coverage = coverage::leave_undetermined(defined, coverage);
        coverage.summary = if has_source(row) {
            criteria::criterion_summaries(&coverage)
        } else {
            summary_without_source(&coverage)
        };
    }
    let all = row.records.iter().chain(&row.objects.records);
    let uncounted: BTreeSet<TestId> =
        all.filter(|test| !test.counted).map(|test| test.test).collect();
    if row.schema != FIRST_SCHEMA && !uncounted.is_empty() {
        coverage::name_uncounted_tests(&mut coverage, &coverage_by(row, Chosen::All), &uncounted);
    }
    coverage
}

/// Whether anything that counts was recorded that may follow an undefined value.
fn follows_undefined(row: &KernelEvidence) -> bool {
    let mut counted = row.records.iter().chain(&row.objects.records).filter(|test| test.counted);
    counted.any(|test| test.records.follow_undefined())
}

/// The same kernel with what its tests recorded whatever undefined values are.
fn by_defined_records(row: &KernelEvidence) -> KernelEvidence {
    let mut row = row.clone();
    for test in row.records.iter_mut().chain(&mut row.objects.records) {
        test.records = test.records.without_undefined();
    }
    row
}

fn coverage_by(row: &KernelEvidence, chosen: Chosen) -> KernelCoverage {
    let tests = records_of(&row.records, chosen);
    let objects = object::assess_object(
        &row.objects.structure,
        &row.source,
        &records_of(&row.objects.records, chosen),
    );
    if !has_source(row) {
        return no_source(&row.configuration, objects);
    }
    let (coverage, told) = if row.presence.markers.is_empty() {
        let proposing = ProposalRules::for_schema(row.schema);
        (
            unmeasured(&row.structure, &row.configuration, proposing),
            BarrierRecords::Missing(UNUSABLE),
        )
    } else {
        (coverage::assess(&subject(row), &tests), barrier_records(row.engine))
    };
    with_objects(
        KernelCoverage {
            barriers: barrier::assess_barriers(&row.barriers, told, &tests),
            ..coverage
        },
        objects,
    )
}

/// Why nothing is recorded where the derived modules could not be used.
pub const UNUSABLE: &str = "the derived modules cannot be used";

/// What an engine tells of executed barriers.
pub fn barrier_records(engine: EngineName) -> BarrierRecords<'static> {
    match engine {
        EngineName::Sequential => BarrierRecords::Kept,
        EngineName::Vulkan => BarrierRecords::Missing(barrier::DEVICE_KEEPS_NO_BARRIER_RECORDS),
    }
}

fn has_source(row: &KernelEvidence) -> bool {
    !row.structure.functions.is_empty()
}

fn records_of(records: &[TestRecords], chosen: Chosen) -> Vec<(TestId, &Records)> {
    let taken = records.iter().filter(|test| match chosen {
        Chosen::Counted => test.counted,
        Chosen::All => true,
    });
    taken.map(|test| (test.test, &test.records)).collect()
}

/// Coverage together with that of object code, counted.
pub fn with_objects(mut coverage: KernelCoverage, objects: ObjectCoverage) -> KernelCoverage {
    (coverage.objects, coverage.additional) = (objects.outcomes, objects.additional);
    coverage.summary = criteria::criterion_summaries(&coverage);
    coverage
}

fn subject(row: &KernelEvidence) -> CoverageSubject<'_> {
    let KernelEvidence { structure, layout, presence, configuration, .. } = row;
    CoverageSubject {
        structure,
        layout,
        presence,
        configuration,
        proposing: ProposalRules::for_schema(row.schema),
    }
}

/// Records of passed tests that contradict what the configuration fixes.
pub fn contradictions(row: &KernelEvidence) -> Vec<KernelFinding> {
    let tests = row.records.iter().filter(|test| test.counted);
    tests
        .flat_map(|test| {
            let found = coverage::contradictions(&subject(row), &[(test.test, &test.records)]);
            found.into_iter().map(|sentence| KernelFinding {
                kernel: row.kernel,
                engine: Some(row.engine),
                test: Some(test.test),
                finding: internal_error(&sentence),
            })
        })
        .collect()
}

/// A defect of this tool, of the compiler or of the device, told as a finding so that it counts
/// against the result.
pub fn internal_error(sentence: &str) -> Finding {
    Finding::new(FindingKind::Validation, format!("internal error: {sentence}"))
}

/// The derived modules could not be used: everything of the source is an obligation, nothing is
/// recorded.
pub fn unmeasured(
    structure: &KernelStructure,
    configuration: &Configuration,
    proposing: ProposalRules,
) -> KernelCoverage {
    let layout = &RecordLayout { decisions: Vec::new(), marks: Vec::new(), bits: 0 };
    let presence = &everything_present(structure);
    coverage::assess(
        &CoverageSubject { structure, layout, presence, configuration, proposing },
        &[],
    )
}

/// SPIR-V without source: its branches are those of the object code; no other criterion of source
/// structure can be claimed, and none may look complete for being empty.
pub fn no_source(configuration: &Configuration, objects: ObjectCoverage) -> KernelCoverage {
    let empty =
        KernelCoverage { configuration: configuration.name.clone(), ..KernelCoverage::default() };
    let mut coverage = with_objects(empty, objects);
    coverage.branches.clone_from(&coverage.objects);
    coverage.summary = summary_without_source(&coverage);
    coverage
}

/// Counts by criterion; without source nothing of its structure may look complete.
pub fn summary_without_source(coverage: &KernelCoverage) -> Vec<CriterionSummary> {
    let row = |row: CriterionSummary| match criteria::criterion_named(&row.criterion)
        .map(Criterion::subject)
    {
        Some(CriterionSubject::Object) => row,
        Some(CriterionSubject::Source) | None => {
            CriterionSummary { total: 1, undetermined: 1, ..row }
        }
    };
    let branches = criteria::criterion_summaries(coverage).into_iter();
    branches.map(|found| if found.criterion == "branch" { found } else { row(found) }).collect()
}

/// What a justification that no row of evidence is about names.
pub fn nothing(justification: &Justification) -> String {
    match &justification.configuration {
        None => format!("the project has no kernel {}", justification.kernel),
        Some(configuration) => {
            format!("{} has no configuration {configuration}", justification.kernel)
        }
    }
}

fn everything_present(structure: &KernelStructure) -> Presence {
    let roles = structure.markers.iter().enumerate();
    let markers = roles.map(|(number, role)| (number as u32, PresentMarker::runtime(*role)));
    Presence { markers: markers.collect() }
}

/// Applies the campaign's justifications to every kernel and to the findings, and notes which are
/// rejected. A justification of an obligation counts where that is open; it is superfluous only if
/// no engine needs it.
pub fn justify(evidence: &mut [KernelEvidence], campaign: &mut Campaign) {
    let justifications: Vec<_> =
        campaign.justifications.iter().map(|row| row.justification.clone()).collect();
    let standard = JustificationStandard::for_level(campaign.project.level, campaign.schema);
    let refuted = refutations(evidence, &justifications, &standard);
    let given: Vec<GivenJustification> = justifications
        .iter()
        .zip(refuted)
        .map(|(justification, refuted)| GivenJustification { justification, refuted })
        .collect();
    let configurations = bound_configurations(evidence);
    let mut rejections: Vec<Vec<Option<Rejection>>> = vec![Vec::new(); justifications.len()];
    for row in evidence
        .iter_mut()
        .filter(|row| given.iter().any(|given| given.justification.kernel == row.kernel))
    {
        let bound = bound(row, &configurations[&row.kernel]);
        let justified = coverage::apply_justifications(bound, &row.coverage, &given, &standard);
        for (index, rejection) in justified.rejected.iter().enumerate() {
            if justification::claimed_obligation(&justifications[index], &row.kernel, &row.coverage)
                .is_some()
            {
                rejections[index].push(rejection.clone());
            }
        }
        match (has_source(row), standard.binding) {
            (true, _) => row.coverage = justified.coverage,
            (false, HashBinding::Content) => {
                row.coverage = justified.coverage;
                row.coverage.summary = summary_without_source(&row.coverage);
            }
            // It did not count there.
            (false, HashBinding::DisplayedText) => {}
        }
    }
    let followed: BTreeSet<KernelName> = configured_by_tests(campaign).cloned().collect();
    for (row, found) in campaign.justifications.iter_mut().zip(rejections) {
        let first = found.iter().all(Option::is_some).then(|| found.into_iter().next().flatten());
        (row.rejected, row.not_judged) = match first {
            None => (None, None),
            Some(None) => (Some(nothing(&row.justification)), None),
            // Configurations that tests make are not all there.
            Some(Some(Rejection::Stale(_))) if followed.contains(&row.justification.kernel) => (
                None,
                Some(
                    "tests were left out, and with them configurations that it is bound to"
                        .to_owned(),
                ),
            ),
            Some(Some(rejection)) => (Some(rejection.reason().to_owned()), None),
        };
    }
    acceptance::accept(evidence, campaign);
}

/// Kernels whose configurations are those that tests use, where tests were left out.
fn configured_by_tests(campaign: &Campaign) -> impl Iterator<Item = &KernelName> {
    let settings = campaign.settings.as_ref().filter(|_| !campaign.left_out.is_empty());
    let kernels = settings.into_iter().flat_map(|settings| &settings.kernels);
    kernels.filter(|kernel| kernel.configurations.is_empty()).map(|kernel| &kernel.name)
}

fn bound_configurations(
    evidence: &[KernelEvidence],
) -> BTreeMap<KernelName, Vec<BoundConfiguration>> {
    let mut all: BTreeMap<KernelName, Vec<&Configuration>> = BTreeMap::new();
    for row in evidence {
        all.entry(row.kernel).or_default().push(&row.configuration);
    }
    all.into_iter()
        .map(|(kernel, found)| (kernel, BoundConfiguration::of_all(found.into_iter())))
        .collect()
}

fn bound<'a>(row: &'a KernelEvidence, configurations: &'a [BoundConfiguration]) -> BoundKernel<'a> {
    BoundKernel {
        kernel: &row.kernel,
        structure: has_source(row).then_some(&row.structure),
        objects: &row.objects.structure,
        code: &row.modules.code,
        configurations,
    }
}

/// What the records of any engine say against each justification that claims that something cannot
/// happen.
fn refutations(
    evidence: &[KernelEvidence],
    justifications: &[Justification],
    standard: &JustificationStandard,
) -> Vec<Option<String>> {
    let mut refuted = vec![None; justifications.len()];
    if standard.binding == HashBinding::DisplayedText {
        return refuted;
    }
    for row in evidence {
        let mut shown = None;
        for (justification, refuted) in justifications.iter().zip(&mut refuted) {
            let Some(id) = claimed_impossible(justification, row).filter(|_| refuted.is_none())
            else {
                continue;
            };
            let shown = shown.get_or_insert_with(|| {
                ShownObligations::from_coverage(&coverage_by(row, Chosen::All))
            });
            *refuted = shown.refuting_sentence(id, row.engine).map(|sentence| {
                let under = configurations_of(evidence, &row.kernel) > 1;
                let under =
                    under.then(|| format!(" under configuration {}", row.configuration.name));
                let class = justification.class;
                format!(
                    "contradicted: {sentence}{}, which class {class} says cannot be",
                    under.unwrap_or_default()
                )
            });
        }
    }
    refuted
}

fn configurations_of(evidence: &[KernelEvidence], kernel: &KernelName) -> usize {
    let of_kernel = evidence.iter().filter(|row| row.kernel == *kernel);
    of_kernel.map(|row| row.configuration.name.as_str()).collect::<BTreeSet<_>>().len()
}

/// The obligation of a kernel that a justification says cannot be met there. What is dead is in no
/// configuration.
fn claimed_impossible<'a>(
    justification: &'a Justification,
    row: &KernelEvidence,
) -> Option<&'a ObligationId> {
    let JustificationSubject::Obligation(id) = &justification.subject else { return None };
    let everywhere = justification.class == JustificationClass::Dead;
    let configuration = justification.configuration.as_ref().filter(|_| !everywhere);
    let here = justification.kernel == row.kernel
        && configuration.is_none_or(|name| *name == row.configuration.name);
    (here && justification.class.claims_impossibility()).then_some(id)
}

/// The contents that justifications of the obligations of each of the stored kernels, which are all
/// of the evidence, are bound to.
pub fn stored_contents(
    kernels: &[KernelEvidence],
    mut read: impl FnMut(&KernelEvidence, &BoundContents),
) {
    let configurations = bound_configurations(kernels);
    for row in kernels {
        read(
            row,
            &BoundContents::from_coverage(bound(row, &configurations[&row.kernel]), &row.coverage),
        );
    }
}
