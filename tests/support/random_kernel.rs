//! Random valid compute kernels, for comparing engines and modules with each other.
//!
//! A kernel is a function of its seed alone. It reads `input_words`, computes with 32-bit integers,
//! Booleans and (exactly representable) floats, branches on nested Boolean expressions, loops with
//! bounded counters, calls functions, exchanges values through workgroup memory with barriers in
//! uniform control flow, adds to an atomic counter, and writes one element per invocation. It has
//! no undefined behaviour: divisors are not zero, shifts are masked, indices are in range.

use std::fmt::Write;

/// Invocations per workgroup of every kernel made here.
pub(crate) const LOCAL_SIZE: u32 = 16;
/// Elements of the input buffer.
pub(crate) const INPUTS: u32 = 64;

/// A kernel's text.
pub(crate) struct RandomKernel {
    pub seed: u64,
    pub text: String,
}

/// SplitMix64 (Steele, Lea, Flood 2014): enough for test texts, and the same everywhere.
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len() as u64) as usize]
    }
}

/// Makes the kernel of a seed.
pub(crate) fn random_kernel(seed: u64) -> RandomKernel {
    let mut writer = Writer {
        dice: Dice(seed),
        text: String::new(),
        indent: 0,
        variables: 0,
        scope: Vec::new(),
        loops: 0,
        functions: 0,
        calls: 4,
    };
    writer.kernel();
    RandomKernel { seed, text: writer.text }
}

struct Writer {
    dice: Dice,
    text: String,
    indent: usize,
    variables: usize,
    /// Names of variables that can be read and assigned, with their types.
    scope: Vec<(String, Kind)>,
    loops: usize,
    functions: usize,
    /// Calls that may still be written: drivers inline every one.
    calls: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Uint,
    Int,
    Float,
    Bool,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Uint => "uint",
            Kind::Int => "int",
            Kind::Float => "float",
            Kind::Bool => "bool",
        }
    }
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:width$}{text}", "", width = self.indent * 4);
    }

    fn kernel(&mut self) {
        self.line("#version 450");
        self.line(&format!("layout(local_size_x = {LOCAL_SIZE}) in;"));
        self.line(
            "layout(std430, set = 0, binding = 0) readonly buffer Input { uint input_words[]; };",
        );
        self.line("layout(std430, set = 0, binding = 1) buffer Output { uint output_words[]; };");
        self.line("layout(std430, set = 0, binding = 2) buffer Counter { uint counter; };");
        self.line("layout(push_constant) uniform Parameters { uint p0; int p1; float p2; };");
        self.line("layout(constant_id = 0) const uint S0 = 3u;");
        self.line(&format!("shared uint exchange[{LOCAL_SIZE}];"));
        if self.dice.one_in(2) {
            self.line("#define BOTH(a, b) ((a) && (b))");
        } else {
            self.line("#define BOTH(a, b) (!(a) || (b))");
        }
        let functions = self.dice.below(3) as usize;
        for number in 0..functions {
            self.function(number);
            self.functions = number + 1;
        }
        self.line("void main() {");
        self.indent += 1;
        self.line("uint i = gl_GlobalInvocationID.x;");
        self.line(&format!("uint u = input_words[i % {INPUTS}u];"));
        self.line(&format!("int s = int(input_words[(i * 7u + 3u) % {INPUTS}u]) - 8;"));
        self.line("float f = float(u % 16u) * 0.5;");
        self.line("bool b = (u & 1u) != 0u;");
        self.scope = vec![
            ("u".to_owned(), Kind::Uint),
            ("s".to_owned(), Kind::Int),
            ("f".to_owned(), Kind::Float),
            ("b".to_owned(), Kind::Bool),
        ];
        self.block(2, 5);
        if self.dice.one_in(2) {
            self.exchange();
        }
        if self.dice.one_in(3) {
            let condition = self.boolean(2);
            self.line(&format!("if ({condition}) {{ output_words[i] = u; return; }}"));
        }
        self.block(2, 3);
        self.line("atomicAdd(counter, u & 15u);");
        self.line("output_words[i] = u ^ uint(s) ^ (b ? 0x80000000u : 0u) ^ uint(int(f * 2.0));");
        self.indent -= 1;
        self.line("}");
    }

    /// Neighbours exchange values between two barriers, in uniform control flow.
    fn exchange(&mut self) {
        self.line("exchange[gl_LocalInvocationIndex] = u;");
        self.line("barrier();");
        self.line(&format!("u += exchange[(gl_LocalInvocationIndex + 1u) % {LOCAL_SIZE}u];"));
        self.line("barrier();");
    }

    fn function(&mut self, number: usize) {
        let kind = [Kind::Uint, Kind::Bool][self.dice.below(2) as usize];
        self.line(&format!("{} f{number}{}(uint u, int s, bool b) {{", kind.name(), kind.name()));
        self.indent += 1;
        self.line("float f = float(s) * 0.25;");
        self.scope = vec![
            ("u".to_owned(), Kind::Uint),
            ("s".to_owned(), Kind::Int),
            ("b".to_owned(), Kind::Bool),
            ("f".to_owned(), Kind::Float),
        ];
        self.block(2, 3);
        if self.dice.one_in(2) {
            let (condition, early) = (self.boolean(2), self.value(kind, 1));
            self.line(&format!("if ({condition}) return {early};"));
        }
        let value = self.value(kind, 2);
        self.line(&format!("return {value};"));
        self.indent -= 1;
        self.line("}");
        self.text = self
            .text
            .replace(&format!("f{number}{}(uint u", kind.name()), &format!("f{number}(uint u"));
        let marker = format!("// function {number} {}", kind.name());
        self.line(&marker);
    }

    /// A function of this kind to call, while calls are left.
    fn callee(&mut self, kind: Kind) -> Option<usize> {
        if self.calls == 0 {
            return None;
        }
        let found = (0..self.functions).find(|number| self.function_kind(*number) == kind);
        self.calls -= usize::from(found.is_some());
        found
    }

    fn function_kind(&self, number: usize) -> Kind {
        if self.text.contains(&format!("// function {number} uint")) {
            Kind::Uint
        } else {
            Kind::Bool
        }
    }

    fn block(&mut self, depth: u32, most: u64) {
        let statements = 1 + self.dice.below(most);
        let variables = self.scope.len();
        for _ in 0..statements {
            self.statement(depth);
        }
        self.scope.truncate(variables);
    }

    fn statement(&mut self, depth: u32) {
        let choice = self.dice.below(if depth == 0 { 4 } else { 11 });
        match choice {
            0 | 1 => self.assignment(),
            2 => self.declaration(),
            3 => self.assignment(),
            4 | 5 => self.conditional(depth),
            6 => self.for_loop(depth),
            7 => self.while_loop(depth),
            8 => self.switch(depth),
            9 => {
                let (condition, kind) =
                    (self.boolean(3), [Kind::Uint, Kind::Int][self.dice.below(2) as usize]);
                let (yes, no, name) =
                    (self.value(kind, 1), self.value(kind, 1), self.variable(kind));
                self.line(&format!("{name} = {condition} ? {yes} : {no};"));
            }
            _ => self.do_loop(depth),
        }
    }

    fn assignment(&mut self) {
        let kind = [Kind::Uint, Kind::Int, Kind::Bool, Kind::Float][self.dice.below(4) as usize];
        let (name, value) = (self.variable(kind), self.value(kind, 2));
        self.line(&format!("{name} = {value};"));
    }

    fn declaration(&mut self) {
        let kind = [Kind::Uint, Kind::Int, Kind::Bool][self.dice.below(3) as usize];
        let value = self.value(kind, 2);
        self.variables += 1;
        let name = format!("v{}", self.variables);
        self.line(&format!("{} {name} = {value};", kind.name()));
        self.scope.push((name, kind));
    }

    fn conditional(&mut self, depth: u32) {
        let condition = self.boolean(3);
        self.line(&format!("if ({condition}) {{"));
        self.nested(depth);
        if self.dice.one_in(2) {
            self.line("} else {");
            self.nested(depth);
        }
        self.line("}");
    }

    fn nested(&mut self, depth: u32) {
        self.indent += 1;
        self.block(depth - 1, 3);
        self.indent -= 1;
    }

    fn for_loop(&mut self, depth: u32) {
        self.loops += 1;
        let (name, bound) = (format!("k{}", self.loops), 1 + self.dice.below(4));
        let extra =
            if self.dice.one_in(2) { format!(" && {}", self.leaf()) } else { String::new() };
        self.line(&format!("for (uint {name} = 0u; {name} < {bound}u{extra}; {name}++) {{"));
        self.loop_body(depth);
        self.line("}");
    }

    fn while_loop(&mut self, depth: u32) {
        self.loops += 1;
        let (name, bound) = (format!("k{}", self.loops), 1 + self.dice.below(4));
        let condition = self.boolean(1);
        self.line(&format!("uint {name} = 0u;"));
        self.line(&format!("while ({name} < {bound}u && {condition}) {{"));
        self.indent += 1;
        self.line(&format!("{name}++;"));
        self.indent -= 1;
        self.loop_body(depth);
        self.line("}");
    }

    fn do_loop(&mut self, depth: u32) {
        self.loops += 1;
        let (name, bound) = (format!("k{}", self.loops), 1 + self.dice.below(3));
        let condition = self.boolean(1);
        self.line(&format!("uint {name} = 0u;"));
        self.line("do {");
        self.indent += 1;
        self.line(&format!("{name}++;"));
        self.indent -= 1;
        self.loop_body(depth);
        self.line(&format!("}} while ({name} < {bound}u && {condition});"));
    }

    fn loop_body(&mut self, depth: u32) {
        self.nested(depth);
        if self.dice.one_in(3) {
            let (condition, jump) = (self.boolean(2), self.dice.pick(&["break", "continue"]));
            self.indent += 1;
            self.line(&format!("if ({condition}) {jump};"));
            self.assignment();
            self.indent -= 1;
        }
    }

    fn switch(&mut self, depth: u32) {
        let selector = self.value(Kind::Uint, 1);
        self.line(&format!("switch (({selector}) % 5u) {{"));
        self.indent += 1;
        for label in 0..1 + self.dice.below(3) {
            self.line(&format!("case {label}u:"));
            if self.dice.one_in(4) {
                continue;
            }
            self.nested(depth);
            if !self.dice.one_in(3) {
                self.line("    break;");
            }
        }
        if self.dice.one_in(2) {
            self.line("default:");
        } else {
            self.line("case 4u:");
        }
        self.nested(depth);
        self.indent -= 1;
        self.line("}");
    }

    fn variable(&mut self, kind: Kind) -> String {
        let names: Vec<_> =
            self.scope.iter().filter(|(_, k)| *k == kind).map(|(name, _)| name.clone()).collect();
        names[self.dice.below(names.len() as u64) as usize].clone()
    }

    fn value(&mut self, kind: Kind, depth: u32) -> String {
        match kind {
            Kind::Uint => self.unsigned(depth),
            Kind::Int => self.signed(depth),
            Kind::Float => self.float(depth),
            Kind::Bool => self.boolean(depth),
        }
    }

    fn unsigned(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.dice.below(4) {
                0 => format!("{}u", self.dice.below(20)),
                1 => self
                    .dice
                    .pick(&["p0", "S0", "gl_LocalInvocationIndex", "gl_WorkGroupID.x"])
                    .to_owned(),
                _ => self.variable(Kind::Uint),
            };
        }
        let (a, b) = (self.unsigned(depth - 1), self.unsigned(depth - 1));
        match self.dice.below(10) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} * {b})"),
            2 => format!("({a} - {b})"),
            3 => format!("({a} ^ {b})"),
            4 => format!("({a} / (({b} & 7u) + 1u))"),
            5 => format!("({a} % (({b} & 7u) + 1u))"),
            6 => format!("({a} << ({b} & 7u))"),
            7 => format!("min({a}, {b})"),
            8 => {
                let s = self.signed(depth - 1);
                format!("uint({s})")
            }
            _ => match self.callee(Kind::Uint) {
                Some(number) => {
                    let condition = self.boolean(1);
                    format!("f{number}({a}, int({b}), {condition})")
                }
                None => format!("({a} >> ({b} & 7u))"),
            },
        }
    }

    fn signed(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.dice.below(4) {
                0 => format!("{}", self.dice.below(20) as i64 - 6),
                1 => "p1".to_owned(),
                _ => self.variable(Kind::Int),
            };
        }
        let (a, b) = (self.signed(depth - 1), self.signed(depth - 1));
        match self.dice.below(7) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} * {b})"),
            2 => format!("({a} - {b})"),
            3 => format!("max({a}, {b})"),
            4 => format!("clamp({a}, -50, 50)"),
            5 => format!("({a} | {b})"),
            _ => format!("({a} >> 1)"),
        }
    }

    /// Values stay small multiples of 1/4, so that every operation is exact in any order.
    fn float(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.dice.below(3) {
                0 => format!("{}.5", self.dice.below(8)),
                1 => "p2".to_owned(),
                _ => format!("float({} & 15u)", self.variable(Kind::Uint)),
            };
        }
        let (a, b) = (self.float(depth - 1), self.float(depth - 1));
        match self.dice.below(4) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("min({a}, {b})"),
            _ => format!("abs({a} - {b})"),
        }
    }

    fn leaf(&mut self) -> String {
        match self.dice.below(6) {
            0 => self.variable(Kind::Bool),
            1 => {
                let (a, b) = (self.signed(1), self.signed(0));
                format!("{a} {} {b}", self.dice.pick(&["<", ">=", "==", "!="]))
            }
            2 => {
                let (a, b) = (self.float(1), self.float(0));
                format!("{a} {} {b}", self.dice.pick(&["<", ">", "<="]))
            }
            3 => match self.callee(Kind::Bool) {
                Some(number) => {
                    let (u, s, b) = (self.unsigned(1), self.signed(0), self.boolean(1));
                    format!("f{number}({u}, {s}, {b})")
                }
                None => "(u & 2u) == 0u".to_owned(),
            },
            _ => {
                let (a, b) = (self.unsigned(1), self.unsigned(0));
                format!("{a} {} {b}", self.dice.pick(&["<", ">", "==", "!="]))
            }
        }
    }

    fn boolean(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.leaf();
        }
        match self.dice.below(9) {
            0 | 1 => {
                let (a, b) = (self.boolean(depth - 1), self.boolean(depth - 1));
                format!("({a} && {b})")
            }
            2 | 3 => {
                let (a, b) = (self.boolean(depth - 1), self.boolean(depth - 1));
                format!("({a} || {b})")
            }
            4 => {
                let (a, b) = (self.boolean(depth - 1), self.boolean(depth - 1));
                format!("({a} ^^ {b})")
            }
            5 => {
                let a = self.boolean(depth - 1);
                format!("!({a})")
            }
            6 => {
                let (a, b) = (self.boolean(depth - 1), self.boolean(depth - 1));
                format!("BOTH({a}, {b})")
            }
            7 => {
                let (condition, a, b) = (self.leaf(), self.leaf(), self.leaf());
                format!("({condition} ? {a} : {b})")
            }
            _ => self.leaf(),
        }
    }
}
