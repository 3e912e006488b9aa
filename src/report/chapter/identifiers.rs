//! Lists of identifiers of obligations, drawn together.

/// `S1–S4, S7, D1.T/F–D9.T/F`: runs of consecutive numbers are drawn together, both outcomes of a
/// decision are one word.
pub(super) fn compact_ids<'a>(obligation_ids: impl Iterator<Item = &'a str>) -> String {
    let mut outcome_words: Vec<String> = Vec::new();
    for id in obligation_ids {
        match (id.strip_suffix(".F"), outcome_words.last_mut()) {
            (Some(decision), Some(last)) if *last == format!("{decision}.T") => last.push_str("/F"),
            (_, _) => outcome_words.push(id.to_owned()),
        }
    }
    let mut id_runs: Vec<(String, String)> = Vec::new();
    for word in outcome_words {
        match id_runs.last_mut() {
            Some((_, last_id)) if is_next_number(last_id, &word) => *last_id = word,
            _ => id_runs.push((word.clone(), word)),
        }
    }
    let run_words = |(first_id, last_id): &(String, String)| {
        if first_id == last_id { first_id.clone() } else { format!("{first_id}–{last_id}") }
    };
    id_runs.iter().map(run_words).collect::<Vec<_>>().join(", ")
}

/// Whether the last number in `next` is one more than that in `last`, and all else is equal.
fn is_next_number(earlier_id: &str, later_id: &str) -> bool {
    let number_parts = |id: &str| {
        let digits_end = id.rfind(|character: char| character.is_ascii_digit())? + 1;
        let digits_start = id[..digits_end]
            .rfind(|character: char| !character.is_ascii_digit())
            .map_or(0, |digit_before| digit_before + 1);
        Some((
            id[..digits_start].to_owned(),
            id[digits_start..digits_end].parse::<u64>().ok()?,
            id[digits_end..].to_owned(),
        ))
    };
    match (number_parts(earlier_id), number_parts(later_id)) {
        (Some((before, one, after)), Some((other, two, tail))) => {
            before == other && after == tail && one + 1 == two
        }
        (_, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::compact_ids;

    #[test]
    fn consecutive_identifiers_are_drawn_together() {
        let text = compact_ids(
            ["S1", "S2", "S3", "S5", "D1.T", "D1.F", "D2.T", "D2.F", "D3.T", "F1.X1", "F1.X2"]
                .into_iter(),
        );
        assert_eq!(text, "S1–S3, S5, D1.T/F–D2.T/F, D3.T, F1.X1–F1.X2");
    }
}
