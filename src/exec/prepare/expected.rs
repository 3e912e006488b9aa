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
    /// How far an element may lie from what is expected.
    pub tolerance: Tolerance,
    /// Whether elements stand in their places.
    pub placement: Placement,
    /// Where the expected values come from.
    pub contents: ExpectedContents,
}

/// Where expected values come from.
#[derive(Debug, Clone)]
pub enum ExpectedContents {
    /// Values at byte offsets.
    Values(Vec<Leaf>),
    /// `length` bytes from byte `offset` on equal those of another buffer's start, scalar by
    /// scalar.
    Buffer {
        /// Index into `Job::buffers` of the other one.
        other: usize,
        /// Type that both are read as.
        scalar: ScalarType,
        /// First byte that is judged.
        offset: usize,
        /// Bytes that are judged.
        length: usize,
    },
    /// `length` bytes from byte `offset` on are what a reference run leaves there.
    Reference {
        /// The reference's job on the test's initial buffers.
        job: Box<Job>,
        /// Type that both are read as.
        scalar: ScalarType,
        /// First byte that is judged.
        offset: usize,
        /// Bytes that are judged.
        length: usize,
    },
    /// A checker, run on the final contents, leaves nothing but ones in its verdict, which is the
    /// buffer judged.
    Check {
        /// The checker's job; its buffers are filled in from the final contents.
        job: Box<Job>,
    },
}
