//! Numbers of the kernel (scalars, vectors, matrices) against those of the host.
//!
//! Knows: the place and the type of each number on both sides, how the host groups them, what it
//! calls them.
//! Promises: each number that the kernel reads begins where a number of the same type of the host
//! does. A matrix that the host keeps in rows or columns has as many of them, as far apart. Names
//! of components in another order (`w, x, y, z`) are an open question.
//! Does not cover: values.

use super::comparison::{Comparison, Site};
use super::kernel_block::{NumberShape, Numbers};
use super::number_list::{
    GatherStop, HostNumber, MOST_NUMBERS, NumberRun, counted, host_numbers, without_wrappers,
};
use vkcert_model::block_layout::MatrixOrder;
use vkcert_model::requirement::HostContents;

/// Names of the components of a vector in GLSL (GLSL specification, section 5.5).
const COMPONENT_NAMES: [[&str; 4]; 3] =
    [["x", "y", "z", "w"], ["r", "g", "b", "a"], ["s", "t", "p", "q"]];

impl<'a> Comparison<'a> {
    pub(super) fn compare_numbers(
        &mut self,
        site: &Site<'a>,
        numbers: &Numbers,
        host: &'a HostContents,
    ) {
        self.compare_order(site, numbers);
        let places = numbers.places();
        let Some(host_list) = self.compare_places(site, (numbers, &places), host) else { return };
        let is_read = |number: &&HostNumber<'_>| places.iter().any(|(at, _)| *at == number.offset);
        let read_list: Vec<&HostNumber<'_>> = host_list.iter().filter(is_read).collect();
        self.compare_component_names(site, numbers, &read_list);
        let NumberShape::Matrix { vectors, components, stride, order } = numbers.shape else {
            return;
        };
        let end = u64::from(vectors) * u64::from(stride);
        match host_vectors(host) {
            Some(host_vectors) => {
                let places: Vec<u64> =
                    (0..vectors).map(|i| u64::from(i) * u64::from(stride)).collect();
                let host_places: Vec<u64> =
                    host_vectors.iter().map(|(offset, _)| *offset).collect();
                if places != host_places {
                    let words = format!(
                        "{} is {} on the host; the kernel reads {vectors} {} of {components}, {stride} bytes apart",
                        site.path,
                        vectors_in_words(&host_vectors),
                        order_words(order)
                    );
                    self.add_fault(site, words);
                }
            }
            None if host_list.len() > places.len() && host_list.iter().all(|n| n.offset < end) => {
                self.open_questions.push(format!(
                    "{} is a list of {} on the host, of which the kernel reads {}: whether the list has gaps there is not stated",
                    site.path,
                    counted(host_list.len() as u64, "number"),
                    places.len()
                ));
            }
            None => {}
        }
    }

    /// Numbers of one type at the places that the kernel reads; what the host has there, unless
    /// something is missing.
    pub(super) fn compare_places(
        &mut self,
        site: &Site<'a>,
        (numbers, places): (&Numbers, &[(u64, String)]),
        host: &'a HostContents,
    ) -> Option<Vec<HostNumber<'a>>> {
        let path = &site.path;
        let host_list = match host_numbers(host) {
            Ok(host_list) => host_list,
            Err(GatherStop::TooMany) => {
                let words = format!("{path} has more numbers on the host than in the kernel");
                self.add_fault(site, words);
                return None;
            }
            Err(GatherStop::Unsupported(kind)) => {
                self.open_questions.push(format!("{path} holds {kind} on the host"));
                return None;
            }
        };
        let is_read = |number: &&HostNumber<'_>| places.iter().any(|(at, _)| *at == number.offset);
        let other_type =
            host_list.iter().filter(is_read).find(|number| number.number_type != numbers.scalar);
        if let Some(number) = other_type {
            self.compare_type(site, number.number_type, numbers.scalar);
        }
        let missing_place = places
            .iter()
            .find(|(offset, _)| !host_list.iter().any(|number| number.offset == *offset));
        if let Some((offset, name)) = missing_place {
            let words = format!(
                "the kernel reads {path}{name} {} behind the start of {path}, where the host has no number that begins there",
                counted(*offset, "byte")
            );
            self.add_fault(site, words);
            return None;
        }
        if host_list.iter().any(|number| !is_part_of(numbers, places, number.offset)) {
            let words = format!(
                "{path} has {} on the host and {} in the kernel",
                counted(host_list.len() as u64, "number"),
                places.len()
            );
            self.add_fault(site, words);
            return None;
        }
        Some(host_list)
    }

    /// Components that the host names by letters, in another order than the kernel.
    fn compare_component_names(
        &mut self,
        site: &Site<'_>,
        numbers: &Numbers,
        read_list: &[&HostNumber<'_>],
    ) {
        let components = match numbers.shape {
            NumberShape::Scalar => return,
            NumberShape::Vector { components } | NumberShape::Matrix { components, .. } => {
                components as usize
            }
        };
        for vector in read_list.chunks(components.max(1)) {
            let names: Option<Vec<String>> =
                vector.iter().map(|number| Some(number.name?.to_lowercase())).collect();
            let Some(names) = names else { continue };
            let is_other_order = |letters: &[&str; 4]| {
                let is_letter = |name: &String| letters.contains(&name.as_str());
                let mut distinct = names.clone();
                distinct.sort();
                distinct.dedup();
                let is_list = distinct.len() == names.len() && names.iter().all(is_letter);
                is_list && names.iter().zip(letters).any(|(name, letter)| name != letter)
            };
            if let Some(letters) = COMPONENT_NAMES.iter().find(|letters| is_other_order(letters)) {
                let kernel_names = &letters[..names.len().min(letters.len())];
                return self.open_questions.push(format!(
                    "{} holds {} on the host in this order, where the kernel has {}: whether the same is meant is not stated",
                    site.path,
                    names.join(", "),
                    kernel_names.join(", ")
                ));
            }
        }
    }

    /// What of a matrix lies one behind the other: bytes do not tell it.
    pub(super) fn compare_order(&mut self, site: &Site<'_>, numbers: &Numbers) {
        let NumberShape::Matrix { order, .. } = numbers.shape else { return };
        let path = &site.path;
        match site.member.and_then(|member| member.order) {
            Some(host_order) if host_order == order => {}
            Some(host_order) => {
                let (host_words, kernel_words) = (order_words(host_order), order_words(order));
                self.add_fault(
                    site,
                    format!("{path} is stored by {host_words} on the host and read by {kernel_words} in the kernel"),
                );
            }
            None => self.open_questions.push(format!(
                "{path} is a matrix that the kernel reads by {}; the interface does not state the host's `order`",
                order_words(order)
            )),
        }
    }
}

/// Whether a number of the host at this offset is one of the kernel's, or lies where the kernel's
/// own layout of a matrix has padding.
fn is_part_of(numbers: &Numbers, places: &[(u64, String)], offset: u64) -> bool {
    match numbers.shape {
        NumberShape::Scalar | NumberShape::Vector { .. } => {
            places.iter().any(|(place, _)| *place == offset)
        }
        NumberShape::Matrix { vectors, stride, .. } => {
            let last_place = places.iter().map(|(place, _)| *place).max().unwrap_or(0);
            offset < (u64::from(vectors) * u64::from(stride)).max(last_place + 1)
        }
    }
}

fn order_words(order: MatrixOrder) -> &'static str {
    match order {
        MatrixOrder::Columns => "columns",
        MatrixOrder::Rows => "rows",
    }
}

/// The parts in which the host keeps the numbers of a matrix, with their offsets; none where it
/// keeps them one by one.
fn host_vectors(host: &HostContents) -> Option<Vec<(u64, &HostContents)>> {
    match without_wrappers(host) {
        HostContents::Array { count, stride, element } if !is_number(element) => {
            let shown_count = (*count).min(MOST_NUMBERS as u64);
            Some((0..shown_count).map(|index| (index * stride, &**element)).collect())
        }
        HostContents::Structure(structure) => {
            let members = || structure.members.iter().filter(|member| !member.padding);
            if members().all(|member| is_number(&member.contents)) {
                return None;
            }
            Some(members().map(|member| (member.offset, &member.contents)).collect())
        }
        HostContents::Array { .. }
        | HostContents::Scalar(_)
        | HostContents::FlexibleArray { .. }
        | HostContents::Unsupported { .. } => None,
    }
}

fn is_number(contents: &HostContents) -> bool {
    matches!(without_wrappers(contents), HostContents::Scalar(_))
}

/// `4 times 3 numbers`
fn vectors_in_words(vectors: &[(u64, &HostContents)]) -> String {
    let counts: Vec<Option<u64>> =
        vectors.iter().map(|(_, vector)| NumberRun::of_host(vector).map(|run| run.count)).collect();
    match counts.as_slice() {
        [Some(count), rest @ ..] if rest.iter().all(|other| *other == Some(*count)) => {
            format!("{} times {}", vectors.len(), counted(*count, "number"))
        }
        _ => counted(vectors.len() as u64, "part"),
    }
}
