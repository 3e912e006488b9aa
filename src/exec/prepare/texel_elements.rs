//! Texels as elements: the type in which a file gives them, and their bytes as an image stores
//! them.

use super::problems::Problems;
use vkcert_model::element::{ElementType, ScalarType};
use vkcert_model::image::{ImageFormat, TexelEncoding};
use vkcert_oracle::texel;
use vkcert_requirement::Origin;

/// Components as the format stores them.
pub(super) fn stored(
    format: ImageFormat,
    components: &[u8],
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let texels = texel::encode_texels(format, components);
    texels
        .map_err(|message| problems.push(origin.error("bad-value", format!("{format}: {message}"))))
        .ok()
}

/// The type of a `.npy` file with stored texels.
pub fn stored_element(format: ImageFormat) -> ElementType {
    match format.encoding() {
        TexelEncoding::Plain(scalar)
        | TexelEncoding::Unorm(scalar)
        | TexelEncoding::Snorm(scalar) => ElementType { scalar, components: format.components() },
        TexelEncoding::Srgb => ElementType { scalar: ScalarType::Uint8, components: 4 },
        TexelEncoding::Rgb10A2 | TexelEncoding::Rgb10A2Uint | TexelEncoding::R11G11B10 => {
            ElementType::scalar(ScalarType::Uint32)
        }
    }
}
