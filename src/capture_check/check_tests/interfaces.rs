//! Push constants, specialization, descriptors and limits.

use super::script::{COHERENT, QUEUE, Script, TestKernel};
use super::{assert_all_hold, only_refuted, report, told};
use crate::row::CaptureCheckName;
use vkcert_capture::command::Command;
use vkcert_capture::event::{Event, Queue};
use vkcert_model::evidence::CheckStatus;

const PUSHED: &str = "layout(push_constant) uniform P { uint count; float factor; uint unused; };\n\
                      layout(binding = 0) buffer A { float a[]; };\n\
                      void main() { if (gl_GlobalInvocationID.x < count) a[0] = factor; }";

fn pushed(commands: impl Fn(&TestKernel) -> Vec<Command>) -> Script {
    let mut script = Script::new(COHERENT);
    let data = script.buffer();
    let kernel = script.kernel(PUSHED, &[data]);
    script.submit(QUEUE, [commands(&kernel), kernel.dispatch()].concat());
    script
}

#[test]
fn push_constants_that_are_read_are_set() {
    assert_all_hold(&pushed(|kernel| vec![kernel.push_constants(0, &[0; 8])]));
    assert_all_hold(&pushed(|kernel| {
        vec![kernel.push_constants(4, &[0; 4]), kernel.push_constants(0, &[0; 4])]
    }));
    let message = only_refuted(
        &pushed(|kernel| vec![kernel.push_constants(0, &[0; 4])]),
        CaptureCheckName::PushConstants,
    );
    assert!(
        message.contains("push constants from byte 4 to 8, and byte 4 is read and never set"),
        "{message}"
    );
}

const BLOCK: &str = "layout(binding = 0) buffer A { float first[60]; float last[]; };\n\
                     void main() { first[0] = 1; }";
const LARGE: &str = "layout(binding = 0) buffer A { float first[80]; };\n\
                     void main() { first[0] = 1; }";
const TWO: &str = "layout(binding = 0) buffer A { float a[]; };\n\
                   layout(binding = 1) uniform B { float b; };\n\
                   void main() { a[0] = b; }";

#[test]
fn ranges_are_as_large_as_blocks_and_descriptors_are_there() {
    let with = |glsl: &str, count: usize| {
        let mut script = Script::new(COHERENT);
        let buffers: Vec<_> = (0..count).map(|_| script.buffer()).collect();
        let kernel = script.kernel(glsl, &buffers);
        script.submit(QUEUE, kernel.dispatch());
        script
    };
    assert_all_hold(&with(BLOCK, 1));
    let message = only_refuted(&with(LARGE, 1), CaptureCheckName::BindingSize);
    assert!(message.contains("256 bytes are bound, and the block has 320"), "{message}");
    let message = only_refuted(&with(TWO, 1), CaptureCheckName::Descriptors);
    assert!(message.contains("binding 0.1 (B): no descriptor was written"), "{message}");
    let message = only_refuted(&with(TWO, 2), CaptureCheckName::Descriptors);
    assert!(message.contains("of type 7, and the kernel declares Uniform"), "{message}");
}

const SIZED: &str = "layout(local_size_x_id = 3) in;\n\
                     layout(binding = 0) buffer A { float a[]; };\n\
                     void main() { a[0] = 1; }";

fn sized(id: u32, value: &[u8]) -> Script {
    let mut script = Script::new(COHERENT);
    let data = script.buffer();
    let kernel = script.specialized_kernel(SIZED, &[data], &[(id, value)]);
    script.submit(QUEUE, kernel.dispatch());
    script
}

#[test]
fn specialization_constants_are_declared_and_decide_the_local_size() {
    assert_all_hold(&sized(3, &[64, 0, 0, 0]));
    let message = only_refuted(&sized(4, &[64, 0, 0, 0]), CaptureCheckName::SpecializationIds);
    assert!(message.contains("the specialization constant 4, which `main` does not declare"));
    let message = only_refuted(&sized(3, &[64, 0]), CaptureCheckName::SpecializationIds);
    assert!(message.contains("with 16 bits, and it has 32"), "{message}");
    let message = only_refuted(&sized(3, &[65, 0, 0, 0]), CaptureCheckName::LocalSizeLimits);
    assert!(message.contains("the local size [65, 1, 1] is above [64, 64, 64]"), "{message}");
}

#[test]
fn workgroups_are_within_the_limits() {
    let mut script = Script::new(COHERENT);
    let data = script.buffer();
    let kernel = script.kernel(BLOCK, &[data]);
    let mut commands = kernel.bound();
    commands.push(Command::Dispatch { base: [0; 3], groups: [1001, 1, 1] });
    script.submit(QUEUE, commands);
    only_refuted(&script, CaptureCheckName::DispatchLimits);
}

#[test]
fn indirect_dispatches_are_undetermined() {
    let mut script = Script::new(COHERENT);
    let (data, numbers) = (script.buffer(), script.buffer());
    let kernel = script.kernel(BLOCK, &[data]);
    let mut commands = kernel.bound();
    commands.push(Command::DispatchIndirect { buffer: numbers.buffer, offset: 0 });
    script.submit(QUEUE, commands);
    let report = report(&script);
    let check = CaptureCheckName::DispatchLimits;
    assert_eq!(told(&report, check, CheckStatus::Undetermined).len(), 1);
}

#[test]
fn a_dispatch_is_held_against_the_limits_of_its_own_device() {
    let with_device_of = |groups: u32| {
        let mut script = Script::new(COHERENT);
        let mut device = script.program().devices[0].clone();
        let (other, queue) = (script.handle(), script.handle());
        device.device = other;
        device.limits.groups = [groups; 3];
        script.push(Event::Device(Box::new(device)));
        script.push(Event::Queue(Queue { device: other, queue, family: 0, index: 0 }));
        let data = script.buffer();
        let kernel = script.kernel(BLOCK, &[data]);
        let mut commands = kernel.bound();
        commands.push(Command::Dispatch { base: [0; 3], groups: [1001, 1, 1] });
        script.submit(queue, commands);
        script
    };
    assert_all_hold(&with_device_of(2000));
    only_refuted(&with_device_of(1000), CaptureCheckName::DispatchLimits);
}
