//! Jobs that differ in their contents alone, and what such a job can take over from the one before.
//!
//! Knows: what makes two jobs alike: everything but their names and the contents of their buffers.
//! Promises: what is taken over (pipelines, buffers, descriptor sets, recorded command buffers) was
//! made and checked for just such a job; at most [`MOST`] are kept, each of at most [`SMALL`]
//! bytes.
//! Does not cover: contents: a pass is filled anew for every job (`pass`).

use super::kept::Kept;
use super::pass::Pass;
use super::protocol::{WireJob, WireModule};
use super::stop::Stop;

/// A test runs as production, traced and instrumented module; some kernels in turn fit.
const MOST: usize = 16;
/// Bytes of contents of all passes of a job that is kept, and whose repetitions are handed to the
/// device at once.
const SMALL: usize = 1 << 20;

/// The passes of a job's repetitions.
pub(crate) struct Shape {
    /// The first of these jobs.
    job: WireJob,
    /// For each repetition its loop count (`loop count`); none where that is not needed.
    pub counting: Vec<Pass>,
    /// For each repetition its own.
    pub own: Vec<Pass>,
}

impl Shape {
    pub(crate) fn new(job: &WireJob, counting: Vec<Pass>, own: Vec<Pass>) -> Self {
        Self { job: job.clone(), counting, own }
    }

    /// How many repetitions of a job share a shape.
    pub(crate) fn repetitions(job: &WireJob, repetitions: u32) -> u32 {
        let bytes: usize = job.buffers.iter().map(|buffer| buffer.0.len()).sum();
        if bytes.saturating_mul(repetitions as usize) <= SMALL { repetitions } else { 1 }
    }

    fn is_of(&self, job: &WireJob, repetitions: u32) -> bool {
        let own = &self.job;
        let module = |module: &WireModule| (module.digest, module.records);
        let lengths =
            |job: &WireJob| job.buffers.iter().map(|buffer| buffer.0.len()).collect::<Vec<_>>();
        self.own.len() == repetitions as usize
            && own.memory_bytes == job.memory_bytes
            && own.dispatches == job.dispatches
            && own.modules.iter().map(module).eq(job.modules.iter().map(module))
            && lengths(own) == lengths(job)
            && (&own.images, &own.samplers, &own.addresses)
                == (&job.images, &job.samplers, &job.addresses)
    }

    pub(crate) fn retire(self, kept: &mut Kept) -> Result<(), Stop> {
        for pass in self.counting.into_iter().chain(self.own) {
            pass.retire(kept)?;
        }
        Ok(())
    }
}

/// Shapes of the last jobs.
#[derive(Default)]
pub(crate) struct Shapes {
    /// Last used last.
    shapes: Vec<Shape>,
}

impl Shapes {
    pub(crate) fn take(&mut self, job: &WireJob, repetitions: u32) -> Option<Shape> {
        let place = self.shapes.iter().position(|shape| shape.is_of(job, repetitions))?;
        Some(self.shapes.remove(place))
    }

    /// Keeps a shape whose dispatches have all ended.
    pub(crate) fn keep(&mut self, shape: Shape, kept: &mut Kept) -> Result<(), Stop> {
        let bytes: usize = shape.job.buffers.iter().map(|buffer| buffer.0.len()).sum();
        if bytes.saturating_mul(shape.own.len()) > SMALL {
            return shape.retire(kept);
        }
        self.shapes.push(shape);
        if self.shapes.len() > MOST { self.shapes.remove(0).retire(kept) } else { Ok(()) }
    }

    pub(crate) fn clear(&mut self, kept: &mut Kept) -> Result<(), Stop> {
        self.shapes.drain(..).try_for_each(|shape| shape.retire(kept))
    }
}
