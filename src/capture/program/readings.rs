//! What the layer read in front of dispatches, put to the dispatches.
//!
//! Knows: which operation each dispatch of a submission became; bytes that records name again.
//! Promises: a reading is about what was bound when it was made: where a set was written behind that,
//! or another range is bound at the submission, the reading is left out by name. A reading of a
//! dispatch, descriptor, level or layer that is not there ends in a diagnostic.
//! Does not cover: dispatches of secondary command buffers, which the layer does not read.

use super::build::Builder;
use super::{Action, BoundResource, BoundView, Dispatch, Groups, Reading};
use crate::event::ContentsMode;
use crate::reading::{
    DispatchContents, DispatchPlace, ReadBytes, ReadDescriptor, ReadSource, UnreadDispatch,
};
use crate::value::Bytes;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes that vkCmdDispatchIndirect reads.
const INDIRECT_BYTES: u64 = 12;

/// What is kept to find dispatches and bytes again.
#[derive(Debug)]
pub(super) struct ReadingState {
    /// Number of the record that is taken.
    pub(super) record: u64,
    pub(super) mode: ContentsMode,
    /// Operations of the dispatches of each command buffer, by the record of their submission.
    dispatches: HashMap<u64, Vec<Vec<usize>>>,
    bytes: HashMap<u64, Arc<Vec<u8>>>,
}

impl Default for ReadingState {
    fn default() -> Self {
        let (dispatches, bytes) = (HashMap::new(), HashMap::new());
        Self { record: 0, mode: ContentsMode::Omitted, dispatches, bytes }
    }
}

impl ReadingState {
    pub(super) fn begin_submission(&mut self) {
        match self.mode {
            ContentsMode::Omitted => {}
            ContentsMode::Recorded => {
                self.dispatches.insert(self.record, Vec::new());
            }
        }
    }

    pub(super) fn begin_command_buffer(&mut self) {
        if let Some(command_buffers) = self.dispatches.get_mut(&self.record) {
            command_buffers.push(Vec::new());
        }
    }

    /// Notes which operation a dispatch of a primary command buffer becomes.
    pub(super) fn note_operation(&mut self, operation: usize, action: &Action) {
        let is_dispatch = matches!(action, Action::Dispatch(_) | Action::UnboundDispatch { .. });
        if let Some(command_buffers) = self.dispatches.get_mut(&self.record)
            && let Some(last) = command_buffers.last_mut()
            && is_dispatch
        {
            last.push(operation);
        }
    }

    /// What is not read of a dispatch, by where it was recorded.
    pub(super) fn unread_by_nesting(&self, nesting: u32) -> Vec<Arc<str>> {
        match self.mode {
            ContentsMode::Recorded if nesting > 0 => {
                vec![Arc::from("it was recorded into a secondary command buffer")]
            }
            ContentsMode::Recorded | ContentsMode::Omitted => Vec::new(),
        }
    }

    fn take_bytes(&mut self, bytes: ReadBytes) -> Result<Arc<Vec<u8>>, String> {
        match bytes {
            ReadBytes::New(number, Bytes(bytes)) => {
                let bytes = Arc::new(bytes);
                self.bytes.insert(number, Arc::clone(&bytes));
                Ok(bytes)
            }
            ReadBytes::Again(number) => self
                .bytes
                .get(&number)
                .cloned()
                .ok_or_else(|| format!("no earlier record has the bytes of number {number}")),
        }
    }
}

/// How a reading fits what is bound at the submission.
enum Fit {
    Same(Reading),
    /// Something else is bound, why in words.
    Other(String),
}

impl Builder {
    /// The operation of a dispatch.
    fn operation_of(&self, place: &DispatchPlace) -> Result<usize, String> {
        let command_buffers = self.readings.dispatches.get(&place.submission);
        let dispatches = command_buffers.and_then(|all| all.get(place.command_buffer as usize));
        let operation = dispatches.and_then(|all| all.get(place.dispatch as usize));
        operation.copied().ok_or_else(|| {
            format!(
                "record {} has no dispatch {} of command buffer {}",
                place.submission, place.dispatch, place.command_buffer
            )
        })
    }

    pub(super) fn take_unread(&mut self, unread: &UnreadDispatch) -> Result<(), String> {
        let operation = self.operation_of(&unread.place)?;
        if let Action::Dispatch(dispatch) = &mut self.operations[operation].action {
            dispatch.unread.push(Arc::from(&*unread.reason));
        }
        Ok(())
    }

    pub(super) fn take_reading(&mut self, contents: DispatchContents) -> Result<(), String> {
        let operation = self.operation_of(&contents.place)?;
        let bytes = self.readings.take_bytes(contents.bytes)?;
        let Action::Dispatch(dispatch) = &self.operations[operation].action else {
            return Err("a dispatch without a pipeline has nothing bound".to_owned());
        };
        let fit = match contents.source {
            ReadSource::Range(descriptor) => self.range_fit(dispatch, descriptor, bytes),
            ReadSource::Texels { descriptor, level, layer } => {
                self.texels_fit(dispatch, descriptor, (level, layer), bytes)?
            }
            ReadSource::Workgroups => workgroups_fit(dispatch, bytes)?,
        };
        let Action::Dispatch(dispatch) = &mut self.operations[operation].action else {
            return Ok(());
        };
        match fit {
            Fit::Same(reading) => dispatch.readings.push(reading),
            Fit::Other(reason) => dispatch.unread.push(Arc::from(reason)),
        }
        Ok(())
    }

    fn range_fit(
        &self,
        dispatch: &Dispatch,
        descriptor: ReadDescriptor,
        bytes: Arc<Vec<u8>>,
    ) -> Fit {
        let ranges =
            bound_at(dispatch, descriptor).filter_map(|(bound, offset)| match bound.resource {
                BoundResource::Buffer { .. } => bound.buffer_range(offset, &self.buffers),
                BoundResource::Image
                | BoundResource::View(_)
                | BoundResource::Inline(_)
                | BoundResource::Null
                | BoundResource::Other => None,
            });
        let mut same = ranges.filter(|range| range.size == bytes.len() as u64);
        match same.next().filter(|_| !is_updated(dispatch, descriptor)) {
            Some(range) => {
                Fit::Same(Reading::Range { buffer: range.buffer, offset: range.offset, bytes })
            }
            None => Fit::Other(other_bound(descriptor)),
        }
    }

    fn texels_fit(
        &self,
        dispatch: &Dispatch,
        descriptor: ReadDescriptor,
        (level, layer): (u32, u32),
        bytes: Arc<Vec<u8>>,
    ) -> Result<Fit, String> {
        let mut views =
            bound_at(dispatch, descriptor).filter_map(|(bound, _)| match bound.resource {
                BoundResource::View(BoundView { view, .. }) => view,
                BoundResource::Buffer { .. }
                | BoundResource::Image
                | BoundResource::Inline(_)
                | BoundResource::Null
                | BoundResource::Other => None,
            });
        let view = views.next().filter(|_| !is_updated(dispatch, descriptor));
        let Some(view) = view else { return Ok(Fit::Other(other_bound(descriptor))) };
        let view = &self.image_views[view];
        self.check_layer(view.image, (level, layer))?;
        Ok(Fit::Same(Reading::Texels { image: view.image, level, layer, bytes }))
    }
}

fn workgroups_fit(dispatch: &Dispatch, bytes: Arc<Vec<u8>>) -> Result<Fit, String> {
    match dispatch.groups {
        Groups::Indirect { buffer, offset } if bytes.len() as u64 == INDIRECT_BYTES => {
            Ok(Fit::Same(Reading::Range { buffer, offset, bytes }))
        }
        Groups::Indirect { .. } | Groups::Direct(_) => {
            Err("it has other workgroups than those of an indirect dispatch".to_owned())
        }
    }
}

/// The descriptors at a place: one or none.
fn bound_at(
    dispatch: &Dispatch,
    place: ReadDescriptor,
) -> impl Iterator<Item = (&super::BoundDescriptor, u32)> {
    let all = dispatch.descriptors_at(place.set, place.binding);
    all.filter(move |(bound, _)| bound.element == place.element)
}

/// Whether a binding was written behind the dispatch that was recorded.
fn is_updated(dispatch: &Dispatch, descriptor: ReadDescriptor) -> bool {
    let set = dispatch.sets.iter().find(|set| set.number == descriptor.set);
    set.is_none_or(|set| set.updated.contains(&descriptor.binding))
}

fn other_bound(ReadDescriptor { set, binding, .. }: ReadDescriptor) -> String {
    format!("binding {set}.{binding} has something else at the submission than was read")
}
