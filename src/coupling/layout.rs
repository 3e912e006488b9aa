//! What the host stores in push constants and buffers against the blocks that the kernel reads.
//!
//! Knows: the structs that the interface states, placed by C's rules (`placing`), and the blocks of
//! the module as they are decorated, std140, std430 or scalar alike (`kernel_block`).
//! Promises: names, offsets, types, counts and strides are compared member by member
//! (`comparison`); a swap of equal-sized members is found by name; members that the host stores and
//! the kernel never uses are named.
//! Does not cover: which values the host stores in members of structs and arrays; buffers of which
//! the interface states no contents; what lies behind a device address (such members are
//! `undetermined` by name).

mod arrays;
mod comparison;
mod kernel_block;
mod number_list;
mod numbers;
mod placing;

pub(super) use comparison::path_within;
pub(super) use number_list::{counted, has_same_numbers};
pub(super) use placing::{end_of_contents, place_block, place_member, place_type};

use super::CouplingInput;
use super::checks::VaryingSizes;
use super::constants::host_constants;
use super::expressions::constant_size;
use super::merging::{SharedObject, StoredForm};
use super::rows::CheckRows;
use arrays::KernelArray;
use comparison::{Comparison, LayoutFault};
use kernel_block::{BlockReader, KernelContents, KernelMember};
use std::collections::BTreeSet;
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::requirement::{
    HeaderUse, HostBuffer, HostContents, HostMember, HostStruct, Interface, PlacedMember,
    PlacedStruct,
};
use vkcert_requirement::host::expression::integer_format;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::interface::{ReflectedResource, UsedMembers};
use vkcert_spirv::types::{Type, Types};

const PUSH_CONSTANTS: CouplingCheckName = CouplingCheckName::PushConstantLayout;
const BUFFER: CouplingCheckName = CouplingCheckName::BufferLayout;

/// Faults that one row tells in full.
const MOST_TOLD: usize = 32;

/// The offset of each member of the struct that the host pushes, in its order, in bytes.
pub fn member_offsets(interface: &Interface) -> Vec<u64> {
    let block = interface.push_constants.as_ref();
    let placed_block = block.map(|block| placing::place_block(block, &interface.structs));
    let members = placed_block.iter().flat_map(|block| &block.members);
    members.map(|member| member.offset).collect()
}

/// Compares everything whose layout both sides have; `known_names` are the parameters and locals
/// that a member without a value may name.
pub(super) fn check_layouts(
    rows: &mut CheckRows,
    input: &CouplingInput<'_>,
    known_names: &BTreeSet<&str>,
    varying: &VaryingSizes<'_>,
) {
    let types = Types::of_module(input.module);
    let stated_values = host_constants(input.interface, &input.reflection.specialization);
    let constants = Constants::evaluate(input.module, &types, &stated_values);
    // The module was reflected under the same values, so they can be evaluated.
    let Ok(constants) = constants else {
        let message = "constants of the module have no value under the host's specialization";
        return rows.add_undetermined(PUSH_CONSTANTS, message);
    };
    let reader = BlockReader { types: &types, constants: &constants };
    let check = LayoutCheck { input, reader, varying };
    check.check_push_constants(rows, known_names);
    for buffer in &input.interface.buffers {
        check.check_buffer(rows, buffer);
    }
    rows.end_subject();
}

struct LayoutCheck<'a> {
    input: &'a CouplingInput<'a>,
    reader: BlockReader<'a>,
    varying: &'a VaryingSizes<'a>,
}

impl LayoutCheck<'_> {
    fn uses_of(&self, variable: u32) -> UsedMembers {
        let (module, functions) = (self.input.module, &self.input.reflection.functions);
        let BlockReader { types, constants } = self.reader;
        UsedMembers::of_variable(module, (types, constants), functions, variable)
    }

    fn check_push_constants(&self, rows: &mut CheckRows, known_names: &BTreeSet<&str>) {
        let interface = self.input.interface;
        let block = self.input.reflection.push_constants.as_ref();
        let stored_form = self.input.stated.stored_form(SharedObject::PushConstants);
        let (form, block) = match (stored_form, block) {
            (None, None) => {
                let message = "neither host nor kernel has push constants";
                return rows.add_holding(PUSH_CONSTANTS, message);
            }
            (None, Some(block)) => {
                let message = format!(
                    "the kernel reads {} bytes of push constants, the interface states none",
                    block.size
                );
                return rows.add_refuted(PUSH_CONSTANTS, message, None);
            }
            (Some(_), None) => {
                let message = "the host sets push constants, the kernel reads none";
                return rows.add_refuted(PUSH_CONSTANTS, message, None);
            }
            (Some(form), Some(block)) => (form, block),
        };
        let size_constants = &self.varying.sizes.push_constants;
        if let Some(constants) = self.varying.in_words(size_constants) {
            let message =
                format!("the layout of the kernel's push constants depends on {constants}");
            return rows.add_undetermined(PUSH_CONSTANTS, message);
        }
        let placed_host = match form.contents {
            HostContents::Structure(placed_host) => placed_host,
            HostContents::Unsupported { .. }
            | HostContents::Scalar(_)
            | HostContents::FlexibleArray { .. }
            | HostContents::Array { .. } => {
                let message = format!("what the host pushes, `{}`, is no plain struct", form.name);
                return rows.add_undetermined(PUSH_CONSTANTS, message);
            }
        };
        let members = self.reader.members(&block.members);
        let uses = self.uses_of(block.variable);
        let mut comparison = Comparison::of_block(&placed_host, &members, &uses);
        compare_sizes(&mut comparison.faults, &placed_host, block.size);
        if let Some(host) = &interface.push_constants {
            comparison.open_questions.extend(members_without_value(host, known_names));
        }
        let agreement_words = agreement_words(&members, &placed_host);
        let unused = std::mem::take(&mut comparison.unused);
        let faulty_members: BTreeSet<u32> =
            comparison.faults.iter().filter_map(|fault| fault.kernel_member).collect();
        add_comparison(rows, PUSH_CONSTANTS, comparison, "", &agreement_words);
        rows.name_nodes(faulty_members.iter().map(|number| format!("push-constant:{number}")));
        rows.begin_subject("push constants");
        let claim = "the host sets {} of the push constants, which the kernel never reads";
        if add_unused(rows, &unused, claim) {
            rows.name_nodes(unused.iter().map(|path| host_member_id(path)));
        }
        rows.end_subject();
    }

    fn check_buffer(&self, rows: &mut CheckRows, buffer: &HostBuffer) {
        let is_bound_here = |resource: &&ReflectedResource| {
            (resource.set, resource.binding) == (buffer.set, buffer.binding)
        };
        let resources: Vec<_> =
            self.input.reflection.resources.iter().filter(is_bound_here).collect();
        // Buffers that the kernel does not use, and what is no buffer, are told with the sizes.
        for resource in &resources {
            let Some(Type::Structure { members, .. }) = self.reader.types.get(resource.block_type)
            else {
                continue;
            };
            let kernel_block = KernelBlock {
                members: self.reader.members(members),
                uses: self.uses_of(resource.variable),
                bytes: resource.fixed_bytes,
            };
            rows.begin_subject(format!("{}.{}", buffer.set, buffer.binding));
            if self.is_told_to_vary(rows, buffer, resource) {
                continue;
            }
            let unused = self.check_contents(rows, buffer, &kernel_block);
            // What one variable does not use another one at the same binding may.
            if resources.len() == 1 {
                let place = format!("buffer {}.{}", buffer.set, buffer.binding);
                let claim = format!("the host stores {{}} in {place}, which the kernel never uses");
                add_unused(rows, &unused, &claim);
            }
        }
    }

    /// Tells of a block whose layout is not one: it is compared under no value of the constants.
    fn is_told_to_vary(
        &self,
        rows: &mut CheckRows,
        buffer: &HostBuffer,
        resource: &ReflectedResource,
    ) -> bool {
        let (set, binding) = (buffer.set, buffer.binding);
        let size_constants = self.varying.sizes.resources.get(&resource.variable);
        let constants = self.varying.in_words(size_constants.into_iter().flatten());
        let has_form =
            self.input.stated.stored_form(SharedObject::Buffer { set, binding }).is_some();
        let Some(constants) = constants.filter(|_| has_form) else { return false };
        let message = format!(
            "buffer {set}.{binding}: the layout of the kernel's block depends on {constants}"
        );
        rows.add_undetermined(BUFFER, message);
        true
    }

    /// The members that the kernel does not use.
    fn check_contents(
        &self,
        rows: &mut CheckRows,
        buffer: &HostBuffer,
        kernel: &KernelBlock,
    ) -> Vec<String> {
        let (set, binding) = (buffer.set, buffer.binding);
        let place = format!("buffer {set}.{binding}: ");
        let stored_form = self.input.stated.stored_form(SharedObject::Buffer { set, binding });
        let Some(StoredForm { describes, name, contents, rest }) = stored_form else {
            return Vec::new();
        };
        match (describes, contents) {
            (HeaderUse::Element, contents) => {
                check_elements(rows, &place, (&name, contents), kernel)
            }
            (HeaderUse::Block | HeaderUse::PushConstants, HostContents::Structure(mut host)) => {
                let rest_added = rest.map(|rest| add_rest(&mut host, rest, &kernel.members));
                let mut comparison = Comparison::of_block(&host, &kernel.members, &kernel.uses);
                if let Some(Err(reason)) = rest_added {
                    let words = format!("the host stores elements behind `{name}`, {reason}");
                    comparison.faults.push(LayoutFault { words, place: None, kernel_member: None });
                }
                compare_sizes(&mut comparison.faults, &host, kernel.bytes);
                let ends_there = constant_size(self.input.interface, buffer)
                    .is_some_and(|bytes| bytes == i128::from(host.size));
                if !ends_there {
                    comparison.open_questions.append(&mut comparison.ended_lists);
                }
                let agreement_words = agreement_words(&kernel.members, &host);
                let unused = std::mem::take(&mut comparison.unused);
                let claim = format!("`{name}`: {agreement_words}");
                add_comparison(rows, BUFFER, comparison, &place, &claim);
                unused
            }
            (
                HeaderUse::Block | HeaderUse::PushConstants,
                HostContents::Scalar(_)
                | HostContents::Array { .. }
                | HostContents::FlexibleArray { .. }
                | HostContents::Unsupported { .. },
            ) => {
                let message = format!("{place}what the host stores, `{name}`, is no plain struct");
                rows.add_undetermined(BUFFER, message);
                Vec::new()
            }
        }
    }
}

/// What the kernel has at a binding.
struct KernelBlock {
    members: Vec<KernelMember>,
    uses: UsedMembers,
    bytes: u64,
}

/// A buffer that the host fills with elements of one kind.
fn check_elements(
    rows: &mut CheckRows,
    place: &str,
    (element_name, contents): (&str, HostContents),
    kernel: &KernelBlock,
) -> Vec<String> {
    let [
        KernelMember {
            name,
            offset: Some(0),
            contents: KernelContents::Array { stride, element, .. },
        },
    ] = kernel.members.as_slice()
    else {
        let message = format!(
            "{place}the host stores elements of type `{element_name}` from the start on, the kernel's block is not one array"
        );
        rows.add_refuted(BUFFER, message, None);
        return Vec::new();
    };
    let whole = match &contents {
        HostContents::Structure(structure) => structure.clone(),
        HostContents::Scalar(_)
        | HostContents::Array { .. }
        | HostContents::FlexibleArray { .. }
        | HostContents::Unsupported { .. } => {
            PlacedStruct { size: contents.size(), members: Vec::new() }
        }
    };
    // How many there are the size of the buffer says.
    let kernel_array = KernelArray { length: None, stride: *stride, element };
    let host_stride = match &contents {
        HostContents::Unsupported { size: None, .. } => *stride,
        HostContents::Scalar(_)
        | HostContents::Array { .. }
        | HostContents::FlexibleArray { .. }
        | HostContents::Structure(_)
        | HostContents::Unsupported { .. } => contents.size(),
    };
    let host_array = HostContents::FlexibleArray { stride: host_stride, element: contents.into() };
    let mut comparison =
        Comparison::of_array((&whole, &host_array), kernel_array, name, &kernel.uses);
    let unused = std::mem::take(&mut comparison.unused);
    let claim = format!("elements of {stride} bytes agree with `{element_name}`");
    add_comparison(rows, BUFFER, comparison, place, &claim);
    unused
}

/// Adds the elements that follow a struct to the end of the buffer, as the member that the kernel
/// has there; the error says why there can be none.
fn add_rest(
    host: &mut PlacedStruct,
    (element_name, element): (String, HostContents),
    kernel_members: &[KernelMember],
) -> Result<(), String> {
    let Some(KernelMember { name, contents: KernelContents::Array { length: None, .. }, .. }) =
        kernel_members.last()
    else {
        return Err("the kernel's block has no array without length".to_owned());
    };
    if host.members.iter().any(|member| member.name == *name) {
        return Err(format!("which has a member {name} of its own"));
    }
    let stride = element.size();
    host.members.push(PlacedMember {
        name: name.clone(),
        offset: host.size,
        contents: HostContents::FlexibleArray { stride, element: Box::new(element) },
        spelling: Some(element_name),
        place: None,
        order: None,
        padding: false,
    });
    Ok(())
}

/// Whether the host's struct holds its members and the kernel's block.
fn compare_sizes(faults: &mut Vec<LayoutFault>, host: &PlacedStruct, block_bytes: u64) {
    let (host_size, last_end) = (host.size, placing::end_of(&host.members));
    if host_size < last_end {
        let words = format!(
            "the host's struct of {host_size} bytes ends before its last member does ({last_end})"
        );
        faults.push(LayoutFault { words, place: None, kernel_member: None });
    }
    if host_size < block_bytes {
        let words =
            format!("the host hands over {host_size} bytes, the kernel's block has {block_bytes}");
        faults.push(LayoutFault { words, place: None, kernel_member: None });
    }
}

/// `m, n and k agree in name, offset and type; 12 bytes`
fn agreement_words(members: &[KernelMember], host: &PlacedStruct) -> String {
    let (shown_members, more) = members.split_at(members.len().min(MOST_TOLD));
    let mut names: Vec<String> = shown_members.iter().map(|member| member.name.clone()).collect();
    if !more.is_empty() {
        names.push(format!("{} more", more.len()));
    }
    let (verb, names) = match names.pop() {
        None => ("agrees", "nothing".to_owned()),
        Some(only) if names.is_empty() => ("agrees", only),
        Some(last) => ("agree", format!("{} and {last}", names.join(", "))),
    };
    let is_list = |member: &KernelMember| matches!(member.contents, KernelContents::Array { .. });
    let compared = if members.iter().any(is_list) {
        "name, offset, type, count and stride"
    } else if members.iter().any(|member| member.contents.is_composite()) {
        "name, offset and the type and place of each number"
    } else {
        "name, offset and type"
    };
    format!("{names} {verb} in {compared}; {}", counted(host.size, "byte"))
}

/// Scalars of which neither an expression nor a variable of their name tells the value. Interfaces
/// state integers; the value of a floating-point member couples no size.
fn members_without_value(host: &HostStruct, known_names: &BTreeSet<&str>) -> Vec<String> {
    let is_stated = |member: &&HostMember| {
        member.value.is_some()
            || member.padding
            || member.scalar_type().and_then(integer_format).is_none()
            || known_names.contains(member.name.as_str())
    };
    let unstated_members = host.members.iter().filter(|member| !is_stated(member));
    unstated_members
        .map(|member| format!("what the host stores in {} is not stated", member.name))
        .collect()
}

/// The row of a comparison; `place` is what it begins with.
fn add_comparison(
    rows: &mut CheckRows,
    check: CouplingCheckName,
    comparison: Comparison<'_>,
    place: &str,
    claim: &str,
) {
    let Comparison { faults, open_questions, .. } = comparison;
    match (faults.is_empty(), open_questions.is_empty()) {
        (false, _) => {
            let fault_place = faults.iter().find_map(|fault| fault.place.clone());
            let words = faults.into_iter().map(|fault| fault.words).collect();
            rows.add_refuted_in(check, format!("{place}{}", joined_words(words)), fault_place);
        }
        (true, false) => {
            rows.add_undetermined(check, format!("{place}{}", joined_words(open_questions)));
        }
        (true, true) => rows.add_holding(check, format!("{place}{claim}")),
    }
}

/// A row for members that the kernel does not use; `{}` in the claim stands for them. Whether there
/// are any.
fn add_unused(rows: &mut CheckRows, unused: &[String], claim: &str) -> bool {
    if !unused.is_empty() {
        let message = claim.replace("{}", &unused.join(", "));
        rows.add_refuted(CouplingCheckName::MemberUse, message, None);
    }
    !unused.is_empty()
}

/// The node of the host's member that a path begins at.
fn host_member_id(path: &str) -> String {
    format!("host-member:{}", path.split(['.', '[']).next().unwrap_or(path))
}

/// All of it, or the first ones and how many more there are.
fn joined_words(mut words: Vec<String>) -> String {
    let left_out = words.len().saturating_sub(MOST_TOLD);
    words.truncate(MOST_TOLD);
    let told_words = words.join("; ");
    if left_out > 0 { format!("{told_words}; and {left_out} more") } else { told_words }
}
