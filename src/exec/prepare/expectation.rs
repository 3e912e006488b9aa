//! What is expected of the final buffers, laid out and checked.

use super::contents::{Source, elements};
use super::dispatch::{Call, Dispatched, interface, resolve};
use super::layout::{Leaf, Walk};
use super::scalar::read;
use super::{Problems, Setting, job_module};
use crate::exec::Job;
use crate::model::element::{DataType, Datum, ElementType, ScalarClass, ScalarType};
use crate::model::procedure::{Expectation, Reference, Test, Tolerance};
use crate::requirement::Origin;

/// One expectation.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Index into `Job::buffers`.
    pub buffer: usize,
    pub tolerance: Tolerance,
    pub contents: ExpectedContents,
}

/// Where expected values come from.
#[derive(Debug, Clone)]
pub enum ExpectedContents {
    /// Values at byte offsets.
    Values(Vec<Leaf>),
    /// Every `scalar` from byte `offset` on equals that of another buffer's start.
    Buffer { other: usize, scalar: ScalarType, offset: usize },
    /// Every `scalar` from byte `offset` on is what a reference run leaves there.
    Reference { job: Box<Job>, scalar: ScalarType, offset: usize },
}

/// Prepares one expectation; none after a problem.
pub fn prepare(
    expectation: &Expectation,
    test: &Test,
    job: &Job,
    calls: &[Dispatched],
    setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Expected> {
    let buffer = named(&expectation.buffer, job, &origin.at("buffer"), problems)?;
    let size = job.buffers[buffer].bytes.len();
    let Some(offset) = usize::try_from(expectation.offset).ok().filter(|offset| *offset < size) else {
        let message = format!("offset {} lies beyond the {size} bytes of `{}`", expectation.offset, expectation.buffer);
        problems.push(origin.at("offset").error("size", message));
        return None;
    };
    let own = test.buffers.get(&expectation.buffer).and_then(|buffer| buffer.data_type);
    let declared = expectation.data_type.or(own);
    let scope = Scope { expectation, job, setting, origin, buffer, offset };
    let (contents, scalars) = match (declared, &expectation.values) {
        (Some(DataType::Reflect), Some(values)) => scope.reflected(values, test, calls, problems)?,
        (Some(DataType::Reflect), None) => scope.unreflected(None, problems)?,
        (Some(DataType::Element(element)), Some(values)) => {
            let bytes = elements(element, values, &origin.at("values"), problems)?;
            scope.values(element.scalar, &bytes, "values", problems)?
        }
        (None, Some(_)) => {
            let message = format!("the values need a `type`, since `{}` has none", expectation.buffer);
            problems.push(origin.error("missing-key", message).hint("for example \"float\""));
            return None;
        }
        (Some(DataType::Element(element)), None) => scope.unreflected(Some(element), problems)?,
        (None, None) => scope.unreflected(None, problems)?,
    };
    let tolerance = tolerance(expectation, &scalars, origin, problems)?;
    Some(Expected { buffer, tolerance, contents })
}

fn named(name: &str, job: &Job, origin: &Origin, problems: &mut Problems) -> Option<usize> {
    let found = job.buffers.iter().position(|buffer| buffer.name == name);
    if found.is_none() {
        problems.push(origin.error("unknown-buffer", format!("there is no buffer `{name}`")));
    }
    found
}

/// Units in the last place are a notion of floats.
fn tolerance(
    expectation: &Expectation,
    scalars: &[ScalarType],
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Tolerance> {
    let tolerance = expectation.tolerance.unwrap_or_default();
    let whole = scalars.iter().find(|scalar| scalar.class() != ScalarClass::Float);
    if let (Some(_), Some(scalar)) = (tolerance.ulp, whole) {
        let message = format!("`ulp` is a tolerance for floating-point elements, and these are {scalar}");
        problems.push(origin.at("tolerance").at("ulp").key_error("bad-value", message).hint("use `abs`"));
        return None;
    }
    Some(tolerance)
}

struct Scope<'a> {
    expectation: &'a Expectation,
    job: &'a Job,
    setting: &'a Setting<'a>,
    origin: &'a Origin,
    buffer: usize,
    offset: usize,
}

type Contents = (ExpectedContents, Vec<ScalarType>);

impl Scope<'_> {
    fn size(&self) -> usize {
        self.job.buffers[self.buffer].bytes.len()
    }

    /// Elements one after the other from the offset on.
    fn values(&self, scalar: ScalarType, bytes: &[u8], key: &str, problems: &mut Problems) -> Option<Contents> {
        if bytes.len() > self.size() - self.offset {
            let message = format!(
                "{} bytes are expected from byte {} on, and `{}` has {}",
                bytes.len(),
                self.offset,
                self.expectation.buffer,
                self.size()
            );
            problems.push(self.origin.at(key).error("size", message));
            return None;
        }
        if bytes.is_empty() || !bytes.len().is_multiple_of(scalar.size()) {
            let message = format!("{} bytes are no whole number of {scalar}", bytes.len());
            problems.push(self.origin.at(key).error("size", message));
            return None;
        }
        let leaf = |at| Leaf {
            offset: (self.offset + at) as u64,
            scalar,
            bits: read(bytes, scalar, at).expect("a whole number of elements"),
        };
        let leaves = (0..bytes.len()).step_by(scalar.size()).map(leaf).collect();
        Some((ExpectedContents::Values(leaves), vec![scalar]))
    }

    /// Members of the kernel's own block.
    fn reflected(
        &self,
        values: &Datum,
        test: &Test,
        calls: &[Dispatched],
        problems: &mut Problems,
    ) -> Option<Contents> {
        let name = &self.expectation.buffer;
        let block = test.dispatches.iter().zip(calls).find_map(|(dispatch, called)| {
            let binding = dispatch.bindings.iter().find(|binding| binding.buffer.as_ref() == Some(name))?;
            called.block(binding.set, binding.binding)
        });
        let Some(block) = block else {
            let problem = self.origin.error("no-block", format!("no dispatch binds the buffer `{name}` to a block"));
            problems.push(problem);
            return None;
        };
        let before = problems.count();
        let mut walk = Walk { layout: block.layout, leaves: Vec::new(), problems };
        walk.value(block.ty, None, self.offset as u64, values, &self.origin.at("values"));
        let leaves = walk.leaves;
        let end = leaves.iter().map(|leaf| leaf.offset as usize + leaf.scalar.size()).max().unwrap_or(0);
        if end > self.size() {
            let message = format!("the values reach to byte {end}, and `{name}` has {}", self.size());
            problems.push(self.origin.at("values").error("size", message));
        }
        let scalars = leaves.iter().map(|leaf| leaf.scalar).collect();
        (problems.count() == before).then_some((ExpectedContents::Values(leaves), scalars))
    }

    /// A file, another buffer or a reference; without a type, byte by byte.
    fn unreflected(&self, element: Option<ElementType>, problems: &mut Problems) -> Option<Contents> {
        let scalar = element.map_or(ScalarType::Uint8, |element| element.scalar);
        if let Some(path) = &self.expectation.file {
            let source = Source { base: self.setting.base, limit: self.job.limits.memory_bytes };
            let (found, bytes) = source.file(path, element, &self.origin.at("file"), problems)?;
            return self.values(found.map_or(scalar, |found| found.scalar), &bytes, "file", problems);
        }
        let rest = self.size() - self.offset;
        if !rest.is_multiple_of(scalar.size()) {
            let message =
                format!("the last {rest} bytes of `{}` are no whole number of {scalar}", self.expectation.buffer);
            problems.push(self.origin.error("size", message));
            return None;
        }
        if let Some(name) = &self.expectation.equals_buffer {
            let other = named(name, self.job, &self.origin.at("equals_buffer"), problems)?;
            let length = self.job.buffers[other].bytes.len();
            if length != rest {
                let message = format!(
                    "`{name}` has {length} bytes, and {rest} bytes of `{}` are compared",
                    self.expectation.buffer
                );
                problems.push(self.origin.at("equals_buffer").error("size", message));
                return None;
            }
            return Some((ExpectedContents::Buffer { other, scalar, offset: self.offset }, vec![scalar]));
        }
        let Some(reference) = &self.expectation.reference else {
            let message = "an expectation has exactly one of `values`, `file`, `equals_buffer` and `reference`";
            problems.push(self.origin.error("contradiction", message));
            return None;
        };
        let job = self.reference(reference, problems)?;
        Some((ExpectedContents::Reference { job: Box::new(job), scalar, offset: self.offset }, vec![scalar]))
    }

    /// The reference kernel on the test's initial buffers.
    fn reference(&self, reference: &Reference, problems: &mut Problems) -> Option<Job> {
        let place = self.origin.at("reference");
        let call = Call::of_reference(reference);
        let called = interface(&call, self.setting, &place, problems)?;
        let dispatch = resolve(&call, &called, &self.job.buffers, 0, self.setting, &place, problems)?;
        if !dispatch.bindings.iter().any(|binding| binding.buffer == self.buffer) {
            let message =
                format!("the reference does not bind `{}`, so that it cannot compute it", self.expectation.buffer);
            problems.push(place.at("bindings").error("missing-binding", message));
            return None;
        }
        let kernel = &self.setting.kernels[&reference.kernel];
        let mut module = job_module(&reference.kernel, kernel);
        module.recording = crate::exec::ModuleRecording::None;
        Some(Job {
            name: format!("{} (reference)", self.job.name),
            modules: vec![module],
            buffers: self.job.buffers.clone(),
            dispatches: vec![dispatch],
            limits: self.job.limits,
            checks: self.setting.checks.clone(),
        })
    }
}
