//! Versions of the API: which to ask for, which may be used with a device, which SPIR-V it takes.
//!
//! Knows: 1.1 is the least that this engine works with and 1.4 the most that it asks for (Vulkan
//! specification, "Version Numbers" and "Versions and Formats" of the SPIR-V environment).
//! Promises: no structure or call of a version beyond the one in use; every answer depends on the
//! arguments alone.
//! Does not cover: features (`features`), extensions (`older`).

use super::describe;
use super::identity::NoVulkan;
use ash::vk;

/// The Vulkan bindings in use know 1.3 and no later version; of 1.4 this engine uses what
/// extensions of 1.3 name, too.
pub(crate) const API_VERSION_1_4: u32 = vk::make_api_version(0, 1, 4, 0);

/// The newest version that this engine asks for.
pub(crate) const NEWEST_VERSION: u32 = API_VERSION_1_4;

/// The newest version to ask for where a user sets a limit (major, minor).
pub(crate) fn version_limit(user_limit: Option<(u32, u32)>) -> u32 {
    user_limit.map_or(NEWEST_VERSION, |(major, minor)| {
        NEWEST_VERSION.min(vk::make_api_version(0, major, minor, 0))
    })
}

/// The version to create an instance with. `loader` is what the loader offers; none: a loader of
/// Vulkan 1.0, which cannot be asked.
pub(crate) fn instance_version(
    loader_version: Option<u32>,
    newest_version: u32,
) -> Result<u32, NoVulkan> {
    let offered_version = loader_version.unwrap_or(vk::API_VERSION_1_0);
    if offered_version < vk::API_VERSION_1_1 {
        return Err(version_too_old("the loader", offered_version));
    }
    Ok(offered_version.min(newest_version))
}

/// The version to use with a device that offers `own`, on an instance of version `instance`.
pub(crate) fn device_version(instance_version: u32, own_version: u32) -> u32 {
    own_version.min(instance_version)
}

/// The same, where 1.1 is demanded of the device called `name`.
pub(crate) fn usable_version(device_version: u32, device_name: &str) -> Result<u32, NoVulkan> {
    if device_version < vk::API_VERSION_1_1 {
        Err(version_too_old(device_name, device_version))
    } else {
        Ok(device_version)
    }
}

fn version_too_old(offering_part: &str, found_version: u32) -> NoVulkan {
    NoVulkan::TooOld {
        which: offering_part.to_owned(),
        found: describe::version_text(found_version),
    }
}

/// Whether VK_KHR_spirv_1_4 is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spirv14 {
    On,
    Off,
}

/// The newest SPIR-V that a device takes at an API version.
pub(crate) fn newest_spirv(api_version: u32, spirv14: Spirv14) -> (u8, u8) {
    match (api_version, spirv14) {
        (api_version, _) if api_version >= vk::API_VERSION_1_3 => (1, 6),
        (api_version, _) if api_version >= vk::API_VERSION_1_2 => (1, 5),
        (_, Spirv14::On) => (1, 4),
        (_, Spirv14::Off) => (1, 3),
    }
}

/// What a module's version lacks on a device; none: nothing.
pub(crate) fn missing_spirv_version(
    module_version: (u8, u8),
    api_version: u32,
    spirv14: Spirv14,
) -> Option<String> {
    let newest_version = newest_spirv(api_version, spirv14);
    let (major, minor) = (vk::api_version_major(api_version), vk::api_version_minor(api_version));
    (module_version > newest_version).then(|| {
        format!(
            "SPIR-V {}.{} (the device takes up to {}.{} with Vulkan {major}.{minor})",
            module_version.0, module_version.1, newest_version.0, newest_version.1
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn version(minor: u32, patch: u32) -> u32 {
        vk::make_api_version(0, 1, minor, patch)
    }

    #[test]
    fn the_lower_of_loader_device_and_engine_is_in_use() {
        // Loader, device, version of the instance, version in use.
        let rows = [
            (version(1, 70), version(1, 128), version(1, 70), version(1, 70)),
            (version(1, 126), version(3, 250), version(1, 126), version(1, 126)),
            (version(2, 131), version(1, 101), version(2, 131), version(1, 101)),
            (version(2, 198), version(2, 150), version(2, 198), version(2, 150)),
            (version(3, 280), version(2, 150), version(3, 280), version(2, 150)),
            (version(3, 239), version(3, 230), version(3, 239), version(3, 230)),
            (version(3, 290), version(4, 303), version(3, 290), version(3, 290)),
            (version(4, 304), version(3, 277), version(4, 0), version(3, 277)),
            (version(4, 309), version(4, 303), version(4, 0), version(4, 0)),
            // Nothing beyond 1.4 is asked for, whatever is offered.
            (version(5, 1), version(5, 1), version(4, 0), version(4, 0)),
        ];
        for (loader, device, instance, used) in rows {
            assert_eq!(
                instance_version(Some(loader), NEWEST_VERSION),
                Ok(instance),
                "loader {}",
                describe::version_text(loader)
            );
            let found = device_version(instance, device);
            assert_eq!(
                usable_version(found, "d"),
                Ok(used),
                "device {}",
                describe::version_text(device)
            );
        }
    }

    #[test]
    fn vulkan_1_0_is_too_old_wherever_it_is_found() {
        let refused = |result: Result<u32, NoVulkan>| result.unwrap_err().to_string();
        assert_eq!(
            refused(instance_version(None, NEWEST_VERSION)),
            "Vulkan 1.1 or later is needed; the loader offers 1.0.0"
        );
        assert_eq!(
            refused(instance_version(Some(version(0, 68)), NEWEST_VERSION)),
            "Vulkan 1.1 or later is needed; the loader offers 1.0.68"
        );
        let device = device_version(version(3, 0), version(0, 61));
        assert_eq!(
            refused(usable_version(device, "Old GPU")),
            "Vulkan 1.1 or later is needed; Old GPU offers 1.0.61"
        );
    }

    #[test]
    fn a_module_that_is_too_new_is_refused_with_both_versions() {
        let newest = [
            (version(1, 128), Spirv14::Off, (1, 3)),
            (version(1, 128), Spirv14::On, (1, 4)),
            (version(2, 0), Spirv14::Off, (1, 5)),
            (version(2, 0), Spirv14::On, (1, 5)),
            (version(3, 230), Spirv14::Off, (1, 6)),
            (version(4, 303), Spirv14::Off, (1, 6)),
        ];
        for (api, spirv14, expected) in newest {
            assert_eq!(newest_spirv(api, spirv14), expected);
            for minor in 0..=6 {
                assert_eq!(
                    missing_spirv_version((1, minor), api, spirv14).is_some(),
                    minor > expected.1,
                    "1.{minor}"
                );
            }
        }
        assert_eq!(
            missing_spirv_version((1, 6), version(2, 150), Spirv14::Off).as_deref(),
            Some("SPIR-V 1.6 (the device takes up to 1.5 with Vulkan 1.2)")
        );
        assert_eq!(
            missing_spirv_version((1, 4), version(1, 0), Spirv14::Off).as_deref(),
            Some("SPIR-V 1.4 (the device takes up to 1.3 with Vulkan 1.1)")
        );
    }
}
