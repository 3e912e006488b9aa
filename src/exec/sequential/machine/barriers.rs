//! Barriers of a workgroup: waiting lanes are compared and released, divergence is reported.

use super::finding_collector::NOWHERE;
use super::state::Machine;
use super::tile::{BarrierWait, Tile, insert_entry};
use std::collections::BTreeMap;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::DivergenceDetails;

impl<'a> Machine<'a> {
    /// All lanes of the workgroup wait or have ended. Compares the barriers, releases those that
    /// wait; whether any did.
    pub(super) fn release_barrier(&mut self, workgroup_tiles: &mut [Tile]) -> bool {
        let mut waiting_counts: BTreeMap<(u32, Vec<u32>), (u64, u32)> = BTreeMap::new();
        let mut ended_counts: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
        for tile in workgroup_tiles.iter() {
            for waiting in &tile.waiting {
                self.count_waiting(tile, waiting, &mut waiting_counts);
            }
            for (lane, place) in
                tile.end_places.iter().enumerate().filter(|(_, place)| **place != NOWHERE)
            {
                ended_counts.entry(*place).or_insert((0, tile.first_lane + lane as u32)).0 += 1;
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
        waiting_counts: &mut BTreeMap<(u32, Vec<u32>), (u64, u32)>,
    ) {
        let barrier = &self.program.barriers[waiting.barrier_index as usize];
        let loop_counters: Vec<&[u32]> = barrier
            .counters
            .iter()
            .map(|reg| &tile.words[(reg.0 - self.program.shared_words) as usize][..])
            .collect();
        let mut last_run: Option<(Vec<u32>, u64, u32)> = None;
        let add_run = |(iterations, lane_count, first_lane): (Vec<u32>, u64, u32),
                       waiting_counts: &mut BTreeMap<_, (u64, u32)>| {
            waiting_counts
                .entry((waiting.barrier_index, iterations))
                .or_insert((0, first_lane))
                .0 += lane_count;
        };
        for lane in waiting.mask.lanes() {
            let has_iterations = |iterations: &[u32]| {
                iterations.iter().zip(&loop_counters).all(|(value, all)| *value == all[lane])
            };
            match &mut last_run {
                Some((iterations, lane_count, _)) if has_iterations(iterations) => *lane_count += 1,
                _ => {
                    if let Some(finished_run) = last_run.take() {
                        add_run(finished_run, waiting_counts);
                    }
                    let iterations = loop_counters.iter().map(|all| all[lane]).collect();
                    last_run = Some((iterations, 1, tile.first_lane + lane as u32));
                }
            }
        }
        if let Some(finished_run) = last_run {
            add_run(finished_run, waiting_counts);
        }
    }

    fn report_divergence(
        &mut self,
        waiting_counts: &BTreeMap<(u32, Vec<u32>), (u64, u32)>,
        ended_counts: &BTreeMap<u32, (u64, u32)>,
    ) {
        self.monitor.diverged = true;
        let barrier_place = |barrier: &u32| self.program.barriers[*barrier as usize].source_index;
        let mut waiting_groups = waiting_counts.iter();
        let Some(((barrier, iterations), (count, first_lane))) = waiting_groups.next() else {
            return;
        };
        let (this_place, this_id) = (barrier_place(barrier), self.global_id(*first_lane));
        let other_barriers = waiting_groups.map(|((other_place, other_barriers), (other_count, other_lane))| {
            let other_state = if other_place == barrier { format!("{other_count} wait at it in another iteration ({other_barriers:?} against {iterations:?})") } else { format!("{other_count} wait at another barrier") };
            (barrier_place(other_place), other_state, *other_count, *other_lane)
        });
        let ended_counts = ended_counts.iter().map(|(barrier_place, (other_count, other_lane))| {
            (*barrier_place, format!("{other_count} have ended"), *other_count, *other_lane)
        });
        let other_lanes: Vec<_> = other_barriers.chain(ended_counts).collect();
        for (other_place, other_state, other_count, other_lane) in other_lanes {
            let other_id = self.global_id(other_lane);
            let describe = || Finding {
                invocations: vec![this_id, other_id],
                ..Finding::barrier_divergence(
                    format!(
                        "{count} invocations of the workgroup wait at this barrier while {other_state}"
                    ),
                    DivergenceDetails { waiting: *count, elsewhere: other_count },
                )
            };
            let places = [this_place, other_place];
            let collector = &mut self.monitor.collector;
            collector.add_occurrence(FindingKind::BarrierDivergence, places, 0, describe);
        }
    }
}
