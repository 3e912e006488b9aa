//! Kernels under their configurations.

use super::distinct::add_new;
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::id::KernelName;

/// A kernel under one configuration: what a chapter is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KernelUnit<'a> {
    pub kernel: &'a KernelName,
    /// None where the kernel has no other.
    pub configuration: Option<&'a str>,
    /// Whether it is the first one of the kernel, which links to the kernel lead to.
    is_first: bool,
}

impl KernelUnit<'_> {
    /// `matmul`, or `matmul [TILE=16]`.
    pub(crate) fn unit_label(&self) -> String {
        self.configuration
            .map_or_else(|| self.kernel.to_string(), |name| format!("{} [{name}]", self.kernel))
    }

    /// Where its chapter begins.
    pub(crate) fn chapter_anchor(&self) -> String {
        match self.configuration {
            Some(name) if !self.is_first => format!("kernel/{}@{name}", self.kernel),
            Some(_) | None => format!("kernel/{}", self.kernel),
        }
    }
}

/// Kernels and configurations in project order.
pub(crate) fn kernel_units(evidence: &Evidence) -> Vec<KernelUnit<'_>> {
    let mut units = Vec::new();
    for kernel in &evidence.kernels {
        add_new(
            &mut units,
            Some(kernel_unit(evidence, &kernel.kernel, &kernel.configuration.name)),
        );
    }
    units
}

/// The unit of a kernel and the name of a configuration.
pub(crate) fn kernel_unit<'a>(
    evidence: &Evidence,
    kernel: &'a KernelName,
    configuration: &'a str,
) -> KernelUnit<'a> {
    let mut configuration_names = evidence
        .kernels
        .iter()
        .filter(|row| row.kernel == *kernel)
        .map(|row| &row.configuration.name);
    let is_first = configuration_names.next().is_none_or(|name| name == configuration);
    let has_several = !is_first || configuration_names.any(|name| name != configuration);
    KernelUnit { kernel, configuration: has_several.then_some(configuration), is_first }
}

/// The evidence of a unit on each engine, with its index.
pub(crate) fn on_engines<'a>(
    evidence: &'a Evidence,
    wanted_unit: &KernelUnit,
) -> Vec<(usize, &'a KernelEvidence)> {
    // The name decides first, because a unit looks through all kernels.
    let is_of_unit = |row: &KernelEvidence| {
        row.kernel == *wanted_unit.kernel
            && kernel_unit(evidence, &row.kernel, &row.configuration.name) == *wanted_unit
    };
    evidence.kernels.iter().enumerate().filter(|(_, row)| is_of_unit(row)).collect()
}
