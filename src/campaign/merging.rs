//! The evidence of a campaign from that of its shards.
//!
//! Knows: which fields of evidence are facts, and whose they are. Promises: the facts of each shard
//! are taken as they are, and everything else is derived from them as `verify` derives it, so that
//! what comes out is what one run would have written; where shards ran on several devices that differ
//! in nothing but their UUID, all of these are named. Shards that are not of one campaign, or not
//! all of one, are refused by name.
//! Does not cover: whether the facts of a shard are true (`verify --replay`).

use super::verification::{RebuiltProject, derived_evidence};
use crate::CampaignError;
use crate::facts::{EvidenceTarget, seal_evidence};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::access_pair::{AccessPair, Passage, ShownPairs};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{
    Campaign, EngineIdentity, Evidence, KernelEvidence, SetAsideKernel, StoredInputs, TestRecords,
};
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::shard::{Shard, ShardFile};
use vkcert_verification::{Replay, Verification};

/// The row of an engine's identity that differs between devices of one kind.
const DEVICE_UUID: &str = "device uuid";

/// A part of a campaign as it was written.
pub struct StoredShard {
    /// As the command line names it.
    pub name: String,
    /// Which part it is of what.
    pub file: ShardFile,
    /// What it came to.
    pub evidence: Evidence,
}

/// Names of the configurations of each kernel: pairs of accesses name one by its place, from 1.
type Configurations = BTreeMap<KernelName, Vec<String>>;

/// The facts of all shards in one evidence, with what their pairs of accesses number.
pub struct UnitedFacts {
    /// The facts.
    pub evidence: Evidence,
    configurations: Configurations,
}

/// The facts of all shards in one evidence. Its derived fields are those of one shard: they have to
/// be derived anew ([`derive_merged`]).
pub fn unite_facts(mut shards: Vec<StoredShard>) -> Result<UnitedFacts, CampaignError> {
    shards.sort_by_key(|shard| shard.file.shard);
    check_completeness(&shards)?;
    let mut rest = shards.into_iter();
    let Some(StoredShard { file, evidence: mut united, .. }) = rest.next() else {
        return Err(refused("there is no shard".to_owned()));
    };
    united.campaign.left_out = file.left_out;
    let mut configurations = Configurations::new();
    add_configurations(&mut configurations, &mut united.kernels)?;
    for StoredShard { mut evidence, .. } in rest {
        add_configurations(&mut configurations, &mut evidence.kernels)?;
        add_inputs(&mut united, &evidence)?;
        let Campaign { tests, agreement, findings, engines, .. } = evidence.campaign;
        add_devices(&mut united.campaign.engines, &engines);
        let of_tests: BTreeSet<TestId> = tests.iter().map(|test| test.id).collect();
        let is_of_test = |test: Option<TestId>| test.is_some_and(|test| of_tests.contains(&test));
        united.campaign.tests.extend(tests);
        united.campaign.agreement.extend(agreement);
        let own_findings = findings.into_iter().filter(|row| is_of_test(row.test));
        united.campaign.findings.extend(own_findings);
        add_kernels(&mut united.kernels, evidence.kernels);
    }
    Ok(UnitedFacts { evidence: united, configurations })
}

/// Adds the configurations that a shard has, and numbers its pairs by all of them: a shard counts
/// those that its own tests use.
fn add_configurations(
    all: &mut Configurations,
    kernels: &mut [KernelEvidence],
) -> Result<(), CampaignError> {
    let mut own = Configurations::new();
    for row in kernels.iter() {
        let name = row.configuration.name.clone();
        for names in [own.entry(row.kernel).or_default(), all.entry(row.kernel).or_default()] {
            if !names.contains(&name) {
                names.push(name.clone());
            }
        }
    }
    number_pairs(kernels, &own, all)
}

/// Numbers pairs that name a configuration by its place among `before` by its place among `after`;
/// 0 stands for none of them in both.
fn number_pairs(
    kernels: &mut [KernelEvidence],
    before: &Configurations,
    after: &Configurations,
) -> Result<(), CampaignError> {
    let number = |kernel: KernelName, number: u32| match number.checked_sub(1) {
        None => Some(0),
        Some(place) => {
            let name = before.get(&kernel)?.get(place as usize)?;
            let place = after.get(&kernel)?.iter().position(|other| other == name)?;
            u32::try_from(place + 1).ok()
        }
    };
    let numbered = |mut pair: AccessPair| {
        if let Passage::Dispatch { kernel, specialization, .. } = &mut pair.passage {
            *specialization = number(*kernel, *specialization).ok_or_else(|| {
                refused(format!("a pair names configuration {specialization} of kernel `{kernel}`, which has none"))
            })?;
        }
        Ok::<_, CampaignError>(pair)
    };
    let all_records = kernels.iter_mut().flat_map(|row| {
        row.records.iter_mut().chain(&mut row.objects.records).map(|records| &mut records.records)
    });
    for records in all_records {
        let shown = match &mut records.pairs {
            Some(ShownPairs::Shown(pairs)) => Some(pairs),
            Some(ShownPairs::NotFollowed(_)) | None => None,
        };
        for pairs in shown.into_iter().chain(records.directed_pairs.values_mut()) {
            *pairs = std::mem::take(pairs).into_iter().map(numbered).collect::<Result<_, _>>()?;
        }
    }
    Ok(())
}

/// The evidence that united facts come to, with `rebuilt`: the project of their inputs. Its files go
/// to `target`.
pub fn derive_merged(
    united: UnitedFacts,
    rebuilt: &RebuiltProject,
    target: &dyn EvidenceTarget,
) -> Result<Evidence, CampaignError> {
    let UnitedFacts { evidence: mut united, configurations } = united;
    let of_project = rebuilt.kernels.iter().map(|kernel| {
        let names = kernel.configurations.iter().map(|row| row.configuration.name.clone());
        (KernelName::from(&kernel.name), names.collect())
    });
    number_pairs(&mut united.kernels, &configurations, &of_project.collect())?;
    order_by_tests(&mut united, rebuilt)?;
    let mut verification = Verification::default();
    let derived = derived_evidence(&united, rebuilt, Replay::No, &mut verification)?;
    let mut evidence = match (derived, verification.problems.first()) {
        (Some(evidence), None) => evidence,
        (_, Some(problem)) => {
            return Err(refused(format!("the shards contradict their project: {problem}")));
        }
        (None, None) => return Err(CampaignError::tool("nothing could be derived".to_owned())),
    };
    seal_evidence(&mut evidence, target)?;
    Ok(evidence)
}

fn refused(message: String) -> CampaignError {
    Diagnostic::new("bad-shard", message).into()
}

/// Whether the shards, in order, are all of one campaign, each once.
fn check_completeness(shards: &[StoredShard]) -> Result<(), CampaignError> {
    let Some(first) = shards.first() else { return Err(refused("there is no shard".to_owned())) };
    for shard in shards {
        let campaign = &shard.evidence.campaign;
        let mut results = campaign.tests.iter().flat_map(|test| &test.results);
        if let Some(result) = results.find(|result| campaign.has_not_begun(result)) {
            return Err(refused(format!(
                "{} ended before all its tests had begun: {}",
                shard.name,
                result.reason.as_deref().unwrap_or("no reason is stored")
            )));
        }
        if let Some(difference) = difference_in_words(first, shard) {
            return Err(refused(format!(
                "{} and {} are of different runs: {difference}",
                first.name, shard.name
            )));
        }
    }
    for pair in shards.windows(2) {
        if pair[0].file.shard == pair[1].file.shard {
            let Shard { number, of } = pair[0].file.shard;
            return Err(refused(format!(
                "shard {number}/{of} is there twice: {} and {}",
                pair[0].name, pair[1].name
            )));
        }
    }
    let of = first.file.shard.of;
    let there: BTreeSet<u32> = shards.iter().map(|shard| shard.file.shard.number).collect();
    let missing: Vec<String> = (1..=of)
        .filter(|number| !there.contains(number))
        .map(|number| format!("{number}/{of}"))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(refused(format!("missing: {}", missing.join(", ")))),
    }
}

/// How two shards show that they are of different runs; none where nothing does.
fn difference_in_words(first: &StoredShard, other: &StoredShard) -> Option<String> {
    let ShardFile { schema: _, shard, root: _, program, left_out, options } = &other.file;
    let (campaign, other_campaign) = (&first.evidence.campaign, &other.evidence.campaign);
    if shard.of != first.file.shard.of {
        return Some(format!(
            "one is of {} shards, the other of {}",
            first.file.shard.of, shard.of
        ));
    }
    let is_same_program = *program == first.file.program;
    if let Some(kernel) = set_aside_otherwise(campaign, other_campaign).filter(|_| is_same_program)
    {
        return Some(format!(
            "only one of them sets kernel {kernel} aside, or they say something else against it"
        ));
    }
    if campaign.project != other_campaign.project || *program != first.file.program {
        return Some("project, tool or compiler".to_owned());
    }
    let names: BTreeSet<&String> = options.keys().chain(first.file.options.keys()).collect();
    let differing_option =
        names.into_iter().find(|name| options.get(*name) != first.file.options.get(*name));
    if let Some(name) = differing_option {
        return Some(format!("the option {name}"));
    }
    if *left_out != first.file.left_out {
        return Some("the tests that are left out".to_owned());
    }
    if campaign.settings != other_campaign.settings {
        return Some("vkcert.toml".to_owned());
    }
    if alike(&campaign.engines) != alike(&other_campaign.engines) {
        return Some("engines, devices or drivers".to_owned());
    }
    let inputs = &other.evidence.manifest.inputs;
    let differs = |(path, hash): &(&String, &String)| {
        inputs.get(*path).is_some_and(|other_hash| other_hash != *hash)
    };
    first.evidence.manifest.inputs.iter().find(differs).map(|(path, _)| format!("the file {path}"))
}

/// A kernel that two campaigns do not set aside alike; which of its tests did not run is the shard's
/// own.
fn set_aside_otherwise(campaign: &Campaign, other: &Campaign) -> Option<KernelName> {
    let without_tests = |row: &SetAsideKernel| SetAsideKernel { tests: Vec::new(), ..row.clone() };
    let [own, others] = [campaign, other].map(|campaign| -> Vec<SetAsideKernel> {
        campaign.set_aside.iter().map(without_tests).collect()
    });
    let missing = own.iter().find(|row| !others.contains(row));
    missing.or_else(|| others.iter().find(|row| !own.contains(row))).map(|row| row.kernel)
}

/// Engines but for which of several equal devices they ran on.
fn alike(engines: &[EngineIdentity]) -> Vec<EngineIdentity> {
    let mut engines = engines.to_vec();
    for row in &mut engines {
        row.identity.remove(DEVICE_UUID);
    }
    engines
}

/// Names every device that shards ran on, where there are several equal ones.
fn add_devices(united: &mut [EngineIdentity], engines: &[EngineIdentity]) {
    for (row, other) in united.iter_mut().zip(engines) {
        let (Some(uuids), Some(uuid)) =
            (row.identity.get_mut(DEVICE_UUID), other.identity.get(DEVICE_UUID))
        else {
            continue;
        };
        let mut all: BTreeSet<&str> = uuids.split(", ").collect();
        all.insert(uuid);
        *uuids = all.into_iter().collect::<Vec<_>>().join(", ");
    }
}

/// Files that tests of one shard alone read.
fn add_inputs(united: &mut Evidence, evidence: &Evidence) -> Result<(), CampaignError> {
    for (path, hash) in &evidence.manifest.inputs {
        match united.manifest.inputs.get(path) {
            Some(known) if known != hash => {
                return Err(refused(format!("the file {path} differs between shards")));
            }
            Some(_) => {}
            None => drop(united.manifest.inputs.insert(path.clone(), hash.clone())),
        }
    }
    let (Some(StoredInputs { files, .. }), Some(other)) = (&mut united.inputs, &evidence.inputs)
    else {
        return Err(refused("a shard stores no inputs".to_owned()));
    };
    for (path, file) in &other.files {
        files.entry(path.clone()).or_insert_with(|| file.clone());
    }
    Ok(())
}

/// Adds what the tests of a shard recorded.
fn add_kernels(united: &mut Vec<KernelEvidence>, kernels: Vec<KernelEvidence>) {
    for row in kernels {
        let is_same = |known: &&mut KernelEvidence| {
            known.kernel == row.kernel
                && known.engine == row.engine
                && known.configuration.name == row.configuration.name
        };
        let Some(known) = united.iter_mut().find(is_same) else {
            united.push(row);
            continue;
        };
        known.records.extend(row.records);
        known.objects.records.extend(row.objects.records);
        for decision in row.lowering {
            match known.lowering.iter_mut().find(|known| known.id == decision.id) {
                Some(known) => {
                    known.true_count = known.true_count.saturating_add(decision.true_count);
                    known.false_count = known.false_count.saturating_add(decision.false_count);
                }
                None => known.lowering.push(decision),
            }
        }
    }
}

/// Puts everything that is of tests into the order of the project's tests. Each of these must be
/// there, once.
fn order_by_tests(united: &mut Evidence, rebuilt: &RebuiltProject) -> Result<(), CampaignError> {
    let due = &rebuilt.project().tests;
    let places: BTreeMap<TestId, usize> =
        due.iter().enumerate().map(|(place, test)| (test.id, place)).collect();
    let place_of = |test: &TestId| places.get(test).copied().unwrap_or(usize::MAX);
    united.campaign.tests.sort_by_key(|test| place_of(&test.id));
    let there = united.campaign.tests.iter().map(|test| test.id);
    if !there.eq(due.iter().map(|test| test.id)) {
        return Err(refused("the tests of the shards are not those of their project".to_owned()));
    }
    united.campaign.agreement.sort_by_key(|row| place_of(&row.test));
    // Findings without a test are of kernels and interfaces: they are derived anew.
    united.campaign.findings.sort_by_key(|row| row.test.as_ref().map(place_of));
    for row in &mut united.kernels {
        row.records.sort_by_key(|records: &TestRecords| place_of(&records.test));
        row.objects.records.sort_by_key(|records: &TestRecords| place_of(&records.test));
    }
    Ok(())
}
