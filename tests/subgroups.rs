//! Subgroup operations on the sequential engine: against a device at its subgroup size, against a
//! model of one invocation after the other at every size and at several tile widths, and what is
//! told of undefined results and of races.

use crate::device;
use crate::filetest;

use device::device;
use filetest::{Buffer, FileTest, Image};
use std::fmt::Write;
use vkcert::exec::sequential::{SequentialExecutor, Settings};
use vkcert::exec::vulkan::VulkanExecutor;
use vkcert::exec::{Completion, Executor, Run, Unobserved};
use vkcert::model::finding::FindingKind;
use vkcert::model::image::ImageFormat;
use vkcert::model::procedure::DescriptorClass;

const HEADER: &str = "#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_KHR_memory_scope_semantics : require
";

/// SPIR-V 1.5, in which the invocation of a broadcast need not be a constant.
fn compile(text: &str) -> Vec<u32> {
    let mut options = shaderc::CompileOptions::new().unwrap();
    options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_2 as u32);
    options.set_generate_debug_info();
    options.set_optimization_level(shaderc::OptimizationLevel::Zero);
    shaderc::Compiler::new()
        .unwrap()
        .compile_into_spirv(text, shaderc::ShaderKind::Compute, "subgroups", "main", Some(&options))
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
        .as_binary()
        .to_vec()
}

fn test(text: &str, groups: u32, buffers: Vec<Vec<Option<u32>>>) -> FileTest {
    let buffer =
        |(words, binding)| Buffer { binding, class: DescriptorClass::Storage, words, range: None };
    FileTest {
        name: "subgroups".to_owned(),
        words: compile(text),
        groups: [groups, 1, 1],
        buffers: buffers.into_iter().zip(0..).map(buffer).collect(),
        ..FileTest::default()
    }
}

fn run(test: &FileTest, subgroup_size: u32, tile_width: u32) -> Run {
    let settings = Settings { tile_width, subgroup_size, ..Settings::default() };
    let run = SequentialExecutor::new(settings).run(&test.job(), &mut Unobserved).unwrap();
    assert_eq!(run.completion, Completion::Completed, "{}", test.name);
    run
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, bound: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % bound
    }
}

// ---- against a model ----

#[derive(Debug, Clone, Copy)]
enum Join {
    Add,
    Mul,
    Min,
    Max,
    SignedMin,
    SignedMax,
    And,
    Or,
    Xor,
}

const JOINS: [Join; 9] = [
    Join::Add,
    Join::Mul,
    Join::Min,
    Join::Max,
    Join::SignedMin,
    Join::SignedMax,
    Join::And,
    Join::Or,
    Join::Xor,
];

impl Join {
    fn glsl(self) -> (&'static str, &'static str) {
        match self {
            Join::Add => ("Add", "uint"),
            Join::Mul => ("Mul", "uint"),
            Join::Min => ("Min", "uint"),
            Join::Max => ("Max", "uint"),
            Join::SignedMin => ("Min", "int"),
            Join::SignedMax => ("Max", "int"),
            Join::And => ("And", "uint"),
            Join::Or => ("Or", "int"),
            Join::Xor => ("Xor", "uint"),
        }
    }

    fn of(self, values: impl Iterator<Item = u32>) -> u32 {
        let values: Vec<u32> = values.collect();
        match self {
            Join::Add => values.iter().fold(0, |a, b| a.wrapping_add(*b)),
            Join::Mul => values.iter().fold(1, |a, b| a.wrapping_mul(*b)),
            Join::Min => values.into_iter().min().unwrap_or(u32::MAX),
            Join::Max => values.into_iter().max().unwrap_or(0),
            Join::SignedMin => {
                values.into_iter().map(|a| a as i32).min().unwrap_or(i32::MAX) as u32
            }
            Join::SignedMax => {
                values.into_iter().map(|a| a as i32).max().unwrap_or(i32::MIN) as u32
            }
            Join::And => values.iter().fold(u32::MAX, |a, b| a & b),
            Join::Or => values.iter().fold(0, |a, b| a | b),
            Join::Xor => values.iter().fold(0, |a, b| a ^ b),
        }
    }
}

/// An operation on the invocation's `v`, with a small number.
#[derive(Debug, Clone, Copy)]
enum Op {
    Reduce(Join),
    Inclusive(Join),
    Exclusive(Join),
    Clustered(Join, u32),
    All(u32),
    Any(u32),
    AllEqual(u32),
    Elect,
    Ballot(u32),
    BitCount(u32),
    InclusiveBitCount(u32),
    ExclusiveBitCount(u32),
    Lowest(u32),
    Highest(u32),
    InverseBallot(u32),
    BitExtract(u32),
    Shuffle(u32),
    ShuffleXor(u32),
    ShuffleUp(u32),
    ShuffleDown(u32),
    Broadcast(u32),
    BroadcastVarying(u32),
    BroadcastFirst,
    QuadBroadcast(u32),
    QuadSwap(u32),
    BuiltIns,
}

fn random_op(dice: &mut Dice) -> Op {
    let join = JOINS[dice.roll(9) as usize];
    let bit = dice.roll(32);
    match dice.roll(29) {
        0 | 1 => Op::Reduce(join),
        2 | 3 => Op::Inclusive(join),
        4 | 5 => Op::Exclusive(join),
        6 | 7 => Op::Clustered(join, 1 << dice.roll(6)),
        8 => Op::All(bit),
        9 => Op::Any(bit),
        10 => Op::AllEqual(bit),
        11 => Op::Elect,
        12 => Op::Ballot(bit),
        13 => Op::BitCount(bit),
        14 => Op::InclusiveBitCount(bit),
        15 => Op::ExclusiveBitCount(bit),
        16 => Op::Lowest(bit),
        17 => Op::Highest(bit),
        18 => Op::InverseBallot(bit),
        19 => Op::BitExtract(bit),
        20 => Op::Shuffle(1 + dice.roll(140)),
        21 => Op::ShuffleXor(dice.roll(17)),
        22 => Op::ShuffleUp(dice.roll(5)),
        23 => Op::ShuffleDown(dice.roll(5)),
        24 => Op::Broadcast(dice.roll(9)),
        25 => Op::BroadcastVarying(1 + dice.roll(5)),
        26 => Op::BroadcastFirst,
        27 => {
            if dice.roll(2) == 0 {
                Op::QuadBroadcast(dice.roll(4))
            } else {
                Op::QuadSwap(1 + dice.roll(3))
            }
        }
        _ => Op::BuiltIns,
    }
}

fn glsl(op: Op) -> String {
    let bit = |bit: u32| format!("((v >> {bit}u) & 1u) == 1u");
    let scan = |kind: &str, join: Join, more: String| {
        let (name, ty) = join.glsl();
        format!("uint(subgroup{kind}{name}({ty}(v){more}))")
    };
    let ballot = |function: &str, at: u32| format!("{function}(subgroupBallot({}))", bit(at));
    match op {
        Op::Reduce(join) => scan("", join, String::new()),
        Op::Inclusive(join) => scan("Inclusive", join, String::new()),
        Op::Exclusive(join) => scan("Exclusive", join, String::new()),
        Op::Clustered(join, size) => scan("Clustered", join, format!(", {size}u")),
        Op::All(at) => format!("uint(subgroupAll({}))", bit(at)),
        Op::Any(at) => format!("uint(subgroupAny({}))", bit(at)),
        Op::AllEqual(at) => format!("uint(subgroupAllEqual(uvec2(7u, v >> {at}u)))"),
        Op::Elect => "uint(subgroupElect())".to_owned(),
        Op::Ballot(at) => ballot("mixed", at),
        Op::BitCount(at) => ballot("subgroupBallotBitCount", at),
        Op::InclusiveBitCount(at) => ballot("subgroupBallotInclusiveBitCount", at),
        Op::ExclusiveBitCount(at) => ballot("subgroupBallotExclusiveBitCount", at),
        Op::Lowest(at) => ballot("subgroupBallotFindLSB", at),
        Op::Highest(at) => ballot("subgroupBallotFindMSB", at),
        Op::InverseBallot(at) => format!("uint({})", ballot("subgroupInverseBallot", at)),
        Op::BitExtract(at) => {
            format!("uint(subgroupBallotBitExtract(subgroupBallot({}), v % 130u))", bit(at))
        }
        Op::Shuffle(modulus) => format!("subgroupShuffle(v, v % {modulus}u)"),
        Op::ShuffleXor(mask) => format!("subgroupShuffleXor(v, {mask}u)"),
        Op::ShuffleUp(delta) => format!("subgroupShuffleUp(v, {delta}u)"),
        Op::ShuffleDown(delta) => format!("subgroupShuffleDown(v, {delta}u)"),
        Op::Broadcast(id) => format!("subgroupBroadcast(v, {id}u)"),
        Op::BroadcastVarying(modulus) => format!("subgroupBroadcast(v, v % {modulus}u)"),
        Op::BroadcastFirst => "subgroupBroadcastFirst(v)".to_owned(),
        Op::QuadBroadcast(id) => format!("subgroupQuadBroadcast(v, {id}u)"),
        Op::QuadSwap(bits) => {
            let direction = ["Horizontal", "Vertical", "Diagonal"][bits as usize - 1];
            format!("subgroupQuadSwap{direction}(v)")
        }
        Op::BuiltIns => "builtins()".to_owned(),
    }
}

const FUNCTIONS: &str = "uint mixed(uvec4 b) { return b.x ^ b.y * 3u ^ b.z * 5u ^ b.w * 7u; }
uint builtins() {
    return mixed(gl_SubgroupEqMask) + mixed(gl_SubgroupGeMask) * 11u + mixed(gl_SubgroupGtMask) * 13u
        + mixed(gl_SubgroupLeMask) * 17u + mixed(gl_SubgroupLtMask) * 19u + gl_SubgroupSize * 23u
        + gl_SubgroupInvocationID * 29u + gl_SubgroupID * 31u + gl_NumSubgroups * 37u;
}
";

fn mixed(ballot: u128) -> u32 {
    let word = |at: u32| (ballot >> (32 * at)) as u32;
    word(0) ^ word(1).wrapping_mul(3) ^ word(2).wrapping_mul(5) ^ word(3).wrapping_mul(7)
}

enum Statement {
    Op(Op),
    If(u32, Vec<Statement>, Vec<Statement>),
    /// As often as `v` modulo the number says; then invocations continue, and leave, by a bit.
    Loop {
        most: u32,
        first: Vec<Statement>,
        skip: u32,
        second: Vec<Statement>,
        leave: u32,
    },
    Switch(Vec<Vec<Statement>>),
    Return(u32),
}

fn random_statements(dice: &mut Dice, depth: u32) -> Vec<Statement> {
    let statement = |dice: &mut Dice| match dice.roll(if depth == 0 { 6 } else { 11 }) {
        6 | 7 => Statement::If(
            dice.roll(32),
            random_statements(dice, depth - 1),
            random_statements(dice, depth - 1),
        ),
        8 => Statement::Loop {
            most: 1 + dice.roll(4),
            first: random_statements(dice, depth - 1),
            skip: dice.roll(32),
            second: random_statements(dice, depth - 1),
            leave: dice.roll(32),
        },
        9 => Statement::Switch((0..3).map(|_| random_statements(dice, depth - 1)).collect()),
        10 if dice.roll(3) == 0 => Statement::Return(dice.roll(32)),
        _ => Statement::Op(random_op(dice)),
    };
    (0..1 + dice.roll(3)).map(|_| statement(dice)).collect()
}

fn print(statements: &[Statement], names: &mut u32, text: &mut String) {
    for statement in statements {
        match statement {
            Statement::Op(op) => {
                let _ = writeln!(text, "v = (v ^ ({})) * 2654435761u + 12345u;", glsl(*op));
            }
            Statement::If(bit, yes, no) => {
                let _ = writeln!(text, "if (((v >> {bit}u) & 1u) == 1u) {{");
                print(yes, names, text);
                text.push_str("} else {\n");
                print(no, names, text);
                text.push_str("}\n");
            }
            Statement::Loop { most, first, skip, second, leave } => {
                *names += 1;
                let name = *names;
                let _ = writeln!(text, "uint q{name} = v % {most}u + 1u;");
                let _ = writeln!(text, "for (uint t{name} = 0u; t{name} < q{name}; t{name}++) {{");
                print(first, names, text);
                let _ = writeln!(text, "if (((v >> {skip}u) & 1u) == 1u) continue;");
                print(second, names, text);
                let _ = writeln!(text, "if (((v >> {leave}u) & 1u) == 1u) break;\n}}");
            }
            Statement::Switch(cases) => {
                let _ = writeln!(text, "switch (v % {}u) {{", cases.len() + 1);
                for (case, body) in cases.iter().enumerate() {
                    let _ = writeln!(text, "case {case}u: {{");
                    print(body, names, text);
                    text.push_str("} break;\n");
                }
                text.push_str("default: break;\n}\n");
            }
            Statement::Return(bit) => {
                let _ = writeln!(text, "if (((v >> {bit}u) & 1u) == 1u) {{ o[n] = v; return; }}");
            }
        }
    }
}

/// One subgroup, interpreted with explicit sets of invocations.
struct Model {
    size: u32,
    number: u32,
    subgroups: u32,
    v: Vec<u32>,
    ended: Vec<bool>,
    undefined: bool,
}

fn has(value: u32, bit: u32) -> bool {
    value >> bit & 1 == 1
}

impl Model {
    fn alive(&self, set: &[u32]) -> Vec<u32> {
        set.iter().copied().filter(|id| !self.ended[*id as usize]).collect()
    }

    fn run(&mut self, statements: &[Statement], set: &[u32]) {
        for statement in statements {
            let set = self.alive(set);
            if set.is_empty() {
                return;
            }
            let when = |model: &Model, bit: u32, value: bool| -> Vec<u32> {
                set.iter().copied().filter(|id| has(model.v[*id as usize], bit) == value).collect()
            };
            match statement {
                Statement::Op(op) => {
                    let results: Vec<u32> =
                        set.iter().map(|id| self.result(*op, *id, &set)).collect();
                    for (id, result) in set.iter().zip(results) {
                        let v = &mut self.v[*id as usize];
                        *v = (*v ^ result).wrapping_mul(2_654_435_761).wrapping_add(12345);
                    }
                }
                Statement::If(bit, yes, no) => {
                    let (taken, passed) = (when(self, *bit, true), when(self, *bit, false));
                    self.run(yes, &taken);
                    self.run(no, &passed);
                }
                Statement::Loop { most, first, skip, second, leave } => {
                    let times: Vec<u32> = self.v.iter().map(|v| v % most + 1).collect();
                    let mut inside = set.clone();
                    for turn in 0.. {
                        inside = self.alive(&inside);
                        inside.retain(|id| turn < times[*id as usize]);
                        if inside.is_empty() {
                            break;
                        }
                        self.run(first, &inside);
                        let rest: Vec<u32> = self
                            .alive(&inside)
                            .into_iter()
                            .filter(|id| !has(self.v[*id as usize], *skip))
                            .collect();
                        self.run(second, &rest);
                        let leaving: Vec<u32> = self
                            .alive(&rest)
                            .into_iter()
                            .filter(|id| has(self.v[*id as usize], *leave))
                            .collect();
                        inside.retain(|id| !leaving.contains(id));
                    }
                }
                Statement::Switch(cases) => {
                    let selector: Vec<u32> =
                        self.v.iter().map(|v| v % (cases.len() as u32 + 1)).collect();
                    for (case, body) in cases.iter().enumerate() {
                        let here: Vec<u32> = set
                            .iter()
                            .copied()
                            .filter(|id| selector[*id as usize] == case as u32)
                            .collect();
                        self.run(body, &here);
                    }
                }
                Statement::Return(bit) => {
                    when(self, *bit, true).iter().for_each(|id| self.ended[*id as usize] = true)
                }
            }
        }
    }

    fn from(&mut self, source: Option<u32>, set: &[u32]) -> u32 {
        match source.filter(|source| set.contains(source)) {
            Some(source) => self.v[source as usize],
            None => {
                self.undefined = true;
                0
            }
        }
    }

    fn result(&mut self, op: Op, id: u32, set: &[u32]) -> u32 {
        let v = self.v.clone();
        let of = |id: u32| v[id as usize];
        let lowest = set[0];
        let ballot = |bit: u32| {
            set.iter().filter(|id| has(of(**id), bit)).fold(0_u128, |bits, id| bits | 1 << id)
        };
        let until = |last: u32, include: bool| {
            set.iter().copied().filter(move |id| *id < last || include && *id == last)
        };
        match op {
            Op::Reduce(join) => join.of(set.iter().map(|id| of(*id))),
            Op::Inclusive(join) => join.of(until(id, true).map(of)),
            Op::Exclusive(join) => join.of(until(id, false).map(of)),
            Op::Clustered(join, size) => {
                self.undefined |= size > self.size;
                let size = size.min(self.size);
                join.of(set.iter().filter(|other| **other / size == id / size).map(|id| of(*id)))
            }
            Op::All(bit) => u32::from(set.iter().all(|id| has(of(*id), bit))),
            Op::Any(bit) => u32::from(set.iter().any(|id| has(of(*id), bit))),
            Op::AllEqual(at) => u32::from(set.iter().all(|id| of(*id) >> at == of(lowest) >> at)),
            Op::Elect => u32::from(id == lowest),
            Op::Ballot(bit) => mixed(ballot(bit)),
            Op::BitCount(bit) => ballot(bit).count_ones(),
            Op::InclusiveBitCount(bit) => {
                until(id, true).filter(|id| has(of(*id), bit)).count() as u32
            }
            Op::ExclusiveBitCount(bit) => {
                until(id, false).filter(|id| has(of(*id), bit)).count() as u32
            }
            Op::Lowest(bit) | Op::Highest(bit) => {
                let mut found = set.iter().copied().filter(|id| has(of(*id), bit));
                let found =
                    if matches!(op, Op::Lowest(_)) { found.next() } else { found.next_back() };
                self.undefined |= found.is_none();
                found.unwrap_or(u32::MAX)
            }
            Op::InverseBallot(bit) => u32::from(has(of(id), bit)),
            Op::BitExtract(bit) => {
                let index = of(id) % 130;
                self.undefined |= index >= self.size;
                u32::from(set.contains(&index) && has(of(index), bit))
            }
            Op::Shuffle(modulus) => self.from(Some(of(id) % modulus), set),
            Op::ShuffleXor(mask) => self.from(Some(id ^ mask), set),
            Op::ShuffleUp(delta) => self.from(id.checked_sub(delta), set),
            Op::ShuffleDown(delta) => self.from(Some(id + delta), set),
            Op::Broadcast(source) => self.from(Some(source), set),
            Op::BroadcastVarying(modulus) => {
                self.undefined |= set.iter().any(|id| of(*id) % modulus != of(lowest) % modulus);
                self.from(Some(of(lowest) % modulus), set)
            }
            Op::BroadcastFirst => of(lowest),
            Op::QuadBroadcast(source) => self.from(Some(id / 4 * 4 + source), set),
            Op::QuadSwap(bits) => self.from(Some(id ^ bits), set),
            Op::BuiltIns => self.builtins(id),
        }
    }

    fn builtins(&self, id: u32) -> u32 {
        let mask = |test: &dyn Fn(u32) -> bool| {
            mixed(
                (0..self.size)
                    .filter(|other| test(*other))
                    .fold(0, |bits, other| bits | 1 << other),
            )
        };
        let all: [(u32, u32); 9] = [
            (mask(&|other| other == id), 1),
            (mask(&|other| other >= id), 11),
            (mask(&|other| other > id), 13),
            (mask(&|other| other <= id), 17),
            (mask(&|other| other < id), 19),
            (self.size, 23),
            (id, 29),
            (self.number, 31),
            (self.subgroups, 37),
        ];
        all.iter().fold(0, |sum, (value, factor)| sum.wrapping_add(value.wrapping_mul(*factor)))
    }
}

/// What a kernel leaves in its buffer, and whether a result was undefined.
fn expected(
    statements: &[Statement],
    values: &[u32],
    local_size: u32,
    size: u32,
) -> (Vec<u32>, bool) {
    let (mut all, mut undefined) = (Vec::new(), false);
    for workgroup in values.chunks(local_size as usize) {
        for (number, v) in workgroup.chunks(size as usize).enumerate() {
            let mut model = Model {
                size,
                number: number as u32,
                subgroups: local_size.div_ceil(size),
                v: v.to_vec(),
                ended: vec![false; v.len()],
                undefined: false,
            };
            let set: Vec<u32> = (0..v.len() as u32).collect();
            model.run(statements, &set);
            all.append(&mut model.v);
            undefined |= model.undefined;
        }
    }
    (all, undefined)
}

fn kernel(statements: &[Statement], local_size: u32) -> String {
    let mut body = String::new();
    print(statements, &mut 0, &mut body);
    format!(
        "{HEADER}layout(local_size_x = {local_size}) in;
layout(std430, set = 0, binding = 0) buffer O {{ uint o[]; }};
{FUNCTIONS}
void main() {{
uint n = gl_GlobalInvocationID.x;
uint v = o[n];
{body}o[n] = v;
}}"
    )
}

/// How many kernels; `make soak` asks for more.
fn count() -> u64 {
    std::env::var("VKCERT_RANDOM_KERNELS").ok().and_then(|text| text.parse().ok()).unwrap_or(40)
}

#[test]
fn random_kernels_do_what_one_invocation_after_the_other_says() {
    let mut with_undefined = 0;
    for seed in 0..count() {
        let mut dice = Dice(seed);
        let local_size = [1, 5, 8, 31, 32, 33, 64, 100, 128, 200][dice.roll(10) as usize];
        let statements = random_statements(&mut dice, 3);
        let text = kernel(&statements, local_size);
        let values: Vec<u32> = (0..2 * local_size).map(|_| dice.roll(1 << 31)).collect();
        let test = test(&text, 2, vec![values.iter().copied().map(Some).collect()]);
        for size in (0..8).map(|power| 1 << power) {
            let (due, undefined) = expected(&statements, &values, local_size, size);
            with_undefined += u32::from(undefined);
            for tile_width in [1, 24, 64, 1024] {
                let run = run(&test, size, tile_width);
                let told =
                    run.findings.iter().any(|finding| finding.kind == FindingKind::UndefinedValue);
                let what =
                    format!("seed {seed}, subgroups of {size}, tiles of {tile_width}\n{text}");
                assert_eq!(words(&run.buffers[0]), due, "{what}");
                assert_eq!(told, undefined, "{what}\n{:#?}", run.findings);
                assert!(
                    run.findings.iter().all(|finding| finding.kind == FindingKind::UndefinedValue),
                    "{what}"
                );
            }
        }
    }
    assert!(with_undefined > 0 && with_undefined < 8 * count() as u32, "{with_undefined}");
}

// ---- against a device ----

/// Expressions of `a` of type `T`.
const INTEGERS: &[&str] = &[
    "subgroupAdd(a)",
    "subgroupMul(a)",
    "subgroupMin(a)",
    "subgroupMax(a)",
    "subgroupAnd(a)",
    "subgroupOr(a)",
    "subgroupXor(a)",
    "subgroupInclusiveAdd(a)",
    "subgroupInclusiveMul(a)",
    "subgroupInclusiveMin(a)",
    "subgroupInclusiveMax(a)",
    "subgroupInclusiveAnd(a)",
    "subgroupInclusiveOr(a)",
    "subgroupInclusiveXor(a)",
    "subgroupExclusiveAdd(a)",
    "subgroupExclusiveMul(a)",
    "subgroupExclusiveMin(a)",
    "subgroupExclusiveMax(a)",
    "subgroupExclusiveAnd(a)",
    "subgroupExclusiveOr(a)",
    "subgroupExclusiveXor(a)",
    "subgroupBroadcastFirst(a)",
    "subgroupBroadcast(a, subgroupBallotFindMSB(subgroupBallot(true)))",
    "(subgroupAllEqual(a) ? T(1) : T(2))",
];

const FLOATS: &[&str] = &[
    "subgroupAdd(a)",
    "subgroupMul(a)",
    "subgroupMin(a)",
    "subgroupMax(a)",
    "subgroupInclusiveAdd(a)",
    "subgroupInclusiveMul(a)",
    "subgroupInclusiveMin(a)",
    "subgroupInclusiveMax(a)",
    "subgroupExclusiveAdd(a)",
    "subgroupExclusiveMul(a)",
    "subgroupExclusiveMin(a)",
    "subgroupExclusiveMax(a)",
    "subgroupBroadcastFirst(a)",
    "subgroupBroadcast(a, subgroupBallotFindLSB(subgroupBallot(true)))",
    "(subgroupAllEqual(a) ? T(1) : T(2))",
];

/// Of `uint a`.
const BITS: &[&str] = &[
    "uint(subgroupElect())",
    "uint(subgroupAll(a > 9u))",
    "uint(subgroupAny(a < 9u))",
    "uint(subgroupAllEqual(a > 3u))",
    "uint(subgroupAllEqual(uvec3(1u, a / 64u, 3u)))",
    "mixed(subgroupBallot(a % 3u == 0u))",
    "uint(subgroupInverseBallot(subgroupBallot(a % 3u != 0u)))",
    "uint(subgroupInverseBallot(uvec4(0x5au)))",
    "uint(subgroupBallotBitExtract(subgroupBallot(a % 3u != 0u), a % 8u))",
    "subgroupBallotBitCount(uvec4(a, a, a, a))",
    "subgroupBallotInclusiveBitCount(subgroupBallot(a % 5u > 1u))",
    "subgroupBallotExclusiveBitCount(subgroupBallot(a % 5u > 1u))",
    "subgroupBallotFindLSB(uvec4(a & 0xffu | 16u, 3u, 0u, 0u))",
    "subgroupBallotFindMSB(uvec4(a & 0xffu | 16u, 3u, 0u, 0u))",
    // Mesa 22.3 rounds the number of subgroups down where the last one is partial (Vulkan rounds it
    // up).
    "gl_SubgroupSize + (gl_WorkGroupSize.x % 8u == 0u ? 100u * gl_NumSubgroups : 0u)",
    "gl_SubgroupInvocationID + 100u * gl_SubgroupID",
    "mixed(gl_SubgroupEqMask)",
    "mixed(gl_SubgroupGeMask)",
    "mixed(gl_SubgroupGtMask)",
    "mixed(gl_SubgroupLeMask)",
    "mixed(gl_SubgroupLtMask)",
    "subgroupAnd(uvec2(a, a * 3u)).y",
    "(subgroupAdd(ivec3(int(a), -1, 2)).z < 9 ? 1u : 0u)",
];

/// Where the expressions `EACH` stand. `a` is what they use, `n` the invocation.
const SHAPES: &[(&str, &str)] = &[
    ("all together", "EACH"),
    ("two branches", "if (n % 3u != 1u) { EACH } else { a += T(2); EACH }"),
    (
        "a loop",
        "for (uint t = 0u; t < (n * 5u) % 4u; t++) { if ((n + t) % 3u == 0u) continue; EACH a += T(1); if (n % 7u == t) break; }",
    ),
    (
        "a switch in a loop with returns",
        "for (uint t = 0u; t < 3u; t++) { switch ((n + t) % 4u) { case 0u: a += T(1); case 1u: EACH break; case 2u: if (n % 5u == 0u) return; break; default: continue; } a += T(1); EACH }",
    ),
];

fn size_of(ty: &str) -> usize {
    match ty {
        "int8_t" | "uint8_t" => 1,
        "int16_t" | "uint16_t" | "float16_t" => 2,
        "int" | "uint" | "float" => 4,
        _ => 8,
    }
}

/// Small numbers, some negative where the type has them: sums and products of floats are exact.
fn number(ty: &str, dice: &mut Dice) -> u64 {
    let small = i64::from(dice.roll(7)) - 3;
    match ty {
        "float16_t" => u64::from(
            half::f16::from_f64([0.5, 1.0, 2.0, -1.0, -2.0, 1.0, 1.0][(small + 3) as usize])
                .to_bits(),
        ),
        "float" => u64::from((small as f32 * 0.5).to_bits()),
        "double" => (small as f64 * 0.5).to_bits(),
        "uint" => u64::from(dice.roll(300)),
        _ => (small.wrapping_mul(0x0123_4567_89ab_cdef) ^ small) as u64,
    }
}

fn compare_on(
    device: &mut VulkanExecutor,
    ty: &str,
    expressions: &[&str],
    ran: &mut u32,
    failures: &mut String,
) {
    // Drivers compile slowly; types of other widths go the longest way alone.
    let wide = matches!(ty, "uint" | "float");
    for (shape, body) in if wide { SHAPES } else { &SHAPES[3..] } {
        for local_size in
            if wide { &[[8, 1], [13, 1], [64, 1], [16, 3]][..] } else { &[[13, 1], [16, 3]] }
        {
            let each: String = expressions
                .iter()
                .enumerate()
                .map(|(at, one)| format!("o[{at}u * w + n] = T({one});\n"))
                .collect();
            let [x, y] = *local_size;
            let text = format!(
                "{HEADER}layout(local_size_x = {x}, local_size_y = {y}) in;
#define T {ty}
layout(std430, set = 0, binding = 0) readonly buffer I {{ T i[]; }};
layout(std430, set = 0, binding = 1) buffer O {{ T o[]; }};
{FUNCTIONS}
void main() {{
    uint n = gl_WorkGroupID.x * {x}u * {y}u + gl_LocalInvocationIndex, w = {}u; T a = i[n];
    {}
}}",
                2 * x * y,
                body.replace("EACH", &each)
            );
            let mut dice = Dice(7);
            let size = size_of(ty);
            let invocations = (2 * x * y) as usize;
            let mut bytes: Vec<u8> = (0..invocations)
                .flat_map(|_| number(ty, &mut dice).to_le_bytes()[..size].to_vec())
                .collect();
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            let outputs = vec![Some(0); (invocations * expressions.len() * size).div_ceil(4)];
            let test = test(&text, 2, vec![words(&bytes).into_iter().map(Some).collect(), outputs]);
            let ours = run(&test, 8, 64);
            assert!(
                ours.findings.is_empty(),
                "{ty}, {shape}, {local_size:?}: {:#?}\n{text}",
                ours.findings
            );
            let theirs = device.run(&test.job(), &mut Unobserved).unwrap();
            match &theirs.completion {
                Completion::Unsupported { what } => {
                    eprintln!("NOT RUN on the device: {ty}: {what}");
                    return;
                }
                Completion::Completed => *ran += 1,
                other => panic!("{other:?}\n{text}"),
            }
            let value = |run: &Run, at: usize| {
                let bits = run.buffers[1][at * size..(at + 1) * size].iter().rev();
                let bits = bits.fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
                // Zeros of both signs are one.
                let zero =
                    matches!(ty, "float16_t" | "float" | "double") && bits == 1 << (8 * size - 1);
                if zero { 0 } else { bits }
            };
            for (at, expression) in expressions.iter().enumerate() {
                let all = at * invocations..(at + 1) * invocations;
                let wrong: Vec<usize> =
                    all.filter(|at| value(&ours, *at) != value(&theirs, *at)).collect();
                if let Some(first) = wrong.first() {
                    let (left, right) = (value(&ours, *first), value(&theirs, *first));
                    let lane = first % invocations;
                    let _ = writeln!(
                        failures,
                        "{expression} on {ty}, {shape}, local size {local_size:?}: {} differ, first of invocation {lane}: \
                         sequential {left:#x}, device {right:#x}",
                        wrong.len()
                    );
                }
            }
        }
    }
}

#[test]
fn operations_are_the_device_s() {
    let Some(mut device) = device() else { return };
    if device.device().subgroup_size != 8 {
        eprintln!(
            "NOT RUN on a device: its subgroups have {} invocations",
            device.device().subgroup_size
        );
        return;
    }
    // The header asks for all classes; a device is given those that the kernel uses.
    let (mut ran, mut failures) = (0, String::new());
    let integers = ["int", "int8_t", "uint8_t", "int16_t", "uint16_t", "int64_t", "uint64_t"];
    integers.iter().for_each(|ty| compare_on(&mut device, ty, INTEGERS, &mut ran, &mut failures));
    ["float", "float16_t", "double"]
        .iter()
        .for_each(|ty| compare_on(&mut device, ty, FLOATS, &mut ran, &mut failures));
    compare_on(&mut device, "uint", INTEGERS, &mut ran, &mut failures);
    compare_on(&mut device, "uint", BITS, &mut ran, &mut failures);
    assert!(failures.is_empty(), "\n{failures}");
    assert!(ran > 0, "nothing ran on the device");
    eprintln!("{ran} kernels compared");
}

// ---- values of every type, by the device's older instructions too ----

/// Whose value an invocation gets, by local index.
type Source = fn(u32) -> u32;

/// For 32 invocations in subgroups of 8.
const MOVES: &[(&str, Source)] = &[
    ("subgroupShuffle(a, 7u - k)", |n| n / 8 * 8 + 7 - n % 8),
    ("subgroupShuffleXor(a, 5u)", |n| n ^ 5),
    ("subgroupShuffleUp(a, k == 0u ? 0u : 1u)", |n| if n % 8 == 0 { n } else { n - 1 }),
    ("subgroupShuffleDown(a, k > 4u ? 0u : 3u)", |n| if n % 8 > 4 { n } else { n + 3 }),
    ("subgroupBroadcast(a, 6u)", |n| n / 8 * 8 + 6),
    ("subgroupBroadcastFirst(a)", |n| n / 8 * 8),
    ("subgroupQuadBroadcast(a, 2u)", |n| n / 4 * 4 + 2),
    ("subgroupQuadSwapHorizontal(a)", |n| n ^ 1),
    ("subgroupQuadSwapVertical(a)", |n| n ^ 2),
    ("subgroupQuadSwapDiagonal(a)", |n| n ^ 3),
    ("subgroupClusteredMax(a, 1u)", |n| n),
    ("subgroupRotate(a, 3u)", |n| n / 8 * 8 + (n + 3) % 8),
    ("subgroupClusteredRotate(a, 3u, 4u)", |n| n / 4 * 4 + (n + 3) % 4),
];

#[test]
fn values_of_every_type_move_between_invocations() {
    for ty in ["int8_t", "uint16_t", "float16_t", "float", "uint", "int64_t", "double"] {
        let each: String = (MOVES.iter().enumerate())
            .map(|(at, (one, _))| {
                // The same on vectors, whose components must stay apart.
                let vector =
                    one.replacen("(a,", "(V(a, T(1), a),", 1).replacen("(a)", "(V(a, T(1), a))", 1);
                format!(
                    "o[{}u + n] = T({one});\no[{}u + n] = T(({vector}).z);\n",
                    64 * at,
                    64 * at + 32
                )
            })
            .collect();
        let vector = match ty {
            "int8_t" => "i8vec3",
            "uint16_t" => "u16vec3",
            "float16_t" => "f16vec3",
            "float" => "vec3",
            "uint" => "uvec3",
            "int64_t" => "i64vec3",
            _ => "dvec3",
        };
        let text = format!(
            "{HEADER}#extension GL_KHR_shader_subgroup_rotate : require
layout(local_size_x = 32) in;
#define T {ty}
#define V {vector}
layout(std430, set = 0, binding = 0) readonly buffer I {{ T i[]; }};
layout(std430, set = 0, binding = 1) buffer O {{ T o[]; }};
void main() {{ uint n = gl_LocalInvocationIndex, k = gl_SubgroupInvocationID; T a = i[n];\n{each} }}"
        );
        let size = size_of(ty);
        let value =
            |n: u32| (u64::from(n) * 0x0107_0305_0200_0103 + 0x3c00).to_le_bytes()[..size].to_vec();
        let bytes: Vec<u8> = (0..32).flat_map(value).collect();
        let outputs = vec![Some(0); 64 * MOVES.len() * size / 4];
        let test = test(&text, 1, vec![words(&bytes).into_iter().map(Some).collect(), outputs]);
        let run = run(&test, 8, 16);
        assert!(run.findings.is_empty(), "{ty}: {:#?}", run.findings);
        for (at, (expression, source)) in MOVES.iter().enumerate() {
            for (n, half) in (0..32).flat_map(|n| [(n, 0), (n, 32)]) {
                let found = &run.buffers[1][(64 * at + half + n as usize) * size..][..size];
                assert_eq!(found, value(source(n)), "{expression} on {ty}, invocation {n}, {half}");
            }
        }
    }
}

#[test]
fn booleans_are_combined_and_moved() {
    let text = format!(
        "{HEADER}layout(local_size_x = 16) in;
layout(std430, set = 0, binding = 0) buffer O {{ uint o[]; }};
void main() {{
    uint n = gl_LocalInvocationIndex; bool a = n % 3u != 0u; bvec2 b = bvec2(n < 12u, n % 2u == 0u);
    o[n] = uint(subgroupAnd(a)) | uint(subgroupOr(b.x)) << 1 | uint(subgroupXor(a)) << 2
        | uint(subgroupExclusiveAnd(b).x) << 3 | uint(subgroupInclusiveOr(!a)) << 4 | uint(subgroupExclusiveXor(b).y) << 5
        | uint(subgroupShuffleXor(b, 1u).y) << 6 | uint(subgroupClusteredOr(n == 5u, 4u)) << 7 | uint(subgroupAllEqual(b)) << 8
        | uint(subgroupAllEqual(b.x)) << 9;
}}"
    );
    let run = run(&test(&text, 1, vec![vec![Some(0); 16]]), 8, 64);
    let a = |n: u32| !n.is_multiple_of(3);
    let due = |n: u32| {
        let (first, sub) = (n / 8 * 8, n / 8 * 8..n / 8 * 8 + 8);
        let bits = [
            sub.clone().all(a),
            sub.clone().any(|n| n < 12),
            sub.clone().filter(|n| a(*n)).count() % 2 == 1,
            (first..n).all(|n| n < 12),
            (first..=n).any(|n| !a(n)),
            (first..n).filter(|n| n.is_multiple_of(2)).count() % 2 == 1,
            (n ^ 1).is_multiple_of(2),
            n / 4 == 1,
            false,
            n < 8,
        ];
        bits.iter().zip(0..).fold(0, |all, (bit, at)| all | u32::from(*bit) << at)
    };
    assert_eq!(words(&run.buffers[0]), (0..16).map(due).collect::<Vec<u32>>());
}

#[test]
fn the_older_instructions_are_the_newer_ones() {
    let text = "#version 450
#extension GL_ARB_shader_ballot : require
#extension GL_ARB_shader_group_vote : require
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x = 24) in;
layout(std430, set = 0, binding = 0) buffer O { uint o[]; };
void main() {
    uint n = gl_LocalInvocationID.x;
    uint64_t b = ballotARB(n % 3u == 0u);
    o[n] = uint(b) | uint(b >> 32) | readInvocationARB(n, 5u) << 16 | readFirstInvocationARB(n) << 24;
    o[24u + n] = uint(anyInvocationARB(n == 20u)) | uint(allInvocationsARB(n < 16u)) << 1 | uint(allInvocationsEqualARB(n < 8u)) << 2
        | uint(allInvocationsEqualARB(n < 4u)) << 3;
}";
    let run = run(&test(text, 1, vec![vec![Some(0); 48]]), 8, 64);
    let due = |n: u32| {
        let first = n / 8 * 8;
        let ballot =
            (0..8).filter(|bit| (first + bit).is_multiple_of(3)).fold(0, |all, bit| all | 1 << bit);
        ballot | (first + 5) << 16 | first << 24
    };
    let votes =
        |n: u32| u32::from(n >= 16) | u32::from(n < 16) << 1 | 1 << 2 | u32::from(n >= 8) << 3;
    assert_eq!(
        words(&run.buffers[0]),
        (0..24).map(due).chain((0..24).map(votes)).collect::<Vec<u32>>()
    );
}

// ---- findings ----

/// The findings of a kernel of 32 invocations in subgroups of 8, by kind, line and message.
fn found(body: &str) -> Vec<(FindingKind, u32, String)> {
    let text = format!(
        "{HEADER}layout(local_size_x = 32) in; shared uint s[64];
layout(std430, set = 0, binding = 0) buffer O {{ uint o[]; }};
void main() {{ uint n = gl_LocalInvocationIndex, k = gl_SubgroupInvocationID, u;
{body} }}"
    );
    let test = test(&text, 1, vec![vec![Some(1); 64]]);
    let all = [1, 16, 64].map(|tile_width| {
        let run = run(&test, 8, tile_width);
        run.findings.into_iter().map(|one| (one.kind, one.count, one.message)).collect::<Vec<_>>()
    });
    // Of a race either access may come first, by tile width.
    let kinds = |one: &Vec<(FindingKind, u64, String)>| {
        let mut kinds: Vec<_> = one
            .iter()
            .map(|one| (one.0, if one.0 == FindingKind::DataRace { 1 } else { one.1 }))
            .collect();
        kinds.dedup();
        kinds
    };
    assert!(all.iter().all(|one| kinds(one) == kinds(&all[0])), "{body}: {all:#?}");
    let [first, ..] = all;
    first.into_iter().map(|(kind, count, message)| (kind, count as u32, message)).collect()
}

#[test]
fn undefined_results_are_told_with_the_number_of_invocations() {
    for (body, count, due) in [
        ("o[n] = subgroupShuffleUp(n, 1u);", 4, "not active or not in the subgroup"),
        ("o[n] = subgroupShuffle(n, 8u);", 32, "not active or not in the subgroup"),
        ("if (k < 4u) o[n] = subgroupShuffleXor(n, 4u);", 16, "not active or not in the subgroup"),
        ("if (k < 4u) o[n] = subgroupBroadcast(n, 3u);", 0, ""),
        ("o[n] = subgroupBroadcast(n, k / 7u);", 4, "the index differs"),
        ("o[n] = subgroupBroadcast(n, n / 8u);", 0, ""),
        ("o[n] = uint(subgroupInverseBallot(uvec4(k / 7u)));", 32, "the ballot differs"),
        ("o[n] = subgroupBallotFindLSB(uvec4(n / 8u << 8 | n / 24u, 0u, 0u, 0u));", 24, "no bit"),
        ("o[n] = uint(subgroupBallotBitExtract(uvec4(0u), n % 9u));", 3, "index of a bit"),
        ("o[n] = subgroupClusteredAdd(n, 8u);", 0, ""),
        ("o[n] = subgroupClusteredAdd(n, 16u);", 32, "larger than the subgroup"),
    ] {
        let found = found(body);
        let told =
            found.first().map(|(kind, count, message)| (*kind, *count, message.contains(due)));
        assert_eq!(
            told,
            (count > 0).then_some((FindingKind::UndefinedValue, count, true)),
            "{body}: {found:?}"
        );
    }
}

#[test]
fn a_value_that_nobody_wrote_travels_to_the_invocation_that_uses_it() {
    let uses = FindingKind::UninitializedRead;
    // Invocation 0 of each subgroup alone has no value; its right neighbour gets it.
    let travel = "if (k != 0u) u = n; u = subgroupShuffle(u, k == 1u ? 0u : k);";
    let counted = |found: Vec<(FindingKind, u32, String)>| {
        found.iter().map(|one| (one.0, one.1)).collect::<Vec<_>>()
    };
    assert_eq!(counted(found(&format!("{travel} if (k > 1u) o[n] = u + 1u;"))), []);
    assert_eq!(counted(found(&format!("{travel} if (k != 0u) o[n] = u + 1u;"))), [(uses, 4)]);
    assert_eq!(counted(found("if (k != 0u) u = n; if (k != 0u) o[n] = subgroupAdd(u);")), []);
    assert_eq!(counted(found("if (k != 0u) u = n; o[n] = subgroupAdd(u);")), [(uses, 4)]);
    assert_eq!(counted(found("if (k != 0u) u = n; o[n] = subgroupBroadcast(u, 1u) + 1u;")), []);
    assert_eq!(
        counted(found("if (k != 0u) u = n; o[n] = subgroupBroadcastFirst(u) + 1u;")),
        [(uses, 32)]
    );
}

#[test]
fn a_barrier_of_the_subgroup_orders_its_invocations_alone() {
    for (body, races) in [
        // Exchange in a subgroup, with and without a barrier.
        ("s[n] = n; subgroupBarrier(); o[n] = s[n ^ 1u];", false),
        ("s[n] = n; o[n] = s[n ^ 1u];", true),
        ("s[n] = n; subgroupMemoryBarrierShared(); o[n] = s[n ^ 1u];", true),
        ("o[32u + n] = n; subgroupBarrier(); o[n] = o[32u + (n ^ 1u)];", false),
        ("o[32u + n] = n; o[n] = o[32u + (n ^ 1u)];", true),
        // Between subgroups it orders nothing.
        ("s[n] = n; subgroupBarrier(); o[n] = s[n ^ 8u];", true),
        ("s[n] = n; barrier(); o[n] = s[n ^ 8u];", false),
        // Several times, with everything read before it is written again.
        (
            "s[n] = n; for (uint t = 1u; t < 8u; t *= 2u) { subgroupBarrier(); u = s[n ^ t]; subgroupBarrier(); s[n] += u; } o[n] = s[n];",
            false,
        ),
        (
            "s[n] = n; for (uint t = 1u; t < 8u; t *= 2u) { subgroupBarrier(); u = s[n ^ t]; s[n] += u; } o[n] = s[n];",
            true,
        ),
        // Of a part of the subgroup.
        ("if (k < 4u) { s[n] = n; subgroupBarrier(); o[n] = s[n ^ 1u]; }", false),
        ("s[n] = n; if (k < 4u) { subgroupBarrier(); o[n] = s[n ^ 1u]; }", false),
        ("s[n] = n; if (k < 4u) { subgroupBarrier(); o[n] = s[n ^ 4u]; }", true),
        // From 0 to 1, and from 1 on to 2; without the second step, or when 0 writes later, not.
        (
            "if (k == 0u) s[n] = n; if (k < 2u) subgroupBarrier(); if (k == 1u || k == 2u) subgroupBarrier(); if (k == 2u) o[n] = s[n - 2u];",
            false,
        ),
        (
            "if (k == 0u) s[n] = n; if (k < 2u) subgroupBarrier(); if (k == 2u) o[n] = s[n - 2u];",
            true,
        ),
        (
            "if (k < 2u) subgroupBarrier(); if (k == 0u) s[n] = n; if (k == 1u || k == 2u) subgroupBarrier(); if (k == 2u) o[n] = s[n - 2u];",
            true,
        ),
        // Readers are not forgotten: 0, 2 and 3 read, 1 writes after a barrier with 0 and 2.
        (
            "if (k == 0u || k == 2u) o[n] = s[n / 8u]; if (k < 3u) subgroupBarrier(); if (k == 1u) s[n / 8u] = 1u;",
            false,
        ),
        (
            "if (k == 0u || k == 2u || k == 3u) o[n] = s[n / 8u]; if (k < 3u) subgroupBarrier(); if (k == 1u) s[n / 8u] = 1u;",
            true,
        ),
        // Atomics do not race with each other, and are ordered before plain reads.
        ("atomicAdd(s[n / 8u], 1u); subgroupBarrier(); o[n] = s[n / 8u];", false),
        ("atomicAdd(s[n / 8u], 1u); o[n] = s[n / 8u];", true),
        // A control barrier whose semantics are for other memory.
        (
            "s[n] = n; controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease); o[n] = s[n ^ 1u];",
            true,
        ),
        (
            "s[n] = n; controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease); o[n] = s[n ^ 1u];",
            false,
        ),
        (
            "s[n] = n; controlBarrier(gl_ScopeSubgroup, gl_ScopeInvocation, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease); o[n] = s[n ^ 1u];",
            true,
        ),
        // Whole workgroups wait in between.
        (
            "s[n] = n; subgroupBarrier(); barrier(); u = s[31u - n]; barrier(); s[n] = u; subgroupBarrier(); o[n] = s[n ^ 2u];",
            false,
        ),
        (
            "s[n] = n; subgroupBarrier(); barrier(); u = s[31u - n]; s[n] = u; subgroupBarrier(); o[n] = s[n ^ 2u];",
            true,
        ),
    ] {
        // Where nobody wrote is not the question here.
        let body = format!("s[n] = 0u; s[32u + n] = 0u; barrier(); {body}");
        let found = found(&body);
        let raced = found.iter().any(|(kind, _, _)| *kind == FindingKind::DataRace);
        assert!(
            found.iter().all(|(kind, _, _)| *kind == FindingKind::DataRace),
            "{body}: {found:#?}"
        );
        assert_eq!(raced, races, "{body}: {found:#?}");
    }
}

#[test]
fn a_dispatch_has_its_own_subgroup_size() {
    let text = format!(
        "{HEADER}layout(local_size_x = 24) in;
layout(std430, set = 0, binding = 0) buffer O {{ uint o[]; }};
void main() {{ o[gl_LocalInvocationIndex] = gl_SubgroupSize * 100u + gl_NumSubgroups; }}"
    );
    let mut job = test(&text, 1, vec![vec![Some(0); 24]]).job();
    let mut engine = SequentialExecutor::default();
    let run = engine.run(&job, &mut Unobserved).unwrap();
    assert_eq!(words(&run.buffers[0])[0], 3201);
    job.dispatches[0].subgroup_size = Some(16);
    let run = engine.run(&job, &mut Unobserved).unwrap();
    assert_eq!(words(&run.buffers[0])[0], 1602);
    for size in [0, 3, 256] {
        job.dispatches[0].subgroup_size = Some(size);
        let Completion::Unsupported { what } =
            engine.run(&job, &mut Unobserved).unwrap().completion
        else {
            panic!()
        };
        assert_eq!(
            what,
            format!("subgroup size {size} (the engine offers powers of two from 1 to 128)")
        );
    }
}

/// Texel buffers at bindings 1 and 2 (the second is bound as bytes, too, where `shared`), words at
/// binding 0.
fn races_of_texels(body: &str, shared: bool) -> bool {
    let text = format!(
        "{HEADER}layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer O {{ uint o[]; }};
layout(r32ui, set = 0, binding = 1) uniform uimageBuffer t;
void main() {{ uint n = gl_LocalInvocationIndex; {body} }}"
    );
    let mut test = test(&text, 1, vec![vec![Some(0); 64]]);
    test.images.push(Image {
        binding: 1,
        array_index: 0,
        class: DescriptorClass::StorageTexel,
        shape: None,
        format: ImageFormat::R32ui,
        words: vec![Some(0); 64],
    });
    let mut job = test.job();
    if shared {
        job.dispatches[0].bindings[1].buffer = 0;
    }
    let kinds = [8, 24].map(|tile_width| {
        let settings = Settings { tile_width, subgroup_size: 8, ..Settings::default() };
        let run = SequentialExecutor::new(settings).run(&job, &mut Unobserved).unwrap();
        assert_eq!(run.completion, Completion::Completed, "{body}");
        run.findings.iter().map(|finding| finding.kind).collect::<std::collections::BTreeSet<_>>()
    });
    assert_eq!(kinds[0], kinds[1], "{body}");
    assert!(kinds[0].iter().all(|kind| *kind == FindingKind::DataRace), "{body}: {kinds:?}");
    !kinds[0].is_empty()
}

#[test]
fn a_barrier_of_the_subgroup_orders_images_apart_from_buffers() {
    let control = |memory: &str| {
        format!(
            "controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemantics{memory}, gl_SemanticsAcquireRelease);"
        )
    };
    let texels = |between: &str| {
        format!("imageStore(t, int(n), uvec4(n)); {between} o[n] = imageLoad(t, int(n ^ 1u)).x;")
    };
    let bytes =
        |between: &str| format!("o[n] = n; {between} imageStore(t, int(n), uvec4(o[n ^ 1u]));");
    for (body, races) in [
        (texels("subgroupBarrier();"), false),
        (texels(""), true),
        (texels(&control("Image")), false),
        (texels(&control("Buffer")), true),
        (texels("subgroupBarrier();").replace("^ 1u", "^ 8u"), true),
        (bytes("subgroupBarrier();"), false),
        (bytes(&control("Buffer")), false),
        (bytes(&control("Image")), true),
    ] {
        assert_eq!(races_of_texels(&body, false), races, "{body}");
    }
    // What is written as bytes and read as texels needs both.
    let both =
        |between: &str| format!("o[n] = n; {between} o[32u + n] = imageLoad(t, int(n ^ 1u)).x;");
    for (between, races) in [
        (control("Buffer"), true),
        (control("Image"), true),
        ("subgroupBarrier();".to_owned(), false),
    ] {
        assert_eq!(races_of_texels(&both(&between), true), races, "{between}");
    }
}
