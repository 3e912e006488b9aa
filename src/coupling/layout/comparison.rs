//! A struct of the host against a block of the kernel, member by member.
//!
//! Knows: both sides with the places of everything in them, and which members the kernel uses.
//! Promises: members are compared by name, numbers by place and type; strides, counts and the order
//! of matrices are compared where both sides have one. What differs is a fault, what one side does
//! not say is an open question, and both name the member (`light[0].place.x`). How numbers are
//! grouped does not count: `vec3` agrees with `float[3]` and with a struct of three floats.
//! Does not cover: elements of an array one by one; the first stands for all.

use super::kernel_block::{KernelContents, KernelMember, NumberShape, Numbers};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::block_layout::MatrixOrder;
use vkcert_model::place::Place;
use vkcert_model::requirement::{HostContents, HostType, PlacedMember, PlacedStruct};
use vkcert_spirv::interface::UsedMembers;

/// More numbers than any matrix has, and padding beside them.
const MOST_NUMBERS: usize = 256;

/// A difference in words, with the place of the host's member where it has one.
pub(super) struct LayoutFault {
    pub words: String,
    pub place: Option<Place>,
}

/// What is compared at one place of both sides.
#[derive(Clone)]
struct Site<'a> {
    /// `light[0].place`
    path: String,
    /// Bytes from the start of the block on either side.
    kernel_start: u64,
    host_start: u64,
    /// Numbers of members from the block inwards.
    numbers: Vec<u32>,
    /// The host's member that the site is in.
    member: Option<&'a PlacedMember>,
}

/// What a comparison came to.
pub(super) struct Comparison<'a> {
    /// What the host's side is as a whole, to tell what it has at an offset.
    host: &'a PlacedStruct,
    uses: &'a UsedMembers,
    pub faults: Vec<LayoutFault>,
    /// What cannot be compared, in words.
    pub open_questions: Vec<String>,
    /// Members that the kernel does not use and that are not stated as padding.
    pub unused: Vec<String>,
}

impl<'a> Comparison<'a> {
    /// Compares all members of a block with a struct that stands at its start.
    pub(super) fn of_block(
        host: &'a PlacedStruct,
        kernel: &[KernelMember],
        uses: &'a UsedMembers,
    ) -> Self {
        let mut comparison = Self::new(host, uses);
        let start = Site {
            path: String::new(),
            kernel_start: 0,
            host_start: 0,
            numbers: Vec::new(),
            member: None,
        };
        comparison.compare_members(&start, kernel, host);
        comparison
    }

    /// Compares one element of the array that a block begins with; `element_path` is what messages
    /// call it.
    pub(super) fn of_element(
        (whole, host): (&'a PlacedStruct, &'a HostContents),
        kernel: &KernelContents,
        element_path: &str,
        uses: &'a UsedMembers,
    ) -> Self {
        let mut comparison = Self::new(whole, uses);
        let site = Site {
            path: element_path.to_owned(),
            kernel_start: 0,
            host_start: 0,
            numbers: vec![0],
            member: None,
        };
        comparison.compare_contents(&site, kernel, host);
        comparison
    }

    fn new(host: &'a PlacedStruct, uses: &'a UsedMembers) -> Self {
        let (faults, open_questions, unused) = (Vec::new(), Vec::new(), Vec::new());
        Self { host, uses, faults, open_questions, unused }
    }

    fn add_fault(&mut self, site: &Site<'_>, words: String) {
        let place = site.member.and_then(|member| member.place.clone());
        self.faults.push(LayoutFault { words, place });
    }

    fn compare_members(
        &mut self,
        site: &Site<'a>,
        kernel_members: &[KernelMember],
        host: &'a PlacedStruct,
    ) {
        let mut host_members = BTreeMap::new();
        for member in &host.members {
            host_members.entry(member.name.as_str()).or_insert(member);
        }
        for (number, member) in (0..).zip(kernel_members) {
            let member_site = Site {
                path: path_within(&site.path, &member.name),
                numbers: site.numbers.iter().copied().chain([number]).collect(),
                ..site.clone()
            };
            let host_member = host_members.get(member.name.as_str()).copied();
            self.compare_member(member_site, member, host_member);
        }
        let kernel_names: BTreeSet<&str> =
            kernel_members.iter().map(|member| member.name.as_str()).collect();
        let host_alone =
            host.members.iter().filter(|member| !kernel_names.contains(member.name.as_str()));
        for member in host_alone {
            self.compare_padding(site, kernel_members, member);
        }
    }

    /// A member of the kernel; `site` is still that of the struct but for the path.
    fn compare_member(
        &mut self,
        mut site: Site<'a>,
        member: &KernelMember,
        host_member: Option<&'a PlacedMember>,
    ) {
        let path = site.path.clone();
        let Some(offset) = member.offset else {
            self.open_questions.push(format!("{path} has no offset in the module"));
            return;
        };
        let kernel_offset = site.kernel_start + offset;
        let Some(host_member) = host_member else {
            if let KernelContents::Unsupported(type_name) = &member.contents {
                self.open_questions.push(format!("{path} is a {type_name}"));
                return;
            }
            let words = format!(
                "the kernel reads {path} at offset {kernel_offset}, the host's struct has no such member"
            );
            self.add_fault(&site, words);
            return;
        };
        site.member = Some(host_member);
        let host_offset = site.host_start.saturating_add(host_member.offset);
        if host_member.offset != offset {
            let name_there = self.host_path_at(kernel_offset);
            let words = format!(
                "the kernel reads {path} at offset {kernel_offset}, where the host stores {}; the host stores {path} at {host_offset}",
                name_there.as_deref().unwrap_or("nothing")
            );
            self.add_fault(&site, words);
        }
        (site.kernel_start, site.host_start) = (kernel_offset, host_offset);
        if !host_member.padding && !self.uses.uses(&site.numbers) {
            self.unused.push(path);
        }
        self.compare_contents(&site, &member.contents, &host_member.contents);
    }

    /// A member that the host alone has.
    fn compare_padding(
        &mut self,
        site: &Site<'a>,
        kernel_members: &[KernelMember],
        host_member: &'a PlacedMember,
    ) {
        let path = path_within(&site.path, &host_member.name);
        let site = Site { member: Some(host_member), ..site.clone() };
        if let HostContents::Unsupported { kind, .. } = &host_member.contents {
            let words =
                format!("the host's member {path} is {kind}, and the kernel has no such member");
            return self.open_questions.push(words);
        }
        if !host_member.padding {
            let words = format!("the host's member {path} is no member of the kernel's block");
            return self.add_fault(&site, words);
        }
        let (start, end) =
            (host_member.offset, host_member.offset.saturating_add(host_member.contents.size()));
        let overlapped_member = kernel_members.iter().find(|member| {
            let Some(member_start) = member.offset else { return false };
            let extent = member.contents.extent().unwrap_or(u64::MAX);
            member_start < end && start < member_start.saturating_add(extent)
        });
        if let Some(member) = overlapped_member {
            let words = format!(
                "the interface states that {path} is padding, where the kernel has {}",
                path_within(&site.path, &member.name)
            );
            self.add_fault(&site, words);
        }
    }

    fn compare_contents(
        &mut self,
        site: &Site<'a>,
        kernel: &KernelContents,
        host: &'a HostContents,
    ) {
        let path = &site.path;
        match (kernel, host) {
            (KernelContents::Unsupported(type_name), _) => {
                self.open_questions.push(format!("{path} is a {type_name}"));
            }
            (_, HostContents::Unsupported { kind, .. }) => {
                self.open_questions.push(format!("{path} is {kind} on the host"));
            }
            (KernelContents::Numbers(numbers), _) => self.compare_numbers(site, numbers, host),
            (KernelContents::Structure(members), HostContents::Structure(structure)) => {
                self.compare_members(site, members, structure);
            }
            (
                KernelContents::Array { length, stride, element },
                HostContents::Array { count, stride: host_stride, element: host_element },
            ) => {
                let is_flat = matches!(**host_element, HostContents::Scalar(_))
                    && matches!(&**element, KernelContents::Numbers(numbers) if numbers.places().len() > 1);
                if is_flat && *host_stride > 0 && stride % host_stride == 0 {
                    let total = count.saturating_mul(*host_stride);
                    self.compare_count(site, *length, total / (*stride).max(1));
                    self.compare_numbers_in_list(site, element, host);
                    return;
                }
                self.compare_count(site, *length, *count);
                if stride != host_stride {
                    let words = format!(
                        "the elements of {path} lie {host_stride} bytes apart on the host and {stride} in the kernel"
                    );
                    self.add_fault(site, words);
                }
                let element_site = Site { path: format!("{path}[0]"), ..site.clone() };
                self.compare_contents(&element_site, element, host_element);
            }
            (KernelContents::Structure(_) | KernelContents::Array { .. }, _) => {
                let (host_kind, kernel_kind) = (host_kind(host), kernel_kind(kernel));
                self.add_fault(
                    site,
                    format!("{path} is {host_kind} on the host and {kernel_kind} in the kernel"),
                );
            }
        }
    }

    fn compare_count(&mut self, site: &Site<'_>, kernel_length: Option<u64>, host_count: u64) {
        if let Some(length) = kernel_length
            && length != host_count
        {
            let words = format!(
                "{} has {host_count} elements on the host and {length} in the kernel",
                site.path
            );
            self.add_fault(site, words);
        }
    }

    /// Vectors or matrices of the kernel whose numbers the host keeps in one list.
    fn compare_numbers_in_list(
        &mut self,
        site: &Site<'a>,
        element: &KernelContents,
        host_list: &'a HostContents,
    ) {
        if let (KernelContents::Numbers(numbers), HostContents::Array { element: number, .. }) =
            (element, host_list)
            && let HostContents::Scalar(host_type) = **number
        {
            self.compare_type(site, host_type, numbers.scalar);
            self.compare_order(site, numbers);
        }
    }

    fn compare_type(&mut self, site: &Site<'_>, host_type: HostType, kernel_type: HostType) {
        if host_type != kernel_type {
            let words = format!(
                "{} is {} on the host and {} in the kernel",
                site.path,
                host_type.name(),
                kernel_type.name()
            );
            self.add_fault(site, words);
        }
    }

    fn compare_numbers(&mut self, site: &Site<'a>, numbers: &Numbers, host: &'a HostContents) {
        let path = &site.path;
        let mut walk = NumberWalk::default();
        if let Err(stop) = walk.gather(host, 0) {
            match stop {
                GatherStop::TooMany => {
                    let words = format!("{path} has more numbers on the host than in the kernel");
                    self.add_fault(site, words);
                }
                GatherStop::Unsupported(kind) => {
                    self.open_questions.push(format!("{path} holds {kind} on the host"));
                }
            }
            return;
        }
        let host_numbers = walk.numbers;
        self.compare_order(site, numbers);
        let kernel_places = numbers.places();
        let missing_place = kernel_places
            .iter()
            .find(|(offset, _)| !host_numbers.iter().any(|(host_offset, _)| host_offset == offset));
        let lacks_number = missing_place.is_some();
        if let Some((offset, name)) = missing_place {
            let words = format!(
                "the kernel reads {path}{name} {offset} bytes behind the start of {path}, where the host has no number that begins there"
            );
            self.add_fault(site, words);
        }
        let other_type = host_numbers.iter().find(|(offset, host_type)| {
            *host_type != numbers.scalar && kernel_places.iter().any(|(place, _)| place == offset)
        });
        if let Some((_, host_type)) = other_type {
            self.compare_type(site, *host_type, numbers.scalar);
        }
        let host_count = host_numbers.len();
        let extra_count =
            host_numbers.iter().filter(|(offset, _)| !is_part_of(numbers, *offset)).count();
        if extra_count > 0 && !lacks_number {
            let words = format!(
                "{path} has {host_count} numbers on the host and {} in the kernel",
                kernel_places.len()
            );
            self.add_fault(site, words);
        }
    }

    /// What of a matrix lies one behind the other: bytes do not tell it.
    fn compare_order(&mut self, site: &Site<'_>, numbers: &Numbers) {
        let NumberShape::Matrix { order, .. } = numbers.shape else { return };
        let path = &site.path;
        match site.member.and_then(|member| member.order) {
            Some(host_order) if host_order == order => {}
            Some(host_order) => {
                let (host_words, kernel_words) = (order_words(host_order), order_words(order));
                self.add_fault(
                    site,
                    format!("{path} is stored by {host_words} on the host and read by {kernel_words} in the kernel"),
                );
            }
            None => self.open_questions.push(format!(
                "{path} is a matrix that the kernel reads by {}; the interface does not state the host's `order`",
                order_words(order)
            )),
        }
    }

    /// The host's innermost member at an offset of the whole, as a path.
    fn host_path_at(&self, offset: u64) -> Option<String> {
        path_at("", &self.host.members, offset)
    }
}

fn path_within(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Whether a number of the host at this offset is one of the kernel's, or lies where the kernel's
/// own layout of a matrix has padding.
fn is_part_of(numbers: &Numbers, offset: u64) -> bool {
    match numbers.shape {
        NumberShape::Scalar | NumberShape::Vector { .. } => {
            numbers.places().iter().any(|(place, _)| *place == offset)
        }
        NumberShape::Matrix { vectors, stride, .. } => {
            offset < u64::from(vectors) * u64::from(stride)
        }
    }
}

fn order_words(order: MatrixOrder) -> &'static str {
    match order {
        MatrixOrder::Columns => "columns",
        MatrixOrder::Rows => "rows",
    }
}

fn host_kind(contents: &HostContents) -> &'static str {
    match contents {
        HostContents::Scalar(scalar_type) => scalar_type.name(),
        HostContents::Array { .. } => "an array",
        HostContents::Structure(_) => "a struct",
        HostContents::Unsupported { .. } => "unsupported",
    }
}

fn kernel_kind(contents: &KernelContents) -> &'static str {
    match contents {
        KernelContents::Numbers(_) => "a number",
        KernelContents::Array { .. } => "an array",
        KernelContents::Structure(_) => "a struct",
        KernelContents::Unsupported(_) => "unsupported",
    }
}

/// Why not all numbers were gathered.
enum GatherStop {
    TooMany,
    Unsupported(String),
}

/// Every number of a member with its offset.
#[derive(Default)]
struct NumberWalk {
    numbers: Vec<(u64, HostType)>,
    /// Parts looked at: arrays of nothing have no numbers to count.
    visits: usize,
}

impl NumberWalk {
    fn gather(&mut self, contents: &HostContents, start: u64) -> Result<(), GatherStop> {
        self.visits += 1;
        if self.visits > 4 * MOST_NUMBERS {
            return Err(GatherStop::TooMany);
        }
        match contents {
            HostContents::Scalar(scalar_type) => {
                self.numbers.push((start, *scalar_type));
                Ok(())
            }
            HostContents::Array { count, stride, element } => (0..*count).try_for_each(|index| {
                self.gather(element, start.saturating_add(index.saturating_mul(*stride)))
            }),
            HostContents::Structure(structure) => {
                structure.members.iter().filter(|member| !member.padding).try_for_each(|member| {
                    self.gather(&member.contents, start.saturating_add(member.offset))
                })
            }
            HostContents::Unsupported { kind, .. } => Err(GatherStop::Unsupported(kind.clone())),
        }
    }
}

/// Whether two layouts have the same numbers in the same places, however they are grouped.
pub(crate) fn has_same_numbers(left: &HostContents, right: &HostContents) -> bool {
    let (mut left_walk, mut right_walk) = (NumberWalk::default(), NumberWalk::default());
    left_walk.gather(left, 0).is_ok()
        && right_walk.gather(right, 0).is_ok()
        && left_walk.numbers == right_walk.numbers
}

/// The innermost member that begins at an offset or holds it.
fn path_at(path: &str, members: &[PlacedMember], offset: u64) -> Option<String> {
    let holds = |member: &&PlacedMember| {
        member.offset <= offset && offset - member.offset < member.contents.size()
    };
    let member = members.iter().find(holds)?;
    let member_path = path_within(path, &member.name);
    Some(path_inside(member_path, &member.contents, offset - member.offset))
}

fn path_inside(path: String, contents: &HostContents, offset: u64) -> String {
    match contents {
        HostContents::Scalar(_) | HostContents::Unsupported { .. } => path,
        HostContents::Array { stride, element, .. } => {
            let (index, rest) = (offset / (*stride).max(1), offset % (*stride).max(1));
            path_inside(format!("{path}[{index}]"), element, rest)
        }
        HostContents::Structure(structure) => {
            path_at(&path, &structure.members, offset).unwrap_or(path)
        }
    }
}
