//! The numbers that a part of either side consists of, however they are grouped.
//!
//! Knows: where each number of the host's structs and of the kernel's blocks lies.
//! Promises: a run has no gaps; padding of the host is no number.
//! Does not cover: what belongs to what (`comparison`).

use super::kernel_block::{KernelContents, NumberShape, Numbers};
use vkcert_model::requirement::{HostContents, HostType, PlacedStruct};

/// More numbers than any matrix has, and padding beside them.
pub(super) const MOST_NUMBERS: usize = 256;

/// Numbers of one type that lie one behind the other without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberRun {
    pub number_type: HostType,
    pub count: u64,
}

impl NumberRun {
    fn bytes(self) -> u64 {
        self.count.saturating_mul(u64::from(self.number_type.size_in_bytes()))
    }

    /// Elements of such a run each; none where they leave gaps.
    pub(super) fn repeated(self, count: u64, stride: u64) -> Option<Self> {
        (stride == self.bytes()).then(|| Self { count: self.count.saturating_mul(count), ..self })
    }

    /// Members of a struct one behind the other: the offset of each and what it is.
    fn of_members(members: impl Iterator<Item = (u64, Option<Self>)>) -> Option<Self> {
        let mut whole: Option<Self> = None;
        for (offset, run) in members {
            let run = run?;
            let (end, count) = whole.map_or((0, 0), |whole| (whole.bytes(), whole.count));
            let is_same_type = whole.is_none_or(|whole| whole.number_type == run.number_type);
            if offset != end || !is_same_type {
                return None;
            }
            whole = Some(Self { count: count.saturating_add(run.count), ..run });
        }
        whole
    }

    /// What the host has, if it is a run up to its last byte.
    pub(super) fn of_host(contents: &HostContents) -> Option<Self> {
        match contents {
            HostContents::Scalar(number_type) => Some(Self { number_type: *number_type, count: 1 }),
            HostContents::Array { count, stride, element } => {
                Self::of_host(element)?.repeated(*count, *stride)
            }
            HostContents::Structure(structure) => {
                let members = structure.members.iter().map(|member| {
                    let contents = Some(&member.contents).filter(|_| !member.padding);
                    (member.offset, contents.and_then(Self::of_host))
                });
                Self::of_members(members).filter(|run| run.bytes() == structure.size)
            }
            HostContents::FlexibleArray { .. } | HostContents::Unsupported { .. } => None,
        }
    }

    /// What the kernel has, if it is a run up to its last number.
    pub(super) fn of_kernel(contents: &KernelContents) -> Option<Self> {
        match contents {
            KernelContents::Numbers(Numbers { scalar, shape }) => {
                let run = |count: u32| Self { number_type: *scalar, count: u64::from(count) };
                match *shape {
                    NumberShape::Scalar => Some(run(1)),
                    NumberShape::Vector { components } => Some(run(components)),
                    NumberShape::Matrix { vectors, components, stride, .. } => {
                        run(components).repeated(u64::from(vectors), u64::from(stride))
                    }
                }
            }
            KernelContents::Array { length, stride, element } => {
                Self::of_kernel(element)?.repeated((*length)?, *stride)
            }
            KernelContents::Structure(members) => {
                let placed = members.iter().map(|member| {
                    let run = Self::of_kernel(&member.contents);
                    (member.offset.unwrap_or(u64::MAX), run)
                });
                Self::of_members(placed)
            }
            KernelContents::Unsupported(_) => None,
        }
    }
}

/// The places of all numbers of the kernel with what they are called; none of what has too many,
/// or other parts.
pub(super) fn kernel_places(contents: &KernelContents) -> Option<Vec<(u64, String)>> {
    match contents {
        KernelContents::Numbers(numbers) => Some(numbers.places()),
        KernelContents::Array { length, stride, element } => {
            array_places((*length)?, *stride, element)
        }
        KernelContents::Structure(_) | KernelContents::Unsupported(_) => None,
    }
}

/// The same of an array.
pub(super) fn array_places(
    length: u64,
    stride: u64,
    element: &KernelContents,
) -> Option<Vec<(u64, String)>> {
    let element_places = kernel_places(element)?;
    if length.checked_mul(element_places.len() as u64)? > MOST_NUMBERS as u64 {
        return None;
    }
    let mut places = Vec::new();
    for index in 0..length {
        let start = index.checked_mul(stride)?;
        let inner = element_places.iter();
        places.extend(inner.map(|(offset, name)| (start + offset, format!("[{index}]{name}"))));
    }
    Some(places)
}

/// `1 number`, `2 numbers`
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A number of the host.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HostNumber<'a> {
    pub offset: u64,
    pub number_type: HostType,
    /// The member that is this number alone.
    pub name: Option<&'a str>,
}

/// Why not all numbers were gathered.
pub(super) enum GatherStop {
    TooMany,
    Unsupported(String),
}

/// Every number of a part of the host, padding left out.
pub(super) fn host_numbers(contents: &HostContents) -> Result<Vec<HostNumber<'_>>, GatherStop> {
    let mut walk = NumberWalk::default();
    walk.gather(contents, 0, None)?;
    Ok(walk.numbers)
}

#[derive(Default)]
struct NumberWalk<'a> {
    numbers: Vec<HostNumber<'a>>,
    /// Parts looked at: arrays of nothing have no numbers to count.
    visits: usize,
}

impl<'a> NumberWalk<'a> {
    fn gather(
        &mut self,
        contents: &'a HostContents,
        start: u64,
        name: Option<&'a str>,
    ) -> Result<(), GatherStop> {
        self.visits += 1;
        if self.visits > 4 * MOST_NUMBERS {
            return Err(GatherStop::TooMany);
        }
        match contents {
            HostContents::Scalar(number_type) => {
                self.numbers.push(HostNumber { offset: start, number_type: *number_type, name });
                Ok(())
            }
            HostContents::Array { count, stride, element } => (0..*count).try_for_each(|index| {
                self.gather(element, start.saturating_add(index.saturating_mul(*stride)), None)
            }),
            HostContents::Structure(structure) => {
                structure.members.iter().filter(|member| !member.padding).try_for_each(|member| {
                    let member_start = start.saturating_add(member.offset);
                    self.gather(&member.contents, member_start, Some(&member.name))
                })
            }
            HostContents::FlexibleArray { .. } => {
                Err(GatherStop::Unsupported("a flexible array".to_owned()))
            }
            HostContents::Unsupported { kind, .. } => Err(GatherStop::Unsupported(kind.clone())),
        }
    }
}

/// Whether two layouts have the same numbers in the same places, however they are grouped.
pub(crate) fn has_same_numbers(left: &HostContents, right: &HostContents) -> bool {
    let places = |contents| {
        let numbers = host_numbers(contents).ok()?.into_iter();
        Some(numbers.map(|number| (number.offset, number.number_type)).collect::<Vec<_>>())
    };
    places(left).is_some_and(|left| places(right).is_some_and(|right| left == right))
}

/// What a struct holds that has one member and nothing in front of it, such as `std::array`.
pub(super) fn without_wrappers(contents: &HostContents) -> &HostContents {
    match contents {
        HostContents::Structure(PlacedStruct { members, .. }) => match members.as_slice() {
            [member] if member.offset == 0 && !member.padding => without_wrappers(&member.contents),
            _ => contents,
        },
        HostContents::Scalar(_)
        | HostContents::Array { .. }
        | HostContents::FlexibleArray { .. }
        | HostContents::Unsupported { .. } => contents,
    }
}
