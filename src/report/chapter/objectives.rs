//! What the standard of a project asks for that a kernel's verification touches, with how far this
//! evidence meets each.

use super::links::{joined_texts, listed_texts, test_link};
use crate::document::{Block, ColumnAlign, Outline, Table, Text, Tone};
use crate::statement;
use vkcert_model::evidence::Evidence;
use vkcert_model::id::TestId;
use vkcert_model::objective::{Objective, ObjectiveAssessment, ObjectiveDemand, ObjectiveStatus};
use vkcert_model::project::Standard;
use vkcert_model::requirement::TestReview;

/// Where the chapter stands.
pub(super) const ANCHOR: &str = "chapter/objectives";

/// How the chapter speaks of a standard.
struct StandardWords {
    title: &'static str,
    /// Behind `How far this evidence meets `, up to the level.
    scope: &'static str,
    /// What is the applicant's as a whole, and what all of it rests on.
    limits: &'static [&'static str],
    /// One of its rows, counted.
    noun: &'static str,
    /// Behind a number of rows, on page 1.
    brief: &'static str,
    /// What the numbers of the rows of a group begin with, and the title of the group.
    groups: &'static [(&'static str, &'static str)],
}

const DO_178C: StandardWords = StandardWords {
    title: "Objectives of DO-178C",
    scope: "the objectives of tables A-5, A-6 and A-7 that the verification of a kernel touches",
    limits: &[
        "All other objectives (planning, requirements, design, configuration management, quality assurance, liaison) are the \
         applicant's.",
        "Results of a tool count without being verified again only if the tool is qualified for its use (DO-178C 12.2): that is \
         the applicant's for every objective that is met.",
    ],
    noun: "objective",
    brief: "DO-178C, tables A-5 to A-7",
    groups: &[
        ("A-5", "Table A-5: Verification of outputs of software coding and integration processes"),
        ("A-6", "Table A-6: Testing of outputs of the integration process"),
        ("A-7", "Table A-7: Verification of verification process results"),
    ],
};

const ECSS_E40: StandardWords = StandardWords {
    title: "Verification of code by ECSS-E-ST-40C",
    scope: "what clause 5.8.3.5 (verification of code) asks for",
    limits: &[
        "All other clauses, unit, integration and validation tests, independent verification and the tailoring of the standard \
         are the applicant's.",
        "Whether results of this tool count without being verified again is for the applicant to show.",
        "Where the clause leaves a share to be agreed with the customer, the share that was reached is told: what was agreed is \
         the applicant's.",
    ],
    noun: "requirement",
    brief: "ECSS-E-ST-40C, clause 5.8.3.5",
    groups: &[("5.8.3.5", "Clause 5.8.3.5: Verification of code")],
};

const ISO_26262: StandardWords = StandardWords {
    title: "Structural coverage by ISO 26262-6:2018",
    scope: "what clause 9.4.4 with table 9 (software units) and table 12 (software architecture) ask for",
    limits: &[
        "All other clauses, the suitability of the test environments, the decomposition of ASILs and the independence of \
         confirmation measures are the applicant's.",
        "Whether results of this tool count without being verified again is for the applicant to show (ISO 26262-8:2018, clause \
         11).",
        "The metrics of a table are alternatives, highly recommended (++) or recommended (+): that the combination is \
         appropriate, and the rationale where a metric is not reached, are the applicant's.",
    ],
    noun: "point",
    brief: "ISO 26262-6:2018, tables 9 and 12",
    groups: &[
        ("9", "Clause 9 and table 9: software units"),
        ("12", "Table 12: software architecture"),
    ],
};

fn words_of(standard: Standard) -> &'static StandardWords {
    match standard {
        Standard::Do178c => &DO_178C,
        Standard::EcssE40 => &ECSS_E40,
        Standard::Iso26262 => &ISO_26262,
    }
}

/// The part of a row's number that its group is known by.
fn group_of(number: &str, words: &StandardWords) -> &'static str {
    let mut groups = words.groups.iter();
    groups.find(|(prefix, _)| number.starts_with(prefix)).map_or("", |(prefix, _)| prefix)
}

/// Nothing where the evidence assesses none.
pub(super) fn objectives_chapter(evidence: &Evidence, outline: &mut Outline) {
    let assessments = &evidence.campaign.objectives;
    if assessments.is_empty() {
        return;
    }
    let level = evidence.campaign.project.level;
    let words = words_of(level.standard());
    let [others, limits @ ..] = words.limits else { return };
    outline.add_heading(1, words.title, ANCHOR);
    outline.add_paragraph(format!(
        "How far this evidence meets {}, at {}. {others}",
        words.scope,
        level.called()
    ));
    outline.add_block(Block::List(vec![
        meaning(ObjectiveStatus::Met, "this evidence shows all that the objective asks for."),
        meaning(ObjectiveStatus::Open, "something is missing that evidence of this kind can show."),
        meaning(
            ObjectiveStatus::Applicant,
            "nothing is missing that evidence of this kind can show; the rest is for the applicant to show.",
        ),
    ]));
    limits.iter().for_each(|sentence| outline.add_paragraph(*sentence));
    if assessments.iter().any(|row| row.demand == ObjectiveDemand::WithIndependence) {
        outline.add_paragraph(statement::people::NAMES_AS_STATED);
    }
    outline.add_table(overview(assessments, words));
    for (group, title) in words.groups {
        let is_of_group = |assessment: &&ObjectiveAssessment| {
            group_of(assessment.objective.row().number, words) == *group
        };
        let of_group: Vec<_> = assessments.iter().filter(is_of_group).collect();
        outline.add_heading(2, *title, format!("{ANCHOR}/{group}"));
        let reasons = reasons(&of_group, group, level.standard());
        if reasons.rows.is_empty() {
            outline.add_paragraph(Text::quiet("This level asks for none of these objectives."));
        } else {
            outline.add_table(reasons);
        }
    }
    reviews_section(evidence, outline);
}

/// The reviews of tests, with what of them does not count.
fn reviews_section(evidence: &Evidence, outline: &mut Outline) {
    let reviews = &evidence.campaign.test_reviews;
    if reviews.is_empty() {
        return;
    }
    outline.add_heading(2, "Reviews of tests", format!("{ANCHOR}/reviews"));
    let mut table = Table::new("Reviews of procedures and of results").columns(&[
        "Of",
        "Recorded in",
        "Reviewer",
        "Tests",
        "Not counted",
    ]);
    for row in reviews {
        let review = &row.review;
        let is_rejected = |id: &TestId| row.rejected.iter().any(|rejected| rejected.test == *id);
        let counted = review.tests.iter().filter(|test| !is_rejected(&test.id));
        let rejected = row
            .rejected
            .iter()
            .map(|rejected| test_link(&rejected.test).then_plain(format!(": {}", rejected.reason)));
        table.add_row(vec![
            Text::plain(review.of.to_string()),
            Text::plain(format!(
                "{}, {}, {} (",
                review.document,
                review.section,
                date_words(review)
            ))
            .followed_by(Text::code(row.file.as_str()))
            .then_plain(")"),
            Text::plain(review.reviewer.as_str()),
            listed_texts(counted.map(|test| test_link(&test.id)), Tone::Bad),
            joined_texts(rejected.map(|text| text.with_tone(Tone::Bad)), "; ", Tone::Quiet),
        ]);
    }
    outline.add_table(table);
}

fn meaning(status: ObjectiveStatus, words: &str) -> Text {
    Text::strong(status.to_string()).with_tone(status_tone(status)).then_plain(format!(": {words}"))
}

fn overview(assessments: &[ObjectiveAssessment], words: &StandardWords) -> Table {
    let mut table = Table::new("Objectives with their status")
        .columns(&["No.", "Objective"])
        .with_column("Section", ColumnAlign::Left)
        .with_column("This level", ColumnAlign::Left)
        .with_column("Status", ColumnAlign::Left)
        .with_column("Evidence", ColumnAlign::Left);
    for assessment in assessments {
        let row = assessment.objective.row();
        let number = match assessment.status {
            ObjectiveStatus::NotRequired | ObjectiveStatus::NotApplicable => {
                Text::plain(row.number)
            }
            ObjectiveStatus::Met | ObjectiveStatus::Open | ObjectiveStatus::Applicant => {
                let group = group_of(row.number, words);
                Text::plain(row.number).with_link(format!("{ANCHOR}/{group}"))
            }
        };
        let chapters = chapters(assessment.objective)
            .iter()
            .map(|(title, anchor)| Text::plain(*title).with_link(*anchor));
        table.add_row(vec![
            number,
            Text::plain(row.title),
            Text::quiet(row.sections),
            demand_text(assessment.demand),
            Text::strong(assessment.status.to_string()).with_tone(status_tone(assessment.status)),
            listed_texts(chapters, Tone::Quiet),
        ]);
    }
    table
}

fn demand_text(demand: ObjectiveDemand) -> Text {
    match demand {
        ObjectiveDemand::NotRequired => Text::quiet(demand.to_string()),
        ObjectiveDemand::Required
        | ObjectiveDemand::WithIndependence
        | ObjectiveDemand::Agreed
        | ObjectiveDemand::Recommended
        | ObjectiveDemand::HighlyRecommended => Text::plain(demand.to_string()),
    }
}

/// Why each objective has its status.
fn reasons(assessments: &[&ObjectiveAssessment], group: &str, standard: Standard) -> Table {
    let group_noun = match standard {
        Standard::EcssE40 => "Clause",
        Standard::Do178c | Standard::Iso26262 => "Table",
    };
    let mut table = Table::new(format!("{group_noun} {group}: why")).columns(&[
        "No.",
        "Status",
        "What is shown, what is missing, what is the applicant's",
    ]);
    for assessment in assessments {
        let parts = [
            ("Shown", Tone::Neutral, &assessment.shown),
            ("Missing", Tone::Bad, &assessment.missing),
            ("Applicant", Tone::Neutral, &assessment.applicant),
        ];
        let given_parts = parts.into_iter().filter(|(_, _, sentences)| !sentences.is_empty());
        for (title, tone, sentences) in given_parts {
            table.add_row(vec![
                Text::strong(assessment.objective.row().number),
                Text::plain(title).with_tone(tone),
                Text::sentence(sentences.join(" ")),
            ]);
        }
    }
    table
}

/// The chapters that show what an objective is about.
fn chapters(objective: Objective) -> &'static [(&'static str, &'static str)] {
    const REQUIREMENTS: (&str, &str) = ("requirements", "chapter/requirements");
    const TESTS: (&str, &str) = ("tests", "chapter/tests");
    const STRUCTURE: (&str, &str) = ("structure", "chapter/summary");
    const COUPLING: (&str, &str) = ("coupling", "chapter/coupling");
    const FINDINGS: (&str, &str) = ("findings", "chapter/findings");
    const ENGINES: (&str, &str) = ("devices", "chapter/engines");
    const MODULES: (&str, &str) = ("modules", "chapter/modules");
    match objective {
        Objective::CodeMeetsLowLevel
        | Objective::CodeTraceable
        | Objective::IsoRequirementsTested => &[REQUIREMENTS],
        Objective::CodeMeetsArchitecture | Objective::CouplingCovered => &[COUPLING],
        Objective::EcssCodeVerified => &[REQUIREMENTS, COUPLING, FINDINGS],
        Objective::EcssMeasuredByTests => &[STRUCTURE, TESTS],
        Objective::EcssCodeRobust => &[FINDINGS, TESTS],
        Objective::CodeVerifiable => &[STRUCTURE],
        Objective::CodeMeetsStandards => &[],
        Objective::CodeAccurate => &[FINDINGS],
        Objective::IntegrationComplete
        | Objective::ParametersCorrect
        | Objective::ParametersVerified => &[MODULES],
        Objective::ObjectMeetsHighLevel
        | Objective::ObjectRobustHighLevel
        | Objective::ObjectMeetsLowLevel
        | Objective::ObjectRobustLowLevel => &[REQUIREMENTS, TESTS, ENGINES],
        Objective::ObjectFitsTarget => &[ENGINES, COUPLING],
        Objective::ProceduresCorrect | Objective::ResultsCorrect => &[TESTS],
        Objective::HighLevelTested | Objective::LowLevelTested => &[REQUIREMENTS],
        Objective::McdcCovered
        | Objective::DecisionsCovered
        | Objective::StatementsCovered
        | Objective::AdditionalCodeVerified
        | Objective::EcssStatements
        | Objective::EcssDecisions
        | Objective::EcssMcdc
        | Objective::EcssUncoveredAnalysed
        | Objective::EcssObjectCode
        | Objective::IsoStatements
        | Objective::IsoBranches
        | Objective::IsoMcdc
        | Objective::IsoFunctions
        | Objective::IsoCalls => &[STRUCTURE],
    }
}

fn status_tone(status: ObjectiveStatus) -> Tone {
    match status {
        ObjectiveStatus::Met => Tone::Good,
        ObjectiveStatus::Open => Tone::Bad,
        ObjectiveStatus::Applicant => Tone::Caution,
        ObjectiveStatus::NotApplicable | ObjectiveStatus::NotRequired => Tone::Quiet,
    }
}

/// How many objectives have which status, for page 1; none where the evidence assesses none.
pub(super) fn objectives_in_brief(evidence: &Evidence) -> Option<Text> {
    let assessments = &evidence.campaign.objectives;
    if assessments.is_empty() {
        return None;
    }
    let count =
        |status| assessments.iter().filter(|assessment| assessment.status == status).count();
    let words = words_of(evidence.campaign.project.level.standard());
    let required = assessments.len() - count(ObjectiveStatus::NotRequired);
    let parts =
        [ObjectiveStatus::Met, ObjectiveStatus::Open, ObjectiveStatus::Applicant].map(|status| {
            Text::plain(format!("{} {status}", count(status))).with_tone(status_tone(status))
        });
    Some(
        Text::join(parts, ", ")
            .then_plain(format!(
                " of {} of {}",
                statement::counted(required, words.noun),
                words.brief
            ))
            .with_link(ANCHOR),
    )
}

/// When a review was recorded, and whether its document is pinned.
fn date_words(review: &TestReview) -> String {
    let date = review.date.as_deref().unwrap_or("no date");
    match review.document_hash {
        Some(_) => date.to_owned(),
        None => format!("{date}, pinned by no hash"),
    }
}
