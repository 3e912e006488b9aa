//! The device that tests compare with.

use vkcert::exec::vulkan::{DeviceChoice, Settings, VulkanExecutor};

/// The best device; none where there is none and `VKCERT_REQUIRE_VULKAN` does not demand one, which
/// is told.
pub(crate) fn device() -> Option<VulkanExecutor> {
    match VulkanExecutor::new(DeviceChoice::Best, Settings::new(env!("CARGO_BIN_EXE_vkcert"))) {
        Ok(engine) => Some(engine),
        Err(error) => {
            assert!(std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(), "{error}");
            eprintln!("NOT RUN on a device: {error}");
            None
        }
    }
}
