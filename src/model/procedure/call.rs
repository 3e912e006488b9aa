//! A kernel as a dispatch, a reference or a checker starts it.
//!
//! Promises: what the three have in common is read alike, whoever prepares or prints it.
//! Does not cover: the kernel's interface, once it is known (`exec::prepare`).

use super::{Binding, Dispatch, Reference, SpecializationValue};
use crate::element::Datum;
use crate::expectation::CheckerKernel;
use crate::id::KernelName;
use std::collections::BTreeMap;

/// What a dispatch, a reference and a checker have in common.
#[derive(Debug, Clone, Copy)]
pub struct KernelCall<'a> {
    /// The kernel that is started.
    pub kernel: &'a KernelName,
    /// Numbers of workgroups.
    pub groups: [u32; 3],
    /// The size of subgroups that a dispatch asks for.
    pub subgroup_size: Option<u32>,
    /// Resources by set and binding.
    pub bindings: &'a [Binding],
    /// What is stated of push constants.
    pub push_constants: Option<&'a Datum>,
    /// Stated specialization constants by id.
    pub specialization: &'a BTreeMap<String, SpecializationValue>,
}

impl<'a> KernelCall<'a> {
    /// As a test dispatches it.
    pub fn of_dispatch(dispatch: &'a Dispatch) -> Self {
        Self {
            kernel: &dispatch.kernel,
            groups: dispatch.groups,
            subgroup_size: dispatch.subgroup_size,
            bindings: &dispatch.bindings,
            push_constants: dispatch.push_constants.as_ref(),
            specialization: &dispatch.specialization,
        }
    }

    /// As a reference starts it.
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

    /// As a checker starts it.
    pub fn of_checker(checker: &'a CheckerKernel) -> Self {
        Self {
            kernel: &checker.kernel,
            groups: checker.groups,
            subgroup_size: None,
            bindings: &checker.bindings,
            push_constants: checker.push_constants.as_ref(),
            specialization: &checker.specialization,
        }
    }
}
