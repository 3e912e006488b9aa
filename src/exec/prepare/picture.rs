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
struct DecodedPicture {
    samples: SampleFormat,
    bytes: Vec<u8>,
}

/// What a pixel of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SampleFormat {
    color: ColorType,
    bits: u8,
}

/// Whether a file begins as PNG and binary PGM files do.
pub fn is_picture(file_bytes: &[u8]) -> bool {
    file_bytes.starts_with(b"\x89PNG") || file_bytes.starts_with(b"P5")
}

/// The texels of a file as an image of `shape` stores them; an error is a sentence.
pub fn read_picture(file_bytes: &[u8], image_shape: &ImageShape) -> Result<Vec<u8>, String> {
    if (image_shape.extent[2], image_shape.layers, image_shape.levels) != (1, 1, 1) {
        return Err("the image has depth, layers or levels, which a picture has not".to_owned());
    }
    if image_shape.samples != 1 {
        return Err(format!(
            "the image has {} samples per texel, and a picture has one",
            image_shape.samples
        ));
    }
    let picture = if file_bytes.starts_with(b"P5") {
        read_pgm(file_bytes, image_shape)?
    } else {
        read_png(file_bytes, image_shape)?
    };
    if Some(picture.samples) != samples_of(image_shape.format) {
        let needed_samples = samples_of(image_shape.format)
            .map_or("what no picture holds".to_owned(), SampleFormat::in_words);
        return Err(format!(
            "it holds {}, and {} needs {needed_samples}",
            picture.samples.in_words(),
            image_shape.format
        ));
    }
    Ok(picture.bytes)
}

/// Looked at before the samples are, so that a header alone takes no memory.
fn check_size(
    (picture_width, picture_height): (u32, u32),
    image_shape: &ImageShape,
) -> Result<(), String> {
    let [width, height, _] = image_shape.extent;
    if (picture_width, picture_height) == (width, height) {
        return Ok(());
    }
    Err(format!(
        "it is {picture_width} pixels wide and {picture_height} high, and the image has the extent [{width}, {height}]"
    ))
}

fn read_png(file_bytes: &[u8], image_shape: &ImageShape) -> Result<DecodedPicture, String> {
    let broken_png = |error: png::DecodingError| format!("it is no whole PNG file: {error}");
    let mut reader = png::Decoder::new(Cursor::new(file_bytes)).read_info().map_err(broken_png)?;
    check_size(reader.info().size(), image_shape)?;
    let buffer_size = reader.output_buffer_size().ok_or("it is too large")?;
    let mut sample_bytes = vec![0; buffer_size];
    let frame_info = reader.next_frame(&mut sample_bytes).map_err(broken_png)?;
    sample_bytes.truncate(frame_info.buffer_size());
    let samples = SampleFormat { color: frame_info.color_type, bits: frame_info.bit_depth as u8 };
    swap_bytes(&mut sample_bytes, samples);
    Ok(DecodedPicture { samples, bytes: sample_bytes })
}

/// `P5`, width, height and largest sample, divided by white space and comments; one white space;
/// then the samples, of two bytes, the high one first, where the largest is above 255.
fn read_pgm(file_bytes: &[u8], image_shape: &ImageShape) -> Result<DecodedPicture, String> {
    let mut header_numbers = [0_u32; 3];
    let mut remaining_bytes = &file_bytes[2..];
    for header_number in &mut header_numbers {
        remaining_bytes = skip_space(remaining_bytes);
        let digit_count = remaining_bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digit_text = std::str::from_utf8(&remaining_bytes[..digit_count]).unwrap_or_default();
        *header_number = digit_text.parse().map_err(|_| "its PGM header is not whole")?;
        remaining_bytes = &remaining_bytes[digit_count..];
    }
    let [width, height, largest_sample] = header_numbers;
    check_size((width, height), image_shape)?;
    let sample_bits = match largest_sample {
        255 => 8,
        65_535 => 16,
        _ => {
            return Err(format!(
                "its largest sample is {largest_sample}; 255 and 65535 are taken, which need no scaling"
            ));
        }
    };
    let samples = SampleFormat { color: ColorType::Grayscale, bits: sample_bits };
    let expected_bytes = u128::from(width) * u128::from(height) * u128::from(sample_bits / 8);
    let sample_bytes = remaining_bytes.get(1..).unwrap_or_default();
    if sample_bytes.len() as u128 != expected_bytes {
        return Err(format!(
            "it has {} bytes of samples where its header needs {expected_bytes}",
            sample_bytes.len()
        ));
    }
    let mut bytes = sample_bytes.to_vec();
    swap_bytes(&mut bytes, samples);
    Ok(DecodedPicture { samples, bytes })
}

/// What stands behind white space and comments, which end with their line.
fn skip_space(mut header_text: &[u8]) -> &[u8] {
    loop {
        header_text = header_text.trim_ascii_start();
        if header_text.first() != Some(&b'#') {
            return header_text;
        }
        let line_end =
            header_text.iter().position(|byte| *byte == b'\n').unwrap_or(header_text.len());
        header_text = &header_text[line_end..];
    }
}

/// Between the order of files, the high byte first, and that of texels.
fn swap_bytes(bytes: &mut [u8], samples: SampleFormat) {
    if samples.bits == 16 {
        bytes.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
    }
}

/// A PNG file of an image; none where no PNG file can hold its texels.
pub fn write_png(swapped_bytes: &[u8], image_shape: &ImageShape) -> Option<Vec<u8>> {
    let [width, height, depth] = image_shape.extent;
    let is_single =
        (depth, image_shape.layers, image_shape.levels, image_shape.samples) == (1, 1, 1, 1);
    let samples = samples_of(image_shape.format).filter(|_| is_single)?;
    let mut swapped_bytes = swapped_bytes.to_vec();
    swap_bytes(&mut swapped_bytes, samples);
    let mut png_file = Vec::new();
    let mut encoder = png::Encoder::new(&mut png_file, width, height);
    encoder.set_color(samples.color);
    encoder.set_depth(if samples.bits == 16 { BitDepth::Sixteen } else { BitDepth::Eight });
    encoder.write_header().ok()?.write_image_data(&swapped_bytes).ok()?;
    Some(png_file)
}

/// The samples that hold the texels of a format bit by bit; none: those of no picture do.
fn samples_of(texel_format: ImageFormat) -> Option<SampleFormat> {
    let element = stored_element(texel_format);
    let sample_bits = match element.scalar {
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
    Some(SampleFormat { color, bits: sample_bits })
}

impl SampleFormat {
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
                read_picture(&write_png(&texels, &shape).unwrap(), &shape).unwrap(),
                texels,
                "{format}"
            );
        }
        assert_eq!(write_png(&[0; 60], &shape("r32f", [5, 3, 1])), None);
        assert_eq!(write_png(&[0; 15], &shape("r8i", [5, 3, 1])), None);
    }

    #[test]
    fn pgm_files_have_rows_of_samples() {
        let file = [b"P5 # by hand\n3 2\n255\n".as_slice(), &[1, 2, 3, 4, 5, 6]].concat();
        assert_eq!(read_picture(&file, &shape("r8", [3, 2, 1])).unwrap(), [1, 2, 3, 4, 5, 6]);
        let wide = [b"P5\n1\n2 65535 ".as_slice(), &[0x12, 0x34, 0, 7]].concat();
        assert_eq!(read_picture(&wide, &shape("r16ui", [1, 2, 1])).unwrap(), [0x34, 0x12, 7, 0]);
    }

    #[test]
    fn a_picture_that_is_not_the_image_is_refused_with_both() {
        let file = [b"P5 3 2 255\n".as_slice(), &[1, 2, 3, 4, 5, 6]].concat();
        let refused = |format: &str, extent: [u32; 3]| {
            read_picture(&file, &shape(format, extent)).unwrap_err()
        };
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
            assert!(read_picture(broken, &shape("r8", [3, 2, 1])).is_err(), "{broken:?}");
        }
        let vast = b"P5 4294967295 4294967295 65535\n";
        assert!(read_picture(vast, &shape("r16", [1, 1, 1])).is_err());
        assert!(read_picture(vast, &shape("r16", [u32::MAX, u32::MAX, 1])).is_err());
    }
}
