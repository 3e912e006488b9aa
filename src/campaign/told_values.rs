//! What a dispatch of a test tells of the host's parameters and locals: push constants,
//! specialization constants and sizes of images that hold them unchanged.
//!
//! Knows: an interface, the push-constant block and the constants of its kernel's module.
//! Promises: push constants count however they are given: by member, as a list or as bytes; a
//! constant that a test does not set counts with its default. A name that two places tell
//! different values of is not told. Sizes of images tell what nothing else does.
//! Does not cover: values that the host passes on changed, members that are no integers.

use super::configuration::{Specialization, kernel_for_preparing};
use super::kernel::CompiledKernel;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use vkcert_coupling::member_offsets;
use vkcert_model::element::Datum;
use vkcert_model::procedure::{Dispatch, Test};
use vkcert_model::requirement::{HostImage, HostType, Interface};
use vkcert_requirement::host::decide::ToldValues;
use vkcert_requirement::host::expression::{integer_format, type_range, wrap_to_type};
use vkcert_spirv::interface::{PushConstants, Reflection};
use vkcert_spirv::types::{Signedness, Type, Types};

/// Where a kernel keeps parameters and locals of its host.
pub(crate) struct ToldPlaces {
    members: Vec<ToldMember>,
    constants: Vec<ToldConstant>,
    sizes: Vec<ToldSize>,
}

/// A parameter or local.
struct ToldName {
    name: String,
    width: HostType,
}

/// How the bits of an integer are read.
#[derive(Clone, Copy)]
struct IntegerForm {
    bits: u32,
    signedness: Signedness,
}

/// A member of the push constants that holds a parameter or local.
struct ToldMember {
    told: ToldName,
    /// Name in the kernel's block.
    name: Option<String>,
    /// Its position among the members of the block.
    position: usize,
    /// Bytes from the block's start; none where its contents cannot be given as bytes.
    offset: Option<u32>,
    form: IntegerForm,
}

/// A specialization constant that holds a parameter or local.
struct ToldConstant {
    told: ToldName,
    id: u32,
    default: u64,
    form: IntegerForm,
}

/// A number of an image's size that is a parameter or local.
struct ToldSize {
    told: ToldName,
    set: u32,
    binding: u32,
    part: SizePart,
}

/// A number of an image's size.
#[derive(Clone, Copy)]
enum SizePart {
    /// Width, height or depth, by its number.
    Axis(usize),
    /// Layers that the view shows.
    Layers,
    /// Levels that the view shows.
    Levels,
}

/// Whether any test can tell the value of a parameter.
pub(crate) fn is_told(interface: &Interface, parameter: &str) -> bool {
    let members = interface.push_constants.iter().flat_map(|block| &block.members);
    let mut pushed = members.map(|member| member.value.as_deref().unwrap_or(&member.name).trim());
    pushed.any(|value| value == parameter)
        || interface.specialization.iter().any(|constant| constant.value.trim() == parameter)
        || size_parts(interface).any(|(_, _, expression)| expression.trim() == parameter)
}

impl ToldPlaces {
    /// Reads the block and the constants that the kernel's module declares.
    pub(crate) fn of_kernel(interface: &Interface, kernel: &CompiledKernel) -> Self {
        let module = kernel_for_preparing(kernel).module;
        let types = Types::of_module(&module);
        let reflection = Reflection::of_entry_point(&module, &kernel.entry, &BTreeMap::new()).ok();
        let (block, constants) = match reflection {
            Some(reflection) => (reflection.push_constants, reflection.specialization),
            None => (None, Vec::new()),
        };
        let block = block.or_else(|| PushConstants::unused_block(&module, &BTreeMap::new()));
        let mut told_constants = Vec::new();
        for stated in &interface.specialization {
            let declared = constants.iter().find(|constant| constant.spec_id == stated.id);
            let form = declared.and_then(|declared| integer_form(&types, declared.ty));
            let told = name_of_host(interface, &stated.value);
            if let (Some(declared), Some(form), Some(told)) = (declared, form, told) {
                let (id, default) = (stated.id, declared.default);
                told_constants.push(ToldConstant { told, id, default, form });
            }
        }
        let members = block.map_or_else(Vec::new, |block| told_members(interface, &block, &types));
        Self { members, constants: told_constants, sizes: told_sizes(interface) }
    }

    /// What a dispatch of a test tells; `specialization` has the raw bits of constants that are set.
    pub(crate) fn values_of(
        &self,
        test: &Test,
        dispatch: &Dispatch,
        specialization: &Specialization,
    ) -> ToldValues {
        let pushed = self.members.iter().filter_map(|member| {
            let value = member.value_in(dispatch.push_constants.as_ref()?)?;
            Some((&member.told, member.form, value))
        });
        let specialized = self.constants.iter().map(|constant| {
            let bits = specialization.get(&constant.id).copied().unwrap_or(constant.default);
            (&constant.told, constant.form, constant.form.read(bits))
        });
        let stored = pushed.chain(specialized);
        let stored = stored.map(|(told, form, value)| (&*told.name, told.value_of(value, form)));
        let mut values_by_name: BTreeMap<&str, Vec<Option<i64>>> = BTreeMap::new();
        for (name, value) in stored {
            values_by_name.entry(name).or_default().push(value);
        }
        // What the host stores tells more than what it binds, which may be larger.
        let sizes = self.sizes.iter();
        let sizes: Vec<&ToldSize> =
            sizes.filter(|size| !values_by_name.contains_key(&*size.told.name)).collect();
        for size in sizes {
            let value = size.value_in(test, dispatch).map(i64::from);
            values_by_name.entry(&size.told.name).or_default().push(value);
        }
        let agreed = values_by_name.into_iter().filter_map(|(name, values)| {
            let first_value = values.first().copied().flatten()?;
            let is_agreed = values.iter().all(|value| *value == Some(first_value));
            is_agreed.then(|| (name.to_owned(), first_value))
        });
        agreed.collect()
    }
}

/// The members of the kernel's block that hold a parameter or local of the host: those of the same
/// name, where the block has no names those at the same offset.
fn told_members(interface: &Interface, block: &PushConstants, types: &Types) -> Vec<ToldMember> {
    let stated_members = interface.push_constants.iter().flat_map(|stated| &stated.members);
    // `bytes` is then that member, and no contents of the block.
    let has_bytes_member =
        block.members.iter().any(|declared| declared.name.as_deref() == Some("bytes"));
    let mut members = Vec::new();
    for (stated, stated_offset) in stated_members.zip(member_offsets(interface)) {
        let position = block.members.iter().position(|declared| match declared.name.as_deref() {
            Some(name) if !name.is_empty() => name == stated.name,
            Some(_) | None => declared.offset.map(u64::from) == Some(stated_offset),
        });
        let declared = position.map(|position| &block.members[position]);
        let form = declared.and_then(|declared| integer_form(types, declared.ty));
        let told = name_of_host(interface, stated.value.as_deref().unwrap_or(&stated.name));
        if let (Some(position), Some(form), Some(told)) = (position, form, told) {
            let declared = &block.members[position];
            let name = declared.name.clone();
            let offset = declared.offset.filter(|_| !has_bytes_member);
            members.push(ToldMember { told, name, position, offset, form });
        }
    }
    members
}

/// Every number of every image's size with its expression.
fn size_parts(interface: &Interface) -> impl Iterator<Item = (&HostImage, SizePart, &str)> {
    interface.images.iter().flat_map(|image| {
        let axes = image.extent.iter().enumerate();
        let axes = axes.map(|(axis, text)| (SizePart::Axis(axis), Some(text)));
        let counts =
            [(SizePart::Layers, image.layers.as_ref()), (SizePart::Levels, image.levels.as_ref())];
        let parts = axes.chain(counts);
        parts.filter_map(move |(part, text)| Some((image, part, text?.as_str())))
    })
}

fn told_sizes(interface: &Interface) -> Vec<ToldSize> {
    let sizes = size_parts(interface).filter_map(|(image, part, expression)| {
        let told = name_of_host(interface, expression)?;
        Some(ToldSize { told, set: image.set, binding: image.binding, part })
    });
    sizes.collect()
}

/// The parameter or local that an expression consists of.
fn name_of_host(interface: &Interface, expression: &str) -> Option<ToldName> {
    let name = expression.trim();
    let parameters = interface.parameters.iter().map(|row| (&row.name, row.width));
    let locals = interface.locals.iter().map(|row| (&row.name, row.width));
    let (name, width) = parameters.chain(locals).find(|(known_name, _)| *known_name == name)?;
    integer_format(width)?;
    Some(ToldName { name: name.clone(), width })
}

fn integer_form(types: &Types, type_id: vkcert_spirv::module::Id) -> Option<IntegerForm> {
    match types.get(type_id) {
        Some(Type::Int { width, signedness }) => {
            Some(IntegerForm { bits: *width, signedness: *signedness })
        }
        Some(Type::Bool) => Some(IntegerForm { bits: 32, signedness: Signedness::Unsigned }),
        Some(_) | None => None,
    }
}

impl ToldName {
    /// The host's value behind that of the kernel: both sides may read the same bits differently.
    fn value_of(&self, value: i128, form: IntegerForm) -> Option<i64> {
        let (host_bits, _) = integer_format(self.width)?;
        let value = if host_bits == form.bits { wrap_to_type(value, self.width) } else { value };
        let (least, greatest) = type_range(self.width);
        i64::try_from(value).ok().filter(|_| (least..=greatest).contains(&value))
    }
}

impl IntegerForm {
    fn read(self, bits: u64) -> i128 {
        let unread_bits = 64 - self.bits.clamp(1, 64);
        let at_the_top = bits << unread_bits;
        match self.signedness {
            Signedness::Signed => i128::from(at_the_top as i64 >> unread_bits),
            Signedness::Unsigned => i128::from(at_the_top >> unread_bits),
        }
    }
}

impl ToldSize {
    /// What a dispatch binds, as its view shows it.
    fn value_in(&self, test: &Test, dispatch: &Dispatch) -> Option<u32> {
        let place = (self.set, self.binding);
        let mut bindings = dispatch.bindings.iter();
        let binding = bindings.find(|binding| (binding.set, binding.binding) == place)?;
        let image = test.images.get(binding.image.as_ref()?)?;
        let (level, layer) = (binding.level.unwrap_or(0), binding.layer.unwrap_or(0));
        match self.part {
            SizePart::Axis(axis) => Some((image.extent.get(axis)? >> level.min(31)).max(1)),
            SizePart::Layers => image.layers?.checked_sub(layer),
            SizePart::Levels => image.levels.unwrap_or(1).checked_sub(level),
        }
    }
}

impl ToldMember {
    fn value_in(&self, push_constants: &Datum) -> Option<i128> {
        match push_constants {
            Datum::List(values) => self.value_of_datum(values.get(self.position)?),
            Datum::Record(members) => {
                let by_name = self.name.as_ref().and_then(|name| members.get(name));
                match (by_name, members.get("bytes")) {
                    (Some(value), _) => self.value_of_datum(value),
                    (None, Some(Datum::Text(text))) => {
                        self.value_in_bytes(&STANDARD.decode(text).ok()?)
                    }
                    (None, _) => None,
                }
            }
            Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Text(_) => None,
        }
    }

    fn value_of_datum(&self, value: &Datum) -> Option<i128> {
        match value {
            Datum::Bool(value) => Some(i128::from(*value)),
            Datum::Integer(value) => Some(*value),
            Datum::Text(text) => match text.strip_prefix("0x") {
                Some(digits) => Some(self.form.read(u64::from_str_radix(digits, 16).ok()?)),
                None => text.parse().ok(),
            },
            Datum::Float(_) | Datum::List(_) | Datum::Record(_) => None,
        }
    }

    fn value_in_bytes(&self, bytes: &[u8]) -> Option<i128> {
        let start = usize::try_from(self.offset?).ok()?;
        let member_bytes = bytes.get(start..start + self.form.bits as usize / 8)?;
        let mut word = [0u8; 8];
        word.get_mut(..member_bytes.len())?.copy_from_slice(member_bytes);
        Some(self.form.read(u64::from_le_bytes(word)))
    }
}
