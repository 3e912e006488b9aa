//! The coupling checks: does what the host does fit what the kernel is?
//!
//! Knows: the interface, the kernel's reflection, the uniformity of its barriers, the tests' uses,
//! a device's limits.
//! Promises: each check that can be asked is answered by at least one row, `holds`, `refuted` or
//! `undetermined`; every refuted row comes with a `coupling` finding, with parameter values where
//! values refute it.
//! Does not cover: what the kernel reads and writes for which sizes (the engines' out-of-bounds
//! check does, per test).

use super::cover::covers_by_form;
use super::{CouplingInput, DeviceLimits};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{CheckStatus, CouplingCheck};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::place::Place;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::HostType;
use vkcert_requirement::host::decide::{EvaluatedCase, HostModel, ProofResult};
use vkcert_requirement::host::expression::{
    self as host, ArithmeticEvent, DivisionRounding, HostExpression,
};
use vkcert_requirement::host::specialized_values;
use vkcert_spirv::interface::{Reflection, SpecializationConstant};

const AXES: [&str; 3] = ["x", "y", "z"];

/// Rows and findings of one kernel.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Rows {
    pub checks: Vec<CouplingCheck>,
    pub findings: Vec<Finding>,
    /// Where the interface says that the host code stands.
    source: Option<String>,
    /// What of the interface or the kernel the next rows are about, where a check has several rows.
    about: Option<String>,
}

/// Whether a descriptor of this class is a buffer, whose size a host states.
pub(super) fn is_buffer(class: DescriptorClass) -> bool {
    match class {
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => true,
        DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Sampler
        | DescriptorClass::Combined => false,
    }
}

/// A value that the host computes and hands over.
#[derive(Clone, Copy)]
struct Handed<'a> {
    expression: &'a HostExpression,
    /// The type that the value ends up in.
    width: HostType,
}

impl<'a> Handed<'a> {
    /// A value that keeps the type that it is computed in.
    fn as_computed(expression: &'a HostExpression) -> Self {
        Self { expression, width: expression.width }
    }
}

impl Rows {
    pub(crate) fn new(source: Option<String>) -> Self {
        Self { source, ..Self::default() }
    }

    /// Names what the rows are about that come next.
    pub(crate) fn about(&mut self, what: impl Into<String>) {
        self.about = Some(what.into());
    }

    /// Rows that come next are about the whole.
    pub(crate) fn about_all(&mut self) {
        self.about = None;
    }

    pub(crate) fn holds(&mut self, check: &str, message: impl Into<String>) {
        self.row(check, CheckStatus::Holds, message.into(), None);
    }

    pub(crate) fn undetermined(&mut self, check: &str, message: impl Into<String>) {
        self.row(check, CheckStatus::Undetermined, message.into(), None);
    }

    pub(crate) fn refuted(
        &mut self,
        check: &str,
        message: impl Into<String>,
        counterexample: Option<BTreeMap<String, i64>>,
    ) {
        let place = self
            .source
            .as_ref()
            .map(|source| Place { file: Some(source.clone()), ..Place::default() });
        self.refuted_at(check, message, counterexample, place, None);
    }

    pub(crate) fn refuted_at(
        &mut self,
        check: &str,
        message: impl Into<String>,
        counterexample: Option<BTreeMap<String, i64>>,
        place: Option<Place>,
        other_place: Option<Place>,
    ) {
        let message = message.into();
        let mut finding =
            Finding::new(FindingKind::Coupling, message.clone()).detail("check", check);
        if let Some(about) = &self.about {
            finding = finding.detail("about", about.as_str());
        }
        if let Some(values) = &counterexample {
            finding = finding.detail("counterexample", serde_json::json!(values));
        }
        finding.place = place;
        finding.other_place = other_place;
        self.findings.push(finding);
        self.row(check, CheckStatus::Refuted, message, counterexample);
    }

    fn row(
        &mut self,
        check: &str,
        status: CheckStatus,
        message: String,
        counterexample: Option<BTreeMap<String, i64>>,
    ) {
        self.checks.push(CouplingCheck {
            check: check.to_owned(),
            status,
            message,
            counterexample,
        });
    }

    /// A row from an answer; `refutation` words it for the values found.
    fn answer(
        &mut self,
        check: &str,
        answer: ProofResult,
        claim: &str,
        refutation: impl Fn(&BTreeMap<String, i64>) -> String,
    ) {
        match answer {
            ProofResult::Proved => self.holds(check, claim),
            ProofResult::Refuted(values) => self.refuted(check, refutation(&values), Some(values)),
            ProofResult::Open(reason) => {
                self.undetermined(check, format!("{claim}: not decided; {reason}"))
            }
        }
    }
}

/// `m = 1, n = 2`, or `always` without parameters.
pub(super) fn printed(values: &BTreeMap<String, i64>) -> String {
    if values.is_empty() {
        return "always".to_owned();
    }
    let pairs: Vec<String> =
        values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("for {}", pairs.join(", "))
}

/// The interface's expressions, parsed.
pub(super) struct Expressions {
    pub groups: [HostExpression; 3],
    pub domain: Option<[HostExpression; 3]>,
    /// In the order of the interface.
    pub buffers: Vec<HostExpression>,
    pub specialization: Vec<HostExpression>,
    /// By member name.
    pub members: BTreeMap<String, HostExpression>,
}

impl Expressions {
    pub(crate) fn of(host: &HostModel, input: &CouplingInput<'_>) -> Result<Self, Diagnostic> {
        let interface = input.interface;
        let three = |texts: &[String; 3], what: &str| -> Result<[HostExpression; 3], Diagnostic> {
            let parse =
                |axis: usize| host.parse_expression(&texts[axis], &format!("{what}[{axis}]"));
            Ok([parse(0)?, parse(1)?, parse(2)?])
        };
        let buffer = |buffer: &vkcert_model::requirement::HostBuffer| {
            host.parse_expression(
                &buffer.size,
                &format!("size of buffer {}.{}", buffer.set, buffer.binding),
            )
        };
        let mut members = BTreeMap::new();
        for member in interface.push_constants.iter().flat_map(|block| &block.members) {
            if let Some(value) = &member.value {
                members.insert(
                    member.name.clone(),
                    host.parse_expression(value, &format!("member `{}`", member.name))?,
                );
            }
        }
        Ok(Self {
            groups: three(&interface.groups, "groups")?,
            domain: interface.domain.as_ref().map(|domain| three(domain, "domain")).transpose()?,
            buffers: interface.buffers.iter().map(buffer).collect::<Result<_, _>>()?,
            specialization: interface
                .specialization
                .iter()
                .map(|constant| {
                    host.parse_expression(
                        &constant.value,
                        &format!("specialization constant {}", constant.id),
                    )
                })
                .collect::<Result<_, _>>()?,
            members,
        })
    }
}

/// Everything that the checks read.
pub(super) struct Subject<'a> {
    pub input: &'a CouplingInput<'a>,
    pub host: &'a HostModel,
    pub expressions: &'a Expressions,
}

impl Subject<'_> {
    fn reflection(&self) -> &Reflection {
        self.input.reflection
    }

    fn value(&self, expression: &HostExpression, case: &EvaluatedCase) -> i128 {
        expression.evaluate(&case.scope, DivisionRounding::Truncate, &mut Vec::new()).value
    }

    /// What `vkCmdDispatch` is given: a `uint32_t`.
    fn groups(&self, axis: usize, case: &EvaluatedCase) -> i128 {
        host::wrap_to_type(
            self.value(&self.expressions.groups[axis], case),
            vkcert_model::requirement::HostType::Uint32,
        )
    }

    pub(crate) fn dispatch(&self, rows: &mut Rows) {
        let Some(domain) = &self.expressions.domain else {
            for check in ["dispatch-covers-domain", "dispatch-not-truncated"] {
                rows.undetermined(check, "the interface states no domain");
            }
            return;
        };
        for (axis, name) in AXES.iter().enumerate() {
            rows.about(*name);
            let (groups, wanted) = (&self.expressions.groups[axis], &domain[axis]);
            let local = i128::from(self.reflection().local_size[axis]);
            let texts = (
                self.text(axis),
                &self.input.interface.domain.as_ref().expect("checked above")[axis],
            );
            let answer = if covers_by_form(self.host, groups, wanted, local) {
                ProofResult::Proved
            } else {
                let covers = |case: &EvaluatedCase| {
                    self.groups(axis, case) * local >= self.value(wanted, case)
                };
                self.host.decide_for_all(&[groups, wanted], &covers)
            };
            // What covers the domain drops nothing of it.
            let truncated = if answer == ProofResult::Proved {
                ProofResult::Proved
            } else {
                self.truncation(axis, wanted)
            };
            let claim = format!(
                "in {name}, a group count of {} and a local size of {local} cover {}",
                texts.0, texts.1
            );
            rows.answer("dispatch-covers-domain", answer, &claim, |values| {
                let case = self.host.named_case(values);
                let count = self.groups(axis, &case);
                let stated = match texts.0.trim() == count.to_string() {
                    true => count.to_string(),
                    false => format!("{} = {count}", texts.0),
                };
                format!(
                    "in {name}, a group count of {stated} times the local size {local} is {}, but the domain {} is {} ({})",
                    count * local,
                    texts.1,
                    self.value(wanted, &case),
                    printed(values)
                )
            });
            self.report_truncation(rows, axis, truncated);
        }
    }

    fn text(&self, axis: usize) -> &str {
        &self.input.interface.groups[axis]
    }

    /// What the group count would be if divisions rounded up.
    fn rounded_up(&self, axis: usize, case: &EvaluatedCase) -> i128 {
        let rounded = self.host.rounded_up(case);
        self.expressions.groups[axis]
            .evaluate(&rounded.scope, DivisionRounding::RoundUp, &mut Vec::new())
            .value
    }

    /// A division drops a partial group if rounding it up would cover the domain, and it as it is
    /// does not.
    fn truncation(&self, axis: usize, wanted: &HostExpression) -> ProofResult {
        let groups = &self.expressions.groups[axis];
        let local = i128::from(self.reflection().local_size[axis]);
        self.host.decide_for_all(&[groups, wanted], &|case| {
            let domain = self.value(wanted, case);
            let short = self.value(groups, case) * local < domain;
            !(short && self.rounded_up(axis, case) * local >= domain)
        })
    }

    fn report_truncation(&self, rows: &mut Rows, axis: usize, answer: ProofResult) {
        let name = AXES[axis];
        let claim =
            format!("in {name}, no division in {} drops a partial workgroup", self.text(axis));
        rows.answer("dispatch-not-truncated", answer, &claim, |values| {
            let case = self.host.named_case(values);
            format!(
                "in {name}, the integer division in {} drops a partial workgroup: {} instead of {} ({})",
                self.text(axis),
                self.value(&self.expressions.groups[axis], &case),
                self.rounded_up(axis, &case),
                printed(values)
            )
        });
    }

    /// No operation on the way to any value that the host hands over wraps, divides by zero or
    /// loses bits.
    pub(crate) fn overflow(&self, rows: &mut Rows) {
        let interface = self.input.interface;
        for (index, local) in interface.locals.iter().enumerate() {
            let number = interface.parameters.len() + index;
            if let Some(expression) = self.host.local_expression(number) {
                let what = format!("local `{}`", local.name);
                self.quiet(rows, &what, &local.value, Handed { expression, width: local.width });
            }
        }
        for (axis, name) in AXES.iter().enumerate() {
            let what = format!("the group count in {name}");
            let expression = &self.expressions.groups[axis];
            let handed = Handed { expression, width: HostType::Uint32 };
            self.quiet(rows, &what, self.text(axis), handed);
        }
        for (buffer, size) in interface.buffers.iter().zip(&self.expressions.buffers) {
            let what = format!("the size of buffer {}.{}", buffer.set, buffer.binding);
            self.quiet(rows, &what, &buffer.size, Handed::as_computed(size));
        }
        if let (Some(texts), Some(domain)) = (&interface.domain, &self.expressions.domain) {
            for axis in 0..3 {
                let what = format!("the domain in {}", AXES[axis]);
                self.quiet(rows, &what, &texts[axis], Handed::as_computed(&domain[axis]));
            }
        }
    }

    /// One expression; the locals that it uses have rows of their own.
    fn quiet(&self, rows: &mut Rows, what: &str, text: &str, handed: Handed<'_>) {
        let Handed { expression, width } = handed;
        rows.about(what);
        let events = |case: &EvaluatedCase| {
            let mut events = Vec::new();
            let typed = expression.evaluate(&case.scope, DivisionRounding::Truncate, &mut events);
            if host::wrap_to_type(typed.value, width) != typed.value {
                events.push(ArithmeticEvent::Overflow {
                    span: expression.span.clone(),
                    exact: typed.value,
                    width,
                });
            }
            events
        };
        let (scope, _) = self.host.enclose_names();
        let mut quiet = true;
        let interval = expression.enclose(&scope, &mut quiet);
        vkcert_requirement::host::interval::interval_of_type(
            interval.low,
            interval.high,
            width,
            &mut quiet,
        );
        let answer = if quiet {
            ProofResult::Proved
        } else {
            self.host.decide_for_all(&[expression], &|case| events(case).is_empty())
        };
        let claim = format!("{what}, {text}, is computed without overflow");
        rows.answer("host-overflow", answer, &claim, |values| {
            let case = self.host.named_case(values);
            let described =
                events(&case).first().map_or(String::new(), |event| describe(event, text));
            format!("{what}: {described} ({})", printed(values))
        });
    }

    pub(crate) fn local_size(&self, rows: &mut Rows) {
        rows.about_all();
        let actual = self.reflection().local_size;
        match self.input.interface.local_size {
            None => rows.undetermined(
                "local-size-match",
                "the interface does not state the local size that the host assumes",
            ),
            Some(assumed) if assumed == actual => {
                rows.holds(
                    "local-size-match",
                    format!("host and kernel agree on {}", size(actual)),
                );
            }
            Some(assumed) => rows.refuted(
                "local-size-match",
                format!(
                    "the host assumes a local size of {}, the kernel has {}",
                    size(assumed),
                    size(actual)
                ),
                None,
            ),
        }
    }

    /// Whether a constant changes the local size, or the size of anything that the host binds. Two
    /// other values are tried.
    fn sizes_depend_on(&self, constant: &SpecializationConstant) -> bool {
        let sizes = |value: u64| {
            let set = BTreeMap::from([(constant.spec_id, value)]);
            let kernel =
                Reflection::of_entry_point(self.input.module, &self.reflection().entry, &set)
                    .ok()?;
            Some((kernel.local_size, kernel.resources, kernel.push_constants, kernel.workgroup))
        };
        let default = sizes(constant.default);
        [constant.default ^ 1, constant.default ^ 8]
            .into_iter()
            .any(|value| sizes(value) != default)
    }

    pub(crate) fn specialization(&self, rows: &mut Rows) {
        let declared = &self.reflection().specialization;
        let mut given = BTreeSet::new();
        let values = specialized_values(self.input.interface);
        let varying: BTreeSet<u32> =
            values.iter().filter(|(_, value)| value.is_none()).map(|(id, _)| *id).collect();
        for (constant, value) in
            self.input.interface.specialization.iter().zip(&self.expressions.specialization)
        {
            let id = constant.id;
            rows.about(format!("constant {id}"));
            let Some(known) = declared.iter().find(|known| known.spec_id == id) else {
                rows.refuted(
                    "specialization-ids",
                    format!("the host sets specialization constant {id}; the kernel has none"),
                    None,
                );
                continue;
            };
            if !given.insert(id) {
                rows.refuted(
                    "specialization-ids",
                    format!("the host sets specialization constant {id} twice"),
                    None,
                );
            }
            let (lowest, highest) = specialization_range(&known.type_name, known.width);
            let answer = self.host.decide_for_all(&[value], &|case| {
                (lowest..=highest).contains(&self.value(value, case))
            });
            let claim = format!(
                "specialization constant {id} ({}) takes {}",
                known.type_name, constant.value
            );
            rows.answer("specialization-ids", answer, &claim, |values| {
                format!(
                    "specialization constant {id} is a {}, and {} does not fit ({})",
                    known.type_name,
                    constant.value,
                    printed(values)
                )
            });
            if varying.contains(&id) && self.sizes_depend_on(known) {
                let sizes =
                    "sizes were taken from the kernel's default, and nothing is shown of others";
                let message = format!(
                    "specialization constant {id} takes {}, no one value: {sizes}",
                    constant.value
                );
                rows.undetermined("specialization-ids", message);
            }
        }
        let defaulted: Vec<String> = declared
            .iter()
            .filter(|known| !given.contains(&known.spec_id))
            .map(|known| format!("{} keeps its default {}", known.spec_id, known.default))
            .collect();
        if !defaulted.is_empty() {
            rows.holds(
                "specialization-ids",
                format!("not set by the host: {}", defaulted.join(", ")),
            );
        }
    }

    pub(crate) fn limits(&self, rows: &mut Rows) {
        let guaranteed = DeviceLimits::GUARANTEED;
        let device = self.input.device;
        let mut fixed = |what: &str, value: u64, least: u64, here: Option<u64>| {
            rows.about(what);
            if value <= least {
                return rows.holds(
                    "device-limits",
                    format!("{what} {value} is within the {least} that every device has"),
                );
            }
            match here {
                Some(limit) if value <= limit => rows.holds(
                    "device-limits",
                    format!("{what} {value} is within this device's {limit}; a device need have only {least}"),
                ),
                Some(limit) => {
                    rows.refuted("device-limits", format!("{what} {value} exceeds this device's {limit}"), None)
                }
                None => rows.undetermined(
                    "device-limits",
                    format!("{what} {value} is more than the {least} that every device has; it depends on the device"),
                ),
            }
        };
        let local = self.reflection().local_size;
        for (axis, name) in AXES.iter().enumerate() {
            let here = device.map(|device| u64::from(device.local_size[axis]));
            fixed(
                &format!("local size in {name}"),
                u64::from(local[axis]),
                u64::from(guaranteed.local_size[axis]),
                here,
            );
        }
        let invocations = local.iter().map(|size| u64::from(*size)).product();
        fixed(
            "invocations per workgroup",
            invocations,
            u64::from(guaranteed.invocations),
            device.map(|d| u64::from(d.invocations)),
        );
        let workgroup = self.reflection().workgroup.iter().map(|variable| variable.size).sum();
        fixed(
            "bytes of workgroup memory",
            workgroup,
            u64::from(guaranteed.workgroup_bytes),
            device.map(|d| u64::from(d.workgroup_bytes)),
        );
        let constants = self.reflection().push_constants.as_ref().map_or(0, |block| block.size);
        fixed(
            "bytes of push constants",
            constants,
            u64::from(guaranteed.push_constant_bytes),
            device.map(|d| u64::from(d.push_constant_bytes)),
        );
        for axis in 0..3 {
            self.group_limit(rows, axis);
        }
    }

    /// Group counts for all parameter values, against the device or, without one, against what
    /// every device has.
    fn group_limit(&self, rows: &mut Rows, axis: usize) {
        let least = DeviceLimits::GUARANTEED.groups[axis];
        let limit = self.input.device.map_or(least, |device| device.groups[axis].max(least));
        let expression = &self.expressions.groups[axis];
        // The count itself, not what a conversion to 32 bits leaves of it (host-overflow has that).
        let within = |limit: u32| -> ProofResult {
            if self.host.value_interval(expression).high <= i128::from(limit) {
                return ProofResult::Proved;
            }
            self.host.decide_for_all(&[expression], &|case| {
                self.value(expression, case) <= i128::from(limit)
            })
        };
        let name = AXES[axis];
        rows.about(format!("groups in {name}"));
        let mut claim = format!("in {name}, {} is at most {limit}", self.text(axis));
        let answer = within(limit);
        if answer == ProofResult::Proved && limit > least && within(least) != ProofResult::Proved {
            claim.push_str(&format!(" of this device; a device need have only {least}"));
        }
        let whose =
            if self.input.device.is_some() { "this device allows" } else { "every device allows" };
        rows.answer("device-limits", answer, &claim, |values| {
            let count = self.value(expression, &self.host.named_case(values));
            format!(
                "in {name}, the group count {} is {count}; {whose} {limit} ({})",
                self.text(axis),
                printed(values)
            )
        });
    }

    pub(crate) fn buffers(&self, rows: &mut Rows) {
        let interface = self.input.interface;
        for resource in &self.reflection().resources {
            let known = interface
                .buffers
                .iter()
                .any(|b| (b.set, b.binding) == (resource.set, resource.binding));
            let name = resource.name.as_deref().unwrap_or("-");
            // Images and samplers are compared by themselves (`images`).
            if known || !is_buffer(resource.class) {
                continue;
            }
            let place = format!("{}.{} ({name})", resource.set, resource.binding);
            rows.about(format!("{}.{} is not stated", resource.set, resource.binding));
            let message = format!("the kernel uses {place}, the interface states no buffer for it");
            rows.refuted("buffer-size", message, None);
        }
        for (buffer, size) in interface.buffers.iter().zip(&self.expressions.buffers) {
            let place = format!("{}.{}", buffer.set, buffer.binding);
            rows.about(place.as_str());
            let resource = self
                .reflection()
                .resources
                .iter()
                .find(|r| (r.set, r.binding) == (buffer.set, buffer.binding));
            let Some(resource) = resource else {
                rows.holds("buffer-size", format!("the kernel does not use buffer {place}"));
                continue;
            };
            if !is_buffer(resource.class) {
                let class = resource.class.name();
                let message = format!(
                    "the interface states a buffer at {place}, where the kernel has a {class}"
                );
                rows.refuted("buffer-size", message, None);
                continue;
            }
            let least = i128::from(resource.fixed_bytes.max(1));
            let enough = self.host.value_interval(size).low >= least;
            let answer = if enough {
                ProofResult::Proved
            } else {
                self.host.decide_for_all(&[size], &|case| self.value(size, case) >= least)
            };
            let claim = format!(
                "buffer {place}, {} bytes, holds the {least} {} that the kernel's block has at least",
                buffer.size,
                if least == 1 { "byte" } else { "bytes" }
            );
            rows.answer("buffer-size", answer, &claim, |values| {
                let bytes = self.value(size, &self.host.named_case(values));
                format!(
                    "buffer {place} has {bytes} bytes, the kernel's block needs {least} ({})",
                    printed(values)
                )
            });
            self.tested_sizes(rows, buffer.set, buffer.binding, size);
        }
    }

    /// The sizes that the tests bind, against what the host would allocate for the same parameters.
    fn tested_sizes(&self, rows: &mut Rows, set: u32, binding: u32, size: &HostExpression) {
        let (mut agreeing, mut larger) = (0, Vec::new());
        for test in self.input.tests {
            let Some(used) = test.buffers.get(&(set, binding)) else { continue };
            rows.about(format!("{set}.{binding} in {}", test.name));
            let bytes = self.value(size, &self.host.named_case(&test.parameters));
            match used.touched {
                Some(touched) if i128::from(touched) > bytes => {
                    let message = format!(
                        "buffer {set}.{binding} has {bytes} bytes on the host, but in {} the kernel uses {touched} ({})",
                        test.name,
                        printed(&test.parameters)
                    );
                    rows.refuted("buffer-size", message, Some(test.parameters.clone()));
                }
                Some(_) => agreeing += 1,
                None if i128::from(used.bound) <= bytes => agreeing += 1,
                None => larger.push(format!("{} ({} bytes for {bytes})", test.name, used.bound)),
            }
        }
        if agreeing > 0 {
            rows.holds(
                "buffer-size",
                format!("buffer {set}.{binding}: the host's size covers what {agreeing} tests use"),
            );
        }
        if !larger.is_empty() {
            let message = format!(
                "buffer {set}.{binding}: tests bind more than the host allocates for the same parameters, and whether the kernel uses the rest is not known: {}",
                larger.join(", ")
            );
            rows.undetermined("buffer-size", message);
        }
    }

    pub(crate) fn barriers(&self, rows: &mut Rows) {
        let barriers = self.input.barriers;
        if barriers.is_empty() {
            rows.holds("uniform-barrier", "the kernel has no barrier");
        }
        for (index, barrier) in barriers.iter().enumerate() {
            rows.about(format!("barrier {}", index + 1));
            match &barrier.control {
                super::BarrierControl::Uniform => {
                    rows.holds("uniform-barrier", format!("the barrier at {} is reached by all invocations of a workgroup alike", barrier.place));
                }
                super::BarrierControl::Divergent { branch, reason } => rows.refuted_at(
                    "uniform-barrier",
                    format!(
                        "the barrier at {} stands under the branch at {branch}, which invocations of one workgroup can take differently: {reason}",
                        barrier.place
                    ),
                    None,
                    Some(barrier.place.clone()),
                    Some(branch.clone()),
                ),
                super::BarrierControl::Unknown { reason } => {
                    rows.undetermined("uniform-barrier", format!("the barrier at {}: {reason}", barrier.place));
                }
            }
        }
    }
}

fn size(local: [u32; 3]) -> String {
    format!("{} x {} x {}", local[0], local[1], local[2])
}

fn specialization_range(type_name: &str, width: u32) -> (i128, i128) {
    match type_name {
        "bool" => (0, 1),
        name if name.starts_with("int") => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        _ => (0, (1i128 << width) - 1),
    }
}

/// What happened, with the part of the text where it did.
fn describe(event: &ArithmeticEvent, text: &str) -> String {
    let part = |span: &std::ops::Range<usize>| text.get(span.clone()).unwrap_or(text).to_owned();
    match event {
        ArithmeticEvent::Overflow { span, exact, width } => {
            format!("{} is {exact}, which {} cannot hold", part(span), host::type_name(*width))
        }
        ArithmeticEvent::DivisionByZero { span } => format!("{} divides by zero", part(span)),
        ArithmeticEvent::ShiftTooFar { span, amount } => {
            format!("{} shifts by {amount}", part(span))
        }
    }
}
