//! Subgroups on the machine: which lanes make one, and the operations between them.
//!
//! Knows: invocations are numbered by their local index; each run of as many as the subgroup size
//! is a subgroup, the last one possibly with fewer. A tile holds whole subgroups wherever
//! invocations work together, and all of its lanes at a block run at once, so the active lanes of a
//! subgroup are those that the structured control flow brings together.
//! Promises: no result depends on the tile width; a value that nobody wrote travels from lane to
//! lane and is told where it is used.
//! Does not cover: subgroups that a device forms in another way (by rows of the workgroup).

use super::registers::Registers;
use super::state::Machine;
use crate::ir::lane_exchange::LaneExchange;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS, MOST_LANES};
use crate::ir::memory_semantics::{BarrierFences, Fence, MemoryKinds};
use crate::ir::subgroup_operation::{
    GroupOperation, MOST_INVOCATIONS, SubgroupMembers, UndefinedGroupResult as Reason,
};
use crate::ir::{
    MemoryClass, OrderUse, PerLaneValue, Program, Reg, Scalar, SubgroupMask, SubgroupUse,
};
use crate::memory::vector_clocks::HappensBefore;
use crate::settings::Settings;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use vkcert_spirv::operation::undefined::{Undefined, UndefinedExtent};

impl Settings {
    /// The settings of a dispatch that asks for a subgroup size, or takes the engine's. Gives the
    /// size if it is none.
    pub(crate) fn with_subgroup_size(self, asked_size: Option<u32>) -> Result<Self, u32> {
        let subgroup_size = asked_size.unwrap_or(self.subgroup_size);
        if subgroup_size.is_power_of_two() && subgroup_size <= MOST_INVOCATIONS {
            Ok(Self { subgroup_size, ..self })
        } else {
            Err(subgroup_size)
        }
    }

    /// The settings with tiles that hold whole subgroups, where the program wants them.
    pub(crate) fn with_whole_subgroups(self, program: &Program) -> Self {
        match program.subgroups {
            SubgroupUse::None => self,
            SubgroupUse::Operations | SubgroupUse::Barriers => {
                let schedule = self.following.schedule;
                // Lanes of a tile hold together, and subgroups may wait for each other.
                let is_directed = schedule.is_directed() && schedule.tiles.is_none();
                let wanted_width = if is_directed { 1 } else { self.tile_width };
                Self { tile_width: wanted_width.next_multiple_of(self.subgroup_size), ..self }
            }
        }
    }
}

impl Registers {
    /// Some scalars of a lane as bits, the first lowest.
    fn scalar_bits(&self, scalars: &[Scalar], lane: usize) -> u128 {
        scalars.iter().rev().fold(0, |joined_bits, scalar| {
            let word = match scalar {
                Scalar::Word(reg) => self.words[reg.0 as usize][lane],
                Scalar::Mask(reg) => {
                    (self.masks[reg.0 as usize * self.mask_words + lane / 64] >> (lane % 64) & 1)
                        as u32
                }
            };
            joined_bits << 32 | u128::from(word)
        })
    }

    fn write_scalar(&mut self, result_scalar: Scalar, lane_words: &[u32]) {
        match result_scalar {
            Scalar::Word(reg) => {
                self.write_register(reg, |lane_values, _| lane_values.copy_from_slice(lane_words))
            }
            Scalar::Mask(reg) => {
                let mut lane_bits = [0; MASK_WORDS];
                vkcert_spirv::operation::word::pack_bits(
                    &mut lane_bits[..self.mask_words],
                    lane_words,
                    lane_words,
                    |a, _| a & 1 != 0,
                );
                self.write_mask(reg, &lane_bits);
            }
        }
    }
}

impl Machine<'_> {
    /// Lets the race shadows track everything that orders accesses, where the program has more than
    /// barriers of workgroups.
    pub(super) fn order_exactly(&mut self) {
        let OrderUse::Exact(atomic_places) = &self.program.order else { return };
        if !self.monitor.track_races {
            return;
        }
        let invocation_count = self.program.local_size.iter().product();
        let access_order = Rc::new(RefCell::new(HappensBefore::new(
            Arc::clone(atomic_places),
            invocation_count,
            self.settings.subgroup_size,
        )));
        let mut kinds_by_buffer: BTreeMap<usize, MemoryKinds> = BTreeMap::new();
        for (descriptor, slot) in self.program.descriptors.iter().zip(&self.memory.slots) {
            let Some(slot) = slot else { continue };
            let memory_kind = match descriptor.kept {
                MemoryClass::Buffer => MemoryKinds::BUFFERS,
                MemoryClass::Image => MemoryKinds::IMAGES,
            };
            let all_kinds = kinds_by_buffer.entry(slot.buffer).or_default();
            *all_kinds = all_kinds.union(memory_kind);
        }
        for (store_index, store) in self.memory.stores.iter_mut().enumerate() {
            if let Some(shadow) = &mut store.shadow {
                shadow.order_exactly(
                    &access_order,
                    kinds_by_buffer.get(&store_index).copied().unwrap_or(MemoryKinds::BUFFERS),
                );
            }
        }
        self.monitor.order = Some(access_order);
    }

    /// A barrier of each subgroup, over its active lanes.
    pub(super) fn subgroup_barrier(&mut self, fences: BarrierFences) {
        let Some(access_order) = &self.monitor.order else { return };
        let ordered_memory =
            self.monitor.clock.coupled_memory(fences.ordered_memory(self.settings.memory_model));
        let time_after = self.monitor.clock.advance_time();
        for (lane, members) in active_subgroups(
            &self.registers.active_lanes,
            self.registers.width,
            self.settings.subgroup_size,
        ) {
            let first_lane = self.registers.first_lane + lane;
            access_order.borrow_mut().subgroup_barrier(
                first_lane,
                members,
                ordered_memory.kinds(),
                fences.control,
                time_after,
            );
        }
    }

    /// A fence of each active lane.
    pub(super) fn fence_lanes(&mut self, fence: Fence) {
        let Some(access_order) = &self.monitor.order else { return };
        let time_after = self.monitor.clock.advance_time();
        let mut access_order = access_order.borrow_mut();
        self.registers.active_lanes.lanes().for_each(|lane| {
            access_order.execute_fence(self.registers.first_lane + lane as u32, fence, time_after)
        });
    }

    /// A built-in variable of subgroups, by local index.
    pub(super) fn subgroup_value(&self, builtin_value: PerLaneValue, local_index: u32) -> u32 {
        let subgroup_size = self.settings.subgroup_size;
        let subgroup_lane = local_index % subgroup_size;
        match builtin_value {
            PerLaneValue::SubgroupId => local_index / subgroup_size,
            PerLaneValue::SubgroupInvocation => subgroup_lane,
            PerLaneValue::SubgroupMask(mask, word) => {
                (mask.mask_bits(subgroup_lane, subgroup_size) >> (32 * u32::from(word))) as u32
            }
            PerLaneValue::LocalId(_) | PerLaneValue::GlobalId(_) | PerLaneValue::LocalIndex => {
                local_index
            }
        }
    }

    pub(super) fn subgroups_of_workgroup(&self) -> u32 {
        self.program.local_size.iter().product::<u32>().div_ceil(self.settings.subgroup_size)
    }

    /// The subgroups of the tile that have active lanes: first lane and members.
    pub(super) fn subgroups_of_tile(&self) -> impl Iterator<Item = (u32, SubgroupMembers)> + use<> {
        active_subgroups(
            &self.registers.active_lanes,
            self.registers.width,
            self.settings.subgroup_size,
        )
    }

    pub(super) fn run_group(
        &mut self,
        op: GroupOperation,
        result_scalars: &[Scalar],
        source_scalars: &[Scalar],
        index_register: Option<Reg>,
        source_index: u32,
    ) {
        for (word, scalar) in result_scalars.iter().enumerate() {
            let mut lane_values = std::mem::take(&mut self.registers.staging_words);
            lane_values.fill(0);
            let mut undefined_lanes = [None, None];
            for (first_lane, members) in self.subgroups_of_tile() {
                let operands = |id: u32| {
                    let lane = (first_lane + id) as usize;
                    let index_bits = index_register
                        .map_or(0, |reg| u128::from(self.registers.words[reg.0 as usize][lane]));
                    let (first_scalars, second_scalars) =
                        source_scalars.split_at(op.first_operand_words(source_scalars.len()));
                    [
                        self.registers.scalar_bits(first_scalars, lane),
                        index_bits | self.registers.scalar_bits(second_scalars, lane),
                    ]
                };
                op.apply_to_members(members, operands, |id, value, undefined_reason| {
                    let lane = (first_lane + id) as usize;
                    lane_values[lane] = (value >> (32 * word)) as u32;
                    note_undefined(&mut undefined_lanes, undefined_reason, lane);
                });
            }
            self.registers.write_scalar(*scalar, &lane_values);
            self.registers.staging_words = lane_values;
            // Undefined behaviour is told once.
            if word > 0 {
                undefined_lanes[UndefinedExtent::Behaviour as usize] = None;
            }
            self.leave_undefined_lanes(&[*scalar], undefined_lanes, source_index);
        }
    }

    pub(super) fn exchange_values(
        &mut self,
        exchange: LaneExchange,
        result_scalars: &[Scalar],
        source_scalars: &[Scalar],
        index_register: Option<Reg>,
        source_index: u32,
    ) {
        let mut source_lanes = std::mem::take(&mut self.memory.addresses);
        let undefined_results = self.exchange_sources(exchange, index_register, &mut source_lanes);
        for (result_scalar, source_scalar) in result_scalars.iter().zip(source_scalars) {
            let mut lane_values = std::mem::take(&mut self.registers.staging_words);
            let mut undefined_lanes = [0; MASK_WORDS];
            lane_values.fill(0);
            let source_marks = if self.monitor.track_undefined {
                self.registers.undefined_bits(*source_scalar)
            } else {
                [0; MASK_WORDS]
            };
            for lane in self.registers.active_lanes.lanes() {
                let source = source_lanes[lane] as usize;
                if source < self.registers.width {
                    lane_values[lane] =
                        self.registers.scalar_bits(&[*source_scalar], source) as u32;
                    undefined_lanes[lane / 64] |=
                        (source_marks[source / 64] >> (source % 64) & 1) << (lane % 64);
                }
            }
            self.registers.write_scalar(*result_scalar, &lane_values);
            self.carry_marks_across(
                *result_scalar,
                *source_scalar,
                &undefined_lanes,
                &source_lanes,
            );
            self.registers.staging_words = lane_values;
        }
        self.memory.addresses = source_lanes;
        for (undefined_reason, lanes) in undefined_results.into_iter().flatten() {
            self.leave_undefined(result_scalars, &lanes, undefined_reason, source_index);
        }
    }

    /// The lane that each active lane takes its value from; none: a lane outside the tile.
    fn exchange_sources(
        &self,
        exchange: LaneExchange,
        index_register: Option<Reg>,
        source_lanes: &mut [u32],
    ) -> [Option<(Undefined, LaneMask)>; 2] {
        let mut undefined_lanes = [None, None];
        for (first_lane, members) in self.subgroups_of_tile() {
            let index_register = |id: u32| {
                index_register.map_or(0, |reg| {
                    self.registers.words[reg.0 as usize][(first_lane + id) as usize]
                })
            };
            for id in members.active_ids() {
                let lane = (first_lane + id) as usize;
                let common_index = index_register(exchange.index_holder(id, members));
                let index_differs =
                    exchange.needs_uniform_index() && index_register(id) != common_index;
                let index_register = if index_differs { common_index } else { index_register(id) };
                let source_id = exchange.source_invocation(id, index_register, members);
                source_lanes[lane] = source_id.map_or(u32::MAX, |source_id| first_lane + source_id);
                let undefined_reason = source_id.is_none().then_some(Reason::Source);
                let undefined_reason = exchange
                    .oversized_cluster(members.size)
                    .or(index_differs.then_some(Reason::Index))
                    .or(undefined_reason);
                note_undefined(&mut undefined_lanes, undefined_reason, lane);
            }
        }
        undefined_lanes
    }
}

impl SubgroupMask {
    /// The bits of the invocations that stand in this relation to `id` (SPIR-V, built-ins
    /// `SubgroupEqMask` and others).
    fn mask_bits(self, subgroup_lane: u32, subgroup_size: u32) -> u128 {
        let bits_below = |count: u32| if count >= 128 { u128::MAX } else { (1 << count) - 1 };
        match self {
            SubgroupMask::Equal => 1 << subgroup_lane,
            SubgroupMask::AtLeast => bits_below(subgroup_size) & !bits_below(subgroup_lane),
            SubgroupMask::Above => bits_below(subgroup_size) & !bits_below(subgroup_lane + 1),
            SubgroupMask::AtMost => bits_below(subgroup_lane + 1),
            SubgroupMask::Below => bits_below(subgroup_lane),
        }
    }
}

/// Keeps the lanes with undefined results, and the first reason, by extent.
fn note_undefined(
    undefined_lanes: &mut [Option<(Undefined, LaneMask)>; 2],
    undefined_reason: Option<Reason>,
    lane: usize,
) {
    if let Some(undefined) = undefined_reason.map(Reason::as_undefined) {
        undefined_lanes[undefined.extent as usize]
            .get_or_insert((undefined, LaneMask::EMPTY))
            .1
            .insert(lane);
    }
}

/// The subgroups of a tile that have active lanes: first lane and members.
fn active_subgroups(
    active_lanes: &LaneMask,
    tile_width: usize,
    subgroup_size: u32,
) -> impl Iterator<Item = (u32, SubgroupMembers)> + use<> {
    let active_words = active_lanes.0;
    (0..tile_width.min(MOST_LANES) as u32).step_by(subgroup_size as usize).filter_map(
        move |first_lane| {
            let mask_word = first_lane as usize / 64;
            let low_bits = u128::from(active_words[mask_word]) >> (first_lane % 64);
            let high_bits =
                active_words.get(mask_word + 1).map_or(0, |next_word| u128::from(*next_word));
            let active_bits = match subgroup_size {
                128 => low_bits | high_bits << 64,
                64 => low_bits,
                _ => low_bits & ((1 << subgroup_size) - 1),
            };
            (active_bits != 0).then_some((
                first_lane,
                SubgroupMembers { active: active_bits, size: subgroup_size },
            ))
        },
    )
}
