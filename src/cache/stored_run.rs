//! Results of a request as entries hold them.
//!
//! Promises: what is read back is what was written, to the last bit: [`StoredResults::faithful`] reads
//! its own text again and compares, and gives nothing where they differ.
//! [`can_be_kept`] says which may be kept.

use base64::Engine as _;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use vkcert_exec::access_pairs::{AccessPairs, ModulePairs};
use vkcert_exec::repeat::{ResultParts, Results};
use vkcert_exec::{Completion, Counts, Run};
use vkcert_model::access_pair::AccessPair;
use vkcert_model::evidence::LoweringDecision;
use vkcert_model::finding::{Finding, RaceScope};
use vkcert_model::id::{KernelName, ModuleKey};
use vkcert_model::place::Place;
use vkcert_model::printed::Printed;
use vkcert_model::records::Records;

/// What an engine gave back.
#[derive(Debug, PartialEq)]
pub struct EngineResults {
    /// Of all repetitions.
    pub results: ResultParts,
    /// Of the first one.
    pub counts: Counts,
}

/// Whether another run would have to end in the same way: time and devices that were lost are of
/// the moment, and what was undetermined may be known the next time.
pub fn can_be_kept(results: &Results) -> bool {
    results.completions().all(|completion| match completion {
        Completion::Completed
        | Completion::NoTermination { .. }
        | Completion::Unsupported { .. }
        | Completion::Error { .. } => true,
        Completion::Timeout { .. }
        | Completion::DeviceLost { .. }
        | Completion::Undetermined { .. }
        | Completion::Varying { .. } => false,
    })
}

/// What an entry holds of [`EngineResults`].
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredResults {
    different: Vec<StoredRun>,
    of: Vec<usize>,
    findings: Vec<StoredFinding>,
    lowering: Vec<(StoredModule, Vec<LoweringDecision>)>,
    touched: Vec<Vec<((u32, u32), u64)>>,
    access_pairs: StoredPairs,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRun {
    completion: Completion,
    /// base64
    buffers: Vec<String>,
    findings: Vec<StoredFinding>,
    records: Vec<(StoredModule, Records)>,
    notes: Vec<String>,
    printed: Printed,
    race_scope: Option<RaceScope>,
}

/// A module of a job.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredModule {
    kernel: KernelName,
    specialization: u32,
}

/// A finding with what evidence does not store of it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredFinding {
    finding: Finding,
    module: Option<StoredModule>,
    shown_in: Option<vkcert_model::schedule::Schedule>,
    /// Of its place and its other place: the instruction.
    instructions: [Option<u32>; 2],
}

#[derive(Clone, Serialize, Deserialize)]
enum StoredPairs {
    NotTracked,
    Tracked(Vec<(StoredModule, Vec<AccessPair>, Vec<Range<u32>>)>),
    Undetermined(String),
}

impl From<&ModuleKey> for StoredModule {
    fn from(key: &ModuleKey) -> Self {
        let ModuleKey { kernel, specialization } = *key;
        Self { kernel, specialization }
    }
}

impl From<StoredModule> for ModuleKey {
    fn from(stored: StoredModule) -> Self {
        Self { kernel: stored.kernel, specialization: stored.specialization }
    }
}

impl StoredFinding {
    fn of_finding(finding: &Finding) -> Self {
        let instruction_of = |place: &Option<Place>| place.as_ref().and_then(|at| at.instruction);
        Self {
            module: finding.module.as_ref().map(StoredModule::from),
            shown_in: finding.shown_in,
            instructions: [instruction_of(&finding.place), instruction_of(&finding.other_place)],
            finding: finding.clone(),
        }
    }

    fn into_finding(self) -> Finding {
        let Self { mut finding, module, shown_in, instructions } = self;
        finding.module = module.map(ModuleKey::from);
        finding.shown_in = shown_in;
        let places = [&mut finding.place, &mut finding.other_place];
        for (place, instruction) in places.into_iter().zip(instructions) {
            if let Some(place) = place {
                place.instruction = instruction;
            }
        }
        finding
    }
}

fn stored_findings(findings: &[Finding]) -> Vec<StoredFinding> {
    findings.iter().map(StoredFinding::of_finding).collect()
}

fn read_findings(stored: Vec<StoredFinding>) -> Vec<Finding> {
    stored.into_iter().map(StoredFinding::into_finding).collect()
}

fn by_module<V>(rows: Vec<(StoredModule, V)>) -> BTreeMap<ModuleKey, V> {
    rows.into_iter().map(|(module, value)| (module.into(), value)).collect()
}

fn module_rows<V: Clone>(map: &BTreeMap<ModuleKey, V>) -> Vec<(StoredModule, V)> {
    map.iter().map(|(key, value)| (key.into(), value.clone())).collect()
}

impl StoredRun {
    fn of_run(run: &Run) -> Self {
        let Run { completion, buffers, findings, records, notes, printed, race_scope } = run;
        let text_of = |bytes: &Arc<Vec<u8>>| {
            base64::engine::general_purpose::STANDARD.encode(bytes.as_slice())
        };
        Self {
            completion: completion.clone(),
            buffers: buffers.iter().map(text_of).collect(),
            findings: stored_findings(findings),
            records: module_rows(records),
            notes: notes.clone(),
            printed: printed.clone(),
            race_scope: *race_scope,
        }
    }

    fn into_run(self) -> Option<Run> {
        let Self { completion, buffers, findings, records, notes, printed, race_scope } = self;
        let bytes_of = |text: String| {
            base64::engine::general_purpose::STANDARD.decode(text).ok().map(Arc::new)
        };
        Some(Run {
            completion,
            buffers: buffers.into_iter().map(bytes_of).collect::<Option<_>>()?,
            findings: read_findings(findings),
            records: by_module(records),
            notes,
            printed,
            race_scope,
        })
    }
}

impl StoredPairs {
    fn of_pairs(access_pairs: &AccessPairs) -> Self {
        match access_pairs {
            AccessPairs::NotTracked => Self::NotTracked,
            AccessPairs::Undetermined { reason } => Self::Undetermined(reason.clone()),
            AccessPairs::Tracked(by_module) => {
                let row = |(key, pairs): (&ModuleKey, &ModulePairs)| {
                    let ModulePairs { pairs, executed } = pairs;
                    (key.into(), pairs.iter().copied().collect(), executed.clone())
                };
                Self::Tracked(by_module.iter().map(row).collect())
            }
        }
    }

    fn into_pairs(self) -> AccessPairs {
        match self {
            Self::NotTracked => AccessPairs::NotTracked,
            Self::Undetermined(reason) => AccessPairs::Undetermined { reason },
            Self::Tracked(rows) => {
                let row = |(module, pairs, executed): (StoredModule, Vec<AccessPair>, _)| {
                    let pairs = pairs.into_iter().collect();
                    (module.into(), ModulePairs { pairs, executed })
                };
                AccessPairs::Tracked(rows.into_iter().map(row).collect())
            }
        }
    }
}

impl StoredResults {
    /// The stored form of results; none where it would be read back as something else.
    pub fn faithful(engine_results: &EngineResults) -> Option<Self> {
        let stored = Self::of_results(engine_results);
        let text = serde_json::to_vec(&stored).ok()?;
        let read_again: Self = serde_json::from_slice(&text).ok()?;
        (read_again.into_results().as_ref() == Some(engine_results)).then_some(stored)
    }

    fn of_results(engine_results: &EngineResults) -> Self {
        let EngineResults { results, counts } = engine_results;
        let ResultParts { different, of, findings } = results;
        let Counts { lowering, touched, access_pairs } = counts;
        let rows = |dispatch: &BTreeMap<(u32, u32), u64>| {
            dispatch.iter().map(|(place, bytes)| (*place, *bytes)).collect()
        };
        Self {
            different: different.iter().map(StoredRun::of_run).collect(),
            of: of.clone(),
            findings: stored_findings(findings),
            lowering: module_rows(lowering),
            touched: touched.iter().map(rows).collect(),
            access_pairs: StoredPairs::of_pairs(access_pairs),
        }
    }

    /// The results; none where they are none.
    pub fn into_results(self) -> Option<EngineResults> {
        let Self { different, of, findings, lowering, touched, access_pairs } = self;
        let results = ResultParts {
            different: different.into_iter().map(StoredRun::into_run).collect::<Option<_>>()?,
            of,
            findings: read_findings(findings),
        };
        let counts = Counts {
            lowering: by_module(lowering),
            touched: touched.into_iter().map(|rows| rows.into_iter().collect()).collect(),
            access_pairs: access_pairs.into_pairs(),
        };
        Some(EngineResults { results, counts })
    }
}
