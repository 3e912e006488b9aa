//! Runs that show a barrier which not all invocations of a workgroup reach, or a race within one.
//!
//! Knows: parameter values at and beside their bounds, run as the host would (`crate::replay`);
//! what decides which accesses and barriers a kernel executes.
//! Promises: a fault is told as shown only if the sequential engine finds it. Whether contents of
//! memory decide it, so that the zeros of the run may be at fault, is told with it.
//! Does not cover: which contents the host writes.

use crate::CouplingInput;
use crate::expressions::HostExpressions;
use crate::replay::{MOST_RUNS, Replay};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::finding::{Checks, Finding, FindingKind};
use vkcert_model::finding_details::RaceReach;
use vkcert_requirement::host::decide::HostModel;
use vkcert_spirv::flow::{KernelDependences, KernelObject, kernel_dependences};

/// Something wrong that a run showed.
pub(super) struct ShownFault {
    pub parameters: BTreeMap<String, i64>,
    /// `invocations (0, 0, 0) of workgroup (0, 0, 0) and (1, 0, 0) of workgroup (0, 0, 0)`
    pub invocation_words: String,
    pub finding: Finding,
}

/// What is looked for, by where instructions stand in the module.
pub(super) struct SoughtFaults {
    /// Barriers that may be reached by some invocations of a workgroup alone.
    pub barriers: BTreeSet<u32>,
    /// Two accesses, the first one first.
    pub races: BTreeSet<[u32; 2]>,
}

/// What runs showed.
#[derive(Default)]
pub(super) struct ShownFaults {
    /// By barrier.
    pub divergences: BTreeMap<u32, ShownFault>,
    /// By the two accesses.
    pub races: BTreeMap<[u32; 2], ShownFault>,
    /// How often the kernel was run.
    pub run_count: usize,
}

/// Runs the kernel until all that is sought is shown, at most [`MOST_RUNS`] times.
pub(super) fn shown_faults(
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
    sought: &SoughtFaults,
) -> ShownFaults {
    let mut shown = ShownFaults::default();
    let specialization = crate::host_constants(input.interface, &input.reflection.specialization);
    let replay = Replay { input, host, expressions, specialization: &specialization };
    let Some(engine) = input.replay.filter(|_| replay.can_run()) else { return shown };
    let kinds = [FindingKind::BarrierDivergence, FindingKind::DataRace];
    for parameters in host.probing_cases() {
        let is_complete = shown.divergences.len() == sought.barriers.len()
            && shown.races.len() == sought.races.len();
        if is_complete || shown.run_count == MOST_RUNS {
            break;
        }
        let Some(job) = replay.job_for(&parameters, Checks::of_kinds(kinds)) else { continue };
        shown.run_count += 1;
        for finding in replay.findings(engine, &job) {
            let fault = ShownFault {
                parameters: parameters.clone(),
                invocation_words: both_invocations(&replay, &finding),
                finding,
            };
            shown.add(fault, sought);
        }
    }
    shown
}

impl ShownFaults {
    /// Keeps a fault that is sought, the first of each.
    fn add(&mut self, fault: ShownFault, sought: &SoughtFaults) {
        let words = [&fault.finding.place, &fault.finding.other_place]
            .map(|place| place.as_ref().and_then(|place| place.instruction));
        if let Some(race) = fault.finding.details.race() {
            let [Some(first), Some(second)] = words else { return };
            let accesses = [first.min(second), first.max(second)];
            if race.reach == RaceReach::WithinWorkgroup && sought.races.contains(&accesses) {
                self.races.entry(accesses).or_insert(fault);
            }
        } else if fault.finding.kind == FindingKind::BarrierDivergence {
            let barrier = words.into_iter().flatten().find(|word| sought.barriers.contains(word));
            if let Some(barrier) = barrier {
                self.divergences.entry(barrier).or_insert(fault);
            }
        }
    }
}

fn both_invocations(replay: &Replay<'_>, finding: &Finding) -> String {
    let words = |number| replay.invocation_words(finding, number);
    match (words(0), words(1)) {
        (Some(first), Some(second)) => format!("invocations {first} and {second}"),
        (Some(only), None) => format!("invocation {only}"),
        (None, _) => "some invocations".to_owned(),
    }
}

/// Which faults contents of memory may decide.
pub(super) struct DecidingContents {
    dependences: Option<KernelDependences>,
    /// Whether contents decide which barriers are executed.
    decide_barriers: bool,
}

impl DecidingContents {
    pub(super) fn of_kernel(input: &CouplingInput<'_>) -> Self {
        let specialization =
            crate::host_constants(input.interface, &input.reflection.specialization);
        let entry = &input.reflection.entry;
        let dependences =
            kernel_dependences(input.module, entry, &specialization, &BTreeMap::new()).ok();
        let decide_barriers = dependences.as_ref().is_none_or(|dependences| {
            dependences.barriers.values().any(|branches| decide_branches(dependences, branches))
        });
        Self { dependences, decide_barriers }
    }

    /// Whether they decide how barriers are executed.
    pub(super) fn decide_barriers(&self) -> bool {
        self.decide_barriers
    }

    /// Whether they decide if, and to which element, one of some accesses is made, or which
    /// barriers stand between them.
    pub(super) fn decide_accesses(&self, instructions: [usize; 2]) -> bool {
        let Some(dependences) = &self.dependences else { return true };
        let decide = |instruction: usize| {
            let mut accesses =
                dependences.accesses.iter().filter(|access| access.instruction == instruction);
            accesses.any(|access| {
                access.indices.iter().any(is_content)
                    || decide_branches(dependences, &access.branches)
            })
        };
        self.decide_barriers || instructions.into_iter().any(decide)
    }
}

fn decide_branches(dependences: &KernelDependences, branches: &BTreeSet<usize>) -> bool {
    branches.iter().any(|branch| match dependences.conditions.get(branch) {
        Some(objects) => objects.iter().any(is_content),
        None => true,
    })
}

/// Whether an object is neither of the host's numbers nor an id.
fn is_content(object: &KernelObject) -> bool {
    match object {
        KernelObject::Descriptor { .. }
        | KernelObject::Workgroup(_)
        | KernelObject::Addressed
        | KernelObject::SubgroupOperation(_)
        | KernelObject::StandIn(_) => true,
        KernelObject::PushConstant { .. }
        | KernelObject::DescriptorSize { .. }
        | KernelObject::SpecializationConstant(_)
        | KernelObject::BuiltIn(_) => false,
    }
}
