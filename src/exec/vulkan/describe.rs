//! Numbers of the API as people read them.

use ash::vk;

/// `1.3.230`
pub(crate) fn version_text(packed_version: u32) -> String {
    let (major, minor) =
        (vk::api_version_major(packed_version), vk::api_version_minor(packed_version));
    format!("{major}.{minor}.{}", vk::api_version_patch(packed_version))
}

/// The name of a result code as the specification writes it (`ERROR_DEVICE_LOST`), with its number
/// where it has none.
pub(crate) fn result_name(result: vk::Result) -> String {
    format!("VK_{result:?}")
}

/// A fixed-size C string of the API as text.
pub(super) fn text_of_chars(fixed_chars: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> =
        fixed_chars.iter().take_while(|char| **char != 0).map(|char| *char as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
