//! Races of accesses: asked of the shadow, told with both places.

use super::access_step::{AccessMoment, AtomicAccess, LaneAccess};
use super::clash::RacingPair;
use super::monitor::Monitor;
use super::state::Machine;
use crate::ir::AccessRoot;
use crate::ir::atomic::AccessKind;
use crate::memory::race_shadow::AccessStamp;
use crate::memory::store::Store;
use crate::memory::vector_clocks::cell::AtomicEvent;
use std::sync::Arc;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::{AccessedMemory, DataRaceDetails, RaceReach};

impl Monitor {
    /// Asks the shadow of a store with which accesses that of a lane races.
    #[inline]
    pub(super) fn check_races(
        &mut self,
        store: &mut Store,
        access_moment: &AccessMoment,
        lane_access: &LaneAccess,
    ) {
        let Some(shadow) = &mut store.shadow else { return };
        let local_index = access_moment.first_lane + lane_access.lane as u32;
        let mut current_time = access_moment.current_time;
        current_time.stamp =
            AccessStamp::new(current_time.stamp.time(), local_index, access_moment.source_index);
        let (first_byte, byte_count) = (lane_access.bytes.start, lane_access.bytes.len());
        let races = &mut self.races;
        let note_race = |earlier| {
            let racing_values = (lane_access.values, byte_count as u32);
            races.push(RacingPair::from_earlier(
                earlier,
                (local_index, lane_access.touch),
                racing_values,
            ));
        };
        if byte_count == 4 && first_byte.is_multiple_of(4) {
            shadow.record_access(
                first_byte / 4,
                lane_access.touch,
                &current_time,
                lane_access.values,
                note_race,
            );
        } else {
            shadow.record_bytes(
                first_byte,
                byte_count,
                lane_access.touch,
                &current_time,
                lane_access.values,
                note_race,
            );
        }
        if let Some(AtomicAccess { op, time_after: after, atomic_order: _ }) = lane_access.atomic {
            let (place, memory, touch) =
                (access_moment.source_index, access_moment.memory_kinds, lane_access.touch);
            shadow.record_atomic(
                first_byte / 4,
                &AtomicEvent {
                    invocation: local_index,
                    source_index: place,
                    carrier_kinds: memory,
                    operation: op,
                    access_kind: touch,
                    next_time: after,
                },
            );
        }
    }
}

impl Machine<'_> {
    /// Reports what was noted in `races`, of accesses to a variable.
    pub(super) fn report_races(&mut self, variable: (AccessRoot, &Arc<str>), source_index: u32) {
        if self.monitor.races.is_empty() {
            return;
        }
        for racing_pair in std::mem::take(&mut self.monitor.races) {
            self.report_race(variable, &racing_pair, source_index);
        }
    }

    fn report_race(
        &mut self,
        (root, object_name): (AccessRoot, &Arc<str>),
        racing_pair: &RacingPair,
        source_index: u32,
    ) {
        let (memory_kind, same_workgroup) = match root {
            AccessRoot::Workgroup => (AccessedMemory::Workgroup, true),
            AccessRoot::Descriptor(_)
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Pointer { .. }
            | AccessRoot::Buffer(_) => {
                (self.memory_name(root), self.is_of_this_workgroup(racing_pair.earlier_stamp))
            }
        };
        let race_reach =
            if same_workgroup { RaceReach::WithinWorkgroup } else { RaceReach::AcrossWorkgroups };
        let [earlier, later] = racing_pair.touches;
        let finding_class = (earlier as u32 * 8 + later as u32 * 2 + u32::from(same_workgroup)) * 8
            + racing_pair.missing as u32;
        let source_pair = [source_index, racing_pair.earlier_stamp.source_index()];
        for (touch, source_index) in
            racing_pair.touches.into_iter().zip([source_pair[1], source_pair[0]])
        {
            if touch == AccessKind::Read {
                self.monitor.collector.racing_places.insert(source_index);
            }
        }
        let same_value = racing_pair.touches == [AccessKind::Write; 2]
            && racing_pair.values[0] == racing_pair.values[1];
        if racing_pair.touches == [AccessKind::Write; 2] && !same_value {
            self.monitor.collector.racing_places.extend(source_pair);
        }
        let global_ids = [
            self.global_id_of_stamp(racing_pair.earlier_stamp),
            self.global_id(racing_pair.later_invocation),
        ];
        let shown_values = racing_pair.values.map(|value| {
            format!("{value:#0width$x}", width = 2 + 2 * racing_pair.byte_count as usize)
        });
        let describe = || Finding {
            invocations: global_ids.to_vec(),
            ..Finding::data_race(
                format!(
                    "`{object_name}`: invocation {:?} ({earlier}) and invocation {:?} ({later}) access the same element of {memory_kind} memory {}",
                    global_ids[0],
                    global_ids[1],
                    racing_pair.missing.sentence()
                ),
                DataRaceDetails {
                    accesses: [earlier, later],
                    memory: memory_kind,
                    missing: racing_pair.missing.ordering(),
                    object: object_name.to_string(),
                    reach: race_reach,
                    same_value,
                    values: shown_values,
                },
            )
        };
        let collector = &mut self.monitor.collector;
        collector.add_occurrence(FindingKind::DataRace, source_pair, finding_class, describe);
        if !same_value {
            collector.refute_same_value(source_pair, finding_class);
        }
    }
}
