//! What of a coupling graph the checks are about, and the signs of those that do not hold.
//!
//! Knows: the nodes that rows name, and the checks that are about one node or edge of each graph.
//! Promises: nothing is marked but what a row is about. Does not cover: rows that name no node, as
//! those of evidence before 0.4.0, which stand in the table of checks alone.

use vkcert_model::evidence::{
    CheckStatus, CouplingCheck, CouplingCheckName, CouplingEvidence, CouplingNode, CouplingNodeKind,
};

/// What every row of a check is about, whatever it names.
enum WholeSubject {
    /// The one node of a kind.
    Node(CouplingNodeKind),
    /// The edge between the one nodes of two kinds.
    Edge(CouplingNodeKind, CouplingNodeKind),
    /// The rows say it themselves.
    Nothing,
}

fn whole_subject(check: &CouplingCheckName) -> WholeSubject {
    match check {
        CouplingCheckName::DispatchCoversDomain => {
            WholeSubject::Edge(CouplingNodeKind::Dispatch, CouplingNodeKind::Domain)
        }
        CouplingCheckName::DispatchNotTruncated => WholeSubject::Node(CouplingNodeKind::Dispatch),
        CouplingCheckName::LocalSizeMatch => WholeSubject::Node(CouplingNodeKind::LocalSize),
        CouplingCheckName::HostOverflow
        | CouplingCheckName::HostFacts
        | CouplingCheckName::PushConstantLayout
        | CouplingCheckName::MemberUse
        | CouplingCheckName::BufferSize
        | CouplingCheckName::BufferLayout
        | CouplingCheckName::ImageDescriptor
        | CouplingCheckName::ImageSize
        | CouplingCheckName::EarlierDispatches
        | CouplingCheckName::DeviceLimits
        | CouplingCheckName::SpecializationIds
        | CouplingCheckName::PipelineIdentity
        | CouplingCheckName::PipelineLayout
        | CouplingCheckName::PipelineSpecialization
        | CouplingCheckName::UniformBarrier
        | CouplingCheckName::BarrierOrder
        | CouplingCheckName::IndexBounds
        | CouplingCheckName::CaptureComplete
        | CouplingCheckName::ShaderModule
        | CouplingCheckName::LocalSizeLimits
        | CouplingCheckName::DispatchLimits
        | CouplingCheckName::PushConstants
        | CouplingCheckName::PushConstantValues
        | CouplingCheckName::Descriptors
        | CouplingCheckName::BindingSize
        | CouplingCheckName::DeviceDependency
        | CouplingCheckName::HostRead
        | CouplingCheckName::HostWrite
        | CouplingCheckName::Unknown(_) => WholeSubject::Nothing,
    }
}

/// Whether a row is about a node.
pub(super) fn is_about_node(row: &CouplingCheck, node: &CouplingNode) -> bool {
    let is_whole = match whole_subject(&row.check) {
        WholeSubject::Node(kind) => kind == node.kind,
        WholeSubject::Edge(..) | WholeSubject::Nothing => false,
    };
    is_whole || row.subjects.contains(&node.id)
}

/// Whether a row is about the edge between two nodes.
pub(super) fn is_about_edge(row: &CouplingCheck, from: &CouplingNode, to: &CouplingNode) -> bool {
    match whole_subject(&row.check) {
        WholeSubject::Edge(from_kind, to_kind) => from_kind == from.kind && to_kind == to.kind,
        WholeSubject::Node(_) | WholeSubject::Nothing => false,
    }
}

/// `✗`, `?` or nothing where the check holds.
pub(super) fn status_sign(status: &CheckStatus) -> &'static str {
    match status {
        CheckStatus::Holds => "",
        CheckStatus::Refuted => "✗",
        CheckStatus::Undetermined | CheckStatus::Unknown(_) => "?",
    }
}

/// The worst check that does not hold and is about this.
pub(super) fn open_check(
    coupling: &CouplingEvidence,
    is_about: impl Fn(&CouplingCheck) -> bool,
) -> Option<&CouplingCheck> {
    let mut open: Vec<&CouplingCheck> = coupling
        .checks
        .iter()
        .filter(|check| check.status != CheckStatus::Holds && is_about(check))
        .collect();
    open.sort_by_key(|check| check.status != CheckStatus::Refuted);
    open.first().copied()
}
