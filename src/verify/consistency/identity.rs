//! Project, tool, inputs and kernel files, each of which manifest, campaign and kernels name.

use crate::Verification;
use std::collections::BTreeSet;
use vkcert_derivation::stated;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::Evidence;
use vkcert_model::verdict::EngineName;

/// The name of the text that the definitions of a kernel stand in.
const DEFINES: &str = "<defines>";

/// The source text that coverage is shown on is the input that the manifest names.
pub(super) fn inputs(evidence: &Evidence, found: &mut Verification) {
    for kernel in &evidence.kernels {
        // Definitions stand in a text of their own, which is no file.
        let defined = !kernel.configuration.defines.is_empty();
        for file in kernel.structure.files.iter().filter(|file| !(defined && file.path == DEFINES))
        {
            let hash = evidence.manifest.inputs.get(&file.path);
            found.check(hash == Some(&sha256_digits(file.text.as_bytes())), || {
                format!(
                    "{} on {}: the text of {} is not the input",
                    kernel.kernel, kernel.engine, file.path
                )
            });
        }
    }
}

/// The manifest names tool, compiler and devices as the campaign does.
pub(super) fn identity(stored: &Evidence, found: &mut Verification) {
    let (manifest, campaign) = (&stored.manifest, &stored.campaign);
    found.check(manifest.tool == stated::tool(campaign), || {
        "the manifest names another tool than the campaign".to_owned()
    });
    found.check(manifest.compiler == campaign.project.compiler, || {
        "the manifest names another compiler than the campaign".to_owned()
    });
    found.check(manifest.devices == stated::devices(&campaign.engines), || {
        "the manifest names other devices than the campaign".to_owned()
    });
    let date = campaign.project.date.as_deref();
    found.check(date.is_none_or(is_date), || {
        "the date of the campaign is none of RFC 3339 in UTC".to_owned()
    });
}

/// `2026-01-31T12:00:00Z`
fn is_date(text: &str) -> bool {
    let form = "dddd-dd-ddTdd:dd:ddZ";
    let fits = |(letter, wanted): (char, char)| {
        if wanted == 'd' { letter.is_ascii_digit() } else { letter == wanted }
    };
    text.len() == form.len() && text.chars().zip(form.chars()).all(fits)
}

/// There is a file for every kernel that a test dispatches and every engine that ran, and each file
/// has its tests' engine.
pub(super) fn kernel_files(stored: &Evidence, found: &mut Verification) {
    let campaign = &stored.campaign;
    let ran: Vec<EngineName> =
        campaign.engines.iter().filter(|row| row.ran).map(|row| row.engine).collect();
    let tested = campaign
        .tests
        .iter()
        .flat_map(|test| &test.definition.dispatches)
        .map(|dispatch| &dispatch.kernel);
    let stated =
        campaign.settings.iter().flat_map(|settings| &settings.kernels).map(|kernel| &kernel.name);
    let kernels: BTreeSet<_> = tested.chain(stated).collect();
    for (kernel, engine) in
        kernels.iter().flat_map(|kernel| ran.iter().map(move |engine| (kernel, engine)))
    {
        let there =
            stored.kernels.iter().any(|row| row.kernel == **kernel && row.engine == *engine);
        found.check(there, || format!("there is no file of kernel {kernel} on {engine}"));
    }
    for row in &stored.kernels {
        found.check(ran.contains(&row.engine), || {
            format!("{} on {}: that engine did not run", row.kernel, row.engine)
        });
        let known = campaign.settings.is_none() || kernels.contains(&row.kernel);
        found.check(known, || {
            format!("{} on {}: the project has no such kernel", row.kernel, row.engine)
        });
    }
    for test in &campaign.tests {
        let engines: Vec<EngineName> = test.results.iter().map(|result| result.engine).collect();
        let due: Vec<EngineName> = campaign.engines.iter().map(|row| row.engine).collect();
        found.check(engines == due, || {
            format!("test {}: its results are not those of the engines", test.id)
        });
    }
}

/// The project file says what the project's identity repeats.
pub(super) fn settings(stored: &Evidence, found: &mut Verification) {
    let Some(settings) = &stored.campaign.settings else { return };
    let project = &stored.campaign.project;
    let criteria: Vec<&str> =
        settings.required_criteria().iter().map(|criterion| criterion.name()).collect();
    let same = project.name == settings.name
        && project.level == settings.level
        && project.decision_policy == settings.decision_policy
        && project.memory_model == settings.memory_model
        && project.criteria == criteria;
    found
        .check(same, || "the identity of the project does not follow from its settings".to_owned());
}
