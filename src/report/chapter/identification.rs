//! What was verified, with what: project, tool, compiler, engines, modules.

use super::document_control::stated_text;
use super::links::{joined_texts, listed_texts, unit_link};
use super::members::ContentsOf;
use crate::DocumentName;
use crate::document::{Block, ColumnAlign, Outline, Table, TableExtent, Text, Tone};
use crate::facts;
use crate::shortened::first_names;
use crate::statement::counted;
use std::collections::BTreeMap;
use vkcert_model::criterion::StoredCriterion;
use vkcert_model::evidence::{Evidence, ProfileEvidence};
use vkcert_model::project::{
    Contraction, DecisionPolicy, MemoryModel, Robustness, Standard, ValidationLayers,
};
use vkcert_model::vulkan_sc::NO_VULKAN_SC_RAN;

/// What the date of evidence is called: nobody looked at a clock.
pub(super) const DATE: &str = "Date (SOURCE_DATE_EPOCH)";

pub(super) fn identification_chapter(evidence: &Evidence, root: &str, outline: &mut Outline) {
    outline.add_heading(1, "Identification", "chapter/identification");
    let project = &evidence.campaign.project;
    let mut pairs = vec![
        ("Project".to_owned(), Text::strong(project.name.as_str())),
        (project.level.standard().level_label().to_owned(), Text::plain(project.level.in_words())),
    ];
    pairs.extend(build_pairs(evidence, ContentsOf::Results));
    pairs.push((DATE.to_owned(), date_text(project.date.as_deref())));
    pairs.push(("Build of the tool".to_owned(), provenance_text(root)));
    outline.add_block(Block::Pairs(pairs));
    if !project.metrics.is_empty() {
        let names = project.metrics.iter().map(|metric| Text::code(metric.to_string()));
        outline.add_paragraph(
            Text::plain("Measured beside the criteria, with no effect on any result: ")
                .followed_by(Text::join(names, ", "))
                .then_plain("."),
        );
    }
    set_aside_section(evidence, outline);
    refused_section(evidence, outline);
    engines_section(evidence, outline);
    settings_section(evidence, ContentsOf::Results, outline);
    configurations_section(evidence, outline);
}

/// Where stands what must not depend on the machine here.
fn provenance_text(root: &str) -> Text {
    Text::plain("build commit, SHA-256 of the program, machine and command line: in ")
        .followed_by(Text::code("provenance.json"))
        .then_plain(" beside the reports of the run, with the evidence_root ")
        .followed_by(Text::code(root))
}

/// What modules and measures follow from.
pub(super) fn build_pairs(evidence: &Evidence, of: ContentsOf) -> Vec<(String, Text)> {
    let project = &evidence.campaign.project;
    vec![
        ("Profile".into(), profile_text(&project.profile, of)),
        ("Tool".into(), Text::plain(format!("{} {}", project.tool, project.tool_version))),
        ("Compiler".into(), Text::plain(project.compiler.as_str())),
        ("Compiler options".into(), compiler_options_text(&project.compiler_options)),
        (
            "Decision policy".into(),
            Text::plain(policy_words(project.decision_policy, project.level.standard())),
        ),
        ("Memory model".into(), Text::sentence(memory_model_words(project.memory_model))),
        ("Criteria".into(), Text::plain(criteria_words(&project.criteria))),
    ]
}

/// Kernels whose options are told one by one.
const NAMED_OPTIONS: usize = 24;

/// The options of each kernel; of many kernels each set of options with how many have it.
fn compiler_options_text(options: &str) -> Text {
    let rows: Vec<(&str, &str)> =
        options.split("; ").filter_map(|row| row.split_once(": ")).collect();
    if rows.len() <= NAMED_OPTIONS {
        return Text::code(options);
    }
    let mut kernels_by_options: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (kernel, options) in rows {
        kernels_by_options.entry(options).or_default().push(kernel);
    }
    let row_text = |(options, kernels): (&str, Vec<&str>)| {
        let count = counted(kernels.len(), "kernel");
        Text::code(options).then_plain(format!(" ({count}: {})", first_names(&kernels)))
    };
    Text::join(kernels_by_options.into_iter().map(row_text), "; ")
        .then_plain(". campaign.json has those of each kernel.")
}

/// What it says of the run is no part of cases and procedures.
fn profile_text(profile: &ProfileEvidence, of: ContentsOf) -> Text {
    let profile_name = Text::code(profile.name.as_str());
    if profile.meaning.is_empty() {
        return profile_name;
    }
    let sentences = profile.meaning.iter().map(String::as_str).filter(|sentence| match of {
        ContentsOf::Case => *sentence != NO_VULKAN_SC_RAN,
        ContentsOf::Results => true,
    });
    let sentences: Vec<&str> = sentences.collect();
    let feature_codes = profile.features.iter().map(|feature| Text::code(feature.as_str()));
    profile_name
        .then_plain(". ")
        .then_plain(sentences.join(" "))
        .then_plain(" Declared features: ")
        .followed_by(listed_texts(feature_codes, Tone::Quiet))
}

/// Where kernels that do not compile stand.
pub(super) const SET_ASIDE: &str = "chapter/set-aside";

fn set_aside_section(evidence: &Evidence, outline: &mut Outline) {
    let Some(words) = evidence.campaign.set_aside_in_words() else { return };
    outline.add_heading(2, "Kernels that do not compile", SET_ASIDE);
    outline.add_paragraph(format!(
        "{words} (--keep-going). Nothing of them is certified: no test that names one of them ran, and no number in these \
         results is of them."
    ));
    let mut table = Table::new("Kernels that do not compile").columns(&[
        "Kernel",
        "Source",
        "What the compiler says",
        "Tests that did not run",
    ]);
    for row in &evidence.campaign.set_aside {
        let told = row.diagnostics.iter().map(|diagnostic| Text::plain(diagnostic.to_string()));
        let tests = row.tests.iter().map(|test| Text::code(test.as_str()));
        table.add_row(vec![
            Text::strong(row.kernel.as_str()),
            Text::code(row.source.as_str()),
            Text::join(told, "; ").with_tone(Tone::Bad),
            listed_texts(tests, Tone::Quiet),
        ]);
    }
    outline.add_table(table);
}

fn refused_section(evidence: &Evidence, outline: &mut Outline) {
    let profile = &evidence.campaign.project.profile;
    if profile.refused.is_empty() {
        return;
    }
    outline.add_heading(2, "Kernels that the profile refuses", "chapter/refused");
    outline.add_paragraph("No test of these kernels ran, and nothing of them is covered.");
    let mut table = Table::new("Refused kernels").columns(&["Kernel", "What the target lacks"]);
    for row in &profile.refused {
        table.add_row(vec![
            Text::strong(row.kernel.as_str()),
            Text::plain(row.reasons.join("; ")).with_tone(Tone::Bad),
        ]);
    }
    outline.add_table(table);
}

fn policy_words(policy: DecisionPolicy, standard: Standard) -> String {
    match policy {
        DecisionPolicy::Literal => {
            let citation = standard.only_do_178c(" (CAST-10)");
            format!("literal: every Boolean expression is a decision{citation}")
        }
        DecisionPolicy::ControlFlow => {
            "control-flow: only expressions that direct control flow are decisions".to_owned()
        }
    }
}

fn memory_model_words(model: MemoryModel) -> &'static str {
    match model {
        MemoryModel::Idiom => {
            "idiom: the Vulkan memory model, and a memory barrier directly before `barrier()` is taken as one with it"
        }
        MemoryModel::Spec => "spec: the Vulkan memory model to the letter",
    }
}

fn add_setting(table: &mut Table, name: &str, value: String) {
    add_property(table, name, Text::sentence(value));
}

fn add_property(table: &mut Table, name: &str, value: Text) {
    table.add_row(vec![Text::plain(name), value]);
}

/// What of the project file decides how much a result says.
pub(super) fn settings_section(evidence: &Evidence, of: ContentsOf, outline: &mut Outline) {
    let Some(settings) = &evidence.campaign.settings else { return };
    outline.add_heading(2, "Settings", "chapter/settings");
    let mut table = Table::new("Settings of the project file that a result depends on")
        .columns(&["Setting", "Value"]);
    add_setting(
        &mut table,
        "Engines",
        match &settings.engines {
            None => "sequential, and vulkan where a device is found".to_owned(),
            Some(engines) => engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        },
    );
    add_setting(
        &mut table,
        "Repetitions of a test",
        match settings.repeat {
            None => "the engine's own (sequential 1, vulkan 3)".to_owned(),
            Some(times) => times.to_string(),
        },
    );
    let schedules = settings.schedules;
    add_setting(
        &mut table,
        "Other schedules of a test",
        match schedules.count {
            0 => "none asked for".to_owned(),
            count => format!("{count}, seed {}", schedules.seed),
        },
    );
    add_setting(
        &mut table,
        "Validation layers",
        match settings.validation {
            ValidationLayers::On => "on, where they are installed",
            ValidationLayers::Off => "off",
            ValidationLayers::Required => "required",
        }
        .to_owned(),
    );
    add_setting(
        &mut table,
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
    add_setting(&mut table,
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
    add_setting(
        &mut table,
        "Limits of a test",
        format!(
            "{} s on a device, {} steps, {} bytes",
            limits.seconds, limits.steps, limits.memory_bytes
        ),
    );
    add_setting(
        &mut table,
        "Kept in the evidence",
        format!(
            "{} mismatches per expectation, outputs of up to {} bytes",
            limits.mismatches, limits.output_bytes
        ),
    );
    outline.add_table(table);
    let told_by = match of {
        ContentsOf::Case => {
            format!("what each test then had stands in the document {}", DocumentName::Svr)
        }
        ContentsOf::Results => "each test tells its repetitions and schedules".to_owned(),
    };
    outline.add_paragraph(Text::quiet(format!(
        "As the project file has them. The command line can set repetitions, schedules and limits otherwise for a run; {told_by}.",
    )));
}

fn criteria_words(criteria: &[StoredCriterion]) -> String {
    criteria.iter().map(facts::criterion_title).collect::<Vec<_>>().join(", ")
}

pub(super) fn date_text(date: Option<&str>) -> Text {
    date.map_or_else(|| Text::quiet("not recorded (SOURCE_DATE_EPOCH was not set)"), Text::plain)
}

fn engines_section(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(2, "Engines and devices", "chapter/engines");
    let mut table = Table::new("Engines").columns(&["Engine", "State", "Identity"]);
    for engine in &evidence.campaign.engines {
        let engine_state = match (engine.ran, &engine.reason) {
            (true, None) => Text::plain("ran").with_tone(Tone::Good),
            (true, Some(reason)) => {
                Text::plain("ran").with_tone(Tone::Good).then_plain(format!(": {reason}"))
            }
            (false, reason) => {
                let reason = reason.as_deref().unwrap_or("no reason recorded");
                Text::strong("not run").with_tone(Tone::Caution).then_plain(format!(": {reason}"))
            }
        };
        let identity_texts = engine
            .identity
            .iter()
            .map(|(name, value)| Text::quiet(format!("{name} ")).then_plain(value.as_str()));
        let identity_texts = joined_texts(identity_texts, "; ", Tone::Quiet);
        table.add_row(vec![Text::strong(engine.engine.to_string()), engine_state, identity_texts]);
    }
    outline.add_table(table);
}

pub(super) fn configurations_section(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(2, "Kernels and modules", "chapter/modules");
    outline.add_paragraph(
        "The production module is compiled from the untouched source and alone judges requirements. The traced module \
         is compiled from the marked source with the markers erased; the instrumented module is the traced one with \
         coverage records. Coverage belongs to the configuration named here.",
    );
    for unit in facts::kernel_units(evidence) {
        let Some((_, kernel)) = facts::on_engines(evidence, &unit).into_iter().next() else {
            continue;
        };
        let mut table = Table::new(Text::plain("Kernel ").followed_by(unit_link(&unit)))
            .with_column("Property", ColumnAlign::Left)
            .with_column("Value", ColumnAlign::Left)
            .extent(TableExtent::Full);
        let configuration = &kernel.configuration;
        let modules = &kernel.modules;
        add_property(&mut table, "Source", Text::code(kernel.source.as_str()));
        let settings = evidence.campaign.settings.as_ref();
        if let Some(stated) = settings.and_then(|settings| settings.kernel(&kernel.kernel)) {
            for (role, name) in [("Author", &stated.author), ("Reviewer", &stated.reviewer)] {
                if let Some(name) = name {
                    add_property(&mut table, role, stated_text(name));
                }
            }
        }
        add_property(&mut table, "Entry point", Text::code(configuration.entry.as_str()));
        add_property(
            &mut table,
            "Target environment",
            Text::code(configuration.target_env.as_str()),
        );
        add_property(
            &mut table,
            "Local size",
            Text::code(configuration.local_size.map(|size| size.to_string()).join(" × ")),
        );
        add_property(&mut table, "Defines", pairs_text(configuration.defines.iter()));
        let constant_values =
            configuration.specialization.iter().map(|constant| (constant.label(), &constant.value));
        let constant_values: Vec<(String, &String)> = constant_values.collect();
        if !constant_values.is_empty() {
            add_property(&mut table, "Configuration", Text::code(configuration.name.as_str()));
            add_property(
                &mut table,
                "Specialization",
                pairs_text(constant_values.iter().map(|(name, value)| (name, *value))),
            );
        }
        add_property(
            &mut table,
            "Production module",
            hash_text(&modules.production, modules.production_file.as_deref()),
        );
        add_property(&mut table, "Traced module", hash_text(&modules.traced, None));
        add_property(&mut table, "Instrumented module", hash_text(&modules.instrumented, None));
        outline.add_table(table);
    }
}

fn pairs_text<'a>(pair_texts: impl Iterator<Item = (&'a String, &'a String)>) -> Text {
    let pair_texts = pair_texts.map(|(name, value)| Text::code(format!("{name}={value}")));
    listed_texts(pair_texts, Tone::Quiet)
}

fn hash_text(hash: &str, file_text: Option<&str>) -> Text {
    if hash.is_empty() {
        return Text::quiet("none recorded");
    }
    let file_text =
        file_text.map_or_else(Text::empty, |file_text| Text::code(file_text).then_plain(" "));
    file_text.followed_by(Text::code(hash))
}
