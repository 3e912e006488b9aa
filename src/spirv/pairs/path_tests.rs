//! Pairs of random kernels against those that their ways show, enumerated one by one.
//!
//! Conditions are contents of a buffer, so that every way of the text is a way of the kernel.

use super::tests::{compiled, line, told, unordered_accesses};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What a line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Write(u32),
    Read(u32),
    Barrier,
}

/// A part of the text, by the line of what it does.
enum Node {
    Event(Event, u32),
    Choice(Vec<Node>, Vec<Node>),
    Repeat(Vec<Node>),
    Call(usize),
    Break,
    Continue,
}

/// How a way through a part ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Leaving {
    Falls,
    Breaks,
    Continues,
}

type Way = Vec<(Event, u32)>;
type Ways = BTreeSet<(Way, Leaving)>;

/// Random numbers from a seed (Knuth's linear congruence).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

struct Text {
    dice: Dice,
    text: String,
    next_line: u32,
    barriers_in_functions: bool,
}

impl Text {
    fn line(&mut self, text: &str) -> u32 {
        writeln!(self.text, "{text}").expect("a string takes everything");
        self.next_line += 1;
        self.next_line - 1
    }

    fn block(&mut self, depth: u32, in_loop: bool, functions: usize) -> Vec<Node> {
        let mut nodes = Vec::new();
        for _ in 0..1 + self.dice.below(3) {
            nodes.push(self.node(depth, in_loop, functions));
        }
        nodes
    }

    fn node(&mut self, depth: u32, in_loop: bool, functions: usize) -> Node {
        let variable = self.dice.below(2) as u32;
        let barriers = functions > 0 || self.barriers_in_functions;
        match self.dice.below(if depth == 0 { 7 } else { 11 }) {
            0 | 1 => {
                Node::Event(Event::Write(variable), self.line(&format!("x{variable} = seed;")))
            }
            2 | 3 => {
                Node::Event(Event::Read(variable), self.line(&format!("sink += x{variable};")))
            }
            4 | 5 if barriers => Node::Event(Event::Barrier, self.line("barrier();")),
            6 if functions > 0 => {
                let function = self.dice.below(functions as u64) as usize;
                self.line(&format!("f{function}();"));
                Node::Call(function)
            }
            7 | 8 => {
                self.line("if (asked[sink % 7u] > 3u) {");
                let if_true = self.block(depth - 1, in_loop, functions);
                self.line("} else {");
                let if_false = self.block(depth - 1, in_loop, functions);
                self.line("}");
                Node::Choice(if_true, if_false)
            }
            9 => {
                self.line("while (asked[sink % 5u] > 2u) {");
                let body = self.block(depth - 1, true, functions);
                self.line("}");
                Node::Repeat(body)
            }
            10 if in_loop => {
                let (word, leaving) = match self.dice.below(2) {
                    0 => ("break", Node::Break),
                    _ => ("continue", Node::Continue),
                };
                self.line(&format!("if (asked[sink % 3u] > 1u) {word};"));
                Node::Choice(vec![leaving], Vec::new())
            }
            _ => Node::Event(Event::Read(variable), self.line(&format!("sink += x{variable};"))),
        }
    }
}

/// More ways than this are not enumerated.
const MOST_WAYS: usize = 1500;

/// The ways through some parts; none where they are too many. Three rounds of a loop, one each for
/// the write, the barrier and the read, show everything that more of them do.
fn ways_through(nodes: &[Node], functions: &[Vec<Node>]) -> Option<Ways> {
    let mut ways = Ways::from([(Way::new(), Leaving::Falls)]);
    for node in nodes {
        let inner = match node {
            Node::Event(event, line) => Ways::from([(vec![(*event, *line)], Leaving::Falls)]),
            Node::Call(function) => ways_through(&functions[*function], functions)?,
            Node::Choice(if_true, if_false) => {
                let mut both = ways_through(if_true, functions)?;
                both.extend(ways_through(if_false, functions)?);
                both
            }
            Node::Break => Ways::from([(Way::new(), Leaving::Breaks)]),
            Node::Continue => Ways::from([(Way::new(), Leaving::Continues)]),
            Node::Repeat(body) => rounds(&ways_through(body, functions)?)?,
        };
        ways = joined(&ways, &inner)?;
    }
    Some(ways)
}

fn joined(ways: &Ways, behind: &Ways) -> Option<Ways> {
    let mut joined_ways = Ways::new();
    for (way, leaving) in ways {
        if *leaving != Leaving::Falls {
            joined_ways.insert((way.clone(), *leaving));
            continue;
        }
        for (next, leaving) in behind {
            joined_ways.insert(([&way[..], &next[..]].concat(), *leaving));
        }
    }
    (joined_ways.len() <= MOST_WAYS).then_some(joined_ways)
}

fn rounds(body: &Ways) -> Option<Ways> {
    let mut all = Ways::from([(Way::new(), Leaving::Falls)]);
    let mut running = all.clone();
    for _ in 0..3 {
        let mut next_round = Ways::new();
        for (way, leaving) in joined(&running, body)? {
            all.insert((way.clone(), Leaving::Falls));
            if leaving != Leaving::Breaks {
                next_round.insert((way, Leaving::Falls));
            }
        }
        running = next_round;
    }
    Some(all)
}

/// Pairs and unordered accesses as `told` writes them.
fn shown_by(ways: &Ways) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut pairs = BTreeSet::new();
    let mut intervals: BTreeMap<u32, BTreeSet<(Event, u32)>> = BTreeMap::new();
    for (way, _) in ways {
        let mut start = 0;
        for (event, line) in way {
            match event {
                Event::Barrier => start = *line,
                Event::Write(_) | Event::Read(_) => {
                    intervals.entry(start).or_default().insert((*event, *line));
                }
            }
        }
        for (position, (event, line)) in way.iter().enumerate() {
            let Event::Write(variable) = event else { continue };
            let behind = &way[position..];
            let first = behind.iter().position(|(event, _)| *event == Event::Barrier);
            let Some(first) = first else { continue };
            let barrier = behind[first].1;
            for (event, read) in &behind[first..] {
                if *event == Event::Read(*variable) {
                    pairs.insert(format!("x{variable}: {line} across {barrier} -> {read}"));
                }
            }
        }
    }
    let mut unordered = BTreeSet::new();
    for (first, write) in intervals.values().flatten() {
        let Event::Write(variable) = first else { continue };
        for interval in intervals.values().filter(|interval| interval.contains(&(*first, *write))) {
            for (second, read) in interval {
                if *second == Event::Read(*variable) {
                    unordered.insert(format!("x{variable}: {write} -> {read}"));
                }
            }
        }
    }
    (pairs, unordered)
}

/// What the analysis says, and what the ways of the text show; none of a text with too many ways.
fn compared(seed: u64, barriers_in_functions: bool) -> Option<[BTreeSet<String>; 4]> {
    let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut text = Text { dice, text: String::new(), next_line: 1, barriers_in_functions };
    text.line("#version 460");
    text.line("layout(local_size_x = 8) in;");
    text.line("layout(std430, binding = 0) readonly buffer Asked { uint asked[]; };");
    text.line("layout(std430, binding = 1) writeonly buffer Told { uint told[]; };");
    text.line("shared uint x0; shared uint x1; uint sink = 0u; uint seed = asked[0];");
    let mut functions = Vec::new();
    for number in 0..2 {
        text.line(&format!("void f{number}() {{"));
        functions.push(text.block(1, false, 0));
        text.line("}");
    }
    text.line("void main() {");
    let body = text.block(3, false, functions.len());
    text.line("told[gl_LocalInvocationIndex] = sink; }");
    let ways = ways_through(&body, &functions)?;
    let module = compiled(&text.text);
    let static_pairs =
        told(&module).into_iter().filter(|row| row.starts_with('x')).collect::<BTreeSet<_>>();
    let static_unordered = unordered_accesses(&module);
    let static_unordered = static_unordered.iter().map(|row| {
        let lines = [row.write, row.other].map(|index| line(&module, index as u32));
        format!("{}: {} -> {}", row.name, lines[0], lines[1])
    });
    let (pairs, unordered) = shown_by(&ways);
    Some([static_pairs, pairs, static_unordered.collect(), unordered])
}

#[test]
fn pairs_are_those_of_all_ways() {
    let mut looked_at = (0, 0);
    for seed in 0..120 {
        let Some([static_pairs, pairs, static_unordered, unordered]) = compared(seed, false) else {
            continue;
        };
        looked_at = (looked_at.0 + 1, looked_at.1 + pairs.len());
        assert_eq!(static_pairs, pairs, "seed {seed}");
        assert_eq!(static_unordered, unordered, "seed {seed}");
    }
    assert!(looked_at.0 > 40 && looked_at.1 > 100, "{looked_at:?}");
}

/// A barrier in a function stands for all calls of it: pairs too many, none too few.
#[test]
fn barriers_in_functions_lose_no_pair() {
    let mut looked_at = (0, 0);
    for seed in 0..120 {
        let Some([static_pairs, pairs, static_unordered, unordered]) = compared(seed, true) else {
            continue;
        };
        looked_at = (looked_at.0 + 1, looked_at.1 + pairs.len());
        assert!(static_pairs.is_superset(&pairs), "seed {seed}: {static_pairs:?} {pairs:?}");
        assert!(static_unordered.is_superset(&unordered), "seed {seed}");
    }
    assert!(looked_at.0 > 40 && looked_at.1 > 100, "{looked_at:?}");
}
