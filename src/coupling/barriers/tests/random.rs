//! Random kernels with barriers, of which some are missing: nothing that is said to be ordered
//! races, and no barrier that is said to be reached alike is passed by some invocations alone.
//!
//! Statements write and read tiles and a buffer by sums, masks and remainders of ids, under
//! conditions on ids, host values and contents, in loops and calls, or reduce a tile by halves,
//! doubles and butterflies, with right guards and strides and wrong ones, or go through it by
//! products with a host value and a specialization constant. Each kernel is run on the
//! sequential engine with several values and contents, of which the analysis knows the ranges.

use crate::barriers::order::AccessOrders;
use crate::bounds::tests::{compiled, run_job};
use crate::expressions::HostExpressions;
use crate::replay::Replay;
use crate::{BarrierControl, CouplingInput, KernelFlow, kernel_barriers};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;
use vkcert_model::finding::{Checks, Finding, FindingKind};
use vkcert_model::finding_details::{AccessKind, RaceReach};
use vkcert_model::place::Place;
use vkcert_model::project::MemoryModel;
use vkcert_model::requirement::Interface;
use vkcert_requirement::host::decide::HostModel;
use vkcert_spirv::interface::Reflection;
use vkcert_spirv::pairs::AccessOrder;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) % count
    }

    fn pick(&mut self, words: &[&str]) -> String {
        words[self.below(words.len() as u64) as usize].to_owned()
    }
}

/// Deepest nesting of statements.
const MOST_NESTED: u32 = 3;

struct Text {
    dice: Dice,
    text: String,
    /// Whether barriers may stand here.
    has_barriers: bool,
    /// Whether they may stand where not all invocations come to.
    is_divergent: bool,
}

impl Text {
    fn index(&mut self) -> String {
        let index = self.dice.pick(&[
            "lane",
            "7u - lane",
            "lane + 8u",
            "lane + 1u",
            "lane * 2u",
            "lane * 2u + 1u",
            "lane ^ 1u",
            "lane / 2u",
            "lane % 4u",
            "0u",
            "3u",
            "n + lane",
            "n - lane",
            "turn + lane",
            "b[0] + lane",
            "b[lane]",
        ]);
        format!("({index}) & 15u")
    }

    /// A condition, and whether a workgroup decides it alike.
    fn condition(&mut self) -> (String, bool) {
        let is_alike = self.dice.below(2) == 0;
        let conditions: &[&str] = match is_alike {
            true => &["n > 3u", "gl_WorkGroupID.x == 0u", "b[0] > 4u", "n % 2u == 0u"],
            false => &["lane == 0u", "lane < 4u", "b[lane] > 4u", "x < n", "lane < n && n > 2u"],
        };
        (self.dice.pick(conditions), is_alike)
    }

    fn statement(&mut self, depth: u32) {
        let index = self.index();
        let object = self.dice.pick(&["one", "two", "one", "a"]);
        match self.dice.below(if depth < MOST_NESTED { 20 } else { 9 }) {
            0..3 => self.line(&format!("{object}[{index}] = sum;")),
            3..6 => self.line(&format!("sum += {object}[{index}];")),
            6..8 => self.barrier("barrier();"),
            8 => self.barrier("memoryBarrierBuffer(); barrier();"),
            9 | 10 => {
                let (condition, is_alike) = self.condition();
                self.nested(&format!("if ({condition})"), is_alike, depth);
            }
            11 => {
                let (condition, is_alike) = self.condition();
                self.nested(&format!("if ({condition})"), is_alike, depth);
                self.nested("else", is_alike, depth);
            }
            12 => {
                let most = self.dice.pick(&["3u", "(n & 3u)", "(lane & 1u)"]);
                let head = format!("for (uint turn = 0u; turn < {most}; ++turn)");
                self.nested(&head, !most.contains("lane"), depth);
            }
            13 => self.line("part();"),
            14 | 15 => self.reduction(),
            16 => self.butterflies(),
            17 => self.strided(),
            _ => self.rows(),
        }
    }

    /// A tile that is reduced in steps, each right or wrong in some way.
    fn reduction(&mut self) {
        let starts = ["4u", "8u", "n / 2u", "n", "4u + lane % 2u", "3u"];
        let start = self.dice.pick(&starts);
        let is_alike = !start.contains("lane");
        let (start, limit, step) = match self.dice.below(3) {
            0 => (start, "reach > 0u", "reach /= 2u"),
            1 => (start, "reach > 0u", "reach >>= 1"),
            _ => ("1u".to_owned(), "reach < 8u", "reach *= 2u"),
        };
        let guard = self.dice.pick(&[
            "lane < reach",
            "lane < reach",
            "!(lane >= reach)",
            "lane <= reach",
            "lane % (2u * reach) == 0u",
            "lane < reach && n > 2u",
            "b[lane] > 4u && lane < reach",
            "lane < 4u",
            "true",
        ]);
        let other = self.dice.pick(&[
            "lane + reach",
            "lane + reach",
            "other",
            "lane + reach - 1u",
            "lane ^ reach",
            "7u - lane",
        ]);
        // The step stands between the guard and the access, behind the access or at its place.
        let (between, behind, last) = match self.dice.below(5) {
            0 => (step, "", ""),
            1 => ("", step, ""),
            _ => ("", "", step),
        };
        let barrier = match self.has_barriers && (is_alike || self.is_divergent) {
            true => self.dice.pick(&["barrier();", "barrier();", "barrier();", ""]),
            false => String::new(),
        };
        let head = match between {
            "" => format!("if ({guard})"),
            step => format!("bool takes = {guard}; {step}; if (takes)"),
        };
        self.line(&format!(
            "for (uint reach = {start}; {limit}; {last}) {{ other = lane + reach;
            {head} {{ wide[lane] += wide[{other}]; }} {behind}; {barrier} }}"
        ));
    }

    /// The pairs of a fast transform, each right or wrong in some way.
    fn butterflies(&mut self) {
        let offset = self.dice.pick(&["lane % reach", "lane & (reach - 1u)", "lane % 3u"]);
        let upper = self.dice.pick(&[
            "(lane - offset) * 2u + offset",
            "(lane - offset) * 2u + offset",
            "((lane - offset) << 1) | offset",
            "lane + offset",
        ]);
        let barrier = match self.has_barriers {
            true => self.dice.pick(&["barrier();", "barrier();", ""]),
            false => String::new(),
        };
        self.line(&format!(
            "for (uint stage = 0u; stage < 3u; ++stage) {{ uint reach = 1u << stage;
            uint offset = {offset}; uint upper = {upper};
            wide[upper] += wide[upper + reach]; wide[upper + reach] = sum; {barrier} }}"
        ));
    }

    /// Elements a product apart, each right or wrong in some way.
    fn strided(&mut self) {
        let start = self.dice.pick(&["lane", "lane", "lane + 8u", "lane * 2u", "0u"]);
        let bound = self.dice.pick(&["n", "16u", "b[0]"]);
        let step = self.dice.pick(&["8u", "8u", "8u * FACTOR", "4u * FACTOR", "4u"]);
        let indices = [
            "place * w",
            "n + place * w",
            "place * (w / 2u)",
            "place + w",
            "lane * w",
            "lane * w + (place & 1u)",
            "place * FACTOR",
        ];
        let index = self.dice.pick(&indices);
        let other = match self.dice.below(4) {
            0 => self.dice.pick(&indices),
            _ => index.clone(),
        };
        self.line(&format!(
            "for (uint place = {start}; place < {bound}; place += {step}) {{ wide[{index}] += wide[{other}]; }}"
        ));
    }

    /// Rows as long as the host says, each right or wrong in some way.
    fn rows(&mut self) {
        let width = self.dice.pick(&["4u", "2u", "(2u * FACTOR)"]);
        let guard = self.dice.pick(&[
            "column < w",
            "column < w",
            "row < w",
            "column <= w",
            "w > 3u",
            "true",
        ]);
        let index = self.dice.pick(&["row * w + column", "row * w + column", "row * w + row"]);
        self.line(&format!(
            "{{ uint row = lane / {width}, column = lane % {width};
            if ({guard}) {{ wide[{index}] += sum; }} }}"
        ));
    }

    fn line(&mut self, words: &str) {
        writeln!(self.text, "{words}").expect("text grows");
    }

    fn barrier(&mut self, words: &str) {
        if self.has_barriers {
            self.line(words);
        }
    }

    /// A block that a workgroup comes to alike, or in which most kernels have no barriers.
    fn nested(&mut self, head: &str, is_alike: bool, depth: u32) {
        let around = self.has_barriers;
        self.has_barriers &= is_alike || self.is_divergent;
        self.line(&format!("{head} {{"));
        self.block(depth + 1);
        self.line("}");
        self.has_barriers = around;
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..2 + self.dice.below(3) {
            self.statement(depth);
        }
    }
}

fn random_text(seed: u64) -> String {
    let (has_barriers, is_divergent) = (false, seed.is_multiple_of(8));
    let mut text = Text { dice: Dice(seed), text: String::new(), has_barriers, is_divergent };
    text.text.push_str(
        "#version 450
        layout(local_size_x = 8) in;
        layout(std430, binding = 0) buffer A { uint a[]; };
        layout(std430, binding = 1) readonly buffer B { uint b[]; };
        layout(push_constant) uniform P { uint n; uint w; };
        layout(constant_id = 3) const uint FACTOR = 1u;
        shared uint one[16]; shared uint two[16]; shared uint wide[64];
        uint other = 0u; uint sum = 1u; uint turn = 0u;
        uint lane = gl_LocalInvocationID.x; uint x = gl_GlobalInvocationID.x;
        void part() {\n",
    );
    for _ in 0..2 {
        text.statement(MOST_NESTED);
    }
    let body = std::mem::take(&mut text.text).replace("part();", "");
    text.text = body + "}\nvoid main() {\n";
    text.has_barriers = true;
    text.block(0);
    text.block(0);
    text.text.push_str("a[x + 32u] = sum; }");
    text.text
}

/// Ranges of `w`: with zero, without, and with products that wrap.
const RANGES: [(i64, i64); 4] = [(0, 3), (1, 3), (1, 5), (1, 1 << 30)];

fn interface((low, high): (i64, i64)) -> Interface {
    serde_json::from_value(serde_json::json!({
        "kernel": "k",
        "parameters": [
            { "name": "n", "type": "uint32", "min": 1, "max": 20 },
            { "name": "w", "type": "uint32", "min": low, "max": high },
            { "name": "factor", "type": "uint32", "min": 1, "max": 2 },
        ],
        "specialization": [{ "id": 3, "value": "factor" }],
        "push_constants": { "members": [
            { "name": "n", "type": "uint32" },
            { "name": "w", "type": "uint32" },
        ] },
        "buffers": [
            { "set": 0, "binding": 0, "size": "256" },
            { "set": 0, "binding": 1, "size": "64" },
        ],
        "groups": ["2", "1", "1"],
    }))
    .unwrap()
}

#[derive(Debug, Default)]
struct Tally {
    ordered: usize,
    apart: usize,
    open: usize,
    races: usize,
    divergences: usize,
}

/// What is not said to be right, by where it stands in the module.
struct OpenPlaces {
    pairs: BTreeSet<[u32; 2]>,
    barriers: BTreeSet<u32>,
}

fn open_places(
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
    tally: &mut Tally,
) -> OpenPlaces {
    let module = input.module;
    let orders = AccessOrders::of_kernel(input, host, expressions).unwrap();
    let conflicts = orders.conflicts;
    let (open, ordered): (Vec<_>, Vec<_>) =
        conflicts.iter().partition(|conflict| !conflict.order.is_shown());
    tally.open += open.len();
    tally.ordered += ordered.len();
    let apart = ordered.iter().filter(|conflict| conflict.order == AccessOrder::Apart);
    tally.apart += apart.count();
    let pairs = open.iter().map(|conflict| {
        let words = [conflict.write, conflict.other].map(|at| module.instructions[at].offset);
        [words[0].min(words[1]), words[0].max(words[1])]
    });
    let barriers = kernel_barriers(module, input.reflection).into_iter();
    let divergent = barriers.filter(|barrier| barrier.control != BarrierControl::Uniform);
    OpenPlaces {
        pairs: pairs.collect(),
        barriers: divergent.filter_map(|barrier| barrier.place.instruction).collect(),
    }
}

/// Whether a finding is of what is not said to be right; others are of no interest here.
fn is_foreseen(finding: &Finding, open: &OpenPlaces, tally: &mut Tally) -> bool {
    let words = [&finding.place, &finding.other_place]
        .map(|place| place.as_ref().and_then(|place| place.instruction).unwrap_or(0));
    if finding.kind == FindingKind::BarrierDivergence {
        tally.divergences += 1;
        // Behind a barrier that not all reach, others are no longer reached alike either.
        return !open.barriers.is_empty();
    }
    let Some(race) = finding.details.race() else { return true };
    if race.reach != RaceReach::WithinWorkgroup || !race.accesses.contains(&AccessKind::Read) {
        return true;
    }
    tally.races += 1;
    open.pairs.contains(&[words[0].min(words[1]), words[0].max(words[1])])
}

fn check_case(seed: u64, tally: &mut Tally) {
    let text = random_text(seed);
    let mut dice = Dice(seed ^ 0x55);
    let range = RANGES[dice.below(RANGES.len() as u64) as usize];
    let (module, interface) = (compiled(&text), interface(range));
    let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
    let flow = KernelFlow::of_production(&module, "main", &BTreeMap::new()).unwrap();
    let place = Place::default();
    let input = CouplingInput {
        captures: &[],
        earlier: &[],
        interface: &interface,
        stated: crate::StatedStructs { interface: &interface, place: &place, readings: &[] },
        pipelines: &[],
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
    let open = open_places(&input, &host, &expressions, tally);
    for _ in 0..6 {
        let width = match dice.below(2) {
            0 => range.0 + dice.below(6) as i64,
            _ => [range.0, range.1][dice.below(2) as usize],
        };
        let factor = 1 + dice.below(2);
        let parameters = BTreeMap::from([
            ("n".to_owned(), 1 + dice.below(12) as i64),
            ("w".to_owned(), width.min(range.1)),
            ("factor".to_owned(), factor as i64),
        ]);
        let (specialization, input) = (BTreeMap::from([(3, factor)]), &input);
        let (host, expressions) = (&host, &expressions);
        let replay = Replay { input, host, expressions, specialization: &specialization };
        let kinds = [FindingKind::DataRace, FindingKind::BarrierDivergence];
        let Some(mut job) = replay.job_for(&parameters, Checks::of_kinds(kinds)) else { continue };
        for buffer in &mut job.buffers {
            let words = (0..buffer.bytes.len() / 4).map(|_| dice.below(12) as u32);
            buffer.bytes = Arc::new(words.flat_map(u32::to_le_bytes).collect());
        }
        for finding in run_job(&job, MemoryModel::Idiom).unwrap().findings {
            assert!(
                is_foreseen(&finding, &open, tally),
                "seed {seed}, {parameters:?}: {finding:?}\n{text}"
            );
        }
    }
}

#[test]
fn nothing_that_is_said_to_be_ordered_races_in_random_kernels() {
    let count = std::env::var("VKCERT_RANDOM_BARRIERS").ok().and_then(|count| count.parse().ok());
    let mut tally = Tally::default();
    for seed in 0..count.unwrap_or(60) {
        check_case(seed, &mut tally);
    }
    println!("{tally:?}");
    // The test is worth something only if much is ordered and much is wrong.
    assert!(tally.ordered > 100 && tally.apart > 20 && tally.open > 100, "{tally:?}");
    assert!(tally.races > 100 && tally.divergences > 20, "{tally:?}");
}
