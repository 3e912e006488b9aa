//! Values to stored texels and back.
//!
//! Knows: the conversions of the Vulkan specification, "Fixed-Point Data Conversions", "16-Bit
//! Floating-Point Numbers" to "Unsigned 10-Bit Floating-Point Numbers", and the sRGB transfer
//! functions of the Khronos Data Format Specification.
//! Promises: a value is stored as the nearest texel value (ties to even where the specification
//! leaves it open), so that it reads back as itself if the format holds it; a value out of the
//! format's range is an error, never clamped. Decoding is exact up to the rounding of the quotient
//! to 32-bit floats.
//! Does not cover: block-compressed and multi-planar formats.

use super::scalar::{append_scalar, decode_float, read_scalar};
use std::borrow::Cow;
use vkcert_model::element::ScalarType;
use vkcert_model::image::{ImageFormat, TexelEncoding};

/// Stored texels of `components`: component values in the format's component type, as many as there
/// are texels times components. Errors name the first component that does not fit.
pub fn encode_texels(format: ImageFormat, components: &[u8]) -> Result<Vec<u8>, String> {
    if let TexelEncoding::Plain(_) = format.encoding() {
        return Ok(components.to_vec());
    }
    let component_type = format.component();
    let component_count = usize::from(format.components());
    let component_values: Vec<f64> = (0..components.len())
        .step_by(component_type.size())
        .filter_map(|byte_offset| read_scalar(components, component_type, byte_offset))
        .map(|bits| match format.encoding() {
            TexelEncoding::Rgb10A2Uint => bits as f64,
            _ => decode_float(component_type, bits),
        })
        .collect();
    let mut texels =
        Vec::with_capacity(component_values.len() / component_count.max(1) * format.texel_size());
    for (index, texel) in component_values.chunks_exact(component_count).enumerate() {
        encode_texel(format, texel, &mut texels)
            .map_err(|message| format!("texel {index}: {message}"))?;
    }
    Ok(texels)
}

/// One texel from its component values; an error says which component does not fit. Not for plain
/// formats.
pub fn encode_texel(
    format: ImageFormat,
    component_values: &[f64],
    texel_bytes: &mut Vec<u8>,
) -> Result<(), String> {
    match format.encoding() {
        TexelEncoding::Plain(_) => unreachable!("plain formats are copied"),
        TexelEncoding::Unorm(scalar) => {
            for value in component_values {
                append_scalar(texel_bytes, scalar, unorm_bits(*value, scalar.size() as u32 * 8)?);
            }
        }
        TexelEncoding::Snorm(scalar) => {
            for value in component_values {
                let largest_code = ((1_i64 << (scalar.size() * 8 - 1)) - 1) as f64;
                let value = value_in_range(*value, -1.0, 1.0)?;
                append_scalar(
                    texel_bytes,
                    scalar,
                    (value * largest_code).round_ties_even() as i64 as u64,
                );
            }
        }
        TexelEncoding::Srgb => {
            for (index, value) in component_values.iter().enumerate() {
                let value = value_in_range(*value, 0.0, 1.0)?;
                append_scalar(
                    texel_bytes,
                    ScalarType::Uint8,
                    unorm_bits(if index < 3 { to_srgb(value) } else { value }, 8)?,
                );
            }
        }
        TexelEncoding::Rgb10A2 => {
            let packed_bits = pack_rgb10_a2(component_values, unorm_bits)?;
            texel_bytes.extend_from_slice(&packed_bits.to_le_bytes());
        }
        TexelEncoding::Rgb10A2Uint => {
            let packed_bits = pack_rgb10_a2(component_values, |value, width| {
                value_in_range(value, 0.0, f64::from((1_u32 << width) - 1))
                    .map(|value| value as u64)
            })?;
            texel_bytes.extend_from_slice(&packed_bits.to_le_bytes());
        }
        TexelEncoding::R11G11B10 => {
            let [red, green, blue] = [(0, 6), (1, 6), (2, 5)].map(|(component_index, mantissa)| {
                small_float_bits(component_values[component_index], mantissa)
            });
            let packed_bits = red? | green? << 11 | blue? << 22;
            texel_bytes.extend_from_slice(&(packed_bits as u32).to_le_bytes());
        }
    }
    Ok(())
}

/// Final contents as they are compared: components of the texels of `format`, or the bytes
/// themselves where there is none.
pub fn compared_contents(format: Option<ImageFormat>, contents: &[u8]) -> Cow<'_, [u8]> {
    format.map_or(Cow::Borrowed(contents), |format| Cow::Owned(decode_texels(format, contents)))
}

/// Where in the stored texels the component at a byte of the compared ones stands (packed texels:
/// the texel).
pub fn stored_offset(format: ImageFormat, compared_offset: u64) -> u64 {
    let component_index = compared_offset / format.component().size() as u64;
    let (texel, component_in_texel) = (
        component_index / u64::from(format.components()),
        component_index % u64::from(format.components()),
    );
    let component_size = match format.encoding() {
        TexelEncoding::Plain(scalar)
        | TexelEncoding::Unorm(scalar)
        | TexelEncoding::Snorm(scalar) => scalar.size(),
        TexelEncoding::Srgb => 1,
        TexelEncoding::Rgb10A2 | TexelEncoding::Rgb10A2Uint | TexelEncoding::R11G11B10 => 0,
    };
    texel * format.texel_size() as u64 + component_in_texel * component_size as u64
}

/// The stored bytes of the texels that a range of compared bytes belongs to.
pub fn stored_range(
    format: ImageFormat,
    compared_range: std::ops::Range<u64>,
) -> std::ops::Range<u64> {
    let texel_size = format.texel_size() as u64;
    let compared_texel_size = u64::from(format.components()) * format.component().size() as u64;
    compared_range.start / compared_texel_size * texel_size
        ..compared_range.end.div_ceil(compared_texel_size) * texel_size
}

/// Byte of the compared components at which a texel's begin.
pub fn compared_offset(format: ImageFormat, stored_offset: u64) -> u64 {
    stored_offset / format.texel_size() as u64
        * u64::from(format.components())
        * format.component().size() as u64
}

/// The components of stored texels, each in the format's component type. Bytes behind the last
/// whole texel are dropped.
pub fn decode_texels(format: ImageFormat, texels: &[u8]) -> Vec<u8> {
    if let TexelEncoding::Plain(_) = format.encoding() {
        return texels.to_vec();
    }
    let mut components = Vec::with_capacity(texels.len() * 4);
    for texel in texels.chunks_exact(format.texel_size()) {
        decode_texel(format, texel, &mut components);
    }
    components
}

/// Appends the components of one stored texel.
pub fn decode_texel(format: ImageFormat, texel: &[u8], component_bytes: &mut Vec<u8>) {
    let mut append_float =
        |value: f64| component_bytes.extend_from_slice(&(value as f32).to_le_bytes());
    let packed_word = || u32::from_le_bytes([texel[0], texel[1], texel[2], texel[3]]);
    match format.encoding() {
        TexelEncoding::Plain(_) => component_bytes.extend_from_slice(texel),
        TexelEncoding::Unorm(scalar) => {
            let largest_code = ((1_u64 << (scalar.size() * 8)) - 1) as f64;
            for byte_offset in (0..texel.len()).step_by(scalar.size()) {
                append_float(
                    read_scalar(texel, scalar, byte_offset).unwrap_or(0) as f64 / largest_code,
                );
            }
        }
        TexelEncoding::Snorm(scalar) => {
            let bit_width = scalar.size() * 8;
            let largest_code = ((1_i64 << (bit_width - 1)) - 1) as f64;
            for byte_offset in (0..texel.len()).step_by(scalar.size()) {
                let bits = read_scalar(texel, scalar, byte_offset).unwrap_or(0);
                let value = ((bits << (64 - bit_width)) as i64) >> (64 - bit_width);
                append_float((value as f64 / largest_code).max(-1.0));
            }
        }
        TexelEncoding::Srgb => {
            for (index, byte) in texel.iter().enumerate() {
                let value = f64::from(*byte) / 255.0;
                append_float(if index < 3 { from_srgb(value) } else { value });
            }
        }
        TexelEncoding::Rgb10A2 => {
            for (shift, bit_width) in RGB10_A2 {
                let largest_code = (1_u32 << bit_width) - 1;
                append_float(
                    f64::from(packed_word() >> shift & largest_code) / f64::from(largest_code),
                );
            }
        }
        TexelEncoding::Rgb10A2Uint => {
            for (shift, bit_width) in RGB10_A2 {
                component_bytes.extend_from_slice(
                    &(packed_word() >> shift & ((1 << bit_width) - 1)).to_le_bytes(),
                );
            }
        }
        TexelEncoding::R11G11B10 => {
            for (shift, mantissa) in [(0, 6), (11, 6), (22, 5)] {
                append_float(from_small_float(
                    packed_word() >> shift & ((1 << (mantissa + 5)) - 1),
                    mantissa,
                ));
            }
        }
    }
}

/// First bit and width of each component.
const RGB10_A2: [(u32, u32); 4] = [(0, 10), (10, 10), (20, 10), (30, 2)];

fn pack_rgb10_a2(
    texel: &[f64],
    encode_component: impl Fn(f64, u32) -> Result<u64, String>,
) -> Result<u32, String> {
    let mut packed_bits = 0;
    for (value, (shift, width)) in texel.iter().zip(RGB10_A2) {
        packed_bits |= (encode_component(*value, width)? as u32) << shift;
    }
    Ok(packed_bits)
}

fn value_in_range(value: f64, least: f64, most: f64) -> Result<f64, String> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{value} is not between {least} and {most}"))
    }
}

fn unorm_bits(value: f64, bit_width: u32) -> Result<u64, String> {
    let largest_code = ((1_u64 << bit_width) - 1) as f64;
    Ok((value_in_range(value, 0.0, 1.0)? * largest_code).round_ties_even() as u64)
}

/// The sRGB transfer function and its inverse, both from and to 0 to 1.
pub fn to_srgb(linear: f64) -> f64 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// The linear value of a component stored through the sRGB curve; both from 0 to 1.
pub fn from_srgb(stored: f64) -> f64 {
    if stored <= 0.040_45 { stored / 12.92 } else { ((stored + 0.055) / 1.055).powf(2.4) }
}

/// The bits of an unsigned float with 5 exponent bits (bias 15) and `mantissa` mantissa bits.
fn small_float_bits(value: f64, mantissa_bits: u32) -> Result<u64, String> {
    let infinity_bits = 0x1F_u64 << mantissa_bits;
    if value.is_nan() {
        return Ok(infinity_bits | 1 << (mantissa_bits - 1));
    }
    if value == f64::INFINITY {
        return Ok(infinity_bits);
    }
    let largest_finite = from_small_float(infinity_bits as u32 - 1, mantissa_bits);
    let value = value_in_range(value, 0.0, largest_finite)?;
    // Below the smallest normal value, 2^-14, steps are those of its exponent.
    let exponent =
        if value < 2_f64.powi(-14) { -14 } else { (value.log2().floor() as i32).clamp(-14, 15) };
    let steps = (value / 2_f64.powi(exponent - mantissa_bits as i32)).round_ties_even() as u64;
    // `steps` counts the implicit bit of normal values, and a carry into the next exponent comes
    // out by itself.
    let biased_exponent = (exponent + 15) as u64 - 1;
    Ok((biased_exponent << mantissa_bits) + steps)
}

fn from_small_float(bits: u32, mantissa_bits: u32) -> f64 {
    let (exponent, fraction) =
        ((bits >> mantissa_bits) as i32, f64::from(bits & ((1 << mantissa_bits) - 1)));
    let scale = 2_f64.powi(-(mantissa_bits as i32));
    match exponent {
        0 => fraction * scale * 2_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1.0 + fraction * scale) * 2_f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every texel value of a format whose components are stored apart or packed in at most 32
    /// bits: all of 8 and 16 bits, and a walk through 32 bits.
    fn words() -> impl Iterator<Item = u32> {
        (0..=u32::from(u16::MAX))
            .map(|low| low | low << 16)
            .chain((0..u32::MAX - 65_521).step_by(65_521))
    }

    #[test]
    fn every_texel_reads_back_as_it_was_stored() {
        for format in ImageFormat::ALL {
            for word in words() {
                let texel =
                    [word.to_le_bytes(), word.rotate_left(13).to_le_bytes()].concat().repeat(2);
                let texel = &texel[..format.texel_size()];
                let components = decode_texels(*format, texel);
                let stored = encode_texels(*format, &components).expect("what was stored fits");
                // The smallest signed value and the one after it are both -1; NaNs are one.
                assert_eq!(
                    decode_bits(*format, &stored),
                    decode_bits(*format, texel),
                    "{format} {texel:x?}"
                );
            }
        }
    }

    fn decode_bits(format: ImageFormat, texel: &[u8]) -> Vec<u8> {
        let mut components = decode_texels(format, texel);
        if format == ImageFormat::R11fG11fB10f {
            for component in components.chunks_exact_mut(4) {
                if f32::from_le_bytes(component.try_into().expect("4 bytes")).is_nan() {
                    component.copy_from_slice(&f32::NAN.to_le_bytes());
                }
            }
        }
        components
    }

    fn floats(format: ImageFormat, values: &[f32]) -> Result<Vec<u8>, String> {
        encode_texels(
            format,
            &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn values_are_stored_as_the_nearest_texel_value() {
        assert_eq!(floats(ImageFormat::Rg8, &[0.5, 1.0]), Ok(vec![128, 255]));
        assert_eq!(floats(ImageFormat::Rg8Snorm, &[-1.0, 0.5]), Ok(vec![0x81, 64]));
        assert_eq!(floats(ImageFormat::R16, &[0.25]), Ok(vec![0, 0x40]));
        // 0.5 through the sRGB curve is 187.5 of 255 to the nearest, alpha stays linear.
        assert_eq!(
            floats(ImageFormat::Rgba8Srgb, &[0.0, 0.5, 1.0, 0.5]),
            Ok(vec![0, 188, 255, 128])
        );
        let packed = floats(ImageFormat::Rgb10A2, &[1.0, 0.0, 0.0, 1.0]).unwrap();
        assert_eq!(u32::from_le_bytes(packed.try_into().unwrap()), 0xC000_03FF);
        // 1 has exponent 15 in 11 and in 10 bits; 65024 is the largest value of 11 bits, 2^-20 its
        // smallest.
        let packed = floats(ImageFormat::R11fG11fB10f, &[1.0, 65024.0, 0.5]).unwrap();
        let expected = (15 << 6) | ((30 << 6 | 0x3F) << 11) | (14 << 5 << 22);
        assert_eq!(u32::from_le_bytes(packed.try_into().unwrap()), expected);
    }

    #[test]
    fn what_a_format_does_not_hold_is_refused() {
        assert_eq!(
            floats(ImageFormat::R8, &[1.5]),
            Err("texel 0: 1.5 is not between 0 and 1".to_owned())
        );
        assert!(floats(ImageFormat::R8Snorm, &[-1.5]).is_err());
        assert!(floats(ImageFormat::R8, &[f32::NAN]).is_err());
        assert!(floats(ImageFormat::R11fG11fB10f, &[-1.0, 0.0, 0.0]).is_err());
        assert!(floats(ImageFormat::R11fG11fB10f, &[0.0, 1.0, 70000.0]).is_err());
        let wide: Vec<u8> =
            [1024_u32, 0, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(encode_texels(ImageFormat::Rgb10A2ui, &wide).is_err());
    }
}
