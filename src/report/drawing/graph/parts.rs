//! The parts that a coupling graph is drawn in.
//!
//! Promises: every edge belongs to one part, by the kinds of the nodes at its ends.

use vkcert_model::evidence::{CouplingEdgeKind, CouplingNodeKind};

/// The parts that a graph is drawn in, each by the edges that it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GraphPart {
    /// From parameters to what the host hands the kernel.
    Host,
    /// From there to what the kernel writes.
    Data,
    /// From what decisions are computed.
    Decisions,
    /// What decisions and barriers direct and order, and who calls functions.
    Control,
    /// What barriers separate, and what passes from region to region.
    Regions,
    /// What dispatches of other kernels leave to the kernel.
    Earlier,
    /// What captured dispatches hand to each other.
    Captured,
}

impl GraphPart {
    pub(super) const ALL: [GraphPart; 7] = [
        GraphPart::Host,
        GraphPart::Data,
        GraphPart::Decisions,
        GraphPart::Control,
        GraphPart::Regions,
        GraphPart::Earlier,
        GraphPart::Captured,
    ];

    pub(super) fn in_words(self) -> &'static str {
        match self {
            GraphPart::Host => "from the host's values to what it hands the kernel",
            GraphPart::Data => "from what the host hands the kernel to what the kernel writes",
            GraphPart::Decisions => "what its decisions are computed from",
            GraphPart::Control => "what decisions and barriers direct and order, and calls",
            GraphPart::Regions => "what barriers separate, and what passes between these regions",
            GraphPart::Earlier => "what dispatches of other kernels leave to it",
            GraphPart::Captured => {
                "what captured dispatches hand to each other, and what orders them"
            }
        }
    }

    /// The part that shows an edge of this kind between nodes of these kinds.
    pub(super) fn of_edge(
        [from, to]: [&CouplingNodeKind; 2],
        edge_kind: &CouplingEdgeKind,
    ) -> Self {
        let holds_member = *edge_kind == CouplingEdgeKind::Sizes
            && (from, to) == (&CouplingNodeKind::Buffer, &CouplingNodeKind::BufferMember);
        let sides = [side_of(from), side_of(to)];
        if sides.contains(&GraphSide::Captured) {
            GraphPart::Captured
        } else if sides.contains(&GraphSide::Earlier) {
            GraphPart::Earlier
        } else if [from, to].contains(&&CouplingNodeKind::BarrierRegion) {
            GraphPart::Regions
        } else if sides.contains(&GraphSide::Host) || holds_member {
            GraphPart::Host
        } else if sides[0] == GraphSide::Data && *to == CouplingNodeKind::Decision {
            GraphPart::Decisions
        } else if sides.contains(&GraphSide::Control)
            || (from, to) == (&CouplingNodeKind::Dispatch, &CouplingNodeKind::Kernel)
        {
            GraphPart::Control
        } else {
            GraphPart::Data
        }
    }
}

/// What a node belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GraphSide {
    Host,
    /// What the host hands the kernel, and what the kernel shares.
    Data,
    Control,
    /// Dispatches of other kernels.
    Earlier,
    /// What a captured host program did.
    Captured,
}

/// Whether a node stands in the host's code. Dispatches are what the host hands over.
pub(crate) fn is_of_host(kind: &CouplingNodeKind) -> bool {
    matches!(side_of(kind), GraphSide::Host | GraphSide::Captured)
        || [CouplingNodeKind::Dispatch, CouplingNodeKind::EarlierDispatch].contains(kind)
}

fn side_of(kind: &CouplingNodeKind) -> GraphSide {
    match kind {
        CouplingNodeKind::Parameter
        | CouplingNodeKind::Local
        | CouplingNodeKind::HostMember
        | CouplingNodeKind::AssumedLocalSize
        | CouplingNodeKind::Domain => GraphSide::Host,
        CouplingNodeKind::PushConstant
        | CouplingNodeKind::SpecializationConstant
        | CouplingNodeKind::Buffer
        | CouplingNodeKind::BufferMember
        | CouplingNodeKind::Image
        | CouplingNodeKind::AddressedMemory
        | CouplingNodeKind::BuiltIn
        | CouplingNodeKind::LocalSize
        | CouplingNodeKind::Dispatch
        | CouplingNodeKind::Kernel
        | CouplingNodeKind::WorkgroupMemory
        | CouplingNodeKind::SubgroupOperation
        | CouplingNodeKind::Unknown(_) => GraphSide::Data,
        CouplingNodeKind::Barrier
        | CouplingNodeKind::BarrierRegion
        | CouplingNodeKind::Decision
        | CouplingNodeKind::Function => GraphSide::Control,
        CouplingNodeKind::EarlierDispatch | CouplingNodeKind::EarlierBinding => GraphSide::Earlier,
        CouplingNodeKind::CapturedDispatch
        | CouplingNodeKind::CapturedBarrier
        | CouplingNodeKind::CapturedOperation => GraphSide::Captured,
    }
}
