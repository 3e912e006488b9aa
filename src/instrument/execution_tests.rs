//! Instrumented modules, executed by a small evaluator that shares nothing with the engines: one
//! invocation, unsigned words and Booleans, buffers that are one array of words.

use super::expression_tests::{evaluate, expressions};
use super::tests::{Kernel, prelude};
use super::*;
use crate::compile_tests::compile;
use proptest::prelude::*;
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op};
use vkcert_model::records::{RecordMode, Witnesses};
use vkcert_model::structure::BooleanExpression;
use vkcert_model::vector::{ConditionValue, Values};
use vkcert_spirv::module::{Id, Instruction};

/// Runs one invocation of `main`; `buffers` are keyed by set and binding.
struct Evaluator<'a> {
    module: &'a Module,
    constants: Constants,
    /// Words by variable. Inputs hold zero: the invocation is the first of the first workgroup.
    memory: BTreeMap<Id, Vec<u32>>,
}

type Values32 = BTreeMap<Id, (u32, u32)>;

impl Evaluator<'_> {
    fn run(module: &Module, buffers: &mut BTreeMap<(u32, u32), Vec<u32>>) {
        let constants =
            Constants::evaluate(module, &Types::of_module(module), &BTreeMap::new()).unwrap();
        let mut evaluator = Evaluator { module, constants, memory: BTreeMap::new() };
        let number = |id, wanted| match module.decoration(id, wanted)?.operands.first()? {
            Operand::LiteralBit32(number) => Some(*number),
            _ => None,
        };
        let place =
            |id| Some((number(id, Decoration::DescriptorSet)?, number(id, Decoration::Binding)?));
        let globals = module.instructions.iter().take_while(|i| i.op != Op::Function);
        for variable in globals.filter(|i| i.op == Op::Variable).filter_map(|i| i.result) {
            let words = place(variable)
                .and_then(|place| buffers.get(&place))
                .cloned()
                .unwrap_or(vec![0; 8]);
            evaluator.memory.insert(variable, words);
        }
        evaluator.call(module.entry_points[0].function, &[]);
        for (variable, words) in evaluator.memory {
            if let Some(buffer) = place(variable).and_then(|place| buffers.get_mut(&place)) {
                *buffer = words;
            }
        }
    }

    /// Values are pairs: a word, or a variable with an index.
    fn call(&mut self, function: Id, arguments: &[(u32, u32)]) -> (u32, u32) {
        let function = self.module.function_by_id(function).unwrap();
        let mut values: Values32 =
            function.parameters.iter().copied().zip(arguments.iter().copied()).collect();
        let (mut block, mut from) = (&function.blocks[0], 0);
        loop {
            let mut next = None;
            for index in block.range {
                let i = &self.module.instructions[index];
                match i.op {
                    Op::Return => return (0, 0),
                    Op::ReturnValue => return self.value(&values, i.id(0).unwrap()),
                    Op::Branch => next = i.id(0),
                    Op::BranchConditional => {
                        let taken =
                            if self.value(&values, i.id(0).unwrap()).0 != 0 { 1 } else { 2 };
                        next = i.id(taken);
                    }
                    Op::Phi => {
                        let pairs: Vec<Id> = i.ids().collect();
                        let pair = pairs.chunks(2).find(|pair| pair[1] == from).unwrap();
                        let value = self.value(&values, pair[0]);
                        values.insert(i.result.unwrap(), value);
                    }
                    _ => self.step(i, &mut values),
                }
            }
            from = block.label;
            block = function.blocks.iter().find(|block| Some(block.label) == next).unwrap();
        }
    }

    fn value(&self, values: &Values32, id: Id) -> (u32, u32) {
        let constant = || {
            self.constants
                .scalar_word(id)
                .or_else(|| self.constants.boolean_value(id).map(u32::from))
        };
        values.get(&id).copied().or_else(|| Some((constant()?, 0))).unwrap_or((id, 0))
    }

    fn step(&mut self, i: &Instruction, values: &mut Values32) {
        let operands: Vec<(u32, u32)> = i.ids().map(|id| self.value(values, id)).collect();
        let word = |index: usize| operands[index].0;
        let place = |index: usize| (operands[index].0, operands[index].1 as usize);
        let result = match i.op {
            Op::Label
            | Op::Line
            | Op::NoLine
            | Op::SelectionMerge
            | Op::LoopMerge
            | Op::ControlBarrier => return,
            Op::CompositeExtract => (word(0), 0),
            Op::Variable => {
                self.memory.insert(i.result.unwrap(), vec![0xDEAD_BEEF]);
                return;
            }
            Op::Store | Op::AtomicStore => {
                let (variable, index) = place(0);
                self.memory.get_mut(&variable).unwrap()[index] = operands.last().unwrap().0;
                return;
            }
            Op::AccessChain => (operands[0].0, operands.last().unwrap().0),
            Op::Load | Op::AtomicLoad => (self.memory[&place(0).0][place(0).1], 0),
            Op::AtomicOr | Op::AtomicUMin => {
                let (variable, index) = place(0);
                let slot = &mut self.memory.get_mut(&variable).unwrap()[index];
                let before = *slot;
                *slot = if i.op == Op::AtomicOr { before | word(3) } else { before.min(word(3)) };
                (before, 0)
            }
            Op::FunctionCall => {
                let callee = i.id(0).unwrap();
                self.call(callee, &operands[1..])
            }
            Op::Select => operands[if word(0) != 0 { 1 } else { 2 }],
            Op::LogicalNot => (u32::from(word(0) == 0), 0),
            Op::Not => (!word(0), 0),
            op => {
                let (a, b) = (word(0), word(1));
                let result = match op {
                    Op::IAdd => a.wrapping_add(b),
                    Op::IMul => a.wrapping_mul(b),
                    Op::BitwiseOr | Op::LogicalOr => a | b,
                    Op::BitwiseAnd | Op::LogicalAnd => a & b,
                    Op::BitwiseXor => a ^ b,
                    Op::ShiftLeftLogical => a << b,
                    Op::ShiftRightLogical => a >> b,
                    Op::IEqual | Op::LogicalEqual => u32::from(a == b),
                    Op::INotEqual | Op::LogicalNotEqual => u32::from(a != b),
                    Op::ULessThan => u32::from(a < b),
                    other => panic!("{other:?}"),
                };
                (result, 0)
            }
        };
        values.insert(i.result.unwrap(), result);
    }
}

/// The expression as GLSL, condition `n` being bit `n` of `x`.
fn text(expression: &BooleanExpression) -> String {
    let pair = |left, operator, right| format!("({} {operator} {})", text(left), text(right));
    match expression {
        BooleanExpression::Condition(n) => format!("{{(x >> {n}u & 1u) == 1u}}"),
        BooleanExpression::Not(inner) => format!("!({})", text(inner)),
        BooleanExpression::And(left, right) => pair(left, "&&", right),
        BooleanExpression::Or(left, right) => pair(left, "||", right),
        BooleanExpression::Xor(left, right) => pair(left, "^^", right),
    }
}

const SIZE: DispatchSize = DispatchSize { groups: [1; 3], local_size: [1; 3] };

/// What a run of the instrumented module recorded for decision 1, and its first buffer.
fn recorded(made: &Instrumented, input: Vec<u32>) -> (Vec<Values>, Vec<u32>) {
    let module = Module::parse(made.instrumented.clone()).unwrap();
    let buffer = &made.record_buffer;
    let place = (buffer.set, buffer.binding);
    let mut buffers = BTreeMap::from([
        ((0, 0), input),
        (place, RecordForm::of_buffer(buffer).initial_words(&SIZE, 77).unwrap()),
    ]);
    Evaluator::run(&module, &mut buffers);
    let records = decode_records(buffer, &SIZE, &buffers[&place], 77).unwrap();
    let set = (0..32 * buffer.words).filter(|bit| records.has(*bit));
    match buffer.witnesses {
        Witnesses::Omitted => assert_eq!(records.witnesses, BTreeMap::new()),
        Witnesses::Recorded => {
            assert_eq!(records.witnesses, set.map(|bit| (bit, [0; 3])).collect())
        }
    }
    let slot = &buffer.layout.decisions[0];
    let shown = slot.vectors.iter().filter(|row| records.has(slot.base + row.sum));
    (shown.map(|row| row.vector.values.clone()).collect(), buffers[&(0, 0)].clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// The decision stands in a function that is called twice per round of a loop, once inside
    /// another decision.
    #[test]
    fn records_are_the_vectors_that_were_evaluated(
        (expression, conditions) in expressions(4),
        version: bool,
        mode in proptest::sample::select(vec![
            RecordMode::Private, RecordMode::Workgroup, RecordMode::Direct, RecordMode::Slots,
        ]),
        witnessed: bool,
    ) {
        prop_assume!(conditions <= 6);
        let mut kernel = Kernel::default();
        let decision = kernel.decision(&text(&expression));
        let outer = kernel.decision("{test(i)} || {test(i + 0u)}");
        let mark = kernel.mark();
        let body = format!(
            "bool test(uint x) {{ {mark} if ({decision}) return true; return false; }}
             void main() {{ for (uint i = r[0]; i < r[1]; i++) {{ if ({outer}) r[2 + i] = 1u; else r[2 + i] = 0u; }}
             if (r[0] == r[1]) return; r[0] = 0u; }}"
        );
        let env = if version { TargetEnv::Vulkan1_0 } else { TargetEnv::Vulkan1_2 };
        let marked = Module::parse(compile(&format!("{}{body}", prelude()), env)).unwrap();
        let witnesses = if witnessed { Witnesses::Recorded } else { Witnesses::Omitted };
        let request = RecordRequest { mode: Some(mode), witnesses, ..RecordRequest::default() };
        let made = instrument_as(&kernel.structure(), &marked, "main", &request).unwrap();
        // The branches of the harness itself (loop and early return) are not marked.
        prop_assert_eq!(made.untraced.len(), 2);
        let evaluated = |assignment: u32| {
            let mut seen = vec![ConditionValue::NotEvaluated; conditions];
            let outcome = evaluate(&expression, assignment, &mut seen);
            (Values(seen), outcome)
        };
        for assignment in 0..1_u32 << conditions {
            let mut input = vec![7; 70];
            (input[0], input[1]) = (assignment, assignment + 1);
            let (vectors, output) = recorded(&made, input);
            let (values, outcome) = evaluated(assignment);
            prop_assert_eq!(vectors, vec![values]);
            prop_assert_eq!(output[2 + assignment as usize], u32::from(outcome));
        }
        let mut input = vec![7; 70];
        (input[0], input[1]) = (0, 1 << conditions);
        let mut all: Vec<Values> = (0..1_u32 << conditions).map(|assignment| evaluated(assignment).0).collect();
        all.sort();
        all.dedup();
        let (mut vectors, _) = recorded(&made, input);
        vectors.sort();
        prop_assert_eq!(vectors, all);
        let (none, _) = recorded(&made, vec![3; 70]);
        prop_assert_eq!(none, vec![]);
    }
}
