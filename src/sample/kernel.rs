//! The two kernels on the two engines.

use super::coverage::{NAIVE_SOURCE, large_coverage, large_source, naive_coverage};
use super::{NAIVE, made_up_hash};
use vkcert_model::evidence::{
    Configuration, EVIDENCE_SCHEMA, KernelEvidence, LoweringDecision, ModuleHashes, ObjectEvidence,
    SpecializedConstant, TestRecords,
};
use vkcert_model::id::{FunctionId, KernelName, TestId};
use vkcert_model::place::{FileIndex, SourceFile, Span};
use vkcert_model::records::{Presence, RecordLayout, Records};
use vkcert_model::structure::{
    Accuracy, Block, Function, KernelStructure, MarkIndex, RequestedParts, TextDigests,
};
use vkcert_model::verdict::{EngineName, Verdict};

fn specialized_constant(id: u32, name: &str, type_name: &str, value: &str) -> SpecializedConstant {
    SpecializedConstant {
        id,
        name: Some(name.into()),
        type_name: type_name.into(),
        value: value.into(),
        bits: "0x10".into(),
        default: true,
    }
}

pub(super) fn kernel_evidence(name: &str, engine: EngineName) -> KernelEvidence {
    let is_naive = name == NAIVE;
    let (file, text) = if is_naive {
        ("glsl/matmul_naive.comp", NAIVE_SOURCE.to_owned())
    } else {
        (
            "glsl/filters/convolution_2d_zero_padding_with_bounds_checks_and_saturation.comp",
            large_source(),
        )
    };
    let sample_function = |number: u32, function_name: &str| {
        let start = text
            .find(&format!(" {function_name}("))
            .expect("the function stands in the source") as u32;
        Function {
            id: FunctionId(number),
            name: function_name.into(),
            span: Span { file: FileIndex(0), start, end: start + 4 },
            entry_mark: MarkIndex(number),
            body: Block::default(),
            exits: Vec::new(),
            expansion: Vec::new(),
        }
    };
    let functions = if is_naive {
        vec![
            sample_function(1, "dot_row_column"),
            sample_function(2, "unused"),
            sample_function(3, "main"),
        ]
    } else {
        vec![sample_function(1, "main")]
    };
    let sample_record = |test: &str, verdict, counted| TestRecords {
        test: TestId::from(test),
        verdict,
        counted,
        records: Records::default(),
    };
    let lowering_decision = |id: &str, decision_text: &str, true_count, false_count| {
        LoweringDecision { id: id.into(), text: decision_text.into(), true_count, false_count }
    };
    KernelEvidence {
        schema: EVIDENCE_SCHEMA,
        kernel: KernelName::from(name),
        engine,
        source: file.into(),
        configuration: Configuration {
            name: "default".into(),
            entry: "main".into(),
            target_env: "vulkan1.2".into(),
            defines: [("TILE".to_owned(), "16".to_owned())].into(),
            include: Vec::new(),
            specialization: vec![
                specialized_constant(0, "TILE", "uint", "16"),
                specialized_constant(1, "CLAMP", "bool", "true"),
            ],
            local_size: [16, 16, 1],
        },
        modules: ModuleHashes {
            code: made_up_hash(5).trim_start_matches("sha256:").to_owned(),
            text: None,
            production: made_up_hash(1),
            production_file: Some(format!("spirv/{name}.spv")),
            traced: made_up_hash(2),
            instrumented: made_up_hash(3),
        },
        recording: None,
        structure: KernelStructure {
            files: vec![SourceFile { path: file.into(), text }],
            entry: "main".into(),
            functions,
            decisions: Vec::new(),
            switches: Vec::new(),
            accuracy: Accuracy::Exact,
            markers: Vec::new(),
            value_marker: "vkcert_value".into(),
            mark_marker: "vkcert_mark".into(),
            texts: TextDigests::default(),
            requested: RequestedParts::default(),
        },
        layout: RecordLayout { decisions: Vec::new(), marks: Vec::new(), bits: 0 },
        presence: Presence::default(),
        records: if is_naive {
            vec![
                sample_record("TC-MM-01", Verdict::Pass, true),
                sample_record("TC-MM-04", Verdict::Fail, false),
            ]
        } else {
            vec![sample_record("TC-CONV-01", Verdict::Pass, true)]
        },
        objects: ObjectEvidence::default(),
        barriers: Vec::new(),
        boundaries: None,
        pairs: None,
        coverage: if is_naive { naive_coverage(engine) } else { large_coverage() },
        lowering: match engine {
            EngineName::Sequential => vec![
                lowering_decision("L1", "workgroup.x < groups.x", 12, 4),
                lowering_decision("L2", "invocation.x < local_size.x", 3072, 192),
            ],
            EngineName::Vulkan => Vec::new(),
        },
    }
}
