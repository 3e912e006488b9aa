//! The front end against text that nobody would write: it must neither panic nor take more than
//! linear time, and what it cannot read must be said. Most tests read text without the compiler
//! (`glsl::outline_of_text`), so they are fast; `fuzz/` holds the coverage-guided target on the
//! same entry.

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use vkcert::glsl::{KernelSource, compile, outline_of_text};
use vkcert::model::structure::{Accuracy, Recording};

const HEAD: &str = "#version 450\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer Data { int v[]; };\n";

fn source(text: &str) -> KernelSource {
    KernelSource::alone("text.comp", text, "vulkan1.3")
}

/// Every shader of the repository.
fn shaders() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders =
        ["tests/filetests/glsl", "tests/filetests/run", "tests/kernels", "tests/stress", "glsl"];
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(root.join(folder)).ok())
        .flat_map(|entries| entries.map(|entry| entry.expect("an entry").path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "comp"))
        .collect();
    paths.sort();
    assert!(paths.len() > 100, "only {} shaders", paths.len());
    paths.iter().map(|path| std::fs::read_to_string(path).expect("text")).collect()
}

/// Pieces of text that a shader may hold, in any order.
const WORDS: [&str; 97] = [
    "#define A",
    "#define F(x, y) x y",
    "#define G(x) x##x",
    "A",
    "F(",
    "G(a)",
    "#if",
    "#ifdef A",
    "#elif 1",
    "#else",
    "#endif",
    "#include <x>",
    "#include \"y\"",
    "#line 3",
    "#line 4 \"z\"",
    "#pragma a",
    "#extension E : enable",
    "#undef A",
    "#version 450",
    "#error",
    "##",
    "#",
    "\\\n",
    "\n",
    "\r\n",
    "\r",
    "/*",
    "*/",
    "//",
    "\"",
    "'",
    "`",
    "\u{feff}",
    "é",
    "漢",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "]]",
    ";",
    ",",
    ".",
    ":",
    "::",
    "?",
    "=",
    "==",
    "!=",
    "<",
    ">",
    "<=",
    ">>=",
    "&&",
    "||",
    "^^",
    "!",
    "~",
    "-",
    "++",
    "--",
    "+=",
    "if",
    "else",
    "while",
    "do",
    "for",
    "switch",
    "case",
    "default",
    "return",
    "break",
    "continue",
    "discard",
    "const",
    "layout",
    "struct",
    "buffer",
    "bool",
    "void",
    "int",
    "coopmat<",
    "spirv_type(",
    "spirv_decorate(",
    "nonuniformEXT",
    "subroutine(",
    "precision",
    "true",
    "main",
    "x",
    "1.5e3f",
    "0x1fu",
    "defined",
    "__LINE__",
];

fn soup() -> impl Strategy<Value = String> {
    let word = (0..WORDS.len(), prop::bool::weighted(0.8));
    proptest::collection::vec(word, 0..200).prop_map(|words| {
        words
            .into_iter()
            .map(|(word, spaced)| format!("{}{}", WORDS[word], if spaced { " " } else { "" }))
            .collect()
    })
}

/// What must hold of any text's outline.
fn check(text: &str) -> Result<(), TestCaseError> {
    let Ok(outline) = outline_of_text(text) else { return Ok(()) };
    for (at, decision) in outline.decisions.iter().enumerate() {
        prop_assert_eq!(decision.id.0 as usize, at + 1);
        prop_assert!(!decision.conditions.is_empty());
        prop_assert!(decision.span.start <= decision.span.end);
        if decision.span.file.0 == 0 {
            prop_assert!(
                text.get(decision.span.start as usize..decision.span.end as usize).is_some()
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn token_soup_has_an_outline(text in soup()) {
        check(&text)?;
        check(&format!("{HEAD}void main() {{ {text} }}"))?;
    }

    #[test]
    fn any_characters_have_an_outline(text in any::<String>(), bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&text)?;
        check(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn mutated_shaders_have_an_outline(
        which in any::<prop::sample::Index>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0..40usize, 0..4u8, 0..WORDS.len()), 1..8),
    ) {
        static SHADERS: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
        let mut characters: Vec<char> = which.get(SHADERS.get_or_init(shaders)).chars().collect();
        for (place, length, kind, word) in edits {
            let start = place.index(characters.len() + 1);
            let end = (start + length).min(characters.len());
            match kind {
                0 => drop(characters.drain(start..end)),
                1 => {
                    let copied: Vec<char> = characters[start..end].to_vec();
                    characters.splice(start..start, copied);
                }
                2 => drop(characters.splice(start..end, WORDS[word].chars())),
                _ => characters[start..end].reverse(),
            }
        }
        check(&characters.into_iter().collect::<String>())?;
    }
}

/// Opening, repeated piece, innermost piece, repeated closing, and end of a nest.
const NESTS: [(&str, &str, &str, &str, &str); 34] = [
    ("void main() { x = ", "(", "1", ")", "; }"),
    ("void main() { ", "{", ";", "}", " }"),
    ("void main() { x = a", "[a", "", "]", "; }"),
    ("void main() { ", "if (a) ", ";", "", " }"),
    ("void main() { ", "if (a) b(); else ", ";", "", " }"),
    ("void main() { ", "while (a) ", ";", "", " }"),
    ("void main() { ", "do ", ";", " while (a);", " }"),
    ("void main() { ", "for (;;) ", ";", "", " }"),
    ("void main() { ", "switch (a) { case 1: ", ";", "}", " }"),
    ("void main() { x = ", "a ? ", "1", " : 2", "; }"),
    ("void main() { x = ", "a ? 1 : ", "2", "", "; }"),
    ("void main() { b = ", "!", "a", "", "; }"),
    ("void main() { b = ", "- ", "a", "", "; }"),
    ("void main() { b = ", "f(a && ", "a", ")", "; }"),
    ("void main() { b = ", "a && ", "a", "", "; }"),
    ("void main() { b = ", "(a || b) && ", "a", "", "; }"),
    ("void main() { b = ", "a, ", "a", "", "; }"),
    ("void main() { b = ", "b = ", "a", "", "; }"),
    ("void main() { b = a", ".x", "", "", "; }"),
    ("void main() { b = a", "()", "", "", "; }"),
    ("void main() { b = a", "++", "", "", "; }"),
    ("const bool t[] = ", "{", "true", "}", ";"),
    ("", "struct S { ", "int a;", " } s;", ""),
    ("", "[[", "", "", ""),
    ("", "[[;", "", "", ""),
    ("", "coopmat<;", "", "", ""),
    ("", "spirv_decorate(;", "", "", ""),
    ("void main() { @ ", "if (", "", "", " }"),
    ("void main() { @ ", "x ) && ", "", "", " }"),
    ("void main() { @ ", "for (a;b;", "c", ")", " }"),
    ("", "#if 1\n", "int a;", "\n#endif", ""),
    ("#define F(x) x + x\nint a = ", "F(", "1", ")", ";"),
    ("#if ", "(", "1", ")", "\n#endif\n"),
    ("", "void f() { if (a && b) c(); } ", "", "", ""),
];

fn nested(shape: (&str, &str, &str, &str, &str), depth: usize) -> String {
    let (open, piece, inner, close, end) = shape;
    format!("{open}{}{inner}{}{end}", piece.repeat(depth), close.repeat(depth))
}

#[test]
fn deep_nests_are_read_or_refused() {
    for shape in NESTS {
        for depth in [1, 40, 1_400] {
            // `F(F(...))` doubles with every level; the limit of steps must stop it.
            let _ = outline_of_text(&nested(shape, depth));
        }
    }
}

fn seconds(text: &str) -> f64 {
    let start = Instant::now();
    let _ = outline_of_text(text);
    start.elapsed().as_secs_f64()
}

#[test]
#[ignore = "a benchmark: needs an idle machine"]
fn time_grows_with_the_text_and_no_faster() {
    for shape in NESTS.into_iter().filter(|shape| !shape.1.starts_with("F(")) {
        let (small, large) = (nested(shape, 4_000), nested(shape, 32_000));
        let (before, after) = (seconds(&small), seconds(&large));
        assert!(
            after < before * 8.0 * 3.0 + 0.3,
            "{:?}: {before} s, then {after} s for eight times the text",
            shape.1
        );
    }
}

#[test]
fn macro_bombs_are_refused_before_the_compiler_sees_them() {
    let mut bomb = HEAD.to_owned();
    bomb += "#define X0 v[0] +\n";
    for level in 1..60 {
        bomb += &format!("#define X{level} X{0} X{0}\n", level - 1);
    }
    let bomb = bomb + "void main() { v[1] = X59 1; }\n";
    let start = Instant::now();
    let errors = compile(&source(&bomb)).expect_err("it has 2^59 tokens");
    assert_eq!(errors[0].kind, "glsl-limit", "{errors:?}");
    assert!(errors[0].location.as_ref().expect("a place").span.is_some());
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
    let nested = format!(
        "{HEAD}#define F(x) x + x\nvoid main() {{ v[1] = {}1{}; }}\n",
        "F(".repeat(60),
        ")".repeat(60)
    );
    assert_eq!(compile(&source(&nested)).expect_err("it doubles 60 times")[0].kind, "glsl-limit");
}

#[test]
fn files_that_include_each_other_for_ever_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.glsl"), "#include \"b.glsl\"\n#include \"b.glsl\"\n")
        .expect("written");
    std::fs::write(folder.path().join("b.glsl"), "#include \"a.glsl\"\n").expect("written");
    let head = HEAD.replacen('\n', "\n#extension GL_GOOGLE_include_directive : require\n", 1);
    let mut kernel = source(&format!("{head}#include \"a.glsl\"\nvoid main() {{ }}\n"));
    kernel.folder = Some(folder.path().to_owned());
    let start = Instant::now();
    let errors = compile(&kernel).expect_err("no end");
    assert_eq!(errors[0].kind, "glsl-limit", "{errors:?}");
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// Compiles text that the compiler accepts, and gives the texts of its decisions.
fn decisions(text: &str) -> Vec<String> {
    let compiled = compile(&source(text)).unwrap_or_else(|errors| panic!("{text:?}: {errors:?}"));
    assert_eq!(compiled.structure.accuracy, Accuracy::Exact, "{text:?}: {:?}", compiled.notes);
    for decision in &compiled.structure.decisions {
        assert_eq!(decision.recording, Recording::Marked, "{text:?}");
    }
    compiled.structure.decisions.iter().map(|decision| decision.text.clone()).collect()
}

#[test]
fn line_ends_byte_order_marks_and_odd_blanks_change_nothing() {
    let text = format!(
        "{HEAD}#define BIG(x) ((x) > 3 && \\\n  (x) < 9)\n// comment that goes on \\\n if (v[9] > 9)\nvoid main() {{\n  if (v[0] > 1\n      || v[1] > 2) v[2] = 1; /* ü\n */\n  if (BIG(v[3])) v[4] = 1;\n}}"
    );
    let expected = ["v[0] > 1 || v[1] > 2", "(x) > 3 && (x) < 9"];
    assert_eq!(decisions(&text), expected);
    assert_eq!(decisions(&text.replace('\n', "\r\n")), expected, "CRLF");
    assert_eq!(decisions(&format!("{text}\n\n\n")), expected, "blank lines at the end");
    assert_eq!(decisions(&format!("{text} // no line end")), expected);
    assert_eq!(decisions(&format!("{text} // a comment that ends in a backslash \\")), expected);
    assert_eq!(decisions(&text.replace("  ", "\t \t")), expected, "tabs");
    assert_eq!(
        decisions(&text.replace("#define BIG", "  #  define  BIG")),
        expected,
        "blanks in directives"
    );
    assert_eq!(
        decisions(&text.replace("// comment", "//漢字 && é ? :")),
        expected,
        "characters beyond ASCII"
    );
}

/// Text forms that the compiler may refuse: then there is a diagnostic, else the accuracy is exact.
#[test]
fn forms_that_the_compiler_may_refuse_are_never_misread() {
    let body = "void main() { if (v[0] > 1) v[1] = 1; }";
    for (text, what) in [
        (format!("\u{feff}{HEAD}{body}\n"), "byte order mark"),
        (format!("{HEAD}\x0c{body}\n"), "form feed"),
        (format!("{HEAD}\x0b{body}\n"), "vertical tab"),
        (format!("{HEAD}{body}\\"), "backslash at the end"),
        (format!("{HEAD}{body}\\\n"), "continuation at the end"),
        (format!("{HEAD}{body} \u{a0}"), "no-break space"),
        (format!("{HEAD}{body} /* never closed"), "open comment"),
        (format!("{HEAD}#if 1\n{body}\n"), "open #if"),
        (format!("{HEAD}{body}\x1a"), "control character"),
        (format!("{HEAD}#define E(x\n{body}\n"), "broken macro"),
        (format!("{HEAD}{body}#\n"), "hash in a line"),
        (format!("{HEAD}#\n#  // nothing\n{body}\n"), "empty directives"),
        (format!("{HEAD}@ {body}\n"), "stray character"),
        (format!("/* first */ {HEAD}{body}\n"), "comment before #version"),
        (format!("\n\n{HEAD}{body}\n"), "blank lines before #version"),
    ] {
        match compile(&source(&text)) {
            Ok(compiled) => {
                assert_eq!(
                    compiled.structure.accuracy,
                    Accuracy::Exact,
                    "{what}: {:?}",
                    compiled.notes
                );
                assert_eq!(compiled.structure.decisions.len(), 1, "{what}");
                assert_eq!(compiled.structure.decisions[0].text, "v[0] > 1", "{what}");
            }
            Err(errors) => assert!(!errors.is_empty() && !errors[0].message.is_empty(), "{what}"),
        }
    }
}

#[test]
fn strings_and_pragmas_that_are_no_text_are_measured_with_a_note() {
    let text = HEAD.replacen(
        '\n',
        "\n#extension GL_EXT_debug_printf : enable\n#pragma odd && \"text\"\n",
        1,
    ) + "void main() { debugPrintfEXT(\"\\xff\"); if (v[0] > 1) v[1] = 1; }\n";
    let compiled = compile(&source(&text)).expect("it compiles");
    assert!(compiled.notes.iter().any(|note| note.contains("no text")), "{:?}", compiled.notes);
    assert_eq!(compiled.structure.decisions.len(), 1);
    assert_eq!(compiled.structure.decisions[0].recording, Recording::Marked);
    let broken = "#define WRONG(x) x ## \n".to_owned() + "#pragma odd && more\n";
    let text = HEAD.replacen('\n', &format!("\n{broken}"), 1)
        + "void main() { if (v[0] > 1) v[1] = 1; }\n";
    if let Ok(compiled) = compile(&source(&text)) {
        assert_eq!(compiled.structure.decisions.len(), 1, "{:?}", compiled.notes);
    }
}

/// Decisions in places that must be constant, which the text alone does not show, in a kernel of
/// 1,000 lines.
#[test]
fn a_few_forbidden_places_cost_a_few_compilations() {
    let mut text = HEAD.to_owned();
    text += "int helper(int x) { return x > 3 ? 1 : 2; }\nvoid main() {\n    int rows[4];\n";
    for line in 0..1_000 {
        text += &match line {
            100 | 500 | 900 => {
                format!(
                    "    const int n{line} = rows.length() > {line} ? 2 : 1; int cells{line}[n{line}];\n"
                )
            }
            _ => format!(
                "    if (v[{line}] > {line} && helper(v[{line}]) == 1) v[{}] = v[{line}] > 7 ? 1 : 2;\n",
                line + 1
            ),
        };
    }
    text += "}\n";
    let start = Instant::now();
    compile(&source(&text.replace("rows.length() >", "4 >"))).expect("it compiles");
    let plain = start.elapsed();
    let start = Instant::now();
    let compiled = compile(&source(&text)).expect("it compiles");
    let isolated = start.elapsed();
    let unmarked: Vec<_> = compiled
        .structure
        .decisions
        .iter()
        .filter(|decision| matches!(decision.recording, Recording::Unmarked { .. }))
        .map(|decision| decision.text.clone())
        .collect();
    assert_eq!(unmarked, ["rows.length() > 100", "rows.length() > 500", "rows.length() > 900"]);
    // One compilation per decision would take 2,000 times as long.
    assert!(
        isolated < plain * 100 + Duration::from_secs(10),
        "{plain:?} without, {isolated:?} with them"
    );
}
