//! What other standards' rows come to in small campaigns, and what is told of forged ones.

use crate::honest::{Forgery, assert_told, honest_at_level, honest_with};
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::Evidence;
use vkcert_model::objective::{ObjectiveAssessment, ObjectiveDemand, ObjectiveStatus};
use vkcert_model::project::{SoftwareLevel, Standard};

/// Honest evidence of a project at a level that asks for some criteria.
fn at_level(
    level: SoftwareLevel,
    criteria: Option<&[CriterionName]>,
    change: impl FnOnce(&mut Evidence),
) -> Evidence {
    honest_with(|evidence| {
        let settings = evidence.campaign.settings.as_mut().unwrap();
        (settings.standard, settings.level) = (level.standard(), level);
        settings.criteria = criteria.map(<[CriterionName]>::to_vec);
        let asked_criteria = settings.required_criteria();
        evidence.campaign.project.level = level;
        evidence.campaign.project.criteria = asked_criteria.into_iter().map(Into::into).collect();
        change(evidence);
    })
}

fn without_records(evidence: &mut Evidence) {
    for record in evidence.kernels.iter_mut().flat_map(|kernel| &mut kernel.records) {
        record.records.words[0] = 0;
    }
}

fn row<'e>(evidence: &'e Evidence, number: &str) -> &'e ObjectiveAssessment {
    let mut rows = evidence.campaign.objectives.iter();
    rows.find(|row| row.objective.row().number == number).expect("every row is assessed")
}

fn statuses(evidence: &Evidence, numbers: &[&str]) -> Vec<ObjectiveStatus> {
    numbers.iter().map(|number| row(evidence, number).status).collect()
}

const ECSS_COVERAGE: [&str; 3] = ["5.8.3.5.b statement", "5.8.3.5.b decision", "5.8.3.5.b MC/DC"];

#[test]
fn a_level_has_the_rows_of_its_standard_alone() {
    for level in [SoftwareLevel::A, SoftwareLevel::CategoryA, SoftwareLevel::AsilD] {
        let evidence = at_level(level, None, |_| {});
        let assessed = evidence.campaign.objectives.iter().map(|row| row.objective);
        let expected = level.standard().objectives().iter().map(|row| row.objective);
        assert!(assessed.eq(expected), "{level}");
    }
}

#[test]
fn what_ecss_demands_wholly_is_met_or_open() {
    use ObjectiveStatus::{Met, Open};
    let covered = at_level(SoftwareLevel::CategoryA, None, |_| {});
    assert_eq!(statuses(&covered, &ECSS_COVERAGE), [Met, Met, Met]);
    assert_eq!(statuses(&covered, &["5.8.3.5.c", "5.8.3.5.e"]), [Met, Open]);
    let uncovered = at_level(SoftwareLevel::CategoryA, None, without_records);
    assert_eq!(statuses(&uncovered, &ECSS_COVERAGE), [Open, Open, Open]);
    assert_eq!(statuses(&uncovered, &["5.8.3.5.d"]), [Open]);
    let not_asked = at_level(SoftwareLevel::CategoryA, Some(&[CriterionName::Statement]), |_| {});
    assert_eq!(statuses(&not_asked, &ECSS_COVERAGE), [Met, Open, Open]);
}

#[test]
fn what_was_agreed_with_the_customer_is_never_said_to_be_met() {
    use ObjectiveStatus::{Applicant, Met, Open};
    let second = at_level(SoftwareLevel::CategoryB, None, |_| {});
    assert_eq!(statuses(&second, &ECSS_COVERAGE), [Met, Met, Applicant]);
    assert_eq!(row(&second, "5.8.3.5.b MC/DC").demand, ObjectiveDemand::Agreed);
    for evidence in [
        at_level(SoftwareLevel::CategoryC, Some(&[]), |_| {}),
        at_level(SoftwareLevel::CategoryD, Some(&[]), without_records),
    ] {
        assert_eq!(statuses(&evidence, &ECSS_COVERAGE), [Applicant; 3]);
        assert!(
            row(&evidence, "5.8.3.5.b statement").shown[0].contains("obligations of statement")
        );
    }
    // What the project asks for wholly counts wholly.
    let asked =
        at_level(SoftwareLevel::CategoryD, Some(&[CriterionName::Statement]), without_records);
    assert_eq!(statuses(&asked, &ECSS_COVERAGE), [Open, Applicant, Applicant]);
    let not_measured =
        at_level(SoftwareLevel::CategoryD, Some(&[]), |evidence| evidence.kernels.clear());
    assert_eq!(statuses(&not_measured, &ECSS_COVERAGE), [Open; 3]);
    assert_eq!(statuses(&not_measured, &["5.8.3.5.c"]), [Open]);
}

#[test]
fn a_recommended_metric_that_is_not_asked_for_is_the_applicants() {
    use ObjectiveStatus::{Applicant, Met, Open};
    const METRICS: [&str; 5] = ["9-1a", "9-1b", "9-1c", "12-1a", "12-1b"];
    let of = |level, change: fn(&mut Evidence)| statuses(&at_level(level, None, change), &METRICS);
    let lowest = of(SoftwareLevel::AsilA, |_| {});
    assert_eq!(lowest, [Met, Applicant, Applicant, Applicant, Applicant]);
    assert_eq!(
        of(SoftwareLevel::AsilA, without_records),
        [Open, Applicant, Applicant, Applicant, Applicant]
    );
    assert_eq!(of(SoftwareLevel::AsilC, |_| {})[..4], [Met, Met, Applicant, Applicant]);
    let strictest = of(SoftwareLevel::AsilD, |_| {});
    assert_eq!(strictest[..4], [Met, Met, Met, Applicant]);
    assert_eq!(of(SoftwareLevel::AsilD, without_records)[..4], [Open, Open, Open, Open]);
    let unasked = at_level(SoftwareLevel::AsilD, Some(&[CriterionName::Branch]), |_| {});
    assert_eq!(statuses(&unasked, &METRICS[..4]), [Applicant, Met, Open, Open]);
}

#[test]
fn forged_rows_and_levels_of_other_standards_are_told() {
    let car = honest_at_level("standard = \"ISO 26262-6\"\nlevel = \"ASIL D\"", |_| {});
    assert_told(
        &car,
        &[
            Forgery::new(
                "what is open said to be met",
                |forged| {
                    let row = forged.campaign.objectives.last_mut().unwrap();
                    (row.status, row.missing) = (ObjectiveStatus::Met, Vec::new());
                },
                "objective 12-1b: stored as met, derived open",
            ),
            Forgery::new(
                "a weaker demand",
                |forged| {
                    let row = forged.campaign.objectives.last_mut().unwrap();
                    row.demand = ObjectiveDemand::Recommended;
                },
                "objective 12-1b: stored as open, derived open",
            ),
            Forgery::new(
                "another level of the standard",
                |forged| forged.campaign.project.level = SoftwareLevel::AsilA,
                "the identity of the project does not follow from its settings",
            ),
            Forgery::new(
                "another standard",
                |forged| {
                    let settings = forged.campaign.settings.as_mut().unwrap();
                    settings.standard = Standard::EcssE40;
                },
                "campaign.json/settings/standard: stored \"ECSS-E-ST-40C\", derived \"ISO 26262-6\"",
            ),
        ],
    );
    let satellite = honest_at_level("standard = \"ECSS-E-ST-40C\"\nlevel = \"category B\"", |_| {});
    assert_told(
        &satellite,
        &[Forgery::new(
            "a share that is to be agreed said to be met",
            |forged| {
                let row = &mut forged.campaign.objectives[3];
                (row.status, row.applicant) = (ObjectiveStatus::Met, Vec::new());
            },
            "objective 5.8.3.5.b MC/DC: stored as met, derived applicant's",
        )],
    );
}
