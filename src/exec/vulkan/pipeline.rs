//! Pipelines and what they are made of, kept from job to job.
//!
//! Knows: shader modules by digest, layouts by content, pipelines by module, entry point,
//! specialization, layout and subgroup size.
//! Promises: what the validation layer said while a pipeline was made is told with every job that
//! uses it, not only with the first; everything made is destroyed, users before what they use.
//! Does not cover: whether the device can run it (`fit`).

use super::device::{CallFailure, Device, during};
use super::fit::{Layout, descriptor_type};
use super::loop_count;
use super::pipeline_cache::PipelineCache;
use super::protocol::{Bytes, Digest, WireMessage};
use ash::vk;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::rc::Rc;
use vkcert_spirv::interface::{DeviceNeeds, Specialization};
use vkcert_spirv::module::Module;

/// A module as it was sent.
pub(crate) struct Program {
    pub module: Module,
    shader: Option<Rc<Shader>>,
    needs: BTreeMap<(String, Specialization), Rc<DeviceNeeds>>,
    /// The loop-counting form for a counter at a binding of set 0, once it is asked for.
    loop_count: BTreeMap<u32, Result<Rc<LoopCountingForm>, String>>,
    /// Whether the module has loops, once it is asked for.
    looping: Option<bool>,
}

/// A loop-counting form as it is sent.
pub(crate) struct LoopCountingForm {
    pub digest: Digest,
    pub words: Bytes,
}

impl Program {
    pub(crate) fn new(module: Module) -> Self {
        Self {
            module,
            shader: None,
            needs: BTreeMap::new(),
            loop_count: BTreeMap::new(),
            looping: None,
        }
    }

    pub(crate) fn has_loops(&mut self) -> bool {
        *self.looping.get_or_insert_with(|| loop_count::has_loops(&self.module))
    }

    /// The module's loop-counting form.
    pub(crate) fn loop_count(&mut self, binding: u32) -> Result<Rc<LoopCountingForm>, String> {
        let module = &self.module;
        let make = || {
            let bytes: Vec<u8> = loop_count::count_loops(module, binding)?
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            Ok(Rc::new(LoopCountingForm {
                digest: Sha256::digest(&bytes).into(),
                words: Bytes::from(bytes),
            }))
        };
        self.loop_count.entry(binding).or_insert_with(make).clone()
    }

    /// What an entry point needs under a specialization; `None`: there is no such entry point.
    pub(crate) fn needs(
        &mut self,
        entry: &str,
        specialization: &Specialization,
    ) -> Option<Rc<DeviceNeeds>> {
        let key = (entry.to_owned(), specialization.clone());
        if !self.needs.contains_key(&key) {
            let needs = DeviceNeeds::of_entry_point(&self.module, entry, specialization)?;
            self.needs.insert(key.clone(), Rc::new(needs));
        }
        self.needs.get(&key).cloned()
    }
}

struct Shader {
    raw: vk::ShaderModule,
    messages: Vec<WireMessage>,
    device: Rc<Device>,
}

impl Drop for Shader {
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
    pub layout: Layout,
    pub subgroup_size: Option<u32>,
}

/// The caches of a session.
pub(crate) struct Pipelines {
    pub programs: BTreeMap<Digest, Program>,
    pipelines: BTreeMap<PipelineKey, Rc<Pipeline>>,
    layouts: BTreeMap<Layout, Rc<PipelineLayout>>,
    pub cache: PipelineCache,
    device: Rc<Device>,
}

impl Pipelines {
    pub(crate) fn new(device: &Rc<Device>, cache: PipelineCache) -> Self {
        let (programs, pipelines, layouts) = Default::default();
        Self { programs, pipelines, layouts, cache, device: device.clone() }
    }

    pub(crate) fn clear(&mut self) {
        self.pipelines.clear();
        self.layouts.clear();
        self.programs.clear();
    }

    /// The pipeline for `key`, made now if it is new. The digest must be among the programs.
    pub(crate) fn get(
        &mut self,
        key: &PipelineKey,
        needs: &DeviceNeeds,
    ) -> Result<Rc<Pipeline>, CallFailure> {
        if let Some(pipeline) = self.pipelines.get(key) {
            return Ok(pipeline.clone());
        }
        let layout = self.layout(&key.layout)?;
        let shader = self.shader(&key.digest)?;
        let raw = self.compile(key, needs, &layout, &shader)?;
        self.cache.made();
        let mut messages = [shader.messages.as_slice(), layout.messages.as_slice()].concat();
        messages.extend(self.device.instance.messages.take());
        let pipeline = Rc::new(Pipeline { raw, layout, messages, device: self.device.clone() });
        self.pipelines.insert(key.clone(), pipeline.clone());
        Ok(pipeline)
    }

    fn shader(&mut self, digest: &Digest) -> Result<Rc<Shader>, CallFailure> {
        let program = self
            .programs
            .get_mut(digest)
            .expect("the session has checked that it knows the module");
        if let Some(shader) = &program.shader {
            return Ok(shader.clone());
        }
        let info = vk::ShaderModuleCreateInfo::default().code(&program.module.words);
        // SAFETY: the words live until the call returns; they are a parsed SPIR-V module, validated
        // by the parent.
        let raw = unsafe { self.device.raw.create_shader_module(&info, None) }
            .map_err(during("vkCreateShaderModule"))?;
        let messages = self.device.instance.messages.take();
        let shader = Rc::new(Shader { raw, messages, device: self.device.clone() });
        program.shader = Some(shader.clone());
        Ok(shader)
    }

    fn layout(&mut self, layout: &Layout) -> Result<Rc<PipelineLayout>, CallFailure> {
        if let Some(known) = self.layouts.get(layout) {
            return Ok(known.clone());
        }
        let (raw, device) = (vk::PipelineLayout::null(), self.device.clone());
        let mut new = PipelineLayout { raw, sets: Vec::new(), messages: Vec::new(), device };
        for slots in &layout.sets {
            let bindings: Vec<_> = slots
                .iter()
                .map(|(binding, slot)| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(*binding)
                        .descriptor_type(descriptor_type(slot.class))
                        .descriptor_count(slot.count)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the bindings live until the call returns.
            let set = unsafe { self.device.raw.create_descriptor_set_layout(&info, None) };
            new.sets.push(set.map_err(during("vkCreateDescriptorSetLayout"))?);
        }
        let range = vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE);
        let ranges = [range.size(layout.push_constants)];
        let ranges = if layout.push_constants > 0 { ranges.as_slice() } else { &[] };
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&new.sets)
            .push_constant_ranges(ranges);
        // SAFETY: set layouts and ranges live until the call returns.
        let raw = unsafe { self.device.raw.create_pipeline_layout(&info, None) };
        new.raw = raw.map_err(during("vkCreatePipelineLayout"))?;
        new.messages = self.device.instance.messages.take();
        let new = Rc::new(new);
        self.layouts.insert(layout.clone(), new.clone());
        Ok(new)
    }

    fn compile(
        &self,
        key: &PipelineKey,
        needs: &DeviceNeeds,
        layout: &PipelineLayout,
        shader: &Shader,
    ) -> Result<vk::Pipeline, CallFailure> {
        let entry = CString::new(key.entry.as_str())
            .expect("a SPIR-V entry point's name ends at its first NUL");
        let (entries, data) = specialization(&key.specialization, needs);
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader.raw)
            .name(&entry)
            .specialization_info(&specialization);
        if let Some(wanted) = key.subgroup_size {
            size = size.required_subgroup_size(wanted);
            stage = stage.push_next(&mut size);
        }
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.raw);
        // SAFETY: everything `info` points to lives until the call returns; shader and layout are
        // alive.
        let made =
            unsafe { self.device.raw.create_compute_pipelines(self.cache.raw, &[info], None) };
        let failure = |result| CallFailure { call: "vkCreateComputePipelines", result };
        let pipelines = made.map_err(|(_, result)| failure(result))?;
        pipelines.first().copied().ok_or(failure(vk::Result::ERROR_UNKNOWN))
    }
}

/// Map entries and the data they point into: each constant in as many bytes as its type has.
fn specialization(
    values: &Specialization,
    needs: &DeviceNeeds,
) -> (Vec<vk::SpecializationMapEntry>, Vec<u8>) {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (id, bits) in values {
        let Some(size) = needs.specialization.get(id) else { continue };
        let offset = data.len() as u32;
        entries.push(
            vk::SpecializationMapEntry::default().constant_id(*id).offset(offset).size(*size),
        );
        data.extend_from_slice(&bits.to_le_bytes()[..*size]);
        data.resize(data.len().next_multiple_of(8), 0);
    }
    (entries, data)
}
