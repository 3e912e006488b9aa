//! What kernels declare of the images that are bound for them, and what formats hold.
//!
//! Knows: OpTypeImage, the numbers of VkFormat with what a kernel reads of each (Vulkan
//! specification, "Interpretation of Numeric Format"), and which VkFormat an image format of SPIR-V
//! stands for ("Compatibility Between SPIR-V Image Formats And Vulkan Formats").
//! Does not cover: what a device can do with a format.

use rspirv::dr::Operand;
use rspirv::spirv::{ImageFormat, ImageOperands};
use std::collections::BTreeMap;
use vkcert_model::image::TexelClass;
use vkcert_spirv::interface::Reflection;
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::types::{ImageType, Signedness, Type, Types};

/// An image as a kernel declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclaredImage {
    /// Its type.
    pub image: ImageType,
    /// What the kernel reads texels as; none of a type that images do not have.
    pub numbers: Option<TexelNumbers>,
    /// Whether instructions may read its numbers with another sign.
    pub sign: SignReading,
}

/// What the components of texels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelNumbers {
    /// Their class.
    pub class: TexelClass,
    /// Whether they have 64 bits.
    pub width: TexelWidth,
}

/// Bits of a component, as far as they must agree on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TexelWidth {
    /// 64.
    Wide,
    /// Fewer.
    Narrow,
}

/// By what the sign of integers is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignReading {
    /// By the declared type.
    Declared,
    /// By image operands of the module (SignExtend, ZeroExtend), perhaps.
    PerInstruction,
}

/// The images that an entry point uses, by the id of their variables.
pub(crate) fn declared_images(
    module: &Module,
    reflection: &Reflection,
) -> BTreeMap<Id, DeclaredImage> {
    let types = Types::of_module(module);
    let sign = sign_reading(module);
    let mut images = BTreeMap::new();
    for resource in &reflection.resources {
        let image = match types.get(resource.block_type) {
            Some(Type::SampledImage { image }) => types.get(*image),
            other => other,
        };
        if let Some(Type::Image(image)) = image {
            let numbers = numbers_of_type(&types, image.sampled_type);
            images.insert(resource.variable, DeclaredImage { image: *image, numbers, sign });
        }
    }
    images
}

fn sign_reading(module: &Module) -> SignReading {
    let extended = ImageOperands::SIGN_EXTEND | ImageOperands::ZERO_EXTEND;
    let mut operands = module.instructions.iter().flat_map(|instruction| &instruction.operands);
    let is_extended = operands.any(|operand| match operand {
        Operand::ImageOperands(mask) => mask.intersects(extended),
        _ => false,
    });
    if is_extended { SignReading::PerInstruction } else { SignReading::Declared }
}

fn numbers_of_type(types: &Types, sampled_type: Id) -> Option<TexelNumbers> {
    let (class, bits) = match types.get(sampled_type)? {
        Type::Float { width, .. } => (TexelClass::Float, *width),
        Type::Int { width, signedness: Signedness::Signed } => (TexelClass::Signed, *width),
        Type::Int { width, signedness: Signedness::Unsigned } => (TexelClass::Unsigned, *width),
        _ => return None,
    };
    let width = if bits == 64 { TexelWidth::Wide } else { TexelWidth::Narrow };
    Some(TexelNumbers { class, width })
}

/// VK_IMAGE_ASPECT_STENCIL_BIT.
const STENCIL: u32 = 0x4;

/// What a kernel reads of a VkFormat through a view with these aspects; none where that is not known
/// here.
pub(crate) fn numbers_of_format(format: i32, aspects: u32) -> Option<TexelNumbers> {
    use TexelClass::{Float, Signed, Unsigned};
    // Normalised, scaled and sRGB numbers are read as floats. UNORM, SNORM, USCALED, SSCALED, UINT,
    // SINT and a seventh follow one another, from the first format of each order of components.
    let in_rows = |first: i32, row: i32| match (format - first) % row {
        4 => Unsigned,
        5 => Signed,
        _ => Float,
    };
    // UINT, SINT and SFLOAT do.
    let in_triples = |first: i32| [Unsigned, Signed, Float][((format - first) % 3) as usize];
    let class = match format {
        // Packed formats of 8 and 16 bits.
        1..=8 => Float,
        9..=57 => in_rows(9, 7),
        58..=69 => in_rows(58, 6),
        70..=97 => in_rows(70, 7),
        98..=121 => in_triples(98),
        122..=126 => Float,
        // S8_UINT.
        127 => Unsigned,
        128..=130 if aspects == STENCIL => Unsigned,
        128..=130 => Float,
        // Compressed formats.
        131..=184 => Float,
        _ => return None,
    };
    let width = if (110..=121).contains(&format) { TexelWidth::Wide } else { TexelWidth::Narrow };
    Some(TexelNumbers { class, width })
}

/// The VkFormat of an image format that a kernel declares; none where it declares none.
pub(crate) fn format_number(declared: ImageFormat) -> Option<i32> {
    Some(match declared {
        ImageFormat::Unknown => return None,
        ImageFormat::R8 => 9,
        ImageFormat::R8Snorm => 10,
        ImageFormat::R8ui => 13,
        ImageFormat::R8i => 14,
        ImageFormat::Rg8 => 16,
        ImageFormat::Rg8Snorm => 17,
        ImageFormat::Rg8ui => 20,
        ImageFormat::Rg8i => 21,
        ImageFormat::Rgba8 => 37,
        ImageFormat::Rgba8Snorm => 38,
        ImageFormat::Rgba8ui => 41,
        ImageFormat::Rgba8i => 42,
        ImageFormat::Rgb10A2 => 64,
        ImageFormat::Rgb10a2ui => 68,
        ImageFormat::R16 => 70,
        ImageFormat::R16Snorm => 71,
        ImageFormat::R16ui => 74,
        ImageFormat::R16i => 75,
        ImageFormat::R16f => 76,
        ImageFormat::Rg16 => 77,
        ImageFormat::Rg16Snorm => 78,
        ImageFormat::Rg16ui => 81,
        ImageFormat::Rg16i => 82,
        ImageFormat::Rg16f => 83,
        ImageFormat::Rgba16 => 91,
        ImageFormat::Rgba16Snorm => 92,
        ImageFormat::Rgba16ui => 95,
        ImageFormat::Rgba16i => 96,
        ImageFormat::Rgba16f => 97,
        ImageFormat::R32ui => 98,
        ImageFormat::R32i => 99,
        ImageFormat::R32f => 100,
        ImageFormat::Rg32ui => 101,
        ImageFormat::Rg32i => 102,
        ImageFormat::Rg32f => 103,
        ImageFormat::Rgba32ui => 107,
        ImageFormat::Rgba32i => 108,
        ImageFormat::Rgba32f => 109,
        ImageFormat::R64ui => 110,
        ImageFormat::R64i => 111,
        ImageFormat::R11fG11fB10f => 122,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_capture::format::image_format;

    /// Formats that test procedures have are known twice: both agree.
    #[test]
    fn formats_hold_what_test_procedures_read_of_them() {
        let known = (0..200).filter_map(|number| Some((number, image_format(number)?)));
        let mut count = 0;
        for (number, format) in known {
            let numbers = numbers_of_format(number, 1).unwrap();
            assert_eq!(numbers.class, format.class(), "{format}");
            let is_wide = format.texel_size() / usize::from(format.components()) == 8;
            assert_eq!(numbers.width == TexelWidth::Wide, is_wide, "{format}");
            count += 1;
        }
        assert_eq!(count, vkcert_model::image::ImageFormat::ALL.len());
        assert_eq!(numbers_of_format(129, STENCIL).unwrap().class, TexelClass::Unsigned);
        assert_eq!(numbers_of_format(129, 2).unwrap().class, TexelClass::Float);
        assert_eq!(numbers_of_format(1_000_156_000, 1), None);
    }

    #[test]
    fn each_declared_format_stands_for_one_of_its_name() {
        let mut named = 0;
        for number in 1..=41 {
            let declared = ImageFormat::from_u32(number).unwrap();
            let format = image_format(format_number(declared).unwrap()).unwrap();
            let plain = |name: String| name.to_lowercase().replace('_', "");
            assert_eq!(plain(format!("{declared:?}")), plain(format.to_string()));
            named += 1;
        }
        assert_eq!(named, 41);
        assert_eq!(format_number(ImageFormat::Unknown), None);
    }
}
