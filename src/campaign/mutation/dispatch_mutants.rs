//! Mutants of what the host does with a kernel: how many workgroups it dispatches, and that there is a barrier in front of
//! a dispatch.
//!
//! Knows: the dispatches of the project's tests, which stand for the host, with their places in the files. Promises: a
//! mutant is one fault, made in every test that dispatches the kernel in the same way. A barrier is taken away where one of
//! two dispatches can store to what both are given, and nowhere else.
//! Does not cover: running them (`dispatch_run`).

use crate::kernel::Kernel;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::{MutantEdit, MutantSubject, SubjectChange};
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::mutation::MutationOperator;
use vkcert_model::place::{Position, SourceFile};
use vkcert_model::procedure::{Binding, Dispatch, Test};
use vkcert_requirement::hash::test_hash;
use vkcert_requirement::{Located, Project};
use vkcert_spirv::flow::{FlowPlace, flows_or_switched_off};

/// What stands in the text where a barrier is gone: procedures have one between all dispatches without writing it.
const NO_BARRIER: &str = "# no barrier in front of this dispatch\n";

/// The mutants of the dispatches of a kernel.
#[derive(Debug, Clone, Default)]
pub(super) struct DispatchMutants {
    /// In a fixed order.
    pub(super) mutants: Vec<DispatchMutant>,
    /// The files that edits are of.
    pub(super) files: Vec<SourceFile>,
    /// What could not be mutated, and why.
    pub(super) notes: Vec<String>,
}

/// A mutant of the dispatches of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DispatchMutant {
    pub(super) operator: MutationOperator,
    /// In the order of files and texts.
    pub(super) edits: Vec<MutantEdit>,
    /// What is signed of it.
    pub(super) subject: MutantSubject,
    /// By test; others are what they are.
    pub(super) faults: BTreeMap<TestId, Vec<DispatchFault>>,
}

/// A fault of a dispatch of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DispatchFault {
    /// It has other counts of workgroups.
    Groups {
        /// Place of the dispatch in the test.
        dispatch: usize,
        /// The counts.
        groups: [u32; 3],
    },
    /// There is no barrier between it and the dispatch in front of it.
    NoBarrier {
        /// Place of the dispatch in the test, from 1 on.
        dispatch: usize,
    },
}

/// Workgroups along an axis that every device can have (Vulkan specification, "Required Limits").
const MOST_GROUPS: u32 = 65_535;

/// What becomes of counts of workgroups.
#[derive(Debug, Clone, Copy)]
enum CountsFault {
    Exchanged(usize, usize),
    More(usize),
    Less(usize),
}

const COUNTS_FAULTS: [CountsFault; 9] = [
    CountsFault::Exchanged(0, 1),
    CountsFault::Exchanged(0, 2),
    CountsFault::Exchanged(1, 2),
    CountsFault::More(0),
    CountsFault::More(1),
    CountsFault::More(2),
    CountsFault::Less(0),
    CountsFault::Less(1),
    CountsFault::Less(2),
];

impl CountsFault {
    fn operator(self) -> MutationOperator {
        match self {
            CountsFault::Exchanged(..) => MutationOperator::SizeExchange,
            CountsFault::More(_) => MutationOperator::SizeIncrement,
            CountsFault::Less(_) => MutationOperator::SizeDecrement,
        }
    }

    /// None where nothing changes, or no counts are left.
    fn apply(self, groups: [u32; 3]) -> Option<[u32; 3]> {
        let mut changed = groups;
        match self {
            CountsFault::Exchanged(one, other) => changed.swap(one, other),
            CountsFault::More(axis) => {
                changed[axis] =
                    groups[axis].checked_add(1).filter(|count| *count <= MOST_GROUPS)?;
            }
            CountsFault::Less(axis) => changed[axis] = groups[axis].checked_sub(1)?,
        }
        (changed != groups).then_some(changed)
    }
}

/// A dispatch of a test with its place in the text.
struct FoundDispatch<'p> {
    test: &'p Located<Test>,
    /// Place in the test.
    index: usize,
    file: String,
    text: &'p str,
    /// Byte of the dispatch.
    start: usize,
    /// Bytes of its counts.
    groups: (usize, usize),
}

impl FoundDispatch<'_> {
    fn edit(&self, start: usize, old: &str, new: String) -> MutantEdit {
        let Position { line, column } = Position::of(self.text, start);
        let (file, old) = (self.file.clone(), old.to_owned());
        MutantEdit { file, start: start as u32, line, column, old, new }
    }
}

/// Finds the mutants of the dispatches of one of the kernels in all tests of the project.
pub(super) fn dispatch_mutants(
    project: &Project,
    kernels: &[Kernel],
    kernel: KernelName,
) -> DispatchMutants {
    let mut found = DispatchMutants::default();
    let mut dispatches = Vec::new();
    // Those that are left out, too: a mutant has the same number and content in every part of a campaign.
    for test in project.tests.iter().chain(&project.left_out) {
        let own = test.value.dispatches.iter().enumerate();
        for (index, _) in own.filter(|(_, dispatch)| dispatch.kernel == kernel) {
            match found_dispatch(project, test, index) {
                Some(dispatch) => dispatches.push(dispatch),
                None => found.notes.push(format!(
                    "test {}: dispatch {} has no place in a file: it has no mutants",
                    test.value.id,
                    index + 1
                )),
            }
        }
    }
    let signed = SignedKernels { kernels, kernel };
    for fault in COUNTS_FAULTS {
        let mut mutant = DispatchMutant::of(fault.operator(), &signed);
        for dispatch in &dispatches {
            let groups = dispatch.test.value.dispatches[dispatch.index].groups;
            let Some(changed) = fault.apply(groups) else { continue };
            let (start, end) = dispatch.groups;
            let [x, y, z] = changed;
            let edit = dispatch.edit(start, &dispatch.text[start..end], format!("[{x}, {y}, {z}]"));
            let fault = DispatchFault::Groups { dispatch: dispatch.index, groups: changed };
            mutant.add(dispatch, edit, fault, &signed);
        }
        found.mutants.extend(mutant.finished());
    }
    found.mutants.extend(barrier_mutants(&signed, &dispatches));
    let mut known_files = BTreeSet::new();
    for dispatch in &dispatches {
        if known_files.insert(dispatch.file.clone()) {
            let (path, text) = (dispatch.file.clone(), dispatch.text.to_owned());
            found.files.push(SourceFile { path, text });
        }
    }
    found
}

/// One for each kernel that is dispatched right in front of this one and has to be waited for.
fn barrier_mutants(
    signed: &SignedKernels<'_>,
    dispatches: &[FoundDispatch<'_>],
) -> impl Iterator<Item = DispatchMutant> + use<> {
    let mut stores = KnownStores { kernels: signed.kernels, by_kernel: BTreeMap::new() };
    let mut by_kernel_in_front: BTreeMap<KernelName, DispatchMutant> = BTreeMap::new();
    for dispatch in dispatches {
        let all = &dispatch.test.value.dispatches;
        let Some(in_front) = dispatch.index.checked_sub(1).map(|index| &all[index]) else {
            continue;
        };
        if !stores.are_ordered_by_barrier(in_front, &all[dispatch.index]) {
            continue;
        }
        let mutant = by_kernel_in_front.entry(in_front.kernel).or_insert_with(|| {
            DispatchMutant::of(MutationOperator::DispatchBarrierRemoval, signed)
        });
        let edit = dispatch.edit(dispatch.start, "", NO_BARRIER.to_owned());
        let fault = DispatchFault::NoBarrier { dispatch: dispatch.index };
        mutant.add(dispatch, edit, fault, signed);
    }
    by_kernel_in_front.into_values().filter_map(DispatchMutant::finished)
}

/// What kernels can store to, each found once.
struct KnownStores<'k> {
    kernels: &'k [Kernel],
    by_kernel: BTreeMap<KernelName, KernelStores>,
}

/// What a kernel can store to.
#[derive(Debug, Clone)]
enum KernelStores {
    /// What is bound to these sets and bindings.
    Bindings(BTreeSet<(u32, u32)>),
    /// It accesses whatever a device address leads to, or it is not known.
    Anything,
}

impl KnownStores<'_> {
    /// Whether one of two dispatches can store to what both are given.
    fn are_ordered_by_barrier(&mut self, first: &Dispatch, second: &Dispatch) -> bool {
        let stored = [first, second].map(|dispatch| self.stored_names(dispatch));
        let [Some(stored_by_first), Some(stored_by_second)] = stored else { return true };
        let is_bound = |dispatch: &Dispatch, name: &str| {
            dispatch.bindings.iter().any(|binding| bound_name(binding) == Some(name))
        };
        stored_by_first.into_iter().any(|name| is_bound(second, name))
            || stored_by_second.into_iter().any(|name| is_bound(first, name))
    }

    /// Buffers and images that a dispatch can store to; none where it may be anything.
    fn stored_names<'d>(&mut self, dispatch: &'d Dispatch) -> Option<BTreeSet<&'d str>> {
        let kernels = self.kernels;
        let stores = self.by_kernel.entry(dispatch.kernel).or_insert_with(|| {
            let kernel = kernels.iter().find(|kernel| kernel.name == dispatch.kernel.as_str());
            kernel.map_or(KernelStores::Anything, KernelStores::of_kernel)
        });
        let KernelStores::Bindings(places) = stores else { return None };
        let bindings = dispatch.bindings.iter();
        let stored = bindings.filter(|row| places.contains(&(row.set, row.binding)));
        Some(stored.filter_map(bound_name).collect())
    }
}

impl KernelStores {
    fn of_kernel(kernel: &Kernel) -> Self {
        let flows = flows_or_switched_off(&kernel.module, &kernel.entry, &BTreeMap::new());
        let Ok(flows) = flows else { return KernelStores::Anything };
        let is_addressed = |place: &FlowPlace| matches!(place, FlowPlace::Addressed(_));
        let reads_addressed = flows.iter().any(|flow| flow.from.iter().any(is_addressed));
        let places = flows.iter().map(|flow| match &flow.to {
            FlowPlace::Descriptor(place) => Some((place.set, place.binding)),
            FlowPlace::Addressed(_) => None,
        });
        match places.collect::<Option<_>>() {
            Some(places) if !reads_addressed => KernelStores::Bindings(places),
            Some(_) | None => KernelStores::Anything,
        }
    }
}

fn bound_name(binding: &Binding) -> Option<&str> {
    binding.buffer.as_deref().or(binding.image.as_deref())
}

fn found_dispatch<'p>(
    project: &Project,
    test: &'p Located<Test>,
    index: usize,
) -> Option<FoundDispatch<'p>> {
    let document = test.origin.document()?;
    let place = test.origin.at("dispatches").at(index);
    let start = place.span()?.start;
    let groups = place.at("groups").span()?;
    let file = project.relative_file(test);
    let text = &*document.text;
    Some(FoundDispatch { test, index, file, text, start, groups: (groups.start, groups.end) })
}

/// The kernels whose code is signed with a mutant of one of them.
struct SignedKernels<'k> {
    kernels: &'k [Kernel],
    kernel: KernelName,
}

impl SignedKernels<'_> {
    /// Empty where there is no such kernel, which then stands in no evidence either.
    fn hash_of(&self, name: KernelName) -> String {
        let kernel = self.kernels.iter().find(|kernel| kernel.name == name.as_str());
        kernel.map(Kernel::signed_hash).unwrap_or_default()
    }
}

impl DispatchMutant {
    fn of(operator: MutationOperator, signed: &SignedKernels<'_>) -> Self {
        let subject = MutantSubject {
            kernel: signed.kernel,
            code: signed.hash_of(signed.kernel),
            changes: Vec::new(),
            tests: BTreeMap::new(),
            kernels: BTreeMap::new(),
        };
        Self { operator, edits: Vec::new(), subject, faults: BTreeMap::new() }
    }

    fn add(
        &mut self,
        dispatch: &FoundDispatch<'_>,
        edit: MutantEdit,
        fault: DispatchFault,
        signed: &SignedKernels<'_>,
    ) {
        let test = &dispatch.test.value;
        self.subject.changes.push(SubjectChange {
            file: edit.file.clone(),
            text: format!("{}, dispatch {}", test.id, dispatch.index + 1),
            same_above: 0,
            before: 0,
            old: edit.old.clone(),
            new: edit.new.clone(),
        });
        self.subject.tests.entry(test.id).or_insert_with(|| test_hash(test));
        for other in test.dispatches.iter().map(|dispatch| dispatch.kernel) {
            if other != signed.kernel {
                self.subject.kernels.entry(other).or_insert_with(|| signed.hash_of(other));
            }
        }
        self.edits.push(edit);
        self.faults.entry(test.id).or_default().push(fault);
    }

    /// None where it changes nothing.
    fn finished(mut self) -> Option<Self> {
        self.edits.sort_by(|left, right| (&left.file, left.start).cmp(&(&right.file, right.start)));
        // Tests can come of one place in a file.
        self.edits.dedup();
        self.subject.changes.sort_by(|left, right| {
            (&left.file, &left.text, &left.new).cmp(&(&right.file, &right.text, &right.new))
        });
        (!self.edits.is_empty()).then_some(self)
    }
}
