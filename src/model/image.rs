//! Images and samplers as test procedures declare them, and the texel formats that both share with texel buffers.
//!
//! Knows: the names of GLSL's format qualifiers (GLSL 4.60, 4.4.7 "Format Layout Qualifiers") and of the formats that can
//! only be sampled, the size of a texel, how the levels and layers of an image stand behind one another.
//! Promises: contents are laid out tightly: level by level from the largest, in it layer by layer (faces of cubes are
//! layers), in it slice by slice, row by row, texel by texel.
//! Does not cover: values to texels and back (`oracle::texel`), what a device offers (`exec::vulkan`).

use super::element::{Datum, ScalarType};
use super::procedure::Fill;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An image with its initial contents: at most one of `data`, `bytes`, `fill` and `file`; none: uninitialised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Number of axes, or cube.
    pub dim: ImageDim,
    /// Format of the stored texels.
    pub format: ImageFormat,
    /// Texels of the largest level: one number per dimension; a cube has two equal ones.
    pub extent: Vec<u32>,
    /// Array layers, each face of a cube counted; 1, for cubes 6, where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<u32>,
    /// Mip levels; 1 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<u32>,
    /// Samples of a texel: 1, 2, 4 or 8; 1 where it is left out. More than 1: a 2d image of one level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// Texels of all levels and layers, flat or one array per texel, as a kernel reads them (normalised formats:
    /// floats). Each of several samples counts as a texel; those of one texel stand next to one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Datum>,
    /// Raw contents, base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// Generated contents; the number of texels follows from the size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
    /// A `.npy` or raw file with the stored texels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Dimension of an image; array layers are counted apart.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum ImageDim {
    /// A line of texels.
    #[serde(rename = "1d")]
    One,
    /// A plane of texels.
    #[serde(rename = "2d")]
    Two,
    /// A volume of texels.
    #[serde(rename = "3d")]
    Three,
    /// Six square faces, stored as layers.
    #[serde(rename = "cube")]
    Cube,
}

impl ImageDim {
    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            ImageDim::One => "1d",
            ImageDim::Two => "2d",
            ImageDim::Three => "3d",
            ImageDim::Cube => "cube",
        }
    }

    /// Numbers of an extent.
    pub fn axes(self) -> usize {
        match self {
            ImageDim::One => 1,
            ImageDim::Two | ImageDim::Cube => 2,
            ImageDim::Three => 3,
        }
    }
}

/// How a texel's components are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TexelEncoding {
    /// Each component is a scalar, read as it is.
    Plain(ScalarType),
    /// Unsigned integers that stand for 0 to 1.
    Unorm(ScalarType),
    /// Signed integers that stand for -1 to 1.
    Snorm(ScalarType),
    /// 8 bits per component through the sRGB transfer function, alpha linear.
    Srgb,
    /// 10, 10, 10 and 2 bits that stand for 0 to 1, red in the lowest.
    Rgb10A2,
    /// 10, 10, 10 and 2 bits of unsigned integers, red in the lowest.
    Rgb10A2Uint,
    /// Unsigned floats of 11, 11 and 10 bits, red in the lowest.
    R11G11B10,
}

/// What a kernel reads from a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TexelClass {
    /// Floats, also of normalised formats.
    Float,
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
}

impl TexelClass {
    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            TexelClass::Float => "floating-point",
            TexelClass::Signed => "signed integer",
            TexelClass::Unsigned => "unsigned integer",
        }
    }
}

macro_rules! formats {
    ($($variant:ident $name:literal $components:literal $encoding:expr;)*) => {
        /// A texel format, by the name of its GLSL qualifier where it has one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum ImageFormat {
            $(
                #[doc = concat!("`", $name, "`, components of a texel: ", $components, ".")]
                #[serde(rename = $name)]
                $variant,
            )*
        }

        impl ImageFormat {
            /// Every format.
            pub const ALL: &'static [ImageFormat] = &[$(ImageFormat::$variant),*];

            /// The stored name.
            pub fn name(self) -> &'static str {
                match self { $(ImageFormat::$variant => $name,)* }
            }

            /// Components of a texel, 1 to 4.
            pub fn components(self) -> u8 {
                match self { $(ImageFormat::$variant => $components,)* }
            }

            /// How a texel is stored.
            pub fn encoding(self) -> TexelEncoding {
                use ScalarType::*;
                use TexelEncoding::*;
                match self { $(ImageFormat::$variant => $encoding,)* }
            }
        }
    };
}

formats! {
    Rgba32f "rgba32f" 4 Plain(Float32);
    Rgba16f "rgba16f" 4 Plain(Float16);
    Rg32f "rg32f" 2 Plain(Float32);
    Rg16f "rg16f" 2 Plain(Float16);
    R11fG11fB10f "r11f_g11f_b10f" 3 R11G11B10;
    R32f "r32f" 1 Plain(Float32);
    R16f "r16f" 1 Plain(Float16);
    Rgba16 "rgba16" 4 Unorm(Uint16);
    Rgb10A2 "rgb10_a2" 4 TexelEncoding::Rgb10A2;
    Rgba8 "rgba8" 4 Unorm(Uint8);
    Rg16 "rg16" 2 Unorm(Uint16);
    Rg8 "rg8" 2 Unorm(Uint8);
    R16 "r16" 1 Unorm(Uint16);
    R8 "r8" 1 Unorm(Uint8);
    Rgba16Snorm "rgba16_snorm" 4 Snorm(Int16);
    Rgba8Snorm "rgba8_snorm" 4 Snorm(Int8);
    Rg16Snorm "rg16_snorm" 2 Snorm(Int16);
    Rg8Snorm "rg8_snorm" 2 Snorm(Int8);
    R16Snorm "r16_snorm" 1 Snorm(Int16);
    R8Snorm "r8_snorm" 1 Snorm(Int8);
    Rgba32i "rgba32i" 4 Plain(Int32);
    Rgba16i "rgba16i" 4 Plain(Int16);
    Rgba8i "rgba8i" 4 Plain(Int8);
    Rg32i "rg32i" 2 Plain(Int32);
    Rg16i "rg16i" 2 Plain(Int16);
    Rg8i "rg8i" 2 Plain(Int8);
    R32i "r32i" 1 Plain(Int32);
    R16i "r16i" 1 Plain(Int16);
    R8i "r8i" 1 Plain(Int8);
    Rgba32ui "rgba32ui" 4 Plain(Uint32);
    Rgba16ui "rgba16ui" 4 Plain(Uint16);
    Rgb10A2ui "rgb10_a2ui" 4 Rgb10A2Uint;
    Rgba8ui "rgba8ui" 4 Plain(Uint8);
    Rg32ui "rg32ui" 2 Plain(Uint32);
    Rg16ui "rg16ui" 2 Plain(Uint16);
    Rg8ui "rg8ui" 2 Plain(Uint8);
    R32ui "r32ui" 1 Plain(Uint32);
    R16ui "r16ui" 1 Plain(Uint16);
    R8ui "r8ui" 1 Plain(Uint8);
    R64i "r64i" 1 Plain(Int64);
    R64ui "r64ui" 1 Plain(Uint64);
    Rgba8Srgb "rgba8_srgb" 4 Srgb;
    D16 "d16" 1 Unorm(Uint16);
    D32f "d32f" 1 Plain(Float32);
}

impl std::fmt::Display for ImageFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl ImageFormat {
    /// Bytes of a texel.
    pub fn texel_size(self) -> usize {
        match self.encoding() {
            TexelEncoding::Plain(scalar)
            | TexelEncoding::Unorm(scalar)
            | TexelEncoding::Snorm(scalar) => scalar.size() * usize::from(self.components()),
            TexelEncoding::Srgb
            | TexelEncoding::Rgb10A2
            | TexelEncoding::Rgb10A2Uint
            | TexelEncoding::R11G11B10 => 4,
        }
    }

    /// The type in which files write components and expectations compare them.
    pub fn component(self) -> ScalarType {
        match self.encoding() {
            TexelEncoding::Plain(scalar) => scalar,
            TexelEncoding::Rgb10A2Uint => ScalarType::Uint32,
            TexelEncoding::Unorm(_)
            | TexelEncoding::Snorm(_)
            | TexelEncoding::Srgb
            | TexelEncoding::Rgb10A2
            | TexelEncoding::R11G11B10 => ScalarType::Float32,
        }
    }

    /// What a kernel reads from the format.
    pub fn class(self) -> TexelClass {
        use super::element::ScalarClass;
        match self.component().class() {
            ScalarClass::Float => TexelClass::Float,
            ScalarClass::Signed => TexelClass::Signed,
            ScalarClass::Unsigned | ScalarClass::Bool => TexelClass::Unsigned,
        }
    }

    /// Whether texels are depths.
    pub fn is_depth(self) -> bool {
        matches!(self, ImageFormat::D16 | ImageFormat::D32f)
    }
}

/// Size and format of an image, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageShape {
    /// Number of axes, or cube.
    pub dim: ImageDim,
    /// Format of the stored texels.
    pub format: ImageFormat,
    /// Texels of level 0 in x, y, z; 1 where the image has no such axis.
    pub extent: [u32; 3],
    /// Array layers, at least 1; of a cube the faces.
    pub layers: u32,
    /// Mip levels, at least 1.
    pub levels: u32,
    /// Of each texel; 1: the image is not multisampled. The contents have those of one texel next to one another.
    pub samples: u32,
}

impl ImageShape {
    /// Levels until one texel is left (Vulkan specification, "Image Mip Level Sizing").
    pub fn most_levels(&self) -> u32 {
        32 - self.extent.into_iter().max().unwrap_or(1).max(1).leading_zeros()
    }

    /// Texels of a level in x, y, z.
    pub fn level_extent(&self, level: u32) -> [u32; 3] {
        self.extent.map(|axis| (axis >> level.min(31)).max(1))
    }

    /// Texels of one layer of a level, each as often as it has samples; none: more than can be counted.
    pub(crate) fn layer_texels(&self, level: u32) -> Option<u64> {
        let mut axes = self.level_extent(level).into_iter();
        axes.try_fold(u64::from(self.samples), |product, axis| product.checked_mul(u64::from(axis)))
    }

    /// Byte at which a layer of a level starts; of level `levels`: the size of the contents. None: more than can be counted.
    pub fn layer_start(&self, level: u32, layer: u32) -> Option<u64> {
        let mut texels = 0_u64;
        for level_before in 0..level {
            texels = texels
                .checked_add(self.layer_texels(level_before)?.checked_mul(self.layers.into())?)?;
        }
        if layer > 0 {
            texels = texels.checked_add(self.layer_texels(level)?.checked_mul(layer.into())?)?;
        }
        texels.checked_mul(self.format.texel_size() as u64)
    }

    /// The texel (its sample) with this number in the contents, from 0, and a component of it; none: there is none.
    pub fn texel_place(&self, number: u64, component: u32) -> Option<TexelPlace> {
        let mut remaining_texels = number;
        for level in 0..self.levels {
            let layer_texels = self.layer_texels(level)?;
            let level_texels = layer_texels.checked_mul(self.layers.into())?;
            if remaining_texels < level_texels {
                let [columns, rows, _] = self.level_extent(level).map(u64::from);
                let (layer, samples) = (remaining_texels / layer_texels, u64::from(self.samples));
                let (texel_in_layer, sample) =
                    (remaining_texels % layer_texels / samples, remaining_texels % samples);
                let texel = [
                    texel_in_layer % columns,
                    texel_in_layer / columns % rows,
                    texel_in_layer / (columns * rows),
                ]
                .map(|coordinate| coordinate as u32);
                let sample = (self.samples > 1).then_some(sample as u32);
                return Some(TexelPlace { level, layer: layer as u32, texel, sample, component });
            }
            remaining_texels -= level_texels;
        }
        None
    }

    /// Bytes of the contents; none: more than can be counted.
    pub fn bytes(&self) -> Option<u64> {
        self.layer_start(self.levels, 0)
    }
}

/// A component of a texel of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TexelPlace {
    /// Mip level, 0 is the largest.
    pub level: u32,
    /// Array layer, from 0.
    pub layer: u32,
    /// x, y and z.
    pub texel: [u32; 3],
    /// Of a multisampled image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<u32>,
    /// 0 to 3: red, green, blue, alpha.
    pub component: u32,
}

impl std::fmt::Display for TexelPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { level, layer, texel: [x, y, z], sample, component } = self;
        let color_name = ["red", "green", "blue", "alpha"].get(*component as usize).unwrap_or(&"?");
        write!(f, "texel ({x}, {y}, {z}) ")?;
        if let Some(sample) = sample {
            write!(f, "sample {sample} ")?;
        }
        f.write_str(color_name)?;
        if *level > 0 || *layer > 0 {
            write!(f, " of level {level}, layer {layer}")?;
        }
        Ok(())
    }
}

/// A sampler. What is left out has the default written beside it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sampler {
    /// Within a level; `nearest` where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// Between levels; `nearest` where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mipmap: Option<Filter>,
    /// Outside of the image, for every axis; `clamp_to_edge` where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<AddressMode>,
    /// For `clamp_to_border`; `transparent_black` where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub border: Option<BorderColor>,
    /// None: no comparison with a reference depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<CompareOperator>,
    /// 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_lod: Option<f32>,
    /// Every level where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lod: Option<f32>,
    /// 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lod_bias: Option<f32>,
    /// `normalized` where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinates: Option<Coordinates>,
}

/// How a sampler finds a value between texels or mip levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    /// The nearest one alone.
    #[default]
    Nearest,
    /// The neighbours, weighted by distance.
    Linear,
}

/// What a sampler reads outside of the image, on every axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddressMode {
    /// The image again.
    Repeat,
    /// The image again, mirrored every other time.
    MirroredRepeat,
    /// The nearest texel of the image.
    #[default]
    ClampToEdge,
    /// The border colour.
    ClampToBorder,
    /// The image mirrored once, beyond that its nearest texel.
    MirrorClampToEdge,
}

/// The `int_` colours are for images that are read as integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BorderColor {
    /// Floats (0, 0, 0, 0).
    #[default]
    TransparentBlack,
    /// Floats (0, 0, 0, 1).
    OpaqueBlack,
    /// Floats (1, 1, 1, 1).
    OpaqueWhite,
    /// Integers (0, 0, 0, 0).
    IntTransparentBlack,
    /// Integers (0, 0, 0, 1).
    IntOpaqueBlack,
    /// Integers (1, 1, 1, 1).
    IntOpaqueWhite,
}

/// How the reference is compared with the texel: `less` is true where the reference is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompareOperator {
    /// Always false.
    Never,
    /// True where the reference is less than the texel.
    Less,
    /// True where they are equal.
    Equal,
    /// True where the reference is not greater than the texel.
    LessOrEqual,
    /// True where the reference is greater than the texel.
    Greater,
    /// True where they differ.
    NotEqual,
    /// True where the reference is not less than the texel.
    GreaterOrEqual,
    /// Always true.
    Always,
}

/// What the coordinates of a sampler count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coordinates {
    /// 0 to 1 over the image.
    #[default]
    Normalized,
    /// Texels.
    Unnormalized,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_stored_under_its_name() {
        for format in ImageFormat::ALL {
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
            assert!((1..=16).contains(&format.texel_size()), "{format}");
        }
    }

    #[test]
    fn levels_and_layers_stand_behind_one_another() {
        let extent = [5, 3, 1];
        let shape = ImageShape {
            dim: ImageDim::Two,
            format: ImageFormat::Rg8,
            extent,
            layers: 2,
            levels: 3,
            samples: 1,
        };
        assert_eq!(shape.most_levels(), 3);
        assert_eq!(
            [0, 1, 2].map(|level| shape.level_extent(level)),
            [[5, 3, 1], [2, 1, 1], [1, 1, 1]]
        );
        // 15 texels of 2 bytes in 2 layers, then 2 texels, then 1.
        assert_eq!(
            (shape.layer_start(0, 1), shape.layer_start(1, 0), shape.layer_start(1, 1)),
            (Some(30), Some(60), Some(64))
        );
        assert_eq!((shape.layer_start(2, 1), shape.bytes()), (Some(70), Some(72)));
        let vast = ImageShape { extent: [u32::MAX; 3], ..shape };
        assert_eq!(vast.bytes(), None);
    }

    #[test]
    fn samples_of_a_texel_stand_next_to_one_another() {
        let (format, extent) = (ImageFormat::Rg8, [5, 3, 1]);
        let shape =
            ImageShape { dim: ImageDim::Two, format, extent, layers: 2, levels: 1, samples: 4 };
        assert_eq!((shape.layer_start(0, 1), shape.bytes()), (Some(120), Some(240)));
        // In layer 1, row 2, column 3: sample 1.
        let place = shape.texel_place(60 + (2 * 5 + 3) * 4 + 1, 0).unwrap();
        assert_eq!(place.to_string(), "texel (3, 2, 0) sample 1 red of level 0, layer 1");
        assert_eq!(shape.texel_place(120, 0), None);
    }
}
