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
use crate::ir::lane_mask::{LaneMask, MASK_WORDS, MOST_LANES};
use crate::ir::memory_semantics::{BarrierFences, Fence, MemoryKinds};
use crate::ir::subgroup_operation::{
    GroupOperation, LaneExchange, MOST_INVOCATIONS, SubgroupMembers, UndefinedGroupResult as Reason,
};
use crate::ir::{
    MemoryClass, OrderUse, PerLaneValue, Program, Reg, Scalar, SubgroupMask, SubgroupUse,
};
use crate::memory::vector_clocks::HappensBefore;
use crate::settings::Settings;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use vkcert_spirv::operation::undefined::{Undefined, UndefinedExtent};

impl Settings {
    /// The settings of a dispatch that asks for a subgroup size, or takes the engine's. Gives the
    /// size if it is none.
    pub(crate) fn with_subgroups(self, asked: Option<u32>) -> Result<Self, u32> {
        let subgroup_size = asked.unwrap_or(self.subgroup_size);
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
                let narrow = schedule.is_directed() && schedule.tiles.is_none();
                let wanted = if narrow { 1 } else { self.tile_width };
                Self { tile_width: wanted.next_multiple_of(self.subgroup_size), ..self }
            }
        }
    }
}

impl Registers {
    /// Some scalars of a lane as bits, the first lowest.
    fn bits_of(&self, scalars: &[Scalar], lane: usize) -> u128 {
        scalars.iter().rev().fold(0, |bits, scalar| {
            let word = match scalar {
                Scalar::Word(reg) => self.words[reg.0 as usize][lane],
                Scalar::Mask(reg) => {
                    (self.masks[reg.0 as usize * self.mask_words + lane / 64] >> (lane % 64) & 1)
                        as u32
                }
            };
            bits << 32 | u128::from(word)
        })
    }

    fn write_scalar(&mut self, to: Scalar, values: &[u32]) {
        match to {
            Scalar::Word(reg) => self.write(reg, |out, _| out.copy_from_slice(values)),
            Scalar::Mask(reg) => {
                let mut bits = [0; MASK_WORDS];
                vkcert_spirv::operation::word::pack_bits(
                    &mut bits[..self.mask_words],
                    values,
                    values,
                    |a, _| a & 1 != 0,
                );
                self.write_mask(reg, &bits);
            }
        }
    }
}

impl Machine<'_> {
    /// Lets the race shadows see everything that orders accesses, where barriers of workgroups are
    /// not all.
    pub(super) fn order_exactly(&mut self) {
        let OrderUse::Exact(places) = &self.program.order else { return };
        if !self.monitor.track_races {
            return;
        }
        let invocations = self.program.local_size.iter().product();
        let order = Rc::new(RefCell::new(HappensBefore::new(
            places.clone(),
            invocations,
            self.settings.subgroup_size,
        )));
        let mut kinds: BTreeMap<usize, MemoryKinds> = BTreeMap::new();
        for (one, slot) in self.program.descriptors.iter().zip(&self.memory.slots) {
            let Some(slot) = slot else { continue };
            let kind = match one.kept {
                MemoryClass::Buffer => MemoryKinds::BUFFERS,
                MemoryClass::Image => MemoryKinds::IMAGES,
            };
            let all = kinds.entry(slot.buffer).or_default();
            *all = all.union(kind);
        }
        for (index, store) in self.memory.stores.iter_mut().enumerate() {
            if let Some(shadow) = &mut store.shadow {
                shadow.order_exactly(
                    &order,
                    kinds.get(&index).copied().unwrap_or(MemoryKinds::BUFFERS),
                );
            }
        }
        self.monitor.order = Some(order);
    }

    /// Active lanes of each subgroup wait for each other.
    pub(super) fn subgroup_barrier(&mut self, fences: BarrierFences) {
        let Some(order) = &self.monitor.order else { return };
        let ordered =
            self.monitor.clock.coupled_memory(fences.ordered_memory(self.settings.memory_model));
        let after = self.monitor.clock.advance_time();
        for (lane, members) in
            subgroups(&self.registers.active, self.registers.width, self.settings.subgroup_size)
        {
            let first = self.registers.first_lane + lane;
            order.borrow_mut().subgroup_barrier(
                first,
                members,
                ordered.kinds(),
                fences.control,
                after,
            );
        }
    }

    /// A fence of each active lane.
    pub(super) fn fence(&mut self, fence: Fence) {
        let Some(order) = &self.monitor.order else { return };
        let after = self.monitor.clock.advance_time();
        let mut order = order.borrow_mut();
        self.registers.active.lanes().for_each(|lane| {
            order.execute_fence(self.registers.first_lane + lane as u32, fence, after)
        });
    }

    /// A built-in variable of subgroups, by local index.
    pub(super) fn subgroup_value(&self, what: PerLaneValue, local: u32) -> u32 {
        let size = self.settings.subgroup_size;
        let id = local % size;
        match what {
            PerLaneValue::SubgroupId => local / size,
            PerLaneValue::SubgroupInvocation => id,
            PerLaneValue::SubgroupMask(mask, word) => {
                (mask.bits(id, size) >> (32 * u32::from(word))) as u32
            }
            PerLaneValue::LocalId(_) | PerLaneValue::GlobalId(_) | PerLaneValue::LocalIndex => {
                local
            }
        }
    }

    pub(super) fn subgroups_of_workgroup(&self) -> u32 {
        self.program.local_size.iter().product::<u32>().div_ceil(self.settings.subgroup_size)
    }

    /// The subgroups of the tile that have active lanes: first lane and members.
    pub(super) fn subgroups(&self) -> impl Iterator<Item = (u32, SubgroupMembers)> + use<> {
        subgroups(&self.registers.active, self.registers.width, self.settings.subgroup_size)
    }

    pub(super) fn group(
        &mut self,
        op: GroupOperation,
        to: &[Scalar],
        from: &[Scalar],
        index: Option<Reg>,
        place: u32,
    ) {
        for (word, scalar) in to.iter().enumerate() {
            let mut out = std::mem::take(&mut self.registers.staging);
            out.fill(0);
            let mut undefined = [None, None];
            for (first, members) in self.subgroups() {
                let operands = |id: u32| {
                    let lane = (first + id) as usize;
                    let index = index
                        .map_or(0, |reg| u128::from(self.registers.words[reg.0 as usize][lane]));
                    let (first, second) = from.split_at(op.first_operand_words(from.len()));
                    [
                        self.registers.bits_of(first, lane),
                        index | self.registers.bits_of(second, lane),
                    ]
                };
                op.apply(members, operands, |id, value, why| {
                    let lane = (first + id) as usize;
                    out[lane] = (value >> (32 * word)) as u32;
                    note(&mut undefined, why, lane);
                });
            }
            self.registers.write_scalar(*scalar, &out);
            self.registers.staging = out;
            // Undefined behaviour is told once.
            if word > 0 {
                undefined[UndefinedExtent::Behaviour as usize] = None;
            }
            self.leave(&[*scalar], undefined, place);
        }
    }

    pub(super) fn exchange_values(
        &mut self,
        way: LaneExchange,
        to: &[Scalar],
        from: &[Scalar],
        index: Option<Reg>,
        place: u32,
    ) {
        let mut sources = std::mem::take(&mut self.memory.addresses);
        let undefined = self.sources(way, index, &mut sources);
        for (to, from) in to.iter().zip(from) {
            let mut out = std::mem::take(&mut self.registers.staging);
            let mut unwritten = [0; MASK_WORDS];
            out.fill(0);
            let marks = if self.monitor.track_undefined {
                self.registers.undefined_bits(*from)
            } else {
                [0; MASK_WORDS]
            };
            for lane in self.registers.active.lanes() {
                let source = sources[lane] as usize;
                if source < self.registers.width {
                    out[lane] = self.registers.bits_of(&[*from], source) as u32;
                    unwritten[lane / 64] |=
                        (marks[source / 64] >> (source % 64) & 1) << (lane % 64);
                }
            }
            self.registers.write_scalar(*to, &out);
            self.carry_across(*to, *from, &unwritten, &sources);
            self.registers.staging = out;
        }
        self.memory.addresses = sources;
        for (undefined, lanes) in undefined.into_iter().flatten() {
            self.leave_undefined(to, &lanes, undefined, place);
        }
    }

    /// The lane that each active lane takes its value from; none: a lane outside the tile.
    fn sources(
        &self,
        way: LaneExchange,
        index: Option<Reg>,
        sources: &mut [u32],
    ) -> [Option<(Undefined, LaneMask)>; 2] {
        let mut undefined = [None, None];
        for (first, members) in self.subgroups() {
            let index = |id: u32| {
                index.map_or(0, |reg| self.registers.words[reg.0 as usize][(first + id) as usize])
            };
            for id in members.ids() {
                let lane = (first + id) as usize;
                let common = index(way.index_holder(id, members));
                let differs = way.needs_uniform_index() && index(id) != common;
                let index = if differs { common } else { index(id) };
                let source = way.source_invocation(id, index, members);
                sources[lane] = source.map_or(u32::MAX, |source| first + source);
                let why = source.is_none().then_some(Reason::Source);
                let why = way
                    .oversized_cluster(members.size)
                    .or(differs.then_some(Reason::Index))
                    .or(why);
                note(&mut undefined, why, lane);
            }
        }
        undefined
    }
}

impl SubgroupMask {
    /// The bits of the invocations that stand in this relation to `id` (SPIR-V, built-ins
    /// `SubgroupEqMask` and others).
    fn bits(self, id: u32, size: u32) -> u128 {
        let below = |count: u32| if count >= 128 { u128::MAX } else { (1 << count) - 1 };
        match self {
            SubgroupMask::Equal => 1 << id,
            SubgroupMask::AtLeast => below(size) & !below(id),
            SubgroupMask::Above => below(size) & !below(id + 1),
            SubgroupMask::AtMost => below(id + 1),
            SubgroupMask::Below => below(id),
        }
    }
}

/// Keeps the lanes with undefined results, and the first reason, by extent.
fn note(found: &mut [Option<(Undefined, LaneMask)>; 2], why: Option<Reason>, lane: usize) {
    if let Some(undefined) = why.map(Reason::as_undefined) {
        found[undefined.extent as usize].get_or_insert((undefined, LaneMask::EMPTY)).1.insert(lane);
    }
}

/// The subgroups of a tile that have active lanes: first lane and members.
fn subgroups(
    active: &LaneMask,
    width: usize,
    size: u32,
) -> impl Iterator<Item = (u32, SubgroupMembers)> + use<> {
    let words = active.0;
    (0..width.min(MOST_LANES) as u32).step_by(size as usize).filter_map(move |first| {
        let word = first as usize / 64;
        let low = u128::from(words[word]) >> (first % 64);
        let high = words.get(word + 1).map_or(0, |word| u128::from(*word));
        let active = match size {
            128 => low | high << 64,
            64 => low,
            _ => low & ((1 << size) - 1),
        };
        (active != 0).then_some((first, SubgroupMembers { active, size }))
    })
}
