//! Causes of findings by name, whatever words tell them.
//!
//! Promises: a cause that the table knows keeps its name when its sentence is worded anew, if the
//! new wording joins the old one in its row. A sentence that no row has is bound as it is: its
//! acceptance goes stale with its wording.
//! Does not cover: kinds whose details say all there is to say (races, schedules, coupling).

/// Why there is a finding, and the names in its sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FindingCause {
    pub name: String,
    /// Quoted names, in the order of the sentence.
    pub about: Vec<String>,
}

/// A name and every wording it has had, with `…` for values in a row, `_` for quoted names, and `*`
/// for any end.
struct KnownCause(&'static str, &'static [&'static str]);

const KNOWN_CAUSES: &[KnownCause] = &[
    KnownCause("uninitialised-use", &["an uninitialised value is used here"]),
    KnownCause(
        "uninitialised-atomic",
        &["an atomic operation reads an uninitialised element of _"],
    ),
    KnownCause(
        "uninitialised-texel-atomic",
        &["an atomic operation reads an uninitialised texel of _"],
    ),
    KnownCause("vector-index", &["the index lies outside the vector"]),
    KnownCause(
        "dimension-index",
        &[
            "index … is outside the … elements of _",
            "index … is outside the … elements of _ (index … of …",
        ],
    ),
    KnownCause("before-start", &["the access is … bytes before the start of _"]),
    KnownCause("behind-end", &["the access at byte … of _ ends behind the … bytes that are bound"]),
    KnownCause("no-buffer", &["the address … of _ is in no buffer"]),
    KnownCause("texel", &["texel … lies outside of _*", "texel … of level … lies outside of _*"]),
    KnownCause("texel-sample", &["sample … of texel … lies outside of _*"]),
    KnownCause(
        "conversion",
        &[
            "a float outside the range of uint is converted",
            "a float outside the range of int is converted",
            "a float outside the range of the integer is converted",
        ],
    ),
    KnownCause("square-root", &["square root of a negative number"]),
    KnownCause("inverse-square-root", &["inverse square root of a number that is not positive"]),
    KnownCause("logarithm", &["logarithm of a number that is not positive"]),
    KnownCause("arc-sine", &["arc sine of a number outside … to …"]),
    KnownCause("arc-cosine", &["arc cosine of a number outside … to …"]),
    KnownCause("inverse-hyperbolic-cosine", &["inverse hyperbolic cosine of a number below …"]),
    KnownCause(
        "inverse-hyperbolic-tangent",
        &["inverse hyperbolic tangent of a number outside … to …"],
    ),
    KnownCause("division-by-zero", &["division by zero"]),
    KnownCause("signed-division", &["division by zero, or of the most negative integer by …"]),
    KnownCause("signed-remainder", &["remainder by zero, or of a negative number"]),
    KnownCause("zero-remainder", &["remainder by zero, or of the most negative integer by …"]),
    KnownCause("negative-remainder", &["remainder of or by a negative number"]),
    KnownCause("float-remainder", &["remainder of a float by zero"]),
    KnownCause("shift", &["a shift by … or more", "a shift by the number's width or more"]),
    KnownCause(
        "power",
        &["pow of a negative base, or of zero to an exponent that is not positive"],
    ),
    KnownCause("arc-tangent", &["atan of zero by zero"]),
    KnownCause("extremum", &["minimum or maximum with a NaN"]),
    KnownCause("sign", &["sign of a NaN"]),
    KnownCause("split", &["frexp of an infinity or NaN"]),
    KnownCause("packed", &["a NaN is packed as a normalised integer"]),
    KnownCause(
        "scaled",
        &["ldexp by more than the type's largest exponent, or with a result that is too large"],
    ),
    KnownCause("clamp-nan", &["clamp with a NaN, or whose lower limit is above the upper"]),
    KnownCause(
        "smoothstep-nan",
        &["smoothstep with a NaN, or whose lower edge is not below the upper"],
    ),
    KnownCause("clamp", &["clamp whose lower limit is above the upper"]),
    KnownCause("smoothstep", &["smoothstep whose lower edge is not below the upper"]),
    KnownCause(
        "bit-field",
        &["a bit field that reaches beyond … bits", "a bit field that reaches beyond the number"],
    ),
    KnownCause(
        "dot-accumulation",
        &["a product or sum of a dot product with an accumulator does not fit the result"],
    ),
    KnownCause(
        "matrix-accumulation",
        &["a product or sum of matrices whose accumulation saturates does not fit the result"],
    ),
    KnownCause(
        "matrix-convergence",
        &["a cooperative matrix is used where not all invocations of the subgroup are active"],
    ),
    KnownCause(
        "subgroup-source",
        &[
            "a value of an invocation that is not active or not in the subgroup; the result is undefined",
        ],
    ),
    KnownCause(
        "subgroup-index",
        &["the index differs between the invocations of a subgroup; the result is undefined"],
    ),
    KnownCause(
        "quad-index",
        &[
            "the index differs between the invocations of a subgroup or quad; the result is undefined",
        ],
    ),
    KnownCause(
        "partition",
        &[
            "the ballots of the active invocations are no partition of them; the result is undefined",
        ],
    ),
    KnownCause("unbound", &["element … of _ is used, and nothing is bound to it"]),
    KnownCause(
        "subgroup-ballot",
        &["the ballot differs between the invocations of a subgroup; the result is undefined"],
    ),
    KnownCause(
        "subgroup-bit",
        &["the index of a bit is not below the subgroup size; the result is undefined"],
    ),
    KnownCause("subgroup-no-bit", &["no bit of the ballot is set; the result is undefined"]),
    KnownCause(
        "subgroup-cluster",
        &["the cluster is larger than the subgroup; the result is undefined"],
    ),
    KnownCause(
        "assumption",
        &["what the kernel assumes (OpAssumeTrueKHR) is false, so that its behaviour is undefined"],
    ),
    KnownCause(
        "restrict",
        &["the `restrict` variable _ and _ access the same bytes, and one of them stores"],
    ),
    KnownCause(
        "pointer-difference",
        &["the difference of pointers that are not in the same array is undefined (OpPtrDiff)"],
    ),
    KnownCause("unreachable", &["execution reached OpUnreachable; the invocation ends here"]),
    KnownCause("sample-coordinates", &["the coordinates of a sample are no numbers (_)"]),
    KnownCause("border", &["the border of _ is seen, whose colour is not for*"]),
    KnownCause("texel-nan", &["a NaN is written to _, whose format*"]),
    KnownCause("texel-integer", &["an integer that does not fit in a texel of format*"]),
    KnownCause("level-size", &["the size of level … of _ is asked for, which has … levels"]),
    KnownCause("untraced-branch", &["a conditional branch does not come from any marked decision"]),
    KnownCause("untraced-select", &["a select does not come from any marked decision"]),
    KnownCause("unmarked-switch", &["a switch has … targets without a marked label"]),
];

/// The cause that a sentence tells of.
pub(super) fn cause_of(message: &str) -> FindingCause {
    let plain_message = without_values(message);
    let message_parts: Vec<&str> = plain_message.split('`').collect();
    let quoted_names =
        message_parts.iter().skip(1).step_by(2).map(|name| (*name).to_owned()).collect();
    let shape_part = |(part_index, part): (usize, &&str)| {
        if part_index % 2 == 0 { (*part).to_owned() } else { "_".to_owned() }
    };
    let message_shape: String = message_parts.iter().enumerate().map(shape_part).collect();
    let message_shape = without_rows(&message_shape);
    let fits_wording = |wording: &&str| match wording.strip_suffix('*') {
        Some(start) => message_shape.starts_with(start),
        None => message_shape == **wording,
    };
    let known_cause =
        KNOWN_CAUSES.iter().find(|KnownCause(_, wordings)| wordings.iter().any(&fits_wording));
    let name = known_cause.map_or(message_shape, |KnownCause(name, _)| (*name).to_owned());
    FindingCause { name, about: quoted_names }
}

/// One `…` for several in a row.
fn without_rows(shape: &str) -> String {
    let mut words: Vec<&str> = shape.split(' ').collect();
    words.dedup_by(|next_word, previous_word| *next_word == "…" && *previous_word == "…");
    words.join(" ")
}

/// A sentence with `…` for each number outside of quoted names.
pub(super) fn without_values(message: &str) -> String {
    let parts = message.split('`').enumerate();
    let parts =
        parts.map(
            |(part_index, part)| {
                if part_index % 2 == 0 { without_numbers(part) } else { part.to_owned() }
            },
        );
    parts.collect::<Vec<_>>().join("`")
}

fn without_numbers(text: &str) -> String {
    let words = text.split(' ').map(|word| if starts_number(word) { "…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn starts_number(word: &str) -> bool {
    word.trim_start_matches(['-', '(', '[']).starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_has_a_name_and_what_it_is_about() {
        let range =
            cause_of("the access at byte 16 of `In` ends behind the 12 bytes that are bound");
        assert_eq!((range.name.as_str(), range.about), ("behind-end", vec!["In".to_owned()]));
        let index = cause_of("index 9 is outside the 4 elements of `rows` (index 1 of 2)");
        assert_eq!(
            (index.name.as_str(), index.about),
            ("dimension-index", vec!["rows".to_owned()])
        );
        assert_eq!(
            cause_of("division by zero, or of the most negative integer by -1").name,
            "signed-division"
        );
        assert_eq!(cause_of("arc sine of a number outside -1 to 1").name, "arc-sine");
        let texel =
            cause_of("texel (4, 0) of level 1 lies outside of `mips`, which has 2 x 2 texels");
        assert_eq!((texel.name.as_str(), texel.about), ("texel", vec!["mips".to_owned()]));
        let sample = cause_of(
            "sample 4 of texel (1, 0) lies outside of `img`, which has 2 x 2 texels of 4 samples of level 0",
        );
        assert_eq!((sample.name.as_str(), sample.about), ("texel-sample", vec!["img".to_owned()]));
        // What has no row is bound as it is told.
        assert_eq!(cause_of("`a` was cut at 7").name, "_ was cut at …");
    }

    #[test]
    fn no_wording_has_two_names() {
        let mut wordings: Vec<&str> = KNOWN_CAUSES
            .iter()
            .flat_map(|KnownCause(_, wordings)| wordings.iter().copied())
            .collect();
        let count = wordings.len();
        wordings.sort_unstable();
        wordings.dedup();
        assert_eq!(wordings.len(), count);
    }

    #[test]
    fn numbers_are_values_unless_they_are_quoted() {
        let told = without_values(
            "the size of level 7 of `mips 4` is asked for, which has 3 levels (-0.5, [1, 2])",
        );
        assert_eq!(told, "the size of level … of `mips 4` is asked for, which has … levels … … …");
    }
}
