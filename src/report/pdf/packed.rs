//! The written file once more, smaller: its objects in compressed object streams and its places in a
//! cross-reference stream (ISO 32000-1, 7.5.7 and 7.5.8; ISO 19005-2 allows both).
//!
//! The structure of a report is tens of thousands of small objects, which `krilla` writes as plain
//! text. Promises: every object says what it said; equal bytes give equal bytes.
//! Does not cover: files of other writers; it relies on a plain cross-reference table, one `obj` and
//! `endobj` around each object, and generation 0 throughout.

use flate2::{Compression, write::ZlibEncoder};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::borrow::Cow;
use std::io::{self, Write};

/// Objects of one stream: a viewer unpacks all of them to read one.
const OBJECTS_PER_STREAM: usize = 256;
/// Of 0 to 9.
const COMPRESSION_LEVEL: u32 = 6;

/// An object of the plain file.
#[derive(Debug, Clone, Copy)]
struct PlainObject<'f> {
    number: usize,
    /// Between `obj` and `endobj`.
    body: &'f [u8],
}

impl<'f> PlainObject<'f> {
    /// Of `number 0 obj ... endobj`.
    fn read(bytes: &'f [u8], number: usize) -> Option<Self> {
        let (head, behind) = split_behind(bytes, b"obj")?;
        let is_known = leading_number(head)? == number;
        let body = behind.trim_ascii().strip_suffix(b"endobj")?.trim_ascii();
        is_known.then_some(Self { number, body })
    }

    /// Streams cannot stand within streams.
    fn is_stream(self) -> bool {
        self.body.ends_with(b"endstream")
    }
}

/// Where an object stands in the packed file.
#[derive(Debug, Clone, Copy)]
enum PackedPlace {
    Free,
    /// Byte offset.
    Alone(usize),
    /// Number of the object stream and index in it.
    Within(usize, usize),
}

/// # Errors
/// If `plain` is another kind of file than the one known here.
pub(super) fn packed_file(plain: &[u8]) -> io::Result<Vec<u8>> {
    let known_form = PlainFile::read(plain);
    known_form.ok_or_else(|| io::Error::other("the written file is of another form"))?.packed()
}

/// A file with a plain cross-reference table.
struct PlainFile<'f> {
    /// What stands before the first object.
    header: &'f [u8],
    /// In the order of the file.
    objects: Vec<PlainObject<'f>>,
    /// Entries of the cross-reference table.
    entry_count: usize,
    /// Entries of the trailer dictionary, without `Size`.
    trailer: Vec<u8>,
}

/// Bytes of an entry of the cross-reference table (ISO 32000-1, 7.5.4).
const ENTRY: usize = 20;

impl<'f> PlainFile<'f> {
    fn read(plain: &'f [u8]) -> Option<Self> {
        let last_word = last_place(plain, b"startxref")?;
        let table_start = leading_number(&plain[last_word + b"startxref".len()..])?;
        let table = plain.get(table_start..last_word)?.strip_prefix(b"xref\n0 ")?;
        let entry_count = leading_number(table)?;
        let (_, entries) = split_behind(table, b"\n")?;
        let (entries, trailer) = entries.split_at_checked(entry_count * ENTRY)?;
        // The first entry stands for no object (7.5.4).
        let mut places: Vec<(usize, usize)> = Vec::with_capacity(entry_count);
        for (number, entry) in entries.chunks_exact(ENTRY).enumerate() {
            if entry[17] == b'n' {
                places.push((leading_number(entry)?, number));
            }
        }
        places.sort_unstable();
        let header = plain.get(..places.first()?.0)?;
        let ends = places.iter().skip(1).map(|(place, _)| *place).chain([table_start]);
        let objects = places
            .iter()
            .zip(ends)
            .map(|((start, number), end)| PlainObject::read(plain.get(*start..end)?, *number));
        let objects = objects.collect::<Option<Vec<_>>>()?;
        Some(Self { header, objects, entry_count, trailer: trailer_entries(trailer)? })
    }

    fn packed(&self) -> io::Result<Vec<u8>> {
        let mut file = self.header.to_vec();
        let mut places = vec![PackedPlace::Free; self.entry_count];
        let (streams, small_objects): (Vec<&PlainObject<'_>>, Vec<&PlainObject<'_>>) =
            self.objects.iter().partition(|object| object.is_stream());
        for stream in streams {
            places[stream.number] = PackedPlace::Alone(file.len());
            write_object(&mut file, stream.number, stream.body)?;
        }
        let groups: Vec<&[&PlainObject<'_>]> = small_objects.chunks(OBJECTS_PER_STREAM).collect();
        let packed_groups: Vec<io::Result<Vec<u8>>> =
            groups.par_iter().map(|group| object_stream(group)).collect();
        for (group, packed_group) in groups.into_iter().zip(packed_groups) {
            let stream_number = places.len();
            for (index, object) in group.iter().enumerate() {
                places[object.number] = PackedPlace::Within(stream_number, index);
            }
            places.push(PackedPlace::Alone(file.len()));
            write_object(&mut file, stream_number, &packed_group?)?;
        }
        let table_start = file.len();
        places.push(PackedPlace::Alone(table_start));
        let table = cross_reference_stream(&places, &self.trailer)?;
        write_object(&mut file, places.len() - 1, &table)?;
        write!(file, "startxref\n{table_start}\n%%EOF")?;
        Ok(file)
    }
}

fn write_object(file: &mut Vec<u8>, number: usize, body: &[u8]) -> io::Result<()> {
    writeln!(file, "{number} 0 obj")?;
    file.extend(body);
    file.extend(b"\nendobj\n");
    Ok(())
}

/// Of `trailer <<...>>`, what stands in the dictionary but for the size of the table.
fn trailer_entries(trailer: &[u8]) -> Option<Vec<u8>> {
    let dictionary = trailer.trim_ascii().strip_prefix(b"trailer")?.trim_ascii();
    let entries = dictionary.strip_prefix(b"<<")?.strip_suffix(b">>")?;
    let (before, size) = split_behind(entries, b"/Size")?;
    let behind = size.trim_ascii_start();
    let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
    Some([before, &behind[digits..]].concat())
}

fn last_place(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).rposition(|window| window == word)
}

/// What stands before a word and what behind it.
fn split_behind<'b>(bytes: &'b [u8], word: &[u8]) -> Option<(&'b [u8], &'b [u8])> {
    let place = bytes.windows(word.len()).position(|window| window == word)?;
    Some((&bytes[..place], &bytes[place + word.len()..]))
}

fn leading_number(bytes: &[u8]) -> Option<usize> {
    let bytes = bytes.trim_ascii_start();
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()
}

/// The catalog with two entries that `krilla` cannot be asked for: viewers show the outline at once
/// (7.7.2), and what may be left out of the marks' entry is left out, because Poppler 22 warns of it.
/// Other objects as they are.
fn opened_catalog(body: &[u8]) -> Cow<'_, [u8]> {
    const WRITTEN: &[u8] = b"/MarkInfo<</Marked true/Suspects false>>";
    const WANTED: &[u8] = b"/MarkInfo<</Marked true>>/PageMode/UseOutlines";
    if !body.starts_with(b"<</Type/Catalog") {
        return Cow::Borrowed(body);
    }
    match split_behind(body, WRITTEN) {
        Some((before, behind)) => Cow::Owned([before, WANTED, behind].concat()),
        None => Cow::Borrowed(body),
    }
}

/// The objects one behind the other, with their numbers and places before them.
fn object_stream(group: &[&PlainObject<'_>]) -> io::Result<Vec<u8>> {
    let mut numbers = Vec::new();
    let mut bodies = Vec::new();
    for object in group {
        write!(numbers, "{} {} ", object.number, bodies.len())?;
        bodies.extend(opened_catalog(object.body).iter());
        bodies.push(b'\n');
    }
    let first = numbers.len();
    numbers.extend(bodies);
    let entries = format!("/Type/ObjStm/N {}/First {first}", group.len());
    compressed_stream(entries.as_bytes(), &numbers)
}

/// Kind, place and index of every object: one, four and two bytes.
fn cross_reference_stream(places: &[PackedPlace], trailer: &[u8]) -> io::Result<Vec<u8>> {
    let mut table = Vec::with_capacity(places.len() * 7);
    for place in places {
        let (kind, place, index) = match place {
            PackedPlace::Free => (0, 0, u16::MAX),
            PackedPlace::Alone(offset) => (1, *offset, 0),
            PackedPlace::Within(stream, index) => (2, *stream, *index as u16),
        };
        let place = u32::try_from(place).map_err(io::Error::other)?;
        table.push(kind);
        table.extend(place.to_be_bytes());
        table.extend(index.to_be_bytes());
    }
    let entries = format!("/Type/XRef/Size {}/W[1 4 2]", places.len());
    compressed_stream(&[entries.as_bytes(), trailer].concat(), &table)
}

fn compressed_stream(entries: &[u8], content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(COMPRESSION_LEVEL));
    encoder.write_all(content)?;
    let compressed = encoder.finish()?;
    let mut stream = Vec::with_capacity(compressed.len() + entries.len() + 64);
    stream.extend(b"<<");
    stream.extend(entries);
    write!(stream, "/Filter/FlateDecode/Length {}>>\nstream\n", compressed.len())?;
    stream.extend(compressed);
    stream.extend(b"\nendstream");
    Ok(stream)
}
