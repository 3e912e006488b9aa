//! A decompressed stream that ends in an error where it grows beyond a limit.

use std::io::{self, Read};

/// What a stream that is too long ends with.
#[derive(Debug, thiserror::Error)]
#[error("it decompresses to more than {limit} bytes")]
pub(crate) struct TooLong {
    limit: u64,
}

/// Reads at most `limit` bytes of a stream.
pub(crate) struct LimitedReader<R> {
    stream: R,
    limit: u64,
    left: u64,
}

impl<R: Read> LimitedReader<R> {
    pub(crate) fn new(stream: R, limit: u64) -> Self {
        Self { stream, limit, left: limit }
    }

    pub(crate) fn into_inner(self) -> R {
        self.stream
    }
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.left = (self.left)
            .checked_sub(count as u64)
            .ok_or_else(|| io::Error::other(TooLong { limit: self.limit }))?;
        Ok(count)
    }
}
