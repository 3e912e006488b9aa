//! What was verified, with what: project, tool, compiler, engines, modules.

use super::links::{joined, listed, unit_link};
use crate::document::{Align, Block, Extent, Outline, Table, Text, Tone};
use crate::facts;
use vkcert_model::evidence::{Evidence, ProfileEvidence};
use vkcert_model::project::{
    Contraction, DecisionPolicy, MemoryModel, Robustness, ValidationLayers,
};

pub(super) fn chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, "Identification", "chapter/identification");
    let project = &evidence.campaign.project;
    let text = |value: &str| Text::plain(value);
    outline.push(Block::Pairs(vec![
        ("Project".into(), Text::strong(project.name.as_str())),
        ("Software level".into(), text(&format!("DO-178C level {}", project.level))),
        ("Profile".into(), profile(&project.profile)),
        ("Tool".into(), text(&format!("{} {}", project.tool, project.tool_version))),
        ("Compiler".into(), text(&project.compiler)),
        ("Compiler options".into(), Text::code(project.compiler_options.as_str())),
        ("Decision policy".into(), text(&policy(project.decision_policy))),
        ("Memory model".into(), Text::sentence(memory_model(project.memory_model))),
        ("Criteria".into(), text(&criteria(&project.criteria))),
        ("Date".into(), date(project.date.as_deref())),
    ]));
    refused(evidence, outline);
    engines(evidence, outline);
    settings(evidence, outline);
    configurations(evidence, outline);
}

fn profile(profile: &ProfileEvidence) -> Text {
    let name = Text::code(profile.name.as_str());
    if profile.meaning.is_empty() {
        return name;
    }
    let features = profile.features.iter().map(|feature| Text::code(feature.as_str()));
    name.then(". ")
        .then(profile.meaning.join(" "))
        .then(" Declared features: ")
        .and(listed(features, Tone::Quiet))
}

fn refused(evidence: &Evidence, outline: &mut Outline) {
    let profile = &evidence.campaign.project.profile;
    if profile.refused.is_empty() {
        return;
    }
    outline.heading(2, "Kernels that the profile refuses", "chapter/refused");
    outline.paragraph("No test of these kernels ran, and nothing of them is covered.");
    let mut table = Table::new("Refused kernels").columns(&["Kernel", "What the target lacks"]);
    for row in &profile.refused {
        table.row(vec![
            Text::strong(row.kernel.as_str()),
            Text::plain(row.reasons.join("; ")).tone(Tone::Bad),
        ]);
    }
    outline.table(table);
}

fn policy(policy: DecisionPolicy) -> &'static str {
    match policy {
        DecisionPolicy::Literal => "literal: every Boolean expression is a decision (CAST-10)",
        DecisionPolicy::ControlFlow => {
            "control-flow: only expressions that direct control flow are decisions"
        }
    }
}

fn memory_model(model: MemoryModel) -> &'static str {
    match model {
        MemoryModel::Idiom => {
            "idiom: the Vulkan memory model, and a memory barrier directly before `barrier()` is taken as one with it"
        }
        MemoryModel::Spec => "spec: the Vulkan memory model to the letter",
    }
}

/// What of the project file decides how much a result says.
fn settings(evidence: &Evidence, outline: &mut Outline) {
    let Some(settings) = &evidence.campaign.settings else { return };
    outline.heading(2, "Settings", "chapter/settings");
    let mut table = Table::new("Settings of the project file that a result depends on")
        .columns(&["Setting", "Value"]);
    let mut row =
        |name: &str, value: String| table.row(vec![Text::plain(name), Text::sentence(value)]);
    row(
        "Engines",
        match &settings.engines {
            None => "sequential, and vulkan where a device is found".to_owned(),
            Some(engines) => engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        },
    );
    row(
        "Repetitions of a test",
        match settings.repeat {
            None => "the engine's own (sequential 1, vulkan 3)".to_owned(),
            Some(times) => times.to_string(),
        },
    );
    let schedules = settings.schedules;
    row(
        "Other schedules of a test",
        match schedules.count {
            0 => "none asked for".to_owned(),
            count => format!("{count}, seed {}", schedules.seed),
        },
    );
    row(
        "Validation layers",
        match settings.validation {
            ValidationLayers::On => "on, where they are installed",
            ValidationLayers::Off => "off",
            ValidationLayers::Required => "required",
        }
        .to_owned(),
    );
    row(
        "Robustness features of the device",
        match settings.robustness {
            Robustness::Off => "off: accesses outside of buffers and images are undefined",
            Robustness::Basic => {
                "basic: robustBufferAccess, and robustImageAccess where the device has it"
            }
            Robustness::Strict => "strict: robustBufferAccess2 and robustImageAccess2 as well",
            Robustness::Best => "best: strict where the device has both features, else basic",
        }
        .to_owned(),
    );
    row(
        "Contraction",
        match settings.contraction {
            Contraction::Forbidden => {
                "forbidden: any difference of floats between production and what is measured is a finding"
            }
            Contraction::Allowed => "allowed: production may differ from what is measured within a test's tolerance",
        }
        .to_owned(),
    );
    let limits = &settings.limits;
    row(
        "Limits of a test",
        format!(
            "{} s on a device, {} steps, {} bytes",
            limits.seconds, limits.steps, limits.memory_bytes
        ),
    );
    row(
        "Kept in the evidence",
        format!(
            "{} mismatches per expectation, outputs of up to {} bytes",
            limits.mismatches, limits.output_bytes
        ),
    );
    outline.table(table);
    outline.paragraph(Text::quiet(
        "As the project file has them. The command line can set repetitions, schedules and limits otherwise for a run; each test \
         tells its repetitions and schedules.",
    ));
}

fn criteria(names: &[String]) -> String {
    names.iter().map(|name| facts::criterion_title(name)).collect::<Vec<_>>().join(", ")
}

pub(super) fn date(date: Option<&str>) -> Text {
    date.map_or_else(|| Text::quiet("not recorded (SOURCE_DATE_EPOCH was not set)"), Text::plain)
}

fn engines(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(2, "Engines and devices", "chapter/engines");
    let mut table = Table::new("Engines").columns(&["Engine", "State", "Identity"]);
    for engine in &evidence.campaign.engines {
        let state = match (engine.ran, &engine.reason) {
            (true, None) => Text::plain("ran").tone(Tone::Good),
            (true, Some(reason)) => Text::plain("ran").tone(Tone::Good).then(format!(": {reason}")),
            (false, reason) => {
                let reason = reason.as_deref().unwrap_or("no reason recorded");
                Text::strong("not run").tone(Tone::Caution).then(format!(": {reason}"))
            }
        };
        let identity = engine
            .identity
            .iter()
            .map(|(name, value)| Text::quiet(format!("{name} ")).then(value.as_str()));
        let identity = joined(identity, "; ", Tone::Quiet);
        table.row(vec![Text::strong(engine.engine.to_string()), state, identity]);
    }
    outline.table(table);
}

fn configurations(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(2, "Kernels and modules", "chapter/modules");
    outline.paragraph(
        "The production module is compiled from the untouched source and alone judges requirements. The traced module \
         is compiled from the marked source with the markers erased; the instrumented module is the traced one with \
         coverage records. Coverage belongs to the configuration named here.",
    );
    for unit in facts::units(evidence) {
        let Some((_, kernel)) = facts::on_engines(evidence, &unit).into_iter().next() else {
            continue;
        };
        let mut table = Table::new(Text::plain("Kernel ").and(unit_link(&unit)))
            .column("Property", Align::Left)
            .column("Value", Align::Left)
            .extent(Extent::Full);
        let configuration = &kernel.configuration;
        let modules = &kernel.modules;
        let mut row = |name: &str, value: Text| table.row(vec![Text::plain(name), value]);
        row("Source", Text::code(kernel.source.as_str()));
        row("Entry point", Text::code(configuration.entry.as_str()));
        row("Target environment", Text::code(configuration.target_env.as_str()));
        row("Local size", Text::code(configuration.local_size.map(|n| n.to_string()).join(" × ")));
        row("Defines", pairs(configuration.defines.iter()));
        let values = configuration
            .specialization
            .iter()
            .map(|constant| (constant.label(), constant.value.clone()));
        let values: Vec<(String, String)> = values.collect();
        if !values.is_empty() {
            row("Configuration", Text::code(configuration.name.as_str()));
            row("Specialization", pairs(values.iter().map(|(name, value)| (name, value))));
        }
        row("Production module", hash(&modules.production, modules.production_file.as_deref()));
        row("Traced module", hash(&modules.traced, None));
        row("Instrumented module", hash(&modules.instrumented, None));
        outline.table(table);
    }
}

fn pairs<'a>(pairs: impl Iterator<Item = (&'a String, &'a String)>) -> Text {
    let pairs = pairs.map(|(name, value)| Text::code(format!("{name}={value}")));
    listed(pairs, Tone::Quiet)
}

fn hash(hash: &str, file: Option<&str>) -> Text {
    if hash.is_empty() {
        return Text::quiet("none recorded");
    }
    let file = file.map_or_else(Text::empty, |file| Text::code(file).then(" "));
    file.and(Text::code(hash))
}
