//! Kernels under their configurations.

use super::distinct::add_new;
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::id::KernelName;

/// A kernel under one configuration: what a chapter is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit<'a> {
    pub kernel: &'a KernelName,
    /// None where the kernel has no other.
    pub configuration: Option<&'a str>,
    /// Whether it is the first one of the kernel, which links to the kernel lead to.
    first: bool,
}

impl Unit<'_> {
    /// `matmul`, or `matmul [TILE=16]`.
    pub(crate) fn label(&self) -> String {
        self.configuration
            .map_or_else(|| self.kernel.to_string(), |name| format!("{} [{name}]", self.kernel))
    }

    /// Where its chapter begins.
    pub(crate) fn anchor(&self) -> String {
        match self.configuration {
            Some(name) if !self.first => format!("kernel/{}@{name}", self.kernel),
            Some(_) | None => format!("kernel/{}", self.kernel),
        }
    }
}

/// Kernels and configurations in project order.
pub(crate) fn units(evidence: &Evidence) -> Vec<Unit<'_>> {
    let mut units = Vec::new();
    for kernel in &evidence.kernels {
        add_new(&mut units, Some(unit(evidence, &kernel.kernel, &kernel.configuration.name)));
    }
    units
}

/// The unit of a kernel and the name of a configuration.
pub(crate) fn unit<'a>(
    evidence: &Evidence,
    kernel: &'a KernelName,
    configuration: &'a str,
) -> Unit<'a> {
    let mut names = evidence
        .kernels
        .iter()
        .filter(|row| row.kernel == *kernel)
        .map(|row| &row.configuration.name);
    let first = names.next().is_none_or(|name| name == configuration);
    let several = !first || names.any(|name| name != configuration);
    Unit { kernel, configuration: several.then_some(configuration), first }
}

/// The evidence of a unit on each engine, with its index.
pub(crate) fn on_engines<'a>(
    evidence: &'a Evidence,
    wanted: &Unit,
) -> Vec<(usize, &'a KernelEvidence)> {
    let of_unit =
        |row: &KernelEvidence| unit(evidence, &row.kernel, &row.configuration.name) == *wanted;
    evidence.kernels.iter().enumerate().filter(|(_, row)| of_unit(row)).collect()
}
