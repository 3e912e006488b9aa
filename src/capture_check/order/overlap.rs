//! Whether two accesses of the device touch bytes in common.
//!
//! Knows: what dispatches touch, as far as that follows from what they are given
//! (`vkcert_spirv::touched`); copies, clears, fills and updates touch what they name.
//! Promises: an overlap is [`Overlap::Shown`] by bytes that both touch whatever memory holds, and
//! accesses are [`Overlap::Apart`] only if all that each touches is known.
//! Does not cover: contents of memory, which a capture may have.

use super::sampling::sampled_texels;
use super::span::{AccessSpan, SpanPlace};
use super::uses::{BoundTexels, UseKind, UsePlace, bound_image, uses_of};
use crate::contents::KnownGroups;
use crate::kernel::{AddressedMemory, KernelTable};
use std::collections::BTreeMap;
use std::rc::Rc;
use vkcert_capture::program::{Action, BoundBuffer, Dispatch, Program};
use vkcert_spirv::touched::{DispatchNumbers, TouchKind, Touched, TouchedBytes};

/// Instructions that are run for one dispatch at most, and for a capture.
const MOST_STEPS_OF_DISPATCH: u64 = 200_000;
const MOST_STEPS: u64 = 4_000_000;

/// How two accesses of one range meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Overlap {
    /// Both touch these bytes, the first that they have in common.
    Shown(AccessSpan),
    /// They touch no byte in common.
    Apart,
    /// They touch bytes in common by atomic instructions alone.
    Atomic,
    /// Neither is known, for this reason.
    Open(String),
}

/// An operation that reads or writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Toucher {
    pub(super) operation: usize,
    pub(super) kind: UseKind,
}

/// What operations touch, each found out once.
pub(super) struct TouchTable<'a> {
    program: &'a Program,
    kernels: &'a KernelTable,
    groups: &'a KnownGroups,
    known: BTreeMap<usize, Rc<TouchedMemory>>,
    /// Instructions that may still be run.
    steps: u64,
}

/// What an operation touches, in ascending order.
#[derive(Debug, Default)]
struct TouchedMemory {
    read: Vec<AccessSpan>,
    written: Vec<AccessSpan>,
    /// What is read and written by atomic instructions alone does not conflict with others of these.
    atomic: Vec<AccessSpan>,
    /// Texels of which some are read, whichever, image by image.
    samples: Vec<Vec<AccessSpan>>,
    /// Why it may touch more.
    open: Option<String>,
}

impl TouchedMemory {
    fn of_kind(&self, kind: UseKind) -> &[AccessSpan] {
        match kind {
            UseKind::Read => &self.read,
            UseKind::Write => &self.written,
        }
    }

    fn add(&mut self, kind: UseKind, span: AccessSpan) {
        match kind {
            UseKind::Read => self.read.push(span),
            UseKind::Write => self.written.push(span),
        }
    }

    fn note(&mut self, kind: TouchKind, span: AccessSpan) {
        match kind {
            TouchKind::Read => self.read.push(span),
            TouchKind::Write => self.written.push(span),
            TouchKind::Atomic => self.atomic.push(span),
        }
    }

    /// Texels of a range of which some are read, whichever, and all of which another access touches.
    fn sample_within(
        &self,
        range: &AccessSpan,
        kind: UseKind,
        others: &[AccessSpan],
    ) -> Option<AccessSpan> {
        match kind {
            UseKind::Write => None,
            UseKind::Read => {
                let is_met = |texels: &&Vec<AccessSpan>| {
                    let mut spans = texels.iter();
                    spans.all(|span| is_covered(span, &[*range]) && is_covered(span, others))
                };
                self.samples.iter().find(is_met)?.first().copied()
            }
        }
    }

    fn leave_open(&mut self, reason: &str) {
        self.open.get_or_insert_with(|| reason.to_owned());
    }
}

impl<'a> TouchTable<'a> {
    pub(super) fn new(
        program: &'a Program,
        kernels: &'a KernelTable,
        groups: &'a KnownGroups,
    ) -> Self {
        Self { program, kernels, groups, known: BTreeMap::new(), steps: MOST_STEPS }
    }

    /// How two accesses meet in a range.
    pub(super) fn overlap(
        &mut self,
        range: &AccessSpan,
        earlier: Toucher,
        later: Toucher,
    ) -> Overlap {
        let [first, second] = [earlier, later].map(|toucher| self.touched(toucher.operation));
        let (first_spans, second_spans) = (first.of_kind(earlier.kind), second.of_kind(later.kind));
        let common = first_common(range, first_spans, second_spans)
            .or_else(|| first_common(range, &first.atomic, second_spans))
            .or_else(|| first_common(range, first_spans, &second.atomic))
            .or_else(|| first.sample_within(range, earlier.kind, second_spans))
            .or_else(|| second.sample_within(range, later.kind, first_spans));
        if let Some(common) = common {
            return Overlap::Shown(common);
        }
        match first.open.as_ref().or(second.open.as_ref()) {
            Some(reason) => Overlap::Open(reason.clone()),
            None if first_common(range, &first.atomic, &second.atomic).is_some() => Overlap::Atomic,
            None => Overlap::Apart,
        }
    }

    /// How an access meets something that touches all of a range.
    pub(super) fn overlap_with_all(&mut self, range: &AccessSpan, earlier: Toucher) -> Overlap {
        let touched = self.touched(earlier.operation);
        let common = first_common(range, touched.of_kind(earlier.kind), &[*range])
            .or_else(|| first_common(range, &touched.atomic, &[*range]))
            .or_else(|| touched.sample_within(range, earlier.kind, &[*range]));
        match (common, &touched.open) {
            (Some(common), _) => Overlap::Shown(common),
            (None, Some(reason)) => Overlap::Open(reason.clone()),
            (None, None) => Overlap::Apart,
        }
    }

    fn touched(&mut self, operation: usize) -> Rc<TouchedMemory> {
        if let Some(known) = self.known.get(&operation) {
            return Rc::clone(known);
        }
        let mut touched = TouchedMemory::default();
        let action = &self.program.operations[operation].action;
        let groups = self.groups.get(&operation).copied();
        for used in uses_of(self.program, self.kernels, action, groups) {
            match used.place {
                // What of it is touched is told below.
                UsePlace::Binding(..) => {}
                UsePlace::Indirect | UsePlace::Source | UsePlace::Target => match used.doubt {
                    Some(doubt) => touched.leave_open(doubt),
                    None => touched.add(used.kind, used.span),
                },
            }
        }
        if let Action::Dispatch(dispatch) = action {
            self.add_dispatch(dispatch, groups, &mut touched);
        }
        for spans in [&mut touched.read, &mut touched.written, &mut touched.atomic] {
            spans.sort_unstable();
        }
        let touched = Rc::new(touched);
        self.known.insert(operation, Rc::clone(&touched));
        touched
    }

    fn add_dispatch(
        &mut self,
        dispatch: &Dispatch,
        groups: Option<[u32; 3]>,
        touched: &mut TouchedMemory,
    ) {
        if let Err(reason) = self.add_invocations(dispatch, groups, touched) {
            touched.leave_open(&reason);
        }
    }

    fn add_invocations(
        &mut self,
        dispatch: &Dispatch,
        groups: Option<[u32; 3]>,
        touched: &mut TouchedMemory,
    ) -> Result<(), String> {
        if let Some(name) = &dispatch.unseen {
            return Err(format!("what is bound is not known behind {name}"));
        }
        let kernel = self.kernels.of_pipeline(dispatch.pipeline)?;
        let touching = kernel.touching.as_ref().map_err(Clone::clone)?;
        let groups = groups.ok_or("how many workgroups it has is not in the capture")?;
        let (mut bound, mut images) = (BTreeMap::new(), BTreeMap::new());
        for ((set, binding), used) in &kernel.uses {
            let mut descriptors = dispatch.descriptors_at(*set, *binding);
            let Some((descriptor, offset)) = descriptors.next() else { continue };
            if used.several || descriptors.next().is_some() {
                touched.leave_open("it has several descriptors at a binding");
            } else if let Some(range) = descriptor.buffer_range(offset, &self.program.buffers) {
                bound.insert((*set, *binding), range);
            } else if let Some(view) = bound_image(self.program, descriptor) {
                images.insert((*set, *binding), view);
            }
        }
        let bound_bytes = bound.iter().map(|(place, range)| (*place, range.size)).collect();
        let extents = images.iter();
        let extents = extents.filter_map(|(place, view)| Some((*place, view.texels?.0)));
        let bound_images = extents.collect();
        let numbers = DispatchNumbers {
            base: dispatch.base,
            groups,
            local_size: kernel.reflection.local_size,
            push_constants: &dispatch.push_constants,
            bound_bytes: &bound_bytes,
            bound_images: &bound_images,
        };
        let allowed = self.steps.min(MOST_STEPS_OF_DISPATCH);
        let mut left = allowed;
        let told = touching.touched_bytes(&numbers, &mut left);
        self.steps -= allowed - left;
        if kernel.addresses == AddressedMemory::Reached {
            touched.leave_open("it reaches memory by device addresses");
        }
        let samples = told.samples.iter();
        let samples = samples.filter_map(|sample| sampled_texels(self.program, dispatch, sample));
        touched.samples.extend(samples);
        self.add_told(&told, &bound, &images, touched);
        Ok(())
    }

    fn add_told(
        &self,
        told: &TouchedBytes,
        bound: &BTreeMap<(u32, u32), BoundBuffer>,
        images: &BTreeMap<(u32, u32), BoundTexels>,
        touched: &mut TouchedMemory,
    ) {
        for ((set, binding, kind), spans) in &told.spans {
            if let Some(BoundTexels { image, texels: Some((_, first)) }) =
                images.get(&(*set, *binding))
            {
                let place = SpanPlace::Image(*image);
                let named = spans.iter().map(|(start, end)| (first + start, first + end));
                named
                    .for_each(|(start, end)| touched.note(*kind, AccessSpan { place, start, end }));
            }
            let Some(range) = bound.get(&(*set, *binding)) else { continue };
            for (start, end) in spans {
                let offset = range.offset.saturating_add(*start);
                match self.program.span(range.buffer, offset, end - start) {
                    Some(span) => touched.note(*kind, span.into()),
                    None => touched.leave_open("in which memory a bound buffer lies is not known"),
                }
            }
        }
        if let Touched::Open(reason) = &told.extent {
            touched.leave_open(reason);
        }
    }
}

/// Whether spans, in ascending order, hold all of a span.
fn is_covered(span: &AccessSpan, others: &[AccessSpan]) -> bool {
    let mut covered = span.start;
    for other in others.iter().filter(|other| other.place == span.place) {
        if other.start <= covered {
            covered = covered.max(other.end);
        }
    }
    span.end <= covered
}

/// The first bytes of a range that spans of two lists have in common.
fn first_common(
    range: &AccessSpan,
    first: &[AccessSpan],
    second: &[AccessSpan],
) -> Option<AccessSpan> {
    let inside = |spans: &[AccessSpan]| -> Vec<AccessSpan> {
        let own = spans.iter().filter(|span| span.place == range.place);
        let clipped = own.map(|span| AccessSpan {
            place: range.place,
            start: span.start.max(range.start),
            end: span.end.min(range.end),
        });
        clipped.filter(|span| span.start < span.end).collect()
    };
    let (first, second) = (inside(first), inside(second));
    let (mut left, mut right) = (0, 0);
    while let (Some(one), Some(other)) = (first.get(left), second.get(right)) {
        let (start, end) = (one.start.max(other.start), one.end.min(other.end));
        if start < end {
            return Some(AccessSpan { place: range.place, start, end });
        }
        if one.end <= other.end { left += 1 } else { right += 1 }
    }
    None
}
