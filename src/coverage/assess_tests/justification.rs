//! Justifications on the kernel of the tests: what each closes, and what rejects it.

use super::super::justification::BoundConfiguration;
use super::resolution::{assessed_under, resolved};
use super::*;
use vkcert_model::criterion::CriterionName;
use vkcert_model::project::SoftwareLevel;

#[test]
fn a_justification_for_another_configuration_does_nothing() {
    let (coverage, _) = assessed_under(&resolved(), &[&[(1, "TT"), (2, "F")]]);
    let mut given = justification(&coverage, "D2.T");
    for (configuration, status) in [
        (None, Status::Justified),
        (Some("TILE=16"), Status::Justified),
        (Some("default"), Status::Uncovered),
    ] {
        given.configuration = configuration.map(str::to_owned);
        let justified = applied_at(SoftwareLevel::A, &coverage, &[given.clone()]);
        assert_eq!(justified.rejected, [None]);
        assert_eq!(justified.coverage.decisions[1].outcomes[0].status, status, "{configuration:?}");
    }
}

/// The kernel of the tests, as justifications are bound to it.
struct Bound {
    name: KernelName,
    structure: KernelStructure,
    objects: ObjectStructure,
}

impl Bound {
    fn new() -> Self {
        Self { name: "k".into(), structure: structure(), objects: ObjectStructure::default() }
    }

    fn kernel(&self) -> BoundKernel<'_> {
        let Bound { name, structure, objects } = self;
        BoundKernel {
            pairs: None,
            kernel: name,
            structure: Some(structure),
            objects,
            code: "c0de",
            configurations: &[],
        }
    }
}

fn justification(coverage: &KernelCoverage, obligation: &str) -> Justification {
    let bound = Bound::new();
    let obligation = ObligationId::from(obligation);
    let hash = BoundContents::from_coverage(bound.kernel(), coverage)
        .content_hash_of(&obligation)
        .unwrap_or_default();
    let person = |name: &str| name.to_owned();
    Justification {
        kernel: KernelName::from("k"),
        subject: JustificationSubject::Obligation(obligation),
        configuration: None,
        class: JustificationClass::Defensive,
        reason: "The host never passes such a size.".to_owned(),
        category: None,
        means: None,
        argument: None,
        author: person("A. Author"),
        approver: person("R. Reviewer"),
        date: None,
        hash,
    }
}

fn applied_at(
    level: SoftwareLevel,
    coverage: &KernelCoverage,
    given: &[Justification],
) -> JustifiedCoverage {
    let given: Vec<_> = given
        .iter()
        .map(|justification| GivenJustification { justification, refuted: None })
        .collect();
    apply_justifications(
        Bound::new().kernel(),
        coverage,
        &given,
        &JustificationStandard::for_level(level, EVIDENCE_SCHEMA),
    )
}

#[test]
fn a_justification_closes_its_obligation_and_no_other() {
    let coverage = assessed(&structure(), &presence(), &[FULL, &[(1, "F-")]]);
    let given = [justification(&coverage, "D1.C2.masking")];
    let justified = applied_at(SoftwareLevel::A, &coverage, &given);
    assert_eq!(justified.rejected, [None]);
    let guard = &justified.coverage.decisions[0];
    assert_eq!(
        (guard.mcdc[1].masking.status, guard.mcdc[1].unique_cause.status),
        (Status::Justified, Status::Uncovered)
    );
    assert!(row(&justified.coverage, CriterionName::McdcMasking).complete());
    assert!(!row(&justified.coverage, CriterionName::McdcUniqueCause).complete());
}

#[test]
fn justifications_that_do_not_hold_are_rejected_with_a_reason() {
    let coverage = assessed(&structure(), &presence(), &[FULL, &[(1, "F-")]]);
    let changed: BTreeMap<&str, fn(&mut Justification)> = BTreeMap::from([
        (
            "stale",
            (|j: &mut Justification| j.hash = format!("sha256:{}", "0".repeat(64)))
                as fn(&mut Justification),
        ),
        ("no obligation", |j| j.subject = JustificationSubject::Obligation("D9.T".into())),
        ("independence", |j| j.approver = "a. author".to_owned()),
        ("must be given", |j| j.reason = " ".to_owned()),
    ]);
    for (word, change) in changed {
        let mut given = justification(&coverage, "D1.C2.masking");
        change(&mut given);
        let justified = applied_at(SoftwareLevel::B, &coverage, &[given]);
        let reason = justified.rejected[0].as_ref().expect(word).reason().to_owned();
        assert!(reason.contains(word), "{reason}");
        assert_eq!(justified.coverage, coverage);
    }
    let covered = [justification(&coverage, "D1.T"), justification(&coverage, "S1")];
    let justified = applied_at(SoftwareLevel::C, &coverage, &covered);
    assert!(
        justified.rejected.iter().all(|reason| reason
            .as_ref()
            .unwrap()
            .reason()
            .contains("not needed"))
    );
}

#[test]
fn the_same_person_may_approve_at_level_c() {
    let coverage = assessed(&structure(), &presence(), &[FULL, &[(1, "F-")]]);
    let mut given = justification(&coverage, "D1.C2.masking");
    given.approver = given.author.clone();
    let justified = applied_at(SoftwareLevel::C, &coverage, &[given]);
    assert_eq!(justified.rejected, [None]);
}

/// Each class with what its statement needs, of an outcome and of a statement that no test shows.
#[test]
fn what_each_class_closes() {
    let coverage = assessed(&structure(), &presence(), &[&[(1, "F-")]]);
    let rejection = |level: SoftwareLevel, obligation: &str, class: JustificationClass| {
        let mut given = justification(&coverage, obligation);
        given.class = class;
        given.category =
            (class == JustificationClass::Deactivated).then_some(DeactivationCategory::Never);
        given.means = (class == JustificationClass::Deactivated)
            .then(|| "The host has no such mode.".to_owned());
        given.argument =
            (class == JustificationClass::Infeasible).then(|| "k is above x.".to_owned());
        let justified = applied_at(level, &coverage, &[given]);
        let status = |id: &str| {
            let all = justified
                .coverage
                .statements
                .iter()
                .chain(&justified.coverage.decisions[0].outcomes);
            all.clone().find(|item| item.id.as_str() == id).unwrap().status
        };
        let rejected =
            justified.rejected[0].as_ref().map(|rejection| rejection.reason().to_owned());
        let expected = if rejected.is_none() { Status::Justified } else { Status::Uncovered };
        assert_eq!(status(obligation), expected, "{class} {obligation}: {rejected:?}");
        rejected.unwrap_or_default()
    };
    for class in [
        JustificationClass::MissingTest,
        JustificationClass::MissingRequirement,
        JustificationClass::Extraneous,
    ] {
        for level in [SoftwareLevel::A, SoftwareLevel::B, SoftwareLevel::C] {
            assert!(
                rejection(level, "D1.T", class).contains("it closes nothing"),
                "{class} at {level}"
            );
        }
        assert_eq!(rejection(SoftwareLevel::D, "D1.T", class), "", "{class}");
    }
    for class in [
        JustificationClass::Defensive,
        JustificationClass::Analysis,
        JustificationClass::Deactivated,
    ] {
        assert_eq!(
            (rejection(SoftwareLevel::A, "D1.T", class), rejection(SoftwareLevel::A, "S2", class)),
            (String::new(), String::new())
        );
    }
    assert_eq!(rejection(SoftwareLevel::A, "D1.T", JustificationClass::Infeasible), "");
    assert!(
        rejection(SoftwareLevel::D, "S2", JustificationClass::Infeasible).contains("S2 is code")
    );
    for obligation in ["D1.T", "S2"] {
        assert!(
            rejection(SoftwareLevel::D, obligation, JustificationClass::Dead)
                .contains("is to be removed")
        );
    }
}

#[test]
fn only_what_the_module_does_not_hold_is_dead() {
    let mut without_loop = presence();
    without_loop
        .markers
        .retain(|_, marker| marker.role != MarkerRole::Single { decision: DecisionId(2) });
    let coverage = assessed(&structure(), &without_loop, &[&[(1, "TT")]]);
    assert_eq!(
        coverage.decisions[1].outcomes[0].proposal.as_ref().map(|proposal| proposal.class),
        Some(JustificationClass::Dead)
    );
    let dead = |obligation: &str| {
        let given = Justification {
            class: JustificationClass::Dead,
            ..justification(&coverage, obligation)
        };
        let rejected = applied_at(SoftwareLevel::A, &coverage, &[given]).rejected.remove(0);
        rejected.map(|rejection| rejection.reason().to_owned())
    };
    for obligation in ["D2.T", "D2.F", "D2.C1.masking", "S3"] {
        assert_eq!(dead(obligation), None, "{obligation}");
    }
    assert!(dead("D1.F").unwrap().contains("D1.F is not shown to be absent"));
}

#[test]
fn what_a_class_states_belongs_to_it() {
    let coverage = assessed(&structure(), &presence(), &[&[(1, "F-")]]);
    let fault = |change: fn(&mut Justification)| {
        let mut given = justification(&coverage, "D1.T");
        change(&mut given);
        applied_at(SoftwareLevel::A, &coverage, &[given])
            .rejected
            .remove(0)
            .unwrap()
            .reason()
            .to_owned()
    };
    type Change = fn(&mut Justification);
    let wrong: [(Change, &str); 6] = [
        (|j| j.class = JustificationClass::Infeasible, "class infeasible states `argument`"),
        (|j| j.class = JustificationClass::Deactivated, "class deactivated states `category`"),
        (
            |j| {
                j.class = JustificationClass::Deactivated;
                j.category = Some(DeactivationCategory::Never);
                j.means = Some(" ".to_owned());
            },
            "class deactivated states `means`",
        ),
        (|j| j.category = Some(DeactivationCategory::Never), "class defensive has no `category`"),
        (|j| j.means = Some("a switch".to_owned()), "class defensive has no `means`"),
        (|j| j.argument = Some("a proof".to_owned()), "class defensive has no `argument`"),
    ];
    for (change, told) in wrong {
        assert!(fault(change).starts_with(told), "{}", fault(change));
    }
}

/// Everything that a justification is bound to changes its hash, by itself.
#[test]
fn hashes_are_over_all_that_a_justification_is_bound_to() {
    let coverage = assessed(&structure(), &presence(), &[FULL]);
    let hash_in = |bound: &Bound, code: &str, configurations: &[BoundConfiguration]| {
        let kernel = BoundKernel { code, configurations, ..bound.kernel() };
        BoundContents::from_coverage(kernel, &coverage).content_hash_of(&"S3".into()).unwrap()
    };
    let plain = hash_in(&Bound::new(), "c0de", &[]);
    assert_eq!(plain, hash_in(&Bound::new(), "c0de", &[]));
    let configuration = |bits: &str| {
        let constant = SpecializedConstant {
            id: 7,
            name: None,
            type_name: "uint32".to_owned(),
            value: "16".to_owned(),
            bits: bits.to_owned(),
            default: false,
        };
        BoundConfiguration::from_configuration(&Configuration {
            specialization: vec![constant],
            ..Default::default()
        })
    };
    let changed = |change: fn(&mut Bound)| {
        let mut bound = Bound::new();
        change(&mut bound);
        hash_in(&bound, "c0de", &[])
    };
    let others = [
        hash_in(&Bound::new(), "c0df", &[]),
        hash_in(&Bound::new(), "c0de", &[configuration("0x10")]),
        hash_in(&Bound::new(), "c0de", &[configuration("0x20")]),
        changed(|bound| bound.name = "other".into()),
        changed(|bound| bound.structure.functions[1].name = "other".to_owned()),
        // Another function of that name comes before it.
        changed(|bound| bound.structure.functions[0].name = "main".to_owned()),
        changed(|bound| {
            let text = &mut bound.structure.files[0].text;
            *text = text.replace("r += a[i];", "r -= a[i];");
        }),
    ];
    let all: std::collections::BTreeSet<&String> = others.iter().chain([&plain]).collect();
    assert_eq!(all.len(), others.len() + 1);
    // The number among equals, and how many there are.
    let numbered = |texts: [&str; 4]| {
        let mut bound = Bound::new();
        bound.structure.files[0].text = texts.concat();
        let (mut at, mut spans) = (0, Vec::new());
        for text in texts {
            spans.push(Span { file: FileIndex(0), start: at, end: at + text.len() as u32 });
            at += text.len() as u32;
        }
        let simple = |(index, span): (usize, &Span)| Statement {
            id: Some(StatementId(index as u32 + 1)),
            span: *span,
            kind: StatementKind::Simple,
            expansion: Vec::new(),
        };
        bound.structure.functions[1].body = Block(spans.iter().enumerate().map(simple).collect());
        hash_in(&bound, "c0de", &[])
    };
    let places: std::collections::BTreeSet<String> = [
        numbered(["a();", "b();", "x();", "c();"]),
        numbered(["x();", "b();", "x();", "c();"]),
        numbered(["a();", "b();", "x();", "x();"]),
        numbered(["x();", "b();", "x();", "x();"]),
    ]
    .into();
    assert_eq!(places.len(), 4);
}
