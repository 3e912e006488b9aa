//! Production configurations of a kernel: declared in `vkcert.toml`, else those that its tests use.
//!
//! Promises: two specializations are the same configuration exactly if every constant of the module
//! has the same bits, the module's defaults filled in. Names depend on the values alone.

use super::access_pairs::add_pairs;
use super::boundary::boundary_values;
use super::headers::HostHeaders;
use super::kernel::{CompiledKernel, Kernel, TargetedKernel};
use super::project::all_or_diagnostics;
use crate::CampaignError;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_exec::prepare::{PrepareError, PreparedKernel, specialize_kernel};
use vkcert_instrument as instrument;
use vkcert_model::boundary::BoundaryValue;
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::{Configuration, SpecializedConstant};
use vkcert_model::id::KernelName;
use vkcert_model::pair_obligation::KernelPairs;
use vkcert_model::procedure::Test;
use vkcert_model::project::ProjectKernel;
use vkcert_model::records::Presence;
use vkcert_model::requirement::HeaderReading;
use vkcert_requirement::{Located, Project, trace};
use vkcert_spirv::interface::{Reflection, SpecializationConstant};

/// Raw bits of every specialization constant of a module, by id.
pub type Specialization = BTreeMap<u32, u64>;

/// A configuration with what the kernel's module holds under it.
#[derive(Debug, Clone)]
pub struct KernelConfiguration {
    /// Name, defines, specialization and local size.
    pub configuration: Configuration,
    /// Raw bits of every specialization constant by id.
    pub specialization: Specialization,
    /// Which markers the module holds, and what is fixed of them.
    pub presence: Presence,
    /// The boundary values of its inputs; none where the project does not ask for them.
    pub boundaries: Option<Vec<BoundaryValue>>,
    /// What tests have to show of its coupling; none where the project does not ask for it.
    pub pairs: Option<KernelPairs>,
}

/// The configuration with all constants at these values; without a name it is named by them.
pub fn configuration_under(
    kernel: &CompiledKernel,
    specialization: &Specialization,
    name: Option<&str>,
) -> Result<KernelConfiguration, CampaignError> {
    let tool_failure =
        |error: &dyn std::fmt::Display| CampaignError::tool(format!("{}: {error}", kernel.name));
    let module = kernel.measured().map_or(&kernel.module, |measured| &measured.module);
    // What is no Vulkan compute module has no interface to show; tests of it are unsupported.
    let reflection = Reflection::of_entry_point(module, &kernel.entry, specialization);
    let (declared_constants, local_size) = reflection
        .map_or_else(|_| (Vec::new(), [0; 3]), |found| (found.specialization, found.local_size));
    let constants: Vec<SpecializedConstant> = declared_constants
        .into_iter()
        .map(|spec_constant| specialized_constant(spec_constant, specialization))
        .collect();
    let presence = match kernel.measured() {
        None => Presence::default(),
        Some(measured) => instrument::marker_presence(
            &measured.structure,
            &measured.module,
            &kernel.entry,
            specialization,
        )
        .map_err(|error| tool_failure(&error))?,
    };
    let configuration = Configuration {
        name: name.map_or_else(|| name_of(&constants), str::to_owned),
        entry: kernel.entry.clone(),
        target_env: kernel.target_env.clone(),
        defines: kernel.defines.clone(),
        include: Vec::new(),
        specialization: constants,
        local_size,
    };
    Ok(KernelConfiguration {
        configuration,
        specialization: specialization.clone(),
        presence,
        boundaries: None,
        pairs: None,
    })
}

fn specialized_constant(
    spec_constant: SpecializationConstant,
    specialization: &Specialization,
) -> SpecializedConstant {
    let bits = specialization.get(&spec_constant.spec_id).copied().unwrap_or(spec_constant.default);
    SpecializedConstant {
        id: spec_constant.spec_id,
        name: spec_constant.name,
        value: value_in_words(&spec_constant.type_name, spec_constant.width, bits),
        type_name: spec_constant.type_name,
        bits: format!("{bits:#x}"),
        default: bits == spec_constant.default,
    }
}

/// A value as its type reads it.
fn value_in_words(type_name: &str, width: u32, bits: u64) -> String {
    match (type_name, width) {
        ("bool", _) => (bits != 0).to_string(),
        ("double", _) => format!("{:?}", f64::from_bits(bits)),
        ("float", _) => format!("{:?}", f32::from_bits(bits as u32)),
        ("float16", _) => format!("{:?}", half::f16::from_bits(bits as u16).to_f32()),
        (name, width) if name.starts_with("int") => {
            let shift = 64 - width.clamp(1, 64);
            (((bits << shift) as i64) >> shift).to_string()
        }
        (_, _) => bits.to_string(),
    }
}

/// `TILE=16,MODE=2` of the constants that are not at their defaults; `default` where all are.
fn name_of(constants: &[SpecializedConstant]) -> String {
    let is_unique = |name: &str| {
        constants
            .iter()
            .filter(|other_constant| other_constant.name.as_deref() == Some(name))
            .count()
            == 1
    };
    let name_part = |constant: &SpecializedConstant| {
        // Not every bit pattern of a float has a text of its own.
        let value = if constant.value == "NaN" { &constant.bits } else { &constant.value };
        match constant.name.as_ref().filter(|name| is_unique(name)) {
            Some(name) => format!("{name}={value}"),
            None => format!("{}={value}", constant.id),
        }
    };
    let name_parts: Vec<String> =
        constants.iter().filter(|constant| !constant.default).map(name_part).collect();
    if name_parts.is_empty() { "default".to_owned() } else { name_parts.join(",") }
}

/// A kernel in the form that preparing asks for. Layouts are read from a module that no optimiser
/// has run over: it declares all that the source declares.
pub fn kernel_for_preparing(kernel: &CompiledKernel) -> PreparedKernel {
    let module = Arc::clone(kernel.measured().map_or(&kernel.module, |measured| &measured.module));
    PreparedKernel {
        entry: kernel.entry.clone(),
        module,
        recording: vkcert_exec::ModuleRecording::None,
    }
}

/// Gives every kernel of a project its configurations; all diagnostics together.
pub fn configure_kernels(
    project: &Project,
    kernels: Vec<TargetedKernel>,
) -> Result<Vec<Kernel>, CampaignError> {
    let tests_by_kernel = trace::tests_by_kernel(&project.tests);
    let rows = kernels.into_par_iter().zip(&project.settings.value.kernels).enumerate();
    let configured_kernels = rows.with_max_len(1).map(|(index, (kernel, settings))| {
        let mut configurations = match settings.configurations.is_empty() {
            true => {
                let tests = tests_by_kernel.get(&settings.name).map_or(&[][..], Vec::as_slice);
                configurations_of_tests(tests, &kernel, settings)
            }
            false => declared_configurations(project, &kernel, (index, settings)),
        }?;
        add_boundaries(project, &kernel, &mut configurations, &[]);
        Ok(Kernel::configured(kernel, configurations))
    });
    let mut configured_kernels = all_or_diagnostics(configured_kernels.collect())?;
    add_pairs(project, &mut configured_kernels);
    Ok(configured_kernels)
}

/// Boundary values are derived where the project asks for them.
fn add_boundaries(
    project: &Project,
    kernel: &CompiledKernel,
    configurations: &mut [KernelConfiguration],
    readings: &[HeaderReading],
) {
    if project.settings.asks_for(CriterionName::Boundary) {
        for row in configurations {
            let local_size = row.configuration.local_size;
            row.boundaries = Some(boundary_values(project, kernel, local_size, readings));
        }
    }
}

/// Tells anew which tests give the boundary values of kernels whose interfaces name headers: these
/// are read once kernels are known.
pub(crate) fn add_header_boundaries(
    project: &Project,
    kernels: &mut [Kernel],
    headers: &HostHeaders,
) {
    for kernel in kernels {
        if let Some(readings) = headers.get(&KernelName::from(&kernel.name)) {
            let mut configurations = std::mem::take(&mut kernel.configurations);
            add_boundaries(project, kernel, &mut configurations, readings);
            kernel.configurations = configurations;
        }
    }
}

/// Every distinct specialization that tests use, in order of first use; the defaults where no test
/// runs the kernel.
fn configurations_of_tests(
    tests: &[&Located<Test>],
    kernel: &CompiledKernel,
    kernel_settings: &ProjectKernel,
) -> Result<Vec<KernelConfiguration>, CampaignError> {
    let of_module = kernel_for_preparing(kernel);
    let mut distinct_specializations: Vec<Specialization> = Vec::new();
    for test in tests {
        for (index, dispatch) in test
            .dispatches
            .iter()
            .enumerate()
            .filter(|(_, test_dispatch)| test_dispatch.kernel == kernel_settings.name)
        {
            let dispatch_place = test.origin.at("dispatches").at(index);
            match specialize_kernel(
                &kernel_settings.name,
                &of_module,
                &dispatch.specialization,
                &dispatch_place,
            ) {
                Ok(found) if !distinct_specializations.contains(&found) => {
                    distinct_specializations.push(found)
                }
                // Faults of a test are told when it is prepared.
                Ok(_) | Err(_) => {}
            }
        }
    }
    if distinct_specializations.is_empty() {
        distinct_specializations.push(default_specialization(&kernel_settings.name, &of_module));
    }
    distinct_specializations
        .iter()
        .map(|specialization| {
            Ok(with_include(configuration_under(kernel, specialization, None)?, kernel_settings))
        })
        .collect()
}

fn default_specialization(name: &KernelName, kernel: &PreparedKernel) -> Specialization {
    specialize_kernel(name, kernel, &BTreeMap::new(), &vkcert_requirement::Origin::none())
        .unwrap_or_default()
}

fn with_include(
    mut kernel_configuration: KernelConfiguration,
    kernel_settings: &ProjectKernel,
) -> KernelConfiguration {
    kernel_configuration.configuration.include.clone_from(&kernel_settings.include);
    kernel_configuration
}

fn declared_configurations(
    project: &Project,
    kernel: &CompiledKernel,
    (index, kernel_settings): (usize, &ProjectKernel),
) -> Result<Vec<KernelConfiguration>, CampaignError> {
    let of_module = kernel_for_preparing(kernel);
    let mut kernel_configurations: Vec<KernelConfiguration> = Vec::new();
    let mut diagnostics = Vec::new();
    for (number, row) in kernel_settings.configurations.iter().enumerate() {
        let configuration_place = project.kernel_origin(index).at("configuration").at(number);
        let specialization = match specialize_kernel(
            &kernel_settings.name,
            &of_module,
            &row.specialization,
            &configuration_place,
        ) {
            Ok(specialization) => specialization,
            Err(PrepareError::Input(problems)) => {
                diagnostics.extend(problems);
                continue;
            }
            Err(PrepareError::Unsupported { what }) => {
                diagnostics.push(
                    configuration_place.error("unsupported", format!("not supported: {what}")),
                );
                continue;
            }
        };
        if let Some(same) = kernel_configurations
            .iter()
            .find(|other_configuration| other_configuration.specialization == specialization)
        {
            let message = format!(
                "the configurations `{}` and `{}` are the same",
                same.configuration.name, row.name
            );
            let hint = "constants that are not given have the module's defaults";
            diagnostics.push(
                configuration_place.at("specialization").error("contradiction", message).hint(hint),
            );
            continue;
        }
        kernel_configurations.push(with_include(
            configuration_under(kernel, &specialization, Some(&row.name))?,
            kernel_settings,
        ));
    }
    if diagnostics.is_empty() {
        Ok(kernel_configurations)
    } else {
        Err(CampaignError::Input(diagnostics))
    }
}

/// Tests (each with a specialization that it ran the kernel with) whose specialization is no
/// configuration of the kernel, as sentences.
pub fn undeclared_specializations(
    kernel: &Kernel,
    tests_run: &[(&str, &Specialization)],
) -> Result<Vec<String>, CampaignError> {
    let mut tests_by_specialization: BTreeMap<&Specialization, BTreeSet<&str>> = BTreeMap::new();
    for (test, specialization) in tests_run {
        if kernel
            .configurations
            .iter()
            .all(|declared_configuration| declared_configuration.specialization != **specialization)
        {
            tests_by_specialization.entry(specialization).or_default().insert(test);
        }
    }
    let sentence = |(specialization, tests): (&Specialization, BTreeSet<&str>)| {
        let name = configuration_under(kernel, specialization, None)?.configuration.name;
        let verb = if tests.len() == 1 { "runs" } else { "run" };
        let tests = tests.into_iter().collect::<Vec<_>>().join(", ");
        Ok(format!(
            "{}: {tests} {verb} it under {name}, which is no declared configuration: judged, but covering nothing.",
            kernel.name
        ))
    };
    tests_by_specialization.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn specialized_constant(
        id: u32,
        name: Option<&str>,
        value: &str,
        default: bool,
    ) -> SpecializedConstant {
        let name = name.map(str::to_owned);
        let (type_name, bits) = ("int".to_owned(), "0x7fc00001".to_owned());
        SpecializedConstant { id, name, type_name, value: value.to_owned(), bits, default }
    }

    #[test]
    fn names_are_made_of_what_is_not_at_its_default() {
        assert_eq!(name_of(&[]), "default");
        assert_eq!(name_of(&[specialized_constant(0, Some("TILE"), "16", true)]), "default");
        let rows = [
            specialized_constant(0, Some("TILE"), "32", false),
            specialized_constant(3, None, "2", false),
            specialized_constant(4, Some("X"), "1", true),
        ];
        assert_eq!(name_of(&rows), "TILE=32,3=2");
        // Names that occur twice do not tell constants apart.
        let twice = [
            specialized_constant(1, Some("N"), "1", false),
            specialized_constant(2, Some("N"), "1", false),
        ];
        assert_eq!(name_of(&twice), "1=1,2=1");
        assert_eq!(name_of(&[specialized_constant(0, Some("S"), "NaN", false)]), "S=0x7fc00001");
    }

    #[test]
    fn values_print_as_their_type_reads_them() {
        assert_eq!(value_in_words("int", 32, 0xffff_ffff), "-1");
        assert_eq!(value_in_words("uint", 32, 0xffff_ffff), "4294967295");
        assert_eq!(value_in_words("int64", 64, u64::MAX), "-1");
        assert_eq!(value_in_words("bool", 32, 1), "true");
        assert_eq!(value_in_words("float", 32, u64::from(0.5_f32.to_bits())), "0.5");
        assert_eq!(value_in_words("double", 64, 1.25_f64.to_bits()), "1.25");
    }
}
