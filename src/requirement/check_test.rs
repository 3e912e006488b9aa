//! What can be said of a test without its kernels' modules and without other files: names,
//! references, exclusive keys.

use super::check::{check_name, unknown_name};
use super::document::{Located, Origin};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::expectation::{CheckerKernel, ElementOrder};
use vkcert_model::id::KernelName;
use vkcert_model::image::Image;
use vkcert_model::procedure::{Binding, Buffer, Expectation, SpecializationValue, Test, Tolerance};

/// The kernels that a test may dispatch.
pub(crate) struct KernelNames<'a> {
    pub names: Vec<&'a KernelName>,
    /// Where they are declared, for hints.
    pub table: &'static str,
}

impl KernelNames<'_> {
    /// A diagnostic if there is no kernel `name`.
    pub(crate) fn check_kernel_name(
        &self,
        origin: &Origin,
        name: &KernelName,
    ) -> Option<Diagnostic> {
        if self.names.contains(&name) {
            return None;
        }
        let known_names = self.names.iter().map(|known_name| known_name.as_str());
        Some(unknown_name(
            origin,
            "unknown-kernel",
            &format!("kernel in {},", self.table),
            name.as_str(),
            known_names,
        ))
        .map(|mut problem| {
            problem.message = format!("there is no kernel `{name}` in {}", self.table);
            problem
        })
    }
}

/// Checks each test by itself, and that no id occurs twice.
pub(crate) fn check_tests(tests: &[Located<Test>], kernels: &KernelNames<'_>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut seen_tests: BTreeMap<&str, &Origin> = BTreeMap::new();
    for test in tests {
        let place = test.origin.at("id");
        problems.extend(check_name(&place, "test", test.id.as_str()));
        if let Some(first_declared) = seen_tests.get(test.id.as_str()) {
            let problem =
                place.error("duplicate-id", format!("the test `{}` is declared twice", test.id));
            problems.push(problem.hint(format!("also in {}", first_declared.file())));
        } else {
            seen_tests.insert(test.id.as_str(), &test.origin);
        }
        TestChecker { test, kernels, problems: &mut problems }.check_test();
    }
    problems
}

struct TestChecker<'a> {
    test: &'a Located<Test>,
    kernels: &'a KernelNames<'a>,
    problems: &'a mut Vec<Diagnostic>,
}

impl TestChecker<'_> {
    fn check_test(&mut self) {
        let (test, origin) = (self.test, &self.test.origin);
        let mut seen_requirements = BTreeSet::new();
        for (index, uid) in
            test.requirements.iter().enumerate().filter(|(_, uid)| !seen_requirements.insert(*uid))
        {
            let message = format!("the requirement `{uid}` is named twice");
            self.problems.push(origin.at("requirements").at(index).error("duplicate-id", message));
        }
        self.check_limits(&origin.at("limits"));
        for (name, buffer) in &test.buffers {
            check_buffer(&origin.at("buffers").at(name), name, buffer, self.problems);
            for (index, address) in buffer.address_of.iter().enumerate() {
                let place = origin.at("buffers").at(name).at("address_of").at(index).at("buffer");
                self.check_buffer_name(&place, &address.buffer);
            }
        }
        for (name, image) in &test.images {
            check_image(&origin.at("images").at(name), name, image, self.problems);
        }
        if test.dispatches.is_empty() {
            let problem = origin
                .at("dispatches")
                .error("missing-key", format!("the test `{}` dispatches nothing", test.id));
            self.problems.push(problem);
        }
        for (index, dispatch) in test.dispatches.iter().enumerate() {
            let place = origin.at("dispatches").at(index);
            self.problems
                .extend(self.kernels.check_kernel_name(&place.at("kernel"), &dispatch.kernel));
            self.check_groups(&place.at("groups"), dispatch.groups);
            self.check_bindings(&place.at("bindings"), &dispatch.bindings);
            check_specialization(
                &place.at("specialization"),
                &dispatch.specialization,
                self.problems,
            );
            if dispatch.subgroup_size.is_some_and(|size| !size.is_power_of_two() || size > 128) {
                let problem = place
                    .at("subgroup_size")
                    .error("bad-value", "a subgroup size is a power of two up to 128");
                self.problems.push(problem);
            }
        }
        for (index, expectation) in test.expect.iter().enumerate() {
            self.check_expectation(&origin.at("expect").at(index), expectation);
        }
    }

    fn check_limits(&mut self, place: &Origin) {
        let limits = &self.test.limits;
        if limits.seconds.is_some_and(|seconds| !(seconds.is_finite() && seconds > 0.0)) {
            self.problems.push(
                place.at("seconds").error("limit", "a time limit is a number of seconds above 0"),
            );
        }
        for (key, limit) in [("steps", limits.steps), ("memory_bytes", limits.memory_bytes)] {
            if limit == Some(0) {
                self.problems.push(
                    place.at(key).error(
                        "limit",
                        format!("the limit `{key}` is 0, so that nothing could run"),
                    ),
                );
            }
        }
    }

    fn check_groups(&mut self, place: &Origin, groups: [u32; 3]) {
        for (index, _) in groups.iter().enumerate().filter(|(_, count)| **count == 0) {
            let problem =
                place.at(index).error("bad-groups", "a dispatch of zero workgroups runs nothing");
            self.problems.push(problem.hint("each of the three counts is at least 1"));
        }
    }

    /// That a buffer of this name exists.
    fn check_buffer_name(&mut self, place: &Origin, name: &str) {
        if !self.test.buffers.contains_key(name) {
            let known_buffers = self.test.buffers.keys().map(String::as_str);
            self.problems.push(unknown_name(
                place,
                "unknown-buffer",
                "buffer",
                name,
                known_buffers,
            ));
        }
    }

    fn check_bindings(&mut self, place: &Origin, bindings: &[Binding]) {
        let mut seen_slots = BTreeSet::new();
        for (index, binding) in bindings.iter().enumerate() {
            let place = place.at(index);
            if !seen_slots.insert((binding.set, binding.binding, binding.array_index)) {
                let message =
                    format!("set {} binding {} is bound twice", binding.set, binding.binding);
                self.problems.push(place.at("binding").error("duplicate-id", message));
            }
            if let Some(name) = &binding.buffer {
                self.check_buffer_name(&place.at("buffer"), name);
            }
            for (key, name, known_objects) in [
                ("image", &binding.image, self.test.images.keys().collect::<Vec<_>>()),
                ("sampler", &binding.sampler, self.test.samplers.keys().collect()),
            ] {
                let unknown_object = name.as_ref().filter(|name| !known_objects.contains(name));
                let known_names = known_objects.iter().map(|object_name| object_name.as_str());
                self.problems.extend(unknown_object.map(|object_name| {
                    unknown_name(&place.at(key), "unknown-id", key, object_name, known_names)
                }));
            }
            let is_opaque = binding.image.is_some() || binding.sampler.is_some();
            if binding.buffer.is_some() == is_opaque {
                let message = "a binding names one of `buffer`, `image` and `sampler` (or an image with a sampler)";
                self.problems.push(place.error("contradiction", message));
            }
        }
    }

    /// That an image of this name exists.
    fn check_image_name(&mut self, place: &Origin, name: &str) {
        if !self.test.images.contains_key(name) {
            let known_images = self.test.images.keys().map(String::as_str);
            self.problems.push(unknown_name(place, "unknown-id", "image", name, known_images));
        }
    }

    /// What an expectation judges: a buffer or an image, with the keys that go with it.
    fn check_judged_target(&mut self, place: &Origin, expectation: &Expectation) {
        if let Some(checker) = &expectation.check {
            return self.check_checker(place, expectation, checker);
        }
        if expectation.record.is_some() && expectation.order != Some(ElementOrder::Any) {
            let message =
                "`record` goes with `order = \"any\"`: else every element stands in its place";
            self.problems.push(place.at("record").key_error("contradiction", message));
        }
        for (key, key_value) in [("record", expectation.record), ("count", expectation.count)] {
            if key_value == Some(0) {
                self.problems
                    .push(place.at(key).error("bad-value", format!("`{key}` is at least 1")));
            }
        }
        match (&expectation.buffer, &expectation.image) {
            (Some(name), None) => self.check_buffer_name(&place.at("buffer"), name),
            (None, Some(name)) => self.check_image_name(&place.at("image"), name),
            (Some(_), Some(_)) | (None, None) => {
                self.problems.push(place.error(
                    "contradiction",
                    "an expectation names either a `buffer` or an `image`",
                ));
            }
        }
        let image_keys = [
            ("level", expectation.level.is_some()),
            ("layer", expectation.layer.is_some()),
            ("equals_image", expectation.equals_image.is_some()),
        ];
        let buffer_keys = [
            ("type", expectation.data_type.is_some()),
            ("equals_buffer", expectation.equals_buffer.is_some()),
        ];
        let (wrong_keys, judged_thing) = match expectation.image {
            Some(_) => (&buffer_keys[..], "image"),
            None => (&image_keys[..], "buffer"),
        };
        for (key, _) in wrong_keys.iter().filter(|(_, is_given)| *is_given) {
            let message = format!("`{key}` does not go with `{judged_thing}`");
            self.problems.push(place.at(*key).key_error("contradiction", message));
        }
    }

    /// A checker with its verdict; keys that say what is judged do not go with it.
    fn check_checker(
        &mut self,
        place: &Origin,
        expectation: &Expectation,
        checker: &CheckerKernel,
    ) {
        let forbidden_keys = [
            ("buffer", expectation.buffer.is_some()),
            ("image", expectation.image.is_some()),
            ("type", expectation.data_type.is_some()),
            ("offset", expectation.offset != 0),
            ("level", expectation.level.is_some()),
            ("layer", expectation.layer.is_some()),
            ("count", expectation.count.is_some()),
            ("order", expectation.order.is_some()),
            ("record", expectation.record.is_some()),
            ("tolerance", expectation.tolerance.is_some()),
        ];
        for (key, _) in forbidden_keys.iter().filter(|(_, is_given)| *is_given) {
            let message =
                format!("`{key}` does not go with `check`: the checker says what it reads");
            self.problems.push(place.at(*key).key_error("contradiction", message));
        }
        let place = place.at("check");
        self.problems.extend(self.kernels.check_kernel_name(&place.at("kernel"), &checker.kernel));
        self.check_groups(&place.at("groups"), checker.groups);
        self.check_bindings(&place.at("bindings"), &checker.bindings);
        check_specialization(&place.at("specialization"), &checker.specialization, self.problems);
        self.check_buffer_name(&place.at("verdict"), &checker.verdict);
    }

    fn check_expectation(&mut self, place: &Origin, expectation: &Expectation) {
        self.check_judged_target(place, expectation);
        let given_sources = [
            expectation.values.is_some(),
            expectation.file.is_some(),
            expectation.equals_buffer.is_some() || expectation.equals_image.is_some(),
            expectation.reference.is_some(),
            expectation.check.is_some(),
        ];
        if given_sources.iter().filter(|is_given| **is_given).count() != 1 {
            let problem = place.error(
                "contradiction",
                "an expectation has exactly one of `values`, `file`, `equals_buffer`, `reference` and `check`",
            );
            self.problems.push(problem);
        }
        if let Some(other_name) = &expectation.equals_buffer {
            self.check_buffer_name(&place.at("equals_buffer"), other_name);
        }
        if let Some(other_name) = &expectation.equals_image {
            self.check_image_name(&place.at("equals_image"), other_name);
        }
        if let Some(reference) = &expectation.reference {
            let place = place.at("reference");
            self.problems
                .extend(self.kernels.check_kernel_name(&place.at("kernel"), &reference.kernel));
            self.check_groups(&place.at("groups"), reference.groups);
            self.check_bindings(&place.at("bindings"), &reference.bindings);
            check_specialization(
                &place.at("specialization"),
                &reference.specialization,
                self.problems,
            );
        }
        if let Some(tolerance) = &expectation.tolerance {
            check_tolerance(&place.at("tolerance"), tolerance, self.problems);
        }
    }
}

fn check_buffer(place: &Origin, name: &str, buffer: &Buffer, problems: &mut Vec<Diagnostic>) {
    let content_keys: Vec<&str> = [
        ("bytes", buffer.bytes.is_some()),
        ("data", buffer.data.is_some()),
        ("fill", buffer.fill.is_some()),
        ("file", buffer.file.is_some()),
    ]
    .iter()
    .filter(|(_, is_given)| *is_given)
    .map(|(key, _)| *key)
    .collect();
    match content_keys.as_slice() {
        [first, second, ..] => {
            let message = format!("the buffer `{name}` has both `{first}` and `{second}`");
            let problem = place.at(*second).key_error("contradiction", message);
            problems
                .push(problem.hint("contents are given once: `bytes`, `data`, `fill` or `file`"));
        }
        [] if buffer.count.is_none() => {
            let problem = place.error(
                "missing-key",
                format!("the buffer `{name}` has neither contents nor a `count`"),
            );
            problems.push(
                problem
                    .hint("give `bytes`, `data`, `fill` or `file`; or `type` and `count` for an uninitialised buffer"),
            );
        }
        ["fill"] if buffer.count.is_none() => {
            let problem = place.error(
                "missing-key",
                format!("the buffer `{name}` is filled, but its `count` is missing"),
            );
            problems.push(problem);
        }
        [] | [_] => {}
    }
    let needs_type = buffer.data.is_some() || buffer.fill.is_some() || buffer.count.is_some();
    if needs_type && buffer.data_type.is_none() && buffer.file.is_none() {
        problems.push(
            place
                .error("missing-key", format!("the buffer `{name}` needs a `type`"))
                .hint("for example \"float\""),
        );
    }
}

fn check_image(place: &Origin, name: &str, image: &Image, problems: &mut Vec<Diagnostic>) {
    let content_keys = [
        ("data", image.data.is_some()),
        ("bytes", image.bytes.is_some()),
        ("fill", image.fill.is_some()),
        ("file", image.file.is_some()),
    ];
    let mut content_keys =
        content_keys.iter().filter(|(_, is_given)| *is_given).map(|(key, _)| *key);
    if let (Some(first), Some(second)) = (content_keys.next(), content_keys.next()) {
        let message = format!("the image `{name}` has both `{first}` and `{second}`");
        let problem = place.at(second).key_error("contradiction", message);
        problems.push(problem.hint("contents are given once: `data`, `bytes`, `fill` or `file`"));
    }
}

fn check_tolerance(place: &Origin, tolerance: &Tolerance, problems: &mut Vec<Diagnostic>) {
    for (key, bound) in [("abs", tolerance.abs), ("rel", tolerance.rel)] {
        if bound.is_some_and(|bound| !(bound.is_finite() && bound >= 0.0)) {
            problems.push(place.at(key).error("bad-value", "a tolerance is a number from 0 up"));
        }
    }
    if tolerance.bits
        && (tolerance.abs.is_some() || tolerance.rel.is_some() || tolerance.ulp.is_some())
    {
        problems.push(place.at("bits").key_error("contradiction", "equal bits leave no tolerance"));
    }
}

/// Specialization ids are numbers, and each has one value.
pub(crate) fn check_specialization(
    place: &Origin,
    specialization_values: &BTreeMap<String, SpecializationValue>,
    problems: &mut Vec<Diagnostic>,
) {
    for (constant_id, value) in specialization_values {
        let place = place.at(constant_id);
        if constant_id.parse::<u32>().is_err() {
            let problem =
                place.key_error("unknown-id", format!("`{constant_id}` is no specialization id"));
            problems.push(problem.hint("the number of `layout(constant_id = ...)`, as a string"));
        }
        if value.value.is_some() == value.bits.is_some() {
            problems.push(
                place.error("contradiction", "a specialization has either a `value` or `bits`"),
            );
        }
    }
}
