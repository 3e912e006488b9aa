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
use vkcert_model::index_range::IndexRange;
use vkcert_model::mutation::MutationOperator;
use vkcert_model::place::{Position, SourceFile};
use vkcert_model::procedure::{Binding, Dispatch, Test};
use vkcert_requirement::hash::test_hash;
use vkcert_requirement::{Located, Origin, Project};
use vkcert_spirv::flow::{FlowPlace, flows_or_switched_off};

/// What stands in the text where a barrier is gone: procedures have one between all dispatches without writing it.
const NO_BARRIER: &str = "# no barrier in front of this dispatch\n";

/// The mutants of the dispatches of a kernel.
#[derive(Debug, Clone, Default)]
pub(super) struct DispatchMutants {
    /// In a fixed order.
    pub(super) mutants: Vec<DispatchMutant>,
    /// What could not be mutated, and why.
    pub(super) notes: Vec<String>,
}

/// A mutant of the dispatches of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DispatchMutant {
    pub(super) operator: MutationOperator,
    /// In the order of files and texts.
    pub(super) edits: Vec<MutantEdit>,
    /// The same as justifications sign them.
    changes: Vec<SubjectChange>,
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
    whole: FoundPart,
    groups: FoundPart,
}

/// A part of a text.
#[derive(Debug, Clone, Copy)]
struct FoundPart {
    bytes: IndexRange,
    position: Position,
}

impl FoundPart {
    fn at(place: &Origin) -> Option<Self> {
        Some(Self { bytes: place.span()?, position: place.position()? })
    }
}

impl FoundDispatch<'_> {
    /// Its counts, written anew.
    fn edit_of_groups(&self, [x, y, z]: [u32; 3]) -> MutantEdit {
        let old = &self.text[self.groups.bytes.range()];
        self.edit(self.groups, old, format!("[{x}, {y}, {z}]"))
    }

    /// What stands in front of it where its barrier is gone.
    fn edit_of_barrier(&self) -> MutantEdit {
        self.edit(self.whole, "", NO_BARRIER.to_owned())
    }

    fn edit(&self, part: FoundPart, old: &str, new: String) -> MutantEdit {
        let Position { line, column } = part.position;
        let (file, old) = (self.file.clone(), old.to_owned());
        MutantEdit { file, start: part.bytes.start as u32, line, column, old, new }
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
    // A mutant has the same number and content in every part of a campaign.
    for test in all_tests(project) {
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
    for fault in COUNTS_FAULTS {
        let mut mutant = DispatchMutant::of(fault.operator());
        for dispatch in &dispatches {
            let groups = dispatch.test.value.dispatches[dispatch.index].groups;
            // Where the fault changes nothing the dispatch is what it is.
            let Some(groups) = fault.apply(groups) else { continue };
            let edit = dispatch.edit_of_groups(groups);
            mutant.add(dispatch, edit, DispatchFault::Groups { dispatch: dispatch.index, groups });
        }
        found.mutants.extend(mutant.finished());
    }
    found.mutants.extend(barrier_mutants(kernels, &dispatches));
    found
}

/// Those that are left out, too.
fn all_tests(project: &Project) -> impl Iterator<Item = &Located<Test>> {
    project.tests.iter().chain(&project.left_out)
}

/// The files that hold the tests of a project, each once.
pub(super) fn files_of_tests(project: &Project) -> Vec<SourceFile> {
    let mut files = BTreeMap::new();
    for test in all_tests(project) {
        let Some(document) = test.origin.document() else { continue };
        files.entry(project.relative_file(test)).or_insert_with(|| document.text.to_string());
    }
    files.into_iter().map(|(path, text)| SourceFile { path, text }).collect()
}

/// One for each kernel that is dispatched right in front of this one and has to be waited for.
fn barrier_mutants(
    kernels: &[Kernel],
    dispatches: &[FoundDispatch<'_>],
) -> impl Iterator<Item = DispatchMutant> + use<> {
    let mut stores = KnownStores { kernels, by_kernel: BTreeMap::new() };
    let mut by_kernel_in_front: BTreeMap<KernelName, DispatchMutant> = BTreeMap::new();
    for dispatch in dispatches {
        let all = &dispatch.test.value.dispatches;
        let Some(in_front) = dispatch.index.checked_sub(1).map(|index| &all[index]) else {
            continue;
        };
        if !stores.are_ordered_by_barrier(in_front, &all[dispatch.index]) {
            continue;
        }
        let mutant = by_kernel_in_front
            .entry(in_front.kernel)
            .or_insert_with(|| DispatchMutant::of(MutationOperator::DispatchBarrierRemoval));
        let fault = DispatchFault::NoBarrier { dispatch: dispatch.index };
        mutant.add(dispatch, dispatch.edit_of_barrier(), fault);
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
    let (whole, groups) = (FoundPart::at(&place)?, FoundPart::at(&place.at("groups"))?);
    let file = project.relative_file(test);
    Some(FoundDispatch { test, index, file, text: &document.text, whole, groups })
}

impl DispatchMutant {
    fn of(operator: MutationOperator) -> Self {
        Self { operator, edits: Vec::new(), changes: Vec::new(), faults: BTreeMap::new() }
    }

    fn add(&mut self, dispatch: &FoundDispatch<'_>, edit: MutantEdit, fault: DispatchFault) {
        let test = dispatch.test.value.id;
        self.changes.push(SubjectChange {
            file: edit.file.clone(),
            text: format!("{test}, dispatch {}", dispatch.index + 1),
            same_above: 0,
            before: 0,
            old: edit.old.clone(),
            new: edit.new.clone(),
        });
        self.edits.push(edit);
        self.faults.entry(test).or_default().push(fault);
    }

    /// What a justification of it signs: its changes, the tests that have the fault, and the code of all kernels that
    /// these dispatch. `code` is what justifications are bound to of its kernel.
    pub(super) fn subject(
        &self,
        (kernel, code): (KernelName, &str),
        project: &Project,
        kernels: &[Kernel],
    ) -> MutantSubject {
        let faulty: Vec<&Located<Test>> =
            all_tests(project).filter(|test| self.faults.contains_key(&test.value.id)).collect();
        let dispatched = faulty.iter().flat_map(|test| &test.value.dispatches);
        let others: BTreeSet<KernelName> =
            dispatched.map(|dispatch| dispatch.kernel).filter(|other| *other != kernel).collect();
        // One that was set aside is in no evidence: of it there is nothing to sign.
        let signed_hash = |name: &KernelName| {
            let other = kernels.iter().find(|other| other.name == name.as_str());
            other.map(Kernel::signed_hash).unwrap_or_default()
        };
        MutantSubject {
            kernel,
            code: code.to_owned(),
            changes: self.changes.clone(),
            tests: faulty.iter().map(|test| (test.value.id, test_hash(&test.value))).collect(),
            kernels: others.iter().map(|name| (*name, signed_hash(name))).collect(),
        }
    }

    /// None where it changes nothing.
    fn finished(mut self) -> Option<Self> {
        self.edits.sort_by(|left, right| (&left.file, left.start).cmp(&(&right.file, right.start)));
        // Tests can come of one place in a file.
        self.edits.dedup();
        self.changes.sort_by(|left, right| {
            (&left.file, &left.text, &left.new).cmp(&(&right.file, &right.text, &right.new))
        });
        (!self.edits.is_empty()).then_some(self)
    }
}
