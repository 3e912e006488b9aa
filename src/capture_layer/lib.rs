//! `VK_LAYER_VKCERT_capture`: a Vulkan layer that records what a host program does.
//!
//! Knows: how a layer is asked for its functions (`loader`, `entry`), which functions stand behind
//! it (`instance_table`, `device_table`), and of each function that is watched how its parameters
//! become an event (`hooks`); where contents are asked for, what is read on the device (`readback`).
//! Promises: every call goes on to the layer or driver below with the parameters that it came with,
//! but for a usage that makes buffers and images readable where contents are asked for, and its result
//! goes back unchanged, whatever becomes of the record: a folder that is not there, a
//! full disk and a fault of this layer end the capture or leave a gap that it tells of, never the
//! program. Commands that are not modelled are recorded by name (`unmodelled`).
//! Does not cover: what the host reads and writes through mapped pointers; functions of extensions
//! that are younger than the binding, of which commands are named when somebody asks for them.

mod capture_file;
mod chain;
mod device_table;
mod entry;
mod hooks;
mod instance_table;
mod loader;
mod readback;
mod recorder;
mod unmodelled;

pub use entry::negotiate_layer_interface;
pub use loader::NegotiateLayerInterface;

/// The name that programs and the loader know the layer by.
pub const LAYER_NAME: &str = "VK_LAYER_VKCERT_capture";

/// The folder that captures are written to, one file for each process.
pub const FOLDER_VARIABLE: &str = "VKCERT_CAPTURE_FOLDER";

/// Set to record contents of memory, too.
pub const CONTENTS_VARIABLE: &str = "VKCERT_CAPTURE_CONTENTS";
