//! The types that structures of a description say they have.
//!
//! Knows: `sType` by name and by number (Vulkan specification, VkStructureType). Promises: one that
//! is stated and is not the structure's own is told. Does not cover: structures without.

use super::form::{ComputeStateForm, NameForm};
use vkcert_model::requirement::{PipelinePart, StructureFault};

type StructureType = (&'static str, &'static str);

const COMPUTE_PIPELINE: StructureType = ("VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO", "29");
const STAGE: StructureType = ("VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO", "18");
const PIPELINE_LAYOUT: StructureType = ("VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO", "30");
const SET_LAYOUT: StructureType = ("VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO", "32");

pub(super) fn structure_faults(state: &ComputeStateForm) -> Vec<StructureFault> {
    use PipelinePart::{Layout, Stage};
    let pipeline = &state.compute_pipeline;
    let stage_place = "ComputePipeline.stage".to_owned();
    let mut faults = vec![
        fault("ComputePipeline".to_owned(), &pipeline.structure, COMPUTE_PIPELINE, Stage),
        fault(stage_place, &pipeline.stage.structure, STAGE, Stage),
        fault("PipelineLayout".to_owned(), &state.layout.structure, PIPELINE_LAYOUT, Layout),
    ];
    for (name, layout) in state.set_layouts.iter().flatten() {
        let place = format!("DescriptorSetLayouts.{name}");
        faults.push(fault(place, &layout.structure, SET_LAYOUT, Layout));
    }
    faults.into_iter().flatten().collect()
}

fn fault(
    place: String,
    stated: &Option<NameForm>,
    (needed, number): StructureType,
    part: PipelinePart,
) -> Option<StructureFault> {
    let stated = &stated.as_ref()?.0;
    let is_wrong = stated != needed && stated != number;
    is_wrong.then(|| StructureFault { place, stated: stated.clone(), needed, part })
}
