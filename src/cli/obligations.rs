//! `vkcert list obligations`: every obligation of every kernel and configuration, and the
//! justifications that the configurations themselves suggest.
//!
//! Promises: a proposal is only printed, never applied: author and approver are empty, which no
//! justification may be.
//! Does not cover: what tests have covered (`certify`).

use super::args::{Common, List, OutputForm};
use super::failure::Failure;
use super::{output, places};
use crate::campaign::configuration::KernelConfiguration;
use crate::campaign::kernel::Kernel;
use crate::campaign::{configuration, kernel_coverage, project};
use crate::coverage::justification;
use crate::model::coverage::{KernelCoverage, Proposal, SimpleObligation};
use crate::model::criterion::CriterionName;
use crate::model::evidence::Configuration;
use crate::model::exit::Exit;
use crate::model::id::{KernelName, ObligationId};
use crate::model::requirement::{
    DeactivationCategory, Justification, JustificationClass, JustificationSubject,
};
use crate::model::verdict::EngineName;
use crate::requirement::Project;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An obligation of a kernel under a configuration.
struct ObligationRow {
    id: ObligationId,
    criteria: Vec<CriterionName>,
    place: String,
    text: String,
    /// The hash that a justification of it is bound to.
    hash: String,
    proposal: Option<Proposal>,
}

/// A kernel's obligations under one configuration.
struct ListedConfiguration<'a> {
    kernel: &'a Kernel,
    configuration: &'a Configuration,
    rows: Vec<ObligationRow>,
}

/// One row per kernel, configuration and obligation; text names configurations only where a kernel
/// has several.
pub(super) fn obligation_rows(list: &List, form: OutputForm) -> Result<Vec<Value>, Failure> {
    let (_, kernels) = load_kernels(list)?;
    let has_several = kernels.iter().any(|kernel| kernel.configurations.len() > 1);
    let mut listed_rows = Vec::new();
    for listed in kernels.iter().flat_map(obligations_of_kernel) {
        let kernel_name = &listed.kernel.name;
        for row in &listed.rows {
            let mut row_value = json!({
                "id": row.id, "kernel": kernel_name, "place": row.place, "text": row.text, "hash": row.hash,
            });
            if has_several || form == OutputForm::Json {
                row_value["configuration"] = listed.configuration.name.as_str().into();
            }
            if form == OutputForm::Json {
                row_value["proposal"] = json!(row.proposal);
            }
            listed_rows.push(row_value);
        }
        if listed.kernel.measured().is_none() && listed.rows.is_empty() {
            let text = "no source: undetermined";
            listed_rows.push(json!({"id": "-", "kernel": kernel_name, "place": listed.kernel.source, "text": text, "hash": null}));
        }
    }
    Ok(listed_rows)
}

/// Justifications to review, as TOML for `requirements/` (with `--format json` as an array with the
/// text in it).
pub(super) fn propose_justifications(common: &Common, list: &List) -> Result<Exit, Failure> {
    let (project, kernels) = load_kernels(list)?;
    let asked_criteria = project.settings.value.required_criteria();
    let mut text = String::new();
    let mut values = Vec::new();
    let all_listed: Vec<ListedConfiguration> =
        kernels.iter().flat_map(obligations_of_kernel).collect();
    for listed in &all_listed {
        for row in listed
            .rows
            .iter()
            .filter(|row| row.criteria.iter().any(|criterion| asked_criteria.contains(criterion)))
        {
            let Some(proposal) = &row.proposal else { continue };
            let justification = proposed_table(&all_listed, listed, row, proposal);
            values.push(json!({
                "id": row.id, "kernel": listed.kernel.name, "configuration": listed.configuration.name, "place": row.place,
                "text": row.text, "proposal": proposal, "justification": justification,
            }));
            text.push_str(&format!(
                "# {} at {}: {}\n{justification}\n",
                row.id, row.place, row.text
            ));
        }
    }
    match common.form() {
        OutputForm::Json => output::print_text(&format!("{:#}\n", Value::Array(values)))?,
        OutputForm::Text if text.is_empty() => {
            let hash_command = places::places_of_list(list)
                .on_evidence("vkcert list obligations", "--status open --hash");
            output::print_text(&format!(
                "# Nothing is ruled out by a configuration; there is nothing to propose. What no test can cover is justified by\n\
                 # hand, with the hash that {hash_command} prints.\n"
            ))?;
        }
        OutputForm::Text => {
            let heading = "# Review each of these, give author and approver, and put it into requirements/.\n\n";
            output::print_text(&format!("{heading}{text}"))?;
        }
    }
    Ok(Exit::Success)
}

fn load_kernels(list: &List) -> Result<(Project, Vec<Kernel>), Failure> {
    let project = project::load_project(&list.dir)?;
    let kernels = configuration::configure_kernels(&project, project::compile_kernels(&project)?)?;
    Ok((project, kernels))
}

fn obligations_of_kernel(kernel: &Kernel) -> impl Iterator<Item = ListedConfiguration<'_>> {
    kernel.configurations.iter().map(move |kernel_configuration| ListedConfiguration {
        kernel,
        configuration: &kernel_configuration.configuration,
        rows: obligations_of_configuration(kernel, kernel_configuration),
    })
}

fn obligations_of_configuration(
    kernel: &Kernel,
    kernel_configuration: &KernelConfiguration,
) -> Vec<ObligationRow> {
    let coverage = kernel_coverage::kernel_coverage(
        kernel,
        kernel_configuration,
        EngineName::Sequential,
        &[],
        &[],
    );
    let mut rows = obligations_of_coverage(&coverage);
    kernel_coverage::with_bound_contents(kernel, kernel_configuration, &coverage, |contents| {
        for row in &mut rows {
            row.hash = contents.content_hash_of(&row.id).unwrap_or_default();
        }
    });
    rows
}

fn obligations_of_coverage(coverage: &KernelCoverage) -> Vec<ObligationRow> {
    let displayed_texts = justification::displayed_texts(coverage);
    let text_of =
        |id: &ObligationId| displayed_texts.get(id).cloned().unwrap_or_default().into_owned();
    let simple_row = |obligation: &SimpleObligation, criteria: &[CriterionName]| ObligationRow {
        id: obligation.id,
        criteria: criteria.to_vec(),
        place: obligation.place(),
        text: text_of(&obligation.id),
        hash: String::new(),
        proposal: obligation.proposal.clone(),
    };
    let outcomes = || coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
    let outcome_ids: BTreeSet<&ObligationId> = outcomes().map(|outcome| &outcome.id).collect();
    let mut rows = Vec::new();
    rows.extend(
        coverage
            .statements
            .iter()
            .map(|obligation| simple_row(obligation, &[CriterionName::Statement])),
    );
    let switch_labels = coverage
        .branches
        .iter()
        .filter(|obligation| !outcome_ids.contains(&obligation.id) && obligation.object.is_none());
    rows.extend(switch_labels.map(|obligation| simple_row(obligation, &[CriterionName::Branch])));
    rows.extend(
        coverage.points.iter().map(|obligation| simple_row(obligation, &[CriterionName::Decision])),
    );
    for decision in &coverage.decisions {
        let outcome_criteria: &[CriterionName] = match decision.context.controls_flow() {
            true => &[CriterionName::Branch, CriterionName::Decision],
            false => &[CriterionName::Decision],
        };
        rows.extend(
            decision.outcomes.iter().map(|obligation| simple_row(obligation, outcome_criteria)),
        );
        for (condition, mcdc) in decision.conditions.iter().zip(&decision.mcdc) {
            let forms = [
                ("unique-cause", CriterionName::McdcUniqueCause, &mcdc.unique_cause),
                ("masking", CriterionName::McdcMasking, &mcdc.masking),
            ];
            for (form_name, criterion, independence) in forms {
                let id = ObligationId::from(format!("{}.{form_name}", condition.id));
                rows.push(ObligationRow {
                    criteria: vec![criterion],
                    place: format!("{}:{}:{}", decision.file, condition.line, condition.column),
                    text: text_of(&id),
                    hash: String::new(),
                    proposal: independence.proposal.clone(),
                    id,
                });
            }
        }
        rows.extend(
            decision
                .combinations
                .iter()
                .map(|obligation| simple_row(obligation, &[CriterionName::MultipleCondition])),
        );
    }
    let barrier_criteria = coverage.criteria_with_coupling(CriterionName::Barrier);
    rows.extend(
        coverage.barriers.iter().map(|obligation| simple_row(obligation, &barrier_criteria)),
    );
    for (criterion, obligations) in coverage.requested() {
        let criteria = coverage.criteria_with_coupling(criterion);
        let obligations = obligations.iter().flatten();
        rows.extend(obligations.map(|obligation| simple_row(obligation, &criteria)));
    }
    let branch_ids: BTreeSet<&ObligationId> =
        coverage.branches.iter().map(|obligation| &obligation.id).collect();
    let additional_ids: BTreeSet<&ObligationId> = coverage.additional.iter().collect();
    rows.extend(coverage.objects.iter().map(|obligation| {
        let branch_criterion = branch_ids.contains(&obligation.id).then_some(CriterionName::Branch);
        let additional_ids =
            additional_ids.contains(&obligation.id).then_some(CriterionName::AdditionalCode);
        let criteria: Vec<_> = branch_criterion
            .into_iter()
            .chain([CriterionName::ObjectBranch])
            .chain(additional_ids)
            .collect();
        simple_row(obligation, &criteria)
    }));
    rows
}

/// The table of a justification, as a requirements file holds it.
fn proposed_table(
    all_listed: &[ListedConfiguration],
    listed: &ListedConfiguration,
    row: &ObligationRow,
    proposal: &Proposal,
) -> String {
    let has_several = listed.kernel.configurations.len() > 1;
    let is_deactivated = proposal.class == JustificationClass::Deactivated;
    let is_infeasible = proposal.class == JustificationClass::Infeasible;
    unsigned_justification(&Justification {
        kernel: KernelName::from(&listed.kernel.name),
        subject: JustificationSubject::Obligation(row.id),
        configuration: has_several.then(|| listed.configuration.name.clone()),
        class: proposal.class,
        reason: proposal.reason.clone(),
        category: is_deactivated.then(|| deactivation_category(all_listed, listed, row)),
        means: is_deactivated.then(|| deactivation_means(listed.configuration)),
        argument: is_infeasible
            .then(|| format!("the source text alone decides it: {}", proposal.reason)),
        author: String::new(),
        approver: String::new(),
        date: None,
        hash: row.hash.clone(),
    })
}

/// The category of deactivated code: whether another configuration of the kernel runs it.
fn deactivation_category(
    all_listed: &[ListedConfiguration],
    listed: &ListedConfiguration,
    row: &ObligationRow,
) -> DeactivationCategory {
    let mut same_kernel = all_listed
        .iter()
        .filter(|other_configuration| other_configuration.kernel.name == listed.kernel.name);
    let is_run_elsewhere = same_kernel.any(|other_configuration| {
        other_configuration
            .rows
            .iter()
            .any(|other_row| other_row.id == row.id && other_row.proposal.is_none())
    });
    if is_run_elsewhere {
        DeactivationCategory::OtherConfiguration
    } else {
        DeactivationCategory::Never
    }
}

/// The constants that the configuration sets.
fn deactivation_means(configuration: &Configuration) -> String {
    let Configuration { name, specialization, defines, .. } = configuration;
    let constant_values =
        specialization.iter().map(|constant| format!("{} = {}", constant.label(), constant.value));
    let set_values: Vec<String> = constant_values
        .chain(defines.iter().map(|(define, value)| format!("{define} = {value}")))
        .collect();
    format!("the constants of configuration {name}: {}", set_values.join(", "))
}

/// A justification as a requirements file holds it; whoever signs it fills in what is empty.
pub(super) fn unsigned_justification(justification: &Justification) -> String {
    let toml_table = toml::to_string(justification).expect("a justification is a table of texts");
    format!("[[justification]]\n{toml_table}")
}
