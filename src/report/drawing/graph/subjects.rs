//! What of a coupling graph the checks look at, and the signs of those that do not hold.

use vkcert_model::evidence::{
    CheckStatus, CouplingCheck, CouplingCheckName, CouplingEvidence, CouplingNodeKind,
};

/// What of the graph a check looks at.
pub(super) enum CheckSubject {
    Node(CouplingNodeKind),
    /// Buffers and their members.
    Contents,
    Edge(CouplingNodeKind, CouplingNodeKind),
    Nothing,
}

fn subject_of(check: &CouplingCheckName) -> CheckSubject {
    use CouplingNodeKind::{
        Barrier, Buffer, CapturedDispatch, Dispatch, Domain, Image, Local, LocalSize, PushConstant,
        SpecializationConstant,
    };
    match check {
        CouplingCheckName::DispatchCoversDomain => CheckSubject::Edge(Dispatch, Domain),
        CouplingCheckName::DispatchNotTruncated | CouplingCheckName::DeviceLimits => {
            CheckSubject::Node(Dispatch)
        }
        CouplingCheckName::HostOverflow => CheckSubject::Node(Local),
        CouplingCheckName::LocalSizeMatch => CheckSubject::Node(LocalSize),
        CouplingCheckName::PushConstantLayout | CouplingCheckName::MemberUse => {
            CheckSubject::Node(PushConstant)
        }
        CouplingCheckName::IndexBounds | CouplingCheckName::BufferLayout => CheckSubject::Contents,
        CouplingCheckName::BufferSize | CouplingCheckName::PipelineLayout => {
            CheckSubject::Node(Buffer)
        }
        CouplingCheckName::ImageDescriptor | CouplingCheckName::ImageSize => {
            CheckSubject::Node(Image)
        }
        CouplingCheckName::EarlierDispatches => CheckSubject::Node(Buffer),
        CouplingCheckName::SpecializationIds | CouplingCheckName::PipelineSpecialization => {
            CheckSubject::Node(SpecializationConstant)
        }
        CouplingCheckName::UniformBarrier | CouplingCheckName::BarrierOrder => {
            CheckSubject::Node(Barrier)
        }
        CouplingCheckName::LocalSizeLimits
        | CouplingCheckName::DispatchLimits
        | CouplingCheckName::PushConstants
        | CouplingCheckName::PushConstantValues
        | CouplingCheckName::Descriptors
        | CouplingCheckName::BindingSize
        | CouplingCheckName::DeviceDependency
        | CouplingCheckName::HostRead
        | CouplingCheckName::HostWrite => CheckSubject::Node(CapturedDispatch),
        CouplingCheckName::HostFacts
        | CouplingCheckName::CaptureComplete
        | CouplingCheckName::ShaderModule
        | CouplingCheckName::PipelineIdentity
        | CouplingCheckName::Unknown(_) => CheckSubject::Nothing,
    }
}

impl CheckSubject {
    /// Whether it is looked at as a node.
    pub(super) fn is_node(&self, kind: &CouplingNodeKind) -> bool {
        match self {
            CheckSubject::Node(subject) => subject == kind,
            CheckSubject::Contents => {
                [CouplingNodeKind::Buffer, CouplingNodeKind::BufferMember].contains(kind)
            }
            CheckSubject::Edge(..) | CheckSubject::Nothing => false,
        }
    }

    /// Whether it is looked at as an edge between nodes of these kinds.
    pub(super) fn is_edge(&self, from: &CouplingNodeKind, to: &CouplingNodeKind) -> bool {
        match self {
            CheckSubject::Edge(subject_from, subject_to) => {
                (subject_from, subject_to) == (from, to)
            }
            CheckSubject::Node(_) | CheckSubject::Contents | CheckSubject::Nothing => false,
        }
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

/// The worst check that does not hold and looks at this.
pub(super) fn open_check(
    coupling: &CouplingEvidence,
    looks_at: impl Fn(CheckSubject) -> bool,
) -> Option<&CouplingCheck> {
    let mut open: Vec<&CouplingCheck> = coupling
        .checks
        .iter()
        .filter(|check| check.status != CheckStatus::Holds && looks_at(subject_of(&check.check)))
        .collect();
    open.sort_by_key(|check| check.status != CheckStatus::Refuted);
    open.first().copied()
}
