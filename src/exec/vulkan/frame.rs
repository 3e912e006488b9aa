//! Frames: messages on the pipes between the program and its worker.
//!
//! Knows: a header with a magic number, the version and the length, then the message.
//! Promises: a frame beyond its limit is refused before it is read; anything that is not a whole
//! frame of this version is an error, never a panic.
//! Does not cover: what the messages are (`protocol`).

use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// Changes whenever a wire type changes; parent and worker are the same program, so a difference
/// means a wrong path.
pub(crate) const VERSION: u16 = 9;

pub(super) const MAGIC: [u8; 4] = *b"vkcw";

pub(super) const HEADER: usize = 16;

/// Why bytes on a pipe are no frame.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("the pipe is closed")]
    Closed,
    #[error("bytes that are no frame")]
    Magic,
    #[error("protocol version {found} instead of {VERSION}")]
    Version { found: u16 },
    #[error("a frame of {length} bytes where at most {limit} are allowed")]
    Oversized { length: u64, limit: u64 },
    #[error("a frame that does not decode ({reason})")]
    Content { reason: String },
    #[error("{0}")]
    Pipe(#[from] io::Error),
}

/// A message as the bytes of one frame.
pub(crate) fn encode_frame<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let encode_error = |error: postcard::Error| FrameError::Content { reason: error.to_string() };
    let mut frame_bytes = postcard::to_extend(message, vec![0; HEADER]).map_err(encode_error)?;
    let payload_size = (frame_bytes.len() - HEADER) as u64;
    frame_bytes[..4].copy_from_slice(&MAGIC);
    frame_bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
    frame_bytes[8..HEADER].copy_from_slice(&payload_size.to_le_bytes());
    Ok(frame_bytes)
}

/// Writes a frame and sends it on its way.
pub(crate) fn write_frame<T: Serialize>(
    pipe: &mut impl Write,
    message: &T,
) -> Result<(), FrameError> {
    pipe.write_all(&encode_frame(message)?)?;
    Ok(pipe.flush()?)
}

/// Takes the first frame off what has been received; none: it is not whole yet.
pub(crate) fn take_frame<T: for<'de> Deserialize<'de>>(
    received_bytes: &mut Vec<u8>,
    payload_limit: u64,
) -> Result<Option<T>, FrameError> {
    let Some(header) = received_bytes.first_chunk::<HEADER>() else { return Ok(None) };
    let frame_end = HEADER as u64 + payload_length(header, payload_limit)?;
    if (received_bytes.len() as u64) < frame_end {
        return Ok(None);
    }
    let message = decode_payload(&received_bytes[HEADER..frame_end as usize])?;
    received_bytes.drain(..frame_end as usize);
    Ok(Some(message))
}

/// Writes a frame that may wait for the next one.
pub(crate) fn queue_frame<T: Serialize>(
    pipe: &mut impl Write,
    message: &T,
) -> Result<(), FrameError> {
    Ok(pipe.write_all(&encode_frame(message)?)?)
}

/// Reads one frame of at most `limit` bytes.
pub(crate) fn read_frame<T: for<'de> Deserialize<'de>>(
    pipe: &mut impl Read,
    payload_limit: u64,
) -> Result<T, FrameError> {
    let mut header = [0; HEADER];
    read_header(pipe, &mut header)?;
    let payload_size = payload_length(&header, payload_limit)?;
    let mut payload = Vec::new();
    pipe.take(payload_size).read_to_end(&mut payload)?;
    if (payload.len() as u64) < payload_size {
        return Err(FrameError::Closed);
    }
    decode_payload(&payload)
}

pub(super) fn payload_length(header: &[u8; HEADER], payload_limit: u64) -> Result<u64, FrameError> {
    if header[..4] != MAGIC {
        return Err(FrameError::Magic);
    }
    let found_version = u16::from_le_bytes([header[4], header[5]]);
    if found_version != VERSION {
        return Err(FrameError::Version { found: found_version });
    }
    let payload_size = u64::from_le_bytes(header[8..].try_into().expect("8 bytes"));
    if payload_size > payload_limit {
        Err(FrameError::Oversized { length: payload_size, limit: payload_limit })
    } else {
        Ok(payload_size)
    }
}

pub(super) fn decode_payload<T: for<'de> Deserialize<'de>>(
    payload: &[u8],
) -> Result<T, FrameError> {
    let (message, trailing_bytes) = postcard::take_from_bytes(payload)
        .map_err(|error| FrameError::Content { reason: error.to_string() })?;
    match trailing_bytes.len() {
        0 => Ok(message),
        extra => Err(FrameError::Content { reason: format!("{extra} bytes behind the message") }),
    }
}

/// A pipe that closes between frames is `Closed`; so is one that closes within a header.
pub(super) fn read_header(
    pipe: &mut impl Read,
    header: &mut [u8; HEADER],
) -> Result<(), FrameError> {
    match pipe.read_exact(header) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(FrameError::Closed),
        Err(error) => Err(FrameError::Pipe(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Bytes, Ending, Fitness, Reply, WireRecords, WireRun, WireRuns};

    fn records() -> WireRecords {
        WireRecords { module: 1, words: vec![u32::MAX, 0, 7], witnesses: vec![(33, [1, 2, 3])] }
    }

    fn run_reply() -> Reply {
        let run = WireRun {
            buffers: vec![Bytes::from(vec![0xCD; 300]), Bytes::default()],
            records: vec![records()],
            ..WireRun::ended(Ending::Completed)
        };
        Reply::Ran(WireRuns { fitness: Fitness::Fit, different: vec![run], of: vec![0, 0] })
    }

    #[test]
    fn a_frame_comes_back_as_it_was_written() {
        let bytes = encode_frame(&run_reply()).expect("encodes");
        let Reply::Ran(runs) = read_frame(&mut bytes.as_slice(), 4096).expect("decodes") else {
            panic!("another reply")
        };
        assert_eq!(runs.of, [0, 0]);
        let run = runs.into_first();
        assert_eq!(run.buffers, [Bytes::from(vec![0xCD; 300]), Bytes::default()]);
        assert_eq!(run.records, [records()]);
    }

    #[test]
    fn frames_are_taken_off_a_stream_once_they_are_whole() {
        let one = encode_frame(&run_reply()).expect("encodes");
        let stream = [one.clone(), one.clone()].concat();
        let (mut received, mut taken) = (Vec::new(), 0);
        for byte in stream {
            received.push(byte);
            taken +=
                usize::from(take_frame::<Reply>(&mut received, 4096).expect("decodes").is_some());
        }
        assert_eq!((taken, received.len()), (2, 0));
        let mut long = one[..HEADER].to_vec();
        let error = take_frame::<Reply>(&mut long, 16).expect_err("too long");
        assert!(matches!(error, FrameError::Oversized { limit: 16, .. }), "{error}");
    }

    #[test]
    fn an_oversized_frame_is_refused_before_it_is_read() {
        let bytes = encode_frame(&run_reply()).expect("encodes");
        let error = read_frame::<Reply>(&mut &bytes[..HEADER], 16).expect_err("too long");
        assert!(matches!(error, FrameError::Oversized { limit: 16, .. }), "{error}");
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = encode_frame(&run_reply()).expect("encodes");
        for end in 0..bytes.len() {
            read_frame::<Reply>(&mut &bytes[..end], 4096).expect_err("truncated");
        }
    }

    #[test]
    fn other_versions_and_other_programs_are_named() {
        let mut bytes = encode_frame(&run_reply()).expect("encodes");
        bytes[4] = 99;
        assert!(matches!(
            read_frame::<Reply>(&mut bytes.as_slice(), 4096),
            Err(FrameError::Version { found: 99 })
        ));
        let text = b"Segmentation fault (core dumped)".to_vec();
        assert!(matches!(read_frame::<Reply>(&mut text.as_slice(), 4096), Err(FrameError::Magic)));
    }
}
