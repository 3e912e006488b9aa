//! The result of `verify`, for the terminal and as JSON.
//!
//! Promises: "verified" is said only where everything was derived; what was not derived is named,
//! and so is what the hash given by `--root` covers, and how many files were compared with those of
//! the project given by `--project`.
//! Does not cover: how any of it is found (`verify`).

use super::{
    ComparedFiles, ComparedKernels, DerivationExtent, KernelCheck, ProjectCheck, ProvenanceCheck,
    ReportCheck, RootCover, Verification, VerificationStatus,
};
use serde_json::{Value, json};
use vkcert_model::wording::{in_one_line, plural};
use vkcert_report::REPORT_FOLDERS;

/// Problems printed one by one; all are counted.
const MOST_LISTED_PROBLEMS: usize = 200;

/// One JSON document.
pub fn json_document(verification: &Verification) -> Value {
    json!({
        "schema": 1,
        // Evidence that was not rebuilt as a whole was not verified, even if nothing differs.
        "verified": verification.holds() && verification.extent == DerivationExtent::Whole,
        "status": verification.status().name(),
        "extent": verification.extent.name(),
        "checked": verification.checked,
        "problems": verification.problems,
        "not_rederivable": verification.not_derivable,
        "root": verification.root,
        "reports": verification.reports_hash,
        "root_covers": verification.root_cover.name(),
        "project": project_in_numbers(&verification.project),
        "report_files": { "listed": verification.reports.listed, "unlisted": verification.reports.unlisted },
        "provenance": provenance_as_json(&verification.provenance),
    })
}

/// Null where there is none. Never that it is true.
fn provenance_as_json(provenance: &ProvenanceCheck) -> Value {
    match provenance {
        ProvenanceCheck::Absent => Value::Null,
        ProvenanceCheck::Fitting { sha256 } => json!({ "names_root": true, "sha256": sha256 }),
        ProvenanceCheck::Faulty => json!({ "names_root": false, "sha256": null }),
    }
}

/// Null where no project was given.
fn project_in_numbers(project: &ProjectCheck) -> Value {
    match project {
        ProjectCheck::NotGiven => Value::Null,
        ProjectCheck::NotCompared { folder: folder_name } => {
            json!({
                "folder": folder_name, "inputs": null, "same": null, "unread_requirement_files": null, "kernels": null,
            })
        }
        ProjectCheck::Compared(ComparedFiles {
            folder_name,
            input_count,
            same_files,
            unread_files,
            kernels,
        }) => {
            json!({
                "folder": folder_name, "inputs": input_count, "same": same_files, "unread_requirement_files": unread_files,
                "kernels": kernels_in_numbers(kernels),
            })
        }
    }
}

/// Null where none was compared.
fn kernels_in_numbers(kernel_check: &KernelCheck) -> Value {
    match kernel_check {
        KernelCheck::NotCompared { .. } => Value::Null,
        KernelCheck::Compared(ComparedKernels {
            kernels: kernel_count,
            set_aside,
            same_files,
            same_modules,
            other_compiler,
        }) => {
            let same_modules = other_compiler.is_none().then_some(same_modules);
            let mut numbers = json!({ "compiled": kernel_count, "same_files": same_files, "same_modules": same_modules });
            if *set_aside > 0 {
                numbers["set_aside"] = json!(set_aside);
            }
            numbers
        }
    }
}

/// The result in lines: the status first, and last the status with its numbers.
pub fn in_words(verification: &Verification) -> String {
    let mut text = format!("result            {}\n", status_in_brief(verification.status()));
    verification.problems.iter().take(MOST_LISTED_PROBLEMS).for_each(|problem| {
        text.push_str(&format!("differs           {}\n", in_one_line(problem)))
    });
    if verification.problems.len() > MOST_LISTED_PROBLEMS {
        text.push_str(&format!(
            "                  ... and {} more\n",
            verification.problems.len() - MOST_LISTED_PROBLEMS
        ));
    }
    verification
        .not_derivable
        .iter()
        .for_each(|reason| text.push_str(&format!("not re-derivable  {reason}\n")));
    if let Some(words) = project_in_words(&verification.project) {
        text.push_str(&format!("project           {words}\n"));
    }
    text.push_str(&format!("root              {}\n", verification.root));
    if let Some(reports_hash) = &verification.reports_hash {
        text.push_str(&format!("report list       {reports_hash}\n"));
    }
    if let (Some(given_root), Some(words)) =
        (&verification.given_root, root_in_words(verification.root_cover))
    {
        text.push_str(&format!("root given        {given_root} {words}\n"));
    }
    text.push_str(&format!(
        "reports           {}\n",
        reports_in_words(&verification.reports, verification.root_cover)
    ));
    if let Some(words) = provenance_in_words(&verification.provenance) {
        text.push_str(&format!("provenance        {words}\n"));
    }
    text.push_str(&result_line(verification));
    text
}

/// What is known of `provenance.json`; none where there is none.
fn provenance_in_words(provenance: &ProvenanceCheck) -> Option<String> {
    match provenance {
        ProvenanceCheck::Absent => None,
        ProvenanceCheck::Fitting { sha256 } => Some(format!(
            "{sha256} names this root; what else it says was not checked, and nothing signs it"
        )),
        ProvenanceCheck::Faulty => {
            Some("provenance.json is not that of this evidence (see above)".to_owned())
        }
    }
}

/// The status, in words that cannot be confused with those of another.
fn status_in_brief(status: VerificationStatus) -> &'static str {
    match status {
        VerificationStatus::Verified => "verified",
        VerificationStatus::InPart => {
            "verified in part, NOT as a whole: what was not derived stands below"
        }
        VerificationStatus::NotVerified => "NOT verified",
    }
}

fn result_line(verification: &Verification) -> String {
    let (statement_count, problems) = (verification.checked, verification.problems.len());
    let underived_sentence = match verification.not_derivable.len() {
        0 => String::new(),
        underived_sentence => format!("; {underived_sentence} not re-derivable, named above"),
    };
    let statements = "hashes, verdicts, statuses and percentages";
    match (verification.status(), verification.extent) {
        (VerificationStatus::NotVerified, _) => {
            let verb = if problems == 1 { "does" } else { "do" };
            format!(
                "NOT verified: {problems} of {statement_count} statements {verb} not hold{underived_sentence}\n"
            )
        }
        (VerificationStatus::Verified, _) => {
            format!("verified: all {statement_count} {statements} follow from the stored records\n")
        }
        (VerificationStatus::InPart, DerivationExtent::Whole) => {
            format!(
                "verified in part, NOT as a whole: {statement_count} {statements} follow from the stored records{underived_sentence}\n"
            )
        }
        (VerificationStatus::InPart, DerivationExtent::WithoutModules) => {
            format!(
                "verified in part, NOT as a whole: {statement_count} statements agree; the kernels were NOT derived from their sources{underived_sentence}\n"
            )
        }
        (VerificationStatus::InPart, DerivationExtent::WithoutInputs) => {
            format!(
                "verified in part, NOT as a whole: {statement_count} statements agree; nothing was derived from the project's files{underived_sentence}\n"
            )
        }
    }
}

/// What was compared with the files of the project; none where no project was given.
fn project_in_words(project: &ProjectCheck) -> Option<String> {
    let ComparedFiles {
        folder_name: folder,
        input_count: inputs,
        same_files: same,
        unread_files: unread,
        kernels,
    } = match project {
        ProjectCheck::NotGiven => return None,
        ProjectCheck::NotCompared { folder } => {
            return Some(format!(
                "`{folder}` was compared with nothing: the evidence cannot be read"
            ));
        }
        ProjectCheck::Compared(compared) => compared,
    };
    let same_count = if same == inputs { "all".to_owned() } else { format!("{same} of") };
    let files_sentence = match inputs {
        0 => format!("compared with nothing in `{folder}`: the evidence names no input file"),
        1 if *same == 1 => {
            format!("the 1 input file of the evidence has the same SHA-256 in `{folder}`")
        }
        _ => format!(
            "{same_count} {inputs} input files of the evidence have the same SHA-256 in `{folder}`"
        ),
    };
    let unread_sentence = match *unread {
        0 => "it has no requirement file that the run did not read".to_owned(),
        _ => {
            let unread_files =
                plural(*unread, "requirement file there was", "requirement files there were");
            format!("{unread_files} not read by the run")
        }
    };
    Some(format!("{files_sentence}; {unread_sentence}; {}", kernels_in_words(kernels)))
}

/// What the kernels were compared with.
fn kernels_in_words(kernels: &KernelCheck) -> String {
    let ComparedKernels { kernels, set_aside, same_files, same_modules, other_compiler } =
        match kernels {
            KernelCheck::NotCompared { reason } => {
                return format!("its kernels were not compared: {reason}");
            }
            KernelCheck::Compared(compared) => compared,
        };
    let nouns = match set_aside {
        0 => plural(*kernels, "kernel includes", "kernels include"),
        _ => plural(*kernels, "certified kernel includes", "certified kernels include"),
    };
    let files_sentence = format!("{same_files} of its {nouns} the same files");
    let sentence = match other_compiler {
        None => {
            format!(
                "{files_sentence}, {same_modules} of {kernels} compile to the same production module"
            )
        }
        Some(other_maker) => format!(
            "{files_sentence}; production modules were not compared: {other_maker} made those of the evidence"
        ),
    };
    match set_aside {
        0 => sentence,
        1 => format!("{sentence}; 1 that was set aside does not compile there either"),
        count => format!("{sentence}; {count} that were set aside do not compile there either"),
    }
}

/// What the hash given by `--root` covers.
fn root_in_words(cover: RootCover) -> Option<&'static str> {
    match cover {
        RootCover::NotGiven => None,
        RootCover::Nothing => Some("is neither that of the manifest nor that of the report list"),
        RootCover::Evidence => {
            Some("is that of the manifest, which holds the hashes of all inputs and evidence files")
        }
        RootCover::EvidenceAndReports => Some(
            "is that of the report list, which holds the root and the hashes of the reports listed",
        ),
    }
}

/// Names of reports, further files of one as their number: `report.html, 2 pages in
/// report-kernels`.
fn files_in_words(names: &[String]) -> String {
    let is_further = |name: &&String| REPORT_FOLDERS.iter().any(|folder| folder.holds(name));
    let files = names.iter().filter(|name| !is_further(name)).cloned();
    let further = REPORT_FOLDERS.iter().filter_map(|folder| {
        let count = names.iter().filter(|name| folder.holds(name)).count();
        let [one, several] = folder.file_words;
        (count > 0).then(|| format!("{} in {}", plural(count, one, several), folder.name))
    });
    files.chain(further).collect::<Vec<_>>().join(", ")
}

/// What the reports beside the evidence were compared with.
fn reports_in_words(reports: &ReportCheck, cover: RootCover) -> String {
    let listed_sentence = match &reports.listed {
        None => "not checked: there is no reports.json beside the evidence".to_owned(),
        Some(_) if reports.unreadable => "not checked: reports.json cannot be read".to_owned(),
        Some(names) if names.is_empty() => "none listed in reports.json".to_owned(),
        Some(names) => format!("{} checked against reports.json", files_in_words(names)),
    };
    let cover_sentence = match (&reports.listed, cover) {
        (None, _) => String::new(),
        (Some(_), RootCover::EvidenceAndReports) => ", whose SHA-256 is the one given".to_owned(),
        (Some(_), RootCover::Evidence) => {
            ", and nothing else: the SHA-256 given is that of the evidence, which does not cover them".to_owned()
        }
        (Some(_), RootCover::NotGiven | RootCover::Nothing) => {
            ", and nothing else: `--root` with the hash of the report list covers them".to_owned()
        }
    };
    let unlisted_sentence = match reports.unlisted.as_slice() {
        [] => String::new(),
        names => format!("; not checked: {}", files_in_words(names)),
    };
    format!("{listed_sentence}{cover_sentence}{unlisted_sentence}")
}

#[cfg(test)]
mod tests {
    use super::{in_words, json_document};
    use crate::{
        ComparedFiles, ComparedKernels, DerivationExtent, KernelCheck, ProjectCheck, ReportCheck,
        RootCover, Verification,
    };
    use serde_json::{Value, json};

    fn verification() -> Verification {
        Verification { checked: 7, root: "r00t".to_owned(), ..Verification::default() }
    }

    fn in_part(extent: DerivationExtent) -> Verification {
        let not_derivable = vec!["a reason".to_owned()];
        Verification { extent, not_derivable, ..verification() }
    }

    fn with_problems(count: usize) -> Verification {
        let problems = (1..=count).map(|number| format!("problem {number}")).collect();
        Verification { problems, ..verification() }
    }

    fn compared(files: ComparedFiles) -> Verification {
        Verification { project: ProjectCheck::Compared(files), ..verification() }
    }

    fn files(input_count: usize, same_files: usize) -> ComparedFiles {
        let folder_name = "p".to_owned();
        ComparedFiles { folder_name, input_count, same_files, ..ComparedFiles::default() }
    }

    fn listed(names: &[&str], unlisted: &[&str], root_cover: RootCover) -> Verification {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let reports = ReportCheck {
            listed: Some(owned(names)),
            unlisted: owned(unlisted),
            unreadable: false,
        };
        Verification { reports, root_cover, ..verification() }
    }

    fn line_of(verification: &Verification, label: &str) -> Option<String> {
        let text = in_words(verification);
        let label = format!("{label:<18}");
        text.lines().find_map(|line| line.strip_prefix(&label)).map(str::to_owned)
    }

    #[test]
    fn the_whole_result_in_words() {
        let verification = Verification {
            problems: vec!["it differs".to_owned()],
            reports_hash: Some("l1st".to_owned()),
            given_root: Some("r00t".to_owned()),
            root_cover: RootCover::Evidence,
            ..in_part(DerivationExtent::WithoutModules)
        };
        let lines = [
            "result            NOT verified",
            "differs           it differs",
            "not re-derivable  a reason",
            "root              r00t",
            "report list       l1st",
            "root given        r00t is that of the manifest, \
             which holds the hashes of all inputs and evidence files",
            "reports           not checked: there is no reports.json beside the evidence",
            "NOT verified: 1 of 7 statements does not hold; 1 not re-derivable, named above",
        ];
        assert_eq!(in_words(&verification), lines.map(|line| format!("{line}\n")).concat());
        let document = json!({
            "schema": 1, "verified": false, "status": "not-verified",
            "extent": "without-modules", "checked": 7, "problems": ["it differs"],
            "not_rederivable": ["a reason"], "root": "r00t", "reports": "l1st",
            "root_covers": "evidence", "project": null,
            "report_files": { "listed": null, "unlisted": [] },
            "provenance": null,
        });
        assert_eq!(json_document(&verification), document);
    }

    #[test]
    fn verified_is_said_only_where_all_was_derived() {
        const NOT_AS_A_WHOLE: &str =
            "verified in part, NOT as a whole: what was not derived stands below";
        for (verification, status, verified, brief, last_line) in [
            (
                verification(),
                "verified",
                true,
                "verified",
                "verified: all 7 hashes, verdicts, statuses and percentages \
                 follow from the stored records",
            ),
            (
                in_part(DerivationExtent::Whole),
                "verified-in-part",
                true,
                NOT_AS_A_WHOLE,
                "verified in part, NOT as a whole: 7 hashes, verdicts, statuses and percentages \
                 follow from the stored records; 1 not re-derivable, named above",
            ),
            (
                in_part(DerivationExtent::WithoutModules),
                "verified-in-part",
                false,
                NOT_AS_A_WHOLE,
                "verified in part, NOT as a whole: 7 statements agree; \
                 the kernels were NOT derived from their sources; 1 not re-derivable, named above",
            ),
            (
                Verification { extent: DerivationExtent::WithoutInputs, ..verification() },
                "verified-in-part",
                false,
                NOT_AS_A_WHOLE,
                "verified in part, NOT as a whole: 7 statements agree; \
                 nothing was derived from the project's files",
            ),
            (
                with_problems(1),
                "not-verified",
                false,
                "NOT verified",
                "NOT verified: 1 of 7 statements does not hold",
            ),
            (
                with_problems(2),
                "not-verified",
                false,
                "NOT verified",
                "NOT verified: 2 of 7 statements do not hold",
            ),
        ] {
            let document = json_document(&verification);
            assert_eq!(document["status"], status);
            assert_eq!(document["verified"], verified, "{status}");
            assert_eq!(line_of(&verification, "result").as_deref(), Some(brief));
            assert_eq!(in_words(&verification).lines().last(), Some(last_line));
        }
        let extents = [DerivationExtent::Whole, DerivationExtent::WithoutInputs]
            .map(|extent| json_document(&in_part(extent))["extent"].clone());
        assert_eq!(extents, ["whole", "without-inputs"]);
    }

    #[test]
    fn many_problems_are_counted() {
        let told = |count: usize| {
            let text = in_words(&with_problems(count));
            let rest = text.lines().find(|line| line.contains(" more")).unwrap_or_default();
            (text.matches("\ndiffers ").count(), rest.trim().to_owned())
        };
        assert_eq!(told(199), (199, String::new()));
        assert_eq!(told(200), (200, String::new()));
        assert_eq!(told(201), (200, "... and 1 more".to_owned()));
        assert_eq!(told(405), (200, "... and 205 more".to_owned()));
    }

    #[test]
    fn what_was_compared_with_the_project_is_told() {
        const NONE_UNREAD: &str = "it has no requirement file that the run did not read";
        const NO_KERNELS: &str = "its kernels were not compared: ";
        let with_unread = |unread_files: usize| ComparedFiles { unread_files, ..files(3, 3) };
        let all_same = "all 3 input files of the evidence have the same SHA-256 in `p`";
        for (files, told) in [
            (
                files(0, 0),
                format!(
                    "compared with nothing in `p`: the evidence names no input file; \
                     {NONE_UNREAD}; {NO_KERNELS}"
                ),
            ),
            (
                files(1, 1),
                format!(
                    "the 1 input file of the evidence has the same SHA-256 in `p`; \
                     {NONE_UNREAD}; {NO_KERNELS}"
                ),
            ),
            (
                files(1, 0),
                format!(
                    "0 of 1 input files of the evidence have the same SHA-256 in `p`; \
                     {NONE_UNREAD}; {NO_KERNELS}"
                ),
            ),
            (files(3, 3), format!("{all_same}; {NONE_UNREAD}; {NO_KERNELS}")),
            (
                files(3, 1),
                format!(
                    "1 of 3 input files of the evidence have the same SHA-256 in `p`; \
                     {NONE_UNREAD}; {NO_KERNELS}"
                ),
            ),
            (
                with_unread(1),
                format!(
                    "{all_same}; 1 requirement file there was not read by the run; {NO_KERNELS}"
                ),
            ),
            (
                with_unread(2),
                format!(
                    "{all_same}; 2 requirement files there were not read by the run; {NO_KERNELS}"
                ),
            ),
        ] {
            let verification = compared(files);
            assert_eq!(line_of(&verification, "project"), Some(told));
            assert_eq!(json_document(&verification)["project"]["kernels"], Value::Null);
        }
        let project = ProjectCheck::NotCompared { folder: "p".to_owned() };
        let unread = Verification { project, ..verification() };
        let told = "`p` was compared with nothing: the evidence cannot be read";
        assert_eq!(line_of(&unread, "project").as_deref(), Some(told));
        let document = json!({
            "folder": "p", "inputs": null, "same": null, "unread_requirement_files": null,
            "kernels": null,
        });
        assert_eq!(json_document(&unread)["project"], document);
        assert_eq!(line_of(&verification(), "project"), None);
        assert_eq!(json_document(&verification())["project"], Value::Null);
    }

    #[test]
    fn modules_of_another_compiler_are_not_counted_as_the_same() {
        let with_kernels = |other_compiler: Option<&str>| {
            let kernels = ComparedKernels {
                kernels: 2,
                set_aside: 0,
                same_files: 1,
                same_modules: 1,
                other_compiler: other_compiler.map(str::to_owned),
            };
            compared(ComparedFiles { kernels: KernelCheck::Compared(kernels), ..files(3, 3) })
        };
        for (other_compiler, same_modules, told) in [
            (
                None,
                json!(1),
                "; 1 of its 2 kernels include the same files, \
                 1 of 2 compile to the same production module",
            ),
            (
                Some("another"),
                Value::Null,
                "; 1 of its 2 kernels include the same files; \
                 production modules were not compared: another made those of the evidence",
            ),
        ] {
            let verification = with_kernels(other_compiler);
            let words = line_of(&verification, "project").unwrap();
            assert!(words.ends_with(told), "{words}");
            let numbers = json!({
                "folder": "p", "inputs": 3, "same": 3, "unread_requirement_files": 0,
                "kernels": { "compiled": 2, "same_files": 1, "same_modules": same_modules },
            });
            assert_eq!(json_document(&verification)["project"], numbers);
        }
    }

    #[test]
    fn kernels_set_aside_are_told_beside_those_that_were_compared() {
        for (set_aside, told) in [
            (1, "; 1 that was set aside does not compile there either"),
            (3, "; 3 that were set aside do not compile there either"),
        ] {
            let kernels =
                ComparedKernels { kernels: 2, set_aside, same_files: 2, ..Default::default() };
            let verification =
                compared(ComparedFiles { kernels: KernelCheck::Compared(kernels), ..files(3, 3) });
            let words = line_of(&verification, "project").unwrap();
            assert!(words.contains("2 of its 2 certified kernels include"), "{words}");
            assert!(words.ends_with(told), "{words}");
            let numbers = &json_document(&verification)["project"]["kernels"];
            assert_eq!(numbers["set_aside"], json!(set_aside));
        }
    }

    #[test]
    fn what_the_given_root_covers_is_told() {
        for (root_cover, name, told) in [
            (RootCover::NotGiven, Value::Null, None),
            (
                RootCover::Nothing,
                json!("nothing"),
                Some("r00t is neither that of the manifest nor that of the report list"),
            ),
            (
                RootCover::EvidenceAndReports,
                json!("evidence-and-reports"),
                Some(
                    "r00t is that of the report list, \
                     which holds the root and the hashes of the reports listed",
                ),
            ),
        ] {
            let given_root = Some("r00t".to_owned());
            let verification = Verification { given_root, root_cover, ..verification() };
            assert_eq!(json_document(&verification)["root_covers"], name);
            assert_eq!(line_of(&verification, "root given").as_deref(), told);
        }
    }

    #[test]
    fn which_reports_were_checked_is_told() {
        const BY_LIST: &str =
            ", and nothing else: `--root` with the hash of the report list covers them";
        let mut unreadable = listed(&[], &["a.html"], RootCover::NotGiven);
        unreadable.reports.unreadable = true;
        for (verification, told) in [
            (
                listed(&["a.html", "b.pdf"], &[], RootCover::EvidenceAndReports),
                "a.html, b.pdf checked against reports.json, whose SHA-256 is the one given"
                    .to_owned(),
            ),
            (
                listed(&["a.html"], &["b.pdf", "c.json"], RootCover::Evidence),
                "a.html checked against reports.json, and nothing else: \
                 the SHA-256 given is that of the evidence, which does not cover them; \
                 not checked: b.pdf, c.json"
                    .to_owned(),
            ),
            (
                listed(&["a.html"], &[], RootCover::Nothing),
                format!("a.html checked against reports.json{BY_LIST}"),
            ),
            (
                listed(
                    &["a.html", "report-kernels/a.html", "report-kernels/b.html"],
                    &["report-kernels/c.html"],
                    RootCover::Nothing,
                ),
                format!(
                    "a.html, 2 pages in report-kernels checked against reports.json{BY_LIST}; \
                     not checked: 1 page in report-kernels"
                ),
            ),
            (
                listed(&[], &[], RootCover::NotGiven),
                format!("none listed in reports.json{BY_LIST}"),
            ),
            (
                unreadable,
                format!("not checked: reports.json cannot be read{BY_LIST}; not checked: a.html"),
            ),
        ] {
            assert_eq!(line_of(&verification, "reports"), Some(told));
        }
        let document = json_document(&listed(&["a.html"], &["b.pdf"], RootCover::NotGiven));
        assert_eq!(
            document["report_files"],
            json!({ "listed": ["a.html"], "unlisted": ["b.pdf"] })
        );
    }

    #[test]
    fn a_problem_looks_like_no_line_of_the_program() {
        let problem = "unknown field `\u{1b}[2J\nresult            verified\u{202e}`".to_owned();
        let words = in_words(&Verification { problems: vec![problem], ..verification() });
        let shown = "differs           unknown field `?[2J result            verified\u{fffd}`";
        assert!(words.lines().any(|line| line == shown), "{words}");
    }
}
