//! Which invocations two accesses can bring to one element.
//!
//! Knows: the forms of the indices on both ways into an object, and who can come to each access.
//! Promises: who is said not to meet does not, under no input. Work for a question is linear in
//! the invocations, and done once for all pairs of accesses whose indices differ alike. Does not
//! cover: indices without a form, which may be equal for any two invocations.

use super::KernelPairs;
use super::access::SharedAccess;
use super::index_form::IndexForm;
use super::index_forms::IndexForms;
use super::node_set::NodeSet;
use super::object::{PathRelation, PathStep, SharedObject};
use crate::memory_semantics::MemoryKinds;
use crate::module::Id;
use std::cell::RefCell;
use std::collections::HashMap;
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

/// Indices that must be equal, by what two invocations of a workgroup add to what both share. All
/// is told modulo 2 to the power of the bits that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct EqualIndices {
    /// What the local ids of the first and of the second invocation count.
    local: [[u32; 3]; 2],
    /// The constant of the first index less that of the second one.
    difference: u32,
    /// How many of the lowest bits are compared.
    bits: u32,
}

impl EqualIndices {
    fn of(first: &IndexForm, second: &IndexForm) -> Self {
        let bits = first.known_bits.min(second.known_bits);
        let local = [first, second].map(|form| form.local.map(|count| low_bits(count, bits)));
        let difference = low_bits(first.constant.wrapping_sub(second.constant), bits);
        Self { local, difference, bits }
    }

    /// What the first invocation's place decides.
    fn first_value(&self, local_id: [u32; 3]) -> u32 {
        let sum = sum_of_products(self.local[0], local_id);
        low_bits(sum.wrapping_add(self.difference), self.bits)
    }

    /// What the second invocation's place decides: the same where the indices are equal.
    fn second_value(&self, local_id: [u32; 3]) -> u32 {
        low_bits(sum_of_products(self.local[1], local_id), self.bits)
    }
}

fn low_bits(value: u32, bits: u32) -> u32 {
    let mask = 1_u32.checked_shl(bits).map_or(u32::MAX, |power| power - 1);
    value & mask
}

fn sum_of_products(counts: [u32; 3], local_id: [u32; 3]) -> u32 {
    let products = counts.iter().zip(local_id).map(|(count, id)| count.wrapping_mul(id));
    products.fold(0, u32::wrapping_add)
}

/// The indices of two ways into one object, members alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
                self.equal.push(EqualIndices::of(&first, &second));
            }
            [Some(_) | None, _] => self.are_all_known = false,
        }
    }

    /// Who can meet at one element in all of a dispatch, where constants alone are compared.
    pub(super) fn meeting_in_dispatch(&self) -> Meeting {
        let are_equal =
            |indices: &EqualIndices| indices.first_value([0; 3]) == indices.second_value([0; 3]);
        if self.equal.iter().all(are_equal) { Meeting::Possible } else { Meeting::Never }
    }

    /// Who of those that come to the first access can meet whom of those that come to the second
    /// one. Work is linear in their number: the elements that the first ones touch are gathered.
    fn meeting_of(&self, ids: &[[u32; 3]], [first, second]: [&NodeSet; 2]) -> Meeting {
        let mut touched: HashMap<Vec<u32>, Touching> = HashMap::new();
        for number in first.numbers() {
            let element = self.equal.iter().map(|indices| indices.first_value(ids[number]));
            let touching = touched.entry(element.collect());
            touching
                .and_modify(|touching| touching.is_alone = false)
                .or_insert(Touching { number, is_alone: true });
        }
        let mut meeting = Meeting::Never;
        let mut element = Vec::new();
        for number in second.numbers() {
            element.clear();
            element.extend(self.equal.iter().map(|indices| indices.second_value(ids[number])));
            if let Some(touching) = touched.get(&element) {
                meeting = meeting.max(self.met(touching.is_alone && touching.number == number));
            }
        }
        meeting
    }

    fn met(&self, is_same_invocation: bool) -> Meeting {
        match (is_same_invocation, self.are_all_known) {
            (true, _) => Meeting::OneInvocation,
            (false, true) => Meeting::Certain,
            (false, false) => Meeting::Possible,
        }
    }
}

/// Who touches an element.
struct Touching {
    /// The first invocation that does.
    number: usize,
    is_alone: bool,
}

/// The indices of two accesses, and who comes to each.
type MeetingQuestion = (ComparedIndices, [Rc<NodeSet>; 2]);

/// Meetings in a workgroup by all that decides them. Unrolled loops ask often for the same: their
/// indices differ from each other by the same constants.
#[derive(Debug, Default)]
pub(super) struct WorkgroupMeetings {
    known: RefCell<HashMap<MeetingQuestion, Meeting>>,
}

impl WorkgroupMeetings {
    /// Who of those that come to the first access can meet whom of those that come to the second
    /// one; `ids` are the local ids of the workgroup by local index.
    pub(super) fn meeting(
        &self,
        indices: ComparedIndices,
        ids: &[[u32; 3]],
        executors: [Rc<NodeSet>; 2],
    ) -> Meeting {
        let key = (indices, executors);
        if let Some(meeting) = self.known.borrow().get(&key) {
            return *meeting;
        }
        let (indices, [first, second]) = &key;
        let meeting = indices.meeting_of(ids, [first, second]);
        self.known.borrow_mut().insert(key, meeting);
        meeting
    }

    /// How many were compared.
    #[cfg(test)]
    pub(super) fn compared_count(&self) -> usize {
        self.known.borrow().len()
    }
}

/// What decides whom an access meets.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct AccessSide {
    object: SharedObject,
    declaration: Id,
    /// Members, and forms of indices where they have one.
    steps: Vec<(Option<u32>, Option<Rc<IndexForm>>)>,
    /// Of the coordinate of a texel.
    coordinate: Vec<Option<Rc<IndexForm>>>,
    /// Who comes to it.
    executors: Rc<NodeSet>,
}

impl KernelPairs<'_> {
    pub(super) fn meets(
        &self,
        write: &SharedAccess,
        read: &SharedAccess,
        range: MeetingRange,
    ) -> bool {
        self.meeting(write, read, range) >= Meeting::Possible
    }

    pub(super) fn meeting(
        &self,
        first: &SharedAccess,
        second: &SharedAccess,
        range: MeetingRange,
    ) -> Meeting {
        let key = ([self.side_of(first), self.side_of(second)], range);
        if let Some(meeting) = self.meetings.borrow().get(&key) {
            return *meeting;
        }
        let meeting = self.compared(first, second, range);
        self.meetings.borrow_mut().insert(key, meeting);
        meeting
    }

    /// The number of an access's side: many accesses of a kernel have the same.
    fn side_of(&self, access: &SharedAccess) -> usize {
        let known = access.number.and_then(|number| self.sides.borrow().get(&number).copied());
        if let Some(side) = known {
            return side;
        }
        let steps = access.path.steps.iter().map(|step| match step {
            PathStep::Member(member) => (Some(*member), None),
            PathStep::Element(index) => (None, index.and_then(|index| self.forms.form_of(index))),
        });
        let side = AccessSide {
            object: access.path.object,
            declaration: access.path.declaration,
            steps: steps.collect(),
            coordinate: access
                .coordinate
                .map_or_else(Vec::new, |coordinate| self.forms.forms_of_coordinate(coordinate)),
            executors: self.executors.of_instruction(access.index),
        };
        let mut side_numbers = self.side_numbers.borrow_mut();
        let next_number = side_numbers.len();
        let side = *side_numbers.entry(side).or_insert(next_number);
        self.sides.borrow_mut().extend(access.number.map(|number| (number, side)));
        side
    }

    fn compared(
        &self,
        first: &SharedAccess,
        second: &SharedAccess,
        range: MeetingRange,
    ) -> Meeting {
        let relation = first.path.relation(&second.path, &self.paths);
        if relation == PathRelation::Apart {
            return Meeting::Never;
        }
        let (first_steps, second_steps) = (&first.path.steps, &second.path.steps);
        let have_steps = relation == PathRelation::SameSteps;
        let indices = if have_steps && self.paths.are_elements_told(&first.path) {
            ComparedIndices::of_steps(self.forms, first_steps, second_steps, range)
        } else if have_steps && self.paths.memory_kind(&first.path) == Some(MemoryKinds::IMAGES) {
            ComparedIndices::of_steps(self.forms, first_steps, second_steps, range)
                .with_coordinates(self.forms, [first.coordinate, second.coordinate], range)
        } else {
            ComparedIndices::unknown()
        };
        if range == MeetingRange::Dispatch {
            return indices.meeting_in_dispatch();
        }
        let executors = [first, second].map(|access| self.executors.of_instruction(access.index));
        self.workgroup_meetings.meeting(indices, self.executors.local_ids(), executors)
    }
}
