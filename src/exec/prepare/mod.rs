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
mod binding_class;
mod block_layout;
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

pub use block_layout::buffer_layouts;
pub use definedness::{UNINITIALISED, merged_ranges};
pub use expected::Expected;
pub use expected::ExpectedContents;
pub use layout::scalar_type;
pub use problems::{PrepareError, Problems};
pub use setting::{PreparedKernel, Setting};
pub use texel_elements::stored_element;
pub use view::{declared_class, declared_format, image_type, view_kind};

use super::resource::{AddressPlace, JobImage, JobResources};
use super::{Job, JobBinding, JobBuffer, JobDispatch, JobModule};
use crate::prepare::setting::job_module;
use address::NamedAddress;
use binding::BindingTargets;
use call::ResolvedCall;
pub use member::{BoundBlock, MemberArray};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_model::element::DataType;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::{Binding, Dispatch, KernelCall, Limits, SpecializationValue, Test};
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
pub fn prepare_test(
    test: &Located<Test>,
    test_setting: &Setting<'_>,
) -> Result<Prepared, PrepareError> {
    let mut problems = Problems::default();
    let prepared =
        Preparation { test, setting: test_setting, problems: &mut problems }.prepare_all();
    problems.into_result()?;
    Ok(prepared.expect("without problems everything is prepared"))
}

/// Raw bits of every specialization constant of a kernel by id: the values given, converted to the
/// constants' types, and the module's defaults for the others.
pub fn specialize_kernel(
    kernel_name: &KernelName,
    prepared_kernel: &PreparedKernel,
    given_values: &BTreeMap<String, SpecializationValue>,
    origin: &Origin,
) -> Result<BTreeMap<u32, u64>, PrepareError> {
    let mut problems = Problems::default();
    let given_values = dispatch::specialization_bits_by_id(
        prepared_kernel,
        kernel_name,
        given_values,
        origin,
        &mut problems,
    );
    problems.into_result()?;
    let given_values = given_values.expect("without problems every value has bits");
    let evaluated = Constants::evaluate(
        &prepared_kernel.module,
        &Types::of_module(&prepared_kernel.module),
        &given_values,
    );
    let evaluated =
        evaluated.map_err(|error| PrepareError::Unsupported { what: error.to_string() })?;
    Ok(evaluated.specialization_values(&prepared_kernel.module))
}

struct Preparation<'a> {
    test: &'a Located<Test>,
    setting: &'a Setting<'a>,
    problems: &'a mut Problems,
}

impl Preparation<'_> {
    /// None after a problem.
    fn prepare_all(&mut self) -> Option<Prepared> {
        let limits = self.test_limits();
        let resolved_calls: Vec<ResolvedCall> = (self.test.dispatches.iter().enumerate())
            .map(|(index, dispatch)| {
                let item_origin = self.test.origin.at("dispatches").at(index);
                dispatch::resolve_interface(
                    &KernelCall::of_dispatch(dispatch),
                    self.setting,
                    &item_origin,
                    self.problems,
                )
            })
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Option<_>>()?;
        let (buffers, mut resources) = self.initial_contents(&resolved_calls, limits)?;
        let (modules, module_uses) = self.job_modules(&resolved_calls);
        let dispatches = (self.test.dispatches.iter().zip(&resolved_calls).enumerate())
            .map(|(item_number, (dispatch, resolved_call))| {
                let item_origin = self.test.origin.at("dispatches").at(item_number);
                let module_use = self.module_use(dispatch, resolved_call);
                let module = module_uses
                    .iter()
                    .position(|known_use| *known_use == module_use)
                    .expect("every dispatch has its module");
                let (binding_targets, item_number) = (
                    BindingTargets { buffers: &buffers, resources: &resources },
                    item_number as u32,
                );
                let kernel_call = KernelCall::of_dispatch(dispatch);
                dispatch::resolve_dispatch(
                    &kernel_call,
                    resolved_call,
                    &binding_targets,
                    module,
                    item_number,
                    self.setting,
                    &item_origin,
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
            checks: self.setting.checks,
        };
        let expected = (self.test.expect.iter().enumerate())
            .map(|(item_number, expectation)| {
                let item_origin = self.test.origin.at("expect").at(item_number);
                expectation::prepare_expectation(
                    expectation,
                    self.test,
                    &job,
                    &resolved_calls,
                    self.setting,
                    &item_origin,
                    self.problems,
                )
            })
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Option<Vec<_>>>()?;
        let bound_blocks = job
            .buffers
            .iter()
            .map(|buffer| self.bound_block(&buffer.name, &resolved_calls))
            .collect();
        let declared = job
            .dispatches
            .iter()
            .zip(&resolved_calls)
            .map(|(dispatch, kernel_call)| declared_blocks(dispatch, kernel_call))
            .collect();
        let most_listed = self.setting.limits.mismatches as usize;
        Some(Prepared {
            job,
            modules: module_uses,
            expected,
            listed: most_listed,
            blocks: bound_blocks,
            declared,
        })
    }

    fn test_limits(&self) -> Limits {
        self.setting.overrides.over(self.test.limits.over(self.setting.limits.test()))
    }

    /// Every buffer of the test, by name, then every image; faults of all of them are gathered.
    fn initial_contents(
        &mut self,
        resolved_calls: &[ResolvedCall],
        limits: Limits,
    ) -> Option<(Vec<JobBuffer>, JobResources)> {
        let contents_source = contents::ContentsSource {
            base_folder: self.setting.base,
            byte_limit: limits.memory_bytes,
        };
        let mut made_buffers = Vec::new();
        for (item_name, buffer) in &self.test.buffers {
            let origin = self.test.origin.at("buffers").at(item_name);
            let block = match buffer.data_type {
                Some(DataType::Reflect) => self.reflected_block(item_name, resolved_calls, &origin),
                Some(DataType::Element(_)) | None => None,
            };
            made_buffers.push(contents_source.initial_buffer(
                item_name,
                buffer,
                block,
                &origin,
                self.problems,
            ));
        }
        let mut made_images = Vec::new();
        for (item_name, image) in &self.test.images {
            let origin = self.test.origin.at("images").at(item_name);
            if self.test.buffers.contains_key(item_name) {
                let message = format!("`{item_name}` is the name of a buffer too");
                self.problems.push(origin.key_error("duplicate-id", message));
            }
            made_images.push(image::initial_image(
                &contents_source,
                item_name,
                image,
                &origin,
                self.problems,
            ));
        }
        let mut resources = JobResources::default();
        for (item_name, sampler) in &self.test.samplers {
            let origin = self.test.origin.at("samplers").at(item_name);
            resources.samplers.push(image::job_sampler(
                item_name,
                sampler,
                &origin,
                self.problems,
            )?);
        }
        let (mut buffers, named_addresses): (Vec<_>, Vec<_>) =
            made_buffers.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip();
        for (shape, contents) in made_images.into_iter().collect::<Option<Vec<_>>>()? {
            resources.images.push(JobImage { buffer: buffers.len() as u32, shape });
            buffers.push(contents);
        }
        self.check_total(&buffers, limits)?;
        self.resolve_addresses(&mut buffers, &named_addresses, &mut resources)?;
        Some((buffers, resources))
    }

    fn check_total(&mut self, buffers: &[JobBuffer], limits: Limits) -> Option<()> {
        let total_bytes: u64 = buffers.iter().map(|buffer| buffer.bytes.len() as u64).sum();
        if total_bytes > limits.memory_bytes {
            let message = format!(
                "buffers and images have {total_bytes} bytes, above the memory limit of {}",
                limits.memory_bytes
            );
            let fault_key = if self.test.buffers.is_empty() { "images" } else { "buffers" };
            let limit_problem = self.test.origin.at(fault_key).key_error("limit", message);
            self.problems.push(limit_problem.hint("raise `limits.memory_bytes`"));
            return None;
        }
        Some(())
    }

    /// Resolves the addresses that buffers hold and puts their symbols in place.
    fn resolve_addresses(
        &mut self,
        buffers: &mut [JobBuffer],
        named_addresses: &[Vec<NamedAddress>],
        resources: &mut JobResources,
    ) -> Option<()> {
        for (holder_index, named_addresses) in named_addresses.iter().enumerate() {
            let address_place = AddressPlace::Buffer(holder_index as u32);
            let resolved_addresses = named_addresses.iter().map(|pointer| {
                pointer.resolve_address(address_place, buffers, resources, self.problems)
            });
            let addresses =
                resolved_addresses.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?;
            let JobBuffer { bytes, defined, .. } = &mut buffers[holder_index];
            address::place_symbols(
                named_addresses,
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
    fn bound_block(
        &self,
        buffer_name: &str,
        resolved_calls: &[ResolvedCall],
    ) -> Option<BoundBlock> {
        let (dispatch_number, binding) = first_binding(self.test, buffer_name)?;
        let block =
            resolved_calls[dispatch_number].descriptor_block(binding.set, binding.binding)?;
        let offset = binding.offset + binding.dynamic_offset.unwrap_or(0);
        Some(BoundBlock {
            layout: Arc::clone(&resolved_calls[dispatch_number].layout),
            ty: block.ty,
            offset,
        })
    }

    /// The block of the first binding that names the buffer.
    fn reflected_block<'c>(
        &mut self,
        buffer_name: &str,
        resolved_calls: &'c [ResolvedCall],
        origin: &Origin,
    ) -> Option<contents::ReflectedBlock<'c>> {
        let (dispatch_number, binding) = first_binding(self.test, buffer_name)?;
        if binding.offset > 0 {
            let message = format!(
                "`{buffer_name}` is laid out by reflection but bound at offset {}",
                binding.offset
            );
            self.problems
                .push(origin.at("type").error("no-block", message).hint("bind it at offset 0"));
        }
        resolved_calls[dispatch_number].descriptor_block(binding.set, binding.binding)
    }

    /// The modules that the test dispatches, one per kernel and specialization, in order of first
    /// use.
    fn job_modules(&self, calls: &[ResolvedCall]) -> (Vec<JobModule>, Vec<ModuleUse>) {
        let (mut modules, mut module_uses): (Vec<JobModule>, Vec<ModuleUse>) =
            (Vec::new(), Vec::new());
        for (dispatch, resolved_call) in self.test.dispatches.iter().zip(calls) {
            let module_use = self.module_use(dispatch, resolved_call);
            if module_uses.contains(&module_use) {
                continue;
            }
            let mut new_module =
                job_module(&module_use.kernel, &self.setting.kernels[&module_use.kernel]);
            let same_kernel_before = module_uses
                .iter()
                .filter(|known_use| known_use.kernel == module_use.kernel)
                .count();
            new_module.key.specialization = same_kernel_before as u32 + 1;
            modules.push(new_module);
            module_uses.push(module_use);
        }
        (modules, module_uses)
    }

    fn module_use(&self, dispatch: &Dispatch, called: &ResolvedCall) -> ModuleUse {
        let module = &self.setting.kernels[&dispatch.kernel].module;
        ModuleUse {
            kernel: dispatch.kernel,
            specialization: called.layout.constants.specialization_values(module),
        }
    }
}

/// The blocks behind the descriptors of a dispatch.
fn declared_blocks(
    dispatch: &JobDispatch,
    resolved_call: &ResolvedCall,
) -> BTreeMap<(u32, u32), BoundBlock> {
    let declared_block = |binding: &JobBinding| {
        let binding_numbers = (binding.set, binding.binding);
        let declared_block = resolved_call.descriptor_block(binding.set, binding.binding)?;
        Some((
            binding_numbers,
            BoundBlock {
                layout: Arc::clone(&resolved_call.layout),
                ty: declared_block.ty,
                offset: 0,
            },
        ))
    };
    dispatch.bindings.iter().filter_map(declared_block).collect()
}

/// The first binding that names the buffer, and the number of its dispatch.
fn first_binding<'t>(test: &'t Test, buffer_name: &str) -> Option<(usize, &'t Binding)> {
    let names_buffer = |binding: &&Binding| binding.buffer.as_deref() == Some(buffer_name);
    let mut dispatches = test.dispatches.iter().enumerate();
    dispatches.find_map(|(dispatch_number, dispatch)| {
        Some((dispatch_number, dispatch.bindings.iter().find(names_buffer)?))
    })
}
