//! A kernel as a file names it: text or module, entry point, target environment.

use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// A kernel: its source and everything that decides what it compiles to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Where the text or module is.
    pub source: KernelText,
    /// What the source is; GLSL where it is left out.
    #[serde(default)]
    pub language: Language,
    /// Name of the entry point.
    #[serde(default = "default_entry")]
    pub entry: String,
    /// What GLSL is compiled for; Vulkan 1.1 where it is left out.
    #[serde(default)]
    pub target_env: TargetEnvironment,
    /// Macros defined before the first line of the source.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defines: BTreeMap<String, String>,
    /// Folders searched by `#include`, relative to the file's own folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
}

/// The entry point that a kernel has where nothing is said: `main`.
pub fn default_entry() -> String {
    "main".to_owned()
}

/// Where a kernel's text or module is: a path relative to the file's own folder, or the contents themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum KernelText {
    /// A path relative to the file's own folder.
    Path(String),
    /// The text or module itself.
    Contents(KernelContents),
}

/// By hand, because an untagged enum would say only that no variant matches, and not where.
impl<'de> Deserialize<'de> for KernelText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = KernelText;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a path, {\"text\": GLSL} or {\"bytes\": base64}")
            }
            fn visit_str<E>(self, path: &str) -> Result<KernelText, E> {
                Ok(KernelText::Path(path.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<KernelText, A::Error> {
                KernelContents::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    .map(KernelText::Contents)
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// Contents of a kernel in the file itself: exactly one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KernelContents {
    /// GLSL text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A SPIR-V module, base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
}

#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
/// What the source of a kernel is.
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// GLSL text.
    #[default]
    Glsl,
    /// A binary SPIR-V module.
    Spirv,
}

/// The Vulkan version that GLSL is compiled for. The default is 1.1, the oldest version that the Vulkan engine accepts
/// (SPIR-V 1.3, subgroup operations), so that a kernel asks for no more than it needs.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
pub enum TargetEnvironment {
    /// Vulkan 1.0, SPIR-V 1.0.
    #[serde(rename = "vulkan1.0")]
    Vulkan10,
    /// Vulkan 1.1, SPIR-V 1.3: the oldest that the Vulkan engine runs.
    #[default]
    #[serde(rename = "vulkan1.1")]
    Vulkan11,
    /// Vulkan 1.2, SPIR-V 1.5.
    #[serde(rename = "vulkan1.2")]
    Vulkan12,
    /// Vulkan 1.3, SPIR-V 1.6.
    #[serde(rename = "vulkan1.3")]
    Vulkan13,
    /// Vulkan 1.4, SPIR-V 1.6.
    #[serde(rename = "vulkan1.4")]
    Vulkan14,
}

impl TargetEnvironment {
    /// The stored name, `vulkan1.0` ... `vulkan1.4`.
    pub fn name(self) -> &'static str {
        match self {
            TargetEnvironment::Vulkan10 => "vulkan1.0",
            TargetEnvironment::Vulkan11 => "vulkan1.1",
            TargetEnvironment::Vulkan12 => "vulkan1.2",
            TargetEnvironment::Vulkan13 => "vulkan1.3",
            TargetEnvironment::Vulkan14 => "vulkan1.4",
        }
    }
}

impl std::fmt::Display for TargetEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
