//! A struct of the host against a block of the kernel, member by member.
//!
//! Knows: both sides with the places of everything in them, and which members the kernel uses.
//! Promises: members are compared by name, numbers by place and type; strides, counts and the order
//! of matrices are compared where both sides have one. What differs is a fault, what one side does
//! not say is an open question, and both name the member (`light[0].place.x`). How numbers are
//! grouped does not count: `vec3` agrees with `float[3]` and with a struct of three floats.
//! Does not cover: elements of an array one by one; the first stands for all.

use super::arrays::KernelArray;
use super::kernel_block::{KernelContents, KernelMember};
use super::number_list::{HostNumber, counted, host_numbers, kernel_places, without_wrappers};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::place::Place;
use vkcert_model::requirement::{HostContents, HostType, PlacedMember, PlacedStruct};
use vkcert_spirv::interface::UsedMembers;

/// A difference in words, with the place of the host's member where it has one.
pub(super) struct LayoutFault {
    pub words: String,
    pub place: Option<Place>,
    /// The number of the kernel's member that it is at, among those of the block.
    pub kernel_member: Option<u32>,
}

/// What is compared at one place of both sides.
#[derive(Clone)]
pub(super) struct Site<'a> {
    /// `light[0].place`
    pub path: String,
    /// Bytes from the start of the block on either side.
    kernel_start: u64,
    host_start: u64,
    /// Numbers of members from the block inwards.
    numbers: Vec<u32>,
    /// The host's member that the site is in.
    pub member: Option<&'a PlacedMember>,
}

impl Site<'_> {
    pub(super) fn first_element(&self) -> Self {
        Self { path: format!("{}[0]", self.path), ..self.clone() }
    }
}

/// What a comparison came to.
pub(super) struct Comparison<'a> {
    /// What the host's side is as a whole, to tell what it has at an offset.
    host: &'a PlacedStruct,
    uses: &'a UsedMembers,
    pub faults: Vec<LayoutFault>,
    /// What cannot be compared, in words.
    pub open_questions: Vec<String>,
    /// Lists of the host behind whose end the kernel may go on, in words: questions that are open
    /// unless the buffer ends there, too.
    pub ended_lists: Vec<String>,
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

    /// Compares the array that a block begins with; `whole` is what the host has at its start.
    pub(super) fn of_array(
        (whole, host): (&'a PlacedStruct, &'a HostContents),
        kernel: KernelArray<'_>,
        array_name: &str,
        uses: &'a UsedMembers,
    ) -> Self {
        let mut comparison = Self::new(whole, uses);
        let site = Site {
            path: array_name.to_owned(),
            kernel_start: 0,
            host_start: 0,
            numbers: vec![0],
            member: None,
        };
        comparison.compare_array(&site, kernel, host);
        comparison
    }

    fn new(host: &'a PlacedStruct, uses: &'a UsedMembers) -> Self {
        let (faults, unused) = (Vec::new(), Vec::new());
        let (open_questions, ended_lists) = (Vec::new(), Vec::new());
        Self { host, uses, faults, open_questions, ended_lists, unused }
    }

    pub(super) fn add_fault(&mut self, site: &Site<'_>, words: String) {
        let place = site.member.and_then(|member| member.place.clone());
        let kernel_member = site.numbers.first().copied();
        self.faults.push(LayoutFault { words, place, kernel_member });
    }

    /// The host has a number of elements where the kernel has as many as there is room for.
    pub(super) fn add_ended_list(&mut self, site: &Site<'_>, count: u64) {
        if self.uses.uses(&site.numbers) {
            self.ended_lists.push(format!(
                "what the host stores behind its {} of {}, which has no length in the kernel, is not stated",
                counted(count, "element"),
                site.path
            ));
        }
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
            let is_open_ended =
                matches!(member.contents, KernelContents::Array { length: None, .. });
            if is_open_ended && kernel_offset >= self.host.size {
                // The struct begins the buffer; of what follows it says nothing.
                if self.uses.uses(&site.numbers) {
                    self.open_questions.push(format!(
                        "what the host stores behind the {} of its struct, where the kernel has {path}, is not stated",
                        counted(self.host.size, "byte")
                    ));
                }
                return;
            }
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
        if host_member.padding {
            self.compare_read_of_padding(&site);
        } else if !self.uses.uses(&site.numbers) {
            self.unused.push(path);
        }
        self.compare_contents(&site, &member.contents, &host_member.contents);
    }

    /// A member that is stated to be there for its bytes alone, and that the kernel has too.
    fn compare_read_of_padding(&mut self, site: &Site<'_>) {
        let path = &site.path;
        if self.uses.read.iter().any(|read_part| read_part.starts_with(&site.numbers)) {
            let words =
                format!("the interface states that {path} is padding, and the kernel reads it");
            self.add_fault(site, words);
        } else if self.uses.reads(&site.numbers) {
            // What becomes of the whole is not followed.
            self.open_questions.push(format!(
                "the interface states that {path} is padding, and the kernel reads all of what it is in"
            ));
        }
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
        let is_without_elements =
            host_member.spelling.as_deref().is_some_and(|spelling| spelling.ends_with("[0]"));
        if host_member.contents.holds_nothing() || is_without_elements && !has_list(kernel_members)
        {
            // No byte of the struct is this member's.
            return;
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

    pub(super) fn compare_contents(
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
            (KernelContents::Array { length, stride, element }, _) => {
                let array = KernelArray { length: *length, stride: *stride, element };
                self.compare_array(site, array, host);
            }
            (_, HostContents::FlexibleArray { .. }) => {
                let kernel_kind = kernel_kind(kernel);
                let words = format!(
                    "{path} is a flexible array on the host and {kernel_kind} in the kernel"
                );
                self.add_fault(site, words);
            }
            (KernelContents::Numbers(numbers), _) => self.compare_numbers(site, numbers, host),
            (KernelContents::Structure(members), HostContents::Structure(structure)) => {
                match list_in_wrapper(members, host) {
                    Some(list) => self.compare_unnamed(site, members, list),
                    None => self.compare_members(site, members, structure),
                }
            }
            (
                KernelContents::Structure(members),
                HostContents::Array { .. } | HostContents::Scalar(_),
            ) => self.compare_unnamed(site, members, host),
        }
    }

    /// A struct of the kernel where the host has numbers without names.
    fn compare_unnamed(
        &mut self,
        site: &Site<'a>,
        members: &[KernelMember],
        host: &'a HostContents,
    ) {
        let path = &site.path;
        let is_stored = |member: &KernelMember| {
            let start = member.offset?;
            let places = kernel_places(&member.contents)?;
            let number_type = member.contents.innermost_numbers()?.scalar;
            let numbers = host_numbers(host).ok()?;
            Some(places.iter().all(|(offset, _)| {
                let is_there = |number: &HostNumber<'_>| {
                    (number.offset, number.number_type) == (start + offset, number_type)
                };
                numbers.iter().any(is_there)
            }))
        };
        let answers: Vec<Option<bool>> = members.iter().map(is_stored).collect();
        if answers.contains(&Some(false)) {
            let host_kind = host_kind(host);
            let words = format!("{path} is {host_kind} on the host and a struct in the kernel");
            return self.add_fault(site, words);
        }
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        self.open_questions.push(format!(
            "{path} is {} on the host: which of its numbers are {} is not stated",
            host_kind(host),
            names.join(", ")
        ));
    }

    pub(super) fn compare_type(
        &mut self,
        site: &Site<'_>,
        host_type: HostType,
        kernel_type: HostType,
    ) {
        // A `bool` of GLSL is a uint32 in a block, and whether an integer is 0 its sign does not tell.
        let is_truth_of_int = (host_type, kernel_type) == (HostType::Int32, HostType::Uint32)
            && self.uses.is_truth_alone(&site.numbers);
        if host_type != kernel_type && !is_truth_of_int {
            let words = format!(
                "{} is {} on the host and {} in the kernel",
                site.path,
                host_type.name(),
                kernel_type.name()
            );
            self.add_fault(site, words);
        }
    }

    /// The host's innermost member at an offset of the whole, as a path.
    fn host_path_at(&self, offset: u64) -> Option<String> {
        path_at("", &self.host.members, offset)
    }
}

/// Whether a list without a length is among members.
fn has_list(members: &[KernelMember]) -> bool {
    members
        .iter()
        .any(|member| matches!(member.contents, KernelContents::Array { length: None, .. }))
}

pub(crate) fn path_within(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

pub(super) fn host_kind(contents: &HostContents) -> &'static str {
    match contents {
        HostContents::Scalar(scalar_type) => scalar_type.name(),
        HostContents::Array { .. } => "an array",
        HostContents::FlexibleArray { .. } => "a flexible array",
        HostContents::Structure(_) => "a struct",
        HostContents::Unsupported { .. } => "unsupported",
    }
}

pub(super) fn kernel_kind(contents: &KernelContents) -> &'static str {
    match contents {
        KernelContents::Numbers(_) => "a number",
        KernelContents::Array { .. } => "an array",
        KernelContents::Structure(_) => "a struct",
        KernelContents::Unsupported(_) => "unsupported",
    }
}

/// The list that a struct with one member holds, where the kernel has no member of its name.
fn list_in_wrapper<'a>(
    members: &[KernelMember],
    host: &'a HostContents,
) -> Option<&'a HostContents> {
    let HostContents::Structure(structure) = host else { return None };
    let has_name = |name: &str| members.iter().any(|member| member.name == name);
    let has_no_wrapped_name = structure.members.iter().all(|member| !has_name(&member.name));
    let list = without_wrappers(host);
    (has_no_wrapped_name && matches!(list, HostContents::Array { .. })).then_some(list)
}

/// The innermost member that begins at an offset or holds it.
fn path_at(path: &str, members: &[PlacedMember], offset: u64) -> Option<String> {
    let holds = |member: &&PlacedMember| {
        let has_no_end = matches!(member.contents, HostContents::FlexibleArray { .. });
        member.offset <= offset && (has_no_end || offset - member.offset < member.contents.size())
    };
    let member = members.iter().find(holds)?;
    let member_path = path_within(path, &member.name);
    Some(path_inside(member_path, &member.contents, offset - member.offset))
}

fn path_inside(path: String, contents: &HostContents, offset: u64) -> String {
    match contents {
        HostContents::Scalar(_) | HostContents::Unsupported { .. } => path,
        HostContents::Array { stride, element, .. }
        | HostContents::FlexibleArray { stride, element } => {
            let (index, rest) = (offset / (*stride).max(1), offset % (*stride).max(1));
            path_inside(format!("{path}[{index}]"), element, rest)
        }
        HostContents::Structure(structure) => {
            path_at(&path, &structure.members, offset).unwrap_or(path)
        }
    }
}
