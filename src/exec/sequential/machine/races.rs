//! Races of accesses: asked of the shadow, told with both places.

use super::addressing::Addressed;
use super::clash::Clash;
use super::state::Machine;
use crate::ir::atomic::Touch;
use crate::ir::memory_semantics::Kinds;
use crate::ir::{Access, Root};
use crate::memory::race_shadow::Stamp;
use crate::memory::store::Clock;
use std::sync::Arc;
use vkcert_model::finding::{Finding, FindingKind};

/// The kind of memory that buffers and workgroup variables are.
pub(super) fn kinds_of(root: Root) -> Kinds {
    if root.is_buffer() { Kinds::BUFFERS } else { Kinds::WORKGROUP }
}

pub(super) fn moment(
    clock: &Clock,
    root: Root,
    local: u32,
    place: u32,
) -> crate::memory::race_shadow::Now {
    match root {
        Root::Workgroup => clock.in_workgroup(local, place),
        Root::Descriptor(_)
        | Root::Invocation
        | Root::PushConstant
        | Root::Descriptors { .. }
        | Root::Address(_)
        | Root::Pointer { .. }
        | Root::Buffer(_) => clock.in_buffers(local, place),
    }
}

impl Machine<'_> {
    pub(super) fn read_races(
        &mut self,
        access: &Access,
        found: &Addressed,
        component: u32,
        place: u32,
    ) {
        if !self.monitor.track_races {
            return;
        }
        let (store, clock) = match access.root {
            Root::Descriptor(index) => match self.memory.slots[index as usize] {
                Some(slot) => (&mut self.memory.stores[slot.buffer], self.monitor.clock),
                None => return,
            },
            Root::Workgroup => (&mut self.memory.workgroup, self.monitor.clock),
            Root::Buffer(index) => (&mut self.memory.stores[index as usize], self.monitor.clock),
            Root::Invocation
            | Root::PushConstant
            | Root::Descriptors { .. }
            | Root::Address(_)
            | Root::Pointer { .. } => {
                return;
            }
        };
        let Some(shadow) = &mut store.shadow else { return };
        let mut now = moment(&clock, access.root, self.registers.first_lane, place);
        for lane in found.lanes.lanes() {
            let word = self.memory.addresses[lane].wrapping_add(component);
            if word >= found.limit {
                continue;
            }
            let local = self.registers.first_lane + lane as u32;
            now.stamp = Stamp::new(now.stamp.time(), local, place);
            let value = u128::from(store.words[found.first + word as usize]);
            shadow.touch(found.first + word as usize, Touch::Read, &now, [value; 2], |earlier| {
                self.monitor.races.push(Clash::new(earlier, (local, Touch::Read), ([value; 2], 4)));
            });
        }
        self.report_races(access, place);
    }

    pub(super) fn report_races(&mut self, access: &Access, place: u32) {
        self.report_races_at((access.root, &access.name), place);
    }

    /// Reports what was noted in `races`, of accesses to a variable.
    pub(super) fn report_races_at(&mut self, variable: (Root, &Arc<str>), place: u32) {
        if self.monitor.races.is_empty() {
            return;
        }
        for clash in std::mem::take(&mut self.monitor.races) {
            self.report_race(variable, &clash, place);
        }
    }

    fn report_race(&mut self, (root, name): (Root, &Arc<str>), clash: &Clash, place: u32) {
        let (memory, within) = match root {
            Root::Workgroup => ("workgroup", true),
            Root::Descriptor(_)
            | Root::Invocation
            | Root::PushConstant
            | Root::Descriptors { .. }
            | Root::Address(_)
            | Root::Pointer { .. }
            | Root::Buffer(_) => (self.kept_in(root), self.is_of_this_workgroup(clash.other)),
        };
        let reach = if within { "within-workgroup" } else { "across-workgroups" };
        let [earlier, later] = clash.touches;
        let class =
            (earlier as u32 * 8 + later as u32 * 2 + u32::from(within)) * 8 + clash.missing as u32;
        let pair = [place, clash.other.place()];
        for (touch, place) in clash.touches.into_iter().zip([pair[1], pair[0]]) {
            if touch == Touch::Read {
                self.monitor.collector.racy.insert(place);
            }
        }
        let same = clash.touches == [Touch::Write; 2] && clash.values[0] == clash.values[1];
        if clash.touches == [Touch::Write; 2] && !same {
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
