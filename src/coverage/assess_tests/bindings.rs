//! What justifications of all kinds of obligations are bound to, and what they close.

use super::lists::{OBLIGATIONS, States, coverage_in, open_states, states_of};
use super::source::Kernel;
use super::*;
use crate::coupling::{PairRecords, assess_kernel_pairs};
use vkcert_model::evidence::FIRST_SCHEMA;
use vkcert_model::object::{ObjectBranch, ObjectBranchKind, ObjectOrigin};
use vkcert_model::pair_obligation::KernelPairs;
use vkcert_model::place::Place;
use vkcert_model::project::SoftwareLevel;

const TEXT: &str = "void helper() {
  if (p) return;
  q = 1u;
  q = 1u;
}
void main() {
  switch (mode) {
  case 0u:
    helper();
    break;
  default:
    r = a && b;
  }
}
";

/// The hash of every obligation of a kernel by id.
fn hashes(kernel: &Kernel) -> BTreeMap<String, String> {
    let name = KernelName::from("k");
    let objects = ObjectStructure::default();
    let bound = BoundKernel {
        kernel: &name,
        structure: Some(&kernel.structure),
        objects: &objects,
        pairs: None,
        code: "c0de",
        configurations: &[],
    };
    let coverage = kernel.assessed(&[]).0;
    let contents = BoundContents::from_coverage(bound, &coverage);
    let texts = crate::justification::displayed_texts(&coverage);
    texts.keys().map(|id| (id.to_string(), contents.content_hash_of(id).unwrap())).collect()
}

/// Ids whose hashes differ between two kernels with the same obligations.
fn changed(one: &Kernel, other: &Kernel) -> Vec<String> {
    let (one, other) = (hashes(one), hashes(other));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    one.into_iter().filter(|(id, hash)| other[id] != *hash).map(|(id, _)| id).collect()
}

#[test]
fn every_obligation_has_a_hash_of_its_own() {
    let hashes = hashes(&Kernel::of_text(TEXT));
    let distinct: std::collections::BTreeSet<&String> = hashes.values().collect();
    // Functions, their statements and points, labels, outcomes, effects and vectors.
    assert_eq!((hashes.len(), distinct.len()), (2 + 8 + 5 + 2 + 4 + 6 + 5, hashes.len()));
    assert!(hashes.values().all(|hash| hash.starts_with("sha256:")));
}

#[test]
fn text_that_only_moves_changes_no_hash() {
    let moved = format!("\n\n{}", TEXT.replace("\n  ", "\n\t\n      "));
    assert_eq!(changed(&Kernel::of_text(TEXT), &Kernel::of_text(&moved)), [""; 0]);
}

#[test]
fn a_change_changes_what_it_is_a_part_of() {
    let of_helper = [
        "D1.C1.masking",
        "D1.C1.unique-cause",
        "D1.F",
        "D1.T",
        "D1.V.F",
        "D1.V.T",
        "F1.X1",
        "F1.X2",
        "F1.entry",
        "S1",
        "S2",
        "S3",
        "S4",
    ];
    let of_decision = [
        "D2.C1.masking",
        "D2.C1.unique-cause",
        "D2.C2.masking",
        "D2.C2.unique-cause",
        "D2.F",
        "D2.T",
        "D2.V.F-",
        "D2.V.TF",
        "D2.V.TT",
    ];
    let mut renamed = of_helper.to_vec();
    renamed.push("S6");
    for (from, to, functions, expected) in [
        ("helper", "other", &["F1", "F2"][..], renamed),
        ("q = 1u;\n  q = 1u;", "q = 1u;\n  q = 2u;", &["F1"], vec!["S3", "S4"]),
        ("(p)", "(n)", &["F1"], [&of_helper[..6], &["S1"]].concat()),
        ("switch (mode)", "switch (kind)", &["F2"], vec!["S5", "W1.L1", "W1.L2"]),
        ("case 0u", "case 1u", &["F2"], vec!["W1.L1"]),
        // The text of a decision is a part of the text of each of its conditions.
        ("a && b", "a && c", &["F2"], [&of_decision[..], &["S8"]].concat()),
        ("r = a", "s = a", &["F2"], vec!["S8"]),
    ] {
        let found = changed(&Kernel::of_text(TEXT), &Kernel::of_text(&TEXT.replace(from, to)));
        let is_function = |id: &String| id.parse::<FunctionId>().is_ok();
        let (of_functions, found): (Vec<_>, Vec<_>) = found.into_iter().partition(is_function);
        assert_eq!(of_functions, functions, "{from} to {to}");
        assert_eq!(found, expected, "{from} to {to}");
    }
    // Uses of macros, of a statement and of a decision.
    let mut expanded = Kernel::of_text(TEXT);
    let site = Span { file: FileIndex(0), start: 5, end: 11 };
    let use_of = |name: &str| vec![Expansion { macro_name: name.to_owned(), site }];
    expanded.structure.functions[0].body.0[1].expansion = use_of("ONE");
    expanded.structure.decisions[1].expansion = use_of("BOTH");
    let expected = [&of_decision[..], &["S3", "S4"]].concat();
    // The second of two equal statements is now the only one of its text and uses, and numbered so.
    let found = changed(&Kernel::of_text(TEXT), &expanded);
    assert!(found == expected || found == [&of_decision[..], &["S3"]].concat(), "{found:?}");
    let mut other = Kernel::of_text(TEXT);
    other.structure.functions[0].body.0[1].expansion = use_of("OTHER");
    other.structure.decisions[1].expansion = use_of("BOTH");
    assert_eq!(changed(&expanded, &other), ["S3"]);
}

#[test]
fn functions_of_one_name_are_numbered() {
    let text = "void f() { a = 1u; }\nvoid f() { a = 1u; }\nvoid main() { if (c) b = 1u; }\n";
    let kernel = Kernel::of_text(text);
    let all = hashes(&kernel);
    let distinct: std::collections::BTreeSet<&String> = all.values().collect();
    assert_eq!(distinct.len(), all.len());
    // Without the first, the second is the first.
    let alone = hashes(&Kernel::of_text(&text["void f() { a = 1u; }\n".len()..]));
    assert_eq!(alone.len(), all.len() - 4);
    let mut main = Kernel::of_text(text);
    main.structure.functions[1].name = "g".to_owned();
    assert_eq!(changed(&kernel, &main), ["F2", "F2.X1", "F2.entry", "S2"]);
    // A decision at file level, or of a function that is not listed, is of no function.
    let mut at_file_level = Kernel::of_text(text);
    at_file_level.structure.decisions[0].function = None;
    let of_decision = ["D1.C1.masking", "D1.C1.unique-cause", "D1.F", "D1.T", "D1.V.F", "D1.V.T"];
    assert_eq!(changed(&kernel, &at_file_level), of_decision);
    let mut unlisted = Kernel::of_text(text);
    unlisted.structure.decisions[0].function = Some(FunctionId(9));
    assert_eq!(changed(&at_file_level, &unlisted), [""; 0]);
}

/// Branches of object code are bound to their function in the module; without source all that is
/// displayed is.
#[test]
fn object_code_and_kernels_without_source_are_bound_to_what_is_displayed() {
    let coverage = coverage_in(&open_states());
    let name = KernelName::from("k");
    let hash_in = |function: &str, structure: Option<&KernelStructure>, id: &str| {
        let place = Place { function: Some(function.to_owned()), ..Place::default() };
        let branch = |number: u32| ObjectBranch {
            id: vkcert_model::id::ObjectBranchId(number),
            kind: ObjectBranchKind::Conditional,
            place: place.clone(),
            outcomes: Vec::new(),
            origin: ObjectOrigin::NoSource,
        };
        let objects = ObjectStructure { branches: vec![branch(2)], ..ObjectStructure::default() };
        let bound = BoundKernel {
            kernel: &name,
            structure,
            objects: &objects,
            pairs: None,
            code: "c0de",
            configurations: &[],
        };
        BoundContents::from_coverage(bound, &coverage).content_hash_of(&id.into())
    };
    assert_ne!(hash_in("main", None, "B2.T"), hash_in("other", None, "B2.T"));
    assert_eq!(hash_in("main", None, "B1.T"), hash_in("other", None, "B1.T"));
    let structure = structure();
    assert_eq!(hash_in("main", None, "BAR1"), hash_in("main", Some(&structure), "BAR1"));
    assert_ne!(hash_in("main", None, "S1"), hash_in("main", Some(&structure), "S1"));
    assert_eq!(hash_in("main", None, "S9"), None);
}

/// A kernel that reads what another one left.
fn pairs_with_earlier(hash: &str) -> KernelPairs {
    let place = |kernel: Option<&str>| {
        serde_json::json!({ "kernel": kernel, "file": "k.comp", "line": 3, "column": 5,
            "function": "main", "instruction": 7, "text": "a[i] = 2u;" })
    };
    serde_json::from_value(serde_json::json!({
        "obligations": [{ "id": "P1", "class": "kernel-to-kernel", "object": "a[]",
            "definition": place(Some("w")), "use": place(None),
            "pairs": [{ "use": 9, "passage": { "kind": "dispatch", "kernel": "w",
                "specialization": 1, "store": 4 } }] }],
        "earlier_kernels": { "w": hash },
    }))
    .unwrap()
}

fn hash_of_pair(pairs: &KernelPairs) -> String {
    let rows = assess_kernel_pairs("k.comp", pairs, PairRecords::Kept, &[]);
    let coverage = KernelCoverage { coupling: Some(rows), ..KernelCoverage::default() };
    with_bound(&"k".into(), |bound| {
        let bound = BoundKernel { pairs: Some(pairs), ..bound };
        BoundContents::from_coverage(bound, &coverage).content_hash_of(&"P1".into()).unwrap()
    })
}

#[test]
fn a_pair_is_bound_to_the_statement_and_code_of_the_earlier_kernel() {
    let pairs = pairs_with_earlier("sha256:1");
    assert_eq!(hash_of_pair(&pairs), hash_of_pair(&pairs_with_earlier("sha256:1")));
    assert_ne!(hash_of_pair(&pairs), hash_of_pair(&pairs_with_earlier("sha256:2")));
    let mut other_statement = pairs.clone();
    let definition = other_statement.obligations[0].definition.as_mut().unwrap();
    definition.text = "a[i] = 3u;".to_owned();
    assert_ne!(hash_of_pair(&pairs), hash_of_pair(&other_statement));
}

#[test]
fn pairs_that_are_not_known_cannot_be_justified() {
    let pairs = KernelPairs { unknown: Some("too many".to_owned()), ..KernelPairs::default() };
    let rows = assess_kernel_pairs("k.comp", &pairs, PairRecords::Kept, &[]);
    let coverage = KernelCoverage { coupling: Some(rows), ..KernelCoverage::default() };
    let standard = JustificationStandard::for_level(SoftwareLevel::C, EVIDENCE_SCHEMA);
    let name = KernelName::from("k");
    // Nothing can be signed: there is no hash of it.
    let mut justification = justification_of("P1", JustificationClass::Infeasible);
    justification.hash = "sha256:0".to_owned();
    let given = [GivenJustification { justification: &justification, refuted: None }];
    let justified = with_bound(&name, |bound| {
        let bound = BoundKernel { pairs: Some(&pairs), ..bound };
        assert_eq!(
            BoundContents::from_coverage(bound, &coverage).content_hash_of(&"P1".into()),
            None
        );
        apply_justifications(bound, &coverage, &given, &standard)
    });
    let reason = justified.rejected[0].as_ref().expect("a rejection").reason();
    assert!(reason.starts_with("P1 stands for all that passes, which is not known"), "{reason}");
    assert_eq!(justified.coverage.coupling.unwrap()[0].status, Status::Undetermined);
}

fn signed(
    id: &str,
    class: JustificationClass,
    coverage: &KernelCoverage,
    standard: &JustificationStandard,
) -> Justification {
    let subject = ObligationId::from(id);
    let name = KernelName::from("k");
    let hash = match standard.binding {
        crate::justification::HashBinding::Content => with_bound(&name, |bound| {
            BoundContents::from_coverage(bound, coverage).content_hash_of(&subject).unwrap()
        }),
        crate::justification::HashBinding::DisplayedText => {
            let text = &crate::justification::displayed_texts(coverage)[&subject];
            vkcert_model::canonical::content_hash(format!("k\n{id}\n{text}\n").as_bytes())
        }
    };
    Justification { hash, ..justification_of(id, class) }
}

/// Without a hash.
fn justification_of(id: &str, class: JustificationClass) -> Justification {
    Justification {
        kernel: KernelName::from("k"),
        subject: JustificationSubject::Obligation(ObligationId::from(id)),
        configuration: None,
        class,
        reason: "No input does it.".to_owned(),
        category: (class == JustificationClass::Deactivated).then_some(DeactivationCategory::Never),
        means: (class == JustificationClass::Deactivated).then(|| "A switch.".to_owned()),
        argument: (class == JustificationClass::Infeasible).then(|| "A proof.".to_owned()),
        author: "A. Author".to_owned(),
        approver: "R. Reviewer".to_owned(),
        date: None,
        hash: String::new(),
    }
}

fn with_bound<T>(name: &KernelName, look: impl FnOnce(BoundKernel) -> T) -> T {
    let objects = ObjectStructure::default();
    look(BoundKernel {
        kernel: name,
        structure: None,
        objects: &objects,
        pairs: None,
        code: "c0de",
        configurations: &[],
    })
}

fn applied(
    given: &[GivenJustification],
    coverage: &KernelCoverage,
    standard: &JustificationStandard,
) -> (States, Vec<Option<String>>) {
    let name = KernelName::from("k");
    let justified =
        with_bound(&name, |bound| apply_justifications(bound, coverage, given, standard));
    let summary = crate::criteria::criterion_summaries(&justified.coverage);
    assert_eq!(justified.coverage.summary, summary);
    let rejected = justified.rejected.iter();
    let rejected = rejected.map(|it| it.as_ref().map(|rejection| rejection.reason().to_owned()));
    (states_of(&justified.coverage), rejected.collect())
}

/// Obligations of every list, by a class that closes any of them and by one that code is not.
#[test]
fn a_justification_closes_the_one_obligation_that_it_names() {
    let coverage = coverage_in(&open_states());
    let standard = JustificationStandard::for_level(SoftwareLevel::A, EVIDENCE_SCHEMA);
    for id in OBLIGATIONS.iter().flat_map(|(_, ids)| *ids) {
        let given = |class| {
            let justification = signed(id, class, &coverage, &standard);
            applied(
                &[GivenJustification { justification: &justification, refuted: None }],
                &coverage,
                &standard,
            )
        };
        let (states, rejected) = given(JustificationClass::Defensive);
        assert_eq!(rejected, [None], "{id}");
        let mut expected = open_states();
        let state = expected.get_mut(*id).unwrap();
        state.status = Status::Justified;
        let sentence = "defensive code: No input does it. (author A. Author, approver R. Reviewer)";
        state.reason = Some(sentence.to_owned());
        assert_eq!(states, expected, "{id}");
        let (_, rejected) = given(JustificationClass::Infeasible);
        let is_code = ["S", "F", "BAR", "CALL"].iter().any(|start| id.starts_with(start));
        let told = rejected[0].as_deref().unwrap_or_default();
        assert_eq!(told.starts_with(&format!("{id} is code: infeasible is for")), is_code, "{id}");
        // Nothing shows that the module lacks it.
        let (_, rejected) = given(JustificationClass::Dead);
        let told = rejected[0].clone().unwrap();
        let expected = match id.starts_with('B') {
            true => format!("the production module holds {id}; "),
            false => format!("{id} is not shown to be absent from the production module; "),
        };
        assert!(told.starts_with(&expected), "{told}");
    }
}

#[test]
fn what_the_production_module_branches_on_is_not_dead() {
    let mut coverage = coverage_in(&open_states());
    let proposal = |class| {
        Some(vkcert_model::coverage::Proposal { class, reason: "no code generated".to_owned() })
    };
    coverage.decisions[0].outcomes[0].proposal = proposal(JustificationClass::Dead);
    coverage.decisions[0].outcomes[1].proposal = proposal(JustificationClass::Infeasible);
    let standard = JustificationStandard::for_level(SoftwareLevel::A, EVIDENCE_SCHEMA);
    let fault = |id: &str, origin: ObjectOrigin| {
        let justification = signed(id, JustificationClass::Dead, &coverage, &standard);
        let name = KernelName::from("k");
        let branch = ObjectBranch {
            id: vkcert_model::id::ObjectBranchId(4),
            kind: ObjectBranchKind::Select,
            place: Place::default(),
            outcomes: Vec::new(),
            origin,
        };
        let objects = ObjectStructure { branches: vec![branch], ..ObjectStructure::default() };
        let given = [GivenJustification { justification: &justification, refuted: None }];
        let justified = with_bound(&name, |bound| {
            apply_justifications(
                BoundKernel { objects: &objects, ..bound },
                &coverage,
                &given,
                &standard,
            )
        });
        justified.rejected[0].as_ref().map(|rejection| rejection.reason().to_owned())
    };
    let of = |number: u32| ObjectOrigin::Decisions(vec![DecisionId(7), DecisionId(number)]);
    let held =
        "the production module holds B4 of it; dead code that is in the module is to be removed";
    assert_eq!(fault("D1.T", of(1)).as_deref(), Some(held));
    assert_eq!(fault("D1.T", of(2)), None);
    assert_eq!(fault("D1.T", ObjectOrigin::NoSource), None);
    assert!(fault("D1.F", of(2)).unwrap().contains("is not shown to be absent"));
}

#[test]
fn rejections_come_in_the_order_of_what_is_wrong() {
    let coverage = coverage_in(&open_states());
    let standard = JustificationStandard::for_level(SoftwareLevel::A, EVIDENCE_SCHEMA);
    let honest = signed("D1.T", JustificationClass::Defensive, &coverage, &standard);
    let rejected = |given: &[(&Justification, Option<&str>)]| {
        let given: Vec<GivenJustification> = given
            .iter()
            .map(|(justification, refuted)| GivenJustification {
                justification,
                refuted: refuted.map(str::to_owned),
            })
            .collect();
        applied(&given, &coverage, &standard).1
    };
    let told = |sentence: &str| Some(sentence.to_owned());
    assert_eq!(
        rejected(&[(&honest, None), (&honest, None)]),
        [None, told("D1.T is justified twice")]
    );
    assert_eq!(rejected(&[(&honest, Some("shown")), (&honest, None)]), [told("shown"), None]);
    let unknown = Justification {
        subject: JustificationSubject::Obligation("D9.T".into()),
        ..honest.clone()
    };
    assert_eq!(rejected(&[(&unknown, Some("shown"))]), [told("k has no obligation D9.T")]);
    let stale =
        Justification { hash: "sha256:0".to_owned(), author: String::new(), ..honest.clone() };
    let sentence = format!(
        "stale: D1.T or the code or configuration of its kernel is not what was signed for; it is now `D1.T` with hash {}",
        honest.hash
    );
    assert_eq!(rejected(&[(&stale, None)]), [Some(sentence)]);
    assert_eq!(rejected(&[(&stale, Some("shown"))]), [told("shown")]);
    // Of another kernel, or of a finding: not looked at.
    let other = Justification { kernel: "other".into(), ..stale.clone() };
    let finding = Justification { subject: JustificationSubject::Finding("f".into()), ..stale };
    assert_eq!(rejected(&[(&other, Some("shown")), (&finding, None)]), [None, None]);
}

#[test]
fn the_first_format_binds_to_texts_and_accepts_every_class() {
    let coverage = coverage_in(&open_states());
    let standard = JustificationStandard::for_level(SoftwareLevel::A, FIRST_SCHEMA);
    for (class, words) in [
        (JustificationClass::MissingTest, "missing test"),
        (JustificationClass::MissingRequirement, "missing requirement"),
        (JustificationClass::Extraneous, "extraneous code"),
        (JustificationClass::Dead, "dead code"),
        (JustificationClass::Defensive, "defensive code"),
        (JustificationClass::Analysis, "analysis"),
        (JustificationClass::Deactivated, "deactivated code (never)"),
        (JustificationClass::Infeasible, "infeasible"),
    ] {
        for id in ["S1", "D1.C2.masking", "D1.V.TF"] {
            let justification = signed(id, class, &coverage, &standard);
            let given = [GivenJustification { justification: &justification, refuted: None }];
            let (states, rejected) = applied(&given, &coverage, &standard);
            assert_eq!(rejected, [None]);
            let means =
                if class == JustificationClass::Deactivated { " Means: A switch." } else { "" };
            let argument =
                if class == JustificationClass::Infeasible { " Argument: A proof." } else { "" };
            let sentence = format!(
                "{words}: No input does it.{means}{argument} (author A. Author, approver R. Reviewer)"
            );
            assert_eq!(states[id].reason, Some(sentence));
        }
    }
    let mut stale = signed("D1.C2.masking", JustificationClass::Defensive, &coverage, &standard);
    stale.hash = "sha256:0".to_owned();
    let given = [GivenJustification { justification: &stale, refuted: None }];
    let reason = applied(&given, &coverage, &standard).1.remove(0).unwrap();
    let start = "stale: D1.C2.masking is not what was signed for; it is now `x < k && y < m / y < m` with hash sha256:";
    assert!(reason.starts_with(start), "{reason}");
}
