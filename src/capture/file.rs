//! The file of a capture: a head, then frames of one record each.
//!
//! Knows: the head (eight bytes that name the format, then its version as four bytes) and frames
//! (length as four bytes, then the record in postcard's form); numbers are little-endian.
//! Promises: a file that does not follow the format ends in a diagnostic with the record and the
//! byte where it fails, whatever its bytes are; no length of the file is believed beyond what the
//! file holds. A file that ends without an [`Event::End`] reads as incomplete.
//! Does not cover: whether records fit each other (`program`).

use crate::event::{Event, Record};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::path::display_path;

/// The version of the format that this program writes.
pub const FORMAT_VERSION: u32 = 3;

/// The first version that it reads. Later versions add records and change none.
pub const FIRST_VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"vkcertCP";

/// Bytes of the head.
pub const HEAD_BYTES: usize = MAGIC.len() + 4;

/// Bytes of a record at most: a larger one is refused by writer and reader.
pub const MOST_RECORD_BYTES: usize = 256 << 20;

/// Records of a file at most.
pub const MOST_RECORDS: u64 = 20_000_000;

/// The head of a new file.
pub fn head() -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..MAGIC.len()].copy_from_slice(&MAGIC);
    head[MAGIC.len()..].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    head
}

/// A record that a file cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a record is larger than {MOST_RECORD_BYTES} bytes or cannot be written")]
pub struct RecordError;

/// Appends the frame of a record to `frames`; on an error nothing is appended.
pub fn append_frame(record: &Record, frames: &mut Vec<u8>) -> Result<(), RecordError> {
    let start = frames.len();
    frames.extend_from_slice(&[0; 4]);
    let written = postcard::to_io(record, &mut *frames).map(|_| ());
    let length = frames.len() - start - 4;
    match u32::try_from(length) {
        Ok(length_word) if written.is_ok() && length <= MOST_RECORD_BYTES => {
            frames[start..start + 4].copy_from_slice(&length_word.to_le_bytes());
            Ok(())
        }
        _ => {
            frames.truncate(start);
            Err(RecordError)
        }
    }
}

/// Whether a capture tells all that the program did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completeness {
    /// It ends as it should, and nothing was lost.
    Complete,
    /// It does not; why, in words.
    Incomplete(String),
}

/// Where in a file a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordPlace {
    /// Number of the record, from 1.
    pub record: u64,
    /// Its first byte.
    pub byte: u64,
}

/// Reads records one by one.
pub struct CaptureReader {
    shown_path: String,
    source: BufReader<File>,
    file_bytes: u64,
    position: u64,
    version: u32,
    records: u64,
    lost: u64,
    ended: bool,
    /// The bytes of the last record.
    payload: Vec<u8>,
}

impl CaptureReader {
    /// Opens a file and reads its head.
    pub fn open(path: &Path) -> Result<Self, Diagnostic> {
        let shown_path = display_path(path);
        let unreadable = |error: std::io::Error| {
            let kind = if error.kind() == ErrorKind::NotFound { "missing-file" } else { "capture" };
            Diagnostic::new(kind, format!("cannot read the capture: {error}")).in_file(&shown_path)
        };
        let mut file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            let message = "a capture must be a regular file";
            return Err(Diagnostic::new("capture", message).in_file(&shown_path));
        }
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        let mut reader = Self {
            shown_path,
            source: BufReader::with_capacity(1 << 16, file),
            file_bytes: metadata.len(),
            position: 0,
            version: FORMAT_VERSION,
            records: 0,
            lost: 0,
            ended: false,
            payload: Vec::new(),
        };
        reader.read_head()?;
        Ok(reader)
    }

    /// The version of the file's format.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The next record; none behind the last one.
    pub fn next_record(&mut self) -> Result<Option<(RecordPlace, Record)>, Diagnostic> {
        if self.position == self.file_bytes {
            return Ok(None);
        }
        let place = RecordPlace { record: self.records + 1, byte: self.position };
        if self.ended {
            return Err(self.fault(place, "bytes follow the record that ends the capture"));
        }
        if place.record > MOST_RECORDS {
            return Err(self.fault(place, &format!("there are more than {MOST_RECORDS} records")));
        }
        self.read_payload(place)?;
        let (record, rest) = postcard::take_from_bytes::<Record>(&self.payload)
            .map_err(|error| self.fault(place, &format!("it is no record: {error}")))?;
        if !rest.is_empty() {
            let message = format!("{} bytes follow what it holds", rest.len());
            return Err(self.fault(place, &message));
        }
        self.note_end(place, &record.event)?;
        self.records = place.record;
        Ok(Some((place, record)))
    }

    /// Whether the capture is complete, once all records are read.
    pub fn completeness(&self) -> Completeness {
        if self.lost > 0 {
            let lost = self.lost;
            return Completeness::Incomplete(format!("the layer lost {lost} records"));
        }
        if self.ended {
            return Completeness::Complete;
        }
        let reason = "the program, or the layer's writing, ended before the capture was closed";
        Completeness::Incomplete(reason.to_owned())
    }

    /// A diagnostic about a record.
    pub fn fault(&self, place: RecordPlace, message: &str) -> Diagnostic {
        let RecordPlace { record, byte } = place;
        let message = format!("record {record} at byte {byte}: {message}");
        Diagnostic::new("capture", message).in_file(&self.shown_path)
    }

    fn read_head(&mut self) -> Result<(), Diagnostic> {
        let refused = |message: String| Diagnostic::new("capture", message);
        let mut head_bytes = [0; HEAD_BYTES];
        if self.source.read_exact(&mut head_bytes).is_err() || head_bytes[..8] != MAGIC {
            let message = "the file is no capture of vkcert".to_owned();
            return Err(refused(message).in_file(&self.shown_path));
        }
        let mut version_bytes = [0; 4];
        version_bytes.copy_from_slice(&head_bytes[MAGIC.len()..]);
        let version = u32::from_le_bytes(version_bytes);
        if !(FIRST_VERSION..=FORMAT_VERSION).contains(&version) {
            let message = format!(
                "the capture has version {version} of the format; this program reads \
                 {FIRST_VERSION} to {FORMAT_VERSION}"
            );
            return Err(refused(message).in_file(&self.shown_path));
        }
        self.version = version;
        self.position = HEAD_BYTES as u64;
        Ok(())
    }

    fn read_payload(&mut self, place: RecordPlace) -> Result<(), Diagnostic> {
        let rest = self.file_bytes.saturating_sub(self.position);
        let truncated = "the file ends inside of it";
        let mut length_bytes = [0; 4];
        if rest < 4 || self.source.read_exact(&mut length_bytes).is_err() {
            return Err(self.fault(place, truncated));
        }
        let length = u64::from(u32::from_le_bytes(length_bytes));
        if length > MOST_RECORD_BYTES as u64 {
            let message = format!("its length, {length} bytes, is above the limit");
            return Err(self.fault(place, &message));
        }
        if length > rest - 4 {
            return Err(self.fault(place, truncated));
        }
        self.payload.resize(usize::try_from(length).unwrap_or(0), 0);
        if self.source.read_exact(&mut self.payload).is_err() {
            return Err(self.fault(place, truncated));
        }
        self.position += 4 + length;
        Ok(())
    }

    fn note_end(&mut self, place: RecordPlace, event: &Event) -> Result<(), Diagnostic> {
        match event {
            Event::Lost(count) => self.lost = self.lost.saturating_add((*count).max(1)),
            Event::End(end) => {
                let before = place.record - 1;
                if end.records != before {
                    let message = format!(
                        "the capture was closed after {} records, but {before} stand before",
                        end.records
                    );
                    return Err(self.fault(place, &message));
                }
                self.ended = true;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Cuts a frame that the end of a killed program tore off the end of a file. Returns how many
/// bytes were cut; a file without a whole head is left as it is.
pub fn cut_torn_frame(path: &Path) -> std::io::Result<u64> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let file_bytes = file.metadata()?.len();
    let mut whole = HEAD_BYTES as u64;
    if file_bytes < whole {
        return Ok(0);
    }
    let mut length_bytes = [0; 4];
    loop {
        file.seek(SeekFrom::Start(whole))?;
        if file_bytes - whole < 4 || file.read_exact(&mut length_bytes).is_err() {
            break;
        }
        let next = whole + 4 + u64::from(u32::from_le_bytes(length_bytes));
        if next > file_bytes {
            break;
        }
        whole = next;
    }
    if whole < file_bytes {
        file.set_len(whole)?;
    }
    Ok(file_bytes - whole)
}
