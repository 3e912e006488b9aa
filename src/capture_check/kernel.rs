//! What the kernels of a captured program declare and can touch.
//!
//! Knows: the reflection of each module under the specialization of each pipeline, and which
//! bindings it can store to and which its stores depend on (`vkcert_spirv::flow`).
//! Promises: pipelines of one module, entry point and specialization are read once.

use crate::declared_images::{DeclaredImage, declared_images};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_capture::event::SpecializationValue;
use vkcert_capture::program::{Pipeline, Program};
use vkcert_model::procedure::DescriptorClass;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::flow::{FlowPlace, MemoryFlow, kernel_flows};
use vkcert_spirv::interface::{PushConstants, ReflectedResource, Reflection};
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::touched::TouchingKernel;
use vkcert_spirv::types::Types;

/// What one pipeline's kernel declares and can touch.
#[derive(Debug)]
pub struct KernelFacts {
    /// What the module shows to its host.
    pub reflection: Reflection,
    /// Bindings with what can be done with them, by set and binding.
    pub uses: BTreeMap<(u32, u32), BindingUse>,
    /// The images among them, by the id of their variables.
    pub images: BTreeMap<Id, DeclaredImage>,
    /// What the kernel reaches by addresses.
    pub addresses: AddressedMemory,
    /// Bytes of the push constants that it reads: first byte and bytes.
    pub push_reads: Vec<(u64, u64)>,
    /// The kernel, to be asked which bytes a dispatch touches; in words why it cannot be.
    pub touching: Result<TouchingKernel, String>,
}

/// What a kernel can do with a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindingUse {
    /// Descriptor type that the module asks for.
    pub class: DescriptorClass,
    /// Whether its contents can decide what is stored.
    pub read: Touch,
    /// Whether it can be stored to.
    pub written: Touch,
    /// Descriptors at the binding: with several, not each need be touched.
    pub several: bool,
}

/// Whether memory is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// It is not.
    Never,
    /// It can be.
    Possible,
}

/// Whether a kernel reaches memory by device addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressedMemory {
    /// It does not.
    None,
    /// It can.
    Reached,
}

/// The kernels of a program, by pipeline; in words why one could not be read.
#[derive(Debug)]
pub struct KernelTable {
    facts: Vec<Result<Arc<KernelFacts>, String>>,
}

impl KernelTable {
    /// Reads the kernels of all pipelines.
    pub fn of_program(program: &Program) -> Self {
        let mut modules: BTreeMap<usize, Result<Arc<Module>, String>> = BTreeMap::new();
        let mut known: BTreeMap<_, Result<Arc<KernelFacts>, String>> = BTreeMap::new();
        let mut facts = Vec::new();
        for pipeline in &program.pipelines {
            let Some(module) = pipeline.module else {
                facts.push(Err("its shader module is not in the capture".to_owned()));
                continue;
            };
            let values: Vec<(u32, u64)> =
                pipeline.specialization.iter().filter_map(raw_value).collect();
            let key = (module, pipeline.entry.clone(), values);
            let made = known.entry(key).or_insert_with_key(|(module, entry, values)| {
                let parsed = modules.entry(*module).or_insert_with(|| {
                    let parsed = Module::parse_bytes(&program.modules[*module]);
                    parsed.map(Arc::new).map_err(|error| error.to_string())
                });
                let parsed = parsed.clone()?;
                let values = values.iter().copied().collect();
                KernelFacts::of_module(&parsed, entry, &values).map(Arc::new)
            });
            facts.push(made.clone());
        }
        Self { facts }
    }

    /// The kernel of a pipeline; in words why it could not be read.
    pub fn of_pipeline(&self, pipeline: usize) -> Result<&KernelFacts, &str> {
        match &self.facts[pipeline] {
            Ok(facts) => Ok(facts),
            Err(reason) => Err(reason),
        }
    }

    /// All of them, with their pipelines.
    pub fn rows<'a>(
        &'a self,
        program: &'a Program,
    ) -> impl Iterator<Item = (usize, &'a Pipeline, Result<&'a KernelFacts, &'a str>)> {
        let pipelines = program.pipelines.iter().enumerate();
        pipelines.map(|(index, pipeline)| (index, pipeline, self.of_pipeline(index)))
    }
}

/// The bits of a value; none of a size that no constant has.
pub(crate) fn raw_value(value: &SpecializationValue) -> Option<(u32, u64)> {
    let bytes = &value.value.0;
    if !matches!(bytes.len(), 1 | 2 | 4 | 8) {
        return None;
    }
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    Some((value.id, u64::from_le_bytes(word)))
}

impl KernelFacts {
    fn of_module(
        module: &Arc<Module>,
        entry: &str,
        values: &BTreeMap<u32, u64>,
    ) -> Result<Self, String> {
        let reflection =
            Reflection::of_entry_point(module, entry, values).map_err(|error| error.to_string())?;
        let flows = kernel_flows(module, entry, values).map_err(|error| error.to_string())?;
        let (read, written) = touched_places(&flows);
        let touch = |places: &Places, resource: &ReflectedResource| {
            let place = (resource.set, resource.binding);
            if places.contains(&place) { Touch::Possible } else { Touch::Never }
        };
        let mut uses: BTreeMap<(u32, u32), BindingUse> = BTreeMap::new();
        for resource in &reflection.resources {
            use vkcert_spirv::interface::DescriptorCount;
            let several = match resource.count {
                DescriptorCount::One => false,
                DescriptorCount::Array(count) => count > 1,
                DescriptorCount::Runtime => true,
            };
            let used = BindingUse {
                class: resource.class,
                read: touch(&read, resource),
                written: touch(&written, resource),
                several,
            };
            uses.insert((resource.set, resource.binding), used);
        }
        let addresses = if flows.iter().any(is_addressed) {
            AddressedMemory::Reached
        } else {
            AddressedMemory::None
        };
        let push_reads = match &reflection.push_constants {
            Some(block) => push_reads(module, block, &reflection, values),
            None => Vec::new(),
        };
        let touching = TouchingKernel::new(Arc::clone(module), entry, values);
        let images = declared_images(module, &reflection);
        Ok(Self { reflection, uses, images, addresses, push_reads, touching })
    }
}

fn is_addressed(flow: &MemoryFlow) -> bool {
    let addressed = |place: &FlowPlace| matches!(place, FlowPlace::Addressed(_));
    addressed(&flow.to) || flow.from.iter().any(addressed)
}

/// Sets and bindings.
type Places = BTreeSet<(u32, u32)>;

/// The bindings that stores depend on, and those that are stored to.
fn touched_places(flows: &[MemoryFlow]) -> (Places, Places) {
    let binding_of = |place: &FlowPlace| match place {
        FlowPlace::Descriptor(place) => Some((place.set, place.binding)),
        FlowPlace::Addressed(_) => None,
    };
    let read = flows.iter().flat_map(|flow| flow.from.iter().filter_map(binding_of)).collect();
    let written = flows.iter().filter_map(|flow| binding_of(&flow.to)).collect();
    (read, written)
}

/// The bytes of push-constant members that the entry point's functions name; all of the block where
/// it is used otherwise than by member.
fn push_reads(
    module: &Module,
    block: &PushConstants,
    reflection: &Reflection,
    values: &BTreeMap<u32, u64>,
) -> Vec<(u64, u64)> {
    let whole = vec![(0, block.size)];
    let types = Types::of_module(module);
    let Ok(constants) = Constants::evaluate(module, &types, values) else { return whole };
    let mut members = BTreeSet::new();
    let functions = reflection.functions.iter().filter_map(|id| module.function_by_id(*id));
    for index in functions.flat_map(|function| function.instruction_indices()) {
        let instruction = &module.instructions[index];
        if !instruction.ids().any(|id| id == block.variable) {
            continue;
        }
        let is_chain = matches!(instruction.op, Op::AccessChain | Op::InBoundsAccessChain);
        let member = instruction.id(1).and_then(|id| constants.scalar_word(id));
        match member.and_then(|member| usize::try_from(member).ok()) {
            Some(member) if is_chain && instruction.id(0) == Some(block.variable) => {
                members.insert(member);
            }
            Some(_) | None => return whole,
        }
    }
    let extent = |member: &usize| {
        let described = block.members.get(*member)?;
        let offset = u64::from(described.offset?);
        let bytes = types.byte_extent(described.ty, described.matrix, &constants).ok()?;
        Some((offset, bytes))
    };
    members.iter().map(extent).collect::<Option<Vec<_>>>().unwrap_or(whole)
}
