//! Kernels that the host dispatches before: what the interface says they leave to this one.
//!
//! Knows: the bindings that interfaces state to hold one buffer or image, both modules, the sizes
//! that both interfaces state.
//! Promises: a row for every stated pair of bindings, and one for every binding that the kernel
//! reads and, as is stated, nobody writes.
//! Does not cover: which elements pass, types of structs, sizes that depend on parameters, and what
//! orders the dispatches.

use super::CouplingInput;
use super::checks::is_buffer;
use super::expressions::constant_size;
use super::rows::CheckRows;
use std::collections::BTreeSet;
use vkcert_exec::prepare::{declared_class, image_type};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::requirement::{BindingPlace, EarlierDispatch, Interface, SharedBinding};
use vkcert_spirv::interface::{Access, ReflectedResource, Reflection};
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::types::{Type, Types};

const CHECK: CouplingCheckName = CouplingCheckName::EarlierDispatches;

/// A kernel that the host dispatches before, with what is known of it.
#[derive(Debug, Clone, Copy)]
pub struct EarlierKernel<'a> {
    /// What the interface says of it.
    pub stated: &'a EarlierDispatch,
    /// Its production module.
    pub module: &'a Module,
    /// Under the specialization that its own host sets.
    pub reflection: &'a Reflection,
    /// What the project says of its own host; none where it says nothing.
    pub interface: Option<&'a Interface>,
}

/// One kernel's side of a binding.
struct BoundSide<'a> {
    place: BindingPlace,
    resource: &'a ReflectedResource,
    types: Types,
    interface: Option<&'a Interface>,
}

pub(super) fn check_earlier(rows: &mut CheckRows, input: &CouplingInput<'_>) {
    for earlier in input.earlier {
        for shared in &earlier.stated.shared {
            let kernel = earlier.stated.kernel;
            let subject = format!("{} of {kernel} as {}", shared.from, shared.to);
            rows.begin_subject(subject.as_str());
            match hand_over_fault(input, earlier, shared) {
                Some(fault) => rows.add_refuted(CHECK, fault, None),
                None => rows.add_holding(
                    CHECK,
                    format!("what {kernel} can write at {} is read at {}", shared.from, shared.to),
                ),
            }
        }
    }
    for place in read_and_never_written(input) {
        rows.begin_subject(format!("{place} is written by nobody"));
        let message = format!(
            "the kernel reads {place}, which the host never writes and no earlier kernel is stated to"
        );
        rows.add_undetermined(CHECK, message);
    }
    rows.end_subject();
}

/// Why nothing can pass as it is stated.
fn hand_over_fault(
    input: &CouplingInput<'_>,
    earlier: &EarlierKernel<'_>,
    shared: &SharedBinding,
) -> Option<String> {
    let (kernel, SharedBinding { from, to }) = (earlier.stated.kernel, *shared);
    let Some(written) = resource_at(earlier.reflection, from) else {
        return Some(format!("{kernel} uses no binding {from}, which it is stated to leave here"));
    };
    let Some(read) = resource_at(input.reflection, to) else {
        return Some(format!("the kernel uses no binding {to}, which {kernel} is stated to write"));
    };
    if !can_write(written.access) {
        return Some(format!("{kernel} cannot write {from}, which it is stated to leave here"));
    }
    if !can_read(read.access) {
        return Some(format!("the kernel cannot read {to}, which {kernel} is stated to write"));
    }
    let side = |place, resource, module, interface| BoundSide {
        place,
        resource,
        types: Types::of_module(module),
        interface,
    };
    let written = side(from, written, earlier.module, earlier.interface);
    let read = side(to, read, input.module, Some(input.interface));
    let difference = kind_difference(&written, &read).or_else(|| size_difference(&written, &read));
    difference.map(|words| format!("{from} of {kernel} and {to} cannot be one: {words}"))
}

pub(super) fn resource_at(
    reflection: &Reflection,
    place: BindingPlace,
) -> Option<&ReflectedResource> {
    let mut resources = reflection.resources.iter();
    resources.find(|resource| (resource.set, resource.binding) == (place.set, place.binding))
}

pub(super) fn can_write(access: Access) -> bool {
    match access {
        Access::WriteOnly | Access::ReadWrite => true,
        Access::ReadOnly | Access::None => false,
    }
}

fn can_read(access: Access) -> bool {
    match access {
        Access::ReadOnly | Access::ReadWrite => true,
        Access::WriteOnly | Access::None => false,
    }
}

/// What of the declarations contradicts.
fn kind_difference(written: &BoundSide<'_>, read: &BoundSide<'_>) -> Option<String> {
    let (written_class, read_class) = (written.resource.class, read.resource.class);
    if is_buffer(written_class) != is_buffer(read_class) {
        let (written_name, read_name) = (written_class.name(), read_class.name());
        return Some(format!("one is a {written_name}, the other a {read_name}"));
    }
    let images = image_type(written.resource, &written.types)
        .zip(image_type(read.resource, &read.types))
        .filter(|_| !is_buffer(written_class));
    if let Some((written_image, read_image)) = images {
        if (written_image.dim, written_image.arrayed, written_image.multisampled)
            != (read_image.dim, read_image.arrayed, read_image.multisampled)
        {
            return Some("the images are of different dimensions, layers or samples".to_owned());
        }
        let texels = declared_class(written_image, &written.types)
            .zip(declared_class(read_image, &read.types));
        return texels.filter(|(written, read)| written != read).map(|(written, read)| {
            format!("texels are {} in the one, {} in the other", written.name(), read.name())
        });
    }
    let scalars = element_scalar(written).zip(element_scalar(read));
    scalars
        .filter(|(written, read)| written != read)
        .map(|(written, read)| format!("numbers are `{written}` in the one, `{read}` in the other"))
}

/// The scalar type that a block with a single member is made of; none of structs in it.
fn element_scalar(side: &BoundSide<'_>) -> Option<String> {
    let Some(Type::Structure { members, .. }) = side.types.get(side.resource.block_type) else {
        return None;
    };
    let [member] = members.as_slice() else { return None };
    let mut contents: Id = member.ty;
    loop {
        contents = match side.types.get(contents)? {
            Type::Array { element, .. } | Type::RuntimeArray { element, .. } => *element,
            Type::Vector { component, .. } => *component,
            Type::Matrix { column, .. } => *column,
            Type::Int { .. } | Type::Float { .. } => return Some(side.types.glsl_name(contents)),
            _ => return None,
        };
    }
}

/// Two sizes that the project states of one buffer, whatever its parameters are.
fn size_difference(written: &BoundSide<'_>, read: &BoundSide<'_>) -> Option<String> {
    let sizes = constant_bytes(written).zip(constant_bytes(read));
    sizes.filter(|(written, read)| written != read).map(|(written, read)| {
        format!("the interfaces state {written} bytes for the one, {read} for the other")
    })
}

fn constant_bytes(side: &BoundSide<'_>) -> Option<i128> {
    let interface = side.interface?;
    let place = (side.place.set, side.place.binding);
    let mut buffers = interface.buffers.iter();
    let buffer = buffers.find(|buffer| (buffer.set, buffer.binding) == place)?;
    constant_size(interface, buffer)
}

/// What the kernel reads alone of what neither the host nor an earlier kernel writes.
fn read_and_never_written(input: &CouplingInput<'_>) -> Vec<BindingPlace> {
    let interface = input.interface;
    let left_places: BTreeSet<BindingPlace> = interface
        .earlier
        .iter()
        .flat_map(|earlier| earlier.shared.iter().map(|shared| shared.to))
        .collect();
    let buffers = interface.buffers.iter();
    let buffers = buffers.map(|buffer| (buffer.set, buffer.binding, buffer.host_writes));
    let images = interface.images.iter();
    let images = images.map(|image| (image.set, image.binding, image.host_writes));
    let unwritten = buffers.chain(images).filter(|(_, _, host_writes)| !host_writes);
    let places = unwritten.map(|(set, binding, _)| BindingPlace { set, binding });
    let is_read_alone = |place: &BindingPlace| {
        let resource = resource_at(input.reflection, *place);
        resource.is_some_and(|resource| resource.access == Access::ReadOnly)
    };
    places.filter(|place| is_read_alone(place) && !left_places.contains(place)).collect()
}
