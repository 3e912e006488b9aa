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
pub(crate) const NEWEST: u32 = API_VERSION_1_4;

/// The newest version to ask for where a user sets a limit (major, minor).
pub(crate) fn limit(limit: Option<(u32, u32)>) -> u32 {
    limit.map_or(NEWEST, |(major, minor)| NEWEST.min(vk::make_api_version(0, major, minor, 0)))
}

/// The version to create an instance with. `loader` is what the loader offers; none: a loader of
/// Vulkan 1.0, which cannot be asked.
pub(crate) fn of_instance(loader: Option<u32>, newest: u32) -> Result<u32, NoVulkan> {
    let offered = loader.unwrap_or(vk::API_VERSION_1_0);
    if offered < vk::API_VERSION_1_1 {
        return Err(too_old("the loader", offered));
    }
    Ok(offered.min(newest))
}

/// The version to use with a device that offers `own`, on an instance of version `instance`.
pub(crate) fn of_device(instance: u32, own: u32) -> u32 {
    own.min(instance)
}

/// The same, where 1.1 is demanded of the device called `name`.
pub(crate) fn usable(version: u32, name: &str) -> Result<u32, NoVulkan> {
    if version < vk::API_VERSION_1_1 { Err(too_old(name, version)) } else { Ok(version) }
}

fn too_old(which: &str, found: u32) -> NoVulkan {
    NoVulkan::TooOld { which: which.to_owned(), found: describe::version(found) }
}

/// Whether VK_KHR_spirv_1_4 is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spirv14 {
    On,
    Off,
}

/// The newest SPIR-V that a device takes at an API version.
pub(crate) fn newest_spirv(api: u32, spirv14: Spirv14) -> (u8, u8) {
    match (api, spirv14) {
        (api, _) if api >= vk::API_VERSION_1_3 => (1, 6),
        (api, _) if api >= vk::API_VERSION_1_2 => (1, 5),
        (_, Spirv14::On) => (1, 4),
        (_, Spirv14::Off) => (1, 3),
    }
}

/// What a module's version lacks on a device; none: nothing.
pub(crate) fn lack(module: (u8, u8), api: u32, spirv14: Spirv14) -> Option<String> {
    let newest = newest_spirv(api, spirv14);
    let (major, minor) = (vk::api_version_major(api), vk::api_version_minor(api));
    (module > newest).then(|| {
        format!(
            "SPIR-V {}.{} (the device takes up to {}.{} with Vulkan {major}.{minor})",
            module.0, module.1, newest.0, newest.1
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
                of_instance(Some(loader), NEWEST),
                Ok(instance),
                "loader {}",
                describe::version(loader)
            );
            let found = of_device(instance, device);
            assert_eq!(usable(found, "d"), Ok(used), "device {}", describe::version(device));
        }
    }

    #[test]
    fn vulkan_1_0_is_too_old_wherever_it_is_found() {
        let refused = |result: Result<u32, NoVulkan>| result.unwrap_err().to_string();
        assert_eq!(
            refused(of_instance(None, NEWEST)),
            "Vulkan 1.1 or later is needed; the loader offers 1.0.0"
        );
        assert_eq!(
            refused(of_instance(Some(version(0, 68)), NEWEST)),
            "Vulkan 1.1 or later is needed; the loader offers 1.0.68"
        );
        let device = of_device(version(3, 0), version(0, 61));
        assert_eq!(
            refused(usable(device, "Old GPU")),
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
                    lack((1, minor), api, spirv14).is_some(),
                    minor > expected.1,
                    "1.{minor}"
                );
            }
        }
        assert_eq!(
            lack((1, 6), version(2, 150), Spirv14::Off).as_deref(),
            Some("SPIR-V 1.6 (the device takes up to 1.5 with Vulkan 1.2)")
        );
        assert_eq!(
            lack((1, 4), version(1, 0), Spirv14::Off).as_deref(),
            Some("SPIR-V 1.4 (the device takes up to 1.3 with Vulkan 1.1)")
        );
    }
}
