//! Parameters as they lie in the program's memory: arrays, texts, chains of structures.
//!
//! Promises: null pointers and counts of 0 are empty; only what the specification says is there is
//! read.

use ash::vk;
use std::ffi::{CStr, c_char, c_void};
use vkcert_capture::event::{Event, OpenEffect, Unsupported};
use vkcert_capture::value::Handle;

/// The elements of an array.
///
/// # Safety
/// `pointer` is null or leads to `count` elements that live as long as the call.
pub(crate) unsafe fn elements<'a, T>(pointer: *const T, count: u32) -> &'a [T] {
    if pointer.is_null() || count == 0 {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(pointer, count as usize) }
}

/// Bytes.
///
/// # Safety
/// As for [`elements`].
pub(crate) unsafe fn bytes(pointer: *const c_void, count: usize) -> Vec<u8> {
    if pointer.is_null() || count == 0 {
        return Vec::new();
    }
    unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), count) }.to_vec()
}

/// A text; what is no UTF-8 of it is replaced.
///
/// # Safety
/// `pointer` is null or leads to a text that ends with a zero.
pub(crate) unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// Texts.
///
/// # Safety
/// As for [`elements`] and [`text`].
pub(crate) unsafe fn texts(pointer: *const *const c_char, count: u32) -> Vec<String> {
    unsafe { elements(pointer, count) }.iter().map(|name| unsafe { text(*name) }).collect()
}

/// A handle as records have it.
pub(crate) fn handle<H: vk::Handle>(object: H) -> Handle {
    Handle(object.as_raw())
}

/// The structure of a type in a chain.
///
/// # Safety
/// `chain` is a `pNext`, and `T` is the structure that `structure_type` names.
pub(crate) unsafe fn in_chain<'a, T>(
    chain: *const c_void,
    structure_type: vk::StructureType,
) -> Option<&'a T> {
    let mut structure = chain.cast::<vk::BaseInStructure<'_>>();
    while let Some(base) = unsafe { structure.as_ref() } {
        if base.s_type == structure_type {
            return unsafe { structure.cast::<T>().as_ref() };
        }
        structure = base.p_next;
    }
    None
}

/// What a chain holds beside structures that are read or change nothing that is recorded.
///
/// # Safety
/// `chain` is a `pNext`.
pub(crate) unsafe fn unread_structures(
    chain: *const c_void,
    call: &str,
    read: &[vk::StructureType],
) -> Vec<Event> {
    let mut unread = Vec::new();
    let mut structure = chain.cast::<vk::BaseInStructure<'_>>();
    while let Some(base) = unsafe { structure.as_ref() } {
        if !read.contains(&base.s_type) {
            unread.push(Event::Unsupported(Unsupported {
                name: format!("{call} with the structure {:?}", base.s_type),
                effect: OpenEffect::Accesses,
            }));
        }
        structure = base.p_next;
    }
    unread
}
