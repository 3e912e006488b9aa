//! Jobs that differ in their contents alone, and what such a job can take over from the one before.
//!
//! Knows: what makes two jobs alike: everything but their names and the contents of their buffers.
//! Promises: what is taken over (pipelines, buffers, descriptor sets, recorded command buffers) was
//! made and checked for just such a job; at most [`MOST_SHAPES`] are kept, each of at most
//! [`SMALL_CONTENTS`] bytes.
//! Does not cover: contents: a pass is filled anew for every job (`pass`).

use super::kept::KeptResources;
use super::pass::Pass;
use super::protocol::{WireJob, WireModule};
use super::settings::LoopCounting;
use super::stop::JobStop;

/// A test runs as production, traced and instrumented module; some kernels in turn fit.
const MOST_SHAPES: usize = 16;
/// Bytes of contents of all passes of a job that is kept, and whose repetitions are handed to the
/// device at once.
const SMALL_CONTENTS: usize = 1 << 20;

/// The passes of a job's repetitions.
pub(crate) struct JobShape {
    /// The first of these jobs.
    job: WireJob,
    /// For each repetition its loop count (`loop count`); none where that is not needed.
    pub counting_passes: Vec<Pass>,
    /// For each repetition its own.
    pub own_passes: Vec<Pass>,
    /// Where loops are counted, if they are.
    pub loop_counting: LoopCounting,
}

impl JobShape {
    /// A shape whose own passes run the kernels as they are.
    pub(crate) fn new(job: &WireJob, counting: Vec<Pass>, own: Vec<Pass>) -> Self {
        let (job, loop_counting) = (job.clone(), LoopCounting::Ahead);
        Self { job, counting_passes: counting, own_passes: own, loop_counting }
    }

    /// A shape whose own passes count loops.
    pub(crate) fn counting_within(job: &WireJob, counting: Vec<Pass>) -> Self {
        let loop_counting = LoopCounting::Within;
        Self { own_passes: counting, loop_counting, ..Self::new(job, Vec::new(), Vec::new()) }
    }

    /// How many repetitions of a job share a shape.
    pub(crate) fn repetitions_at_once(job: &WireJob, repetition_count: u32) -> u32 {
        let content_bytes: usize = job.buffers.iter().map(|buffer| buffer.0.len()).sum();
        if content_bytes.saturating_mul(repetition_count as usize) <= SMALL_CONTENTS {
            repetition_count
        } else {
            1
        }
    }

    fn is_shape_of(&self, job: &WireJob, repetition_count: u32) -> bool {
        let own_job = &self.job;
        let module_identity = |wire_module: &WireModule| (wire_module.digest, wire_module.records);
        let buffer_lengths =
            |job: &WireJob| job.buffers.iter().map(|buffer| buffer.0.len()).collect::<Vec<_>>();
        self.own_passes.len() == repetition_count as usize
            && own_job.memory_bytes == job.memory_bytes
            && own_job.dispatches == job.dispatches
            && own_job.loop_counting == job.loop_counting
            && own_job
                .modules
                .iter()
                .map(module_identity)
                .eq(job.modules.iter().map(module_identity))
            && buffer_lengths(own_job) == buffer_lengths(job)
            && (&own_job.images, &own_job.samplers, &own_job.addresses)
                == (&job.images, &job.samplers, &job.addresses)
    }

    pub(crate) fn retire_passes(self, kept_resources: &mut KeptResources) -> Result<(), JobStop> {
        for pass in self.counting_passes.into_iter().chain(self.own_passes) {
            pass.retire_pass(kept_resources)?;
        }
        Ok(())
    }
}

/// Shapes of the last jobs.
#[derive(Default)]
pub(crate) struct KeptShapes {
    /// Last used last.
    shapes: Vec<JobShape>,
}

impl KeptShapes {
    pub(crate) fn take_shape(&mut self, job: &WireJob, repetition_count: u32) -> Option<JobShape> {
        let shape_index =
            self.shapes.iter().position(|shape| shape.is_shape_of(job, repetition_count))?;
        Some(self.shapes.remove(shape_index))
    }

    /// Keeps a shape whose dispatches have all ended.
    pub(crate) fn keep_shape(
        &mut self,
        shape: JobShape,
        kept_resources: &mut KeptResources,
    ) -> Result<(), JobStop> {
        let content_bytes: usize = shape.job.buffers.iter().map(|buffer| buffer.0.len()).sum();
        if content_bytes.saturating_mul(shape.own_passes.len()) > SMALL_CONTENTS {
            return shape.retire_passes(kept_resources);
        }
        self.shapes.push(shape);
        if self.shapes.len() > MOST_SHAPES {
            self.shapes.remove(0).retire_passes(kept_resources)
        } else {
            Ok(())
        }
    }

    pub(crate) fn retire_all(&mut self, kept_resources: &mut KeptResources) -> Result<(), JobStop> {
        self.shapes.drain(..).try_for_each(|shape| shape.retire_passes(kept_resources))
    }
}
