//! Loads and stores of numbers of one byte or two, byte by byte.

use super::addressing::{Addressed, Direction};
use super::clash::Clash;
use super::races::moment;
use super::state::Machine;
use crate::ir::atomic::Touch;
use crate::ir::lane_mask::MASK_WORDS;
use crate::ir::{Access, Root, Scalar};
use vkcert_model::random::mix_bits;

impl Machine<'_> {
    /// Reads numbers of any size, lane by lane.
    pub(super) fn load_bytes(
        &mut self,
        access: &Access,
        found: &Addressed,
        to: &[Scalar],
        place: u32,
    ) {
        for ((component, bytes), scalar) in
            access.components.iter().zip(access.sizes.iter()).zip(to)
        {
            let mut out = std::mem::take(&mut self.registers.staging);
            out.fill(0);
            let mut undefined = [0; MASK_WORDS];
            for lane in found.lanes.lanes() {
                let byte = self.memory.addresses[lane].wrapping_add(*component);
                if byte >= found.limit || found.limit - byte < *bytes {
                    self.report_range(access, lane, byte, found.limit, place);
                    continue;
                }
                let first = 4 * found.first + byte as usize;
                let store = self.memory.store_of(access.root);
                for (index, at) in (first..first + *bytes as usize).enumerate() {
                    out[lane] |= (store.words[at / 4] >> (at % 4 * 8) & 0xff) << (8 * index);
                    let part = at as u32 % 4;
                    if store.is_part_undefined(at / 4, part..part + 1) {
                        undefined[lane / 64] |= 1 << (lane % 64);
                    }
                }
                let values = [u128::from(out[lane]); 2];
                self.touch_part(
                    access.root,
                    lane,
                    first..first + *bytes as usize,
                    (Touch::Read, values),
                    place,
                );
                self.follow_part(access.root, lane, first / 4);
            }
            self.report_races(access, place);
            self.watch_read(access.root, &found.lanes, &out, place, *component);
            self.registers.write_words(*scalar, &out);
            self.set_undefined(*scalar, &undefined);
            self.registers.staging = out;
            self.pass_origins(
                Direction::Load,
                *scalar,
                (access, &undefined),
                found,
                (*component, *bytes),
            );
        }
    }

    /// Writes numbers of any size, lane by lane.
    pub(super) fn store_bytes(
        &mut self,
        access: &Access,
        found: &Addressed,
        from: &[Scalar],
        place: u32,
    ) {
        for ((component, bytes), scalar) in
            access.components.iter().zip(access.sizes.iter()).zip(from)
        {
            let undefined = if self.monitor.track_undefined {
                self.registers.undefined_bits(*scalar)
            } else {
                [0; MASK_WORDS]
            };
            for lane in found.lanes.lanes() {
                let byte = self.memory.addresses[lane].wrapping_add(*component);
                if byte >= found.limit || found.limit - byte < *bytes {
                    self.report_range(access, lane, byte, found.limit, place);
                    continue;
                }
                let first = 4 * found.first + byte as usize;
                let value = self.registers.word_of(*scalar, lane);
                let store = self.memory.store_of(access.root);
                let old = |at: usize| store.words[at / 4] >> (at % 4 * 8) & 0xff;
                let new = |index: usize| value >> (8 * index) & 0xff;
                let places = first..first + *bytes as usize;
                let before = places
                    .clone()
                    .enumerate()
                    .fold(0, |all, (index, at)| all | old(at) << (8 * index));
                let after = (0..places.len()).fold(0, |all, index| all | new(index) << (8 * index));
                let values = [before, after].map(u128::from);
                self.touch_part(access.root, lane, places.clone(), (Touch::Write, values), place);
                self.watch_change(access.root, before != after);
                let is_undefined = undefined[lane / 64] >> (lane % 64) & 1 == 1;
                // An undefined value written to a buffer was reported where it was written.
                let defined = !is_undefined || access.root.is_buffer();
                let path = self.path(lane);
                let Some(store) = self.memory.store_of_mut(access.root) else { continue };
                if let (Some(paths), Some(path)) = (&mut store.paths, path) {
                    // Others may have stored the rest of the word.
                    paths[first / 4] = mix_bits(paths[first / 4] ^ path);
                }
                for (index, at) in places.enumerate() {
                    let (shift, part) = (at % 4 * 8, at as u32 % 4);
                    store.words[at / 4] =
                        (store.words[at / 4] & !(0xff << shift)) | new(index) << shift;
                    store.define_part(at / 4, part..part + 1, defined);
                }
            }
            self.report_races(access, place);
            self.pass_origins(
                Direction::Store,
                *scalar,
                (access, &undefined),
                found,
                (*component, *bytes),
            );
        }
    }

    /// Notes an access of a lane to some bytes of a store.
    fn touch_part(
        &mut self,
        root: Root,
        lane: usize,
        bytes: std::ops::Range<usize>,
        (touch, values): (Touch, [u128; 2]),
        place: u32,
    ) {
        if self.monitor.marked
            && let Some(marks) =
                self.memory.store_of_mut(root).and_then(|store| store.marks.as_mut())
        {
            marks.touch(touch, bytes.start, bytes.len());
        }
        self.note_user(root, lane, bytes.clone(), touch, place);
        if !self.monitor.track_races {
            return;
        }
        let (clock, local) = (self.monitor.clock, self.registers.first_lane + lane as u32);
        let mut races = std::mem::take(&mut self.monitor.races);
        if let Some(shadow) = self.memory.store_of_mut(root).and_then(|store| store.shadow.as_mut())
        {
            let now = moment(&clock, root, local, place);
            let (first, length) = (bytes.start, bytes.len());
            shadow.touch_bytes(first, length, touch, &now, values, |earlier| {
                races.push(Clash::new(earlier, (local, touch), (values, length as u32)));
            });
        }
        self.monitor.races = races;
    }
}
