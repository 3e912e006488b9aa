//! A captured dispatch as a test procedure.
//!
//! Knows: what memory held before the dispatch, as far as the capture has it (`contents`).
//! Promises: what the procedure cannot say as it was is told with it; expected values are left to a
//! person.
//! Does not cover: device addresses, inline uniform blocks, images of captures of version 1, and
//! indirect dispatches whose numbers of workgroups are not known, by name.

use crate::contents::KnownMemory;
use crate::kernel::{KernelFacts, KernelTable};
use crate::procedure_images::procedure_images;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use vkcert_capture::event::ContentsMode;
use vkcert_capture::program::{BoundBuffer, BoundResource, Dispatch, Program};
use vkcert_model::procedure::DescriptorClass;

/// A test procedure of one dispatch.
#[derive(Debug, Clone)]
pub struct CapturedProcedure {
    /// As `vkcert run` reads it.
    pub document: Value,
    /// What a person has to know of it.
    pub remarks: Vec<String>,
}

/// What a person has to know of a procedure.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    words: Vec<String>,
    holds_unknown: bool,
}

impl Remarks {
    pub(crate) fn tell(&mut self, words: String) {
        self.words.push(words);
    }

    /// Tells that something that the dispatch was given is not in the capture.
    pub(crate) fn tell_unknown(&mut self, words: String) {
        self.holds_unknown = true;
        self.words.push(words);
    }

    /// Tells why what is not known was not read on the device.
    fn tell_unread(&mut self, program: &Program, dispatch: &Dispatch) {
        let is_asked_for = match program.contents() {
            ContentsMode::Omitted => false,
            ContentsMode::Recorded => true,
        };
        if !self.holds_unknown || !is_asked_for {
            return;
        }
        let reasons = dispatch.unread.iter();
        self.words.extend(reasons.map(|reason| format!("not read on the device: {reason}")));
        if dispatch.unread.is_empty() && dispatch.readings.is_empty() {
            self.words.push(
                "nothing was read on the device in front of the dispatch, or its submission was not \
                 seen to be complete"
                    .to_owned(),
            );
        }
    }
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
    if let Some(name) = &dispatch.unseen {
        return Err(format!("what is bound is not known behind {name}, which is not modelled"));
    }
    if dispatch.base != [0; 3] {
        return Err("a dispatch with a base cannot be said in a test procedure".to_owned());
    }
    let mut memory = KnownMemory::default();
    for operation in &program.operations[..index] {
        memory.take(program, &kernels, operation);
    }
    memory.take_readings(program, dispatch);
    let groups = memory.groups(program, dispatch.groups).ok_or(
        "how many workgroups the indirect dispatch has is not in the capture: the contents of its \
         buffer are not known",
    )?;
    if groups.contains(&0) {
        return Err("a dispatch of no workgroup runs nothing that a test could judge".to_owned());
    }
    let mut remarks = Remarks::default();
    let bindings = bindings_of(program, dispatch, kernel)?;
    let windows = windows_of(&bindings);
    let images = procedure_images(program, dispatch, kernel, &memory, &mut remarks)?;
    let mut buffers = Map::new();
    for window in windows.values() {
        let name = buffer_name(window.buffer);
        buffers.insert(name, buffer_value(program, &memory, window, &mut remarks));
    }
    let pipeline = &program.pipelines[dispatch.pipeline];
    let module = pipeline.module.ok_or("the shader module is not in the capture")?;
    let name = kernel_name(&pipeline.entry);
    let buffer_bindings = bindings.iter().map(|bound| binding_value(bound, &windows));
    let all_bindings: Vec<Value> = buffer_bindings.chain(images.bindings).collect();
    let mut step = json!({
        "kernel": name,
        "groups": groups,
        "bindings": all_bindings,
        "specialization": specialization(program, dispatch, kernel),
    });
    if let Some(bytes) = push_constant_bytes(dispatch, kernel, &mut remarks) {
        step["push_constants"] = json!({ "bytes": STANDARD.encode(bytes) });
    }
    remarks.tell_unread(program, dispatch);
    remarks.tell("expected values are left to a person: the test has none".to_owned());
    let mut test = json!({
        "id": format!("TC-CAPTURE-{number}"),
        "buffers": buffers,
        "dispatches": [step],
    });
    for (key, values) in [("images", images.images), ("samplers", images.samplers)] {
        if !values.is_empty() {
            test[key] = Value::Object(values);
        }
    }
    let source = json!({ "bytes": STANDARD.encode(&*program.modules[module]) });
    let kernel = json!({
        "source": source,
        "language": "spirv",
        "entry": pipeline.entry,
        "target_env": target_environment(&program.modules[module]),
    });
    let document = json!({ "schema": 1, "kernels": { name: kernel }, "tests": [test] });
    Ok(CapturedProcedure { document, remarks: remarks.words })
}

/// The first version of Vulkan that takes modules of this version of SPIR-V.
fn target_environment(module: &[u8]) -> &'static str {
    let version = module.get(4..8).map_or([0; 4], |bytes| [bytes[0], bytes[1], bytes[2], bytes[3]]);
    let version = u32::from_ne_bytes(version);
    match (version >> 16 & 0xff, version >> 8 & 0xff) {
        (1, 0) => "vulkan1.0",
        (1, 1..=3) => "vulkan1.1",
        (1, 4 | 5) => "vulkan1.2",
        _ => "vulkan1.3",
    }
}

/// A window begins at a multiple of this many bytes, so that offsets keep the alignment that
/// devices ask for.
const WINDOW_ALIGNMENT: u64 = 256;

/// What of each buffer is bound: programs cut small ranges out of large buffers.
fn windows_of(bindings: &[CapturedBinding]) -> BTreeMap<usize, BoundBuffer> {
    let mut windows: BTreeMap<usize, BoundBuffer> = BTreeMap::new();
    for captured in bindings {
        let (_, _, bound) = captured;
        let start = first_byte(captured) / WINDOW_ALIGNMENT * WINDOW_ALIGNMENT;
        let end = bound.offset + bound.size;
        let window = windows.entry(bound.buffer).or_insert(BoundBuffer {
            buffer: bound.buffer,
            offset: start,
            size: end - start,
        });
        let last = end.max(window.offset + window.size);
        window.offset = window.offset.min(start);
        window.size = last - window.offset;
    }
    windows
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
                BoundResource::View(_) => continue,
                BoundResource::Image => "an image that is not recorded",
                BoundResource::Inline(_) => "an inline uniform block",
                BoundResource::Null => "nothing",
                BoundResource::Other => "something that is not modelled",
            };
            let Some(bound) = descriptor.buffer_range(dynamic_offset, &program.buffers) else {
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

/// Where a range begins without its dynamic offset.
fn first_byte((_, (_, dynamic_offset), bound): &CapturedBinding) -> u64 {
    bound.offset - u64::from(dynamic_offset.unwrap_or(0))
}

fn binding_value(captured: &CapturedBinding, windows: &BTreeMap<usize, BoundBuffer>) -> Value {
    let ((set, binding, class), (element, dynamic_offset), bound) = captured;
    let mut value = json!({
        "set": set,
        "binding": binding,
        "buffer": buffer_name(bound.buffer),
        "class": class.name(),
        "array_index": element,
        "offset": first_byte(captured) - windows[&bound.buffer].offset,
        "range": bound.size,
    });
    if let Some(dynamic_offset) = dynamic_offset {
        value["dynamic_offset"] = json!(dynamic_offset);
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
    remarks: &mut Remarks,
) -> Option<Vec<u8>> {
    let block = kernel.reflection.push_constants.as_ref()?;
    let size = usize::try_from(block.size).ok()?;
    let byte_at = |index: usize| dispatch.push_constants.get(index).copied().flatten();
    let unset = (0..size).filter(|index| byte_at(*index).is_none()).count();
    if unset > 0 {
        remarks
            .tell(format!("{unset} bytes of push constants were never set: they are given as 0"));
    }
    Some((0..size).map(|index| byte_at(index).unwrap_or(0)).collect())
}

fn buffer_value(
    program: &Program,
    memory: &KnownMemory,
    window: &BoundBuffer,
    remarks: &mut Remarks,
) -> Value {
    let BoundBuffer { buffer, offset, size } = *window;
    let name = buffer_name(buffer);
    if (offset, size) != (0, program.buffers[buffer].size) {
        let end = offset + size;
        remarks.tell(format!("{name} holds bytes {offset} to {end} of the captured buffer"));
    }
    let span = program.span(buffer, offset, size);
    let contents = span.map(|span| memory.contents(&span)).unwrap_or_default();
    let known = contents.iter().filter(|byte| byte.is_some()).count();
    if known == 0 {
        remarks.tell_unknown(format!(
            "what {name} held is not in the capture: its {size} bytes are uninitialised"
        ));
        return json!({ "type": "uint8", "count": size });
    }
    if known < contents.len() {
        remarks.tell_unknown(format!(
            "{} of {size} bytes of {name} are not in the capture: they are given as 0",
            contents.len() - known
        ));
    }
    let bytes: Vec<u8> = contents.iter().map(|byte| byte.unwrap_or(0)).collect();
    json!({ "bytes": STANDARD.encode(bytes) })
}
