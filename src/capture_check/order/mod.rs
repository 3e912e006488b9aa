//! Whether all that is written is ordered before it is used: on the device, by the host, for the
//! host.
//!
//! Knows: barriers, semaphores, fences and waits (Vulkan specification, "Synchronization and Cache
//! Control"), the host's implicit guarantee at a submission ("Host Write Ordering Guarantees"), and
//! that a fence makes nothing visible to the host ("Fences").
//! Promises: two accesses conflict where they touch bytes in common; where only ranges overlap and
//! neither is known, they count as undetermined. Between two that conflict an execution dependency is
//! asked for, behind a write that it is available, and before a read that it
//! is visible. What stands behind something that is not modelled is undetermined.
//! Does not cover: events, render passes, sparse memory and images that are not recorded, all by
//! name; single reads and writes of the host, of which only mapping, flushing and invalidating are
//! calls.

mod conflict;
mod host;
mod images;
mod ordering;
mod overlap;
mod ranges;
mod reach;
mod sampling;
mod scopes;
mod sequence;
mod span;
mod state;
mod uses;

use crate::contents::KnownGroups;
use crate::kernel::{AddressedMemory, KernelTable};
use crate::row::{CaptureCheckName, CaptureReport};
use crate::words::operation_in_words;
use conflict::{Conflict, Meeting, advice, doubts, earlier_accesses};
use ordering::{Access, Ordering, OrderingKind, SignalPoint};
use overlap::{Overlap, TouchTable, Toucher};
use ranges::Ranges;
use sequence::execution_order;
use state::{Gap, Ordered, Written};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uses::{RangeUse, UseKind, uses_of};
use vkcert_capture::event::OpenEffect;
use vkcert_capture::program::{
    Action, BarrierScope, BoundResource, Dispatch, Operation, Program, SemaphoreStep,
};
use vkcert_model::evidence::CheckStatus;
use vkcert_model::procedure::DescriptorClass;

/// Makes the checks of order.
pub(crate) fn check_order(
    program: &Program,
    kernels: &KernelTable,
    groups: &KnownGroups,
    report: &mut CaptureReport,
) {
    let order = execution_order(&program.operations);
    let mut positions = vec![0; order.len()];
    order.iter().enumerate().for_each(|(position, index)| positions[*index] = position);
    let mut check = OrderCheck {
        program,
        kernels,
        groups,
        touches: TouchTable::new(program, kernels, groups),
        images: images::ImageState::new(program),
        apart: BTreeSet::new(),
        atomic: BTreeSet::new(),
        report,
        positions,
        log: Vec::new(),
        ranges: Ranges::default(),
        signals: BTreeMap::new(),
        held_by_host: BTreeMap::new(),
        orderers: BTreeSet::new(),
        host: host::HostState::default(),
        told: BTreeSet::new(),
        told_open: BTreeSet::new(),
        pairs: 0,
    };
    for index in order {
        check.take_operation(index, &program.operations[index]);
    }
    check.finish();
}

const CROWDED: &str = "too many accesses of the range touch other bytes than each other";

const HELD_BY_HOST: &str = "a submission waits for a semaphore that no submission signals, so that \
                            the host may let it go on at any time";

struct OrderCheck<'a> {
    program: &'a Program,
    kernels: &'a KernelTable,
    groups: &'a KnownGroups,
    touches: TouchTable<'a>,
    images: images::ImageState,
    /// Pairs of operations whose accesses need no order, because they touch no byte in common.
    apart: BTreeSet<(usize, usize)>,
    /// Those that meet by atomic instructions alone.
    atomic: BTreeSet<(usize, usize)>,
    report: &'a mut CaptureReport,
    /// Where in the order of execution each operation stands.
    positions: Vec<usize>,
    /// All that orders, in the order of execution.
    log: Vec<Ordering>,
    ranges: Ranges,
    /// Signals that nobody waited for yet, by semaphore; with the value of a timeline.
    signals: BTreeMap<usize, Vec<(Option<u64>, SignalPoint)>>,
    /// Queues with a wait that no submission ends, by the submission of the last one: the host may
    /// end it at any time.
    held_by_host: BTreeMap<usize, u32>,
    /// Operations that ordered something that needed it.
    orderers: BTreeSet<usize>,
    host: host::HostState,
    /// Pairs that were told, and pipelines with what was told of them.
    told: BTreeSet<(CaptureCheckName, usize, usize)>,
    /// Pairs that were told, which perhaps need no order.
    told_open: BTreeSet<(CaptureCheckName, usize, usize)>,
    /// Pairs of accesses that needed an order and had it.
    pairs: u64,
}

impl OrderCheck<'_> {
    fn take_operation(&mut self, index: usize, operation: &Operation) {
        let Operation { batch, queue, action } = operation;
        let (batch, queue) = (batch.unwrap_or(0), *queue);
        match action {
            Action::Dispatch(dispatch) => {
                self.tell_unfollowed(index, dispatch);
                self.check_bound_layouts(index, dispatch);
                self.take_uses(index, queue, batch, action);
            }
            Action::Copy { .. }
            | Action::Fill { .. }
            | Action::Update { .. }
            | Action::CopyToImage { .. }
            | Action::CopyFromImage { .. }
            | Action::CopyImage { .. }
            | Action::ClearImage { .. }
            | Action::ImageCopy { .. } => {
                self.check_named_layouts(index, action);
                self.take_uses(index, queue, batch, action);
            }
            Action::Barrier(parts) => {
                self.check_transitions(index, (queue, batch), parts);
                let parts = Arc::clone(parts);
                let taken = Arc::clone(&parts);
                self.order(index, OrderingKind::Barrier { queue, batch, parts });
                self.take_transitions(index, (queue, batch), &taken);
            }
            Action::SemaphoreSignal(step) => {
                let point = SignalPoint { operation: index, queue, stages: step.stages };
                self.signals.entry(step.semaphore).or_default().push((step.value, point));
            }
            Action::SemaphoreWait(step) => self.wait_semaphore(index, queue, batch, *step),
            Action::Unsupported { name, effect } => match effect {
                OpenEffect::Order => {
                    self.order(index, OrderingKind::Unknown { name: Arc::clone(name) });
                    self.images.forget_layouts();
                }
                OpenEffect::Accesses => self.images.forget_layouts(),
                OpenEffect::Nothing => {}
            },
            Action::HostWait { completed } => {
                let completed = completed.clone();
                let is_complete = |queue: usize, batch: u32| {
                    completed.iter().any(|(done, last)| *done == queue && batch <= *last)
                };
                self.held_by_host.retain(|queue, batch| !is_complete(*queue, *batch));
                self.order(index, OrderingKind::HostWait { completed });
                self.host_waited();
            }
            Action::Map(span) => self.host_mapped(index, *span),
            Action::Unmap(memory) => self.host_unmapped(*memory),
            Action::Flush(span) => self.host.flushed(*span),
            Action::Invalidate(span) => self.host_invalidated(index, *span),
            // That it has no pipeline is told by `recording`.
            Action::UnboundDispatch { .. }
            | Action::Submit
            | Action::Contents { .. }
            | Action::ImageContents { .. }
            | Action::UnreadImage { .. } => {}
        }
    }

    fn order(&mut self, operation: usize, kind: OrderingKind) {
        self.log.push(Ordering { operation, kind });
    }

    fn wait_semaphore(&mut self, index: usize, queue: usize, batch: u32, step: SemaphoreStep) {
        let signals = self.signals.entry(step.semaphore).or_default();
        let signal = match step.value {
            // A binary semaphore is waited for once.
            None => signals.pop(),
            Some(value) => {
                let reaching = signals.iter().filter(|(signaled, _)| *signaled >= Some(value));
                reaching.min_by_key(|(signaled, _)| *signaled).copied()
            }
        };
        let kind = match signal {
            Some((_, signal)) => {
                OrderingKind::Semaphore { signal, queue, batch, stages: step.stages }
            }
            None => {
                self.held_by_host.insert(queue, batch);
                OrderingKind::Unknown {
                    name: Arc::from("a wait for a semaphore that no submission before it signals"),
                }
            }
        };
        self.order(index, kind);
    }

    /// Names what of a dispatch is not followed, once for each pipeline.
    fn tell_unfollowed(&mut self, index: usize, dispatch: &Dispatch) {
        const CHECK: CaptureCheckName = CaptureCheckName::DeviceDependency;
        if !self.told.insert((CHECK, usize::MAX, dispatch.pipeline)) {
            return;
        }
        let name = operation_in_words(self.program, index);
        let reason = match self.kernels.of_pipeline(dispatch.pipeline) {
            Err(reason) => format!("what it reads and writes is not known: {reason}"),
            Ok(_) if dispatch.unseen.is_some() => {
                "what is bound is not known behind a command that is not modelled".to_owned()
            }
            Ok(kernel) if kernel.addresses == AddressedMemory::Reached => {
                "it reaches memory by device addresses, which are not followed".to_owned()
            }
            Ok(kernel) => {
                let is_image = |class: DescriptorClass| {
                    matches!(
                        class,
                        DescriptorClass::StorageImage
                            | DescriptorClass::SampledImage
                            | DescriptorClass::Combined
                    )
                };
                let is_undescribed = kernel.uses.iter().any(|((set, binding), used)| {
                    let mut descriptors = dispatch.descriptors_at(*set, *binding);
                    is_image(used.class)
                        && descriptors.any(|(bound, _)| bound.resource == BoundResource::Image)
                });
                if !is_undescribed {
                    return;
                }
                "it uses images, which are not followed".to_owned()
            }
        };
        let message = format!("{name} and all others of its pipeline: {reason}");
        // What is not followed of one kernel may be what another one uses.
        self.report.add_to_all(CHECK, CheckStatus::Undetermined, message, &[index]);
    }

    fn take_uses(&mut self, index: usize, queue: usize, batch: u32, action: &Action) {
        let groups = self.groups.get(&index).copied();
        let uses = uses_of(self.program, self.kernels, action, groups);
        let held = self.held_by_host.contains_key(&queue).then_some(HELD_BY_HOST);
        let access_of = |used: &RangeUse| Access {
            operation: index,
            queue,
            batch,
            stage: used.stage,
            access: used.access,
            doubt: used.doubt.or(held),
        };
        for used in &uses {
            let access = access_of(used);
            self.check_use(used, &access);
        }
        for used in &uses {
            let access = access_of(used);
            for (_, state) in self.ranges.of_span(&used.span, self.log.len()) {
                match used.kind {
                    UseKind::Write => {
                        state.take_write(access, |earlier| {
                            let pair = (earlier, index);
                            self.apart.contains(&pair) || self.atomic.contains(&pair)
                        });
                    }
                    // What it reads and writes itself is its write.
                    UseKind::Read if is_own_write(&state.write, index) => {}
                    UseKind::Read => {
                        // What is ordered behind a later read of a stage is behind all of it.
                        state.reads.retain(|read| {
                            (read.access.queue, read.access.stage) != (queue, used.stage)
                        });
                        state.reads.push(Ordered::new(access));
                    }
                }
            }
        }
    }

    /// Asks for an order behind all earlier accesses that conflict.
    fn check_use(&mut self, used: &RangeUse, access: &Access) {
        if let (UseKind::Read, Some(bytes)) = (used.kind, used.span.bytes()) {
            self.host.read_behind(&bytes);
        }
        let later = Toucher { operation: access.operation, kind: used.kind };
        let mut conflicts = Vec::new();
        for (span, state) in self.ranges.of_span(&used.span, self.log.len()) {
            state.catch_up(&self.log, &span, self.program);
            let mut is_written = false;
            for (kind, earlier, order) in earlier_accesses(state, used.kind, access) {
                let operation = earlier.access.operation;
                let mut earlier_kind = kind;
                let meeting = match order {
                    Ok(orderers) => Meeting::Ordered(orderers),
                    Err(gap) if state.is_crowded() => {
                        Meeting::Unordered(gap, Overlap::Open(CROWDED.to_owned()))
                    }
                    Err(gap) => {
                        let toucher = Toucher { operation, kind };
                        let mut overlap = match earlier.access.is_transition() {
                            // A change of layout touches all of the range.
                            true => self.touches.overlap_with_all(&span, later),
                            false => self.touches.overlap(&span, toucher, later),
                        };
                        // What a dispatch reads of a range that it writes stands as its write.
                        let is_write_pair = [kind, used.kind] == [UseKind::Write; 2];
                        let is_apart = matches!(overlap, Overlap::Apart | Overlap::Atomic);
                        if is_apart && is_write_pair && gap == Gap::Execution {
                            let own_read = Toucher { operation, kind: UseKind::Read };
                            let read_overlap = self.touches.overlap(&span, own_read, later);
                            if let Overlap::Shown(_) = read_overlap {
                                (overlap, earlier_kind) = (read_overlap, UseKind::Read);
                            }
                        }
                        Meeting::Unordered(gap, overlap)
                    }
                };
                let is_apart = matches!(meeting, Meeting::Unordered(_, Overlap::Apart));
                is_written |= kind == UseKind::Write && !is_apart;
                conflicts.push(Conflict { span, earlier_kind, earlier, meeting });
            }
            if let (false, Some(bytes)) = (is_written, span.bytes()) {
                self.host.device_reads(access, used.kind, &bytes, self.program, self.report);
            }
        }
        for conflict in conflicts {
            self.take_conflict(used, access, conflict);
        }
    }

    fn take_conflict(&mut self, used: &RangeUse, access: &Access, conflict: Conflict) {
        let operations = [conflict.earlier.access.operation, access.operation];
        let [from, to] = operations;
        if let Meeting::Unordered(_, Overlap::Apart) = conflict.meeting {
            self.apart.insert((from, to));
            return;
        }
        if conflict.earlier_kind == UseKind::Write && used.kind == UseKind::Read {
            let orderers = match &conflict.meeting {
                Meeting::Ordered(orderers) => orderers.as_slice(),
                Meeting::Unordered(..) => &[],
            };
            self.report.scope.add_flow(from, to, used.place.in_words(), orderers);
        }
        match &conflict.meeting {
            Meeting::Ordered(orderers) => {
                self.pairs += u64::from(self.report.scope.has_operations(&operations));
                self.orderers.extend(orderers);
            }
            Meeting::Unordered(_, Overlap::Atomic) => {
                self.atomic.insert((from, to));
            }
            Meeting::Unordered(gap, overlap) => {
                self.tell_conflict(used, access, &conflict, (*gap, overlap));
            }
        }
    }

    fn tell_conflict(
        &mut self,
        used: &RangeUse,
        access: &Access,
        conflict: &Conflict,
        (gap, overlap): (Gap, &Overlap),
    ) {
        const CHECK: CaptureCheckName = CaptureCheckName::DeviceDependency;
        let earlier = conflict.earlier.access;
        let pair = (CHECK, earlier.operation, access.operation);
        let is_new = match overlap {
            Overlap::Shown(_) | Overlap::Apart | Overlap::Atomic => self.told.insert(pair),
            Overlap::Open(_) => !self.told.contains(&pair) && self.told_open.insert(pair),
        };
        if !is_new {
            return;
        }
        let later_name = operation_in_words(self.program, access.operation);
        let earlier_name = operation_in_words(self.program, earlier.operation);
        let verb = |kind: UseKind| match kind {
            UseKind::Read => "reads",
            UseKind::Write => "writes",
        };
        let touched = match overlap {
            Overlap::Shown(common) => *common,
            Overlap::Apart | Overlap::Atomic | Overlap::Open(_) => conflict.span,
        };
        let earlier_verb = match earlier.is_transition() {
            true => "brings into another layout",
            false => verb(conflict.earlier_kind),
        };
        let mut message = format!(
            "{later_name} {} {} ({}), which {earlier_name} {earlier_verb}, and {}",
            verb(used.kind),
            used.place.in_words(),
            touched.in_words(self.program),
            gap.in_words(),
        );
        message.push_str(&advice(conflict.earlier_kind, &earlier, used.kind, access));
        let doubts = doubts(&conflict.earlier, access, overlap);
        let status = match doubts.is_empty() {
            true => CheckStatus::Refuted,
            false => {
                message.push_str(&format!(
                    "; undetermined, because {}",
                    doubts.join(", and because ")
                ));
                CheckStatus::Undetermined
            }
        };
        self.report.add(CHECK, status, message, &[earlier.operation, access.operation]);
    }

    fn finish(mut self) {
        self.host_ended();
        let operations = &self.program.operations;
        let mut message =
            format!("all {} pairs of conflicting accesses on the device are ordered", self.pairs);
        let is_of_scope =
            |(from, to): &&(usize, usize)| self.report.scope.has_operations(&[*from, *to]);
        let apart = self.apart.iter().filter(is_of_scope).count();
        if apart > 0 {
            message.push_str(&format!(
                "; {apart} pairs of one range touch no byte in common, which follows from what \
                 they are given"
            ));
        }
        let atomic = self.atomic.iter().filter(is_of_scope).count();
        if atomic > 0 {
            message.push_str(&format!(
                "; {atomic} pairs meet by atomic instructions alone, which need no order"
            ));
        }
        self.report.holds(CaptureCheckName::DeviceDependency, message);
        self.host.hold(self.report);
        // Beside what is not modelled a barrier may order what is not followed.
        let all_modelled =
            self.program.unsupported.values().all(|(effect, _)| *effect == OpenEffect::Nothing);
        let undetermined = self.report.checks.iter().any(|row| {
            row.check == CaptureCheckName::DeviceDependency
                && row.status == CheckStatus::Undetermined
        });
        if !all_modelled || undetermined {
            return;
        }
        for (index, operation) in operations.iter().enumerate() {
            if let Action::Barrier(parts) = &operation.action
                && !self.orderers.contains(&index)
                && !parts.iter().any(|part| {
                    matches!(part.scope, BarrierScope::Image | BarrierScope::ImagePart { .. })
                })
            {
                let name = operation_in_words(self.program, index);
                self.report.remark(format!("{name} orders nothing that needs it"));
            }
        }
    }
}

fn is_own_write(write: &Option<Written>, operation: usize) -> bool {
    write.as_ref().is_some_and(|write| write.ordered.access.operation == operation)
}
