//! Literals with the suffixes of the program's own number types.

/// A float with the suffix of its type in the program; none where nobody knows which number is
/// meant.
pub(super) fn float_literal(text: &str) -> Option<String> {
    let suffixed =
        |suffixes: [&str; 2]| suffixes.iter().find_map(|suffix| text.strip_suffix(suffix));
    if let Some(digits) = suffixed(["lf", "LF"]) {
        return digits
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
            .map(|_| format!("{digits}_lf"));
    }
    if let Some(digits) = suffixed(["hf", "HF"]) {
        return digits
            .parse::<f64>()
            .ok()
            .filter(|number| *number < 65520.0)
            .map(|_| format!("{digits}_hf"));
    }
    let digits = text.trim_end_matches(['f', 'F']);
    // The compiler reads a number of 64 bits and rounds it, which must make no difference.
    let (double, single): (f64, f32) = (digits.parse().ok()?, digits.parse().ok()?);
    let is_clear = (double as f32).to_bits() == single.to_bits() && single.is_finite();
    is_clear.then(|| format!("{digits}_f"))
}

/// An integer with the suffix of its type in the program; none where it does not fit.
pub(super) fn integer_literal(text: &str, hexadecimal: bool) -> Option<String> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L', 's', 'S']);
    let (suffix, greatest) = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => ("i", u64::from(u32::MAX)),
        "u" => ("u", u64::from(u32::MAX)),
        "s" => ("s", u64::from(u16::MAX)),
        "us" => ("us", u64::from(u16::MAX)),
        "l" => ("l", u64::MAX),
        "ul" => ("ul", u64::MAX),
        _ => return None,
    };
    let value = match digits {
        _ if hexadecimal => u64::from_str_radix(&digits[2..], 16),
        _ if digits.starts_with('0') => u64::from_str_radix(digits, 8),
        _ => digits.parse(),
    };
    value.ok().filter(|value| *value <= greatest).map(|_| format!("{digits}_{suffix}"))
}
