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
use crate::model::evidence::Configuration;
use crate::model::exit::Exit;
use crate::model::id::{KernelName, ObligationId};
use crate::model::project::CriterionName;
use crate::model::requirement::{
    DeactivationCategory, Justification, JustificationClass, JustificationSubject,
};
use crate::model::verdict::EngineName;
use crate::requirement::Project;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An obligation of a kernel under a configuration.
struct Row {
    id: ObligationId,
    criteria: Vec<CriterionName>,
    place: String,
    text: String,
    /// What a justification of it is bound to.
    hash: String,
    proposal: Option<Proposal>,
}

/// A kernel's obligations under one configuration.
struct Listed<'a> {
    kernel: &'a Kernel,
    configuration: &'a Configuration,
    rows: Vec<Row>,
}

/// One row per kernel, configuration and obligation; text names configurations only where a kernel
/// has several.
pub(super) fn rows(list: &List, form: OutputForm) -> Result<Vec<Value>, Failure> {
    let (_, kernels) = load(list)?;
    let several = kernels.iter().any(|kernel| kernel.configurations.len() > 1);
    let mut found = Vec::new();
    for listed in kernels.iter().flat_map(of_kernel) {
        let name = &listed.kernel.name;
        for row in &listed.rows {
            let mut value = json!({
                "id": row.id, "kernel": name, "place": row.place, "text": row.text, "hash": row.hash,
            });
            if several || form == OutputForm::Json {
                value["configuration"] = listed.configuration.name.as_str().into();
            }
            if form == OutputForm::Json {
                value["proposal"] = json!(row.proposal);
            }
            found.push(value);
        }
        if listed.kernel.measured().is_none() && listed.rows.is_empty() {
            let text = "no source: undetermined";
            found.push(json!({"id": "-", "kernel": name, "place": listed.kernel.source, "text": text, "hash": null}));
        }
    }
    Ok(found)
}

/// Justifications to review, as TOML for `requirements/` (with `--format json` as an array with the
/// text in it).
pub(super) fn propose(common: &Common, list: &List) -> Result<Exit, Failure> {
    let (project, kernels) = load(list)?;
    let asked = project.settings.value.required_criteria();
    let mut text = String::new();
    let mut values = Vec::new();
    let all: Vec<Listed> = kernels.iter().flat_map(of_kernel).collect();
    for listed in &all {
        for row in listed
            .rows
            .iter()
            .filter(|row| row.criteria.iter().any(|criterion| asked.contains(criterion)))
        {
            let Some(proposal) = &row.proposal else { continue };
            let justification = written(&all, listed, row, proposal);
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
    match common.format {
        OutputForm::Json => output::print(&format!("{:#}\n", Value::Array(values)))?,
        OutputForm::Text if text.is_empty() => {
            let hash = places::of_list(list)
                .on_evidence("vkcert list obligations", "--status open --hash");
            output::print(&format!(
                "# Nothing is ruled out by a configuration; there is nothing to propose. What no test can cover is justified by\n\
                 # hand, with the hash that {hash} prints.\n"
            ))?;
        }
        OutputForm::Text => {
            let head = "# Review each of these, give author and approver, and put it into requirements/.\n\n";
            output::print(&format!("{head}{text}"))?;
        }
    }
    Ok(Exit::Success)
}

fn load(list: &List) -> Result<(Project, Vec<Kernel>), Failure> {
    let project = project::load(&list.dir)?;
    let mut kernels = project::compile(&project)?;
    configuration::configure(&project, &mut kernels)?;
    Ok((project, kernels))
}

fn of_kernel(kernel: &Kernel) -> impl Iterator<Item = Listed<'_>> {
    kernel.configurations.iter().map(move |found| Listed {
        kernel,
        configuration: &found.configuration,
        rows: of_configuration(kernel, found),
    })
}

fn of_configuration(kernel: &Kernel, found: &KernelConfiguration) -> Vec<Row> {
    let coverage =
        kernel_coverage::kernel_coverage(kernel, found, EngineName::Sequential, &[], &[]);
    let mut rows = of_coverage(&coverage);
    kernel_coverage::contents(kernel, &coverage, |contents| {
        for row in &mut rows {
            row.hash = contents.hash(&row.id).unwrap_or_default();
        }
    });
    rows
}

fn of_coverage(coverage: &KernelCoverage) -> Vec<Row> {
    let displayed = justification::displayed(coverage);
    let text = |id: &ObligationId| displayed.get(id).cloned().unwrap_or_default();
    let simple = |item: &SimpleObligation, criteria: &[CriterionName]| Row {
        id: item.id.clone(),
        criteria: criteria.to_vec(),
        place: item.place(),
        text: text(&item.id),
        hash: String::new(),
        proposal: item.proposal.clone(),
    };
    let outcomes = || coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
    let outcome_ids: BTreeSet<&ObligationId> = outcomes().map(|outcome| &outcome.id).collect();
    let mut rows = Vec::new();
    rows.extend(coverage.statements.iter().map(|item| simple(item, &[CriterionName::Statement])));
    let labels = coverage
        .branches
        .iter()
        .filter(|item| !outcome_ids.contains(&item.id) && item.object.is_none());
    rows.extend(labels.map(|item| simple(item, &[CriterionName::Branch])));
    rows.extend(coverage.points.iter().map(|item| simple(item, &[CriterionName::Decision])));
    for decision in &coverage.decisions {
        let both: &[CriterionName] = match decision.context.controls_flow() {
            true => &[CriterionName::Branch, CriterionName::Decision],
            false => &[CriterionName::Decision],
        };
        rows.extend(decision.outcomes.iter().map(|item| simple(item, both)));
        for (condition, mcdc) in decision.conditions.iter().zip(&decision.mcdc) {
            let forms = [
                ("unique-cause", CriterionName::McdcUniqueCause, &mcdc.unique_cause),
                ("masking", CriterionName::McdcMasking, &mcdc.masking),
            ];
            for (form, criterion, independence) in forms {
                let id = ObligationId(format!("{}.{form}", condition.id));
                rows.push(Row {
                    criteria: vec![criterion],
                    place: format!("{}:{}:{}", decision.file, condition.line, condition.column),
                    text: text(&id),
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
                .map(|item| simple(item, &[CriterionName::MultipleCondition])),
        );
    }
    rows.extend(coverage.barriers.iter().map(|item| simple(item, &[CriterionName::Barrier])));
    let branches: BTreeSet<&ObligationId> = coverage.branches.iter().map(|item| &item.id).collect();
    let additional: BTreeSet<&ObligationId> = coverage.additional.iter().collect();
    rows.extend(coverage.objects.iter().map(|item| {
        let branch = branches.contains(&item.id).then_some(CriterionName::Branch);
        let additional = additional.contains(&item.id).then_some(CriterionName::AdditionalCode);
        let criteria: Vec<_> =
            branch.into_iter().chain([CriterionName::ObjectBranch]).chain(additional).collect();
        simple(item, &criteria)
    }));
    rows
}

/// The table of a justification, as a requirements file holds it.
fn written(all: &[Listed], listed: &Listed, row: &Row, proposal: &Proposal) -> String {
    let several = listed.kernel.configurations.len() > 1;
    let deactivated = proposal.class == JustificationClass::Deactivated;
    let infeasible = proposal.class == JustificationClass::Infeasible;
    unsigned(&Justification {
        kernel: KernelName(listed.kernel.name.clone()),
        subject: JustificationSubject::Obligation(row.id.clone()),
        configuration: several.then(|| listed.configuration.name.clone()),
        class: proposal.class,
        reason: proposal.reason.clone(),
        category: deactivated.then(|| category(all, listed, row)),
        means: deactivated.then(|| means(listed.configuration)),
        argument: infeasible
            .then(|| format!("the source text alone decides it: {}", proposal.reason)),
        author: String::new(),
        approver: String::new(),
        hash: row.hash.clone(),
    })
}

/// Whether another configuration of the kernel runs what this one does not.
fn category(all: &[Listed], listed: &Listed, row: &Row) -> DeactivationCategory {
    let mut others = all.iter().filter(|other| other.kernel.name == listed.kernel.name);
    let runs = others
        .any(|other| other.rows.iter().any(|known| known.id == row.id && known.proposal.is_none()));
    if runs { DeactivationCategory::OtherConfiguration } else { DeactivationCategory::Never }
}

/// What the configuration sets.
fn means(configuration: &Configuration) -> String {
    let Configuration { name, specialization, defines, .. } = configuration;
    let constants =
        specialization.iter().map(|constant| format!("{} = {}", constant.label(), constant.value));
    let set: Vec<String> =
        constants.chain(defines.iter().map(|(name, value)| format!("{name} = {value}"))).collect();
    format!("the constants of configuration {name}: {}", set.join(", "))
}

/// A justification as a requirements file holds it; whoever signs it fills in what is empty.
pub(super) fn unsigned(justification: &Justification) -> String {
    let table = toml::to_string(justification).expect("a justification is a table of texts");
    format!("[[justification]]\n{table}")
}
