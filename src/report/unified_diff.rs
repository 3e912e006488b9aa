//! Two texts that differ in one place, as a unified diff.

use std::fmt::Write;

/// Lines shown before and behind a change.
const CONTEXT: usize = 2;

/// The difference of two texts of a file, with the lines around it; everything between the first
/// line that differs and the last one is one change.
pub(crate) fn unified_diff(path: &str, original: &str, changed: &str) -> String {
    let (old, new) = (lines_of(original), lines_of(changed));
    let same_start = old.iter().zip(&new).take_while(|(left, right)| left == right).count();
    let longest_end = old.len().min(new.len()) - same_start;
    let ends = old.iter().rev().zip(new.iter().rev()).take(longest_end);
    let same_end = ends.take_while(|(left, right)| left == right).count();
    let (old_end, new_end) = (old.len() - same_end, new.len() - same_end);
    let start = same_start.saturating_sub(CONTEXT);
    let behind = CONTEXT.min(same_end);
    let mut diff = format!("--- {path}\n+++ {path}\n");
    let _ = writeln!(
        diff,
        "@@ -{},{} +{},{} @@",
        start + 1,
        old_end + behind - start,
        start + 1,
        new_end + behind - start
    );
    let mut add = |sign: char, lines: &[&str], unended_behind: bool| {
        for line in lines {
            let _ = writeln!(diff, "{sign}{line}");
        }
        if unended_behind && !lines.is_empty() {
            diff.push_str("\\ No newline at end of file\n");
        }
    };
    let is_last =
        |end: usize, text: &str, lines: &[&str]| end == lines.len() && !text.ends_with('\n');
    add(' ', &old[start..same_start], false);
    add('-', &old[same_start..old_end], is_last(old_end, original, &old));
    add('+', &new[same_start..new_end], is_last(new_end, changed, &new));
    add(' ', &old[old_end..old_end + behind], is_last(old_end + behind, original, &old));
    diff
}

/// The lines of a text as they are, with the carriage returns at their ends.
fn lines_of(text: &str) -> Vec<&str> {
    text.split_terminator('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_lines_and_of_the_file_are_as_they_are() {
        assert_eq!(
            unified_diff("x", "a\nb", "a\nc"),
            "--- x\n+++ x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
        );
        assert_eq!(
            unified_diff("x", "a\nb", "c\nb"),
            "--- x\n+++ x\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"
        );
        assert_eq!(
            unified_diff("x", "a\r\nb\r\n", "a\r\nc\r\n"),
            "--- x\n+++ x\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"
        );
    }

    #[test]
    fn a_change_stands_between_the_lines_around_it() {
        let original = "a\nb\nc\nd\ne\nf\n";
        assert_eq!(
            unified_diff("x", original, "a\nb\nc\nD\ne\nf\n"),
            "--- x\n+++ x\n@@ -2,5 +2,5 @@\n b\n c\n-d\n+D\n e\n f\n"
        );
        assert_eq!(
            unified_diff("x", original, "a\nb\nf\n"),
            "--- x\n+++ x\n@@ -1,6 +1,3 @@\n a\n b\n-c\n-d\n-e\n f\n"
        );
        assert_eq!(unified_diff("x", "a\n", "a\na\n"), "--- x\n+++ x\n@@ -1,1 +1,2 @@\n a\n+a\n");
    }
}
