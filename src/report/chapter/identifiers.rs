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
    let mut id_runs: Vec<IdentifierRun> = Vec::new();
    for word in outcome_words {
        match id_runs.last_mut() {
            Some(run) if is_next_number(run.last_id(), &word) => run.last = Some(word),
            _ => id_runs.push(IdentifierRun { first: word, last: None }),
        }
    }
    id_runs.into_iter().map(IdentifierRun::into_words).collect::<Vec<_>>().join(", ")
}

/// Identifiers whose numbers follow each other.
struct IdentifierRun {
    first: String,
    /// None where the first is the only one.
    last: Option<String>,
}

impl IdentifierRun {
    fn last_id(&self) -> &str {
        self.last.as_ref().unwrap_or(&self.first)
    }

    fn into_words(self) -> String {
        match self.last {
            Some(last) => format!("{}–{last}", self.first),
            None => self.first,
        }
    }
}

/// Whether the last number in `next` is one more than that in `last`, and all else is equal.
fn is_next_number(earlier_id: &str, later_id: &str) -> bool {
    match (NumberedId::parse(earlier_id), NumberedId::parse(later_id)) {
        (Some(earlier), Some(later)) => {
            (earlier.before, earlier.number + 1, earlier.behind)
                == (later.before, later.number, later.behind)
        }
        (_, _) => false,
    }
}

/// An identifier around its last number.
struct NumberedId<'a> {
    before: &'a str,
    number: u64,
    behind: &'a str,
}

impl<'a> NumberedId<'a> {
    fn parse(id: &'a str) -> Option<Self> {
        let digits_end = id.rfind(|character: char| character.is_ascii_digit())? + 1;
        let digits_start = id[..digits_end]
            .rfind(|character: char| !character.is_ascii_digit())
            .map_or(0, |character_before| character_before + 1);
        Some(Self {
            before: &id[..digits_start],
            number: id[digits_start..digits_end].parse().ok()?,
            behind: &id[digits_end..],
        })
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
