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
/// `scratch` is for its use alone.
pub(crate) fn value(format: ImageFormat, bytes: &[u8], scratch: &mut Vec<u8>) -> [u64; 4] {
    let mut value = filled(format);
    scratch.clear();
    decode_texel(format, bytes, scratch);
    let scalar = format.component();
    for (component, chunk) in value.iter_mut().zip(scratch.chunks_exact(scalar.size())) {
        let bits = chunk.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        *component = widened(scalar, bits);
    }
    value
}

/// Whether a texel is stored as the words that the kernel sees.
pub(crate) fn is_words(format: ImageFormat) -> bool {
    use ScalarType::{Float32, Int32, Uint32};
    matches!(format.encoding(), TexelEncoding::Plain(Float32 | Int32 | Uint32))
}

/// [`value`] of such a texel.
pub(crate) fn of_words(format: ImageFormat, words: &[u32]) -> [u64; 4] {
    let mut value = filled(format);
    value.iter_mut().zip(words).for_each(|(component, word)| *component = u64::from(*word));
    value
}

/// How far from `value` a device may read a texel (Vulkan specification, "Precision and Operation
/// of SPIR-V Instructions"): a quotient has the bound of a division, but for 0 and 1; a value of
/// the sRGB curve may be that of half a step beside it.
pub(crate) fn departed(format: ImageFormat, value: &mut [u64; 4], toward: f64) {
    let quotient = |bits: &mut u64| {
        let exact = f32::from_bits(*bits as u32);
        if exact != 0.0 && exact.abs() != 1.0 {
            let ulp =
                f64::from(f32::from_bits((exact.abs().to_bits()) + 1)) - f64::from(exact.abs());
            *bits = u64::from(((f64::from(exact) + toward * 2.5 * ulp) as f32).to_bits());
        }
    };
    match format.encoding() {
        TexelEncoding::Unorm(_) | TexelEncoding::Snorm(_) | TexelEncoding::Rgb10A2 => {
            value.iter_mut().for_each(quotient)
        }
        TexelEncoding::Srgb => {
            for bits in &mut value[..3] {
                let linear = f64::from(f32::from_bits(*bits as u32));
                let beside = (to_srgb(linear) + toward * 0.5 / 255.0).clamp(0.0, 1.0);
                *bits = u64::from((from_srgb(beside) as f32).to_bits());
            }
            quotient(&mut value[3]);
        }
        TexelEncoding::Plain(_) | TexelEncoding::Rgb10A2Uint | TexelEncoding::R11G11B10 => {}
    }
}

/// What a texel reads as whose every component is 0: one outside of the image (Vulkan
/// specification, "Texel Replacement", with robustImageAccess2).
pub(crate) fn absent(format: ImageFormat) -> [u64; 4] {
    let mut value = filled(format);
    value[..usize::from(format.components())].fill(0);
    value
}

/// A texel of the border.
pub(crate) fn border(format: ImageFormat, color: BorderColor) -> [u64; 4] {
    let one = one(format.class());
    let [rgb, alpha] = match color {
        BorderColor::TransparentBlack | BorderColor::IntTransparentBlack => [0, 0],
        BorderColor::OpaqueBlack | BorderColor::IntOpaqueBlack => [0, one],
        BorderColor::OpaqueWhite | BorderColor::IntOpaqueWhite => [one, one],
    };
    let mut value = filled(format);
    let components = usize::from(format.components());
    value[..components].copy_from_slice(&[rgb, rgb, rgb, alpha][..components]);
    value
}

/// Whether a border colour is for texels of this class.
pub(crate) fn border_fits(class: TexelClass, color: BorderColor) -> bool {
    let integer = match color {
        BorderColor::TransparentBlack | BorderColor::OpaqueBlack | BorderColor::OpaqueWhite => {
            false
        }
        BorderColor::IntTransparentBlack
        | BorderColor::IntOpaqueBlack
        | BorderColor::IntOpaqueWhite => true,
    };
    integer == (class != TexelClass::Float)
}

/// The components that no format stores.
fn filled(format: ImageFormat) -> [u64; 4] {
    [0, 0, 0, one(format.class())]
}

fn one(class: TexelClass) -> u64 {
    match class {
        TexelClass::Float => u64::from(ONE),
        TexelClass::Signed | TexelClass::Unsigned => 1,
    }
}

/// The bits of a component as the kernel has them.
fn widened(scalar: ScalarType, bits: u64) -> u64 {
    match scalar {
        ScalarType::Float16 => u64::from(half::f16::from_bits(bits as u16).to_f32().to_bits()),
        ScalarType::Int8 => u64::from(i32::from(bits as u8 as i8) as u32),
        ScalarType::Int16 => u64::from(i32::from(bits as u16 as i16) as u32),
        ScalarType::Bool
        | ScalarType::Uint8
        | ScalarType::Uint16
        | ScalarType::Int32
        | ScalarType::Uint32
        | ScalarType::Int64
        | ScalarType::Uint64
        | ScalarType::Float32
        | ScalarType::Float64 => bits,
    }
}

/// Whether the format held what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    Yes,
    /// An integer lies outside of the format's range.
    No,
}

/// Which of the two nearest values that a format has is stored for a float; the specification
/// permits both (Vulkan specification, "Fixed-Point Data Conversions", "Texel Output Format
/// Conversion").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Toward {
    Nearest,
    Lower,
    Higher,
}

/// [`store`], with the lower or higher of the two values that a float lies between.
pub(crate) fn store_toward(
    format: ImageFormat,
    value: &[u64; 4],
    toward: Toward,
    into: &mut Vec<u8>,
) -> Held {
    let start = into.len();
    let held = store(format, value, into);
    if toward == Toward::Nearest || format.class() != TexelClass::Float || is_words(format) {
        return held;
    }
    let texel = &mut into[start..];
    let stored = self::value(format, texel, &mut Vec::new());
    for (number, (wanted, stored)) in
        value.iter().zip(stored).take(usize::from(format.components())).enumerate()
    {
        let [wanted, stored] = [*wanted, stored].map(|bits| f32::from_bits(bits as u32));
        let beyond = match toward {
            Toward::Nearest => false,
            Toward::Lower => stored > wanted,
            Toward::Higher => stored < wanted,
        };
        if beyond && wanted.is_finite() && !is_saturated(format, wanted) {
            step(format, number, toward, texel);
        }
    }
    held
}

/// Whether a format stores its least or greatest value for a float.
fn is_saturated(format: ImageFormat, wanted: f32) -> bool {
    match format.encoding() {
        TexelEncoding::Unorm(_) | TexelEncoding::Srgb | TexelEncoding::Rgb10A2 => {
            !(0.0..=1.0).contains(&wanted)
        }
        TexelEncoding::Snorm(_) => !(-1.0..=1.0).contains(&wanted),
        TexelEncoding::R11G11B10 => !(0.0..=64512.0).contains(&wanted),
        TexelEncoding::Plain(_) | TexelEncoding::Rgb10A2Uint => false,
    }
}

/// Moves a stored component to the next value of its format.
fn step(format: ImageFormat, component: usize, toward: Toward, texel: &mut [u8]) {
    let even = |width: usize| (component * width, width);
    let (shift, width) = match format.encoding() {
        TexelEncoding::Plain(scalar)
        | TexelEncoding::Unorm(scalar)
        | TexelEncoding::Snorm(scalar) => even(scalar.size() * 8),
        TexelEncoding::Srgb => even(8),
        TexelEncoding::Rgb10A2 | TexelEncoding::Rgb10A2Uint => {
            (component * 10, if component < 3 { 10 } else { 2 })
        }
        TexelEncoding::R11G11B10 => (component * 11, if component < 2 { 11 } else { 10 }),
    };
    let all = texel.iter().rev().fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
    let mask = (1_u128 << width) - 1;
    let bits = all >> shift & mask;
    // A float's bits grow with its size, whatever its sign.
    let is_negative_float =
        format.encoding() == TexelEncoding::Plain(ScalarType::Float16) && bits >> (width - 1) == 1;
    let grows = (toward == Toward::Higher) != is_negative_float;
    let next = match (grows, is_negative_float && bits & (mask >> 1) == 0, bits) {
        // Below the zero of a float's sign lies the other sign's least number.
        (false, true, _) => 1,
        (false, false, 0) if format.encoding() == TexelEncoding::Plain(ScalarType::Float16) => {
            1 << (width - 1) | 1
        }
        (true, _, bits) => bits.wrapping_add(1) & mask,
        (false, _, bits) => bits.wrapping_sub(1) & mask,
    };
    let all = all & !(mask << shift) | next << shift;
    for (index, byte) in texel.iter_mut().enumerate() {
        *byte = (all >> (8 * index)) as u8;
    }
}

/// Appends the stored bytes of a texel that the kernel writes.
pub(crate) fn store(format: ImageFormat, value: &[u64; 4], into: &mut Vec<u8>) -> Held {
    let components = &value[..usize::from(format.components())];
    match format.encoding() {
        TexelEncoding::Plain(scalar) => store_plain(scalar, components, into),
        TexelEncoding::Rgb10A2Uint => {
            let widths = [10, 10, 10, 2];
            let fits = components.iter().zip(widths).all(|(bits, width)| *bits >> width == 0);
            let low = components
                .iter()
                .zip(widths)
                .map(|(bits, width)| (bits & ((1 << width) - 1)) as f64);
            put(format, low, into);
            if fits { Held::Yes } else { Held::No }
        }
        TexelEncoding::Unorm(_) | TexelEncoding::Srgb | TexelEncoding::Rgb10A2 => {
            put(format, components.iter().map(|bits| within(*bits, 0.0)), into);
            Held::Yes
        }
        TexelEncoding::Snorm(_) => {
            put(format, components.iter().map(|bits| within(*bits, -1.0)), into);
            Held::Yes
        }
        TexelEncoding::R11G11B10 => {
            // The largest values of 11 and of 10 bits.
            let most = [65024.0, 65024.0, 64512.0];
            let small = |(bits, most): (&u64, f64)| {
                let value = f64::from(f32::from_bits(*bits as u32));
                if value.is_nan() || value == f64::INFINITY {
                    value
                } else {
                    value.clamp(0.0, most)
                }
            };
            put(format, components.iter().zip(most).map(small), into);
            Held::Yes
        }
    }
}

fn store_plain(scalar: ScalarType, components: &[u64], into: &mut Vec<u8>) -> Held {
    let mut held = Held::Yes;
    for bits in components {
        let stored = match scalar {
            ScalarType::Float16 => {
                u64::from(half::f16::from_f32(f32::from_bits(*bits as u32)).to_bits())
            }
            _ => *bits,
        };
        let read_back = widened(scalar, stored & (u64::MAX >> (64 - 8 * scalar.size())));
        if scalar != ScalarType::Float16 && read_back != *bits {
            held = Held::No;
        }
        into.extend_from_slice(&stored.to_le_bytes()[..scalar.size()]);
    }
    held
}

/// Whether the format holds normalised integers, which no NaN becomes.
pub(crate) fn is_normalised(format: ImageFormat) -> bool {
    match format.encoding() {
        TexelEncoding::Unorm(_)
        | TexelEncoding::Snorm(_)
        | TexelEncoding::Srgb
        | TexelEncoding::Rgb10A2 => true,
        TexelEncoding::Plain(_) | TexelEncoding::Rgb10A2Uint | TexelEncoding::R11G11B10 => false,
    }
}

/// A float no less than `least` and no more than 1; 0 for a NaN.
fn within(bits: u64, least: f64) -> f64 {
    let value = f64::from(f32::from_bits(bits as u32));
    if value.is_nan() { 0.0 } else { value.clamp(least, 1.0) }
}

/// The values fit the format.
fn put(format: ImageFormat, values: impl Iterator<Item = f64>, into: &mut Vec<u8>) {
    let mut all = [0.0; 4];
    let mut count = 0;
    for (place, value) in all.iter_mut().zip(values) {
        *place = value;
        count += 1;
    }
    let start = into.len();
    if encode_texel(format, &all[..count], into).is_err() {
        into.truncate(start);
        into.resize(start + format.texel_size(), 0);
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
                let seen = value(*format, texel, &mut scratch);
                if is_words(*format) {
                    let word = |chunk: &[u8]| u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
                    let words: Vec<u32> = texel.chunks_exact(4).map(word).collect();
                    prop_assert_eq!(of_words(*format, &words), seen, "{}", format);
                }
                let decoded = decode_texels(*format, texel);
                let size = format.component().size();
                for (component, chunk) in seen.iter().zip(decoded.chunks_exact(size)) {
                    let bits = chunk.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
                    prop_assert_eq!(*component, widened(format.component(), bits), "{}", format);
                }
                let mut stored = Vec::new();
                prop_assert_eq!(store(*format, &seen, &mut stored), Held::Yes);
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
                store(format, &[float(given); 4], &mut stored);
                let back = f32::from_bits(value(format, &stored, &mut scratch)[0] as u32);
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
                    f32::from_bits(value(format, &bytes, &mut Vec::new())[0] as u32)
                };
                let [low, nearest, high] = [Toward::Lower, Toward::Nearest, Toward::Higher].map(stored);
                prop_assert!(low <= given && given <= high, "{format} {given}: {low} {high}");
                prop_assert!(nearest == low || nearest == high, "{format} {given}: {low} {nearest} {high}");
            }
        }
    }

    #[test]
    fn components_that_a_format_lacks_are_zero_and_one() {
        let mut scratch = Vec::new();
        assert_eq!(value(ImageFormat::R8, &[255], &mut scratch), [float(1.0), 0, 0, float(1.0)]);
        assert_eq!(value(ImageFormat::Rg8i, &[0xff, 2], &mut scratch), [0xffff_ffff, 2, 0, 1]);
        assert_eq!(absent(ImageFormat::R32f), [0, 0, 0, float(1.0)]);
        assert_eq!(absent(ImageFormat::Rgba8ui), [0; 4]);
        assert_eq!(
            border(ImageFormat::D16, BorderColor::OpaqueWhite),
            [float(1.0), 0, 0, float(1.0)]
        );
        assert_eq!(border(ImageFormat::Rgba8ui, BorderColor::IntOpaqueBlack), [0, 0, 0, 1]);
    }

    #[test]
    fn integers_that_do_not_fit_are_told() {
        let mut stored = Vec::new();
        assert_eq!(store(ImageFormat::R8ui, &[256, 0, 0, 0], &mut stored), Held::No);
        assert_eq!(store(ImageFormat::R8i, &[0xffff_ff80, 0, 0, 0], &mut stored), Held::Yes);
        assert_eq!(store(ImageFormat::R8i, &[0x80, 0, 0, 0], &mut stored), Held::No);
        assert_eq!(store(ImageFormat::Rgb10A2ui, &[1023, 0, 0, 4], &mut stored), Held::No);
        assert_eq!(store(ImageFormat::R64ui, &[u64::MAX, 0, 0, 0], &mut stored), Held::Yes);
        assert_eq!(stored[..3], [0, 0x80, 0x80]);
    }
}
