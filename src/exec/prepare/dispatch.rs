//! One dispatch against its kernel's interface: specialization, workgroup counts, push constants.

use super::address::{Pointer, place_symbols};
use super::binding::{self, Bound};
use super::definedness::{UNINITIALISED, place, whole_range};
use super::elements::decode_base64;
use super::layout::{Layout, Walk, scalar_type};
use super::problems::Problems;
use super::setting::{PreparedKernel, Setting};
use super::{Call, Dispatched, declared};
use crate::JobDispatch;
use crate::resource::{AddressPlace, JobAddress};
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, ExecutionModel, Op};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_model::element::Datum;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::SpecializationValue;
use vkcert_oracle::scalar::specialization_bits;
use vkcert_requirement::Origin;
use vkcert_spirv::constants::{ConstantError, Constants};
use vkcert_spirv::interface::{PushConstants, ReflectError, Reflection};
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::types::{LayoutError, Types};

/// Resolves specialization and interface of a call; none after a problem.
pub(super) fn interface(
    call: &Call<'_>,
    setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Dispatched> {
    let Some(kernel) = setting.kernels.get(call.kernel) else {
        problems.push(
            origin
                .at("kernel")
                .error("unknown-kernel", format!("there is no kernel `{}`", call.kernel)),
        );
        return None;
    };
    let before = problems.count();
    compute_kernel(kernel, call, origin, problems)?;
    let specialization =
        specialization(kernel, call.kernel, call.specialization, origin, problems)?;
    let reflection = Reflection::of_entry_point(&kernel.module, &kernel.entry, &specialization)
        .map_err(|error| refuse(error, call, origin, problems))
        .ok()?;
    let declared_push_constants = match &reflection.push_constants {
        Some(used) => Some(used.clone()),
        None => PushConstants::unused_block(&kernel.module, &specialization),
    };
    check_limits(&reflection, call, setting, origin, problems);
    let types = Types::of_module(&kernel.module);
    let constants = Constants::evaluate(&kernel.module, &types, &specialization).ok()?;
    let declared = declared::declared(&kernel.module);
    let ready = problems.count() == before;
    let layout = Arc::new(Layout { types, constants });
    ready.then_some(Dispatched {
        specialization,
        reflection,
        declared_push_constants,
        layout,
        declared,
    })
}

/// A module that is valid but no compute kernel for Vulkan is unsupported, not wrong.
fn compute_kernel(
    kernel: &PreparedKernel,
    call: &Call<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<()> {
    let opencl = Operand::Capability(Capability::Kernel);
    let declares = |op, operand: &Operand| {
        kernel
            .module
            .instructions
            .iter()
            .any(|found| found.op == op && found.operands.first() == Some(operand))
    };
    if declares(Op::Capability, &opencl) {
        problems
            .unsupported(format!("capability Kernel (`{}` is a module for OpenCL)", call.kernel));
        return None;
    }
    let mut named =
        kernel.module.entry_points.iter().filter(|point| point.name == kernel.entry).peekable();
    if named.peek().is_none() {
        let known: Vec<&str> =
            kernel.module.entry_points.iter().map(|point| point.name.as_str()).collect();
        let message = format!("the kernel `{}` has no entry point `{}`", call.kernel, kernel.entry);
        let hint = if known.is_empty() {
            "the module has none".to_owned()
        } else {
            format!("it has {}", known.join(", "))
        };
        problems.push(origin.at("kernel").error("unknown-entry", message).hint(hint));
        return None;
    }
    let models: Vec<ExecutionModel> = named.map(|point| point.model).collect();
    if !models.contains(&ExecutionModel::GLCompute) {
        problems.unsupported(format!(
            "execution model {:?} (entry point `{}`)",
            models[0], kernel.entry
        ));
        return None;
    }
    Some(())
}

fn refuse(error: ReflectError, call: &Call<'_>, origin: &Origin, problems: &mut Problems) {
    match &error {
        ReflectError::UnsupportedResource { what } => {
            problems.unsupported(format!("a resource of type {what}"))
        }
        ReflectError::Constant(ConstantError::Unsupported { op }) => {
            problems.unsupported(format!("Op{op:?} in a constant"));
        }
        ReflectError::BadLocalSize { .. } => {
            problems.push(origin.at("specialization").error("local-size", error.to_string()));
        }
        ReflectError::Layout(LayoutError::NoSize { what, .. }) => {
            problems.unsupported(format!("a block with {what}"))
        }
        ReflectError::NoEntryPoint { .. }
        | ReflectError::NoLocalSize { .. }
        | ReflectError::Undecorated { .. }
        | ReflectError::Constant(ConstantError::Malformed { .. })
        | ReflectError::Layout(
            LayoutError::Undecorated { .. }
            | LayoutError::UnknownLength { .. }
            | LayoutError::TooLarge { .. },
        ) => problems.push(
            origin.at("kernel").error("bad-spirv", format!("kernel `{}`: {error}", call.kernel)),
        ),
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
            problems.push(
                place.error("limit", message).hint("the limit is `limits.groups` of vkcert.toml"),
            );
        }
        if reflection.local_size[axis] > limits.local_size[axis] {
            let (size, limit) = (reflection.local_size[axis], limits.local_size[axis]);
            let message = format!(
                "the local size of `{}` in {name} is {size}, above the limit of {limit}",
                call.kernel
            );
            problems.push(origin.at("kernel").error("limit", message));
        }
    }
    let invocations: u64 =
        reflection.local_size.iter().map(|size| u64::from(*size)).fold(1, u64::saturating_mul);
    let workgroup: u64 = reflection.workgroup.iter().map(|variable| variable.size).sum();
    let constants = reflection.push_constants.as_ref().map_or(0, |constants| constants.size);
    for (value, limit, what) in [
        (invocations, u64::from(limits.invocations), "invocations per workgroup"),
        (workgroup, u64::from(limits.workgroup_bytes), "bytes of workgroup memory"),
        (constants, u64::from(limits.push_constant_bytes), "bytes of push constants"),
    ] {
        if value > limit {
            let message =
                format!("`{}` has {value} {what}, above the limit of {limit}", call.kernel);
            problems.push(origin.at("kernel").error("limit", message));
        }
    }
}

/// Raw bits by specialization id, of those given; none after a problem.
pub(super) fn specialization(
    kernel: &PreparedKernel,
    name: &KernelName,
    given: &BTreeMap<String, SpecializationValue>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<BTreeMap<u32, u64>> {
    let types = Types::of_module(&kernel.module);
    let constants = specialization_types(&kernel.module, &types);
    let before = problems.count();
    let mut values = BTreeMap::new();
    for (key, value) in given {
        let place = origin.at("specialization").at(key);
        let found = key.parse::<u32>().ok().and_then(|id| Some((id, constants.get(&id)?.first()?)));
        let Some((id, (ty, _))) = found else {
            let known: Vec<String> = constants
                .iter()
                .flat_map(|(id, all)| all.iter().map(move |(_, name)| (id, name)))
                .map(|(id, name)| {
                    name.as_ref().map_or(id.to_string(), |name| format!("{id} (`{name}`)"))
                })
                .collect();
            let message = format!("the kernel `{name}` has no specialization constant `{key}`");
            let hint = if known.is_empty() {
                "it has none".to_owned()
            } else {
                format!("it has {}", known.join(", "))
            };
            problems.push(place.key_error("unknown-id", message).hint(hint));
            continue;
        };
        let others = constants.get(&id).map_or(&[][..], |all| &all[1..]);
        if let Some((other, _)) =
            others.iter().find(|(other, _)| types.glsl_name(*other) != types.glsl_name(*ty))
        {
            let (one, other) = (types.glsl_name(*ty), types.glsl_name(*other));
            let message = format!(
                "constants of different types have the specialization id {id}: {one} and {other}"
            );
            let hint = "one value cannot be given to both; give each constant an id of its own";
            problems.push(place.key_error("wrong-type", message).hint(hint));
            continue;
        }
        let Some(scalar) = scalar_type(&types, *ty) else {
            problems
                .unsupported(format!("a specialization constant of type {}", types.glsl_name(*ty)));
            continue;
        };
        if let Some(declared) =
            value.data_type.filter(|given| given.components != 1 || given.scalar != scalar)
        {
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

/// Types and names of the specialization constants, by specialization id.
fn specialization_types(
    module: &Module,
    types: &Types,
) -> BTreeMap<u32, Vec<(Id, Option<String>)>> {
    let declared = module.instructions.iter().filter_map(|instruction| {
        let (id, ty) = (instruction.result?, instruction.result_type?);
        types.get(ty)?;
        let number = module.specialization_id(id)?;
        Some((
            number,
            (ty, module.debug_name(id).filter(|name| !name.is_empty()).map(str::to_owned)),
        ))
    });
    let mut by_id: BTreeMap<u32, Vec<(Id, Option<String>)>> = BTreeMap::new();
    for (number, constant) in declared {
        by_id.entry(number).or_default().push(constant);
    }
    by_id
}

/// The dispatch as engines take it, by its `number` in the job, with the addresses in its push
/// constants; none after a problem.
#[expect(clippy::too_many_arguments, reason = "a dispatch with all that it refers to")]
pub(super) fn resolve(
    call: &Call<'_>,
    called: &Dispatched,
    bound: &Bound<'_>,
    module: usize,
    number: u32,
    setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<(JobDispatch, Vec<JobAddress>)> {
    let before = problems.count();
    let bindings = binding::bindings(call, called, bound, &origin.at("bindings"), problems);
    binding::missing(call, called, &origin.at("bindings"), problems);
    let (mut push_constants, mut push_constants_defined, pointers) =
        push_constants(call, called, &origin.at("push_constants"), problems);
    let place = AddressPlace::PushConstants(number);
    let resolved = pointers
        .iter()
        .map(|pointer| pointer.resolve(place, bound.buffers, bound.resources, problems));
    let addresses = resolved.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?;
    place_symbols(
        &pointers,
        &addresses,
        &mut push_constants,
        &mut push_constants_defined,
        problems,
    )?;
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
    (problems.count() == before).then_some((dispatch, addresses))
}

/// Push-constant bytes, the ranges of them that are defined, and the addresses that they are to
/// hold.
fn push_constants(
    call: &Call<'_>,
    called: &Dispatched,
    origin: &Origin,
    problems: &mut Problems,
) -> (Vec<u8>, Vec<std::ops::Range<usize>>, Vec<Pointer>) {
    let Some(block) = &called.declared_push_constants else {
        if call.push_constants.is_some_and(|given| !is_empty(given)) {
            let message = format!("the kernel `{}` uses no push constants", call.kernel);
            problems.push(
                origin.key_error("unknown-member", message).hint("leave `push_constants` out"),
            );
        }
        return (Vec::new(), Vec::new(), Vec::new());
    };
    // The size of a push-constant range is a multiple of 4 (VkPushConstantRange).
    let mut bytes = vec![UNINITIALISED; block.size.next_multiple_of(4) as usize];
    let mut pointers = Vec::new();
    let defined = match call.push_constants {
        None => Vec::new(),
        Some(given) => match raw_push_constants(given, block) {
            Some(text) => {
                let Some(raw) = decode_base64(text, &origin.at("bytes"), problems) else {
                    return (bytes, Vec::new(), Vec::new());
                };
                if raw.len() > bytes.len() {
                    let message =
                        format!("{} bytes are given, and the block has {}", raw.len(), block.size);
                    problems.push(origin.at("bytes").error("size", message));
                    return (bytes, Vec::new(), Vec::new());
                }
                bytes[..raw.len()].copy_from_slice(&raw);
                whole_range(raw.len())
            }
            None => {
                let mut walk = Walk::new(&called.layout, problems);
                walk.value(block.structure, None, 0, given, origin);
                pointers = walk.pointers;
                place(&walk.leaves, &mut bytes)
            }
        },
    };
    match &called.reflection.push_constants {
        Some(_) => (bytes, defined, pointers),
        // What the kernel never reads is not pushed.
        None => (Vec::new(), Vec::new(), Vec::new()),
    }
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
