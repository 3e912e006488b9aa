//! Writes large kernels: signal-processing stages that were never meant to be read, in six shapes.
//! Every choice comes from the seed, so that a kernel can be written again.

use std::fmt::Write;

/// How a kernel's decisions are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One `if` per line of `main`, one condition each.
    Statements,
    /// Functions of a few decisions with several conditions, called one behind the other.
    Functions,
    /// Nested control flow with four conditions per decision.
    Conditions,
    /// A hundred functions, each with its share of the decisions; every other decision has two
    /// conditions.
    Hundred,
    /// No decision at all: so many assignments of `main`, with as many constants.
    Straight,
    /// The same with a store to memory each.
    Stores,
}

impl Shape {
    pub(crate) const ALL: [Shape; 6] = [
        Shape::Statements,
        Shape::Functions,
        Shape::Conditions,
        Shape::Hundred,
        Shape::Straight,
        Shape::Stores,
    ];

    /// How many decisions a kernel of this shape has at least, where so many are asked for.
    pub(crate) fn decisions(self, asked: usize) -> usize {
        match self {
            Shape::Statements | Shape::Functions | Shape::Conditions | Shape::Hundred => asked,
            Shape::Straight | Shape::Stores => 0,
        }
    }
}

struct Author {
    seed: u64,
    text: String,
    decisions: usize,
}

impl Author {
    fn roll(&mut self, sides: u64) -> u64 {
        // Knuth's MMIX generator.
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 33) % sides
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// A kernel of at least `decisions` decisions (and few more), or lines where the shape has none; it
/// reads 64 words at binding 0 and writes 64 at binding 1.
pub(crate) fn kernel(shape: Shape, decisions: usize, seed: u64) -> String {
    let mut author = Author { seed, text: String::new(), decisions: 0 };
    for line in [
        "#version 450",
        "// Written by tests/support/large_kernel.rs: change that file, not this text.",
        "// groups: 2 1 1",
        "// buffer: 0 int 64 random 7 -100 100",
        "// buffer: 1 int 64 zero",
        "// push: {\"mode\": 1}",
        "layout(local_size_x = 32) in;",
        "layout(constant_id = 0) const bool STRICT = true;",
        "layout(std430, binding = 0) readonly buffer In { int source[]; };",
        "layout(std430, binding = 1) writeonly buffer Out { int target[]; };",
        "layout(push_constant) uniform P { int mode; };",
        "int bounded(int x, int limit) { return x > limit ? limit : x < -limit ? -limit : x; }",
    ] {
        author.line(line);
    }
    author.decisions += 2;
    match shape {
        Shape::Statements => author.statements(decisions),
        Shape::Functions => author.functions(decisions),
        Shape::Conditions => author.conditions(decisions),
        Shape::Hundred => author.hundred(decisions),
        Shape::Straight => author.lines(decisions, "x"),
        Shape::Stores => author.lines(decisions, "target[at]"),
    }
    assert!(author.decisions >= shape.decisions(decisions), "{} decisions", author.decisions);
    author.text
}

/// Stages that one function calls.
const GROUP: usize = 16;

const BEGIN: &str = "void main() {\n    int at = int(gl_GlobalInvocationID.x), x = source[at], y = source[63 - at];";
const END: &str = "    target[at] = x + y + mode;\n}";

impl Author {
    fn statements(&mut self, decisions: usize) {
        self.line(BEGIN);
        while self.decisions < decisions {
            let (a, b, c) = (self.roll(200) as i64 - 100, self.roll(9) + 1, self.roll(64));
            let line = match self.roll(4) {
                0 => format!("    if (x > {a}) y -= {b};"),
                1 => format!("    if (source[{c}] == x) x += {b};"),
                2 => format!("    x = y < {a} ? x + {b} : x - {b};"),
                _ => format!("    if ((x ^ y) < {a}) {{ x = bounded(x, {}); }}", b * 20),
            };
            self.line(&line);
            self.decisions += 1;
        }
        self.line(END);
    }

    fn lines(&mut self, count: usize, variable: &str) {
        self.line(BEGIN);
        for constant in 0..count {
            let factor = self.roll(64) * 2 + 3;
            self.line(&format!("    {variable} = x * {factor} + {constant};"));
        }
        self.line(END);
    }

    fn conditions(&mut self, decisions: usize) {
        self.line(BEGIN);
        while self.decisions < decisions {
            let (a, b, c) = (self.roll(200) as i64 - 100, self.roll(50), self.roll(64));
            let block = format!(
                "    if (x > {a} && (y < {b} || source[{c}] != 3) && !(x == y)) {{\n        x -= {b};\n        if (x < 0 || y > \
                 {b} ^^ STRICT && mode > 0) y += 2;\n    }} else if (source[{}] > x && x > y || y == {a} && mode != 2) x++;",
                63 - c
            );
            self.line(&block);
            self.decisions += 3;
        }
        self.line(END);
    }

    fn hundred(&mut self, decisions: usize) {
        const FUNCTIONS: usize = 100;
        let each = decisions.saturating_sub(self.decisions).div_ceil(FUNCTIONS);
        for function in 0..FUNCTIONS {
            self.line(&format!("int law_{function}(int x, int y) {{"));
            for number in 0..each {
                let (a, b, c) = (self.roll(200) as i64 - 100, self.roll(9) + 1, self.roll(100));
                let line = match number % 2 {
                    0 => format!("    if (x > {a}) y -= {b};"),
                    _ => format!("    if (x < {a} && y != {c}) {{ x += {b}; }}"),
                };
                self.line(&line);
            }
            self.line("    return x ^ y;\n}");
            self.decisions += each;
        }
        self.line(BEGIN);
        for function in 0..FUNCTIONS {
            self.line(&format!("    x = bounded(law_{function}(x, y), {});", 500 + function));
        }
        self.line(END);
    }

    fn functions(&mut self, decisions: usize) {
        let mut stages = 0;
        while self.decisions < decisions {
            self.stage(stages);
            stages += 1;
        }
        let mut groups = 0;
        for first in (0..stages).step_by(GROUP) {
            self.line(&format!("void group_{groups}(inout int x, inout int y, int at) {{"));
            for stage in first..stages.min(first + GROUP) {
                let line = match stage % 3 {
                    0 => format!("    x = stage_{stage}(x, y);"),
                    1 => format!("    y = stage_{stage}(y, x);"),
                    _ => format!("    x = bounded(stage_{stage}(x, at), {});", 500 + stage % 70),
                };
                self.line(&line);
            }
            self.line("}");
            groups += 1;
        }
        self.line(BEGIN);
        for group in 0..groups {
            self.line(&format!("    group_{group}(x, y, at);"));
        }
        self.line(END);
    }

    fn stage(&mut self, number: usize) {
        let (a, b, c, d) = (self.roll(90), self.roll(40) + 2, self.roll(7) + 2, self.roll(64));
        let mut text = format!("int stage_{number}(int x, int n) {{\n");
        let (body, decisions) = match self.roll(8) {
            0 => (
                format!(
                    "    // Dead band with a step.\n    if (x > -{b} && x < {b}) return 0;\n    int step = n > {a} || mode == 3 ? \
                     {c} : 1;\n    return x > 0 ? x - step : x + step;\n"
                ),
                3,
            ),
            1 => (
                format!(
                    "    // Bounded search in the samples.\n    int found = -1;\n    for (int i = 0; i < {c} && found < 0; ++i) {{\n\
                     \x20       int s = source[(i * {b} + {d}) & 63];\n        if (s == x || s == n && i > 1) found = i;\n    }}\n    \
                     return found < 0 ? x : x - found;\n"
                ),
                3,
            ),
            2 => (
                format!(
                    "    // One of four laws.\n    switch ((x + n) & 3) {{\n        case 0: if (x > {a}) return x - {b}; break;\n        \
                     case 1: return n < {b} && x != 0 ? n : x;\n        case 2:\n        default: if (!(x == n || mode == 0)) x ^= \
                     {c};\n    }}\n    return x;\n"
                ),
                3,
            ),
            3 => (
                format!(
                    "    // Hysteresis.\n    bool high = x > {a} + (n > 0 ? {c} : -{c});\n    bool low = x < -{a};\n    if (high ^^ \
                     low) x = high ? {a} : -{a};\n    if (STRICT && high || low && n == {b}) x -= {c};\n    return x;\n"
                ),
                6,
            ),
            4 => (
                format!(
                    "    // Digit sum until small.\n    int sum = x < 0 ? -x : x;\n    do {{\n        int rest = sum, next = 0;\n        \
                     while (rest > 0) {{ next += rest % 10; rest /= 10; }}\n        sum = next;\n    }} while (sum > 9 && sum != \
                     {b});\n    return sum == {c} ? n : sum;\n"
                ),
                4,
            ),
            5 => (
                format!(
                    "    // Median of three.\n    int z = source[{d}];\n    if (x > n) {{ int t = x; x = n; n = t; }}\n    if (n > z) n = \
                     z;\n    if (x > n) return x;\n    return n > {a} && (z & 1) == 0 ? n - {b} : n;\n"
                ),
                4,
            ),
            6 => (
                format!(
                    "    // Monitor with confirmation.\n    int count = 0;\n    for (int i = 0; i < {c}; i++) {{\n        int s = source[(i \
                     + n) & 63];\n        bool bad = s > {a} || s < -{a};\n        if (!bad) {{ count = 0; continue; }}\n        if (++count \
                     >= 2 && STRICT) return -{b};\n    }}\n    return x;\n"
                ),
                4,
            ),
            _ => (
                format!(
                    "    // Saturating mix.\n    int m = x * {c} + n;\n    if (m > 1000) m = 1000; else if (m < -1000) m = -1000;\n    \
                     return all(greaterThan(ivec2(m, n), ivec2(-{a}))) && x != {b} ? m / 2 : m / 3;\n"
                ),
                3,
            ),
        };
        let _ = write!(text, "{body}}}");
        self.line(&text);
        self.decisions += decisions;
    }
}
