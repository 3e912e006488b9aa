//! PNG and PGM files as texels, and texels as PNG files.
//!
//! Knows: PNG (W3C, third edition) by its crate; binary PGM (netpbm), which is a header in front of
//! the samples.
//! Promises: samples are taken as the file has them. A file whose size, channels or bits are not
//! those of the image is refused by name; nothing is scaled, and no channel is added or dropped.
//! Does not cover: colour profiles and gamma, which are read over; palettes, layers, levels.

use super::texel_elements::stored_element;
use png::{BitDepth, ColorType};
use std::io::Cursor;
use vkcert_model::element::ScalarType;
use vkcert_model::image::{ImageFormat, ImageShape};

/// Samples in the order of the texels; those of 16 bits little endian.
struct Picture {
    samples: Samples,
    bytes: Vec<u8>,
}

/// What a pixel of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Samples {
    color: ColorType,
    bits: u8,
}

/// Whether a file begins as PNG and binary PGM files do.
pub fn is_picture(file: &[u8]) -> bool {
    file.starts_with(b"\x89PNG") || file.starts_with(b"P5")
}

/// The texels of a file as an image of `shape` stores them; an error is a sentence.
pub fn read(file: &[u8], shape: &ImageShape) -> Result<Vec<u8>, String> {
    if (shape.extent[2], shape.layers, shape.levels) != (1, 1, 1) {
        return Err("the image has depth, layers or levels, which a picture has not".to_owned());
    }
    if shape.samples != 1 {
        return Err(format!(
            "the image has {} samples per texel, and a picture has one",
            shape.samples
        ));
    }
    let picture =
        if file.starts_with(b"P5") { read_pgm(file, shape)? } else { read_png(file, shape)? };
    if Some(picture.samples) != samples_of(shape.format) {
        let needed =
            samples_of(shape.format).map_or("what no picture holds".to_owned(), Samples::in_words);
        return Err(format!(
            "it holds {}, and {} needs {needed}",
            picture.samples.in_words(),
            shape.format
        ));
    }
    Ok(picture.bytes)
}

/// Looked at before the samples are, so that a header alone takes no memory.
fn check_size((wide, high): (u32, u32), shape: &ImageShape) -> Result<(), String> {
    let [width, height, _] = shape.extent;
    if (wide, high) == (width, height) {
        return Ok(());
    }
    Err(format!(
        "it is {wide} pixels wide and {high} high, and the image has the extent [{width}, {height}]"
    ))
}

fn read_png(file: &[u8], shape: &ImageShape) -> Result<Picture, String> {
    let broken = |error: png::DecodingError| format!("it is no whole PNG file: {error}");
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().map_err(broken)?;
    check_size(reader.info().size(), shape)?;
    let size = reader.output_buffer_size().ok_or("it is too large")?;
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes).map_err(broken)?;
    bytes.truncate(frame.buffer_size());
    let samples = Samples { color: frame.color_type, bits: frame.bit_depth as u8 };
    swap_bytes(&mut bytes, samples);
    Ok(Picture { samples, bytes })
}

/// `P5`, width, height and largest sample, divided by white space and comments; one white space;
/// then the samples, of two bytes, the high one first, where the largest is above 255.
fn read_pgm(file: &[u8], shape: &ImageShape) -> Result<Picture, String> {
    let mut numbers = [0_u32; 3];
    let mut rest = &file[2..];
    for number in &mut numbers {
        rest = behind_space(rest);
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = std::str::from_utf8(&rest[..digits]).unwrap_or_default();
        *number = text.parse().map_err(|_| "its PGM header is not whole")?;
        rest = &rest[digits..];
    }
    let [width, height, largest] = numbers;
    check_size((width, height), shape)?;
    let bits = match largest {
        255 => 8,
        65_535 => 16,
        _ => {
            return Err(format!(
                "its largest sample is {largest}; 255 and 65535 are taken, which need no scaling"
            ));
        }
    };
    let samples = Samples { color: ColorType::Grayscale, bits };
    let size = u128::from(width) * u128::from(height) * u128::from(bits / 8);
    let body = rest.get(1..).unwrap_or_default();
    if body.len() as u128 != size {
        return Err(format!(
            "it has {} bytes of samples where its header needs {size}",
            body.len()
        ));
    }
    let mut bytes = body.to_vec();
    swap_bytes(&mut bytes, samples);
    Ok(Picture { samples, bytes })
}

/// What stands behind white space and comments, which end with their line.
fn behind_space(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        if text.first() != Some(&b'#') {
            return text;
        }
        let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
        text = &text[end..];
    }
}

/// Between the order of files, the high byte first, and that of texels.
fn swap_bytes(bytes: &mut [u8], samples: Samples) {
    if samples.bits == 16 {
        bytes.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
    }
}

/// A PNG file of an image; none where no PNG file can hold its texels.
pub fn written(bytes: &[u8], shape: &ImageShape) -> Option<Vec<u8>> {
    let [width, height, depth] = shape.extent;
    let single = (depth, shape.layers, shape.levels, shape.samples) == (1, 1, 1, 1);
    let samples = samples_of(shape.format).filter(|_| single)?;
    let mut bytes = bytes.to_vec();
    swap_bytes(&mut bytes, samples);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(samples.color);
    encoder.set_depth(if samples.bits == 16 { BitDepth::Sixteen } else { BitDepth::Eight });
    encoder.write_header().ok()?.write_image_data(&bytes).ok()?;
    Some(file)
}

/// The samples that hold the texels of a format bit by bit; none: those of no picture do.
fn samples_of(format: ImageFormat) -> Option<Samples> {
    let element = stored_element(format);
    let bits = match element.scalar {
        ScalarType::Uint8 => 8,
        ScalarType::Uint16 => 16,
        ScalarType::Bool
        | ScalarType::Int8
        | ScalarType::Int16
        | ScalarType::Int32
        | ScalarType::Uint32
        | ScalarType::Int64
        | ScalarType::Uint64
        | ScalarType::Float16
        | ScalarType::Float32
        | ScalarType::Float64 => return None,
    };
    let color = match element.components {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        4 => ColorType::Rgba,
        _ => return None,
    };
    Some(Samples { color, bits })
}

impl Samples {
    /// `3 channels of 8 bits`.
    fn in_words(self) -> String {
        match self.color {
            ColorType::Indexed => format!("a palette of {} bits", self.bits),
            ColorType::Grayscale => format!("1 channel of {} bits", self.bits),
            ColorType::GrayscaleAlpha | ColorType::Rgb | ColorType::Rgba => {
                format!("{} channels of {} bits", self.color.samples(), self.bits)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::image::ImageDim;

    fn shape(format: &str, extent: [u32; 3]) -> ImageShape {
        let format = serde_json::from_value(serde_json::json!(format)).unwrap();
        ImageShape { dim: ImageDim::Two, format, extent, layers: 1, levels: 1, samples: 1 }
    }

    #[test]
    fn what_is_written_as_png_is_read_back_in_every_format_that_a_picture_holds() {
        for (format, texel) in
            [("r8", 1), ("r8ui", 1), ("rg8", 2), ("rgba8", 4), ("r16", 2), ("rgba16ui", 8)]
        {
            let shape = shape(format, [5, 3, 1]);
            let texels: Vec<u8> = (0..15 * texel).map(|byte| byte as u8).collect();
            assert_eq!(
                read(&written(&texels, &shape).unwrap(), &shape).unwrap(),
                texels,
                "{format}"
            );
        }
        assert_eq!(written(&[0; 60], &shape("r32f", [5, 3, 1])), None);
        assert_eq!(written(&[0; 15], &shape("r8i", [5, 3, 1])), None);
    }

    #[test]
    fn pgm_files_have_rows_of_samples() {
        let file = [b"P5 # by hand\n3 2\n255\n".as_slice(), &[1, 2, 3, 4, 5, 6]].concat();
        assert_eq!(read(&file, &shape("r8", [3, 2, 1])).unwrap(), [1, 2, 3, 4, 5, 6]);
        let wide = [b"P5\n1\n2 65535 ".as_slice(), &[0x12, 0x34, 0, 7]].concat();
        assert_eq!(read(&wide, &shape("r16ui", [1, 2, 1])).unwrap(), [0x34, 0x12, 7, 0]);
    }

    #[test]
    fn a_picture_that_is_not_the_image_is_refused_with_both() {
        let file = [b"P5 3 2 255\n".as_slice(), &[1, 2, 3, 4, 5, 6]].concat();
        let refused =
            |format: &str, extent: [u32; 3]| read(&file, &shape(format, extent)).unwrap_err();
        assert!(refused("r8", [2, 3, 1]).contains("3 pixels wide and 2 high"));
        assert!(
            refused("rgba8", [3, 2, 1])
                .contains("1 channel of 8 bits, and rgba8 needs 4 channels of 8 bits")
        );
        assert!(refused("r32f", [3, 2, 1]).contains("what no picture holds"));
        for broken in [
            b"P5".as_slice(),
            b"P5 3 2",
            b"P5 3 2 100\nabcdef",
            b"P5 3 2 255\nabc",
            b"\x89PNG\r\n\x1a\n",
        ] {
            assert!(read(broken, &shape("r8", [3, 2, 1])).is_err(), "{broken:?}");
        }
        let vast = b"P5 4294967295 4294967295 65535\n";
        assert!(read(vast, &shape("r16", [1, 1, 1])).is_err());
        assert!(read(vast, &shape("r16", [u32::MAX, u32::MAX, 1])).is_err());
    }
}
