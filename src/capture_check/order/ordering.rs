//! Accesses of commands, and what orders them: barriers, semaphores, waits of the host.

use std::sync::Arc;
use vkcert_capture::program::BarrierPart;

/// An access of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Access {
    /// Index of the operation.
    pub(super) operation: usize,
    /// Index of the queue.
    pub(super) queue: usize,
    /// Number of the batch.
    pub(super) batch: u32,
    /// One stage; 0 for a change of layout, which no stage makes.
    pub(super) stage: u64,
    /// One access.
    pub(super) access: u64,
    /// Why it may not touch the range, in words.
    pub(super) doubt: Option<&'static str>,
}

impl Access {
    /// Whether it is the change of an image's layout, which a barrier makes.
    pub(super) fn is_transition(&self) -> bool {
        self.stage == 0
    }
}

/// Something that orders.
#[derive(Debug, Clone)]
pub(super) struct Ordering {
    /// Index of the operation.
    pub(super) operation: usize,
    pub(super) kind: OrderingKind,
}

/// What orders.
#[derive(Debug, Clone)]
pub(super) enum OrderingKind {
    /// A pipeline barrier on a queue.
    Barrier { queue: usize, batch: u32, parts: Arc<Vec<BarrierPart>> },
    /// A queue waits for a semaphore that another one, or itself, signals.
    Semaphore { signal: SignalPoint, queue: usize, batch: u32, stages: u64 },
    /// The host knows these submissions to be complete.
    HostWait { completed: Vec<(usize, u32)> },
    /// Something that is not modelled.
    Unknown { name: Arc<str> },
}

/// Where a semaphore is signaled.
#[derive(Debug, Clone, Copy)]
pub(super) struct SignalPoint {
    pub(super) operation: usize,
    pub(super) queue: usize,
    pub(super) stages: u64,
}
