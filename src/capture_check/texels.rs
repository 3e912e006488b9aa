//! Where texels lie in the buffers that they are copied from and to.
//!
//! Knows: how a copy lays rows out in a buffer (Vulkan specification, "Copying Data Between Buffers
//! and Images").
//! Does not cover: formats of blocks and of several planes, stencil.

use vkcert_capture::format::image_format;
use vkcert_capture::image::BufferImageRegion;
use vkcert_capture::program::ImageObject;

/// Bytes of a texel; none where that is not known.
pub(crate) fn texel_bytes(image: &ImageObject) -> Option<u64> {
    image_format(image.made.format).map(|format| format.texel_size() as u64)
}

/// Rows of texels in a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BufferRows {
    first: u64,
    lines: u64,
    /// Bytes from one row to the next, and from one slice or layer to the next.
    pitch: u64,
    slice: u64,
    /// Bytes of a row.
    pub(crate) bytes: u64,
}

impl BufferRows {
    /// The first byte of a row, by its number among [`ImageObject::rows`].
    pub(crate) fn start(&self, row: u64) -> u64 {
        let behind = (row / self.lines).saturating_mul(self.slice);
        let behind = behind.saturating_add((row % self.lines).saturating_mul(self.pitch));
        self.first.saturating_add(behind)
    }

    /// Whether rows stand behind one another without a gap.
    pub(crate) fn is_tight(&self) -> bool {
        self.pitch == self.bytes && self.slice == self.lines.saturating_mul(self.pitch)
    }
}

/// Where a copy has its rows in the buffer.
pub(crate) fn buffer_rows(
    image: &ImageObject,
    region: &BufferImageRegion,
    texel_bytes: u64,
) -> BufferRows {
    let own = |given: u32, extent: u32| u64::from(if given == 0 { extent } else { given });
    let [columns, lines, _] = region.texels.extent;
    let pitch = own(region.row_length, columns).saturating_mul(texel_bytes);
    BufferRows {
        first: region.buffer_offset,
        lines: u64::from(lines).max(1),
        pitch,
        slice: own(region.image_height, lines).saturating_mul(pitch),
        bytes: image.rows(&region.texels).width.saturating_mul(texel_bytes),
    }
}
