//! Literals with the suffixes of the program's own number types.

/// A float with the suffix of its type in the program; none where nobody knows which number is
/// meant.
pub(super) fn float_literal(literal_text: &str) -> Option<String> {
    let strip_suffix =
        |suffixes: [&str; 2]| suffixes.iter().find_map(|suffix| literal_text.strip_suffix(suffix));
    if let Some(literal_digits) = strip_suffix(["lf", "LF"]) {
        return literal_digits
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
            .map(|_| format!("{literal_digits}_lf"));
    }
    if let Some(literal_digits) = strip_suffix(["hf", "HF"]) {
        return literal_digits
            .parse::<f64>()
            .ok()
            .filter(|number| *number < 65520.0)
            .map(|_| format!("{literal_digits}_hf"));
    }
    let literal_digits = literal_text.trim_end_matches(['f', 'F']);
    // The compiler reads a number of 64 bits and rounds it, which must make no difference.
    let (double, single): (f64, f32) = (literal_digits.parse().ok()?, literal_digits.parse().ok()?);
    let is_clear = (double as f32).to_bits() == single.to_bits() && single.is_finite();
    is_clear.then(|| format!("{literal_digits}_f"))
}

/// An integer with the suffix of its type in the program; none where it does not fit.
pub(super) fn integer_literal(literal_text: &str, is_hexadecimal: bool) -> Option<String> {
    let literal_digits = literal_text.trim_end_matches(['u', 'U', 'l', 'L', 's', 'S']);
    let (suffix, greatest) =
        match literal_text[literal_digits.len()..].to_ascii_lowercase().as_str() {
            "" => ("i", u64::from(u32::MAX)),
            "u" => ("u", u64::from(u32::MAX)),
            "s" => ("s", u64::from(u16::MAX)),
            "us" => ("us", u64::from(u16::MAX)),
            "l" => ("l", u64::MAX),
            "ul" => ("ul", u64::MAX),
            _ => return None,
        };
    let value = match literal_digits {
        _ if is_hexadecimal => u64::from_str_radix(&literal_digits[2..], 16),
        _ if literal_digits.starts_with('0') => u64::from_str_radix(literal_digits, 8),
        _ => literal_digits.parse(),
    };
    value.ok().filter(|value| *value <= greatest).map(|_| format!("{literal_digits}_{suffix}"))
}
