//! One dispatch against its kernel's interface: specialization, workgroup counts, push constants.

use super::address::{NamedAddress, place_symbols};
use super::binding::{self, BindingTargets};
use super::definedness::{UNINITIALISED, place_scalars, whole_range};
use super::elements::decode_base64;
use super::layout::{ModuleLayout, ValueWalk, scalar_type};
use super::problems::Problems;
use super::setting::{PreparedKernel, Setting};
use super::{ResolvedCall, declared};
use crate::JobDispatch;
use crate::resource::{AddressPlace, JobAddress};
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, ExecutionModel, Op};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_model::element::Datum;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::{KernelCall, SpecializationValue};
use vkcert_oracle::scalar::specialization_bits;
use vkcert_requirement::Origin;
use vkcert_spirv::constants::{ConstantError, Constants};
use vkcert_spirv::interface::{PushConstants, ReflectError, Reflection};
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::types::{LayoutError, Types};

/// Resolves specialization and interface of a call; none after a problem.
pub(super) fn resolve_interface(
    call: &KernelCall<'_>,
    test_setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<ResolvedCall> {
    let Some(prepared_kernel) = test_setting.kernels.get(call.kernel) else {
        problems.push(
            origin
                .at("kernel")
                .error("unknown-kernel", format!("there is no kernel `{}`", call.kernel)),
        );
        return None;
    };
    let problems_before = problems.count();
    check_compute_kernel(prepared_kernel, call, origin, problems)?;
    let specialization = specialization_bits_by_id(
        prepared_kernel,
        call.kernel,
        call.specialization,
        origin,
        problems,
    )?;
    let reflection = Reflection::of_entry_point(
        &prepared_kernel.module,
        &prepared_kernel.entry,
        &specialization,
    )
    .map_err(|error| report_reflect_error(error, call, origin, problems))
    .ok()?;
    let unused_push_constants = match &reflection.push_constants {
        Some(_) => None,
        None => PushConstants::unused_block(&prepared_kernel.module, &specialization),
    };
    check_limits(&reflection, call, test_setting, origin, problems);
    let types = Types::of_module(&prepared_kernel.module);
    let constants = Constants::evaluate(&prepared_kernel.module, &types, &specialization).ok()?;
    let declared_descriptors = declared::declared_descriptors(&prepared_kernel.module);
    let has_no_problem = problems.count() == problems_before;
    let layout = Arc::new(ModuleLayout { types, constants });
    has_no_problem.then_some(ResolvedCall {
        specialization,
        reflection,
        unused_push_constants,
        layout,
        declared: declared_descriptors,
    })
}

/// A module that is valid but no compute kernel for Vulkan is unsupported, not wrong.
fn check_compute_kernel(
    prepared_kernel: &PreparedKernel,
    call: &KernelCall<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<()> {
    let opencl_capability = Operand::Capability(Capability::Kernel);
    let has_operand = |op, operand: &Operand| {
        prepared_kernel.module.instructions.iter().any(|instruction| {
            instruction.op == op && instruction.operands.first() == Some(operand)
        })
    };
    if has_operand(Op::Capability, &opencl_capability) {
        problems
            .unsupported(format!("capability Kernel (`{}` is a module for OpenCL)", call.kernel));
        return None;
    }
    let mut named_entry_points = prepared_kernel
        .module
        .entry_points
        .iter()
        .filter(|entry_point| entry_point.name == prepared_kernel.entry)
        .peekable();
    if named_entry_points.peek().is_none() {
        let known_entries: Vec<&str> = prepared_kernel
            .module
            .entry_points
            .iter()
            .map(|entry_point| entry_point.name.as_str())
            .collect();
        let message =
            format!("the kernel `{}` has no entry point `{}`", call.kernel, prepared_kernel.entry);
        let hint = if known_entries.is_empty() {
            "the module has none".to_owned()
        } else {
            format!("it has {}", known_entries.join(", "))
        };
        problems.push(origin.at("kernel").error("unknown-entry", message).hint(hint));
        return None;
    }
    let execution_models: Vec<ExecutionModel> =
        named_entry_points.map(|entry_point| entry_point.model).collect();
    if !execution_models.contains(&ExecutionModel::GLCompute) {
        problems.unsupported(format!(
            "execution model {:?} (entry point `{}`)",
            execution_models[0], prepared_kernel.entry
        ));
        return None;
    }
    Some(())
}

fn report_reflect_error(
    reflect_error: ReflectError,
    call: &KernelCall<'_>,
    origin: &Origin,
    problems: &mut Problems,
) {
    match &reflect_error {
        ReflectError::UnsupportedResource { what } => {
            problems.unsupported(format!("a resource of type {what}"))
        }
        ReflectError::Constant(ConstantError::Unsupported { op }) => {
            problems.unsupported(format!("Op{op:?} in a constant"));
        }
        ReflectError::BadLocalSize { .. } => {
            problems
                .push(origin.at("specialization").error("local-size", reflect_error.to_string()));
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
            origin
                .at("kernel")
                .error("bad-spirv", format!("kernel `{}`: {reflect_error}", call.kernel)),
        ),
    }
}

fn check_limits(
    reflection: &Reflection,
    call: &KernelCall<'_>,
    test_setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) {
    let limits = test_setting.limits;
    for (axis, axis_name) in ["x", "y", "z"].iter().enumerate() {
        let count_origin = origin.at("groups").at(axis);
        if call.groups[axis] == 0 {
            let problem =
                count_origin.error("bad-groups", "a dispatch of zero workgroups runs nothing");
            problems.push(problem.hint("each of the three counts is at least 1"));
        } else if call.groups[axis] > limits.groups[axis] {
            let (workgroup_count, highest_allowed) = (call.groups[axis], limits.groups[axis]);
            let message = format!(
                "{workgroup_count} workgroups in {axis_name} are above the limit of {highest_allowed}"
            );
            problems.push(
                count_origin
                    .error("limit", message)
                    .hint("the limit is `limits.groups` of vkcert.toml"),
            );
        }
        if reflection.local_size[axis] > limits.local_size[axis] {
            let (local_size, highest_allowed) =
                (reflection.local_size[axis], limits.local_size[axis]);
            let message = format!(
                "the local size of `{}` in {axis_name} is {local_size}, above the limit of {highest_allowed}",
                call.kernel
            );
            problems.push(origin.at("kernel").error("limit", message));
        }
    }
    let invocation_count: u64 = reflection
        .local_size
        .iter()
        .map(|axis_size| u64::from(*axis_size))
        .fold(1, u64::saturating_mul);
    let workgroup_bytes: u64 = reflection.workgroup.iter().map(|variable| variable.size).sum();
    let push_constant_bytes =
        reflection.push_constants.as_ref().map_or(0, |push_constants| push_constants.size);
    for (value, highest_allowed, limited_quantity) in [
        (invocation_count, u64::from(limits.invocations), "invocations per workgroup"),
        (workgroup_bytes, u64::from(limits.workgroup_bytes), "bytes of workgroup memory"),
        (push_constant_bytes, u64::from(limits.push_constant_bytes), "bytes of push constants"),
    ] {
        if value > highest_allowed {
            let message = format!(
                "`{}` has {value} {limited_quantity}, above the limit of {highest_allowed}",
                call.kernel
            );
            problems.push(origin.at("kernel").error("limit", message));
        }
    }
}

/// Raw bits by specialization id, of those given; none after a problem.
pub(super) fn specialization_bits_by_id(
    prepared_kernel: &PreparedKernel,
    kernel_name: &KernelName,
    given_values: &BTreeMap<String, SpecializationValue>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<BTreeMap<u32, u64>> {
    if given_values.is_empty() {
        return Some(BTreeMap::new());
    }
    let types = Types::of_module(&prepared_kernel.module);
    let constants_by_id = specialization_types(&prepared_kernel.module, &types);
    let problems_before = problems.count();
    let mut bits_by_id = BTreeMap::new();
    for (constant_key, given_value) in given_values {
        let value_origin = origin.at("specialization").at(constant_key);
        let known_constant = constant_key
            .parse::<u32>()
            .ok()
            .and_then(|id| Some((id, constants_by_id.get(&id)?.first()?)));
        let Some((id, (ty, _))) = known_constant else {
            let known_constants: Vec<String> = constants_by_id
                .iter()
                .flat_map(|(id, same_id)| {
                    same_id.iter().map(move |(_, constant_name)| (id, constant_name))
                })
                .map(|(id, constant_name)| {
                    constant_name
                        .as_ref()
                        .map_or(id.to_string(), |constant_name| format!("{id} (`{constant_name}`)"))
                })
                .collect();
            let message = format!(
                "the kernel `{kernel_name}` has no specialization constant `{constant_key}`"
            );
            let hint = if known_constants.is_empty() {
                "it has none".to_owned()
            } else {
                format!("it has {}", known_constants.join(", "))
            };
            problems.push(value_origin.key_error("unknown-id", message).hint(hint));
            continue;
        };
        let other_types = constants_by_id.get(&id).map_or(&[][..], |same_id| &same_id[1..]);
        if let Some((other_type, _)) = other_types
            .iter()
            .find(|(other_type, _)| types.glsl_name(*other_type) != types.glsl_name(*ty))
        {
            let (first_type, other_type) = (types.glsl_name(*ty), types.glsl_name(*other_type));
            let message = format!(
                "constants of different types have the specialization id {id}: {first_type} and {other_type}"
            );
            let hint = "one value cannot be given to both; give each constant an id of its own";
            problems.push(value_origin.key_error("wrong-type", message).hint(hint));
            continue;
        }
        let Some(scalar) = scalar_type(&types, *ty) else {
            problems
                .unsupported(format!("a specialization constant of type {}", types.glsl_name(*ty)));
            continue;
        };
        if let Some(declared_type) = given_value
            .data_type
            .filter(|declared_type| declared_type.components != 1 || declared_type.scalar != scalar)
        {
            let message = format!("specialization constant {id} is {scalar}, not {declared_type}");
            problems.push(value_origin.at("type").error("wrong-type", message));
            continue;
        }
        match specialization_bits(scalar, given_value) {
            Ok(bits) => {
                bits_by_id.insert(id, bits);
            }
            Err((faulty_key, message)) => {
                problems.push(value_origin.at(faulty_key).error("bad-value", message))
            }
        }
    }
    (problems.count() == problems_before).then_some(bits_by_id)
}

/// Types and names of the specialization constants, by specialization id.
fn specialization_types(
    module: &Module,
    types: &Types,
) -> BTreeMap<u32, Vec<(Id, Option<String>)>> {
    let declared_constants = module.instructions.iter().filter_map(|instruction| {
        let (id, type_id) = (instruction.result?, instruction.result_type?);
        types.get(type_id)?;
        let constant_id = module.specialization_id(id)?;
        Some((
            constant_id,
            (type_id, module.debug_name(id).filter(|name| !name.is_empty()).map(str::to_owned)),
        ))
    });
    let mut by_id: BTreeMap<u32, Vec<(Id, Option<String>)>> = BTreeMap::new();
    for (constant_id, constant) in declared_constants {
        by_id.entry(constant_id).or_default().push(constant);
    }
    by_id
}

/// The dispatch as engines take it, by its `number` in the job, with the addresses in its push
/// constants; none after a problem.
#[expect(clippy::too_many_arguments, reason = "a dispatch with all that it refers to")]
pub(super) fn resolve_dispatch(
    call: &KernelCall<'_>,
    called: &ResolvedCall,
    bound_targets: &BindingTargets<'_>,
    module_index: usize,
    dispatch_number: u32,
    test_setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<(JobDispatch, Vec<JobAddress>)> {
    let problems_before = problems.count();
    let bindings =
        binding::job_bindings(call, called, bound_targets, &origin.at("bindings"), problems);
    binding::report_missing_bindings(call, called, &origin.at("bindings"), problems);
    let (mut push_constants, mut push_constants_defined, named_addresses) =
        push_constant_contents(call, called, &origin.at("push_constants"), problems);
    let address_place = AddressPlace::PushConstants(dispatch_number);
    let resolved_addresses = named_addresses.iter().map(|pointer| {
        pointer.resolve_address(
            address_place,
            bound_targets.buffers,
            bound_targets.resources,
            problems,
        )
    });
    let addresses =
        resolved_addresses.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?;
    place_symbols(
        &named_addresses,
        &addresses,
        &mut push_constants,
        &mut push_constants_defined,
        problems,
    )?;
    let job_dispatch = JobDispatch {
        module: module_index,
        entry: test_setting.kernels[call.kernel].entry.clone(),
        groups: call.groups,
        bindings,
        push_constants,
        push_constants_defined,
        specialization: called.specialization.clone(),
        subgroup_size: call.subgroup_size,
    };
    (problems.count() == problems_before).then_some((job_dispatch, addresses))
}

/// Push-constant bytes, the ranges of them that are defined, and the addresses that they are to
/// hold.
fn push_constant_contents(
    call: &KernelCall<'_>,
    called: &ResolvedCall,
    origin: &Origin,
    problems: &mut Problems,
) -> (Vec<u8>, Vec<std::ops::Range<usize>>, Vec<NamedAddress>) {
    let Some(declared_block) = called.declared_push_constants() else {
        if call.push_constants.is_some_and(|given_value| !is_empty_value(given_value)) {
            let message = format!("the kernel `{}` uses no push constants", call.kernel);
            problems.push(
                origin.key_error("unknown-member", message).hint("leave `push_constants` out"),
            );
        }
        return (Vec::new(), Vec::new(), Vec::new());
    };
    // The size of a push-constant range is a multiple of 4 (VkPushConstantRange).
    let mut constant_bytes = vec![UNINITIALISED; declared_block.size.next_multiple_of(4) as usize];
    let mut named_addresses = Vec::new();
    let defined_ranges = match call.push_constants {
        None => Vec::new(),
        Some(given_value) => match raw_push_constants(given_value, declared_block) {
            Some(base64_text) => {
                let Some(raw_bytes) = decode_base64(base64_text, &origin.at("bytes"), problems)
                else {
                    return (constant_bytes, Vec::new(), Vec::new());
                };
                if raw_bytes.len() > constant_bytes.len() {
                    let message = format!(
                        "{} bytes are given, and the block has {}",
                        raw_bytes.len(),
                        declared_block.size
                    );
                    problems.push(origin.at("bytes").error("size", message));
                    return (constant_bytes, Vec::new(), Vec::new());
                }
                constant_bytes[..raw_bytes.len()].copy_from_slice(&raw_bytes);
                whole_range(raw_bytes.len())
            }
            None => {
                let mut value_walk = ValueWalk::new(&called.layout, problems);
                value_walk.collect_value(declared_block.structure, None, 0, given_value, origin);
                named_addresses = value_walk.named_addresses;
                place_scalars(&value_walk.scalar_leaves, &mut constant_bytes)
            }
        },
    };
    match &called.reflection.push_constants {
        Some(_) => (constant_bytes, defined_ranges, named_addresses),
        // What the kernel never reads is not pushed.
        None => (Vec::new(), Vec::new(), Vec::new()),
    }
}

fn is_empty_value(given_value: &Datum) -> bool {
    match given_value {
        Datum::Record(members) => members.is_empty(),
        Datum::List(values) => values.is_empty(),
        Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Text(_) => false,
    }
}

/// The base64 text of `{"bytes": ...}`, unless the block has a member of that name.
fn raw_push_constants<'a>(given_value: &'a Datum, block: &PushConstants) -> Option<&'a str> {
    let Datum::Record(members) = given_value else { return None };
    let has_bytes_member =
        block.members.iter().any(|member| member.name.as_deref() == Some("bytes"));
    match (members.len(), members.get("bytes")) {
        (1, Some(Datum::Text(text))) if !has_bytes_member => Some(text),
        _ => None,
    }
}
