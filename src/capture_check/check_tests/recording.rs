//! Command buffers that are not valid any more when they are submitted.

use super::script::{BYTES, COHERENT, QUEUE, Script, TestBuffer, TestKernel, fill, scoped_barrier};
use super::{assert_all_hold, only_refuted, report, told};
use crate::row::CaptureCheckName;
use vkcert_capture::command::{Command, CopyRegion, DependencyScope, QueueTransfer};
use vkcert_capture::event::{
    Descriptor, DescriptorWrite, Destroyed, Event, ObjectKind, OpenEffect,
};
use vkcert_capture::file::FORMAT_VERSION;
use vkcert_capture::program::{PARTIALLY_BOUND, UPDATE_AFTER_BIND, UPDATE_UNUSED_WHILE_PENDING};
use vkcert_capture::value::Handle;
use vkcert_model::evidence::CheckStatus;

const CHECK: CaptureCheckName = CaptureCheckName::Descriptors;

const WRITER: &str = "layout(binding = 0) buffer A { uint a[]; };\n\
                      void main() { a[gl_GlobalInvocationID.x] = 1; }";

fn writer() -> (Script, TestBuffer, TestKernel) {
    let mut script = Script::new(COHERENT);
    let buffer = script.buffer();
    let kernel = script.kernel(WRITER, &[buffer]);
    (script, buffer, kernel)
}

fn dispatch() -> Command {
    Command::Dispatch { base: [0; 3], groups: [1; 3] }
}

/// Commands are recorded, something happens, and they are submitted.
fn submitted_behind(
    layout_flags: u32,
    happens: impl FnOnce(&mut Script, TestBuffer, TestKernel),
) -> Script {
    submitted_with((FORMAT_VERSION, layout_flags, 0), happens)
}

/// The same in a version of the format, with flags of the layout and of its bindings.
fn submitted_with(
    (version, layout_flags, binding_flags): (u32, u32, u32),
    happens: impl FnOnce(&mut Script, TestBuffer, TestKernel),
) -> Script {
    let mut script = Script::new(COHERENT);
    (script.version, script.layout_flags) = (version, layout_flags);
    script.binding_flags = binding_flags;
    let buffer = script.buffer();
    let kernel = script.kernel(WRITER, &[buffer]);
    script.record(kernel.dispatch());
    happens(&mut script, buffer, kernel);
    script.submit_recorded(QUEUE, Vec::new(), Vec::new());
    script
}

#[test]
fn a_set_is_not_written_between_binding_and_submission() {
    let write: fn(&mut Script, TestBuffer, TestKernel) =
        |script, buffer, kernel| script.write_set(kernel, &[buffer]);
    let message = only_refuted(&submitted_behind(0, write), CHECK);
    assert!(message.contains("set 0 was written at binding 0"), "{message}");
    const UPDATE_AFTER_BIND_POOL: u32 = 0x2;
    // Captures of version 1 do not have the flags of bindings.
    let report = report(&submitted_with((1, UPDATE_AFTER_BIND_POOL, 0), write));
    assert_eq!(told(&report, CHECK, CheckStatus::Refuted), Vec::<String>::new());
    let messages = told(&report, CHECK, CheckStatus::Undetermined);
    assert!(messages[0].contains("the flags of its bindings"), "{messages:?}");
    assert_all_hold(&submitted_behind(0, |script, _, _| {
        script.handle();
    }));
}

/// A kernel with a second binding, which it does not use; one of the two is written.
fn written_at(binding: u32, binding_flags: u32) -> Script {
    let mut script = Script::new(COHERENT);
    script.binding_flags = binding_flags;
    let buffers = [script.buffer(), script.buffer()];
    let kernel = script.kernel(WRITER, &buffers);
    script.record(kernel.dispatch());
    script.push(Event::WriteDescriptors(vec![DescriptorWrite {
        set: kernel.set,
        binding,
        element: 0,
        descriptor_type: 7,
        descriptors: vec![Descriptor::Buffer {
            buffer: buffers[0].buffer,
            offset: 0,
            range: u64::MAX,
        }],
    }]));
    script.submit_recorded(QUEUE, Vec::new(), Vec::new());
    script
}

/// "VkDescriptorBindingFlagBits": what may be written follows from the flags of the binding.
#[test]
fn flags_of_bindings_tell_which_updates_are_wrong() {
    for (binding, flags) in [
        (0, UPDATE_AFTER_BIND),
        (1, UPDATE_AFTER_BIND),
        (1, UPDATE_UNUSED_WHILE_PENDING),
        (1, UPDATE_UNUSED_WHILE_PENDING | PARTIALLY_BOUND),
    ] {
        assert_all_hold(&written_at(binding, flags));
    }
    for (binding, flags) in [(0, 0), (1, 0), (0, UPDATE_UNUSED_WHILE_PENDING), (1, PARTIALLY_BOUND)]
    {
        let message = only_refuted(&written_at(binding, flags), CHECK);
        assert!(message.contains(&format!("written at binding {binding}")), "{message}");
    }
    let both = UPDATE_UNUSED_WHILE_PENDING | PARTIALLY_BOUND;
    let report = report(&written_at(0, both));
    assert_eq!(told(&report, CHECK, CheckStatus::Refuted), Vec::<String>::new());
    let messages = told(&report, CHECK, CheckStatus::Undetermined);
    assert!(messages[0].contains("only if no invocation uses what was written"), "{messages:?}");
}

#[test]
fn what_need_not_be_bound_wholly_is_undetermined() {
    const TWO: &str = "layout(binding = 0) buffer A { uint a[]; };\n\
                       layout(binding = 1) buffer B { uint b[]; };\n\
                       void main() { a[0] = b[0]; }";
    let unwritten = |flags: u32| {
        let mut script = Script::new(COHERENT);
        script.binding_flags = flags;
        let buffers = [script.buffer(), script.buffer()];
        let kernel = script.kernel(TWO, &buffers);
        // A set of the same layout of which the second binding is never written.
        let other = script.other_set(kernel);
        script.write_set(other, &buffers[..1]);
        script.submit(QUEUE, other.dispatch());
        script
    };
    let message = only_refuted(&unwritten(0), CHECK);
    assert!(message.contains("no descriptor was written"), "{message}");
    let messages = told(&report(&unwritten(PARTIALLY_BOUND)), CHECK, CheckStatus::Undetermined);
    assert!(messages[0].contains("whether the kernel reaches it is not known"), "{messages:?}");
}

fn destroyed(kind: ObjectKind, handle: Handle) -> Event {
    Event::Destroyed(Destroyed { kind, handle })
}

#[test]
fn what_commands_use_lives_until_they_are_submitted() {
    let message = only_refuted(
        &submitted_behind(0, |script, buffer, _| {
            script.push(destroyed(ObjectKind::Buffer, buffer.buffer));
        }),
        CHECK,
    );
    assert!(message.contains("binding 0.0 has buffer 1, which was destroyed"), "{message}");
    let message = only_refuted(
        &submitted_behind(0, |script, buffer, _| {
            script.push(destroyed(ObjectKind::Memory, buffer.memory));
        }),
        CHECK,
    );
    assert!(message.contains("which lies in memory that was freed"), "{message}");
    let message = only_refuted(
        &submitted_behind(0, |script, _, kernel| {
            script.push(destroyed(ObjectKind::Pipeline, kernel.pipeline));
        }),
        CHECK,
    );
    assert!(message.contains("its pipeline was destroyed"), "{message}");
    let message = only_refuted(
        &submitted_behind(0, |script, _, kernel| {
            script.push(Event::FreeDescriptorSets(vec![kernel.set]));
        }),
        CHECK,
    );
    assert!(message.contains("set 0, which its kernel uses, was freed"), "{message}");
}

/// A command that names a buffer which is destroyed before the submission.
fn with_destroyed_buffer(command: fn(TestBuffer) -> Command) -> String {
    let (mut script, _, kernel) = writer();
    let named = script.buffer();
    script.record([kernel.bound(), vec![command(named)]].concat());
    script.push(destroyed(ObjectKind::Buffer, named.buffer));
    script.submit_recorded(QUEUE, Vec::new(), Vec::new());
    let report = report(&script);
    told(&report, CHECK, CheckStatus::Refuted).concat()
}

#[test]
fn buffers_of_barriers_copies_and_indirect_dispatches_live_as_well() {
    let message = with_destroyed_buffer(|named| {
        let (source, target) = ((0x800, 0x40), (0x800, 0x20));
        let buffer = named.buffer;
        let (offset, size, transfer) = (0, BYTES, QueueTransfer::None);
        let scope = DependencyScope::Buffer { buffer, offset, size, transfer };
        scoped_barrier(source, target, scope)
    });
    assert!(message.contains("it names buffer 2, which was destroyed"), "{message}");
    let message = with_destroyed_buffer(|named| {
        let regions = vec![CopyRegion { from: 0, to: 128, size: 128 }];
        Command::CopyBuffer { from: named.buffer, to: named.buffer, regions }
    });
    assert!(message.contains("it reads buffer 2, which was destroyed"), "{message}");
    let message = with_destroyed_buffer(|named| Command::DispatchIndirect {
        buffer: named.buffer,
        offset: 0,
    });
    assert!(message.contains("it reads its workgroups from buffer 2"), "{message}");
}

#[test]
fn what_is_destroyed_behind_the_submission_or_is_not_used_is_no_fault() {
    let (mut script, buffer, kernel) = writer();
    let unused = script.buffer();
    script.push(destroyed(ObjectKind::Buffer, unused.buffer));
    script.submit(QUEUE, kernel.dispatch());
    script.push(Event::QueueIdle(QUEUE));
    script.push(destroyed(ObjectKind::Buffer, buffer.buffer));
    assert_all_hold(&script);
}

#[test]
fn the_end_of_an_object_is_counted_without_submissions_that_were_refused() {
    let (mut script, buffer, kernel) = writer();
    script.submit(QUEUE, kernel.dispatch());
    script.push(Event::SubmitFailed(QUEUE));
    script.record(vec![fill(buffer)]);
    script.push(destroyed(ObjectKind::Buffer, buffer.buffer));
    script.submit_recorded(QUEUE, Vec::new(), Vec::new());
    let message = only_refuted(&script, CHECK);
    assert!(message.contains("it writes buffer 1, which was destroyed"), "{message}");
}

#[test]
fn a_dispatch_has_a_pipeline() {
    let mut script = Script::new(COHERENT);
    script.submit(QUEUE, vec![dispatch()]);
    let message = only_refuted(&script, CHECK);
    assert!(message.contains("no compute pipeline bound"), "{message}");
    let mut script = Script::new(COHERENT);
    let name = "vkCmdBindShadersEXT".to_owned();
    let bind = Command::Unsupported { name, effect: OpenEffect::Accesses };
    script.submit(QUEUE, vec![bind, dispatch()]);
    let report = report(&script);
    assert_eq!(told(&report, CHECK, CheckStatus::Refuted), Vec::<String>::new());
    let messages = told(&report, CHECK, CheckStatus::Undetermined);
    assert!(messages[0].contains("behind vkCmdBindShadersEXT"), "{messages:?}");
}

#[test]
fn of_a_program_that_submitted_nothing_nothing_was_seen() {
    let (mut script, _, kernel) = writer();
    script.record(kernel.dispatch());
    let report = report(&script);
    for check in [CHECK, CaptureCheckName::DeviceDependency, CaptureCheckName::HostRead] {
        let messages = told(&report, check, CheckStatus::Undetermined);
        assert!(messages[0].contains("nothing was seen"), "{messages:?}");
    }
}
