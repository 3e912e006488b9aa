//! Mutants that are compiled together are what each of them is compiled to by itself.

use crate::support::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use vkcert::campaign::project::{load_project, source_of};
use vkcert::glsl::KernelSource;
use vkcert::glsl::mutation::{
    MutatedKernel, NotCompiled, SelectionWanted, SourceMutant, compile_alone, compile_mutants,
    mutate,
};
use vkcert::spirv::calls::reachable_functions;
use vkcert::spirv::identity::{ModuleIdentity, module_identity};
use vkcert::spirv::module::{Id, Module};

/// The functions of a module that its entry point calls, as text: what stands in front of them, by what it is; their own ids, by their order.
/// Names, lines and what no function uses do not count.
struct FunctionsText<'m> {
    module: &'m Module,
    decorations: BTreeMap<Id, BTreeSet<String>>,
    first_function: usize,
    numbers: BTreeMap<Id, usize>,
    text: String,
}

impl<'m> FunctionsText<'m> {
    fn of_module(module: &'m Module) -> String {
        let is_decoration = |op: &str| op.contains("Decorate") || op == "ExecutionMode";
        let mut decorations: BTreeMap<Id, BTreeSet<String>> = BTreeMap::new();
        for row in &module.instructions {
            let op = format!("{:?}", row.op);
            if let (true, Some(target)) = (is_decoration(&op), row.id(0)) {
                let decoration = format!("{op} {:?}", &row.operands[1..]);
                decorations.entry(target).or_default().insert(decoration);
            }
        }
        let first_function = module.functions[0].range.start;
        let mut writer = Self {
            module,
            decorations,
            first_function,
            numbers: BTreeMap::new(),
            text: String::new(),
        };
        let called = reachable_functions(module, module.entry_points[0].function);
        for function in module.functions.iter().filter(|function| called.contains(&function.id)) {
            for index in function.range.start..function.range.end {
                let row = &module.instructions[index];
                if !["Line", "NoLine"].contains(&format!("{:?}", row.op).as_str()) {
                    writer.write_row(index);
                }
            }
        }
        let declared = |row: &&vkcert::spirv::module::Instruction| {
            ["Capability", "Extension", "MemoryModel"].contains(&format!("{:?}", row.op).as_str())
        };
        let whole = module.instructions.iter().filter(declared);
        let whole: Vec<String> =
            whole.map(|row| format!("{:?} {:?}", row.op, row.operands)).collect();
        format!("{whole:?}\n{}", writer.text)
    }

    fn write_row(&mut self, index: usize) {
        let row = &self.module.instructions[index];
        let mut line = format!("{:?}", row.op);
        for id in row.result_type.into_iter().chain(row.result) {
            let name = self.name(id);
            let _ = write!(line, " {name}");
        }
        for operand in &row.operands {
            match operand.id_ref_any() {
                Some(id) => {
                    let name = self.name(id);
                    let _ = write!(line, " {name}");
                }
                None => {
                    let _ = write!(line, " {operand:?}");
                }
            }
        }
        let _ = writeln!(self.text, "{line}");
    }

    fn name(&mut self, id: Id) -> String {
        let index = self.module.definition_index(id);
        if index.is_some_and(|index| index < self.first_function) {
            return self.content(id, 0);
        }
        let next = self.numbers.len();
        let number = *self.numbers.entry(id).or_insert(next);
        format!("%{number}{:?}", self.decorations.get(&id))
    }

    fn content(&self, id: Id, depth: usize) -> String {
        let Some(row) = self.module.definition(id).filter(|_| depth < 12) else {
            return "...".to_owned();
        };
        let parts: Vec<String> = row
            .result_type
            .into_iter()
            .chain(row.ids())
            .map(|part| self.content(part, depth + 1))
            .collect();
        let literals: Vec<String> = row
            .operands
            .iter()
            .filter(|operand| operand.id_ref_any().is_none())
            .map(|operand| format!("{operand:?}"))
            .collect();
        format!("({:?} {parts:?} {literals:?} {:?})", row.op, self.decorations.get(&id))
    }
}

/// None of what is refused.
fn identity(compiled: &Result<Vec<u32>, NotCompiled>) -> Option<ModuleIdentity> {
    let module = Module::parse(Arc::new(compiled.as_ref().ok()?.clone())).expect("it parses");
    Some(module_identity(&module).expect("the compiler makes one entry point"))
}

fn functions_text(compiled: &Result<Vec<u32>, NotCompiled>) -> Result<String, String> {
    match compiled {
        Ok(words) => {
            let module =
                Module::parse(Arc::new(words.clone())).map_err(|error| error.to_string())?;
            Ok(FunctionsText::of_module(&module))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The first line in which two texts differ.
fn first_difference(one: Result<String, String>, other: Result<String, String>) -> String {
    let (one, other) = (format!("{one:?}"), format!("{other:?}"));
    let lines = one.split("\\n").zip(other.split("\\n"));
    let differing = lines.into_iter().find(|(one, other)| one != other);
    format!("{differing:?}")
}

/// How many of a kernel's mutants are alike, one in `stride`.
fn compare(name: &str, source: &KernelSource, mutated: &MutatedKernel, stride: usize) -> usize {
    let chosen: Vec<&SourceMutant> = mutated.mutants.iter().step_by(stride).collect();
    let mut alike = BTreeMap::new();
    for mutants in chosen.chunks(16) {
        let together = compile_mutants(source, mutated, mutants);
        for (mutant, together) in mutants.iter().zip(&together) {
            let alone = compile_alone(source, mutated, mutant);
            let own_identity = identity(&alone);
            assert_eq!(identity(together), own_identity, "{name}: {:?}", mutant.edits);
            let (together, alone) = (functions_text(together), functions_text(&alone));
            assert!(
                together == alone,
                "{name}: {:?}: {}",
                mutant.edits,
                first_difference(together, alone)
            );
            if let Some(own_identity) = own_identity {
                let first = alike.entry(own_identity).or_insert_with(|| alone.clone());
                assert!(*first == alone, "{name}: {:?} is no duplicate", mutant.edits);
            }
        }
    }
    chosen.len()
}

fn compare_project(folder: &Path, stride: usize) -> usize {
    let project = load_project(folder).unwrap();
    let settings = &project.settings.value;
    let mut count = 0;
    for row in &settings.kernels {
        let Some(source) = source_of(&project.root, settings, row).unwrap() else { continue };
        let mutated = mutate(&source, SelectionWanted::Left).unwrap();
        count += compare(&row.name.to_string(), &source, &mutated, stride);
    }
    count
}

#[test]
fn mutants_compiled_together_are_what_their_own_texts_are() {
    assert!(compare_project(&root(), 13) > 350);
    assert!(compare_project(&root().join("tests/projects/thesis_kernels"), 13) > 150);
}

#[test]
#[ignore = "compiles eight thousand mutants twice; run by `make soak`"]
fn all_mutants_compiled_together_are_what_their_own_texts_are() {
    assert!(compare_project(&root(), 1) > 5_000);
    assert!(compare_project(&root().join("tests/projects/thesis_kernels"), 1) > 2_000);
}

/// How many mutants of a text there are, and how many of them are compiled with others: all are alike.
fn compare_text(text: &str) -> (usize, usize) {
    let source = KernelSource::alone("kernel.comp", text, "vulkan1.2");
    let mutated = mutate(&source, SelectionWanted::Left).unwrap();
    compare(text, &source, &mutated, 1);
    let mutants: Vec<&SourceMutant> = mutated.mutants.iter().collect();
    let is_other = |(mutant, together): &(&&SourceMutant, Result<Vec<u32>, NotCompiled>)| {
        compile_alone(&source, &mutated, mutant) != *together
    };
    let together = compile_mutants(&source, &mutated, &mutants);
    (mutants.len(), mutants.iter().zip(together).filter(is_other).count())
}

const BUFFERS: &str = "#version 460
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Data { uint n; int y; float z; uint o[]; };
";

/// Texts in which most mutants share a compilation.
const SHARED: &[&str] = &[
    "uint g(uint a) { return a + 2u; } void main() { o[0] = g(n) * 3u; }",
    "uint g(uint a); void main() { o[0] = g(n) * 3u; } uint g(uint a) { return a > 2u ? a : 7u; }",
    "#define TILE 4\nvoid main() { for (uint i = 0u; i < TILE; ++i) { o[i] = n; }\n barrier(); }",
    "void main() { uint a[3] = uint[](1u, 2u, 3u); o[0] = a[n % 3u]; }",
    "struct Pair { uint a; uint b; }; Pair both(Pair p) { p.a += 1u; return p; }\n\
     void main() { Pair p = both(Pair(n, 2u)); o[0] = p.a - p.b; }",
    "shared uint tile[4]; void main() { tile[gl_LocalInvocationIndex] = n; barrier(); o[0] = tile[1]; }",
    // What a macro stands for is gone from the tokens.
    "#define barrier()\nuint g(uint x) { if (x > 3u) { barrier(); } return x; } void main() { o[0] = g(n); }",
    // Lines go away with a statement.
    "uint g(uint x) { if (x > 3u)\n{\nx += 1u;\n}\nreturn x; }\nvoid main() { o[0] = g(n); }",
    // Names of copies.
    "uint vkcert_copy_kernel_(uint x) { return x + 1u; } uint vkcert_copy_3_(uint x) { return x; }\n\
     void main() { o[0] = vkcert_copy_kernel_(n) + vkcert_copy_3_(n); }",
    // What is precise makes others so in its function alone.
    "float g(float a, float b) { precise float p = a * b + 1.0; float q = a * b + 2.0; return p - q; }\n\
     float h(float a) { float w = a * 2.0 + z; return w * z + a; } void main() { z = g(z, h(z)) * 3.0 + z; }",
    // Comments, ends of lines.
    "uint g(uint x) /* define */ { return x /* a */ * /* b */ 2u; // c\r\n}\nvoid main() { o[0] = g(n); }",
];

/// Texts in which a copy could mean something else, or the compiler refuses more than the copy.
const APART: &[&str] = &[
    // Which of the two is copied cannot be told by the name.
    "uint g(uint a) { return a + 2u; } uint g(int a) { return uint(a) + 3u; } void main() { o[0] = g(n) + g(y); }",
    // What the entry point sets first, a copy does not.
    "uint total = n + 1u; void main() { o[0] = total * 2u; }",
    // What is precise makes others so.
    "precise float w; void h() { w = z * 2.0 + 1.0; } void main() { h(); z = w * 3.0 + z; }",
    "shared float w; void g(float a) { precise float p = a * w + 1.0; z = p; }\n\
     void main() { w = z * 2.0 + 1.0; g(w); w = w * 3.0 + z; }",
    "shared float w; void g(float a, float b) { precise float p = a * b + 1.0; z = p; }\n\
     void main() { w = z * 2.0 + 1.0; g(w, w * z + 1.0); w = w * 3.0 + z; }",
    "float w; float g(float a) { precise float p = a + 1.0; return p; }\n\
     void main() { w = z * 2.0 + 1.0; z = g(w) * w + z; }",
    "#define EXACT precise\n#define SUM w + 1.0\nshared float w; void g(float a) { EXACT float p = a * 2.0 + SUM; z = p; }\n\
     void main() { w = z * 2.0 + 1.0; g(w); w = w * 3.0 + z; }",
    // The greatest index gives the size.
    "shared uint tile[]; void main() { tile[2] = n; o[0] = tile[1]; }",
    "layout(binding = 1) buffer Part { uint a; } parts[]; void main() { parts[1].a = n; o[0] = parts[0].a; }",
    // A macro that is asked for beside the function, one that is defined again, one that divides.
    "#define WIDE 3\n#if WIDE > 2\nuint g() { return 5u; }\n#else\nuint g() { return 6u; }\n#endif\n\
     void main() { o[WIDE] = g(); }",
    "#define K 3u\n#define K 3u\nuint g() { return K; } void main() { o[0] = g(); }",
    "#define K 4\n#if 8 / K > 1\n#endif\nuint g() { return uint(K); } void main() { o[0] = g(); }",
    // A change that joins tokens, those that move lines which are asked for, one in two functions.
    "void main() { int a = - -y; o[0] = uint(a - -3); }",
    "void main() { if (n > 3u)\n{\no[0] = 1u;\n}\no[1] = uint(__LINE__); }",
    "uint g(uint x) { if (x > 3u)\n{\nx += 1u;\n}\nreturn x; }\n#if __LINE__ > 9\nconst uint c = 1u;\n#else\n\
     const uint c = 2u;\n#endif\nvoid main() { o[0] = g(n) + c; }",
    "#line 100\nuint g(uint x) { return x + uint(__LINE__); } void main() { o[0] = g(n); }",
    "#define STEP (n + 1u)\nuint g() { return STEP; } void main() { o[0] = g() + STEP; }",
    // Definitions that are hard to see.
    "#define /* old */ atomicExchange atomicAdd\nvoid main() { o[0] = atomicAdd(n, 2u); }",
    "#def\\\nine atomicExchange atomicAdd\nvoid main() { o[0] = atomicAdd(n, 2u); }",
    // What is allowed behind the function alone.
    "uint g(uint x) { return uint(x); }\n#extension GL_EXT_shader_explicit_arithmetic_types_int16 : enable\n\
     void main() { o[0] = g(n); }",
    // A mutant calls itself.
    "void memoryBarrierShared() { memoryBarrier(); } void main() { memoryBarrierShared(); o[0] = n; }",
    // A string like the name of a copy's file.
    "\n#extension GL_EXT_debug_printf : enable\nvoid main() { debugPrintfEXT(\"<copy 1>\"); o[0] = n + 1u; }",
];

#[test]
fn a_copy_stands_for_its_function_and_else_a_mutant_is_compiled_by_itself() {
    for text in SHARED {
        let (all, together) = compare_text(&format!("{BUFFERS}{text}"));
        assert!(together * 2 > all, "{together} of {all}: {text}");
    }
    for text in APART {
        compare_text(&format!("{BUFFERS}{text}"));
    }
}
