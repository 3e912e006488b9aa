//! Random kernels: nothing that is proved is ever found out of bounds.
//!
//! Kernels have guards, loops, masks, tiles, calls and arithmetic near the ends of 32 bits. Each is
//! run on the sequential engine with several values of its parameters and random contents. Every
//! access that the engine finds out of bounds must be one that the analysis left open.

mod guarded;

use super::super::host_numbers;
use super::{compiled, run_job};
use crate::expressions::HostExpressions;
use crate::{CouplingInput, KernelFlow};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_model::finding::{Checks, FindingKind};
use vkcert_model::project::MemoryModel;
use vkcert_model::requirement::Interface;
use vkcert_requirement::host::decide::HostModel;
use vkcert_spirv::interface::Reflection;
use vkcert_spirv::range::{AccessOutcome, judge_accesses};

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// A random kernel as it is written.
struct Writer {
    dice: Dice,
    text: String,
    /// Names of variables in scope.
    unsigned_names: Vec<String>,
    signed_names: Vec<String>,
    name_count: usize,
    loop_depth: usize,
    statements_left: usize,
}

impl Writer {
    fn new(seed: u64) -> Self {
        Self {
            dice: Dice(seed),
            text: String::new(),
            unsigned_names: Vec::new(),
            signed_names: Vec::new(),
            name_count: 0,
            loop_depth: 0,
            statements_left: 26,
        }
    }

    fn name(&mut self) -> String {
        self.name_count += 1;
        format!("v{}", self.name_count)
    }

    fn unsigned(&mut self, depth: usize) -> String {
        if depth == 0 || self.dice.below(5) == 0 {
            if self.dice.below(4) == 0 {
                let literals = ["0u", "1u", "2u", "3u", "7u", "16u", "4294967295u", "2147483648u"];
                return self.dice.pick(&literals).to_owned();
            }
            let name = self.dice.below(self.unsigned_names.len());
            return self.unsigned_names[name].clone();
        }
        let left = self.unsigned(depth - 1);
        match self.dice.below(17) {
            0 | 1 => format!("({left} + {})", self.unsigned(depth - 1)),
            2 | 3 => format!("({left} - {})", self.unsigned(depth - 1)),
            4 => format!("({left} * {})", self.unsigned(depth - 1)),
            5 => format!("({left} / max({}, 1u))", self.unsigned(depth - 1)),
            6 => format!("({left} % {}u)", 1 + self.dice.below(9)),
            7 => format!("({left} & {}u)", self.dice.pick(&["1", "3", "7", "15", "5"])),
            8 => format!("({left} >> {}u)", self.dice.below(5)),
            9 => format!("({left} << {}u)", self.dice.below(4)),
            10 => format!("min({left}, {})", self.unsigned(depth - 1)),
            11 => format!("max({left}, {})", self.unsigned(depth - 1)),
            12 => {
                let (condition, right) = (self.condition(1), self.unsigned(depth - 1));
                format!("({condition} ? {left} : {right})")
            }
            13 => format!("uint({})", self.signed(depth - 1)),
            14 => format!("({left} {} {})", self.dice.pick(&["|", "^"]), self.unsigned(depth - 1)),
            15 => format!("(1u << ({left} & 3u))"),
            _ => format!("clamp({left}, 1u, {}u)", 1 + self.dice.below(8)),
        }
    }

    fn signed(&mut self, depth: usize) -> String {
        if depth == 0 || self.dice.below(5) == 0 {
            if self.dice.below(4) == 0 {
                let literals = ["0", "1", "-1", "2", "5", "2147483647", "(-2147483647 - 1)"];
                return self.dice.pick(&literals).to_owned();
            }
            let name = self.dice.below(self.signed_names.len());
            return self.signed_names[name].clone();
        }
        let left = self.signed(depth - 1);
        match self.dice.below(12) {
            0 | 1 => format!("({left} + {})", self.signed(depth - 1)),
            2 | 3 => format!("({left} - {})", self.signed(depth - 1)),
            4 => format!("({left} * {})", self.signed(depth - 1)),
            5 => format!("({left} / {})", 1 + self.dice.below(5)),
            6 => format!("clamp({left}, 0, {})", 1 + self.dice.below(8)),
            7 => format!("({left} >> {})", self.dice.below(4)),
            8 => format!("min({left}, {})", self.signed(depth - 1)),
            9 => format!("abs({left})"),
            10 => format!("({left} & 7)"),
            _ => format!("int({})", self.unsigned(depth - 1)),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth > 0 && self.dice.below(3) == 0 {
            let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
            return match self.dice.below(3) {
                0 => format!("({left} && {right})"),
                1 => format!("({left} || {right})"),
                _ => format!("!({left})"),
            };
        }
        let operator = self.dice.pick(&["<", "<=", ">", ">=", "==", "!="]);
        match self.dice.below(2) {
            0 => format!("{} {operator} {}", self.unsigned(1), self.unsigned(1)),
            _ => format!("{} {operator} {}", self.signed(1), self.signed(1)),
        }
    }

    fn access(&mut self) {
        let object = self.dice.pick(&["a", "b", "w", "t", "r"]);
        let length = match object {
            "a" => self.dice.pick(&["n", "n * m", "uint(a.length())"]),
            "b" => self.dice.pick(&["m", "uint(b.length())"]),
            "w" => "16u",
            "t" => "8u",
            _ => "12u",
        };
        let index = self.unsigned(2);
        let name = self.name();
        self.text.push_str(&format!("uint {name} = {index};\n"));
        self.unsigned_names.push(name.clone());
        let index = match self.dice.below(5) {
            0 => format!("min({name}, {length} - 1u)"),
            1 => format!("{name} % ({length})"),
            _ => name.clone(),
        };
        let place = match object {
            "r" => format!("r[{index} / 4u][{index} % 4u]"),
            object => format!("{object}[{index}]"),
        };
        let use_of_place = match self.dice.below(3) {
            0 => format!("{place} = uint(gl_LocalInvocationID.x);\n"),
            1 if object != "t" => format!("atomicAdd({place}, 1u);\n"),
            _ => format!("sum += {place};\n"),
        };
        let guard = match self.dice.below(3) {
            0 => String::new(),
            1 => format!("if ({name} < {length}) "),
            _ => format!("if ({name} < {length} && {}) ", self.condition(1)),
        };
        self.text.push_str(&format!("{guard}{{ {use_of_place} }}\n"));
    }

    fn block(&mut self, depth: usize) {
        let (unsigned_count, signed_count) = (self.unsigned_names.len(), self.signed_names.len());
        for _ in 0..1 + self.dice.below(4) {
            if self.statements_left == 0 {
                break;
            }
            self.statements_left -= 1;
            self.statement(depth);
        }
        self.unsigned_names.truncate(unsigned_count);
        self.signed_names.truncate(signed_count);
    }

    fn statement(&mut self, depth: usize) {
        match self.dice.below(12) {
            0 | 1 => {
                let (value, name) = (self.unsigned(2), self.name());
                self.text.push_str(&format!("uint {name} = {value};\n"));
                self.unsigned_names.push(name);
            }
            2 => {
                let (value, name) = (self.signed(2), self.name());
                self.text.push_str(&format!("int {name} = {value};\n"));
                self.signed_names.push(name);
            }
            3 => {
                let value = self.unsigned(2);
                self.text.push_str(&format!("state = {value};\n"));
            }
            4 | 5 if depth > 0 => {
                let condition = self.condition(2);
                self.text.push_str(&format!("if ({condition}) {{\n"));
                self.block(depth - 1);
                if self.dice.below(2) == 0 {
                    self.text.push_str("} else {\n");
                    self.block(depth - 1);
                }
                self.text.push_str("}\n");
            }
            6 | 7 if depth > 0 && self.loop_depth < 2 => self.write_loop(depth),
            8 if self.loop_depth > 0 => {
                let (condition, jump) = (self.condition(1), self.dice.pick(&["break", "continue"]));
                self.text.push_str(&format!("if ({condition}) {{ {jump}; }}\n"));
            }
            9 => {
                let condition = self.condition(1);
                self.text.push_str(&format!("if ({condition}) {{ state += 1u; }}\n"));
            }
            _ => self.access(),
        }
    }

    fn write_loop(&mut self, depth: usize) {
        let name = self.name();
        let (start, end) = (self.unsigned(1), self.unsigned(1));
        let step = self.dice.pick(&["1u", "2u", "3u", "L"]);
        let header = match self.dice.below(5) {
            0 => format!("uint {name} = {end}; {name} > 0u; {name} /= 2u"),
            1 => format!("uint {name} = 1u; {name} < ({end} & 31u); {name} *= 2u"),
            2 => format!("uint {name} = {end} & 15u; {name} > 0u; --{name}"),
            3 => format!("uint {name} = 0u; {name} < min({end}, 9u); {name} += {step}"),
            _ => format!("uint {name} = {start}; {name} < {end}; {name} += {step}"),
        };
        self.text.push_str(&format!("for ({header}) {{\nif (++turns > 40u) {{ break; }}\n"));
        self.unsigned_names.push(name);
        self.loop_depth += 1;
        self.block(depth - 1);
        self.loop_depth -= 1;
        self.text.push_str("}\n");
        self.unsigned_names.pop();
    }
}

/// A kernel and its host.
struct RandomCase {
    text: String,
    interface: Interface,
    local_size: usize,
    /// The least value of parameters without sign.
    least_number: i64,
}

fn random_case(seed: u64) -> RandomCase {
    let mut writer = Writer::new(seed);
    let local_size = [1, 4, 8][writer.dice.below(3)];
    writer.unsigned_names = ["p", "n", "m"].map(str::to_owned).to_vec();
    writer.signed_names = ["q", "s"].map(str::to_owned).to_vec();
    writer.statements_left = 8;
    writer.block(2);
    let function_body = std::mem::take(&mut writer.text);
    writer.unsigned_names =
        ["x", "lane", "n", "m", "state", "gl_WorkGroupID.x"].map(str::to_owned).to_vec();
    writer.signed_names = ["s", "y", "int(n)"].map(str::to_owned).to_vec();
    writer.statements_left = 22;
    for _ in 0..4 {
        writer.block(3);
    }
    let text = format!(
        "#version 450\n#define L {local_size}u\n\
         layout(local_size_x = {local_size}) in;\n\
         layout(std430, binding = 0) buffer A {{ uint a[]; }};\n\
         layout(std430, binding = 1) buffer B {{ uint head; uint b[]; }};\n\
         layout(std430, binding = 2) buffer R {{ uvec4 r[3]; }};\n\
         layout(push_constant) uniform P {{ uint n; uint m; int s; }};\n\
         shared uint w[16];\n\
         uint turns = 0u;\n\
         uint f(uint p, int q) {{\nuint sum = 0u; uint state = p; uint t[8];\n\
         {function_body}\nreturn sum + state;\n}}\n\
         void main() {{\nuint x = gl_GlobalInvocationID.x; uint lane = gl_LocalInvocationID.x;\n\
         uint sum = 0u; uint state = lane; int y = int(x) - 3; uint t[8];\n\
         {}\nhead = sum + f(x, y) + f(n, s) + state;\n}}\n",
        writer.text
    );
    let mut dice = Dice(seed ^ 0x55);
    let greatest_n = [6, 40, 70_000][dice.below(3)];
    let interface = serde_json::json!({
        "kernel": "k",
        "parameters": [
            { "name": "n", "type": "uint32", "min": 1, "max": greatest_n },
            { "name": "m", "type": "uint32", "min": 1, "max": 6 },
            { "name": "s", "type": "int32", "min": -5, "max": 5 },
        ],
        "push_constants": { "members": [
            { "name": "n", "type": "uint32" },
            { "name": "m", "type": "uint32" },
            { "name": "s", "type": "int32" },
        ]},
        "buffers": [
            { "set": 0, "binding": 0, "size": dice.pick(&["n * m * 4", "n * 4", "(n + 7) / 8 * 32"]) },
            { "set": 0, "binding": 1, "size": dice.pick(&["4 + m * 4", "64", "8 * m"]) },
            { "set": 0, "binding": 2, "size": "48" },
        ],
        "groups": [dice.pick(&["(n + 7) / 8", "m", "n"]), "1", "1"],
    });
    let interface = serde_json::from_value(interface).unwrap();
    RandomCase { text, interface, local_size, least_number: 1 }
}

/// What a random kernel came to.
#[derive(Default)]
struct Tally {
    proved: usize,
    open: usize,
    found: usize,
}

fn check_case(seed: u64, case: RandomCase, tally: &mut Tally) {
    let RandomCase { text, interface, local_size, least_number } = case;
    let module = compiled(&text);
    let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
    let flow = KernelFlow::of_production(&module, "main", &BTreeMap::new()).unwrap();
    let place = vkcert_model::place::Place::default();
    let input = CouplingInput {
        interface: &interface,
        stated: crate::StatedStructs { interface: &interface, place: &place, readings: &[] },
        pipelines: &[],
        earlier: &[],
        captures: &[],
        module: &module,
        reflection: &reflection,
        structure: None,
        flow: &flow,
        barriers: &[],
        tests: &[],
        device: None,
        replay: None,
        memory_model: MemoryModel::Idiom,
    };
    let host = HostModel::from_interface(&interface, reflection.local_size).unwrap();
    let expressions = HostExpressions::from_interface(&host, &input).unwrap();
    let numbers = host_numbers::host_numbers(&input, &host, &expressions);
    let accesses = judge_accesses(&module, reflection.function, &BTreeMap::new(), numbers);
    let offset_of = |instruction: usize| module.instructions[instruction].offset;
    let open: BTreeSet<u32> = accesses
        .iter()
        .filter(|access| matches!(access.outcome, AccessOutcome::Open { .. }))
        .map(|access| offset_of(access.instruction))
        .collect();
    tally.open += open.len();
    tally.proved += accesses.len() - open.len();
    let mut dice = Dice(seed ^ 0xaa);
    for _ in 0..6 {
        let parameters = BTreeMap::from([
            ("n".to_owned(), least_number + dice.below(6) as i64),
            ("m".to_owned(), least_number + dice.below(6) as i64),
            ("s".to_owned(), dice.below(11) as i64 - 5),
        ]);
        let specialization = BTreeMap::new();
        let replay = crate::replay::Replay {
            input: &input,
            host: &host,
            expressions: &expressions,
            specialization: &specialization,
        };
        let Some(mut job) =
            replay.job_for(&parameters, Checks::of_kinds([FindingKind::OutOfBounds]))
        else {
            continue;
        };
        for buffer in &mut job.buffers {
            let words = (0..buffer.bytes.len() / 4).map(|_| match dice.below(3) {
                0 => dice.bits() as u32,
                _ => dice.below(12) as u32,
            });
            buffer.bytes = Arc::new(words.flat_map(u32::to_le_bytes).collect());
        }
        let run = run_job(&job, MemoryModel::Idiom).unwrap();
        for finding in run.findings.iter().filter(|row| row.kind == FindingKind::OutOfBounds) {
            let offset = finding.place.as_ref().and_then(|place| place.instruction).unwrap();
            tally.found += 1;
            assert!(
                open.contains(&offset),
                "seed {seed}, {parameters:?}, local size {local_size}: {finding:?}\n{accesses:#?}\n{text}"
            );
        }
    }
}

#[test]
fn nothing_proved_is_found_out_of_bounds_in_random_kernels() {
    let count = std::env::var("VKCERT_RANDOM_BOUNDS").ok().and_then(|count| count.parse().ok());
    let mut tally = Tally::default();
    for seed in 0..count.unwrap_or(40) {
        check_case(seed, random_case(seed), &mut tally);
    }
    println!("{} proved, {} open, {} findings", tally.proved, tally.open, tally.found);
    // The test is worth something only if much is proved and much is out of bounds.
    assert!(tally.proved > tally.open / 2, "{} of {}", tally.proved, tally.open);
    assert!(tally.found > 40, "{}", tally.found);
}
