//! From a test as a file holds it to a job that an engine can run.
//!
//! Knows: the test, its kernels' modules, the folder that its paths are relative to, the limits.
//! Promises: sizes, offsets, layouts, ids and limits are checked before anything runs; every fault
//! is a diagnostic with its place in the file; what no engine can run yet is
//! [`PrepareError::Unsupported`] by name. A fault in the file takes precedence over what is
//! unsupported.
//! Does not cover: running (`Executor`), comparing (`judge`).

mod address;
mod binding;
mod call;
mod contents;
mod declared;
mod definedness;
mod dispatch;
mod elements;
mod expectation;
mod expected;
mod expected_contents;
mod file_contents;
pub mod image;
mod layout;
mod member;
pub mod npy;
pub mod picture;
mod problems;
mod random;
mod reference_call;
mod setting;
mod texel_elements;
mod view;

pub use definedness::{UNINITIALISED, merged};
pub use expected::Expected;
pub use expected::ExpectedContents;
pub use layout::scalar_type;
pub use problems::{PrepareError, Problems};
pub use setting::{PreparedKernel, Setting};
pub use texel_elements::stored_element;
pub use view::{declared_class, declared_format, image_type};

use super::resource::{AddressPlace, JobImage, JobResources};
use super::{Job, JobBinding, JobBuffer, JobDispatch, JobModule};
use crate::prepare::setting::job_module;
use address::Pointer;
use binding::Bound;
use call::{Call, Dispatched};
pub use member::{BoundBlock, MemberArray};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_model::element::DataType;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::{Binding, Dispatch, Limits, SpecializationValue, Test};
use vkcert_requirement::{Located, Origin};
use vkcert_spirv::constants::Constants;
use vkcert_spirv::types::Types;

/// A job with what is expected of it.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The job.
    pub job: Job,
    /// What each of the job's modules is.
    pub modules: Vec<ModuleUse>,
    /// What is expected of it, in the order of the test.
    pub expected: Vec<Expected>,
    /// Most mismatches listed per expectation.
    pub listed: usize,
    /// By buffer of the job: the block that names its members. Images and unbound buffers have
    /// none.
    pub blocks: Vec<Option<BoundBlock>>,
    /// By dispatch, set and binding: the block that the kernel declares, as if bound from byte 0
    /// on.
    pub declared: Vec<BTreeMap<(u32, u32), BoundBlock>>,
}

/// A kernel under one specialization. A job has a module for each, so that their records stay
/// apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleUse {
    /// Name of the kernel.
    pub kernel: KernelName,
    /// Raw bits of every specialization constant by id, the module's defaults filled in.
    pub specialization: BTreeMap<u32, u64>,
}

/// Lays out and checks `test`.
pub fn prepare(test: &Located<Test>, setting: &Setting<'_>) -> Result<Prepared, PrepareError> {
    let mut problems = Problems::default();
    let prepared = Preparation { test, setting, problems: &mut problems }.run();
    problems.into_result()?;
    Ok(prepared.expect("without problems everything is prepared"))
}

/// Raw bits of every specialization constant of a kernel by id: the values given, converted to the
/// constants' types, and the module's defaults for the others.
pub fn specialize(
    name: &KernelName,
    kernel: &PreparedKernel,
    given: &BTreeMap<String, SpecializationValue>,
    origin: &Origin,
) -> Result<BTreeMap<u32, u64>, PrepareError> {
    let mut problems = Problems::default();
    let given = dispatch::specialization(kernel, name, given, origin, &mut problems);
    problems.into_result()?;
    let given = given.expect("without problems every value has bits");
    let evaluated = Constants::evaluate(&kernel.module, &Types::of_module(&kernel.module), &given);
    let evaluated =
        evaluated.map_err(|error| PrepareError::Unsupported { what: error.to_string() })?;
    Ok(evaluated.specialization_values(&kernel.module))
}

struct Preparation<'a> {
    test: &'a Located<Test>,
    setting: &'a Setting<'a>,
    problems: &'a mut Problems,
}

impl Preparation<'_> {
    /// None after a problem.
    fn run(&mut self) -> Option<Prepared> {
        let limits = self.limits();
        let calls: Vec<Dispatched> = (self.test.dispatches.iter().enumerate())
            .map(|(index, dispatch)| {
                let place = self.test.origin.at("dispatches").at(index);
                dispatch::interface(&Call::of(dispatch), self.setting, &place, self.problems)
            })
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Option<_>>()?;
        let (buffers, mut resources) = self.contents(&calls, limits)?;
        let (modules, uses) = self.modules(&calls);
        let dispatches = (self.test.dispatches.iter().zip(&calls).enumerate())
            .map(|(number, (dispatch, called))| {
                let place = self.test.origin.at("dispatches").at(number);
                let of = self.module_use(dispatch, called);
                let module = uses
                    .iter()
                    .position(|known| *known == of)
                    .expect("every dispatch has its module");
                let (bound, number) =
                    (Bound { buffers: &buffers, resources: &resources }, number as u32);
                let call = Call::of(dispatch);
                dispatch::resolve(
                    &call,
                    called,
                    &bound,
                    module,
                    number,
                    self.setting,
                    &place,
                    self.problems,
                )
            })
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Option<Vec<_>>>()?;
        let (dispatches, addresses): (Vec<_>, Vec<_>) = dispatches.into_iter().unzip();
        resources.addresses.extend(addresses.into_iter().flatten());
        let job = Job {
            name: self.test.id.as_str().to_owned(),
            modules,
            buffers,
            resources,
            dispatches,
            limits,
            checks: self.setting.checks.clone(),
        };
        let expected = (self.test.expect.iter().enumerate())
            .map(|(number, expectation)| {
                let place = self.test.origin.at("expect").at(number);
                expectation::prepare(
                    expectation,
                    self.test,
                    &job,
                    &calls,
                    self.setting,
                    &place,
                    self.problems,
                )
            })
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Option<Vec<_>>>()?;
        let blocks =
            job.buffers.iter().map(|buffer| self.bound_block(&buffer.name, &calls)).collect();
        let declared = job
            .dispatches
            .iter()
            .zip(&calls)
            .map(|(dispatch, call)| declared_blocks(dispatch, call))
            .collect();
        let listed = self.setting.limits.mismatches as usize;
        Some(Prepared { job, modules: uses, expected, listed, blocks, declared })
    }

    fn limits(&self) -> Limits {
        self.setting.overrides.over(self.test.limits.over(self.setting.limits.test()))
    }

    /// Every buffer of the test, by name, then every image; faults of all of them are gathered.
    fn contents(
        &mut self,
        calls: &[Dispatched],
        limits: Limits,
    ) -> Option<(Vec<JobBuffer>, JobResources)> {
        let source = contents::Source { base: self.setting.base, limit: limits.memory_bytes };
        let mut made = Vec::new();
        for (name, buffer) in &self.test.buffers {
            let origin = self.test.origin.at("buffers").at(name);
            let block = match buffer.data_type {
                Some(DataType::Reflect) => self.block_of(name, calls, &origin),
                Some(DataType::Element(_)) | None => None,
            };
            made.push(source.buffer(name, buffer, block, &origin, self.problems));
        }
        let mut images = Vec::new();
        for (name, image) in &self.test.images {
            let origin = self.test.origin.at("images").at(name);
            if self.test.buffers.contains_key(name) {
                let message = format!("`{name}` is the name of a buffer too");
                self.problems.push(origin.key_error("duplicate-id", message));
            }
            images.push(image::image(&source, name, image, &origin, self.problems));
        }
        let mut resources = JobResources::default();
        for (name, sampler) in &self.test.samplers {
            let origin = self.test.origin.at("samplers").at(name);
            resources.samplers.push(image::sampler(name, sampler, &origin, self.problems)?);
        }
        let (mut buffers, pointers): (Vec<_>, Vec<_>) =
            made.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip();
        for (shape, contents) in images.into_iter().collect::<Option<Vec<_>>>()? {
            resources.images.push(JobImage { buffer: buffers.len() as u32, shape });
            buffers.push(contents);
        }
        self.check_total(&buffers, limits)?;
        self.addresses(&mut buffers, &pointers, &mut resources)?;
        Some((buffers, resources))
    }

    fn check_total(&mut self, buffers: &[JobBuffer], limits: Limits) -> Option<()> {
        let total: u64 = buffers.iter().map(|buffer| buffer.bytes.len() as u64).sum();
        if total > limits.memory_bytes {
            let message = format!(
                "buffers and images have {total} bytes, above the memory limit of {}",
                limits.memory_bytes
            );
            let key = if self.test.buffers.is_empty() { "images" } else { "buffers" };
            let problem = self.test.origin.at(key).key_error("limit", message);
            self.problems.push(problem.hint("raise `limits.memory_bytes`"));
            return None;
        }
        Some(())
    }

    /// Resolves the addresses that buffers hold and puts their symbols in place.
    fn addresses(
        &mut self,
        buffers: &mut [JobBuffer],
        pointers: &[Vec<Pointer>],
        resources: &mut JobResources,
    ) -> Option<()> {
        for (holder, pointers) in pointers.iter().enumerate() {
            let place = AddressPlace::Buffer(holder as u32);
            let resolved = pointers
                .iter()
                .map(|pointer| pointer.resolve(place, buffers, resources, self.problems));
            let addresses = resolved.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?;
            let JobBuffer { bytes, defined, .. } = &mut buffers[holder];
            address::place_symbols(
                pointers,
                &addresses,
                Arc::<Vec<u8>>::make_mut(bytes),
                defined,
                self.problems,
            )?;
            resources.addresses.extend(addresses);
        }
        Some(())
    }

    /// The block of the first binding that names the buffer, for names of its members.
    fn bound_block(&self, name: &str, calls: &[Dispatched]) -> Option<BoundBlock> {
        let (number, binding) = first_binding(self.test, name)?;
        let block = calls[number].block(binding.set, binding.binding)?;
        let offset = binding.offset + binding.dynamic_offset.unwrap_or(0);
        Some(BoundBlock { layout: calls[number].layout.clone(), ty: block.ty, offset })
    }

    /// The block of the first binding that names the buffer.
    fn block_of<'c>(
        &mut self,
        name: &str,
        calls: &'c [Dispatched],
        origin: &Origin,
    ) -> Option<contents::Block<'c>> {
        let (number, binding) = first_binding(self.test, name)?;
        if binding.offset > 0 {
            let message = format!(
                "`{name}` is laid out by reflection but bound at offset {}",
                binding.offset
            );
            self.problems
                .push(origin.at("type").error("no-block", message).hint("bind it at offset 0"));
        }
        calls[number].block(binding.set, binding.binding)
    }

    /// The modules that the test dispatches, one per kernel and specialization, in order of first
    /// use.
    fn modules(&self, calls: &[Dispatched]) -> (Vec<JobModule>, Vec<ModuleUse>) {
        let (mut modules, mut uses): (Vec<JobModule>, Vec<ModuleUse>) = (Vec::new(), Vec::new());
        for (dispatch, called) in self.test.dispatches.iter().zip(calls) {
            let of = self.module_use(dispatch, called);
            if uses.contains(&of) {
                continue;
            }
            let mut module = job_module(&of.kernel, &self.setting.kernels[&of.kernel]);
            let before = uses.iter().filter(|known| known.kernel == of.kernel).count();
            module.key.specialization = before as u32 + 1;
            modules.push(module);
            uses.push(of);
        }
        (modules, uses)
    }

    fn module_use(&self, dispatch: &Dispatch, called: &Dispatched) -> ModuleUse {
        let module = &self.setting.kernels[&dispatch.kernel].module;
        ModuleUse {
            kernel: dispatch.kernel,
            specialization: called.layout.constants.specialization_values(module),
        }
    }
}

/// The blocks behind the descriptors of a dispatch.
fn declared_blocks(dispatch: &JobDispatch, call: &Dispatched) -> BTreeMap<(u32, u32), BoundBlock> {
    let block = |binding: &JobBinding| {
        let place = (binding.set, binding.binding);
        let block = call.block(binding.set, binding.binding)?;
        Some((place, BoundBlock { layout: call.layout.clone(), ty: block.ty, offset: 0 }))
    };
    dispatch.bindings.iter().filter_map(block).collect()
}

/// The first binding that names the buffer, and the number of its dispatch.
fn first_binding<'t>(test: &'t Test, name: &str) -> Option<(usize, &'t Binding)> {
    let bound = |binding: &&Binding| binding.buffer.as_deref() == Some(name);
    let mut dispatches = test.dispatches.iter().enumerate();
    dispatches.find_map(|(number, dispatch)| Some((number, dispatch.bindings.iter().find(bound)?)))
}
