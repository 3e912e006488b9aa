//! Statements: assignments, control flow, calls, what a workgroup and a subgroup do together.
//!
//! Barriers stand in uniform control flow, subgroup operations there and behind conditions, but in
//! no loop whose trip counts differ. Such loops are tested at their top: of a value that a loop
//! leaves at its only exit, Mesa 22.3.6 knows only what the last invocation left
//! (docs/random-kernels.md).

use super::types::{INTEGERS, Scalar, Type};
use super::writer::{Access, Flow, Function, Jumps, Way, Writer};
use Scalar::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

impl Writer {
    pub(crate) fn block(&mut self, depth: u32, most: u64) {
        let known = self.scope.len();
        self.indent += 1;
        for _ in 0..1 + self.dice.below(most) {
            self.statement(depth);
        }
        self.indent -= 1;
        self.scope.truncate(known);
    }

    pub(crate) fn statement(&mut self, depth: u32) {
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        let together = self.flow != Flow::Any && self.pure == 0;
        match self.dice.below(if depth == 0 { 12 } else { 22 }) {
            0..=2 => self.declaration(),
            3..=5 => self.assignment(),
            6 => self.trace(),
            7 => self.compound(),
            8 => self.several_results(),
            9 if together => self.subgroup(),
            9 => self.assignment(),
            10 => self.atomic_or_image(),
            11 => self.jump_or_call(),
            12..=14 => self.conditional(depth),
            15 => self.for_loop(depth),
            16 => self.while_loop(depth),
            17 => self.do_loop(depth),
            18 | 19 => self.switch(depth),
            20 if self.flow == Flow::Uniform => self.exchange(),
            21 if self.flow == Flow::Uniform => self.uniform_loop(depth),
            _ => self.late_assignment(),
        }
    }

    fn trace(&mut self) {
        let value = self.integer(U32, 1, 2);
        self.line(&format!("trace = trace * 31u + {value};"));
    }

    fn declaration(&mut self) {
        let ty = self.random_type();
        let (value, name) = (self.value(&ty, 2), self.name("v"));
        let precise = if self.has_floats(&ty) && self.dice.one_in(3) { "precise " } else { "" };
        self.line(&format!("{precise}{} {name} = {value};", ty.name()));
        self.declare(&name, ty);
    }

    /// Declared without a value, and given one on both ways.
    fn late_assignment(&mut self) {
        let ty = self.random_type();
        let name = self.name("v");
        let (condition, a, b) = (self.boolean(1, 2), self.value(&ty, 1), self.value(&ty, 1));
        self.line(&format!("{} {name};", ty.name()));
        self.line(&format!("if ({condition}) {{ {name} = {a}; }} else {{ {name} = {b}; }}"));
        self.declare(&name, ty);
    }

    fn assignment(&mut self) {
        let ty = self.random_type();
        match self.place(&ty, Access::Write) {
            Some(place) => {
                let value = self.value(&ty, 2);
                self.line(&format!("{place} = {value};"));
            }
            None => self.trace(),
        }
    }

    /// A product and a sum that must not become one operation.
    fn precise(&mut self) {
        let (scalar, n) = (self.dice.pick(&super::types::FLOATS), self.dice.pick(&[1, 1, 2, 4]));
        let (ty, name) = (Type::Numbers(scalar, n), self.name("e"));
        let (a, b, c) =
            (self.float(scalar, n, 1), self.float(scalar, n, 0), self.float(scalar, n, 0));
        let sign = self.dice.pick(&["+", "-"]);
        self.line(&format!("precise {} {name} = {a} * {b} {sign} {c};", ty.name()));
        let tame = self.tame(&ty, &name);
        self.line(&format!("{name} = {tame};"));
        self.declare(&name, ty);
    }

    fn compound(&mut self) {
        match self.copies.clone() {
            Some((to, from)) if self.dice.one_in(3) => {
                return self.line(&format!("{to} = {from};"));
            }
            _ if self.dice.one_in(4) => return self.precise(),
            _ => {}
        }
        let (scalar, n) = (Scalar::integer(&mut self.dice), self.dice.pick(&[1, 1, 2, 3, 4]));
        let ty = Type::Numbers(scalar, n);
        let Some(place) = self.place(&ty, Access::Write) else { return self.trace() };
        if n >= 2 && self.dice.one_in(3) {
            let swizzle = self.dice.pick(&["yx", "xy"]);
            let value = self.integer(scalar, 2, 1);
            return self.line(&format!("{place}.{swizzle} = {value};"));
        }
        let value = self.integer(scalar, n, 1);
        match self.dice.below(4) {
            0 => self.line(&format!("{place}++;")),
            1 => {
                let name = scalar.vector(n);
                self.line(&format!("{place} >>= ({value} & {name}({}));", scalar.bits() - 1));
            }
            _ => {
                let operator = self.dice.pick(&["+", "-", "*", "^", "|", "&"]);
                self.line(&format!("{place} {operator}= {value};"));
            }
        }
    }

    /// Functions that give results by parameters.
    fn several_results(&mut self) {
        let n = self.dice.pick(&[1, 1, 2, 3]);
        let first = self.name("r");
        let (second, unsigned, signed) = (self.name("r"), U32.vector(n), I32.vector(n));
        match self.dice.below(6) {
            0 | 1 => {
                let (a, b) = (self.integer(U32, n, 1), self.integer(U32, n, 1));
                let function = self.dice.pick(&["uaddCarry", "usubBorrow"]);
                self.line(&format!(
                    "{unsigned} {second}, {first} = {function}({a}, {b}, {second});"
                ));
                self.both(&first, &second, Type::Numbers(U32, n), Type::Numbers(U32, n));
            }
            2 => {
                let (a, b) = (self.integer(U32, n, 1), self.integer(U32, n, 1));
                self.line(&format!(
                    "{unsigned} {first}, {second}; umulExtended({a}, {b}, {first}, {second});"
                ));
                self.both(&first, &second, Type::Numbers(U32, n), Type::Numbers(U32, n));
            }
            3 => {
                let (a, b) = (self.integer(I32, n, 1), self.integer(I32, n, 1));
                self.line(&format!(
                    "{signed} {first}, {second}; imulExtended({a}, {b}, {first}, {second});"
                ));
                self.both(&first, &second, Type::Numbers(I32, n), Type::Numbers(I32, n));
            }
            choice => {
                let float = self.dice.pick(&[F32, F64]);
                let (ty, a) = (Type::Numbers(float, n), self.float(float, n, 1));
                let name = ty.name();
                if choice == 4 {
                    self.line(&format!(
                        "{signed} {second}; {name} {first} = frexp({a}, {second});"
                    ));
                    let tame = self.tame(&ty, &format!("ldexp({first}, {second} + {signed}(2))"));
                    self.line(&format!("{first} = {tame};"));
                    self.both(&first, &second, ty, Type::Numbers(I32, n));
                } else {
                    self.line(&format!("{name} {second}, {first} = modf({a}, {second});"));
                    let (one, two) = (self.tame(&ty, &first), self.tame(&ty, &second));
                    self.line(&format!("{first} = {one}; {second} = {two};"));
                    self.both(&first, &second, ty.clone(), ty);
                }
            }
        }
    }

    fn both(&mut self, first: &str, second: &str, one: Type, two: Type) {
        self.declare(first, one);
        self.declare(second, two);
    }

    fn jump_or_call(&mut self) {
        let mut ways = Vec::new();
        ways.extend(self.jumps.leave.then_some("break;"));
        ways.extend(self.jumps.next.then_some("continue;"));
        ways.extend(self.jumps.end.then_some("return"));
        if !ways.is_empty() && !self.dice.one_in(4) {
            let (condition, way) = (self.boolean(1, 2), self.dice.pick(&ways));
            let jump = match (way, self.result.clone()) {
                ("return", Some(ty)) => format!("return {};", self.value(&ty, 1)),
                ("return", None) => "return;".to_owned(),
                (jump, _) => jump.to_owned(),
            };
            return self.line(&format!("if ({condition}) {{ {jump} }}"));
        }
        let count = self.functions.len() as u64;
        let call = if count == 0 {
            None
        } else {
            self.dice.below(count).try_into().ok().and_then(|at| self.call_of(at, 2))
        };
        match call {
            Some(call) => self.line(&format!("{call};")),
            None => self.compound(),
        }
    }

    /// Runs `write` where control flow differs, or with these jumps.
    fn within(&mut self, flow: Flow, jumps: Jumps, write: impl FnOnce(&mut Self)) {
        let before = (self.flow, self.jumps);
        (self.flow, self.jumps) = (flow, jumps);
        write(self);
        (self.flow, self.jumps) = before;
    }

    fn branched(&self) -> Flow {
        match self.flow {
            Flow::Uniform | Flow::Branched => Flow::Branched,
            Flow::Any => Flow::Any,
        }
    }

    fn conditional(&mut self, depth: u32) {
        let condition = self.boolean(1, 3);
        let (flow, jumps) = (self.branched(), self.jumps);
        self.line(&format!("if ({condition}) {{"));
        self.within(flow, jumps, |writer| writer.block(depth - 1, 4));
        if self.dice.one_in(2) {
            self.line("} else {");
            self.within(flow, jumps, |writer| writer.block(depth - 1, 4));
        }
        self.line("}");
    }

    fn looping(&self) -> Jumps {
        Jumps { leave: true, next: true, end: self.jumps.end }
    }

    fn for_loop(&mut self, depth: u32) {
        let (k, bound) = (self.name("k"), self.name("n"));
        let scalar = self.dice.pick(&[U32, U32, I32, I32, U8, I16, I64, U64, U16, I8]);
        let name = scalar.name();
        let value = self.integer(U32, 1, 1);
        let most = 2 + self.dice.below(4);
        self.line(&format!("{name} {bound} = {name}({value} % {most}u);"));
        let more = if self.dice.one_in(3) {
            format!(" && {}", self.pure_boolean(2))
        } else {
            String::new()
        };
        let step = self
            .dice
            .pick(&["++", " += 1", "++", " += 2"])
            .replace(" += ", &format!(" += {name}("));
        let step = if step == "++" { step } else { step + ")" };
        self.line(&format!("for ({name} {k} = {name}(0); {k} < {bound}{more}; {k}{step}) {{"));
        self.counted(&k, scalar, depth);
        self.line("}");
    }

    fn counted(&mut self, k: &str, scalar: Scalar, depth: u32) {
        let jumps = self.looping();
        self.constant(k, Type::Numbers(scalar, 1));
        self.within(Flow::Any, jumps, |writer| writer.block(depth - 1, 4));
        self.scope.pop();
    }

    fn while_loop(&mut self, depth: u32) {
        let (k, condition) = (self.name("k"), self.pure_boolean(2));
        self.line(&format!("uint {k} = 0u;"));
        let most = 1 + self.dice.below(4);
        self.line(&format!("while ({k} < {most}u && {condition}) {{"));
        self.line(&format!("    {k}++;"));
        self.counted(&k, U32, depth);
        self.line("}");
    }

    /// The same number of times in every invocation.
    fn do_loop(&mut self, depth: u32) {
        let k = self.name("k");
        self.line(&format!("int {k} = 0;"));
        self.line("do {");
        self.line(&format!("    {k}++;"));
        self.constant(&k, Type::Numbers(I32, 1));
        let jumps = Jumps { leave: false, next: true, end: false };
        self.within(Flow::Any, jumps, |writer| writer.block(depth - 1, 3));
        self.scope.pop();
        let most = 1 + self.dice.below(3);
        self.line(&format!("}} while ({k} < {most});"));
    }

    fn uniform_loop(&mut self, depth: u32) {
        let k = self.name("k");
        let most = 1 + self.dice.below(3);
        self.line(&format!("for (uint {k} = 0u; {k} < {most}u; {k}++) {{"));
        self.constant(&k, Type::UINT);
        let jumps = Jumps { leave: false, next: false, end: false };
        self.within(Flow::Uniform, jumps, |writer| writer.block(depth - 1, 3));
        self.scope.pop();
        self.line("}");
    }

    fn switch(&mut self, depth: u32) {
        let scalar = self.dice.pick(&[U32, I32]);
        let value = self.integer(scalar, 1, 2);
        let suffix = if scalar == U32 { "u" } else { "" };
        let selector = if scalar == U32 { format!("{value} % 5u") } else { format!("{value} & 7") };
        self.line(&format!("switch ({selector}) {{"));
        let (flow, count) = (Flow::Any, 2 + self.dice.below(3));
        let default = self.dice.below(6);
        for label in 0..count {
            let mut labels =
                format!("case {}{suffix}:", label * (1 + u64::from(suffix.is_empty())));
            if label == default {
                labels += " default:";
            }
            if self.dice.one_in(5) {
                labels += &format!(" case {}{suffix}:", 10 + label);
            }
            let open = label + 1 == count || !self.dice.one_in(3);
            self.line(&format!("{labels} {{"));
            let jumps = Jumps { leave: true, ..self.jumps };
            self.within(flow, jumps, |writer| writer.block(depth - 1, 3));
            self.line(if open { "} break;" } else { "}" });
        }
        // The last label must have a statement behind it.
        self.line(if default < count { "    ;" } else { "    default: break;" });
        self.line("}");
    }

    /// Each invocation writes its own element, and reads another's behind a barrier.
    fn exchange(&mut self) {
        self.shape.barriers = true;
        if self.dice.one_in(3) {
            return self.tally();
        }
        let (ty, size) = (self.random_type(), self.shape.local_size);
        let (name, into) = (self.name("s"), self.name("v"));
        let array = Type::Array(Box::new(ty.clone()), size);
        self.declarations.push(format!("shared {} {name};", array.name()));
        let value = self.value(&ty, 2);
        let index = self.integer(U32, 1, 1);
        self.line(&format!("{name}[gl_LocalInvocationIndex] = {value};"));
        self.line("barrier();");
        self.line(&format!("{} {into} = {name}[{index} % {size}u];", ty.name()));
        self.line("barrier();");
        self.declare(&into, ty);
    }

    /// All invocations add to one number of the workgroup.
    fn tally(&mut self) {
        let scalar = self.dice.pick(&[U32, I32, U64]);
        let (name, into, ty) = (self.name("s"), self.name("v"), scalar.name());
        self.declarations.push(format!("shared {ty} {name};"));
        let value = self.integer(scalar, 1, 2);
        let function = self.dice.pick(&["Add", "Min", "Max", "And", "Or", "Xor"]);
        self.line(&format!("if (gl_LocalInvocationIndex == 0u) {{ {name} = {ty}(push_n); }}"));
        self.line("barrier();");
        self.line(&format!("atomic{function}({name}, {value});"));
        self.line("barrier();");
        self.line(&format!("{ty} {into} = {name};"));
        self.line("barrier();");
        self.declare(&into, Type::Numbers(scalar, 1));
    }

    /// Operations of a subgroup, on values that every active invocation has.
    fn subgroup(&mut self) {
        self.shape.barriers = true;
        let scalar = self.dice.pick(&INTEGERS);
        let n = self.dice.pick(&[1, 1, 1, 2, 3]);
        let (ty, name) = (Type::Numbers(scalar, n), self.name("g"));
        let whole = self.flow == Flow::Uniform && self.shape.local_size.is_multiple_of(8);
        let (ty, text) = match self.dice.below(if whole { 12 } else { 9 }) {
            0..=2 => {
                let value = self.value(&ty, 2);
                let scan = self.dice.pick(&["", "Inclusive", "Exclusive"]);
                let join = self.dice.pick(&["Add", "Mul", "Min", "Max", "And", "Or", "Xor"]);
                (ty, format!("subgroup{scan}{join}({value})"))
            }
            3 => {
                let value = self.value(&ty, 2);
                (ty, format!("subgroupBroadcastFirst({value})"))
            }
            4 => {
                let (value, find) = (self.value(&ty, 2), self.dice.pick(&["LSB", "MSB"]));
                (
                    ty,
                    format!(
                        "subgroupBroadcast({value}, subgroupBallotFind{find}(subgroupBallot(true)))"
                    ),
                )
            }
            5 => {
                let (vote, condition) =
                    (self.dice.pick(&["All", "Any", "AllEqual"]), self.boolean(1, 2));
                (Type::Numbers(Bool, 1), format!("subgroup{vote}({condition})"))
            }
            6 => (Type::UINT, format!("subgroupBallot({}).x", self.boolean(1, 2))),
            7 => {
                let count = self.dice.pick(&["", "Inclusive", "Exclusive"]);
                (
                    Type::UINT,
                    format!(
                        "subgroupBallot{count}BitCount(subgroupBallot({}))",
                        self.boolean(1, 2)
                    ),
                )
            }
            8 => {
                let texts = [
                    "uint(subgroupElect())",
                    "gl_SubgroupInvocationID + 100u * gl_SubgroupID",
                    "uint(subgroupInverseBallot(subgroupBallot((gl_LocalInvocationIndex & 5u) != 0u)))",
                    "gl_SubgroupLtMask.x ^ gl_SubgroupGeMask.x",
                ];
                (Type::UINT, self.dice.pick(&texts).to_owned())
            }
            9 => {
                let (value, index) = (self.value(&ty, 2), self.integer(U32, 1, 1));
                (ty, format!("subgroupShuffle({value}, {index} % 8u)"))
            }
            10 => {
                let value = self.value(&ty, 2);
                (ty, format!("subgroupShuffleXor({value}, {}u)", self.dice.below(8)))
            }
            _ => {
                let value = self.value(&ty, 2);
                let way = self.dice.pick(&[
                    "SwapHorizontal(@)",
                    "SwapVertical(@)",
                    "SwapDiagonal(@)",
                    "Broadcast(@, 2u)",
                ]);
                (ty, format!("subgroupQuad{}", way.replace('@', &value)))
            }
        };
        self.line(&format!("{} {name} = {text};", ty.name()));
        self.declare(&name, ty);
    }

    /// Atomics that commute, with their results unused; others on cells of the invocation's own;
    /// texels.
    fn atomic_or_image(&mut self) {
        match self.dice.below(8) {
            0 | 1 => {
                let (value, cell) = (self.integer(U32, 1, 1), self.dice.below(3));
                let (function, base) = self.dice.pick(&[
                    ("atomicAdd", 0),
                    ("atomicMin", 3),
                    ("atomicMax", 6),
                    ("atomicAnd", 9),
                    ("atomicOr", 12),
                    ("atomicXor", 15),
                ]);
                self.line(&format!("{function}(tally.words[{}], {value});", base + cell));
            }
            2 => {
                let (function, member) =
                    self.dice.pick(&[("atomicMin", "least"), ("atomicMax", "most")]);
                let value = self.integer(I32, 1, 1);
                self.line(&format!("{function}(tally.{member}, {value});"));
            }
            3 => {
                let functions =
                    [("atomicAdd", 0), ("atomicMax", 1), ("atomicXor", 2), ("atomicOr", 3)];
                let ((function, at), value) = (self.dice.pick(&functions), self.integer(U64, 1, 1));
                self.line(&format!("{function}(tally.wide[{at}], {value});"));
            }
            4 | 5 => {
                let wide = self.dice.one_in(2);
                let (scalar, cells) = if wide { (U64, "wide") } else { (U32, "cells") };
                let (value, name) = (self.integer(scalar, 1, 1), self.name("c"));
                let function = self
                    .dice
                    .pick(&["Add", "Exchange", "Min", "Max", "And", "Or", "Xor", "CompSwap"]);
                let other = if function == "CompSwap" {
                    format!(", {}", self.integer(scalar, 1, 1))
                } else {
                    String::new()
                };
                let cell = format!("own_cells.{cells}[gl_GlobalInvocationID.x]");
                self.line(&format!(
                    "{} {name} = atomic{function}({cell}, {value}{other});",
                    scalar.name()
                ));
                self.declare(&name, Type::Numbers(scalar, 1));
            }
            _ => self.image(),
        }
    }

    fn image(&mut self) {
        let own = "ivec2(int(gl_GlobalInvocationID.x & 7u), int(gl_GlobalInvocationID.x >> 3))";
        let name = self.name("t");
        match self.dice.below(6) {
            0 => {
                let value = self.integer(U32, 4, 1);
                self.line(&format!("imageStore(picture, {own}, {value});"));
            }
            1 => {
                self.line(&format!("uint {name} = imageLoad(picture, {own}).x;"));
                self.declare(&name, Type::UINT);
            }
            2 => {
                let (value, at) = (self.integer(I32, 1, 1), self.integer(I32, 1, 0));
                self.line(&format!("imageAtomicAdd(counts, ivec2({at} & 3, 0), {value});"));
            }
            3 => {
                let (x, y) = (self.integer(I32, 1, 1), self.integer(I32, 1, 1));
                self.line(&format!(
                    "ivec4 {name} = texelFetch(numbers, ivec2({x} & 7, {y} & 3), 0);"
                ));
                self.declare(&name, Type::Numbers(I32, 4));
            }
            4 => {
                let x = self.integer(I32, 1, 1);
                let tame = self.tame(
                    &Type::Numbers(F32, 4),
                    &format!("texelFetch(floats, ivec2({x} & 7, 1), 0)"),
                );
                self.line(&format!("vec4 {name} = {tame};"));
                self.declare(&name, Type::Numbers(F32, 4));
            }
            _ => {
                let value = self.float(F32, 4, 1);
                self.line(&format!("imageStore(painting, {own}, {value});"));
                let tame =
                    self.tame(&Type::Numbers(F32, 2), &format!("imageLoad(painting, {own}).zx"));
                self.line(&format!("vec2 {name} = {tame};"));
                self.declare(&name, Type::Numbers(F32, 2));
            }
        }
    }

    /// A function, which is known from here on.
    pub(crate) fn function(&mut self) {
        let number = self.functions.len();
        let result = (!self.dice.one_in(4)).then(|| self.random_type());
        let mut parameters = Vec::new();
        self.scope = self.globals.clone();
        for at in 0..1 + self.dice.below(3) {
            let way = self.dice.pick(&[Way::In, Way::ConstIn, Way::Out, Way::InOut]);
            let ty = self.random_type();
            parameters.push((way, ty.clone()));
            match way {
                Way::ConstIn => self.constant(&format!("p{at}"), ty),
                _ => self.declare(&format!("p{at}"), ty),
            }
        }
        let list: Vec<String> = parameters
            .iter()
            .enumerate()
            .map(|(at, (way, ty))| format!("{}{} p{at}", way.glsl(), ty.name()))
            .collect();
        let name = result.as_ref().map_or_else(|| "void".to_owned(), Type::name);
        self.line(&format!("{name} f{number}({}) {{", list.join(", ")));
        self.indent += 1;
        self.out_parameters(&parameters);
        self.indent -= 1;
        self.result.clone_from(&result);
        self.flow = Flow::Any;
        self.jumps = Jumps { leave: false, next: false, end: true };
        self.budget = 3 + self.dice.below(6) as usize;
        self.block(2, 4);
        if let Some(result) = &result {
            let value = self.value(result, 2);
            self.line(&format!("    return {value};"));
        }
        self.line("}");
        self.functions.push(Function { result, parameters });
    }

    /// What goes out has a value before anything can read it.
    fn out_parameters(&mut self, parameters: &[(Way, Type)]) {
        let scope = std::mem::take(&mut self.scope);
        let out = |name: &str| {
            let at = name.strip_prefix('p').and_then(|number| number.parse::<usize>().ok());
            at.is_some_and(|at| parameters[at].0 == Way::Out)
        };
        self.scope = scope.iter().filter(|one| !one.local || !out(&one.name)).cloned().collect();
        for (at, (way, ty)) in parameters.iter().enumerate() {
            if *way == Way::Out {
                let value = self.value(ty, 1);
                self.line(&format!("p{at} = {value};"));
            }
        }
        self.scope = scope;
    }
}
