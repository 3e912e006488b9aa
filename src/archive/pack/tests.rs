use super::{Contents, pack};
use crate::{ArchiveError, Limits, unpack};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

fn files(entries: &[(&str, &str)]) -> BTreeMap<String, Contents> {
    let file = |(path, text): &(&str, &str)| {
        ((*path).to_owned(), Contents::Bytes(text.as_bytes().to_vec()))
    };
    entries.iter().map(file).collect()
}

fn written(folder: &Path, name: &str, files: &BTreeMap<String, Contents>) -> Vec<u8> {
    let target = folder.join(name);
    pack(&target, "top", files).unwrap();
    std::fs::read(target).unwrap()
}

#[test]
fn the_same_files_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let entries = files(&[("README.md", "read me"), ("a/b", "1"), ("a/c", "2")]);
    let first = written(folder.path(), "first", &entries);
    let on_disk = folder.path().join("b");
    std::fs::write(&on_disk, "1").unwrap();
    let mut from_disk = entries.clone();
    from_disk.insert("a/b".to_owned(), Contents::File(on_disk));
    assert_eq!(written(folder.path(), "second", &from_disk), first);
    let other = files(&[("README.md", "read me"), ("a/b", "1"), ("a/c", "3")]);
    assert_ne!(written(folder.path(), "third", &other), first);
}

#[test]
fn what_is_packed_is_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let long_name = ["x".repeat(200), "y".repeat(200)].join("/");
    let large = "contents ".repeat(100_000);
    let entries = files(&[(&long_name, "long"), ("deep/er/file", &large), ("empty", "")]);
    let written = pack(&folder.path().join("a"), "top", &entries).unwrap();
    assert_eq!(written.files, 4);
    let target = folder.path().join("target");
    std::fs::create_dir(&target).unwrap();
    let unpacked = unpack(&folder.path().join("a"), &target, &Limits::default()).unwrap();
    assert_eq!(unpacked.differences, [""; 0]);
    assert_eq!(std::fs::read_to_string(unpacked.top.join("deep/er/file")).unwrap(), large);
    assert_eq!(std::fs::read_to_string(unpacked.top.join(long_name)).unwrap(), "long");
}

/// The formats are those of other programs: nobody needs this one to read an archive.
#[test]
fn other_programs_read_an_archive_and_check_its_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let large = "contents ".repeat(100_000);
    let entries = files(&[("README.md", "read me"), ("a/b c.txt", &large)]);
    written(folder.path(), "a.tar.zst", &entries);
    let commands = "zstd -q -d a.tar.zst && tar xf a.tar && cd top && sha256sum --quiet --strict -c SHA256SUMS";
    let status = Command::new("sh").args(["-ec", commands]).current_dir(&folder).status();
    assert!(status.expect("a shell").success());
    let text = std::fs::read_to_string(folder.path().join("top/a/b c.txt")).unwrap();
    assert_eq!(text, large);
}

#[test]
fn what_cannot_be_written_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("a");
    let gone = Contents::File(folder.path().join("gone"));
    let missing = pack(&target, "top", &[("a".to_owned(), gone)].into());
    assert!(matches!(missing, Err(ArchiveError::Unreadable(_))), "{missing:?}");
    let unlistable = pack(&target, "top", &files(&[("line\nbreak", "")]));
    assert!(matches!(unlistable, Err(ArchiveError::Outside { .. })), "{unlistable:?}");
    let outside = pack(&target, "top", &files(&[("../a", "")]));
    assert!(outside.is_err(), "{outside:?}");
    let nowhere = pack(&folder.path().join("no/folder"), "top", &files(&[("a", "")]));
    assert!(matches!(nowhere, Err(ArchiveError::Unwritable { .. })), "{nowhere:?}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let tar = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut &tar, &[7; 100_000]).unwrap();
    std::io::Seek::rewind(&mut &tar).unwrap();
    let error = super::compress(tar, &full).expect_err("nothing fits");
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
}
