//! The frame of a random kernel: structures, constants, blocks of memory, functions, `main`.

use super::types::{FLOATS, Scalar, Type, float_literal, integer_literal};
use super::writer::{
    Access, BoundBuffer, BoundImage, Contents, Floats, Flow, Jumps, Shape, Use, Variable, Writer,
};
use Scalar::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

/// Words of the output buffer for each invocation.
pub(crate) const OUT_WORDS: usize = 24;
/// Where `main` may do more before anything else, in uniform control flow.
pub(crate) const START: &str = "// start";

const EXTENSIONS: &str = "#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_buffer_reference : require
";

/// A kernel, and how it is dispatched.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    pub seed: u64,
    pub text: String,
    pub shape: Shape,
}

/// Makes the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> Kernel {
    let mut writer = Writer::new(seed);
    let text = writer.kernel();
    Kernel { seed, text, shape: writer.shape }
}

impl Writer {
    fn kernel(&mut self) -> String {
        self.shape.local_size = self.dice.pick(&[8, 8, 16, 16, 24, 5]);
        self.shape.groups = 1 + self.dice.below(2) as u32;
        self.structures();
        let memory = self.memory();
        let constants = self.constants();
        for _ in 0..self.dice.below(4) {
            self.function();
        }
        let functions = std::mem::take(&mut self.text);
        self.main();
        let main = std::mem::take(&mut self.text);
        let (declarations, tames) = (self.used_images(&format!("{functions}{main}")), self.tames());
        let structures: String = (0..self.structs.len()).map(|at| self.structure(at)).collect();
        format!(
            "{EXTENSIONS}layout(local_size_x = {}) in;\n{structures}{memory}{declarations}{constants}{tames}{functions}{main}",
            self.shape.local_size
        )
    }

    fn structures(&mut self) {
        for _ in 0..1 + self.dice.below(2) {
            let mut members = Vec::new();
            for _ in 0..2 + self.dice.below(4) {
                members.push(self.member_type());
            }
            self.structs.push(members);
        }
    }

    /// No Booleans: what memory holds is as the host wrote it.
    fn member_type(&mut self) -> Type {
        loop {
            let ty = self.random_type();
            if !Self::holds_bool(&ty) {
                return ty;
            }
        }
    }

    fn holds_bool(ty: &Type) -> bool {
        match ty {
            Type::Numbers(scalar, _) => *scalar == Bool,
            Type::Array(element, _) => Self::holds_bool(element),
            Type::Matrix(..) | Type::Struct(_) => false,
        }
    }

    fn structure(&self, number: usize) -> String {
        let members = self.structs[number].iter().enumerate();
        let members: String = members.map(|(at, ty)| format!(" {} m{at};", ty.name())).collect();
        format!("struct S{number} {{{members} }};\n")
    }

    fn global(&mut self, name: &str, ty: Type, access: Access, floats: Floats) {
        self.globals.push(Variable { name: name.to_owned(), ty, access, floats, local: false });
    }

    fn bind(
        &mut self,
        binding: u32,
        array_index: u32,
        words: usize,
        contents: Contents,
        use_of: Use,
    ) {
        self.shape.buffers.push(BoundBuffer { binding, array_index, words, contents, use_of });
    }

    fn contents_of(&self, ty: &Type) -> Contents {
        if self.has_floats(ty) { Contents::NormalFloats } else { Contents::Any }
    }

    fn some_struct(&mut self) -> (Type, usize) {
        let ty = Type::Struct(self.dice.below(self.structs.len() as u64) as usize);
        let words = self.most_bytes(&ty) / 4;
        (ty, words)
    }

    /// Blocks of set 0. What is not used by a kernel is bound all the same.
    fn memory(&mut self) -> String {
        let all = (self.shape.local_size * self.shape.groups) as usize;
        let mut text =
            "layout(std430, set = 0, binding = 0) buffer Out { uint o[]; };\n".to_owned();
        self.bind(0, 0, all * OUT_WORDS, Contents::Zero, Use::Storage);
        let layouts = ["std430", "std140", "scalar", "std430, row_major", "scalar, row_major"];
        let layout = self.dice.pick(&layouts);
        let (ty, words) = self.some_struct();
        text += &format!(
            "layout({layout}, set = 0, binding = 1) readonly buffer In {{ {} items[]; }} src;\n",
            ty.name()
        );
        self.bind(1, 0, 12 * words, self.contents_of(&ty), Use::Storage);
        let index = self.dice.below(7);
        let name =
            format!("src.items[(gl_GlobalInvocationID.x + {index}u) % uint(src.items.length())]");
        self.global(&name, ty.clone(), Access::Read, Floats::Wild);
        let read = (name, ty);
        if self.dice.one_in(2) {
            let layout = self.dice.pick(&layouts);
            let (ty, words) = self.some_struct();
            text += &format!(
                "layout({layout}, set = 0, binding = 2) buffer Own {{ {} items[]; }} own;\n",
                ty.name()
            );
            self.bind(2, 0, all * words, self.contents_of(&ty), Use::Storage);
            let own = "own.items[gl_GlobalInvocationID.x]";
            self.copies = (read.1 == ty).then(|| (own.to_owned(), read.0));
            self.global(own, ty, Access::Write, Floats::Wild);
        }
        if self.dice.one_in(2) {
            let layout = self.dice.pick(&["std140", "scalar", "std140, row_major"]);
            let (ty, words) = self.some_struct();
            text += &format!(
                "layout({layout}, set = 0, binding = 3) uniform Uni {{ {} item; }} uni;\n",
                ty.name()
            );
            self.bind(3, 0, words, self.contents_of(&ty), Use::Uniform);
            self.global("uni.item", ty, Access::Read, Floats::Wild);
        }
        text + &self.more_memory(all)
    }

    fn more_memory(&mut self, all: usize) -> String {
        let mut text = String::new();
        let mut push = Vec::new();
        push.extend((self.dice.roll() as u32).to_le_bytes());
        push.extend((self.dice.below(40) as i32 - 20).to_le_bytes());
        push.extend((self.dice.below(32) as f32 * 0.5 - 4.0).to_le_bytes());
        push.extend((self.dice.below(9) as u32).to_le_bytes());
        let mut members = "uint push_u; int push_i; float push_f; uint push_n;".to_owned();
        if self.dice.one_in(3) {
            let (ty, words) = self.some_struct();
            text += &format!(
                "layout(buffer_reference, std430) readonly buffer Ref {{ {} items[3]; }};\n",
                ty.name()
            );
            members += " Ref ref;";
            self.bind(0, 0, 4 * words, self.contents_of(&ty), Use::Addressed);
            self.shape.addressed = Some(self.shape.buffers.len() - 1);
            push.extend([0; 8]);
            self.global("ref.items", Type::Array(Box::new(ty), 3), Access::Read, Floats::Wild);
        }
        text += &format!("layout(push_constant) uniform Push {{ {members} }};\n");
        self.shape.push = Some(push);
        for (name, scalar) in [("push_u", U32), ("push_i", I32), ("push_f", F32)] {
            self.global(name, Type::Numbers(scalar, 1), Access::Read, Floats::Tame);
        }
        if self.dice.one_in(3) {
            let scalar = self.dice.pick(&[U8, I8, U16, I16, U32, I64, F16, F64]);
            text += &format!(
                "layout(std430, set = 0, binding = 4) readonly buffer Slot {{ {} w[]; }} slots[3];\n",
                scalar.name()
            );
            let ty = Type::Numbers(scalar, 1);
            (0..3).for_each(|at| {
                self.bind(4, at, 6 + 2 * at as usize, self.contents_of(&ty), Use::Storage)
            });
            let slot = self.dice.pick(&["0", "1", "2", "push_n % 3u"]);
            let name = format!(
                "slots[{slot}].w[gl_GlobalInvocationID.x % uint(slots[{slot}].w.length())]"
            );
            self.global(&name, ty, Access::Read, Floats::Wild);
        }
        text += "layout(std430, set = 0, binding = 5) buffer Tally { uint words[18]; int least; int most; uint64_t wide[4]; } tally;\n";
        self.bind(5, 0, 32, Contents::Any, Use::Storage);
        text += &format!(
            "layout(std430, set = 0, binding = 6) buffer Cells {{ uint64_t wide[{all}]; uint cells[{all}]; }} own_cells;\n"
        );
        self.bind(6, 0, 3 * all + 2, Contents::Any, Use::Storage);
        text
    }

    /// Images that the text names are declared and bound.
    fn used_images(&mut self, text: &str) -> String {
        let rows = (self.shape.local_size * self.shape.groups).div_ceil(8);
        let images = [
            (
                "picture",
                "layout(r32ui, set = 0, binding = 10) uniform uimage2D",
                "r32ui",
                [8, rows],
                false,
                Contents::Any,
            ),
            (
                "counts",
                "layout(r32i, set = 0, binding = 11) uniform iimage2D",
                "r32i",
                [4, 1],
                false,
                Contents::Any,
            ),
            (
                "numbers",
                "layout(set = 0, binding = 12) uniform isampler2D",
                "rgba32i",
                [8, 4],
                true,
                Contents::Any,
            ),
            (
                "floats",
                "layout(set = 0, binding = 13) uniform sampler2D",
                "rgba32f",
                [8, 2],
                true,
                Contents::NormalFloats,
            ),
            (
                "painting",
                "layout(rgba32f, set = 0, binding = 14) uniform image2D",
                "rgba32f",
                [8, rows],
                false,
                Contents::NormalFloats,
            ),
        ];
        let mut declared = self.declarations.join("\n") + "\n";
        for ((name, head, format, extent, sampled, contents), binding) in
            images.into_iter().zip(10..)
        {
            if text.contains(&format!("({name},")) {
                declared += &format!("{head} {name};\n");
                self.shape.images.push(BoundImage { binding, format, extent, sampled, contents });
            }
        }
        declared
    }

    /// Specialization constants, tables, variables of the whole kernel.
    fn constants(&mut self) -> String {
        let mut text = String::new();
        for id in 0..self.dice.below(4) as u32 {
            let scalar = self.dice.pick(&[Bool, I32, U32, I64, U64, F32, F64, I8, U16, I16, U8]);
            let name = format!("spec{id}");
            let (value, bits) = self.specialized(scalar);
            text +=
                &format!("layout(constant_id = {id}) const {} {name} = {value};\n", scalar.name());
            if let Some(bits) = bits {
                self.shape.specialization.insert(id, bits);
            }
            // Of expressions of specialization constants alone, glslang makes operations that
            // SPIR-V does not have.
            text += &format!("{} value{id} = {name};\n", scalar.name());
            self.global(
                &format!("value{id}"),
                Type::Numbers(scalar, 1),
                Access::Read,
                Floats::Tame,
            );
            if scalar == U32 {
                text += &format!("const uint derived{id} = {name} * 3u ^ 5u;\n");
                text += &format!("uint other{id} = derived{id};\n");
                self.global(&format!("other{id}"), Type::UINT, Access::Read, Floats::Tame);
            }
        }
        if self.dice.one_in(2) {
            let element =
                Type::Numbers(Scalar::integer(&mut self.dice), self.dice.pick(&[1, 2, 4]));
            let table = Type::Array(Box::new(element.clone()), 4);
            let Type::Numbers(scalar, _) = element else { unreachable!("numbers") };
            let values: Vec<String> = (0..4)
                .map(|_| {
                    format!("{}({})", element.name(), integer_literal(scalar, self.dice.roll()))
                })
                .collect();
            text += &format!(
                "const {} table = {}({});\n",
                table.name(),
                table.name(),
                values.join(", ")
            );
            self.global("table", table, Access::Read, Floats::Tame);
        }
        text += "uint trace = 1u;\n";
        self.global("trace", Type::UINT, Access::Write, Floats::Tame);
        if self.dice.one_in(2) {
            let ty = self.random_numbers();
            let value = if let Type::Numbers(Bool, n) = ty {
                format!("{}(true)", Bool.vector(n))
            } else {
                format!("{}(1)", ty.name())
            };
            text += &format!("{} held = {value};\n", ty.name());
            self.global("held", ty, Access::Write, Floats::Tame);
        }
        text
    }

    /// A default, and the bits that a dispatch sets, if it does.
    fn specialized(&mut self, scalar: Scalar) -> (String, Option<u64>) {
        let sets = self.dice.one_in(2);
        let mask = u64::MAX >> (64 - scalar.bits());
        let value = self.dice.below(64) as f64 * 0.25 - 8.0;
        let (default, bits) = match scalar {
            Bool => ("true".to_owned(), self.dice.below(2)),
            F16 | F32 => (float_literal(scalar, 1.25), u64::from((value as f32).to_bits())),
            F64 => (float_literal(scalar, -2.5), value.to_bits()),
            I8 | U8 | I16 | U16 | I32 | U32 | I64 | U64 => {
                (integer_literal(scalar, self.dice.below(100)), self.dice.roll() & mask)
            }
        };
        (default, sets.then_some(bits))
    }

    /// `tame` for every type that it is called with.
    fn tames(&mut self) -> String {
        let mut needed: Vec<(Scalar, u32)> = Vec::new();
        let mut matrices = String::new();
        for ty in self.tamed.values() {
            match ty {
                Type::Numbers(scalar, n) => needed.push((*scalar, *n)),
                Type::Matrix(scalar, columns, rows) => {
                    needed.push((*scalar, *rows));
                    let name = ty.name();
                    let parts: Vec<String> =
                        (0..*columns).map(|at| format!("tame(m[{at}])")).collect();
                    matrices += &format!(
                        "{name} tame({name} m) {{ return {name}({}); }}\n",
                        parts.join(", ")
                    );
                }
                Type::Array(..) | Type::Struct(_) => unreachable!("numbers and matrices are tamed"),
            }
        }
        needed.sort_unstable();
        needed.dedup();
        let mut text = String::new();
        for scalar in FLOATS {
            let (low, high) = match scalar {
                F16 => (0.0625, 100.0),
                F64 => (1e-9, 1e9),
                _ => (1e-6, 1e6),
            };
            for (_, n) in needed.iter().filter(|(of, _)| *of == scalar) {
                let (name, number) = (scalar.vector(*n), |value: f64| float_literal(scalar, value));
                let (low, high, zero, other) =
                    (number(low), number(high), number(0.0), number(1.5));
                text += &if *n == 1 {
                    format!(
                        "{name} tame({name} x) {{ return abs(x) < {low} ? {zero} : (abs(x) <= {high} ? x : {other}); }}\n"
                    )
                } else {
                    format!(
                        "{name} tame({name} x) {{ return mix(mix({name}({other}), x, lessThanEqual(abs(x), {name}({high}))), {name}({zero}), lessThan(abs(x), {name}({low}))); }}\n"
                    )
                };
            }
        }
        text + &matrices
    }

    fn main(&mut self) {
        self.scope = self.globals.clone();
        self.result = None;
        self.line("void main() {");
        self.line(&format!("    {START}"));
        self.budget = 12 + self.dice.below(14) as usize;
        self.indent = 1;
        let outer = Jumps { leave: false, next: false, end: false };
        (self.flow, self.jumps) = (Flow::Uniform, outer);
        for _ in 0..3 {
            let ty = self.random_numbers();
            let (value, name) = (self.value(&ty, 1), self.name("v"));
            self.line(&format!("{} {name} = {value};", ty.name()));
            self.declare(&name, ty);
        }
        for _ in 0..2 + self.dice.below(5) {
            self.statement(3);
        }
        (self.flow, self.jumps) = (Flow::Any, Jumps { end: true, ..outer });
        for _ in 0..1 + self.dice.below(4) {
            self.statement(2);
        }
        self.results();
        self.indent = 0;
        self.line("}");
    }

    /// Writes parts of what is in scope, and the trace.
    fn results(&mut self) {
        let locals: Vec<Variable> =
            self.scope.iter().filter(|one| one.local || one.name == "held").cloned().collect();
        let first = locals.len().saturating_sub(OUT_WORDS - 1);
        for (at, variable) in locals[first..].iter().enumerate() {
            let mut inner = variable.ty.clone();
            let want = loop {
                inner = match inner {
                    Type::Numbers(scalar, _) | Type::Matrix(scalar, ..) => break scalar,
                    Type::Array(element, _) => *element,
                    Type::Struct(number) => {
                        let members = &self.structs[number];
                        members[self.dice.below(members.len() as u64) as usize].clone()
                    }
                };
            };
            let found = (0..20).find_map(|_| self.walk(variable, &Type::Numbers(want, 1)));
            if let Some(path) = found {
                let folded = fold(want, &path);
                self.line(&format!(
                    "o[gl_GlobalInvocationID.x * {OUT_WORDS}u + {}u] = {folded};",
                    at + 1
                ));
            }
        }
        self.line(&format!("o[gl_GlobalInvocationID.x * {OUT_WORDS}u] = trace;"));
    }
}

/// A scalar as one word.
pub(crate) fn fold(scalar: Scalar, x: &str) -> String {
    match scalar {
        Bool | I8 | U8 | I16 | U16 | I32 | U32 => format!("uint({x})"),
        I64 | U64 => format!("uint({x}) ^ uint({x} >> 32) * 3u"),
        F16 => format!("uint(float16BitsToUint16({x}))"),
        F32 => format!("floatBitsToUint({x})"),
        F64 => format!("unpackDouble2x32({x}).x ^ unpackDouble2x32({x}).y * 3u"),
    }
}
