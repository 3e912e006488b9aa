//! What a capture tells of one kernel: what its dispatches are given, the results of checks that are
//! about them, and what passes between them and other operations.
//!
//! Promises: dispatches that are given the same are one row; of very many different ones evidence
//! lists the first and counts the others. A flow that nothing orders is a flow all the same.
//! Does not cover: whether the facts agree with what a project states (`vkcert_coupling`).

use crate::check_in_scope;
use crate::contents::{KnownGroups, known_groups};
use crate::kernel::{KernelTable, raw_value};
use crate::row::{CaptureCheckName, CaptureReport, CaptureRow};
use crate::scope::{CheckScope, KernelScope};
use crate::words::{dependency_in_words, operation_in_words};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_capture::program::{
    Action, BoundResource, BoundView, Dispatch, Groups, Program, ViewObject,
};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::requirement::{
    BoundBytes, BoundImage, CaptureReading, CapturedCheck, CapturedDispatch, CapturedKernel,
    CapturedModules, CapturedOperation, CapturedOperationKind, CapturedOrder, GivenFacts,
};

/// Different dispatches that evidence lists.
const MOST_LISTED: usize = 256;

/// Dependencies of a barrier that its label names.
const MOST_NAMED: usize = 2;

/// The kernel that is looked for in a capture.
#[derive(Debug, Clone, Copy)]
pub struct SoughtKernel<'a> {
    /// Its production module.
    pub module: &'a [u8],
    /// Its entry point.
    pub entry: &'a str,
    /// Number of its shader module in the capture, where the project states one.
    pub stated_module: Option<u32>,
}

/// Where a capture was read from.
#[derive(Debug, Clone, Copy)]
pub struct CaptureSource<'a> {
    /// Path relative to the project.
    pub file: &'a str,
    /// `sha256:...` of the file.
    pub sha256: &'a str,
}

/// What a capture tells of a kernel. An `Err` says in words that the project states a module which
/// the capture does not have.
pub fn captured_kernel(
    program: &Program,
    source: CaptureSource<'_>,
    sought: &SoughtKernel<'_>,
) -> Result<CapturedKernel, String> {
    let modules = modules_of(program, sought)?;
    let numbers: BTreeSet<u32> = match &modules {
        CapturedModules::Production(numbers) => numbers.iter().copied().collect(),
        CapturedModules::OtherBuild(number) => BTreeSet::from([*number]),
    };
    let is_own =
        |module: Option<usize>| module.is_some_and(|module| numbers.contains(&number_of(module)));
    let pipelines = program.pipelines.iter().enumerate();
    let pipelines = pipelines
        .filter(|(_, pipeline)| is_own(pipeline.module) && pipeline.entry == sought.entry)
        .map(|(index, _)| index);
    let scope = KernelScope::of_pipelines(program, pipelines.collect());
    let kernels = KernelTable::of_program(program);
    let groups = known_groups(program, &kernels);
    let dispatches = given_to_dispatches(program, &kernels, &groups, &scope);
    let reading = CaptureReading {
        file: source.file.to_owned(),
        sha256: source.sha256.to_owned(),
        modules,
        dispatch_count: scope.own.len() as u64,
        dispatches: dispatches.iter().take(MOST_LISTED).cloned().collect(),
        unlisted: dispatches.len().saturating_sub(MOST_LISTED) as u64,
    };
    let report = check_in_scope(program, &kernels, &groups, &[], CheckScope::Kernel(scope));
    let (checks, order) = parts_of_report(program, &groups, report);
    Ok(CapturedKernel { reading, dispatches, checks, order })
}

fn number_of(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

fn modules_of(program: &Program, sought: &SoughtKernel<'_>) -> Result<CapturedModules, String> {
    let is_production = |bytes: &[u8]| bytes == sought.module;
    match sought.stated_module {
        None => {
            let modules = program.modules.iter().enumerate();
            let same = modules.filter(|(_, bytes)| is_production(bytes));
            Ok(CapturedModules::Production(same.map(|(index, _)| number_of(index)).collect()))
        }
        Some(number) => {
            let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            match index.and_then(|index| program.modules.get(index)) {
                Some(bytes) if is_production(bytes) => {
                    Ok(CapturedModules::Production(vec![number]))
                }
                Some(_) => Ok(CapturedModules::OtherBuild(number)),
                None => {
                    let count = program.modules.len();
                    Err(format!("there is no shader module {number}: the capture has {count}"))
                }
            }
        }
    }
}

/// What dispatches are given, each different one once.
fn given_to_dispatches(
    program: &Program,
    kernels: &KernelTable,
    groups: &KnownGroups,
    scope: &KernelScope,
) -> Vec<CapturedDispatch> {
    let mut row_by_facts: BTreeMap<GivenFacts, usize> = BTreeMap::new();
    let mut rows: Vec<CapturedDispatch> = Vec::new();
    let own = program.dispatches().filter(|(index, _)| scope.own.contains(index));
    for (index, dispatch) in own {
        let given = given_facts(program, kernels, groups.get(&index).copied(), dispatch);
        match row_by_facts.get(&given) {
            Some(row) => rows[*row].count += 1,
            None => {
                row_by_facts.insert(given.clone(), rows.len());
                let (dispatch, operation) = (dispatch.number, index + 1);
                rows.push(CapturedDispatch { dispatch, operation, count: 1, given });
            }
        }
    }
    rows
}

fn given_facts(
    program: &Program,
    kernels: &KernelTable,
    groups: Option<[u32; 3]>,
    dispatch: &Dispatch,
) -> GivenFacts {
    let pipeline = &program.pipelines[dispatch.pipeline];
    let kernel = kernels.of_pipeline(dispatch.pipeline).ok();
    let byte_digits = |byte: &Option<u8>| match byte {
        Some(byte) => format!("{byte:02x}"),
        None => "--".to_owned(),
    };
    let last_set = dispatch.push_constants.iter().rposition(Option::is_some);
    let pushed = dispatch.push_constants.iter().take(last_set.map_or(0, |last| last + 1));
    let resources = kernel.iter().flat_map(|kernel| &kernel.reflection.resources);
    let places: BTreeSet<(u32, u32)> =
        resources.map(|resource| (resource.set, resource.binding)).collect();
    let bound_bytes = |(set, binding): (u32, u32)| {
        let mut descriptors = dispatch.descriptors_at(set, binding);
        let (descriptor, offset) = descriptors.next()?;
        let bound = descriptor.buffer_range(offset, &program.buffers)?;
        let bytes = bound.size;
        descriptors.next().is_none().then_some(BoundBytes { set, binding, bytes })
    };
    GivenFacts {
        groups,
        local_size: kernel.map(|kernel| kernel.reflection.local_size),
        specialization: pipeline.specialization.iter().filter_map(raw_value).collect(),
        push_constants: pushed.map(byte_digits).collect(),
        buffers: places.iter().copied().filter_map(bound_bytes).collect(),
        images: places
            .iter()
            .filter_map(|(set, binding)| bound_image(program, dispatch, *set, *binding))
            .collect(),
        unseen: dispatch.unseen.as_ref().map(|name| name.to_string()),
    }
}

/// The view at a binding that has one.
fn bound_image(
    program: &Program,
    dispatch: &Dispatch,
    set: u32,
    binding: u32,
) -> Option<BoundImage> {
    let mut descriptors = dispatch.descriptors_at(set, binding);
    let (descriptor, _) = descriptors.next()?;
    let BoundResource::View(BoundView { view: Some(view), .. }) = descriptor.resource else {
        return None;
    };
    let ViewObject { image, made, .. } = &program.image_views[view];
    let object = &program.images[*image];
    let part = object.subresources(&made.range);
    descriptors.next().is_none().then_some(BoundImage {
        set,
        binding,
        extent: object.level_extent(part.levels.start),
        layers: part.layers.len() as u32,
        levels: part.levels.len() as u32,
    })
}

fn parts_of_report(
    program: &Program,
    groups: &KnownGroups,
    report: CaptureReport,
) -> (Vec<CapturedCheck>, CapturedOrder) {
    let CaptureReport { checks, scope, .. } = report;
    let checks = checks.into_iter().map(|row| {
        let CaptureRow { check, status, message, operations } = row;
        CapturedCheck { check: coupling_name(check), status, message, operations }
    });
    let order = match scope {
        CheckScope::Program => CapturedOrder::default(),
        CheckScope::Kernel(kernel) => order_of(program, groups, kernel),
    };
    (checks.collect(), order)
}

fn order_of(program: &Program, groups: &KnownGroups, scope: KernelScope) -> CapturedOrder {
    let ends = scope
        .flows
        .iter()
        .flat_map(|flow| flow.ordered_by.iter().copied().chain([flow.from, flow.to]));
    let numbers: BTreeSet<usize> = scope.followed().map(|index| index + 1).chain(ends).collect();
    let described = |number: usize| {
        let groups = groups.get(&(number - 1)).copied();
        (number, described_operation(program, &scope, number - 1, groups))
    };
    CapturedOrder {
        operations: numbers.into_iter().map(described).collect(),
        unfollowed: scope.unfollowed(),
        flows: scope.flows.into_iter().collect(),
    }
}

/// An operation in words; a dispatch with its workgroups, where they are known.
fn described_operation(
    program: &Program,
    scope: &KernelScope,
    index: usize,
    groups: Option<[u32; 3]>,
) -> CapturedOperation {
    match &program.operations[index].action {
        Action::Dispatch(dispatch) => {
            let groups = match (groups, dispatch.groups) {
                (Some([x, y, z]), Groups::Direct(_)) => format!("{x} x {y} x {z} workgroups"),
                (Some([x, y, z]), Groups::Indirect { .. }) => {
                    format!("{x} x {y} x {z} workgroups, indirect")
                }
                (None, _) => "indirect".to_owned(),
            };
            let pipeline = &program.pipelines[dispatch.pipeline];
            let module = match pipeline.module {
                Some(module) => format!(" of module {}", module + 1),
                None => String::new(),
            };
            let (kind, what) = match scope.own.contains(&index) {
                true => (CapturedOperationKind::OwnDispatch(dispatch.number), String::new()),
                false => (
                    CapturedOperationKind::OtherDispatch(dispatch.number),
                    format!(" of `{}`{module}", pipeline.entry),
                ),
            };
            let number = dispatch.number;
            let label = format!("dispatch {number}{what}: {groups}, operation {}", index + 1);
            CapturedOperation { kind, label }
        }
        Action::Barrier(parts) => {
            let mut words: Vec<String> =
                parts.iter().take(MOST_NAMED).map(dependency_in_words).collect();
            if parts.len() > MOST_NAMED {
                words.push(format!("{} more", parts.len() - MOST_NAMED));
            }
            let label = format!("operation {}: {}", index + 1, words.join("; "));
            CapturedOperation { kind: CapturedOperationKind::Barrier, label }
        }
        Action::UnboundDispatch { .. }
        | Action::Submit
        | Action::SemaphoreWait(_)
        | Action::SemaphoreSignal(_)
        | Action::Copy { .. }
        | Action::Fill { .. }
        | Action::Update { .. }
        | Action::ImageCopy { .. }
        | Action::CopyToImage { .. }
        | Action::CopyFromImage { .. }
        | Action::CopyImage { .. }
        | Action::ClearImage { .. }
        | Action::ImageContents { .. }
        | Action::UnreadImage { .. }
        | Action::Unsupported { .. }
        | Action::HostWait { .. }
        | Action::Map(_)
        | Action::Unmap(_)
        | Action::Flush(_)
        | Action::Invalidate(_)
        | Action::Contents { .. } => {
            let label = operation_in_words(program, index);
            CapturedOperation { kind: CapturedOperationKind::Other, label }
        }
    }
}

/// The name that a check has among those of coupling.
fn coupling_name(check: CaptureCheckName) -> CouplingCheckName {
    match check {
        CaptureCheckName::CaptureComplete => CouplingCheckName::CaptureComplete,
        CaptureCheckName::ShaderModule => CouplingCheckName::ShaderModule,
        CaptureCheckName::SpecializationIds => CouplingCheckName::SpecializationIds,
        CaptureCheckName::LocalSizeLimits => CouplingCheckName::LocalSizeLimits,
        CaptureCheckName::DispatchLimits => CouplingCheckName::DispatchLimits,
        CaptureCheckName::PushConstants => CouplingCheckName::PushConstants,
        CaptureCheckName::PushConstantValues => CouplingCheckName::PushConstantValues,
        CaptureCheckName::Descriptors => CouplingCheckName::Descriptors,
        CaptureCheckName::BindingSize => CouplingCheckName::BindingSize,
        CaptureCheckName::DeviceDependency => CouplingCheckName::DeviceDependency,
        CaptureCheckName::HostRead => CouplingCheckName::HostRead,
        CaptureCheckName::HostWrite => CouplingCheckName::HostWrite,
    }
}
