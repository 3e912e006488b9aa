//! What of a header keeps the compiler from telling what it ignores.
//!
//! Knows: the forms by which a text switches warnings off: pragmas of diagnostics, as directives and
//! as operators, and line markers that call what follows a header of the system. Promises: comments
//! and strings count as text, so that something too much is told rather than something too little.

/// Words of attributes and pragmas of which the compiler says nothing, and that move members.
const SILENT_LAYOUT: [&str; 2] = ["randomize_layout", "scalar_storage_order"];

/// Why the warnings of a header's text do not count: line, counted from 1, and reason; none: they do.
pub(crate) fn silencing_reason(text: &str) -> Option<(u32, String)> {
    let mut whole_line = String::new();
    let mut first_number = 1;
    for (number, line) in (1..).zip(text.lines()) {
        if whole_line.is_empty() {
            first_number = number;
        }
        // A directive goes on behind a backslash at the end of its line.
        if let Some(begun) = line.trim_end().strip_suffix('\\') {
            whole_line.push_str(begun);
            whole_line.push(' ');
            continue;
        }
        whole_line.push_str(line);
        if let Some(reason) = reason_of_line(&whole_line) {
            return Some((first_number, reason));
        }
        whole_line.clear();
    }
    Some((first_number, reason_of_line(&whole_line)?))
}

fn reason_of_line(line: &str) -> Option<String> {
    if let Some(word) = SILENT_LAYOUT.into_iter().find(|word| line.contains(word)) {
        return Some(format!("`{word}` lays members out as this compiler does not"));
    }
    let directive = line.trim_start().strip_prefix(['#']).or_else(|| {
        let digraph = line.trim_start().strip_prefix("%:");
        digraph.or_else(|| line.trim_start().strip_prefix("??="))
    });
    let begins_with_digit = |directive: &str| {
        directive.trim_start().starts_with(|character: char| character.is_ascii_digit())
    };
    if directive.is_some_and(begins_with_digit) {
        return Some("a line marker can switch warnings off".to_owned());
    }
    let has_pragma = directive.is_some_and(|rest| rest.contains("pragma"))
        || line.contains("_Pragma")
        || line.contains("__pragma");
    let silences = line.contains("diagnostic") || line.contains("system_header");
    (has_pragma && silences).then(|| "a pragma can switch warnings off".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_switches_warnings_off_is_told_with_its_line() {
        let cases = [
            ("int a;\n#pragma GCC diagnostic ignored \"-Wattributes\"\n", 2),
            ("#  pragma clang diagnostic push", 1),
            ("%: pragma clang diagnostic ignored \"-Wunknown-pragmas\"", 1),
            ("#pragma \\\n GCC \\\n diagnostic ignored \"-Wattributes\"\n", 1),
            ("\n\n_Pragma(\"GCC diagnostic ignored \\\"-Wattributes\\\"\")", 3),
            ("#pragma GCC system_header", 1),
            ("struct P { int a; };\n# 1 \"x.h\" 1 3\n", 2),
            ("#define Q _Pragma(\"clang diagnostic ignored\") \\", 1),
            ("struct P { int a; } __attribute__((randomize_layout));", 1),
            ("#pragma scalar_storage_order big-endian", 1),
        ];
        for (text, line) in cases {
            assert_eq!(silencing_reason(text).map(|(line, _)| line), Some(line), "{text}");
        }
    }

    #[test]
    fn ordinary_headers_switch_nothing_off() {
        let text = "#pragma once\n#include <stdint.h>\n#define N 4\n#pragma pack(push, 1)\n\
                    struct P { uint32_t n; /* # 1 of them */ };\n#pragma pack(pop)\n#line 12 \"y.h\"\n#if N > 3\n#endif\n";
        assert_eq!(silencing_reason(text), None);
    }
}
