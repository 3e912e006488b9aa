//! Dispatches that are bound one range, and which bytes of it they touch.

use super::script::{
    ALL_COMMANDS, COHERENT, COMPUTE, OTHER_QUEUE, QUEUE, SHADER_READ, SHADER_WRITE, Script,
    TestBuffer, TestKernel, barrier,
};
use super::{assert_all_hold, only_refuted, report, told};
use crate::row::CaptureCheckName;
use vkcert_capture::command::Command;
use vkcert_capture::event::{Event, Semaphore, SemaphoreUse};
use vkcert_model::evidence::CheckStatus;

const CHECK: CaptureCheckName = CaptureCheckName::DeviceDependency;

/// Writes eight elements from a pushed one on.
const SLICE: &str = "layout(local_size_x = 8) in;\n\
                     layout(push_constant) uniform P { uint start; };\n\
                     layout(binding = 0) buffer A { uint a[]; };\n\
                     void main() { a[start + gl_LocalInvocationIndex] = 1; }";
const READER: &str = "layout(binding = 0) buffer A { uint a[]; };\n\
                      layout(binding = 1) buffer B { uint b[]; };\n\
                      void main() { b[0] = a[2] + a[12]; }";

fn slice_from(kernel: TestKernel, start: u8) -> Vec<Command> {
    let one_workgroup = Command::Dispatch { base: [0; 3], groups: [1; 3] };
    let pushed = kernel.push_constants(0, &[start, 0, 0, 0]);
    [kernel.bound(), vec![pushed, one_workgroup]].concat()
}

fn slices() -> (Script, TestBuffer, TestKernel) {
    let mut script = Script::new(COHERENT);
    let data = script.buffer();
    let kernel = script.kernel(SLICE, &[data]);
    (script, data, kernel)
}

/// Two slices of one range, one after the other.
fn two_slices(starts: [u8; 2]) -> Script {
    let (mut script, _, kernel) = slices();
    script.submit(QUEUE, starts.map(|start| slice_from(kernel, start)).concat());
    script
}

#[test]
fn halves_of_one_range_need_no_order_and_overlapping_parts_do() {
    assert_all_hold(&two_slices([0, 8]));
    let messages = told(&report(&two_slices([0, 8])), CHECK, CheckStatus::Holds);
    assert!(messages[0].contains("1 pairs of one range touch no byte in common"), "{messages:?}");
    let message = only_refuted(&two_slices([0, 7]), CHECK);
    assert!(message.contains("bytes 28 to 32"), "{message}");
}

/// Counters that several dispatches add to are built so (Vulkan specification, "Data Race").
#[test]
fn atomics_of_two_dispatches_need_no_order_and_an_atomic_and_a_store_do() {
    const COUNTER: &str = "layout(local_size_x = 8) in;\n\
                           layout(binding = 0) buffer A { uint a[]; };\n\
                           void main() { atomicAdd(a[3], 1u); }";
    let in_turn = |kernels: [&str; 2]| {
        let mut script = Script::new(COHERENT);
        let data = script.buffer();
        let kernels = kernels.map(|kernel| script.kernel(kernel, &[data]));
        script.submit(QUEUE, kernels.map(|kernel| kernel.dispatch()).concat());
        script
    };
    assert_all_hold(&in_turn([COUNTER, COUNTER]));
    let messages = told(&report(&in_turn([COUNTER, COUNTER])), CHECK, CheckStatus::Holds);
    assert!(messages[0].contains("1 pairs meet by atomic instructions alone"), "{messages:?}");
    for store in ["a[3] = 1u", "a[4] = a[3]"] {
        let plain = COUNTER.replace("atomicAdd(a[3], 1u)", store);
        for kernels in [[COUNTER, &plain], [&plain, COUNTER]] {
            let report = report(&in_turn(kernels));
            let messages = told(&report, CHECK, CheckStatus::Refuted);
            assert!(!messages.is_empty(), "{kernels:?}: {:#?}", report.checks);
            assert!(messages[0].contains("bytes 12 to 16"), "{messages:?}");
        }
    }
}

/// A dispatch that reads one element and writes another, before one that writes the first.
#[test]
fn what_a_dispatch_reads_of_a_range_that_it_writes_is_not_written_without_an_order() {
    const BLOCK: &str = "layout(binding = 0) buffer A { uint a[]; };\nvoid main() { STORE; }";
    let in_turn = |store: &str| {
        let mut script = Script::new(COHERENT);
        let data = script.buffer();
        let kernels = ["a[4] = a[3]", store].map(|store| BLOCK.replace("STORE", store));
        let kernels = kernels.map(|kernel| script.kernel(&kernel, &[data]));
        script.submit(QUEUE, kernels.map(|kernel| kernel.dispatch()).concat());
        script
    };
    assert_all_hold(&in_turn("a[5] = 1u"));
    let message = only_refuted(&in_turn("a[3] = 1u"), CHECK);
    assert!(message.contains("bytes 12 to 16), which dispatch 1 (operation 2) reads"), "{message}");
}

#[test]
fn elements_that_depend_on_memory_leave_open_whether_accesses_meet() {
    let chosen = SLICE.replace("start +", "a[63] +");
    let mut script = Script::new(COHERENT);
    let data = script.buffer();
    let (slice, by_memory) = (script.kernel(SLICE, &[data]), script.kernel(&chosen, &[data]));
    let commands = [slice_from(slice, 0), slice_from(by_memory, 0)].concat();
    script.submit(QUEUE, commands);
    let report = report(&script);
    assert_eq!(told(&report, CHECK, CheckStatus::Refuted), Vec::<String>::new());
    let messages = told(&report, CHECK, CheckStatus::Undetermined);
    assert!(messages[0].contains("that both touch the same bytes is not shown"), "{messages:?}");
    assert!(messages[0].contains("which element of binding 0.0"), "{messages:?}");
}

/// Halves that are written on two queues, and a reader of both behind one of them, or both.
fn read_behind(waited: &[usize]) -> Script {
    let (mut script, data, kernel) = slices();
    let other = script.buffer();
    let reader = script.kernel(READER, &[data, other]);
    let semaphores = [0, 1].map(|_| script.handle());
    for semaphore in semaphores {
        script.push(Event::Semaphore(Semaphore { semaphore, timeline: None }));
    }
    let used = |index: usize| {
        let semaphore = semaphores[index];
        vec![SemaphoreUse { semaphore, value: 0, stages: ALL_COMMANDS }]
    };
    script.submit_with(QUEUE, slice_from(kernel, 0), Vec::new(), used(0));
    script.submit_with(OTHER_QUEUE, slice_from(kernel, 8), Vec::new(), used(1));
    let waits = waited.iter().flat_map(|index| used(*index)).collect();
    script.submit_with(OTHER_QUEUE, reader.dispatch(), waits, Vec::new());
    script
}

#[test]
fn an_earlier_write_of_other_bytes_is_not_forgotten() {
    assert_all_hold(&read_behind(&[0, 1]));
    let message = only_refuted(&read_behind(&[1]), CHECK);
    assert!(message.contains("bytes 8 to 12"), "{message}");
    assert!(message.contains("which dispatch 1 "), "{message}");
}

#[test]
fn an_earlier_read_of_other_bytes_is_not_forgotten() {
    let with_order = |ordered: bool| {
        let (mut script, data, kernel) = slices();
        let other = script.buffer();
        let reader = script.kernel(READER, &[data, other]);
        let order = barrier((COMPUTE, SHADER_READ), (COMPUTE, SHADER_WRITE));
        let barriers = if ordered { vec![order] } else { Vec::new() };
        let commands = [reader.dispatch(), slice_from(kernel, 16), barriers, slice_from(kernel, 0)];
        script.submit(QUEUE, commands.concat());
        script
    };
    assert_all_hold(&with_order(true));
    let message = only_refuted(&with_order(false), CHECK);
    assert!(message.contains("bytes 8 to 12"), "{message}");
    assert!(message.contains("which dispatch 1 (operation 2) reads"), "{message}");
}
