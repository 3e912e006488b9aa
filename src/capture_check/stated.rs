//! What a project states of a host program, held against what the program did.
//!
//! Knows: the kernels of a project are found in a capture by their production modules, byte by byte;
//! an interface states in which range each of its parameters is, and which parameter a member of the
//! push constants holds.
//! Promises: a member is read as the kernel reads it, at the kernel's own offset, so that a host
//! that lays its struct out otherwise shows values that it does not state.
//! Does not cover: members that hold an expression or a floating-point value; sizes of buffers and
//! workgroups, which are expressions.

use crate::kernel::{KernelFacts, KernelTable};
use crate::row::{CaptureCheckName, CaptureReport};
use crate::words::operation_in_words;
use std::collections::BTreeSet;
use vkcert_capture::program::{Dispatch, Program};
use vkcert_model::evidence::CheckStatus;
use vkcert_model::requirement::{HostMember, HostParameter, HostType, Interface};

/// A kernel of a project and what the project states of its host.
#[derive(Debug, Clone)]
pub struct StatedKernel<'a> {
    /// Name of the kernel.
    pub name: &'a str,
    /// Its production module.
    pub module: Vec<u8>,
    /// What is stated.
    pub interface: &'a Interface,
}

const CHECK: CaptureCheckName = CaptureCheckName::PushConstantValues;

/// Holds the push constants of all dispatches of these kernels against their ranges.
pub(crate) fn check_stated(
    program: &Program,
    kernels: &KernelTable,
    stated: &[StatedKernel<'_>],
    report: &mut CaptureReport,
) {
    for kernel in stated {
        check_kernel(program, kernels, kernel, report);
    }
    if !stated.is_empty() {
        let message =
            format!("push constants are in the ranges that {} interfaces state", stated.len());
        report.holds(CHECK, message);
    }
}

fn check_kernel(
    program: &Program,
    kernels: &KernelTable,
    stated: &StatedKernel<'_>,
    report: &mut CaptureReport,
) {
    let is_kernel = |dispatch: &Dispatch| {
        let module = program.pipelines[dispatch.pipeline].module;
        module.is_some_and(|module| *program.modules[module] == stated.module)
    };
    let mut told = BTreeSet::new();
    let mut dispatches = 0u64;
    for (index, dispatch) in program.dispatches().filter(|(_, dispatch)| is_kernel(dispatch)) {
        dispatches += 1;
        let Ok(facts) = kernels.of_pipeline(dispatch.pipeline) else { continue };
        if dispatch.unseen.is_some() {
            continue;
        }
        for (member, parameter) in ranged_members(stated.interface) {
            let Some(value) = read_value(facts, dispatch, member) else { continue };
            let (least, greatest) = (i128::from(parameter.min), i128::from(parameter.max));
            if (least..=greatest).contains(&value) || !told.insert(&member.name) {
                continue;
            }
            let message = format!(
                "in {} the kernel `{}` reads {} = {value}, and its interface states {} to {}: the \
                 host does not push what is stated, or lays it out otherwise",
                operation_in_words(program, index),
                stated.name,
                member.name,
                parameter.min,
                parameter.max
            );
            report.add(CHECK, CheckStatus::Refuted, message, &[index]);
        }
    }
    if dispatches == 0 {
        let message = format!("no dispatch of the capture runs the module of `{}`", stated.name);
        report.add(CHECK, CheckStatus::Undetermined, message, &[]);
    }
}

/// Members that hold a parameter as it is.
fn ranged_members(interface: &Interface) -> impl Iterator<Item = (&HostMember, &HostParameter)> {
    let members = interface.push_constants.iter().flat_map(|pushed| &pushed.members);
    members.filter_map(|member| {
        let held = member.value.as_deref().unwrap_or(&member.name);
        let parameter = interface.parameters.iter().find(|parameter| parameter.name == held)?;
        Some((member, parameter))
    })
}

/// What the kernel reads in the member of that name; none of what it lacks or nobody set.
fn read_value(kernel: &KernelFacts, dispatch: &Dispatch, member: &HostMember) -> Option<i128> {
    let block = kernel.reflection.push_constants.as_ref()?;
    let declared =
        block.members.iter().find(|declared| declared.name.as_deref() == Some(&*member.name))?;
    let start = usize::try_from(declared.offset?).ok()?;
    let (size, is_signed) = integer_of(member.scalar_type()?)?;
    let bytes = dispatch.push_constants.get(start..start + size)?;
    let mut word = [0; 16];
    for (byte, value) in word.iter_mut().zip(bytes) {
        *byte = (*value)?;
    }
    let value = i128::from_le_bytes(word);
    let bits = size * 8;
    let is_negative = is_signed && value >> (bits - 1) != 0;
    Some(if is_negative { value - (1 << bits) } else { value })
}

/// Bytes of an integer type and whether it is signed; none of a floating-point type.
fn integer_of(host_type: HostType) -> Option<(usize, bool)> {
    match host_type {
        HostType::Int8 => Some((1, true)),
        HostType::Uint8 => Some((1, false)),
        HostType::Int16 => Some((2, true)),
        HostType::Uint16 => Some((2, false)),
        HostType::Int32 => Some((4, true)),
        HostType::Uint32 => Some((4, false)),
        HostType::Int64 => Some((8, true)),
        HostType::Uint64 => Some((8, false)),
        HostType::Float16 | HostType::Float32 | HostType::Float64 => None,
    }
}
