//! Runs that show a barrier which not all invocations of a workgroup reach, or a race within one.
//!
//! Knows: parameter values at and beside their bounds, and all of few where specialization constants
//! have no one value, run as the host would (`crate::replay`);
//! what decides which accesses and barriers a kernel executes.
//! Promises: a fault is told as shown only if the sequential engine finds it. Whether contents of
//! memory decide it, so that the zeros of the run may be at fault, is told with it.
//! Does not cover: which contents the host writes.

use super::host_values::{MOST_SPECIALIZATIONS, Specialization, VaryingConstants};
use crate::CouplingInput;
use crate::expressions::HostExpressions;
use crate::replay::{MOST_RUNS, Replay};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use vkcert_model::finding::{Checks, Finding, FindingKind};
use vkcert_model::finding_details::RaceReach;
use vkcert_requirement::host::decide::HostModel;
use vkcert_spirv::flow::{KernelDependences, KernelObject, kernel_dependences};

/// Something wrong that a run showed.
pub(super) struct ShownFault {
    pub parameters: BTreeMap<String, i64>,
    /// `, specialization constant 2 = 9,`, of constants that have no one value.
    pub constant_words: String,
    /// `invocations (0, 0, 0) of workgroup (0, 0, 0) and (1, 0, 0) of workgroup (0, 0, 0)`
    pub invocation_words: String,
    pub finding: Finding,
    /// What of it contents of memory may decide.
    pub contents: Rc<DecidingContents>,
}

/// What is looked for, by where instructions stand in the module.
pub(super) struct SoughtFaults {
    /// Barriers that may be reached by some invocations of a workgroup alone.
    pub barriers: BTreeSet<u32>,
    /// Two accesses, the first one first.
    pub races: BTreeSet<[u32; 2]>,
    /// Specializations under which accesses are not known to be ordered.
    pub racing: BTreeSet<Specialization>,
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
    let constants = VaryingConstants::of_kernel(input, expressions);
    let Some((engine, constants)) = input.replay.zip(constants) else { return shown };
    let mut contents: BTreeMap<Specialization, Rc<DecidingContents>> = BTreeMap::new();
    for (parameters, specialization) in cases(host, &constants, sought) {
        if shown.has_all(sought) || shown.run_count == MOST_RUNS {
            break;
        }
        let replay = Replay { input, host, expressions, specialization: &specialization };
        if !replay.can_run() {
            break;
        }
        let kinds = [FindingKind::BarrierDivergence, FindingKind::DataRace];
        let Some(job) = replay.job_for(&parameters, Checks::of_kinds(kinds)) else { continue };
        shown.run_count += 1;
        for finding in replay.findings(engine, &job) {
            let known = contents
                .entry(specialization.clone())
                .or_insert_with_key(|known| Rc::new(DecidingContents::of_kernel(input, known)));
            let fault = ShownFault {
                parameters: parameters.clone(),
                constant_words: constants.in_words(&specialization),
                invocation_words: both_invocations(&replay, &finding),
                finding,
                contents: Rc::clone(known),
            };
            shown.add(fault, sought);
        }
    }
    shown
}

/// A choice of parameter values with the specialization that the host makes for it.
type SpecializedCase = (BTreeMap<String, i64>, Specialization);

/// Choices of parameter values that are worth a run, each specialization first with its first one.
/// Where constants have no one value, only those with which something is sought are.
fn cases(
    host: &HostModel,
    constants: &VaryingConstants<'_>,
    sought: &SoughtFaults,
) -> Vec<SpecializedCase> {
    let specialized = |parameters: BTreeMap<String, i64>| -> Option<SpecializedCase> {
        let specialization = constants.specialization(host, &parameters)?;
        Some((parameters, specialization))
    };
    let probing = host.probing_cases().into_iter();
    if constants.are_none() {
        return probing.filter_map(specialized).collect();
    }
    let all = probing.chain(host.sweeping_cases(MOST_SPECIALIZATIONS)).filter_map(specialized);
    let is_sought =
        |case: &SpecializedCase| !sought.barriers.is_empty() || sought.racing.contains(&case.1);
    let mut seen = BTreeSet::new();
    let sought_cases = all.filter(is_sought);
    let (mut first, others): (Vec<_>, Vec<_>) =
        sought_cases.partition(|(_, specialization)| seen.insert(specialization.clone()));
    first.extend(others);
    first
}

impl ShownFaults {
    fn has_all(&self, sought: &SoughtFaults) -> bool {
        self.divergences.len() == sought.barriers.len() && self.races.len() == sought.races.len()
    }

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
    fn of_kernel(input: &CouplingInput<'_>, specialization: &Specialization) -> Self {
        let entry = &input.reflection.entry;
        let dependences =
            kernel_dependences(input.module, entry, specialization, &BTreeMap::new()).ok();
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
