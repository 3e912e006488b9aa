//! Two texts of a file as a unified diff.

use similar::TextDiff;

/// Lines shown before and behind a change.
const CONTEXT: usize = 2;

/// The difference of two texts of a file, with the lines around each change.
pub(crate) fn unified_diff(path: &str, original: &str, changed: &str) -> String {
    let diff = TextDiff::from_lines(original, changed);
    diff.unified_diff().context_radius(CONTEXT).header(path, path).to_string()
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
            unified_diff("x", "a\r\nb\r\n", "a\r\nc\r\n"),
            "--- x\n+++ x\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"
        );
    }

    #[test]
    fn each_change_stands_between_the_lines_around_it() {
        let original = "a\nb\nc\nd\ne\nf\ng\nh\ni\n";
        assert_eq!(
            unified_diff("x", original, "a\nb\nc\nD\ne\nf\ng\nh\ni\n"),
            "--- x\n+++ x\n@@ -2,5 +2,5 @@\n b\n c\n-d\n+D\n e\n f\n"
        );
        assert_eq!(
            unified_diff("x", original, "A\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"),
            "--- x\n+++ x\n@@ -1,3 +1,3 @@\n-a\n+A\n b\n c\n@@ -8,2 +8,3 @@\n h\n i\n+j\n"
        );
    }
}
