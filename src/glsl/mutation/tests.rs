//! Mutants of small texts.

use super::*;
use std::collections::BTreeSet;
use vkcert_model::mutation::MUTATION_OPERATORS;
use vkcert_model::place::Span;

pub(super) const HEAD: &str = "#version 450
#extension GL_KHR_shader_subgroup_arithmetic : enable
#extension GL_KHR_shader_subgroup_clustered : enable
#extension GL_KHR_memory_scope_semantics : enable
layout(local_size_x = 8) in;
layout(set = 0, binding = 3, std430) buffer Data { uint data[]; };
layout(set = 0, binding = 4, r32ui) uniform uimage2D picture;
layout(push_constant) uniform Sizes { uint n; uint m; };
shared uint tile[8];
";

pub(super) fn mutated(body: &str) -> MutatedKernel {
    let text = format!("{HEAD}{body}");
    let kernel = KernelSource::alone("k.comp", text, "vulkan1.2");
    mutate(&kernel, SelectionWanted::Compiled).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Each mutant as `CODES old -> new, old -> new`, with how it is run where it is not selected.
pub(super) fn listed(kernel: &MutatedKernel) -> Vec<String> {
    let line = |mutant: &SourceMutant| {
        let codes: Vec<&str> = mutant.operators.iter().map(|row| row.code()).collect();
        let text = &kernel.files[0].text;
        let edits = mutant.edits.iter().map(|edit| {
            let old = &text[edit.span.start as usize..edit.span.end as usize];
            format!("{old} -> {}", edit.text)
        });
        let form = match &mutant.form {
            MutantForm::Selected => "",
            MutantForm::Alone => " (alone)",
        };
        format!("{} {}{form}", codes.join(","), edits.collect::<Vec<_>>().join(", "))
    };
    kernel.mutants.iter().map(line).collect()
}

/// The mutants that an operator alone or first makes.
pub(super) fn of_operator(kernel: &MutatedKernel, code: &str) -> Vec<String> {
    let beginning = format!("{code} ");
    let first = format!("{code},");
    let lines = listed(kernel).into_iter();
    lines.filter(|line| line.starts_with(&beginning) || line.starts_with(&first)).collect()
}

#[test]
fn what_stands_there_already_is_no_mutant() {
    let kernel = mutated(
        "#define ADD(x) do { x += 1u; } while (false)\nvoid main() { uint i = 0u; ADD(i); data[i] = i; }\n",
    );
    for mutant in &kernel.mutants {
        let text = kernel.mutated_text(mutant, 0);
        assert!(text.is_some(), "{:?}: {:?}", mutant.operators, mutant.edits);
    }
    assert!(!of_operator(&kernel, "ASR").is_empty());
}

const EVERYTHING: &str = "
layout(constant_id = 1) const uint BIAS = 5u;
layout(set = 0, binding = 2) coherent buffer Flag { uint flag; uint copies[]; };
const uint TILE = 8u;
void main() {
    uint i = gl_GlobalInvocationID.x;
    bool odd = false;
    if (!odd && i < n) {
        tile[gl_LocalInvocationID.x] = data[i] + 2u;
    }
    barrier();
    memoryBarrierBuffer();
    uint sum = ~i;
    for (uint k = 0u; k < TILE; k++) {
        sum += tile[k];
        sum ^= subgroupAdd(k);
    }
    atomicAdd(data[0], uint(int(sum)));
    sum += subgroupClusteredAdd(BIAS, 4u);
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    uvec2 place = uvec2(i, sum).yx;
    data[i] = imageLoad(picture, ivec2(place)).x;
}";

#[test]
fn every_operator_makes_mutants() {
    // Of these there is nothing to select.
    const ALONE: [&str; 7] = ["AS", "AI", "AD", "SHR", "QRM", "PCX", "SPC"];
    let kernel = mutated(EVERYTHING);
    let source = KernelSource::alone("k.comp", kernel.files[0].text.clone(), "vulkan1.2");
    // This one is of dispatches alone (`tests/mutation.rs`).
    let of_texts = MUTATION_OPERATORS.iter().filter(|row| row.code != "SCR");
    for row in of_texts {
        let of_row = |mutant: &&SourceMutant| mutant.operators.contains(&row.operator);
        let mut made = kernel.mutants.iter().filter(of_row);
        let is_run = match ALONE.contains(&row.code) {
            true => made.any(|mutant| compile_alone(&source, &kernel, mutant).is_ok()),
            false => made.any(|mutant| mutant.form == MutantForm::Selected),
        };
        assert!(is_run, "{}", row.code);
    }
    assert_eq!(kernel.notes, [""; 0]);
    let selection = kernel.selection.expect("mutants can be selected");
    assert_eq!((selection.set, selection.binding), (0, 5));
}

#[test]
fn each_mutant_is_one_change_with_the_names_of_all_that_make_it() {
    let kernel = mutated("void main() { if (n < 3u && data[0] > 1u) barrier(); }");
    let lines = listed(&kernel);
    let all: BTreeSet<&String> = lines.iter().collect();
    let edits: BTreeSet<&Vec<SourceEdit>> =
        kernel.mutants.iter().map(|mutant| &mutant.edits).collect();
    assert_eq!(edits.len(), kernel.mutants.len());
    for line in [
        "CBR,ROR < -> <=",
        "NCR,ROR < -> >=",
        "ROR < -> >",
        "CSD,ROR,SCO n < 3u -> true",
        "COR,LOX && -> ||",
        "LOX && -> ^^",
        "NDE  -> !(,  -> )",
        "NCO  -> !(,  -> )",
        "SYR barrier(); -> ;",
        "LIT 3u -> 0u",
    ] {
        assert!(all.contains(&line.to_owned()), "{line} is not among {lines:#?}");
    }
}

#[test]
fn a_barrier_moves_into_the_guard_before_it() {
    let kernel = mutated("void main() { if (n > 3u) tile[0] = 1u; barrier(); }");
    let mutant = kernel
        .mutants
        .iter()
        .find(|mutant| mutant.operators.contains(&MutationOperator::BarrierIntoGuard))
        .expect("there is one");
    let text = kernel.mutated_text(mutant, 0).unwrap();
    assert!(text.ends_with("if (n > 3u) { tile[0] = 1u; barrier(); }  }"), "{text}");
}

#[test]
fn constants_that_the_compiler_needs_are_mutated_alone() {
    let kernel = mutated(
        "#define PLACE 5\nconst uint SIZE = 4u; layout(binding = PLACE) buffer More { uint more[]; };
        void main() { uint a[SIZE]; const uint b = 2u; more[6] = b; }",
    );
    assert_eq!(
        of_operator(&kernel, "LIT"),
        [
            // Of the size of a workgroup (one more and one less are AI and AD), and of the array in its
            // memory.
            "LIT 8 -> 0 (alone)",
            "LIT 8 -> 1 (alone)",
            "LIT 8 -> 0 (alone)",
            "LIT 8 -> 1 (alone)",
            "LIT 8 -> 9 (alone)",
            "LIT 8 -> 7 (alone)",
            "LIT 4u -> 0u (alone)",
            "LIT 4u -> 1u (alone)",
            "LIT 4u -> 5u (alone)",
            "LIT 4u -> 3u (alone)",
            "LIT 5 -> 0 (alone)",
            "LIT 5 -> 1 (alone)",
            "LIT 5 -> 6 (alone)",
            "LIT 5 -> 4 (alone)",
            "LIT 2u -> 0u",
            "LIT 2u -> 1u",
            "LIT 2u -> 3u",
            "LIT 6 -> 0 (alone)",
            "LIT 6 -> 1 (alone)",
            "LIT 6 -> 7 (alone)",
            "LIT 6 -> 5 (alone)",
        ]
    );
}

#[test]
fn constant_indices_are_held_against_the_size_of_their_array_by_the_compiler() {
    let kernel = mutated(
        "const uint N = 3u; void main() { uint a[N]; a[N - 1u] = 1u; data[n] = a[n % N] + a[2]; }",
    );
    assert!(
        of_operator(&kernel, "OFF").iter().filter(|line| line.ends_with("(alone)")).count() == 4
    );
    assert_eq!(of_operator(&kernel, "MR").first().unwrap(), "MR - -> + (alone)");
    assert!(!of_operator(&kernel, "MR").last().unwrap().ends_with("(alone)"));
}

#[test]
fn what_the_compiler_refuses_is_left_out_and_nothing_else() {
    let kernel = mutated("void main() { float f = float(n) * 0.5; data[n] = uint(f); }");
    let alone: Vec<String> =
        listed(&kernel).into_iter().filter(|line| line.ends_with("(alone)")).collect();
    // The size of a workgroup is a constant, and a float has no complement.
    let sizes = alone.iter().filter(|line| line.starts_with("LIT 8 ")).count();
    assert_eq!(alone.last().unwrap(), "CIN  -> (~,  -> ) (alone)");
    assert!(sizes > 0 && kernel.selection.is_some());
    let kernel_source = KernelSource::alone("k.comp", kernel.files[0].text.clone(), "vulkan1.2");
    let complement = kernel.mutants.iter().rfind(|mutant| mutant.form == MutantForm::Alone);
    let refused = compile_alone(&kernel_source, &kernel, complement.unwrap()).unwrap_err();
    assert!(refused.to_string().contains("wrong operand type"), "{refused}");
}

#[test]
fn a_fault_in_a_macro_is_in_all_of_its_uses() {
    let kernel = mutated(
        "#define TWICE(x) ((x) * 2u)\nvoid main() { data[0] = TWICE(n); data[1] = TWICE(data[0]); }",
    );
    assert_eq!(of_operator(&kernel, "MR"), ["MR * -> /"]);
    let mutant = kernel
        .mutants
        .iter()
        .find(|mutant| mutant.operators.contains(&MutationOperator::MathReplacement));
    let text = kernel.mutated_text(mutant.unwrap(), 0).unwrap();
    assert!(text.contains("#define TWICE(x) ((x) / 2u)"), "{text}");
}

#[test]
fn what_is_put_around_a_macro_is_put_around_its_use() {
    let kernel = mutated(
        "#define LIMIT 6u\nvoid main() { for (uint i = 0u; i < LIMIT; i++) data[i] = LIMIT; }",
    );
    let texts = |code: &str| -> Vec<String> {
        let made = kernel.mutants.iter().filter(|mutant| mutant.operators[0].code() == code);
        made.map(|mutant| kernel.mutated_text(mutant, 0).unwrap()).collect()
    };
    assert!(texts("LBO")[0].contains("i < ((LIMIT) + 1); i++) data[i] = LIMIT;"));
    assert!(texts("LIT").iter().any(|text| text.contains("#define LIMIT 7u\n")));
}

#[test]
fn operands_stay_what_they_are_where_another_operator_binds_otherwise() {
    let kernel = mutated(
        "void main() { if (n > 1u && n < 5u && data[n] > 2u || n == 7u) data[n] = n & 3u ^ 1u + n; }",
    );
    let body = |mutant: &SourceMutant| {
        let text = kernel.mutated_text(mutant, 0).unwrap();
        text[text.find("if (").unwrap()..].to_owned()
    };
    let made = |code: &str| -> Vec<String> {
        let made = kernel.mutants.iter();
        made.filter(|mutant| mutant.operators[0].code() == code).map(body).collect()
    };
    let logical = made("COR");
    assert!(logical.iter().any(|text| text.starts_with("if ((n > 1u || n < 5u) && data[n]")));
    assert!(logical.iter().any(|text| text.contains("&& data[n] > 2u && n == 7u)")));
    let math = made("MR");
    assert!(math.iter().any(|text| text.contains("= (n | 3u) ^ 1u + n;")), "{math:#?}");
    assert!(math.iter().any(|text| text.contains("= n & 3u & 1u + n;")), "{math:#?}");
}

#[test]
fn a_part_of_a_macro_is_left_out_and_told() {
    let kernel =
        mutated("#define SUM n + data[1]\nvoid main() { data[0] = SUM * 3u; data[SUM] = 1u; }");
    // `data[1] * 3u` is no text of the file.
    assert_eq!(of_operator(&kernel, "MR").len(), 2);
    let alone = mutated("#define A data[1]\nvoid main() { data[0] = A * 3u; }");
    assert_eq!(alone.notes, [""; 0]);
}

/// The literals of a mutant's module, as 32-bit constants.
fn has_constant(words: &[u32], value: u32) -> bool {
    const OP_CONSTANT: u32 = 43;
    words.windows(4).any(|window| window[0] == 4 << 16 | OP_CONSTANT && window[3] == value)
}

#[test]
fn a_fault_in_a_definition_of_the_project_is_compiled_with_it() {
    let text = format!("{HEAD}void main() {{ data[0] = STEP * OTHER; data[1] = ZERO + OTHER; }}");
    let definitions = [("OTHER", "n"), ("STEP", "(77u + n)"), ("ZERO", "0u")];
    let definitions = definitions.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let source = KernelSource {
        defines: BTreeMap::from(definitions),
        ..KernelSource::alone("k.comp", text, "vulkan1.2")
    };
    let kernel = mutate(&source, SelectionWanted::Left).unwrap();
    let literal = kernel.mutants.iter().find(|mutant| mutant.edits[0].text == "78u").unwrap();
    assert_ne!(literal.edits[0].span.file.0, 0);
    let words = compile_alone(&source, &kernel, literal).unwrap();
    assert!(has_constant(&words, 78) && !has_constant(&words, 77));
    let changed = mutated_definitions(&source.defines, &literal.edits, 1).unwrap();
    assert_eq!(changed["STEP"], "(78u + n)");
    assert_eq!((changed["OTHER"].as_str(), changed["ZERO"].as_str()), ("n", "0u"));
    // A name is no value.
    let name =
        SourceEdit { span: Span { start: 8, end: 9, ..literal.edits[0].span }, text: "X".into() };
    assert_eq!(mutated_definitions(&source.defines, &[name], 1), Err(NotCompiled::Elsewhere));
}

#[test]
fn text_that_does_not_compile_has_no_module_of_its_mutants() {
    let kernel = mutated("void main() { data[0] = unknown + 1u; }");
    assert!(!kernel.mutants.is_empty());
    assert!(kernel.selection.is_none());
}
