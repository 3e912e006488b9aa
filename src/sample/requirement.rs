//! Requirements: verified, failed, untested and verified by other means.

use super::hash;
use vkcert_model::evidence::{CodeTrace, RequirementEvidence, RequirementStatus};
use vkcert_model::id::RequirementId;
use vkcert_model::requirement::{ParentLink, Requirement, RequirementLevel, VerificationMethod};

fn requirement(
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
        },
        hash: hash(uid.len() as u64 * 31),
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

pub(super) fn requirements() -> Vec<RequirementEvidence> {
    use RequirementLevel::{Hlr, Llr};
    let code = |file: &str, symbol: &str, line, found| CodeTrace {
        file: file.into(),
        symbol: Some(symbol.into()),
        line,
        found,
        kernels: Vec::new(),
    };
    let mut list = vec![
        requirement("HLR-MM-001", Hlr, "Multiply matrices", RequirementStatus::VerifiedByChildren),
        requirement("LLR-MM-001", Llr, "Sum products in order of i", RequirementStatus::Verified),
        requirement(
            "LLR-MM-002",
            Llr,
            "Guard against indices outside the result",
            RequirementStatus::Failed,
        ),
        requirement(
            "LLR-CONV-001",
            Llr,
            "Pad with zeros outside the image",
            RequirementStatus::Untested,
        ),
        requirement("LLR-CONV-002", Llr, "Bounded run time", RequirementStatus::ByOtherMeans),
    ];
    list[0].children = vec!["LLR-MM-001".into(), "LLR-MM-002".into()];
    for item in &mut list[1..3] {
        item.requirement.parents =
            vec![ParentLink { uid: "HLR-MM-001".into(), hash: Some(hash(9)) }];
        item.tests = vec!["TC-MM-01".into(), "TC-MM-02".into()];
        item.code = vec![code("glsl/matmul_naive.comp", "main", Some(20), true)];
    }
    list[1].code.push(code("glsl/matmul_naive.comp", "dot_row_column", Some(10), true));
    list[2].tests.push("TC-MM-04".into());
    list[2].suspect_parents = vec!["HLR-MM-001".into()];
    list[3].code = vec![code("glsl/filters/convolution.comp", "pad", None, false)];
    list
}
