//! Group counts that round up, and what only looks like them.

use super::{LARGE, correct, coupled, parameter};
use crate::Interface;
use crate::cover;
use std::collections::BTreeMap;
use vkcert_model::evidence::{CheckStatus, CouplingCheck, CouplingCheckName};
use vkcert_model::requirement::{HostLocal, HostParameter, HostType};
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::host::expression::{DivisionRounding, HostExpression};

/// The dispatch's x axis under other expressions and another range of k.
fn in_x(groups: &str, domain: &str, max: i64, local: Option<HostLocal>) -> Vec<CouplingCheck> {
    let text = |text: &str| text.to_owned();
    let interface = Interface {
        parameters: vec![parameter("m", 4096), parameter("n", 4096), parameter("k", max)],
        locals: local.into_iter().collect(),
        groups: [groups, "(m + 15) / 16", "1"].map(text),
        domain: Some([domain, "m", "1"].map(text)),
        ..correct()
    };
    let coupling = coupled(&interface, &[], &[], Some(&LARGE));
    let dispatch = |row: &&CouplingCheck| {
        row.check.as_str().starts_with("dispatch") && row.message.starts_with("in x")
    };
    coupling.checks.iter().filter(dispatch).cloned().collect()
}

#[test]
fn rounding_up_covers_every_domain_that_it_does_not_wrap_for() {
    let tile = || {
        Some(HostLocal { name: "TILE".to_owned(), width: HostType::Uint32, value: "16".to_owned() })
    };
    let most = i64::from(u32::MAX);
    for (groups, domain, max) in [
        ("(k + 15) / 16", "k", 1 << 31),
        ("(k + 15) / 16", "k", most - 15),
        ("(15 + k) / 16u", "k", 1 << 31),
        ("(k + 15) / 8", "k", 1 << 31),
        ("(k - 1) / 16 + 1", "k", most),
        ("k / 16 + 1", "k", most),
        ("(k + TILE - 1) / TILE", "k", 1 << 31),
        ("uint32((uint64(k) + 15) / 16)", "k", most),
        ("(k + 16) / 16", "k + 1", 1 << 31),
        ("(k * 2 + 15) / 16", "k * 2", 1 << 30),
    ] {
        let rows = in_x(groups, domain, max, tile());
        assert_eq!(rows.len(), 2);
        assert!(
            rows.iter().all(|row| row.status == CheckStatus::Holds),
            "{groups} for {domain} up to {max}: {rows:#?}"
        );
    }
}

#[test]
fn rounding_up_that_wraps_is_refuted_with_the_value() {
    let most = i64::from(u32::MAX);
    for max in [most - 14, most] {
        let rows = in_x("(k + 15) / 16", "k", max, None);
        let covers =
            rows.iter().find(|row| row.check == CouplingCheckName::DispatchCoversDomain).unwrap();
        assert_eq!(covers.status, CheckStatus::Refuted, "{covers:?}");
        assert!(covers.counterexample.as_ref().unwrap()["k"] > most - 15, "{covers:?}");
    }
}

#[test]
fn what_only_looks_like_rounding_up_is_not_proved() {
    let large = 1i64 << 31;
    for (groups, domain) in [
        ("(k + 14) / 16", "k"),
        ("(k + 31) / 32", "k"),
        ("(m + 15) / 16", "k"),
        ("(k + 15) / 16", "k + 1"),
        ("(k - 2) / 16 + 1", "k"),
        ("(k - m + 15) / 16", "k - m"),
        ("k / 16", "k"),
    ] {
        let rows = in_x(groups, domain, large, None);
        let covers =
            rows.iter().find(|row| row.check == CouplingCheckName::DispatchCoversDomain).unwrap();
        assert_ne!(covers.status, CheckStatus::Holds, "{groups} for {domain}: {covers:?}");
    }
}

proptest::proptest! {
    /// Against every value of the parameter: a proof is right, and what has enough added is proved.
    #[test]
    fn a_proof_by_form_is_right_for_every_value(
        (a, b, c, less) in (0i128..40, 0i128..3, 1i128..20, 0i128..3),
        (local, further) in (1i128..20, 0i128..3),
        low in 0i64..40,
        shape in 0usize..3,
    ) {
        let interface = Interface { parameters: vec![HostParameter { min: low, ..parameter("k", low + 60) }], ..correct() };
        let host = HostModel::from_interface(&interface, [16, 16, 1]).unwrap();
        let groups = match shape {
            0 => format!("(k + {a}) / {c} + {b}"),
            1 => format!("(k - {a}) / {c} + {b}"),
            _ => format!("{b} + ({a} + k - {less}) / {c}"),
        };
        let groups = host.parse_expression(&groups, "groups").unwrap();
        let domain = host.parse_expression(&format!("k + {further}"), "domain").unwrap();
        let proved = cover::covers_by_form(&host, &groups, &domain, local);
        let value = |expression: &HostExpression, k: i64| {
            let case = host.named_case(&BTreeMap::from([("k".to_owned(), k)]));
            expression.evaluate(&case.scope, DivisionRounding::Truncate, &mut Vec::new()).value
        };
        let covers = (low..=low + 60).all(|k| value(&groups, k) * local >= value(&domain, k));
        proptest::prop_assert!(covers || !proved);
        if shape == 0 && c <= local && a - further + b * c >= c - 1 {
            proptest::prop_assert!(proved);
        }
    }
}

#[test]
fn what_is_too_large_to_try_is_never_claimed() {
    let rows = in_x("k / 16 + min(k % 16, 1)", "k", i64::from(u32::MAX) - 100, None);
    assert!(rows.iter().all(|row| row.status == CheckStatus::Undetermined), "{rows:#?}");
}
