//! The coupling of one kernel with its host.

use super::NAIVE;
use vkcert_model::evidence::{
    CheckStatus, CouplingCheck, CouplingEdge, CouplingEvidence, CouplingNode,
};

pub(super) fn coupling() -> Vec<CouplingEvidence> {
    let node = |id: &str, kind: &str, label: &str| CouplingNode {
        id: id.into(),
        kind: kind.into(),
        label: label.into(),
    };
    let edge = |from: &str, to: &str, kind: &str, label: &str| CouplingEdge {
        from: from.into(),
        to: to.into(),
        kind: kind.into(),
        label: label.into(),
    };
    let check = |check: &str, status: CheckStatus, message: &str| CouplingCheck {
        check: check.into(),
        status,
        message: message.into(),
        counterexample: None,
    };
    let mut refuted = check(
        "dispatch-covers-domain",
        CheckStatus::Refuted,
        "The dispatch of 1 group in y covers 16 rows of a domain with m rows.",
    );
    refuted.counterexample = Some([("m".to_owned(), 17), ("k".to_owned(), 1)].into());
    vec![CouplingEvidence {
        definition: None,
        kernel: NAIVE.into(),
        nodes: vec![
            node("parameter:m", "parameter", "m"),
            node("push-constant:0", "push constant", "Sizes.m"),
            node("decision:D2", "decision", "D2: x < k && y < m"),
        ],
        edges: vec![
            edge("parameter:m", "push-constant:0", "data", "stored at offset 0"),
            edge("push-constant:0", "decision:D2", "control", "read by condition C2"),
        ],
        checks: vec![
            check("local-size-match", CheckStatus::Holds, "Both sides say 16 × 16 × 1."),
            refuted,
        ],
    }]
}
