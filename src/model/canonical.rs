//! The canonical form of content, and its hash: what stored files look like and what links are
//! reviewed against.
//!
//! Promises: equal values give equal bytes. Object keys are in ascending byte order at every level,
//! numbers and strings are as serde_json writes them. A content hash is `sha256:` and 64 lower-case
//! hexadecimal digits.
//! Does not cover: what goes into a hash (the callers say it).

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::io::{self, Read, Write};
use std::ops::Range;

/// Canonical JSON without white space: what hashes are taken over.
pub fn canonical_json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    sorted_json(value, Layout::Compact)
}

/// Canonical JSON as files hold it where it stands within others: behind their indentation of
/// `depth` steps, with no newline at the end.
pub fn nested_lines(value: &impl Serialize, depth: usize) -> Result<String, serde_json::Error> {
    sorted_json(value, Layout::Lines { depth })
}

/// Canonical JSON as files hold it: two spaces of indentation, one newline at the end.
pub fn canonical_lines(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = nested_lines(value, 0)?;
    text.push('\n');
    Ok(text)
}

/// Writes the value as serde gives it and sorts each object where it ends: no tree of the whole is
/// built, which for the evidence of a large kernel takes ten times the memory of its text.
fn sorted_json(value: &impl Serialize, layout: Layout) -> Result<String, serde_json::Error> {
    let shared_text = RefCell::new(Vec::new());
    let sorting_formatter = SortingFormatter {
        text: &shared_text,
        layout,
        open: Vec::new(),
        members: Vec::new(),
        unsorted: Vec::new(),
    };
    value
        .serialize(&mut Serializer::with_formatter(SharedText(&shared_text), sorting_formatter))?;
    Ok(String::from_utf8(shared_text.into_inner()).expect("JSON is UTF-8"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Compact,
    Lines {
        /// Objects and arrays that are open around the value.
        depth: usize,
    },
}

/// The text as the serializer writes to it; the formatter reads and reorders the same text.
struct SharedText<'t>(&'t RefCell<Vec<u8>>);

impl Write for SharedText<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Puts the members of every object in the order of their keys when the object ends.
struct SortingFormatter<'t> {
    text: &'t RefCell<Vec<u8>>,
    layout: Layout,
    /// The objects and arrays that have begun and not ended, the innermost last.
    open: Vec<OpenContainer>,
    /// Of all objects that are open, the innermost last.
    members: Vec<Member>,
    /// What an object holds while it is put in order; kept for the next one.
    unsorted: Vec<u8>,
}

/// An object or array of the text. Places are byte offsets.
#[derive(Debug, Clone, Copy)]
struct OpenContainer {
    /// Behind the opening bracket.
    start: usize,
    /// Of an object: the place of its first member among those of all.
    first_member: usize,
    is_empty: bool,
}

/// A member of an object.
#[derive(Debug, Clone)]
struct Member {
    /// With its quotes.
    key: Range<usize>,
    /// Whether it is written otherwise than it is.
    has_escape: bool,
    /// Where its value ends.
    end: usize,
}

/// The start of a line at any depth that is common.
const LINE_START: &[u8] = b"\n                                                                ";

impl SortingFormatter<'_> {
    fn text_length(&self) -> usize {
        self.text.borrow().len()
    }

    fn begin_container(&mut self, bracket: u8) {
        self.text.borrow_mut().push(bracket);
        self.open.push(OpenContainer {
            start: self.text_length(),
            first_member: self.members.len(),
            is_empty: true,
        });
    }

    fn end_container(&mut self) -> OpenContainer {
        self.open.pop().expect("what ends has begun")
    }

    fn innermost_container(&mut self) -> &mut OpenContainer {
        self.open.last_mut().expect("members and elements stand in something")
    }

    /// What stands before an element or member.
    fn write_separator(&mut self, is_first: bool) {
        if !is_first {
            self.text.borrow_mut().push(b',');
        }
        self.innermost_container().is_empty = false;
        self.start_line();
    }

    /// Begins a line at the depth of what is open.
    fn start_line(&self) {
        if let Layout::Lines { depth } = self.layout {
            let mut text = self.text.borrow_mut();
            let line_start = 1 + 2 * (depth + self.open.len());
            match LINE_START.get(..line_start) {
                Some(start) => text.extend_from_slice(start),
                None => {
                    text.push(b'\n');
                    text.extend(std::iter::repeat_n(b' ', line_start - 1));
                }
            }
        }
    }

    fn close_container(&self, bracket: u8, is_empty: bool) {
        if !is_empty {
            self.start_line();
        }
        self.text.borrow_mut().push(bracket);
    }

    /// Writes an object's members again, in the order of their keys.
    fn sort_members(&mut self, object: OpenContainer) {
        let mut unsorted = std::mem::take(&mut self.unsorted);
        unsorted.clear();
        {
            let mut text = self.text.borrow_mut();
            unsorted.extend_from_slice(&text[object.start..]);
            text.truncate(object.start);
        }
        let part_of_object =
            |start: usize, end: usize| &unsorted[start - object.start..end - object.start];
        let key_of = |member: &Member| WrittenKey {
            text: part_of_object(member.key.start, member.key.end),
            has_escape: member.has_escape,
        };
        let mut all_members = std::mem::take(&mut self.members);
        let members = &mut all_members[object.first_member..];
        members.sort_by(|first, second| key_order(key_of(first), key_of(second)));
        for (member_number, member) in members.iter().enumerate() {
            self.write_separator(member_number == 0);
            let text = part_of_object(member.key.start, member.end);
            self.text.borrow_mut().extend_from_slice(text);
        }
        self.members = all_members;
        self.unsorted = unsorted;
    }

    fn is_sorted(&self, object: OpenContainer) -> bool {
        let text = self.text.borrow();
        let key_of = |member: &Member| WrittenKey {
            text: &text[member.key.clone()],
            has_escape: member.has_escape,
        };
        self.members[object.first_member..].is_sorted_by(|first, second| {
            key_order(key_of(first), key_of(second)) == Ordering::Less
        })
    }
}

/// A key as it is written, with quotes and escapes.
struct WrittenKey<'t> {
    text: &'t [u8],
    has_escape: bool,
}

/// The order of keys: that of the characters they stand for.
fn key_order(first: WrittenKey<'_>, second: WrittenKey<'_>) -> Ordering {
    if first.has_escape || second.has_escape {
        unescaped_key(first.text).cmp(&unescaped_key(second.text))
    } else {
        inner_text(first.text).cmp(inner_text(second.text))
    }
}

/// What stands between the quotes.
fn inner_text(quoted: &[u8]) -> &[u8] {
    &quoted[1..quoted.len() - 1]
}

/// The bytes of a key as it was before it was written, whose order is that of its characters.
fn unescaped_key(quoted: &[u8]) -> Vec<u8> {
    let key: String = serde_json::from_slice(quoted).expect("what was written is a string");
    key.into_bytes()
}

impl Formatter for SortingFormatter<'_> {
    /// As the value of 64 bits, whose shortest digits are others: files have always held these.
    fn write_f32<W: ?Sized + Write>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        self.write_f64(writer, f64::from(value))
    }

    fn begin_array<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.begin_container(b'[');
        Ok(())
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        _: &mut W,
        is_first: bool,
    ) -> io::Result<()> {
        self.write_separator(is_first);
        Ok(())
    }

    fn end_array<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let array = self.end_container();
        self.close_container(b']', array.is_empty);
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.begin_container(b'{');
        Ok(())
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, _: &mut W, is_first: bool) -> io::Result<()> {
        self.write_separator(is_first);
        let start = self.text_length();
        self.members.push(Member { key: start..start, has_escape: false, end: start });
        Ok(())
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let text = self.text.borrow();
        let member = self.members.last_mut().expect("a key has begun");
        member.key.end = text.len();
        member.has_escape = text[member.key.clone()].contains(&b'\\');
        Ok(())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(match self.layout {
            Layout::Lines { .. } => b": ",
            Layout::Compact => b":",
        })
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let end = self.text_length();
        self.members.last_mut().expect("a key has begun").end = end;
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let object = *self.innermost_container();
        if !self.is_sorted(object) {
            self.sort_members(object);
        }
        self.members.truncate(object.first_member);
        self.end_container();
        self.close_container(b'}', object.is_empty);
        Ok(())
    }
}

/// SHA-256 as 64 hexadecimal digits, as manifests have it.
pub fn sha256_digits(bytes: &[u8]) -> String {
    hexadecimal_digits(&Sha256::digest(bytes))
}

/// Two lower-case hexadecimal digits for each byte.
pub fn hexadecimal_digits(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).expect("half a byte is a digit");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// SHA-256 of all that a reader gives, as [`sha256_digits`].
pub fn sha256_of(mut reader: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return Ok(hexadecimal_digits(&hasher.finalize())),
            Ok(count) => hasher.update(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Writes to another writer and hashes what it writes, large pieces beside each other on two cores.
pub struct HashingWriter<W> {
    inner: W,
    hasher: Sha256,
}

/// Bytes from which on it is worth a second core that a piece is hashed while it is written.
const HASHED_BESIDE: usize = 1 << 18;

impl<W: Write> HashingWriter<W> {
    /// Of nothing yet.
    pub fn new(inner: W) -> Self {
        Self { inner, hasher: Sha256::new() }
    }

    /// Flushes, and gives the writer back with the SHA-256 of all that was written, as
    /// [`sha256_digits`].
    pub fn finish(mut self) -> io::Result<(W, String)> {
        self.inner.flush()?;
        Ok((self.inner, hexadecimal_digits(&self.hasher.finalize())))
    }
}

impl<W: Write + Send> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Self { inner, hasher } = self;
        if bytes.len() < HASHED_BESIDE {
            hasher.update(bytes);
            return inner.write_all(bytes);
        }
        rayon::join(|| inner.write_all(bytes), || hasher.update(bytes)).0
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Reads from another reader; where that ends and what it gave has another hash than expected, the
/// end is an error.
pub struct CheckingReader<R> {
    inner: R,
    /// Of what is read, for the error.
    name: String,
    hasher: Sha256,
    expected: String,
}

impl<R: Read> CheckingReader<R> {
    /// `expected`: as [`sha256_digits`] has it.
    pub fn new(inner: R, name: String, expected: String) -> Self {
        Self { inner, name, hasher: Sha256::new(), expected }
    }
}

impl<R: Read> Read for CheckingReader<R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(piece)?;
        self.hasher.update(&piece[..count]);
        let is_at_end = count == 0 && !piece.is_empty();
        if is_at_end && hexadecimal_digits(&self.hasher.clone().finalize()) != self.expected {
            let message = format!("{} holds something else than what was written to it", self.name);
            return Err(io::Error::other(message));
        }
        Ok(count)
    }
}

/// Turns the text of [`canonical_lines`] into that of [`nested_lines`], piece by piece: puts `depth` steps
/// of indentation behind every line end. A piece may begin and end anywhere. Behind the last piece the
/// end of its last line is left with that indentation, which [`nested_lines`] does not have.
pub fn nest_lines(piece: &[u8], depth: usize) -> Vec<u8> {
    let indentation = b" ".repeat(2 * depth);
    let mut nested = Vec::with_capacity(piece.len() + piece.len() / 4);
    let mut rest = piece;
    // Line ends within strings are escaped.
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let (line, behind) = rest.split_at(end + 1);
        nested.extend_from_slice(line);
        nested.extend_from_slice(&indentation);
        rest = behind;
    }
    nested.extend_from_slice(rest);
    nested
}

/// `sha256:` and the digits.
pub fn content_hash(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256_digits(bytes))
}

/// Whether a text has the form of a content hash.
pub fn is_content_hash(text: &str) -> bool {
    let hash_digits = text.strip_prefix("sha256:").unwrap_or("");
    hash_digits.len() == 64
        && hash_digits.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Takes so many bytes and no more.
    struct SmallDisk {
        taken: Vec<u8>,
        free: usize,
    }

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.free);
            self.taken.extend_from_slice(&bytes[..count]);
            self.free -= count;
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn large_and_small_pieces_are_hashed_as_they_are_written() {
        let piece_sizes = [3, HASHED_BESIDE, 0, HASHED_BESIDE + 1, HASHED_BESIDE - 1, 1];
        let pieces = piece_sizes.iter().zip(1..).map(|(size, byte)| vec![byte; *size]);
        let pieces: Vec<Vec<u8>> = pieces.collect();
        let all = pieces.concat();
        for free in [all.len(), all.len() - 1, HASHED_BESIDE / 2] {
            let mut writer = HashingWriter::new(SmallDisk { taken: Vec::new(), free });
            let written = pieces.iter().try_for_each(|piece| writer.write_all(piece));
            assert_eq!(written.is_ok(), free == all.len(), "{free}");
            let (disk, hash) = writer.finish().unwrap();
            assert_eq!(disk.taken, all[..free]);
            assert!(written.is_err() || hash == sha256_digits(&all));
        }
    }

    #[test]
    fn keys_are_sorted_at_every_level() {
        #[derive(Serialize)]
        struct Pair {
            b: u32,
            a: std::collections::BTreeMap<&'static str, u32>,
        }
        let pair = Pair { b: 1, a: [("z", 1), ("y", 2)].into() };
        assert_eq!(
            canonical_lines(&pair).unwrap(),
            "{\n  \"a\": {\n    \"y\": 2,\n    \"z\": 1\n  },\n  \"b\": 1\n}\n"
        );
        let value = json!({"b": [{"z": 1, "a": "\n"}], "a": null});
        assert_eq!(canonical_json(&value).unwrap(), r#"{"a":null,"b":[{"a":"\n","z":1}]}"#);
    }

    /// What serde_json makes of the tree of a value, with its keys sorted.
    fn from_tree(value: &impl Serialize) -> (String, String) {
        let mut tree = serde_json::to_value(value).unwrap();
        tree.sort_all_objects();
        (serde_json::to_string(&tree).unwrap(), serde_json::to_string_pretty(&tree).unwrap() + "\n")
    }

    #[test]
    fn numbers_are_those_of_the_tree() {
        let floats = [0.1_f32, 1e-7, 3.0, f32::MAX, f32::NAN];
        let doubles = [0.1_f64, 1e300, -0.0, f64::INFINITY];
        let mixed = (floats, doubles, u64::MAX, i64::MIN, 'c', Some(()), None::<u8>);
        let keys = std::collections::BTreeMap::from([(9_u32, true), (10, false), (100, true)]);
        for (compact, lines, expected) in [
            (canonical_json(&mixed).unwrap(), canonical_lines(&mixed).unwrap(), from_tree(&mixed)),
            (canonical_json(&keys).unwrap(), canonical_lines(&keys).unwrap(), from_tree(&keys)),
        ] {
            assert_eq!((compact, lines), expected);
        }
    }

    /// A value whose objects give their members in the order of insertion.
    #[derive(Debug, Clone)]
    enum Unsorted {
        Null,
        Number(i32),
        Text(String),
        Array(Vec<Unsorted>),
        Object(Vec<(String, Unsorted)>),
    }

    impl Serialize for Unsorted {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                Unsorted::Null => serializer.serialize_none(),
                Unsorted::Number(number) => serializer.serialize_i32(*number),
                Unsorted::Text(text) => serializer.serialize_str(text),
                Unsorted::Array(elements) => serializer.collect_seq(elements),
                Unsorted::Object(members) => {
                    serializer.collect_map(members.iter().map(|(key, value)| (key, value)))
                }
            }
        }
    }

    fn unsorted() -> impl Strategy<Value = Unsorted> {
        // Characters that are escaped, that sort before and behind the quote, and of several bytes.
        let key = "[a-c\"\\\\\n !\u{7f}é\u{1f600}]{0,3}";
        let leaf = prop_oneof![
            Just(Unsorted::Null),
            any::<i32>().prop_map(Unsorted::Number),
            key.prop_map(Unsorted::Text)
        ];
        leaf.prop_recursive(4, 40, 6, move |inner| {
            let member = prop::collection::hash_map(key, inner.clone(), 0..6);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(Unsorted::Array),
                member.prop_map(|members| Unsorted::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_text_is_that_of_the_sorted_tree(value in unsorted()) {
            let written = (canonical_json(&value).unwrap(), canonical_lines(&value).unwrap());
            prop_assert_eq!(written, from_tree(&value));
        }
    }

    proptest! {
        #[test]
        fn lines_are_nested_in_any_pieces(value in unsorted(), depth in 0_usize..4, at in 0_usize..200) {
            let lines = canonical_lines(&value).unwrap();
            let (first, second) = lines.as_bytes().split_at(at.min(lines.len()));
            let nested = [nest_lines(first, depth), nest_lines(second, depth)].concat();
            let nested = String::from_utf8(nested).unwrap();
            prop_assert_eq!(nested.trim_end(), nested_lines(&value, depth).unwrap());
        }
    }

    #[test]
    fn what_was_changed_is_found_at_its_end() {
        let read = |text: &str, expected: &str| {
            let name = "evidence/campaign.json".to_owned();
            let mut reader =
                CheckingReader::new(text.as_bytes(), name, sha256_digits(expected.as_bytes()));
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).map(|_| bytes)
        };
        assert_eq!(read("text", "text").unwrap(), b"text");
        assert_eq!(read("", "").unwrap(), b"");
        for (text, expected) in [("texT", "text"), ("tex", "text"), ("text+", "text"), ("", "text")]
        {
            let told = read(text, expected).unwrap_err().to_string();
            assert!(told.starts_with("evidence/campaign.json holds something else"), "{told}");
        }
    }

    #[test]
    fn the_digest_is_that_of_the_standard() {
        // FIPS 180-4, the example message "abc".
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(content_hash(b"abc"), expected);
        assert!(is_content_hash(expected));
        assert!(!is_content_hash(&expected.to_uppercase()));
        assert!(!is_content_hash(&expected[..70]));
    }
}
