//! The procedure of a test in numbered steps: what is made, bound, dispatched, read back and
//! compared, and when the test passes (DO-178C 11.13.b and c).
//!
//! Promises: every buffer, image, sampler, dispatch, binding and expectation of the test has a step,
//! in the order in which a run needs them; what the procedure leaves to the kernel, the engine or a
//! default is said. A procedure that the evidence does not hold whole says so in a last row.
//! Does not cover: contents (`contents`, `members`), what holds for all tests alike (`conduct`),
//! results.

use super::binding_words::binding_text;
use super::contents;
use super::links::kernel_link;
use crate::document::{ColumnAlign, Outline, Table, Text, Tone};
use crate::expectation;
use std::collections::BTreeSet;
use vkcert_model::element::{DataType, Datum};
use vkcert_model::evidence::{Evidence, KernelEvidence, SpecializedConstant, TestEvidence};
use vkcert_model::id::KernelName;
use vkcert_model::image::Sampler;
use vkcert_model::procedure::{Buffer, Expectation, KernelCall, Limits, SpecializationValue};

/// What a device has in place of contents that are not initialised.
const ON_DEVICE: &str = "on a device each of its bytes is CD (hexadecimal).";

/// The table of a test's steps.
pub(super) fn add_procedure_table(
    source: &ProcedureSource,
    test: &TestEvidence,
    outline: &mut Outline,
) {
    let mut steps = resource_steps(test);
    steps.extend(dispatch_steps(source, test));
    steps.push(read_step(source.evidence, test));
    steps.extend(comparison_steps(source, test));
    let mut table = Table::new(format!("Procedure of {}", test.id))
        .with_column("Step", ColumnAlign::Right)
        .with_column("What is done", ColumnAlign::Left);
    for (index, step) in steps.into_iter().enumerate() {
        table.add_row(vec![Text::plain((index + 1).to_string()), step]);
    }
    table.add_row(vec![Text::strong("Pass"), pass_criterion(test)]);
    if let Some(reason) = incomplete_reason(test) {
        let reason = Text::plain(reason).with_tone(Tone::Bad);
        table.add_row(vec![Text::strong("Note").with_tone(Tone::Bad), reason]);
    }
    outline.add_table(table);
}

fn incomplete_reason(test: &TestEvidence) -> Option<&'static str> {
    (test.expected.len() != test.definition.expect.len()).then_some(
        "Incomplete: the test could not be prepared from its files, so that the values that it expects are not resolved.",
    )
}

/// What must be so before the first dispatch.
pub(super) fn precondition_text(test: &TestEvidence, environment: Text) -> Text {
    let step_words = match resource_steps(test).len() {
        0 => "no buffers, images or samplers".to_owned(),
        1 => "the contents that step 1 makes".to_owned(),
        count => format!("the contents that steps 1 to {count} make"),
    };
    environment.then_plain(format!("; {step_words}; nothing left over from another test"))
}

/// What is made before anything runs.
fn resource_steps(test: &TestEvidence) -> Vec<Text> {
    let definition = &test.definition;
    let buffers = definition.buffers.iter().map(|(name, buffer)| buffer_step(name, buffer));
    let images = definition.images.iter().map(|(name, image)| {
        let has_contents = [image.data.is_some(), image.bytes.is_some(), image.fill.is_some()];
        let is_initialised = has_contents.contains(&true) || image.file.is_some();
        let made = Text::plain("Create image ").followed_by(Text::code(name.as_str()));
        made.then_plain(format!(" ({})", contents::image_kind(image)))
            .followed_by(initial_contents_text("Input image", name, is_initialised))
    });
    let samplers = definition.samplers.iter().map(|(name, sampler)| {
        let made = Text::plain("Create sampler ").followed_by(Text::code(name.as_str()));
        made.then_plain(format!(": {}.", sampler_words(sampler)))
    });
    buffers.chain(images).chain(samplers).collect()
}

fn buffer_step(name: &str, buffer: &Buffer) -> Text {
    let has_contents = [buffer.data.is_some(), buffer.bytes.is_some(), buffer.fill.is_some()];
    let is_initialised = has_contents.contains(&true) || buffer.file.is_some();
    let made = Text::plain("Create buffer ").followed_by(Text::code(name));
    let mut step = made
        .then_plain(format!(" ({})", contents::buffer_kind(buffer)))
        .followed_by(initial_contents_text("Input", name, is_initialised));
    if buffer.data_type == Some(DataType::Reflect) && buffer.data.is_some() {
        step =
            step.then_plain(" A member without a value is not initialised: ").then_plain(ON_DEVICE);
    }
    for address in &buffer.address_of {
        step = step
            .then_plain(format!(" Store at byte {} the device address of buffer ", address.at))
            .followed_by(Text::code(address.buffer.as_str()))
            .then_plain(format!(", byte {}.", address.offset));
    }
    step
}

fn initial_contents_text(role: &str, name: &str, is_initialised: bool) -> Text {
    if is_initialised {
        return Text::plain(format!(" with the contents “{role} "))
            .followed_by(Text::code(name))
            .then_plain("” of the table below.");
    }
    Text::plain(". It is not initialised: ").then_plain(ON_DEVICE)
}

/// The settings that a sampler states.
fn sampler_words(sampler: &Sampler) -> String {
    let stated = serde_json::to_value(sampler).ok();
    let stated = stated.as_ref().and_then(serde_json::Value::as_object);
    let setting_words = stated.into_iter().flatten().map(|(setting, value)| {
        let value_words = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{} {}", setting.replace('_', " "), value_words.replace('_', " "))
    });
    let setting_words: Vec<String> = setting_words.collect();
    if setting_words.is_empty() {
        "all settings at their defaults".to_owned()
    } else {
        format!("{}; all else at its default", setting_words.join(", "))
    }
}

/// What procedures are told from, looked up once for all tests.
pub(super) struct ProcedureSource<'e> {
    evidence: &'e Evidence,
    /// Kernels for which some test sets push constants.
    kernels_with_push_constants: BTreeSet<KernelName>,
}

impl<'e> ProcedureSource<'e> {
    pub(super) fn of(evidence: &'e Evidence) -> Self {
        let mut kernels_with_push_constants = BTreeSet::new();
        for test in &evidence.campaign.tests {
            let expectations = || test.definition.expect.iter();
            let dispatches = test.definition.dispatches.iter().map(KernelCall::of_dispatch);
            let references = expectations().filter_map(|stated| stated.reference.as_ref());
            let checkers = expectations().filter_map(|stated| stated.check.as_ref());
            let calls = dispatches
                .chain(references.map(KernelCall::of_reference))
                .chain(checkers.map(KernelCall::of_checker));
            let setting_some = calls.filter(|call| call.push_constants.is_some());
            kernels_with_push_constants.extend(setting_some.map(|call| *call.kernel));
        }
        Self { evidence, kernels_with_push_constants }
    }
}

/// The steps of one call.
struct CallSteps<'a> {
    call: KernelCall<'a>,
    source: &'a ProcedureSource<'a>,
}

impl CallSteps<'_> {
    /// Making the pipeline, binding, push constants, and the dispatch itself as `dispatch_words`
    /// begins it. What is as in the call before is not told again.
    fn steps(&self, before: Option<&KernelCall>, dispatch_words: &str) -> Vec<Text> {
        let mut steps = Vec::new();
        if before.is_some_and(|before| self.has_set_up_of(before)) {
            steps.push(Text::plain("Keep the pipeline and what is bound."));
        } else {
            steps.push(self.pipeline_step());
            steps.extend(self.call.bindings.iter().map(|binding| {
                Text::plain("Bind at ").followed_by(binding_text(binding)).then_plain(".")
            }));
        }
        steps.extend(self.push_constant_step());
        let [x, y, z] = self.call.groups;
        let group_words = match self.call.groups {
            [1, 1, 1] => "1 workgroup".to_owned(),
            _ => format!("{x} × {y} × {z} workgroups"),
        };
        let size_words = self.local_size_words();
        steps.push(Text::plain(format!("{dispatch_words} {group_words}{size_words}.")));
        steps
    }

    /// Whether pipeline and bindings are those of another call.
    fn has_set_up_of(&self, other: &KernelCall) -> bool {
        self.call.kernel == other.kernel
            && self.call.subgroup_size == other.subgroup_size
            && self.call.bindings == other.bindings
            && self.call.specialization == other.specialization
    }

    /// None of a kernel for which no test sets any: the rules for all tests tell what it then finds.
    fn push_constant_step(&self) -> Option<Text> {
        match self.call.push_constants {
            Some(constants) => Some(stated_push_constants(constants)),
            None => self.source.kernels_with_push_constants.contains(self.call.kernel).then(|| {
                Text::plain("Set no push constants: all are uninitialised, none is kept from another dispatch.")
            }),
        }
    }

    /// ` of 16 × 16 × 1 invocations`; nothing of a kernel that the evidence does not hold.
    fn local_size_words(&self) -> String {
        let rows =
            || self.source.evidence.kernels.iter().filter(|row| row.kernel == *self.call.kernel);
        let has_constants = |row: &KernelEvidence| {
            row.configuration.specialization.iter().all(|constant| self.sets_constant(constant))
        };
        match rows().find(|row| has_constants(row)) {
            Some(row) => {
                let [x, y, z] = row.configuration.local_size;
                format!(" of {x} × {y} × {z} invocations")
            }
            None if rows().next().is_some() => {
                " of the local size that the module has with these specialization constants"
                    .to_owned()
            }
            None => String::new(),
        }
    }

    /// Whether the constant has the same value here. Only what is certain counts: a value that is
    /// written otherwise is taken as another one.
    fn sets_constant(&self, constant: &SpecializedConstant) -> bool {
        let Some(stated) = self.call.specialization.get(&constant.id.to_string()) else {
            return constant.default;
        };
        match (&stated.value, &stated.bits) {
            (Some(value), _) => value.to_string() == constant.value,
            (None, Some(Datum::Integer(bits))) => {
                format!("{bits:#x}") == short_bits(&constant.bits)
            }
            (None, Some(Datum::Text(bits))) => short_bits(bits) == short_bits(&constant.bits),
            (None, Some(Datum::Bool(_) | Datum::Float(_) | Datum::List(_) | Datum::Record(_)))
            | (None, None) => false,
        }
    }

    fn pipeline_step(&self) -> Text {
        let mut step = Text::plain("Make the pipeline of kernel ")
            .followed_by(kernel_link(self.call.kernel))
            .followed_by(module_text(self.source.evidence, self.call.kernel));
        let constants = self.call.specialization.iter();
        let constants = constants.map(|(id, value)| specialization_text(id, value));
        step = step.then_plain("; specialization constants: ").followed_by(
            match self.call.specialization.is_empty() {
                true => Text::plain("the module's defaults"),
                false => Text::join(constants, ", "),
            },
        );
        if let Some(size) = self.call.subgroup_size {
            step = step.then_plain(format!("; subgroups of {size} invocations"));
        }
        step.then_plain(".")
    }
}

/// Entry point and file of the production module, where the evidence names them.
fn module_text(evidence: &Evidence, kernel: &KernelName) -> Text {
    let Some(row) = evidence.kernels.iter().find(|row| row.kernel == *kernel) else {
        return Text::empty();
    };
    let entry =
        Text::plain(", entry point ").followed_by(Text::code(row.configuration.entry.as_str()));
    match &row.modules.production_file {
        Some(file) => {
            entry.then_plain(", from its production module ").followed_by(Text::code(file.as_str()))
        }
        None => entry.then_plain(", from its production module"),
    }
}

fn specialization_text(id: &str, stated: &SpecializationValue) -> Text {
    let type_words = stated.data_type.map(|name| format!(" ({name})")).unwrap_or_default();
    let value_words = match (&stated.value, &stated.bits) {
        (Some(value), _) => value.to_string(),
        (None, Some(bits)) => format!("the bits {bits}"),
        (None, None) => "not stated".to_owned(),
    };
    Text::plain(format!("{id} = {value_words}{type_words}"))
}

fn stated_push_constants(constants: &Datum) -> Text {
    let member_words = match constants {
        Datum::Record(members) => {
            let members = members.iter().map(|(name, value)| format!("{name} = {value}"));
            members.collect::<Vec<_>>().join(", ")
        }
        Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Text(_) | Datum::List(_) => {
            constants.to_string()
        }
    };
    Text::plain("Set the push constants: ")
        .followed_by(Text::code(member_words))
        .then_plain("; every byte of them that is not stated here is uninitialised.")
}

/// `0x20` of `0x00000020`
fn short_bits(bits: &str) -> String {
    let digits = bits.trim_start_matches("0x").trim_start_matches('0').to_lowercase();
    format!("0x{}", if digits.is_empty() { "0" } else { &digits })
}

fn dispatch_steps(source: &ProcedureSource, test: &TestEvidence) -> Vec<Text> {
    let dispatches = &test.definition.dispatches;
    let mut steps = Vec::new();
    for (index, dispatch) in dispatches.iter().enumerate() {
        if index > 0 {
            steps.push(Text::plain(format!(
                "Full memory barrier: all that dispatch {index} wrote is available and visible to dispatch {}.",
                index + 1
            )));
        }
        let dispatch_words = match dispatches.len() {
            1 => "Dispatch".to_owned(),
            _ => format!("Dispatch {}:", index + 1),
        };
        let before = index.checked_sub(1).map(|index| KernelCall::of_dispatch(&dispatches[index]));
        let call = CallSteps { call: KernelCall::of_dispatch(dispatch), source };
        steps.extend(call.steps(before.as_ref(), &dispatch_words));
    }
    steps
}

/// Waiting within the limits, and what is read back.
fn read_step(evidence: &Evidence, test: &TestEvidence) -> Text {
    let project_limits = evidence.campaign.settings.as_ref().map(|settings| settings.limits);
    let limit_words = project_limits.map(|limits| {
        let defaults = Limits {
            seconds: limits.seconds,
            steps: limits.steps,
            memory_bytes: limits.memory_bytes,
        };
        let limits = test.definition.limits.over(defaults);
        format!(
            ", on a device within {} s, on the sequential engine within {} steps, with at most {} bytes of buffers and images",
            limits.seconds, limits.steps, limits.memory_bytes
        )
    });
    let wait = format!(
        "Wait until all that was dispatched has ended{}. Then read back ",
        limit_words.unwrap_or_default()
    );
    let expectations = || test.definition.expect.iter();
    let compared = expectations().flat_map(|stated| [&stated.equals_buffer, &stated.equals_image]);
    let compared = compared.filter_map(|name| name.as_deref());
    let mut names: Vec<&str> = expectations().map(Expectation::judged).chain(compared).collect();
    names.sort_unstable();
    names.dedup();
    let checks = expectations().filter_map(|expectation| expectation.check.as_ref());
    let verdicts: Vec<&str> = checks.map(|check| check.verdict.as_str()).collect();
    names.retain(|name| !verdicts.contains(name));
    if !verdicts.is_empty() || names.is_empty() {
        return Text::plain(wait).then_plain("every buffer and image.");
    }
    Text::plain(wait)
        .followed_by(Text::join(names.into_iter().map(Text::code), ", "))
        .then_plain(".")
}

fn comparison_steps(source: &ProcedureSource, test: &TestEvidence) -> Vec<Text> {
    let entries = expectation::expectations_in_words(test);
    let mut steps = Vec::new();
    for (number, (stated, entry)) in test.definition.expect.iter().zip(entries).enumerate() {
        if let Some(reference) = &stated.reference {
            steps.push(Text::plain(
                "On the sequential engine, make all buffers and images once more, with the same initial contents.",
            ));
            let call = CallSteps { call: KernelCall::of_reference(reference), source };
            steps.extend(call.steps(None, "Dispatch of the reference kernel, there:"));
        }
        if let Some(checker) = &stated.check {
            let taken = "On the sequential engine, take all buffers and images as the test left them, and fill ";
            let filled = Text::plain(taken).followed_by(Text::code(checker.verdict.as_str()));
            steps.push(filled.then_plain(" with zeros."));
            let call = CallSteps { call: KernelCall::of_checker(checker), source };
            steps.extend(call.steps(None, "Dispatch of the checker kernel, there:"));
        }
        let counted = match test.definition.expect.len() {
            1 => "Compare ".to_owned(),
            _ => format!("Comparison {}: ", number + 1),
        };
        steps.push(Text::plain(counted).followed_by(Text::sentence(entry)).then_plain("."));
    }
    steps
}

fn pass_criterion(test: &TestEvidence) -> Text {
    let comparison_words = match test.definition.expect.len() {
        0 => {
            let sentence = "This test compares nothing: it covers nothing and verifies nothing, even if it completes.";
            return Text::plain(sentence).with_tone(Tone::Bad);
        }
        1 => "the comparison holds for every value",
        _ => "each of the comparisons holds for every value",
    };
    Text::plain(format!(
        "The test passes if everything dispatched has completed, {comparison_words}, and it judges what its kernels store; a test \
         that judges none of it is undetermined."
    ))
}
