//! Lists of identifiers of obligations, drawn together.

/// `S1–S4, S7, D1.T/F–D9.T/F`: runs of consecutive numbers are drawn together, both outcomes of a
/// decision are one word.
pub(super) fn compact<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let mut words: Vec<String> = Vec::new();
    for id in ids {
        match (id.strip_suffix(".F"), words.last_mut()) {
            (Some(decision), Some(last)) if *last == format!("{decision}.T") => last.push_str("/F"),
            (_, _) => words.push(id.to_owned()),
        }
    }
    let mut runs: Vec<(String, String)> = Vec::new();
    for word in words {
        match runs.last_mut() {
            Some((_, end)) if follows(end, &word) => *end = word,
            _ => runs.push((word.clone(), word)),
        }
    }
    let run = |(start, end): &(String, String)| {
        if start == end { start.clone() } else { format!("{start}–{end}") }
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

/// Whether the last number in `next` is one more than that in `last`, and all else is equal.
fn follows(last: &str, next: &str) -> bool {
    let parts = |id: &str| {
        let end = id.rfind(|c: char| c.is_ascii_digit())? + 1;
        let start = id[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        Some((id[..start].to_owned(), id[start..end].parse::<u64>().ok()?, id[end..].to_owned()))
    };
    match (parts(last), parts(next)) {
        (Some((before, one, after)), Some((other, two, tail))) => {
            before == other && after == tail && one + 1 == two
        }
        (_, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn consecutive_identifiers_are_drawn_together() {
        let text = compact(
            ["S1", "S2", "S3", "S5", "D1.T", "D1.F", "D2.T", "D2.F", "D3.T", "F1.X1", "F1.X2"]
                .into_iter(),
        );
        assert_eq!(text, "S1–S3, S5, D1.T/F–D2.T/F, D3.T, F1.X1–F1.X2");
    }
}
