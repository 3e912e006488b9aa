//! The functions that stand in front of those of the layer below.
//!
//! Promises: what is made is recorded after the call, what goes away before it, so that a handle
//! that is used again is never taken for the old one; submissions are recorded before the call, so
//! that a wait for them comes later.

pub(crate) mod barriers;
pub(crate) mod commands;
pub(crate) mod descriptors;
pub(crate) mod image_commands;
pub(crate) mod images;
pub(crate) mod memory;
pub(crate) mod objects;
pub(crate) mod submission;

use crate::chain::handle;
use crate::recorder::record;
use ash::vk;
use vkcert_capture::event::{Destroyed, Event, ObjectKind, OpenEffect, Unsupported};

/// Records that an object goes away; nothing for VK_NULL_HANDLE.
fn record_destroyed<H: vk::Handle>(kind: ObjectKind, object: H) {
    let gone = handle(object);
    if !gone.is_null() {
        record(|| Event::Destroyed(Destroyed { kind, handle: gone }));
    }
}

/// Records a call that is not modelled.
pub(crate) fn record_unsupported(name: &str, effect: OpenEffect) {
    record(|| Event::Unsupported(Unsupported { name: name.to_owned(), effect }));
}
