//! Marked kernels, compiled by the real compiler.

use super::*;
use crate::compile_tests::compile;
use rspirv::spirv::Op;
use vkcert_model::id::{DecisionId, FunctionId};
use vkcert_model::place::{FileIndex, SourceFile, Span};
use vkcert_model::records::{RecordMode, Witnesses};
use vkcert_model::structure::{
    Accuracy, BooleanExpression, Condition, Constness, Decision, DecisionContext, MarkIndex,
    MarkerRole, Recording, RequestedParts, TextDigests,
};
use vkcert_spirv::module::Instruction;

const SPAN: Span = Span { file: FileIndex(0), start: 0, end: 0 };

/// A marked kernel under construction: decisions hand out marker calls for its text.
#[derive(Default)]
pub(super) struct Kernel {
    decisions: Vec<Decision>,
    markers: Vec<MarkerRole>,
    marks: u32,
}

impl Kernel {
    fn marker(&mut self, role: MarkerRole) -> usize {
        self.markers.push(role);
        self.markers.len() - 1
    }

    pub(super) fn mark(&mut self) -> String {
        let mark = MarkIndex(self.marks);
        self.marks += 1;
        format!("vkcert_mark({}u);", self.marker(MarkerRole::Mark { mark }))
    }

    fn decide(&mut self, expression: BooleanExpression, conditions: usize) -> DecisionId {
        let id = DecisionId(self.decisions.len() as u32 + 1);
        let condition = |coupling| Condition {
            span: SPAN,
            text: String::new(),
            coupling: coupling as u32,
            constness: Constness::Runtime,
        };
        self.decisions.push(Decision {
            id,
            function: Some(FunctionId(1)),
            context: DecisionContext::If,
            span: SPAN,
            text: String::new(),
            expression,
            conditions: (0..conditions).map(condition).collect(),
            constness: Constness::Runtime,
            recording: Recording::Marked,
            expansion: Vec::new(),
        });
        id
    }

    /// Marks an expression text with its conditions in braces: `{a} && !({b} || {c})`.
    pub(super) fn decision(&mut self, text: &str) -> String {
        let mut parser = Parser { text: text.as_bytes(), at: 0, conditions: Vec::new() };
        let expression = parser.xor_or(0);
        let conditions = parser.conditions.clone();
        let decision = self.decide(expression, conditions.len());
        if conditions.len() == 1 {
            let number = self.marker(MarkerRole::Single { decision });
            return text.replace('{', &format!("vkcert_value({number}u, ")).replace('}', ")");
        }
        let mut marked = text.to_owned();
        for (condition, leaf) in conditions.iter().enumerate() {
            let number =
                self.marker(MarkerRole::Condition { decision, condition: condition as u32 });
            marked = marked.replacen(
                &format!("{{{leaf}}}"),
                &format!("vkcert_value({number}u, {leaf})"),
                1,
            );
        }
        let number = self.marker(MarkerRole::Decision { decision });
        format!("vkcert_value({number}u, {marked})")
    }

    pub(super) fn structure(&self) -> KernelStructure {
        KernelStructure {
            files: vec![SourceFile { path: "test.comp".into(), text: String::new() }],
            entry: "main".into(),
            functions: Vec::new(),
            decisions: self.decisions.clone(),
            switches: Vec::new(),
            accuracy: Accuracy::Exact,
            markers: self.markers.clone(),
            value_marker: "vkcert_value".into(),
            mark_marker: "vkcert_mark".into(),
            texts: TextDigests::default(),
            requested: RequestedParts::default(),
        }
    }
}

/// Reads `{..}`, `!`, `&&`, `^^`, `||` and parentheses with the precedence of GLSL.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    conditions: Vec<String>,
}

impl Parser<'_> {
    fn skip(&mut self) {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
    }

    fn xor_or(&mut self, level: usize) -> BooleanExpression {
        const OPERATORS: [&[u8]; 3] = [b"||", b"^^", b"&&"];
        let Some(operator) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.xor_or(level + 1);
        loop {
            self.skip();
            if !self.text[self.at..].starts_with(operator) {
                return left;
            }
            self.at += 2;
            let (first, second) = (Box::new(left), Box::new(self.xor_or(level + 1)));
            left = match level {
                0 => BooleanExpression::Or(first, second),
                1 => BooleanExpression::Xor(first, second),
                _ => BooleanExpression::And(first, second),
            };
        }
    }

    fn unary(&mut self) -> BooleanExpression {
        self.skip();
        let first = self.text[self.at];
        self.at += 1;
        match first {
            b'!' => BooleanExpression::Not(Box::new(self.unary())),
            b'(' => {
                let inner = self.xor_or(0);
                self.skip();
                self.at += 1;
                inner
            }
            _ => {
                let start = self.at;
                while self.text[self.at] != b'}' {
                    self.at += 1;
                }
                self.conditions
                    .push(String::from_utf8_lossy(&self.text[start..self.at]).into_owned());
                self.at += 1;
                BooleanExpression::Condition(self.conditions.len() as u32 - 1)
            }
        }
    }
}

const PRELUDE: &str = "
    layout(local_size_x = 8) in;
    layout(set = 0, binding = 0) buffer B { uint r[]; };
    layout(set = 0, binding = 1) buffer F { float f[]; bool_t };
    bool vkcert_value(const uint id, const bool v) { return v; }
    void vkcert_mark(const uint id) {}
";

pub(super) fn prelude() -> String {
    PRELUDE.replace(" bool_t", "")
}

/// Instruments a kernel text for every version of SPIR-V in every mode; gives the automatic mode's
/// result.
fn instruments(kernel: &Kernel, text: &str) -> Instrumented {
    let mut last = None;
    for env in
        [TargetEnv::Vulkan1_0, TargetEnv::Vulkan1_1, TargetEnv::Vulkan1_2, TargetEnv::Vulkan1_3]
    {
        let words = compile(&format!("{}{text}", prelude()), env);
        validate(&words, env).unwrap();
        let marked = Module::parse(words).unwrap();
        let made = instrument(&kernel.structure(), &marked, "main")
            .unwrap_or_else(|error| panic!("{env:?}: {error}"));
        validate(&made.traced, env).unwrap();
        validate(&made.instrumented, env).unwrap();
        in_every_mode(kernel, &marked, env);
        last = Some(made);
    }
    last.unwrap()
}

/// Every mode is validated and stripped, or refused by name.
fn in_every_mode(kernel: &Kernel, marked: &Module, env: TargetEnv) {
    for (mode, _) in RecordMode::ALL {
        for witnesses in [Witnesses::Omitted, Witnesses::Recorded] {
            let request = RecordRequest { mode: Some(mode), witnesses, ..RecordRequest::default() };
            match instrument_as(&kernel.structure(), marked, "main", &request) {
                Ok(made) => {
                    validate(&made.instrumented, env)
                        .unwrap_or_else(|error| panic!("{env:?} {mode}: {error}"));
                    assert_eq!(
                        (made.record_buffer.mode, made.record_buffer.witnesses),
                        (mode, witnesses)
                    );
                    let atomic = |i: &&Instruction| format!("{:?}", i.op).starts_with("Atomic");
                    let module = Module::parse(made.instrumented).unwrap();
                    let atomics = module.instructions.iter().filter(atomic).count();
                    assert_eq!(
                        atomics == 0,
                        mode == RecordMode::Slots,
                        "{mode}: {atomics} atomics"
                    );
                }
                Err(NotInstrumented::Refused(refused)) => {
                    assert_eq!(
                        (mode, env),
                        (RecordMode::Subgroup, TargetEnv::Vulkan1_0),
                        "{refused}"
                    );
                    assert!(refused.to_string().contains("`subgroup` cannot be used"), "{refused}");
                }
                Err(NotInstrumented::Defect(defect)) => panic!("{env:?} {mode}: {defect}"),
            }
        }
    }
}

fn count(words: &[u32], op: Op) -> usize {
    Module::parse(words.to_vec()).unwrap().instructions.iter().filter(|i| i.op == op).count()
}

#[test]
fn every_form_of_control_flow_is_traced_and_recorded() {
    let mut k = Kernel::default();
    let called = format!(
        "float g(uint x) {{ {} if ({}) return 1.0; return float(x) * 2.0 + 1.0; }}",
        k.mark(),
        k.decision("{x > 3u} && !({x == 7u} || {f[x] < 0.5})")
    );
    let body = format!(
        "{called} void main() {{ {} uint i = gl_GlobalInvocationID.x;
          for (uint n = 0u; {}; n++) {{ if ({}) continue; f[n] = g(n) * 0.5 + g(i); if ({}) break; }}
          uint j = 0u; while (true) {{ j++; if ({}) break; }}
          do {{ j++; }} while ({});
          bool ok = {}; r[i] = {} ? 1u : 2u; r[i + 1u] = uint(ok);
          switch (r[i]) {{ case 1u: {} r[i] = 5u; case 2u: {} break; default: {} r[i] = 6u; }}
          if ({}) return; r[j] = 9u; }}",
        k.mark(),
        k.decision("{n < i}"),
        k.decision("{n == 3u} ^^ {i == 2u}"),
        k.decision("!{n > 9u}"),
        k.decision("{j > 5u}"),
        k.decision("{j < 9u} || {i > 2u}"),
        k.decision("{i > 1u} && {j > 2u}"),
        k.decision("{ok} || {i == 4u}"),
        k.mark(),
        k.mark(),
        k.mark(),
        k.decision("{ok}"),
    );
    let made = instruments(&k, &body);
    assert_eq!(made.untraced, []);
    assert_eq!(made.presence.markers.len(), k.markers.len(), "every marker is in the module");
    assert_eq!(made.markers.layout.decisions.len(), k.decisions.len());
    assert!(
        made.compiler_generated.iter().any(|line| line.contains("converted")),
        "{:?}",
        made.compiler_generated
    );
    assert_eq!(count(&made.traced, Op::FunctionCall), 2, "only the calls of g are left");
    assert_eq!(made.record_buffer.set, 1);
}

#[test]
fn branch_without_marker_is_a_finding_with_its_line() {
    let k = Kernel::default();
    let made = instruments(&k, "void main() { if (r[0] > 2u) r[1] = 1u; }");
    assert_eq!(made.untraced.len(), 1);
    let place = made.untraced[0].place.clone().unwrap();
    assert_eq!((place.function.as_deref(), place.line), (Some("main"), Some(8)));
}

#[test]
fn switch_without_marks_and_unmarked_select_are_findings() {
    let k = Kernel::default();
    let text =
        "void main() { switch (r[0]) { case 1u: r[1] = 1u; } f[0] = f[1] > 2.0 ? f[2] : f[3]; }";
    assert_eq!(instruments(&k, text).untraced.len(), 2);
}

#[test]
fn constness_of_operands_comes_from_the_module() {
    let mut k = Kernel::default();
    let text = format!(
        "layout(constant_id = 3) const uint N = 4u; void main() {{ if ({}) r[0] = 1u; if ({}) r[1] = 1u; if ({}) r[2] = 1u; }}",
        k.decision("{N > 3u}"),
        k.decision("{3 > 2} && {N > 2u}"),
        k.decision("{r[7] > N}"),
    );
    let made = instruments(&k, &text);
    let constness: Vec<Constness> =
        made.presence.markers.values().map(|marker| marker.constness).collect();
    use Constness::{Constant, Runtime, Specialization};
    assert_eq!(constness, [Specialization, Constant, Specialization, Specialization, Runtime]);
}

#[test]
fn float_operations_may_not_be_contracted_in_either_module() {
    let made = instruments(&Kernel::default(), "void main() { f[0] = f[1] * f[2] + f[3]; }");
    for words in [&made.traced, &made.instrumented] {
        let module = Module::parse(words.clone()).unwrap();
        let decorated = |i: &&vkcert_spirv::module::Instruction| {
            let id = i.result.unwrap();
            module.decoration(id, rspirv::spirv::Decoration::NoContraction).is_some()
        };
        let operations = module.instructions.iter().filter(|i| matches!(i.op, Op::FMul | Op::FAdd));
        assert_eq!(operations.filter(decorated).count(), 2);
    }
}

#[test]
fn decision_too_large_to_gather_is_recorded_at_once() {
    let mut k = Kernel::default();
    let text: Vec<String> = (0..6).map(|n| format!("{{r[{n}] > 1u}}")).collect();
    let text = format!(
        "void main() {{ {} if ({}) r[9] = 1u; }}",
        k.mark(),
        k.decision(&text.join(" ^^ "))
    );
    let made = instruments(&k, &text);
    let slot = &made.markers.layout.decisions[0];
    assert_eq!((slot.base, slot.size, slot.vectors.len()), (32, 64, 64));
    assert_eq!(made.record_buffer.words, 3);
}

#[test]
fn decision_with_too_many_vectors_has_no_slot_but_still_traces() {
    let mut k = Kernel::default();
    let text: Vec<String> = (0..17).map(|n| format!("{{r[{n}] > 1u}}")).collect();
    let text = format!("void main() {{ if ({}) r[9] = 1u; }}", k.decision(&text.join(" ^^ ")));
    let made = instruments(&k, &text);
    assert_eq!(made.markers.layout.slot(DecisionId(1)), None);
    assert_eq!(made.untraced, []);
}

#[test]
fn kernel_with_nothing_to_record_still_writes_the_canary() {
    let made = instruments(&Kernel::default(), "void main() {}");
    assert_eq!(made.record_buffer.words, 0);
    assert_eq!(count(&made.instrumented, Op::AtomicStore), 1);
}

fn marked(kernel: &Kernel, text: &str) -> (KernelStructure, Module) {
    let words = compile(&format!("{}{text}", prelude()), TargetEnv::Vulkan1_1);
    (kernel.structure(), Module::parse(words).unwrap())
}

/// The mode that a request leads to, or why it is refused.
fn mode_for(
    (structure, marked): &(KernelStructure, Module),
    request: RecordRequest,
) -> Result<RecordMode, String> {
    match instrument_as(structure, marked, "main", &request) {
        Ok(made) => Ok(made.record_buffer.mode),
        Err(NotInstrumented::Refused(refused)) => Err(refused.to_string()),
        Err(NotInstrumented::Defect(defect)) => panic!("{defect}"),
    }
}

#[test]
fn the_mode_follows_from_kernel_and_device() {
    let mut k = Kernel::default();
    let small =
        format!("void main() {{ {} if ({}) r[0] = 1u; }}", k.mark(), k.decision("{r[7] > 2u}"));
    let small = marked(&k, &small);
    let automatic = |device| RecordRequest { device, ..RecordRequest::default() };
    let known = RecordingDevice::default();
    let without_atomics = RecordingDevice { atomics: DeviceAbility::Missing, ..known };
    assert_eq!(mode_for(&small, automatic(known)), Ok(RecordMode::Private));
    assert_eq!(mode_for(&small, automatic(without_atomics)), Ok(RecordMode::Slots));
    for (mode, name) in RecordMode::ALL {
        let request =
            RecordRequest { mode: Some(mode), device: without_atomics, ..RecordRequest::default() };
        let expected = match mode {
            RecordMode::Slots => Ok(mode),
            RecordMode::Private
            | RecordMode::Workgroup
            | RecordMode::Subgroup
            | RecordMode::Direct => Err(format!(
                "record mode `{name}` cannot be used: there are no shader atomics (feature shaderAtomicInstructions)"
            )),
        };
        assert_eq!(mode_for(&small, request), expected);
    }
    let mut k = Kernel::default();
    let many: Vec<String> = (0..2200)
        .map(|n| format!("if ({}) r[{n}] = 1u;", k.decision(&format!("{{r[{n}] > 2u}}"))))
        .collect();
    let many = marked(&k, &format!("void main() {{ {} }}", many.join(" ")));
    assert_eq!(mode_for(&many, automatic(known)), Ok(RecordMode::Direct));
}

#[test]
fn words_are_copied_for_devices_with_thousands_of_invocations_at_once() {
    use super::record::copy_count;
    let few = RecordingDevice::default();
    let thousands = RecordingDevice { parallelism: DeviceParallelism::Thousands, ..few };
    assert_eq!(copy_count(RecordMode::Private, &few, 3), 1);
    assert_eq!(copy_count(RecordMode::Slots, &thousands, 3), 1);
    assert_eq!(
        [3, 2_000, 10_000, 200_000, 300_000].map(|words| copy_count(
            RecordMode::Direct,
            &thousands,
            words
        )),
        [64, 64, 16, 1, 1]
    );
}

#[test]
fn workgroup_memory_and_subgroup_operations_are_asked_for() {
    let mut k = Kernel::default();
    let text =
        format!("shared uint s[4095]; void main() {{ {} s[0] = 1u; r[0] = s[0]; }}", k.mark());
    let kernel = marked(&k, &text);
    let device = RecordingDevice { workgroup_memory: 16_384, ..RecordingDevice::default() };
    let request =
        |mode, device| RecordRequest { mode: Some(mode), device, ..RecordRequest::default() };
    assert_eq!(
        mode_for(&kernel, request(RecordMode::Workgroup, device)),
        Ok(RecordMode::Workgroup)
    );
    let tight = RecordingDevice { workgroup_memory: 16_383, ..device };
    let refused = mode_for(&kernel, request(RecordMode::Workgroup, tight)).unwrap_err();
    let expected =
        "it takes 16384 bytes of workgroup memory with the kernel's own 16380 (the limit is 16383)";
    assert!(refused.ends_with(expected), "{refused}");
    let without = RecordingDevice { subgroup_arithmetic: DeviceAbility::Missing, ..device };
    let refused = mode_for(&kernel, request(RecordMode::Subgroup, without)).unwrap_err();
    assert!(
        refused.contains("`subgroup` cannot be used: the device has no subgroup operations"),
        "{refused}"
    );
}

/// Instructions of loops' bodies that recording adds: what is moved out of the iteration is not
/// there.
#[test]
fn a_loop_records_its_decision_outside_of_the_iteration() {
    let mut k = Kernel::default();
    let text = format!(
        "void main() {{ uint n = 0u; while ({}) {{ n++; }} for (uint i = 0u; {}; i++) {{ n += i; }} r[0] = n; }}",
        k.decision("{n < r[1]} && {n != r[2]}"),
        k.decision("{i < r[3]}")
    );
    let made = instruments(&k, &text);
    assert_eq!(made.untraced, []);
    assert_eq!(
        count(&made.instrumented, Op::Select),
        1,
        "which condition ended the first loop, behind it"
    );
    let (module, bound) = (
        Module::parse(made.instrumented).unwrap(),
        Module::parse(made.traced).unwrap().header.bound,
    );
    let added = |i: &&Instruction| i.result.is_some_and(|id| id >= bound);
    let or = module.instructions.iter().filter(|i| i.op == Op::BitwiseOr).filter(added).count();
    // Behind each loop one, and one per flag where the words are handed over.
    assert_eq!(or, 4);
    let mut with_break = Kernel::default();
    let text = format!(
        "void main() {{ uint n = 0u; while ({}) {{ n++; if ({}) break; }} r[0] = n; }}",
        with_break.decision("{n < r[1]} && {n != r[2]}"),
        with_break.decision("{n > r[3]}")
    );
    let made = instruments(&with_break, &text);
    let selects = count(&made.instrumented, Op::Select);
    assert_eq!(
        selects, 2,
        "the loop's decision is picked in the iteration, that of the other way out is not"
    );
}
