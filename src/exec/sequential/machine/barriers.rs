//! Where the lanes of a workgroup meet: barriers compared, lanes released, divergence told.

use super::finding_collector::NOWHERE;
use super::state::Machine;
use super::tile::{Tile, Waiting, insert};
use std::collections::BTreeMap;
use vkcert_model::finding::{Finding, FindingKind};

impl<'a> Machine<'a> {
    /// All lanes of the workgroup wait or have ended. Compares the barriers, releases those that
    /// wait; whether any did.
    pub(super) fn meet(&mut self, tiles: &mut [Tile]) -> bool {
        let mut gathered: BTreeMap<(u32, Vec<u32>), (u64, u32)> = BTreeMap::new();
        let mut ended: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
        for tile in tiles.iter() {
            for waiting in &tile.waiting {
                self.identities(tile, waiting, &mut gathered);
            }
            for (lane, place) in
                tile.ended.iter().enumerate().filter(|(_, place)| **place != NOWHERE)
            {
                ended.entry(*place).or_insert((0, tile.first + lane as u32)).0 += 1;
            }
        }
        if gathered.is_empty() {
            return false;
        }
        let barriers: Vec<u32> = gathered.keys().map(|(barrier, _)| *barrier).collect();
        if gathered.len() > 1 || !ended.is_empty() {
            self.report_divergence(&gathered, &ended);
        } else {
            self.monitor.regions.whole[barriers[0] as usize] += 1;
            self.monitor.recorder.keep_barrier(barriers[0], self.scheduler.workgroup_index);
        }
        for barrier in &barriers {
            self.monitor.regions.entered[*barrier as usize + 1] += 1;
        }
        let ordered = self.ordered(barriers[0]);
        self.monitor.clock.pass_barrier(ordered);
        if let Some(order) = &self.monitor.order {
            let fences = self.program.barriers[barriers[0] as usize].fences;
            let mut order = order.borrow_mut();
            order.workgroup_barrier(ordered.kinds(), fences.control, self.monitor.clock.latest());
            if let Some(fence) = fences.idiom_repetition(self.settings.memory_model) {
                let after = self.monitor.clock.advance_time();
                let invocations = self.program.local_size.iter().product::<u32>();
                (0..invocations).for_each(|one| order.execute_fence(one, fence, after));
            }
        }
        for tile in tiles {
            for waiting in std::mem::take(&mut tile.waiting) {
                insert(&mut tile.frontier, waiting.to, &waiting.mask);
            }
        }
        true
    }

    /// Adds each waiting lane under its barrier and the iterations of the loops around it.
    fn identities(
        &self,
        tile: &Tile,
        waiting: &Waiting,
        gathered: &mut BTreeMap<(u32, Vec<u32>), (u64, u32)>,
    ) {
        let barrier = &self.program.barriers[waiting.barrier as usize];
        let counters: Vec<&[u32]> = barrier
            .counters
            .iter()
            .map(|reg| &tile.words[(reg.0 - self.program.shared_words) as usize][..])
            .collect();
        let mut last: Option<(Vec<u32>, u64, u32)> = None;
        let flush = |(iterations, count, first): (Vec<u32>, u64, u32),
                     gathered: &mut BTreeMap<_, (u64, u32)>| {
            gathered.entry((waiting.barrier, iterations)).or_insert((0, first)).0 += count;
        };
        for lane in waiting.mask.lanes() {
            let same = |iterations: &[u32]| {
                iterations.iter().zip(&counters).all(|(value, all)| *value == all[lane])
            };
            match &mut last {
                Some((iterations, count, _)) if same(iterations) => *count += 1,
                _ => {
                    if let Some(done) = last.take() {
                        flush(done, gathered);
                    }
                    let iterations = counters.iter().map(|all| all[lane]).collect();
                    last = Some((iterations, 1, tile.first + lane as u32));
                }
            }
        }
        if let Some(done) = last {
            flush(done, gathered);
        }
    }

    fn report_divergence(
        &mut self,
        gathered: &BTreeMap<(u32, Vec<u32>), (u64, u32)>,
        ended: &BTreeMap<u32, (u64, u32)>,
    ) {
        self.monitor.diverged = true;
        let place = |barrier: &u32| self.program.barriers[*barrier as usize].source_index;
        let mut waiting = gathered.iter();
        let Some(((barrier, iterations), (count, first))) = waiting.next() else { return };
        let (here, one) = (place(barrier), self.invocation(*first));
        let others = waiting.map(|((other, others), (number, lane))| {
            let what = if other == barrier {
                format!(
                    "{number} wait at it in another iteration ({others:?} against {iterations:?})"
                )
            } else {
                format!("{number} wait at another barrier")
            };
            (place(other), what, *number, *lane)
        });
        let ended = ended.iter().map(|(place, (number, lane))| {
            (*place, format!("{number} have ended"), *number, *lane)
        });
        let found: Vec<_> = others.chain(ended).collect();
        for (other, what, number, lane) in found {
            let two = self.invocation(lane);
            self.monitor.collector.add(FindingKind::BarrierDivergence, [here, other], 0, || {
                Finding {
                    invocations: vec![one, two],
                    ..Finding::new(
                        FindingKind::BarrierDivergence,
                        format!(
                            "{count} invocations of the workgroup wait at this barrier while {what}"
                        ),
                    )
                    .detail("waiting", *count)
                    .detail("elsewhere", number)
                }
            });
        }
    }
}
