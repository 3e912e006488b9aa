//! `vkcert report EVIDENCE`: stored evidence, rendered again.

use super::args::{Coloring, Common, OutputForm, Report};
use super::split_files::{self, SplitReport};
use super::{history, output, places};
use base64::Engine as _;
use std::ffi::OsStr;
use std::path::Path;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::Evidence;
use vkcert_model::exit::Exit;
use vkcert_report::{
    self as report_formats, Colour, DocumentName, FORMATS, FormatName, HTML_SPLIT_ABOVE, History,
    PDF_VOLUME_PAGES, PagedHtml, PdfVolumes, Places, Presentation, ReportError, Standing, Written,
    shell_word,
};
use vkcert_verification::{self as verify, DerivationExtent, Toolchain, Verification, VerifyError};

/// Problems told one by one.
const MOST_LISTED_PROBLEMS: usize = 10;

/// Renders one format to stdout or a file. Evidence that does not verify is refused, or stamped on
/// every page.
pub fn run_report<T: Toolchain>(
    common: &Common,
    report: &Report,
    toolchain: &T,
) -> Result<Exit, T::Error> {
    let format: FormatName = report
        .report_format
        .parse()
        .map_err(|error| usage_error(&error, "see `vkcert list formats`"))?;
    let document = document_of(report, format)?;
    if report.paper.is_some() && format != FormatName::Pdf {
        let message = "--paper goes with --report-format pdf alone";
        return Err(VerifyError::from(Diagnostic::new("usage", message)).into());
    }
    if report.html_split_above.is_some() && format != FormatName::Html {
        let message = "--html-split-above goes with --report-format html alone";
        return Err(VerifyError::from(Diagnostic::new("usage", message)).into());
    }
    if report.pdf_volume_pages.is_some() && format != FormatName::Pdf {
        let message = "--pdf-volume-pages goes with --report-format pdf alone";
        return Err(VerifyError::from(Diagnostic::new("usage", message)).into());
    }
    if report.history.is_some() {
        history::refuse_without_trend(format, document)?;
    }
    let (verification, stored) = verify::verify_folder(
        &report.evidence,
        &verify::VerificationOptions::default(),
        toolchain,
    )?;
    let unreadable_reason = stored
        .as_deref()
        .map_or_else(|| verification.problems.last().cloned(), verify::why_unreadable);
    if let Some(reason) = unreadable_reason {
        let diagnostic =
            Diagnostic::new("bad-evidence", format!("no report can be made: {reason}"));
        return Err(VerifyError::from(diagnostic).into());
    }
    let Some(stored) = stored else {
        return Err(VerifyError::tool("evidence without a problem is there").into());
    };
    let standing = report_standing(&verification);
    if matches!(standing, Standing::Unverified(_)) && !report.unverified {
        let instead = "`--unverified` renders all the same, with a stamp on every page";
        return Ok(refuse_unverified(common, &report.evidence, &verification, instead)?);
    }
    let presentation = Presentation {
        standing,
        history: history_of(report, &stored)?,
        document,
        paper: report.paper.map(Into::into),
        ..terminal_presentation(common, None, places::places_of_evidence(&report.evidence))
    };
    write_report(common, report, format, (&stored, &presentation))?;
    Ok(exit_of(&verification))
}

/// The stored runs beside that of the evidence, where they are asked for.
fn history_of(report: &Report, evidence: &Evidence) -> Result<Option<History>, VerifyError> {
    let Some(folder) = &report.history else { return Ok(None) };
    let found_runs = verify::find_runs(folder, &evidence.campaign.project.name, None)?;
    let history = found_runs.read_beside(evidence, Some(&report.evidence))?;
    history::tell_left_out(&history);
    Ok(Some(history))
}

/// Renders to stdout, to a file, or to an index with its pages.
fn write_report(
    common: &Common,
    report: &Report,
    format: FormatName,
    (evidence, presentation): (&Evidence, &Presentation),
) -> Result<(), VerifyError> {
    if let Some(parts) = split_report(report, format, evidence, presentation)? {
        let folder = parts.write_files(report.output.as_deref())?;
        if common.form() == OutputForm::Json {
            let mut document = json_document(report, format, &[]);
            let (folder, count) = (folder.display().to_string(), parts.other_count());
            document[parts.member()] = serde_json::json!({ "folder": folder, "files": count });
            output::print_text(&format!("{document:#}\n"))?;
        }
        return Ok(());
    }
    let bytes = report_formats::render(evidence, format, presentation).map_err(unrendered)?;
    match &report.output {
        Some(path) => {
            output::write_file(path, &bytes)?;
            split_files::remove_old_files(format, path)?;
        }
        None if common.form() == OutputForm::Text || format == FormatName::Json => {
            output::print_bytes(&bytes)?
        }
        None => {}
    }
    if common.form() == OutputForm::Json && (report.output.is_some() || format != FormatName::Json)
    {
        output::print_text(&format!("{:#}\n", json_document(report, format, &bytes)))?;
    }
    Ok(())
}

/// The report, where it is several files.
fn split_report<'e>(
    report: &Report,
    format: FormatName,
    evidence: &'e Evidence,
    presentation: &'e Presentation,
) -> Result<Option<SplitReport<'e>>, VerifyError> {
    let first_name = report.output.as_deref().and_then(Path::file_name);
    let parts = match format {
        FormatName::Html => {
            let split_above = report.html_split_above.unwrap_or(HTML_SPLIT_ABOVE);
            let first_name = first_name.unwrap_or(OsStr::new("report.html"));
            PagedHtml::of_report(evidence, presentation, split_above, first_name)
                .map(|pages| pages.map(|pages| SplitReport::Pages(Box::new(pages))))
        }
        FormatName::Pdf => {
            let most_pages = report.pdf_volume_pages.and_then(|pages| usize::try_from(pages).ok());
            let most_pages = most_pages.unwrap_or(PDF_VOLUME_PAGES);
            let first_name = first_name.unwrap_or(OsStr::new("report.pdf"));
            PdfVolumes::of_report(evidence, presentation, most_pages, first_name)
                .map(|volumes| volumes.map(|volumes| SplitReport::Volumes(Box::new(volumes))))
        }
        FormatName::Terminal
        | FormatName::Json
        | FormatName::Lcov
        | FormatName::Cobertura
        | FormatName::Junit
        | FormatName::Sarif
        | FormatName::Mutants => Ok(None),
    };
    parts.map_err(|error| VerifyError::tool(error.to_string()))
}

fn exit_of(verification: &Verification) -> Exit {
    if verification.holds() { Exit::Success } else { Exit::Failed }
}

fn unrendered(error: ReportError) -> VerifyError {
    match error {
        ReportError::NothingStored(_) => {
            usage_error(&error, "`vkcert certify --mutation` makes evidence with mutants")
        }
        ReportError::UnknownFormat { .. }
        | ReportError::UnknownDocument { .. }
        | ReportError::Json(_)
        | ReportError::Texts(_)
        | ReportError::Target(_)
        | ReportError::Font { .. }
        | ReportError::Pdf(_) => VerifyError::tool(error.to_string()),
    }
}

fn usage_error(error: &ReportError, hint: &str) -> VerifyError {
    VerifyError::from(Diagnostic::new("usage", error.to_string()).hint(hint))
}

/// The document asked for, which the format must be able to set.
fn document_of(report: &Report, format: FormatName) -> Result<DocumentName, VerifyError> {
    let Some(word) = &report.document else { return Ok(DocumentName::All) };
    let document =
        word.parse().map_err(|error| usage_error(&error, "see `vkcert list documents`"))?;
    if format.row().has_documents {
        return Ok(document);
    }
    let able = FORMATS.iter().filter(|row| row.has_documents).map(|row| row.word);
    let able: Vec<&str> = able.collect();
    let message = format!("--document goes with --report-format {} alone", able.join(" or "));
    Err(VerifyError::from(Diagnostic::new("usage", message)))
}

fn report_standing(verification: &Verification) -> Standing {
    match (verification.holds(), verification.extent) {
        (false, _) => Standing::Unverified(verification.problems.clone()),
        (true, DerivationExtent::Whole) => Standing::Verified,
        (true, DerivationExtent::WithoutModules | DerivationExtent::WithoutInputs) => {
            Standing::InPart(verification.not_derivable.clone())
        }
    }
}

/// Evidence that does not verify is not shown as if it did.
pub fn refuse_unverified(
    common: &Common,
    evidence_argument: &Path,
    verification: &Verification,
    instead: &str,
) -> Result<Exit, VerifyError> {
    let problems = &verification.problems;
    let message = format!("the evidence does not verify: {} problems", problems.len());
    let evidence_argument = shell_word(&evidence_argument.display().to_string());
    let hint = format!("`vkcert verify {evidence_argument}` lists them; {instead}");
    match common.form() {
        OutputForm::Json => {
            let error = serde_json::json!({
                "kind": "unverified", "message": message, "hint": hint, "file": null, "line": null, "column": null,
            });
            output::print_text(&format!(
                "{:#}\n",
                serde_json::json!({ "error": error, "problems": problems })
            ))?;
        }
        OutputForm::Text => {}
    }
    output::print_to_stderr(format_args!("error: {message}\n"));
    problems
        .iter()
        .take(MOST_LISTED_PROBLEMS)
        .for_each(|problem| output::print_to_stderr(format_args!("  differs  {problem}\n")));
    output::print_to_stderr(format_args!("  help: {hint}\n"));
    Ok(Exit::Failed)
}

/// The rendered report inside a JSON document: where it was written, or its contents.
fn json_document(report: &Report, format: FormatName, bytes: &[u8]) -> serde_json::Value {
    let mut document = serde_json::json!({ "schema": 1, "format": format.to_string() });
    if let Some(word) = &report.document {
        document["document"] = word.as_str().into();
    }
    match (&report.output, std::str::from_utf8(bytes)) {
        (Some(path), _) => document["output"] = path.display().to_string().into(),
        (None, Ok(text)) => document["text"] = text.into(),
        (None, Err(_)) => {
            document["bytes"] = base64::engine::general_purpose::STANDARD.encode(bytes).into()
        }
    }
    document
}

/// How the terminal summary looks here.
pub fn terminal_presentation(
    common: &Common,
    written: Option<Written>,
    places: Places,
) -> Presentation {
    let colour = match common.color.on_stdout() {
        Coloring::Colored => Colour::Ansi,
        Coloring::Plain => Colour::Plain,
    };
    let width = output::stdout_width().unwrap_or(u16::MAX);
    Presentation { colour, width, written, places, ..Presentation::default() }
}

#[cfg(test)]
mod tests {
    use super::{json_document, report_standing, run_report, terminal_presentation};
    use crate::args::{Command, CommandLine, Common, Report};
    use crate::command::run_verify;
    use clap::Parser;
    use serde_json::json;
    use std::collections::BTreeSet;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    use vkcert_model::exit::Exit;
    use vkcert_report::{Colour, FormatName, KERNEL_PAGE_START, Places, ProjectPlace, Standing};
    use vkcert_verification::{DerivationExtent, NoToolchain, Verification, VerifyError};

    /// Evidence of an older version, which verifies in part.
    fn evidence() -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        root.join("tests/stored/format_2/evidence")
    }

    /// The same with a file altered.
    fn altered(folder: &Path) -> PathBuf {
        let copy = folder.join("evidence");
        std::fs::create_dir(&copy).unwrap();
        for entry in std::fs::read_dir(evidence()).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, copy.join(path.file_name().unwrap())).unwrap();
        }
        let campaign = copy.join("campaign.json");
        let text = std::fs::read_to_string(&campaign).unwrap();
        std::fs::write(&campaign, text.replace("\"exit_code\": 1", "\"exit_code\": 0")).unwrap();
        copy
    }

    fn parsed(arguments: &[&str]) -> CommandLine {
        CommandLine::try_parse_from([&["vkcert-verify"], arguments].concat()).unwrap()
    }

    fn report_of(arguments: &[&str]) -> (Common, Report) {
        let CommandLine { common, command } = parsed(arguments);
        match command {
            Command::Report(report) => (common, report),
            Command::Verify(_) => panic!("no report is asked for"),
        }
    }

    /// Renders evidence into a file; its text where it is there.
    fn rendered(evidence: &Path, more: &[&str]) -> (Result<Exit, VerifyError>, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("report");
        let [evidence, file] = [evidence, &output].map(|path| path.to_str().unwrap());
        let arguments = ["report", evidence, "--output", file, "--report-format"];
        let (common, report) = report_of(&[&arguments, more].concat());
        let exit = run_report(&common, &report, &NoToolchain);
        (exit, std::fs::read_to_string(output).ok())
    }

    #[test]
    fn a_report_is_stamped_by_how_its_evidence_verifies() {
        let (exit, text) = rendered(&evidence(), &["terminal"]);
        assert_eq!(exit.unwrap(), Exit::Success);
        assert!(text.unwrap().contains("VERIFIED IN PART"));
        let folder = tempfile::tempdir().unwrap();
        let forged = altered(folder.path());
        let (exit, text) = rendered(&forged, &["terminal"]);
        assert_eq!((exit.unwrap(), text), (Exit::Failed, None));
        let (exit, text) = rendered(&forged, &["terminal", "--format", "json"]);
        assert_eq!((exit.unwrap(), text), (Exit::Failed, None));
        let (exit, text) = rendered(&forged, &["terminal", "--unverified"]);
        assert_eq!(exit.unwrap(), Exit::Failed);
        assert!(text.unwrap().contains("NOT VERIFIED"));
    }

    #[test]
    fn what_cannot_be_rendered_is_refused() {
        let (exit, text) = rendered(&evidence(), &["xml"]);
        assert!(matches!(exit, Err(VerifyError::Input(_))) && text.is_none());
        let folder = tempfile::tempdir().unwrap();
        let forged = altered(folder.path());
        std::fs::write(forged.join("campaign.json"), "{").unwrap();
        let (exit, text) = rendered(&forged, &["terminal", "--unverified"]);
        let told = exit.unwrap_err().to_string();
        assert!(told.starts_with("no report can be made: "), "{told}");
        assert_eq!(text, None);
    }

    #[test]
    fn a_document_is_set_by_the_formats_that_have_documents() {
        let (exit, text) = rendered(&evidence(), &["html", "--document", "trace"]);
        assert_eq!(exit.unwrap(), Exit::Success);
        let text = text.unwrap();
        assert!(text.contains(": trace data</title>") && text.contains("chapter:requirements"));
        assert!(!text.contains("chapter:coupling"));
        for more in [["terminal", "--document", "trace"], ["html", "--document", "report"]] {
            let (exit, text) = rendered(&evidence(), &more);
            let told = exit.unwrap_err().to_string();
            assert!(told.contains("--document") || told.contains("svcp, svr"), "{told}");
            assert_eq!(text, None);
        }
    }

    #[test]
    fn volumes_give_way_to_newer_ones_and_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let (first, volumes) = (folder.path().join("r.pdf"), folder.path().join("r-volumes"));
        let evidence = evidence();
        let [evidence, file] = [&evidence, &first].map(|path| path.to_str().unwrap());
        let write = |pages: &str| {
            let (common, report) = report_of(&[
                "report",
                evidence,
                "--report-format",
                "pdf",
                "--output",
                file,
                "--pdf-volume-pages",
                pages,
            ]);
            run_report(&common, &report, &NoToolchain)
        };
        let volumes_there = || {
            let entries = std::fs::read_dir(&volumes).into_iter().flatten();
            entries.map(|entry| entry.unwrap().file_name()).collect::<BTreeSet<_>>()
        };
        assert_eq!(write("1").unwrap(), Exit::Success);
        let first_volumes = volumes_there();
        assert!(first_volumes.contains(std::ffi::OsStr::new("volume-2.pdf")), "{first_volumes:?}");
        assert!(std::fs::read(&first).unwrap().starts_with(b"%PDF-"));
        // Files of somebody else stay, and stop the report.
        std::fs::write(volumes.join("mine.pdf"), "%PDF-").unwrap();
        let told = write("1").unwrap_err().to_string();
        assert!(told.contains("something other than volumes"), "{told}");
        assert_eq!(write("1000").unwrap(), Exit::Success);
        assert_eq!(volumes_there().len(), first_volumes.len() + 1);
        std::fs::remove_file(volumes.join("mine.pdf")).unwrap();
        std::fs::write(volumes.join("volume-99.pdf"), "%PDF-").unwrap();
        assert_eq!(write("1").unwrap(), Exit::Success);
        assert_eq!(volumes_there(), first_volumes);
        assert_eq!(write("1000").unwrap(), Exit::Success);
        assert!(!volumes.exists());
    }

    #[test]
    fn volumes_need_a_file_and_go_with_pdf_alone() {
        let evidence = evidence();
        let evidence = evidence.to_str().unwrap();
        for (more, told_words) in [
            (&["--report-format", "pdf"][..], "name the first with --output"),
            (&["--report-format", "html"], "--pdf-volume-pages goes with"),
        ] {
            let arguments = [&["report", evidence, "--pdf-volume-pages", "1"], more].concat();
            let (common, report) = report_of(&arguments);
            let failure = run_report(&common, &report, &NoToolchain).unwrap_err();
            assert!(format!("{failure:?}").contains(told_words), "{failure:?}");
        }
    }

    #[test]
    fn pages_of_kernels_give_way_to_newer_ones_and_to_one_page() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("r.html");
        let pages = folder.path().join("r-kernels");
        let pages_there = || {
            let entries = std::fs::read_dir(&pages).into_iter().flatten();
            entries.map(|entry| entry.unwrap().file_name()).collect::<BTreeSet<_>>()
        };
        let evidence = evidence();
        let paths = [evidence.to_str().unwrap(), index.to_str().unwrap()];
        let render = |more: &[&str]| {
            let arguments = ["report", paths[0], "--report-format", "html", "--output", paths[1]];
            let (common, report) = report_of(&[&arguments, more].concat());
            run_report(&common, &report, &NoToolchain)
        };
        let always = ["--html-split-above", "0"];
        render(&always).unwrap();
        let first_pages = pages_there();
        assert!(!first_pages.is_empty());
        let text = std::fs::read_to_string(&index).unwrap();
        assert!(text.contains("data-vkcert-page=\"index\"") && text.contains("\"r-kernels/"));
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let plain_folder = folder.path().join("plain");
        std::fs::create_dir(&plain_folder).unwrap();
        assert_eq!(mode(&pages), mode(&plain_folder));
        // A page of an earlier report with more kernels.
        std::fs::write(pages.join("kernel-gone.html"), KERNEL_PAGE_START).unwrap();
        render(&always).unwrap();
        assert_eq!(pages_there(), first_pages);
        // What is no page stays, and the report is not written.
        std::fs::write(pages.join("notes.txt"), "mine").unwrap();
        std::fs::write(&index, "old").unwrap();
        let told = render(&always).unwrap_err().to_string();
        assert!(told.contains("something other than pages"), "{told}");
        assert_eq!(std::fs::read_to_string(&index).unwrap(), "old");
        render(&[]).unwrap();
        assert_eq!(pages_there().len(), first_pages.len() + 1);
        std::fs::remove_file(pages.join("notes.txt")).unwrap();
        render(&[]).unwrap();
        assert!(!pages.exists());
        let text = std::fs::read_to_string(&index).unwrap();
        assert!(text.contains("data-vkcert-page=\"report\""));
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 2, "{left:?}");
    }

    #[test]
    fn several_files_need_a_place_and_go_with_html_alone() {
        let evidence = evidence();
        let evidence = evidence.to_str().unwrap();
        for (more, words) in [
            (&["html"][..], "is an index and a page for each"),
            (&["html", "--output", "/dev/null"], "is no file"),
            (&["pdf", "--output", "/dev/null"], "--html-split-above goes with"),
        ] {
            let arguments = ["report", evidence, "--html-split-above", "0", "--report-format"];
            let (common, report) = report_of(&[&arguments, more].concat());
            let told = run_report(&common, &report, &NoToolchain).unwrap_err().to_string();
            assert!(told.contains(words), "{told}");
        }
    }

    #[test]
    fn paper_goes_with_a_pdf_alone() {
        let (exit, text) = rendered(&evidence(), &["html", "--paper", "letter"]);
        assert!(exit.unwrap_err().to_string().contains("--paper") && text.is_none());
        let sizes = [("a4", "595.28 x 841.89"), ("letter", "612 x 792")].map(|(word, size)| {
            let folder = tempfile::tempdir().unwrap();
            let output = folder.path().join("report.pdf");
            let evidence = evidence();
            let [evidence, file] = [&evidence, &output].map(|path| path.to_str().unwrap());
            let arguments = ["report", evidence, "--output", file, "--report-format", "pdf"];
            let (common, report) = report_of(&[&arguments[..], &["--paper", word]].concat());
            run_report(&common, &report, &NoToolchain).unwrap();
            let information = std::process::Command::new("pdfinfo").arg(&output).output();
            let information = information.expect("pdfinfo (poppler-utils) is installed").stdout;
            String::from_utf8_lossy(&information).contains(size)
        });
        assert_eq!(sizes, [true, true]);
    }

    #[test]
    fn verify_fails_where_something_differs_or_more_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let forged = altered(folder.path());
        for (path, more, exit) in [
            (evidence(), &[] as &[&str], Exit::Success),
            (evidence(), &["--format", "json"], Exit::Success),
            (evidence(), &["--strict"], Exit::Failed),
            (evidence(), &["--replay"], Exit::Failed),
            (forged, &[], Exit::Failed),
        ] {
            let arguments = [&["verify", path.to_str().unwrap()], more].concat();
            let CommandLine { common, command } = parsed(&arguments);
            let Command::Verify(verify) = command else { panic!("{arguments:?}") };
            let result = run_verify(&common, &verify, &NoToolchain).unwrap();
            assert_eq!(result, exit, "{more:?}");
        }
    }

    #[test]
    fn standing_follows_from_problems_and_extent() {
        let verification = |problems: &[&str], extent| Verification {
            problems: problems.iter().map(|problem| (*problem).to_owned()).collect(),
            not_derivable: vec!["a reason".to_owned()],
            extent,
            ..Verification::default()
        };
        let standing = report_standing(&verification(&["p"], DerivationExtent::Whole));
        assert!(matches!(standing, Standing::Unverified(problems) if problems == ["p"]));
        let standing = report_standing(&verification(&[], DerivationExtent::Whole));
        assert!(matches!(standing, Standing::Verified));
        for extent in [DerivationExtent::WithoutModules, DerivationExtent::WithoutInputs] {
            let standing = report_standing(&verification(&[], extent));
            assert!(matches!(standing, Standing::InPart(reasons) if reasons == ["a reason"]));
        }
    }

    #[test]
    fn a_document_holds_the_report_or_where_it_was_written() {
        let (_, to_stdout) = report_of(&["report", "e", "--report-format", "pdf"]);
        let (_, to_file) = report_of(&["report", "e", "--report-format", "pdf", "-o", "f"]);
        for (report, bytes, document) in [
            (&to_file, b"t".as_slice(), json!({ "output": "f" })),
            (&to_stdout, b"t", json!({ "text": "t" })),
            (&to_stdout, b"\xff", json!({ "bytes": "/w==" })),
        ] {
            let mut whole = json!({ "schema": 1, "format": "pdf" });
            whole.as_object_mut().unwrap().extend(document.as_object().unwrap().clone());
            assert_eq!(json_document(report, FormatName::Pdf, bytes), whole);
        }
    }

    #[test]
    fn the_terminal_gets_colours_as_asked_for() {
        for (color, expected) in [("always", Colour::Ansi), ("never", Colour::Plain)] {
            let arguments = ["report", "e", "--report-format", "terminal", "--color", color];
            let (common, _) = report_of(&arguments);
            let places = Places { project: ProjectPlace::Here, evidence: None };
            let presentation = terminal_presentation(&common, None, places);
            assert!(presentation.colour == expected, "{color}");
            assert!(matches!(presentation.places.project, ProjectPlace::Here));
        }
    }
}
