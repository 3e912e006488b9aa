//! Small forms of GLSL, hundreds of them side by side: conversions, constructors, operators and
//! functions of mixed types, what is written in parts, names that C++ keeps, literals.
//!
//! Promises: g++ (where it is there) and clang take the programs, and these leave the bytes of the
//! sequential engine. What of the forms GLSL itself refuses is left out, as the compiler says it.

use super::filetest;
use super::{clang, ran, small_job, translated};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert::dissimilar::clang::RunOutcome;
use vkcert::dissimilar::job;
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::{Executor, Unobserved};

/// Scalar types with the prefix of their vectors and the name of a variable that holds one.
const FAMILIES: [(&str, &str, &str); 5] = [
    ("bool", "b", "b"),
    ("int", "i", "i"),
    ("uint", "u", "u"),
    ("float", "", "f"),
    ("double", "d", "d"),
];
const NUMBERS: usize = 4;

fn type_name(family: usize, size: usize) -> String {
    let (scalar, prefix, _) = FAMILIES[family];
    if size == 1 { scalar.to_owned() } else { format!("{prefix}vec{size}") }
}

fn variable(family: usize, size: usize) -> String {
    let name = FAMILIES[family].2;
    if size == 1 { name.to_owned() } else { format!("{name}{size}") }
}

/// A line of the entry point that stores a value of the type.
fn put(family: usize, size: usize, value: &str) -> String {
    format!("put_{}({value});", type_name(family, size))
}

/// Functions that store values of every type, and variables of every type that no compiler knows.
fn head() -> String {
    let mut text = "#version 460\nlayout(local_size_x = 1) in;\n\
        layout(std430, binding = 0) buffer R { uint r[]; };\nuint next = 4u;\n\
        void put_uint(uint value) { r[next] = value; ++next; }\n\
        void put_bool(bool value) { put_uint(value ? 1u : 0u); }\n\
        void put_int(int value) { put_uint(uint(value)); }\n\
        void put_float(float value) { put_uint(floatBitsToUint(value)); }\n\
        void put_double(double value) { uvec2 both = unpackDouble2x32(value); put_uint(both.x); put_uint(both.y); }\n"
        .to_owned();
    for family in 0..FAMILIES.len() {
        for size in 2..=4 {
            let parts: String =
                (0..size).map(|at| put(family, 1, &format!("value[{at}]"))).collect();
            let name = type_name(family, size);
            text.push_str(&format!("void put_{name}({name} value) {{ {parts} }}\n"));
        }
    }
    text
}

/// Declares the variables; the first words of the buffer are 1 to 4.
fn inputs() -> String {
    let mut text = String::new();
    for (family, (scalar, ..)) in FAMILIES.iter().enumerate() {
        for size in 1..=4 {
            let parts: Vec<String> = (0..size)
                .map(|at| match *scalar {
                    "bool" => format!("r[{at}] != 2u"),
                    "float" | "double" => format!("{scalar}(r[{at}]) * 0.75"),
                    _ => format!("{scalar}(r[{at}] + {family}u)"),
                })
                .collect();
            let (name, value) = (type_name(family, size), parts.join(", "));
            text.push_str(&format!("    {name} {} = {name}({value});\n", variable(family, size)));
        }
    }
    text
}

/// Words of the buffer for what one line stores.
const SLOT: usize = 40;

fn kernel(declarations: &[String], lines: &[String]) -> String {
    let body: String = lines
        .iter()
        .enumerate()
        .map(|(at, line)| format!("    next = {}u;\n    {line}\n", 4 + at * SLOT))
        .collect();
    format!("{}{}\nvoid main() {{\n{}{body}}}\n", head(), declarations.join("\n"), inputs())
}

/// The lines that GLSL takes.
fn accepted(declarations: &[String], lines: Vec<String>) -> Vec<String> {
    let mut kept = lines;
    for _ in 0..200 {
        let text = kernel(declarations, &kept);
        let source = super::source(&text);
        let Err(errors) = vkcert::glsl::compile(&source) else { return kept };
        let first = text.lines().position(|line| line.trim() == kept[0]).unwrap();
        let starts = errors
            .iter()
            .filter_map(|error| error.location.as_ref()?.span.as_ref().map(|span| span.start));
        let lines = starts.map(|start| text[..start].matches('\n').count());
        let wrong: BTreeSet<usize> =
            lines.filter_map(|line| line.checked_sub(first)).map(|line| line / 2).collect();
        assert!(!wrong.is_empty(), "{errors:?}");
        let mut at = 0;
        kept.retain(|_| {
            at += 1;
            !wrong.contains(&(at - 1))
        });
    }
    panic!("the compiler still finds something");
}

/// So many of them, spread over all.
fn sample(lines: Vec<String>, most: usize) -> Vec<String> {
    const STRIDE: usize = 7919;
    let count = lines.len();
    let chosen: BTreeSet<usize> = (0..count.min(most)).map(|at| at * STRIDE % count).collect();
    chosen.into_iter().map(|at| lines[at].clone()).collect()
}

/// Both compilers take the program, and it leaves what the sequential engine leaves.
fn agree(what: &str, declarations: &[&str], lines: Vec<String>, least: usize) {
    let Some(tools) = clang() else { return };
    let declarations: Vec<String> = declarations.iter().map(|&text| text.to_owned()).collect();
    let lines = accepted(&declarations, lines);
    assert!(lines.len() >= least, "{what}: {} forms are left: {lines:#?}", lines.len());
    let text = kernel(&declarations, &lines);
    let mut job = small_job(&filetest::compile("forms", &text));
    let size = 4 * (4 + SLOT * lines.len());
    Arc::make_mut(&mut job.buffers[0].bytes).resize(size, 0);
    job.dispatches[0].bindings[0].range = size as u64;
    let ours = SequentialExecutor::default().run(&job, &mut Unobserved).unwrap();
    assert!(ours.findings.is_empty(), "{what}: {:#?}", ours.findings);
    let program = translated(&text, &BTreeMap::new()).unwrap_or_else(|refused| {
        let line =
            refused.rsplit(':').next().and_then(|line| line.parse::<usize>().ok()).unwrap_or(1);
        panic!("{what}: {refused}: {}", text.lines().nth(line - 1).unwrap_or_default())
    });
    gcc_takes(what, &program.text);
    match ran(&tools, &program.text, &job) {
        Ok(RunOutcome::Completed(bytes)) => {
            compare(&lines, &job::parse_outputs(&bytes, 1).unwrap()[0], &ours.buffers[0])
        }
        other => panic!("{what}: {other:?}"),
    }
}

fn compare(lines: &[String], theirs: &[u8], ours: &[u8]) {
    let words = |bytes: &[u8]| {
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    };
    let (theirs, ours): (Vec<u32>, Vec<u32>) = (words(theirs), words(ours));
    let unlike = (0..ours.len()).filter(|at| theirs[*at] != ours[*at]);
    let unlike: Vec<_> = unlike.map(|at| (&lines[(at - 4) / SLOT], theirs[at], ours[at])).collect();
    assert!(unlike.is_empty(), "{unlike:#?}");
}

fn gcc_takes(what: &str, program: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = super::write(folder.path(), "forms.cpp", program);
    let mut command = std::process::Command::new("g++");
    let Ok(output) =
        command.args(["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra"]).arg(&file).output()
    else {
        eprintln!("NOT RUN: g++");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.is_empty(),
        "{what}: {}",
        said.lines().take(30).collect::<Vec<_>>().join("\n")
    );
}

/// The sizes of the parts that a vector can be made of.
const PARTS: [&[usize]; 14] = [
    &[1, 1],
    &[2],
    &[3],
    &[4],
    &[1, 1, 1],
    &[1, 2],
    &[2, 1],
    &[2, 2],
    &[1, 3],
    &[3, 1],
    &[1, 1, 2],
    &[2, 1, 1],
    &[1, 2, 1],
    &[1, 1, 1, 1],
];

#[test]
fn constructors_of_every_type_from_every_type() {
    let mut lines = Vec::new();
    for to in 0..FAMILIES.len() {
        for from in 0..FAMILIES.len() {
            for size in 1..=4 {
                let value = variable(from, size);
                lines.push(put(to, 1, &format!("{}({value})", type_name(to, 1))));
                for made in 2..=4 {
                    lines.push(put(to, made, &format!("{}({value})", type_name(to, made))));
                }
            }
        }
        for (number, parts) in PARTS.iter().enumerate() {
            let given = parts
                .iter()
                .enumerate()
                .map(|(at, size)| variable((to + number + at) % FAMILIES.len(), *size));
            let given: Vec<String> = given.collect();
            for size in 2..=4 {
                lines.push(put(
                    to,
                    size,
                    &format!("{}({})", type_name(to, size), given.join(", ")),
                ));
            }
        }
    }
    for (value, size) in
        [("mat2(f)", 2), ("mat2(f2, i2)", 2), ("mat2(1, u, f, d)", 2), ("mat2(mat3(f))", 2)]
    {
        lines.push(put(3, size, &format!("({value})[1]")));
    }
    for value in ["mat3(mat2(f))", "mat3(f3, i, f2, u3)", "mat3(mat4x2(2.0))", "mat3(d)"] {
        lines.push(put(3, 3, &format!("({value})[2]")));
    }
    agree("constructors", &[], sample(lines, 200), 80);
}

#[test]
fn operators_of_mixed_types() {
    let mut lines = Vec::new();
    let shapes = [(1, 1), (3, 1), (1, 3), (3, 3)];
    for a in 1..=NUMBERS {
        for b in 1..=NUMBERS {
            for (left, right) in shapes {
                let (x, y, size) = (variable(a, left), variable(b, right), left.max(right));
                for operator in ["+", "-", "*", "/", "&", "|", "^", "%", "<<", ">>"] {
                    let common = if matches!(operator, "<<" | ">>") { a } else { a.max(b) };
                    lines.push(put(common, size, &format!("{x} {operator} {y}")));
                }
                for operator in ["<", ">=", "==", "!="] {
                    lines.push(put(0, 1, &format!("{x} {operator} {y}")));
                }
                for operator in ["+=", "-=", "*=", "/=", "<<=", ">>=", "%=", "|="] {
                    let whole = put(a, left, "made");
                    lines.push(format!(
                        "{{ {} made = {x}; made {operator} {y}; {whole} }}",
                        type_name(a, left)
                    ));
                }
                lines.push(put(a.max(b), size, &format!("b ? {x} : {y}")));
                lines.push(format!(
                    "{{ {} made = {y}; {} }}",
                    type_name(a, left),
                    put(a, left, "made")
                ));
            }
        }
    }
    agree("operators", &[], sample(lines, 240), 80);
}

#[test]
fn functions_of_mixed_types() {
    let mut lines = Vec::new();
    let one = [
        "abs",
        "sign",
        "floor",
        "ceil",
        "trunc",
        "fract",
        "sqrt",
        "roundEven",
        "degrees",
        "length",
        "bitCount",
        "findMSB",
    ];
    let two = [
        "min",
        "max",
        "mod",
        "step",
        "dot",
        "distance",
        "reflect",
        "lessThan",
        "equal",
        "greaterThanEqual",
        "ldexp",
    ];
    let three = ["clamp", "mix", "fma", "smoothstep", "faceforward"];
    let inexact = ["distance", "reflect", "length", "smoothstep", "sqrt", "degrees"];
    for a in 1..=NUMBERS {
        for size in [1, 3] {
            for name in one {
                for result in 0..=NUMBERS {
                    for made in BTreeSet::from([1, size]) {
                        lines.push(put(result, made, &format!("{name}({})", variable(a, size))));
                    }
                }
            }
        }
        for b in 1..=NUMBERS {
            for (left, right) in [(1, 1), (3, 1), (1, 3), (3, 3)] {
                let (x, y) = (variable(a, left), variable(b, right));
                for name in two {
                    for (result, made) in
                        [(0, 3), (a, 1), (a.max(b), left.max(right)), (3, 1), (3, 3)]
                    {
                        lines.push(put(result, made, &format!("{name}({x}, {y})")));
                    }
                }
                for name in three {
                    for c in [a, b, 3] {
                        for last in BTreeSet::from([1, left]) {
                            let (z, size) = (variable(c, last), left.max(right));
                            let result = a.max(b).max(c);
                            let z = if name == "clamp" { format!("({z} + {z} + {y})") } else { z };
                            let z = if name == "smoothstep" { format!("{z} * 0.5") } else { z };
                            lines.push(put(result, size, &format!("{name}({x}, {y}, {z})")));
                        }
                    }
                }
            }
        }
    }
    // Results of these are bounds; edges and limits of others are exchanged.
    let is_exact = |line: &String| !inexact.iter().any(|name| line.contains(&format!("{name}(")));
    lines.retain(|line| is_exact(line));
    lines.sort();
    lines.dedup();
    agree("functions", &[], sample(lines, 400), 50);
}

const DECLARATIONS: &[&str] = &[
    "struct Inner { vec3 v; int k[2]; };",
    "struct Outer { Inner inner[2]; mat2 m; bool flag; };",
    "const float TABLE[3] = float[](1., .5, 1e-2);",
    "const int GRID[2][3] = {{1, 2, 3}, {4, 5, 6}};",
    "const vec2 POINTS[] = {vec2(1), vec2(2, 3)};",
    "void raise(inout float x) { x += 1.0; }",
    "void swap(inout int x, inout int y) { int z = x; x = y; y = z; }",
    "void give(out int x) { x = 7; }",
    "void give_both(out vec2 x, inout uvec2 y) { x = vec2(y); y += 1u; }",
    "void fill(out float x[3]) { for (int i = 0; i < 3; ++i) x[i] = float(i) + .5; }",
    "float weight(float x) { return x; }",
    "float weight(vec2 x) { return x.x + 10.0; }",
    "float weight(vec3 x) { return x.y + 20.0; }",
    "float wide(double x) { return float(x) * 2.0; }",
    "vec3 grow(vec3 x) { return x * 2.0; }",
    "uint pick(uint x) { return x + 1u; }",
    "int early(int x) { for (int i = 0; i < 9; ++i) { if (i == x) return i * 10; } return -1; }",
];

const WRITTEN: &[&str] = &[
    "{ vec4 t = f4; t.xy += i2; put_vec4(t); t.zyx *= u3; put_vec4(t); t.wx = t.xw; put_vec4(t); ++t.yz; put_vec4(t); }",
    "{ vec4 t = f4; t[i] -= 1; t[u - 3u]++; --t.w; t.rg.y = 9.0; put_vec4(t); put_float(t.wzyx.y); put_vec3(t.bgr); }",
    "{ mat2 m = mat2(1.0); m[1] += f2; m[0][1] = i; m *= 2.0; m *= m; put_vec2(m[0]); put_vec2(m[1] * m); put_vec2(f2 * m); }",
    "{ Outer o; o.inner[1].v = f3; o.inner[1].k[0] = i; o.inner[1].v.xz *= 2; raise(o.inner[1].v.y); put_vec3(o.inner[1].v); }",
    "{ Inner p = Inner(vec3(1), int[2](i, 4)); Inner q = p; q.k[1]++; put_bool(p == q); put_bool(p != q); put_int(q.k[1]); }",
    "{ float t[3]; fill(t); raise(t[1]); put_float(t[0] + t[1] + t[2]); put_int(t.length()); }",
    "{ vec3 t = f3; raise(t.x); raise(t[1]); put_vec3(t); }",
    "{ int k[2] = {1, 2}; swap(k[0], k[1]); put_int(k[0] * 10 + k[1]); ivec2 w = i2; swap(w.x, w.y); put_ivec2(w); }",
    "{ float t = 0.0; give(t); put_float(t); double e; give(e); put_double(e); vec2 w; give(w.y); w.x = 1.; put_vec2(w); }",
    "{ vec4 t = f4; uvec3 w = u3; give_both(t.wy, w.zx); put_vec4(t); put_uvec3(w); }",
    "{ dvec2 t; uvec2 w = u2; give_both(t, w); put_dvec2(t); put_uvec2(w); }",
    "put_float(weight(f) + weight(i) + weight(f2) + weight(i2) + weight(u3));",
    "put_float(wide(f) + wide(i) + wide(u) + wide(d)); put_vec3(grow(i3)); put_vec3(grow(u3)); put_uint(pick(i));",
    "put_int(early(4)); put_int(early(i)); put_float(TABLE[i - 2] + TABLE[u - 2u]); put_int(GRID[1][i - 1]); put_vec2(POINTS[1]);",
    "{ int k = 0; do { ++k; if (k == 2) continue; if (k > 4) break; } while (k < 9); put_int(k); }",
    "for (int k = 0; k < 6; ++k) { switch (k) { case 0: put_int(0); case 1: put_int(1); break; case 2: case 3: put_int(3); default: put_int(9); } }",
    "switch (u) { case 3: put_int(1); break; case 3 + 2: put_int(2); } switch (i) { default: put_int(4); break; case -1: put_int(5); }",
    "put_vec3(b ? f3 : vec3(0)); put_ivec2(i > 2 ? i2 : ivec2(u)); put_float((b ? f3 : grow(f3)).y); put_vec2(b ? b ? f2 : f2.yx : f2.xx);",
    "{ int k = (i++, u--, i + 1); put_int(k); put_uint(u); i -= 1; ++u; } { int j = 1, k = j + 2, l[2] = int[2](j, k); put_int(l[1] - -j); }",
    "put_bool(b ^^ !b); put_bool(any(b3) && all(not(b2)) || !b); put_bool(b == true); put_int(- -i); put_int(+i - -(-i)); put_int(~i & ~-1);",
    "put_float(float(i).x + f.x); put_vec3(f.xxx + u.xxx); put_vec2((f * 2.0).xx); put_int((i + 1).x); put_float(f3.yy.x);",
    "{ float t = f; t.x += 2.0; put_float(t); const int N = 2; int w[N * 2 + 1]; w[N] = 4; put_int(w[2] + w.length()); }",
    "{ int x = i; { int x = x + 1; put_int(x); } put_int(x); } { float weight = weight(f); put_float(weight); }",
    "put_uvec2(uvec2(1, -1)); put_ivec3(ivec3(f3 * 2.0)); put_bvec3(bvec3(i3 - 3)); put_vec3(vec3(b3)); put_float(float(b)); put_int(int(b) + int(f));",
    "{ uint low, high; umulExtended(u, 4000000000u, high, low); put_uint(high); put_uint(low); put_uint(uaddCarry(u, ~0u, high)); put_uint(high); }",
    "{ float whole; put_float(modf(f * 3.5, whole)); put_float(whole); int e; put_float(frexp(f, e)); put_int(e); ivec3 e3; put_vec3(frexp(f3, e3)); }",
    "{ vec4 t = f4; int w = 0; t.x = modf(2.75, t.y); put_vec4(t); }",
];

#[test]
fn parts_are_written_and_functions_are_found() {
    agree(
        "parts",
        DECLARATIONS,
        WRITTEN.iter().map(|&line| line.to_owned()).collect(),
        WRITTEN.len() - 1,
    );
}

const LITERALS: &[(&str, &[&str])] = &[
    (
        "int",
        &[
            "0",
            "017",
            "00",
            "0x7fffffff",
            "0XfF",
            "-2147483648",
            "0x80000000",
            "2147483647",
            "-1",
            "07",
        ],
    ),
    ("uint", &["0u", "017u", "0x80000000u", "0XFFFFFFFFU", "4294967295u", "1U", "0u", "0777U"]),
    (
        "float",
        &[
            "1.",
            ".5",
            "1e5",
            "1E-3",
            "1.f",
            ".5F",
            "1e+10f",
            "0.",
            "-.5e-1",
            "3.40282347e38",
            "1e-45",
            "16777217.0",
            "010.5",
            "0e0",
        ],
    ),
    ("double", &["1.lf", ".5LF", "1e300lf", "4.9e-324lf", "0.1lf"]),
];

/// Names that are free in GLSL; C++, its library or the program may keep them.
const NAMES: &str = "and and_eq bitand bitor compl not_eq or or_eq xor xor_eq new delete try catch throw alignas alignof \
    assert NULL INT_MAX INT_MIN UINT_MAX FLT_MAX M_PI NAN INFINITY EOF BUFSIZ RAND_MAX errno stdin stdout HUGE_VAL CHAR_BIT \
    _Foo _x X_Y signed char wchar_t char16_t char8_t auto register mutable friend private protected explicit export virtual \
    operator typename typeid dynamic_cast static_cast const_cast reinterpret_cast nullptr noexcept constexpr decltype \
    thread_local static_assert concept requires co_await co_return co_yield consteval constinit std vkcert kernel main_ \
    linux unix i386 __x value values at first last self index size count data invocations local_x Vec Mat Array Int Uint \
    Float raw swizzle label half Half Range Job Member Elements Copied Copies gathered Slot Zero zero one all any_ part \
    Shape Element Common each component length_ begin end min_ string vector pair move swap forward log1p hypot y0 y1 j0 j1 \
    jn yn gamma signgam isnan_ div abs_ remainder random rand exit abort time clock signal select read write open close \
    link index_ printf puts getenv system free malloc environ daylight timezone EDOM ERANGE SIGINT stop load enter ends meet \
    dispatch workgroup Invocation Presence call_1 given_1 result_1 together_1 kept_1 own_x at_0 gap_0 private_x initial_x \
    VKCERT_X SIZE_X INVOCATIONS EMBEDDED_JOB WORD_BIT TRUE FALSE bool_ scalar Identity Exactly Real Integer Scan Copy \
    first_of copied copying subgroup_size bits_between has_bit joined cut real Limit Sum Least Slots taken reduced scanned";

#[test]
fn names_and_literals_mean_the_same() {
    let names: BTreeSet<&str> = NAMES.split_whitespace().collect();
    let mut lines: Vec<String> = LITERALS
        .iter()
        .flat_map(|(name, literals)| {
            literals.iter().map(move |literal| format!("put_{name}({literal});"))
        })
        .collect();
    for (number, name) in names.iter().enumerate() {
        lines.push(format!("{{ int {name} = i; {name} += {number}; put_int({name}); }}"));
        lines.push(format!("for (int {name} = 0; {name} < 1; ++{name}) put_int({name});"));
    }
    agree("names of variables", &[], lines, 200);
}

#[test]
fn names_of_functions_structures_and_members_mean_the_same() {
    let names: BTreeSet<&str> = NAMES.split_whitespace().collect();
    let candidates: Vec<(Vec<String>, String)> = names
        .iter()
        .map(|name| {
            let declarations = vec![
                format!("struct S{name}_ {{ int {name}; float other; }};"),
                format!("int {name}(int {name}) {{ return {name} + 1; }}"),
            ];
            (declarations, format!("{{ S{name}_ s = S{name}_(i, 2.0); s.{name}++; put_int(s.{name} + {name}(2)); }}"))
        })
        .collect();
    let takes = |(declarations, line): &(Vec<String>, String)| {
        let text = kernel(declarations, std::slice::from_ref(line));
        vkcert::glsl::compile(&super::source(&text)).is_ok()
    };
    let kept: Vec<_> = candidates.into_iter().filter(takes).collect();
    let declarations: Vec<&str> =
        kept.iter().flat_map(|(declarations, _)| declarations).map(String::as_str).collect();
    let lines = kept.iter().map(|(_, line)| line.clone()).collect();
    agree("names of functions", &declarations, lines, 100);
}
