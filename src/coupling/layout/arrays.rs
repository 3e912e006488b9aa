//! An array of the kernel against what the host has in its place.
//!
//! Knows: counts and strides of both sides, and which of them leave gaps between numbers.
//! Promises: lists of numbers without gaps agree however they are grouped (`vec4[2]` with
//! `float[8]`, `float[4]` with `std::array<float, 4>`). Where the kernel leaves gaps that the host's
//! list may or may not have, that is an open question.
//! Does not cover: elements one by one; the first stands for all.

use super::comparison::{Comparison, Site, host_kind};
use super::kernel_block::{KernelContents, NumberShape, Numbers};
use super::number_list::{NumberRun, array_places, counted, kernel_places, without_wrappers};
use vkcert_model::requirement::{HostContents, HostType};

/// An array of a block.
#[derive(Clone, Copy)]
pub(super) struct KernelArray<'k> {
    /// None: as many as the buffer has room for.
    pub length: Option<u64>,
    pub stride: u64,
    pub element: &'k KernelContents,
}

impl KernelArray<'_> {
    /// What each element is, if the array has no gaps.
    fn element_run(self) -> Option<NumberRun> {
        NumberRun::of_kernel(self.element)?.repeated(1, self.stride)
    }
}

/// Elements of the host.
#[derive(Clone, Copy)]
struct HostList<'a> {
    /// None: as many as the buffer has room for.
    count: Option<u64>,
    stride: u64,
    element: &'a HostContents,
}

impl<'a> HostList<'a> {
    fn of(host: &'a HostContents) -> Option<Self> {
        match host {
            HostContents::Array { count, stride, element } => {
                Some(Self { count: Some(*count), stride: *stride, element })
            }
            HostContents::FlexibleArray { stride, element } => {
                Some(Self { count: None, stride: *stride, element })
            }
            HostContents::Scalar(_)
            | HostContents::Structure(_)
            | HostContents::Unsupported { .. } => None,
        }
    }

    /// What each element is, if the list has no gaps.
    fn element_run(self) -> Option<NumberRun> {
        NumberRun::of_host(self.element)?.repeated(1, self.stride)
    }

    /// The type of numbers that are listed one by one.
    fn number_type(self) -> Option<HostType> {
        match without_wrappers(self.element) {
            HostContents::Scalar(number_type) => Some(*number_type),
            HostContents::Array { .. }
            | HostContents::FlexibleArray { .. }
            | HostContents::Structure(_)
            | HostContents::Unsupported { .. } => None,
        }
    }
}

impl<'a> Comparison<'a> {
    pub(super) fn compare_array(
        &mut self,
        site: &Site<'a>,
        kernel: KernelArray<'_>,
        host: &'a HostContents,
    ) {
        let host = without_wrappers(host);
        if let HostContents::Unsupported { kind, .. } = host {
            return self.open_questions.push(format!("{} is {kind} on the host", site.path));
        }
        let Some(list) = HostList::of(host) else {
            return self.compare_parts(site, kernel, host);
        };
        if list.stride == kernel.stride {
            return self.compare_elements(site, kernel, list);
        }
        if let (Some(kernel_run), Some(host_run)) = (kernel.element_run(), list.element_run()) {
            if matches!(without_wrappers(list.element), HostContents::Structure(_)) {
                self.open_questions.push(format!(
                    "the elements of {} are structs of {} on the host and have {} in the kernel: whether the same is meant is not stated",
                    site.path,
                    counted(host_run.count, "number"),
                    kernel_run.count
                ));
            }
            return self.compare_runs(site, (kernel, kernel_run), (list, host_run));
        }
        match list.number_type() {
            Some(number_type) if kernel.element.is_composite() => {
                self.compare_listed_numbers(site, kernel, (list, number_type));
            }
            Some(_) | None => {
                let words = format!(
                    "the elements of {} lie {} apart on the host and {} in the kernel",
                    site.path,
                    counted(list.stride, "byte"),
                    kernel.stride
                );
                self.add_fault(site, words);
                self.compare_elements(site, kernel, list);
            }
        }
    }

    fn compare_elements(&mut self, site: &Site<'a>, kernel: KernelArray<'_>, list: HostList<'a>) {
        self.compare_count(site, kernel.length, list.count);
        let element_site = site.first_element();
        self.compare_contents(&element_site, kernel.element, list.element);
    }

    fn compare_count(&mut self, site: &Site<'_>, kernel: Option<u64>, host: Option<u64>) {
        let path = &site.path;
        match (kernel, host) {
            (Some(length), Some(count)) if length != count => {
                let host_elements = counted(count, "element");
                let words =
                    format!("{path} has {host_elements} on the host and {length} in the kernel");
                self.add_fault(site, words);
            }
            (Some(length), None) => self.open_questions.push(format!(
                "{path} is a flexible array on the host and has {} in the kernel",
                counted(length, "element")
            )),
            (None, Some(count)) => self.add_ended_list(site, count),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }

    /// Numbers without gaps on both sides, in groups of another size each.
    fn compare_runs(
        &mut self,
        site: &Site<'a>,
        (kernel, kernel_run): (KernelArray<'_>, NumberRun),
        (list, host_run): (HostList<'a>, NumberRun),
    ) {
        let path = &site.path;
        self.compare_type(&site.first_element(), host_run.number_type, kernel_run.number_type);
        let host_total = list.count.map(|count| count.saturating_mul(host_run.count));
        let host_count = host_total.map(|total| total / kernel_run.count.max(1));
        let rest = host_total.map_or(0, |total| total % kernel_run.count.max(1));
        if rest != 0 {
            let words = format!(
                "{path} has {} on the host, and each of its elements {} in the kernel",
                counted(host_total.unwrap_or(0), "number"),
                kernel_run.count
            );
            self.add_fault(site, words);
        } else {
            self.compare_count(site, kernel.length, host_count);
        }
        match kernel.element.innermost_numbers() {
            Some(numbers) => {
                self.compare_order(site, numbers);
                self.compare_rows_of_list(site, numbers, list.element);
            }
            None => self.open_questions.push(format!(
                "{path} is a list of {} on the host: which of its numbers are which members of {path}[0] is not stated",
                host_run.number_type.name()
            )),
        }
    }

    /// Rows or columns of a host that keeps matrices in one list of them.
    fn compare_rows_of_list(&mut self, site: &Site<'_>, numbers: &Numbers, row: &HostContents) {
        let NumberShape::Matrix { components, .. } = numbers.shape else { return };
        let row_numbers = NumberRun::of_host(row).map_or(1, |run| run.count);
        if row_numbers != 1 && row_numbers != u64::from(components) {
            let words = format!(
                "{} is stored in groups of {row_numbers} numbers on the host and read in groups of {components} in the kernel",
                site.path
            );
            self.add_fault(site, words);
        }
    }

    /// Numbers that the host lists one by one, where one of both sides leaves gaps.
    fn compare_listed_numbers(
        &mut self,
        site: &Site<'a>,
        kernel: KernelArray<'_>,
        (list, number_type): (HostList<'a>, HostType),
    ) {
        let path = &site.path;
        let size = u64::from(number_type.size_in_bytes());
        if list.stride != size {
            let words = format!(
                "the numbers of {path} lie {} apart on the host, those of {path}[0] {size} in the kernel",
                counted(list.stride, "byte")
            );
            return self.add_fault(site, words);
        }
        let Some(numbers) = kernel.element.innermost_numbers() else {
            return self.open_questions.push(format!(
                "{path} is a list of {} on the host: which of its numbers are which members of {path}[0] is not stated",
                number_type.name()
            ));
        };
        self.compare_type(&site.first_element(), number_type, numbers.scalar);
        self.compare_order(site, numbers);
        let Some(extent) = kernel.element.extent() else { return };
        let is_long_enough = match (list.count, kernel.length) {
            (None, _) => true,
            (Some(count), Some(length)) => {
                let least = length.saturating_sub(1).saturating_mul(kernel.stride) + extent;
                let bytes = count.saturating_mul(size);
                least <= bytes && bytes <= length.saturating_mul(kernel.stride)
            }
            (Some(count), None) => count.saturating_mul(size) % kernel.stride.max(1) == 0,
        };
        if is_long_enough {
            let read_bytes = kernel_places(kernel.element)
                .map_or(extent, |places| (places.len() as u64).saturating_mul(size));
            let left_out = kernel.stride.saturating_sub(read_bytes);
            return self.open_questions.push(format!(
                "{path} is a list of {} on the host, of which the kernel leaves out {left_out} of each {} bytes: whether the list has gaps there is not stated",
                number_type.name(),
                kernel.stride
            ));
        }
        let words = format!(
            "{path} is a list of {} on the host, without the gaps that the kernel has: {path}[1] lies {} bytes behind its start",
            counted(list.count.unwrap_or(0), "number"),
            kernel.stride
        );
        self.add_fault(site, words);
    }

    /// A struct or a number of the host in the place of an array.
    fn compare_parts(&mut self, site: &Site<'a>, kernel: KernelArray<'_>, host: &'a HostContents) {
        let path = &site.path;
        let is_struct_of_both = matches!(kernel.element, KernelContents::Structure(_))
            && matches!(host, HostContents::Structure(_));
        if is_struct_of_both && kernel.length.is_none_or(|length| length == 1) {
            if kernel.length.is_none() {
                self.add_ended_list(site, 1);
            }
            let element_site = site.first_element();
            return self.compare_contents(&element_site, kernel.element, host);
        }
        let whole = HostList { count: Some(1), stride: host.size(), element: host };
        if let (Some(kernel_run), Some(host_run)) = (kernel.element_run(), whole.element_run()) {
            return self.compare_runs(site, (kernel, kernel_run), (whole, host_run));
        }
        let numbers = kernel.element.innermost_numbers();
        let places =
            kernel.length.and_then(|length| array_places(length, kernel.stride, kernel.element));
        match (numbers, places) {
            (Some(numbers), Some(places)) => {
                self.compare_places(site, (numbers, &places), host);
            }
            (_, _) => {
                let host_kind = host_kind(host);
                let words = format!("{path} is {host_kind} on the host and an array in the kernel");
                self.add_fault(site, words);
            }
        }
    }
}
