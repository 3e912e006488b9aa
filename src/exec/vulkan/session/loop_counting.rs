//! The loop-count pass of a job: its modules in loop-counting form, and what their counters tell.
//!
//! Knows: a counter that is not zero in the end says that the device ended a loop by itself.
//! Does not cover: the form itself (`loop_count`).

use super::DeviceSession;
use crate::pass::Pass;
use crate::pipeline::ShaderProgram;
use crate::protocol::{Bytes, Cache, Ending, WireJob, storage_binding};
use crate::stop::JobStop;
use vkcert_spirv::module::Module;

impl DeviceSession {
    /// What a loop count tells that is not zero in the end.
    pub(super) fn cut_off_ending(&self, loop_count: &mut Pass, job: &WireJob) -> Option<Ending> {
        let buffer_count = job.buffers.len();
        let cut_dispatch = (0..job.dispatches.len()).find(|dispatch_index| {
            loop_count.buffer_contents(buffer_count + dispatch_index) != [0; 4]
        })?;
        let kernel = &job.modules[job.dispatches[cut_dispatch].module as usize].kernel;
        let loop_limit = self.loop_limit.unwrap_or_default();
        Some(Ending::CutOff(format!(
            "dispatch {cut_dispatch} of kernel `{kernel}` did not end by itself: the driver ends a kernel's loops after {loop_limit} \
             iterations"
        )))
    }

    /// The job with its modules in loop-counting form and a counter for each dispatch; none if no
    /// module has loops.
    pub(super) fn loop_counting_job(
        &mut self,
        job: &WireJob,
        loop_limit: u32,
    ) -> Result<Option<WireJob>, JobStop> {
        let programs = &mut self.pipelines.programs;
        let mut looping = |digest| programs.get_mut(digest).is_some_and(ShaderProgram::has_loops);
        if !job.modules.iter().any(|module| looping(&module.digest)) {
            return Ok(None);
        }
        let mut counting_job = job.clone();
        counting_job.cache = Cache::Keep;
        let own_programs = job.modules.iter().filter_map(|module| programs.get(&module.digest));
        let counter_binding = free_binding(job, own_programs.map(|program| &program.module));
        for module in &mut counting_job.modules {
            let Some(program) = programs.get_mut(&module.digest) else { continue };
            let loop_count = program.loop_count(counter_binding).map_err(|uncountable_reason| {
                Ending::Undetermined(format!(
                    "the driver ends a kernel's loops after {loop_limit} iterations, and whether it did so in kernel `{}` \
                     cannot be seen: {uncountable_reason}",
                    module.kernel
                ))
            })?;
            module.digest = loop_count.digest;
            module.words =
                (!programs.contains_key(&loop_count.digest)).then(|| loop_count.words.clone());
        }
        for (dispatch_index, dispatch) in counting_job.dispatches.iter_mut().enumerate() {
            let buffer_index = (job.buffers.len() + dispatch_index) as u32;
            counting_job.buffers.push(Bytes::from(vec![0; 4]));
            dispatch.bindings.push(storage_binding(0, counter_binding, buffer_index, 4));
        }
        self.receive_modules(&counting_job)?;
        Ok(Some(counting_job))
    }
}

/// A binding of set 0 that neither the job nor any module uses.
fn free_binding<'a>(job: &WireJob, modules: impl Iterator<Item = &'a Module>) -> u32 {
    let bound_numbers = job
        .dispatches
        .iter()
        .flat_map(|dispatch| &dispatch.bindings)
        .map(|binding| binding.binding);
    let record_numbers = job
        .modules
        .iter()
        .filter_map(|module| module.records)
        .map(|record_slot| record_slot.binding);
    let declared_numbers = modules.flat_map(Module::binding_numbers);
    bound_numbers
        .chain(record_numbers)
        .chain(declared_numbers)
        .max()
        .map_or(0, |highest_number| highest_number + 1)
}
