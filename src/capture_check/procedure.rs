//! A captured dispatch as a test procedure.
//!
//! Knows: what memory held before the dispatch, as far as the capture has it: contents of mapped
//! memory, copies, fills and updates, in order; what a dispatch may have written is not known.
//! Promises: what the procedure cannot say as it was is told with it; expected values are left to a
//! person.
//! Does not cover: images, device addresses, inline uniform blocks and indirect dispatches, by name.

use crate::kernel::{KernelFacts, KernelTable, Touch};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use vkcert_capture::program::{
    Action, BoundBuffer, BoundResource, Dispatch, Groups, MemorySpan, Program, WHOLE_SIZE,
};
use vkcert_model::procedure::DescriptorClass;

/// A test procedure of one dispatch.
#[derive(Debug, Clone)]
pub struct CapturedProcedure {
    /// As `vkcert run` reads it.
    pub document: Value,
    /// What a person has to know of it.
    pub remarks: Vec<String>,
}

/// Makes a test procedure of the dispatch of a number; in words why there is none.
pub fn captured_procedure(program: &Program, number: u32) -> Result<CapturedProcedure, String> {
    let found = program.dispatches().find(|(_, dispatch)| dispatch.number == number);
    let (index, dispatch) = found.ok_or_else(|| {
        let count = program.dispatches().count();
        format!("there is no dispatch {number}: the capture has {count}")
    })?;
    let kernels = KernelTable::of_program(program);
    let kernel = kernels.of_pipeline(dispatch.pipeline)?;
    let Groups::Direct(groups) = dispatch.groups else {
        return Err("an indirect dispatch has no numbers of workgroups in the capture".to_owned());
    };
    if let Some(name) = &dispatch.unseen {
        return Err(format!("what is bound is not known behind {name}, which is not modelled"));
    }
    if dispatch.base != [0; 3] {
        return Err("a dispatch with a base cannot be said in a test procedure".to_owned());
    }
    let mut memory = KnownMemory::default();
    for operation in &program.operations[..index] {
        memory.take(program, &kernels, &operation.action);
    }
    let mut remarks = Vec::new();
    let bindings = bindings_of(program, dispatch, kernel)?;
    let mut buffers = Map::new();
    for (_, _, bound) in &bindings {
        let name = buffer_name(bound.buffer);
        if !buffers.contains_key(&name) {
            let value = buffer_value(program, &memory, bound.buffer, &name, &mut remarks);
            buffers.insert(name, value);
        }
    }
    let pipeline = &program.pipelines[dispatch.pipeline];
    let module = pipeline.module.ok_or("the shader module is not in the capture")?;
    let name = kernel_name(&pipeline.entry);
    let mut step = json!({
        "kernel": name,
        "groups": groups,
        "bindings": bindings.iter().map(binding_value).collect::<Vec<_>>(),
        "specialization": specialization(program, dispatch, kernel),
    });
    if let Some(bytes) = push_constant_bytes(dispatch, kernel, &mut remarks) {
        step["push_constants"] = json!({ "bytes": STANDARD.encode(bytes) });
    }
    remarks.push("expected values are left to a person: the test has none".to_owned());
    let test = json!({
        "id": format!("TC-CAPTURE-{number}"),
        "buffers": buffers,
        "dispatches": [step],
    });
    let source = json!({ "bytes": STANDARD.encode(&*program.modules[module]) });
    let kernel = json!({ "source": source, "language": "spirv", "entry": pipeline.entry });
    let document = json!({ "schema": 1, "kernels": { name: kernel }, "tests": [test] });
    Ok(CapturedProcedure { document, remarks })
}

/// Names of kernels are narrower than names of entry points.
fn kernel_name(entry: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let name: String = entry.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if begins_well { name } else { format!("kernel_{name}") }
}

fn buffer_name(buffer: usize) -> String {
    format!("buffer{}", buffer + 1)
}

/// Set, binding and class; the element and dynamic offset; the range.
type CapturedBinding = ((u32, u32, DescriptorClass), (u32, Option<u32>), BoundBuffer);

fn bindings_of(
    program: &Program,
    dispatch: &Dispatch,
    kernel: &KernelFacts,
) -> Result<Vec<CapturedBinding>, String> {
    let mut bindings = Vec::new();
    for ((set, binding), used) in &kernel.uses {
        for (descriptor, dynamic_offset) in dispatch.descriptors_at(*set, *binding) {
            let what = match &descriptor.resource {
                BoundResource::Buffer { .. } => "",
                BoundResource::Image => "an image",
                BoundResource::Inline(_) => "an inline uniform block",
                BoundResource::Null => "nothing",
                BoundResource::Other => "something that is not modelled",
            };
            // The dynamic offset stands beside the range, as the procedure has it.
            let Some(bound) = descriptor.buffer_range(0, &program.buffers) else {
                return Err(format!("binding {set}.{binding} has {what}"));
            };
            let (class, offset) = match (used.class, descriptor.descriptor_type) {
                (DescriptorClass::Storage, 9) => {
                    (DescriptorClass::StorageDynamic, Some(dynamic_offset))
                }
                (DescriptorClass::Uniform, 8) => {
                    (DescriptorClass::UniformDynamic, Some(dynamic_offset))
                }
                (class, _) => (class, None),
            };
            let key = (*set, *binding, class);
            bindings.push((key, (descriptor.element, offset), bound));
        }
    }
    Ok(bindings)
}

fn binding_value(captured: &CapturedBinding) -> Value {
    let ((set, binding, class), (element, dynamic_offset), bound) = captured;
    let mut value = json!({
        "set": set,
        "binding": binding,
        "buffer": buffer_name(bound.buffer),
        "class": class.name(),
        "array_index": element,
        "offset": bound.offset,
        "range": bound.size,
    });
    if let Some(dynamic_offset) = dynamic_offset {
        value["dynamic_offset"] = json!(dynamic_offset);
        let size = bound.size.saturating_sub(u64::from(*dynamic_offset));
        value["range"] = json!(size);
    }
    value
}

fn specialization(program: &Program, dispatch: &Dispatch, kernel: &KernelFacts) -> Value {
    let declared =
        |id: u32| kernel.reflection.specialization.iter().any(|constant| constant.spec_id == id);
    let values = program.pipelines[dispatch.pipeline].specialization.iter();
    let values = values.filter_map(crate::kernel::raw_value).filter(|(id, _)| declared(*id));
    let values = values.map(|(id, bits)| (id.to_string(), json!({ "bits": format!("{bits:#x}") })));
    Value::Object(values.collect())
}

/// The bytes of the block; none where the kernel has none.
fn push_constant_bytes(
    dispatch: &Dispatch,
    kernel: &KernelFacts,
    remarks: &mut Vec<String>,
) -> Option<Vec<u8>> {
    let block = kernel.reflection.push_constants.as_ref()?;
    let size = usize::try_from(block.size).ok()?;
    let byte_at = |index: usize| dispatch.push_constants.get(index).copied().flatten();
    let unset = (0..size).filter(|index| byte_at(*index).is_none()).count();
    if unset > 0 {
        remarks
            .push(format!("{unset} bytes of push constants were never set: they are given as 0"));
    }
    Some((0..size).map(|index| byte_at(index).unwrap_or(0)).collect())
}

fn buffer_value(
    program: &Program,
    memory: &KnownMemory,
    buffer: usize,
    name: &str,
    remarks: &mut Vec<String>,
) -> Value {
    let size = program.buffers[buffer].size;
    let span = program.span(buffer, 0, WHOLE_SIZE);
    let contents = span.map(|span| memory.contents(&span)).unwrap_or_default();
    let known = contents.iter().filter(|byte| byte.is_some()).count();
    if known == 0 {
        remarks.push(format!(
            "what {name} held is not in the capture: its {size} bytes are uninitialised"
        ));
        return json!({ "type": "uint8", "count": size });
    }
    if known < contents.len() {
        remarks.push(format!(
            "{} of {size} bytes of {name} are not in the capture: they are given as 0",
            contents.len() - known
        ));
    }
    let bytes: Vec<u8> = contents.iter().map(|byte| byte.unwrap_or(0)).collect();
    json!({ "bytes": STANDARD.encode(bytes) })
}

/// What memory holds, as far as it is known.
#[derive(Debug, Default)]
struct KnownMemory {
    bytes: BTreeMap<usize, Vec<Option<u8>>>,
}

impl KnownMemory {
    fn contents(&self, span: &MemorySpan) -> Vec<Option<u8>> {
        let bytes = self.bytes.get(&span.memory).map_or(&[][..], Vec::as_slice);
        (span.start..span.end)
            .map(|index| usize::try_from(index).ok().and_then(|index| *bytes.get(index)?))
            .collect()
    }

    fn set(&mut self, span: &MemorySpan, values: impl Iterator<Item = Option<u8>>) {
        let bytes = self.bytes.entry(span.memory).or_default();
        let (Ok(start), Ok(end)) = (usize::try_from(span.start), usize::try_from(span.end)) else {
            return;
        };
        if bytes.len() < end {
            bytes.resize(end, None);
        }
        bytes[start..end].iter_mut().zip(values).for_each(|(byte, value)| *byte = value);
    }

    fn forget(&mut self, span: &MemorySpan) {
        // What was never known needs no room.
        if self.bytes.contains_key(&span.memory) {
            self.set(span, std::iter::repeat(None));
        }
    }

    fn take(&mut self, program: &Program, kernels: &KernelTable, action: &Action) {
        match action {
            Action::Contents { memory, offset, bytes } => {
                let end = offset + bytes.len() as u64;
                let span = MemorySpan { memory: *memory, start: *offset, end };
                self.set(&span, bytes.iter().copied().map(Some));
            }
            Action::Copy { from, to, regions } => {
                for region in regions.iter() {
                    let read = program.span(*from, region.from, region.size);
                    let written = program.span(*to, region.to, region.size);
                    if let (Some(read), Some(written)) = (read, written) {
                        let bytes = self.contents(&read);
                        self.set(&written, bytes.into_iter());
                    }
                }
            }
            Action::Fill { buffer, offset, size, word } => {
                if let Some(span) = program.span(*buffer, *offset, *size) {
                    self.set(&span, word.to_le_bytes().into_iter().cycle().map(Some));
                }
            }
            Action::Update { buffer, offset, bytes } => {
                if let Some(span) = program.span(*buffer, *offset, bytes.len() as u64) {
                    self.set(&span, bytes.iter().copied().map(Some));
                }
            }
            Action::ImageCopy { written, .. } => {
                let span = written.and_then(|buffer| program.span(buffer, 0, WHOLE_SIZE));
                span.iter().for_each(|span| self.forget(span));
            }
            Action::Dispatch(dispatch) => self.take_dispatch(program, kernels, dispatch),
            Action::Submit
            | Action::SemaphoreWait(_)
            | Action::SemaphoreSignal(_)
            | Action::Barrier(_)
            | Action::Unsupported { .. }
            | Action::HostWait { .. }
            | Action::Map(_)
            | Action::Unmap(_)
            | Action::Flush(_)
            | Action::Invalidate(_) => {}
        }
    }

    fn take_dispatch(&mut self, program: &Program, kernels: &KernelTable, dispatch: &Dispatch) {
        let Ok(kernel) = kernels.of_pipeline(dispatch.pipeline) else {
            // It may have written anything.
            self.bytes.clear();
            return;
        };
        for ((set, binding), used) in &kernel.uses {
            if used.written == Touch::Never {
                continue;
            }
            for (descriptor, offset) in dispatch.descriptors_at(*set, *binding) {
                let bound = descriptor.buffer_range(offset, &program.buffers);
                let span =
                    bound.and_then(|bound| program.span(bound.buffer, bound.offset, bound.size));
                span.iter().for_each(|span| self.forget(span));
            }
        }
    }
}
