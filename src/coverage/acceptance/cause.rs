//! Causes of findings by name, whatever words tell them.
//!
//! Promises: a cause that the table knows keeps its name when its sentence is worded anew, if the
//! new wording joins the old one in its row. A sentence that no row has is bound as it is: its
//! acceptance goes stale with its wording.
//! Does not cover: kinds whose details say all there is to say (races, schedules, coupling).

/// Why there is a finding, and the names in its sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cause {
    pub name: String,
    /// Quoted names, in the order of the sentence.
    pub about: Vec<String>,
}

/// A name and every wording it has had, with `…` for values in a row, `_` for quoted names, and `*`
/// for any end.
struct Known(&'static str, &'static [&'static str]);

const KNOWN: &[Known] = &[
    Known("uninitialised-use", &["an uninitialised value is used here"]),
    Known("uninitialised-atomic", &["an atomic operation reads an uninitialised element of _"]),
    Known("uninitialised-texel-atomic", &["an atomic operation reads an uninitialised texel of _"]),
    Known("vector-index", &["the index lies outside the vector"]),
    Known(
        "dimension-index",
        &[
            "index … is outside the … elements of _",
            "index … is outside the … elements of _ (index … of …",
        ],
    ),
    Known("before-start", &["the access is … bytes before the start of _"]),
    Known("behind-end", &["the access at byte … of _ ends behind the … bytes that are bound"]),
    Known("no-buffer", &["the address … of _ is in no buffer"]),
    Known("texel", &["texel … lies outside of _*", "texel … of level … lies outside of _*"]),
    Known("texel-sample", &["sample … of texel … lies outside of _*"]),
    Known(
        "conversion",
        &[
            "a float outside the range of uint is converted",
            "a float outside the range of int is converted",
            "a float outside the range of the integer is converted",
        ],
    ),
    Known("square-root", &["square root of a negative number"]),
    Known("inverse-square-root", &["inverse square root of a number that is not positive"]),
    Known("logarithm", &["logarithm of a number that is not positive"]),
    Known("arc-sine", &["arc sine of a number outside … to …"]),
    Known("arc-cosine", &["arc cosine of a number outside … to …"]),
    Known("inverse-hyperbolic-cosine", &["inverse hyperbolic cosine of a number below …"]),
    Known("inverse-hyperbolic-tangent", &["inverse hyperbolic tangent of a number outside … to …"]),
    Known("division-by-zero", &["division by zero"]),
    Known("signed-division", &["division by zero, or of the most negative integer by …"]),
    Known("signed-remainder", &["remainder by zero, or of a negative number"]),
    Known("zero-remainder", &["remainder by zero, or of the most negative integer by …"]),
    Known("negative-remainder", &["remainder of or by a negative number"]),
    Known("float-remainder", &["remainder of a float by zero"]),
    Known("shift", &["a shift by … or more", "a shift by the number's width or more"]),
    Known("power", &["pow of a negative base, or of zero to an exponent that is not positive"]),
    Known("arc-tangent", &["atan of zero by zero"]),
    Known("extremum", &["minimum or maximum with a NaN"]),
    Known("sign", &["sign of a NaN"]),
    Known("split", &["frexp of an infinity or NaN"]),
    Known("packed", &["a NaN is packed as a normalised integer"]),
    Known(
        "scaled",
        &["ldexp by more than the type's largest exponent, or with a result that is too large"],
    ),
    Known("clamp-nan", &["clamp with a NaN, or whose lower limit is above the upper"]),
    Known("smoothstep-nan", &["smoothstep with a NaN, or whose lower edge is not below the upper"]),
    Known("clamp", &["clamp whose lower limit is above the upper"]),
    Known("smoothstep", &["smoothstep whose lower edge is not below the upper"]),
    Known(
        "bit-field",
        &["a bit field that reaches beyond … bits", "a bit field that reaches beyond the number"],
    ),
    Known(
        "dot-accumulation",
        &["a product or sum of a dot product with an accumulator does not fit the result"],
    ),
    Known(
        "matrix-accumulation",
        &["a product or sum of matrices whose accumulation saturates does not fit the result"],
    ),
    Known(
        "matrix-convergence",
        &["a cooperative matrix is used where not all invocations of the subgroup are active"],
    ),
    Known(
        "subgroup-source",
        &[
            "a value of an invocation that is not active or not in the subgroup; the result is undefined",
        ],
    ),
    Known(
        "subgroup-index",
        &["the index differs between the invocations of a subgroup; the result is undefined"],
    ),
    Known(
        "quad-index",
        &[
            "the index differs between the invocations of a subgroup or quad; the result is undefined",
        ],
    ),
    Known(
        "partition",
        &[
            "the ballots of the active invocations are no partition of them; the result is undefined",
        ],
    ),
    Known("unbound", &["element … of _ is used, and nothing is bound to it"]),
    Known(
        "subgroup-ballot",
        &["the ballot differs between the invocations of a subgroup; the result is undefined"],
    ),
    Known(
        "subgroup-bit",
        &["the index of a bit is not below the subgroup size; the result is undefined"],
    ),
    Known("subgroup-no-bit", &["no bit of the ballot is set; the result is undefined"]),
    Known(
        "subgroup-cluster",
        &["the cluster is larger than the subgroup; the result is undefined"],
    ),
    Known(
        "assumption",
        &["what the kernel assumes (OpAssumeTrueKHR) is false, so that its behaviour is undefined"],
    ),
    Known(
        "restrict",
        &["the `restrict` variable _ and _ access the same bytes, and one of them stores"],
    ),
    Known(
        "pointer-difference",
        &["the difference of pointers that are not in the same array is undefined (OpPtrDiff)"],
    ),
    Known("unreachable", &["execution reached OpUnreachable; the invocation ends here"]),
    Known("sample-coordinates", &["the coordinates of a sample are no numbers (_)"]),
    Known("border", &["the border of _ is seen, whose colour is not for*"]),
    Known("texel-nan", &["a NaN is written to _, whose format*"]),
    Known("texel-integer", &["an integer that does not fit in a texel of format*"]),
    Known("level-size", &["the size of level … of _ is asked for, which has … levels"]),
    Known("untraced-branch", &["a conditional branch does not come from any marked decision"]),
    Known("untraced-select", &["a select does not come from any marked decision"]),
    Known("unmarked-switch", &["a switch has … targets without a marked label"]),
];

/// The cause that a sentence tells of.
pub(super) fn cause(message: &str) -> Cause {
    let plain = without_values(message);
    let parts: Vec<&str> = plain.split('`').collect();
    let about = parts.iter().skip(1).step_by(2).map(|name| (*name).to_owned()).collect();
    let quoted = |(index, part): (usize, &&str)| {
        if index % 2 == 0 { (*part).to_owned() } else { "_".to_owned() }
    };
    let shape: String = parts.iter().enumerate().map(quoted).collect();
    let shape = without_rows(&shape);
    let fits = |wording: &&str| match wording.strip_suffix('*') {
        Some(start) => shape.starts_with(start),
        None => shape == **wording,
    };
    let known = KNOWN.iter().find(|Known(_, wordings)| wordings.iter().any(&fits));
    let name = known.map_or(shape, |Known(name, _)| (*name).to_owned());
    Cause { name, about }
}

/// One `…` for several in a row.
fn without_rows(shape: &str) -> String {
    let mut words: Vec<&str> = shape.split(' ').collect();
    words.dedup_by(|next, before| *next == "…" && *before == "…");
    words.join(" ")
}

/// A sentence with `…` for each number outside of quoted names.
pub(super) fn without_values(message: &str) -> String {
    let number = |word: &str| {
        word.trim_start_matches(['-', '(', '[']).starts_with(|first: char| first.is_ascii_digit())
    };
    let plain = |text: &str| {
        let words = text.split(' ').map(|word| if number(word) { "…" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    let parts = message.split('`').enumerate();
    let parts =
        parts.map(|(index, part)| if index % 2 == 0 { plain(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_has_a_name_and_what_it_is_about() {
        let range = cause("the access at byte 16 of `In` ends behind the 12 bytes that are bound");
        assert_eq!((range.name.as_str(), range.about), ("behind-end", vec!["In".to_owned()]));
        let index = cause("index 9 is outside the 4 elements of `rows` (index 1 of 2)");
        assert_eq!(
            (index.name.as_str(), index.about),
            ("dimension-index", vec!["rows".to_owned()])
        );
        assert_eq!(
            cause("division by zero, or of the most negative integer by -1").name,
            "signed-division"
        );
        assert_eq!(cause("arc sine of a number outside -1 to 1").name, "arc-sine");
        let texel = cause("texel (4, 0) of level 1 lies outside of `mips`, which has 2 x 2 texels");
        assert_eq!((texel.name.as_str(), texel.about), ("texel", vec!["mips".to_owned()]));
        let sample = cause(
            "sample 4 of texel (1, 0) lies outside of `img`, which has 2 x 2 texels of 4 samples of level 0",
        );
        assert_eq!((sample.name.as_str(), sample.about), ("texel-sample", vec!["img".to_owned()]));
        // What has no row is bound as it is told.
        assert_eq!(cause("`a` was cut at 7").name, "_ was cut at …");
    }

    #[test]
    fn no_wording_has_two_names() {
        let mut wordings: Vec<&str> =
            KNOWN.iter().flat_map(|Known(_, wordings)| wordings.iter().copied()).collect();
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
