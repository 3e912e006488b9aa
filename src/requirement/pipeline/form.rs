//! The JSON of a pipeline description as structures.
//!
//! Knows: names and spellings of such files. Promises: what is read over has no effect on what is
//! read. Does not cover: what numbers and names mean (`super`).

use base64::Engine as _;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A whole description; keys beside these are permitted.
#[derive(Deserialize)]
pub(super) struct PipelineForm {
    #[serde(rename = "ComputePipelineState")]
    pub compute_state: Option<ComputeStateForm>,
    #[serde(rename = "GraphicsPipelineState")]
    pub graphics_state: Option<IgnoredAny>,
    #[serde(rename = "PipelineUUID")]
    pub identifier: Option<Vec<u8>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ComputeStateForm {
    #[serde(rename = "YcbcrSamplers", default)]
    _conversions: IgnoredAny,
    #[serde(rename = "ImmutableSamplers", default)]
    _samplers: IgnoredAny,
    /// Objects of one key each, the layout's name.
    #[serde(rename = "DescriptorSetLayouts", default)]
    pub set_layouts: Vec<BTreeMap<String, SetLayoutForm>>,
    #[serde(rename = "PipelineLayout")]
    pub layout: LayoutForm,
    #[serde(rename = "ComputePipeline")]
    pub compute_pipeline: ComputePipelineForm,
    #[serde(rename = "ShaderFileNames", default)]
    pub shader_files: Option<ShaderFiles>,
    #[serde(rename = "PhysicalDeviceFeatures", default)]
    _features: IgnoredAny,
}

/// VkDescriptorSetLayoutCreateInfo
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetLayoutForm {
    #[serde(rename = "sType")]
    pub structure: Option<NameForm>,
    #[serde(rename = "pNext", default)]
    _next: IgnoredAny,
    #[serde(rename = "flags", default)]
    _flags: IgnoredAny,
    #[serde(rename = "bindingCount")]
    pub binding_count: NumberForm,
    #[serde(rename = "pBindings")]
    pub bindings: Pointed<Vec<BindingForm>>,
}

/// VkDescriptorSetLayoutBinding
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BindingForm {
    pub binding: NumberForm,
    #[serde(rename = "descriptorType")]
    pub descriptor_type: String,
    #[serde(rename = "descriptorCount")]
    pub count: NumberForm,
    #[serde(rename = "stageFlags")]
    pub stages: StageFlags,
    #[serde(rename = "pImmutableSamplers", default)]
    _samplers: IgnoredAny,
}

/// VkPipelineLayoutCreateInfo
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LayoutForm {
    #[serde(rename = "sType")]
    pub structure: Option<NameForm>,
    #[serde(rename = "pNext", default)]
    _next: IgnoredAny,
    #[serde(rename = "flags", default)]
    _flags: IgnoredAny,
    #[serde(rename = "setLayoutCount")]
    pub set_layout_count: NumberForm,
    /// Names of `DescriptorSetLayouts`.
    #[serde(rename = "pSetLayouts")]
    pub set_layouts: Pointed<Vec<NameForm>>,
    #[serde(rename = "pushConstantRangeCount")]
    pub range_count: NumberForm,
    #[serde(rename = "pPushConstantRanges")]
    pub ranges: Pointed<Vec<RangeForm>>,
}

/// VkPushConstantRange
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RangeForm {
    #[serde(rename = "stageFlags")]
    pub stages: StageFlags,
    pub offset: NumberForm,
    pub size: NumberForm,
}

/// VkComputePipelineCreateInfo
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ComputePipelineForm {
    #[serde(rename = "sType")]
    pub structure: Option<NameForm>,
    #[serde(rename = "pNext", default)]
    _next: IgnoredAny,
    #[serde(rename = "flags", default)]
    _flags: IgnoredAny,
    pub stage: StageForm,
    #[serde(rename = "layout", default)]
    _layout: IgnoredAny,
    #[serde(rename = "basePipelineHandle", default)]
    _base: IgnoredAny,
    #[serde(rename = "basePipelineIndex", default)]
    _base_index: IgnoredAny,
}

/// VkPipelineShaderStageCreateInfo
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageForm {
    #[serde(rename = "sType")]
    pub structure: Option<NameForm>,
    #[serde(rename = "pNext", default)]
    _next: IgnoredAny,
    #[serde(rename = "flags", default)]
    _flags: IgnoredAny,
    pub stage: String,
    #[serde(rename = "module", default)]
    _module: IgnoredAny,
    #[serde(rename = "pName")]
    pub entry: String,
    #[serde(rename = "pSpecializationInfo")]
    pub specialization: Pointed<SpecializationForm>,
}

/// VkSpecializationInfo
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecializationForm {
    #[serde(rename = "mapEntryCount")]
    pub entry_count: NumberForm,
    #[serde(rename = "pMapEntries")]
    pub entries: Pointed<Vec<MapEntryForm>>,
    #[serde(rename = "dataSize")]
    pub data_size: NumberForm,
    #[serde(rename = "pData")]
    pub data: Pointed<DataForm>,
}

/// VkSpecializationMapEntry
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MapEntryForm {
    #[serde(rename = "constantID")]
    pub id: NumberForm,
    pub offset: NumberForm,
    pub size: NumberForm,
}

/// One shader with its file, or a list of them.
pub(super) enum ShaderFiles {
    Single(ShaderFile),
    Listed(Vec<ShaderFile>),
}

/// By hand, because an untagged enum would take a list for the members of a shader, too.
impl<'de> Deserialize<'de> for ShaderFiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FilesVisitor;
        impl<'de> Visitor<'de> for FilesVisitor {
            type Value = ShaderFiles;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with `stage` and `filename`, or a list of such")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<ShaderFiles, A::Error> {
                Vec::deserialize(ListDeserializer(elements)).map(ShaderFiles::Listed)
            }
            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<ShaderFiles, A::Error> {
                let file = ShaderFile::deserialize(MapAccessDeserializer::new(entries));
                file.map(ShaderFiles::Single)
            }
        }
        deserializer.deserialize_any(FilesVisitor)
    }
}

#[derive(Deserialize)]
pub(super) struct ShaderFile {
    pub stage: String,
    pub filename: String,
}

impl ShaderFiles {
    pub(super) fn files(&self) -> &[ShaderFile] {
        match self {
            ShaderFiles::Single(file) => std::slice::from_ref(file),
            ShaderFiles::Listed(files) => files,
        }
    }
}

/// A name; a number stands for its digits.
pub(super) struct NameForm(pub String);

impl<'de> Deserialize<'de> for NameForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = NameForm;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a number that is not negative")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<NameForm, E> {
                Ok(NameForm(number.to_string()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<NameForm, E> {
                match u64::try_from(number) {
                    Ok(number) => self.visit_u64(number),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
                }
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<NameForm, E> {
                Ok(NameForm(text.to_owned()))
            }
        }
        deserializer.deserialize_any(NameVisitor)
    }
}

/// A number, or one in decimal digits as a string.
#[derive(Clone, Copy)]
pub(super) struct NumberForm(pub u64);

impl<'de> Deserialize<'de> for NumberForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl Visitor<'_> for NumberVisitor {
            type Value = NumberForm;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number that is not negative, or its digits as a string")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<NumberForm, E> {
                Ok(NumberForm(number))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<NumberForm, E> {
                let unexpected = de::Unexpected::Signed(number);
                let number = u64::try_from(number);
                number.map(NumberForm).map_err(|_| E::invalid_value(unexpected, &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<NumberForm, E> {
                let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let number = text.parse().ok().filter(|_| is_number);
                number
                    .map(NumberForm)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(NumberVisitor)
    }
}

/// Flags by their names: `"A | B"`; none for 0 and `"0"`.
pub(super) struct StageFlags(pub Vec<String>);

impl<'de> Deserialize<'de> for StageFlags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagsVisitor;
        impl Visitor<'_> for FlagsVisitor {
            type Value = StageFlags;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("names of stages with `|` between them, or 0")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<StageFlags, E> {
                match number {
                    0 => Ok(StageFlags(Vec::new())),
                    _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
                }
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<StageFlags, E> {
                match number {
                    0 => Ok(StageFlags(Vec::new())),
                    _ => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
                }
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<StageFlags, E> {
                let names = text.split('|').map(str::trim).filter(|name| *name != "0");
                let names: Vec<String> = names.map(str::to_owned).collect();
                if names.iter().all(|name| name.starts_with("VK_SHADER_STAGE_")) {
                    Ok(StageFlags(names))
                } else {
                    Err(E::invalid_value(de::Unexpected::Str(text), &self))
                }
            }
        }
        deserializer.deserialize_any(FlagsVisitor)
    }
}

/// Bytes as base64 or as a list.
pub(super) struct DataForm(pub Vec<u8>);

impl<'de> Deserialize<'de> for DataForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DataVisitor;
        impl<'de> Visitor<'de> for DataVisitor {
            type Value = DataForm;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("base64 or a list of bytes")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<DataForm, E> {
                let bytes = base64::engine::general_purpose::STANDARD.decode(text);
                bytes.map(DataForm).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<DataForm, A::Error> {
                Vec::deserialize(ListDeserializer(elements)).map(DataForm)
            }
        }
        deserializer.deserialize_any(DataVisitor)
    }
}

/// What a pointer leads to: nothing for `"NULL"` and null.
pub(super) struct Pointed<T>(pub Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pointed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PointedVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for PointedVisitor<T> {
            type Value = Pointed<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"NULL\" or what the pointer leads to")
            }
            fn visit_unit<E: de::Error>(self) -> Result<Pointed<T>, E> {
                Ok(Pointed(None))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Pointed<T>, E> {
                match text {
                    "NULL" => Ok(Pointed(None)),
                    _ => {
                        T::deserialize(StrDeserializer::new(text)).map(|value| Pointed(Some(value)))
                    }
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Pointed<T>, A::Error> {
                T::deserialize(ListDeserializer(elements)).map(|value| Pointed(Some(value)))
            }
            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Pointed<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(entries))
                    .map(|value| Pointed(Some(value)))
            }
        }
        deserializer.deserialize_any(PointedVisitor(PhantomData))
    }
}

/// A list that is no structure.
struct ListDeserializer<A>(A);

impl<'de, A: SeqAccess<'de>> Deserializer<'de> for ListDeserializer<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_seq(self.0)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, A::Error> {
        Err(de::Error::invalid_type(de::Unexpected::Seq, &"an object"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
