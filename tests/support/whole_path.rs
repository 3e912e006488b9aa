//! The path of a kernel's text through the tool, step by step with its time: compiled plain and
//! marked, described, instrumented, validated, laid out, assessed with records in which every
//! vector was seen, written as JSON.

use std::time::Instant;
use vkcert::coverage::{CoverageSubject, ProposalRules, assess};
use vkcert::glsl::{KernelSource, compile};
use vkcert::instrument::instrument;
use vkcert::model::evidence::Configuration;
use vkcert::model::records::Records;
use vkcert::spirv::module::Module;
use vkcert::spirv::validate::{TargetEnv, validate};

/// What a walk took.
#[derive(Debug)]
pub(crate) struct Taken {
    pub decisions: usize,
    /// Name and seconds of each step.
    pub steps: Vec<(&'static str, f64)>,
}

pub(crate) fn source(text: &str) -> KernelSource {
    KernelSource::alone("large.comp", text, "vulkan1.3")
}

/// Walks the whole path once.
pub(crate) fn take(text: &str) -> Taken {
    let mut steps = Vec::new();
    let mut start = Instant::now();
    let mut step = |name, start: &mut Instant| {
        steps.push((name, start.elapsed().as_secs_f64()));
        *start = Instant::now();
    };
    let compiled = compile(&source(text))
        .unwrap_or_else(|errors| panic!("{:?}", &errors[..errors.len().min(3)]));
    assert!(compiled.notes.is_empty(), "{:?}", &compiled.notes[..compiled.notes.len().min(3)]);
    step("front end", &mut start);
    let marked_words = compiled.marked.clone();
    let marked = Module::parse(compiled.marked).expect("the marked module is SPIR-V");
    step("parse", &mut start);
    let made = instrument(&compiled.structure, &marked, "main").expect("it can be instrumented");
    assert!(made.untraced.is_empty(), "{:?}", made.untraced.first());
    step("instrument", &mut start);
    // Traced and instrumented modules are validated within the step before.
    for words in [&compiled.production, &marked_words] {
        validate(words, TargetEnv::for_version(words)).expect("valid");
    }
    step("validate", &mut start);
    let layout = &made.markers.layout;
    let mut records = Records { words: vec![0; layout.words()], ..Records::default() };
    let vectors =
        layout.decisions.iter().flat_map(|slot| slot.vectors.iter().map(|row| slot.base + row.sum));
    for bit in vectors.chain(layout.marks.iter().copied()) {
        records.words[bit as usize / 32] |= 1 << (bit % 32);
    }
    let test = vkcert::model::id::TestId::from("TC-1".to_owned());
    let configuration = Configuration::default();
    let subject = CoverageSubject {
        structure: &compiled.structure,
        layout,
        presence: &made.presence,
        configuration: &configuration,
        proposing: ProposalRules::Current,
    };
    let coverage = assess(&subject, &[(test, &records)]);
    step("assess", &mut start);
    let json = serde_json::to_vec(&(&compiled.structure, &coverage)).expect("it can be stored");
    assert!(!json.is_empty());
    step("JSON", &mut start);
    Taken { decisions: compiled.structure.decisions.len(), steps }
}
