//! The nearest known name to an unknown one, for hints.

/// `did you mean ...?` where a name is near enough: at most a third of its characters differ (or one, or the case).
pub fn did_you_mean<S: AsRef<str>>(name: &str, known: &[S]) -> Option<String> {
    nearest(name, known.iter().map(AsRef::as_ref)).map(|near| format!("did you mean `{near}`?"))
}

/// The nearest of `known`; of several equally near ones the first.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Number of insertions, deletions, replacements and swaps of neighbours between two words.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i.max(j)
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
                let swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
                let swap = if swapped { rows[i - 2][j - 2] + 1 } else { usize::MAX };
                replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(swap)
            };
        }
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_one_key_finds_the_name_and_a_stranger_does_not() {
        let known = ["LLR-MM-001", "LLR-MM-002", "HLR-CV-001"];
        assert_eq!(nearest("LLR-MM-02", known), Some("LLR-MM-002"));
        assert_eq!(nearest("llr-mm-001", known), Some("LLR-MM-001"));
        assert_eq!(nearest("shader", known), None);
        assert_eq!(nearest("bufer", ["buffer", "bytes"]), Some("buffer"));
        assert_eq!(nearest("idmo", ["idiom", "spec"]), None);
    }
}
