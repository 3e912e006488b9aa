//! Formats of images, and where texels lie in the buffers that they are copied from and to.
//!
//! Knows: the numbers of the formats that test procedures have (Vulkan specification, "VkFormat"),
//! and how a copy lays rows out in a buffer ("Copying Data Between Buffers and Images").
//! Does not cover: formats of blocks and of several planes, stencil.

use vkcert_capture::image::BufferImageRegion;
use vkcert_capture::program::ImageObject;
use vkcert_model::image::ImageFormat;

/// Formats with their VkFormat.
const FORMATS: &[(i32, ImageFormat)] = &[
    (9, ImageFormat::R8),
    (10, ImageFormat::R8Snorm),
    (13, ImageFormat::R8ui),
    (14, ImageFormat::R8i),
    (16, ImageFormat::Rg8),
    (17, ImageFormat::Rg8Snorm),
    (20, ImageFormat::Rg8ui),
    (21, ImageFormat::Rg8i),
    (37, ImageFormat::Rgba8),
    (38, ImageFormat::Rgba8Snorm),
    (41, ImageFormat::Rgba8ui),
    (42, ImageFormat::Rgba8i),
    (43, ImageFormat::Rgba8Srgb),
    (64, ImageFormat::Rgb10A2),
    (68, ImageFormat::Rgb10A2ui),
    (70, ImageFormat::R16),
    (71, ImageFormat::R16Snorm),
    (74, ImageFormat::R16ui),
    (75, ImageFormat::R16i),
    (76, ImageFormat::R16f),
    (77, ImageFormat::Rg16),
    (78, ImageFormat::Rg16Snorm),
    (81, ImageFormat::Rg16ui),
    (82, ImageFormat::Rg16i),
    (83, ImageFormat::Rg16f),
    (91, ImageFormat::Rgba16),
    (92, ImageFormat::Rgba16Snorm),
    (95, ImageFormat::Rgba16ui),
    (96, ImageFormat::Rgba16i),
    (97, ImageFormat::Rgba16f),
    (98, ImageFormat::R32ui),
    (99, ImageFormat::R32i),
    (100, ImageFormat::R32f),
    (101, ImageFormat::Rg32ui),
    (102, ImageFormat::Rg32i),
    (103, ImageFormat::Rg32f),
    (107, ImageFormat::Rgba32ui),
    (108, ImageFormat::Rgba32i),
    (109, ImageFormat::Rgba32f),
    (110, ImageFormat::R64ui),
    (111, ImageFormat::R64i),
    (122, ImageFormat::R11fG11fB10f),
    (124, ImageFormat::D16),
    (126, ImageFormat::D32f),
];

/// The format of a VkFormat; none of one that test procedures do not have.
pub(crate) fn image_format(number: i32) -> Option<ImageFormat> {
    let known = FORMATS.iter().find(|(own, _)| *own == number);
    known.map(|(_, format)| *format)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_one_number() {
        for format in ImageFormat::ALL {
            let own = FORMATS.iter().filter(|(_, known)| known == format).count();
            assert_eq!(own, 1, "{format}");
        }
        let ascending = FORMATS.windows(2).all(|pair| pair[0].0 < pair[1].0);
        assert!(ascending, "numbers ascend, so that none stands twice");
    }
}
