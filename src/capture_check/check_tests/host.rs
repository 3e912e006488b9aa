//! What the host reads and writes.

use super::script::{
    BYTES, COHERENT, COMPUTE, HOST, HOST_READ, NON_COHERENT, QUEUE, SHADER_READ, SHADER_WRITE,
    Script, TestBuffer, barrier,
};
use super::{assert_all_hold, only_refuted, report, told};
use crate::procedure::captured_procedure;
use crate::row::CaptureCheckName;
use base64::Engine as _;
use vkcert_capture::event::{Contents, Event, MemoryRange};
use vkcert_capture::value::Bytes;
use vkcert_model::evidence::CheckStatus;

const SCALE: &str = "layout(binding = 0) buffer A { uint a[]; };\n\
                     void main() { a[gl_GlobalInvocationID.x] *= 2; }";

#[derive(Clone, Copy, PartialEq)]
enum Mapping {
    Again,
    Throughout,
}

/// What the host does around a dispatch.
#[derive(Clone, Copy)]
struct Host {
    memory: u32,
    mapping: Mapping,
    flush: bool,
    barrier: bool,
    invalidate: bool,
}

const RIGHT: Host = Host {
    memory: COHERENT,
    mapping: Mapping::Again,
    flush: false,
    barrier: true,
    invalidate: false,
};

fn whole(buffer: TestBuffer) -> Vec<MemoryRange> {
    vec![MemoryRange { memory: buffer.memory, offset: 0, size: u64::MAX }]
}

fn script_of(host: Host) -> Script {
    let mut script = Script::new(host.memory);
    let data = script.buffer();
    let kernel = script.kernel(SCALE, &[data]);
    script.map(data);
    if host.flush {
        script.push(Event::Flush(whole(data)));
    }
    if host.mapping == Mapping::Again {
        script.push(Event::Unmap(data.memory));
    }
    let mut commands = kernel.dispatch();
    if host.barrier {
        commands.push(barrier((COMPUTE, SHADER_WRITE), (HOST, HOST_READ)));
    }
    script.submit(QUEUE, commands);
    script.push(Event::QueueIdle(QUEUE));
    if host.mapping == Mapping::Again {
        script.map(data);
    }
    if host.invalidate {
        script.push(Event::Invalidate(whole(data)));
    }
    script.push(Event::Unmap(data.memory));
    script
}

#[test]
fn a_fence_makes_nothing_visible_to_the_host() {
    assert_all_hold(&script_of(RIGHT));
    let message =
        only_refuted(&script_of(Host { barrier: false, ..RIGHT }), CaptureCheckName::HostRead);
    assert!(message.contains("dispatch 1 (operation 4) writes bytes 0 to 256"), "{message}");
    assert!(message.contains("dstStageMask HOST and dstAccessMask HOST_READ"), "{message}");
}

#[test]
fn whether_memory_that_is_mapped_throughout_is_read_is_not_known() {
    let throughout = Host { mapping: Mapping::Throughout, ..RIGHT };
    assert_all_hold(&script_of(throughout));
    let report = report(&script_of(Host { barrier: false, ..throughout }));
    let messages = told(&report, CaptureCheckName::HostRead, CheckStatus::Undetermined);
    assert!(messages[0].contains("the memory was mapped before"), "{messages:?}");
    assert_eq!(told(&report, CaptureCheckName::HostRead, CheckStatus::Refuted).len(), 0);
    // To invalidate it is to read it.
    let invalidated = Host { invalidate: true, barrier: false, ..throughout };
    only_refuted(&script_of(invalidated), CaptureCheckName::HostRead);
}

#[test]
fn memory_that_is_not_coherent_is_flushed_and_invalidated() {
    let right = Host { memory: NON_COHERENT, flush: true, invalidate: true, ..RIGHT };
    assert_all_hold(&script_of(right));
    let message =
        only_refuted(&script_of(Host { flush: false, ..right }), CaptureCheckName::HostWrite);
    assert!(message.contains("vkFlushMappedMemoryRanges is needed"), "{message}");
    let message =
        only_refuted(&script_of(Host { invalidate: false, ..right }), CaptureCheckName::HostRead);
    assert!(message.contains("without vkInvalidateMappedMemoryRanges"), "{message}");
}

#[test]
fn a_flush_of_other_bytes_is_none() {
    let mut script = Script::new(NON_COHERENT);
    let data = script.buffer();
    let kernel = script.kernel(SCALE, &[data]);
    script.map(data);
    script.push(Event::Flush(vec![MemoryRange {
        memory: data.memory,
        offset: 0,
        size: BYTES / 2,
    }]));
    script.push(Event::Unmap(data.memory));
    script.submit(QUEUE, kernel.dispatch());
    only_refuted(&script, CaptureCheckName::HostWrite);
}

#[test]
fn a_captured_dispatch_has_the_contents_that_it_found() {
    let mut script = Script::new(COHERENT);
    let data = script.buffer();
    let kernel = script.kernel(SCALE, &[data]);
    script.map(data);
    let bytes: Vec<u8> = (0..=255).collect();
    let contents = Contents { memory: data.memory, offset: 0, bytes: Bytes(bytes.clone()) };
    script.push(Event::Contents(contents));
    script.push(Event::Unmap(data.memory));
    script.submit(QUEUE, kernel.dispatch());
    script.submit(
        QUEUE,
        [
            vec![barrier((COMPUTE, SHADER_WRITE), (COMPUTE, SHADER_WRITE | SHADER_READ))],
            kernel.dispatch(),
        ]
        .concat(),
    );
    let program = script.program();
    let first = captured_procedure(&program, 1).unwrap();
    let buffer = &first.document["tests"][0]["buffers"]["buffer1"];
    let text = buffer["bytes"].as_str().unwrap();
    assert_eq!(base64::engine::general_purpose::STANDARD.decode(text).unwrap(), bytes);
    assert_eq!(first.document["kernels"]["main"]["target_env"], "vulkan1.0");
    // What the first dispatch left is not known.
    let second = captured_procedure(&program, 2).unwrap();
    let buffer = &second.document["tests"][0]["buffers"]["buffer1"];
    assert_eq!(buffer["count"], 256);
    assert!(second.remarks[0].contains("not in the capture"), "{:?}", second.remarks);
    assert!(captured_procedure(&program, 3).unwrap_err().contains("the capture has 2"));
}
