//! Where the links of a page lead: within it, or to another file of the same report.
//!
//! Promises: file names are made of letters, digits and `-_.=~`, no two are the same where case
//! does not count, and none is longer than a file system takes; a link to what no file of the
//! report holds is none.
//! Does not cover: whether the files are written (the commands do that).

use crate::document::{Anchor, Document};
use crate::facts::KernelUnit;
use std::collections::{BTreeMap, BTreeSet};

/// Files of a report in several: an index and one file per kernel.
pub(super) struct ReportFiles {
    /// The index as its kernels' files refer to it.
    index_link: String,
    /// The folder of the kernels' files as the index refers to it.
    folder_link: String,
    /// What the index holds.
    index_anchors: BTreeSet<Anchor>,
    /// Number of the file that a kernel's chapter stands in, by the chapter's anchor.
    kernel_numbers: BTreeMap<String, usize>,
    /// Names of the kernels' files, in the order of the kernels.
    pub(super) kernel_files: Vec<String>,
}

impl ReportFiles {
    /// `index_name` and `folder_name` are names of entries in one folder, as bytes.
    pub(super) fn new(
        units: &[KernelUnit],
        index: &Document,
        index_name: &[u8],
        folder_name: &[u8],
    ) -> Self {
        let chapters = units.iter().map(KernelUnit::chapter_anchor);
        Self {
            index_link: format!("../{}", url_segment(index_name)),
            folder_link: url_segment(folder_name),
            index_anchors: index.anchors(),
            kernel_numbers: chapters.enumerate().map(|(number, anchor)| (anchor, number)).collect(),
            kernel_files: file_names(units.iter().map(KernelUnit::unit_label)),
        }
    }

    /// The kernel's file that holds an anchor: the longest name of a chapter that it begins with
    /// decides.
    fn kernel_number_of(&self, anchor: &str) -> Option<usize> {
        let ends = anchor.match_indices('/').map(|(end, _)| end).chain([anchor.len()]);
        let ends: Vec<usize> = ends.collect();
        ends.into_iter().rev().find_map(|end| self.kernel_numbers.get(&anchor[..end])).copied()
    }
}

/// What the links of one page need to know.
pub(super) enum PageLinks<'a> {
    /// The report is this page alone.
    OnePage,
    Index(&'a ReportFiles),
    Kernel {
        files: &'a ReportFiles,
        number: usize,
        /// What the page holds itself.
        own_anchors: BTreeSet<Anchor>,
    },
}

impl PageLinks<'_> {
    /// The link to an anchor of the report; none where no file holds it.
    pub(super) fn link_to(&self, anchor: &str) -> Option<String> {
        let fragment = format!("#{}", element_id(anchor));
        match self {
            PageLinks::OnePage => Some(fragment),
            PageLinks::Index(files) => {
                if files.index_anchors.contains(anchor) {
                    return Some(fragment);
                }
                let number = files.kernel_number_of(anchor)?;
                let file = url_segment(files.kernel_files[number].as_bytes());
                Some(format!("{}/{file}{fragment}", files.folder_link))
            }
            PageLinks::Kernel { files, number, own_anchors } => {
                if own_anchors.contains(anchor) {
                    return Some(fragment);
                }
                if files.index_anchors.contains(anchor) {
                    return Some(format!("{}{fragment}", files.index_link));
                }
                let other_number =
                    files.kernel_number_of(anchor).filter(|other_number| other_number != number)?;
                let file = url_segment(files.kernel_files[other_number].as_bytes());
                Some(format!("{file}{fragment}"))
            }
        }
    }

    /// What kind of page it is, as its file says at its beginning.
    pub(super) fn page_kind(&self) -> &'static str {
        match self {
            PageLinks::OnePage => "report",
            PageLinks::Index(_) => "index",
            PageLinks::Kernel { .. } => "kernel",
        }
    }

    /// Links to the index and to the files before and behind this one, with their words; none where
    /// the page is no kernel's.
    pub(super) fn ways(&self) -> Vec<(&'static str, String)> {
        let PageLinks::Kernel { files, number, .. } = self else { return Vec::new() };
        let file_link = |number: usize| files.kernel_files.get(number).map(|file| file.to_owned());
        let previous = number.checked_sub(1).and_then(file_link);
        let index = Some(format!("{}#{}", files.index_link, element_id("chapter/kernels")));
        let ways = [
            ("All kernels", index),
            ("Previous kernel", previous),
            ("Next kernel", file_link(number + 1)),
        ];
        ways.into_iter().filter_map(|(words, link)| Some((words, link?))).collect()
    }
}

/// Anchors hold names of the project; an `id` must hold no white space, and a `#` link is
/// percent-encoded.
pub(super) fn element_id(anchor: &str) -> String {
    let mut id = String::new();
    for character in anchor.chars() {
        if character.is_ascii_alphanumeric() || "-_.".contains(character) {
            id.push(character);
        } else if character == '/' {
            id.push(':');
        } else {
            id.push_str(&format!("_{:x}_", character as u32));
        }
    }
    id
}

/// A name as a segment of the path of a URL (RFC 3986, 3.3).
fn url_segment(name: &[u8]) -> String {
    let mut segment = String::new();
    for byte in name {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'=' => {
                segment.push(char::from(*byte));
            }
            other_byte => segment.push_str(&format!("%{other_byte:02X}")),
        }
    }
    segment
}

/// Bytes of a name that are kept; file systems take 255.
const NAME_BYTES: usize = 120;

/// A file name for each kernel; the front keeps it from being an option, a hidden file or a name
/// that a system reserves.
fn file_names(labels: impl Iterator<Item = String>) -> Vec<String> {
    let mut taken_names: BTreeSet<String> = BTreeSet::new();
    // How often a name was wanted, so that many kernels of one name take no longer than others.
    let mut wanted_times: BTreeMap<String, u32> = BTreeMap::new();
    let mut names = Vec::new();
    for label in labels {
        let is_kept =
            |character: char| character.is_ascii_alphanumeric() || "-_.=".contains(character);
        let kept = label.chars().map(|character| if is_kept(character) { character } else { '_' });
        let stem = format!("kernel-{}", kept.take(NAME_BYTES).collect::<String>());
        let times = wanted_times.entry(stem.to_ascii_lowercase()).or_default();
        let name = loop {
            *times += 1;
            let name = match *times {
                1 => format!("{stem}.html"),
                number => format!("{stem}~{number}.html"),
            };
            if taken_names.insert(name.to_ascii_lowercase()) {
                break name;
            }
        };
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe_and_no_two_the_same() {
        let labels = ["blur", "Blur", "../x", "a b", "a_b", "a/b", "CON", "é<\">", "blur~2"];
        let long = "x".repeat(4000);
        let labels = labels.into_iter().chain([long.as_str(), long.as_str()]);
        let names = file_names(labels.map(str::to_owned));
        let mut folded: BTreeSet<String> = BTreeSet::new();
        for name in &names {
            assert!(folded.insert(name.to_ascii_lowercase()), "{name}");
            assert!(name.starts_with("kernel-") && name.len() < 200, "{name}");
            assert!(
                name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.=~".contains(&byte))
            );
        }
        assert_eq!(names[0], "kernel-blur.html");
        assert_eq!(names[1], "kernel-Blur~2.html");
        assert_eq!(names[2], "kernel-.._x.html");
    }

    #[test]
    fn a_name_is_one_segment_of_a_path() {
        assert_eq!(url_segment("a b/ä#?%.html".as_bytes()), "a%20b%2F%C3%A4%23%3F%25.html");
    }
}
