//! What is known of a range of memory or of an image: its last write, the reads since, and what
//! orders them.
//!
//! Knows: how a dependency orders a write or a read before later commands, whether it makes a write
//! available, and to which stages and accesses it makes it visible (Vulkan specification,
//! "Execution and Memory Dependencies").
//! Promises: a state takes notice of dependencies in their order, each once, when it is next asked:
//! ranges that nobody touches cost nothing.

use super::ordering::{Access, Ordering, OrderingKind, SignalPoint};
use super::reach::{Reach, reach_of};
use super::scopes::{
    HOST_READ, HOST_STAGE, access_stages, includes_access, source_stages, target_stages,
};
use super::span::AccessSpan;
use std::sync::Arc;
use vkcert_capture::program::{BarrierPart, Program};

/// Stages of a queue that are ordered behind an access.
#[derive(Debug, Clone, Copy)]
struct Chain {
    queue: usize,
    stages: u64,
    /// The operation that orders them.
    by: usize,
    /// The submission that it is part of.
    batch: u32,
}

/// Where a write is visible.
#[derive(Debug, Clone, Copy)]
struct Visible {
    queue: usize,
    stages: u64,
    access: u64,
    by: usize,
    /// The operation behind whose second scope this one follows.
    via: Option<usize>,
    /// The operation that made the write available to it.
    available: usize,
}

/// Stages of a queue behind an operation that makes a write available, or behind a chain of
/// dependencies from there.
#[derive(Debug, Clone, Copy)]
struct Available {
    queue: usize,
    stages: u64,
    /// The last operation of the chain.
    by: usize,
    /// The operation that makes the write available.
    made_by: usize,
}

/// Whether the host knows that an access is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Completion {
    Pending,
    /// Since this operation.
    Known(usize),
}

/// An access and what is ordered behind it.
#[derive(Debug, Clone)]
pub(super) struct Ordered {
    pub(super) access: Access,
    chains: Vec<Chain>,
    pub(super) completion: Completion,
    /// What may order it and is not modelled.
    pub(super) unknown: Option<Arc<str>>,
}

/// A write and where it is available and visible.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) ordered: Ordered,
    /// Where it is available.
    available: Vec<Available>,
    visible: Vec<Visible>,
    /// The barrier that makes it available to the host.
    pub(super) host: Option<usize>,
}

/// A range of memory.
#[derive(Debug, Clone, Default)]
pub(super) struct RangeState {
    pub(super) write: Option<Written>,
    /// Earlier writes of bytes that the last one and those behind them do not touch.
    apart: Vec<Written>,
    pub(super) reads: Vec<Ordered>,
    /// Dependencies that were taken notice of.
    seen: usize,
}

/// Writes of one range that are kept as being apart at most.
const MOST_APART: usize = 64;

/// Why an access is not ordered behind an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// No execution dependency.
    Execution,
    /// No availability: the first access scope leaves the write out.
    Availability,
    /// No chain of dependencies from where the write is made available.
    Chain,
    /// No visibility: the second scope leaves the use out.
    Visibility,
}

/// The operations that order an access behind another.
pub(super) type Orderers = Vec<usize>;

impl Ordered {
    pub(super) fn new(access: Access) -> Self {
        Self { access, chains: Vec::new(), completion: Completion::Pending, unknown: None }
    }

    /// Whether the access is in the first scope of an execution dependency on a queue, and by which
    /// chain.
    fn in_source(&self, queue: usize, stages: u64) -> Option<Option<usize>> {
        if self.access.queue == queue && self.access.stage & stages != 0 {
            return Some(None);
        }
        let chain =
            self.chains.iter().find(|chain| chain.queue == queue && chain.stages & stages != 0);
        chain.map(|chain| Some(chain.by))
    }

    /// Whether the access is in the first scope of a part of a barrier, or complete.
    pub(super) fn is_in_scope_of(&self, queue: usize, part: &BarrierPart) -> bool {
        self.completion != Completion::Pending
            || self.in_source(queue, source_stages(part.source_stages)).is_some()
    }

    fn add_chain(&mut self, added: Chain) {
        let known = self
            .chains
            .iter()
            .any(|chain| chain.queue == added.queue && chain.stages & added.stages == added.stages);
        if !known {
            self.chains.push(added);
        }
    }

    /// What orders a later command of a stage behind this access.
    pub(super) fn execution_order(&self, queue: usize, stage: u64) -> Result<Orderers, Gap> {
        if let Completion::Known(wait) = self.completion {
            return Ok(vec![wait]);
        }
        let chain =
            self.chains.iter().find(|chain| chain.queue == queue && chain.stages & stage == stage);
        chain.map(|chain| vec![chain.by]).ok_or(Gap::Execution)
    }

    fn take_completion(&mut self, operation: usize, completed: &[(usize, u32)]) {
        let is_complete = |queue: usize, batch: u32| {
            completed.iter().any(|(done, last)| *done == queue && batch <= *last)
        };
        // What a complete submission is ordered behind is complete, too.
        let complete = is_complete(self.access.queue, self.access.batch)
            || self.chains.iter().any(|chain| is_complete(chain.queue, chain.batch));
        if complete && self.completion == Completion::Pending {
            self.completion = Completion::Known(operation);
        }
    }

    /// Whether a signal waits for this access.
    fn before_signal(&self, signal: &SignalPoint) -> bool {
        let stages = source_stages(signal.stages);
        let own = self.access.queue == signal.queue
            && self.access.operation < signal.operation
            && self.access.stage & stages != 0;
        own || self.chains.iter().any(|chain| {
            chain.queue == signal.queue && chain.by < signal.operation && chain.stages & stages != 0
        })
    }
}

impl Written {
    pub(super) fn new(access: Access) -> Self {
        let (available, visible) = (Vec::new(), Vec::new());
        Self { ordered: Ordered::new(access), available, visible, host: None }
    }

    /// What orders a later read behind this write and makes the write visible to it.
    pub(super) fn read_order(&self, reader: &Access) -> Result<Orderers, Gap> {
        if let Completion::Known(wait) = self.ordered.completion {
            return Ok(vec![wait]);
        }
        let visible = self.visible.iter().find(|visible| {
            visible.queue == reader.queue
                && visible.stages & reader.stage == reader.stage
                && includes_access(visible.access, reader.access)
        });
        match (visible, self.ordered.execution_order(reader.queue, reader.stage)) {
            (Some(visible), order) => {
                let mut orderers = order.unwrap_or_default();
                orderers.push(visible.by);
                orderers.push(visible.available);
                orderers.extend(visible.via);
                Ok(orderers)
            }
            (None, Err(gap)) => Err(gap),
            (None, Ok(_)) if self.available.is_empty() => Err(Gap::Availability),
            (None, Ok(_)) if self.available_at(reader).is_none() => Err(Gap::Chain),
            (None, Ok(_)) => Err(Gap::Visibility),
        }
    }

    /// The chain that leads from where the write is made available to an access.
    fn available_at(&self, access: &Access) -> Option<&Available> {
        self.available.iter().find(|available| {
            available.queue == access.queue && available.stages & access.stage == access.stage
        })
    }

    /// What orders a later write behind this one and makes this one available before it.
    pub(super) fn write_order(&self, writer: &Access) -> Result<Orderers, Gap> {
        let mut orderers = self.ordered.execution_order(writer.queue, writer.stage)?;
        match (self.ordered.completion, self.available_at(writer)) {
            (Completion::Known(_), _) => Ok(orderers),
            (Completion::Pending, Some(available)) => {
                orderers.extend([available.made_by, available.by]);
                Ok(orderers)
            }
            (Completion::Pending, None) if self.available.is_empty() => Err(Gap::Availability),
            (Completion::Pending, None) => Err(Gap::Chain),
        }
    }

    fn take_barrier(
        &mut self,
        at: BarrierPoint,
        parts: &[BarrierPart],
        span: &AccessSpan,
        program: &Program,
    ) {
        // Parts take effect together: none is behind another of the same barrier.
        let earlier = self.available.clone();
        let is_maker: Vec<bool> = parts
            .iter()
            .map(|part| {
                matches!(reach_of(&part.scope, span, program), Reach::All)
                    && self.is_made_available(at.queue, part)
            })
            .collect();
        for part in parts {
            // Accesses of the parts of one vkCmdPipelineBarrier, which have their stages in common,
            // make up its scopes together.
            let is_made = parts.iter().zip(&is_maker).any(|(maker, makes)| {
                *makes
                    && (maker.source_stages, maker.target_stages)
                        == (part.source_stages, part.target_stages)
            });
            let source = source_stages(part.source_stages);
            let led = earlier
                .iter()
                .find(|available| available.queue == at.queue && available.stages & source != 0);
            let origin = match (is_made, led) {
                (true, _) => Some((at.operation, None)),
                (false, Some(led)) => Some((led.made_by, Some(led.by))),
                (false, None) => None,
            };
            if let Some((made_by, _)) = origin {
                let stages = target_stages(part.target_stages);
                let by = at.operation;
                self.add_available(Available { queue: at.queue, stages, by, made_by });
            }
            self.take_visibility(at, part, reach_of(&part.scope, span, program), origin);
        }
    }

    /// What is missing for a change of layout behind this write, which a part of a barrier makes.
    pub(super) fn gap_before(
        &self,
        queue: usize,
        part: &BarrierPart,
        parts: &[BarrierPart],
        span: &AccessSpan,
        program: &Program,
    ) -> Option<Gap> {
        if self.ordered.completion != Completion::Pending {
            return None;
        }
        if !self.ordered.is_in_scope_of(queue, part) {
            return Some(Gap::Execution);
        }
        let source = source_stages(part.source_stages);
        let is_led =
            self.available.iter().any(|led| led.queue == queue && led.stages & source != 0);
        let is_made = parts.iter().any(|maker| {
            (maker.source_stages, maker.target_stages) == (part.source_stages, part.target_stages)
                && matches!(reach_of(&maker.scope, span, program), Reach::All)
                && self.is_made_available(queue, maker)
        });
        (!is_led && !is_made).then_some(Gap::Availability)
    }

    /// Whether the write is in the first access scope of a part.
    fn is_made_available(&self, queue: usize, part: &BarrierPart) -> bool {
        let access = self.ordered.access;
        access.queue == queue
            && access_stages(part.source_stages) & access.stage != 0
            && includes_access(part.source_access, access.access)
    }

    fn add_available(&mut self, added: Available) {
        let known = self.available.iter().any(|available| {
            available.queue == added.queue && available.stages & added.stages == added.stages
        });
        if !known {
            self.available.push(added);
        }
    }

    /// What a part makes the write visible to; `origin` is the operation that made it available and
    /// the last one of the chain from there, none where no chain leads to the part.
    fn take_visibility(
        &mut self,
        at: BarrierPoint,
        part: &BarrierPart,
        reach: Reach,
        origin: Option<(usize, Option<usize>)>,
    ) {
        let BarrierPoint { operation, queue, .. } = at;
        match reach {
            Reach::All => {}
            Reach::None => return,
            Reach::Partly(reason) => {
                if self.ordered.in_source(queue, source_stages(part.source_stages)).is_some() {
                    self.ordered.unknown.get_or_insert_with(|| Arc::from(reason));
                }
                return;
            }
        }
        let Some((available, via)) = origin else { return };
        let stages = access_stages(part.target_stages);
        let known = self.visible.iter().any(|visible| {
            visible.queue == queue
                && visible.stages & stages == stages
                && visible.access & part.target_access == part.target_access
        });
        if !known && part.target_access != 0 {
            let (by, access) = (operation, part.target_access);
            self.visible.push(Visible { queue, stages, access, by, via, available });
        }
        if stages & HOST_STAGE != 0 && includes_access(part.target_access, HOST_READ) {
            self.host.get_or_insert(operation);
        }
    }
}

impl RangeState {
    /// The state of a range of which only later dependencies count.
    pub(super) fn at(seen: usize) -> Self {
        Self { seen, ..Self::default() }
    }

    /// Takes notice of all dependencies since the last time.
    pub(super) fn catch_up(&mut self, log: &[Ordering], span: &AccessSpan, program: &Program) {
        if self.write.is_some() || !self.reads.is_empty() {
            for ordering in &log[self.seen..] {
                self.take_ordering(ordering, span, program);
            }
        }
        self.seen = log.len();
    }

    /// The last write, and those that are apart from it.
    pub(super) fn writes(&self) -> impl Iterator<Item = &Written> {
        self.write.iter().chain(&self.apart)
    }

    fn writes_mut(&mut self) -> impl Iterator<Item = &mut Written> {
        self.write.iter_mut().chain(&mut self.apart)
    }

    /// Whether more accesses may be kept as being apart.
    pub(super) fn is_crowded(&self) -> bool {
        self.apart.len() >= MOST_APART
    }

    /// Takes the transition of a layout that a part of a barrier makes: a write between its scopes,
    /// behind which the part makes it available and visible (Vulkan specification, "Image Layout
    /// Transitions").
    pub(super) fn take_transition(&mut self, access: Access, part: &BarrierPart) {
        let Access { operation, queue, batch, .. } = access;
        let mut written = Written::new(access);
        let (stages, target) =
            (access_stages(part.target_stages), target_stages(part.target_stages));
        written.ordered.add_chain(Chain { queue, stages: target, by: operation, batch });
        let available = Available { queue, stages: target, by: operation, made_by: operation };
        written.available.push(available);
        let (access, by, available) = (part.target_access, operation, operation);
        written.visible.push(Visible { queue, stages, access, by, via: None, available });
        self.apart.clear();
        self.reads.clear();
        self.write = Some(written);
    }

    /// Takes a write; of earlier accesses those are kept that are apart from it, told by their
    /// operations.
    pub(super) fn take_write(&mut self, access: Access, is_apart: impl Fn(usize) -> bool) {
        self.apart.extend(self.write.take());
        self.apart.retain(|earlier| is_apart(earlier.ordered.access.operation));
        self.reads.retain(|earlier| is_apart(earlier.access.operation));
        self.write = Some(Written::new(access));
    }

    fn ordered_accesses(&mut self) -> impl Iterator<Item = &mut Ordered> {
        let writes = self.write.iter_mut().chain(&mut self.apart);
        writes.map(|write| &mut write.ordered).chain(&mut self.reads)
    }

    fn take_ordering(&mut self, ordering: &Ordering, span: &AccessSpan, program: &Program) {
        let operation = ordering.operation;
        match &ordering.kind {
            OrderingKind::Barrier { queue, batch, parts } => {
                let at = BarrierPoint { operation, queue: *queue, batch: *batch };
                self.take_barrier(at, parts, span, program);
            }
            OrderingKind::HostWait { completed } => {
                self.ordered_accesses()
                    .for_each(|access| access.take_completion(operation, completed));
            }
            OrderingKind::Unknown { name } => {
                for access in self.ordered_accesses() {
                    access.unknown.get_or_insert_with(|| Arc::clone(name));
                }
            }
            OrderingKind::Semaphore { signal, queue, batch, stages } => {
                let (queue, batch) = (*queue, *batch);
                let chain = Chain { queue, stages: target_stages(*stages), by: operation, batch };
                for write in self.writes_mut() {
                    if !write.ordered.before_signal(signal) {
                        continue;
                    }
                    // Vulkan specification, "Semaphore Signaling": all of its memory accesses.
                    write.add_available(Available {
                        queue,
                        stages: target_stages(*stages),
                        by: operation,
                        made_by: operation,
                    });
                    let stages = access_stages(*stages);
                    let access = u64::MAX;
                    write.visible.push(Visible {
                        queue,
                        stages,
                        access,
                        by: operation,
                        via: None,
                        available: operation,
                    });
                }
                for access in self.ordered_accesses() {
                    if access.before_signal(signal) {
                        access.add_chain(chain);
                    }
                }
            }
        }
    }

    fn take_barrier(
        &mut self,
        at: BarrierPoint,
        parts: &[BarrierPart],
        span: &AccessSpan,
        program: &Program,
    ) {
        // Parts take effect together: none is ordered behind another of the same barrier.
        let earlier: Vec<Ordered> = self.ordered_accesses().map(|access| access.clone()).collect();
        for write in self.writes_mut() {
            write.take_barrier(at, parts, span, program);
        }
        for (access, before) in self.ordered_accesses().zip(&earlier) {
            for part in parts {
                if before.in_source(at.queue, source_stages(part.source_stages)).is_some() {
                    let stages = target_stages(part.target_stages);
                    let BarrierPoint { operation, queue, batch } = at;
                    access.add_chain(Chain { queue, stages, by: operation, batch });
                }
            }
        }
    }
}

/// Where a barrier stands.
#[derive(Debug, Clone, Copy)]
struct BarrierPoint {
    operation: usize,
    queue: usize,
    batch: u32,
}
