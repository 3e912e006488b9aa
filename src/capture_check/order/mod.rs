//! Whether all that is written is ordered before it is used: on the device, by the host, for the
//! host.
//!
//! Knows: barriers, semaphores, fences and waits (Vulkan specification, "Synchronization and Cache
//! Control"), the host's implicit guarantee at a submission ("Host Write Ordering Guarantees"), and
//! that a fence makes nothing visible to the host ("Fences").
//! Promises: two accesses conflict where their ranges overlap; between two that conflict an
//! execution dependency is asked for, behind a write that it is available, and before a read that it
//! is visible. What stands behind something that is not modelled is undetermined.
//! Does not cover: events, render passes, sparse memory and images, all by name; single reads and
//! writes of the host, of which only mapping, flushing and invalidating are calls.

mod host;
mod ranges;
mod scopes;
mod sequence;
mod state;
mod uses;

use crate::kernel::{AddressedMemory, KernelTable};
use crate::row::{CaptureCheckName, CaptureReport};
use crate::words::{accesses_in_words, operation_in_words, stages_in_words};
use ranges::Ranges;
use scopes::{advised_access, advised_stage};
use sequence::execution_order;
use state::{Access, Gap, Ordered, Ordering, OrderingKind, SignalPoint, Written};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uses::{RangeUse, UseKind, uses_of};
use vkcert_capture::event::OpenEffect;
use vkcert_capture::program::{
    Action, BarrierScope, Dispatch, MemorySpan, Operation, Program, SemaphoreStep,
};
use vkcert_model::evidence::CheckStatus;
use vkcert_model::procedure::DescriptorClass;

/// Makes the checks of order.
pub(crate) fn check_order(program: &Program, kernels: &KernelTable, report: &mut CaptureReport) {
    let order = execution_order(&program.operations);
    let mut positions = vec![0; order.len()];
    order.iter().enumerate().for_each(|(position, index)| positions[*index] = position);
    let mut check = OrderCheck {
        program,
        kernels,
        report,
        positions,
        log: Vec::new(),
        ranges: Ranges::default(),
        signals: BTreeMap::new(),
        held_by_host: BTreeMap::new(),
        orderers: BTreeSet::new(),
        host: host::HostState::default(),
        told: BTreeSet::new(),
        pairs: 0,
    };
    for index in order {
        check.take_operation(index, &program.operations[index]);
    }
    check.finish();
}

const HELD_BY_HOST: &str = "a submission waits for a semaphore that no submission signals, so that \
                            the host may let it go on at any time";

struct OrderCheck<'a> {
    program: &'a Program,
    kernels: &'a KernelTable,
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
    /// Pairs of accesses that needed an order and had it.
    pairs: u64,
}

impl OrderCheck<'_> {
    fn take_operation(&mut self, index: usize, operation: &Operation) {
        let Operation { submission, queue, action } = operation;
        let (submission, queue) = (submission.unwrap_or(0), *queue);
        match action {
            Action::Dispatch(dispatch) => {
                self.tell_unfollowed(index, dispatch);
                self.take_uses(index, queue, submission, action);
            }
            Action::Copy { .. }
            | Action::Fill { .. }
            | Action::Update { .. }
            | Action::ImageCopy { .. } => self.take_uses(index, queue, submission, action),
            Action::Barrier(parts) => {
                let parts = Arc::clone(parts);
                self.order(index, OrderingKind::Barrier { queue, submission, parts });
            }
            Action::SemaphoreSignal(step) => {
                let point = SignalPoint { operation: index, queue, stages: step.stages };
                self.signals.entry(step.semaphore).or_default().push((step.value, point));
            }
            Action::SemaphoreWait(step) => self.wait_semaphore(index, queue, submission, *step),
            Action::Unsupported { name, effect } => match effect {
                OpenEffect::Order => {
                    self.order(index, OrderingKind::Unknown { name: Arc::clone(name) });
                }
                OpenEffect::Nothing | OpenEffect::Accesses => {}
            },
            Action::HostWait { completed } => {
                let completed = completed.clone();
                let is_complete = |queue: usize, submission: u32| {
                    completed.iter().any(|(done, last)| *done == queue && submission <= *last)
                };
                self.held_by_host.retain(|queue, submission| !is_complete(*queue, *submission));
                self.order(index, OrderingKind::HostWait { completed });
                self.host_waited();
            }
            Action::Map(span) => self.host_mapped(index, *span),
            Action::Unmap(memory) => self.host_unmapped(*memory),
            Action::Flush(span) => self.host.flushed(*span),
            Action::Invalidate(span) => self.host_invalidated(index, *span),
            // That it has no pipeline is told by `recording`.
            Action::UnboundDispatch { .. } | Action::Submit | Action::Contents { .. } => {}
        }
    }

    fn order(&mut self, operation: usize, kind: OrderingKind) {
        self.log.push(Ordering { operation, kind });
    }

    fn wait_semaphore(&mut self, index: usize, queue: usize, submission: u32, step: SemaphoreStep) {
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
                OrderingKind::Semaphore { signal, queue, submission, stages: step.stages }
            }
            None => {
                self.held_by_host.insert(queue, submission);
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
                if !kernel.uses.values().any(|used| is_image(used.class)) {
                    return;
                }
                "it uses images, which are not followed".to_owned()
            }
        };
        let message = format!("{name} and all others of its pipeline: {reason}");
        // What is not followed of one kernel may be what another one uses.
        self.report.add_to_all(CHECK, CheckStatus::Undetermined, message, &[index]);
    }

    fn take_uses(&mut self, index: usize, queue: usize, submission: u32, action: &Action) {
        let uses = uses_of(self.program, self.kernels, action);
        let held = self.held_by_host.contains_key(&queue).then_some(HELD_BY_HOST);
        let access_of = |used: &RangeUse| Access {
            operation: index,
            queue,
            submission,
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
                        state.write = Some(Written::new(access));
                        state.reads.clear();
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
        let mut conflicts = Vec::new();
        if used.kind == UseKind::Read {
            self.host.read_behind(&used.span);
        }
        for (span, state) in self.ranges.of_span(&used.span, self.log.len()) {
            state.catch_up(&self.log, &span, self.program);
            if let Some(write) = &state.write {
                let order = match used.kind {
                    UseKind::Read => write.read_order(access),
                    UseKind::Write => write.write_order(access),
                };
                conflicts.push((span, UseKind::Write, write.ordered.clone(), order));
            } else {
                self.host.device_reads(access, used.kind, &span, self.program, self.report);
            }
            if used.kind == UseKind::Write {
                for read in &state.reads {
                    let order = read.execution_order(access.queue, access.stage);
                    conflicts.push((span, UseKind::Read, read.clone(), order));
                }
            }
        }
        for (span, earlier_kind, earlier, order) in conflicts {
            let operations = [earlier.access.operation, access.operation];
            if earlier_kind == UseKind::Write && used.kind == UseKind::Read {
                let orderers = order.as_deref().unwrap_or_default();
                let [from, to] = operations;
                self.report.scope.add_flow(from, to, used.place.in_words(), orderers);
            }
            match order {
                Ok(orderers) => {
                    self.pairs += u64::from(self.report.scope.has_operations(&operations));
                    self.orderers.extend(orderers);
                }
                Err(gap) => {
                    let conflict = Conflict { span, earlier_kind, earlier, gap };
                    self.tell_conflict(used, access, &conflict);
                }
            }
        }
    }

    fn tell_conflict(&mut self, used: &RangeUse, access: &Access, conflict: &Conflict) {
        const CHECK: CaptureCheckName = CaptureCheckName::DeviceDependency;
        let earlier = conflict.earlier.access;
        if !self.told.insert((CHECK, earlier.operation, access.operation)) {
            return;
        }
        let later_name = operation_in_words(self.program, access.operation);
        let earlier_name = operation_in_words(self.program, earlier.operation);
        let verb = |kind: UseKind| match kind {
            UseKind::Read => "reads",
            UseKind::Write => "writes",
        };
        let MemorySpan { memory, start, end } = conflict.span;
        let mut message = format!(
            "{later_name} {} {} (memory {}, bytes {start} to {end}), which {earlier_name} {}, and {}",
            verb(used.kind),
            used.place.in_words(),
            memory + 1,
            verb(conflict.earlier_kind),
            conflict.gap.in_words(),
        );
        message.push_str(&advice(conflict.earlier_kind, &earlier, used.kind, access));
        let doubt = match (&conflict.earlier.unknown, access.doubt.or(earlier.doubt)) {
            (Some(name), _) => Some(format!("{name} stands between them, which is not modelled")),
            (None, Some(doubt)) => Some(doubt.to_owned()),
            (None, None) => None,
        };
        let status = match doubt {
            Some(doubt) => {
                message.push_str(&format!("; undetermined, because {doubt}"));
                CheckStatus::Undetermined
            }
            None => CheckStatus::Refuted,
        };
        self.report.add(CHECK, status, message, &[earlier.operation, access.operation]);
    }

    fn finish(mut self) {
        self.host_ended();
        let operations = &self.program.operations;
        let message =
            format!("all {} pairs of conflicting accesses on the device are ordered", self.pairs);
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
                && !parts.iter().any(|part| part.scope == BarrierScope::Image)
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

/// Two accesses with no order between them.
struct Conflict {
    span: MemorySpan,
    earlier_kind: UseKind,
    earlier: Ordered,
    gap: Gap,
}

impl Gap {
    fn in_words(self) -> &'static str {
        match self {
            Gap::Execution => "no dependency orders the two",
            Gap::Availability => {
                "the dependency between them does not make the write available: its first access \
                 scope leaves the write out"
            }
            Gap::Chain => {
                "a dependency makes the write available, but no chain of dependencies leads from \
                 there to here: the second scope of each is to meet the first scope of the next"
            }
            Gap::Visibility => {
                "the dependency between them does not make the write visible there: its second \
                 scope leaves the read out"
            }
        }
    }
}

/// The barrier that would be right.
fn advice(earlier_kind: UseKind, earlier: &Access, later_kind: UseKind, later: &Access) -> String {
    let is_memory = earlier_kind == UseKind::Write;
    let source_access = if is_memory { advised_access(earlier.access) } else { 0 };
    let target_access = if is_memory { advised_access(later.access) } else { 0 };
    let needed = match (earlier_kind, later_kind) {
        (UseKind::Write, UseKind::Read) => {
            "\"Execution and Memory Dependencies\": read after write"
        }
        (UseKind::Write, UseKind::Write) => {
            "\"Execution and Memory Dependencies\": write after write"
        }
        (UseKind::Read, _) => "\"Execution and Memory Dependencies\": write after read",
    };
    format!(
        "; right is a barrier with srcStageMask {}, srcAccessMask {}, dstStageMask {}, \
         dstAccessMask {} (Vulkan specification, {needed})",
        stages_in_words(advised_stage(earlier.stage)),
        accesses_in_words(source_access),
        stages_in_words(advised_stage(later.stage)),
        accesses_in_words(target_access),
    )
}
