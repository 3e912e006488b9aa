//! Requirements: verified, failed, untested and verified by other means.

use super::made_up_hash;
use vkcert_model::evidence::{CodeTrace, RequirementEvidence, RequirementStatus};
use vkcert_model::id::RequirementId;
use vkcert_model::requirement::{ParentLink, Requirement, RequirementLevel, VerificationMethod};

fn requirement_evidence(
    uid: &str,
    level: RequirementLevel,
    title: &str,
    status: RequirementStatus,
) -> RequirementEvidence {
    RequirementEvidence {
        requirement: Requirement {
            uid: RequirementId::from(uid),
            level,
            title: title.into(),
            statement: format!(
                "The kernel shall {}: the element r(y, x) is the sum over i of a(y, i)·b(i, x), within 4 ulp of the \
                 exact value, for every 0 ≤ x < k and 0 ≤ y < m. 中",
                title.to_lowercase()
            ),
            rationale: Some("The dispatch may exceed the result by a partial workgroup.".into()),
            parents: Vec::new(),
            derived: false,
            safety_rationale: None,
            verification: vec![VerificationMethod::Test],
            implements: Vec::new(),
            no_robustness_test: None,
        },
        hash: made_up_hash(uid.len() as u64 * 31),
        file: "requirements/matmul.toml".into(),
        suspect_parents: Vec::new(),
        children: Vec::new(),
        tests: Vec::new(),
        left_out_tests: Vec::new(),
        code: Vec::new(),
        status,
        open: Vec::new(),
        untested_code: Vec::new(),
        untested_kernels: Vec::new(),
    }
}

pub(super) fn sample_requirements() -> Vec<RequirementEvidence> {
    use RequirementLevel::{Hlr, Llr};
    let code_trace = |file: &str, symbol: &str, line, found| CodeTrace {
        file: file.into(),
        symbol: Some(symbol.into()),
        line,
        found,
        kernels: Vec::new(),
    };
    let mut requirement_rows = vec![
        requirement_evidence(
            "HLR-MM-001",
            Hlr,
            "Multiply matrices",
            RequirementStatus::VerifiedByChildren,
        ),
        requirement_evidence(
            "LLR-MM-001",
            Llr,
            "Sum products in order of i",
            RequirementStatus::Verified,
        ),
        requirement_evidence(
            "LLR-MM-002",
            Llr,
            "Guard against indices outside the result",
            RequirementStatus::Failed,
        ),
        requirement_evidence(
            "LLR-CONV-001",
            Llr,
            "Pad with zeros outside the image",
            RequirementStatus::Untested,
        ),
        requirement_evidence(
            "LLR-CONV-002",
            Llr,
            "Bounded run time",
            RequirementStatus::ByOtherMeans,
        ),
    ];
    requirement_rows[0].children = vec!["LLR-MM-001".into(), "LLR-MM-002".into()];
    for requirement_row in &mut requirement_rows[1..3] {
        requirement_row.requirement.parents =
            vec![ParentLink { uid: "HLR-MM-001".into(), hash: Some(made_up_hash(9)) }];
        requirement_row.tests = vec!["TC-MM-01".into(), "TC-MM-02".into()];
        requirement_row.code = vec![code_trace("glsl/matmul_naive.comp", "main", Some(20), true)];
    }
    requirement_rows[1].code.push(code_trace(
        "glsl/matmul_naive.comp",
        "dot_row_column",
        Some(10),
        true,
    ));
    requirement_rows[2].tests.push("TC-MM-04".into());
    requirement_rows[2].suspect_parents = vec!["HLR-MM-001".into()];
    requirement_rows[3].code =
        vec![code_trace("glsl/filters/convolution.comp", "pad", None, false)];
    requirement_rows
}
