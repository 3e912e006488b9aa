//! Formats of images whose texels are followed.
//!
//! Knows: the numbers of the formats that test procedures have (Vulkan specification, "VkFormat").
//! Does not cover: formats of blocks and of several planes, stencil.

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
pub fn image_format(number: i32) -> Option<ImageFormat> {
    let known = FORMATS.iter().find(|(own, _)| *own == number);
    known.map(|(_, format)| *format)
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
