//! Archives that are right, and hostile ones.

use super::{Limits, UnpackedArchive, unpack};
use crate::layout::SUMS;
use std::path::Path;
use tar::{EntryType, Header};
use vkcert_model::canonical::sha256_digits;

const SMALL: Limits =
    Limits { entries: 10, file_bytes: 2_000, total_bytes: 40_000, path_bytes: 300, depth: 4 };

/// The bytes of a tar, put together entry by entry as no writer would.
#[derive(Default)]
struct Tar {
    bytes: Vec<u8>,
}

impl Tar {
    fn entry(mut self, path: &[u8], kind: EntryType, contents: &[u8]) -> Self {
        let mut header = Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path);
        header.set_entry_type(kind);
        header.set_size(contents.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        self.bytes.extend_from_slice(header.as_bytes());
        self.bytes.extend_from_slice(contents);
        self.bytes.resize(self.bytes.len().next_multiple_of(512), 0);
        self
    }

    fn file(self, path: &str, contents: &str) -> Self {
        self.entry(path.as_bytes(), EntryType::Regular, contents.as_bytes())
    }

    fn compressed(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len() + 1_024, 0);
        compressed(&self.bytes)
    }
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// What unpacking comes to: the archive, or the error as a user reads it.
fn unpacked(archive: &[u8]) -> Result<UnpackedArchive, String> {
    let folder = tempfile::tempdir().unwrap();
    let (file, target) = (folder.path().join("a.tar.zst"), folder.path().join("target"));
    std::fs::write(&file, archive).unwrap();
    std::fs::create_dir(&target).unwrap();
    let result = unpack(&file, &target, &SMALL).map_err(|error| error.to_string());
    let beside = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(beside, 2, "something was written beside the folder");
    result
}

fn listed(files: &[(&str, &str)]) -> String {
    let line =
        |(path, text): &(&str, &str)| format!("{}  {path}\n", sha256_digits(text.as_bytes()));
    files.iter().map(line).collect()
}

/// An archive of one file with its list.
fn right_archive() -> Tar {
    Tar::default()
        .entry(b"top/", EntryType::Directory, b"")
        .file("top/a/b.txt", "text")
        .file(&format!("top/{SUMS}"), &listed(&[("a/b.txt", "text")]))
}

#[track_caller]
fn assert_refused(archive: &[u8], wanted: &str) {
    let message = unpacked(archive).expect_err("it is no archive");
    assert!(message.contains(wanted), "{message}");
}

#[test]
fn what_is_listed_is_unpacked() {
    let archive = unpacked(&right_archive().compressed()).unwrap();
    assert_eq!(archive.differences, [""; 0]);
    assert_eq!(archive.sums.keys().collect::<Vec<_>>(), ["a/b.txt"]);
    assert!(archive.top.ends_with("top"));
}

#[test]
fn differences_from_the_list_are_told_file_by_file() {
    let list = listed(&[("same", "1"), ("other", "2"), ("missing", "3")]);
    let archive = Tar::default()
        .file("top/same", "1")
        .file("top/other", "other than 2")
        .file("top/more", "4")
        .file("top/SHA256SUMS", &list);
    assert_eq!(
        unpacked(&archive.compressed()).unwrap().differences,
        [
            "missing is listed in SHA256SUMS, and not in the archive",
            "other has another SHA-256 than SHA256SUMS says",
            "more is not listed in SHA256SUMS",
        ]
    );
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    for path in ["../a", "/tmp/a", "top/../../a", "top/./a", "top//a", ".", "top/.."] {
        let archive = right_archive().file(path, "x").compressed();
        assert_refused(&archive, &format!("the entry `{path}` has no path inside of the archive"));
    }
    let archive = right_archive().entry(b"top/\xff", EntryType::Regular, b"x").compressed();
    assert_refused(&archive, "has no path inside of the archive");
}

#[test]
fn entries_of_other_kinds_are_refused() {
    let kinds = [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::GNUSparse,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
        EntryType::GNULongLink,
        EntryType::Continuous,
    ];
    for kind in kinds {
        let archive = right_archive().entry(b"top/x", kind, b"").compressed();
        assert_refused(&archive, "the entry `top/x` is neither a file nor a folder");
    }
}

#[test]
fn an_entry_is_there_once() {
    let archive = right_archive().file("top/a/b.txt", "text").compressed();
    assert_refused(&archive, "the entry `top/a/b.txt` is there twice");
    // A file where a folder has to be.
    let archive = right_archive().file("top/a", "text").compressed();
    assert_refused(&archive, "cannot write");
}

#[test]
fn limits_hold() {
    let long = "x".repeat(2_001);
    assert_refused(&right_archive().file("top/x", &long).compressed(), "more than 2000 bytes");
    assert_refused(&right_archive().file("top/a/a/a/a", "").compressed(), "4 folders deep");
    let many = (0..20).fold(right_archive(), |tar, number| tar.file(&format!("top/{number}"), ""));
    assert_refused(&many.compressed(), "more than 10 entries");
    let text = "x".repeat(2_000);
    let large =
        (0..7).fold(right_archive(), |tar, number| tar.file(&format!("top/{number}"), &text));
    let mut bytes = large.bytes;
    bytes.resize(1 << 20, 0);
    assert_refused(&compressed(&bytes), "it decompresses to more than 40000 bytes");
}

#[test]
fn long_paths_are_read_and_longer_ones_refused() {
    let path = |length: usize| format!("top/{}", "x".repeat(length));
    let with_path = |path: &str| {
        Tar::default()
            .entry(b"././@LongLink", EntryType::GNULongName, format!("{path}\0").as_bytes())
            .file("top/short", "text")
            .file(&format!("top/{SUMS}"), &listed(&[(&path[4..], "text")]))
            .compressed()
    };
    let archive = unpacked(&with_path(&path(200))).unwrap();
    assert_eq!(archive.differences, [""; 0]);
    assert_refused(&with_path(&path(297)), "a path has more than 300 bytes");
    assert_refused(&with_path("top/../../x"), "has no path inside of the archive");
}

#[test]
fn a_size_that_lies_is_found() {
    let mut tar = right_archive();
    let mut header = Header::new_gnu();
    header.set_path("top/x").unwrap();
    header.set_size(1_500);
    header.set_cksum();
    tar.bytes.extend_from_slice(header.as_bytes());
    tar.bytes.extend_from_slice(b"too short");
    assert_refused(&compressed(&tar.bytes), "it cannot be read");
}

#[test]
fn what_is_no_archive_is_refused() {
    assert_refused(b"", "it does not begin as zstd does");
    assert_refused(b"PK\x03\x04 something else", "it does not begin as zstd does");
    assert_refused(&compressed(b"no tar at all"), "it cannot be read");
    let beside = right_archive().file("other/x", "").compressed();
    assert_refused(&beside, "it has not one folder that holds all");
    let unlisted = Tar::default().file("top/x", "").compressed();
    assert_refused(&unlisted, "it has no list of hashes, SHA256SUMS");
    let list = Tar::default().file("top/SHA256SUMS", "no hash\n").compressed();
    assert_refused(&list, "line 1 of SHA256SUMS is not one hash and one path");
    assert!(unpack(Path::new("nowhere"), Path::new("."), &SMALL).is_err());
}

#[test]
fn what_follows_the_end_is_refused() {
    let mut tar = right_archive().bytes;
    tar.resize(tar.len() + 1_024, 0);
    tar.extend_from_slice(&[b'x'; 512]);
    assert_refused(&compressed(&tar), "it goes on behind its end");
    let mut archive = right_archive().compressed();
    archive.extend_from_slice(&right_archive().compressed());
    assert_refused(&archive, "it goes on behind its end");
}

#[test]
fn no_damage_goes_unnoticed() {
    let archive = right_archive().compressed();
    for length in 0..archive.len() {
        unpacked(&archive[..length]).expect_err("it is cut off");
    }
    for position in 0..archive.len() {
        let bit = position % 8;
        let mut damaged = archive.clone();
        damaged[position] ^= 1 << bit;
        if let Ok(read) = unpacked(&damaged) {
            assert_eq!(read.differences, [""; 0]);
            // A bit without meaning: what was unpacked is the same.
            assert_eq!(read.sums, unpacked(&archive).unwrap().sums, "byte {position}, bit {bit}");
        }
    }
}

#[test]
fn a_frame_without_checksum_is_refused() {
    let tar = right_archive();
    let mut bytes = tar.bytes;
    bytes.resize(bytes.len() + 1_024, 0);
    let mut archive = compressed(&bytes);
    // Content_Checksum_flag of the frame's descriptor (RFC 8878, 3.1.1.1.1).
    assert_ne!(archive[4] & 4, 0);
    archive[4] &= !4;
    archive.truncate(archive.len() - 4);
    assert_refused(&archive, "its checksum is not that of its contents");
}
