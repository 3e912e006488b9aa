//! What sort of device the device engine ran on.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The type of a Vulkan device, as its driver states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceType {
    /// A processor for graphics of its own.
    Discrete,
    /// A processor for graphics that shares the host's memory.
    Integrated,
    /// A device within a virtual machine.
    Virtual,
    /// The host's own processor: software, not a GPU.
    Cpu,
    /// None of these.
    Other,
}

impl DeviceType {
    /// Its key in the identity of a device engine.
    pub const KEY: &'static str = "device type";

    /// What the identity of an engine says of its device; none where it says nothing.
    pub fn of_identity(identity: &BTreeMap<String, String>) -> Option<Self> {
        identity.get(Self::KEY).map(|stored| match stored.as_str() {
            "discrete" => Self::Discrete,
            "integrated" => Self::Integrated,
            "virtual" => Self::Virtual,
            "cpu" => Self::Cpu,
            _ => Self::Other,
        })
    }
}

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Cpu => "cpu",
            Self::Other => "other",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        use DeviceType::{Cpu, Discrete, Integrated, Other, Virtual};
        for device_type in [Discrete, Integrated, Virtual, Cpu, Other] {
            let word = device_type.to_string();
            assert_eq!(serde_json::to_value(device_type).unwrap(), word.as_str());
            let identity = BTreeMap::from([(DeviceType::KEY.to_owned(), word)]);
            assert_eq!(DeviceType::of_identity(&identity), Some(device_type));
        }
    }
}
