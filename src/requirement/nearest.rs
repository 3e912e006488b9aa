//! The nearest known name to an unknown one, for hints.

/// `did you mean ...?` where a name is near enough: at most a third of its characters differ (or
/// one, or the case), or another shading language has it for a known one.
pub fn did_you_mean<S: AsRef<str>>(name: &str, known_names: &[S]) -> Option<String> {
    likely_meant(name, known_names).map(|nearest_known| question(&nearest_known))
}

/// The words of a hint.
pub(crate) fn question(near: &str) -> String {
    format!("did you mean `{near}`?")
}

/// The name that such a hint asks about.
pub(crate) fn likely_meant<S: AsRef<str>>(name: &str, known_names: &[S]) -> Option<String> {
    let translated = glsl_type(name)
        .filter(|near| known_names.iter().any(|known_name| known_name.as_ref() == near));
    let near = || nearest_name(name, known_names.iter().map(AsRef::as_ref)).map(str::to_owned);
    translated.or_else(near)
}

/// Scalar types as HLSL, Metal, OpenCL and Rust write them, with the scalar and the vector prefix
/// of GLSL.
const FOREIGN_TYPES: &[(&str, &str, &str)] = &[
    ("bool", "bool", "bvec"),
    ("char", "int8", "i8vec"),
    ("i8", "int8", "i8vec"),
    ("uchar", "uint8", "u8vec"),
    ("u8", "uint8", "u8vec"),
    ("byte", "uint8", "u8vec"),
    ("short", "int16", "i16vec"),
    ("i16", "int16", "i16vec"),
    ("ushort", "uint16", "u16vec"),
    ("u16", "uint16", "u16vec"),
    ("int", "int", "ivec"),
    ("i32", "int", "ivec"),
    ("uint", "uint", "uvec"),
    ("u32", "uint", "uvec"),
    ("long", "int64", "i64vec"),
    ("i64", "int64", "i64vec"),
    ("ulong", "uint64", "u64vec"),
    ("u64", "uint64", "u64vec"),
    ("half", "float16", "f16vec"),
    ("f16", "float16", "f16vec"),
    ("float", "float", "vec"),
    ("f32", "float", "vec"),
    ("double", "float64", "dvec"),
    ("f64", "float64", "dvec"),
];

/// `float4` as `vec4`, `half` as `float16`.
fn glsl_type(name: &str) -> Option<String> {
    FOREIGN_TYPES.iter().find_map(|(foreign, scalar, vector)| match name.strip_prefix(foreign)? {
        "" => Some((*scalar).to_owned()),
        components @ ("2" | "3" | "4") => Some(format!("{vector}{components}")),
        _ => None,
    })
}

/// The nearest of `known`; of several equally near ones the first.
pub(crate) fn nearest_name<'a>(
    name: &str,
    known_names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let distance_limit = (name.chars().count() / 3).max(1);
    known_names
        .into_iter()
        .map(|candidate| {
            (edit_distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate)
        })
        // A name that shares no letter is no slip.
        .filter(|(edits, _)| *edits <= distance_limit && *edits < name.chars().count())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Number of insertions, deletions, replacements and swaps of neighbours between two words.
fn edit_distance(left_characters: &str, right_characters: &str) -> usize {
    let left_characters: Vec<char> = left_characters.chars().collect();
    let right_characters: Vec<char> = right_characters.chars().collect();
    let mut distance_rows = vec![vec![0; right_characters.len() + 1]; left_characters.len() + 1];
    for i in 0..=left_characters.len() {
        for j in 0..=right_characters.len() {
            distance_rows[i][j] = if i == 0 || j == 0 {
                i.max(j)
            } else {
                let replacement_cost = distance_rows[i - 1][j - 1]
                    + usize::from(left_characters[i - 1] != right_characters[j - 1]);
                let is_swap = i > 1
                    && j > 1
                    && left_characters[i - 1] == right_characters[j - 2]
                    && left_characters[i - 2] == right_characters[j - 1];
                let swap_cost = if is_swap { distance_rows[i - 2][j - 2] + 1 } else { usize::MAX };
                replacement_cost
                    .min(distance_rows[i - 1][j] + 1)
                    .min(distance_rows[i][j - 1] + 1)
                    .min(swap_cost)
            };
        }
    }
    distance_rows[left_characters.len()][right_characters.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn types_of_other_shading_languages_lead_to_those_of_glsl() {
        let known = vkcert_model::element::ElementType::all_names();
        let cases = [
            ("int2", "ivec2"),
            ("float4", "vec4"),
            ("uint3", "uvec3"),
            ("half", "float16"),
            ("u32", "uint"),
        ];
        for (foreign, near) in cases {
            assert_eq!(did_you_mean(foreign, &known), Some(format!("did you mean `{near}`?")));
        }
        assert_eq!(did_you_mean("int2", &["in2"]), Some("did you mean `in2`?".to_owned()));
        assert_eq!(did_you_mean("float5", &["count"]), None);
    }

    #[test]
    fn a_slip_of_one_key_finds_the_name_and_a_stranger_does_not() {
        let known = ["LLR-MM-001", "LLR-MM-002", "HLR-CV-001"];
        assert_eq!(nearest_name("LLR-MM-02", known), Some("LLR-MM-002"));
        assert_eq!(nearest_name("llr-mm-001", known), Some("LLR-MM-001"));
        assert_eq!(nearest_name("shader", known), None);
        assert_eq!(nearest_name("bufer", ["buffer", "bytes"]), Some("buffer"));
        assert_eq!(nearest_name("idmo", ["idiom", "spec"]), None);
        assert_eq!(nearest_name("E", ["A", "B"]), None);
        assert_eq!(nearest_name("b", ["A", "B"]), Some("B"));
    }

    /// All words of at most three letters over an alphabet of three.
    fn short_words() -> Vec<String> {
        let mut words = vec![String::new()];
        let mut longest = words.clone();
        for _ in 0..3 {
            longest = longest
                .iter()
                .flat_map(|word| ["a", "b", "c"].map(|letter| format!("{word}{letter}")))
                .collect();
            words.extend(longest.iter().cloned());
        }
        words
    }

    /// Everything that one insertion, deletion, replacement or swap of neighbours makes of a word.
    fn edited_once(word: &str) -> BTreeSet<String> {
        let mut made = BTreeSet::new();
        for place in 0..=word.len() {
            for letter in ["a", "b", "c"] {
                made.insert(format!("{}{letter}{}", &word[..place], &word[place..]));
                if place < word.len() {
                    made.insert(format!("{}{letter}{}", &word[..place], &word[place + 1..]));
                }
            }
            if place < word.len() {
                made.insert(format!("{}{}", &word[..place], &word[place + 1..]));
            }
            if place + 1 < word.len() {
                let (first, second) = (&word[place..=place], &word[place + 1..place + 2]);
                made.insert(format!("{}{second}{first}{}", &word[..place], &word[place + 2..]));
            }
        }
        made
    }

    #[test]
    fn a_distance_is_the_least_number_of_edits() {
        let words = short_words();
        for word in &words {
            let near = edited_once(word);
            for other in &words {
                let distance = edit_distance(word, other);
                assert_eq!(distance == 0, word == other, "{word} {other}");
                assert_eq!(distance == 1, word != other && near.contains(other), "{word} {other}");
                assert_eq!(distance, edit_distance(other, word), "{word} {other}");
            }
        }
        for (left, right, distance) in [
            ("kitten", "sitting", 3),
            ("", "abcd", 4),
            ("abcd", "badc", 2),
            ("abcdef", "ghijkl", 6),
            ("abcdef", "bcdefa", 2),
            ("été", "ete", 2),
            ("ca", "abc", 3),
        ] {
            assert_eq!(edit_distance(left, right), distance, "{left} {right}");
        }
    }

    /// At most a third of the characters differ, or one.
    #[test]
    fn a_name_is_near_within_a_third_of_its_characters() {
        for (name, known, is_near) in [
            ("ab", "ac", true),
            ("ab", "cd", false),
            ("abcde", "abcxe", true),
            ("abcde", "abxye", false),
            ("abcdef", "abxyef", true),
            ("abcdef", "axyzef", false),
            ("abcdefghi", "abcxyzghi", true),
            ("x", "y", false),
            ("x", "xy", false),
            ("ABCdef", "abcDEF", true),
        ] {
            assert_eq!(nearest_name(name, [known]), is_near.then_some(known), "{name} {known}");
        }
        assert_eq!(nearest_name("abcdef", ["abcxyf", "abcdxf", "abcdey"]), Some("abcdxf"));
    }

    #[test]
    fn every_foreign_type_has_its_name_in_glsl() {
        let known = vkcert_model::element::ElementType::all_names();
        for (foreign, scalar, vector) in FOREIGN_TYPES {
            assert_eq!(glsl_type(foreign).as_deref(), Some(*scalar));
            for count in 2..=4 {
                let name = format!("{foreign}{count}");
                assert_eq!(glsl_type(&name), Some(format!("{vector}{count}")));
            }
            assert_eq!([1, 5].map(|count| glsl_type(&format!("{foreign}{count}"))), [None, None]);
            assert!(known.iter().any(|name| name == scalar), "{scalar}");
        }
        assert_eq!(likely_meant("half4", &["f16vec4"]).as_deref(), Some("f16vec4"));
        assert_eq!(likely_meant("half4", &["count"]), None);
    }
}
