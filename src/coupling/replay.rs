//! A host with its kernel, run on the sequential engine for given parameter values.
//!
//! Knows: what the host makes of parameter values: sizes, push constants, specialization, group
//! counts.
//! Promises: a job is what the host would dispatch, with buffers and images that hold zeros.
//! Does not cover: kernels that sample, because interfaces do not state samplers; multisampled
//! images, texel buffers, and values that need much memory or many invocations. They are not run.

mod images;

use super::checks::is_buffer;
use super::expressions::HostExpressions;
use super::layout::member_offsets;
use super::{CouplingInput, ReplayEngine};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_exec::resource::JobResources;
use vkcert_exec::{Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording};
use vkcert_model::finding::{Checks, Finding};
use vkcert_model::id::ModuleKey;
use vkcert_model::procedure::Limits;
use vkcert_model::requirement::HostType;
use vkcert_requirement::host::decide::{EvaluatedCase, HostModel};
use vkcert_requirement::host::expression::{self as host, DivisionRounding, HostExpression};
use vkcert_spirv::interface::{DescriptorCount, ReflectedResource};

/// Runs of a kernel at most.
pub(super) const MOST_RUNS: usize = 60;
/// Bytes of all buffers and images of a run at most.
pub(super) const MOST_BYTES: i128 = 1 << 24;
/// Invocations of a run at most.
const MOST_INVOCATIONS: u64 = 1 << 14;
/// Steps of a run at most.
const MOST_STEPS: u64 = 20_000_000;

/// A host with a kernel, to be run for given parameter values.
pub(super) struct Replay<'a> {
    pub input: &'a CouplingInput<'a>,
    pub host: &'a HostModel,
    pub expressions: &'a HostExpressions,
    pub specialization: &'a BTreeMap<u32, u64>,
}

impl Replay<'_> {
    /// Whether all that the kernel binds is a buffer or an image of a stated size, and all that it
    /// is specialized by has one value.
    pub(super) fn can_run(&self) -> bool {
        let reflection = self.input.reflection;
        let resources_are_stated = reflection.resources.iter().all(|resource| {
            resource.count == DescriptorCount::One
                && match is_buffer(resource.class) {
                    true => self.has_stated_size(resource),
                    false => self.shown_image(resource).is_some(),
                }
        });
        let constants_are_settled = self
            .input
            .interface
            .specialization
            .iter()
            .all(|constant| self.specialization.contains_key(&constant.id));
        resources_are_stated && constants_are_settled
    }

    fn has_stated_size(&self, resource: &ReflectedResource) -> bool {
        let place = (resource.set, resource.binding);
        let mut buffers = self.input.interface.buffers.iter();
        resource.fixed_bytes < 1 << 24
            && !resource.class.name().contains("texel")
            && buffers.any(|buffer| (buffer.set, buffer.binding) == place)
    }

    pub(super) fn value(&self, expression: &HostExpression, case: &EvaluatedCase) -> i128 {
        expression.evaluate(&case.scope, DivisionRounding::Truncate, &mut Vec::new()).value
    }

    /// The kernel as the host would run it; none where that is too much, or no dispatch.
    pub(super) fn job_for(
        &self,
        parameters: &BTreeMap<String, i64>,
        checks: Checks,
    ) -> Option<Job> {
        let case = self.host.named_case(parameters);
        let groups = self.groups(&case)?;
        let reflection = self.input.reflection;
        let mut job = Job {
            name: "coupling".to_owned(),
            modules: vec![JobModule {
                key: ModuleKey::only(self.input.interface.kernel),
                words: self.input.module.words.clone(),
                recording: ModuleRecording::None,
            }],
            buffers: Vec::new(),
            resources: JobResources::default(),
            dispatches: Vec::new(),
            limits: Limits { steps: MOST_STEPS, ..Limits::default() },
            checks,
        };
        let (mut bindings, mut byte_count) = self.bind_images(&mut job, &case)?;
        for (buffer, size) in self.input.interface.buffers.iter().zip(&self.expressions.buffers) {
            let place = (buffer.set, buffer.binding);
            let resource = reflection
                .resources
                .iter()
                .find(|resource| (resource.set, resource.binding) == place);
            let Some(resource) = resource else { continue };
            let bytes = self.value(size, &case);
            byte_count += bytes;
            if bytes < 1 || byte_count > MOST_BYTES {
                return None;
            }
            let mut binding = JobBinding::storage(
                buffer.set,
                buffer.binding,
                job.buffers.len(),
                u64::try_from(bytes).ok()?,
            );
            binding.class = resource.class;
            bindings.push(binding);
            job.buffers.push(zero_buffer(buffer.set, buffer.binding, bytes as usize));
        }
        let push_constants = self.pushed_bytes(&case);
        let is_pushed = 0..push_constants.len();
        job.dispatches.push(JobDispatch {
            module: 0,
            entry: reflection.entry.clone(),
            groups,
            bindings,
            push_constants_defined: vec![is_pushed],
            push_constants,
            specialization: self.specialization.clone(),
            subgroup_size: None,
        });
        Some(job)
    }

    fn groups(&self, case: &EvaluatedCase) -> Option<[u32; 3]> {
        let mut groups = [0; 3];
        let mut invocations: u64 =
            self.input.reflection.local_size.iter().map(|size| u64::from(*size)).product();
        for (axis, group_count) in groups.iter_mut().enumerate() {
            let value = self.value(&self.expressions.groups[axis], case);
            let count = host::wrap_to_type(value, HostType::Uint32);
            *group_count =
                u32::try_from(count).ok().filter(|count| (1..=65_535).contains(count))?;
            invocations = invocations.saturating_mul(u64::from(*group_count));
        }
        (invocations <= MOST_INVOCATIONS).then_some(groups)
    }

    /// The bytes that the host pushes; what it does not state is zero.
    fn pushed_bytes(&self, case: &EvaluatedCase) -> Vec<u8> {
        let block_size =
            self.input.reflection.push_constants.as_ref().map_or(0, |block| block.size);
        let mut bytes = vec![0u8; block_size as usize];
        let Some(block) = &self.input.interface.push_constants else { return bytes };
        for (member, offset) in block.members.iter().zip(member_offsets(self.input.interface)) {
            let value = match self.expressions.members.get(&member.name) {
                Some(value) => Some(self.value(value, case)),
                None => {
                    let name = self.host.names.iter().position(|name| name.name == member.name);
                    name.and_then(|name| case.scope.get(name)).map(|typed| typed.value)
                }
            };
            let format = member.scalar_type().and_then(host::integer_format);
            let (Some(value), Some((width, _))) = (value, format) else {
                continue;
            };
            let value_bytes = value.to_le_bytes();
            for (position, byte) in value_bytes.iter().take(width as usize / 8).enumerate() {
                if let Some(slot) = bytes.get_mut(offset as usize + position) {
                    *slot = *byte;
                }
            }
        }
        bytes
    }

    /// `(16, 0, 0) of workgroup (1, 0, 0)` for the number of an invocation in a finding.
    pub(super) fn invocation_words(&self, finding: &Finding, number: usize) -> Option<String> {
        let [x, y, z] = finding.invocations.get(number)?;
        let [size_x, size_y, size_z] = self.input.reflection.local_size;
        Some(format!(
            "({x}, {y}, {z}) of workgroup ({}, {}, {})",
            x / size_x,
            y / size_y,
            z / size_z
        ))
    }

    /// `buffers`, and images where the kernel has some.
    pub(super) fn contents_words(&self) -> &'static str {
        let resources = &self.input.reflection.resources;
        match resources.iter().any(|resource| !is_buffer(resource.class)) {
            true => "buffers and images",
            false => "buffers",
        }
    }

    /// The findings of a job's run; none where the run does not come to its end, which shows
    /// nothing.
    pub(super) fn findings(&self, engine: ReplayEngine, job: &Job) -> Vec<Finding> {
        engine(job, self.input.memory_model).map_or_else(|_| Vec::new(), |run| run.findings)
    }
}

pub(super) fn zero_buffer(set: u32, binding: u32, byte_count: usize) -> JobBuffer {
    JobBuffer {
        name: format!("{set}.{binding}"),
        bytes: Arc::new(vec![0; byte_count]),
        defined: std::iter::once(0..byte_count).collect(),
    }
}
