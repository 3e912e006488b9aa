//! Which bytes of what is bound a dispatch touches, as far as that follows from the numbers that its
//! host gives: specialization, push constants, workgroups, bytes that are bound.
//!
//! Knows: invocations are run one by one on values that are known or not. What memory holds that
//! others see is not known, and neither is what is computed from it.
//! Promises: bytes are told only if an invocation touches them whatever memory holds.
//! [`Touched::All`] is said only if no invocation touches others.
//! Of a sampled image it is told that some texel is read, not which.
//! Does not cover: which texels are sampled, other levels than the first, texel buffers, device addresses, arrays of
//! descriptors and matrices by rows; each leaves open what is touched, with a reason.

mod computation;
mod image;
mod invocation;
mod place;
#[cfg(test)]
mod tests;
mod value;

use super::constants::Constants;
use super::module::{Id, Module};
use super::types::Types;
use invocation::{InvocationIds, InvocationRun};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Spans of one binding that are kept apart before they are joined.
const MOST_UNJOINED: usize = 4_096;

/// A kernel under one specialization, prepared to be run.
#[derive(Debug, Clone)]
pub struct TouchingKernel {
    module: Arc<Module>,
    types: Types,
    constants: Constants,
    /// The function of the entry point.
    entry: Id,
    /// Set and binding of each variable that has them.
    places: BTreeMap<Id, (u32, u32)>,
    /// Variables that hold what the device gives each invocation.
    built_ins: BTreeMap<Id, BuiltIn>,
}

/// What the host gives a dispatch.
#[derive(Debug, Clone)]
pub struct DispatchNumbers<'a> {
    /// First workgroup.
    pub base: [u32; 3],
    /// Workgroups.
    pub groups: [u32; 3],
    /// Invocations of a workgroup.
    pub local_size: [u32; 3],
    /// Bytes of push constants; none for those that are not set.
    pub push_constants: &'a [Option<u8>],
    /// Bytes that are bound, by set and binding.
    pub bound_bytes: &'a BTreeMap<(u32, u32), u64>,
    /// Texels of the first level of images that are bound, in x and y, slices or layers.
    pub bound_images: &'a BTreeMap<(u32, u32), [u32; 3]>,
}

/// How memory is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TouchKind {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read or written by an atomic instruction whose scope holds all that runs on the device:
    /// two of these do not race (Vulkan specification, "Data Race").
    Atomic,
}

/// Whether all that is touched is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touched {
    /// It is.
    All,
    /// More may be touched, for this reason.
    Open(String),
}

/// An image that an invocation samples whatever memory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    /// Set and binding of the image.
    pub image: (u32, u32),
    /// Set and binding of the sampler.
    pub sampler: (u32, u32),
    /// Which level the instruction asks for, before the sampler changes it.
    pub level: SampledLevel,
}

/// A level of a sampled image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SampledLevel {
    /// The first one.
    First,
    /// Some.
    Any,
}

/// What a dispatch touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedBytes {
    /// First byte and the byte behind the last, in ascending order, by set and binding; of images
    /// texels of the first level, numbered row by row, slice by slice, layer by layer.
    pub spans: BTreeMap<(u32, u32, TouchKind), Vec<(u64, u64)>>,
    /// Images of which some texel is read, without which.
    pub samples: BTreeSet<Sample>,
    /// Whether these are all.
    pub extent: Touched,
}

impl TouchedBytes {
    fn nothing() -> Self {
        Self { spans: BTreeMap::new(), samples: BTreeSet::new(), extent: Touched::All }
    }

    fn add(&mut self, place: (u32, u32), kind: TouchKind, span: (u64, u64)) {
        let spans = self.spans.entry((place.0, place.1, kind)).or_default();
        match spans.last_mut() {
            Some(last) if last.0 <= span.0 && span.0 <= last.1 => last.1 = last.1.max(span.1),
            Some(_) | None => spans.push(span),
        }
        if spans.len() > MOST_UNJOINED {
            join(spans);
        }
    }

    /// Takes notice that more may be touched; the first reason is kept.
    fn leave_open(&mut self, reason: String) {
        if self.extent == Touched::All {
            self.extent = Touched::Open(reason);
        }
    }
}

/// Puts spans in order and joins those that meet.
fn join(spans: &mut Vec<(u64, u64)>) {
    spans.sort_unstable();
    spans.dedup_by(|later, earlier| {
        let meets = later.0 <= earlier.1;
        if meets {
            earlier.1 = earlier.1.max(later.1);
        }
        meets
    });
}

impl TouchingKernel {
    /// Prepares a kernel; in words why it could not be.
    pub fn new(
        module: Arc<Module>,
        entry: &str,
        specialization: &BTreeMap<u32, u64>,
    ) -> Result<Self, String> {
        let types = Types::of_module(&module);
        let constants = Constants::evaluate(&module, &types, specialization)
            .map_err(|error| error.to_string())?;
        let entry = module.entry_point(entry).map(|entry| entry.function);
        let entry = entry.ok_or_else(|| "the module has no such entry point".to_owned())?;
        let (mut places, mut built_ins) = (BTreeMap::new(), BTreeMap::new());
        let variables = module.instructions.iter().filter(|made| made.op == Op::Variable);
        for variable in variables.filter_map(|made| made.result) {
            let number = |decoration: Decoration| {
                let decorated = module.decoration(variable, decoration)?;
                match decorated.operands.first()? {
                    Operand::LiteralBit32(number) => Some(*number),
                    _ => None,
                }
            };
            let set = number(Decoration::DescriptorSet);
            if let (Some(set), Some(binding)) = (set, number(Decoration::Binding)) {
                places.insert(variable, (set, binding));
            }
            let decorated = module.decoration(variable, Decoration::BuiltIn);
            if let Some(Operand::BuiltIn(built_in)) =
                decorated.and_then(|decorated| decorated.operands.first())
            {
                built_ins.insert(variable, *built_in);
            }
        }
        Ok(Self { module, types, constants, entry, places, built_ins })
    }

    /// What a dispatch touches. Instructions are counted down from `steps`; where they do not
    /// suffice, the rest is open.
    pub fn touched_bytes(&self, numbers: &DispatchNumbers<'_>, steps: &mut u64) -> TouchedBytes {
        let mut touched = TouchedBytes::nothing();
        for ids in invocations(numbers) {
            if *steps == 0 {
                touched.leave_open("it has too many invocations to run each".to_owned());
                break;
            }
            let mut run = InvocationRun::new(self, numbers, ids, steps);
            if let Err(reason) = run.run(&mut touched) {
                touched.leave_open(reason);
            }
        }
        touched.spans.values_mut().for_each(join);
        touched
    }
}

/// All invocations; those of the last workgroup come second, so that both ends are known early.
fn invocations(numbers: &DispatchNumbers<'_>) -> impl Iterator<Item = InvocationIds> {
    let (base, groups, local_size) = (numbers.base, numbers.groups, numbers.local_size);
    let group_count = count_of(groups);
    let last = (group_count > 1).then(|| group_count - 1);
    let first = (group_count > 0).then_some(0);
    let others = 1..group_count.saturating_sub(1);
    let in_order = first.into_iter().chain(last).chain(others);
    in_order.flat_map(move |group| {
        (0..count_of(local_size)).map(move |invocation| {
            let group_position = position_in(groups, group);
            let local = position_in(local_size, invocation);
            let workgroup = [0, 1, 2].map(|axis| base[axis].wrapping_add(group_position[axis]));
            InvocationIds { workgroup, local, local_index: invocation as u32 }
        })
    })
}

fn count_of(size: [u32; 3]) -> u64 {
    size.iter().fold(1, |product: u64, number| product.saturating_mul(u64::from(*number)))
}

/// Where the element of a number stands, x first.
fn position_in(size: [u32; 3], number: u64) -> [u32; 3] {
    let [width, height] = [size[0], size[1]].map(|length| u64::from(length.max(1)));
    [number % width, number / width % height, number / width / height].map(|part| part as u32)
}
