//! Chapters of the document.

use super::contents_tests::with_contents;
use super::document::{Table, Text};
use super::tests::{document_text, rendered, tables, terminal, whole_text, with_open_statements};
use super::*;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::coupling_summary::{CoupledObject, CouplingClassSummary, ObligationCounts};
use vkcert_model::coverage::{ConditionMcdc, SimpleObligation, Status};
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::CodePlace;
use vkcert_model::pair_obligation::CouplingClass;
use vkcert_model::verdict::EngineName;
use vkcert_sample as sample;

/// Shares are counted from rows that the sample's lists hold; the document prints numerator and
/// denominator.
#[test]
fn an_uncovered_condition_is_listed_as_open_with_its_decision() {
    let evidence = sample::evidence();
    let open = facts::uncovered_obligations(&evidence);
    let condition = open.iter().find(|item| item.obligation == "D2.C2").unwrap();
    assert_eq!(condition.unit.kernel.as_str(), "matmul_naive");
    assert_eq!(condition.engine, vkcert_model::verdict::EngineName::Vulkan);
    assert!(condition.reason.contains("D2.C2"));
    let counted: u32 = evidence
        .kernels
        .iter()
        .flat_map(|kernel| &kernel.coverage.summary)
        .map(|summary| {
            if facts::is_asked_for(&evidence, &summary.criterion) {
                summary.uncovered + summary.undetermined
            } else {
                0
            }
        })
        .sum();
    // An outcome is an obligation of branch and of decision coverage, and is listed once.
    let twice = open.iter().filter(|item| item.criterion == CriterionName::Branch).count();
    assert_eq!(open.len() + twice, counted as usize);
}

#[test]
fn many_uncovered_obligations_are_grouped_by_reason_and_none_is_left_out() {
    let text = |evidence: &Evidence| {
        document_text(&super::chapter::report_document(evidence, DocumentName::All, None).unwrap())
    };
    let few = text(&with_open_statements(10));
    assert!(
        few.contains("Uncovered in kernel") && !few.contains("by reason; each stands"),
        "{few}"
    );
    let evidence = with_open_statements(900);
    let open = facts::uncovered_obligations(&evidence).len();
    let many = text(&evidence);
    assert!(
        many.contains("by reason; each stands with its place in the kernel's chapter"),
        "{many}"
    );
    assert!(many.contains(&format!("{open} obligations of the criteria asked for")), "{many}");
    let first = evidence.kernels[0].coverage.statements.len() - 899;
    let last = evidence.kernels[0].coverage.statements.len();
    assert!(many.contains(&format!("S{first}–S{last}")), "{many}");
    // Each with its place in the kernel's chapter.
    assert!((first..=last).all(|number| many.lines().any(|line| line == format!("S{number}"))));
}

/// Those of criteria that projects ask for, too.
#[test]
fn every_kind_of_obligation_stands_in_the_chapter_of_its_kernel() {
    let mut evidence = sample::evidence();
    let kernel = &mut evidence.kernels[0];
    let open_item = |id: &str| SimpleObligation {
        id: id.into(),
        status: Status::Uncovered,
        ..kernel.coverage.statements[0].clone()
    };
    let open_items = ["F1", "C1", "L1.0", "B1"].map(open_item);
    let [function, call, loop_boundary, barrier] = open_items.map(|item| vec![item]);
    let coverage = &mut kernel.coverage;
    (coverage.functions, coverage.calls) = (Some(function), Some(call));
    (coverage.loops, coverage.barriers) = (Some(loop_boundary), barrier);
    let text = whole_text(&evidence);
    for (title, id) in
        [("Functions", "F1"), ("Calls", "C1"), ("Loop boundaries", "L1.0"), ("Barriers", "B1")]
    {
        assert!(text.lines().any(|line| line == title), "{title}");
        assert!(text.lines().filter(|line| *line == id).count() > 0, "{id}: {text}");
    }
    assert!(!whole_text(&sample::evidence()).lines().any(|line| line == "Loop boundaries"));
}

#[test]
fn records_that_do_not_count_are_told_of_every_engine_under_a_heading_of_their_own() {
    let mut evidence = sample::evidence();
    for kernel in &mut evidence.kernels {
        kernel.records.iter_mut().for_each(|records| records.counted = false);
    }
    let text = whole_text(&evidence);
    for engine in ["sequential", "vulkan"] {
        assert!(text.contains(&format!("Records on {engine} that do not count")), "{text}");
    }
    let place = text.find("that do not count").unwrap();
    assert!(
        text[..place].ends_with("What counts for nothing\nRecords on sequential "),
        "{}",
        &text[place - 200..place]
    );
}

#[test]
fn what_a_test_judges_stands_in_its_section() {
    let text = whole_text(&sample::evidence());
    assert!(text.contains("Expected: "), "{text}");
    assert!(text.contains("Runs, sequential: "), "{text}");
    assert!(text.contains("tolerance: ") || text.contains("completing is a pass"), "{text}");
}

/// Only vectors of passed tests are in evidence: another test may show what is missing.
#[test]
fn what_no_passed_test_shows_is_not_said_to_be_shown_by_none() {
    let text = whole_text(&sample::evidence());
    assert!(!text.contains(": no test shows that"), "{text}");
}

#[test]
fn a_document_without_hash_is_told_where_its_record_is_accepted() {
    use vkcert_model::evidence::RecordEvidence;
    use vkcert_model::requirement::{VerificationMethod, VerificationRecord};
    let mut evidence = sample::evidence();
    let record = VerificationRecord {
        requirement: evidence.campaign.requirements[0].requirement.uid,
        document: "nowhere.pdf".to_owned(),
        section: "3".to_owned(),
        author: "A".to_owned(),
        reviewer: "B".to_owned(),
        hash: String::new(),
    };
    let row = RecordEvidence {
        method: VerificationMethod::Analysis,
        record,
        file: "r.toml".to_owned(),
        rejected: None,
    };
    assert!(!whole_text(&evidence).contains("pinned by"));
    evidence.campaign.records = vec![row];
    let text = whole_text(&evidence);
    assert!(
        text.contains("1 accepted record of analysis and review: no document is pinned by a hash"),
        "{text}"
    );
    assert!(text.contains("pinned by no hash (1 of 1 records)"), "{text}");
}

/// Page 1 says so; what nobody asked for is no defect in any table of shares.
#[test]
fn shares_that_nobody_asked_for_are_no_defect_in_any_chapter() {
    use super::document::Tone;
    let evidence = sample::evidence();
    let document = super::chapter::report_document(&evidence, DocumentName::All, None).unwrap();
    let words = |text: &super::document::Text| {
        text.0.iter().map(|run| run.text.as_str()).collect::<String>()
    };
    let mut seen = 0;
    for table in tables(&document.body).into_iter().chain(tables(&document.front)) {
        let titles: Vec<String> = table.columns.iter().map(|column| words(&column.title)).collect();
        for row in &table.rows {
            let of_row = words(&row[0]).ends_with("(not asked for)");
            for (title, cell) in titles.iter().zip(row).skip(1) {
                if of_row || title.ends_with("(not asked for)") {
                    seen += 1;
                    assert!(
                        cell.0.iter().all(|run| run.tone != Tone::Bad),
                        "{title}: {}",
                        words(cell)
                    );
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// What is justified is not open, so that no vector is missing for it.
#[test]
fn vectors_that_would_complete_a_decision_are_told_where_something_is_open() {
    let mut evidence = sample::evidence();
    let told = |evidence: &Evidence| {
        whole_text(evidence).matches("A smallest set that completes masking MC/DC").count()
    };
    assert!(told(&evidence) > 0);
    // Of a decision in part: the vectors are those of all its conditions.
    let mut decisions =
        evidence.kernels.iter_mut().flat_map(|kernel| &mut kernel.coverage.decisions);
    let is_open = |mcdc: &&ConditionMcdc| mcdc.masking.status == Status::Uncovered;
    let two = decisions.find(|decision| decision.mcdc.iter().filter(is_open).count() == 2).unwrap();
    two.mcdc[0].masking.status = Status::Justified;
    let words = "; C1 is justified, and needs none of them";
    assert!(whole_text(&evidence).contains(words) && terminal(&evidence, 200).contains(words));
    for decision in evidence.kernels.iter_mut().flat_map(|kernel| &mut kernel.coverage.decisions) {
        for mcdc in decision.mcdc.iter_mut().filter(|mcdc| mcdc.masking.status == Status::Uncovered)
        {
            mcdc.masking.status = Status::Justified;
        }
    }
    assert_eq!(told(&evidence), 0);
}

/// The chapter on coupling names the kernels that it says nothing of.
#[test]
fn kernels_without_an_interface_are_named_in_the_chapter_on_coupling() {
    let text = whole_text(&sample::evidence());
    let name = sample::LONG_KERNEL;
    let sentence = format!(
        "Kernel {name} has no interface description: no coupling with the host was checked there."
    );
    assert!(text.contains(&sentence), "{text}");
}

/// Coverage of coupling of the first kernel on both engines, and of no other one.
fn with_coupling_classes() -> Evidence {
    let counts = |covered, total| ObligationCounts {
        total,
        covered,
        uncovered: total - covered,
        ..ObligationCounts::default()
    };
    let object =
        |name: Option<&str>, counts| CoupledObject { object: name.map(str::to_owned), counts };
    let classes = vec![
        CouplingClassSummary {
            class: CouplingClass::HostToKernel,
            counts: counts(2, 3),
            objects: vec![object(Some("Sizes.m"), counts(1, 2)), object(Some("a[]"), counts(1, 1))],
        },
        CouplingClassSummary {
            class: CouplingClass::Atomic,
            counts: counts(0, 1),
            objects: vec![object(None, counts(0, 1))],
        },
    ];
    let mut evidence = sample::evidence();
    let name = evidence.kernels[0].kernel;
    for kernel in evidence.kernels.iter_mut().filter(|row| row.kernel == name) {
        let rows = &kernel.coverage.statements[..1];
        kernel.coverage.coupling = Some(rows.to_vec());
        kernel.coverage.coupling_classes = classes.clone();
    }
    evidence
}

#[test]
fn coverage_of_coupling_stands_by_class_and_by_what_passes() {
    let evidence = with_coupling_classes();
    let by_class = rows_under(&evidence, "Coverage of coupling by class");
    // The device's row is left out: another engine tells.
    assert_eq!(by_class.len(), 1, "{by_class:?}");
    assert_eq!(
        by_class[0][1..5],
        ["2/3\u{a0}(66.6\u{a0}%)", "none", "none", "0/1\u{a0}(0.0\u{a0}%)"]
    );
    let by_object = rows_under(&evidence, "Coupling by class and by what passes");
    let told: Vec<String> = by_object.iter().map(|row| row.join(" | ")).collect();
    assert_eq!(
        told,
        [
            "Host to kernel | Sizes.m | 1/2\u{a0}(50.0\u{a0}%)",
            "Host to kernel | a[] | 1/1\u{a0}(100\u{a0}%)",
            "Host to kernel | all | 2/3\u{a0}(66.6\u{a0}%)",
            "Atomic | shown beside the obligations | 0/1\u{a0}(0.0\u{a0}%)",
        ]
    );
    assert!(!whole_text(&sample::evidence()).contains("Coverage of coupling by class"));
}

/// What one engine tells has no column of another one, which says once why it tells nothing.
#[test]
fn an_engine_that_tells_of_no_pairs_says_so_once() {
    let mut evidence = with_coupling_classes();
    let name = evidence.kernels[0].kernel;
    for kernel in evidence.kernels.iter_mut().filter(|row| row.kernel == name) {
        let (status, reason) = match kernel.engine {
            EngineName::Sequential => (Status::Uncovered, None),
            EngineName::Vulkan => (Status::Undetermined, Some("nobody looks".to_owned())),
        };
        let rows = kernel.coverage.coupling.iter_mut().flatten();
        rows.for_each(|row| (row.status, row.reason) = (status, reason.clone()));
        let mut justified = kernel.coverage.statements[0].clone();
        (justified.status, justified.reason) = (Status::Justified, Some("argued".to_owned()));
        justified.id = "P2".into();
        kernel.coverage.coupling.iter_mut().for_each(|rows| rows.push(justified.clone()));
    }
    let rows = rows_under(&evidence, "Coupling not covered");
    assert_eq!(rows.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4], "{rows:?}");
    let text = whole_text(&evidence);
    assert_eq!(text.matches("Undetermined on vulkan: nobody looks.").count(), 1, "{text}");
    assert_eq!(text.matches("nobody looks").count(), 1);
}

#[test]
fn no_cell_is_empty() {
    for evidence in [sample::evidence(), sample::flawless(), with_contents()] {
        let mut evidence = evidence;
        evidence.campaign.tests[0].title = None;
        let document = super::chapter::report_document(&evidence, DocumentName::All, None).unwrap();
        for table in tables(&document.front).into_iter().chain(tables(&document.body)) {
            for (number, row) in table.rows.iter().enumerate() {
                let empty =
                    row.iter().position(|cell| cell.0.iter().all(|run| run.text.is_empty()));
                assert_eq!(empty, None, "row {number} of {:?}", table.caption);
            }
        }
    }
}

/// The rows of the table whose caption begins so, cell by cell.
fn rows_under(evidence: &Evidence, caption_start: &str) -> Vec<Vec<String>> {
    let document = super::chapter::report_document(evidence, DocumentName::All, None).unwrap();
    let has_caption = |table: &&Table| {
        let caption = table.caption.as_ref();
        caption.is_some_and(|caption| caption.plain_words().starts_with(caption_start))
    };
    let rows = tables(&document.body).into_iter().filter(has_caption).flat_map(|table| &table.rows);
    rows.map(|row| row.iter().map(Text::plain_words).collect()).collect()
}

#[test]
fn a_node_tells_what_it_takes_from_others_and_the_code_on_both_sides() {
    let mut evidence = sample::evidence();
    let file = evidence.kernels[0].structure.files[0].clone();
    let place = CodePlace { file: file.path.clone(), line: 2 };
    let coupling = &mut evidence.campaign.coupling[0];
    assert_eq!(coupling.kernel, evidence.kernels[0].kernel);
    coupling.edges[1].places = vec![place];
    let line = file.text.lines().nth(1).unwrap().trim().to_owned();
    assert!(!line.is_empty());
    let expected = [
        ["m (parameter)", "none", "none"].map(str::to_owned),
        ["Sizes.m (push constant)", "m (data: stored at offset 0)", "none"].map(str::to_owned),
        [
            "D2: x < k && y < m (decision)".to_owned(),
            "Sizes.m (control: read by condition C2)".to_owned(),
            format!("{}:2 {line}", file.path),
        ],
    ];
    assert_eq!(rows_under(&evidence, "Nodes of"), expected);
}

/// The sample, the first test of which has contents of each form.
#[test]
fn all_places_call_coverage_that_follows_an_undefined_value_the_same() {
    let mut evidence = sample::evidence();
    evidence.campaign.agreement[1].coverage = AgreementOutcome::UndefinedValue;
    let text = whole_text(&evidence);
    assert!(text.contains("?\u{a0}follows an undefined value"), "{text}");
    assert!(text.contains("Follows an undefined value: what one engine alone recorded"), "{text}");
    for text in [text, terminal(&evidence, 200)] {
        assert!(text.contains("1 with coverage that follows an undefined value"), "{text}");
        assert!(!text.contains("1 different"), "{text}");
    }
}

#[test]
fn outputs_that_depend_on_an_undefined_value_are_said_not_to_be_compared() {
    let mut evidence = sample::evidence();
    let mut bounds = evidence.campaign.agreement.iter_mut().filter_map(|row| row.bounds.as_mut());
    let buffer = &mut bounds.next().unwrap().buffers[0];
    (buffer.undefined, buffer.worst_ulp) = (1, Some(2));
    let text = whole_text(&evidence);
    assert!(text.contains("?\u{a0}depends on an undefined value"), "{text}");
    assert!(text.contains("Nothing is said of what the device left there"), "{text}");
    let told = "buffer result: 1 element depends on an undefined value and was not compared (of an integer, the bits that do); \
                2 elements differ within the error bounds of the specification, by 2 ULP at most";
    assert!(text.contains(told), "{text}");
    // Nothing else differs, so that nothing is said of bounds.
    let mut bounds = evidence.campaign.agreement.iter_mut().filter_map(|row| row.bounds.as_mut());
    let buffer = &mut bounds.next().unwrap().buffers[0];
    (buffer.undefined, buffer.worst_ulp) = (3, None);
    let text = whole_text(&evidence);
    assert!(
        text.contains("buffer result: 3 elements depend on undefined values and were not compared"),
        "{text}"
    );
    assert!(
        !text.contains("within the error bounds") && !text.contains("Within-error-bounds"),
        "{text}"
    );
}

#[test]
fn a_justification_stands_with_place_text_and_date() {
    let evidence = sample::evidence();
    let text = whole_text(&evidence);
    let exit = text.find("F1.X2 of kernel").expect("the accepted one is listed");
    let rejected = text.find("S6 of kernel").expect("the rejected one is listed");
    let (exit, rejected) = (&text[exit..rejected], &text[rejected..]);
    assert!(exit.contains("\nDate: 2026-01-30\n"), "{exit}");
    assert!(exit.contains("\nPlace: ") && exit.contains("\nText: "), "{exit}");
    assert!(rejected.contains("\nDate: not stated\n"), "{rejected}");
}

#[test]
fn suspect_links_are_no_further_requirements() {
    let evidence = sample::evidence();
    for text in [whole_text(&evidence), terminal(&evidence, 200)] {
        assert!(text.contains(" with suspect links"), "{text}");
    }
}

/// Two uses of one macro give two calls the place and text of its definition.
#[test]
fn obligations_of_one_place_and_text_are_numbered() {
    let mut evidence = sample::evidence();
    evidence.campaign.project.criteria.push(CriterionName::Call.into());
    for kernel in &mut evidence.kernels {
        let of_macro = kernel.coverage.statements[0].clone();
        let call = |number: u32| SimpleObligation {
            id: format!("CALL{number}").into(),
            status: Status::Uncovered,
            tests: Vec::new(),
            text: "scaled(x)".to_owned(),
            line: of_macro.line + u32::from(number == 3),
            ..of_macro.clone()
        };
        kernel.coverage.calls = Some([1, 2, 3].map(call).into());
    }
    let open = facts::uncovered_obligations(&evidence);
    let calls = open.iter().filter(|item| item.criterion == CriterionName::Call);
    let texts: Vec<String> = calls.take(3).map(|item| item.shown_text().into_owned()).collect();
    let numbered = [1, 2].map(|number| format!("scaled(x) (occurrence {number} of 2)"));
    assert_eq!(texts, [&numbered[0], &numbered[1], "scaled(x)"]);
    let document = super::chapter::report_document(&evidence, DocumentName::All, None).unwrap();
    let sarif = String::from_utf8(rendered(&evidence, FormatName::Sarif)).unwrap();
    let caption = "Calls not covered on every engine";
    let tables = super::tests::tables(&document.body);
    let of_calls = |table: &&&super::document::Table| {
        table.caption.as_ref().is_some_and(|text| text.plain_words() == caption)
    };
    let table = tables.iter().find(of_calls).expect("a table of calls");
    let shown: Vec<String> = table.rows.iter().map(|row| row[2].plain_words()).collect();
    assert_eq!(shown, [&numbered[0], &numbered[1], "scaled(x)"]);
    for report in [document_text(&document), terminal(&evidence, 200), sarif] {
        numbered.iter().for_each(|text| assert!(report.contains(text), "{text} in {report}"));
    }
}
