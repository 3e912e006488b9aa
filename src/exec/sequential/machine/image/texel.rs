//! One texel: its stored bytes, and the four components that a kernel sees.
//!
//! Knows: what a kernel reads of components that a format lacks (Vulkan specification, "Conversion
//! to RGBA": 0, and 1 for the fourth), and how written components fit a format ("Texel Output
//! Format Conversion", "Fixed-Point Data Conversions").
//! Promises: what `oracle::texel` stores and reads, this does too; on top of it, a float that lies
//! outside of a format's range is stored as the nearest that the format has, a NaN in a fixed-point
//! format as 0. An integer that the format cannot hold is told (its stored value is undefined by
//! the specification), and stored with its low bits.
//! Does not cover: which formats can be stored to or sampled (`image_view`).

use vkcert_model::element::ScalarType;
use vkcert_model::image::{BorderColor, ImageFormat, TexelClass, TexelEncoding};
use vkcert_oracle::texel::{decode_texel, encode_texel, from_srgb, to_srgb};

const ONE: u32 = 1.0_f32.to_bits();

/// The components of a texel as bits of 32-bit numbers; of 64-bit formats, of 64-bit ones.
/// `scratch_bytes` is working memory that keeps its allocation between calls.
pub(crate) fn texel_value(
    texel_format: ImageFormat,
    bytes: &[u8],
    scratch_bytes: &mut Vec<u8>,
) -> [u64; 4] {
    let mut component_bits = filled_components(texel_format);
    scratch_bytes.clear();
    decode_texel(texel_format, bytes, scratch_bytes);
    let component_type = texel_format.component();
    for (component, chunk) in
        component_bits.iter_mut().zip(scratch_bytes.chunks_exact(component_type.size()))
    {
        let stored_bits =
            chunk.iter().rev().fold(0, |stored_bits, byte| stored_bits << 8 | u64::from(*byte));
        *component = widen_component(component_type, stored_bits);
    }
    component_bits
}

/// Whether a texel is stored as the words that the kernel sees.
pub(crate) fn is_words(texel_format: ImageFormat) -> bool {
    use ScalarType::{Float32, Int32, Uint32};
    matches!(texel_format.encoding(), TexelEncoding::Plain(Float32 | Int32 | Uint32))
}

/// [`texel_value`] of a texel that is stored as words.
pub(crate) fn value_of_words(texel_format: ImageFormat, words: &[u32]) -> [u64; 4] {
    let mut component_bits = filled_components(texel_format);
    component_bits
        .iter_mut()
        .zip(words)
        .for_each(|(component, word)| *component = u64::from(*word));
    component_bits
}

/// Moves a quotient by 2.5 ulp, the bound of a division; 0 and 1 stay.
fn move_quotient(bits: &mut u64, error_direction: f64) {
    let exact_value = f32::from_bits(*bits as u32);
    if exact_value != 0.0 && exact_value.abs() != 1.0 {
        let ulp = f64::from(f32::from_bits((exact_value.abs().to_bits()) + 1))
            - f64::from(exact_value.abs());
        *bits =
            u64::from(((f64::from(exact_value) + error_direction * 2.5 * ulp) as f32).to_bits());
    }
}

/// A component of `r11f_g11f_b10f`, which has no sign: what is finite is clamped to its range.
fn small_float(bits: u64, largest_value: f64) -> f64 {
    let component_value = f64::from(f32::from_bits(bits as u32));
    if component_value.is_nan() || component_value == f64::INFINITY {
        component_value
    } else {
        component_value.clamp(0.0, largest_value)
    }
}

/// Moves a texel to the farthest value that a device may read (Vulkan specification, "Precision and Operation
/// of SPIR-V Instructions"): a quotient has the bound of a division, but for 0 and 1; a value of
/// the sRGB curve may be that of half a step beside it.
pub(crate) fn depart_value(texel_format: ImageFormat, value: &mut [u64; 4], error_direction: f64) {
    match texel_format.encoding() {
        TexelEncoding::Unorm(_) | TexelEncoding::Snorm(_) | TexelEncoding::Rgb10A2 => {
            value.iter_mut().for_each(|bits| move_quotient(bits, error_direction))
        }
        TexelEncoding::Srgb => {
            for bits in &mut value[..3] {
                let linear_value = f64::from(f32::from_bits(*bits as u32));
                let neighbour_value =
                    (to_srgb(linear_value) + error_direction * 0.5 / 255.0).clamp(0.0, 1.0);
                *bits = u64::from((from_srgb(neighbour_value) as f32).to_bits());
            }
            move_quotient(&mut value[3], error_direction);
        }
        TexelEncoding::Plain(_) | TexelEncoding::Rgb10A2Uint | TexelEncoding::R11G11B10 => {}
    }
}

/// What a texel reads as whose every component is 0: one outside of the image (Vulkan
/// specification, "Texel Replacement", with robustImageAccess2).
pub(crate) fn absent_texel(texel_format: ImageFormat) -> [u64; 4] {
    let mut component_bits = filled_components(texel_format);
    component_bits[..usize::from(texel_format.components())].fill(0);
    component_bits
}

/// A texel of the border.
pub(crate) fn border_texel(texel_format: ImageFormat, color: BorderColor) -> [u64; 4] {
    let one_bits = one_component(texel_format.class());
    let [rgb, alpha] = match color {
        BorderColor::TransparentBlack | BorderColor::IntTransparentBlack => [0, 0],
        BorderColor::OpaqueBlack | BorderColor::IntOpaqueBlack => [0, one_bits],
        BorderColor::OpaqueWhite | BorderColor::IntOpaqueWhite => [one_bits, one_bits],
    };
    let mut component_bits = filled_components(texel_format);
    let component_count = usize::from(texel_format.components());
    component_bits[..component_count].copy_from_slice(&[rgb, rgb, rgb, alpha][..component_count]);
    component_bits
}

/// Whether a border colour is for texels of this class.
pub(crate) fn border_fits(texel_class: TexelClass, color: BorderColor) -> bool {
    let is_integer = match color {
        BorderColor::TransparentBlack | BorderColor::OpaqueBlack | BorderColor::OpaqueWhite => {
            false
        }
        BorderColor::IntTransparentBlack
        | BorderColor::IntOpaqueBlack
        | BorderColor::IntOpaqueWhite => true,
    };
    is_integer == (texel_class != TexelClass::Float)
}

/// The components that no format stores.
fn filled_components(texel_format: ImageFormat) -> [u64; 4] {
    [0, 0, 0, one_component(texel_format.class())]
}

fn one_component(texel_class: TexelClass) -> u64 {
    match texel_class {
        TexelClass::Float => u64::from(ONE),
        TexelClass::Signed | TexelClass::Unsigned => 1,
    }
}

/// The bits of a component as the kernel has them.
fn widen_component(component_type: ScalarType, stored_bits: u64) -> u64 {
    match component_type {
        ScalarType::Float16 => {
            u64::from(half::f16::from_bits(stored_bits as u16).to_f32().to_bits())
        }
        ScalarType::Int8 => u64::from(i32::from(stored_bits as u8 as i8) as u32),
        ScalarType::Int16 => u64::from(i32::from(stored_bits as u16 as i16) as u32),
        ScalarType::Bool
        | ScalarType::Uint8
        | ScalarType::Uint16
        | ScalarType::Int32
        | ScalarType::Uint32
        | ScalarType::Int64
        | ScalarType::Uint64
        | ScalarType::Float32
        | ScalarType::Float64 => stored_bits,
    }
}

/// Whether the format held what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreFit {
    Fits,
    /// An integer lies outside of the format's range.
    OutOfRange,
}

/// Which of the two nearest values that a format has is stored for a float; the specification
/// permits both (Vulkan specification, "Fixed-Point Data Conversions", "Texel Output Format
/// Conversion").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoundToward {
    Nearest,
    Lower,
    Higher,
}

/// [`store_texel`], with the lower or higher of the two values that a float lies between.
pub(crate) fn store_toward(
    texel_format: ImageFormat,
    texel_value: &[u64; 4],
    rounding: RoundToward,
    stored_bytes: &mut Vec<u8>,
) -> StoreFit {
    let texel_start = stored_bytes.len();
    let store_fit = store_texel(texel_format, texel_value, stored_bytes);
    if rounding == RoundToward::Nearest
        || texel_format.class() != TexelClass::Float
        || is_words(texel_format)
    {
        return store_fit;
    }
    let texel_bytes = &mut stored_bytes[texel_start..];
    let stored_value = self::texel_value(texel_format, texel_bytes, &mut Vec::new());
    for (component_index, (wanted_value, stored_value)) in texel_value
        .iter()
        .zip(stored_value)
        .take(usize::from(texel_format.components()))
        .enumerate()
    {
        let [wanted_value, stored_value] =
            [*wanted_value, stored_value].map(|bits| f32::from_bits(bits as u32));
        let is_beyond = match rounding {
            RoundToward::Nearest => false,
            RoundToward::Lower => stored_value > wanted_value,
            RoundToward::Higher => stored_value < wanted_value,
        };
        if is_beyond && wanted_value.is_finite() && !is_saturated(texel_format, wanted_value) {
            step_component(texel_format, component_index, rounding, texel_bytes);
        }
    }
    store_fit
}

/// Whether a format stores its least or greatest value for a float.
fn is_saturated(texel_format: ImageFormat, wanted_value: f32) -> bool {
    match texel_format.encoding() {
        TexelEncoding::Unorm(_) | TexelEncoding::Srgb | TexelEncoding::Rgb10A2 => {
            !(0.0..=1.0).contains(&wanted_value)
        }
        TexelEncoding::Snorm(_) => !(-1.0..=1.0).contains(&wanted_value),
        TexelEncoding::R11G11B10 => !(0.0..=64512.0).contains(&wanted_value),
        TexelEncoding::Plain(_) | TexelEncoding::Rgb10A2Uint => false,
    }
}

/// Moves a stored component to the next value of its format.
fn step_component(
    texel_format: ImageFormat,
    component_index: usize,
    rounding: RoundToward,
    texel_bytes: &mut [u8],
) {
    let even_bits = |bit_width: usize| (component_index * bit_width, bit_width);
    let (bit_shift, bit_width) = match texel_format.encoding() {
        TexelEncoding::Plain(scalar)
        | TexelEncoding::Unorm(scalar)
        | TexelEncoding::Snorm(scalar) => even_bits(scalar.size() * 8),
        TexelEncoding::Srgb => even_bits(8),
        TexelEncoding::Rgb10A2 | TexelEncoding::Rgb10A2Uint => {
            (component_index * 10, if component_index < 3 { 10 } else { 2 })
        }
        TexelEncoding::R11G11B10 => {
            (component_index * 11, if component_index < 2 { 11 } else { 10 })
        }
    };
    let texel_bits = texel_bytes
        .iter()
        .rev()
        .fold(0_u128, |texel_bits, byte| texel_bits << 8 | u128::from(*byte));
    let component_mask = (1_u128 << bit_width) - 1;
    let component_bits = texel_bits >> bit_shift & component_mask;
    // A float's bits grow with its size, whatever its sign.
    let is_negative_float = texel_format.encoding() == TexelEncoding::Plain(ScalarType::Float16)
        && component_bits >> (bit_width - 1) == 1;
    let bits_grow = (rounding == RoundToward::Higher) != is_negative_float;
    let next_bits = match (
        bits_grow,
        is_negative_float && component_bits & (component_mask >> 1) == 0,
        component_bits,
    ) {
        // Below the zero of a float's sign lies the other sign's least number.
        (false, true, _) => 1,
        (false, false, 0)
            if texel_format.encoding() == TexelEncoding::Plain(ScalarType::Float16) =>
        {
            1 << (bit_width - 1) | 1
        }
        (true, _, component_bits) => component_bits.wrapping_add(1) & component_mask,
        (false, _, component_bits) => component_bits.wrapping_sub(1) & component_mask,
    };
    let texel_bits = texel_bits & !(component_mask << bit_shift) | next_bits << bit_shift;
    for (index, byte) in texel_bytes.iter_mut().enumerate() {
        *byte = (texel_bits >> (8 * index)) as u8;
    }
}

/// Appends the stored bytes of a texel that the kernel writes.
pub(crate) fn store_texel(
    texel_format: ImageFormat,
    texel_value: &[u64; 4],
    stored_bytes: &mut Vec<u8>,
) -> StoreFit {
    let component_bits = &texel_value[..usize::from(texel_format.components())];
    match texel_format.encoding() {
        TexelEncoding::Plain(scalar) => store_plain(scalar, component_bits, stored_bytes),
        TexelEncoding::Rgb10A2Uint => {
            let bit_widths = [10, 10, 10, 2];
            let all_fit =
                component_bits.iter().zip(bit_widths).all(|(bits, width)| *bits >> width == 0);
            let low_bits = component_bits
                .iter()
                .zip(bit_widths)
                .map(|(bits, width)| (bits & ((1 << width) - 1)) as f64);
            encode_components(texel_format, low_bits, stored_bytes);
            if all_fit { StoreFit::Fits } else { StoreFit::OutOfRange }
        }
        TexelEncoding::Unorm(_) | TexelEncoding::Srgb | TexelEncoding::Rgb10A2 => {
            encode_components(
                texel_format,
                component_bits.iter().map(|bits| normalised_float(*bits, 0.0)),
                stored_bytes,
            );
            StoreFit::Fits
        }
        TexelEncoding::Snorm(_) => {
            encode_components(
                texel_format,
                component_bits.iter().map(|bits| normalised_float(*bits, -1.0)),
                stored_bytes,
            );
            StoreFit::Fits
        }
        TexelEncoding::R11G11B10 => {
            // The largest values of 11 and of 10 bits.
            let largest_values = [65024.0, 65024.0, 64512.0];
            let small_floats = component_bits
                .iter()
                .zip(largest_values)
                .map(|(bits, largest_value)| small_float(*bits, largest_value));
            encode_components(texel_format, small_floats, stored_bytes);
            StoreFit::Fits
        }
    }
}

fn store_plain(
    component_type: ScalarType,
    component_bits: &[u64],
    stored_bytes: &mut Vec<u8>,
) -> StoreFit {
    let mut store_fit = StoreFit::Fits;
    for bits in component_bits {
        let stored_bits = match component_type {
            ScalarType::Float16 => {
                u64::from(half::f16::from_f32(f32::from_bits(*bits as u32)).to_bits())
            }
            _ => *bits,
        };
        let read_back = widen_component(
            component_type,
            stored_bits & (u64::MAX >> (64 - 8 * component_type.size())),
        );
        if component_type != ScalarType::Float16 && read_back != *bits {
            store_fit = StoreFit::OutOfRange;
        }
        stored_bytes.extend_from_slice(&stored_bits.to_le_bytes()[..component_type.size()]);
    }
    store_fit
}

/// Whether the format holds normalised integers, which no NaN becomes.
pub(crate) fn is_normalised(texel_format: ImageFormat) -> bool {
    match texel_format.encoding() {
        TexelEncoding::Unorm(_)
        | TexelEncoding::Snorm(_)
        | TexelEncoding::Srgb
        | TexelEncoding::Rgb10A2 => true,
        TexelEncoding::Plain(_) | TexelEncoding::Rgb10A2Uint | TexelEncoding::R11G11B10 => false,
    }
}

/// A float no less than `least` and no more than 1; 0 for a NaN.
fn normalised_float(float_bits: u64, least_value: f64) -> f64 {
    let float_value = f64::from(f32::from_bits(float_bits as u32));
    if float_value.is_nan() { 0.0 } else { float_value.clamp(least_value, 1.0) }
}

/// The values fit the format.
fn encode_components(
    texel_format: ImageFormat,
    component_values: impl Iterator<Item = f64>,
    stored_bytes: &mut Vec<u8>,
) {
    let mut component_slots = [0.0; 4];
    let mut component_count = 0;
    for (component_slot, value) in component_slots.iter_mut().zip(component_values) {
        *component_slot = value;
        component_count += 1;
    }
    let texel_start = stored_bytes.len();
    if encode_texel(texel_format, &component_slots[..component_count], stored_bytes).is_err() {
        stored_bytes.truncate(texel_start);
        stored_bytes.resize(texel_start + texel_format.texel_size(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use vkcert_oracle::texel::{decode_texels, encode_texels};

    fn float(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    proptest! {
        /// Every texel is seen as `oracle::texel` decodes it, and stored again as it was.
        #[test]
        fn texels_are_those_of_the_codec(bytes: [u8; 16]) {
            let mut scratch = Vec::new();
            for format in ImageFormat::ALL {
                let texel = &bytes[..format.texel_size()];
                let seen = texel_value(*format, texel, &mut scratch);
                if is_words(*format) {
                    let word = |chunk: &[u8]| u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
                    let words: Vec<u32> = texel.chunks_exact(4).map(word).collect();
                    prop_assert_eq!(value_of_words(*format, &words), seen, "{}", format);
                }
                let decoded = decode_texels(*format, texel);
                let size = format.component().size();
                for (component, chunk) in seen.iter().zip(decoded.chunks_exact(size)) {
                    let bits = chunk.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
                    prop_assert_eq!(*component, widen_component(format.component(), bits), "{}", format);
                }
                let mut stored = Vec::new();
                prop_assert_eq!(store_texel(*format, &seen, &mut stored), StoreFit::Fits);
                // NaNs of small floats are one, and so are the two least signed values.
                let again = encode_texels(*format, &decoded).expect("what was stored fits");
                if format.class() != TexelClass::Float {
                    prop_assert_eq!(&stored[..], texel, "{}", format);
                } else if !decoded.chunks_exact(size).any(is_nan) {
                    prop_assert_eq!(&stored, &again, "{}", format);
                }
            }
        }

        /// Floats that a fixed-point format has no value for become its nearest.
        #[test]
        fn fixed_point_formats_saturate(given: f32) {
            let (mut stored, mut scratch) = (Vec::new(), Vec::new());
            for (format, least) in [(ImageFormat::R8, 0.0), (ImageFormat::R16Snorm, -1.0), (ImageFormat::Rgb10A2, 0.0)] {
                stored.clear();
                store_texel(format, &[float(given); 4], &mut stored);
                let back = f32::from_bits(texel_value(format, &stored, &mut scratch)[0] as u32);
                let nearest = if given.is_nan() { 0.0 } else { given.clamp(least, 1.0) };
                prop_assert!((back - nearest).abs() <= 0.5 / 127.0, "{given} {back}");
            }
        }
    }

    fn is_nan(chunk: &[u8]) -> bool {
        match chunk.len() {
            2 => half::f16::from_le_bytes([chunk[0], chunk[1]]).is_nan(),
            _ => f32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]).is_nan(),
        }
    }

    proptest! {
        /// What is stored lower or higher is a neighbour of what is stored nearest, on the side
        /// that is asked for.
        #[test]
        fn a_float_is_stored_beside_itself(given in -1.0_f32..1.0) {
            let formats = [ImageFormat::R16f, ImageFormat::R8, ImageFormat::R16Snorm, ImageFormat::Rgb10A2, ImageFormat::R11fG11fB10f];
            for format in formats {
                let given = if format.encoding() == TexelEncoding::Plain(ScalarType::Float16) || format == ImageFormat::R16Snorm {
                    given
                } else {
                    given.abs()
                };
                let stored = |toward| {
                    let mut bytes = Vec::new();
                    store_toward(format, &[float(given); 4], toward, &mut bytes);
                    f32::from_bits(texel_value(format, &bytes, &mut Vec::new())[0] as u32)
                };
                let [low, nearest, high] = [RoundToward::Lower, RoundToward::Nearest, RoundToward::Higher].map(stored);
                prop_assert!(low <= given && given <= high, "{format} {given}: {low} {high}");
                prop_assert!(nearest == low || nearest == high, "{format} {given}: {low} {nearest} {high}");
            }
        }
    }

    #[test]
    fn components_that_a_format_lacks_are_zero_and_one() {
        let mut scratch = Vec::new();
        assert_eq!(
            texel_value(ImageFormat::R8, &[255], &mut scratch),
            [float(1.0), 0, 0, float(1.0)]
        );
        assert_eq!(
            texel_value(ImageFormat::Rg8i, &[0xff, 2], &mut scratch),
            [0xffff_ffff, 2, 0, 1]
        );
        assert_eq!(absent_texel(ImageFormat::R32f), [0, 0, 0, float(1.0)]);
        assert_eq!(absent_texel(ImageFormat::Rgba8ui), [0; 4]);
        assert_eq!(
            border_texel(ImageFormat::D16, BorderColor::OpaqueWhite),
            [float(1.0), 0, 0, float(1.0)]
        );
        assert_eq!(border_texel(ImageFormat::Rgba8ui, BorderColor::IntOpaqueBlack), [0, 0, 0, 1]);
    }

    #[test]
    fn integers_that_do_not_fit_are_told() {
        let mut stored = Vec::new();
        assert_eq!(
            store_texel(ImageFormat::R8ui, &[256, 0, 0, 0], &mut stored),
            StoreFit::OutOfRange
        );
        assert_eq!(
            store_texel(ImageFormat::R8i, &[0xffff_ff80, 0, 0, 0], &mut stored),
            StoreFit::Fits
        );
        assert_eq!(
            store_texel(ImageFormat::R8i, &[0x80, 0, 0, 0], &mut stored),
            StoreFit::OutOfRange
        );
        assert_eq!(
            store_texel(ImageFormat::Rgb10A2ui, &[1023, 0, 0, 4], &mut stored),
            StoreFit::OutOfRange
        );
        assert_eq!(
            store_texel(ImageFormat::R64ui, &[u64::MAX, 0, 0, 0], &mut stored),
            StoreFit::Fits
        );
        assert_eq!(stored[..3], [0, 0x80, 0x80]);
    }
}
