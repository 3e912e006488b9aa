//! Races of accesses: asked of the shadow, told with both places.

use super::access_step::{AtomicAccess, LaneAccess, Moment};
use super::clash::Clash;
use super::monitor::Monitor;
use super::state::Machine;
use crate::ir::AccessRoot;
use crate::ir::atomic::AccessKind;
use crate::memory::race_shadow::AccessStamp;
use crate::memory::store::Store;
use crate::memory::vector_clocks::cell::AtomicEvent;
use std::sync::Arc;
use vkcert_model::finding::{Finding, FindingKind};

impl Monitor {
    /// Asks the shadow of a store with which accesses that of a lane races.
    #[inline]
    pub(super) fn race(&mut self, store: &mut Store, moment: &Moment, one: &LaneAccess) {
        let Some(shadow) = &mut store.shadow else { return };
        let local = moment.first_lane + one.lane as u32;
        let mut now = moment.now;
        now.stamp = AccessStamp::new(now.stamp.time(), local, moment.place);
        let (first, length) = (one.bytes.start, one.bytes.len());
        let races = &mut self.races;
        let found = |earlier| {
            let values = (one.values, length as u32);
            races.push(Clash::new(earlier, (local, one.touch), values));
        };
        if length == 4 && first.is_multiple_of(4) {
            shadow.record_access(first / 4, one.touch, &now, one.values, found);
        } else {
            shadow.record_bytes(first, length, one.touch, &now, one.values, found);
        }
        if let Some(AtomicAccess { op, after, mark: _ }) = one.atomic {
            let (place, memory, touch) = (moment.place, moment.memory, one.touch);
            shadow.record_atomic(
                first / 4,
                &AtomicEvent {
                    invocation: local,
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
    pub(super) fn report_races(&mut self, variable: (AccessRoot, &Arc<str>), place: u32) {
        if self.monitor.races.is_empty() {
            return;
        }
        for clash in std::mem::take(&mut self.monitor.races) {
            self.report_race(variable, &clash, place);
        }
    }

    fn report_race(&mut self, (root, name): (AccessRoot, &Arc<str>), clash: &Clash, place: u32) {
        let (memory, within) = match root {
            AccessRoot::Workgroup => ("workgroup", true),
            AccessRoot::Descriptor(_)
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Pointer { .. }
            | AccessRoot::Buffer(_) => (self.kept_in(root), self.is_of_this_workgroup(clash.other)),
        };
        let reach = if within { "within-workgroup" } else { "across-workgroups" };
        let [earlier, later] = clash.touches;
        let class =
            (earlier as u32 * 8 + later as u32 * 2 + u32::from(within)) * 8 + clash.missing as u32;
        let pair = [place, clash.other.source_index()];
        for (touch, place) in clash.touches.into_iter().zip([pair[1], pair[0]]) {
            if touch == AccessKind::Read {
                self.monitor.collector.racy.insert(place);
            }
        }
        let same = clash.touches == [AccessKind::Write; 2] && clash.values[0] == clash.values[1];
        if clash.touches == [AccessKind::Write; 2] && !same {
            self.monitor.collector.racy.extend(pair);
        }
        let witnesses = [self.stamped(clash.other), self.invocation(clash.invocation)];
        let shown = clash
            .values
            .map(|value| format!("{value:#0width$x}", width = 2 + 2 * clash.bytes as usize));
        self.monitor.collector.add(FindingKind::DataRace, pair, class, || Finding {
            invocations: witnesses.to_vec(),
            ..Finding::new(
                FindingKind::DataRace,
                format!(
                    "`{name}`: invocation {:?} ({}) and invocation {:?} ({}) access the same element of {memory} memory {}",
                    witnesses[0],
                    earlier.name(),
                    witnesses[1],
                    later.name(),
                    clash.missing.sentence()
                ),
            )
            .detail("memory", memory)
            .detail("object", name.to_string())
            .detail("reach", reach)
            .detail("accesses", vec![earlier.name(), later.name()])
            .detail("missing", clash.missing.name())
            .detail("values", shown.to_vec())
            .detail("same_value", same)
        });
        if !same {
            self.monitor.collector.refute(FindingKind::DataRace, pair, class, "same_value");
        }
    }
}
