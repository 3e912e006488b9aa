//! Jobs timed in turn.
//!
//! Promises: every run starts from the initial contents; the first runs do not count.
//! Does not cover: what times say of each other.

use super::{DeviceSession, JobHalt, PhaseListener};
use crate::image::Copying;
use crate::memory::{BufferStorage, Placement};
use crate::protocol::{Ending, Fitness, Phase, Stage, WireJob, WireTime};
use crate::stop::JobStop;
use std::time::{Duration, Instant};

/// Before times count: at least so long, and so many runs of each job.
const WARMING_TIME: Duration = Duration::from_millis(300);
const WARMING_RUNS: usize = 3;

impl DeviceSession {
    /// Runs jobs in turn (A, B, A, B ...) and times each run; buffers are written anew before every
    /// run.
    pub(crate) fn measure_jobs(
        &mut self,
        jobs: &[WireJob],
        repetition_count: u32,
        announce: PhaseListener,
    ) -> (Ending, Fitness, Vec<Vec<WireTime>>) {
        let mut job_times = vec![Vec::with_capacity(repetition_count as usize); jobs.len()];
        let Some(first_job) = jobs.first() else {
            return (Ending::Completed, Fitness::Fit, job_times);
        };
        let mut current_station = (first_job, None);
        announce(Phase::START);
        match self.time_in_turn(
            jobs,
            repetition_count,
            &mut current_station,
            &mut job_times,
            announce,
        ) {
            Ok(()) => (Ending::Completed, Fitness::Fit, job_times),
            Err(stop) => {
                let (job, dispatch) = current_station;
                let (ending, fitness) = JobHalt { repetition: 0, dispatch, stop }.ending_for(job);
                (ending, fitness, Vec::new())
            }
        }
    }

    fn time_in_turn<'a>(
        &mut self,
        jobs: &'a [WireJob],
        repetition_count: u32,
        current_station: &mut (&'a WireJob, Option<u32>),
        job_times: &mut [Vec<WireTime>],
        announce: PhaseListener,
    ) -> Result<(), JobStop> {
        let mut prepared_jobs = Vec::with_capacity(jobs.len());
        for job in jobs {
            current_station.0 = job;
            self.receive_modules(job)?;
            let mut prepared_pass = self.pass_builder().prepare_pass(job, Placement::Near)?;
            prepared_pass.fill_buffers(&job.name, &job.buffers);
            // The device restores the buffers: while the host did it, the device would be idle and
            // lower its clock.
            let mut original_storage = BufferStorage::create_buffers(
                &self.device,
                &prepared_pass.storage.content_lengths(),
                Placement::Near,
                None,
            )?;
            prepared_pass.fill_storage(&job.name, &job.buffers, &mut original_storage);
            prepared_jobs.push((job, prepared_pass, original_storage));
        }
        announce(Phase { repetition: 0, stage: Stage::Dispatched(0) });
        let start_time = Instant::now();
        let mut counted_rounds = 0;
        while counted_rounds < repetition_count {
            // The first runs do not count: a device raises its clock, a driver finishes compiling.
            let is_warm = job_times.iter().all(|own_times| own_times.len() >= WARMING_RUNS)
                && start_time.elapsed() >= WARMING_TIME;
            if counted_rounds == 0 && is_warm {
                job_times.iter_mut().for_each(Vec::clear);
            }
            counted_rounds += u32::from(counted_rounds > 0 || is_warm);
            for ((job, pass, original_storage), own_times) in
                prepared_jobs.iter().zip(&mut *job_times)
            {
                self.commands.copy_images(&pass.resources, &pass.storage, Copying::IntoImages)?;
                current_station.0 = job;
                let restored_buffers = pass.storage.restored_from(original_storage);
                let mut restored_buffers = restored_buffers.as_slice();
                let mut summed_time = WireTime { wall: 0.0, device: None };
                for (dispatch, dispatch_index) in pass.dispatches.iter().zip(0..) {
                    current_station.1 = Some(dispatch_index);
                    let dispatch_time =
                        self.commands.run_timed(std::mem::take(&mut restored_buffers), dispatch)?;
                    summed_time.wall += dispatch_time.wall;
                    summed_time.device = dispatch_time
                        .device
                        .map(|device| summed_time.device.unwrap_or(0.0) + device);
                }
                own_times.push(summed_time);
            }
        }
        announce(Phase { repetition: 0, stage: Stage::Collecting });
        Ok(())
    }
}
