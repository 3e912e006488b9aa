//! Which invocations two accesses can bring to one element.
//!
//! Knows: the forms of the indices on both ways into an object, and who can come to each access.
//! Promises: who is said not to meet does not, under no input. Does not cover: indices without a
//! form, which may be equal for any two invocations.

use super::executors::Executors;
use super::index_form::IndexForm;
use super::index_forms::IndexForms;
use super::node_set::NodeSet;
use super::object::PathStep;
use std::rc::Rc;

/// Who can meet at one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Meeting {
    /// No two accesses are to the same element.
    Never,
    /// An invocation meets itself alone.
    OneInvocation,
    /// Different invocations may meet; nothing tells that they do not.
    Possible,
    /// Different invocations do meet if the whole workgroup executes both accesses.
    Certain,
}

/// Between whom a meeting is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum MeetingRange {
    /// Invocations of one workgroup.
    Workgroup,
    /// All of the dispatch.
    Dispatch,
}

/// Pairs of invocations that are looked at one by one; of more the differences of their ids are.
const MOST_COMPARED: usize = 1 << 16;

/// Indices that must be equal.
struct EqualIndices {
    first: Rc<IndexForm>,
    second: Rc<IndexForm>,
}

/// The indices of two ways into one object, members alike.
pub(super) struct ComparedIndices {
    equal: Vec<EqualIndices>,
    /// Whether all indices of both ways have forms that can be compared.
    are_all_known: bool,
}

impl ComparedIndices {
    /// Of parts whose elements nothing tells.
    pub(super) fn unknown() -> Self {
        Self { equal: Vec::new(), are_all_known: false }
    }

    pub(super) fn of_steps(
        forms: &IndexForms<'_>,
        first_steps: &[PathStep],
        second_steps: &[PathStep],
        range: MeetingRange,
    ) -> Self {
        let mut compared = Self { equal: Vec::new(), are_all_known: true };
        for steps in first_steps.iter().zip(second_steps) {
            let (first, second) = match steps {
                (PathStep::Element(first), PathStep::Element(second)) => (*first, *second),
                (PathStep::Member(_), _) | (_, PathStep::Member(_)) => continue,
            };
            let form = |index: Option<u32>| index.and_then(|index| forms.form_of(index));
            compared.add([form(first), form(second)], range);
        }
        compared
    }

    /// Also compares the coordinates of two texels of one image.
    pub(super) fn with_coordinates(
        mut self,
        forms: &IndexForms<'_>,
        coordinates: [Option<u32>; 2],
        range: MeetingRange,
    ) -> Self {
        let [Some(first), Some(second)] = coordinates else {
            self.are_all_known = false;
            return self;
        };
        let first_forms = forms.forms_of_coordinate(first);
        let second_forms = forms.forms_of_coordinate(second);
        self.are_all_known &= first_forms.len() == second_forms.len();
        for (first, second) in first_forms.into_iter().zip(second_forms) {
            self.add([first, second], range);
        }
        self
    }

    fn add(&mut self, pair: [Option<Rc<IndexForm>>; 2], range: MeetingRange) {
        match pair {
            [Some(first), Some(second)] if first.is_comparable(&second, range) => {
                self.are_all_known &= first.is_exact() && second.is_exact();
                self.equal.push(EqualIndices { first, second });
            }
            [Some(_) | None, _] => self.are_all_known = false,
        }
    }

    /// Who of the executors of the first access can meet whom of those of the second one.
    pub(super) fn meeting(
        &self,
        executors: &Executors<'_>,
        first: &NodeSet,
        second: &NodeSet,
        range: MeetingRange,
    ) -> Meeting {
        if range == MeetingRange::Dispatch {
            let meets = self.meets_at([0; 3], [0; 3]);
            return if meets { Meeting::Possible } else { Meeting::Never };
        }
        let ids = executors.local_ids();
        if first.count() * second.count() <= MOST_COMPARED {
            let seconds: Vec<usize> = second.numbers().collect();
            let pairs = first.numbers().flat_map(|a| seconds.iter().map(move |b| (a, *b)));
            let meetings = pairs.filter(|(a, b)| self.meets_at(ids[*a], ids[*b]));
            let most = meetings.map(|(a, b)| self.met(a == b)).max();
            return most.unwrap_or(Meeting::Never);
        }
        self.meeting_by_difference(ids)
    }

    /// Whole workgroups: where both indices count the local id alike, the difference of two ids
    /// decides.
    fn meeting_by_difference(&self, ids: &[[u32; 3]]) -> Meeting {
        if self.equal.iter().any(|indices| !indices.first.counts_alike(&indices.second)) {
            return Meeting::Possible;
        }
        let [size_x, size_y, size_z] = ids.last().map_or([1; 3], |last| last.map(|id| id + 1));
        let mut meeting = Meeting::Never;
        let differences = |size: u32| (1..2 * size).map(move |id| id.wrapping_sub(size));
        for dz in differences(size_z) {
            for dy in differences(size_y) {
                for dx in differences(size_x) {
                    if self.meets_at([dx, dy, dz], [0; 3]) {
                        meeting = meeting.max(self.met([dx, dy, dz] == [0; 3]));
                    }
                }
            }
        }
        meeting
    }

    fn meets_at(&self, first_id: [u32; 3], second_id: [u32; 3]) -> bool {
        self.equal.iter().all(|indices| indices.first.agrees(first_id, &indices.second, second_id))
    }

    fn met(&self, is_same_invocation: bool) -> Meeting {
        match (is_same_invocation, self.are_all_known) {
            (true, _) => Meeting::OneInvocation,
            (false, true) => Meeting::Certain,
            (false, false) => Meeting::Possible,
        }
    }
}
