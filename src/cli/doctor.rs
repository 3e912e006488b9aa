//! `vkcert doctor`: what is installed and usable here, and the command that installs what is
//! missing.

use super::args::{Common, OutputForm};
use super::failure::Failure;
use super::output;
use crate::campaign::engines;
use crate::dissimilar::clang::{ClangTools, INSTALL_COMMAND};
use crate::exec::vulkan::{DeviceChoice, LOADER_DEBUG, VulkanExecutor};
use crate::model::exit::Exit;
use crate::model::validation_layer::ValidationLayer;
use serde_json::json;

struct InstallationCheck {
    subject: &'static str,
    usable: bool,
    description: String,
    install_command: Option<&'static str>,
}

/// Checks everything that a run may use, and prints the command that installs what is missing. The
/// exit code is 0, because nothing of it was asked for.
pub(super) fn print_checks(common: &Common) -> Result<Exit, Failure> {
    let checks = installation_checks()?;
    match common.form() {
        OutputForm::Json => {
            let rows: Vec<_> = checks
                .iter()
                .map(|check| json!({"what": check.subject, "usable": check.usable, "found": check.description, "install": check.install_command}))
                .collect();
            output::print_text(&format!("{:#}\n", json!({ "schema": 1, "checks": rows })))?;
        }
        OutputForm::Text => {
            let mut text = String::new();
            for check in &checks {
                let status_mark = if check.usable { "ok     " } else { "missing" };
                text.push_str(&format!(
                    "{status_mark}  {:<18} {}\n",
                    check.subject, check.description
                ));
                if let (false, Some(install)) = (check.usable, check.install_command) {
                    text.push_str(&format!("{:28}install: {install}\n", ""));
                }
            }
            output::print_text(&text)?;
        }
    }
    Ok(Exit::Success)
}

fn installation_checks() -> Result<Vec<InstallationCheck>, Failure> {
    let usable_check = |what, device_description| InstallationCheck {
        subject: what,
        usable: true,
        description: device_description,
        install_command: None,
    };
    let mut checks = vec![
        usable_check(
            "vkcert",
            format!("{} ({})", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH),
        ),
        usable_check("GLSL compiler", crate::glsl::compiler_identity()),
        usable_check("sequential engine", "built in, needs nothing".to_owned()),
        usable_check(
            "profile vulkan-sc",
            "built in, needs no Vulkan SC device and uses none".to_owned(),
        ),
    ];
    let mut settings = engines::worker_settings()?;
    // Only the loader knows why it refuses a driver that it found.
    settings.environment.insert(LOADER_DEBUG.to_owned(), "error,warn".to_owned());
    match VulkanExecutor::new(DeviceChoice::Best, settings) {
        Ok(executor) => {
            let device = executor.device();
            let device_description = format!(
                "{}, Vulkan {}, {} {}",
                device.name, device.api_version, device.driver_name, device.driver_info
            );
            checks.push(usable_check(
                "Vulkan device",
                device_description + ", passed the canary dispatch",
            ));
            let layer = executor.validation_layer();
            checks.push(InstallationCheck {
                subject: "validation layers",
                usable: layer != ValidationLayer::NotInstalled,
                description: layer.to_string(),
                install_command: Some("sudo apt-get install vulkan-validationlayers"),
            });
        }
        Err(error) => checks.push(InstallationCheck {
            subject: "Vulkan device",
            usable: false,
            description: error.to_string(),
            install_command: Some(engines::INSTALL_DEVICE),
        }),
    }
    checks.push(match ClangTools::find_in_path() {
        Ok(tools) => {
            usable_check("clang 19", format!("{}, for `vkcert dissimilar`", tools.version))
        }
        Err(missing) => InstallationCheck {
            subject: "clang 19",
            usable: false,
            description: format!("{missing}; only `vkcert dissimilar` needs it"),
            install_command: Some(INSTALL_COMMAND),
        },
    });
    checks.push(match vkcert_header::find_library() {
        Some(library) => usable_check(
            "libclang",
            format!("{}, for headers that interfaces name", library.display()),
        ),
        None => InstallationCheck {
            subject: "libclang",
            usable: false,
            description: "not installed; only interfaces that name a header need it".to_owned(),
            install_command: Some(vkcert_header::INSTALL_COMMAND),
        },
    });
    Ok(checks)
}
