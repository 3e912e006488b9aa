//! What the host reads and writes.

use super::script::{
    BYTES, COHERENT, COMPUTE, HOST, HOST_READ, INDIRECT, INDIRECT_READ, NON_COHERENT, QUEUE,
    SHADER_READ, SHADER_WRITE, Script, TRANSFER, TRANSFER_WRITE, TestBuffer, barrier, fill,
};
use super::{assert_all_hold, only_refuted, report, told};
use crate::procedure::captured_procedure;
use crate::row::CaptureCheckName;
use base64::Engine as _;
use vkcert_capture::command::{Command, CopyRegion};
use vkcert_capture::event::{Contents, ContentsMode, Event, MemoryRange, Semaphore, SemaphoreUse};
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

/// Memory that is not coherent is mapped and flushed in ranges, and a dispatch reads all of it.
fn flushed_ranges(mapped: &[(u64, u64)], flushed: &[(u64, u64)], read: (u64, u64)) -> Script {
    let mut script = Script::new(NON_COHERENT);
    let (data, other) = (script.buffer(), script.buffer());
    let range_of = |(offset, size): (u64, u64)| MemoryRange { memory: data.memory, offset, size };
    for range in mapped {
        script.push(Event::Map(range_of(*range)));
        script.push(Event::Flush(flushed.iter().copied().map(range_of).collect()));
        script.push(Event::Unmap(data.memory));
    }
    let regions = vec![CopyRegion { from: read.0, to: 0, size: read.1 }];
    let (from, to) = (data.buffer, other.buffer);
    script.submit(QUEUE, vec![Command::CopyBuffer { from, to, regions }]);
    script
}

#[test]
fn a_flush_of_other_bytes_is_none() {
    let half = BYTES / 2;
    assert_all_hold(&flushed_ranges(&[(0, BYTES)], &[(0, half)], (0, half)));
    let other_half = flushed_ranges(&[(0, BYTES)], &[(0, half)], (half, half));
    only_refuted(&other_half, CaptureCheckName::HostWrite);
    // The host need not have written all that is read.
    let report = report(&flushed_ranges(&[(0, BYTES)], &[(0, half)], (0, BYTES)));
    let messages = told(&report, CaptureCheckName::HostWrite, CheckStatus::Undetermined);
    assert!(messages[0].contains("the host never flushed some of them"), "{messages:?}");
}

#[test]
fn what_lies_between_mapped_ranges_was_not_mapped() {
    let ends = [(0, 64), (192, 64)];
    assert_all_hold(&flushed_ranges(&ends, &[], (64, 128)));
    only_refuted(&flushed_ranges(&ends, &[], (0, 64)), CaptureCheckName::HostWrite);
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

/// Memory that the device wrote is mapped, and not made available to the host; then what is given is
/// dispatched.
fn mapped_between(reads_again: bool) -> Script {
    let mut script = Script::new(COHERENT);
    let (data, other) = (script.buffer(), script.buffer());
    let kernel = script.kernel(SCALE, &[data]);
    let other_kernel = script.kernel(SCALE, &[other]);
    script.submit(QUEUE, kernel.dispatch());
    script.push(Event::QueueIdle(QUEUE));
    script.map(data);
    script.push(Event::Unmap(data.memory));
    script.submit(QUEUE, if reads_again { kernel } else { other_kernel }.dispatch());
    script
}

#[test]
fn memory_may_be_mapped_to_write_it_alone() {
    let report = report(&mapped_between(true));
    let messages = told(&report, CaptureCheckName::HostRead, CheckStatus::Undetermined);
    assert!(messages[0].contains("may have mapped it to write alone"), "{messages:?}");
    assert_eq!(told(&report, CaptureCheckName::HostRead, CheckStatus::Refuted).len(), 0);
    only_refuted(&mapped_between(false), CaptureCheckName::HostRead);
}

/// An indirect dispatch whose numbers the host writes, or a kernel before it, as words.
fn indirect(words: [u32; 3], mode: ContentsMode, written_by_kernel: bool) -> Script {
    let mut script = Script::with_contents(COHERENT, mode);
    let (data, numbers) = (script.buffer(), script.buffer());
    let kernel = script.kernel(SCALE, &[data]);
    let writer = script.kernel(SCALE, &[numbers]);
    script.map(numbers);
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let contents = Contents { memory: numbers.memory, offset: 16, bytes: Bytes(bytes) };
    if mode == ContentsMode::Recorded {
        script.push(Event::Contents(contents));
    }
    script.push(Event::Unmap(numbers.memory));
    let mut commands = Vec::new();
    if written_by_kernel {
        commands.extend(writer.dispatch());
        commands.push(barrier((COMPUTE, SHADER_WRITE), (INDIRECT, INDIRECT_READ)));
    }
    commands.extend(kernel.bound());
    commands.push(Command::DispatchIndirect { buffer: numbers.buffer, offset: 16 });
    script.submit(QUEUE, commands);
    script
}

#[test]
fn workgroups_of_indirect_dispatches_are_known_where_their_numbers_are() {
    const CHECK: CaptureCheckName = CaptureCheckName::DispatchLimits;
    let known = indirect([4, 5, 6], ContentsMode::Recorded, false);
    assert_all_hold(&known);
    let remarks = report(&known).remarks;
    assert!(remarks[0].contains("is indirect and reads 4 x 5 x 6 workgroups"), "{remarks:?}");
    let procedure = captured_procedure(&known.program(), 1).unwrap().document;
    assert_eq!(procedure["tests"][0]["dispatches"][0]["groups"], serde_json::json!([4, 5, 6]));
    let message = only_refuted(&indirect([4, 5000, 6], ContentsMode::Recorded, false), CHECK);
    assert!(message.contains("[4, 5000, 6] workgroups, above"), "{message}");
    for (unknown, number) in [
        (indirect([4, 5, 6], ContentsMode::Omitted, false), 1),
        (indirect([4, 5, 6], ContentsMode::Recorded, true), 2),
    ] {
        let messages = told(&report(&unknown), CHECK, CheckStatus::Undetermined);
        assert!(messages[0].contains("is not in the capture"), "{messages:?}");
        let refusal = captured_procedure(&unknown.program(), number).unwrap_err();
        assert!(refusal.contains("the contents of its buffer are not known"), "{refusal}");
    }
}

#[test]
fn memory_that_is_mapped_and_unmapped_while_the_device_may_write_it_is_told() {
    let after = |is_complete: bool| {
        let mut script = Script::new(COHERENT);
        let data = script.buffer();
        let to_host = barrier((TRANSFER, TRANSFER_WRITE), (HOST, HOST_READ));
        script.submit(QUEUE, vec![fill(data), to_host]);
        if is_complete {
            script.push(Event::QueueIdle(QUEUE));
        }
        script.map(data);
        script.push(Event::Unmap(data.memory));
        script
    };
    assert_all_hold(&after(true));
    let report = report(&after(false));
    let messages = told(&report, CaptureCheckName::HostRead, CheckStatus::Undetermined);
    assert!(messages[0].contains("the host did not wait for that write"), "{messages:?}");
}

#[test]
fn what_is_recorded_of_memory_that_a_dispatch_may_still_write_is_not_known() {
    for is_complete in [true, false] {
        let mut script = Script::new(COHERENT);
        let data = script.buffer();
        let kernel = script.kernel(SCALE, &[data]);
        script.submit(QUEUE, kernel.dispatch());
        if is_complete {
            script.push(Event::QueueIdle(QUEUE));
        }
        let bytes = Bytes(vec![7; BYTES as usize]);
        script.push(Event::Contents(Contents { memory: data.memory, offset: 0, bytes }));
        script.submit(QUEUE, kernel.dispatch());
        let procedure = captured_procedure(&script.program(), 2).unwrap();
        let buffer = &procedure.document["tests"][0]["buffers"]["buffer1"];
        assert_eq!(buffer.get("bytes").is_some(), is_complete, "{buffer}");
    }
}

#[test]
fn what_the_host_may_write_until_it_lets_a_batch_go_on_is_not_known() {
    for waits_for_host in [true, false] {
        let mut script = Script::new(COHERENT);
        let data = script.buffer();
        let kernel = script.kernel(SCALE, &[data]);
        let semaphore = script.handle();
        script.push(Event::Semaphore(Semaphore { semaphore, timeline: Some(0) }));
        script.map(data);
        let bytes = Bytes(vec![7; BYTES as usize]);
        script.push(Event::Contents(Contents { memory: data.memory, offset: 0, bytes }));
        let wait = SemaphoreUse { semaphore, value: 1, stages: COMPUTE };
        let waits = if waits_for_host { vec![wait] } else { Vec::new() };
        script.submit_with(QUEUE, kernel.dispatch(), waits, Vec::new());
        let procedure = captured_procedure(&script.program(), 1).unwrap();
        let buffer = &procedure.document["tests"][0]["buffers"]["buffer1"];
        assert_eq!(buffer.get("bytes").is_none(), waits_for_host, "{buffer}");
    }
}

#[test]
fn what_the_host_may_have_written_unseen_is_not_known() {
    let mut script = Script::with_contents(COHERENT, ContentsMode::Omitted);
    let data = script.buffer();
    let kernel = script.kernel(SCALE, &[data]);
    script.submit(QUEUE, vec![fill(data)]);
    script.push(Event::QueueIdle(QUEUE));
    script.map(data);
    script.push(Event::Unmap(data.memory));
    script.submit(QUEUE, kernel.dispatch());
    let procedure = captured_procedure(&script.program(), 1).unwrap();
    let buffer = &procedure.document["tests"][0]["buffers"]["buffer1"];
    assert_eq!(buffer["count"], 256, "{buffer}");
}
