//! Two accesses that conflict: what orders them, what is missing, and in which words.
//!
//! Promises: a pair is in doubt wherever something that is not known could order it or keep it apart.

use super::ordering::Access;
use super::overlap::Overlap;
use super::scopes::{advised_access, advised_stage};
use super::span::AccessSpan;
use super::state::{Gap, Ordered, Orderers, RangeState};
use super::uses::UseKind;
use crate::words::{accesses_in_words, stages_in_words};

/// Two accesses of one range, one of which writes.
pub(super) struct Conflict {
    pub(super) span: AccessSpan,
    pub(super) earlier_kind: UseKind,
    pub(super) earlier: Ordered,
    pub(super) meeting: Meeting,
}

/// How an access meets an earlier one.
pub(super) enum Meeting {
    /// These operations order the two.
    Ordered(Orderers),
    /// Nothing orders them as is needed.
    Unordered(Gap, Overlap),
}

/// The earlier accesses of a range that one conflicts with, and what orders them.
pub(super) fn earlier_accesses(
    state: &RangeState,
    kind: UseKind,
    access: &Access,
) -> Vec<(UseKind, Ordered, Result<Orderers, Gap>)> {
    let mut earlier = Vec::new();
    for write in state.writes() {
        let order = match kind {
            UseKind::Read => write.read_order(access),
            UseKind::Write => write.write_order(access),
        };
        earlier.push((UseKind::Write, write.ordered.clone(), order));
    }
    if kind == UseKind::Write {
        for read in &state.reads {
            let order = read.execution_order(access.queue, access.stage);
            earlier.push((UseKind::Read, read.clone(), order));
        }
    }
    earlier
}

/// Why it is not known whether two accesses conflict without an order.
pub(super) fn doubts(earlier: &Ordered, later: &Access, overlap: &Overlap) -> Vec<String> {
    let mut doubts = Vec::new();
    if let Some(name) = &earlier.unknown {
        doubts.push(format!("{name} stands between them, which is not modelled"));
    }
    doubts.extend(later.doubt.or(earlier.access.doubt).map(str::to_owned));
    if let (Overlap::Open(reason), true) = (overlap, doubts.is_empty()) {
        doubts.push(format!("that both touch the same bytes is not shown: {reason}"));
    }
    doubts
}

impl Gap {
    pub(super) fn in_words(self) -> &'static str {
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
pub(super) fn advice(
    earlier_kind: UseKind,
    earlier: &Access,
    later_kind: UseKind,
    later: &Access,
) -> String {
    if earlier.is_transition() {
        return format!(
            "; right is a second scope of that barrier with dstStageMask {} and dstAccessMask {} \
             (Vulkan specification, \"Image Layout Transitions\")",
            stages_in_words(advised_stage(later.stage)),
            accesses_in_words(advised_access(later.access)),
        );
    }
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
