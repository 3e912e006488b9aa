use super::{compare_with_baseline, without_lines, without_positions};
use vkcert_model::baseline::{BaselineChange, ChangeArea, ChangeEffect};
use vkcert_model::coverage::Status;
use vkcert_model::evidence::{Evidence, RequirementStatus};
use vkcert_model::project::{Contraction, MemoryModel};
use vkcert_model::verdict::Verdict;
use vkcert_sample::{evidence, flawless};

/// What has changed, as (effect, area, subject).
fn changes(before: &Evidence, now: &Evidence) -> Vec<BaselineChange> {
    compare_with_baseline(before, now).unwrap().changes
}

/// The one change that a change of the sample comes to, one way and back.
#[track_caller]
fn assert_worse(area: ChangeArea, subject: &str, change: impl FnOnce(&mut Evidence)) {
    let before = flawless();
    let mut now = flawless();
    change(&mut now);
    let found = changes(&before, &now);
    let of_area: Vec<_> = found.iter().filter(|change| change.area == area).collect();
    let [one] = of_area.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.effect, one.subject.as_str()), (ChangeEffect::Worse, subject));
    let back = changes(&now, &before);
    let effects: Vec<_> =
        back.iter().filter(|change| change.area == area).map(|change| change.effect).collect();
    assert_eq!(effects, [ChangeEffect::Better]);
}

#[test]
fn the_same_evidence_has_no_change() {
    for sample in [evidence(), flawless()] {
        assert_eq!(changes(&sample, &sample), []);
    }
}

#[test]
fn a_verdict_that_is_no_pass_any_more_is_worse() {
    let test = flawless().campaign.tests[0].clone();
    let subject = format!("{} on {}", test.id, test.results[0].engine);
    assert_worse(ChangeArea::Test, &subject, |evidence| {
        evidence.campaign.tests[0].results[0].verdict = Verdict::Fail;
    });
    assert_worse(ChangeArea::Test, &subject, |evidence| {
        evidence.campaign.tests[0].results.remove(0);
    });
}

#[test]
fn a_requirement_that_is_not_verified_any_more_is_worse() {
    let uid = flawless().campaign.requirements[0].requirement.uid.to_string();
    assert_worse(ChangeArea::Requirement, &uid, |evidence| {
        evidence.campaign.requirements[0].status = RequirementStatus::Untested;
    });
    assert_worse(ChangeArea::Requirement, &uid, |evidence| {
        evidence.campaign.requirements.remove(0);
    });
}

#[test]
fn an_obligation_that_is_not_covered_any_more_is_worse() {
    let kernel = flawless().kernels[0].clone();
    let text = kernel.coverage.statements[0].text.clone();
    let subject = format!("statement `{text}`, kernel {} on {}", kernel.kernel, kernel.engine);
    assert_worse(ChangeArea::Coverage, &subject, |evidence| {
        evidence.kernels[0].coverage.statements[0].status = Status::Uncovered;
    });
    assert_worse(ChangeArea::Coverage, &subject, |evidence| {
        evidence.kernels[0].coverage.statements[0].status = Status::Undetermined;
    });
    // Numbers and lines move with the text.
    let (before, mut now) = (flawless(), flawless());
    now.kernels[0].coverage.statements[0].line += 7;
    assert_eq!(changes(&before, &now), []);
}

#[test]
fn less_that_is_asked_for_is_worse() {
    let criterion = flawless().campaign.project.criteria[0].to_string();
    assert_worse(ChangeArea::Settings, &format!("criterion {criterion}"), |evidence| {
        evidence.campaign.project.criteria.remove(0);
    });
    let test = flawless().campaign.tests[0].id;
    assert_worse(ChangeArea::Settings, &format!("test {test}"), |evidence| {
        evidence.campaign.left_out.push(test);
    });
}

#[test]
fn another_driver_is_told_and_not_judged() {
    let (before, mut now) = (flawless(), flawless());
    let engine = now.campaign.engines.iter_mut().find(|engine| engine.ran).unwrap();
    let (name, value) = engine.identity.iter_mut().next().unwrap();
    value.push('2');
    let name = format!("{name} on {}", engine.engine);
    let found = changes(&before, &now);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].effect, found[0].area), (ChangeEffect::Other, ChangeArea::Environment));
    assert_eq!(found[0].subject, name);
}

#[test]
fn what_failed_before_and_fails_otherwise_is_neither() {
    let (mut before, mut now) = (flawless(), flawless());
    before.campaign.tests[0].results[0].verdict = Verdict::Fail;
    now.campaign.tests[0].results[0].verdict = Verdict::Timeout;
    let found = changes(&before, &now);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].effect, ChangeEffect::Other);
}

#[test]
fn numbers_of_lines_are_left_out() {
    assert_eq!(without_lines("at glsl/a.comp:12, b:3: c: 4"), "at glsl/a.comp, b: c: 4");
    assert_eq!(without_lines("nothing"), "nothing");
    assert_eq!(without_lines("5:"), "5:");
    assert_eq!(without_positions("set at 3:14 -> read at 15:13, at rest"), "set -> read, at rest");
    assert_eq!(without_positions("a at 7 at :1"), "a at 7 at :1");
}

#[test]
fn what_is_justified_instead_of_covered_is_told() {
    let (before, mut now) = (flawless(), flawless());
    now.kernels[0].coverage.statements[0].status = Status::Justified;
    let found = changes(&before, &now);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].effect, found[0].area), (ChangeEffect::Other, ChangeArea::Coverage));
    assert_eq!(found[0].now.as_deref(), Some("accepted"));
}

#[test]
fn every_setting_that_a_run_is_measured_by_is_compared() {
    let (before, mut now) = (flawless(), flawless());
    let settings = now.campaign.settings.as_mut().expect("the settings");
    settings.contraction = Contraction::Allowed;
    now.campaign.project.memory_model = MemoryModel::Spec;
    let found = changes(&before, &now);
    let subjects: Vec<_> = found.iter().map(|change| change.subject.as_str()).collect();
    assert_eq!(subjects, ["contraction", "memory model"]);
    assert!(found.iter().all(|change| {
        (change.effect, change.area) == (ChangeEffect::Other, ChangeArea::Settings)
    }));
}
