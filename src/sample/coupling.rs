//! The coupling of one kernel with its host.

use super::NAIVE;
use vkcert_model::evidence::{
    CheckStatus, CouplingCheck, CouplingEdge, CouplingEvidence, CouplingNode,
};

pub(super) fn sample_coupling() -> Vec<CouplingEvidence> {
    let coupling_node = |id: &str, kind: &str, label: &str| CouplingNode {
        id: id.into(),
        kind: kind.into(),
        label: label.into(),
        place: None,
    };
    let coupling_edge = |from: &str, to: &str, kind: &str, label: &str| CouplingEdge {
        from: from.into(),
        to: to.into(),
        kind: kind.into(),
        label: label.into(),
        places: Vec::new(),
    };
    let coupling_check = |check: &str, status: CheckStatus, message: &str| CouplingCheck {
        check: check.into(),
        status,
        message: message.into(),
        counterexample: None,
        accesses: None,
        subjects: Vec::new(),
    };
    let mut refuted_check = coupling_check(
        "dispatch-covers-domain",
        CheckStatus::Refuted,
        "The dispatch of 1 group in y covers 16 rows of a domain with m rows.",
    );
    refuted_check.counterexample = Some([("m".to_owned(), 17), ("k".to_owned(), 1)].into());
    vec![CouplingEvidence {
        headers: Vec::new(),
        captures: Vec::new(),
        definition: None,
        kernel: NAIVE.into(),
        nodes: vec![
            coupling_node("parameter:m", "parameter", "m"),
            coupling_node("push-constant:0", "push constant", "Sizes.m"),
            coupling_node("decision:D2", "decision", "D2: x < k && y < m"),
        ],
        edges: vec![
            coupling_edge("parameter:m", "push-constant:0", "data", "stored at offset 0"),
            coupling_edge("push-constant:0", "decision:D2", "control", "read by condition C2"),
        ],
        checks: vec![
            coupling_check("local-size-match", CheckStatus::Holds, "Both sides say 16 × 16 × 1."),
            refuted_check,
        ],
    }]
}
