//! What a test expects, ready to be compared.

use crate::Job;
use vkcert_model::element::ScalarType;
use vkcert_model::image::ImageFormat;
use vkcert_model::procedure::Tolerance;
use vkcert_oracle::comparison::Placement;
use vkcert_oracle::scalar::Leaf;

/// One expectation.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Index into `Job::buffers`.
    pub buffer: usize,
    /// For an image whose texels are not plain scalars: offsets count the decoded components.
    pub format: Option<ImageFormat>,
    pub tolerance: Tolerance,
    pub placement: Placement,
    pub contents: ExpectedContents,
}

/// Where expected values come from.
#[derive(Debug, Clone)]
pub enum ExpectedContents {
    /// Values at byte offsets.
    Values(Vec<Leaf>),
    /// `length` bytes from byte `offset` on equal those of another buffer's start, scalar by
    /// scalar.
    Buffer { other: usize, scalar: ScalarType, offset: usize, length: usize },
    /// `length` bytes from byte `offset` on are what a reference run leaves there.
    Reference { job: Box<Job>, scalar: ScalarType, offset: usize, length: usize },
    /// A checker, run on the final contents, leaves nothing but ones in its verdict, which is the
    /// buffer judged.
    Check { job: Box<Job> },
}
