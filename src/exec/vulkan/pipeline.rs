//! Pipelines and what they are made of, kept from job to job.
//!
//! Knows: shader modules by digest, layouts by content, pipelines by module, entry point,
//! specialization, layout and subgroup size.
//! Promises: what the validation layer said while a pipeline was made is told with every job that
//! uses it, not only with the first; everything made is destroyed, users before what they use.
//! Does not cover: whether the device can run it (`fit`).

use super::device::{CallFailure, Device, during};
use super::fit::{DescriptorLayout, descriptor_type};
use super::loop_count;
use super::pipeline_cache::PipelineCache;
use super::protocol::{Bytes, Digest, WireMessage};
use ash::vk;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::CString;
use std::rc::Rc;
use vkcert_spirv::interface::{DeviceNeeds, Specialization};
use vkcert_spirv::module::Module;

/// A module as it was sent.
pub(crate) struct ShaderProgram {
    pub module: Module,
    shader: Option<Rc<ShaderModule>>,
    needs: BTreeMap<(String, Specialization), Rc<DeviceNeeds>>,
    /// The loop-counting form for a counter at a binding of set 0, once it is asked for.
    loop_count: BTreeMap<u32, Result<Rc<LoopCountingForm>, String>>,
    /// Whether the module has loops, once it is asked for.
    loops_known: Option<bool>,
}

/// A loop-counting form as it is sent.
pub(crate) struct LoopCountingForm {
    pub digest: Digest,
    pub words: Bytes,
}

impl ShaderProgram {
    pub(crate) fn new(module: Module) -> Self {
        Self {
            module,
            shader: None,
            needs: BTreeMap::new(),
            loop_count: BTreeMap::new(),
            loops_known: None,
        }
    }

    pub(crate) fn has_loops(&mut self) -> bool {
        *self.loops_known.get_or_insert_with(|| loop_count::has_loops(&self.module))
    }

    /// The module's loop-counting form.
    pub(crate) fn loop_count(&mut self, binding: u32) -> Result<Rc<LoopCountingForm>, String> {
        let module = &self.module;
        let make_form = || {
            let form_bytes: Vec<u8> = loop_count::count_loops(module, binding)?
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            Ok(Rc::new(LoopCountingForm {
                digest: Sha256::digest(&form_bytes).into(),
                words: Bytes::from(form_bytes),
            }))
        };
        self.loop_count.entry(binding).or_insert_with(make_form).clone()
    }

    /// What an entry point needs under a specialization; `None`: there is no such entry point.
    pub(crate) fn needs(
        &mut self,
        entry_name: &str,
        specialization: &Specialization,
    ) -> Option<Rc<DeviceNeeds>> {
        match self.needs.entry((entry_name.to_owned(), specialization.clone())) {
            Entry::Occupied(known_needs) => Some(Rc::clone(known_needs.get())),
            Entry::Vacant(needs_slot) => {
                let new_needs =
                    DeviceNeeds::of_entry_point(&self.module, entry_name, specialization)?;
                Some(Rc::clone(needs_slot.insert(Rc::new(new_needs))))
            }
        }
    }
}

struct ShaderModule {
    raw: vk::ShaderModule,
    messages: Vec<WireMessage>,
    device: Rc<Device>,
}

impl Drop for ShaderModule {
    fn drop(&mut self) {
        // SAFETY: the module is destroyed once; pipelines made from it do not need it any more.
        unsafe { self.device.raw.destroy_shader_module(self.raw, None) }
    }
}

/// Descriptor-set layouts and the pipeline layout of them.
pub(crate) struct PipelineLayout {
    pub raw: vk::PipelineLayout,
    pub sets: Vec<vk::DescriptorSetLayout>,
    messages: Vec<WireMessage>,
    device: Rc<Device>,
}

impl Drop for PipelineLayout {
    fn drop(&mut self) {
        // SAFETY: pipelines and descriptor sets made with the layout are gone or do not need it
        // (they hold it by Rc, or their pool was destroyed at the end of the job).
        unsafe {
            self.device.raw.destroy_pipeline_layout(self.raw, None);
            for set in &self.sets {
                self.device.raw.destroy_descriptor_set_layout(*set, None);
            }
        }
    }
}

pub(crate) struct Pipeline {
    pub raw: vk::Pipeline,
    pub layout: Rc<PipelineLayout>,
    /// Said while the pipeline, its layout and its shader were made.
    pub messages: Vec<WireMessage>,
    device: Rc<Device>,
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: no submitted work is pending when a cache is cleared or a session ends.
        unsafe { self.device.raw.destroy_pipeline(self.raw, None) }
    }
}

/// What makes two pipelines the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PipelineKey {
    pub digest: Digest,
    pub entry: String,
    pub specialization: Specialization,
    pub layout: DescriptorLayout,
    pub subgroup_size: Option<u32>,
}

/// The caches of a session.
pub(crate) struct PipelineCaches {
    pub programs: BTreeMap<Digest, ShaderProgram>,
    pipelines: BTreeMap<PipelineKey, Rc<Pipeline>>,
    layouts: BTreeMap<DescriptorLayout, Rc<PipelineLayout>>,
    pub cache: PipelineCache,
    device: Rc<Device>,
}

impl PipelineCaches {
    pub(crate) fn new(device: &Rc<Device>, cache: PipelineCache) -> Self {
        let (programs, pipelines, layouts) = Default::default();
        Self { programs, pipelines, layouts, cache, device: Rc::clone(device) }
    }

    pub(crate) fn clear_pipelines(&mut self) {
        self.pipelines.clear();
        self.layouts.clear();
        self.programs.clear();
    }

    /// The pipeline for `key`, made now if it is new. The digest must be among the programs.
    pub(crate) fn pipeline_for(
        &mut self,
        pipeline_key: &PipelineKey,
        device_needs: &DeviceNeeds,
    ) -> Result<Rc<Pipeline>, CallFailure> {
        if let Some(pipeline) = self.pipelines.get(pipeline_key) {
            return Ok(Rc::clone(pipeline));
        }
        let pipeline_layout = self.layout_for(&pipeline_key.layout)?;
        let shader_module = self.shader_for(&pipeline_key.digest)?;
        let raw_pipeline =
            self.compile_pipeline(pipeline_key, device_needs, &pipeline_layout, &shader_module)?;
        self.cache.note_pipeline();
        let mut all_messages =
            [shader_module.messages.as_slice(), pipeline_layout.messages.as_slice()].concat();
        all_messages.extend(self.device.instance.messages.take_messages());
        let pipeline = Rc::new(Pipeline {
            raw: raw_pipeline,
            layout: pipeline_layout,
            messages: all_messages,
            device: Rc::clone(&self.device),
        });
        self.pipelines.insert(pipeline_key.clone(), Rc::clone(&pipeline));
        Ok(pipeline)
    }

    fn shader_for(&mut self, module_digest: &Digest) -> Result<Rc<ShaderModule>, CallFailure> {
        let shader_program = self
            .programs
            .get_mut(module_digest)
            .expect("the session has checked that it knows the module");
        if let Some(new_shader) = &shader_program.shader {
            return Ok(Rc::clone(new_shader));
        }
        let create_info = vk::ShaderModuleCreateInfo::default().code(&shader_program.module.words);
        // SAFETY: the words live until the call returns; they are a parsed SPIR-V module, validated
        // by the parent.
        let raw_module = unsafe { self.device.raw.create_shader_module(&create_info, None) }
            .map_err(during("vkCreateShaderModule"))?;
        let messages = self.device.instance.messages.take_messages();
        let new_shader =
            Rc::new(ShaderModule { raw: raw_module, messages, device: Rc::clone(&self.device) });
        shader_program.shader = Some(Rc::clone(&new_shader));
        Ok(new_shader)
    }

    fn layout_for(
        &mut self,
        descriptor_layout: &DescriptorLayout,
    ) -> Result<Rc<PipelineLayout>, CallFailure> {
        if let Some(known_layout) = self.layouts.get(descriptor_layout) {
            return Ok(Rc::clone(known_layout));
        }
        let (raw_layout, device) = (vk::PipelineLayout::null(), Rc::clone(&self.device));
        let mut new_layout =
            PipelineLayout { raw: raw_layout, sets: Vec::new(), messages: Vec::new(), device };
        for set_slots in &descriptor_layout.sets {
            let layout_bindings: Vec<_> = set_slots
                .iter()
                .map(|(binding, layout_slot)| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(*binding)
                        .descriptor_type(descriptor_type(layout_slot.class))
                        .descriptor_count(layout_slot.count)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let create_info =
                vk::DescriptorSetLayoutCreateInfo::default().bindings(&layout_bindings);
            // SAFETY: the bindings live until the call returns.
            let set_layout =
                unsafe { self.device.raw.create_descriptor_set_layout(&create_info, None) };
            new_layout.sets.push(set_layout.map_err(during("vkCreateDescriptorSetLayout"))?);
        }
        let push_range =
            vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE);
        let push_ranges = [push_range.size(descriptor_layout.push_constants)];
        let push_ranges =
            if descriptor_layout.push_constants > 0 { push_ranges.as_slice() } else { &[] };
        let create_info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&new_layout.sets)
            .push_constant_ranges(push_ranges);
        // SAFETY: set layouts and ranges live until the call returns.
        let raw_layout = unsafe { self.device.raw.create_pipeline_layout(&create_info, None) };
        new_layout.raw = raw_layout.map_err(during("vkCreatePipelineLayout"))?;
        new_layout.messages = self.device.instance.messages.take_messages();
        let new_layout = Rc::new(new_layout);
        self.layouts.insert(descriptor_layout.clone(), Rc::clone(&new_layout));
        Ok(new_layout)
    }

    fn compile_pipeline(
        &self,
        pipeline_key: &PipelineKey,
        device_needs: &DeviceNeeds,
        layout: &PipelineLayout,
        shader: &ShaderModule,
    ) -> Result<vk::Pipeline, CallFailure> {
        let entry_name = CString::new(pipeline_key.entry.as_str())
            .expect("a SPIR-V entry point's name ends at its first NUL");
        let (map_entries, constant_data) =
            specialization_data(&pipeline_key.specialization, device_needs);
        let specialization_info =
            vk::SpecializationInfo::default().map_entries(&map_entries).data(&constant_data);
        let mut subgroup_info = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let mut stage_info = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader.raw)
            .name(&entry_name)
            .specialization_info(&specialization_info);
        if let Some(wanted_size) = pipeline_key.subgroup_size {
            subgroup_info = subgroup_info.required_subgroup_size(wanted_size);
            stage_info = stage_info.push_next(&mut subgroup_info);
        }
        let create_info =
            vk::ComputePipelineCreateInfo::default().stage(stage_info).layout(layout.raw);
        // SAFETY: everything `info` points to lives until the call returns; shader and layout are
        // alive.
        let created_pipelines = unsafe {
            self.device.raw.create_compute_pipelines(self.cache.raw, &[create_info], None)
        };
        let call_failure = |result| CallFailure { call: "vkCreateComputePipelines", result };
        let pipelines = created_pipelines.map_err(|(_, result)| call_failure(result))?;
        pipelines.first().copied().ok_or(call_failure(vk::Result::ERROR_UNKNOWN))
    }
}

/// Map entries and the data they point into: each constant in as many bytes as its type has.
fn specialization_data(
    constant_values: &Specialization,
    device_needs: &DeviceNeeds,
) -> (Vec<vk::SpecializationMapEntry>, Vec<u8>) {
    let (mut map_entries, mut constant_data) = (Vec::new(), Vec::new());
    for (constant_id, constant_bits) in constant_values {
        let Some(constant_size) = device_needs.specialization.get(constant_id) else { continue };
        let byte_offset = constant_data.len() as u32;
        map_entries.push(
            vk::SpecializationMapEntry::default()
                .constant_id(*constant_id)
                .offset(byte_offset)
                .size(*constant_size),
        );
        constant_data.extend_from_slice(&constant_bits.to_le_bytes()[..*constant_size]);
        constant_data.resize(constant_data.len().next_multiple_of(8), 0);
    }
    (map_entries, constant_data)
}
