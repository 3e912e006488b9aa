//! `vkcert doctor`: what is installed and usable here, and the command that installs what is
//! missing.

use super::args::{Common, OutputForm};
use super::failure::Failure;
use super::output;
use crate::campaign::engines;
use crate::dissimilar::clang::{INSTALL, Toolchain};
use crate::exec::vulkan::{DeviceChoice, LOADER_DEBUG, VulkanExecutor};
use crate::model::exit::Exit;
use crate::model::validation_layer::ValidationLayer;
use serde_json::json;

struct Check {
    what: &'static str,
    usable: bool,
    found: String,
    install: Option<&'static str>,
}

/// Looks at everything that a run may use. What is missing is told with the command that installs
/// it; nothing was asked for, so the exit code is 0.
pub(super) fn command(common: &Common) -> Result<Exit, Failure> {
    let checks = checks()?;
    match common.format {
        OutputForm::Json => {
            let rows: Vec<_> = checks
                .iter()
                .map(|c| json!({"what": c.what, "usable": c.usable, "found": c.found, "install": c.install}))
                .collect();
            output::print(&format!("{:#}\n", json!({ "schema": 1, "checks": rows })))?;
        }
        OutputForm::Text => {
            let mut text = String::new();
            for check in &checks {
                let mark = if check.usable { "ok     " } else { "missing" };
                text.push_str(&format!("{mark}  {:<18} {}\n", check.what, check.found));
                if let (false, Some(install)) = (check.usable, check.install) {
                    text.push_str(&format!("{:28}install: {install}\n", ""));
                }
            }
            output::print(&text)?;
        }
    }
    Ok(Exit::Success)
}

fn checks() -> Result<Vec<Check>, Failure> {
    let ok = |what, found| Check { what, usable: true, found, install: None };
    let mut checks = vec![
        ok("vkcert", format!("{} ({})", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH)),
        ok("GLSL compiler", crate::glsl::compiler_identity()),
        ok("sequential engine", "built in, needs nothing".to_owned()),
        ok("profile vulkan-sc", "built in, needs no Vulkan SC device and uses none".to_owned()),
    ];
    let mut settings = engines::worker_settings()?;
    // Why the loader refuses a driver that it found, only it can say.
    settings.environment.insert(LOADER_DEBUG.to_owned(), "error,warn".to_owned());
    match VulkanExecutor::new(DeviceChoice::Best, settings) {
        Ok(executor) => {
            let device = executor.device();
            let found = format!(
                "{}, Vulkan {}, {} {}",
                device.name, device.api_version, device.driver_name, device.driver_info
            );
            checks.push(ok("Vulkan device", found + ", passed the canary dispatch"));
            let layer = executor.validation_layer();
            checks.push(Check {
                what: "validation layers",
                usable: layer != ValidationLayer::NotInstalled,
                found: layer.to_string(),
                install: Some("sudo apt-get install vulkan-validationlayers"),
            });
        }
        Err(error) => checks.push(Check {
            what: "Vulkan device",
            usable: false,
            found: error.to_string(),
            install: Some(engines::INSTALL_DEVICE),
        }),
    }
    checks.push(match Toolchain::find() {
        Ok(tools) => ok("clang 19", format!("{}, for `vkcert dissimilar`", tools.version)),
        Err(missing) => Check {
            what: "clang 19",
            usable: false,
            found: format!("{missing}; only `vkcert dissimilar` needs it"),
            install: Some(INSTALL),
        },
    });
    Ok(checks)
}
