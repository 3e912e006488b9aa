//! One dispatch against its kernel's interface: specialization, workgroup counts, bindings, push constants.

use super::contents::{Block, UNINITIALISED, decode_base64, place, whole_range};
use super::layout::{Layout, Walk, scalar_type};
use super::scalar::{encode, raw_bits};
use super::{PreparedKernel, Problems, Setting};
use crate::exec::{JobBinding, JobBuffer, JobDispatch};
use crate::model::element::{Datum, ScalarType};
use crate::model::id::KernelName;
use crate::model::procedure::{Binding, DescriptorClass, Dispatch, Reference, SpecializationValue};
use crate::requirement::Origin;
use crate::spirv::constants::{ConstantError, Constants};
use crate::spirv::module::{Id, Module};
use crate::spirv::reflect::{DescriptorCount, PushConstants, ReflectError, Reflection, Resource};
use crate::spirv::types::{LayoutError, Type, Types};
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Decoration, ExecutionModel, Op};
use std::collections::{BTreeMap, BTreeSet};

/// What a dispatch and a reference have in common.
pub struct Call<'a> {
    pub kernel: &'a KernelName,
    pub groups: [u32; 3],
    pub subgroup_size: Option<u32>,
    pub bindings: &'a [Binding],
    pub push_constants: Option<&'a Datum>,
    pub specialization: &'a BTreeMap<String, SpecializationValue>,
}

impl<'a> Call<'a> {
    pub fn of(dispatch: &'a Dispatch) -> Self {
        Self {
            kernel: &dispatch.kernel,
            groups: dispatch.groups,
            subgroup_size: dispatch.subgroup_size,
            bindings: &dispatch.bindings,
            push_constants: dispatch.push_constants.as_ref(),
            specialization: &dispatch.specialization,
        }
    }

    pub fn of_reference(reference: &'a Reference) -> Self {
        Self {
            kernel: &reference.kernel,
            groups: reference.groups,
            subgroup_size: None,
            bindings: &reference.bindings,
            push_constants: reference.push_constants.as_ref(),
            specialization: &reference.specialization,
        }
    }
}

/// A call's kernel under its specialization.
pub struct Dispatched {
    /// Raw bits by specialization id.
    pub specialization: BTreeMap<u32, u64>,
    pub reflection: Reflection,
    pub layout: Layout,
    pub declared: Vec<Declared>,
}

impl Dispatched {
    /// The block behind a descriptor that the kernel uses.
    pub fn block(&self, set: u32, binding: u32) -> Option<Block<'_>> {
        let resource = self.resource(set, binding)?;
        let block = Block { layout: &self.layout, ty: resource.block_type, fixed_bytes: resource.fixed_bytes };
        matches!(self.layout.types.get(resource.block_type), Some(Type::Structure { .. })).then_some(block)
    }

    fn resource(&self, set: u32, binding: u32) -> Option<&Resource> {
        self.reflection.resources.iter().find(|resource| (resource.set, resource.binding) == (set, binding))
    }
}

/// A descriptor that the module declares, used or not.
pub struct Declared {
    set: u32,
    binding: u32,
    name: Option<String>,
}

/// Resolves specialization and interface of a call; none after a problem.
pub fn interface(
    call: &Call<'_>,
    setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Dispatched> {
    let Some(kernel) = setting.kernels.get(call.kernel) else {
        problems.push(origin.at("kernel").error("unknown-kernel", format!("there is no kernel `{}`", call.kernel)));
        return None;
    };
    let before = problems.count();
    compute_kernel(kernel, call, origin, problems)?;
    let specialization = specialization(kernel, call.kernel, call.specialization, origin, problems)?;
    let reflection = Reflection::of(&kernel.module, &kernel.entry, &specialization)
        .map_err(|error| refuse(error, call, origin, problems))
        .ok()?;
    check_limits(&reflection, call, setting, origin, problems);
    let types = Types::of(&kernel.module);
    let constants = Constants::evaluate(&kernel.module, &types, &specialization).ok()?;
    let declared = declared(&kernel.module);
    let ready = problems.count() == before;
    ready.then_some(Dispatched { specialization, reflection, layout: Layout { types, constants }, declared })
}

/// A module that is valid but no compute kernel for Vulkan is unsupported, not wrong.
fn compute_kernel(kernel: &PreparedKernel, call: &Call<'_>, origin: &Origin, problems: &mut Problems) -> Option<()> {
    let opencl = Operand::Capability(Capability::Kernel);
    let declares = |op, operand: &Operand| {
        kernel.module.instructions.iter().any(|found| found.op == op && found.operands.first() == Some(operand))
    };
    if declares(Op::Capability, &opencl) {
        problems.unsupported(format!("capability Kernel (`{}` is a module for OpenCL)", call.kernel));
        return None;
    }
    let mut named = kernel.module.entry_points.iter().filter(|point| point.name == kernel.entry).peekable();
    if named.peek().is_none() {
        let known: Vec<&str> = kernel.module.entry_points.iter().map(|point| point.name.as_str()).collect();
        let message = format!("the kernel `{}` has no entry point `{}`", call.kernel, kernel.entry);
        let hint =
            if known.is_empty() { "the module has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        problems.push(origin.at("kernel").error("unknown-entry", message).hint(hint));
        return None;
    }
    let models: Vec<ExecutionModel> = named.map(|point| point.model).collect();
    if !models.contains(&ExecutionModel::GLCompute) {
        problems.unsupported(format!("execution model {:?} (entry point `{}`)", models[0], kernel.entry));
        return None;
    }
    Some(())
}

fn refuse(error: ReflectError, call: &Call<'_>, origin: &Origin, problems: &mut Problems) {
    match &error {
        ReflectError::UnsupportedResource { what } => problems.unsupported(format!("a resource of type {what}")),
        ReflectError::Constant(ConstantError::Unsupported { op }) => {
            problems.unsupported(format!("Op{op:?} in a constant"));
        }
        ReflectError::BadLocalSize { .. } => {
            problems.push(origin.at("specialization").error("local-size", error.to_string()));
        }
        ReflectError::Layout(LayoutError::NoSize { what, .. }) => problems.unsupported(format!("a block with {what}")),
        ReflectError::NoEntryPoint { .. }
        | ReflectError::NoLocalSize { .. }
        | ReflectError::Undecorated { .. }
        | ReflectError::Constant(ConstantError::Malformed { .. })
        | ReflectError::Layout(
            LayoutError::Undecorated { .. } | LayoutError::UnknownLength { .. } | LayoutError::TooLarge { .. },
        ) => problems.push(origin.at("kernel").error("bad-spirv", format!("kernel `{}`: {error}", call.kernel))),
    }
}

fn check_limits(
    reflection: &Reflection,
    call: &Call<'_>,
    setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) {
    let limits = setting.limits;
    for (axis, name) in ["x", "y", "z"].iter().enumerate() {
        let place = origin.at("groups").at(axis);
        if call.groups[axis] == 0 {
            let problem = place.error("bad-groups", "a dispatch of zero workgroups runs nothing");
            problems.push(problem.hint("each of the three counts is at least 1"));
        } else if call.groups[axis] > limits.groups[axis] {
            let (count, limit) = (call.groups[axis], limits.groups[axis]);
            let message = format!("{count} workgroups in {name} are above the limit of {limit}");
            problems.push(place.error("limit", message).hint("the limit is `limits.groups` of vkcert.toml"));
        }
        if reflection.local_size[axis] > limits.local_size[axis] {
            let (size, limit) = (reflection.local_size[axis], limits.local_size[axis]);
            let message =
                format!("the local size of `{}` in {name} is {size}, above the limit of {limit}", call.kernel);
            problems.push(origin.at("kernel").error("limit", message));
        }
    }
    let invocations: u64 = reflection.local_size.iter().map(|size| u64::from(*size)).fold(1, u64::saturating_mul);
    let workgroup: u64 = reflection.workgroup.iter().map(|variable| variable.size).sum();
    let constants = reflection.push_constants.as_ref().map_or(0, |constants| constants.size);
    for (value, limit, what) in [
        (invocations, u64::from(limits.invocations), "invocations per workgroup"),
        (workgroup, u64::from(limits.workgroup_bytes), "bytes of workgroup memory"),
        (constants, u64::from(limits.push_constant_bytes), "bytes of push constants"),
    ] {
        if value > limit {
            let message = format!("`{}` has {value} {what}, above the limit of {limit}", call.kernel);
            problems.push(origin.at("kernel").error("limit", message));
        }
    }
}

fn declared(module: &Module) -> Vec<Declared> {
    let number = |id: Id, decoration| match module.decoration(id, decoration)?.operands.first()? {
        Operand::LiteralBit32(number) => Some(*number),
        _ => None,
    };
    let globals = module.instructions.iter().take_while(|instruction| instruction.op != Op::Function);
    let variables = globals.filter(|instruction| instruction.op == Op::Variable).filter_map(|found| found.result);
    variables
        .filter_map(|id| {
            let name = module.name(id).filter(|name| !name.is_empty()).map(str::to_owned);
            Some(Declared {
                set: number(id, Decoration::DescriptorSet)?,
                binding: number(id, Decoration::Binding)?,
                name,
            })
        })
        .collect()
}

/// Raw bits by specialization id, of those given; none after a problem.
pub fn specialization(
    kernel: &PreparedKernel,
    name: &KernelName,
    given: &BTreeMap<String, SpecializationValue>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<BTreeMap<u32, u64>> {
    let types = Types::of(&kernel.module);
    let constants = specialization_types(&kernel.module, &types);
    let before = problems.count();
    let mut values = BTreeMap::new();
    for (key, value) in given {
        let place = origin.at("specialization").at(key);
        let found = key.parse::<u32>().ok().and_then(|id| Some((id, constants.get(&id)?)));
        let Some((id, (ty, _))) = found else {
            let known: Vec<String> = constants
                .iter()
                .map(|(id, (_, name))| name.as_ref().map_or(id.to_string(), |name| format!("{id} (`{name}`)")))
                .collect();
            let message = format!("the kernel `{name}` has no specialization constant `{key}`");
            let hint = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
            problems.push(place.key_error("unknown-id", message).hint(hint));
            continue;
        };
        let Some(scalar) = scalar_type(&types, *ty) else {
            problems.unsupported(format!("a specialization constant of type {}", types.name(*ty)));
            continue;
        };
        if let Some(declared) = value.data_type.filter(|given| given.components != 1 || given.scalar != scalar) {
            let message = format!("specialization constant {id} is {scalar}, not {declared}");
            problems.push(place.at("type").error("wrong-type", message));
            continue;
        }
        match specialization_bits(scalar, value) {
            Ok(bits) => {
                values.insert(id, bits);
            }
            Err((key, message)) => problems.push(place.at(key).error("bad-value", message)),
        }
    }
    (problems.count() == before).then_some(values)
}

/// Raw bits of a value given for a constant of a type; else the key at fault and what is wrong with it.
pub fn specialization_bits(scalar: ScalarType, value: &SpecializationValue) -> Result<u64, (&'static str, String)> {
    let width = scalar.size() as u32 * 8;
    match (&value.value, &value.bits) {
        (Some(value), _) => encode(scalar, value).map_err(|message| ("value", message)),
        (None, Some(Datum::Integer(bits))) => match u64::try_from(*bits) {
            Ok(bits) if width == 64 || bits >> width == 0 => Ok(bits),
            _ => Err(("bits", format!("{bits} is no number of {width} bits"))),
        },
        (None, Some(Datum::Text(text))) => match text.strip_prefix("0x") {
            Some(digits) => raw_bits(digits, width, text).map_err(|message| ("bits", message)),
            None => Err(("bits", format!("`{text}` does not begin with `0x`"))),
        },
        (None, Some(other)) => Err(("bits", format!("expected raw bits as \"0x...\", found {}", other.kind()))),
        (None, None) => Err(("value", "a specialization has either a `value` or `bits`".to_owned())),
    }
}

/// Type and name of every specialization constant, by specialization id.
fn specialization_types(module: &Module, types: &Types) -> BTreeMap<u32, (Id, Option<String>)> {
    let declared = module.instructions.iter().filter_map(|instruction| {
        let (id, ty) = (instruction.result?, instruction.result_type?);
        types.get(ty)?;
        let Operand::LiteralBit32(number) = module.decoration(id, Decoration::SpecId)?.operands.first()? else {
            return None;
        };
        Some((*number, (ty, module.name(id).filter(|name| !name.is_empty()).map(str::to_owned))))
    });
    declared.collect()
}

/// The dispatch as engines take it; none after a problem.
pub fn resolve(
    call: &Call<'_>,
    called: &Dispatched,
    buffers: &[JobBuffer],
    module: usize,
    setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<JobDispatch> {
    let before = problems.count();
    let bindings = bindings(call, called, buffers, &origin.at("bindings"), problems);
    missing(call, called, &origin.at("bindings"), problems);
    let (push_constants, push_constants_defined) = push_constants(call, called, &origin.at("push_constants"), problems);
    let dispatch = JobDispatch {
        module,
        entry: setting.kernels[call.kernel].entry.clone(),
        groups: call.groups,
        bindings,
        push_constants,
        push_constants_defined,
        specialization: called.specialization.clone(),
        subgroup_size: call.subgroup_size,
    };
    (problems.count() == before).then_some(dispatch)
}

fn described(set: u32, binding: u32, name: Option<&str>) -> String {
    let name = name.map(|name| format!(" (`{name}`)")).unwrap_or_default();
    format!("set {set} binding {binding}{name}")
}

fn bindings(
    call: &Call<'_>,
    called: &Dispatched,
    buffers: &[JobBuffer],
    origin: &Origin,
    problems: &mut Problems,
) -> Vec<JobBinding> {
    let mut bound = Vec::new();
    for (index, binding) in call.bindings.iter().enumerate() {
        let place = origin.at(index);
        let resource = called.resource(binding.set, binding.binding);
        let declared = called.declared.iter().any(|found| (found.set, found.binding) == (binding.set, binding.binding));
        if resource.is_none() && !declared {
            let known: Vec<String> = called
                .declared
                .iter()
                .map(|found| described(found.set, found.binding, found.name.as_deref()))
                .collect();
            let message = format!(
                "the kernel `{}` has nothing at {}",
                call.kernel,
                described(binding.set, binding.binding, None)
            );
            let hint = if known.is_empty() {
                "it declares no resource".to_owned()
            } else {
                format!("it declares {}", known.join(", "))
            };
            problems.push(place.at("binding").error("unknown-binding", message).hint(hint));
            continue;
        }
        let Some(class) = class(binding, resource, &place, problems) else { continue };
        bound.extend(range(binding, resource, class, buffers, &place, problems));
    }
    bound
}

/// The class of a binding: the one given if it fits, or the module's own.
fn class(
    binding: &Binding,
    resource: Option<&Resource>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<DescriptorClass> {
    let own = resource.map_or(DescriptorClass::Storage, |resource| resource.class);
    let class = binding.class.unwrap_or(own);
    let of_buffer = |class| match class {
        DescriptorClass::Storage | DescriptorClass::StorageDynamic => Some(DescriptorClass::Storage),
        DescriptorClass::Uniform | DescriptorClass::UniformDynamic => Some(DescriptorClass::Uniform),
        DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Sampler
        | DescriptorClass::Combined
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => None,
    };
    let fits = match (of_buffer(own), of_buffer(class)) {
        (Some(own), Some(class)) => own == class,
        _ => own == class,
    };
    if resource.is_some() && !fits {
        let message = format!("the kernel declares a `{}` here, not a `{}`", own.name(), class.name());
        let place = if binding.class.is_some() { origin.at("class") } else { origin.at("binding") };
        problems.push(place.error("wrong-class", message));
        return None;
    }
    if of_buffer(class).is_none() {
        problems.unsupported(format!("descriptors of class {}", class.name()));
        return None;
    }
    let dynamic = matches!(class, DescriptorClass::StorageDynamic | DescriptorClass::UniformDynamic);
    if binding.dynamic_offset.is_some() && !dynamic {
        let message = format!("a `{}` descriptor has no dynamic offset", class.name());
        problems.push(
            origin
                .at("dynamic_offset")
                .key_error("wrong-class", message)
                .hint("use `storage_dynamic` or `uniform_dynamic`"),
        );
        return None;
    }
    Some(class)
}

/// The bytes that a binding covers, checked against its buffer and its block.
fn range(
    binding: &Binding,
    resource: Option<&Resource>,
    class: DescriptorClass,
    buffers: &[JobBuffer],
    origin: &Origin,
    problems: &mut Problems,
) -> Option<JobBinding> {
    let Some(name) = &binding.buffer else {
        problems.push(origin.error("contradiction", format!("a `{}` descriptor needs a `buffer`", class.name())));
        return None;
    };
    let Some((index, buffer)) = buffers.iter().enumerate().find(|(_, buffer)| buffer.name == *name) else {
        problems.push(origin.at("buffer").error("unknown-buffer", format!("there is no buffer `{name}`")));
        return None;
    };
    let size = buffer.bytes.len() as u64;
    let dynamic_offset = binding.dynamic_offset.unwrap_or(0);
    let start = binding.offset.checked_add(dynamic_offset).filter(|start| *start < size);
    let Some(start) = start else {
        let message = format!(
            "offset {} lies beyond the {size} bytes of `{name}`",
            binding.offset.saturating_add(dynamic_offset)
        );
        let key = if binding.offset < size { "dynamic_offset" } else { "offset" };
        problems.push(origin.at(key).error("size", message));
        return None;
    };
    if !start.is_multiple_of(4) {
        // The smallest alignment that any device asks for; a device that asks for more says so itself.
        let message = format!("offset {start} of `{name}` is no multiple of 4");
        let key = if binding.offset.is_multiple_of(4) { "dynamic_offset" } else { "offset" };
        problems.push(origin.at(key).error("size", message));
        return None;
    }
    let range = binding.range.unwrap_or(size - start);
    if range == 0 || range > size - start {
        let message =
            format!("a range of {range} bytes from byte {start} on does not lie within the {size} bytes of `{name}`");
        problems.push(origin.at("range").error("size", message));
        return None;
    }
    let needed = resource.map_or(0, |resource| resource.fixed_bytes);
    if range < needed {
        let what = described(binding.set, binding.binding, resource.and_then(|resource| resource.name.as_deref()));
        let message = format!("the block at {what} has {needed} bytes, and {range} bytes of `{name}` are bound to it");
        problems.push(origin.at("buffer").error("size", message));
        return None;
    }
    let within = match resource.map_or(DescriptorCount::One, |resource| resource.count) {
        DescriptorCount::One => binding.array_index == 0,
        DescriptorCount::Array(count) => binding.array_index < count,
        DescriptorCount::Runtime => true,
    };
    if !within {
        let message =
            format!("{} has no element {}", described(binding.set, binding.binding, None), binding.array_index);
        problems.push(origin.at("array_index").error("size", message));
        return None;
    }
    Some(JobBinding {
        set: binding.set,
        binding: binding.binding,
        array_index: binding.array_index,
        class,
        buffer: index,
        offset: binding.offset,
        range,
        dynamic_offset,
    })
}

/// Reports descriptors that the kernel uses and nothing is bound to.
fn missing(call: &Call<'_>, called: &Dispatched, origin: &Origin, problems: &mut Problems) {
    let bound: BTreeSet<(u32, u32, u32)> =
        call.bindings.iter().map(|binding| (binding.set, binding.binding, binding.array_index)).collect();
    for resource in &called.reflection.resources {
        let count = match resource.count {
            DescriptorCount::One | DescriptorCount::Runtime => 1,
            DescriptorCount::Array(count) => count,
        };
        let absent: Vec<u32> =
            (0..count).filter(|element| !bound.contains(&(resource.set, resource.binding, *element))).collect();
        let Some(first) = absent.first() else { continue };
        let element = match resource.count {
            DescriptorCount::Array(_) => format!(" element {first}"),
            DescriptorCount::One | DescriptorCount::Runtime => String::new(),
        };
        let what = described(resource.set, resource.binding, resource.name.as_deref());
        let message = format!("the kernel `{}` uses {what}{element}, and nothing is bound to it", call.kernel);
        let hint = format!("add {{ set = {}, binding = {}, buffer = ... }}", resource.set, resource.binding);
        problems.push(origin.error("missing-binding", message).hint(hint));
    }
}

/// Push-constant bytes and the ranges of them that are defined.
fn push_constants(
    call: &Call<'_>,
    called: &Dispatched,
    origin: &Origin,
    problems: &mut Problems,
) -> (Vec<u8>, Vec<std::ops::Range<usize>>) {
    let Some(block) = &called.reflection.push_constants else {
        if call.push_constants.is_some_and(|given| !is_empty(given)) {
            let message = format!("the kernel `{}` uses no push constants", call.kernel);
            problems.push(origin.key_error("unknown-member", message).hint("leave `push_constants` out"));
        }
        return (Vec::new(), Vec::new());
    };
    // The size of a push-constant range is a multiple of 4 (VkPushConstantRange).
    let mut bytes = vec![UNINITIALISED; block.size.next_multiple_of(4) as usize];
    let defined = match call.push_constants {
        None => Vec::new(),
        Some(given) => match raw_push_constants(given, block) {
            Some(text) => {
                let Some(raw) = decode_base64(text, &origin.at("bytes"), problems) else { return (bytes, Vec::new()) };
                if raw.len() > bytes.len() {
                    let message = format!("{} bytes are given, and the block has {}", raw.len(), block.size);
                    problems.push(origin.at("bytes").error("size", message));
                    return (bytes, Vec::new());
                }
                bytes[..raw.len()].copy_from_slice(&raw);
                whole_range(raw.len())
            }
            None => {
                let mut walk = Walk { layout: &called.layout, leaves: Vec::new(), problems };
                walk.value(block.structure, None, 0, given, origin);
                place(&walk.leaves, &mut bytes)
            }
        },
    };
    (bytes, defined)
}

fn is_empty(given: &Datum) -> bool {
    match given {
        Datum::Record(members) => members.is_empty(),
        Datum::List(values) => values.is_empty(),
        Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Text(_) => false,
    }
}

/// The base64 text of `{"bytes": ...}`, unless the block has a member of that name.
fn raw_push_constants<'a>(given: &'a Datum, block: &PushConstants) -> Option<&'a str> {
    let Datum::Record(members) = given else { return None };
    let named = block.members.iter().any(|member| member.name.as_deref() == Some("bytes"));
    match (members.len(), members.get("bytes")) {
        (1, Some(Datum::Text(text))) if !named => Some(text),
        _ => None,
    }
}
