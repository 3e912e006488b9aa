//! Each reason that the conclusion can give, by a project that gives it and no other than those
//! named.
//!
//! Does not cover: missing code that a requirement names, which is refused when the project is read
//! (tested here, too); only evidence of other programs can hold it.

use crate::cli::args::{Command, CommandLine};
use crate::cli::events::EventLog;
use crate::cli::failure::Failure;
use crate::cli::{build, certify};
use crate::derivation::conclusion::{conclude, reasons};
use crate::model::evidence::Evidence;
use crate::model::reason::{Reason, ReasonKind};
use clap::Parser;
use std::collections::BTreeSet;
use std::path::Path;

const KERNEL: &str = "#version 450
layout(local_size_x = 2) in;
layout(std430, binding = 0) buffer Out { uint o[]; };
void main() { BODY }
";

/// Stores 7 and 8.
const BODY: &str = "o[gl_GlobalInvocationID.x] = 7u + gl_GlobalInvocationID.x;";

const SETTINGS: &str = "schema = 1\nname = \"Reasons\"\nlevel = \"D\"\n";

const REQUIREMENT: &str = "[[requirement]]
uid = \"R\"
level = \"HLR\"
title = \"t\"
statement = \"The kernel shall.\"
verification = [\"test\"]
";

const TEST: &str = "[[test]]
id = \"T\"
requirements = [\"R\"]
buffers.o = { type = \"uint\", data = [0, 0] }
dispatches = [{ kernel = \"k\", groups = [1, 1, 1], bindings = [{ binding = 0, buffer = \"o\" }] }]
expect = [{ buffer = \"o\", values = [7, 8] }]
";

const NO_HASH: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// The files of a project that nothing stands against.
#[derive(Clone)]
struct Sources {
    settings: String,
    kernel: String,
    requirements: String,
}

impl Sources {
    fn flawless() -> Self {
        Self {
            settings: SETTINGS.to_owned(),
            kernel: KERNEL.replace("BODY", BODY),
            requirements: format!("{REQUIREMENT}{TEST}"),
        }
    }

    fn body(self, body: &str) -> Self {
        Self { kernel: KERNEL.replace("BODY", body), ..self }
    }

    fn setting(mut self, line: &str) -> Self {
        self.settings.push_str(line);
        self
    }

    fn with(mut self, table: &str) -> Self {
        self.requirements.push_str(table);
        self
    }

    fn changed(mut self, from: &str, to: &str) -> Self {
        assert!(self.requirements.contains(from), "{from}");
        self.requirements = self.requirements.replace(from, to);
        self
    }

    fn certified(&self) -> Result<Evidence, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::create_dir(folder.path().join("requirements")).unwrap();
        write(
            "vkcert.toml",
            &format!("{}[[kernel]]\nname = \"k\"\nsource = \"k.comp\"\n", self.settings),
        );
        write("k.comp", &self.kernel);
        write("requirements/all.toml", &format!("schema = 1\n{}", self.requirements));
        let options: &[&str] = match self.settings.contains("[mutation]") {
            true => &["--mutation"],
            false => &[],
        };
        certified(folder.path(), options)
    }
}

fn certified(folder: &Path, options: &[&str]) -> Result<Evidence, Failure> {
    let folder = folder.to_str().unwrap();
    let parse = |arguments: &[&str]| {
        CommandLine::try_parse_from([&["vkcert"], arguments].concat()).unwrap()
    };
    // A profile may take modules that were built before; others make no difference.
    let line = parse(&["build", folder, "--quiet"]);
    let Command::Build(build) = &line.command else { panic!("another command") };
    build::build_modules(&line.common, build)?;
    let line =
        parse(&[&["certify", folder, "--engine", "sequential", "--quiet"], options].concat());
    let Command::Certify(certify) = &line.command else { panic!("another command") };
    Ok(certify::run_campaign(&line.common, certify, &EventLog::open(None)?)?.evidence)
}

/// A project with the reasons that it gives, in order.
struct Row {
    sources: Sources,
    kinds: &'static [ReasonKind],
}

fn row(sources: Sources, kinds: &'static [ReasonKind]) -> Row {
    Row { sources, kinds }
}

fn of_tests() -> Vec<Row> {
    use ReasonKind::*;
    let flawless = Sources::flawless;
    let barrier = "o[gl_GlobalInvocationID.x] = 7u; if (gl_LocalInvocationID.x == 0u) barrier();";
    let long = "for (uint i = 0u; i < 1000u; i++) o[gl_GlobalInvocationID.x] += i;";
    let wide = "o[0] = uint(int64_t(o[1]) * 3l);";
    let mut refused = flawless().body(wide).setting("profile = \"vulkan-sc\"\n");
    let extension =
        "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require";
    refused.kernel = refused.kernel.replace("#version 450", extension);
    let nothing = Sources { requirements: String::new(), ..flawless() };
    vec![
        row(flawless(), &[]),
        row(nothing, &[NoTest, NoRequirement]),
        row(flawless().changed("[7, 8]", "[7, 9]"), &[TestFailed, RequirementFailed]),
        row(flawless().body(barrier), &[TestError, RequirementFailed, FindingStands]),
        row(
            flawless().body(long).changed("id = \"T\"", "id = \"T\"\nlimits = { steps = 100 }"),
            &[TestTimeout, RequirementFailed, FindingStands],
        ),
        row(flawless().changed("expect =", "#"), &[TestUndetermined, RequirementOpen]),
        row(refused, &[ProfileRefusal, TestUnsupported, RequirementOpen]),
    ]
}

fn of_requirements() -> Vec<Row> {
    use ReasonKind::*;
    let flawless = Sources::flawless;
    let other = REQUIREMENT.replace("\"R\"", "\"S\"");
    let linked = other.replace("\"HLR\"", "\"LLR\"");
    let linked = format!("{linked}parents = [{{ uid = \"R\", hash = \"{NO_HASH}\" }}]\n");
    let named = flawless().changed("requirements = [\"R\"]", "requirements = [\"R\", \"S\"]");
    let record = format!(
        "[[analysis]]\nrequirement = \"R\"\ndocument = \"d\"\nsection = \"1\"\nauthor = \"a\"\nreviewer = \"b\"\nhash = \"{NO_HASH}\"\n"
    );
    let analysed = flawless().changed("[\"test\"]", "[\"test\", \"analysis\"]").with(&record);
    vec![
        row(flawless().with(&other), &[RequirementUntested, OpenItemStands]),
        row(named.with(&linked), &[LinkSuspect]),
        row(analysed, &[RecordRejected, RequirementOpen]),
    ]
}

fn of_the_rest() -> Vec<Row> {
    use ReasonKind::*;
    let flawless = Sources::flawless;
    let guarded =
        format!("{BODY} if (o[gl_GlobalInvocationID.x] == 9u) o[gl_GlobalInvocationID.x] = 7u;");
    let race = "o[0] = 7u + gl_GlobalInvocationID.x; o[1] = 8u;";
    let tolerant = flawless().changed("[7, 8] }", "[7, 8], tolerance = { abs = 1 } }");
    let interface = "[[interface]]\nkernel = \"k\"\nbuffers = [{ set = 0, binding = 0, size = \"8\" }]\n\
                     groups = [\"1\", \"1\", \"1\"]\nlocal_size = [2, 1, 1]\n";
    let justification = format!(
        "[[justification]]\nkernel = \"k\"\nobligation = \"S1\"\nclass = \"analysis\"\nreason = \"r\"\nauthor = \"a\"\napprover = \"b\"\nhash = \"{NO_HASH}\"\n"
    );
    let acceptance =
        "[[accept]]\nitem = \"validation-off\"\nreason = \"r\"\nauthor = \"a\"\napprover = \"b\"\n";
    vec![
        row(flawless().body(&guarded).setting("criteria = [\"statement\"]\n"), &[ObligationsOpen]),
        row(tolerant.body(race), &[FindingStands]),
        row(flawless().with(interface), &[CouplingUndetermined, CouplingUndetermined]),
        row(flawless().with(&justification), &[JustificationRejected]),
        row(flawless().setting("validation = \"off\"\n"), &[OpenItemStands]),
        row(flawless().setting(acceptance), &[AcceptanceRejected]),
        // One workgroup does not tell a local from a global index.
        row(flawless().setting("[mutation]\nthreshold = 100\n"), &[MutationScore]),
    ]
}

/// Every kind; the match makes a new one break the build until it stands in the list.
fn every_kind() -> BTreeSet<ReasonKind> {
    use ReasonKind::*;
    let next = |kind: ReasonKind| match kind {
        ProfileRefusal => Some(NoTest),
        NoTest => Some(TestFailed),
        TestFailed => Some(TestError),
        TestError => Some(TestTimeout),
        TestTimeout => Some(TestUndetermined),
        TestUndetermined => Some(TestUnsupported),
        TestUnsupported => Some(NoRequirement),
        NoRequirement => Some(RecordRejected),
        RecordRejected => Some(RequirementUntested),
        RequirementUntested => Some(RequirementFailed),
        RequirementFailed => Some(RequirementOpen),
        RequirementOpen => Some(LinkSuspect),
        LinkSuspect => Some(CodeMissing),
        CodeMissing => Some(ObligationsOpen),
        ObligationsOpen => Some(FindingStands),
        FindingStands => Some(CouplingUndetermined),
        CouplingUndetermined => Some(JustificationRejected),
        JustificationRejected => Some(OpenItemStands),
        OpenItemStands => Some(AcceptanceRejected),
        AcceptanceRejected => Some(MutationScore),
        MutationScore => None,
    };
    std::iter::successors(Some(ProfileRefusal), |kind| next(*kind)).collect()
}

#[test]
fn every_reason_is_given_by_a_project() {
    let mut given = BTreeSet::new();
    for Row { sources, kinds } in
        [of_tests(), of_requirements(), of_the_rest()].into_iter().flatten()
    {
        let evidence =
            sources.certified().unwrap_or_else(|failure| panic!("{kinds:?}: {failure:?}"));
        let found = reasons(&evidence.campaign, &evidence.kernels);
        let told = found.iter().map(Reason::kind).collect::<Vec<_>>();
        assert_eq!(told, kinds, "{found:#?}");
        let sentences: Vec<String> = found.iter().map(Reason::to_string).collect();
        assert_eq!(evidence.campaign.conclusion.reasons, sentences);
        assert_eq!(evidence.campaign.conclusion, conclude(&evidence.campaign, &evidence.kernels));
        assert_eq!(evidence.campaign.conclusion.exit_code == 0, kinds.is_empty());
        given.extend(kinds);
    }
    let missing: Vec<ReasonKind> = every_kind().difference(&given).copied().collect();
    assert_eq!(missing, [ReasonKind::CodeMissing], "no project gives these");
}

#[test]
fn a_project_that_names_missing_code_is_refused() {
    for code in ["file = \"k.comp\", symbol = \"absent\"", "file = \"absent.comp\""] {
        let implements = format!("uid = \"R\"\nimplements = [{{ {code} }}]");
        let refused = Sources::flawless().changed("uid = \"R\"", &implements).certified();
        assert!(matches!(refused, Err(Failure::Input(_))), "{code}");
    }
}
