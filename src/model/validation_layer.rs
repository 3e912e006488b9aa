//! Whether a validation layer watched a device.

use std::fmt;

/// The validation layer of a device that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValidationLayer {
    /// The project does not want one.
    Off,
    /// The project wants one, and none is installed.
    NotInstalled,
    /// Its name and version.
    InUse(String),
}

/// The words of evidence for a layer that was wanted and is not there.
const NOT_INSTALLED: &str = "VK_LAYER_KHRONOS_validation is not installed";

impl ValidationLayer {
    /// Its key in the identity of a device engine.
    pub const KEY: &'static str = "validation layer";

    /// What evidence says of it, as `Display` writes it.
    pub fn parse(stored: &str) -> Self {
        match stored {
            "off" => Self::Off,
            NOT_INSTALLED => Self::NotInstalled,
            layer => Self::InUse(layer.to_owned()),
        }
    }
}

impl fmt::Display for ValidationLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::NotInstalled => NOT_INSTALLED,
            Self::InUse(layer) => layer,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let in_use = ValidationLayer::InUse("VK_LAYER_KHRONOS_validation 1.3.239".to_owned());
        for layer in [ValidationLayer::Off, ValidationLayer::NotInstalled, in_use] {
            assert_eq!(ValidationLayer::parse(&layer.to_string()), layer);
        }
    }
}
