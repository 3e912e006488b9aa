//! A job with its workgroups in another order.
//!
//! Knows: the rewritten form of a job's modules (`instrument::permute`), which descriptor is free
//! for the permutation; an engine that runs every job in such a form.
//! Promises: buffers of the job keep their index; what is added stands behind them. Nothing else of
//! the job changes.
//! Does not cover: which schedules there are (`model::schedule`), comparing what they leave, orders
//! within a workgroup.

use super::repeat::{Results, repeat_run};
use super::{
    Completion, Counts, ExecError, Executor, Job, JobBinding, JobBuffer, JobDispatch, JobModule,
    Observer, Run, RunOutcome, RunRequest,
};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;
use vkcert_instrument::{permutation_words, permute_workgroups};
use vkcert_model::invocations::InvocationRecords;
use vkcert_model::schedule::{MOST_WORKGROUPS, Order, Schedule};
use vkcert_model::verdict::EngineName;
use vkcert_spirv::module::{Module, ModuleError};

/// The descriptor set of the permutations.
const SET: u32 = 0;

/// A schedule with the dispatches of a job that follow it; the others run as ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Following {
    /// The schedule.
    pub schedule: Schedule,
    /// The dispatches that follow it.
    pub dispatches: Dispatches,
}

/// Some dispatches of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dispatches {
    /// All dispatches.
    #[default]
    All,
    /// By index.
    One(usize),
}

impl Dispatches {
    /// Whether the dispatch of this index is one of them.
    pub fn has(self, dispatch: usize) -> bool {
        match self {
            Dispatches::All => true,
            Dispatches::One(only_dispatch) => only_dispatch == dispatch,
        }
    }
}

impl From<Schedule> for Following {
    fn from(schedule: Schedule) -> Self {
        Self { schedule, dispatches: Dispatches::All }
    }
}

impl Following {
    /// The schedule of a dispatch.
    pub fn schedule_of(self, dispatch: usize) -> Schedule {
        if self.dispatches.has(dispatch) { self.schedule } else { Schedule::IN_ORDER }
    }
}

/// A job whose modules ask a buffer for their workgroup.
pub struct PermutableJob {
    job: Job,
    orders: Vec<DispatchOrder>,
}

/// A dispatch whose workgroups can be permuted.
pub struct DispatchOrder {
    /// Index into `Job::dispatches`.
    pub dispatch: usize,
    /// How many workgroups it has, over all axes.
    pub workgroups: u32,
    /// Index into `Job::buffers` of what holds their order.
    buffer: usize,
}

impl PermutableJob {
    /// None: there is nothing to permute, because every dispatch has one workgroup or no kernel
    /// asks which one it is. An error says what cannot be permuted.
    pub fn of_production(production: &Job) -> Result<Option<Self>, String> {
        let counts = workgroup_counts(production)?;
        let permutable_modules: BTreeSet<usize> = (production.dispatches.iter().zip(&counts))
            .filter(|(_, count)| **count > 1)
            .map(|(dispatch_index, _)| dispatch_index.module)
            .collect();
        let mut job = production.clone();
        let order_binding = free_binding(production).map_err(|error| error.to_string())?;
        let mut rewritten_modules = BTreeSet::new();
        for module_index in permutable_modules {
            let module = &mut job.modules[module_index];
            if let Some(module_words) = rewritten_words(module, order_binding)? {
                module.words = Arc::new(module_words);
                rewritten_modules.insert(module_index);
            }
        }
        let mut dispatch_orders = Vec::new();
        for (dispatch_index, workgroups) in counts.into_iter().enumerate() {
            let job_dispatch = &mut job.dispatches[dispatch_index];
            if !rewritten_modules.contains(&job_dispatch.module) {
                continue;
            }
            let module_words =
                permutation_words(job_dispatch.groups, &Order::InOrder.permutation(workgroups));
            let (order_buffer_index, order_contents) =
                (job.buffers.len(), order_buffer(dispatch_index, &module_words));
            job_dispatch.bindings.push(JobBinding::storage(
                SET,
                order_binding,
                order_buffer_index,
                order_contents.bytes.len() as u64,
            ));
            job.limits.memory_bytes =
                job.limits.memory_bytes.saturating_add(order_contents.bytes.len() as u64);
            job.buffers.push(order_contents);
            dispatch_orders.push(DispatchOrder {
                dispatch: dispatch_index,
                workgroups,
                buffer: order_buffer_index,
            });
        }
        Ok((!dispatch_orders.is_empty()).then_some(Self { job, orders: dispatch_orders }))
    }

    /// The job from first to last.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The dispatches that have an order, those of one workgroup included.
    pub fn orders(&self) -> &[DispatchOrder] {
        &self.orders
    }

    /// The job with these dispatches in an order, the others from first to last.
    pub fn in_order(&self, chosen_order: Order, dispatches: Dispatches) -> Job {
        let mut job = self.job.clone();
        for order in &self.orders {
            let chosen_order =
                if dispatches.has(order.dispatch) { chosen_order } else { Order::InOrder };
            let order_words = permutation_words(
                job.dispatches[order.dispatch].groups,
                &chosen_order.permutation(order.workgroups),
            );
            job.buffers[order.buffer] = order_buffer(order.dispatch, &order_words);
        }
        job
    }
}

/// An engine that runs every job in its rewritten form, with the workgroups in an order.
pub struct Permuted<'a> {
    engine: &'a mut dyn Executor,
    order: Order,
}

impl<'a> Permuted<'a> {
    /// Runs jobs on an engine with their workgroups in this order.
    pub fn new(engine: &'a mut dyn Executor, order: Order) -> Self {
        Self { engine, order }
    }
}

impl Permuted<'_> {
    /// A job that has nothing to permute as it is; one that cannot be permuted is undetermined.
    fn rewritten_job<'j>(&self, job: &'j Job) -> Result<Cow<'j, Job>, Completion> {
        match PermutableJob::of_production(job) {
            Ok(None) => Ok(Cow::Borrowed(job)),
            Ok(Some(permutable)) => {
                Ok(Cow::Owned(permutable.in_order(self.order, Dispatches::All)))
            }
            Err(reason) => Err(Completion::Undetermined {
                reason: format!("schedule `{}`: {reason}", self.order),
            }),
        }
    }
}

/// A run of a rewritten job, with the buffers of the job itself.
fn without_orders(run: Run, job: &Job) -> Run {
    let mut own_buffers = run.buffers;
    own_buffers.truncate(job.buffers.len());
    Run { buffers: own_buffers, ..run }
}

impl Executor for Permuted<'_> {
    fn name(&self) -> EngineName {
        self.engine.name()
    }

    fn execute(
        &mut self,
        request: &RunRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Results, Counts), ExecError> {
        let rewritten = match self.rewritten_job(request.job) {
            Ok(rewritten) => rewritten,
            Err(completion) => {
                return Ok((Results::new(Run::ended(completion)), Counts::default()));
            }
        };
        let once = RunRequest { job: &rewritten, repetitions: NonZeroU32::MIN, ..*request };
        repeat_run(request, observer, |observer| {
            let RunOutcome { run, counts, .. } = self.engine.answer(&once, observer)?;
            Ok((without_orders(run, request.job), counts))
        })
    }

    fn run_by_invocation(
        &mut self,
        request: &RunRequest<'_>,
        bits: &BTreeSet<u32>,
    ) -> Result<(Run, InvocationRecords), ExecError> {
        match self.rewritten_job(request.job) {
            Ok(rewritten) => {
                let rewritten = RunRequest { job: &rewritten, ..*request };
                let (run, found) = self.engine.run_by_invocation(&rewritten, bits)?;
                Ok((without_orders(run, request.job), found))
            }
            Err(completion) => Ok((Run::ended(completion), InvocationRecords::new())),
        }
    }
}

/// Workgroups of each dispatch, all within the limit.
pub fn workgroup_counts(job: &Job) -> Result<Vec<u32>, String> {
    let workgroup_count = |(index, dispatch): (usize, &JobDispatch)| {
        let group_product = dispatch.groups.map(u64::from).iter().product::<u64>();
        let kernel = &job.modules[dispatch.module].key;
        let too_many_workgroups = || {
            format!(
                "dispatch {index} of kernel `{kernel}` has {group_product} workgroups; schedules are made for at most \
                 {MOST_WORKGROUPS}"
            )
        };
        Some(group_product)
            .filter(|workgroup_count| *workgroup_count <= MOST_WORKGROUPS)
            .map(|workgroup_count| workgroup_count as u32)
            .ok_or_else(too_many_workgroups)
    };
    job.dispatches.iter().enumerate().map(workgroup_count).collect()
}

/// The module that asks a buffer at `binding` for its workgroup; none where it asks for none.
fn rewritten_words(module: &JobModule, order_binding: u32) -> Result<Option<Vec<u32>>, String> {
    let kernel_error = |error: &dyn std::fmt::Display| format!("kernel `{}`: {error}", module.key);
    let parsed_module =
        Module::parse(Arc::clone(&module.words)).map_err(|error| kernel_error(&error))?;
    permute_workgroups(&parsed_module, SET, order_binding).map_err(|error| kernel_error(&error))
}

fn order_buffer(dispatch: usize, words: &[u32]) -> JobBuffer {
    let order_bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let defined = std::iter::once(0..order_bytes.len()).collect();
    JobBuffer {
        name: format!("order of the workgroups of dispatch {dispatch}"),
        bytes: order_bytes.into(),
        defined,
    }
}

/// A binding number that neither the job nor any of its modules uses in any set.
fn free_binding(job: &Job) -> Result<u32, ModuleError> {
    let mut highest_binding: Option<u32> = job
        .dispatches
        .iter()
        .flat_map(|dispatch| &dispatch.bindings)
        .map(|binding| binding.binding)
        .max();
    for module in &job.modules {
        let module = Module::parse(Arc::clone(&module.words))?;
        highest_binding = highest_binding.max(module.binding_numbers().max());
    }
    // A module that has the last number as well cannot be laid out by a driver either.
    Ok(highest_binding.map_or(0, |highest_binding| highest_binding.saturating_add(1)))
}
