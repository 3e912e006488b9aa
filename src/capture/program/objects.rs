//! Which object a handle stands for.

use crate::event::ObjectKind;
use crate::value::Handle;
use std::collections::HashMap;

/// Objects that live, by kind and handle, as indices into what was made.
#[derive(Debug, Default)]
pub(super) struct Live {
    indices: HashMap<(ObjectKind, Handle), usize>,
}

impl Live {
    /// Notes an object; one of the same handle that nobody destroyed is gone with it.
    pub(super) fn insert(&mut self, kind: ObjectKind, handle: Handle, index: usize) {
        self.indices.insert((kind, handle), index);
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, kind: ObjectKind, handle: Handle) {
        self.indices.remove(&(kind, handle));
    }

    /// The object; in words what is wrong where there is none.
    pub(super) fn find(&self, kind: ObjectKind, handle: Handle) -> Result<usize, String> {
        self.indices
            .get(&(kind, handle))
            .copied()
            .ok_or_else(|| format!("no record made the {} {handle}", kind.name()))
    }

    /// The object; none for VK_NULL_HANDLE.
    pub(super) fn find_or_null(
        &self,
        kind: ObjectKind,
        handle: Handle,
    ) -> Result<Option<usize>, String> {
        if handle.is_null() { Ok(None) } else { self.find(kind, handle).map(Some) }
    }
}
