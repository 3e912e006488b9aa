//! Barriers of a workgroup: waiting lanes are compared and released, divergence is reported.

use super::finding_collector::NOWHERE;
use super::state::Machine;
use super::tile::{BarrierWait, Tile, insert_entry};
use std::collections::BTreeMap;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::DivergenceDetails;

/// Waiting lanes by their barrier and the iterations of the loops around it.
type WaitingCounts = BTreeMap<(u32, Vec<u32>), LaneCount>;

/// How many lanes there are, and the index of the first of them in the workgroup.
#[derive(Clone, Copy)]
struct LaneCount {
    count: u64,
    first_lane: u32,
}

impl LaneCount {
    fn starting_at(first_lane: u32) -> Self {
        Self { count: 0, first_lane }
    }
}

/// Neighbouring lanes that wait in the same iterations of the loops around a barrier.
struct WaitingRun {
    iterations: Vec<u32>,
    lanes: LaneCount,
}

impl WaitingRun {
    fn add_to(self, waiting_counts: &mut WaitingCounts, barrier_index: u32) {
        waiting_counts
            .entry((barrier_index, self.iterations))
            .or_insert(LaneCount::starting_at(self.lanes.first_lane))
            .count += self.lanes.count;
    }
}

/// Lanes that do not wait where the first of the workgroup do.
struct LanesElsewhere {
    /// The SPIR-V instruction at which they wait or have ended.
    place: u32,
    state: String,
    lanes: LaneCount,
}

impl<'a> Machine<'a> {
    /// All lanes of the workgroup wait or have ended. Compares the barriers, releases those that
    /// wait; whether any did.
    pub(super) fn release_barrier(&mut self, workgroup_tiles: &mut [Tile]) -> bool {
        let mut waiting_counts = WaitingCounts::new();
        let mut ended_counts: BTreeMap<u32, LaneCount> = BTreeMap::new();
        for tile in workgroup_tiles.iter() {
            for waiting in &tile.waiting {
                self.count_waiting(tile, waiting, &mut waiting_counts);
            }
            for (lane, place) in
                tile.end_places.iter().enumerate().filter(|(_, place)| **place != NOWHERE)
            {
                let ended_lane = tile.first_lane + lane as u32;
                let ended_here =
                    ended_counts.entry(*place).or_insert(LaneCount::starting_at(ended_lane));
                ended_here.count += 1;
            }
        }
        if waiting_counts.is_empty() {
            return false;
        }
        let barrier_indices: Vec<u32> =
            waiting_counts.keys().map(|(barrier, _)| *barrier).collect();
        if waiting_counts.len() > 1 || !ended_counts.is_empty() {
            self.report_divergence(&waiting_counts, &ended_counts);
        } else {
            self.monitor.regions.whole_times[barrier_indices[0] as usize] += 1;
            self.monitor.recorder.keep_barrier(barrier_indices[0], self.scheduler.workgroup_index);
        }
        for barrier in &barrier_indices {
            self.monitor.regions.entered_times[*barrier as usize + 1] += 1;
        }
        let barrier_order = self.barrier_order(barrier_indices[0]);
        self.monitor.clock.pass_barrier(barrier_order);
        if let Some(pairs) = &mut self.monitor.pairs {
            pairs.pass_barrier(
                self.monitor.clock.coupled_memory(barrier_order).kinds(),
                self.program.barriers[barrier_indices[0] as usize].source_index,
                self.monitor.clock.latest(),
            );
        }
        if let Some(order) = &self.monitor.order {
            let barrier_fences = self.program.barriers[barrier_indices[0] as usize].fences;
            let mut order = order.borrow_mut();
            order.workgroup_barrier(
                barrier_order.kinds(),
                barrier_fences.control,
                self.monitor.clock.latest(),
            );
            if let Some(fence) = barrier_fences.idiom_repetition(self.settings.memory_model) {
                let time_after = self.monitor.clock.advance_time();
                let invocations = self.program.local_size.iter().product::<u32>();
                (0..invocations)
                    .for_each(|local_index| order.execute_fence(local_index, fence, time_after));
            }
        }
        for tile in workgroup_tiles {
            for waiting in std::mem::take(&mut tile.waiting) {
                insert_entry(&mut tile.frontier, waiting.next_block, &waiting.mask);
            }
        }
        true
    }

    /// Adds each waiting lane under its barrier and the iterations of the loops around it.
    fn count_waiting(
        &self,
        tile: &Tile,
        waiting: &BarrierWait,
        waiting_counts: &mut WaitingCounts,
    ) {
        let barrier = &self.program.barriers[waiting.barrier_index as usize];
        let loop_counters: Vec<&[u32]> = barrier
            .counters
            .iter()
            .map(|reg| &tile.words[(reg.0 - self.program.shared_words) as usize][..])
            .collect();
        let mut last_run: Option<WaitingRun> = None;
        for lane in waiting.mask.lanes() {
            let has_iterations = |iterations: &[u32]| {
                iterations
                    .iter()
                    .zip(&loop_counters)
                    .all(|(iteration, counter)| *iteration == counter[lane])
            };
            match &mut last_run {
                Some(run) if has_iterations(&run.iterations) => run.lanes.count += 1,
                _ => {
                    if let Some(finished_run) = last_run.take() {
                        finished_run.add_to(waiting_counts, waiting.barrier_index);
                    }
                    let first_lane = tile.first_lane + lane as u32;
                    last_run = Some(WaitingRun {
                        iterations: loop_counters.iter().map(|counter| counter[lane]).collect(),
                        lanes: LaneCount { count: 1, first_lane },
                    });
                }
            }
        }
        if let Some(finished_run) = last_run {
            finished_run.add_to(waiting_counts, waiting.barrier_index);
        }
    }

    fn report_divergence(
        &mut self,
        waiting_counts: &WaitingCounts,
        ended_counts: &BTreeMap<u32, LaneCount>,
    ) {
        self.monitor.diverged = true;
        let barrier_place = |barrier: &u32| self.program.barriers[*barrier as usize].source_index;
        let mut waiting_groups = waiting_counts.iter();
        let Some(((barrier, iterations), waiting_here)) = waiting_groups.next() else {
            return;
        };
        let (this_place, this_id) =
            (barrier_place(barrier), self.global_id(waiting_here.first_lane));
        let other_barriers = waiting_groups.map(|((other_barrier, other_iterations), lanes)| {
            let place = barrier_place(other_barrier);
            let count = lanes.count;
            let state = if other_barrier == barrier {
                format!(
                    "{count} wait at it in another iteration ({other_iterations:?} against {iterations:?})"
                )
            } else {
                format!("{count} wait at another barrier")
            };
            LanesElsewhere { place, state, lanes: *lanes }
        });
        let ended_lanes = ended_counts.iter().map(|(place, lanes)| LanesElsewhere {
            place: *place,
            state: format!("{} have ended", lanes.count),
            lanes: *lanes,
        });
        let lanes_elsewhere: Vec<LanesElsewhere> = other_barriers.chain(ended_lanes).collect();
        for elsewhere in lanes_elsewhere {
            let other_id = self.global_id(elsewhere.lanes.first_lane);
            let describe = || Finding {
                invocations: vec![this_id, other_id],
                ..Finding::barrier_divergence(
                    format!(
                        "{} invocations of the workgroup wait at this barrier while {}",
                        waiting_here.count, elsewhere.state
                    ),
                    DivergenceDetails {
                        waiting: waiting_here.count,
                        elsewhere: elsewhere.lanes.count,
                    },
                )
            };
            let places = [this_place, elsewhere.place];
            let collector = &mut self.monitor.collector;
            collector.add_occurrence(FindingKind::BarrierDivergence, places, 0, describe);
        }
    }
}
