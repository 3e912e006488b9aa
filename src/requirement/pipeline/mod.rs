//! Descriptions of Vulkan SC pipelines: the JSON files that offline pipeline compilers read.
//!
//! Knows: the state of a compute pipeline with its layout, set layouts and specialization
//! (`ComputePipelineState`), in the spellings that writers of such files use: null pointers as
//! `"NULL"`, numbers as strings, flags as `"A | B"`, data as base64 or as a list of bytes.
//! Promises: unknown keys of these structures, counts that contradict their lists, names of layouts
//! that there are none of and data that a map entry exceeds are diagnostics with their place. The
//! file of the shader is read where the project has it (`shader`).
//! Does not cover: graphics pipelines, samplers, device features, extensions, `pNext` chains; they
//! are read over.

mod form;
mod shader;
mod structure;

use super::document::{Document, FileSyntax, Origin, decode_text, read_at_most};
use form::{
    BindingForm, ComputeStateForm, NumberForm, PipelineForm, SpecializationForm, StageFlags,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::{
    OfflinePipeline, PipelineBinding, PipelineConstant, PipelineRange, StageAccess,
};

/// Bytes of a description.
const MOST_BYTES: u64 = 4 << 20;

/// Bindings, ranges and constants of one description.
const MOST_ROWS: usize = 4096;

/// A description, and the text that it was read from.
pub(crate) struct ReadPipeline {
    pub pipeline: OfflinePipeline,
    pub document: Arc<Document>,
}

/// Reads the description `file` of the project in `root`, shown as `shown_file`.
pub(crate) fn load_pipeline(
    root: &Path,
    file: &str,
    shown_file: String,
) -> Result<ReadPipeline, Vec<Diagnostic>> {
    let text = read_at_most(&root.join(file), &shown_file, MOST_BYTES)
        .and_then(|bytes| decode_text(bytes, &shown_file))
        .map_err(|diagnostic| vec![diagnostic])?;
    let document = Document::parse(shown_file, &text, FileSyntax::Json)?;
    let origin = Origin::of(&document);
    let form: PipelineForm = origin.read()?;
    let Some(state) = &form.compute_state else {
        let message = "the description is of no compute pipeline";
        let hint = "it has a `ComputePipelineState`";
        return Err(vec![origin.error("missing-key", message).hint(hint)]);
    };
    if form.graphics_state.is_some() {
        let message = "a description is of one pipeline, this one of a graphics pipeline, too";
        return Err(vec![origin.at("GraphicsPipelineState").error("contradiction", message)]);
    }
    let reader = PipelineReader { origin: origin.at("ComputePipelineState"), root, file };
    let pipeline = reader.pipeline(&form, state, &origin).map_err(|problem| vec![*problem])?;
    Ok(ReadPipeline { pipeline, document })
}

type Reading<T> = Result<T, Box<Diagnostic>>;

struct PipelineReader<'a> {
    origin: Origin,
    /// The project's folder.
    root: &'a Path,
    /// The description, relative to it.
    file: &'a str,
}

impl PipelineReader<'_> {
    fn pipeline(
        &self,
        form: &PipelineForm,
        state: &ComputeStateForm,
        root: &Origin,
    ) -> Reading<OfflinePipeline> {
        let identifier = match &form.identifier {
            None => None,
            Some(bytes) => Some(<[u8; 16]>::try_from(bytes.as_slice()).map_err(|_| {
                let message = format!("an identifier has 16 bytes, this one {}", bytes.len());
                root.at("PipelineUUID").error("bad-value", message)
            })?),
        };
        let stage = &state.compute_pipeline.stage;
        let stage_place = self.origin.at("ComputePipeline").at("stage");
        if stage.stage != "VK_SHADER_STAGE_COMPUTE_BIT" {
            let message = format!("`{}` is not the compute stage", stage.stage);
            return Err(Box::new(stage_place.at("stage").error("bad-value", message)));
        }
        let constants = match &stage.specialization.0 {
            Some(specialization) => {
                constants_of(specialization, &stage_place.at("pSpecializationInfo"))?
            }
            None => Vec::new(),
        };
        Ok(OfflinePipeline {
            identifier,
            shader: self.shader(state)?,
            structure_faults: structure::structure_faults(state),
            entry: stage.entry.clone(),
            sets: self.sets(state)?,
            push_constant_ranges: self.ranges(state)?,
            constants,
        })
    }

    fn sets(&self, state: &ComputeStateForm) -> Reading<Vec<Vec<PipelineBinding>>> {
        let mut layouts = BTreeMap::new();
        let layouts_place = self.origin.at("DescriptorSetLayouts");
        for (index, named_layouts) in state.set_layouts.iter().enumerate() {
            for (name, layout) in named_layouts {
                let place = layouts_place.at(index).at(name.as_str());
                let bindings = layout.bindings.0.as_deref().unwrap_or_default();
                check_count(&place, "bindingCount", layout.binding_count, bindings.len())?;
                let rows = bindings_of(bindings, &place.at("pBindings"))?;
                if layouts.insert(name.as_str(), rows).is_some() {
                    let message = format!("the set layout `{name}` is described twice");
                    return Err(Box::new(place.error("duplicate-id", message)));
                }
            }
        }
        let place = self.origin.at("PipelineLayout");
        let names = state.layout.set_layouts.0.as_deref().unwrap_or_default();
        check_count(&place, "setLayoutCount", state.layout.set_layout_count, names.len())?;
        let set_of = |(index, name): (usize, &form::NameForm)| {
            layouts.get(name.0.as_str()).cloned().ok_or_else(|| {
                let message = format!("there is no set layout `{}`", name.0);
                Box::new(place.at("pSetLayouts").at(index).error("unknown-layout", message))
            })
        };
        names.iter().enumerate().map(set_of).collect()
    }

    fn ranges(&self, state: &ComputeStateForm) -> Reading<Vec<PipelineRange>> {
        let place = self.origin.at("PipelineLayout");
        let ranges = state.layout.ranges.0.as_deref().unwrap_or_default();
        check_count(&place, "pushConstantRangeCount", state.layout.range_count, ranges.len())?;
        let place = place.at("pPushConstantRanges");
        let range_of = |(index, range): (usize, &form::RangeForm)| {
            let place = place.at(index);
            let (offset, size) =
                (word(&place, "offset", range.offset)?, word(&place, "size", range.size)?);
            if size == 0 || size % 4 != 0 || offset % 4 != 0 || offset.checked_add(size).is_none() {
                let message = "offset and size of a range are multiples of 4, its size is not 0";
                return Err(Box::new(place.error("bad-value", message)));
            }
            let stages = range.stages.0.clone();
            Ok(PipelineRange { offset, size, stages, stage: stage_access(&range.stages) })
        };
        ranges.iter().enumerate().map(range_of).collect()
    }
}

fn check_count(place: &Origin, key: &str, count: NumberForm, length: usize) -> Reading<()> {
    if count.0 != length as u64 {
        let message = format!("`{key}` is {}, and {length} are listed", count.0);
        return Err(Box::new(place.at(key).error("count", message)));
    }
    if length > MOST_ROWS {
        let message = format!("more than {MOST_ROWS} are listed");
        return Err(Box::new(place.at(key).error("limit", message)));
    }
    Ok(())
}

/// A number of 32 bits.
fn word(place: &Origin, key: &str, number: NumberForm) -> Reading<u32> {
    u32::try_from(number.0).map_err(|_| {
        Box::new(place.at(key).error("bad-value", format!("{} has more than 32 bits", number.0)))
    })
}

fn bindings_of(bindings: &[BindingForm], place: &Origin) -> Reading<Vec<PipelineBinding>> {
    let mut known_bindings = BTreeSet::new();
    let mut rows = Vec::new();
    for (index, binding) in bindings.iter().enumerate() {
        let place = place.at(index);
        let number = word(&place, "binding", binding.binding)?;
        if !known_bindings.insert(number) {
            let message = format!("binding {number} is described twice");
            return Err(Box::new(place.at("binding").error("duplicate-id", message)));
        }
        rows.push(PipelineBinding {
            binding: number,
            class: descriptor_class(&binding.descriptor_type),
            type_name: binding.descriptor_type.clone(),
            count: word(&place, "descriptorCount", binding.count)?,
            stage: stage_access(&binding.stages),
        });
    }
    Ok(rows)
}

fn stage_access(stages: &StageFlags) -> StageAccess {
    let sees = ["VK_SHADER_STAGE_COMPUTE_BIT", "VK_SHADER_STAGE_ALL"];
    if stages.0.iter().any(|stage| sees.contains(&stage.as_str())) {
        StageAccess::Compute
    } else {
        StageAccess::Others
    }
}

/// Names of descriptor types in Vulkan.
const DESCRIPTOR_TYPES: &[(&str, DescriptorClass)] = &[
    ("VK_DESCRIPTOR_TYPE_SAMPLER", DescriptorClass::Sampler),
    ("VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER", DescriptorClass::Combined),
    ("VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE", DescriptorClass::SampledImage),
    ("VK_DESCRIPTOR_TYPE_STORAGE_IMAGE", DescriptorClass::StorageImage),
    ("VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER", DescriptorClass::UniformTexel),
    ("VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER", DescriptorClass::StorageTexel),
    ("VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER", DescriptorClass::Uniform),
    ("VK_DESCRIPTOR_TYPE_STORAGE_BUFFER", DescriptorClass::Storage),
    ("VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC", DescriptorClass::UniformDynamic),
    ("VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC", DescriptorClass::StorageDynamic),
];

fn descriptor_class(type_name: &str) -> Option<DescriptorClass> {
    let row = DESCRIPTOR_TYPES.iter().find(|(name, _)| *name == type_name);
    row.map(|(_, class)| *class)
}

fn constants_of(form: &SpecializationForm, place: &Origin) -> Reading<Vec<PipelineConstant>> {
    let entries = form.entries.0.as_deref().unwrap_or_default();
    check_count(place, "mapEntryCount", form.entry_count, entries.len())?;
    let data = form.data.0.as_ref().map(|data| data.0.as_slice()).unwrap_or_default();
    if form.data_size.0 != data.len() as u64 {
        let message =
            format!("`dataSize` is {}, the data has {} bytes", form.data_size.0, data.len());
        return Err(Box::new(place.at("dataSize").error("count", message)));
    }
    let mut known_ids = BTreeSet::new();
    let mut constants = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let place = place.at("pMapEntries").at(index);
        let id = word(&place, "constantID", entry.id)?;
        if !known_ids.insert(id) {
            let message = format!("the constant {id} is set twice");
            return Err(Box::new(place.at("constantID").error("duplicate-id", message)));
        }
        let end = entry.offset.0.checked_add(entry.size.0);
        let bytes = end.and_then(|end| {
            data.get(usize::try_from(entry.offset.0).ok()?..usize::try_from(end).ok()?)
        });
        let bytes = bytes.ok_or_else(|| {
            let message = format!(
                "{} bytes from byte {} on exceed the data of {} bytes",
                entry.size.0,
                entry.offset.0,
                data.len()
            );
            Box::new(place.at("size").error("size", message))
        })?;
        constants.push(PipelineConstant { id, bytes: bytes.to_vec() });
    }
    Ok(constants)
}
