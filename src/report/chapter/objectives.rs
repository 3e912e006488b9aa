//! The objectives of DO-178C that a kernel's verification touches, with how far this evidence meets
//! each.

use super::links::{joined_texts, listed_texts, test_link};
use crate::document::{Block, ColumnAlign, Outline, Table, Text, Tone};
use crate::statement;
use vkcert_model::evidence::Evidence;
use vkcert_model::id::TestId;
use vkcert_model::objective::{
    OBJECTIVES, Objective, ObjectiveAssessment, ObjectiveDemand, ObjectiveStatus,
};

/// Where the chapter stands.
pub(super) const ANCHOR: &str = "chapter/objectives";

/// The tables of DO-178C, annex A, with what each is about.
const TABLES: [(&str, &str); 3] = [
    ("A-5", "Verification of outputs of software coding and integration processes"),
    ("A-6", "Testing of outputs of the integration process"),
    ("A-7", "Verification of verification process results"),
];

/// Nothing where the evidence assesses none.
pub(super) fn objectives_chapter(evidence: &Evidence, outline: &mut Outline) {
    let assessments = &evidence.campaign.objectives;
    if assessments.is_empty() {
        return;
    }
    outline.add_heading(1, "Objectives of DO-178C", ANCHOR);
    outline.add_paragraph(format!(
        "How far this evidence meets the objectives of tables A-5, A-6 and A-7 that the verification of a kernel touches, at \
         level {}. All other objectives (planning, requirements, design, configuration management, quality assurance, \
         liaison) are the applicant's.",
        evidence.campaign.project.level
    ));
    outline.add_block(Block::List(vec![
        meaning(ObjectiveStatus::Met, "this evidence shows all that the objective asks for."),
        meaning(ObjectiveStatus::Open, "something is missing that evidence of this kind can show."),
        meaning(
            ObjectiveStatus::Applicant,
            "nothing is missing that evidence of this kind can show; the rest is for the applicant to show.",
        ),
    ]));
    outline.add_paragraph(
        "Results of a tool count without being verified again only if the tool is qualified for its use (DO-178C 12.2): that is \
         the applicant's for every objective that is met.",
    );
    outline.add_table(overview(assessments));
    for (table, title) in TABLES {
        let is_of_table = |assessment: &&ObjectiveAssessment| {
            assessment.objective.row().number.starts_with(table)
        };
        let of_table: Vec<_> = assessments.iter().filter(is_of_table).collect();
        outline.add_heading(2, format!("Table {table}: {title}"), format!("{ANCHOR}/{table}"));
        let reasons = reasons(&of_table, table);
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
            Text::plain(format!("{}, {} (", review.document, review.section))
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

fn overview(assessments: &[ObjectiveAssessment]) -> Table {
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
                Text::plain(row.number).with_link(format!("{ANCHOR}/{}", &row.number[..3]))
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
        ObjectiveDemand::Required | ObjectiveDemand::WithIndependence => {
            Text::plain(demand.to_string())
        }
    }
}

/// Why each objective has its status.
fn reasons(assessments: &[&ObjectiveAssessment], table_number: &str) -> Table {
    let mut table = Table::new(format!("Table {table_number}: why")).columns(&[
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
        Objective::CodeMeetsLowLevel | Objective::CodeTraceable => &[REQUIREMENTS],
        Objective::CodeMeetsArchitecture | Objective::CouplingCovered => &[COUPLING],
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
        | Objective::AdditionalCodeVerified => &[STRUCTURE],
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
    let required = OBJECTIVES.len() - count(ObjectiveStatus::NotRequired);
    let parts =
        [ObjectiveStatus::Met, ObjectiveStatus::Open, ObjectiveStatus::Applicant].map(|status| {
            Text::plain(format!("{} {status}", count(status))).with_tone(status_tone(status))
        });
    Some(
        Text::join(parts, ", ")
            .then_plain(format!(
                " of {} of DO-178C, tables A-5 to A-7",
                statement::counted(required, "objective")
            ))
            .with_link(ANCHOR),
    )
}
