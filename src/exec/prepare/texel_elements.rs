//! Texels as elements: the type in which a file gives them, and their bytes as an image stores
//! them.

use super::problems::Problems;
use vkcert_model::element::{ElementType, ScalarType};
use vkcert_model::image::{ImageFormat, TexelEncoding};
use vkcert_oracle::texel;
use vkcert_requirement::Origin;

/// Components as the format stores them.
pub(super) fn stored_texels(
    texel_format: ImageFormat,
    component_bytes: &[u8],
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let encoded_texels = texel::encode_texels(texel_format, component_bytes);
    encoded_texels
        .map_err(|message| {
            problems.push(origin.error("bad-value", format!("{texel_format}: {message}")))
        })
        .ok()
}

/// The type of a `.npy` file with stored texels.
pub fn stored_element(texel_format: ImageFormat) -> ElementType {
    match texel_format.encoding() {
        TexelEncoding::Plain(scalar)
        | TexelEncoding::Unorm(scalar)
        | TexelEncoding::Snorm(scalar) => {
            ElementType { scalar, components: texel_format.components() }
        }
        TexelEncoding::Srgb => ElementType { scalar: ScalarType::Uint8, components: 4 },
        TexelEncoding::Rgb10A2 | TexelEncoding::Rgb10A2Uint | TexelEncoding::R11G11B10 => {
            ElementType::scalar(ScalarType::Uint32)
        }
    }
}
