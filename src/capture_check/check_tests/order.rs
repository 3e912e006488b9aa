//! Order on the device.

use super::script::{
    ALL_COMMANDS, COHERENT, COMMANDS, COMPUTE, HOST, HOST_READ, OTHER_QUEUE, QUEUE, SHADER_READ,
    SHADER_WRITE, Script, TRANSFER, TRANSFER_WRITE, TestBuffer, TestKernel, barrier, fill,
    of_buffer, scoped_barrier,
};
use super::{assert_all_hold, only_refuted, report, told};
use crate::row::CaptureCheckName;
use vkcert_capture::command::{Command, DependencyScope};
use vkcert_capture::event::{
    Batch, Event, OpenEffect, Semaphore, SemaphoreUse, SemaphoreValue, Submit,
};
use vkcert_capture::value::Handle;
use vkcert_model::evidence::CheckStatus;

const CHECK: CaptureCheckName = CaptureCheckName::DeviceDependency;

const WRITER: &str = "layout(binding = 0) buffer A { uint a[]; };\n\
                      void main() { a[gl_GlobalInvocationID.x] = 1; }";
const READER: &str = "layout(binding = 0) buffer A { uint a[]; };\n\
                      layout(binding = 1) buffer B { uint b[]; };\n\
                      void main() { b[gl_GlobalInvocationID.x] = a[0]; }";

struct Pair {
    script: Script,
    data: TestBuffer,
    other: TestBuffer,
    writer: TestKernel,
    reader: TestKernel,
}

/// A kernel that writes `data` and one that reads it and writes `other`.
fn pair() -> Pair {
    let mut script = Script::new(COHERENT);
    let (data, other) = (script.buffer(), script.buffer());
    let writer = script.kernel(WRITER, &[data]);
    let reader = script.kernel(READER, &[data, other]);
    Pair { script, data, other, writer, reader }
}

fn between(first: TestKernel, barriers: Vec<Command>, second: TestKernel) -> Vec<Command> {
    [first.dispatch(), barriers, second.dispatch()].concat()
}

fn right_barrier() -> Command {
    barrier((COMPUTE, SHADER_WRITE), (COMPUTE, SHADER_READ))
}

fn with_barriers(barriers: Vec<Command>) -> Script {
    let Pair { mut script, writer, reader, .. } = pair();
    script.submit(QUEUE, between(writer, barriers, reader));
    script
}

#[test]
fn a_read_after_a_write_needs_a_barrier_with_both_scopes() {
    assert_all_hold(&with_barriers(vec![right_barrier()]));
    let message = only_refuted(&with_barriers(Vec::new()), CHECK);
    assert!(
        message.starts_with(
            "dispatch 2 (operation 3) reads binding 0.0 (memory 1, bytes 0 to 4), which \
             dispatch 1 (operation 2) writes, and no dependency orders the two"
        ),
        "{message}"
    );
    assert!(
        message.contains(
            "srcStageMask COMPUTE_SHADER, srcAccessMask SHADER_WRITE, dstStageMask \
             COMPUTE_SHADER, dstAccessMask SHADER_READ"
        ),
        "{message}"
    );
    let faults = [
        (barrier((TRANSFER, SHADER_WRITE), (COMPUTE, SHADER_READ)), "no dependency orders"),
        (barrier((COMPUTE, SHADER_WRITE), (TRANSFER, SHADER_READ)), "no dependency orders"),
        (barrier((COMPUTE, 0), (COMPUTE, SHADER_READ)), "first access scope"),
        (barrier((COMPUTE, TRANSFER_WRITE), (COMPUTE, SHADER_READ)), "first access scope"),
        (barrier((COMPUTE, SHADER_WRITE), (COMPUTE, SHADER_WRITE)), "second scope leaves"),
        (
            scoped_barrier(
                (COMPUTE, SHADER_WRITE),
                (COMPUTE, SHADER_READ),
                DependencyScope::Execution,
            ),
            "first access scope",
        ),
    ];
    for (wrong, expected) in faults {
        let message = only_refuted(&with_barriers(vec![wrong.clone()]), CHECK);
        assert!(message.contains(expected), "{wrong:?}: {message}");
    }
}

#[test]
fn wider_masks_and_chains_of_barriers_order_as_well() {
    const MEMORY: u64 = 0x8000 | 0x1_0000;
    assert_all_hold(&with_barriers(vec![barrier((ALL_COMMANDS, MEMORY), (ALL_COMMANDS, MEMORY))]));
    // "Execution dependency chain": the second scope of one is in the first of the next.
    assert_all_hold(&with_barriers(vec![
        barrier((COMPUTE, SHADER_WRITE), (TRANSFER, 0)),
        barrier((TRANSFER, 0), (COMPUTE, SHADER_READ)),
    ]));
    let broken = with_barriers(vec![
        barrier((COMPUTE, SHADER_WRITE), (TRANSFER, 0)),
        barrier((HOST, 0), (COMPUTE, SHADER_READ)),
    ]);
    only_refuted(&broken, CHECK);
}

#[test]
fn availability_leads_to_visibility_by_a_chain() {
    // The second scope of the one that makes available is to meet the first of the one that makes
    // visible; that the write is in the latter's stages does not help.
    let to_transfer = || barrier((COMPUTE, SHADER_WRITE), (TRANSFER, 0));
    let visible_alone = || barrier((COMPUTE, 0), (COMPUTE, SHADER_READ));
    let message = only_refuted(&with_barriers(vec![to_transfer(), visible_alone()]), CHECK);
    assert!(message.contains("no chain of dependencies leads"), "{message}");
    assert_all_hold(&with_barriers(vec![
        to_transfer(),
        barrier((TRANSFER, 0), (COMPUTE, 0)),
        visible_alone(),
    ]));
    assert_all_hold(&with_barriers(vec![
        to_transfer(),
        barrier((COMPUTE | TRANSFER, 0), (COMPUTE, SHADER_READ)),
    ]));
    // The parts of one barrier are not behind each other, and make up its scopes together.
    let [Command::Barrier(first), Command::Barrier(second)] =
        [barrier((COMPUTE, SHADER_WRITE), (COMPUTE, 0)), visible_alone()]
    else {
        panic!("two barriers");
    };
    assert_all_hold(&with_barriers(vec![Command::Barrier([first, second.clone()].concat())]));
    let Command::Barrier(first) = to_transfer() else { panic!("a barrier") };
    only_refuted(&with_barriers(vec![Command::Barrier([first, second].concat())]), CHECK);
}

#[test]
fn barriers_of_a_buffer_are_about_that_buffer() {
    let scoped = |scope: fn(&Pair) -> DependencyScope| {
        let mut pair = pair();
        let scope = scope(&pair);
        let barrier = scoped_barrier((COMPUTE, SHADER_WRITE), (COMPUTE, SHADER_READ), scope);
        pair.script.submit(QUEUE, between(pair.writer, vec![barrier], pair.reader));
        pair.script
    };
    assert_all_hold(&scoped(|pair| of_buffer(pair.data, 0, u64::MAX)));
    only_refuted(&scoped(|pair| of_buffer(pair.other, 0, u64::MAX)), CHECK);
    let partly = report(&scoped(|pair| of_buffer(pair.data, 0, 128)));
    let messages = told(&partly, CHECK, CheckStatus::Undetermined);
    assert!(messages[0].contains("a barrier for a part of the range"), "{messages:?}");
}

#[test]
fn a_write_after_a_read_needs_an_execution_dependency_alone() {
    let swapped = |barriers: Vec<Command>| {
        let Pair { mut script, writer, reader, .. } = pair();
        script.submit(QUEUE, between(reader, barriers, writer));
        script
    };
    assert_all_hold(&swapped(vec![barrier((COMPUTE, 0), (COMPUTE, 0))]));
    let message = only_refuted(&swapped(Vec::new()), CHECK);
    assert!(message.contains("writes binding 0.0") && message.contains("write after read"));
}

#[test]
fn a_write_after_a_write_needs_availability() {
    let twice = |barriers: Vec<Command>| {
        let Pair { mut script, writer, .. } = pair();
        script.submit(QUEUE, between(writer, barriers, writer));
        script
    };
    assert_all_hold(&twice(vec![barrier((COMPUTE, SHADER_WRITE), (COMPUTE, SHADER_WRITE))]));
    only_refuted(&twice(vec![barrier((COMPUTE, 0), (COMPUTE, 0))]), CHECK);
    let elsewhere = barrier((COMPUTE, SHADER_WRITE), (TRANSFER, 0));
    let execution = |stages: u64| barrier((stages, 0), (COMPUTE, 0));
    assert_all_hold(&twice(vec![elsewhere.clone(), execution(TRANSFER)]));
    let message = only_refuted(&twice(vec![elsewhere, execution(COMPUTE)]), CHECK);
    assert!(message.contains("no chain of dependencies leads"), "{message}");
    only_refuted(&twice(Vec::new()), CHECK);
}

#[test]
fn kernels_that_only_read_conflict_with_nobody() {
    let Pair { mut script, reader, data, .. } = pair();
    let other = script.buffer();
    let second = script.kernel(READER, &[data, other]);
    script.submit(QUEUE, between(reader, Vec::new(), second));
    assert_all_hold(&script);
}

#[test]
fn copies_and_fills_are_ordered_like_dispatches() {
    let filled = |barriers: Vec<Command>| {
        let Pair { mut script, data, reader, .. } = pair();
        script.submit(QUEUE, [vec![fill(data)], barriers, reader.dispatch()].concat());
        script
    };
    assert_all_hold(&filled(vec![barrier((TRANSFER, TRANSFER_WRITE), (COMPUTE, SHADER_READ))]));
    let message = only_refuted(&filled(Vec::new()), CHECK);
    assert!(message.contains("which the fill (operation 2) writes"), "{message}");
    assert!(message.contains("srcStageMask TRANSFER, srcAccessMask TRANSFER_WRITE"), "{message}");
}

#[test]
fn submission_order_alone_orders_no_memory() {
    let Pair { mut script, writer, reader, .. } = pair();
    script.submit(QUEUE, writer.dispatch());
    script.submit(QUEUE, reader.dispatch());
    only_refuted(&script, CHECK);
    let Pair { mut script, writer, reader, .. } = pair();
    script.submit(QUEUE, writer.dispatch());
    script.push(Event::QueueIdle(QUEUE));
    script.submit(QUEUE, reader.dispatch());
    assert_all_hold(&script);
}

fn on_two_queues(signal: bool, wait_stages: u64) -> Script {
    let Pair { mut script, writer, reader, .. } = pair();
    let semaphore = script.handle();
    script.push(Event::Semaphore(Semaphore { semaphore, timeline: None }));
    let used = |stages: u64| vec![SemaphoreUse { semaphore, value: 0, stages }];
    let signals = if signal { used(ALL_COMMANDS) } else { Vec::new() };
    script.submit_with(QUEUE, writer.dispatch(), Vec::new(), signals);
    let waits = if signal { used(wait_stages) } else { Vec::new() };
    script.submit_with(OTHER_QUEUE, reader.dispatch(), waits, Vec::new());
    script
}

#[test]
fn semaphores_order_queues() {
    assert_all_hold(&on_two_queues(true, COMPUTE));
    only_refuted(&on_two_queues(true, TRANSFER), CHECK);
    only_refuted(&on_two_queues(false, 0), CHECK);
}

#[test]
fn timelines_order_by_value() {
    for (waited, holds) in [(1, true), (2, true), (3, false)] {
        let Pair { mut script, writer, reader, .. } = pair();
        let semaphore = script.handle();
        script.push(Event::Semaphore(Semaphore { semaphore, timeline: Some(0) }));
        let used = |value: u64, stages: u64| vec![SemaphoreUse { semaphore, value, stages }];
        script.submit_with(QUEUE, writer.dispatch(), Vec::new(), used(2, ALL_COMMANDS));
        script.submit_with(OTHER_QUEUE, reader.dispatch(), used(waited, COMPUTE), Vec::new());
        let report = report(&script);
        // A value that nobody signals before is signaled by the host or later: not modelled.
        let expected = if holds { CheckStatus::Holds } else { CheckStatus::Undetermined };
        let row = report.checks.iter().find(|row| row.check == CHECK).unwrap();
        assert_eq!(row.status, expected, "{}", row.message);
    }
}

#[test]
fn behind_what_is_not_modelled_nothing_is_refuted() {
    let event =
        |effect: OpenEffect| Command::Unsupported { name: "vkCmdWaitEvents".to_owned(), effect };
    let report = report(&with_barriers(vec![event(OpenEffect::Order)]));
    assert_eq!(told(&report, CHECK, CheckStatus::Refuted), Vec::<String>::new());
    let messages = told(&report, CHECK, CheckStatus::Undetermined);
    assert!(messages[0].contains("vkCmdWaitEvents stands between them"), "{messages:?}");
    // What orders nothing does not excuse.
    only_refuted(&with_barriers(vec![event(OpenEffect::Nothing)]), CHECK);
}

#[test]
fn behind_a_binding_that_is_not_modelled_nothing_is_known_to_be_bound() {
    let Pair { mut script, writer, reader, .. } = pair();
    let name = "vkCmdBindDescriptorSets2KHR".to_owned();
    let bind = Command::Unsupported { name, effect: OpenEffect::Accesses };
    script.submit(QUEUE, between(writer, vec![bind], reader));
    let report = report(&script);
    assert_eq!(told(&report, CHECK, CheckStatus::Refuted), Vec::<String>::new());
    assert_eq!(told(&report, CHECK, CheckStatus::Undetermined).len(), 1);
    let bound = told(&report, CaptureCheckName::Descriptors, CheckStatus::Undetermined);
    assert!(bound[0].contains("behind vkCmdBindDescriptorSets2KHR"), "{bound:?}");
}

#[test]
fn barriers_that_order_nothing_are_named() {
    let report_of = |barriers: Vec<Command>| report(&with_barriers(barriers)).remarks;
    assert_eq!(report_of(vec![right_barrier()]), Vec::<String>::new());
    assert_eq!(
        report_of(vec![right_barrier(), right_barrier()]),
        ["the barrier (operation 4) orders nothing that needs it"]
    );
    let unneeded = barrier((COMPUTE, SHADER_WRITE), (HOST, HOST_READ));
    assert_eq!(
        report_of(vec![unneeded, right_barrier()]),
        ["the barrier (operation 3) orders nothing that needs it"]
    );
}

/// A write on one queue, which signals 1, and a read on another one, which waits for 1; the read is
/// submitted first.
fn wait_before_signal(waited: u64) -> Script {
    let Pair { mut script, writer, reader, .. } = pair();
    let semaphore = script.handle();
    script.push(Event::Semaphore(Semaphore { semaphore, timeline: Some(0) }));
    let stages = ALL_COMMANDS;
    let wait = SemaphoreUse { semaphore, value: waited, stages };
    let signal = SemaphoreUse { semaphore, value: 1, stages };
    script.submit_with(OTHER_QUEUE, reader.dispatch(), vec![wait], Vec::new());
    script.submit_with(QUEUE, writer.dispatch(), Vec::new(), vec![signal]);
    script
}

#[test]
fn what_waits_for_a_later_submission_is_executed_behind_it() {
    assert_all_hold(&wait_before_signal(1));
    // No submission signals 2, but the host may, once it knows that 1 is reached.
    let report = report(&wait_before_signal(2));
    assert_eq!(told(&report, CHECK, CheckStatus::Refuted).len(), 0, "{:#?}", report.checks);
    let messages = told(&report, CHECK, CheckStatus::Undetermined);
    assert!(messages[0].contains("the host may let it go on at any time"), "{messages:?}");
}

/// Of a submission whose first batch signals 1 and whose second one writes and signals 2, the host
/// waits for a value and submits a read.
fn read_behind_the_value(waited: u64) -> Script {
    let Pair { mut script, writer, reader, .. } = pair();
    let semaphore = script.handle();
    script.push(Event::Semaphore(Semaphore { semaphore, timeline: Some(0) }));
    let signals = |value: u64| vec![SemaphoreUse { semaphore, value, stages: ALL_COMMANDS }];
    script.record(writer.dispatch());
    let empty = Batch { waits: Vec::new(), command_buffers: Vec::new(), signals: signals(1) };
    let command_buffers = vec![COMMANDS];
    let written = Batch { waits: Vec::new(), command_buffers, signals: signals(2) };
    let batches = vec![empty, written];
    script.push(Event::Submit(Submit { queue: QUEUE, fence: Handle(0), batches }));
    let reached = SemaphoreValue { semaphore, value: waited };
    script.push(Event::SemaphoresReached(vec![reached]));
    script.submit(QUEUE, reader.dispatch());
    script
}

#[test]
fn a_value_of_a_timeline_completes_what_is_up_to_the_batch_that_signals_it() {
    assert_all_hold(&read_behind_the_value(2));
    let message = only_refuted(&read_behind_the_value(1), CHECK);
    assert!(message.contains("no dependency orders the two"), "{message}");
}

#[test]
fn a_timeline_orders_a_chain_that_is_submitted_backwards() {
    let Pair { mut script, writer, reader, .. } = pair();
    let semaphore = script.handle();
    script.push(Event::Semaphore(Semaphore { semaphore, timeline: Some(0) }));
    let at = |value: u64| SemaphoreUse { semaphore, value, stages: ALL_COMMANDS };
    let queues = [QUEUE, OTHER_QUEUE];
    script.submit_with(queues[1], reader.dispatch(), vec![at(1)], vec![at(2)]);
    script.submit_with(queues[0], writer.dispatch(), Vec::new(), vec![at(1)]);
    // Behind both, without a wait: ordered behind the write by a barrier, and not behind the read.
    let barrier = barrier((COMPUTE, SHADER_WRITE), (COMPUTE, SHADER_WRITE));
    script.submit(queues[0], [vec![barrier], writer.dispatch()].concat());
    let message = only_refuted(&script, CHECK);
    assert!(message.contains("writes binding 0.0"), "{message}");
    assert!(message.contains("reads, and no dependency orders the two"), "{message}");
}
