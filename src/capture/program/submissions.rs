//! Submissions and what tells the host and other queues that they are complete.
//!
//! Knows: a fence, a wait for a queue and a timeline's value complete everything that was submitted
//! to the queue before (Vulkan specification, "Implicit Synchronization Guarantees", "Fences").

use super::build::Builder;
use super::{Action, Operation, SemaphoreStep};
use crate::event::{Batch, Event, ObjectKind, SemaphoreUse, SemaphoreValue, Submit};
use crate::value::Handle;

/// What was submitted to a queue.
#[derive(Debug)]
pub(super) struct QueueState {
    pub(super) device: usize,
    /// Number of the last submission; 0 for none.
    pub(super) last_submission: u32,
    /// Number of the last one that the host knows to be complete.
    pub(super) completed: u32,
}

/// What a fence was given to last: a queue and a submission.
#[derive(Debug, Default)]
pub(super) struct FenceState {
    submitted: Option<(usize, u32)>,
}

/// A semaphore.
#[derive(Debug)]
pub(super) struct SemaphoreState {
    is_timeline: bool,
    /// Values that submissions signal, each with a queue and a submission.
    signals: Vec<(u64, usize, u32)>,
}

impl Builder {
    pub(super) fn take_submission_event(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Fence(fence) => {
                self.live.insert(ObjectKind::Fence, fence, self.fences.len());
                self.fences.push(FenceState::default());
                Ok(())
            }
            Event::Semaphore(semaphore) => {
                let index = self.semaphores.len();
                self.live.insert(ObjectKind::Semaphore, semaphore.semaphore, index);
                let is_timeline = semaphore.timeline.is_some();
                self.semaphores.push(SemaphoreState { is_timeline, signals: Vec::new() });
                Ok(())
            }
            Event::Submit(submit) => self.submit(&submit),
            Event::SubmitFailed(queue) => {
                let queue = self.live.find(ObjectKind::Queue, queue)?;
                self.refused.insert(self.queues[queue].last_submission);
                Ok(())
            }
            Event::FencesSignaled(fences) => self.fences_signaled(&fences),
            Event::ResetFences(fences) => {
                for fence in fences {
                    let fence = self.live.find(ObjectKind::Fence, fence)?;
                    self.fences[fence].submitted = None;
                }
                Ok(())
            }
            Event::QueueIdle(queue) => {
                let queue = self.live.find(ObjectKind::Queue, queue)?;
                self.complete(vec![(queue, self.queues[queue].last_submission)]);
                Ok(())
            }
            Event::DeviceIdle(device) => {
                let device = self.live.find(ObjectKind::Device, device)?;
                let queues = self.queues.iter().enumerate();
                let idle = queues.filter(|(_, queue)| queue.device == device);
                let completed = idle.map(|(index, queue)| (index, queue.last_submission));
                self.complete(completed.collect());
                Ok(())
            }
            Event::SemaphoresReached(values) => self.semaphores_reached(&values),
            Event::SemaphoreSignaled(value) => {
                // What waits for it is ordered behind the host, which its submission is already.
                self.live.find(ObjectKind::Semaphore, value.semaphore).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    fn submit(&mut self, submit: &Submit) -> Result<(), String> {
        let queue = self.live.find(ObjectKind::Queue, submit.queue)?;
        let fence = self.live.find_or_null(ObjectKind::Fence, submit.fence)?;
        self.submissions = self
            .submissions
            .checked_add(1)
            .ok_or_else(|| "there are too many submissions".to_owned())?;
        self.queues[queue].last_submission = self.submissions;
        self.push_device(queue, Action::Submit);
        self.readings.begin_submission();
        for batch in &submit.batches {
            self.take_batch(queue, batch)?;
        }
        if let Some(fence) = fence {
            self.fences[fence].submitted = Some((queue, self.submissions));
        }
        Ok(())
    }

    fn take_batch(&mut self, queue: usize, batch: &Batch) -> Result<(), String> {
        for wait in &batch.waits {
            let step = self.semaphore_step(wait)?;
            self.push_device(queue, Action::SemaphoreWait(step));
        }
        for command_buffer in &batch.command_buffers {
            let index = self.live.find(ObjectKind::CommandBuffer, *command_buffer)?;
            self.readings.begin_command_buffer();
            self.execute(index, queue, 0)?;
        }
        for signal in &batch.signals {
            let step = self.semaphore_step(signal)?;
            let submission = self.submissions;
            if let Some(value) = step.value {
                self.semaphores[step.semaphore].signals.push((value, queue, submission));
            }
            self.push_device(queue, Action::SemaphoreSignal(step));
        }
        Ok(())
    }

    fn semaphore_step(&self, used: &SemaphoreUse) -> Result<SemaphoreStep, String> {
        let semaphore = self.live.find(ObjectKind::Semaphore, used.semaphore)?;
        let value = self.semaphores[semaphore].is_timeline.then_some(used.value);
        Ok(SemaphoreStep { semaphore, value, stages: used.stages })
    }

    fn push_device(&mut self, queue: usize, action: Action) {
        let submission = Some(self.submissions);
        self.operations.push(Operation { submission, queue, action });
    }

    fn fences_signaled(&mut self, fences: &[Handle]) -> Result<(), String> {
        let mut completed = Vec::new();
        for fence in fences {
            let fence = self.live.find(ObjectKind::Fence, *fence)?;
            completed.extend(self.fences[fence].submitted);
        }
        self.complete(completed);
        Ok(())
    }

    fn semaphores_reached(&mut self, values: &[SemaphoreValue]) -> Result<(), String> {
        let mut completed = Vec::new();
        for reached in values {
            let semaphore = self.live.find(ObjectKind::Semaphore, reached.semaphore)?;
            let signals = &self.semaphores[semaphore].signals;
            let passed = signals.iter().filter(|(value, ..)| *value <= reached.value);
            completed.extend(passed.map(|(_, queue, submission)| (*queue, *submission)));
        }
        self.complete(completed);
        Ok(())
    }

    /// Notes what the host learns to be complete; nothing where it knew that before.
    fn complete(&mut self, completed: Vec<(usize, u32)>) {
        let mut news = Vec::new();
        for (queue, submission) in completed {
            if submission > self.queues[queue].completed {
                self.queues[queue].completed = submission;
                news.push((queue, submission));
            }
        }
        if !news.is_empty() {
            self.host(Action::HostWait { completed: news });
        }
    }
}
