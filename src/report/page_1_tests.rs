//! Page 1: the conclusion in few lines, what is signed for, shares.

use super::tests::rendered;
use super::*;
use vkcert_model::criterion::CriterionName;
use vkcert_model::id::KernelName;
use vkcert_model::reason::Reason;
use vkcert_model::verdict::EngineName;
use vkcert_model::verdict::Verdict;
use vkcert_sample as sample;

/// Whatever the sentences are: they are grouped by what is stored beside them.
#[test]
fn more_reasons_than_fit_are_told_by_kind() {
    let mut evidence = sample::evidence();
    let failed = |number: usize| Reason::RequirementFailed {
        requirement: format!("LLR-{number}").as_str().into(),
        children: Vec::new(),
    };
    let (check, message) = ("host-overflow".into(), "m * n".to_owned());
    let other = Reason::CouplingUndetermined { kernel: "k".into(), check, message };
    let items =
        evidence.campaign.open_items.iter().filter(|item| item.stands()).map(|item| item.reason());
    let reasons: Vec<Reason> = (0..40).map(failed).chain([other.clone()]).chain(items).collect();
    let conclusion = &mut evidence.campaign.conclusion;
    conclusion.grounds = reasons.iter().map(Reason::ground).collect();
    conclusion.reasons = reasons.iter().map(Reason::to_string).collect();
    for wording in ["requirement ", "is untested: the requirement "] {
        let conclusion = &mut evidence.campaign.conclusion;
        for sentence in conclusion.reasons.iter_mut().take(40) {
            *sentence = sentence.replacen("requirement ", wording, 1);
        }
        let brief = statement::brief_reasons(&evidence);
        assert!(!brief.whole);
        let together = "40 requirements are not met: LLR-0, LLR-1, LLR-2 and 37 more";
        let items = "2 open items: less than the level asks for, and not accepted";
        assert_eq!(brief.lines, [together, &other.to_string(), items]);
    }
    // Without what is stored beside them they are told one by one, as far as they fit.
    evidence.campaign.conclusion.grounds.clear();
    let brief = statement::brief_reasons(&evidence);
    assert!(
        brief.lines[0].contains("LLR-0 ") && brief.lines.last().unwrap().starts_with("… and "),
        "{brief:?}"
    );
}

/// Most are counted on one engine of a kernel; criteria that nobody asks for count nothing.
#[test]
fn the_title_counts_what_is_justified_once_and_what_is_accepted() {
    let mut evidence = sample::flawless();
    assert_eq!(statement::conclusion_title(&evidence).1, "All that was asked for holds");
    let mut device = evidence.campaign.conclusion.summary[0].clone();
    device.engine = EngineName::Vulkan;
    device
        .criteria
        .iter_mut()
        .find(|row| row.criterion == CriterionName::Decision)
        .unwrap()
        .justified = 2;
    let rows = &mut evidence.campaign.conclusion.summary;
    rows[0]
        .criteria
        .iter_mut()
        .find(|row| row.criterion == CriterionName::Statement)
        .unwrap()
        .justified = 1;
    rows[0]
        .criteria
        .iter_mut()
        .find(|row| row.criterion == CriterionName::Decision)
        .unwrap()
        .justified = 2;
    rows.push(device);
    assert_eq!(statement::justified_obligations(&evidence), 3);
    let mut other = evidence.campaign.conclusion.summary[0].clone();
    other.configuration = "other".to_owned();
    evidence.campaign.conclusion.summary.push(other);
    assert_eq!(
        statement::conclusion_title(&evidence).1,
        "All that was asked for holds, but for 6 justified obligations"
    );
    evidence.campaign.project.criteria.retain(|name| *name != CriterionName::Decision);
    assert_eq!(
        statement::conclusion_title(&evidence).1,
        "All that was asked for holds, but for 2 justified obligations"
    );
}

/// A kernel that only gives reference values is dispatched by no test; a test that did not run
/// dispatches nothing.
#[test]
fn a_kernel_that_no_test_dispatched_is_named() {
    let mut evidence = sample::flawless();
    assert_eq!(statement::never_run(&evidence), Vec::<&KernelName>::new());
    let mut reference = evidence.campaign.conclusion.summary[0].clone();
    reference.kernel = "reference".into();
    evidence.campaign.conclusion.summary.push(reference);
    let notes = statement::page_notes(&evidence);
    assert_eq!(
        notes[0],
        "Kernel reference was dispatched by no test that ran: no test shows what a dispatch does."
    );
    assert_eq!(statement::no_findings(&evidence).0, "none of the kinds looked for");
    for result in evidence.campaign.tests.iter_mut().flat_map(|test| &mut test.results) {
        result.verdict = Verdict::NotRun;
    }
    let kernel = evidence.kernels[0].kernel;
    let notes = statement::page_notes(&evidence);
    assert!(
        notes[0].starts_with(&format!("Kernels {kernel}, reference were dispatched by no test")),
        "{notes:?}"
    );
    assert_eq!(statement::no_findings(&evidence).0, "not looked for");
}

/// Four kernels on two engines, as many requirements and tests as the demonstration has, and notes.
fn four_kernels() -> Evidence {
    use vkcert_model::open_item::{CampaignNote, NoteKind};
    let mut evidence = sample::flawless();
    let both = sample::evidence().campaign.engines;
    let campaign = &mut evidence.campaign;
    let row = campaign.conclusion.summary[0].clone();
    let names = ["matmul_naive", "matmul_tiled", "histogram", "convolution"];
    let rows = names.iter().flat_map(|name| {
        both.iter().map(|engine| vkcert_model::evidence::KernelSummary {
            kernel: (*name).into(),
            engine: engine.engine,
            ..row.clone()
        })
    });
    campaign.conclusion.summary = rows.collect();
    campaign.engines = both;
    campaign.project.criteria.push(CriterionName::AdditionalCode.into());
    campaign.coupling = sample::evidence().campaign.coupling;
    campaign.agreement = sample::evidence().campaign.agreement;
    let sentence =
        "3 accepted records of analysis and review: no document is pinned by a hash, and none was read.".to_owned();
    campaign.notes = vec![CampaignNote { kind: NoteKind::LinksNotPinned, sentence }; 2];
    evidence
}

/// Pages of a PDF as text; none without poppler.
fn pages(evidence: &Evidence) -> Option<Vec<String>> {
    use std::io::Write as _;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&rendered(evidence, FormatName::Pdf)).unwrap();
    let output =
        std::process::Command::new("pdftotext").arg("-layout").arg(file.path()).arg("-").output();
    let Ok(output) = output else {
        eprintln!("skipped: pdftotext (poppler-utils) is not installed");
        return None;
    };
    Some(String::from_utf8(output.stdout).unwrap().split('\u{c}').map(str::to_owned).collect())
}

#[test]
fn page_1_is_one_page_with_shares_items_and_notes() {
    let contents_follow = |evidence: &Evidence| {
        let pages = pages(evidence)?;
        assert!(pages[1].contains("Contents\n"), "{}{}", pages[0], pages[1]);
        Some(pages.into_iter().next().unwrap_or_default())
    };
    let mut evidence = four_kernels();
    let Some(first) = contents_follow(&evidence) else { return };
    for word in [
        "matmul_tiled",
        "histogram",
        "convolution",
        "Agreement",
        "Coupling",
        "Additional code",
        "Uncovered",
    ] {
        assert!(first.contains(word), "{word}: {first}");
    }
    // With open items, one of them accepted, the shares of all kernels together.
    evidence.campaign.open_items = sample::evidence().campaign.open_items;
    let first = contents_follow(&evidence).unwrap();
    assert!(
        first.contains("accepted") && first.contains("of all obligations of all kernels"),
        "{first}"
    );
    // However many kernels there are.
    let row = evidence.campaign.conclusion.summary[0].clone();
    evidence.campaign.conclusion.summary = (0..60)
        .map(|number| vkcert_model::evidence::KernelSummary {
            kernel: format!("kernel_{number}").as_str().into(),
            ..row.clone()
        })
        .collect();
    assert!(contents_follow(&evidence).unwrap().contains("Statement 480/480"));
}
